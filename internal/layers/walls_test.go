package layers

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestWalls shows that neither the library nor the program links the laboratory or Gonum's plots, and that they link
// few packages of other modules.
func TestWalls(t *testing.T) {
	for program, most := range map[string]int{"": 36, "/cmd/krigo": 155} {
		out := must.Get(exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+
			program).Output())(t)
		foreign := 0
		for _, path := range strings.Fields(string(out)) {
			switch ours := path == module || strings.HasPrefix(path, module+"/"); {
			case strings.HasPrefix(path, module+"/laboratory"), strings.HasPrefix(path, "gonum.org/v1/plot"):
				t.Errorf("%s links %s", module+program, path)
			case !ours:
				foreign++
			}
		}
		must.Hold(t, foreign <= most,
			"%s links %d packages of others, at most %d are allowed", module+program, foreign, most)
	}
}
