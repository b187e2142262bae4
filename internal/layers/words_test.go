package layers

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/internal/must"
)

// riddles matches constructions that often make a reader read a sentence twice.
var riddles = regexp.MustCompile(`\b(so many|of which|that of|those of|none of them|is none|are none|of such|likewise)\b`)

// plain matches constructions that "How we write" in CONTRIBUTING.md advises against, in any text of the project.
var plain = regexp.MustCompile(
	`\bof which\b|\bthat of (those|one|what|these)\b|\bso many\b|\b(is|are|has|have) none\b|\bwhat (there is|takes|has) no\b`)

// mostRiddles limits the matches of plain in the whole tree.
const mostRiddles = 30

// TestWords shows that lines of Markdown have at most 160 characters outside tables and code, that cells have at most
// 120, and that a page has at most three riddles.
func TestWords(t *testing.T) {
	var pages []string
	for _, glob := range []string{"*.md", "*/*.md", "docs/*/*.md"} {
		pages = append(pages, must.Get(filepath.Glob(filepath.Join("../..", glob)))(t)...)
	}
	must.Need(t, len(pages) >= 20, "%d pages", len(pages))
	for _, path := range pages {
		page := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		for _, w := range worded(t, path) {
			t.Errorf("%s:%s", page, w)
		}
	}
}

// TestPlain shows that sentences which a reader has to untangle are rare in code, messages and documents.
func TestPlain(t *testing.T) {
	var found []string
	must.Do(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(name, ".") && name != ".." && name != ".ci":
			return filepath.SkipDir
		case e.IsDir() || name == "CONTRIBUTING.md" || name == "words_test.go" ||
			!slices.Contains([]string{".go", ".md", ".py", ".R", ".Rd", ".js", ".html", ".sh", ".tmpl"}, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(path)
		for n, line := range strings.Split(string(text), "\n") {
			if plain.MatchString(line) {
				found = append(found, fmt.Sprintf("%s:%d: %s", path, n+1, strings.TrimSpace(line)))
			}
		}
		return err
	}))
	must.Hold(t, len(found) <= mostRiddles,
		"%d riddles, more than %d:\n%s", len(found), mostRiddles, strings.Join(found, "\n"))
}

// TestLengths shows that the papers stay short enough to be read. Long tables of results go to laboratory/results.
func TestLengths(t *testing.T) {
	for _, group := range []struct {
		pages string
		most  int // words, as wc counts them
	}{{"README.md", 900}, {"CONTRIBUTING.md", 1200}, {"CHANGELOG.md", 5000}, {"docs/*.md docs/*/*.md", 65000}} {
		words := 0
		for _, glob := range strings.Fields(group.pages) {
			for _, path := range must.Get(filepath.Glob(filepath.Join("../..", glob)))(t) {
				words += len(strings.Fields(string(must.Get(os.ReadFile(path))(t))))
			}
		}
		must.Hold(t, 0 < words && words <= group.most, "%s: %d words, at most %d", group.pages, words, group.most)
	}
}

// worded returns what TestWords finds wrong with a page.
func worded(t *testing.T, path string) (wrong []string) {
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	code, n, puzzling := false, 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		n++
		line := lines.Text()
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		switch {
		case code || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "```"):
			continue
		case strings.HasPrefix(line, "|"):
			for _, cell := range strings.Split(line, "|") {
				if length := utf8.RuneCountInString(strings.TrimSpace(cell)); length > 120 {
					wrong = append(wrong, fmt.Sprintf("%d: a cell of %d characters", n, length))
				}
			}
		case utf8.RuneCountInString(line) > 160:
			wrong = append(wrong, fmt.Sprintf("%d: %d characters", n, utf8.RuneCountInString(line)))
		}
		if path != filepath.Join("..", "..", "CONTRIBUTING.md") { // CONTRIBUTING.md shows riddles as examples
			puzzling += len(riddles.FindAllString(line, -1))
		}
	}
	if puzzling > 3 {
		wrong = append(wrong, fmt.Sprintf("%d: %d riddles such as %q", n, puzzling, riddles.String()))
	}
	return wrong
}
