package spelling

import (
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

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
