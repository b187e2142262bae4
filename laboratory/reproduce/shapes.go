package main

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// palette holds colours that people with any colour vision can tell apart (Okabe & Ito).
var palette = []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {60, 60, 60, 255}}

// transparent returns a colour of the palette for areas.
func transparent(i int) color.NRGBA {
	c := palette[i]
	return color.NRGBA{c.R, c.G, c.B, 60}
}

// addCurve adds a line to a plot, and to its legend if there is a label.
func addCurve(p *plot.Plot, label string, colour color.Color, pts plotter.XYs) error {
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

// between fills the area between two curves over the same points.
func between(low, high plotter.XYs, colour color.Color) (*plotter.Polygon, error) {
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

// steps returns the points of a function that keeps its value until the next point.
func steps(at plotter.XYs) (steps plotter.XYs) {
	for i, p := range at {
		if i > 0 {
			steps = append(steps, plotter.XY{X: p.X, Y: at[i-1].Y})
		}
		steps = append(steps, p)
	}
	return steps
}
