package report

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/krigo-gp/krigo/internal/drawing"
)

// hard are numbers at which steps round away, squares overflow and ranges have no width.
var hard = []float64{0, 1, -1, 1.7e18, -1.7e18, 1e-300, 5e-324, -5e-324, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, 0.1, 1e15, 1e-9, math.Inf(1), math.Inf(-1), math.NaN()}

// TestTicks: whatever the ends of an axis, there is an end to its ticks: they lie within or near it, and labels tell them apart.
func TestTicks(t *testing.T) {
	check := func(low, high float64) {
		t.Helper()
		a := plot.Axis{Min: low, Max: high}
		if settle(&a) != nil {
			return
		}
		ts, seen := ticks{}.Ticks(a.Min, a.Max), map[string]bool{}
		if len(ts) < 2 || len(ts) > 200 {
			t.Fatalf("%d ticks of [%v, %v]", len(ts), low, high)
		}
		for _, k := range ts {
			if margin := 0.01 * (a.Max - a.Min); !(k.Value >= a.Min-margin && k.Value <= a.Max+margin) {
				t.Errorf("[%v, %v] has a tick at %v", low, high, k.Value)
			}
			if k.Label != "" && seen[k.Label] {
				t.Errorf("[%v, %v] has the label %s twice", low, high, k.Label)
			}
			seen[k.Label] = true
		}
	}
	for _, a := range hard {
		for _, b := range hard {
			check(a, b)
			check(a, math.Nextafter(a, b))
		}
		check(a, a+1)
		check(a-1, a+1)
		check(a, a*(1+1e-12))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		at := rng.NormFloat64() * math.Pow(10, 640*rng.Float64()-320)
		check(at, at+rng.ExpFloat64()*math.Pow(10, 640*rng.Float64()-320))
	}
}

// TestFiguresOfOddNumbers: what has a range is drawn without numbers that aren't any, what has none is an error.
func TestFiguresOfOddNumbers(t *testing.T) {
	drawnAll := 0
	for _, a := range hard {
		for _, b := range hard {
			p := newPlot("x", "y")
			if drawing.Curve(p, "", drawing.Palette[blue], plotter.XYs{{X: a, Y: b}, {X: b, Y: a}}) != nil {
				continue
			}
			f, err := figure("t", "c", p)
			if err != nil {
				continue
			}
			drawnAll++
			if svg := string(f.SVG); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%v, %v: %.400s", a, b, svg)
			}
		}
	}
	if drawnAll < 50 {
		t.Errorf("%d figures", drawnAll)
	}
}

// TestGuard: a figure that fails, or panics, stands in its place with the reason.
func TestGuard(t *testing.T) {
	r := &maker{}
	r.guard("One", func() error { panic("a bin") })
	r.guard("Two", func() error { return errRange })
	r.guard("Three", func() error { return nil })
	if len(r.Figures) != 2 || r.Figures[0].Failed != "drawing it failed (a bin)" || r.Figures[1].Title != "Two" || r.Figures[1].Failed != errRange.Error() {
		t.Errorf("%+v", r.Figures)
	}
}
