package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestPages: every page shows what the results' files say, and every table has a page.
func TestPages(t *testing.T) {
	must.Do(t, run([]string{"--check", "--root", "../.."}, nil, io.Discard))
}

// TestLinks: links of the pages of this folder lead to files, and to headings of pages in it. The site checks other pages.
func TestLinks(t *testing.T) {
	pages := must.Get(filepath.Glob("*.md"))(t)
	must.Need(t, len(pages) >= 3, "%d pages", len(pages))
	links := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	for _, path := range pages {
		for _, m := range links.FindAllStringSubmatch(string(must.Get(os.ReadFile(path))(t)), -1) {
			to := m[1]
			if to == "" {
				to = path
			}
			text, err := os.ReadFile(to)
			must.Hold(t, err == nil, "%s: %v", path, err)
			if filepath.Base(to) == to && m[2] != "" && !slices.Contains(anchors(string(text)), m[2]) {
				t.Errorf("%s: %s has no heading #%s", path, to, m[2])
			}
		}
	}
}

// anchors returns the anchors of a page's headings.
func anchors(text string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		kept := regexp.MustCompile(`[^\p{L}\p{N} -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(kept, " ", "-"))
	}
	return all
}

// tree makes a repository with a page, a table and a measure, commits it, and returns its folder and a function that
// runs the command there.
func tree(t *testing.T, page string) (root string, command func(stdin string, args ...string) (string, error)) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git isn't installed")
	}
	root = t.TempDir()
	for name, text := range map[string]string{
		"docs/behind/page.md": page,
		folder + "/measures.json": `{"default": {"version": 2, "commit": "unknown", "date": "2026-01-02", "what": "x"},
			"speed": {"version": 1, "commit": "unknown", "date": "2026-01-02", "what": "y"}}`,
		folder + "/board.json": `{"commit": "c", "date": "2026-01-03", "command": "c", "machine": "m", "defaults": 1,
			"measures": ["default"], "rows": {"another": "shape"}}`,
		folder + "/sizes.json": `{"title": "Sizes", "measures": ["default"], "align": "lr",
			"commit": "0123456789",
			"date": "2026-01-01",
			"command": "run a|b",
			"machine": "unknown",
			"defaults": 2,
			"columns": ["ln|x|", "n"],
			"rows": [["a", 1.50], ["", "2"]]}`,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@b.c commit -qm x"} {
		must.Do(t, exec.Command("git", append([]string{"-C", root}, strings.Fields(args)...)...).Run())
	}
	return root, func(stdin string, args ...string) (string, error) {
		var out strings.Builder
		err := run(append(args, "--root", root), strings.NewReader(stdin), &out)
		return out.String(), err
	}
}

// TestTables: a page gets its table, --check finds a number that was changed by hand, --take replaces the table, and
// --stale lists what is older than the defaults.
func TestTables(t *testing.T) {
	const page = "Text.\n\n<!-- results: sizes -->\nold\n<!-- end -->\n\n" +
		"<!-- results: sizes, linked -->\n<!-- end -->\n"
	root, command := tree(t, page)
	_, err := command("", "--check")
	must.Need(t, err != nil && strings.Contains(err.Error(), "page.md:4"), "%v", err)
	must.Get(command(""))(t)
	must.Get(command("", "--check"))(t)
	path := filepath.Join(root, "docs", "behind", "page.md")
	const want = "Text.\n\n<!-- results: sizes -->\n| ln\\|x\\| | n |\n|---|--:|\n| a | 1.50 |\n| | 2 |\n\n" +
		"*01234567, 2026-01-01: `run a|b`.*\n<!-- end -->\n\n<!-- results: sizes, linked -->\n" +
		"*[Sizes](../../laboratory/results/sizes.json), 2 rows: 01234567, 2026-01-01: `run a|b`.*\n<!-- end -->\n"
	got := string(must.Get(os.ReadFile(path))(t))
	must.Need(t, got == want, "%s", got)
	must.Do(t, os.WriteFile(path, []byte(strings.Replace(want, "1.50", "1.49", 1)), 0o644))
	_, err = command("", "--check")
	must.Need(t, err != nil && strings.Contains(err.Error(), "page.md:6"), "%v", err)

	old := must.Get(command("", "--stale"))(t)
	must.Hold(t, !strings.Contains(old, "sizes") &&
		strings.HasPrefix(old, "board (c, 2026-01-03): default"), "%s", old)

	must.Get(command("Words.\n\n| ln\\|x\\| | n |\n|---|---|\n| b | 3 |\n| | 4 |\n", "--take", "sizes"))(t)
	must.Get(command(""))(t)
	got = string(must.Get(os.ReadFile(path))(t))
	must.Hold(t, strings.Contains(got, "| ln\\|x\\| | n |\n|---|--:|\n| b | 3 |\n| | 4 |\n"),
		"%s", got)
}

// TestTight: a tight table has no blanks beside its lines, and an empty cell none at all.
func TestTight(t *testing.T) {
	r := result{Align: "lr", Tight: true, Columns: []string{"a set", "n"}, Rows: [][]any{{"x", 1}, {"", 2}}}
	got := strings.Join(r.table(), "\n")
	must.Hold(t, got == "|a set|n|\n|---|--:|\n|x|1|\n||2|", "%s", got)
}

// TestFaults: markers that lead nowhere, and a table without a page, are errors.
func TestFaults(t *testing.T) {
	for page, want := range map[string]string{
		"":                                      "no page shows it",
		"<!-- results: sizes -->\n":             "has no <!-- end -->",
		"<!-- end -->\n":                        "out of place",
		"<!-- results: other -->\n<!-- end -->": "there is no table",
		"<!-- results: board -->\n<!-- end -->": "there is no table",
		"<!-- results: sizes -->\n<!-- results: sizes -->\n<!-- end -->": "out of place",
	} {
		_, command := tree(t, page)
		_, err := command("", "--check")
		must.Hold(t, err != nil && strings.Contains(err.Error(), want), "%q: %v", page, err)
	}
}
