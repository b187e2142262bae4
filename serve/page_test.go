//go:build browser

package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/browser"
	"github.com/krigo-gp/krigo/internal/cautious"
)

// TestPage uses the page as a person would, in a browser: a token, two models, numbers typed
// in, a category chosen, a value left out, a CSV file, mistakes. SCREENSHOTS names a folder to keep pictures in.
func TestPage(t *testing.T) {
	folder := t.TempDir()
	m, other := fitted(t, 0), fitted(t, 1)
	saved(t, m, filepath.Join(folder, "a.krigo"))
	saved(t, other, filepath.Join(folder, "b.krigo"))
	_, third := categorical(t)
	saved(t, third, filepath.Join(folder, "c.krigo"))
	address, _ := started(t, folder, Options{Token: "secret", Ledger: filepath.Join(folder, "l.ledger")})
	p, err := browser.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text := func(id string) string {
		t.Helper()
		var s string
		ok(p.Eval(fmt.Sprintf("document.getElementById(%q).textContent", id), &s))
		return s
	}
	shot := func(name string) {
		if to := os.Getenv("SCREENSHOTS"); to != "" {
			ok(p.Screenshot(filepath.Join(to, name)))
		}
	}
	enter := func(selector, value string) {
		raw, _ := json.Marshal(value)
		ok(p.Eval(fmt.Sprintf(`{const f = document.querySelector(%q); f.value = %s; f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true}))}`, selector, raw), nil))
	}
	ok(p.Look(800, false))
	ok(p.Go("http://" + address + "/"))
	ok(p.Until(`!document.getElementById("key").hidden`))
	enter("#token", "secret")
	ok(p.Eval(`document.querySelector("#key").requestSubmit()`, nil))
	ok(p.Until(`!document.getElementById("answer").hidden`))
	if got := text("sentence"); got != krigo.Sentence(m, m.Certificate) {
		t.Errorf("sentence %q", got)
	}

	if got := text("watch"); !strings.HasPrefix(got, "No outcome yet.") {
		t.Errorf("watch %q", got)
	}

	var wide string
	for _, w := range []float64{0.6, 0.123412, 5.5001, 99.991} {
		ok(p.Eval(fmt.Sprintf("width(%v)", w), &wide))
		if wide != cautious.Width(w) {
			t.Errorf("half-width %v: %s, want %s", w, wide, cautious.Width(w))
		}
	}
	if got := text("interval"); !strings.HasPrefix(got, "The model's own belief, not certified: 95 % of observations between ") ||
		!strings.Contains(got, "the certificate's ± "+cautious.Width(m.Certificate.EpsilonRaw)+", with the confidence and for the share said above") {
		t.Errorf("interval %q", got)
	}

	at := func(m *krigo.Model, x float64) krigo.Prediction {
		ps, err := krigo.Predict(m, &dataset.Table{Source: "t", Names: m.Inputs, Rows: 1, Values: []float64{x}})
		ok(err)
		return ps[0]
	}
	mean := func(m *krigo.Model, x float64) {
		t.Helper()
		var want string
		ok(p.Eval(fmt.Sprintf("shown(%v)", at(m, x).Mean), &want))
		ok(p.Until(fmt.Sprintf(`document.getElementById("mean").textContent === %q && !document.getElementById("answer").hidden`, want)))
	}
	enter("#inputs input", "2.5")
	mean(m, 2.5)
	enter("#inputs input", "99")
	mean(m, 99)
	var void bool
	ok(p.Eval(`document.querySelector("#band .certified").classList.contains("void")`, &void))
	if got := text("interval"); !void || !strings.Contains(got, "An input lies outside the range of the rows that the model was made from: the certificate says nothing here, and its frame is grey.") {
		t.Errorf("outside the range: %v, %q", void, got)
	}
	enter("#inputs input", "two")
	ok(p.Until(`document.getElementById("answer").hidden && document.querySelector("#inputs input").matches(":invalid")`))
	enter("#model", "b")
	ok(p.Until(`document.getElementById("title").textContent.startsWith("b:")`))
	enter("#inputs input", "-1e3")
	mean(other, -1e3)
	enter("#inputs input", "4")
	mean(other, 4)

	enter("#model", "c")
	ok(p.Until(`document.getElementById("title").textContent === "c: y from 2 inputs"`))
	enter("#inputs select", "oil")
	enter("#inputs input", "")
	ps, err := krigo.Predict(third, &dataset.Table{Source: "t", Names: []string{"fuel", "size"}, Rows: 1, Values: []float64{0, math.NaN()}, Text: [][]string{{"oil"}, nil}})
	ok(err)
	var shown string
	ok(p.Eval(fmt.Sprintf("shown(%v)", ps[0].Mean), &shown))
	ok(p.Until(fmt.Sprintf(`document.getElementById("mean").textContent === %q && !document.getElementById("answer").hidden`, shown)))
	enter("#model", "b")
	ok(p.Until(`document.getElementById("title").textContent.startsWith("b:")`))

	ok(p.Eval(`fetch("v1/outcomes?model=a", {method: "POST", headers: {"Content-Type": "text/csv", "Authorization": "Bearer secret"}, body: "x,y\n" + Array.from({length: 20}, (_, i) => i / 5 + ",100\n").join("")}).then(r => r.status)`, nil))
	enter("#model", "a")
	ok(p.Until(`document.getElementById("watch").className === "alarm"`))
	if got := text("watch"); !strings.HasPrefix(got, "ALARM at row ") || !strings.Contains(got, "20 outcomes, 20 missed") {
		t.Errorf("watch %q", got)
	}
	shot("page-alarm.png")
	enter("#model", "b")
	ok(p.Until(`document.getElementById("title").textContent.startsWith("b:")`))

	var csv strings.Builder
	csv.WriteString("id,x\n")
	for i := range 250 {
		fmt.Fprintf(&csv, "%d,%v\n", i, float64(i)/40)
	}
	good, bad := filepath.Join(folder, "new.csv"), filepath.Join(folder, "bad.csv")
	ok(os.WriteFile(good, []byte(csv.String()), 0o600))
	ok(os.WriteFile(bad, []byte("x\n1\nred\n"), 0o600))
	ok(p.Eval(`{const make = URL.createObjectURL; URL.createObjectURL = blob => make.call(URL, window.kept = blob)}`, nil))
	ok(p.Choose("#file", good))
	ok(p.Until(`document.querySelectorAll("tbody tr").length === 200`))
	if got := text("count"); got != "250 rows of new.csv, the first 200 of them below; 14 outside the range of the rows that the model was made from, grey in the chart: no guarantee is about them" {
		t.Errorf("%q", got)
	}
	var file string
	ok(p.Eval(`document.getElementById("save").href.startsWith("blob:") ? kept.text() : ""`, &file))
	lines := strings.Split(file, "\n")
	if want := at(other, 1.0/40); len(lines) != 252 || !strings.HasPrefix(lines[2], fmt.Sprint(want.Mean)+",") {
		t.Errorf("%d lines, %q; want mean %v", len(lines), lines[2], want.Mean)
	}
	shot("page.png")
	for _, dark := range []bool{false, true} {
		ok(p.Look(360, dark))
		if wide, err := p.Overflow(); err != nil || wide > 0 {
			t.Errorf("at 360 pixels the page is %d wider, %v", wide, err)
		}
	}
	shot("page-phone.png")
	if len(p.Errors) > 0 {
		t.Errorf("the console complains: %q", p.Errors)
	}
	p.Errors = nil
	ok(p.Choose("#file", bad)) // the browser logs the status 400
	ok(p.Until(`!document.getElementById("problem").hidden`))
	if got := text("problem"); !strings.Contains(got, "line 3 (row 2)") {
		t.Errorf("%q", got)
	}
}
