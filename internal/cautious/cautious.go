// Package cautious writes rounded numbers. It rounds to the side on which a promise still holds.
package cautious

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// RoundUp rounds a bound on a risk up to this number of decimals. The result is at most 1.
func RoundUp(b float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return min((math.Floor(b*unit)+1)/unit, 1)
}

// RoundDown rounds a lower limit down to this number of decimals.
func RoundDown(b float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Floor(b*unit) / unit
}

// Complement writes 1−p in per cent, rounded down. It writes two decimals, or more if 99.9999 % would become 99.99 %.
func Complement(p float64) string {
	share := 100 - 100*p
	for decimals := 2; ; decimals++ {
		unit := math.Pow10(decimals)
		down := math.Floor(share*unit*(1+1e-15)+min(1e-9, 100*p)) / unit
		if decimals > 13 { // p is about the size of rounding errors
			return fmt.Sprintf("100·(1 − %g) %%", p)
		}
		if down < 100 && 100-down <= 1.1*100*p {
			return strconv.FormatFloat(down, 'f', -1, 64) + " %"
		}
	}
}

// Width writes the half-width of a band to four digits, rounded up, since no narrower band was guaranteed. It doesn't
// round up what rounding in float64 may have added to w.
func Width(w float64) string {
	if w == 0 {
		return "0"
	}
	unit := math.Pow(10, 3-math.Floor(math.Log10(w)))
	if !(unit > 0 && unit <= math.MaxFloat64) { // w is near the ends of float64's range
		return strconv.FormatFloat(math.Nextafter(w, math.Inf(1)), 'g', -1, 64)
	}
	return Number(math.Ceil(w*unit*(1-1e-12)) / unit)
}

// Least writes a number to four digits, rounded down, for example the size up to which errors are counted.
func Least(w float64) string {
	if w == 0 {
		return "0"
	}
	unit := math.Pow(10, 3-math.Floor(math.Log10(w)))
	if !(unit > 0 && unit <= math.MaxFloat64) {
		return strconv.FormatFloat(w, 'g', -1, 64)
	}
	return Number(math.Floor(w*unit) / unit)
}

// Number writes a number to four digits as people do: 20,000 and not 2e+04. Huge and tiny numbers have an exponent.
func Number(v float64) string { return Digits(v, 4) }

// Digits does what Number does, with this number of digits.
func Digits(v float64, digits int) string {
	short := strconv.FormatFloat(v, 'g', digits, 64)
	rounded, err := strconv.ParseFloat(short, 64)
	if size := math.Abs(rounded); err != nil || !(size >= 1e4 && size < 1e15) || strings.Contains(short, "e-") {
		return short
	}
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	sign := text[:len(text)-len(strings.TrimPrefix(text, "-"))]
	text, fraction, broken := strings.Cut(text[len(sign):], ".")
	if broken {
		fraction = "." + fraction
	}
	for k := len(text) - 3; k > 0; k -= 3 {
		text = text[:k] + "," + text[k:]
	}
	return sign + text + fraction
}
