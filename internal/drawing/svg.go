package drawing

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/krigo-gp/krigo/internal/lists"
)

// SVG draws the chart. description says in words and numbers what the chart shows.
func (c *Chart) SVG(description string) (string, error) {
	for _, a := range []*Axis{&c.X, &c.Y} {
		if err := a.settle(); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	xTicks := c.X.ticks()
	yTicks := c.Y.ticks()
	// The margins have room for the labels on the left, and for the colour bar on the right.
	left := c.leftOf(yTicks)
	right := 12.
	top := 0.
	var scale []Tick
	if c.bar != nil {
		scale = c.bar.ticks()
		for _, t := range scale {
			right = max(right, 10+barWidth+6+min(width(t.Label), 70))
		}
	}
	if c.Y.Label != "" || c.bar != nil {
		top += line
	}
	top = c.writeLegend(&b, top) + 12
	// Marks draw themselves into the frame, in coordinates from its upper left corner.
	f := &frame{c: c, width: chartWidth - left - right, height: plotHeight}
	if n := len(c.Y.Names); n > 0 {
		f.height = float64(n) * min(max(nameRow, 160/float64(n)), fewRow)
	}
	for _, m := range c.marks {
		m(f)
	}
	// From here on the parts are written from top to bottom, around the frame.
	bottom := top + f.height

	if c.bar != nil {
		write(&b, 0, letter-1, start, c.Y.Label, chartWidth/2-6)
		write(&b, chartWidth, letter-1, end, c.bar.label, chartWidth/2-6)
		c.bar.draw(&b, chartWidth-right+10, top, f.height, scale)
	} else if c.Y.Label != "" {
		write(&b, 0, letter-1, start, c.Y.Label, chartWidth)
	}
	fmt.Fprintf(&b, `<rect class="frame" x="%s" y="%s" width="%s" height="%s"/>`, short(left),
		short(top), short(f.width), short(f.height))
	var grid strings.Builder
	reach := f.writeY(&b, &grid, left, top, yTicks)
	below := spaced(xTicks,
		func(t Tick) float64 { x, _ := f.at(XY{t.Value, c.Y.low}); return left + x })
	// it would begin under the other axis's labels
	if len(below) > 0 && below[0].x-width(below[0].Label)/2 < left-7 {
		bottom += max(0, reach-bottom-4)
	}
	for _, t := range below {
		fmt.Fprintf(&grid, "M%s %sv%s", short(t.tick), short(top), short(f.height))
		write(&b, t.x, bottom+letter+4, middle, t.Label, chartWidth)
	}
	fmt.Fprintf(&b, `<path class="grid" d="%s"/>`, grid.String())
	height := bottom + letter + 8
	if c.X.Label != "" {
		write(&b, left+f.width/2, height+letter, middle, c.X.Label,
			2*min(left+f.width/2, chartWidth-left-f.width/2))
		height += line
	}
	// An inner svg cuts marks at the axes.
	fmt.Fprintf(&b, `<svg x="%s" y="%s" width="%s" height="%s">%s</svg>`, short(left), short(top),
		short(f.width), short(f.height), f.b.String())
	return fmt.Sprintf(`<svg class="chart" role="img" aria-label="%s" viewBox="0 0 %s %s">%s</svg>`,
		html.EscapeString(description), short(chartWidth), short(height+4), b.String()), nil
}

// leftOf returns the width that the vertical axis's labels take.
func (c *Chart) leftOf(ticks []Tick) float64 {
	left := 10.
	for i, t := range ticks {
		w := width(t.Label)
		if c.Y.After != nil {
			w += width(c.Y.After[i])
		}
		left = max(left, min(w, mostNames)+9)
	}
	return left
}

// writeY writes the vertical axis's labels and its grid lines, and returns how far down the labels
// reach.
func (f *frame) writeY(b, grid *strings.Builder, left, top float64, ticks []Tick) (reach float64) {
	names := lists.Of(ticks, func(t Tick) string { return t.Label })
	widest := 0.
	for _, text := range f.c.Y.After {
		widest = max(widest, width(text))
	}
	names = distinguished(names, mostNames-widest)
	for i, text := range f.c.Y.After {
		names[i] += text
		ticks[i].Label += text
	}
	lowest := math.Inf(1) // place of the last label
	for i, t := range ticks {
		_, y := f.at(XY{f.c.X.low, t.Value})
		y += top
		if f.c.Y.Names == nil {
			if lowest-y < letter+1 { // labels go upwards
				continue
			}
			lowest = y
			fmt.Fprintf(grid, "M%s %sh%s", short(left), short(y), short(f.width))
		}
		writeAs(b, left-7, y+0.35*letter, end, t.Label, names[i])
		reach = max(reach, y+0.35*letter+3)
	}
	return reach
}

// label is a tick with the places of its line and of its text.
type label struct {
	Tick
	tick, x float64
}

// spaced returns the labels of every n-th tick, for the smallest n at which they don't touch.
// It moves a label inside if it would stick out.
func spaced(ts []Tick, at func(Tick) float64) (all []label) {
	for step := 1; step <= len(ts); step++ {
		all = all[:0]
		before := math.Inf(-1)
		fits := true
		for i := 0; i < len(ts) && fits; i += step {
			half := width(ts[i].Label) / 2
			x := at(ts[i])
			l := label{ts[i], x, min(max(x, half), chartWidth-half)}
			fits = l.x-half >= before+6
			before = l.x + half
			all = append(all, l)
		}
		if fits {
			break
		}
	}
	return all
}

// writeLegend writes the legend in lines below y, and returns where they end.
func (c *Chart) writeLegend(b *strings.Builder, y float64) float64 {
	x := 0.
	for i, e := range c.legend {
		w := min(width(e.label), chartWidth-22)
		if i == 0 {
			y += line
		} else if x+22+w > chartWidth {
			x = 0
			y = y + line
		}
		fmt.Fprintf(b, `<g transform="translate(%s %s)">%s</g>`, short(x),
			short(y-letter+1), e.sample)
		write(b, x+22, y-1, start, e.label, chartWidth-22)
		x += 22 + w + 12
	}
	return y
}
