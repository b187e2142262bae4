package model

import (
	"math"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Test holds figures of the model on test rows, which the model wasn't made from.
type Test struct {
	Rows int `json:"rows"`
	// rows whose targets are known as limits of detection alone
	Limits int `json:"limits,omitempty"`
	// number of groups, if risks are averages over groups
	Groups  int     `json:"groups,omitempty"`
	MSE     float64 `json:"mse"`      // mean squared error of the mean, in scaled units
	RMSERaw float64 `json:"rmse_raw"` // root mean squared error in the target's units
	// mean negative log predictive density of y, scaled units
	NLPD      float64 `json:"nlpd"`
	GibbsRisk float64 `json:"gibbs_risk"` // mean loss of a random draw f ~ Q
	MeanRisk  float64 `json:"mean_risk"`  // mean loss of the posterior mean
	// share of y within the central 95 % interval for y
	Coverage95 float64 `json:"coverage95"`

	// Coverage holds shares like Coverage95 at several levels.
	// PIT counts the rows by tenths of the probability that the model gives to all values below y.
	// If the predictive distribution is right, PIT's ten counts are about equal.
	Coverage []Coverage `json:"coverage"`
	PIT      []int      `json:"pit"`
	// Conformal and Normalised are the shares of y within the two kinds of conformal intervals.
	// They are nil without intervals.
	Conformal  *float64 `json:"conformal,omitempty"`
	Normalised *float64 `json:"conformal_normalised,omitempty"`
}

// Coverage is the share of test targets within their central credible intervals of one level.
type Coverage struct {
	Level float64 `json:"level"`
	Share float64 `json:"share"`
}

// levels are the levels that Test.Coverage lists.
var levels = []float64{0.5, 0.8, 0.9, 0.95, 0.99}

// scores holds the normal scores z of test rows (objective.Likelihood), residuals d, and these in
// standard deviations of y.
type scores struct{ z, d, deviations []float64 }

// report sets the fields of t that compare the targets with distributions and intervals.
// sum adds counts up over ranks.
func (s *scores) report(t *Test, c *Conformal, sum func(...[]float64) error) error {
	inside := func(v []float64, half float64) float64 {
		return float64(len(lists.If(v, func(x float64) bool { return math.Abs(x) <= half })))
	}
	counts := lists.Of(levels, func(l float64) float64 {
		return inside(s.z, math.Sqrt2*math.Erfinv(l))
	})
	if c != nil {
		_, normalised, _ := c.At(0) // no error: every c has this level
		counts = append(counts, inside(s.d, c.HalfWidth), inside(s.deviations, normalised))
	}
	// The probability integral transform of every row, counted in tenths. It is uniform if
	// predictive distributions are right.
	pit := make([]float64, 10)
	for _, z := range s.z {
		u := 0.5 * math.Erfc(-z/math.Sqrt2)
		pit[min(int(10*u), 9)]++
	}
	err := sum(counts, pit)
	share := func(i int) float64 { return counts[i] / float64(t.Rows) }
	t.Coverage = lists.To(len(levels), func(i int) Coverage {
		return Coverage{levels[i], share(i)}
	})
	t.PIT = lists.Of(pit, func(n float64) int { return int(n) })
	if c != nil {
		plain := share(len(levels))
		normalised := share(len(levels) + 1)
		t.Conformal = &plain
		t.Normalised = &normalised
	}
	return err
}
