package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// TestRatedTilted compares integrals over f, and their derivatives, with sums over a fine grid and with differences.
func TestRatedTilted(t *testing.T) {
	for _, c := range []struct{ y, m, v, s float64 }{{0, 0, 1, 1}, {3, 1, 0.5, 0.3}, {0, -8, 9, 2}, {1000, 2, 4, 0.1},
		{1e6, 13, 1, 0.01}, {2, 5, 20, 1e-4}, {7, 1.9, 1e-6, 0.5}, {1, -3, 1e-3, 4}} {
		for name, l := range map[string]Rated{"poisson": likelihoods[PoissonName].(Rated),
			"negative": likelihoods[NegativeName].(Rated), "gamma": likelihoods[GammaName].(Rated)} {
			y, s := c.y, c.s
			if !l.whole {
				y += 0.5
			}
			if l.byScale == nil {
				s = 1
			}
			mode, curve := l.mode(y, c.m, c.v, s)
			var mass float64
			const steps = 200000
			low := min(mode-50/math.Sqrt(curve), c.m-12*math.Sqrt(c.v))
			high := max(mode+50/math.Sqrt(curve), c.m+12*math.Sqrt(c.v))
			top := l.log(y, mode, s) - (mode-c.m)*(mode-c.m)/(2*c.v)
			for k := range steps {
				f := low + (high-low)*(float64(k)+0.5)/steps
				mass += math.Exp(l.log(y, f, s) - (f-c.m)*(f-c.m)/(2*c.v) - top)
			}
			want := math.Log(mass*(high-low)/steps) + top - math.Log(2*math.Pi*c.v)/2
			got := l.Tilted(y, c.m, c.v, s)
			if math.Abs(got.Log-want) > 1e-8*(1+math.Abs(want)) {
				t.Errorf("%s %v: ln Z = %.12g, want %.12g", name, c, got.Log, want)
			}
			h := 1e-3 * min(1, math.Sqrt(c.v))
			up, down := l.Tilted(y, c.m+h, c.v, s), l.Tilted(y, c.m-h, c.v, s)
			near := func(what string, got, want, tolerance float64) {
				if math.Abs(got-want) > tolerance*(math.Abs(want)+1e-2/math.Sqrt(c.v)) {
					t.Errorf("%s %v: %s = %.10g, differences give %.10g", name, c, what, got, want)
				}
			}
			near("slope", got.Slope, (up.Log-down.Log)/(2*h), 1e-5)
			near("curve", got.Curve*math.Sqrt(c.v), -(up.Slope-down.Slope)/(2*h)*math.Sqrt(c.v), 1e-5)
			if l.byScale != nil {
				e := 5e-3 * s
				up, down := l.Tilted(y, c.m, c.v, s+e), l.Tilted(y, c.m, c.v, s-e)
				near("by scale", got.ByScale, (up.Log-down.Log)/(2*e), 2e-3)
			}
		}
	}
}

// TestRatedPredictive compares quantiles and moments with sums over draws of f and y.
func TestRatedPredictive(t *testing.T) {
	for name, l := range map[string]Rated{"poisson": likelihoods[PoissonName].(Rated),
		"negative": likelihoods[NegativeName].(Rated)} {
		s := 0.4
		if l.byScale == nil {
			s = 1
		}
		mean, variance := 1.2, 0.3
		var total, first, square float64
		cumulative := map[float64]float64{}
		for y := 0.; y < 400; y++ {
			p := math.Exp(l.LogPredictive(y, mean, variance, s))
			total, first, square = total+p, first+p*y, square+p*y*y
			cumulative[y] = total
			if d := l.upTo(y, mean, variance, s); math.Abs(d-total) > 1e-9 {
				t.Errorf("%s: up to %g: %.12g, want %.12g", name, y, d, total)
			}
		}
		spread, err := l.Spread(mean, variance, s)
		if err != nil || math.Abs(total-1) > 1e-6 || math.Abs(first-l.Point(mean, variance, s)) > 1e-4 ||
			math.Abs(square-first*first-spread.Variance) > 1e-2 {
			t.Errorf("%s: total %g, mean %g, variance %g: %+v, %v", name, total, first, square-first*first, spread, err)
		}
		sd := math.Sqrt(spread.Variance)
		low, high := math.Round(mean+spread.Lower*sd), math.Round(mean+spread.Upper*sd)
		if low > 0 && cumulative[low-1] >= 0.025 || cumulative[low] < 0.025 || cumulative[high-1] >= 0.975 ||
			cumulative[high] < 0.975 {
			t.Errorf("%s: the interval is %g to %g", name, low, high)
		}
	}
	l := likelihoods[GammaName].(Rated)
	spread, err := l.Spread(2, 0.2, 0.5)
	sd := math.Sqrt(spread.Variance)
	if at := l.upTo(l.Point(2, 0.2, 0.5)+spread.Upper*sd, 2, 0.2, 0.5); err != nil || math.Abs(at-0.975) > 1e-6 {
		t.Errorf("gamma: %g below the upper end, %v", at, err)
	}
}

// TestRatedFarAway asks for moments and spreads so far away that a search once had no end.
func TestRatedFarAway(t *testing.T) {
	for _, name := range []string{PoissonName, NegativeName} {
		l := likelihoods[name].(Rated)
		for _, y := range []float64{0, 42} {
			for _, m := range []float64{30, 600, 2551} {
				if name == NegativeName && m > 700 {
					continue // e^f overflows at the mode itself
				}
				got := l.Tilted(y, m, 1, 1)
				if !(got.Slope < 0 && got.Curve >= 0 && got.Log < 0) || math.IsInf(got.Log, 0) {
					t.Errorf("%s: y = %v at N(%v, 1) has %+v", name, y, m, got)
				}
			}
		}
		for _, share := range []float64{0.025, 0.975} {
			near, far := l.quantile(share, 20, 0.01, 0.1)/math.Exp(20), l.quantile(share, 43, 0.01, 0.1)/math.Exp(43)
			if math.Abs(near-far) > 1e-3 {
				t.Errorf("%s: the quantile %v is %v times e^20, and %v times e^43", name, share, near, far)
			}
		}
		if _, err := l.Spread(-63, 2818, 1); err == nil {
			t.Errorf("%s: a mean of e^1346 has a spread", name)
		}
	}
}

// TestRatedEvidence compares gradients of the evidence of counts with differences, where half of the rows have a shift.
// A shift of all rows equals a change of the mean.
func TestRatedEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	const n = 30
	x, y := matrix.New(n, 2), make([]float64, n)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64(), rng.NormFloat64()
		y[i] = math.Floor(math.Exp(2+x.At(i, 0)) * rng.ExpFloat64())
	}
	k, err := kernel.Parse("se", 2, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{PoissonName, NegativeName, GammaName} {
		if name == GammaName {
			for i := range y {
				y[i] += 0.25
			}
		}
		shift := make([]float64, n)
		e := &EPEvidence{Noise: SitedOf(name), Shift: shift}
		p := &Problem{Kernel: k, Mean: kernel.LinearMean{}, X: x, Y: y, Objective: e}
		at, gradient := []float64{0.2, 0.5, 0.3, 1.5, -0.7}, make([]float64, p.Dim())
		before, err := p.Evaluate(at, nil)
		for i := range shift {
			shift[i] = 0.4
		}
		at[3] -= 0.4
		after, err2 := p.Evaluate(at, nil)
		if err != nil || err2 != nil || math.Abs(after-before) > 1e-9*math.Abs(before) {
			t.Errorf("%s: %.15g, and %.15g with a shift: %v, %v", name, before, after, err, err2)
		}
		for i := range shift[:n/2] {
			shift[i] = rng.NormFloat64()
		}
		if _, err := p.Evaluate(at, gradient); err != nil {
			t.Fatal(name, err)
		}
		for i, parameter := range p.Names() {
			f := func(h float64) float64 {
				at[i] += h
				defer func() { at[i] -= h }()
				v, err := p.Evaluate(at, nil)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			const h = 1e-3
			want := (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
			if i == p.Dim()-1 && name == PoissonName {
				want = 0
			}
			if math.Abs(want-gradient[i]) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s, d/d %s: %.10g, differences give %.10g", name, parameter, gradient[i], want)
			}
		}
	}
}

// TestGammaOfEverySize: the unit of a positive target doesn't matter: a factor of the target is a shift of f, from 1e-140
// to 1e140. Targets beyond are refused.
func TestGammaOfEverySize(t *testing.T) {
	l := likelihoods[GammaName].(Sited)
	for _, s := range []float64{0.01, 0.2, 3} {
		for _, variance := range []float64{0, 0.3} {
			want := must.Get(l.Spread(0.5, variance, s))(t)
			score := must.Get(l.NormalScore(1.3, 0.5, variance, s))(t)
			for _, size := range []float64{1e-139, 1e-30, 1e-9, 1e9, 1e30, 1e139} {
				mean := 0.5 + math.Log(size)
				got := must.Get(l.Spread(mean, variance, s))(t)
				must.Near(t, math.Sqrt(got.Variance)/size, math.Sqrt(want.Variance), 1e-9*math.Sqrt(want.Variance), size, s)
				must.Near(t, got.Lower, want.Lower, 1e-6, "lower", size, s, variance)
				must.Near(t, got.Upper, want.Upper, 1e-6, "upper", size, s, variance)
				must.Near(t, must.Get(l.NormalScore(1.3*size, mean, variance, s))(t), score, 1e-6, "score", size, s)
				must.Near(t, l.LogPredictive(1.3*size, mean, variance, s)+math.Log(size),
					l.LogPredictive(1.3, 0.5, variance, s), 1e-6, "density", size, s)
				must.Do(t, l.Allows(size))
			}
		}
	}
	for _, y := range []float64{1e-300, 1e-141, 1e141, 1e300} {
		must.Fail(t, l.Allows(y), "change the unit")
	}
	_, err := l.Spread(-400, 0.1, 0.2)
	must.Fail(t, err, "too small a number")
}
