package pacbayes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestAnytimeEnds shows that the beta function over the likelihood is 1/δ at both ends, for 0/1 and for graded losses.
func TestAnytimeEnds(t *testing.T) {
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	for _, n := range []int{1, 2, 7, 30, 400, 12345} {
		for _, risk := range []float64{0, 1, 0.5, 1. / float64(n), 0.1 / float64(n), 0.0371, 0.99} {
			for _, delta := range []float64{0.05, 0.01, 1e-6} {
				least, most := Anytime(risk, n, delta)
				k, rows := risk*float64(n), float64(n)
				ratio := func(p float64) float64 { // ln of the ratio, minus ln 1/δ
					l := lgamma(k+1) + lgamma(rows-k+1) - lgamma(rows+2) + math.Log(delta)
					if k > 0 {
						l -= k * math.Log(p)
					}
					if k < rows {
						l -= (rows - k) * math.Log1p(-p)
					}
					return l
				}
				must.Need(t, 0 <= least && least <= risk && risk <= most && most <= 1,
					"%v of %d: %v to %v", risk, n, least, most)
				// Points beyond an end are outside the set, and points a little within are inside.
				inMost, inLeast := most-2e-12-1e-6*(most-risk), least+2e-12+1e-6*(risk-least)
				if most < 1 && !(ratio(most) > -1e-7 && (inMost < risk || ratio(inMost) < 1e-7)) || least > 0 &&
					!(ratio(least) > -1e-7 && (inLeast > risk || ratio(inLeast) < 1e-7)) ||
					risk < 1 && n > 100 && most == 1 {
					t.Errorf("%v of %d, δ = %v: %v to %v, off by %v and %v", risk, n, delta, least, most, ratio(least), ratio(most))
				}
			}
		}
	}
	for _, c := range []struct {
		risk  float64
		n     int
		delta float64
	}{{0.1, 0, 0.1}, {-0.1, 5, 0.1}, {1.1, 5, 0.1}, {math.NaN(), 5, 0.1}, {0.1, 5, 0}, {0.1, 5, 2}} {
		if least, most := Anytime(c.risk, c.n, c.delta); !math.IsNaN(least) || !math.IsNaN(most) {
			t.Errorf("%+v: %v to %v", c, least, most)
		}
	}
}

// TestAnytimeHolds shows that the limits fail in at most a share δ of sequences. Bounds for one n fail far more often.
func TestAnytimeHolds(t *testing.T) {
	const runs, rows, risk, delta = 1000, 2000, 0.1, 0.05
	ever, fixed := 0, 0
	for run := range runs {
		rng := rand.New(rand.NewPCG(7, uint64(run)))
		var missed, missedFixed bool
		misses := 0
		for n := 1; n <= rows; n++ {
			if rng.Float64() < risk {
				misses++
			}
			if n > 50 && n%10 > 0 {
				continue
			}
			least, most := Anytime(float64(misses)/float64(n), n, delta)
			missed = missed || risk < least || risk > most
			missedFixed = missedFixed || risk > ClopperPearson(misses, n, delta)
		}
		if missed {
			ever++
		}
		if missedFixed {
			fixed++
		}
	}
	must.Hold(t, ever <= runs*delta && fixed >= 2*runs*delta,
		"ever wrong: %d of %d; bounds for one n: %d", ever, runs, fixed)
}

// TestEvidenceIsFair shows that E has expectation 1 at the bound, less below it, and at most 1 for graded losses.
func TestEvidenceIsFair(t *testing.T) {
	const rows = 10
	var expected func(e Evidence, left int, p float64, losses [2]float64) float64
	expected = func(e Evidence, left int, p float64, losses [2]float64) float64 {
		hit, miss := e, e
		h, m := hit.Add(losses[1]), miss.Add(losses[0])
		if left > 1 {
			h, m = expected(hit, left-1, p, losses), expected(miss, left-1, p, losses)
		}
		return p*h + (1-p)*m
	}
	for _, bound := range []float64{1e-4, 0.05, 0.4, 0.95} {
		if v := expected(*NewEvidence(bound), rows, bound, [2]float64{0, 1}); !(v <= 1+1e-15 && v > 1-1e-12) {
			t.Errorf("bound %v: expected %.16g", bound, v)
		}
		if v := expected(*NewEvidence(bound), rows, bound/2, [2]float64{0, 1}); !(v < 1) {
			t.Errorf("bound %v, half the risk: expected %v", bound, v)
		}
		// The losses ¼ and ¾, or ¼ and 1, have the bound as their mean.
		for _, high := range []float64{0.75, 1} {
			if p := (bound - 0.25) / (high - 0.25); p > 0 && p < 1 {
				if v := expected(*NewEvidence(bound), rows, p, [2]float64{0.25, high}); !(v < 1) {
					t.Errorf("bound %v, graded losses: expected %v", bound, v)
				}
			}
		}
	}
	one := NewEvidence(1)
	for range 100 {
		must.Hold(t, one.Add(1) <= 1, "evidence against a bound of 1")
	}
	for _, bound := range []float64{0, -1, 2, math.NaN()} {
		must.Hold(t, NewEvidence(bound) == nil, "evidence against a bound of %v", bound)
	}
	e := NewEvidence(0.5)
	for range 5000 {
		if v := e.Add(1); math.IsInf(v, 0) || math.IsNaN(v) {
			t.Fatal("it overflows")
		}
	}
}

// firstAlarm returns the row at which E first reaches 1/δ, or 0 if it never does.
func firstAlarm(bound, delta float64, rows int, risk func(row int) float64, rng *rand.Rand) int {
	e := NewEvidence(bound)
	for n := 1; n <= rows; n++ {
		loss := 0.
		if rng.Float64() < risk(n) {
			loss = 1
		}
		if e.Add(loss) >= 1/delta {
			return n
		}
	}
	return 0
}

// TestEvidence shows that at most a share δ of runs has an alarm if the risk is the bound. If the risk is twice the
// bound, half of the runs have an alarm within 250 rows, or within 1,000 if the risk rises after 10,000 rows. The full
// runs are `go run ./reproduce watch` in the laboratory.
func TestEvidence(t *testing.T) {
	const bound, delta = 0.05, 0.01
	alarms := 0
	for run := range 1000 {
		if firstAlarm(bound, delta, 5000, func(int) float64 { return bound }, rand.New(rand.NewPCG(1, uint64(run)))) > 0 {
			alarms++
		}
	}
	must.Hold(t, alarms <= 10, "%d false alarms of 1000 runs", alarms)
	median := func(good int) int {
		var after []int
		for run := range 301 {
			at := firstAlarm(bound, delta, good+20000, func(n int) float64 {
				if n <= good {
					return bound / 2
				}
				return 2 * bound
			}, rand.New(rand.NewPCG(2, uint64(run))))
			if at > good {
				after = append(after, at-good)
			}
		}
		slices.Sort(after)
		return after[len(after)/2]
	}
	if at := median(0); at > 250 {
		t.Errorf("twice the risk is found after %d rows", at)
	}
	if at := median(10000); at > 1000 {
		t.Errorf("twice the risk is found %d rows after it began", at)
	}
}

// TestShifted shows that kl(p ‖ B) = ρ at the bound p for another source.
func TestShifted(t *testing.T) {
	must.Near(t, Shifted(0.05, 0.01), 0.08365, 5e-6)
	for _, bound := range []float64{1e-6, 0.05, 0.3, 0.9} {
		for _, rho := range []float64{1e-12, 1e-4, 0.1, 1, 5} {
			p := Shifted(bound, rho)
			must.Hold(t, p > bound && p <= 1 &&
				(p >= 1 || (KL(p, bound) >= rho && KL(math.Nextafter(p, 0)-1e-9*(p-bound), bound) < rho*(1+1e-14))) &&
				(p != 1 || KL(1, bound) <= rho*(1+1e-14)),
				"%v, ρ = %v: %v, kl %v", bound, rho, p, KL(p, bound))
			if q := Shifted(bound, 2*rho); q < p || q == p && p < 1 {
				t.Errorf("%v: more at ρ = %v than at twice it", bound, rho)
			}
		}
	}
	must.Hold(t, Shifted(0.3, 0) == 0.3 && Shifted(0, 1) == 0 && Shifted(1, 1) == 1 &&
		Shifted(0.1, math.Inf(1)) == 1 && Shifted(0, math.Inf(1)) == 1 &&
		math.IsNaN(Shifted(0.1, -1)) && math.IsNaN(Shifted(2, 1)), "the ends")
}
