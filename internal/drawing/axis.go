package drawing

import (
	"errors"
	"math"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
)

// leastSteps is the smallest number of floating-point numbers between an axis's ends.
// With fewer numbers, rounding would decide what is drawn between them.
const leastSteps = 1 << 12

// ErrRange says that no axis has room for the numbers.
var ErrRange = errors.New("its values are too far apart for an axis, or aren't numbers")

// settled returns a range that can be drawn, for any finite data.
// A nearly constant range is widened. It returns an error if a value isn't finite, or if the width
// overflows.
func settled(low, high float64) (_, _ float64, err error) {
	if low > high { // the axis has got no value
		return 0, 0, errors.New("there is nothing to draw")
	}
	var ok bool
	if low, high, ok = Widened(low, high); !ok {
		return 0, 0, ErrRange
	}
	return low, high, nil
}

// Widened returns a range with at least leastSteps floating-point numbers and some width.
// ok is false if the range isn't finite.
func Widened(low, high float64) (_, _ float64, ok bool) {
	if low == high {
		about := 1.
		if low != 0 {
			about = 0.5 * math.Abs(low)
		}
		if math.Abs(low) > 1 { // for example, 1000 is drawn from 999 to 1001
			about = 1
		}
		low = low - about
		high = high + about
	}
	largest := math.Max(math.Abs(low), math.Abs(high))
	ulp := math.Nextafter(largest, math.Inf(1)) - largest
	if missing := leastSteps*ulp - (high - low); missing > 0 {
		low = low - missing/2
		high = high + missing/2
	}
	// Charts compute squares of tenths of the width.
	width := high - low
	return low, high, width > 0 && width < math.MaxFloat64/16 && largest < math.MaxFloat64/16
}

// Tick is a place on an axis. Its label may be empty.
type Tick struct {
	Value float64
	Label string
}

// Ticks returns three to ten places between two numbers, with labels that differ.
// It computes them on a range of width 1 to 10.
// In a range of extreme width, or far from 0, steps would be rounded away.
func Ticks(low, high float64) []Tick {
	width := high - low
	if !(width > 0) || math.IsInf(width, 1) {
		return nil
	}
	far := math.Max(math.Abs(low), math.Abs(high))
	if width < far*0x1p-12 || width < 1e-9 || width > 1e12 {
		return ticksFrom(low, width, far)
	}
	return distinct(even(low, high))
}

// PercentTicks returns ticks of shares, in per cent.
func PercentTicks(low, high float64) []Tick {
	return lists.Of(Ticks(100*low, 100*high), func(t Tick) Tick {
		return Tick{t.Value / 100, t.Label + " %"}
	})
}

// even returns ticks at multiples of 1, 2 or 5 times a power of ten.
func even(low, high float64) (ts []Tick) {
	unit := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	step := unit
	for _, nice := range []float64{2, 5, 10} {
		if step*5 < high-low {
			step = nice * unit
		}
	}
	for k := math.Ceil(low / step); k*step <= high; k++ {
		v := k * step
		if unit < 1 { // gives 0.3, and not 0.30000000000000004
			v = k * math.Round(step/unit) / math.Round(1/unit)
		}
		ts = append(ts, Tick{v, cautious.Number(v + 0)})
	}
	return ts
}

// ticksFrom returns the ticks of a range that four digits don't show.
// If necessary, its labels count from the lower end. far is the larger distance of the ends from 0.
func ticksFrom(low, width, far float64) []Tick {
	unit := math.Pow(10, math.Floor(math.Log10(width)))
	if unit == 0 || math.IsInf(unit, 1) {
		return nil
	}
	from := low
	if width >= far*0x1p-12 { // near enough to 0 to count from there
		from = 0
	}
	ts := even((low-from)/unit, (low-from+width)/unit)
	for i, t := range ts {
		ts[i].Value = from + t.Value*unit
		if ts[i].Label = cautious.Number(t.Value * unit); from != 0 {
			ts[i].Label = "+" + ts[i].Label
			if t.Value == 0 {
				ts[i].Label = cautious.Digits(low, 12) + " …"
			}
		}
	}
	if from == 0 {
		return distinct(ts)
	}
	return ts
}

// distinct gives labels as many digits as they need to differ.
func distinct(ts []Tick) []Tick {
	for digits := 5; digits <= 9; digits++ {
		seen := map[string]bool{}
		twice := false
		for _, t := range ts {
			twice = twice || seen[t.Label]
			seen[t.Label] = true
		}
		if !twice {
			break
		}
		for i, t := range ts {
			ts[i].Label = cautious.Digits(t.Value, digits)
		}
	}
	return ts
}
