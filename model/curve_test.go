package model

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestCurve shows that a short run is kept whole, and a long run thinned out evenly, with its first and last point. A
// run that goes on from a file gives the same curve.
func TestCurve(t *testing.T) {
	for _, n := range []int{1, 150, 199, 200, 5000} {
		whole, resumed := &Curve{}, &Curve{}
		for i := range n {
			whole.Add(i, float64(-i))
			resumed.Add(i, float64(-i))
			if i == n/2 {
				raw, err := json.Marshal(resumed)
				resumed = &Curve{}
				must.Need(t, err == nil && json.Unmarshal(raw, resumed) == nil, "%v", err)
				resumed.Add(i, float64(-i)) // the same iteration again
			}
		}
		whole.Add(n, math.NaN())
		must.Hold(t, reflect.DeepEqual(whole, resumed),
			"%d points: %+v, resumed %+v", n, whole, resumed)
		k := len(whole.Values)
		must.Hold(t, (n >= curvePoints || k == n) && k <= curvePoints &&
			(n <= curvePoints || k >= curvePoints/3), "%d points became %d", n, k)
		must.Hold(t, whole.Iterations[0] == 0 && whole.Iterations[k-1] == n-1,
			"%d points: from %d to %d", n, whole.Iterations[0], whole.Iterations[k-1])
		for i, at := range whole.Iterations {
			must.Hold(t, whole.Values[i] == float64(-at) &&
				(i <= 0 || i >= k-1 || at-whole.Iterations[i-1] == max(1, whole.Every)),
				"%d points: point %d is %d, %v", n, i, at, whole.Values[i])
		}
	}
}
