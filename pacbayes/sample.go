package pacbayes

import (
	"math"
	"strings"

	"github.com/krigo-gp/krigo/internal/compensated"
)

// Sample is predictions at N rows, with their targets. Units are those of Expected; Scale may
// be nil for losses that do not use it.
type Sample struct {
	Y, Mean, Variance, Scale []float64

	// Group holds, where rows depend on one another within groups, the number of each row's
	// group, of which there are Groups. What is drawn independently is then a group, whose loss, the mean
	// of its rows', takes the place of a row's, and N is the number of groups. nil: each row is drawn.
	Group  []int
	Groups int

	// Slices are kinds of rows that have bounds of their own, of Terms.Slices.
	Slices []Slice

	// Where the rows above are a part of them, Rows is their number, and Sum adds sums over parts
	// up. It isn't for groups.
	Rows int
	Sum  func(v ...[]float64) error
}

// mean is the mean over N units of something whose sum over those at hand is given.
func (s Sample) mean(sum float64) (float64, error) {
	if s.Sum == nil {
		return sum / float64(s.units()), nil
	}
	v := []float64{sum}
	err := s.Sum(v)
	return v[0] / float64(s.Rows), err
}

// units is N: the number of rows, or of groups.
func (s Sample) units() int {
	switch {
	case s.Group != nil:
		return s.Groups
	case s.Sum == nil:
		return len(s.Y)
	}
	return s.Rows
}

// perUnit turns losses of rows into those of what is drawn: the means of groups, each in [0,1] again.
func (s Sample) perUnit(losses []float64) []float64 {
	if s.Group == nil {
		return losses
	}
	totals, sizes := make([]compensated.Sum, s.Groups), make([]float64, s.Groups)
	for i, g := range s.Group {
		totals[g].Add(losses[i])
		sizes[g]++
	}
	means := make([]float64, s.Groups)
	for g := range means {
		means[g] = math.Min(totals[g].Value()/sizes[g], 1)
	}
	return means
}

// meanOf is the mean over N units of losses, given those of the units at hand.
func (s Sample) meanOf(losses []float64) (float64, error) {
	var total compensated.Sum
	for _, x := range losses {
		total.Add(x)
	}
	return s.mean(total.Value())
}

// zeroOne says whether the loss of a unit is 0 or 1: the exact binomial bound is for these.
func (s Sample) zeroOne(l Loss) bool { return l.IsZeroOne() && s.Group == nil }

// Slice is a kind of rows with a bound of its own: which rows belong was fixed before the targets of the certified rows
// were seen. Half of δ goes to all slices in equal parts, so that their bounds hold together, and with the others of
// the certificate.
type Slice struct {
	By   string `json:"by"`   // a column, SliceSD or SliceDistance
	Name string `json:"name"` // which of its kinds
	// rows with a value above From, up to To, or if Own below it; both are that of one value
	From *float64 `json:"from,omitempty"`
	To   *float64 `json:"to,omitempty"` // nil: without end, as categories are

	Rows     int     `json:"rows"`      // certified ones
	MeanRisk float64 `json:"mean_risk"` // their share of misses
	// MeanBound is that of further such rows; 1 where Reason says that there are too few certified ones.
	MeanBound float64 `json:"mean_bound"`
	Reason    string  `json:"reason,omitempty"`

	In []int `json:"-"` // which of the certified rows
}

// Names of the predictor's own figures to slice by.
const (
	SliceSD       = "sd"       // its standard deviation of y
	SliceDistance = "distance" // how far a row is from those that trained it: its standard deviation of f
)

// IsOwn says whether slices by a name are by a figure of the predictor's own, unless a column has that name.
func IsOwn(by string) bool { return by == SliceSD || by == SliceDistance }

// Own says whether a slice is by such a figure, whose cuts are of certified rows and aren't in its name.
func (s Slice) Own() bool { return IsOwn(s.By) && !strings.ContainsAny(s.Name, "=≤>") }

// Has says whether a row with a value of what is sliced by is of the slice.
func (s Slice) Has(v float64) bool {
	switch {
	case s.From != nil && s.To != nil && *s.From == *s.To:
		return v == *s.From
	case s.From != nil && !(v > *s.From), s.To != nil && v > *s.To:
		return false
	}
	return !s.Own() || s.To == nil || v < *s.To
}
