package model_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// waves returns rows of a sine, with a noise whose tails are heavier than a Gaussian's.
func waves(rng *rand.Rand, n int) *dataset.Table {
	t := &dataset.Table{Source: "waves", Names: []string{"x", "y"}, Rows: n}
	for i := range n {
		x := 2 * rng.Float64()
		t.Values = append(t.Values, x, math.Sin(4*x)+0.3*rng.NormFloat64()*rng.ExpFloat64())
		t.Lines = append(t.Lines, i+2)
	}
	return t
}

func wholeOf(t *testing.T, table *dataset.Table) (*krigo.Model, *model.Whole, *dataset.Data) {
	t.Helper()
	m := must.Get(krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se", ARD: "off", Noise: "constant"},
			Method: krigo.Method{Name: "evidence", Hyperprior: "weak"}, Prior: krigo.Prior{Kind: "informed", Share: 0.4},
			Run: krigo.Run{Restarts: 1}}))(t)
	d := must.Get(m.Labelled(table))(t)
	w := must.Get(m.Whole(d))(t)
	return m, w, d
}

// TestWhole compares the closed forms with GPs that are conditioned again for every candidate, and without every row.
func TestWhole(t *testing.T) {
	table := waves(rand.New(rand.NewPCG(4, 2)), 60)
	m, w, d := wholeOf(t, table)
	roles := must.Get(m.RolesOf(d))(t)
	prior := d.RowsOf(roles, dataset.Prior)
	rows := slices.Concat(prior, d.RowsOf(roles, dataset.Certified))
	n := len(rows)
	x, y := matrix.New(n, 1), make([]float64, n)
	must.Do(t, d.Scaled(rows, m.Scaling).Block(0, n, x.Data, y))
	at := m.Trained()
	condition := func(x matrix.Dense, y []float64) *posterior.Posterior {
		q := must.Get(posterior.NewExact(posterior.Given{Kernel: at.Kernel, Theta: at.Theta, Mean: at.Mean, Beta: at.Beta,
			Noise: m.ObservationNoise, X: x, Y: y}))(t)
		return q
	}
	const level = 0.8
	next := matrix.Of(2, 1, []float64{0.3, 2.5})
	some := func(row, other int) bool { return other%2 == row }
	for name, alike := range map[string]func(row, other int) bool{"all": nil, "some": some} {
		full, jackknife := w.Full(next, level, alike), w.Jackknife(next, level, alike)
		for row := range next.Rows {
			var others []int
			for i := len(prior); i < n; i++ {
				if alike == nil || alike(row, i-len(prior)) {
					others = append(others, i)
				}
			}
			// p returns the share of scores that are at least the score of a candidate.
			p := func(raw float64) float64 {
				u := matrix.New(n+1, 1)
				copy(u.Data, x.Data)
				u.Data[n] = next.At(row, 0)
				v := append(slices.Clone(y), (raw-m.Scaling.TargetMean)/m.Scaling.TargetScale)
				mean, variance, _ := condition(u, v).LeaveOneOut(v)
				score := func(i int) float64 { return math.Abs(v[i]-mean[i]) / math.Sqrt(variance[i]) }
				count := 1
				for _, i := range others {
					if score(i) >= score(n) {
						count++
					}
				}
				return float64(count) / float64(len(others)+1)
			}
			e := full[row]
			width := e.Upper - e.Lower
			for _, c := range []struct {
				y  float64
				in bool
			}{{e.Lower - 1e-6*width, false}, {e.Lower + 1e-6*width, true}, {(e.Lower + e.Upper) / 2, true},
				{e.Upper - 1e-6*width, true}, {e.Upper + 1e-6*width, false}} {
				if in := p(c.y) > 1-level+1e-9; in != c.in {
					t.Errorf("%s, row %d: %v has p = %v; the interval is %v", name, row, c.y, p(c.y), e)
				}
			}
			var lower, upper []float64
			for _, i := range others {
				less, lessY := matrix.New(n-1, 1), slices.Delete(slices.Clone(y), i, i+1)
				copy(less.Data, slices.Delete(slices.Clone(x.Data), i, i+1))
				q := condition(less, lessY)
				mean := make([]float64, 1)
				q.Latent(x.RowRange(i, i+1), mean, nil)
				r := math.Abs(y[i] - mean[0])
				q.Latent(next.RowRange(row, row+1), mean, nil)
				lower, upper = append(lower, mean[0]-r), append(upper, mean[0]+r)
			}
			slices.Sort(lower)
			slices.Sort(upper)
			k := int(math.Ceil(level*float64(len(others)+1) - 1e-9))
			want := model.Ends{Lower: m.Scaling.Raw(lower[len(others)-k]), Upper: m.Scaling.Raw(upper[k-1])}
			if got := jackknife[row]; math.Abs(got.Lower-want.Lower)+math.Abs(got.Upper-want.Upper) > 1e-8 {
				t.Errorf("%s, row %d: jackknife+ %v, want %v", name, row, got, want)
			}
		}
	}
	// No other row says anything about a row far away, so that its interval has the errors alone.
	far := w.Jackknife(matrix.Of(1, 1, []float64{1e3}), level, nil)[0]
	if half := w.HalfWidth(level); !(math.Abs((far.Upper-far.Lower)/2-half) < 1e-8) ||
		!math.IsInf(w.HalfWidth(0.99), 1) {
		t.Errorf("half-width %v, far away %v", half, far)
	}
	if e := w.Full(next, 0.99, nil)[0]; !math.IsInf(e.Lower, -1) || !math.IsInf(e.Upper, 1) {
		t.Errorf("of %d rows, at 0.99: %v", n-len(prior), e)
	}
}

// TestWholeHolds shows that intervals contain at least their level of simulated targets, within the count's error.
func TestWholeHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("fits some hundred models")
	}
	const level, sets = 0.8, 150
	inside := map[string]int{}
	rng := rand.New(rand.NewPCG(9, 9))
	further := 0
	for range sets {
		table := waves(rng, 45)
		m, w, _ := wholeOf(t, table)
		next := waves(rng, 20)
		x := matrix.New(next.Rows, 1)
		for i := range next.Rows {
			x.Data[i] = next.Values[2*i]
		}
		m.Scaling.Inputs(x.Data, x.Data)
		for name, ends := range map[string][]model.Ends{"full": w.Full(x, level, nil),
			"jackknife": w.Jackknife(x, level, nil)} {
			for i, e := range ends {
				if y := next.Values[2*i+1]; e.Lower <= y && y <= e.Upper {
					inside[name]++
				}
			}
		}
		further += next.Rows
	}
	for name, n := range inside {
		if share := float64(n) / float64(further); share < level-0.03 || share > level+0.05 {
			t.Errorf("%s: %.3f of %d further targets", name, share, further)
		}
	}
}
