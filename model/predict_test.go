package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/observation"
)

// inTable predicts at the same numbers as a table.
func inTable(t *testing.T, m *Model, x mat.Matrix) []Prediction {
	t.Helper()
	table := must.Get(dataset.FromMatrix(m.Inputs, x))(t)
	d := must.Get(m.Unlabelled(table))(t)
	mean, variance, err := latent(m.Posterior, d.Scaled(d.All(), m.Scaling))
	must.Do(t, err)
	return must.Get(m.Predictions(d, mean, variance))(t)
}

// TestPredictAt shows that rows of a matrix, of any kind and in any number of blocks, are predicted like the rows of a
// table, by one goroutine or by several at once, and that the matrix doesn't change.
func TestPredictAt(t *testing.T) {
	m := example(t, "se", 2, true, kernel.LinearMean{Dim: 2})
	rng := rand.New(rand.NewPCG(3, 4))
	most := observation.BlockRows(2)
	x := mat.NewDense(most+5, 2, nil)
	for i := range most + 5 {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	before, want := mat.DenseCopyOf(x), inTable(t, m, x)
	var wait sync.WaitGroup
	for name, of := range map[string]struct {
		x    mat.Matrix
		want []Prediction
	}{
		"all":         {x, want},
		"one":         {x.Slice(7, 8, 0, 2), want[7:8]},
		"the last":    {x.Slice(most-1, most+5, 0, 2), want[most-1:]},
		"not a Dense": {mat.DenseCopyOf(x.T()).T(), want},
	} {
		wait.Go(func() {
			if ps, err := m.PredictAt(of.x); err != nil || !slices.Equal(ps, of.want) {
				t.Errorf("%s: the predictions are others (%v)", name, err)
			}
		})
	}
	wait.Wait()
	must.Hold(t, mat.Equal(x, before), "the rows have changed")
	p, outside := want[0], 0
	for i, p := range want {
		n := 0
		for _, v := range x.RawRowView(i) {
			if v < 0 || v > 1./3 {
				n++
			}
		}
		must.Need(t, p.Outside == n, "row %d: %d inputs outside, want %d", i, p.Outside, n)
		outside += n
	}
	if outside == 0 || !(p.LatentSD > 0 && p.PredictiveSD > p.LatentSD && p.Lower95 < p.Mean && p.Mean < p.Upper95) {
		t.Errorf("%d outside, %+v", outside, p)
	}
	m.Range = Range{} // an old model has no range
	if ps, err := m.PredictAt(x.Slice(0, 1, 0, 2)); err != nil || ps[0].Outside != 0 || ps[0].Mean != p.Mean {
		t.Errorf("without a range: %+v, %v", ps, err)
	}
}

func TestPredictAtRefuses(t *testing.T) {
	m := example(t, "se+linear", 2, true, kernel.ZeroMean{})
	m.Scaling.InputScale[1] = 0.5
	rows := func(v float64) *mat.Dense { return mat.NewDense(2, 2, []float64{1, 2, 3, v}) }
	for name, c := range map[string]struct {
		x    mat.Matrix
		want string
		at   dataset.Error
	}{
		"too few columns": {mat.NewDense(4, 1, nil),
			"a 4×1 matrix: want a column for each of the model's inputs, 2 in all", dataset.Error{}},
		"too many": {mat.NewDense(1, 3, nil), "a 1×3 matrix", dataset.Error{}},
		"nothing":  {&mat.Dense{}, "a 0×0 matrix", dataset.Error{}},
		"a gap": {rows(math.NaN()), `row 2, column 2 ("x1"): NaN is not finite`,
			dataset.Error{Row: 2, Column: 2, Name: "x1"}},
		"infinite":             {rows(math.Inf(-1)), "-Inf is not finite", dataset.Error{Row: 2, Column: 2, Name: "x1"}},
		"an input far off":     {rows(1.7e308), "row 2: the prediction overflows", dataset.Error{Row: 2}},
		"a prediction far off": {rows(1e200), "row 2: the prediction overflows", dataset.Error{Row: 2}},
	} {
		ps, err := m.PredictAt(c.x)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %q", name, ps, err, c.want)
			continue
		}
		var at *dataset.Error
		if found := errors.As(err, &at); found != (c.at.Row > 0) || found &&
			!reflect.DeepEqual(dataset.Error{Row: at.Row, Column: at.Column, Name: at.Name}, c.at) {
			t.Errorf("%s: %+v", name, at)
		}
	}
}

// counted is a context that ends after it was asked a number of times.
type counted struct {
	context.Context
	left atomic.Int64
}

func (c *counted) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestPredictWithin shows that work on rows ends with its context, in the loop over rows that no matrix takes part in
// too, and that a context which doesn't end changes nothing.
func TestPredictWithin(t *testing.T) {
	m := example(t, "se", 2, true, kernel.ZeroMean{})
	x := mat.NewDense(1000, 2, nil)
	rowLoop := &counted{Context: t.Context()}
	rowLoop.left.Store(1 << 40)
	want := must.Get(m.PredictAt(x))(t)
	if got := must.Get(m.PredictWithin(rowLoop, x))(t); !slices.Equal(got, want) {
		t.Error("the predictions are others")
	}
	asked := 1<<40 - rowLoop.left.Load()
	if asked < 2*1000 {
		t.Errorf("the context was asked %d times for 1000 rows", asked)
	}
	for _, after := range []int64{0, 1, asked / 2, asked - 1} {
		rowLoop.left.Store(after)
		ps, err := m.PredictWithin(rowLoop, x)
		must.Hold(t, ps == nil && errors.Is(err, context.DeadlineExceeded),
			"after %d: %d rows, %v", after, len(ps), err)
	}
	rowLoop.left.Store(asked / 2)
	d := must.Get(m.Unlabelled(must.Get(dataset.FromMatrix(m.Inputs, x))(t)))(t)
	_, err := m.Predictions(d.Within(rowLoop), make([]float64, 1000), make([]float64, 1000))
	must.Hold(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
}
