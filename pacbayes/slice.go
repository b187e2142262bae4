package pacbayes

import (
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/internal/lists"
)

// slices bounds the mean loss of each slice. Given which rows lie in a slice, the number of their
// misses is binomial.
func (t Terms) slices(s Sample) ([]Slice, error) {
	if s.Sum != nil {
		return nil, errors.New("slices: rows that are spread over ranks can't be counted by " +
			"kind; use one rank")
	}
	losses := s.pointLosses(t.Loss)
	// How many rows a slice has depends on inputs alone.
	// So slices that are too small leave their δ to other slices.
	parts := len(lists.If(s.Slices, func(slice Slice) bool {
		return t.Rules == 0 || len(slice.In) >= MinRows
	}))
	return lists.Of(s.Slices, func(slice Slice) Slice {
		misses := lists.Sum(slice.In, func(i int) float64 { return losses[i] })
		slice.Rows = len(slice.In)
		slice.MeanBound = 1
		if slice.Rows < MinRows {
			slice.Reason = fmt.Sprintf("%d certified rows are too few, of %d", slice.Rows, MinRows)
		} else {
			slice.MeanBound = ClopperPearson(int(misses), slice.Rows,
				t.Delta/t.share()/float64(parts))
		}
		if slice.Rows > 0 {
			slice.MeanRisk = misses / float64(slice.Rows)
		}
		slice.In = nil
		return slice
	}), nil
}

// sameSlices names the first thing that differs between two lists of slices, or returns "".
func sameSlices(a, b []Slice) string {
	if len(a) != len(b) {
		return "slices differ"
	}
	for i, p := range a {
		q := b[i]
		if p.By != q.By || p.Name != q.Name || p.Rows != q.Rows || p.Reason != q.Reason ||
			!same(p.MeanRisk, q.MeanRisk) || !same(p.MeanBound, q.MeanBound) ||
			!sameEnd(p.From, q.From) || !sameEnd(p.To, q.To) {
			return fmt.Sprintf("slice %s %s differs", q.By, q.Name)
		}
	}
	return ""
}

// sameEnd says whether two ends of a slice are both open, or the same number.
func sameEnd(a, b *float64) bool {
	return (a == nil && b == nil) || (a != nil && b != nil && same(*a, *b))
}
