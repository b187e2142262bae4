package spelling

import (
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestFlag shows that values of a list that CSV reads in another way are quoted for CSV, and then for a shell.
func TestFlag(t *testing.T) {
	for value, want := range map[string]string{"plain": "--ignore plain", "a, b": `--ignore '"a, b"'`,
		"a\nb": `--ignore $'"a\nb"'`, `a"b`: `--ignore '"a""b"'`} {
		must.Be(t, Flag("ignore", value), want, value)
	}
}

// TestShell: names reach a terminal and a shell without characters that either would act on.
func TestShell(t *testing.T) {
	for word, want := range map[string]string{"plain": "plain", "it's": `'it'\''s'`, "a\x1b[31m": `$'a\x1b[31m'`,
		"it's \"a\"\n": `$'it\'s "a"\n'`, "°C m²": "'°C m²'"} {
		must.Be(t, Shell(word), want, word)
	}
	for name, want := range map[string]string{"Temp °C": "Temp °C", "a\x1b[31m": `"a\x1b[31m"`, "a\nb": `"a\nb"`} {
		must.Be(t, Printable(name), want, name)
	}
}

// TestIf: a text stands where its condition is true.
func TestIf(t *testing.T) {
	must.Be(t, If(true, "%d rows", 2)+If(false, " of %d", 3), "2 rows")
	must.Be(t, Either(true, "groups", "rows")+Either(false, "groups", "rows"), "groupsrows")
}
