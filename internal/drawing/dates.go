package drawing

import (
	"fmt"
	"math"
	"time"
)

// DateTicks are ticks of days since 1970-01-01, in UTC, at days, months or years; of ranges that calendars don't have numbers.
func DateTicks(low, high float64) []Tick {
	if !(low > -700_000 && high < 2_900_000) { // years 54 to 9909
		return Ticks(low, high)
	}
	width := high - low
	at := func(day float64) time.Time { return time.Unix(int64(math.Floor(day*86400)), 0).UTC() }
	days := func(t time.Time) float64 { return float64(t.Unix()) / 86400 }
	var ts []Tick
	if months := int(math.Ceil(width / 30.44 / 5)); width >= 90 {
		layout := "2006-01"
		switch {
		case months > 6:
			years := math.Ceil(float64(months) / 12)
			unit := math.Pow(10, math.Floor(math.Log10(years)))
			for _, nice := range []float64{1, 2, 5, 10} {
				if nice*unit >= years {
					months = int(12 * nice * unit)
					break
				}
			}
			layout = "2006"
		case months > 3:
			months = 6
		}
		first := at(low)
		n := (first.Year()*12 + int(first.Month()) - 1) / months * months
		for {
			t := time.Date(n/12, time.Month(n%12+1), 1, 0, 0, 0, 0, time.UTC)
			if days(t) > high {
				return ts
			}
			if days(t) >= low {
				ts = append(ts, Tick{days(t), t.Format(layout)})
			}
			n += months
		}
	}
	step := 1.
	for step*5 < width {
		step++
	}
	layout := "01-02"
	if width < 3 {
		for step = 1. / 24; step*5 < width; step *= 2 {
		}
		if layout = "01-02 15:04"; width < 1 {
			layout = "15:04"
		}
		if width < 0.1 {
			return Ticks(low, high)
		}
	}
	for v := math.Ceil(low/step) * step; v <= high; v += step {
		t := at(v + 1e-6)
		label := t.Format(layout)
		if len(ts) == 0 && step >= 1 {
			label = t.Format("2006-01-02")
		}
		ts = append(ts, Tick{v, label})
	}
	return ts
}

// ClockTicks are ticks of parts of a day.
func ClockTicks(low, high float64) (ts []Tick) {
	if high-low > 2 || high-low < 1./8 || low < -1 || high > 2 {
		return Ticks(low, high)
	}
	step := 1.
	for step*5 < 24*(high-low) {
		step++
	}
	for h := math.Ceil(low*24/step) * step; h <= 24*high; h += step {
		ts = append(ts, Tick{h / 24, fmt.Sprintf("%02.0f:00", h)})
	}
	return ts
}
