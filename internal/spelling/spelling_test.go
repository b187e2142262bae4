package spelling

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
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
		must.Be(t, DidYouMean(name, known), want, name)
	}
}
