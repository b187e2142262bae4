package drawing

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Sizes of a chart.
const (
	chartWidth = 360.
	plotHeight = 196. // height inside the axes, unless names need more
	nameRow    = 21.  // least height of a name
	fewRow     = 32.  // height of a name if there are few
	mostNames  = 150. // width of the vertical axis's labels
	barWidth   = 12.  // width of the colour bar
	line       = 16.  // height of a line of text
)

// bar says which colour means which number.
type bar struct {
	label     string
	low, high float64
	url       string
}

// ticks returns the ticks between low and high.
func (s *bar) ticks() []Tick {
	return slices.DeleteFunc(Ticks(s.low, s.high), func(t Tick) bool {
		return t.Value < s.low || t.Value > s.high
	})
}

// draw writes the colour bar with its upper left corner at (x, y), low at its lower end.
// ts are its ticks in ascending order. A tick too near the last label is left out.
func (s *bar) draw(b *strings.Builder, x, y, height float64, ts []Tick) {
	fmt.Fprintf(b, `<image class="heat" x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" href="%s"/>`,
		short(x), short(y), short(barWidth), short(height), s.url)
	lowest := math.Inf(1)
	for _, t := range ts {
		at := y + height*(1-(t.Value-s.low)/(s.high-s.low))
		if lowest-at < letter+1 {
			continue
		}
		lowest = at
		fmt.Fprintf(b, `<path class="tick" d="M%s %sh4"/>`, short(x+barWidth), short(at))
		write(b, x+barWidth+6, at+0.35*letter, start, t.Label, 70)
	}
}
