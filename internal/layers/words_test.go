package layers

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/internal/must"
)

// unread lists the pages that aren't written in plain words yet. TestWords doesn't check them by "How we write" in
// CONTRIBUTING.md. A page that passes must leave the list.
var unread = []string{}

// riddles matches constructions that often make a reader read a sentence twice.
var riddles = regexp.MustCompile(`\b(so many|of which|that of|those of|none of them|is none|are none|of such|likewise)\b`)

// TestWords shows that lines of Markdown have at most 160 characters outside tables and code, that cells have at most
// 120, and that a page has at most three riddles.
func TestWords(t *testing.T) {
	var pages []string
	for _, glob := range []string{"*.md", "*/*.md", "docs/*/*.md"} {
		pages = append(pages, must.Get(filepath.Glob(filepath.Join("../..", glob)))(t)...)
	}
	must.End(t, len(pages) < 20, "%d pages", len(pages))
	for _, path := range pages {
		page := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		wrong := worded(t, path)
		switch pending := slices.Contains(unread, page); {
		case pending && wrong == nil:
			t.Errorf("%s is in plain words: take it off the list of unread pages", page)
		case !pending:
			for _, w := range wrong {
				t.Errorf("%s:%s", page, w)
			}
		}
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
