package spelling

import (
	"strings"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"target", "kl-pac", "se", "matern32", "matern52", "σ"}
	for name, want := range map[string]string{
		"traget": "target", "TARGET": "target", "klpac": "kl-pac", "sse": "se", "matern42": "matern32",
		"σ²": "σ", "cosine": "", "x": "", "": "", strings.Repeat("target", 20): "",
	} {
		if want != "" {
			want = `; did you mean "` + want + `"?`
		}
		if got := DidYouMean(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
