package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/krigo-gp/krigo/internal/disk"
)

// save draws plots in a row, in one file.
func save(env Env, name string, width, height vg.Length, plots ...*plot.Plot) error {
	if err := os.MkdirAll(env.Out, 0o755); err != nil {
		return err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(160))
	row := make([]*plot.Plot, len(plots))
	copy(row, plots)
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: vg.Points(10), PadTop: vg.Points(4), PadBottom: vg.Points(4),
		PadLeft: vg.Points(4), PadRight: vg.Points(8)}
	for i, c := range plot.Align([][]*plot.Plot{row}, tiles, draw.New(canvas))[0] {
		row[i].Draw(c)
	}
	path := filepath.Join(env.Out, name+".png")
	err := disk.Write(path, func(w io.Writer) error {
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	})
	if err == nil {
		fmt.Fprintf(env.Stdout, "Drawn: %s\n", path)
	}
	return err
}

// curve samples f on [a, b].
func curve(f func(float64) float64, a, b float64) plotter.XYs {
	const n = 400
	pts := make(plotter.XYs, n+1)
	for i := range pts {
		x := a + (b-a)*float64(i)/n
		pts[i] = plotter.XY{X: x, Y: f(x)}
	}
	return pts
}

type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

// shifted draws a plotter moved to the right.
type shifted struct {
	plot.Plotter
	by vg.Length
}

func (s shifted) Plot(c draw.Canvas, p *plot.Plot) {
	c.Min.X += s.by
	c.Max.X += s.by
	s.Plotter.Plot(c, p)
}
