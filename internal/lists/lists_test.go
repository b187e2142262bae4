package lists

import (
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func TestLists(t *testing.T) {
	odd := func(v int) bool { return v%2 == 1 }
	square := func(v int) int { return v * v }
	must.Be(t, len(Of(To(4, square), square)), 4)
	must.Be(t, Of(To(4, square), square)[3], 81)
	must.Be(t, Of([]int(nil), square) == nil, true) // JSON leaves a nil list out
	must.Be(t, If([]int{2, 3, 5}, odd)[1], 5)
	must.Be(t, Where(4, odd)[1], 3)
	must.Be(t, Where(1, odd) == nil, true)
	v, found := Find([]int{2, 3, 5}, odd)
	must.Be(t, v, 3)
	_, none := Find([]int{2}, odd)
	must.Be(t, found && !none, true)
}
