package drawing

import (
	"fmt"
	"math"
	"time"
)

// DateTicks returns ticks for days since 1970-01-01 in UTC, at days, months or years.
// A range beyond the calendar gets ticks of numbers.
func DateTicks(low, high float64) []Tick {
	if !(low > -700_000 && high < 2_900_000) { // years 54 to 9909
		return Ticks(low, high)
	}
	width := high - low
	at := func(day float64) time.Time { return time.Unix(int64(math.Floor(day*86400)), 0).UTC() }
	days := func(t time.Time) float64 { return float64(t.Unix()) / 86400 }
	var ts []Tick
	// For 90 days or more, ticks are 1, 2, 3 or 6 months apart, or 1, 2, 5, … years.
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
		// n counts months from the year 0, in whole steps. The first place may lie before low.
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
	// A range of less than a day gets times. The first label also has the date.
	if width < 1 {
		if ts = clockTicks(low, high, func(day float64) string {
			return at(day).Format("15:04:05")
		}); len(ts) == 0 {
			return Ticks(low, high)
		}
		ts[0].Label = at(ts[0].Value+instant).Format("2006-01-02 ") + ts[0].Label
		return ts
	}
	// Ticks are whole days apart, or hours if the range has fewer than three days.
	step := 1.
	for step*5 < width {
		step++
	}
	layout := "01-02"
	if width < 3 {
		for step = 1. / 24; step*5 < width; step *= 2 {
		}
		layout = "01-02 15:04"
	}
	for v := math.Ceil(low/step) * step; v <= high; v += step {
		t := at(v + instant)
		label := t.Format(layout)
		if len(ts) == 0 && step >= 1 {
			label = t.Format("2006-01-02")
		}
		ts = append(ts, Tick{v, label})
	}
	return ts
}

// instant is a small part of a day. Adding it keeps rounding from moving a time before its true
// place.
const instant = 1e-6

// clockTicks returns two to seven ticks of hours, minutes or seconds within less than a day.
// write writes them, with seconds at the end.
// It returns nothing for a range of less than a few seconds.
func clockTicks(low, high float64, write func(day float64) string) (ts []Tick) {
	const second = 1. / 86400
	for _, n := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
		10800, 14400, 21600} {
		if step := n * second; high-low > 2.3*step && high-low <= 6*step {
			for k := math.Ceil(low / step); k*step <= high; k++ {
				label := write(k*step + instant + 0)
				if n >= 60 {
					label = label[:len(label)-len(":00")]
				}
				ts = append(ts, Tick{k * step, label})
			}
			return ts
		}
	}
	return nil
}

// ClockTicks returns ticks of parts of a day.
// There are no ticks before its beginning and after its end.
func ClockTicks(low, high float64) []Tick {
	from := max(low, 0)
	to := min(high, 1)
	if !(to-from > 0.8*(high-low)) {
		return Ticks(low, high)
	}
	ts := clockTicks(from, to, func(day float64) string {
		seconds := math.Floor(day * 86400)
		return fmt.Sprintf("%02.0f:%02.0f:%02.0f", math.Floor(seconds/3600),
			math.Floor(math.Mod(seconds, 3600)/60), math.Mod(seconds, 60))
	})
	if len(ts) < 2 {
		return Ticks(low, high)
	}
	return ts
}
