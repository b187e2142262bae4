//go:build browser

package browser_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/laboratory/browser"
)

// site builds the site of this repository, and returns its folder.
func site(t *testing.T) string {
	out := t.TempDir()
	if text, err := exec.Command("go", "-C", "../../tools", "run", "./site", "--out", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// TestSite opens every page of the site in a browser, in light and dark. No page complains, or is wider than the
// window of a phone or a desktop, and light and dark differ. If SCREENSHOTS names a folder, the test saves pictures
// there.
func TestSite(t *testing.T) {
	out := site(t)
	pages, err := filepath.Glob(filepath.Join(out, "*.html"))
	must.Need(t, err == nil && len(pages) > 0, "no pages: %v", err)
	p := must.Get(browser.Open())(t)
	defer p.Close()
	for _, page := range pages {
		var papers []string
		for _, look := range []struct {
			name  string
			width int
			dark  bool
		}{{"", 1200, false}, {"-dark", 1200, true}, {"-phone", 360, false}, {"-phone-dark", 360, true}} {
			name := strings.TrimSuffix(filepath.Base(page), ".html") + look.name
			must.Do(t, p.Look(look.width, look.dark))
			must.Do(t, p.Go("file://"+page))
			if wide, err := p.Overflow(); err != nil || wide > 0 {
				t.Errorf("%s: %d pixels too wide, %v", name, wide, err)
			}
			var paper string
			must.Do(t, p.Eval(`document.querySelectorAll("img").forEach(i => i.loading = "eager"), `+
				`getComputedStyle(document.body).backgroundColor`, &paper))
			papers = append(papers, paper)
			if err := p.Until(`[...document.images].every(i => i.complete && i.naturalWidth > 0)`); err != nil {
				t.Errorf("%s: a picture isn't shown: %v", name, err)
			}
			if to := os.Getenv("SCREENSHOTS"); to != "" {
				must.Do(t, p.Screenshot(filepath.Join(to, name+".png")))
			}
		}
		if papers[0] == papers[1] || papers[0] != papers[2] || papers[1] != papers[3] {
			t.Errorf("%s: colours %q", filepath.Base(page), papers)
		}
	}
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)
}

// TestSiteSearch uses the search of the site by keyboard, from a folder. Its first result leads to the page that
// answers.
func TestSiteSearch(t *testing.T) {
	out := site(t)
	p := must.Get(browser.Open())(t)
	defer p.Close()
	look := func(width int, dark bool, query string) {
		must.Do(t, p.Look(width, dark))
		must.Do(t, p.Go("file://"+filepath.Join(out, "tutorial.html")))
		must.Do(t, p.Press("/"))
		must.Do(t, p.Until(`document.activeElement.type === "search" && typeof sections !== "undefined"`))
		must.Do(t, p.Type(query))
	}
	for query, want := range map[string]string{"LightGBM": "other-model.html", "patients": "groups.html",
		"resume": "resume.html", "--inducing": "settings.html#--inducing-m"} {
		look(1200, false, query)
		must.Do(t, p.Press("ArrowDown"))
		must.Do(t, p.Press("Enter"))
		if err := p.Until(`document.readyState === "complete" && location.href.endsWith("/` + want + `")`); err != nil {
			var at string
			must.Do(t, p.Eval(`location.href`, &at)) // a change of pages may end a question to the page
			must.Hold(t, strings.HasSuffix(at, "/"+want), "%s leads to %s, not %s", query, at, want)
		}
	}
	for _, width := range []int{1200, 360} {
		for _, dark := range []bool{false, true} {
			look(width, dark, "conformal intervals")
			must.Do(t, p.Until(`document.querySelectorAll("#found a").length > 3`))
			if to := os.Getenv("SCREENSHOTS"); to != "" {
				must.Do(t, p.Screenshot(filepath.Join(to, fmt.Sprintf("search-%d-%v.png", width, dark))))
			}
			if wide, err := p.Overflow(); err != nil || wide > 0 {
				t.Errorf("results are %d pixels too wide at %d, %v", wide, width, err)
			}
		}
	}
	must.Do(t, p.Press("Escape"))
	must.Do(t, p.Until(`document.getElementById("found").hidden`))
	look(1200, false, "xyzzy")
	must.Do(t, p.Until(`document.querySelector(".count").textContent === "nothing found"`))
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)
}
