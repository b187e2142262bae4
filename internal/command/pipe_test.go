package command

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// frame appends a request to what a file has.
func frame(to []byte, header map[string]any, buffers ...[]byte) []byte {
	sizes := []int{}
	for _, b := range buffers {
		sizes = append(sizes, len(b))
	}
	header["buffers"] = sizes
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	to = append(binary.LittleEndian.AppendUint32(to, uint32(len(text))), text...)
	return append(to, bytes.Join(buffers, nil)...)
}

// reply is a frame that came back.
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

func replies(t *testing.T, out []byte) (all []reply) {
	t.Helper()
	for len(out) > 0 {
		size := binary.LittleEndian.Uint32(out)
		r := reply{data: map[string][]byte{}}
		if err := json.Unmarshal(out[4:4+size], &r); err != nil {
			t.Fatal(err)
		}
		out = out[4+size:]
		for i, n := range r.Buffers {
			r.data[r.Names[i]], out = out[:n], out[n:]
		}
		all = append(all, r)
	}
	return all
}

// TestPipeOfAFile: requests in a file are answered in their order and to the last, and a fit by flags is that of the command line.
func TestPipeOfAFile(t *testing.T) {
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
	flags := []string{"--target=y", "--categorical=zone", "--kernel=se,matern32", "--epsilon=0.3", "--epsilon-units=raw", "--deliver=all", "--seed=4"}

	csv, path := filepath.Join(folder, "t.csv"), filepath.Join(folder, "t.krigo")
	if err := os.WriteFile(csv, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if status := Run(t.Context(), append([]string{"fit", csv, "--out", path, "--quiet"}, flags...), nil, &bytes.Buffer{}, &stderr); status != 0 {
		t.Fatal(status, stderr.String())
	}
	want, err := krigo.Load(path)
	if err != nil {
		t.Fatal(err)
	}

	ask := func(requests []byte) []reply {
		t.Helper()
		name := filepath.Join(folder, "requests")
		if err := os.WriteFile(name, requests, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var stdout, stderr bytes.Buffer
		if status := Run(t.Context(), []string{"pipe"}, in, &stdout, &stderr); status != 0 {
			t.Fatal(status, stderr.String())
		}
		return replies(t, stdout.Bytes())
	}
	fit := func(flags ...string) map[string]any {
		return map[string]any{"id": 1, "op": "fit", "table": table, "args": map[string]any{"flags": flags}}
	}
	all := ask(frame(frame(nil, fit(flags...), buffers...), map[string]any{"id": 2, "op": "predict", "model": 1, "table": table}, buffers...))
	if len(all) != 2 || all[0].Error != nil || all[1].Error != nil || all[0].ID != 1 || all[1].ID != 2 {
		t.Fatalf("%+v", all)
	}
	if got := all[0].Result["sentence"]; got != krigo.Sentence(want, want.Certificate) {
		t.Errorf("%v\nwant %s", got, krigo.Sentence(want, want.Certificate))
	}
	for name, file := range map[string]string{"file": path, "delivered": siblingName(path)} {
		got := filepath.Join(folder, name)
		if err := os.WriteFile(got, all[0].data[name], 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := krigo.Load(got)
		if err != nil {
			t.Fatal(err)
		}
		b, err := krigo.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		read, err := dataset.ReadFile(csv)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := krigo.Predict(a, read)
		if err != nil {
			t.Fatal(err)
		}
		qs, err := krigo.Predict(b, read)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ps {
			if ps[i] != qs[i] {
				t.Fatalf("%s, row %d: %+v, and of the command line %+v", name, i+1, ps[i], qs[i])
			}
		}
	}

	for flag, words := range map[string]string{
		"--kernl=se":      `did you mean "kernel"`,
		"--out=x.krigo":   "--out",
		"--declared=x":    "--declared",
		"--help":          "--help",
		"stray":           "stray",
		"--":              `"--"`,
		"-":               `"-"`,
		"--na":            "--na takes a value",
		"--group":         "--group takes a value",
		"--seed":          "--seed takes a value",
		"--ard=false":     `ard "false"`,
		"--curve=perhaps": "--curve",
		"--bogus=false":   "bogus",
		"--delta=2":       "--delta 2",
		"--missing=never": "missing",
	} {
		got := ask(frame(nil, fit("--target=y", "--categorical=zone", flag, "--mean=constant"), buffers...))
		if len(got) != 1 || got[0].Error == nil || got[0].Error.Kind != "usage" || !strings.Contains(got[0].Error.Message, words) {
			t.Errorf("%s: %+v", flag, got[0].Error)
		}
	}
}
