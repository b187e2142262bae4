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

// TestCalled shows that Called gives krigo's names for a name of another program, however it is spelled, if krigo's
// names are among the known names.
func TestCalled(t *testing.T) {
	known := []string{"se", "matern12", "matern32", "matern52", "kl-pac", "vfe", "svgp"}
	for name, want := range map[string]string{"RBF": `"RBF" is called "se" here`, "squared_exponential": "se",
		"RBFKernel": "se", "matern2.5": "matern52", "Matern1.5": "matern32", "klpac": "",
		"ELBO": `vfe" or "svgp`, "matern": `matern12" or "matern32" or "matern52`, "sgpr": "vfe", "gpr": "", "x": "", "": ""} {
		if want != "" && !strings.Contains(want, "called") {
			want = `"` + name + `" is called "` + want + `" here`
		}
		must.Be(t, Called(name, known), want, name)
	}
}
