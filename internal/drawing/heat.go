package drawing

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
)

// Grid is a function on cells that fill a rectangle:
// row by row from below, each row from left to right.
type Grid struct {
	Cols, Rows  int
	Left, Right float64 // outer edges of the first and the last cell
	Low, High   float64
	Z           []float64
	Pale        []bool // whether to draw each cell pale; nil: no cell is pale
}

// Centre returns the centre of a cell.
func (g Grid) Centre(col, row int) XY {
	return XY{g.Left + (g.Right-g.Left)*(float64(col)+0.5)/float64(g.Cols), g.Low +
		(g.High-g.Low)*(float64(row)+0.5)/float64(g.Rows)}
}

// paleness is the opacity of pale cells, out of 255.
const paleness = 50

// Heat draws a grid in colours, with a bar that explains them. The axes end where the grid ends.
func (c *Chart) Heat(label string, g Grid) error {
	low := slices.Min(g.Z)
	high := slices.Max(g.Z)
	var ok bool
	if low, high, ok = Widened(low, high); !ok {
		return ErrRange
	}
	for _, a := range []struct {
		of        *Axis
		low, high float64
	}{{&c.X, g.Left, g.Right}, {&c.Y, g.Low, g.High}} {
		// the axis would differ from the grid
		if w, v, ok := Widened(a.low, a.high); !ok || w != a.low || v != a.high {
			return ErrRange
		}
		a.of.Span(a.low, a.high)
	}
	// The picture has a pixel per cell. Its rows go down, and the grid's rows go up.
	picture := image.NewNRGBA(image.Rect(0, 0, g.Cols, g.Rows))
	for i, z := range g.Z {
		shade := Shade((z - low) / (high - low))
		if g.Pale != nil && g.Pale[i] {
			shade.A = paleness
		}
		picture.SetNRGBA(i%g.Cols, g.Rows-1-i/g.Cols, shade)
	}
	url, err := embedded(picture)
	if err != nil {
		return err
	}
	c.marks = append(c.marks, func(f *frame) {
		fmt.Fprintf(&f.b, `<image class="heat" x="0" y="0" width="%s" height="%s" preserveAspectRatio="none" href="%s"/>`,
			short(f.width), short(f.height), url)
	})
	// The bar's picture is a column of 128 shades, with the largest number on top.
	ladder := image.NewNRGBA(image.Rect(0, 0, 1, 128))
	for i := range 128 {
		ladder.SetNRGBA(0, 127-i, Shade(float64(i)/127))
	}
	shades, err := embedded(ladder)
	if err == nil {
		c.bar = &bar{label, low, high, shades}
	}
	return err
}

// embedded returns the picture as a PNG in a data URL.
func embedded(p image.Image) (string, error) {
	var b bytes.Buffer
	err := png.Encode(&b, p)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// viridis is the colour map of Smith and van der Walt, as polynomials of degree 6 that Zucker
// fitted. Its steps look equal, also to people who see no red or green.
var viridis = [7][3]float64{
	{0.2777273272, 0.0054073445, 0.3340998054}, {0.1050930431, 1.4046135299, 1.3845901627},
	{-0.3308618287, 0.2148475595, 0.0950951630},
	{-4.6342304990, -5.7991009734, -19.3324409563}, {6.2282699363, 14.1799333668, 56.6905526007},
	{4.7763849977, -13.7451453777, -65.3530326334},
	{-5.4354558559, 4.6458526122, 26.3124352496},
}

// Shade returns the colour of a share between 0 and 1, from dark to light.
func Shade(t float64) color.NRGBA {
	t = min(max(t, 0), 1)
	var rgb [3]uint8
	for k := range rgb {
		v := 0.
		for _, c := range slices.Backward(viridis[:]) {
			v = v*t + c[k]
		}
		rgb[k] = uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], 255}
}
