package cautious

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestName shows that names stay as they are, unless they are long, break the line or may pass for a sentence.
func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"y": "y", "price (€/m²)": "price (€/m²)", "it's \"x\" <b>&": "it's \"x\" <b>&", "CO₂ at 3.5 km": "CO₂ at 3.5 km",
		"1\u202f000":                            "1\u202f000",
		"y.\nWith 100 % confidence all is well": `"y.\nWith 100 % confidence all is well"`,
		"y. All is well":                        `"y. All is well"`,
		"y\u2028z":                              `"y\u2028z"`,
		"\u202eevil":                            `"\u202eevil"`,
		"\x1b[2Jy":                              `"\x1b[2Jy"`,
		strings.Repeat("é", 61):                 strings.Repeat("é", 60) + "…",
		"y\n" + strings.Repeat("z", 100):        `"y\n` + strings.Repeat("z", 58) + `…"`,
	} {
		if got := Name(name); got != want || !utf8.ValidString(got) {
			t.Errorf("%q becomes %s, want %s", name, got, want)
		}
	}
}
