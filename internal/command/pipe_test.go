package command

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// frame returns the bytes of a request.
func frame(header map[string]any, buffers ...[]byte) []byte {
	sizes := []int{}
	for _, b := range buffers {
		sizes = append(sizes, len(b))
	}
	header["buffers"] = sizes
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...), bytes.Join(buffers, nil)...)
}

// reply is the decoded header of an answer.
type reply struct {
	ID     uint64         `json:"id"`
	Result map[string]any `json:"result"`
	Error  *struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"error"`
	Names   []string `json:"names"`
	Buffers []int    `json:"buffers"`

	data map[string][]byte
}

func parsed(t *testing.T, frame []byte) reply {
	t.Helper()
	size := binary.LittleEndian.Uint32(frame)
	r := reply{data: map[string][]byte{}}
	must.Do(t, json.Unmarshal(frame[4:4+size], &r))
	frame = frame[4+size:]
	for i, n := range r.Buffers {
		r.data[r.Names[i]], frame = frame[:n], frame[n:]
	}
	must.Need(t, len(frame) == 0, "%d bytes after the reply", len(frame))
	return r
}

// TestPipeToFiles: krigo pipe writes replies to the files that requests name. A fit by flags gives the same model as
// the command line. A reply that can't be written ends the program.
func TestPipeToFiles(t *testing.T) {
	folder := t.TempDir()
	const rows = 80
	text := "x,zone,y\n"
	var x, y []byte
	ends, zones := binary.LittleEndian.AppendUint64(nil, 0), []byte(nil)
	for i := range rows {
		a := float64(i*37%rows) / 10
		b := math.Sin(a) + float64(i%2)
		text += fmt.Sprintf("%v,%c,%v\n", a, "no"[i%2], b)
		x = binary.LittleEndian.AppendUint64(x, math.Float64bits(a))
		y = binary.LittleEndian.AppendUint64(y, math.Float64bits(b))
		zones = append(zones, "no"[i%2])
		ends = binary.LittleEndian.AppendUint64(ends, uint64(len(zones)))
	}
	table := map[string]any{"names": []string{"x", "zone", "y"}, "text": []bool{false, true, false}, "rows": rows}
	buffers := [][]byte{x, ends, zones, y}
	flags := []string{"--target=y", "--categorical=zone", "--kernel=se,matern32", "--epsilon=0.3", "--epsilon-units=raw",
		"--deliver=all", "--seed=4"}

	csv, path := filepath.Join(folder, "t.csv"), filepath.Join(folder, "t.krigo")
	must.Do(t, os.WriteFile(csv, []byte(text), 0o600))
	var stderr bytes.Buffer
	if status := Run(t.Context(), append([]string{"fit", csv, "--out", path, "--quiet"}, flags...), nil, &bytes.Buffer{},
		&stderr); status != 0 {
		t.Fatal(status, stderr.String())
	}
	want := must.Get(krigo.Load(path))(t)

	in, requests := io.Pipe()
	ended := make(chan int, 1)
	var stdout, said bytes.Buffer
	go func() { ended <- Run(t.Context(), []string{"pipe"}, in, &stdout, &said) }()
	answers := 0
	ask := func(header map[string]any) reply {
		t.Helper()
		answers++
		header["id"], header["table"], header["reply"] = answers, table, filepath.Join(folder, fmt.Sprint("reply", answers))
		if _, err := requests.Write(frame(header, buffers...)); err != nil {
			t.Fatal(err)
		}
		for {
			text, err := os.ReadFile(header["reply"].(string))
			if err == nil {
				r := parsed(t, text)
				must.Need(t, r.ID == uint64(answers), "%d answers %d", r.ID, answers)
				return r
			}
			must.Need(t, errors.Is(err, fs.ErrNotExist), "%v", err)
			time.Sleep(time.Millisecond)
		}
	}
	fit := func(flags ...string) reply {
		return ask(map[string]any{"op": "fit", "args": map[string]any{"flags": flags}})
	}
	fitted := fit(flags...)
	must.Need(t, fitted.Error == nil, "%+v", fitted.Error)
	if r := ask(map[string]any{"op": "predict", "model": 1}); r.Error != nil || len(r.data["mean"]) != 8*rows {
		t.Fatalf("%+v", r)
	}
	if got := fitted.Result["sentence"]; got != want.Sentence(want.Certificate) {
		t.Errorf("%v\nwant %s", got, want.Sentence(want.Certificate))
	}
	for name, file := range map[string]string{"file": path, "delivered": siblingName(path)} {
		got := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(got, fitted.data[name], 0o600))
		a := must.Get(krigo.Load(got))(t)
		b := must.Get(krigo.Load(file))(t)
		read := must.Get(files.ReadFile(csv, dataset.Reading{}))(t)
		ps := must.Get(a.Predict(t.Context(), read, krigo.PredictOptions{}))(t)
		qs := must.Get(b.Predict(t.Context(), read, krigo.PredictOptions{}))(t)
		for i := range ps {
			must.Need(t, ps[i] == qs[i],
				"%s, row %d: %+v, and of the command line %+v", name, i+1, ps[i], qs[i])
		}
	}

	r := ask(map[string]any{"op": "certify", "model": 1})
	if said, _ := r.Result["sentence"].(string); !strings.HasPrefix(said, "Reproduced: ") ||
		!strings.HasSuffix(said, want.Sentence(want.Certificate)) {
		t.Errorf("%q, %+v", said, r.Error)
	}
	params := `{"kernel": {"name": "se", "variance": 1, "lengthscales": [1]}, "noise_variance": 0.1}`
	evaluate := []string{"evaluate", csv, "--json", "--params", params, "--target=y", "--categorical=zone",
		"--objective=evidence"}
	var printed bytes.Buffer
	if status := Run(t.Context(), evaluate, nil, &printed, &stderr); status != 0 {
		t.Fatal(status, stderr.String())
	}
	r = ask(map[string]any{"op": "evaluate", "args": map[string]any{"flags": []string{"--target=y", "--objective=evidence",
		"--categorical=zone", "--params=" + params}}})
	var evaluated map[string]any
	if err := json.Unmarshal(printed.Bytes(), &evaluated); err != nil || !reflect.DeepEqual(r.Result, evaluated) {
		t.Errorf("%+v, %v: %v\nwant %v", r.Error, err, r.Result, evaluated)
	}
	for _, wrong := range []map[string]any{
		{"op": "evaluate", "args": map[string]any{"flags": []string{"--target=y"}}},
		{"op": "predict", "model": 1, "args": map[string]any{"intervals": []string{"full"}}},
		{"op": "predict", "model": 1, "args": map[string]any{"exact_variance": true}},
	} {
		if r := ask(wrong); r.Error == nil || r.Error.Kind != "usage" {
			t.Errorf("%v: %+v", wrong, r.Error)
		}
	}
	if r := ask(map[string]any{"op": "schema"}); len(r.Result) != 5 {
		t.Errorf("%+v", r)
	}

	for flag, words := range map[string]string{
		"--epochs=0":      `--epochs "0": leave it out`,
		"--kernel=":       `--kernel "": leave it out`,
		"--kernl=se":      `did you mean "kernel"`,
		"--out=x.krigo":   "--out",
		"--declared={}":   "with --declared",
		"--help":          "--help",
		"stray":           "stray",
		"--":              `"--"`,
		"-":               `"-"`,
		"--na":            "--na needs a value",
		"--group":         "--group needs a value",
		"--seed":          "--seed needs a value",
		"--ard=false":     `ard "false"`,
		"--curve=perhaps": "--curve",
		"--bogus=false":   "bogus",
		"--delta=2":       "--delta 2",
		"--missing=never": "missing",
	} {
		if got := fit("--target=y", "--categorical=zone", flag, "--mean=constant"); got.Error == nil ||
			got.Error.Kind != "usage" || !strings.Contains(got.Error.Message, words) {
			t.Errorf("%s: %+v", flag, got.Error)
		}
	}

	if left, err := filepath.Glob(filepath.Join(folder, "*.part")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	go requests.Write(frame(map[string]any{"id": 1, "op": "hello", "reply": filepath.Join(folder, "none", "reply")}))
	if status := <-ended; status != 1 || stdout.Len() > 0 || !strings.Contains(said.String(), "can't write the reply") {
		t.Errorf("status %d, %q, %q", status, &stdout, &said)
	}
}
