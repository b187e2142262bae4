package model

import "math"

// Test is how the model does on rows it was not made from.
type Test struct {
	Rows       int     `json:"rows"`
	Groups     int     `json:"groups,omitempty"` // that the rows belong to, where risks are those of groups
	MSE        float64 `json:"mse"`              // of the mean, scaled units
	RMSERaw    float64 `json:"rmse_raw"`         // target's units
	NLPD       float64 `json:"nlpd"`             // mean negative log predictive density of y, scaled units
	GibbsRisk  float64 `json:"gibbs_risk"`       // mean loss of a random draw f ~ Q
	MeanRisk   float64 `json:"mean_risk"`        // mean loss of the posterior mean
	Coverage95 float64 `json:"coverage95"`       // share of y within the central 95 % interval for y

	// Coverage is the same at other levels; PIT counts the rows by tenths of the probability of less than y, which
	// is uniform where the predictive distribution is right.
	Coverage []Coverage `json:"coverage"`
	PIT      []int      `json:"pit"`
	// Conformal intervals of both kinds, where rows were set aside for them.
	Conformal  *float64 `json:"conformal,omitempty"`
	Normalised *float64 `json:"conformal_normalised,omitempty"`
}

// Coverage is the share of test targets within central credible intervals of a level.
type Coverage struct {
	Level float64 `json:"level"`
	Share float64 `json:"share"`
}

// levels are those that Test.Coverage lists, with the half-widths of their intervals in standard deviations.
var levels = []float64{0.5, 0.8, 0.9, 0.95, 0.99}

// scores are those of test rows: normal scores (objective.Likelihood), residuals, and these in standard deviations of
// y.
type scores struct{ z, d, deviations []float64 }

// report fills in how the predictive distribution and the conformal intervals did; sum adds counts up over ranks.
func (s *scores) report(t *Test, c *Conformal, sum func(...[]float64) error) error {
	inside := func(v []float64, half float64) (n float64) {
		for _, x := range v {
			if math.Abs(x) <= half {
				n++
			}
		}
		return n
	}
	var counts []float64
	for _, l := range levels {
		counts = append(counts, inside(s.z, math.Sqrt2*math.Erfinv(l)))
	}
	if c != nil {
		counts = append(counts, inside(s.d, c.HalfWidth), inside(s.deviations, c.Normalised))
	}
	pit := make([]float64, 10)
	for _, z := range s.z {
		u := 0.5 * math.Erfc(-z/math.Sqrt2)
		pit[min(int(10*u), 9)]++
	}
	err := sum(counts, pit)
	share := func(i int) float64 { return counts[i] / float64(t.Rows) }
	for i, l := range levels {
		t.Coverage = append(t.Coverage, Coverage{l, share(i)})
	}
	for _, n := range pit {
		t.PIT = append(t.PIT, int(n))
	}
	if c != nil {
		plain, normalised := share(len(levels)), share(len(levels)+1)
		t.Conformal, t.Normalised = &plain, &normalised
	}
	return err
}
