//go:build browser

package browser_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/laboratory/browser"
)

// measures is JavaScript that lists in words what is wrong with a page.
const measures = `(() => {
	const wrong = [], box = e => e.getBoundingClientRect(), say = e => (e.lastChild?.nodeValue || e.textContent || "").trim().slice(0, 40);
	// Labels must lie inside their chart, and not on another label.
	for (const svg of document.querySelectorAll("svg.chart")) {
		const all = [...svg.querySelectorAll("text")].map(t => ({ text: say(t), r: box(t) })), b = box(svg), name = svg.closest("figure").querySelector("h3").textContent;
		for (const [i, t] of all.entries()) {
			if (t.r.left < b.left - 1.5 || t.r.right > b.right + 1.5 || t.r.top < b.top - 1.5 || t.r.bottom > b.bottom + 1.5) wrong.push(name + ": " + t.text + " is cut");
			for (const o of all.slice(0, i)) {
				const w = Math.min(t.r.right, o.r.right) - Math.max(t.r.left, o.r.left), h = Math.min(t.r.bottom, o.r.bottom) - Math.max(t.r.top, o.r.top);
				if (w > 0.5 && h > 3) wrong.push(name + ": " + t.text + " lies on " + o.text);
			}
		}
		if (parseFloat(getComputedStyle(svg.querySelector("text")).fontSize) * b.width / svg.viewBox.baseVal.width < 9.5) wrong.push(name + ": letters too small");
		// A heat map must fill its axes, and its colour bar must be as high.
		const heat = svg.querySelectorAll("image.heat");
		if (heat.length) {
			const f = box(svg.querySelector(".frame")), [bar, map] = heat[0].closest("svg") === svg ? [box(heat[0]), box(heat[1])] : [box(heat[1]), box(heat[0])];
			for (const side of ["left", "right", "top", "bottom"]) if (Math.abs(f[side] - map[side]) > 0.7) wrong.push(name + ": the picture's " + side + " is " + map[side] + ", the axes' " + f[side]);
			if (Math.abs(bar.top - f.top) > 0.7 || Math.abs(bar.bottom - f.bottom) > 0.7) wrong.push(name + ": the bar isn't as high as the axes");
			if (svg.querySelectorAll(".tick").length < 2) wrong.push(name + ": a bar without ticks");
		}
		if (svg.getAttribute("role") !== "img" || !/[0-9]/.test(svg.getAttribute("aria-label"))) wrong.push(name + ": no description in numbers");
	}
	// Only elements that scroll by themselves may reach beyond the window.
	for (const e of document.querySelectorAll("body *")) {
		if (e.closest("svg, .scroll, .skip") || !e.checkVisibility()) continue;
		const b = box(e);
		if (b.width && (b.left < -0.5 || b.right > innerWidth + 0.5)) wrong.push(e.tagName + " " + say(e) + " leaves the window");
	}
	// Texts need a contrast of 4.5, and marks of charts 3.
	const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
	const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const light = c => c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (a, b) => { const [x, y] = [light(rgb(a)), light(rgb(b))].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] > 0) return c; } return "white"; };
	let texts = 0;
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.nodeValue.trim()) || !e.checkVisibility() || e.tagName === "title") continue;
		const style = getComputedStyle(e), c = ratio(e instanceof SVGElement ? style.fill : style.color, behind(e));
		texts++;
		if (!(c >= 4.5) || style.opacity !== "1") wrong.push(e.tagName + " " + say(e) + ": contrast " + c.toFixed(2));
	}
	for (const e of document.querySelectorAll(".dot:not(.many):not(.speck), .line:not(.thin), .triangle, .bar:not(.pale)")) {
		const style = getComputedStyle(e), c = ratio(e.matches(".triangle, .bar") ? style.fill : style.stroke, behind(e));
		if (!(c >= 3)) wrong.push(e.getAttribute("class") + ": contrast " + c.toFixed(2));
	}
	if (texts < 50) wrong.push("only " + texts + " texts were measured");
	// The page needs its landmarks, for screen readers, and links that lead somewhere.
	for (const [what, n] of [["body > header", 1], ["h1", 1], ["nav[aria-label]", 1], ["main", 1], ["body > footer", 1]])
		if (document.querySelectorAll(what).length !== n) wrong.push(document.querySelectorAll(what).length + " of " + what);
	for (const a of document.querySelectorAll("nav a")) if (!document.getElementById(a.hash.slice(1))) wrong.push("a link to nowhere: " + a.hash);
	for (const f of document.querySelectorAll("figure")) if (!f.querySelector("figcaption, .failed") || !f.querySelector("h3")) wrong.push("a figure without a caption");
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	if (new Set(ids).size !== ids.length) wrong.push("an id twice");
	return [...new Set(wrong)];
})()`

// TestReport opens reports in a browser and measures them, at three widths, in light and dark, and with fonts of
// other widths. If SCREENSHOTS names a folder, the test saves pictures there.
func TestReport(t *testing.T) {
	p := must.Get(browser.Open())(t)
	defer p.Close()
	boston := krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.2}, Kernel: krigo.Kernel{ARD: "on"},
		Method: krigo.Method{Inducing: 30, Epochs: 60}, Promise: krigo.Promise{Epsilon: 1}}
	rich, of := shops(t)
	for _, c := range []struct {
		name         string
		table, shown *dataset.Table
		o            krigo.Options
	}{
		{"report", data.Boston(), data.Boston(), boston},
		{"report-1d", data.Snelson(), data.Snelson(),
			krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 8}, Promise: krigo.Promise{Epsilon: 1}}},
		{"report-rich", rich, rich, krigo.Options{Data: of, Kernel: krigo.Kernel{Expression: "rq", ARD: "on"}, Run: krigo.Run{Restarts: 1},
			Promise: krigo.Promise{Curve: true, Slices: []string{"zone", "sd",
				"the area of the whole floor in square metres (m²)"}}}},
		{"report-alone", rich, nil, krigo.Options{Data: of, Run: krigo.Run{Restarts: 1}}},
	} {
		text, titles := written(t, c.table, c.shown, c.o)
		path := filepath.Join(t.TempDir(), "r.html")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		papers := map[bool]string{}
		for _, look := range []struct {
			file  string
			width int
			dark  bool
			font  string
		}{{"", 1200, false, ""}, {"-dark", 1200, true, ""}, {"-tablet", 800, false, "monospace"},
			{"-serif", 800, false, "serif"}, {"-phone", 360, false, ""}, {"-phone-dark", 360, true, ""}} {
			file := c.name + look.file
			must.Do(t, p.Look(look.width, look.dark))
			must.Do(t, p.Go("file://"+path))
			if look.font != "" {
				must.Do(t, p.Eval(`document.head.append(Object.assign(document.createElement("style"), {textContent: "body, `+
					`.chart text { font-family: `+look.font+` }"}))`, nil))
			}
			var wrong []string
			must.Do(t, p.Eval(measures, &wrong))
			for _, what := range wrong {
				t.Errorf("%s: %s", file, what)
			}
			if wide, err := p.Overflow(); err != nil || wide > 0 {
				t.Errorf("%s: %d pixels too wide, %v", file, wide, err)
			}
			var drawn int
			if err := p.Eval(`[...document.querySelectorAll("svg.chart")].filter(s => s.getBoundingClientRect().width > 200 `+
				`&& s.querySelectorAll("path").length > 1).length`, &drawn); err != nil || drawn < len(titles) {
				t.Errorf("%s: %d of %d figures are drawn, %v", file, drawn, len(titles), err)
			}
			var paper string
			must.Do(t, p.Eval(`getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector("svg `+
				`text")).fill`, &paper))
			if known := papers[look.dark]; known != "" && known != paper {
				t.Errorf("%s: colours %s and %s", file, known, paper)
			}
			papers[look.dark] = paper
			if to := os.Getenv("SCREENSHOTS"); to != "" {
				must.Do(t, p.Screenshot(filepath.Join(to, file+".png")))
			}
		}
		must.Hold(t, papers[false] != papers[true],
			"%s: dark and light are %s", c.name, papers[true])
		fewPages(t, p, c.name)
	}
	must.Hold(t, len(p.Errors) == 0, "the console complains: %q", p.Errors)
}

// fewPages: the page that p shows takes at most four sheets of A4. SCREENSHOTS names a folder to keep the PDF in.
func fewPages(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	path := ""
	if to := os.Getenv("SCREENSHOTS"); to != "" {
		path = filepath.Join(to, name+".pdf")
	}
	must.Do(t, p.Paper(718)) // inside the margins
	var cut []string
	must.Do(t, p.Eval(`[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.ariaLabel)`, &cut))
	must.Hold(t, len(cut) == 0, "%s: cut off on paper: %q", name, cut)
	pages, err := p.PDF(path)
	if err != nil || pages < 1 || pages > 4 {
		t.Errorf("%s: %d pages on paper, %v", name, pages, err)
	}
}

// TestWideReport: with 2,000 inputs the report has four pages too, is about as high on the screen as with 20, and fits
// a phone.
func TestWideReport(t *testing.T) {
	p := must.Get(browser.Open())(t)
	defer p.Close()
	high := map[int]int{}
	for _, d := range []int{20, 2000} {
		table := &dataset.Table{Source: "wide"}
		rng := rand.New(rand.NewPCG(1, 4))
		for j := range d {
			table.Names = append(table.Names, fmt.Sprintf("a column with a long name %d", j))
		}
		table.Names = append(table.Names, "y")
		for i := range 150 {
			row := make([]float64, d+1)
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			row[d] += 3 * row[3]
			table.Values, table.Lines, table.Rows = append(table.Values, row...), append(table.Lines, i+2), i+1
		}
		text, _ := written(t, table, table, krigo.Options{Data: krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "linear", ARD: "on"}, Run: krigo.Run{Restarts: 1}})
		path := filepath.Join(t.TempDir(), "r.html")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		must.Do(t, p.Look(360, false))
		must.Do(t, p.Go("file://"+path))
		if wide, err := p.Overflow(); err != nil || wide > 0 {
			t.Errorf("%d inputs: %d pixels too wide, %v", d, wide, err)
		}
		must.Do(t, p.Look(1200, false))
		var is int
		must.Do(t, p.Eval("document.documentElement.scrollHeight", &is))
		high[d] = is
		fewPages(t, p, fmt.Sprintf("report-wide-%d", d))
	}
	must.Hold(t, high[2000] <= high[20]*5/4,
		"%d pixels high with 2,000 inputs, %d with 20", high[2000], high[20])
}

// TestReportByKeyboardAndPrinted shows that Tab visits the links and buttons in order, and that the focus is visible.
// On paper nothing is folded, dark or cut.
func TestReportByKeyboardAndPrinted(t *testing.T) {
	p := must.Get(browser.Open())(t)
	defer p.Close()
	text, _ := written(t, data.Boston(), data.Boston(), krigo.Options{
		Data: krigo.Data{Target: "MEDV", TestFraction: 0.2}, Method: krigo.Method{Inducing: 10, Epochs: 20}})
	path := filepath.Join(t.TempDir(), "r.html")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	must.Do(t, p.Look(1000, true))
	must.Do(t, p.Go("file://"+path))
	var order []string
	for range 15 {
		must.Do(t, p.Press("Tab"))
		var at string
		must.Do(t, p.Eval(`(() => { const e = document.activeElement, s = getComputedStyle(e), b = e.getBoundingClientRect();
			return (b.width > 0 && b.left >= 0 && s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1 ? "" : "unseen ") + (e.getAttribute("href") || e.getAttribute("aria-label") || e.textContent); })()`, &at))
		order = append(order, at)
	}
	if got, want := strings.Join(order, " "), "#content The numbers of: The promise The promise in words What the guarantee "+
		"rests on Errors of the model and of simple predictors #glance #residuals #certificate #function #data #training "+
		"The numbers The 10 worst predictions The columns Hyperparameters"; got != want {
		t.Errorf("the focus goes %s, want %s", got, want)
	}
	var open bool
	must.Do(t, p.Eval(`document.activeElement.focus(), document.querySelector(".folded summary").focus()`,
		nil))
	must.Do(t, p.Press("Enter"))
	if err := p.Eval(`document.querySelector(".folded").open`, &open); err != nil || !open {
		t.Errorf("Enter doesn't unfold: %v", err)
	}
	must.Do(t, p.Paper(700))
	var wrong []string
	if err := p.Eval(`(() => { const wrong = [];
		for (const f of document.querySelectorAll("figure")) if (getComputedStyle(f).breakInside !== "avoid") wrong.push("a figure may be cut");
		for (const d of document.querySelectorAll(".folded table")) if (!d.getBoundingClientRect().height || !d.checkVisibility({contentVisibilityAuto: true})) wrong.push("a table stays folded");
		if (document.querySelector("nav").checkVisibility()) wrong.push("links are on paper");
		if (getComputedStyle(document.body).colorScheme !== "light" && getComputedStyle(document.documentElement).colorScheme !== "light") wrong.push("the paper is dark");
		const top = f => f.getBoundingClientRect().top, fs = [...document.querySelectorAll("#residuals figure")];
		if (top(fs[0]) !== top(fs[2])) wrong.push("figures don't stand side by side");
		for (const f of fs) if (f.getBoundingClientRect().right > innerWidth + 1 || f.getBoundingClientRect().height > 900) wrong.push("a figure is larger than the paper");
		return [...new Set(wrong)]; })()`, &wrong); err != nil || len(wrong) > 0 {
		t.Errorf("on paper: %q, %v", wrong, err)
	}
	if to := os.Getenv("SCREENSHOTS"); to != "" {
		must.Do(t, p.Screenshot(filepath.Join(to, "report-paper.png")))
	}
}
