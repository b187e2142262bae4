package command

import (
	"bytes"
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
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/ranks"
)

var netFile = flag.String("net", "",
	"TestNet: compare with this file to the last bit, or record it where there is none")

// netSets are command lines after what they begin with, one a line: every value of every option at least
// once, and most of those that meet in the code side by side. A semicolon parts the commands of a set.
// What a fit leaves is predicted from, on the rows it was made from, and certified.
var netSets = []struct{ begin, sets string }{
	{"fit homes.csv --target MEDV", `

		--objective kl-pac
		--objective sqrt-pac --ard off --restarts 1
		--objective kl-pac --ard on --restarts 2 --seed 5 --delta 0.05
		--objective kl-pac --grid 6,mixed --ard on --restarts 1
		--objective sqrt-pac --grid 4,1 --mean constant --restarts 1
		--objective sqrt-pac --grid 6,mixed --inducing 6 --ard on --mean linear
		--objective kl-pac --kernel matern12 --loss clipped-square --bound maurer --restarts 1
		--objective kl-pac --kernel matern32+linear --loss gaussian --bound pinsker --restarts 1
		--objective kl-pac --kernel matern52*constant --loss relative --epsilon 0.2 --bound maurer --ard off --restarts 1
		--objective sqrt-pac --kernel (se+white)*rq --loss asymmetric --epsilon 0.4:0.8 --ard off --restarts 1
		--objective sqrt-pac --kernel rq --loss clipped-absolute --bound split-kl --restarts 1
		--objective kl-pac --kernel linear --epsilon 5 --epsilon-units raw --promise 0.8 --restarts 1
		--objective kl-pac --optimizer mma --ard off --restarts 1 --epochs 60
		--objective kl-pac --init params.json --restarts 1; certify m.krigo homes.csv --refit
		--objective kl-pac --scaling all-rows --ard off --restarts 1
		--objective kl-pac --scaling declared:scaling.json --restarts 1
		--objective sqrt-pac --no-standardise --inducing 6 --ard off
		--objective kl-pac --test-fraction 0.2 --prior-share 0.4 --ard off; predict m.krigo new.csv
		--test-fraction 0.9
		--objective kl-pac --test fresh.csv --ard off --restarts 1; certify m.krigo fresh.csv --fresh
		--objective kl-pac --inducing 8
		--objective kl-pac --inducing 8 --alpha learn --ard off --inducing-init greedy
		--objective sqrt-pac --inducing 8 --alpha 0 --inducing-init kdpp --bound maurer
		--objective kl-pac --inducing 8 --alpha 0.5 --inducing-init random --fix-inducing --mean constant
		--objective kl-pac --inducing 8 --alpha 0.3 --posterior fitc --kernel matern32 --ard off
		--objective kl-pac --inducing auto --ard off
		--objective kl-pac --inducing theory --ard off --epochs 40
		--objective sqrt-pac --inducing 6 --optimizer mma --ard off --epochs 60
		--objective kl-pac --posterior free --inducing 5 --ard off
		--objective kl-pac --posterior free --inducing 5 --ard off --epochs 10 --batch 20 --alpha learn
		--objective sqrt-pac --posterior free --inducing 5 --ard off --optimizer sgd --batch 30 --epochs 5 --learning-rate 0.001 --loss clipped-square
		--objective sqrt-pac --posterior free --inducing 4 --ard off --optimizer mma --epochs 40
		--objective evidence
		--objective evidence --mean linear --kernel matern12+linear --restarts 2 --ard off
		--objective evidence --kernel rq*constant --loss clipped-absolute --bound pinsker --restarts 1
		--objective evidence --optimizer mma --mean constant --ard off --restarts 1
		--objective evidence --optimizer adam --batch 20 --epochs 8 --ard off
		--objective evidence --optimizer sgd --batch 20 --batches nearest --epochs 5 --ard on
		--objective evidence --fix-parameters --init params.json --inducing 0
		--objective evidence --solver cg --ard off --restarts 1
		--objective evidence --solver cg --fix-parameters --init params.json; predict m.krigo new.csv --exact-variance --samples 2
		--objective evidence --solver nearest --fix-parameters --init params.json --test-fraction 0.2
		--objective evidence --solver cholesky --scaling all-rows --restarts 1 --ard off
		--objective vfe
		--objective vfe --inducing 8 --kernel matern32 --inducing-init kdpp --mean constant --bound split-kl --loss clipped-square
		--objective vfe --inducing 8 --optimizer mma --ard off --inducing-init random --loss gaussian
		--objective vfe --inducing 8 --posterior fitc --fix-inducing --ard on --promise 0.7
		--objective fitc --inducing 8 --inducing-init greedy --kernel matern52 --ard off
		--objective fitc --inducing 6 --mean linear --scaling all-rows --fix-inducing
		--objective dtc --inducing 8 --ard off --loss relative --epsilon 0.3
		--objective dtc --inducing 6 --inducing-init random --kernel se+white --optimizer mma --epochs 60 --ard off
		--objective pep --inducing 8 --ard off
		--objective pep --inducing 6 --alpha 0.2 --kernel rq --loss asymmetric --epsilon 0.3:0.9 --posterior fitc
		--objective svgp --inducing 6 --batch 17 --epochs 15
		--objective svgp --inducing 6 --optimizer sgd --batch 20 --epochs 10 --learning-rate 0.05 --ard off --mean constant
		--objective svgp --inducing 6 --optimizer lbfgs --ard off --inducing-init greedy --scaling declared:scaling.json
		--objective svgp --inducing 5 --optimizer mma --ard off --epochs 60 --kernel matern32
		--objective renyi --inducing 5 --ard off
		--objective renyi --inducing 5 --ard on --anneal cosine --kernel matern32 --optimizer lbfgs --mean constant
		--objective renyi --inducing 5 --ard off --anneal geometric --optimizer mma
		--objective renyi --inducing 5 --ard off --anneal none --alpha 0.5 --loss clipped-square
		--objective renyi --inducing 5 --ard off --alpha 1 --inducing-init greedy --bound maurer
		--objective renyi --inducing 4 --ard off --alpha 0 --optimizer lbfgs
		--objective renyi --inducing 3 --ard off --alpha cv --optimizer sgd --batch 20 --epochs 2
		--objective renyi --inducing 3 --ard off --alpha cv --alphas 0,0.6 --optimizer lbfgs --epochs 40
		--objective renyi --inducing 5 --ard off --batch 20 --batches uniform --epochs 5
		--objective renyi --inducing 5 --ard off --batch 20 --batches nearest --epochs 5 --anneal geometric
		--objective renyi --inducing 5 --ard on --optimizer adam --batch 30 --epochs 8 --anneal cosine --fix-inducing
		--objective renyi --inducing 5 --ard off --solver cg
		--objective renyi --inducing 5 --ard off --solver nearest --optimizer adam --batch 20 --epochs 4`},

	// Informed priors, on rows enough to set some aside.
	{"fit snelson.csv --target y", `
		; certify m.krigo snelson.csv --refit; certify m.krigo snelson.csv --epsilon 0.3
		--prior informed --objective kl-pac --restarts 1
		--objective kl-pac --prior-share 0.3
		--test-fraction 0.2 --calibration-fraction 0.2; predict m.krigo snelson.csv --intervals conformal,normalised,band --samples 3 --seed 7
		--objective kl-pac --calibration-fraction 0.2 --test-fraction 0.1 --promise 0.9; predict m.krigo snelson.csv --intervals conformal,normalised,band
		--mean-bound both --temper 1,0.3,0.1 --test-fraction 0.1
		--mean-bound twice --temper 0.5 --bound betting --kernel matern32
		--mean-bound direct --bound betting --loss gaussian --promise 0.8 --seed 3
		--mean-bound direct --bound split-kl --loss clipped-square --kernel periodic+linear --restarts 1
		--mean-bound direct --bound maurer --loss asymmetric --epsilon 0.4:0.7 --prior informed --objective vfe --inducing 10
		--mean-bound both --bound pinsker --loss clipped-absolute --prior informed --objective fitc --inducing 10 --temper 1,0.1
		--inducing 10 --posterior learnt
		--inducing 8 --posterior learnt --alpha learn --prior informed --temper 1,0.3
		--prior informed --objective evidence --posterior learnt --bound kl --kernel matern52
		--prior informed --objective vfe --inducing 8 --posterior free --bound split-kl --loss clipped-absolute --promise 0.8
		--prior informed --objective kl-pac --inducing 8 --posterior free --epochs 8 --batch 50 --calibration-fraction 0.2
		--prior informed --objective vfe --inducing 8 --posterior fitc --mean linear
		--prior informed --objective dtc --inducing 8 --prior-share 0.5 --loss relative --epsilon 0.4
		--prior informed --objective pep --inducing 8 --alpha 0.3 --mean constant --scaling all-rows
		--prior informed --objective svgp --inducing 8 --batch 40 --epochs 10 --mean-bound both --temper 2,1
		--prior informed --objective renyi --inducing 8 --posterior learnt
		--prior informed --objective renyi --inducing 8 --alpha 0.5 --optimizer mma --mean-bound twice
		--prior informed --objective renyi --inducing 8 --optimizer adam --batch 50 --epochs 6 --batches nearest
		--prior informed --objective evidence --optimizer mma --no-standardise --epsilon 0.3 --epsilon-units raw
		--prior informed --objective evidence --split last --kernel matern12
		--inducing theory --kernel matern32 --epochs 60
		--mean-bound direct --loss relative --epsilon 0.5 --promise 0.7; predict m.krigo snelson.csv --intervals band
		--objective vfe --inducing 8 --kernel (se+constant)*periodic+white --ard on
		--objective pep --inducing 8 --kernel rq*linear+matern12 --mean linear
		--objective renyi --inducing 8 --kernel matern52*periodic+constant --epochs 60
		--objective svgp --inducing 8 --kernel periodic+white --batch 40 --epochs 10; predict m.krigo snelson.csv --samples 2
		--objective evidence --solver cg --kernel se*periodic+linear --mean linear --restarts 1; predict m.krigo snelson.csv --samples 2
		--objective evidence --solver cg --kernel rq+white+constant --restarts 1; predict m.krigo snelson.csv --samples 2
		--inducing auto --inducing-init kdpp --mean constant
		--objective sqrt-pac --kernel periodic --restarts 1 --grid 3,2 --loss relative --epsilon 0.5
		--objective evidence --kernel se*periodic --calibration-fraction 0.1 --bound maurer --restarts 1
		--objective vfe --inducing auto --inducing-init random --kernel rq --calibration-fraction 0.2
		--objective renyi --inducing 8 --anneal cosine --optimizer mma --kernel periodic --epochs 80
		--objective kl-pac --inducing 10 --promise 0.9 --bound pinsker --loss gaussian --mean linear
		--objective sqrt-pac --inducing 10 --grid 6,mixed --posterior free --loss clipped-absolute --bound split-kl
		--objective kl-pac --grid 6,mixed --restarts 1
		--objective evidence --solver cg --kernel matern52 --restarts 1 --test-fraction 0.1; predict m.krigo snelson.csv --exact-variance
		--objective kl-pac --kernel constant+white+linear --restarts 1`},

	{"fit mixed.csv --target y --categorical zone,heat --missing mean", `

		--objective kl-pac --ard off --restarts 1 --test-fraction 0.1
		--objective vfe --inducing 8 --ard on --calibration-fraction 0.2 --epochs 100
		--posterior learnt --inducing 8 --ard off --mean constant
		--objective renyi --inducing 6 --ard off
		--objective svgp --inducing 6 --ard off --batch 30 --epochs 5 --test-fraction 0.2`},

	{"fit groups.csv --target y --categorical unit", `
		--objective vfe --inducing 8 --ard off
		--group a --objective svgp --inducing 8 --ard off --batch 30 --epochs 8`},
	{"fit mixed.csv --target y --categorical zone,heat", `
		--missing mean --bound betting --promise 0.7 --kernel matern32+linear --restarts 1`},

	{"fit groups.csv --target y --group unit", `

		--objective kl-pac --ard off --restarts 1 --test-fraction 0.2
		--objective kl-pac --inducing 8 --ard off --promise 0.7
		--prior informed --objective vfe --inducing 8 --posterior learnt --prior-share 0.5
		--objective evidence --ard off --bound betting --prior informed --test-fraction 0.15; certify m.krigo groups.csv --fresh`},

	{"fit times.csv --target y --split last", `

		--prior informed --objective kl-pac --ard off --restarts 1 --test-fraction 0.2
		--prior informed --objective svgp --inducing 6 --batch 25 --epochs 6 --ard off
		--inducing 8 --loss relative --epsilon 0.5`},

	// The defaults above 2,000 rows; 2,900 rows leave so many to either prior.
	{"fit big.csv --target y", `

		--objective kl-pac --ard off --seed 1`},
	{"fit big.csv --target y --epochs 12", `
		--ard off
		--objective kl-pac --ard off
		--objective sqrt-pac --inducing 20 --posterior free --batch 300
		--objective evidence --optimizer adam --ard off --batch 150 --epochs 1
		--objective svgp --inducing 20 --ard off --test-fraction 0.1
		--objective renyi --inducing 20 --ard off --test-fraction 0.1 --prior-share 0.2
		--objective vfe --inducing 20 --kernel matern32+rq*matern12 --ard on; predict m.krigo big.csv --samples 2
		--objective dtc --inducing 20 --kernel matern52+periodic*linear --ard off; predict m.krigo big.csv --samples 1
		--objective fitc --inducing 20 --inducing-init greedy --calibration-fraction 0.1 --bound maurer
		--objective evidence --solver nearest --fix-parameters --init wide.json`},

	// On disk, and with so many rows that all but a thousand make the prior.
	{"fit disk.npy --target y --inducing 16", `
		--epochs 40
		--objective kl-pac --ard off --epochs 30 --test-fraction 0.1
		--objective vfe --ard off --epochs 30 --scaling all-rows --calibration-fraction 0.1
		--objective svgp --ard off --epochs 3
		--objective pep --ard off --inducing-init kdpp --epochs 20
		--posterior learnt --temper 1,0.3 --epochs 30`},

	{"fit few.npz --target y", `

		--objective kl-pac --ard off`},
	{"fit few.parquet --target y", `
		--inducing 6`},

	{"evaluate homes.csv --target MEDV", `
		--params params.json --objective kl-pac
		--params params.json --objective sqrt-pac --loss clipped-square --bound split-kl --promise 0.8
		--params params.json --objective evidence --scaling all-rows
		--params params.json --objective evidence --solver cg
		--params sum.json --objective evidence --mean linear
		--params sum.json --objective kl-pac --mean linear --loss gaussian --grid 6,1
		--params sum.json --objective evidence --mean linear --solver cg --seed 4
		--params sparse.json --objective kl-pac
		--params sparse.json --objective kl-pac --alpha 0.4 --posterior fitc --bound maurer
		--params sparse.json --objective sqrt-pac --alpha 0
		--params sparse.json --objective vfe --seed 3
		--params sparse.json --objective fitc --split last
		--params sparse.json --objective dtc --loss relative --epsilon 0.2
		--params sparse.json --objective pep --alpha 0.3
		--params sparse.json --objective svgp
		--params sparse.json --objective renyi
		--params sparse.json --objective renyi --alpha 0.5
		--params sparse.json --objective renyi --alpha -0.7
		--params sparse.json --objective renyi --alpha 1
		--params sparse.json --objective renyi --alpha 0.5 --solver cg
		--params sparse.json --objective renyi --alpha 0 --solver cg --seed 2
		--params free.json --objective kl-pac --posterior free
		--params free.json --objective sqrt-pac --posterior free --loss asymmetric --epsilon 0.4:0.8
		--params free.json --objective svgp`},

	{"compare homes.csv --target MEDV", `
		--objectives kl-pac,evidence --splits 2 --epsilon 0.4,0.8 --ard off --restarts 1
		--objectives vfe,renyi,svgp --splits 2 --inducing 5 --ard off --epochs 20
		--objectives vfe,fitc --splits 2 --inducing 5 --prior informed --ard off --mean-bound both`},

	// Over ranks, which the command line has only under MPI: after their number, what each does.
	{"ranks 2 fit disk.npy --target y --ard off --inducing 12 --epochs 20", `
		--objective kl-pac
		--objective vfe --inducing-init greedy --mean constant --test-fraction 0.1
		--objective svgp --epochs 2
		--prior informed --objective fitc --posterior learnt`},
	{"ranks 3 fit disk.npy --target y --ard off --inducing 10 --epochs 15", `
		--objective sqrt-pac --posterior free --epochs 2
		--objective renyi --inducing-init kdpp --alpha 0.5 --optimizer adam --epochs 1
		--objective pep --calibration-fraction 0.1`},
	{"ranks 3 fit snelson.csv --target y", `
		--objective evidence --solver cg --kernel matern32 --restarts 1`},

	// Interrupted after so many steps, and resumed.
	{"resume 9 fit homes.csv --target MEDV --ard off", `
		--objective kl-pac --test-fraction 0.1
		--objective evidence --kernel matern32+linear --mean constant --restarts 2
		--objective vfe --inducing 6 --optimizer mma
		--objective svgp --inducing 6 --batch 17 --epochs 15
		--objective renyi --inducing 5
		--objective kl-pac --posterior free --inducing 5`},
	{"resume 2 fit homes.csv --target MEDV --ard off", `
		--objective evidence --solver cg --restarts 1`},
	{"resume 30 fit snelson.csv --target y", `
		--posterior learnt --inducing 8
		--prior informed --objective renyi --inducing 6 --batch 40 --epochs 20`},
}

// netRefused are those that have to be refused, in the same words.
var netRefused = []struct{ begin, sets string }{
	{"fit homes.csv --target MEDV", `
		--objective elbo
		--objective vfe --inducing 0
		--objective evidence --inducing 5
		--objective kl-pac --mean-bound direct
		--objective kl-pac --temper 0.5
		--objective kl-pac --bound betting
		--objective kl-pac --solver cg
		--objective vfe --grid 6,mixed
		--objective vfe --alpha 0.5
		--objective vfe --batch 20
		--objective vfe --batches nearest --anneal cosine
		--objective renyi --alpha 0.5 --anneal linear
		--objective renyi --alpha -0.5
		--objective renyi --alpha cv --alphas 0,2
		--objective pep --alpha 0 --delta 0.5 --restarts -1
		--prior informed --init params.json
		--posterior free --objective evidence
		--categorical RM --no-standardise
		--group DIS --split last
		--group MEDV
		--inducing theory --kernel rq
		--loss asymmetric`},
	{"fit mixed.csv --target y", `

		--categorical zone,heat`},
	{"evaluate homes.csv --target MEDV", `
		--params params.json --objective vfe
		--params sum.json
		--params sparse.json --objective kl-pac --posterior free
		--params params.json --fix-parameters`},
	{"compare homes.csv --target MEDV", `
		--objective kl-pac
		--objectives kl-pac,elbo --splits 0`},
}

// TestNet is for before and after a change that should change no number: option sets of every kind, and
// what the command line makes of them, to the last bit.
func TestNet(t *testing.T) {
	if *netFile == "" {
		t.Skip("a net for refactorings: go test ./internal/command -run TestNet -net /FOLDER/FILE before and after " +
			"(CONTRIBUTING.md)")
	}
	path, err := filepath.Abs(*netFile)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := readNet(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	compare := err == nil
	workplace(t)
	netTables(t)

	got := map[string]map[string]any{}
	for i, list := range slices.Concat(netSets, netRefused) {
		for line := range strings.SplitSeq(strings.TrimPrefix(list.sets, "\n"), "\n") {
			set := strings.TrimSpace(list.begin + " " + strings.TrimSpace(line))
			if got[set] != nil {
				t.Fatalf("%s: this set stands here twice", set)
			}
			net := &netRun{t: t, fields: map[string]any{}}
			net.run(set)
			if refused := i >= len(netSets); net.failed != refused {
				t.Errorf("%s: failed %t, want %t: %v", set, net.failed, refused, net.fields)
			}
			got[set] = net.fields
			if !compare {
				continue
			}
			old, found := recorded[set]
			if !found {
				t.Errorf("%s: %s doesn't have it", set, path)
				continue
			}
			for _, difference := range differences(old, net.fields) {
				t.Errorf("%s: %s", set, difference)
			}
		}
	}
	for set := range recorded {
		if got[set] == nil {
			t.Errorf("%s: only %s has it", set, path)
		}
	}
	if !compare && !t.Failed() {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for _, set := range slices.Sorted(maps.Keys(got)) {
			if err := e.Encode(netRecord{set, got[set]}); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Logf("recorded %d option sets", len(got))
	}
}

// netRecord is a line of the file.
type netRecord struct {
	Set string         `json:"set"`
	Got map[string]any `json:"got"`
}

func readNet(path string) (map[string]map[string]any, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sets := map[string]map[string]any{}
	for line := range bytes.Lines(raw) {
		var r netRecord
		if err := decode(line, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		sets[r.Set] = r.Got
	}
	return sets, nil
}

// decode parses JSON, and leaves numbers the text that they are: other bits, other text.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// differences names the fields in which two values differ.
func differences(old, got any) []string {
	was, is := map[string]string{}, map[string]string{}
	flatten("", old, was)
	flatten("", got, is)
	var found []string
	for name, v := range is {
		if w, ok := was[name]; !ok {
			found = append(found, fmt.Sprintf("%s: %s, there was none", name, v))
		} else if v != w {
			found = append(found, fmt.Sprintf("%s: %s, was %s", name, v, w))
		}
	}
	for name, w := range was {
		if _, ok := is[name]; !ok {
			found = append(found, fmt.Sprintf("%s: none, was %s", name, w))
		}
	}
	slices.Sort(found)
	return found
}

// flatten lists the leaves of a JSON value as text, by their paths.
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
		leaves[path] = fmt.Sprint(v)
	}
}

// timeless takes from a JSON value what a clock said.
func timeless(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "seconds")
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
	fields map[string]any // what its commands left, by command
	failed bool           // not that what follows from a model was refused
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
			if _, err := fmt.Sscan(args[1], &times); err != nil {
				n.t.Fatal(set, err)
			}
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

// call runs a command, and keeps what it prints; of predictions a hash, and the first.
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

// model keeps what follows from the model that was fitted to a table: certify fails where there is no certificate.
func (n *netRun) model(data string) {
	m, err := krigo.Load(netModel)
	if err != nil {
		n.t.Fatal(err)
	}
	m.Training.Seconds = 0
	n.fields["fitted"] = string(m.Fitted) // apart from the model, so that a difference can be read
	m.Fitted, m.Findings = nil, nil       // what is said of the fit may be worded otherwise
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		n.t.Fatal(err)
	}
	n.fields["model"] = hash(b.Bytes())
	n.call("predict", "predict", netModel, data)
	n.call("certify", "certify", netModel, data)
}

// options are those that the command line makes of a fit's flags, and the part of the data that is a rank's.
func (n *netRun) options(args []string, r ranks.Ranks) (*dataset.Table, krigo.Options, error) {
	var f fitFlags
	flags := pflag.NewFlagSet("fit", pflag.ContinueOnError)
	f.register(flags, "fit")
	if err := flags.Parse(args[1:]); err != nil {
		return nil, krigo.Options{}, err
	}
	return f.read(args[0], nil, r)
}

// spread fits over so many ranks.
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

// resume interrupts a fit after so many steps, and goes on from its checkpoint. That isn't kept: how far
// each of several starts, which run side by side, has come by then is chance.
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

// netTables writes the tables that are no fixtures of other tests, and parameters.
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
		if err := files.WriteFile(file.name, []string{"a", "b", "y"}, file.rows, func(_ int, row []float64) error {
			a, b := 6*rng.Float64(), rng.NormFloat64()
			row[0], row[1], row[2] = a, b, math.Cos(a)*b+0.3*rng.NormFloat64()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
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
