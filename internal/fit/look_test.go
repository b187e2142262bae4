package fit

import (
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestStretches: a look takes stretches of rows that follow one another, from all over the table.
func TestStretches(t *testing.T) {
	for _, n := range []int{401, 1000, 5003} {
		rows := stretches(n, 400)
		must.Hold(t, len(rows) == 400 && slices.IsSorted(rows) && len(slices.Compact(slices.Clone(rows))) == 400,
			"%d: %d rows", n, len(rows))
		must.Hold(t, rows[0] == 0 && rows[399] < n && rows[399] >= n*9/10, "%d: rows %d to %d", n, rows[0], rows[399])
		for i := range rows {
			must.Hold(t, i%stretch == 0 || rows[i] == rows[i-1]+1, "%d: row %d after row %d", n, rows[i], rows[max(0, i-1)])
		}
	}
}
