package model

import (
	"math"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Test holds figures of the model on test rows, which the model wasn't made from.
type Test struct {
	Rows int `json:"rows"`
	// rows that count in the risks alone, because their predictions or errors overflow
	Unscored int `json:"unscored,omitempty"`
	// the first of these rows, which a model file has among its findings
	Found finding.List `json:"-"`
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

// figures are those of a test row: its normal score (objective.Likelihood), its residual, also in
// standard deviations of y and squared, −ln of its density, and whether y is in the central 95 %
// interval: 0 or 1.
type figures [6]float64

const (
	normal = iota
	missed
	deviation
	squared
	logLoss
	inside
)

// scores holds the figures of test rows.
type scores []figures

// report sets the fields of t that compare distributions and intervals with the targets.
// sum adds up over ranks.
func (s scores) report(t *Test, c *Conformal, sum func(...[]float64) error) error {
	all := func(k int) []float64 {
		return lists.Of(s, func(f figures) float64 { return f[k] })
	}
	within := func(k int, half float64) float64 {
		return float64(len(lists.If(all(k), func(x float64) bool { return math.Abs(x) <= half })))
	}
	counts := lists.Of(levels, func(l float64) float64 {
		return within(normal, math.Sqrt2*math.Erfinv(l))
	})
	if c != nil {
		_, normalised, _ := c.At(0) // no error: every c has this level
		counts = append(counts, within(missed, c.HalfWidth), within(deviation, normalised))
	}
	sums := []float64{linalg.Sum(all(squared)), linalg.Sum(all(logLoss)), linalg.Sum(all(inside))}
	// The probability integral transform of every row, counted in tenths. It is uniform if
	// predictive distributions are right.
	pit := make([]float64, 10)
	for _, z := range all(normal) {
		u := 0.5 * math.Erfc(-z/math.Sqrt2)
		pit[min(int(10*u), 9)]++
	}
	err := sum(counts, pit, sums)
	n := float64(t.Rows - t.Unscored)
	t.MSE = sums[0] / n
	t.NLPD = sums[1] / n
	t.Coverage95 = sums[2] / n
	share := func(i int) float64 { return counts[i] / n }
	t.Coverage = lists.To(len(levels), func(i int) Coverage {
		return Coverage{levels[i], share(i)}
	})
	t.PIT = lists.Of(pit, func(n float64) int { return int(n) })
	if c != nil {
		t.Conformal = new(share(len(levels)))
		t.Normalised = new(share(len(levels) + 1))
	}
	return err
}
