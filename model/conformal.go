package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/objective"
)

// Conformal holds the scores of split-conformal intervals.
// They are scores of rows that nothing was trained on:
// calibration rows, or the certified rows if the mean was fixed before anybody saw them.
// Whatever the model and the distribution of the rows, an interval contains a further target with a
// probability of at least its level, over the draw of these rows and the further row together.
// This guarantee is marginal: it is true on average over rows and not for each kind of row (Vovk,
// Gammerman and Shafer 2005; Papadopoulos et al. 2002;
// normalised by the model's standard deviation:
// Lei et al., "Distribution-free predictive inference for regression", JASA 113, 2018, Sect. 5.2).
type Conformal struct {
	Level     float64 `json:"level"` // level of the two widths below, the default widths
	Rows      int     `json:"rows"`
	HalfWidth float64 `json:"half_width"` // the interval is mean ± HalfWidth, in scaled units
	// the interval is mean ± Normalised standard deviations of y
	Normalised float64 `json:"normalised"`
	From       string  `json:"from,omitempty"` // FromCertified; absent: from calibration rows
	// Stretch is the factor by which these rows change the standard deviations of predictions
	// (see Model.Stretched); 0: they don't, in old models and with noise that isn't Gaussian
	Stretch float64 `json:"stretch,omitempty"`

	// Misses holds |y − mean| of each of these rows, in scaled units, and Deviations the same in
	// standard deviations of y. Both are in ascending order.
	// They are nil in old models, which know one level.
	Misses, Deviations []float64 `json:"-"`
}

// FromCertified is the value of From if the scores come from certified rows.
const FromCertified = "certified"

// conformalLevel is the level of intervals unless a caller asks for another.
const conformalLevel = 0.95

// LeastCalibration is the least number of rows for an interval that contains 95 % of targets.
// With fewer rows the ⌈0.95(n+1)⌉-th smallest of n scores doesn't exist.
const LeastCalibration = 19

// rank returns which of n scores, in ascending order and from 1, is the width of intervals with
// this level. A further row's score is equally likely to fall between any two scores.
// A rank above n means that there are too few scores.
func rank(level float64, n int) int { return max(1, int(math.Ceil(float64(n+1)*level-1e-9))) }

// asIf is how many rows the GP's own standard deviations count for in Stretch.
// On 65 tables 20 and 80 did about as well.
const asIf = 40

// stretched returns Stretch for the width Normalised: what would make the model's own 95 % interval
// that wide, as a mean with 1, which counts as asIf rows.
func (c *Conformal) stretched() float64 {
	n := float64(c.Rows)
	return (n*c.Normalised/objective.Normal975 + asIf) / (n + asIf)
}

// At returns the widths of intervals that contain the given share of further targets.
// normalised counts standard deviations of predictions, which Stretch has changed.
// A share of 0 means 0.95. At least ⌈share/(1 − share)⌉ rows must have scores.
func (c *Conformal) At(share float64) (halfWidth, normalised float64, err error) {
	k := rank(share, c.Rows)
	switch {
	case share == 0 || share == c.Level:
		return c.HalfWidth, c.Normalised / cmp.Or(c.Stretch, 1), nil
	case !(share > 0 && share < 1):
		return 0, 0, fmt.Errorf("level %v: want a share of targets between 0 and 1, such as 0.9",
			share)
	case c.Misses == nil:
		return 0, 0, fmt.Errorf("level %v: the model is from an older version, which only has "+
			"the level %v", share, c.Level)
	case k > c.Rows:
		return 0, 0, fmt.Errorf("level %v: %d rows are too few for this level, which takes at "+
			"least %.0f rows", share, c.Rows, math.Ceil(share/(1-share)-1e-9))
	}
	return c.Misses[k-1], c.Deviations[k-1] / cmp.Or(c.Stretch, 1), nil
}

// sane returns an error if intervals in a file can't come from the given number of rows.
func (c *Conformal) sane(rows int) error {
	if c == nil {
		return nil
	}
	unfit := errors.New("the model file's conformal intervals can't come from its calibration " +
		"rows or certified rows")
	if c.Level != conformalLevel || c.Rows != rows || rows < LeastCalibration ||
		!(c.HalfWidth >= 0 && c.Normalised >= 0) || (c.From != "" && c.From != FromCertified) ||
		(c.Misses == nil) != (c.Deviations == nil) ||
		(c.Stretch != 0 && c.Stretch != c.stretched()) {
		return unfit
	}
	k := rank(c.Level, rows)
	for _, scores := range []struct {
		of []float64
		at float64
	}{{c.Misses, c.HalfWidth}, {c.Deviations, c.Normalised}} {
		if scores.of != nil && (len(scores.of) != rows || !slices.IsSorted(scores.of) ||
			scores.of[0] < 0 || scores.of[k-1] != scores.at) {
			return unfit
		}
	}
	return nil
}

// difference says how recomputed intervals differ from stored intervals.
// It returns "" if they agree. A deviation is a miss divided by sd or more, so that its tolerance
// is 1/sd times the tolerance of a miss.
func (c *Conformal) difference(stored *Conformal, sd float64) string {
	a := c
	b := stored
	miss := func(a, b float64) bool { return cautious.SameWidth(a, b, 1) }
	deviation := func(a, b float64) bool { return cautious.SameWidth(a, b, 1/sd) }
	if a.Level != b.Level || a.Rows != b.Rows || a.From != b.From ||
		!miss(a.HalfWidth, b.HalfWidth) || !deviation(a.Normalised, b.Normalised) {
		return fmt.Sprintf("conformal intervals computed from %d rows are ±%v and ±%v sd, not "+
			"±%v and ±%v sd from %d rows", a.Rows, a.HalfWidth, a.Normalised, b.HalfWidth,
			b.Normalised, b.Rows)
	}
	for i := range b.Misses {
		if !miss(a.Misses[i], b.Misses[i]) || !deviation(a.Deviations[i], b.Deviations[i]) {
			return fmt.Sprintf("conformal intervals have another score at position %d of %d",
				i+1, b.Rows)
		}
	}
	return ""
}
