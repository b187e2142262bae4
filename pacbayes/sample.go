package pacbayes

import (
	"math"
	"strings"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Sample holds predictions at rows, and their targets, in the units of Expected.
// Scale may be nil if no loss needs it.
type Sample struct {
	Y, Mean, Variance, Scale []float64

	// Group is nil if each row is an independent draw.
	// If rows depend on one another within groups, Group holds the number of each row's group, and
	// Groups is the number of groups. A group is then the unit that is drawn.
	// Its loss is the mean loss of its rows, and N is the number of groups.
	Group  []int
	Groups int

	// Lost, unless nil on all ranks, says which rows have no prediction. Their loss is 1.
	Lost []bool

	// Slices are the kinds of rows that have bounds of their own, by Terms.Slices.
	Slices []Slice

	// If the rows above are one rank's part, Rows is the number of rows on all ranks, and Sum adds
	// up sums over the parts. A sample with groups isn't spread over ranks.
	Rows int
	Sum  func(v ...[]float64) error
}

// mean returns the mean over all N units of a quantity, given its sum over this rank's units.
func (s Sample) mean(sum float64) (float64, error) {
	if s.Sum == nil {
		return sum / float64(s.units()), nil
	}
	v := []float64{sum}
	err := s.Sum(v)
	return v[0] / float64(s.Rows), err
}

// units returns N, the number of rows or of groups.
func (s Sample) units() int {
	switch {
	case s.Group != nil:
		return s.Groups
	case s.Sum == nil:
		return len(s.Y)
	}
	return s.Rows
}

// perUnit turns losses of rows into losses of units.
// A group's loss, in [0,1] again, is the mean of its rows' losses.
func (s Sample) perUnit(losses []float64) []float64 {
	for i, lost := range s.Lost {
		if lost {
			losses[i] = 1
		}
	}
	if s.Group == nil {
		return losses
	}
	totals := make([]compensated.Sum, s.Groups)
	sizes := make([]float64, s.Groups)
	for i, g := range s.Group {
		totals[g].Add(losses[i])
		sizes[g]++
	}
	return lists.To(s.Groups, func(g int) float64 {
		return math.Min(totals[g].Value()/sizes[g], 1)
	})
}

// meanOf returns the mean of losses over all N units, given the losses of this rank's units.
func (s Sample) meanOf(losses []float64) (float64, error) {
	var total compensated.Sum
	for _, x := range losses {
		total.Add(x)
	}
	return s.mean(total.Value())
}

// Slice is a kind of rows with a bound of its own.
// Which rows belong to it was fixed before the targets of the certified rows were seen.
// Half of δ goes to all slices in equal parts, so that their bounds hold together, and together
// with the other bounds of the certificate.
type Slice struct {
	By   string `json:"by"`   // a column, SliceSD or SliceDistance
	Name string `json:"name"` // names the kind, for example "> 3" or "surest"
	// rows with a value above From, up to To, or below To if Own;
	// if From = To, rows with this value
	From *float64 `json:"from,omitempty"`
	To   *float64 `json:"to,omitempty"` // nil: no upper end; both are nil for a category

	Rows     int     `json:"rows"`      // certified rows of the slice
	MeanRisk float64 `json:"mean_risk"` // the share of misses among them
	// MeanBound bounds the share of misses among further rows of this kind.
	// It is 1 if there is a Reason.
	MeanBound float64 `json:"mean_bound"`
	Reason    string  `json:"reason,omitempty"`

	In []int `json:"-"` // indices of its certified rows
}

// Terms.Slices and Slice.By use these names for two figures of the predictor.
const (
	SliceSD = "sd" // the standard deviation of y
	// the standard deviation of f, which says how far a row is from the training rows
	SliceDistance = "distance"
)

// IsOwn says whether by names a figure of the predictor itself, unless a column has this name.
func IsOwn(by string) bool { return by == SliceSD || by == SliceDistance }

// Own says whether slice s is cut by a figure that the predictor gives for each row.
// The cuts of such a slice come from certified rows, and the slice's name doesn't contain them.
func (s Slice) Own() bool { return IsOwn(s.By) && !strings.ContainsAny(s.Name, "=≤>") }

// Has says whether a row with the value v of By belongs to the slice.
func (s Slice) Has(v float64) bool {
	switch {
	case s.From != nil && s.To != nil && *s.From == *s.To:
		return v == *s.From
	case s.From != nil && !(v > *s.From), s.To != nil && v > *s.To:
		return false
	}
	return !s.Own() || s.To == nil || v < *s.To
}
