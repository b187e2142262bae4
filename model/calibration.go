package model

import "math"

// Coverage is the share of test targets within central credible intervals of a level.
type Coverage struct {
	Level float64 `json:"level"`
	Share float64 `json:"share"`
}

// levels are those that Test.Coverage lists, with the half-widths of their intervals in
// standard deviations.
var levels = []float64{0.5, 0.8, 0.9, 0.95, 0.99}

// scores are the standardised residuals of test rows, and the residuals themselves.
type scores struct{ z, d []float64 }

func (s *scores) add(d, sd float64) {
	s.z = append(s.z, d/sd)
	s.d = append(s.d, d)
}

// report fills in how the predictive distribution and the conformal intervals did.
func (s *scores) report(t *Test, c *Conformal) {
	share := func(v []float64, half float64) float64 {
		inside := 0
		for _, x := range v {
			if math.Abs(x) <= half {
				inside++
			}
		}
		return float64(inside) / float64(len(v))
	}
	for _, l := range levels {
		t.Coverage = append(t.Coverage, Coverage{l, share(s.z, math.Sqrt2*math.Erfinv(l))})
	}
	t.PIT = make([]int, 10)
	for _, z := range s.z {
		u := 0.5 * math.Erfc(-z/math.Sqrt2)
		t.PIT[min(int(10*u), 9)]++
	}
	if c != nil {
		plain, normalised := share(s.d, c.HalfWidth), share(s.z, c.Normalised)
		t.Conformal, t.Normalised = &plain, &normalised
	}
}
