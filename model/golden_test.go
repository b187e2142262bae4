package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// stored holds what a model in testdata predicted when it was made.
type stored struct {
	X        []float64 `json:"x"`
	Mean     []float64 `json:"mean"`
	Variance []float64 `json:"latent_variance"`
	Bound    float64   `json:"bound"`
}

// snelson60 returns the data that the model was made from. column adds text: side, with missing cells, or block.
func snelson60(column string) *dataset.Table {
	t := data.Snelson()
	t.Rows, t.Values, t.Lines = 60, t.Values[:120], t.Lines[:60]
	return with(column, t)
}

// with adds the column to t, unless column is "".
func with(column string, t *dataset.Table) *dataset.Table {
	if column == "" {
		return t
	}
	with := &dataset.Table{Source: t.Source, Names: append([]string{column}, t.Names...)}
	for i := range t.Rows {
		row := []string{[]string{"left", "right", "", "7"}[i%4]}
		if column == "block" {
			row[0] = fmt.Sprint("block ", i/2)
		}
		for _, v := range t.Values[i*len(t.Names) : (i+1)*len(t.Names)] {
			row = append(row, fmt.Sprint(v))
		}
		with.Append(row)
	}
	return with
}

// TestVersions loads files that earlier versions wrote. Newer versions must load these files and predict the same, so
// never write the files again. (This test made them with UPDATE_SNAPSHOTS=1, which writes only missing files.)
func TestVersions(t *testing.T) {
	t.Run("1", func(t *testing.T) {
		version(t, "testdata/v1", krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 1},
			Kernel: krigo.Kernel{Expression: "matern52+white", Mean: "constant"}, Run: krigo.Run{Restarts: 2}}, 40)
	})
	t.Run("3, an informed prior", func(t *testing.T) {
		version(t, "testdata/v3", krigo.Options{Data: krigo.Data{Target: "y"},
			Promise: krigo.Promise{Epsilon: 1, Share: 0.1, Calibration: 0.32},
			Kernel:  krigo.Kernel{Expression: "matern52+white", Mean: "constant"},
			Method:  krigo.Method{Name: "fitc", Inducing: 5}, Prior: krigo.Prior{Kind: "informed", Share: 0.4, Learn: true,
				Temper: []float64{0.5}}}, 24)
	})
	t.Run("4, encoded inputs", func(t *testing.T) {
		version(t, "testdata/v4", krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"side"}, Missing: "mean"},
			Method: krigo.Method{Name: "kl-pac", Inducing: 8}, Promise: krigo.Promise{Epsilon: 1},
			Kernel: krigo.Kernel{ARD: "off"}}, 40)
	})
	t.Run("5, roles by content", func(t *testing.T) {
		version(t, "testdata/v5", krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 1, Share: 0.5},
			Kernel: krigo.Kernel{Expression: "matern32+white", Mean: "linear"}}, 21)
	})
	t.Run("5, a curve and slices", func(t *testing.T) {
		version(t, "testdata/v5-many", krigo.Options{Data: krigo.Data{Target: "y"},
			Promise: krigo.Promise{Epsilon: 1, Share: 0.5, Curve: true, Slices: []string{"sd", "x"}},
			Prior:   krigo.Prior{Kind: "informed", Share: 0.3}, Kernel: krigo.Kernel{Expression: "se"}}, 42)
	})
	t.Run("5, groups", func(t *testing.T) {
		version(t, "testdata/v5-groups", krigo.Options{Data: krigo.Data{Target: "y", Group: "block", Scaling: "prior-rows"},
			Method: krigo.Method{Name: "kl-pac"}, Promise: krigo.Promise{Epsilon: 1}, Prior: krigo.Prior{Share: 0.3}}, 42)
	})
}

// column returns the column of text in the data from which a model with these options was made.
func column(o krigo.Options) string {
	if len(o.Data.Categorical) > 0 {
		return o.Data.Categorical[0]
	}
	return o.Data.Group
}

func version(t *testing.T, name string, o krigo.Options, rows int) {
	column := column(o)
	file, figures := name+".krigo", name+".json"
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && os.Getenv("UPDATE_SNAPSHOTS") == "1" {
		makeVersion(t, file, figures, o)
	}
	m := must.Get(krigo.Load(file))(t)
	raw := must.Get(os.ReadFile(figures))(t)
	var want stored
	if err := json.Unmarshal(raw, &want); err != nil || len(want.X) == 0 {
		t.Fatalf("%d points, %v", len(want.X), err)
	}
	ps := must.Get(m.Predict(t.Context(), points(want.X, column), krigo.PredictOptions{}))(t)
	for i, p := range ps {
		must.Hold(t, close(p.Mean, want.Mean[i]) && close(p.LatentVariance, want.Variance[i]),
			"x = %v: %v ± %v, stored %v ± %v", want.X[i], p.Mean, p.LatentVariance, want.Mean[i],
			want.Variance[i])
	}
	if m.Certificate == nil || m.Certificate.Bound != want.Bound || m.Certificate.Valid != (m.Split != model.ByPosition) ||
		m.Certificate.Rows != rows {
		t.Errorf("certificate %+v", m.Certificate)
	}
	r, err := m.Certify(t.Context(), snelson60(column), krigo.CertifyOptions{})
	must.Hold(t, err == nil && r.Matches, "recertified: %+v, %v", r, err)
	// The model recognises one row of its own data by the row's hash.
	if f, err := m.CertifyFresh(t.Context(), own(m, column)); err != nil || f.Seen != 1 {
		t.Errorf("a row it was made from passes for fresh: %+v, %v", f, err)
	}
}

// own returns a row that the model was made from.
func own(m *krigo.Model, column string) *dataset.Table {
	t := snelson60(column)
	d, err := m.Labelled(t)
	if err != nil {
		panic(err)
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		panic(err)
	}
	i := roles.Rows(dataset.Certified)[0]
	k := len(t.Names)
	return &dataset.Table{Source: "one row", Names: t.Names, Rows: 1, Values: t.Values[k*i : k*i+k], Text: t.Text,
		Lines: []int{2}}
}

// close says whether two numbers are equal but for the order of additions, which depends on the processor.
func close(a, b float64) bool { return math.Abs(a-b) <= 1e-11*math.Max(1, math.Abs(b)) }

func points(x []float64, column string) *dataset.Table {
	t := &dataset.Table{Source: "points", Names: []string{"x"}, Rows: len(x), Values: x, Lines: make([]int, len(x))}
	return with(column, t)
}

func makeVersion(t *testing.T, file, figures string, o krigo.Options) {
	m := must.Get(krigo.Fit(context.Background(), snelson60(column(o)), o))(t)
	m.Training.Seconds = 0
	out := stored{Bound: m.Certificate.Bound}
	for i := range 13 {
		out.X = append(out.X, float64(i)/2)
	}
	ps := must.Get(m.Predict(t.Context(), points(out.X, column(o)), krigo.PredictOptions{}))(t)
	for _, p := range ps {
		out.Mean, out.Variance = append(out.Mean, p.Mean), append(out.Variance, p.LatentVariance)
	}
	raw, err := json.MarshalIndent(out, "", " ")
	if err == nil {
		err = errors.Join(os.WriteFile(figures, append(raw, '\n'), 0o644), m.Save(file))
	}
	must.Do(t, err)
}

// TestTogether shows that goroutines that predict with one model and write it don't disturb one another.
func TestTogether(t *testing.T) {
	files, err := filepath.Glob("testdata/*.krigo")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw := must.Get(os.ReadFile(file))(t)
		m, err := model.Read(bytes.NewReader(raw))
		must.Need(t, err == nil, "%s: %v", file, err)
		x := mat.NewDense(300, len(m.Inputs), nil)
		for i := range x.RawMatrix().Data {
			x.RawMatrix().Data[i] = 6 * math.Mod(float64(i)*math.Phi, 1)
		}
		want, err := m.PredictAt(x)
		must.Need(t, err == nil, "%s: %v", file, err)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if ps, err := m.PredictAt(x); err != nil || !slices.Equal(ps, want) {
					t.Errorf("%s: other predictions (%v)", file, err)
				}
				var out bytes.Buffer
				if err := m.Write(&out); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			})
		}
		wait.Wait()
	}
}
