package objective_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// unevenly gives rows different noises: none of the trained noise in every fifth row, as the sites of an approximate
// likelihood have.
func unevenly(rows objective.Memory) objective.Memory {
	for i := range rows.Y {
		rows.PerRow.Factor = append(rows.PerRow.Factor, 0.3*float64(i%5))
		rows.PerRow.Known = append(rows.PerRow.Known, 0.05+0.1*math.Abs(math.Sin(float64(i))))
	}
	return rows
}

// TestRowNoise holds every objective that takes rows of different noise against the density of the rows, where it
// equals this density, and its gradient against differences.
func TestRowNoise(t *testing.T) {
	rows := unevenly(scattered(23, 2))
	n, d := rows.Dims()
	k, mean := kernel.SE(d, true), kernel.LinearMean{}
	p := &objective.Problem{Kernel: k, Mean: mean, X: rows.X, Y: rows.Y, Objective: &objective.Evidence{},
		PerRow: rows.PerRow}
	x := []float64{-0.2, 0.3, 0.1, 0.2, -1}
	c, m := mat.NewSymDense(n, nil), make([]float64, n)
	dense := matrix.New(n, n)
	kernel.At(k, x[:3]).FillSymmetric(rows.X, dense)
	mean.At(x[3:4], rows.X, m)
	for i := range n {
		for j := range i + 1 {
			c.SetSym(i, j, dense.At(i, j))
		}
		c.SetSym(i, i, dense.At(i, i)+rows.PerRow.At(i, math.Exp(-1)))
	}
	var factor mat.Cholesky
	must.Be(t, factor.Factorize(c), true)
	r, w := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	r.SubVec(mat.NewVecDense(n, rows.Y), mat.NewVecDense(n, m))
	must.Do(t, factor.SolveVecTo(w, r))
	want := (float64(n)*math.Log(2*math.Pi) + factor.LogDet() + mat.Dot(r, w)) / 2

	sparse := func(o objective.Sparse, m int) train {
		return &objective.SparseProblem{Kernel: k, Mean: mean, Rows: rows, M: m, Objective: o}
	}
	nearest := func(term pacbayes.Expectation, m int, vecchia bool) train {
		return &objective.NearestProblem{Kernel: k, Mean: mean, Rows: rows, Neighbours: m, Vecchia: vecchia, Term: term}
	}
	for name, c := range map[string]struct {
		train
		same bool // whether the value is the density of all rows together
	}{
		"evidence": {p, true}, "vecchia": {nearest(nil, n-1, true), true}, "nearest": {nearest(nil, 6, false), false},
		"crps": {nearest(objective.CRPS{}, 6, false), false}, "expected": {nearest(objective.GaussianNoise{}, 6,
			false), false},
		"vfe of all": {sparse(objective.VFE(), n), true}, "pep of all": {sparse(objective.PEP(0.4), n), true},
		"vfe": {sparse(objective.VFE(), 5), false}, "dtc": {sparse(objective.DTC(), 5), false},
		"fitc": {sparse(objective.FITC(), 5), false}, "pep": {sparse(objective.PEP(0.4), 5), false},
		"cg": {&objective.IterativeEvidence{Kernel: k, Mean: mean, X: rows.X, Y: rows.Y, PerRow: rows.PerRow, Seed: 3,
			Probes: 400, Tolerance: 1e-9}, false},
	} {
		at := x
		if rest := c.Dim() - len(x); rest > 0 {
			at = slices.Concat(x, rows.X.Data[:rest])
		}
		g := make([]float64, len(at))
		value := must.Get(c.Evaluate(at, g))(t)
		if c.same {
			must.Near(t, value, want, 1e-6*math.Abs(want), name)
		}
		if name == "cg" {
			must.Near(t, value, want, 0.3, name)
		}
		if c.same && len(at) > len(x) {
			continue // rows that repeat one another make K_ZZ singular, where jitter hides the derivatives by Z
		}
		for i := range at {
			const h = 2e-4
			move := func(step float64) float64 {
				moved := slices.Clone(at)
				moved[i] += step
				return must.Get(c.Evaluate(moved, nil))(t)
			}
			differences := (8*(move(h)-move(-h)) - (move(2*h) - move(-2*h))) / (12 * h)
			must.Near(t, g[i], differences, 1e-6*(1+math.Abs(differences)), fmt.Sprint(name, i))
		}
	}
	p.Objective = &objective.PAC{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}, Bound: pacbayes.KLBound,
		Penalty: 1}
	must.Refuse(p.Evaluate(x, nil))(t, "one noise variance")
}

type train interface {
	Dim() int
	Evaluate(x, gradient []float64) (float64, error)
}

// TestRowNoisePosteriors: the posteriors of rows of different noise agree where they are the same distribution. A row
// counts as two rows of half the precision, and predictions of a row from all others are those without this row.
func TestRowNoisePosteriors(t *testing.T) {
	rows := unevenly(scattered(29, 2)) // no row repeats another
	for i := range rows.Y {
		rows.X.Row(i)[0] += 1e-3 * float64(i)
	}
	n, d := rows.Dims()
	given := posterior.Given{Kernel: kernel.SE(d, true), Theta: []float64{-0.2, 0.3, 0.1}, Mean: kernel.LinearMean{},
		Beta: []float64{0.2}, Noise: 0.3, X: rows.X, Y: rows.Y, PerRow: rows.PerRow}
	exact := must.Get(posterior.NewExact(given))(t)
	at := scattered(7, 2).X
	latent := func(p *posterior.Posterior) []float64 {
		mean, variance := make([]float64, at.Rows), make([]float64, at.Rows)
		p.Latent(at, mean, variance)
		return append(mean, variance...)
	}
	near := func(what string, p *posterior.Posterior, tolerance float64) {
		t.Helper()
		want := latent(exact)
		for i, v := range latent(p) {
			must.Near(t, v, want[i], tolerance, what)
		}
	}
	near("again", must.Get(exact.Refactored())(t), 1e-12)
	near("nearest", posterior.NewNearest(given, n), 1e-9)
	near("along", posterior.NewNearest(given, n).Along(at), 1e-9)
	cg := must.Get(posterior.NewIterative(context.Background(), given, n, posterior.Iterative{Tolerance: 1e-10}))(t)
	near("cg", cg, 1e-8)
	sparse := &objective.SparseProblem{Kernel: given.Kernel, Mean: given.Mean, Rows: rows, M: n,
		Objective: objective.VFE()}
	q := must.Get(sparse.Posterior(slices.Concat(given.Theta, given.Beta, []float64{math.Log(0.3)}, rows.X.Data), 0))(t)
	near("sparse", q, 1e-5)
	must.Near(t, exact.KL(), q.KL(), 1e-4*exact.KL(), "KL")

	m := make([]float64, n)
	given.Mean.At(given.Beta, rows.X, m)
	made := posterior.Made{Place: func(i int) int { return i }, Sum: func(...[]float64) error { return nil },
		Tolerance: 1e-11}
	must.Do(t, exact.Follows(rows.Y, m, made))
	must.Do(t, cg.Follows(rows.Y, m, made))

	mean, variance, _ := exact.LeaveOneOut(rows.Y)
	others := make([]int, 0, n)
	for i := range n {
		if i != 4 {
			others = append(others, i)
		}
	}
	without := given
	without.X, without.Y, without.PerRow = matrix.New(n-1, d), make([]float64, n-1), rows.PerRow.Pick(others)
	must.Do(t, rows.Pick(others, without.X.Data, without.Y))
	mu, v := make([]float64, 1), make([]float64, 1)
	must.Get(posterior.NewExact(without))(t).Latent(rows.X.RowRange(4, 5), mu, v)
	must.Near(t, mean[4], mu[0], 1e-9, "mean of a row left out")
	must.Near(t, variance[4], v[0]+rows.PerRow.At(4, 0.3), 1e-9, "variance of a row left out")

	twice := given
	twice.X, twice.Y = matrix.New(n+1, d), make([]float64, n+1)
	number := append(slices.Clone(others), 4, 4)
	must.Do(t, rows.Pick(number, twice.X.Data, twice.Y))
	twice.PerRow = rows.PerRow.Pick(number)
	for i := n - 1; i <= n; i++ {
		twice.PerRow.Factor[i] *= 2
		twice.PerRow.Known[i] *= 2
	}
	near("two rows for one", must.Get(posterior.NewExact(twice))(t), 1e-9)
	prior := must.Get(exact.Unconditioned(1))(t)
	near("as a prior", must.Get(prior.Refactored())(t), 1e-12)

	out := matrix.New(at.Rows, 1000)
	must.Do(t, cg.Sample(context.Background(), at, out, posterior.Draws{Seed: 1}))
	want := latent(exact)
	for i := range at.Rows {
		var squares float64
		for _, f := range out.Row(i) {
			squares += (f - want[i]) * (f - want[i])
		}
		must.Near(t, squares/1000, want[at.Rows+i], 0.2*want[at.Rows+i], "variance of draws")
	}
}

// TestReplicates: rows with equal inputs have the evidence of all rows, and its gradient, from their means.
func TestReplicates(t *testing.T) {
	rows := scattered(60, 2)
	for i := range rows.Y {
		copy(rows.X.Row(i), rows.X.Row(i%(7+i%13)))
	}
	build := func() *objective.Problem {
		return &objective.Problem{Kernel: kernel.SE(2, true), Mean: kernel.LinearMean{Dim: 2}, X: rows.X, Y: rows.Y,
			Objective: &objective.Evidence{}}
	}
	all, few := build(), build()
	few.Replicates()
	must.Hold(t, few.X.Rows <= 30, "%d rows", few.X.Rows)
	x := []float64{-0.2, 0.3, 0.1, 0.2, -0.1, 0.3, -1}
	g, h := make([]float64, len(x)), make([]float64, len(x))
	value := must.Get(all.Evaluate(x, g))(t)
	must.Near(t, must.Get(few.Evaluate(x, h))(t), value, 1e-9)
	for i, v := range h {
		must.Near(t, v, g[i], 1e-9*(1+math.Abs(g[i])), all.Names()[i])
	}
}
