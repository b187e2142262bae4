//go:build browser

package browser_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/laboratory/browser"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/serve"
)

// shop is a page that a test uses as a person would. A failure ends the test.
type shop struct {
	*browser.Page
	t testing.TB
}

func opened(t testing.TB) shop {
	t.Helper()
	p := must.Get(browser.Open())(t)
	t.Cleanup(p.Close)
	return shop{p, t}
}

func (s shop) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// text returns the text of the element with this id.
func (s shop) text(id string) (text string) {
	s.t.Helper()
	s.ok(s.Eval(fmt.Sprintf("document.getElementById(%q).textContent", id), &text))
	return text
}

// told returns the text of a prediction as the page writes it.
func (s shop) told(p model.Prediction) (text string) {
	s.t.Helper()
	s.ok(s.Eval(fmt.Sprintf("written(%v, placed(%v))", p.Mean, p.PredictiveSD), &text))
	return text
}

// shot saves a picture of the page in the folder SCREENSHOTS, if that is set.
func (s shop) shot(name string) {
	s.t.Helper()
	if to := os.Getenv("SCREENSHOTS"); to != "" {
		s.ok(s.Screenshot(filepath.Join(to, name)))
	}
}

// enter puts a value into the field that selector names.
func (s shop) enter(selector, value string) {
	s.t.Helper()
	raw, _ := json.Marshal(value)
	s.ok(s.Eval(fmt.Sprintf(`{const f = document.querySelector(%q); f.value = %s; f.dispatchEvent(new Event("input", `+
		`{bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true}))}`, selector, raw), nil))
}

// looks checks that texts don't overlap and have enough contrast, at usual widths of windows, in light and dark.
func (s shop) looks(what string) {
	s.t.Helper()
	for _, width := range []int{800, 360} {
		for _, dark := range []bool{false, true} {
			s.ok(s.Look(width, dark))
			where := fmt.Sprintf("%s, %d pixels, dark %v", what, width, dark)
			if wide, err := s.Overflow(); err != nil || wide > 0 {
				s.t.Errorf("%s: the page is %d wider, %v", where, wide, err)
			}
			if pairs, err := s.Overlaps(); err != nil || len(pairs) > 0 {
				s.t.Errorf("%s: texts meet: %q, %v", where, pairs, err)
			}
			if names, err := s.Faint(4.5); err != nil || len(names) > 0 {
				s.t.Errorf("%s: faint: %q, %v", where, names, err)
			}
			s.shot(fmt.Sprintf("%s-%d%s.png", what, width, map[bool]string{true: "-dark"}[dark]))
		}
	}
	s.ok(s.Look(800, false))
}

// TestPage uses the page as a person would: with a token, two models, typed numbers, a chosen category, a missing
// value, a CSV file, and mistakes. If SCREENSHOTS names a folder, the test saves pictures there.
func TestPage(t *testing.T) {
	m, other, third := fitted(t, 0), fitted(t, 1), categorical(t)
	address, folder := started(t, map[string]*krigo.Model{"a": m, "b": other, "c": third},
		serve.Options{Token: "secret", Ledger: "l.ledger"})
	p := opened(t)
	ok, text, enter := p.ok, p.text, p.enter
	ok(p.Look(800, false))
	ok(p.Go("http://" + address + "/"))
	ok(p.Until(`!document.getElementById("key").hidden`))
	enter("#token", "secret")
	ok(p.Eval(`document.querySelector("#key").requestSubmit()`, nil))
	ok(p.Until(`!document.getElementById("answer").hidden`))
	must.Be(t, text("sentence"), m.Sentence(m.Certificate), "sentence")
	must.Be(t, text("headline"), m.Headline(m.Certificate), "headline")

	if got := text("watch"); !strings.HasPrefix(got, "No outcome yet.") {
		t.Errorf("watch %q", got)
	}

	var wide string
	for _, w := range []float64{0.6, 0.123412, 0.1234123, 5.5001, 99.9910001, 20000, 60012.34, 1234567} {
		ok(p.Eval(fmt.Sprintf("width(%v)", w), &wide))
		must.Hold(t, wide == cautious.Width(w),
			"half-width %v: %s, want %s", w, wide, cautious.Width(w))
	}
	main := krigo.Foremost(m.Certificate)
	if got := text("interval"); !strings.HasPrefix(got,
		"The model's own belief, not certified: 95 % of observations between ") ||
		!strings.Contains(got, fmt.Sprintf("the certificate's ± %s, which holds at least %s of predictions",
			cautious.Width(main.HalfWidthRaw), cautious.Complement(main.Bound))) {
		t.Errorf("interval %q", got)
	}

	at := func(m *krigo.Model, x float64) model.Prediction {
		ps, err := m.Predict(t.Context(), &dataset.Table{Source: "t", Names: m.Inputs, Rows: 1, Values: []float64{x}},
			krigo.PredictOptions{})
		ok(err)
		return ps[0]
	}
	mean := func(m *krigo.Model, x float64) {
		t.Helper()
		ok(p.Until(fmt.Sprintf(`document.getElementById("mean").textContent === %q && `+
			`!document.getElementById("answer").hidden`, p.told(at(m, x)))))
	}
	enter("#inputs input", "2.5")
	mean(m, 2.5)
	enter("#inputs input", "99")
	mean(m, 99)
	var void bool
	ok(p.Eval(`document.querySelector("#band .certified").classList.contains("void")`, &void))
	if got := text("interval"); !void || !strings.Contains(got,
		"This row lies outside the range of the rows that the model was made from, in an input or farther from them than "+
			"nearly all others: the certificate says nothing here, and its frame is grey.") {
		t.Errorf("outside the range: %v, %q", void, got)
	}
	enter("#inputs input", "two")
	ok(p.Until(`document.getElementById("answer").hidden && document.querySelector("#inputs ` +
		`input").getAttribute("aria-invalid") === "true"`))
	must.Be(t, text("none"), "No prediction: see the notes beside “x”.")
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
	ps, err := third.Predict(t.Context(), &dataset.Table{Source: "t", Names: []string{"fuel", "size"}, Rows: 1,
		Values: []float64{0, math.NaN()}, Text: [][]string{{"oil"}, nil}}, krigo.PredictOptions{})
	ok(err)
	ok(p.Until(fmt.Sprintf(`document.getElementById("mean").textContent === %q && `+
		`!document.getElementById("answer").hidden`, p.told(ps[0]))))
	enter("#model", "b")
	ok(p.Until(`document.getElementById("title").textContent.startsWith("b:")`))

	ok(p.Eval(`fetch("v1/outcomes?model=a", {method: "POST", headers: `+
		`{"Content-Type": "text/csv", "Authorization": "Bearer secret"}, body: "x,y\n" + Array.from({length: 20}, (_, i) `+
		`=> i / 5 + ",100\n").join("")}).then(r => r.status)`, nil))
	enter("#model", "a")
	ok(p.Until(`document.getElementById("alarm").textContent`))
	if got := text("alarm"); !strings.HasPrefix(got, "ALARM at row ") || !strings.Contains(got, "20 outcomes, 20 missed") {
		t.Errorf("watch %q", got)
	}
	p.shot("page-alarm.png")
	enter("#model", "b")
	ok(p.Until(`document.getElementById("title").textContent.startsWith("b:")`))

	var csv strings.Builder
	csv.WriteString("id,x\n")
	for i := range 250 {
		fmt.Fprintf(&csv, "%d,%v\n", i, float64(i)/40)
	}
	good, bad := filepath.Join(folder, "new.csv"), filepath.Join(folder, "bad.csv")
	ok(os.WriteFile(good, []byte(csv.String()), 0o600))
	ok(os.WriteFile(bad, []byte("x\nred\nblue\n1\n"), 0o600))
	ok(p.Eval(`{const make = URL.createObjectURL; URL.createObjectURL = blob => make.call(URL, window.kept = blob)}`, nil))
	ok(p.Choose("#file", good))
	ok(p.Until(`document.querySelectorAll("tbody tr").length === 200`))
	must.Be(t, text("count"), "250 rows of new.csv, the first 200 of them below; 14 outside the range of the rows "+
		"that the model was made from, grey in the chart: no guarantee is about them.")
	var file string
	ok(p.Eval(`document.getElementById("save").href.startsWith("blob:") ? kept.text() : ""`, &file))
	lines := strings.Split(file, "\n")
	if want := at(other, 1.0/40); len(lines) != 252 || !strings.HasPrefix(lines[0], "id,mean,") ||
		!strings.HasPrefix(lines[2], "1,"+fmt.Sprint(want.Mean)+",") {
		t.Errorf("%d lines, %q; want mean %v", len(lines), lines[2], want.Mean)
	}
	p.shot("page.png")
	p.looks("page")
	p.ok(p.Look(360, true))
	p.shot("page-phone.png")
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)
	p.Errors = nil
	ok(p.Choose("#file", bad)) // the browser logs the answer's status 400
	ok(p.Until(`!document.getElementById("trouble").hidden && document.getElementById("table").hidden`))
	if got := text("trouble"); !strings.HasPrefix(got, "No predictions: ") || !strings.Contains(got, "line 2 (row 1)") {
		t.Errorf("%q", got)
	}
}

// TestLooks shows that Overlaps and Faint find texts that overlap and texts that are faint.
func TestLooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.html")
	p := opened(t)
	p.ok(os.WriteFile(path, []byte(`<!doctype html><meta name="viewport" content="width=device-width"><body style="margin:20px;background:#fff"><p id="a">first text</p><p id="b" style="color:#777">second text</p>
		<svg width="300" height="40"><text x="5" y="20" fill="#767676">in a picture</text></svg><div style="height:10px;overflow:hidden"><p style="margin:60px 0">cut away</p></div><p>after it</p>`), 0o600))
	p.ok(p.Look(360, false))
	p.ok(p.Go("file://" + path))
	measured := func(pairs, faint int) {
		t.Helper()
		got, err := p.Overlaps()
		p.ok(err)
		names, err := p.Faint(4.5)
		p.ok(err)
		must.Hold(t, len(got) == pairs && len(names) == faint,
			"%q, %q; want %d and %d", got, names, pairs, faint)
	}
	measured(0, 1)
	p.ok(p.Eval(`{b.style.color = "#767676"; b.style.marginTop = "-25px"}`, nil))
	measured(1, 0)
	p.ok(p.Eval(`{b.style.marginTop = ""; b.style.marginLeft = "290px"; b.style.whiteSpace = "nowrap"; `+
		`document.querySelector("text").setAttribute("fill", "#ccc")}`, nil))
	measured(1, 1)
	if wide, err := p.Overflow(); err != nil || wide < 20 {
		t.Errorf("%d pixels wider, %v", wide, err)
	}
}

// TestPageExplains shows, by keyboard alone, that a field whose text isn't a number says why and offers what may have
// been meant. The answer of the server says which field is wrong.
func TestPageExplains(t *testing.T) {
	m := dated(t)
	address, _ := started(t, map[string]*krigo.Model{"a": fitted(t, 0), "dates": m}, serve.Options{})
	p := opened(t)
	p.ok(p.Look(800, false))
	p.ok(p.Go("http://" + address + "/"))
	p.ok(p.Until(`!document.getElementById("answer").hidden`))
	state := func() (s struct {
		Why, Hint, None string
		Offers          []string
		Answered        bool
	}) {
		t.Helper()
		p.ok(p.Eval(`({Why: document.getElementById("input0-why").textContent, Hint: document.getElementById("input0-hint").textContent, None: document.getElementById("none").textContent,
			Offers: [...document.querySelectorAll(".offer")].map(e => e.textContent), Answered: !document.getElementById("answer").hidden})`, &s))
		return s
	}
	if s := state(); !strings.HasPrefix(s.Hint, "rows from 0.0") || strings.Contains(s.Hint, "outside") ||
		!strings.HasPrefix(p.text("begins"), "Begins with usual values") {
		t.Errorf("%+v", s)
	}
	for typed, want := range map[string]struct {
		why    string
		offers []string
	}{
		"4,5":       {"Decimals have a point here.", []string{"4.5"}},
		"-,5":       {"Decimals have a point here.", []string{"-.5"}},
		"1,234":     {"Decimals have a point here, and thousands have no separator. Which do you mean?", []string{"1.234", "1234"}},
		"1,234,567": {"Thousands have no separator here.", []string{"1234567"}},
		"1.234.567": {"Thousands have no separator here.", []string{"1234567"}},
		"1.234,5":   {"Write one decimal point, and no separators of thousands.", []string{"1234.5"}},
		"1,234.5":   {"Write one decimal point, and no separators of thousands.", []string{"1234.5"}},
		"12 000":    {"Write the number without spaces or marks between its digits.", []string{"12000"}},
		"3 kg":      {"Write only the number, in the unit of the model's data.", []string{"3"}},
		"€2,50":     {"Write only the number, in the unit of the model's data.", []string{"2.50"}},
		"40 %":      {"Write only the number. Is it a share or a percentage?", []string{"40", "0.4"}},
		"two":       {"“two” isn't a number: write it as 4.5 or 1200.", nil},
		"0x10":      {"“0x10” isn't a number: write it as 4.5 or 1200.", nil},
		"1e999":     {"This number is too large for a computer.", nil},
	} {
		p.enter("#input0", typed)
		s := state()
		var offers []string
		for _, o := range s.Offers {
			offers = append(offers, strings.TrimPrefix(o, "Use "))
		}
		must.Hold(t, s.Why == want.why && slices.Equal(offers, want.offers) && !s.Answered &&
			s.None == "No prediction: see the notes beside “x”.", "%q: %+v", typed, s)
	}
	for _, typed := range []string{"4.5", " -1 ", "−2", ".5", "1e-3", "+3."} {
		p.enter("#input0", typed)
		if s := state(); s.Why != "" || len(s.Offers) != 0 {
			t.Errorf("%q: %+v", typed, s)
		}
		p.ok(p.Until(`!document.getElementById("answer").hidden`))
	}
	p.enter("#input0", "99")
	if s := state(); !strings.HasSuffix(s.Hint, ": this lies outside") {
		t.Errorf("%+v", s)
	}

	// All by keyboard: go to the field, type a number with a comma, go to the offered reading, and accept it.
	focus := func() (id string) {
		t.Helper()
		var of struct {
			ID      string
			Outline string
		}
		p.ok(p.Eval(`({ID: document.activeElement.id || document.activeElement.className || `+
			`document.activeElement.tagName, Outline: getComputedStyle(document.activeElement).outlineStyle})`, &of))
		must.Hold(t, of.Outline != "none" || of.ID == "BODY",
			"%s has the focus, and doesn't show it", of.ID)
		return of.ID
	}
	tab := func(to string) {
		t.Helper()
		var by []string
		for range 12 {
			p.ok(p.Press("Tab"))
			if by = append(by, focus()); by[len(by)-1] == to {
				return
			}
		}
		t.Fatalf("no way to %s by tab: %v", to, by)
	}
	p.enter("#input0", "")
	tab("input0")
	p.ok(p.Type("4,5"))
	p.ok(p.Until(`document.querySelector(".offer")`))
	p.looks("why")
	tab("offer")
	p.ok(p.Press("Enter"))
	p.ok(p.Until(`!document.getElementById("answer").hidden && document.getElementById("input0").value === "4.5" && ` +
		`document.activeElement.id === "input0" && !document.querySelector(".offer")`))
	tab("file")
	tab("SUMMARY")
	p.ok(p.Press("Enter"))
	tab("pasted")
	p.ok(p.Type("x\n1\n2"))
	tab("use")
	p.ok(p.Press("Enter"))
	p.ok(p.Until(`document.querySelectorAll("tbody tr").length === 2`))
	tab("save")
	tab("scroll")

	// This model has dates, and its tables have decimal commas.
	p.enter("#model", "dates")
	p.ok(p.Until(`document.getElementById("title").textContent === "dates: y from 2 inputs" && ` +
		`!document.getElementById("answer").hidden`))
	var when struct{ Type, Value, Size, Hint string }
	p.ok(p.Eval(`({Type: input0.type, Value: input0.value, Size: input1.value, Hint: `+
		`document.getElementById("input0-hint").textContent})`, &when))
	must.Hold(t, when.Type == "date" && when.Hint == "rows from 01.01.2024 to 22.12.2024; may be left empty" &&
		strings.HasPrefix(when.Value, "2024-0") && when.Size == "3", "%+v", when)
	p.enter("#input0", "2024-03-05")
	p.enter("#input1", "2,5")
	table := &dataset.Table{Source: "t", Names: []string{"when", "size"}}
	table.Append([]string{"05.03.2024", "2.5"})
	p.ok(m.Reading.Apply(table))
	ps, err := m.Predict(t.Context(), table, krigo.PredictOptions{})
	p.ok(err)
	p.ok(p.Until(fmt.Sprintf(`document.getElementById("mean").textContent === %q`, p.told(ps[0]))))
	p.looks("dates")
	p.enter("#input0", "") // the server fills the gap
	p.ok(p.Until(`!document.getElementById("answer").hidden`))
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)
}

// TestPageTables shows that a table with an order is drawn as lines along the order, and another table row by row.
// Columns that the model doesn't use are kept in the output. Values outside the training data are grey.
func TestPageTables(t *testing.T) {
	m := fitted(t, 0)
	address, _ := started(t, map[string]*krigo.Model{"a": m, "c": categorical(t), "d": dated(t)}, serve.Options{})
	p := opened(t)
	p.ok(p.Look(800, false))
	p.ok(p.Go("http://" + address + "/"))
	p.ok(p.Until(`!document.getElementById("answer").hidden`))
	p.ok(p.Eval(`{const make = URL.createObjectURL; URL.createObjectURL = blob => make.call(URL, window.kept = blob)}`,
		nil))
	type shown struct {
		Count, Drawn  string
		Lines, Stems  int
		Ground, Grey  int
		Head          []string
		First         []string
		File          string
		Points, Texts []string
	}
	paste := func(table string) (s shown) {
		t.Helper()
		raw, _ := json.Marshal(table)
		p.ok(p.Eval(fmt.Sprintf(`{document.getElementById("table").hidden = true; document.getElementById("pasted").value `+
			`= %s; document.getElementById("use").click()}`, raw), nil))
		p.ok(p.Until(`!document.getElementById("table").hidden`))
		p.ok(p.Eval(`(async () => ({Count: document.getElementById("count").textContent, Drawn: document.getElementById("drawn").textContent,
			Lines: document.querySelectorAll("#chart .curve").length, Stems: document.querySelectorAll("#chart .stem").length,
			Ground: document.querySelectorAll("#chart .ground").length, Grey: document.querySelectorAll("#chart .outside").length,
			Head: [...document.querySelectorAll("thead th")].map(e => e.textContent), First: [...document.querySelectorAll("tbody tr:first-child td")].map(e => e.textContent),
			File: await kept.text(), Points: document.querySelector("#chart .curve")?.getAttribute("points").split(" ") || [], Texts: [...document.querySelectorAll("#chart text")].map(e => e.textContent)}))()`, &s))
		return s
	}
	predictions := []string{"y, predicted", "95 % from", "to", "outside"}

	got := paste("name,x,mean,note\n\"Ann, B\",1,7,\"say \"\"a\"\"\"\nCy,3,8,\n =1+1,-9,9,é\n")
	must.Hold(t, got.Lines == 1 && got.Stems == 0 && got.Ground == 1 && got.Grey == 1 &&
		strings.HasPrefix(got.Drawn, "Predictions along x, by which the rows were sorted for this.") &&
		strings.HasSuffix(got.Drawn, "Grey ground lies outside the range of the rows that the model was made from.") &&
		slices.Contains(got.Texts, "-9"), "%+v", got)
	for i := 1; i < len(got.Points); i++ {
		var x, before float64
		fmt.Sscanf(got.Points[i-1], "%g,", &before)
		if fmt.Sscanf(got.Points[i], "%g,", &x); x <= before {
			t.Errorf("the line goes back: %v", got.Points)
		}
	}
	must.Hold(t,
		slices.Equal(got.Head, append([]string{"row", "name", "mean (of the table)", "note"}, predictions...)) &&
			slices.Equal(got.First[:4], []string{"1", "Ann, B", "7", `say "a"`}),
		"%q, %q", got.Head, got.First)
	rows, err := csv.NewReader(strings.NewReader(got.File)).ReadAll()
	if err != nil || len(rows) != 4 || !slices.Equal(rows[1][:3], []string{"Ann, B", "7", `say "a"`}) ||
		rows[3][2] != "é" || !slices.Equal(rows[0][:4], []string{"name", "mean (of the table)", "note", "mean"}) {
		t.Errorf("%v, %q", err, got.File)
	}
	ps, err := m.Predict(t.Context(), &dataset.Table{Source: "t", Names: []string{"x"}, Rows: 3, Values: []float64{1, 3,
		-9}}, krigo.PredictOptions{})
	p.ok(err)
	for i, want := range ps {
		must.Hold(t, rows[i+1][3] == fmt.Sprint(want.Mean),
			"row %d: %q, want %v", i+1, rows[i+1], want.Mean)
	}
	p.looks("unsorted")

	if got := paste("x\n1\n2\n3\n"); got.Lines != 1 || got.Ground != 0 || strings.Contains(got.Drawn, "sorted") ||
		!slices.Equal(got.Head, append([]string{"row"}, predictions...)) {
		t.Errorf("%+v", got)
	}
	if got := paste("x\n2\n"); got.Lines != 0 || got.Stems != 1 {
		t.Errorf("one row: %+v", got)
	}
	p.enter("#model", "c")
	p.ok(p.Until(`document.getElementById("title").textContent.startsWith("c:")`))
	got = paste("id\tfuel\tsize\na\tgas\t3\nb\toil\t1\nc\tgas\t99\nd\toil\t\n")
	must.Hold(t, got.Lines == 0 && got.Stems == 4 && got.Grey == 2 &&
		strings.Contains(got.Drawn, "the table has no order of its own") &&
		slices.Equal(got.First[:2], []string{"1", "a"}), "%+v", got)
	p.looks("scatter")
	if got := paste("size,fuel\n1,gas\n2,oil\n4,gas\n"); got.Lines != 1 ||
		!strings.HasPrefix(got.Drawn, "Predictions along size.") {
		t.Errorf("%+v", got)
	}
	p.enter("#model", "d")
	p.ok(p.Until(`document.getElementById("title").textContent.startsWith("d:")`))
	if got := paste("id;when;size\n1;05.03.2024;2,5\n2;06.03.2024;1,5\n"); got.Stems != 2 ||
		!slices.Equal(got.First[:2], []string{"1", "1"}) {
		t.Errorf("%+v", got)
	}
	if got := paste("id;when;size\n1;05.03.2024;2,5\n2;06.03.2024;1,5\n3;01.02.2025;2\n"); got.Lines != 1 ||
		!strings.HasPrefix(got.Drawn, "Predictions along when.") || got.Ground != 1 ||
		!slices.Equal(got.Texts[2:], []string{"05.03.2024", "01.02.2025"}) {
		t.Errorf("%+v", got)
	}
	p.looks("along-dates")
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)

	// The browser logs the answer's status 400.
	p.ok(p.Eval(`{document.getElementById("pasted").value = "id;when\n1;05.03.2024\n"; `+
		`document.getElementById("use").click()}`, nil))
	p.ok(p.Until(`!document.getElementById("trouble").hidden && document.getElementById("table").hidden`))
	if got := p.text("trouble"); !strings.HasPrefix(got, "No predictions: ") || !strings.Contains(got, "size") {
		t.Errorf("%q", got)
	}
	p.ok(p.Eval(`window.fetch = () => Promise.reject(new TypeError("Failed to fetch"))`, nil))
	p.enter("#input0", "2024-03-07")
	p.ok(p.Until(`document.getElementById("answer").hidden`))
	must.Be(t, p.text("none"), "No prediction: The server doesn't answer: it was stopped, or can't be reached "+
		"from here.")
}

// TestPageCompares shows that a table with the target gets observations beside predictions. The page marks and counts
// the misses and compares them with the promise, in the notation of the model's tables, which the saved file has too.
// If a target can't be read, the page still predicts.
func TestPageCompares(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	rows := func(n, misses int, first string) string {
		text := "when;size;price;note\n"
		for i := range n {
			size := 10 * rng.Float64()
			price := fmt.Sprintf("%.1f", 2000+100*size+20*rng.NormFloat64())
			if i < misses {
				price = "9000.5"
			}
			if price = price[:1] + "." + strings.Replace(price[1:], ".", ",", 1); i == 0 && first != "" {
				price = first
			}
			text += fmt.Sprintf("%s;%s;%s;n%d\n", time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("02.01.2006"),
				strings.Replace(fmt.Sprintf("%.2f", size), ".", ",", 1), price, i)
		}
		return text
	}
	table := must.Get(files.CSV{From: strings.NewReader(rows(400, 0, "")), Source: "t.csv", As: dataset.Reading{Decimal: ",",
		Thousands: ".", Dates: []dataset.Dates{{Column: "when", Form: "dmy"}}}}.Read())(t)
	m := fit(t, table, krigo.Options{Data: krigo.Data{Target: "price", Ignore: []string{"note"}},
		Kernel: krigo.Kernel{Expression: "linear", ARD: "off"}, Run: krigo.Run{Restarts: 1}, Promise: krigo.Promise{Epsilon: 0.3}})
	address, _ := started(t, map[string]*krigo.Model{"a": m}, serve.Options{})
	p := opened(t)
	p.ok(p.Look(800, false))
	p.ok(p.Go("http://" + address + "/"))
	p.ok(p.Until(`!document.getElementById("answer").hidden`))
	p.ok(p.Eval(`{const make = URL.createObjectURL; URL.createObjectURL = blob => make.call(URL, window.kept = blob)}`,
		nil))
	paste := func(text string) (said struct {
		Said, Class       string
		File, Head, First []string
		Rings, Red        int
	}) {
		t.Helper()
		raw, _ := json.Marshal(text)
		p.ok(p.Eval(fmt.Sprintf(`{document.getElementById("table").hidden = true; document.getElementById("pasted").value `+
			`= %s; document.getElementById("use").click()}`, raw), nil))
		p.ok(p.Until(`!document.getElementById("table").hidden`))
		p.ok(p.Eval(`(async () => ({Said: document.getElementById("compared").textContent, Class: compared.className, File: (await kept.text()).split("\n").slice(0, 2),
			Head: [...document.querySelectorAll("thead th")].map(e => e.textContent), First: [...document.querySelectorAll("tbody tr:first-child td")].map(e => e.textContent),
			Rings: document.querySelectorAll("#chart .seen").length, Red: document.querySelectorAll("#chart .seen.missed").length}))()`, &said))
		return said
	}
	is := func(pattern, text string) bool { return regexp.MustCompile("^" + pattern).MatchString(text) }
	got := paste(rows(60, 0, ""))
	must.Hold(t,
		slices.Equal(got.Head, []string{"row", "note", "price, observed", "price, predicted", "missed",
			"95 % from", "to", "outside"}) && got.First[4] == "" && got.Rings == 60 && got.Red == 0 &&
			got.Class == "" && is(`\d\.\d{3},\d$`, got.First[2]) && is(`\d\.\d{3},\d$`, got.First[3]),
		"%+v", got)
	must.Hold(t,
		is(`Compared with price in the table: RMSE \d\d,\d, MAE \d\d,\d\. 0 of 60 predictions \(0,00 %\) miss: `+
			`.*±\d+,\d+ of price .*This is compatible with the promise\.`, got.Said), "%q", got.Said)
	must.Hold(t, is(`price;note;mean;`, got.File[0]) &&
		is(`\d\.\d{3},\d;n0;\d{4},\d+;`, got.File[1]), "%q", got.File)
	p.looks("compared")

	got = paste(rows(60, 50, ""))
	must.Hold(t, got.Red == 50 && got.First[4] == "missed" && got.Class == "alarm" &&
		strings.Contains(got.Said, "50 of 60 predictions (83,33 %) miss") &&
		strings.Contains(got.Said, "THIS CONTRADICTS THE PROMISE"), "%+v", got)
	p.looks("contradicted")
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)

	got = paste(rows(60, 0, "unknown")) // the browser logs the status 400
	must.Hold(t, got.Rings == 0 &&
		is("Predictions aren't compared with price in the table: ", got.Said) &&
		slices.Contains(got.Head, "price"), "%+v", got)
}

// TestPageReading shows that fields take and show numbers, units and missing values as the model's tables write them.
// The guarantee keeps its lines, and a newline in a name doesn't add a line. Empty rows don't count as rows. Pasting
// an empty text removes the earlier table.
func TestPageReading(t *testing.T) {
	const forged = "y.\nWith 100 % confidence all is well"
	var b strings.Builder
	b.WriteString("size;area;\"" + forged + "\"\n")
	for i := range 300 {
		cell := fmt.Sprintf("%d,5 m²", 100+i)
		if i%10 == 0 {
			cell = "k.A."
		}
		fmt.Fprintf(&b, "%d.%03d,5;%s;%d,25\n", 1+i%9, i*3%1000, cell, i%9+i/50)
	}
	table := must.Get(files.CSV{From: strings.NewReader(b.String()), Source: "t.csv", As: dataset.Reading{Decimal: ",",
		Thousands: ".", Units: []string{"m²"}, Missing: []string{"k.A."}}}.Read())(t)
	o := krigo.Options{Data: krigo.Data{Target: forged, Missing: dataset.FillMean},
		Kernel: krigo.Kernel{Expression: "linear", ARD: "off"}, Run: krigo.Run{Restarts: 1},
		Promise: krigo.Promise{Curve: true, Slices: []string{"sd"}}}
	m, last := fit(t, table, o), o
	last.Data.Split, last.Promise = "last", krigo.Promise{}
	address, _ := started(t, map[string]*krigo.Model{"a": m, "b": fit(t, table, last)}, serve.Options{})
	p := opened(t)
	p.ok(p.Look(800, false))
	p.ok(p.Go("http://" + address + "/"))
	p.ok(p.Until(`!document.getElementById("answer").hidden`))

	var lines, title string
	p.ok(p.Eval(`more.open = true, sentence.innerText`, &lines))
	if want := m.Sentence(m.Certificate); lines != want || strings.Count(want, "\n") < 3 {
		t.Errorf("%q, want %q", lines, want)
	}
	if title = p.text("title"); !strings.HasPrefix(title, `a: "y.\nWith 100 %`) ||
		p.text("target") != `"y.\nWith 100 % confidence all is well"` {
		t.Errorf("%q, %q", title, p.text("target"))
	}
	var fields struct{ Size, Area, Hint string }
	p.ok(p.Eval(`({Size: input0.value, Area: input1.value, Hint: document.getElementById("input0-hint").textContent})`,
		&fields))
	for _, value := range []string{fields.Size, strings.TrimPrefix(fields.Hint, "rows from ")} {
		must.Hold(t, regexp.MustCompile(`^[1-9]\.[0-9]{3}(,[0-9]+)?( to |$)`).MatchString(value),
			"%+v", fields)
	}
	at := func(size, area float64) string {
		ps, err := m.Predict(t.Context(), &dataset.Table{Source: "t", Names: []string{"size", "area"}, Rows: 1,
			Values: []float64{size, area}}, krigo.PredictOptions{})
		p.ok(err)
		return p.told(ps[0])
	}
	for _, c := range []struct {
		size, area string
		want       string
	}{
		{"1.234,5", "80 m²", at(1234.5, 80)}, {"4.321", "m² 80,5", at(4321, 80.5)},
		{"1234,5", "k.a.", at(1234.5, math.NaN())}, {"+2.000,25", "", at(2000.25, math.NaN())},
		{"2,5e3", "n/a", at(2500, math.NaN())},
	} {
		p.enter("#input1", c.area)
		p.enter("#input0", c.size)
		p.ok(p.Until(fmt.Sprintf(`document.getElementById("mean").textContent === %q && `+
			`!document.getElementById("answer").hidden`, c.want)))
	}
	for typed, offered := range map[string]string{"none": "", "1.23,5": "Use 123,5", "1.2345": "Use 1,2345",
		"01.234": "Use 01,234", "12,5 kg": "Use 12,5", "1,2,3": "Use 12,3"} {
		var of struct {
			Wrong bool
			Offer string
		}
		p.enter("#input0", typed)
		p.ok(p.Eval(`({Wrong: input0.getAttribute("aria-invalid") === "true", Offer: `+
			`document.querySelector(".offer")?.textContent || ""})`, &of))
		must.Hold(t, of.Wrong && of.Offer == offered, "%q: %+v, want %q", typed, of, offered)
	}
	p.looks("reading")

	paste := func(text string) {
		t.Helper()
		raw, _ := json.Marshal(text)
		p.ok(p.Eval(fmt.Sprintf(`{document.getElementById("pasted").value = %s; document.getElementById("use").click()}`,
			raw), nil))
	}
	paste("size\tarea\n1.234,5\t80 m²\n\t\n4.321\t\n\t\n")
	p.ok(p.Until(`!document.getElementById("table").hidden`))
	if got := p.text("count"); !strings.HasPrefix(got, "2 rows of what was pasted; 1 outside ") {
		t.Errorf("%q", got)
	}
	paste("  \n")
	p.ok(p.Until(`!document.getElementById("trouble").hidden`))
	var hidden bool
	if p.ok(p.Eval(`document.getElementById("table").hidden`, &hidden)); !hidden {
		t.Error("the table before stands under the error")
	}

	if p.ok(p.Eval(`document.getElementById("guarantee").hidden`, &hidden)); hidden {
		t.Error("nothing says whose the guarantee is")
	}
	p.enter("#model", "b")
	p.ok(p.Until(`document.getElementById("title").textContent.startsWith("b:") && ` +
		`!document.getElementById("answer").hidden`))
	if p.ok(p.Eval(`document.getElementById("guarantee").hidden`, &hidden)); !hidden {
		t.Error("a guarantee of a backtest")
	}
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)
}

// TestPageLabels: for a model of labels the page shows labels and probabilities, and no intervals.
func TestPageLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	rows := func(n int, flip bool) string {
		text := "x,kind\n"
		for range n {
			x := rng.NormFloat64()
			text += fmt.Sprintf("%.3f,%s\n", x, map[bool]string{true: "light", false: "dark, old"}[x > 0 != flip])
		}
		return strings.ReplaceAll(text, "dark, old", `"dark, old"`)
	}
	table := must.Get(files.CSV{From: strings.NewReader(rows(150, false)), Source: "t.csv"}.Read())(t)
	m := fit(t, table, krigo.Options{Data: krigo.Data{Target: "kind"}, Kernel: krigo.Kernel{Expression: "se"},
		Run: krigo.Run{Restarts: 1}})
	address, _ := started(t, map[string]*krigo.Model{"a": m}, serve.Options{})
	p := opened(t)
	p.ok(p.Look(800, false))
	p.ok(p.Go("http://" + address + "/"))
	p.ok(p.Until(`!document.getElementById("answer").hidden`))
	var said struct {
		Label, Belief, Compared, Class string
		Head, First                    []string
		Red                            int
	}
	raw, _ := json.Marshal(rows(40, true))
	use := fmt.Sprintf(`{document.getElementById("pasted").value = %s; document.getElementById("use").click()}`, raw)
	p.ok(p.Eval(use, nil))
	p.ok(p.Until(`!document.getElementById("table").hidden`))
	p.ok(p.Eval(`({Label: mean.textContent, Belief: interval.textContent, Compared: compared.textContent,
		Class: compared.className, Head: [...document.querySelectorAll("thead th")].map(e => e.textContent),
		First: [...document.querySelectorAll("tbody tr:first-child td")].map(e => e.textContent),
		Red: document.querySelectorAll("#chart .seen.missed").length})`, &said))
	must.Hold(t, slices.Contains(m.Classes, said.Label) && !strings.Contains(said.Belief, "95 %") &&
		strings.Contains(said.Belief, "the probability is 0.") &&
		strings.Contains(said.Belief, " for light"), "%+v", said)
	must.Hold(t,
		slices.Equal(said.Head, []string{"row", "kind, observed", "kind, predicted", "wrong", "probability of light", "outside"}) &&
			said.First[3] == "wrong" && said.First[1] != said.First[2] &&
			slices.Contains(m.Classes, said.First[2]), "%+v", said)
	must.Hold(t, said.Red >= 30 && said.Class == "alarm" &&
		strings.Contains(said.Compared, "are wrong labels") &&
		strings.Contains(said.Compared, "THIS CONTRADICTS THE PROMISE"), "%+v", said)
	p.looks("labels")
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)
}

// TestFirstScreen: on a phone of 390 × 844 pixels the form begins on the first screen, below the promise and its
// picture. Codes and flags begin with a value that rows have, and the fields' values can be predicted.
func TestFirstScreen(t *testing.T) {
	counts := &dataset.Table{Source: "t", Names: []string{"temperature", "weekend", "hour", "rides"}}
	kinds := &dataset.Table{Source: "t", Names: []string{"x", "smoker", "kind"}}
	for i := range 240 {
		x := math.Sin(float64(7 * i))
		counts.Append([]string{fmt.Sprint(x), fmt.Sprint(i % 7 / 5), fmt.Sprint(i % 24),
			fmt.Sprint(i%24/6 + i%7/5 + int(2*x+2))})
		kinds.Append([]string{fmt.Sprint(x), fmt.Sprint(i % 3 / 2), []string{"no", "yes"}[i%24/12]})
	}
	once := krigo.Run{Restarts: 1}
	linear := krigo.Kernel{Expression: "linear", ARD: "on"}
	poisson := krigo.Kernel{Expression: "linear", ARD: "on", Noise: "poisson"}
	address, _ := started(t, map[string]*krigo.Model{
		"boston": fit(t, data.Boston(), krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: linear, Run: once}),
		"sparse": fit(t, data.Boston(), krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: linear, Run: once,
			Method: krigo.Method{Inducing: 20, Epochs: 20}}),
		"counts": fit(t, counts, krigo.Options{Data: krigo.Data{Target: "rides"}, Kernel: poisson, Run: once}),
		"kinds":  fit(t, kinds, krigo.Options{Data: krigo.Data{Target: "kind"}, Kernel: linear, Run: once}),
	}, serve.Options{})
	p := opened(t)
	for _, c := range []struct {
		name, values string // fields whose values are codes
		curve        bool
	}{{"boston", "CHAS=0 RAD=24", true}, {"counts", "weekend=0", true}, {"kinds", "smoker=0", false},
		{"sparse", "CHAS=0", true}} {
		for _, dark := range []bool{false, true} {
			for _, width := range []int{390, 1280} {
				p.ok(p.Look(width, dark))
				p.ok(p.Go("http://" + address + "/"))
				p.ok(p.Until(`!document.getElementById("answer").hidden`))
				p.enter("#model", c.name)
				p.ok(p.Until(fmt.Sprintf(`document.getElementById("title").textContent.startsWith("%s:") && `+
					`!document.getElementById("answer").hidden`, c.name)))
				p.shot(fmt.Sprintf("first-%s-%d-%v.png", c.name, width, dark))
				if wide, err := p.Overflow(); err != nil || wide > 0 {
					t.Errorf("%s: the page is %d wider, %v", c.name, wide, err)
				}
			}
		}
		p.ok(p.Look(390, false))
		var is struct {
			Form, Picture, Headline float64
			Curve                   bool
			Values                  map[string]string
		}
		p.ok(p.Eval(`({Form: inputs.querySelector("input, select").getBoundingClientRect().bottom, Picture: `+
			`document.getElementById("curve").getBoundingClientRect().bottom, Headline: headline.getBoundingClientRect().bottom, Curve: `+
			`!document.getElementById("curve").hasAttribute("hidden"), Values: Object.fromEntries([...inputs.elements].map(e => [e.name, e.value]))})`, &is))
		must.Hold(t, is.Form <= 844 && is.Form >= is.Headline &&
			(!is.Curve || is.Form >= is.Picture), "%s: %+v", c.name, is)
		must.Be(t, is.Curve, c.curve, c.name)
		for _, want := range strings.Fields(c.values) {
			name, value, _ := strings.Cut(want, "=")
			got := is.Values[name]
			must.Hold(t, value == "" || got == value,
				"%s: %s begins at %q, want %s", c.name, name, got, value)
		}
	}
}
