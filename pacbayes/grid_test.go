package pacbayes

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func TestGrid(t *testing.T) {
	g := DefaultGrid()
	must.Hold(t, g.Points() == 1201 && g.LogInverseP(2) == 2*math.Log(1201),
		"points %d, ln 1/p %v", g.Points(), g.LogInverseP(2))
	for _, c := range []struct {
		v, want float64
		index   int
		clamped bool
	}{
		{0, 0, 600, false}, {0.1394, 0.14, 614, false}, {-0.6011, -0.6, 540, false},
		{6.004, 6, 1200, false}, {6.006, 6, 1200, true}, {-6.006, -6, 0, true},
		{math.Inf(1), 6, 1200, true}, {math.Inf(-1), -6, 0, true},
	} {
		got, index, clamped := g.Round(c.v)
		must.Hold(t, got == c.want && index == c.index && clamped == c.clamped,
			"Round(%v) = %v, %d, %v", c.v, got, index, clamped)
	}
	if got, index, _ := g.Round(math.NaN()); !math.IsNaN(got) || index != -1 {
		t.Errorf("Round(NaN) = %v, %d", got, index)
	}
	v := []float64{7, 0.004, -9}
	if clamped := g.RoundAll(v, v); !slices.Equal(clamped, []int{0, 2}) || !slices.Equal(v, []float64{6, 0, -6}) {
		t.Errorf("RoundAll: %v, clamped %v", v, clamped)
	}
}

// TestGridPoints shows that every grid point rounds to itself, and its mirror image to its negative.
func TestGridPoints(t *testing.T) {
	for _, g := range []Grid{DefaultGrid(), {0.5, 0}, {1, 6}, {3.7, 3}, {10, 1}, {0.05, 2}} {
		must.Do(t, g.Validate())
		step := 2 * g.L / float64(g.Points()-1)
		for i := 0; i < g.Points(); i += 1 + g.Points()/5000 {
			v, index, clamped := g.Round(-g.L + float64(i)*step)
			again, index2, _ := g.Round(v)
			mirror, _, _ := g.Round(-v)
			must.Need(t, index == i && !clamped && again == v && index2 == i && mirror == -v,
				"%v: point %d is %v at %d, again %v at %d, mirrored %v", g, i, v, index, again,
				index2, mirror)
		}
	}
}

func TestParseGrid(t *testing.T) {
	for _, g := range []Grid{DefaultGrid(), {0.25, 3}} {
		if got, err := ParseGrid(g.String()); got != g || err != nil {
			t.Errorf("ParseGrid(%q) = %v, %v", g, got, err)
		}
	}
	for _, s := range []string{"", "6", "6;2", "6,2.5", "x,2", "6,7", "6,-1", "0,2", "-6,2", "NaN,2", "Inf,2", "0.1,0",
		"1e9,6"} {
		must.Refuse(ParseGrid(s))(t, "", fmt.Sprintf("ParseGrid(%q) succeeds", s))
	}
}
