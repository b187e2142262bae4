package objective_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// evaluateSparse returns value and gradient at θ = 0.2, noise variance e^−1 and the given Z.
func evaluateSparse(t *testing.T, o objective.Sparse, x matrix.Dense, y []float64, z matrix.Dense, keep int64) (float64,
	[]float64) {
	t.Helper()
	p := &objective.SparseProblem{Kernel: kernel.SE(x.Cols, true), Mean: kernel.ZeroMean{},
		Rows: objective.Memory{X: x, Y: y}, M: z.Rows, Objective: o, Keep: keep}
	at := append(append(slices.Repeat([]float64{0.2}, x.Cols+1), -1), z.Data...)
	g := make([]float64, len(at))
	v := must.Get(p.Evaluate(at, g))(t)
	return v, g
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	must.Hold(t, math.Abs(got-want) <= tol*math.Max(math.Abs(want), 1),
		"%s: %.15g, want %.15g", what, got, want)
}

func TestSparseLimits(t *testing.T) {
	x, y := boston(60, 3)
	z := matrix.Of(9, 3, slices.Clone(x.Data[:27]))
	vfe, vfeG := evaluateSparse(t, objective.VFE(), x, y, z, 0)
	pep, pepG := evaluateSparse(t, objective.PEP(1e-9), x, y, z, 0)
	near(t, "PEP as α → 0 against VFE", pep, vfe, 1e-7)
	for i := range vfeG {
		near(t, "its gradient", pepG[i], vfeG[i], 1e-6)
	}
	fitc, _ := evaluateSparse(t, objective.FITC(), x, y, z, 0)
	pep, _ = evaluateSparse(t, objective.PEP(1), x, y, z, 0)
	near(t, "PEP at α = 1 against FITC", pep, fitc, 1e-14)

	// With Z = X every objective is exact. These rows don't repeat, so K_ZZ needs no jitter, which would spoil that.
	all := matrix.Of(60, 3, slices.Clone(x.Data))
	full := &objective.Problem{Kernel: kernel.SE(3, true), Mean: kernel.ZeroMean{}, X: x, Y: y,
		Objective: &objective.Evidence{}}
	at := append(slices.Repeat([]float64{0.2}, 4), -1)
	evidence := must.Get(full.Evaluate(at, nil))(t)
	for _, o := range []objective.Sparse{objective.VFE(), objective.DTC(), objective.FITC(), objective.PEP(0.5)} {
		v, _ := evaluateSparse(t, o, x, y, all, 0)
		near(t, "Z = X against the evidence", v, evidence, 1e-8)
	}
	loss := pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}
	full.Objective = &objective.PAC{Loss: loss, Bound: pacbayes.KLBound, Penalty: 5}
	b := must.Get(full.Evaluate(at, nil))(t)
	for _, alpha := range []float64{0, 1} {
		v, _ := evaluateSparse(t, &objective.SparsePAC{Alpha: alpha, Loss: loss, Bound: pacbayes.KLBound, Penalty: 5}, x, y,
			all, 0)
		near(t, "Z = X against the full PAC-GP", v, b, 1e-8)
	}
}

// TestSparseInvariances: Keep and the number of cores change nothing. The order of rows changes only rounding.
func TestSparseInvariances(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := 4500 // three blocks
	if testing.Short() {
		n = 2100
	}
	x, y := boston(n, 3)
	z := matrix.Of(20, 3, slices.Clone(x.Data[:60]))
	rng := rand.New(rand.NewPCG(5, 6))
	px, py := matrix.New(n, 3), make([]float64, n)
	for i, j := range rng.Perm(n) {
		copy(px.Row(i), x.Row(j))
		py[i] = y[j]
	}
	for _, o := range []objective.Sparse{objective.VFE(), objective.FITC(),
		&objective.SparsePAC{Alpha: 1, Loss: pacbayes.Loss{Kind: pacbayes.Gaussian, Below: 0.6}, Bound: pacbayes.KLBound,
			Penalty: 20}} {
		runtime.GOMAXPROCS(1)
		v, g := evaluateSparse(t, o, x, y, z, 0)
		for _, procs := range []int{2, 5} {
			runtime.GOMAXPROCS(procs)
			for _, keep := range []int64{0, 1 << 30} {
				w, h := evaluateSparse(t, o, x, y, z, keep)
				must.Hold(t, w == v && slices.Equal(g, h),
					"%T on %d cores, keeping %d bytes: %v, before %v", o, procs, keep, w, v)
			}
		}
		w, h := evaluateSparse(t, o, px, py, z, 0)
		near(t, "rows in another order", w, v, 1e-10)
		for i := range g {
			near(t, "rows in another order, gradient", h[i], g[i], 1e-8)
		}
	}
}

// TestVarianceBeyondFloat64: a variance that overflows or vanishes is an error, found at once.
func TestVarianceBeyondFloat64(t *testing.T) {
	x, y := boston(30, 2)
	p := &objective.SparseProblem{Kernel: kernel.SE(2, false), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y},
		M: 4, Objective: objective.FITC()}
	for _, logVariance := range []float64{800, -800} {
		at := append([]float64{0, logVariance, -1}, x.Data[:8]...)
		must.Refuse(p.Evaluate(at, make([]float64, len(at))))(t, "", fmt.Sprintf("ln σ² = %v: value", logVariance))
	}
}

func TestAlphaIsAParameter(t *testing.T) {
	x, y := boston(80, 3)
	for _, b := range []pacbayes.Inequality{pacbayes.KLBound, pacbayes.PinskerBound} {
		p := &objective.SparseProblem{Kernel: kernel.SE(3, true), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y},
			M: 7, LearnAlpha: true,
			Objective: &objective.SparsePAC{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}, Bound: b, Penalty: 20}}
		at := append(append(slices.Repeat([]float64{0.2}, 4), -1), x.Data[:21]...)
		at = append(at, 0.3)
		if names := p.Names(); len(names) != len(at) || names[len(at)-1] != "alpha" {
			t.Fatalf("names: %v", names)
		}
		g := make([]float64, len(at))
		must.Get(p.Evaluate(at, g))(t)
		value := func() float64 {
			return must.Get(p.Evaluate(at, nil))(t)
		}
		for _, i := range []int{0, 3, 4, 10, len(at) - 1} {
			near(t, fmt.Sprintf("%s: derivative by parameter %d", b, i), g[i], difference(func(h float64) float64 {
				old := at[i]
				defer func() { at[i] = old }()
				at[i] += h
				return value()
			}), 1e-7)
		}
		p.LearnAlpha = false
		p.Objective.(*objective.SparsePAC).Alpha = 0.3
		fixed, err := p.Evaluate(at[:len(at)-1], nil)
		if err != nil || fixed != func() float64 { p.LearnAlpha = true; return value() }() {
			t.Errorf("%s: α as a parameter changes the value (%v)", b, err)
		}
	}
}

// onDisk stands for rows in a file, where row number broken can't be read.
type onDisk struct {
	objective.Memory
	broken int
}

func (d onDisk) Block(first, n int, x, y []float64) error {
	if d.broken >= first && d.broken < first+n {
		return errors.New("row can't be read")
	}
	return d.Memory.Block(first, n, x, y)
}

func TestRowsThatCannotBeRead(t *testing.T) {
	x, y := boston(60, 3)
	p := &objective.SparseProblem{Kernel: kernel.SE(3, true), Mean: kernel.ZeroMean{},
		Rows: onDisk{objective.Memory{X: x, Y: y}, 31}, M: 7, Objective: objective.VFE()}
	at := append(slices.Repeat([]float64{0.2}, 5), x.Data[:21]...)
	must.Refuse(p.Evaluate(at, make([]float64, len(at))))(t, "", "no")
}
