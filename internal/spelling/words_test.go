package spelling

import "testing"

// TestShell: names reach a terminal and a shell without characters that either would act on.
func TestShell(t *testing.T) {
	for word, want := range map[string]string{"plain": "plain", "it's": `'it'\''s'`, "a\x1b[31m": `$'a\x1b[31m'`,
		"it's \"a\"\n": `$'it\'s "a"\n'`, "°C m²": "'°C m²'"} {
		if got := Shell(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
	for name, want := range map[string]string{"Temp °C": "Temp °C", "a\x1b[31m": `"a\x1b[31m"`, "a\nb": `"a\nb"`} {
		if got := Printable(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
