package method

import (
	"context"
	"math"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/train"
)

// hill has its minimum at (6, -20). It takes down how far from its anchor it is evaluated.
type hill struct {
	anchor   []float64
	farthest float64
}

func (h *hill) Dim() int { return 2 }

func (h *hill) Anchor(x []float64) error {
	h.anchor = append([]float64{}, x...)
	return nil
}

func (h *hill) Evaluate(x, gradient []float64) (float64, error) {
	gradient[0], gradient[1] = 2*(x[0]-6), 4*(x[1]+20)
	for i, v := range x {
		h.farthest = max(h.farthest, math.Abs(v-h.anchor[i]))
	}
	return (x[0]-6)*(x[0]-6) + 2*(x[1]+20)*(x[1]+20), nil
}

// TestFromAnchors: a descent stays near its anchors, and ends where one without anchors would.
func TestFromAnchors(t *testing.T) {
	h := &hill{}
	box := train.Bounds{Lower: []float64{-50, -3}, Upper: []float64{50, 50}}
	r := must.Get(Descent{}.Minimize(context.Background(), Run{Load: func(string) *State { return nil }, Box: box,
		Tell: func(string, *State, int, float64, string) error { return nil }}, h, []float64{0, 0}))(t)
	must.Hold(t, h.farthest <= farthest+1e-12 && math.Abs(r.X[0]-6) < 1e-2 && r.X[1] == -3 &&
		len(r.AtBound) == 1 && r.AtBound[0] == 1, "%+v, at most %v from an anchor", r, h.farthest)
	limited := must.Get(Descent{Evaluations: 2}.Minimize(context.Background(), Run{Load: func(string) *State { return nil },
		Tell: func(string, *State, int, float64, string) error { return nil }}, h, []float64{0, 0}))(t)
	must.Hold(t, len(limited.AtBound) == 0, "at bounds %v", limited.AtBound)
}
