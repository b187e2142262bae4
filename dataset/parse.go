package dataset

import (
	"regexp"
	"strconv"
	"strings"
)

// parse reads a decimal number. Digits with underscores and hexadecimal numbers are syntax of
// programs: in a table they are identifiers or mistakes.
func parse(cell string) (float64, error) {
	if programmed(cell) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(cell, 64)
}

// programmed says whether a cell has the characters by which Go's numbers differ from decimal ones.
func programmed(cell string) bool {
	for i := range len(cell) {
		if c := cell[i]; c == '_' || c|0x20 == 'x' {
			return true
		}
	}
	return false
}

// grouped is a number with commas every three digits. With one of them it may as well be a decimal
// comma.
var grouped = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.eE].*)?$`)

// numeral writes a number in the fewest digits that read back as the same; −0 is 0.
func numeral(v float64) string { return strconv.FormatFloat(v+0, 'g', -1, 64) }

// isMissing knows how a missing value is written.
func isMissing(cell string) bool {
	switch strings.ToLower(cell) {
	case "", "na", "n/a", "#n/a", "nan", "null", "?":
		return true
	}
	return false
}

func allFinite(vs []float64) bool {
	for _, v := range vs {
		if v-v != 0 {
			return false
		}
	}
	return true
}
