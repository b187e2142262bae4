// Package cautious writes rounded numbers. It rounds to the side on which a promise still holds.
package cautious

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/internal/spelling"
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

// Complement writes 1−p in per cent, rounded down.
// It writes one decimal, or more if 99.999 % would become 99.9 %.
func Complement(p float64) string {
	share := 100 - 100*p
	for decimals := 1; ; decimals++ {
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

// Percent writes a share with one decimal, to the nearest.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// PercentUp writes a bound on a share with one decimal, rounded up.
func PercentUp(bound float64) string { return Percent(RoundUp(bound, 3)) }

// Width writes the half-width of a band to three digits, rounded up, since no narrower band was
// guaranteed. It doesn't round up what rounding in float64 may have added to w.
func Width(w float64) string { return Up(w, 3) }

// Up does what Width does, with this number of digits.
func Up(w float64, digits int) string { return toward(1, w*(1-1e-12), w, digits) }

// Least writes a number to three digits, rounded down, for example the size up to which errors are
// counted.
func Least(w float64) string { return toward(-1, w, w, 3) }

// mostTyped is the largest number of digits that people type.
// A number with no more digits isn't rounded, since somebody may have asked for it.
const mostTyped = 6

// toward writes w with this number of digits.
// It rounds near, which is w but for rounding errors, up if side is 1 and down if side is -1.
func toward(side, near, w float64, digits int) string {
	typed := strconv.FormatFloat(w, 'g', mostTyped, 64)
	if same, err := strconv.ParseFloat(typed, 64); err == nil && same == w {
		return Digits(w, mostTyped)
	}
	unit := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(w)))
	if !(unit > 0 && unit <= math.MaxFloat64) { // w is near the ends of float64's range
		return strconv.FormatFloat(math.Nextafter(w, math.Inf(int(side))), 'g', -1, 64)
	}
	return Digits(side*math.Ceil(side*near*unit)/unit, digits)
}

// Number writes a number to four digits as people do: 20,000 and not 2e+04.
// Huge and tiny numbers have an exponent.
func Number(v float64) string { return Digits(v, 4) }

// Digits does what Number does, with this number of digits.
func Digits(v float64, digits int) string {
	short := strconv.FormatFloat(v, 'g', digits, 64)
	rounded, err := strconv.ParseFloat(short, 64)
	size := math.Abs(rounded)
	if err != nil || !(size >= 1 && size < 1e15) {
		return short
	}
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	if size < 1e4 {
		return text
	}
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

// Two kinds of processor may compute different scores and half-widths from the same rows.
// Honest sparse models differed by up to 2e-7.
// widthShare is the allowed difference as a share of the number, and widthPart is the allowed
// difference as a part of the unit.
const (
	widthShare = 1e-6
	widthPart  = 1e-9
)

// SameWidth says whether a computed score or half-width agrees with the stored number.
// unit is one standard deviation of the target, or of what else is counted, in the units of these
// numbers.
func SameWidth(computed, stored, unit float64) bool {
	return math.Abs(computed-stored) <= widthShare*math.Abs(stored)+widthPart*unit
}

// Widen returns a half-width that is at least as large as any that SameWidth accepts for the stored
// half-width. It adds twice the difference that SameWidth allows, since the stored half-width may
// itself have replaced another half-width.
// So nobody can cut off targets at an end of an interval by a file that certify accepts.
func Widen(stored, unit float64) float64 { return stored + 2*(widthShare*stored+widthPart*unit) }

// mostName is the largest number of characters of a name in a sentence.
const mostName = 60

// Name returns a column's name, or a category, as it stands in a sentence. It cuts a long name.
// It quotes a name that isn't plain text on one line, or that may pass for a sentence.
// Names mustn't speak in a certificate's voice.
func Name(name string) string {
	name = spelling.Cut(name, mostName)
	// Some characters that can't be printed change the direction of the line's text, or end the
	// line.
	if strings.ContainsFunc(name, func(c rune) bool {
		return !unicode.IsPrint(c) && c != '\u00a0' && c != '\u202f'
	}) ||
		strings.Contains(name, ". ") || strings.Contains(name, ": ") {
		return strconv.Quote(name)
	}
	return name
}
