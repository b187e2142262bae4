package cautious

import "math"

// Two kinds of processor may compute different scores and half-widths from the same rows. Honest sparse models differed
// by up to 2e-7. widthShare is the allowed difference as a share of the number, and widthPart is the allowed difference
// as a part of the unit.
const (
	widthShare = 1e-6
	widthPart  = 1e-9
)

// SameWidth says whether a computed score or half-width agrees with the stored number. unit is one standard deviation
// of the target, or of what else is counted, in the units of these numbers.
func SameWidth(computed, stored, unit float64) bool {
	return math.Abs(computed-stored) <= widthShare*math.Abs(stored)+widthPart*unit
}

// Widen returns a half-width that is at least as large as any that SameWidth accepts for the stored half-width. It adds
// twice the difference that SameWidth allows, since the stored half-width may itself have replaced another half-width.
// So nobody can cut off targets at an end of an interval by a file that certify accepts.
func Widen(stored, unit float64) float64 { return stored + 2*(widthShare*stored+widthPart*unit) }
