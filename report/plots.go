package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// Places in drawing.Palette.
const (
	blue, orange, green, grey = 0, 1, 2, 6
)

// Figure is one drawing with what it says.
type Figure struct {
	Title   string
	Caption string
	SVG     template.HTML
	Pair    bool   // two drawings side by side
	Failed  string // why there is no drawing; "" where there is one
}

const figureWidth, figureHeight = 330, 240 // points

func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, f := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		size := f.Size
		*f = sans
		f.Size = size
	}
	p.BackgroundColor = color.Transparent
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{}, ticks{}
	return p
}

// figure draws plots as SVG in the colours of the page that it will stand in.
func figure(title, caption string, plots ...*plot.Plot) (Figure, error) {
	var all strings.Builder
	for _, p := range plots {
		for _, axis := range []*plot.Axis{&p.X, &p.Y} {
			if err := settle(axis); err != nil {
				return Figure{}, err
			}
		}
		canvas := vgsvg.New(figureWidth, figureHeight)
		p.Draw(draw.Crop(draw.New(canvas), 0, -vg.Points(8), 0, -vg.Points(4))) // the last label sticks out
		var b bytes.Buffer
		if _, err := canvas.WriteTo(&b); err != nil {
			return Figure{}, fmt.Errorf("the figure %q can't be drawn: %w", title, err)
		}
		svg := b.String()
		svg = svg[strings.Index(svg, "viewBox"):] // without a size it fills its place
		fmt.Fprintf(&all, `<svg role="img" aria-label="%s" %s`, template.HTMLEscapeString(title), themed.Replace(svg))
	}
	return Figure{Title: title, Caption: caption, SVG: template.HTML(all.String()), Pair: len(plots) > 1}, nil
}

// themed replaces colours by those of the page's style, which a dark page changes.
var themed = strings.NewReplacer("fill:#0072B2", "fill:var(--blue)", "stroke:#0072B2", "stroke:var(--blue)", "fill:#D55E00", "fill:var(--red)", "stroke:#D55E00", "stroke:var(--red)",
	"fill:#009E73", "fill:var(--green)", "stroke:#009E73", "stroke:var(--green)", "fill:#3C3C3C", "fill:var(--soft)", "stroke:#3C3C3C", "stroke:var(--soft)",
	"stroke:#000000", "stroke:currentColor", "font-family:Liberation Sans;font-variant:Sans;", "")

// dots adds points.
func dots(p *plot.Plot, label string, colour int, radius float64, pts plotter.XYs) error {
	if len(pts) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(pts)
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: drawing.Palette[colour], Radius: vg.Points(radius), Shape: draw.CircleGlyph{}}
	if len(pts) > 200 {
		s.GlyphStyle.Color = color.NRGBA{drawing.Palette[colour].R, drawing.Palette[colour].G, drawing.Palette[colour].B, 110}
	}
	p.Add(s)
	if label != "" {
		p.Legend.Add(label, s)
	}
	return nil
}

func dashed(p *plot.Plot, pts plotter.XYs) error {
	l, err := plotter.NewLine(pts)
	if err == nil {
		l.Color, l.Dashes = drawing.Palette[grey], []vg.Length{vg.Points(3), vg.Points(3)}
		p.Add(l)
	}
	return err
}

// band adds the area between mean ± width.
func band(p *plot.Plot, label string, colour int, x, mean, width []float64) error {
	low, high := make(plotter.XYs, len(x)), make(plotter.XYs, len(x))
	for i := range x {
		low[i], high[i] = plotter.XY{X: x[i], Y: mean[i] - width[i]}, plotter.XY{X: x[i], Y: mean[i] + width[i]}
	}
	area, err := drawing.Between(low, high, drawing.Transparent(colour))
	if err != nil {
		return err
	}
	p.Add(area)
	p.Legend.Add(label, area)
	return nil
}

// bars adds horizontal bars, the first on top.
func bars(p *plot.Plot, names []string, values []float64) error {
	vs, labels := slices.Clone(values), slices.Clone(names)
	slices.Reverse(vs)
	slices.Reverse(labels)
	for i, name := range labels {
		if r := []rune(name); len(r) > 18 {
			labels[i] = string(r[:17]) + "…"
		}
	}
	chart, err := plotter.NewBarChart(plotter.Values(vs), vg.Points(min(14, 150/float64(len(vs)))))
	if err != nil {
		return err
	}
	chart.Horizontal, chart.Color, chart.LineStyle.Width = true, drawing.Palette[blue], 0
	p.Add(chart)
	p.NominalY(labels...)
	p.X.Min = 0
	return nil
}

// surface is a function on a grid.
type surface struct {
	x, y []float64
	z    []float64 // row by row
}

func (s surface) Dims() (c, r int)   { return len(s.x), len(s.y) }
func (s surface) X(c int) float64    { return s.x[c] }
func (s surface) Y(r int) float64    { return s.y[r] }
func (s surface) Z(c, r int) float64 { return s.z[r*len(s.x)+c] }

// heat adds a surface in colours, and says in the title what the darkest and the lightest are.
func heat(p *plot.Plot, what string, s surface) error {
	low, high := slices.Min(s.z), slices.Max(s.z)
	if !linalg.Finite([]float64{high - low, s.x[len(s.x)-1] - s.x[0], s.y[len(s.y)-1] - s.y[0]}) {
		return errRange
	}
	colours := moreland.ExtendedBlackBody()
	colours.SetMin(0)
	colours.SetMax(1)
	var shades []color.Color
	for i := range 64 {
		c, err := colours.At(0.1 + 0.85*float64(i)/63)
		if err != nil {
			return err
		}
		shades = append(shades, c)
	}
	h := plotter.NewHeatMap(s, list(shades))
	h.Rasterized = true
	h.Min, h.Max = low, high
	if low == high {
		h.Max = math.Nextafter(high, math.Inf(1))
	}
	p.Add(h)
	p.Title.Text = fmt.Sprintf("%s: dark %.4g, light %.4g", what, low, high)
	return nil
}

type list []color.Color

func (l list) Colors() []color.Color { return l }

var _ palette.Palette = list{}
