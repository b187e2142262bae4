package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/ranks"
)

var netFile = flag.String("net", "",
	"TestNet: compare with this file to the last bit, or record it where there is none")

// TestNet records or compares the results of the command line for option sets of every kind (testdata/net), to the last
// bit. Run it before and after a change that should change no number.
func TestNet(t *testing.T) {
	if *netFile == "" {
		t.Skip("a net for refactorings: go test ./internal/command -run TestNet -net /FOLDER/FILE before and after " +
			"(CONTRIBUTING.md)")
	}
	path, sets := must.Get(filepath.Abs(*netFile))(t), read(t, "testdata/net/sets.txt")
	recorded, err := readNet(path)
	compare := err == nil
	must.Need(t, err == nil || errors.Is(err, fs.ErrNotExist), "%v", err)
	workplace(t)
	netTables(t)
	got := map[string]map[string]any{}
	for line := range strings.Lines(sets) {
		set, refused := strings.CutPrefix(strings.TrimSpace(line), "! ")
		if set == "" || set[0] == '#' {
			continue
		}
		must.Need(t, got[set] == nil, "%s: this set stands here twice", set)
		net := &netRun{t: t, fields: map[string]any{}}
		net.run(set)
		must.Hold(t, net.failed == refused,
			"%s: failed %t, want %t: %v", set, net.failed, refused, net.fields)
		got[set] = net.fields
		if old, found := recorded[set]; found {
			for _, difference := range differences(old, net.fields) {
				t.Errorf("%s: %s", set, difference)
			}
		} else if compare {
			t.Errorf("%s: %s doesn't have it", set, path)
		}
	}
	for set := range recorded {
		must.Hold(t, got[set] != nil, "%s: only %s has it", set, path)
	}
	if !compare && !t.Failed() {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for _, set := range slices.Sorted(maps.Keys(got)) {
			must.Do(t, e.Encode(netRecord{set, got[set]}))
		}
		must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
		t.Logf("recorded %d option sets", len(got))
	}
}

// netRecord is a line of the file of TestNet: the name of an option set, and its results.
type netRecord struct {
	Set string         `json:"set"`
	Got map[string]any `json:"got"`
}

func readNet(path string) (map[string]map[string]any, error) {
	raw, err := os.ReadFile(path)
	sets := map[string]map[string]any{}
	for line := range bytes.Lines(raw) {
		var r netRecord
		if err := decode(line, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		sets[r.Set] = r.Got
	}
	return sets, err
}

// decode parses JSON. It keeps numbers as text, because numbers that differ in a bit differ as text.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// differences names the fields in which two values differ.
func differences(old, got any) (found []string) {
	was, is := map[string]string{}, map[string]string{}
	flatten("", old, was)
	flatten("", got, is)
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if w, v := was[name], is[name]; w != v {
			found = append(found, fmt.Sprintf("%s: %s, was %s", name, cmp.Or(v, "none"), cmp.Or(w, "none")))
		}
	}
	return found
}

// flatten lists the leaves of a JSON value as text in quotes, by their paths.
func flatten(path string, v any, leaves map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			flatten(strings.TrimPrefix(path+"."+name, "."), part, leaves)
		}
	case []any:
		for i, part := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), part, leaves)
		}
	default:
		leaves[path] = strconv.Quote(fmt.Sprint(v))
	}
}

// timeless removes times from a JSON value.
func timeless(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "seconds")
		delete(v, "refit_seconds")
		for _, part := range v {
			timeless(part)
		}
	case []any:
		for _, part := range v {
			timeless(part)
		}
	}
}

// netRun runs one set of options.
type netRun struct {
	t      *testing.T
	fields map[string]any // the results of the set's commands, by command
	failed bool           // a fit failed; a refused predict or certify doesn't count
}

const netModel = "m.krigo"

func (n *netRun) run(set string) {
	os.Remove(netModel) // a fit that replaces a model says so
	for command := range strings.SplitSeq(set, ";") {
		args := strings.Fields(command)
		name := strings.Join(args, " ")
		switch args[0] {
		case "ranks", "resume":
			var times int
			must.Get(fmt.Sscan(args[1], &times))(n.t)
			if args[0] == "ranks" {
				n.spread(times, args[3:])
			} else {
				n.resume(times, args[2:])
			}
			n.model(args[slices.Index(args, "fit")+1])
		case "fit":
			if n.call("fit", append(args, "--out", netModel)...) {
				n.model(args[1])
			} else {
				n.failed = true
			}
		default:
			if args[0] == "evaluate" || args[0] == "compare" {
				name = args[0]
			}
			n.failed = !n.call(name, args...) || n.failed
		}
	}
}

// call runs a command and keeps what it prints. For predictions it keeps a hash, and the first prediction.
func (n *netRun) call(name string, args ...string) bool {
	o := call(context.Background(), append(args, "--json", "--quiet")...)
	if o.status != 0 {
		n.fields[name] = map[string]any{"status": o.status, "stderr": o.stderr}
		return false
	}
	var v any
	if err := decode([]byte(o.stdout), &v); err != nil {
		n.t.Fatalf("%v: %v", args, err)
	}
	timeless(v)
	if args[0] == "predict" {
		v = map[string]any{"sha256": hash([]byte(o.stdout)), "first": v.(map[string]any)["predictions"].([]any)[0]}
	}
	n.fields[name] = v
	return true
}

// model records the fitted model, and the results of predict and certify with this model and the table in data. certify
// fails if the model has no certificate.
func (n *netRun) model(data string) {
	m := must.Get(krigo.Load(netModel))(n.t)
	m.Training.Seconds = 0
	n.fields["fitted"] = string(m.Fitted) // apart from the model, so that a difference can be read
	m.Fitted, m.Findings = nil, nil       // the words about the fit may change
	var b bytes.Buffer
	must.Do(n.t, m.Write(&b))
	n.fields["model"] = hash(b.Bytes())
	n.call("predict", "predict", netModel, data)
	n.call("certify", "certify", netModel, data)
}

// options returns a rank's part of the data, and the options that the command line makes from a fit's flags.
func (n *netRun) options(args []string, r ranks.Ranks) (*dataset.Table, krigo.Options, error) {
	var f fitFlags
	flags := pflag.NewFlagSet("fit", pflag.ContinueOnError)
	f.register(flags, "fit")
	if err := flags.Parse(args[1:]); err != nil {
		return nil, krigo.Options{}, err
	}
	return f.read(args[0], nil, r)
}

// spread fits on size ranks.
func (n *netRun) spread(size int, args []string) {
	var model *krigo.Model // the first rank's
	errs := make([]error, size)
	var wait sync.WaitGroup
	for i, r := range ranks.Threads(size) {
		wait.Go(func() {
			table, o, err := n.options(args, r)
			if err == nil {
				defer table.Close()
				var m *krigo.Model
				if m, err = krigo.Fit(context.Background(), table, o); i == 0 {
					model = m
				}
			}
			errs[i] = r.Close(err)
		})
	}
	wait.Wait()
	err := errors.Join(errs...)
	if err == nil {
		err = model.Save(netModel)
	}
	if err != nil {
		n.t.Fatal(args, err)
	}
}

// resume interrupts a fit after the given number of steps, and continues from its checkpoint. TestNet doesn't record
// the checkpoint, because starts run side by side and chance decides how far each start has come.
func (n *netRun) resume(steps int, args []string) {
	table, o, err := n.options(args[1:], ranks.Alone{})
	if err != nil {
		n.t.Fatal(args, err)
	}
	defer table.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var raw []byte
	o.Run.Save = func(c *krigo.Checkpoint) (err error) {
		if steps--; steps == 0 {
			cancel()
		}
		raw, err = json.Marshal(c)
		return err
	}
	if _, err := krigo.Fit(ctx, table, o); !errors.Is(err, context.Canceled) {
		n.t.Fatalf("%v: not interrupted: %v", args, err)
	}
	write(n.t, "fit.checkpoint", string(raw))
	n.failed = !n.call("fit", append(args, "--out", netModel, "--resume", "fit.checkpoint")...)
}

func hash(raw []byte) string { return fmt.Sprintf("%x", sha256.Sum256(raw)) }

// netTables writes the parameters, and the tables that no other test has as fixtures.
func netTables(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	table := func(rows int, row func(i int) string) string {
		var b strings.Builder
		for i := range rows {
			b.WriteString(row(i))
		}
		return b.String()
	}
	write(t, "mixed.csv", "a,zone,heat,y\n"+table(120, func(i int) string {
		a, zone, heat := 4*rng.Float64(), rng.IntN(3), rng.IntN(4)
		y := math.Sin(a) + 0.5*float64(zone) + 0.2*rng.NormFloat64()
		return fmt.Sprintf("%s,%s,%s,%.4f\n", []string{fmt.Sprintf("%.3f", a), "NA"}[i%11/10],
			[]string{"north", "south", "?"}[zone], []string{"gas", "oil", "wood", ""}[heat], y)
	}))
	write(t, "groups.csv", "unit,a,b,y\n"+table(120, func(i int) string {
		a, b := 4*rng.Float64(), rng.NormFloat64()
		return fmt.Sprintf("u%d,%.3f,%.3f,%.4f\n", i%60, a, b, math.Sin(a)+0.3*b+0.3*math.Cos(float64(i%60))+
			0.1*rng.NormFloat64())
	}))
	write(t, "times.csv", "hour,a,y\n"+table(110, func(i int) string {
		a := rng.NormFloat64()
		return fmt.Sprintf("%d,%.3f,%.4f\n", i, a, math.Sin(float64(i)/9)+0.01*float64(i)+0.4*a+0.1*rng.NormFloat64())
	}))
	write(t, "big.csv", "a,b,y\n"+table(2900, func(int) string {
		a, b := 6*rng.Float64(), rng.NormFloat64()
		return fmt.Sprintf("%.4f,%.4f,%.5f\n", a, b, math.Sin(a)+0.3*b+0.2*rng.NormFloat64())
	}))
	for _, file := range []struct {
		name string
		rows int
	}{{"disk.npy", 3400}, {"few.npz", 80}, {"few.parquet", 90}} {
		must.Do(t, files.WriteFile(file.name, []string{"a", "b", "y"}, file.rows, func(_ int, row []float64) error {
			a, b := 6*rng.Float64(), rng.NormFloat64()
			row[0], row[1], row[2] = a, b, math.Cos(a)*b+0.3*rng.NormFloat64()
			return nil
		}))
	}
	write(t, "scaling.json",
		`{"inputs": {"RM": {"mean": 6, "scale": 1}, "LSTAT": {"mean": 12, "scale": 7}, "DIS": {"mean": 4, "scale": `+
			`2}}, "target": {"mean": 22, "scale": 9}}`)
	const se, inducing = `{"kernel": {"name": "se", "variance": 1.2, "lengthscales": [1.5, 2, 3]}, "noise_variance": 0.4`,
		`, "inducing": [[-1, 0.5, 0.2], [0, 0, 0], [0.8, -0.7, 0.5], [1.5, -1, -0.6]]`
	write(t, "sparse.json", se+inducing+"}")
	write(t, "free.json",
		se+inducing+`, "posterior": {"mean": [-0.6, 0.1, 0.5, 1.1], "chol": [[0.3], [0.1, 0.2], [0, 0.05, 0.3], [0.02, 0, `+
			`0.1, 0.4]]}}`)
	write(t, "wide.json", `{"kernel": {"name": "se", "variance": 1, "lengthscales": [0.8]}, "noise_variance": 0.2}`)
	write(t, "sum.json", `{"kernel": {"name": "sum", "parts": [{"name": "matern32", "variance": 0.8, "lengthscales": [2]}, {"name": "linear", "variance": 0.3}]},
		"noise_variance": 0.3, "mean": {"constant": 0.1, "linear": [0.2, -0.1, 0]}}`)
}
