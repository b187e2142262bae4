//go:build browser

package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/browser"
)

// TestPage opens reports in a browser: nothing complains, nothing is wider than a phone, in
// light and dark, and the colours differ. SCREENSHOTS names a folder to keep pictures in.
func TestPage(t *testing.T) {
	p, err := browser.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct {
		name string
		o    krigo.Options
	}{
		{"report", krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.2}, Kernel: krigo.Kernel{ARD: "on"}, Method: krigo.Method{Inducing: 30, Epochs: 60}, Promise: krigo.Promise{Epsilon: 1}}},
		{"report-1d", krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 8}, Promise: krigo.Promise{Epsilon: 1}}},
	} {
		table := data.Snelson()
		if c.o.Data.Target == "MEDV" {
			table = data.Boston()
		}
		text, titles := written(t, table, table, c.o)
		path := filepath.Join(t.TempDir(), "r.html")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var papers []string
		for _, look := range []struct {
			file  string
			width int
			dark  bool
		}{{c.name, 1000, false}, {c.name + "-dark", 1000, true}, {c.name + "-phone", 360, true}} {
			if err := p.Look(look.width, look.dark); err != nil {
				t.Fatal(err)
			}
			if err := p.Go("file://" + path); err != nil {
				t.Fatal(err)
			}
			wide, err := p.Overflow()
			if err != nil || wide > 0 {
				t.Errorf("%s: %d pixels too wide, %v", look.file, wide, err)
			}
			var drawn int
			var paper string
			if err := p.Eval(`[...document.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().width > 200 && s.querySelectorAll("path").length > 10).length`, &drawn); err != nil || drawn < len(titles) {
				t.Errorf("%s: %d of %d figures are drawn, %v", look.file, drawn, len(titles), err)
			}
			if err := p.Eval(`getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector("svg text")).fill`, &paper); err != nil {
				t.Fatal(err)
			}
			papers = append(papers, paper)
			if to := os.Getenv("SCREENSHOTS"); to != "" {
				if err := p.Screenshot(filepath.Join(to, look.file+".png")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if papers[0] == papers[1] || papers[1] != papers[2] {
			t.Errorf("%s: colours %q", c.name, papers)
		}
	}
	if len(p.Errors) > 0 {
		t.Errorf("the console complains: %q", p.Errors)
	}
}
