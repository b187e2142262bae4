package drawing

import (
	_ "embed"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Style is the style sheet of charts. The page it stands in says what its colours are:
// --paper, --ink, --soft, --line, --blue, --red and --green.
//
//go:embed chart.css
var Style string

// XY is a point in the units of the axes.
type XY struct{ X, Y float64 }

// Colour is a colour of the page, under its name in the style sheet.
// A dark page has other colours under the same names.
type Colour string

// The colours of charts.
const (
	Blue   Colour = "blue"
	Orange Colour = "orange"
	Green  Colour = "green"
	Grey   Colour = "grey"
	Ink    Colour = "ink" // the colour of text
)

// Axis is an axis of a chart.
type Axis struct {
	Label string
	// Names are the names of the places 0, 1, … on a vertical axis, the first on top. Each name has
	// a row of the chart to itself.
	Names []string
	// After holds a text behind each name. The text keeps its length even if the name is cut.
	// If After is nil, there are no such texts.
	After []string
	// Ticks returns the ticks of a range. If Ticks is nil, the ticks are numbers.
	Ticks func(low, high float64) []Tick

	low, high float64 // range of the values added so far
	fixed     bool    // Span has set the range
}

// Span sets the ends of an axis, which then don't depend on what is drawn.
func (a *Axis) Span(low, high float64) {
	a.low = low
	a.high = high
	a.fixed = true
}

// add widens the range so that it holds the values, unless Span has set it.
// NaN counts as +∞, so that settle returns ErrRange.
func (a *Axis) add(vs ...float64) {
	if a.fixed {
		return
	}
	for _, v := range vs {
		if math.IsNaN(v) { // no end is beyond NaN
			v = math.Inf(1)
		}
		a.low = min(a.low, v)
		a.high = max(a.high, v)
	}
}

// settle turns the range into a range that can be drawn, with some room on both sides unless Span
// set it.
func (a *Axis) settle() (err error) {
	if a.Names != nil {
		a.low = -0.5
		a.high = float64(len(a.Names)) - 0.5
		return nil
	}
	if a.low, a.high, err = settled(a.low, a.high); err == nil && !a.fixed {
		room := 0.03 * (a.high - a.low)
		a.low = a.low - room
		a.high = a.high + room
	}
	return err
}

// ticks returns a tick for each of the Names, or else the ticks inside the range.
func (a *Axis) ticks() []Tick {
	if a.Names != nil {
		return lists.To(len(a.Names), func(i int) Tick { return Tick{float64(i), a.Names[i]} })
	}
	of := a.Ticks
	if of == nil {
		of = Ticks
	}
	return slices.DeleteFunc(of(a.low, a.high), func(t Tick) bool {
		return t.Value < a.low || t.Value > a.high
	})
}

// Chart is a figure with two axes. Marks that are added first lie below.
type Chart struct {
	X, Y Axis

	marks  []func(f *frame)
	legend []entry
	bar    *bar
}

// entry is an item of the legend: its text, and a sample of the mark as SVG.
type entry struct{ label, sample string } // sample is drawn in a box of 16 by 10

// NewChart returns an empty chart whose axes have these labels.
func NewChart(x, y string) *Chart {
	none := Axis{low: math.Inf(1), high: math.Inf(-1)}
	c := &Chart{X: none, Y: none}
	c.X.Label, c.Y.Label = x, y
	return c
}

// name adds an item to the legend, unless label is "". sample is a format for args.
func (c *Chart) name(label, sample string, args ...any) {
	if label != "" {
		c.legend = append(c.legend, entry{label, fmt.Sprintf(sample, args...)})
	}
}

// include widens both axes so that they hold the points.
func (c *Chart) include(pts []XY) {
	for _, p := range pts {
		c.X.add(p.X)
		c.Y.add(p.Y)
	}
}

// Line joins points.
func (c *Chart) Line(label string, colour Colour, pts []XY) {
	c.line(label, "line "+string(colour), pts)
}

// Dashed joins points by a thin dashed line.
func (c *Chart) Dashed(label string, pts []XY) { c.line(label, "line dashed", pts) }

// Thin joins points by a thin pale line.
func (c *Chart) Thin(label string, pts []XY) { c.line(label, "line thin", pts) }

// line adds a mark that joins points. class holds its classes in the style sheet.
func (c *Chart) line(label, class string, pts []XY) {
	c.include(pts)
	c.name(label, `<path class="%s" d="M0 5h16"/>`, class)
	c.marks = append(c.marks, func(f *frame) {
		if len(pts) > 0 {
			f.path(class, f.through(pts))
		}
	})
}

// Area fills the area between two curves over the same points.
func (c *Chart) Area(label string, colour Colour, x, low, high []float64) {
	c.area(label, "area "+string(colour), x, low, high)
}

// Deep draws an Area in a darker shade.
func (c *Chart) Deep(label string, colour Colour, x, low, high []float64) {
	c.area(label, "area deep "+string(colour), x, low, high)
}

// area adds a filled mark. Its outline goes along low, and back along high.
func (c *Chart) area(label, class string, x, low, high []float64) {
	outline := make([]XY, 0, 2*len(x))
	for i := range x {
		outline = append(outline, XY{x[i], low[i]})
	}
	for i, v := range slices.Backward(x) {
		outline = append(outline, XY{v, high[i]})
	}
	c.include(outline)
	c.name(label, `<path class="%s" d="M0 0h16v10h-16z"/>`, class)
	c.marks = append(c.marks, func(f *frame) { f.path(class, f.through(outline)+"z") })
}

// Dots marks points.
func (c *Chart) Dots(label string, colour Colour, pts []XY) {
	c.dots(label, "dot "+string(colour), pts)
}

// Many marks points that may lie on top of one another.
func (c *Chart) Many(label string, colour Colour, pts []XY) {
	c.dots(label, "dot many "+string(colour), pts)
}

// dots marks each point by the round end of a line of no length.
func (c *Chart) dots(label, class string, pts []XY) {
	c.points(label, class, "M8 5h0", pts, func(x, y float64) string {
		return "M" + short(x) + " " + short(y) + "h0"
	})
}

// points adds a mark at each point. mark returns its SVG path at a place, and sample is the path of
// the mark in the legend.
func (c *Chart) points(label, class, sample string, pts []XY, mark func(x, y float64) string) {
	c.include(pts)
	c.name(label, `<path class="%s" d="%s"/>`, class, sample)
	c.marks = append(c.marks, func(f *frame) {
		marks := lists.Of(pts, func(p XY) string { return mark(f.at(p)) })
		f.path(class, strings.Join(marks, ""))
	})
}

// Specks marks points over a Heat, visible on any of its colours.
func (c *Chart) Specks(pts []XY) {
	c.dots("", "speck under", pts)
	c.dots("", "speck", pts)
}

// Triangles marks points that differ from Dots even without colours.
func (c *Chart) Triangles(label string, colour Colour, pts []XY) {
	c.points(label, "triangle "+string(colour), "M8 0l4.5 8.5h-9z", pts, func(x, y float64) string {
		return "M" + short(x) + " " + short(y-5) + "l4.5 8.5h-9z"
	})
}

// Segments draws whiskers, each from one point to another.
func (c *Chart) Segments(label string, colour Colour, ends [][2]XY) {
	c.segments(label, "whisker "+string(colour), ends)
}

// Strong draws thick whiskers.
func (c *Chart) Strong(label string, colour Colour, ends [][2]XY) {
	c.segments(label, "whisker strong "+string(colour), ends)
}

// segments adds lines, each from one point to another.
func (c *Chart) segments(label, class string, ends [][2]XY) {
	for _, e := range ends {
		c.include(e[:])
	}
	c.name(label, `<path class="%s" d="M0 5h16"/>`, class)
	c.marks = append(c.marks, func(f *frame) {
		lines := lists.Of(ends, func(e [2]XY) string { return f.through(e[:]) })
		f.path(class, strings.Join(lines, ""))
	})
}

// Bars draws bars from 0 to each value, along a vertical axis of names.
func (c *Chart) Bars(colour Colour, values []float64) {
	c.X.add(0)
	c.X.add(values...)
	c.marks = append(c.marks, func(f *frame) {
		for i, v := range values {
			x0, y0 := f.at(XY{0, float64(i) - 0.32})
			x1, y1 := f.at(XY{v, float64(i) + 0.32})
			f.path("bar "+string(colour), fmt.Sprintf("M%s %sH%sV%sH%sz", short(x0), short(y0),
				short(x1), short(y1), short(x0)))
		}
	})
}

// Note writes a text below a point, or below the notes before it if they might meet.
// It moves to the left if it would stick out.
func (c *Chart) Note(text string, colour Colour, at XY) {
	c.marks = append(c.marks, func(f *frame) {
		x, y := f.at(at)
		room := 1.1*width(text) + 4 // notes are bold
		x = max(0, min(x+2, f.width-room))
		if f.below++; x > f.noted {
			f.below = 1
		}
		f.noted = max(f.noted, x+room)
		fmt.Fprintf(&f.b, `<text class="note %s" x="%s" y="%s">%s</text>`, colour, short(x),
			short(y+line*f.below), html.EscapeString(text))
	})
}

// Rug marks values at the lower end of the chart.
func (c *Chart) Rug(label string, xs []float64) {
	c.name(label, `<path class="rug" d="M3 3v6M8 3v6M12 3v6"/>`)
	c.marks = append(c.marks, func(f *frame) {
		var d strings.Builder
		for _, v := range xs {
			if v >= c.X.low && v <= c.X.high {
				x, _ := f.at(XY{v, c.Y.low})
				d.WriteString("M" + short(x) + " " + short(f.height) + "v-6")
			}
		}
		f.path("rug", d.String())
	})
}

// Stairs returns the points of a function that keeps its value until the next point.
func Stairs(at []XY) (steps []XY) {
	for i, p := range at {
		if i > 0 {
			steps = append(steps, XY{p.X, at[i-1].Y})
		}
		steps = append(steps, p)
	}
	return steps
}

// frame is the inside of the axes, where marks are drawn.
type frame struct {
	c             *Chart
	width, height float64
	noted, below  float64 // where notes end, and how many lines the last is below its point
	b             strings.Builder
}

// at returns where a point is drawn, in the chart's units from the upper left corner of the frame.
// A point far outside is drawn a few lengths of the axis away, because coordinates are limited.
func (f *frame) at(p XY) (x, y float64) {
	place := func(v float64, a *Axis, length float64) float64 {
		return min(max((v-a.low)/(a.high-a.low)*length, -5*length), 5*length)
	}
	x = place(p.X, &f.c.X, f.width)
	y = place(p.Y, &f.c.Y, f.height)
	// SVG's y grows downwards. Names are listed that way, numbers aren't.
	if f.c.Y.Names == nil {
		y = f.height - y
	}
	return x, y
}

// through returns the SVG path that joins the places of points.
func (f *frame) through(pts []XY) string {
	return "M" + strings.Join(lists.Of(pts, func(p XY) string {
		x, y := f.at(p)
		return short(x) + " " + short(y)
	}), "L")
}

// path writes an SVG path d with its classes, unless d is empty.
func (f *frame) path(class, d string) {
	if d != "" {
		fmt.Fprintf(&f.b, `<path class="%s" d="%s"/>`, class, d)
	}
}
