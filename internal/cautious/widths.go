package cautious

import "math"

// How far scores and half-widths that two kinds of processor compute from the same rows may be apart: a share of the
// number, and a part of the unit that 1 of it is. Honest sparse models were up to 2e-7 apart.
const (
	widthShare = 1e-6
	widthPart  = 1e-9
)

// SameWidth says whether a computed score or half-width is as closely the stored one. 1 of it is one standard deviation
// of the target, or whatever else is counted, in the unit given.
func SameWidth(computed, stored, unit float64) bool {
	return math.Abs(computed-stored) <= widthShare*math.Abs(stored)+widthPart*unit
}

// Widen returns a half-width no less than any that SameWidth takes for the stored one, whose place the stored one may
// have taken: it adds twice as much as SameWidth lets differ. So nobody can cut off targets that lie at an end by a
// file that certify agrees with.
func Widen(stored, unit float64) float64 { return stored + 2*(widthShare*stored+widthPart*unit) }
