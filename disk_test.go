package krigo_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/method"
)

// onDisk writes a table to an NPY file and returns it as a table of the same name.
func onDisk(t *testing.T, table *dataset.Table) (disk *dataset.Table, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.npy")
	must.Do(t, files.WriteFile(path, table.Names, table.Rows, func(i int, values []float64) error {
		copy(values, table.Values[i*len(values):])
		return nil
	}))
	disk = must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	t.Cleanup(func() { disk.Close() })
	disk.Source = table.Source
	return disk, path
}

// TestDiskAsMemory: with every method, a table on disk gives the same model file as a table in memory, to the last
// bit, and the same value, gradient and predictions.
func TestDiskAsMemory(t *testing.T) {
	memory := snelson()
	disk, _ := onDisk(t, memory)
	for name, o := range map[string]krigo.Options{
		"full": cheap(krigo.Options{Data: krigo.Data{TestFraction: 0.2}}),
		"sparse": {
			Data:   krigo.Data{TestFraction: 0.2},
			Method: krigo.Method{Inducing: 6},
		},
		"relative": {
			Method:  krigo.Method{Inducing: 4},
			Promise: krigo.Promise{Loss: "relative"},
		},
		"vfe, all rows": {Method: krigo.Method{Name: "vfe", Inducing: 4, InducingInit: "greedy"},
			Data: krigo.Data{Scaling: dataset.AllRows, Test: memory}},
		"svgp on batches": {
			Method: krigo.Method{Name: "svgp", Inducing: 4, Batch: 7, Epochs: 3},
		},
		"free": {Method: krigo.Method{Inducing: 3, Posterior: "free"}},
		"no prior rows": {Method: krigo.Method{Inducing: 3},
			Data: krigo.Data{Scaling: dataset.Declared, Declared: identity(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := fit(t, memory, o), fit(t, disk, o)
			must.Hold(t, file(t, a) == file(t, b), "in memory %+v\non disk %+v", a, b)
			pa := predict(t, a, memory)
			pb, err := b.Predict(t.Context(), disk, krigo.PredictOptions{})
			must.Hold(t, err == nil && slices.Equal(pa, pb), "predictions differ (%v)", err)
			if a.Certificate != nil {
				reproduced(t, a, disk)
			}
		})
	}
	params := &krigo.Params{Kernel: se(1, 0.7), NoiseVariance: 0.2, Inducing: [][]float64{{-1}, {0}, {1}}}
	a := must.Get(krigo.Evaluate(t.Context(), memory, params, krigo.Options{
		Data: krigo.Data{Target: "y"},
	}))(t)
	b := must.Get(krigo.Evaluate(t.Context(), disk, params, krigo.Options{
		Data: krigo.Data{Target: "y"},
	}))(t)
	must.Hold(t, a.Value == b.Value &&
		slices.Equal(a.Gradient.LogLengthscales, b.Gradient.LogLengthscales) &&
		slices.EqualFunc(a.Gradient.Inducing, b.Gradient.Inducing, slices.Equal),
		"in memory %+v\non disk %+v", a, b)
}

// TestNearestInFile: if rows take much of the memory that may be used, they lie in files of their own, which are gone
// afterwards. The model and its predictions are the same to the last bit. A full disk ends the fit.
func TestNearestInFile(t *testing.T) {
	must.Long(t)
	if runtime.GOOS == "windows" {
		t.Skip("the rows stay in memory")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	table := &dataset.Table{Source: "drawn", Names: []string{"a", "b", "c", "d", "e", "f", "g", "h", "y"}, Rows: 6000}
	for range table.Rows * len(table.Names) {
		table.Values = append(table.Values, rng.NormFloat64())
	}
	o := krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "se", ARD: "off"},
		Method: krigo.Method{Name: "nearest", Neighbours: 4, Batch: 3000, Epochs: 1},
		Prior:  krigo.Prior{Kind: "informed", Share: 0.99},
	}
	want := fit(t, table, o)
	few := &dataset.Table{Source: "few", Names: table.Names, Rows: 40, Values: table.Values[:40*len(table.Names)]}
	expect := predict(t, want, few)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	memory.SetLimit(5 << 19) // the factors of 512 rows need 2 MiB
	defer memory.SetLimit(0)
	made, full := 0, false
	defer disk.Inject(func(op disk.Op) (int, error) {
		if op.Name == "create" && filepath.Dir(op.Path) == folder {
			made++
		}
		if full && op.Name == "write" {
			return 0, syscall.ENOSPC
		}
		return 0, nil
	})()
	got := fit(t, table, o)
	must.Hold(t, file(t, got) == file(t, want) && slices.Equal(predict(t, got, few), expect),
		"%+v, not %+v", got, want)
	left := must.Get(os.ReadDir(folder))(t)
	must.Hold(t, made >= 4 && len(left) == 0, "%d files made, left %v", made, left)
	full = true
	_, err := krigo.Fit(t.Context(), table, o)
	must.Hold(t, errors.Is(err, syscall.ENOSPC) && strings.Contains(err.Error(), folder), "%v", err)
}

func identity(cols int) *dataset.Scaling {
	s := dataset.Identity(cols)
	return &s
}

// TestDiskFails: if rows can't be read any more, the fit ends. An error of another kind would only shorten the step.
func TestDiskFails(t *testing.T) {
	table := &dataset.Table{Source: "made up", Names: []string{"x", "y"}, Rows: 3000}
	for i := range table.Rows {
		x := float64(i) / 100
		table.Values = append(table.Values, x, x*x/100+float64(i*7919%13))
	}
	disk, path := onDisk(t, table)
	o := krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 3},
	}
	o.Run.Progress = func(e krigo.Event) {
		if e.Iteration == 1 {
			if err := os.Truncate(path, 128); err != nil {
				t.Skip(err) // the system may lock an open file
			}
		}
	}
	m, err := krigo.Fit(context.Background(), disk, o)
	must.Hold(t, m == nil && err != nil && strings.Contains(err.Error(), "can't be read"),
		"%v, %v", m, err)
}

// TestManyRows: above 50,000 rows, inducing inputs are chosen among a sample, and a finding says so.
func TestManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("52,000 rows")
	}
	path := filepath.Join(t.TempDir(), "draw.npy")
	draw := files.Draw{Rows: 52000, Inputs: 1, Variance: 1, NoiseVariance: 0.1, Lengthscales: []float64{2}, Features: 10,
		Seed: 1}
	if _, err := draw.Write(context.Background(), path, nil); err != nil {
		t.Fatal(err)
	}
	table := must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	defer table.Close()
	m := fit(t, table, krigo.Options{
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "kl-pac", Inducing: 4},
	})
	if want := (finding.List{finding.New(finding.InducingSample, 50000, 51000)}); !reflect.DeepEqual(
		m.Findings.Of(finding.InducingSample), want) {
		t.Errorf("%q", m.Findings)
	}
	if c := m.Certificate; c == nil || !c.Valid || c.Rows != 51000 {
		t.Errorf("%+v", c)
	}
}

// TestManyRowsInformedPriorIsBlind: the inducing inputs of an informed prior are chosen from a sample of prior rows.
// Other inputs in the certified rows don't change the sample.
func TestManyRowsInformedPriorIsBlind(t *testing.T) {
	if testing.Short() {
		t.Skip("104,000 rows")
	}
	table := &dataset.Table{Source: "t", Names: []string{"x", "y"}, Rows: 104000}
	for i := range table.Rows {
		table.Values = append(table.Values, float64(i%997)/997, math.Sin(float64(i%997)/100))
	}
	o := krigo.Options{
		Data:   krigo.Data{Split: "last"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "vfe", Inducing: 4, InducingInit: "random", Epochs: 1},
		Prior:  krigo.Prior{Kind: "informed", Share: 0.5},
	}
	want := fit(t, table, o)
	certified := rowsOf(t, want, table, dataset.Certified)
	must.Need(t, len(certified) > 50000, "%d certified rows", len(certified))
	for _, row := range certified {
		table.Values[2*row] = 5 + float64(row%7)
	}
	if a, b := want.Trained(), fit(t, table, o).Trained(); !slices.Equal(a.Support.Data, b.Support.Data) ||
		!slices.Equal(a.Theta, b.Theta) {
		t.Errorf("the prior changed with the certified rows: inducing inputs %v, %v", a.Support.Data, b.Support.Data)
	}
}

// TestManyPriorRows: with more prior rows than method.MaxTerms, and more than are asked for correlations, a product of
// kernels is trained on some of them. Its certificate is recomputed from the file to the bit.
func TestManyPriorRows(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten thousand million operations")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, method.MaxTerms+200)
	for i := range rows {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		rows[i] = []float64{a, b, math.Sin(2*a) + 0.3*b + 0.2*rng.NormFloat64()}
	}
	table := must.Get(dataset.FromRows([]string{"a", "b", "y"}, rows))(t)
	o := krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "matern32*matern12"},
		Method: krigo.Method{
			Name:       "nearest",
			Neighbours: 4,
			Optimizer:  "adam",
			Batch:      5000,
			Epochs:     1,
		},
		Prior:   krigo.Prior{Kind: "informed", Share: 0.999},
		Promise: krigo.Promise{MeanBound: "direct"},
	}
	plan := must.Get(krigo.Decide(t.Context(), table, o))(t)
	terms := finding.List{finding.New(finding.SomeTerms, 100000, 100100)}
	must.Hold(t, reflect.DeepEqual(plan.Findings.Of(finding.SomeTerms), terms), "%q", plan.Findings)
	m := trained(t, table, o)
	must.Need(t, reflect.DeepEqual(m.Findings.Of(finding.SomeTerms), terms) &&
		m.Certificate != nil && m.Certificate.MeanBound < 0.2, "%+v, %q", m.Certificate, m.Findings)
	file := filepath.Join(t.TempDir(), "many.krigo")
	must.Do(t, m.Save(file))
	loaded := must.Get(krigo.Load(file))(t)
	again, err := certify(loaded, table)
	must.Hold(t, err == nil && again.Certificate.MeanBound == m.Certificate.MeanBound,
		"%+v, %v", again, err)
}
