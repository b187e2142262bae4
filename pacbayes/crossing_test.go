package pacbayes

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// bolshev returns the probability that n uniform order statistics have U_(misses[i]+1) > bounds[i] for some i. It uses
// Bolshev's recursion (Shorack and Wellner, "Empirical processes", 1986, Sect. 9.3) in rational arithmetic.
func bolshev(n int, misses []int, bounds []float64) float64 {
	upper := make([]*big.Rat, n) // upper ends of U_(1) … U_(n)
	for i, j := len(misses)-1, n-1; j >= 0; j-- {
		if upper[j] = big.NewRat(1, 1); j < n-1 {
			upper[j] = upper[j+1]
		}
		if i >= 0 && misses[i] == j {
			upper[j] = new(big.Rat).SetFloat64(bounds[i])
			i--
		}
	}
	held := []*big.Rat{big.NewRat(1, 1)}
	for k := 1; k <= n; k++ {
		p := big.NewRat(1, 1)
		for j := range k {
			term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(j)))
			above := new(big.Rat).Sub(big.NewRat(1, 1), upper[j])
			for range k - j {
				term.Mul(term, above)
			}
			p.Sub(p, term.Mul(term, held[j]))
		}
		held = append(held, p)
	}
	v, _ := new(big.Rat).Sub(big.NewRat(1, 1), held[n]).Float64()
	return v
}

// TestCrossing compares the recursion with rational arithmetic, and checks that its error is upward.
func TestCrossing(t *testing.T) {
	for _, n := range []int{1, 2, 7, 20, 35} {
		misses := curveMisses(n, 1)
		for _, level := range []float64{0.2, 0.01, 1e-4} {
			bounds := make([]float64, len(misses))
			for i, k := range misses {
				bounds[i] = ClopperPearson(k, n, level)
			}
			got, want := crossing(n, misses, bounds), bolshev(n, misses, bounds)
			must.Hold(t, got >= want && got <= want+2*crossingRounding,
				"n = %d, level %g: %.15g, want %.15g", n, level, got, want)
			some := []int{0, n / 2} // a curve of two bounds
			if n > 2 {
				got, want := crossing(n, some, []float64{bounds[0], bounds[n/2]}),
					bolshev(n, some, []float64{bounds[0], bounds[n/2]})
				must.Hold(t, got >= want && got <= want+2*crossingRounding,
					"n = %d, level %g, two bounds: %.15g, want %.15g", n, level, got, want)
			}
		}
	}
}

// TestCurveLevel shows that a curve fails with probability δ or hardly less, and that δ/δ′ is at most ratio.
func TestCurveLevel(t *testing.T) {
	for _, c := range []struct {
		n          int
		delta, end float64
		ratio      float64 // δ/δ′, at most
	}{{20, 0.01, 1, 13}, {150, 0.01, 1, 30}, {1000, 0.01, 1, 36}, {1000, 1e-4, 1, 60}, {5000, 0.05, 1, 40},
		{150, 0.01, curveShare, 9.8}, {1000, 0.01, curveShare, 17.5}} {
		level, misses, bounds := curveLevel(c.n, c.delta, c.end, nil)
		if together := crossing(c.n, misses, bounds); !(together <= c.delta && together > 0.99*c.delta) ||
			c.delta/level > c.ratio || !slices.IsSorted(bounds) {
			t.Errorf("n = %d, δ = %g: together %g, δ/δ′ = %g", c.n, c.delta, together, c.delta/level)
		}
	}
	if misses := curveMisses(1000000, 1); len(misses) > 700 || misses[100] != 100 || misses[len(misses)-1] > 999999 {
		t.Errorf("%d numbers of misses", len(misses))
	}
}

// TestCurveRead shows that a curve that is tightest where it is read fails with probability δ, and that at no such
// share it is wider than a curve that is equally tight everywhere.
func TestCurveRead(t *testing.T) {
	narrower := 0
	for _, n := range []int{20, 27, 57, 62, 117, 151, 300, 301, 1000, 2000} {
		for _, delta := range []float64{0.01, 0.1} {
			_, misses, even := curveLevel(n, delta, curveShare, nil)
			level, _, bounds := curveLevel(n, delta, curveShare, Terms{Rules: readRules}.read())
			together := crossing(n, misses, bounds)
			must.Hold(t, together <= delta && together > 0.99*delta && level <= delta && slices.IsSorted(bounds),
				"n = %d, δ = %g, δ′ = %g: together %g", n, delta, level, together)
			for _, share := range []float64{0.2, 0.1, 0.05, 0.01} {
				was, is := sort.SearchFloat64s(even, share), sort.SearchFloat64s(bounds, share)
				must.Hold(t, is >= was, "n = %d, δ = %g: %d misses at %g, and %d were", n, delta, is, share, was)
				if is > was {
					narrower++
				}
			}
		}
	}
	must.Hold(t, narrower > 30, "narrower at %d", narrower)
}

// TestCurveHolds draws rows of known shares, also with ties, and counts how often a curve is below the truth at any
// width. This happens with probability at most δ. Bounds that hold only at one width each fail more often.
func TestCurveHolds(t *testing.T) {
	const n, reps, delta = 60, 4000, 0.1
	continuous := func(r *rand.Rand) float64 { return r.Float64() } // a row's error as P(another error exceeds it)
	ties := func(r *rand.Rand) float64 { return math.Floor(8*r.Float64()) / 8 }
	read := Terms{Rules: readRules}.read()
	for name, c := range map[string]struct {
		end  float64
		draw func(r *rand.Rand) float64
		read []float64
	}{"continuous": {1, continuous, nil}, "ties": {1, ties, nil}, "continuous, cut": {curveShare, continuous, nil},
		"ties, cut": {curveShare, ties, nil}, "continuous, read": {curveShare, continuous, read},
		"ties, read": {curveShare, ties, read}} {
		_, misses, bounds := curveLevel(n, delta, c.end, c.read)
		alone := make([]float64, len(misses))
		for i, k := range misses {
			alone[i] = ClopperPearson(k, n, delta)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		fails, failsAlone := 0, 0
		for range reps {
			u := make([]float64, n) // P(an error exceeds the row's error)
			for i := range u {
				u[i] = c.draw(rng)
			}
			slices.Sort(u)
			// At most k rows miss the width of the (k+1)-th largest error. The share u[k] of further rows misses this
			// width.
			beyond := func(bounds []float64) bool {
				for i, k := range misses {
					if u[k] > bounds[i] {
						return true
					}
				}
				return false
			}
			if beyond(bounds) {
				fails++
			}
			if beyond(alone) {
				failsAlone++
			}
		}
		sd := math.Sqrt(delta * (1 - delta) * reps)
		must.Hold(t, float64(fails) <= delta*reps+3*sd,
			"%s: the curve fails in %d of %d", name, fails, reps)
		if strings.HasPrefix(name, "continuous") &&
			(float64(fails) < delta*reps-3*sd || float64(failsAlone) < 1.5*delta*reps) {
			t.Errorf("%s: the curve fails in %d of %d, bounds of one width each in %d: it was computed to fail in a tenth", name,
				fails, reps, failsAlone)
		}
	}
}

// TestCurve reads shares, widths and mean errors off a curve.
func TestCurve(t *testing.T) {
	terms := Terms{Loss: Loss{Kind: Band, Below: 0.5025}, EpsilonRaw: 5.025, Delta: 0.05, Grid: DefaultGrid(), Choices: 1,
		PriorRows: 10, Scaling: "prior-rows", Informed: true, Fixed: true, Route: Direct, Curve: true}
	const n = 200
	s := Sample{Y: make([]float64, n), Mean: make([]float64, n), Variance: make([]float64, n)}
	for i := range s.Y {
		s.Y[i] = float64(i) / n * math.Pow(-1, float64(i))
	}
	c := must.Get(terms.Certify(s, 0))(t)
	_, misses, bounds := curveLevel(n, 0.05, 1, nil)
	// The 99 rows 101 to 199 miss by more than ε.
	if want := bounds[slices.Index(misses, 99)]; c.MeanBound != want || c.Bound != want || !c.Valid {
		t.Errorf("at ε: %v, want %v", c.MeanBound, want)
	}
	for _, w := range []float64{0, 0.01, 0.3, 0.7, 0.999, 2} {
		k := 0
		for i := range s.Y {
			if math.Abs(s.Y[i]) > w {
				k++
			}
		}
		want := 1.
		if i, _ := slices.BinarySearch(misses, k); i < len(bounds) {
			want = bounds[i]
		}
		if got := c.Curve.At(w); got < want {
			t.Errorf("at %v: %v, below %v", w, got, want)
		}
	}
	for _, share := range []float64{0.3, 0.5, 0.9} {
		p, ok := c.Curve.Width(share)
		must.Hold(t, ok && p.Bound <= 1-share && c.Curve.At(0.999*p.HalfWidth) > 1-share &&
			math.Abs(p.HalfWidthRaw-10*p.HalfWidth) <= 1e-12, "share %v: %+v", share, p)
	}
	if _, ok := c.Curve.Width(0.999); ok {
		t.Error("200 rows can't say that")
	}
	// A fine sum gives ∫ of the bound on P(error > w).
	var mean, worst float64
	const cells = 20000
	for i := range cells {
		b := c.Curve.At((float64(i) + 0.5) / cells * c.Curve.MeanError.Clip)
		mean += b * c.Curve.MeanError.Clip / cells
		worst += math.Min(b/tailShare, 1) * c.Curve.MeanError.Clip / cells
	}
	if e := c.Curve.MeanError; math.Abs(e.Bound-mean) > 1e-3 || math.Abs(e.Worst-worst) > 1e-3 ||
		math.Abs(e.Clip-199./200) > 1e-9 || !(e.Bound > 0.4975) {
		t.Errorf("%+v, sums %v, %v", e, mean, worst)
	}
	other := *c
	points := slices.Clone(c.Curve.Points)
	points[3].Bound /= 2
	other.Curve = &Curve{c.Curve.Level, points, c.Curve.MeanError}
	if d := c.Difference(&other); d != fmt.Sprintf("curve's point 4 of %d differs", len(points)) {
		t.Error(d)
	}
	terms.Route = Twice
	must.Fail(t, terms.Check(), "", "a curve of a random draw")
}
