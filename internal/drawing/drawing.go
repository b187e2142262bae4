// Package drawing draws charts for pages, as SVG in the colours of the page (Chart), and holds colours and shapes of the figures of the
// reproductions, which are pictures of their own.
package drawing

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Palette holds colours that people with any colour vision can tell apart (Okabe & Ito).
var Palette = []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {60, 60, 60, 255}}

// Transparent is a colour of the palette for areas.
func Transparent(i int) color.NRGBA {
	c := Palette[i]
	return color.NRGBA{c.R, c.G, c.B, 60}
}

// Curve adds a line to a plot, and to its legend if there is a label.
func Curve(p *plot.Plot, label string, colour color.Color, pts plotter.XYs) error {
	l, err := plotter.NewLine(pts)
	if err != nil {
		return err
	}
	l.Color, l.Width = colour, vg.Points(1.5)
	p.Add(l)
	if label != "" {
		p.Legend.Add(label, l)
	}
	return nil
}

// Between fills the area between two curves over the same points.
func Between(low, high plotter.XYs, colour color.Color) (*plotter.Polygon, error) {
	outline := append(plotter.XYs{}, low...)
	for i := len(high) - 1; i >= 0; i-- {
		outline = append(outline, high[i])
	}
	poly, err := plotter.NewPolygon(outline)
	if err == nil {
		poly.Color, poly.LineStyle.Width = colour, 0
	}
	return poly, err
}

// Steps makes the points of a function that keeps its value until the next one.
func Steps(at plotter.XYs) (steps plotter.XYs) {
	for i, p := range at {
		if i > 0 {
			steps = append(steps, plotter.XY{X: p.X, Y: at[i-1].Y})
		}
		steps = append(steps, p)
	}
	return steps
}
