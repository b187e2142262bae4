package report

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// leastSteps is the number of floating-point numbers that an axis has room for at least: with fewer, what is drawn between
// its ends would be what rounding makes of it.
const leastSteps = 1 << 12

var errRange = errors.New("its values are too far apart for an axis, or aren't numbers")

// settle gives an axis a range that can be drawn, whatever the data are: nearly constant ones one about them. There is none of what isn't
// finite, or whose ends are farther apart than a float64 tells.
func settle(a *plot.Axis) error {
	if a.Min > a.Max { // nothing was added
		return errors.New("there is nothing to draw")
	}
	var ok bool
	if a.Min, a.Max, ok = widened(a.Min, a.Max); !ok {
		return errRange
	}
	return nil
}

// widened is a range of at least leastSteps floating-point numbers, and of some width where it had none; not ok if it isn't finite.
func widened(low, high float64) (_, _ float64, ok bool) {
	if low == high {
		about := 1.
		if low != 0 {
			about = 0.5 * math.Abs(low)
		}
		if math.Abs(low) > 1 { // a constant of 1000 is drawn from 999 to 1001
			about = 1
		}
		low, high = low-about, high+about
	}
	largest := math.Max(math.Abs(low), math.Abs(high))
	ulp := math.Nextafter(largest, math.Inf(1)) - largest
	if missing := leastSteps*ulp - (high - low); missing > 0 {
		low, high = low-missing/2, high+missing/2
	}
	// Drawing takes squares of tenths of the width.
	width := high - low
	return low, high, width > 0 && width < math.MaxFloat64/16 && largest < math.MaxFloat64/16
}

// ticks are gonum's, with labels short enough for a small figure.
type ticks struct{}

// Ticks are made on a range of width 1 to 10 that has room for them: gonum's search goes by steps that ranges of
// extreme widths, or far from 0, round away, and then doesn't end.
func (ticks) Ticks(low, high float64) []plot.Tick {
	width := high - low
	if !(width > 0) || math.IsInf(width, 1) {
		return nil
	}
	if far := math.Max(math.Abs(low), math.Abs(high)); width < far*0x1p-12 || width < 1e-9 || width > 1e12 {
		return ticksFrom(low, width, far)
	}
	ts := plot.DefaultTicks{}.Ticks(low, high)
	for i, t := range ts {
		if t.Label != "" {
			ts[i].Label = fmt.Sprintf("%.4g", t.Value)
			if math.Abs(t.Value) < 1e7 && strings.Contains(ts[i].Label, "e+") { // 13520, such as days of dates, and not 1.352e+04
				ts[i].Label = fmt.Sprintf("%.0f", t.Value)
			}
		}
	}
	return distinct(ts)
}

// ticksFrom are those of a range that isn't seen in four digits: of what is above its lower end where that is what tells them apart.
func ticksFrom(low, width, far float64) []plot.Tick {
	unit := math.Pow(10, math.Floor(math.Log10(width)))
	if unit == 0 || math.IsInf(unit, 1) {
		return nil
	}
	from := low
	if width >= far*0x1p-12 { // near enough to 0 to be counted from there
		from = 0
	}
	ts := plot.DefaultTicks{}.Ticks((low-from)/unit, (low-from+width)/unit)
	for i, t := range ts {
		ts[i].Value = from + t.Value*unit
		if t.Label == "" {
			continue
		}
		if ts[i].Label = fmt.Sprintf("%.4g", t.Value*unit); from != 0 {
			ts[i].Label = "+" + ts[i].Label
			if t.Value == 0 {
				ts[i].Label = strconv.FormatFloat(low, 'g', 12, 64) + " …"
			}
		}
	}
	if from == 0 {
		return distinct(ts)
	}
	return ts
}

// distinct gives labels as many digits more as it takes to tell them apart.
func distinct(ts []plot.Tick) []plot.Tick {
	for digits := 5; digits <= 9; digits++ {
		seen, twice := map[string]bool{}, false
		for _, t := range ts {
			if t.Label != "" {
				twice = twice || seen[t.Label]
				seen[t.Label] = true
			}
		}
		if !twice {
			break
		}
		for i, t := range ts {
			if t.Label != "" {
				ts[i].Label = strconv.FormatFloat(t.Value, 'g', digits, 64)
			}
		}
	}
	return ts
}
