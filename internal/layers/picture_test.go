package layers

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestPicture shows that docs/behind/architecture.md draws each package of the product once, and that a package
// imports only packages drawn after it. It also shows that files named in the text exist.
func TestPicture(t *testing.T) {
	raw := must.Get(os.ReadFile("../../docs/behind/architecture.md"))(t)
	text := string(raw)
	_, picture, _ := strings.Cut(text, "┌")
	picture, _, found := strings.Cut(picture, "┘")
	must.Need(t, found, "docs/behind/architecture.md has no picture")
	drawn := regexp.MustCompile(`[a-z]+(/[a-z]+)*`).FindAllString(
		regexp.MustCompile(`(?m)^ *├.*|^.*┐$|\(.*?\)`).ReplaceAllString(picture, ""), -1)
	out := must.Get(exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...").Output())(t)
	place := func(path string) (name string, at int) {
		name = strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if name == "" {
			name = "krigo"
		}
		return name, slices.Index(drawn, name)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		name, at := place(paths[0])
		if slices.Contains([]string{"docs/data", "docs/record", "internal/layers", "internal/must", "verify"}, name) {
			continue // these packages aren't part of the product
		}
		if packages++; at < 0 {
			t.Errorf("the picture lacks %s", name)
			continue
		}
		for _, path := range paths[1:] {
			if of, below := place(path); strings.HasPrefix(path, module) && below <= at {
				t.Errorf("%s imports %s, which the picture draws before it", name, of)
			}
		}
	}
	must.Hold(t, packages == len(drawn),
		"the picture draws %d packages, of %d: %s", len(drawn), packages, drawn)
	for _, match := range regexp.MustCompile("`([a-z/]+\\.go)`").FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat("../../" + match[1]); err != nil {
			t.Error(err)
		}
	}
}
