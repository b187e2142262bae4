package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSite builds the site of this repository. No page loads anything from another address, every link within the
// site leads to a file, each page lists all pages on the shelves of the manual, and the only script is the search, in a
// file.
func TestSite(t *testing.T) {
	out := t.TempDir()
	if err := build("../..", out); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(out, "*.html"))
	if err != nil || len(pages) < 18 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, p := range pages {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		for _, m := range regexp.MustCompile(`(?:src|url)(?:="|\()([^")]+)|<link[^>]* `+
			`href="([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if from := m[1] + m[2]; strings.Contains(from, "//") {
				t.Errorf("%s fetches %s", filepath.Base(p), from)
			}
		}
		for _, m := range regexp.MustCompile(`(?:src|href)="([^"#:]+)[^":]*"`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(out, m[1])); err != nil {
				t.Errorf("%s: %v", filepath.Base(p), err)
			}
		}
		if strings.Count(text, "<script") != 1 || !strings.Contains(text, `<script defer src="search.js"></script>`) ||
			regexp.MustCompile(` on[a-z]+="`).MatchString(text) || strings.Contains(text, "raw HTML omitted") {
			t.Errorf("%s has another script than the search, or HTML that was left out", filepath.Base(p))
		}
		var names []string
		_, list, _ := strings.Cut(text, "<nav")
		for _, m := range regexp.MustCompile(`<h2>(.*)</h2>`).FindAllStringSubmatch(list, -1) {
			names = append(names, m[1])
		}
		if got := strings.Join(names, " "); got != "Learn How-to Reference Theory Behind" {
			t.Errorf("%s: the shelves are %s", filepath.Base(p), got)
		}
		for _, q := range pages {
			if !strings.Contains(text, `<a href="`+filepath.Base(q)+`"`) {
				t.Errorf("%s doesn't list %s", filepath.Base(p), filepath.Base(q))
			}
		}
	}
}

// TestRefused shows that a document that would make a broken page is an error, which names the document.
func TestRefused(t *testing.T) {
	shelves := "# Manual\n\n## Learn\n\n- [A](learn/a.md)\n"
	for text, want := range map[string]string{
		"# A\n\n[b](b.md)\n":           "README.md: the link to b.md leads nowhere",
		"# A\n\n[b](#c)\n\n## B\n":     "README.md: the link to index.html#c leads nowhere",
		"# A\n\n<b>bold</b>\n":         "README.md: the text contains HTML",
		"no title\n":                   "README.md has no title",
		"# A\n\n![p](docs/images/p)\n": "docs/images/p",
	} {
		root := t.TempDir()
		for name, text := range map[string]string{"README.md": "# Title\n", "docs/README.md": shelves,
			"docs/learn/a.md": "# Title\n"} {
			at := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := build(root, filepath.Join(root, "out")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := build(root, filepath.Join(root, "out")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
		if err := os.WriteFile(filepath.Join(root, "docs/learn/b.md"), []byte("# B\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := build(root, filepath.Join(root, "out")); err == nil || !strings.Contains(err.Error(), "isn't on a shelf") {
			t.Errorf("a page on no shelf: %v", err)
		}
	}
}

// TestAnchors shows that anchors are the same as GitHub's.
func TestAnchors(t *testing.T) {
	n := &names{map[string]bool{}}
	for _, c := range []struct{ heading, want string }{
		{"It says that it didn't converge", "it-says-that-it-didnt-converge"},
		{"What `certify` checks", "what-certify-checks"},
		{"The Rényi GP", "the-rényi-gp"},
		{"Data", "data"},
		{"Data", "data-1"},
	} {
		if got := string(n.Generate([]byte(c.heading), 0)); got != c.want {
			t.Errorf("%s: %s, not %s", c.heading, got, c.want)
		}
	}
}
