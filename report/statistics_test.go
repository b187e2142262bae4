package report

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// additive returns rows, their columns, a function of the rows, and the true shares of its variance. The function is 3
// x1 + x2 + 2·1{the second of three categories}. It doesn't depend on x3, and x4 is constant. The variances of its
// parts are 9, 1 and 4·(2/9).
func additive(n int, seed uint64) (rows, []column, func(x []float64) ([]float64, error), []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	r := rows{d: 7}
	for range n {
		row := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 5, 0, 0, 0}
		row[4+rng.IntN(3)] = 1
		r.x = append(r.x, row...)
	}
	columns := []column{{name: "x1", inputs: []int{0}}, {name: "x2", inputs: []int{1}}, {name: "x3", inputs: []int{2}},
		{name: "kind", inputs: []int{4, 5, 6}, categories: []string{"a", "b", "c"}}}
	f := func(x []float64) (out []float64, err error) {
		for i := 0; i < len(x); i += 7 {
			if x[i+4]+x[i+5]+x[i+6] != 1 {
				return nil, fmt.Errorf("a row of categories %v", x[i+4:i+7])
			}
			out = append(out, 3*x[i]+x[i+1]+2*x[i+5])
		}
		return out, nil
	}
	of := 9 + 1 + 4*2./9
	return r, columns, f, []float64{9 / of, 1 / of, 0, 4 * 2. / 9 / of}
}

// TestImportances: importances finds the shares of a known function's parts, with a category as one column. Intervals
// hold the truth about as often as their level says. The same rows give the same numbers.
func TestImportances(t *testing.T) {
	held, all := 0, 0
	for seed := range uint64(60) {
		r, columns, f, truth := additive(300, seed)
		found := must.Get(importances(f, r, columns))(t)
		again, err := importances(f, r, columns)
		must.Need(t, err == nil && slices.Equal(found, again), "%v, then %v, %v", found, again, err)
		var order []string
		for _, p := range found {
			order = append(order, columns[p.column].name)
			if math.Abs(p.share-truth[p.column]) > 0.15 || !(p.low <= p.share && p.share <= p.high) {
				t.Errorf("%s: %+v, the truth is %.3f", columns[p.column].name, p, truth[p.column])
			}
			if p.column == 2 {
				must.Hold(t, p.share == 0 && p.high == 0, "x3, which isn't there, has %+v", p)
				continue
			}
			if all++; p.low <= truth[p.column] && truth[p.column] <= p.high {
				held++
			}
		}
		must.Hold(t, order[0] == "x1" && order[3] == "x3", "order %v", order)
	}
	t.Logf("%d of %d intervals hold the truth", held, all)
	if share := float64(held) / float64(all); share < 0.88 { // 180 intervals of 95 %, in threes of the same rows
		t.Errorf("%d of %d intervals hold the truth", held, all)
	}
}

// TestImportanceOfInteraction: for the function x1·x2, each of the two columns has a share of all of the variance.
func TestImportanceOfInteraction(t *testing.T) {
	r, columns, _, _ := additive(2000, 1)
	found := must.Get(importances(func(x []float64) (out []float64, err error) {
		for i := 0; i < len(x); i += 7 {
			out = append(out, x[i]*x[i+1])
		}
		return out, nil
	}, r, columns))(t)
	for _, p := range found[:2] {
		must.Hold(t, p.column <= 1 && math.Abs(p.share-1) <= 0.2, "%+v", found)
	}
	must.Refuse(importances(func(x []float64) ([]float64, error) { return ones(len(x) / 7), nil }, r,
		columns))(t, "", "a constant has importances")
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// fitted fits a model and returns the maker of its report.
func fitted(t *testing.T, table, shown *dataset.Table, o krigo.Options) *maker {
	t.Helper()
	m := must.Get(krigo.Fit(context.Background(), table, o))(t)
	return must.Get(Page{Model: m, Data: shown}.made(t.Context()))(t)
}

// figure returns the figure with this title.
func figure(t *testing.T, r *maker, title string) Figure {
	t.Helper()
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			if f.Title == title {
				return f
			}
		}
	}
	t.Fatalf("no figure %q", title)
	return Figure{}
}

// part returns the section with this ID.
func part(t *testing.T, r *maker, id string) *section {
	t.Helper()
	i := slices.IndexFunc(r.Sections, func(s *section) bool { return s.ID == id })
	must.Need(t, i >= 0, "no section %q", id)
	return r.Sections[i]
}

// kinds returns a table with dates and a category. Its target is 3 x1 + x2 plus a number that depends on the category.
func kinds(t *testing.T) *dataset.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 2))
	var b strings.Builder
	b.WriteString("x1,when,kind,x2,x3,same,y\n")
	for range 300 {
		k := []int{0, 0, 0, 1, 1, 2}[rng.IntN(6)]
		x1, x2 := rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&b, "%.4f,2024-%02d-%02d,%s,%.4f,%.4f,7,%.4f\n", x1, 1+rng.IntN(12), 1+rng.IntN(28),
			[]string{"plain", "fine", "odd"}[k], x2, rng.NormFloat64(), 3*x1+x2+2*float64(k)+0.1*rng.NormFloat64())
	}
	of := dataset.Reading{Dates: []dataset.Dates{{Column: "when", Parts: []string{"year", "week"}}}}
	return must.Get(files.CSV{From: strings.NewReader(b.String()), Source: "kinds.csv", As: of}.Read())(t)
}

// TestColumns: a category is one column, and a date is one column together with the inputs that came from it. A
// constant column isn't ranked, and the columns that the target depends on come first.
func TestColumns(t *testing.T) {
	table := kinds(t)
	r := fitted(t, table, table, krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"kind"},
		TestFraction: 0.2}, Kernel: krigo.Kernel{Expression: "se", ARD: "on"}, Run: krigo.Run{Restarts: 1}})
	var names []string
	seen := map[int]bool{}
	for _, c := range r.columns {
		names = append(names, fmt.Sprintf("%s %d", c.name, len(c.inputs)))
		for _, j := range c.inputs {
			if of := r.m.Inputs[j]; seen[j] || !strings.HasPrefix(of, c.name) {
				t.Errorf("%s has the input %s", c.name, of)
			}
			seen[j] = true
		}
	}
	if got := strings.Join(names, ", "); got != "x1 1, when 5, kind 4, x2 1, x3 1, same 1" ||
		len(seen) != len(r.m.Inputs) {
		t.Errorf("columns %s of %q", got, r.m.Inputs)
	}
	var order []string
	for _, k := range r.order {
		order = append(order, r.columns[k].name)
	}
	if len(order) != 5 || strings.Join(order[:3], " ") != "x1 kind x2" && strings.Join(order[:3], " ") != "x1 x2 kind" {
		t.Errorf("order %v", order)
	}
	must.Hold(t, strings.Contains(r.by, "Constant in these rows: same"), "%v", r.by)
	// Slices go through a real row that has the commonest category. A slice along a date takes the date's parts from
	// real rows.
	middle := r.real.at(r.middle)
	isReal := func(row []float64, of ...column) bool {
		for i := range r.real.n() {
			if !slices.ContainsFunc(of, func(c column) bool {
				return slices.ContainsFunc(c.inputs, func(j int) bool { return r.real.at(i)[j] != row[j] })
			}) {
				return true
			}
		}
		return false
	}
	must.Hold(t, isReal(middle, r.columns...), "%v is no row", middle)
	kind := r.columns[2]
	must.Be(t, kind.categories[int(kind.value(middle))], "plain", "the slices are at")
	for k, c := range r.columns {
		of := levels(r.real, c)
		x, values := r.grid(c, middle, of)
		must.Need(t, len(values) >= 1 && len(x) == len(values)*len(r.m.Inputs),
			"%s: %d values", c.name, len(values))
		for i := range values {
			row := x[i*len(r.m.Inputs):][:len(r.m.Inputs)]
			for o, other := range r.columns {
				must.Need(t, o == k || slices.Equal(at(row, other), at(middle, other)),
					"along %s %s moves", c.name, other.name)
			}
			must.Hold(t, len(c.inputs) <= 1 || isReal(row, c),
				"along %s no row has %v", c.name, at(row, c))
		}
		if c.name == "kind" {
			must.Hold(t, len(of) == 3 && of[0].name == "plain" && of[2].name == "odd",
				"levels %+v", of)
		}
	}
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			must.Hold(t, f.Failed == "", "%s: %s", f.Title, f.Failed)
		}
	}
}

func at(row []float64, c column) (vs []float64) {
	for _, j := range c.inputs {
		vs = append(vs, row[j])
	}
	return vs
}

// TestMisses: for every loss that is 0 or 1, figures draw and mark all misses that the certificate and the test figures
// count.
func TestMisses(t *testing.T) {
	for _, loss := range []string{"band", "relative", "scaled", "asymmetric", "clipped-square"} {
		t.Run(loss, func(t *testing.T) {
			o := krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.3},
				Method: krigo.Method{Inducing: 10, Epochs: 20}, Promise: krigo.Promise{Loss: loss, Epsilon: 0.3}}
			if loss == "asymmetric" {
				o.Promise.EpsilonAbove = 0.6
			}
			if loss == "scaled" {
				o.Promise.Epsilon = 1
			}
			r := fitted(t, data.Boston(), data.Boston(), o)
			if len(r.samples) != 2 || r.samples[0].of != "test rows" || r.samples[1].of != "certified rows" {
				t.Fatalf("samples %+v", r.samples)
			}
			test, certified := r.samples[0], r.samples[1]
			if loss == "clipped-square" {
				must.Hold(t, test.miss == nil && certified.miss == nil,
					"a loss of degrees has misses")
				return
			}
			if n := len(certified.y); n != r.m.Certificate.Rows ||
				float64(certified.misses())/float64(n) != r.m.Certificate.EmpiricalRisk || certified.misses() == 0 {
				t.Errorf("%d of %d certified rows, the certificate has %v of %d", certified.misses(), n,
					r.m.Certificate.EmpiricalRisk, r.m.Certificate.Rows)
			}
			if n := len(test.y); n != r.m.Test.Rows || float64(test.misses())/float64(n) != r.m.Test.MeanRisk ||
				test.misses() == 0 {
				t.Errorf("%d of %d test rows, the figures have %v of %d", test.misses(), n, r.m.Test.MeanRisk, r.m.Test.Rows)
			}
			if loss == "band" {
				for i, miss := range certified.miss {
					if off := math.Abs(certified.y[i] - certified.mean[i]); miss != (off > r.m.Certificate.EpsilonRaw) &&
						math.Abs(off-r.m.Certificate.EpsilonRaw) > 1e-9 {
						t.Errorf("a row %v off is a miss: %v", off, miss)
					}
				}
			}
			f := figure(t, r, "Predicted and observed: certified rows")
			found := regexp.MustCompile(`<path class="triangle orange" d="(M[^"]*)"/></svg>`).FindStringSubmatch(string(f.SVG))
			if found == nil || strings.Count(found[1], "M") != certified.misses() ||
				!strings.Contains(f.Caption, fmt.Sprintf("%d rows (", certified.misses())) {
				t.Errorf("%d misses, %s: %q", certified.misses(), f.Caption, found)
			}
		})
	}
}

// TestWithoutData: without data, the report draws a model at the rows that its file holds, or at inducing inputs, and
// says what is missing.
func TestWithoutData(t *testing.T) {
	table := kinds(t)
	for _, inducing := range []int{0, 12} {
		o := krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"kind"}}, Run: krigo.Run{Restarts: 1},
			Kernel: krigo.Kernel{Expression: "se"}}
		if inducing > 0 {
			o.Method = krigo.Method{Inducing: inducing, Epochs: 10}
		}
		r := fitted(t, table, nil, o)
		d := must.Get(r.m.Labelled(table))(t)
		x, _, err := d.Select(d.All())
		must.Do(t, err)
		all := rows{d: d.Cols, x: x}
		for i := range r.real.n() {
			row := r.real.at(i)
			if k := r.columns[2]; row[k.inputs[0]]+row[k.inputs[1]]+row[k.inputs[2]]+row[k.inputs[3]] != 1 {
				t.Fatalf("a row of no category: %v", row)
			}
			found := false
			for o := range all.n() {
				far := 0.
				for j, v := range all.at(o) {
					far = max(far, math.Abs(v-row[j])/r.m.Scaling.InputScale[j])
				}
				found = found || far < 1e-9
			}
			must.Need(t, found || inducing != 0, "%v is no row of the table", row)
		}
		must.Hold(t, r.real.n() != 0 && len(r.samples) == 0,
			"%d rows, %d samples", r.real.n(), len(r.samples))
		want := "the rows that trained the model"
		if inducing > 0 {
			want = "inducing inputs"
		}
		if a, b := part(t, r, "glance").Missing, part(t, r, "function").Missing; a == "" || !strings.Contains(b, want) {
			t.Errorf("%q, %q", a, b)
		}
	}
}

// TestManyColumns: if there are too many columns to rank all, the report ranks the columns along which the mean is
// steepest.
func TestManyColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const d = 120
	table := &dataset.Table{Source: "wide"}
	for j := range d {
		table.Names = append(table.Names, fmt.Sprintf("x%d", j))
	}
	table.Names = append(table.Names, "y")
	for i := range 150 {
		row := make([]float64, d+1)
		for j := range d {
			row[j] = rng.NormFloat64()
		}
		row[d] = 3*row[100] + row[50] + 0.1*rng.NormFloat64()
		table.Values, table.Lines, table.Rows = append(table.Values, row...), append(table.Lines, i+2), i+1
	}
	for _, mean := range []string{"zero", "linear"} {
		r := fitted(t, table, table, krigo.Options{Data: krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "linear", Mean: mean}, Run: krigo.Run{Restarts: 1}})
		if len(r.ranked) != mostRanked || r.columns[r.order[0]].name != "x100" || len(r.order) != d {
			t.Errorf("%s: %d ranked of %d, the first is %s", mean, len(r.ranked), len(r.order), r.columns[r.order[0]].name)
		}
		must.Hold(t, mean != "zero" || r.columns[r.order[1]].name == "x50",
			"the second is %s", r.columns[r.order[1]].name)
		must.Hold(t, strings.Contains(r.by, "40 columns of 120 were ranked"), "%v", r.by)
	}
}

// TestWords: the page names hyperparameters by columns, and gives them in the columns' units too, never as logarithms.
func TestWords(t *testing.T) {
	r := fitted(t, data.Boston(), data.Boston(),
		krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{Expression: "matern32+linear", ARD: "on",
			Mean: "linear"}, Run: krigo.Run{Restarts: 1}})
	var dis []string
	for _, cells := range r.hyperparameters() {
		must.Need(t, len(cells) == 3, "%q", cells)
		if strings.HasPrefix(cells[0], "lengthscale of DIS") {
			dis = cells
		}
		must.Hold(t, !strings.Contains(cells[0], "log_") && !strings.Contains(cells[0], "["),
			"%q", cells)
	}
	j := slices.Index(r.m.Inputs, "DIS")
	l := lengthscales(r.q.Kernel.Spec(r.q.Theta), model.InputsOf(r.m.Inputs, nil))[j]
	if dis == nil || dis[1] != number(l)+"; –" || dis[2] != number(l*r.m.Scaling.InputScale[j])+"; –" {
		t.Errorf("DIS is told as %q, its lengthscale is %v", dis, l)
	}
}

// TestNotes: the page tells each finding in one sentence.
func TestNotes(t *testing.T) {
	table := data.Boston()
	m := must.Get(krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{Expression: "se", ARD: "on"},
			Method: krigo.Method{Inducing: 5, Epochs: 3}}))(t)
	m.Findings = finding.List{finding.New(finding.LengthscaleHigh, "lengthscale", m.Inputs, "", 0.01, 100.)}
	r := must.Get(Page{Model: m}.made(t.Context()))(t)
	notes := slices.DeleteFunc(r.Warnings, func(text string) bool { return !strings.Contains(text, " end of its range") })
	must.Hold(t, len(notes) == 1 && strings.Contains(notes[0], strings.Join(m.Inputs[:8], ", ")) &&
		strings.HasSuffix(notes[0], "."), "%q", r.Warnings)
}

// TestGuard: if drawing a figure fails or panics, the figure's place shows the reason.
func TestGuard(t *testing.T) {
	r := &maker{}
	s := r.begin("a", "A")
	r.guard("One", func() error { panic("a bin") })
	r.guard("Two", func() error { return drawing.ErrRange })
	r.guard("Three", func() error { return nil })
	if f := s.Figures; len(f) != 2 || f[0].Failed != "drawing it failed (a bin)" || f[1].Title != "Two" ||
		f[1].Failed != drawing.ErrRange.Error() {
		t.Errorf("%+v", f)
	}
}

// TestTenths: the parts are in the order of x, and each has at least ten rows.
func TestTenths(t *testing.T) {
	var x, z []float64
	for i := range 200 {
		x, z = append(x, float64((i*77)%200)), append(z, float64((i*77)%200)/100)
	}
	all := tenths(x, z)
	must.Hold(t, len(all) == 10 && math.Abs(all[0].mean-0.095) <= 1e-12 &&
		math.Abs(all[9].mean-1.895) <= 1e-12 && math.Abs(all[0].se-math.Sqrt(35./20)*0.01) <= 1e-12,
		"%+v", all)
	same := make([]float64, 200)
	for i := range same {
		same[i] = float64(min(2, i%4))
	}
	if all := tenths(same, z); len(all) != 3 || all[0].x != 0 || all[1].x != 1 || all[2].x != 2 {
		t.Errorf("parts of three values: %+v", all)
	}
	must.Be(t, len(tenths(x[:35], z[:35])), 3)
}

// TestDependentColumns: the report calls importance a share of the variance, or a Sobol index, only if columns look
// independent. Otherwise it names columns that depend on one another.
func TestDependentColumns(t *testing.T) {
	made := func(row func(rng *rand.Rand) []float64) *dataset.Table {
		rng := rand.New(rand.NewPCG(6, 6))
		table := &dataset.Table{Source: "t", Names: []string{"x1", "x2", "x3", "y"}, Rows: 250}
		for i := range table.Rows {
			table.Values = append(table.Values, row(rng)...)
			table.Lines = append(table.Lines, i+2)
		}
		return table
	}
	for name, c := range map[string]struct {
		row  func(rng *rand.Rand) []float64
		want string
	}{
		"independent": {func(rng *rand.Rand) []float64 {
			a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			return []float64{a, b, c, a + b + 0.1*rng.NormFloat64()}
		}, ""},
		"alike": {func(rng *rand.Rand) []float64 {
			z := rng.NormFloat64()
			a, b, c := z+0.15*rng.NormFloat64(), z+0.15*rng.NormFloat64(), rng.NormFloat64()
			return []float64{a, b, c, 10*a - 9.5*b + c + 0.3*rng.NormFloat64()}
		}, "most plainly x1 and x2 (rank correlation 0.9"},
		"a square": {func(rng *rand.Rand) []float64 {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			return []float64{a, b, b*b + 0.2*rng.NormFloat64(), a + b + 0.1*rng.NormFloat64()}
		}, "most plainly x2 and x3 (rank correlation, of one column's distance from its middle 0."},
	} {
		t.Run(name, func(t *testing.T) {
			table := made(c.row)
			r := fitted(t, table, table, krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.2},
				Kernel: krigo.Kernel{Expression: "linear", ARD: "on"}, Run: krigo.Run{Restarts: 1}})
			f := figure(t, r, "Importance")
			page := string(f.SVG) + f.Caption + fmt.Sprint(f.Head, f.Cells)
			must.Hold(t, strings.HasPrefix(f.Caption, "How far the prediction moves"),
				"%s", f.Caption)
			if shares := c.want == ""; strings.Contains(page, "Sobol") != shares ||
				strings.Contains(fmt.Sprint(f.Cells), "%") != shares ||
				strings.Contains(html.UnescapeString(page), "share of the mean's variance") != shares ||
				!strings.Contains(page, c.want) {
				t.Errorf("%s %v %v", f.Caption, f.Head, f.Cells)
			}
		})
	}
}

// TestIndependentColumns: dependenceOf finds no dependence in tables of independent columns, with numbers and
// categories.
func TestIndependentColumns(t *testing.T) {
	for seed := range uint64(100) {
		for _, n := range []int{20, 300} {
			r, columns, _, _ := additive(n, seed)
			if found, dependent := dependenceOf(r, columns); dependent {
				t.Errorf("seed %d: %d rows: %+v", seed, n, found)
			}
			for i := range n { // a row's category now shifts its number in column 2
				if row := r.at(i); row[4] == 1 {
					row[2] += 3
				}
			}
			if found, dependent := dependenceOf(r, columns); n == 300 && (!dependent || found.a != 2 || found.b != 3) {
				t.Errorf("seed %d: %+v", seed, found)
			}
		}
	}
}

// TestNothingCertified: the page of a model without a certificate, or of a backtest, calls nothing certified and speaks
// of no guarantee.
func TestNothingCertified(t *testing.T) {
	rows := data.Boston()
	rows.Rows, rows.Lines, rows.Values = 120, rows.Lines[:120], rows.Values[:120*len(rows.Names)]
	for name, o := range map[string]krigo.Options{
		"too few rows": {Data: krigo.Data{Target: "MEDV", TestFraction: 0.2}, Prior: krigo.Prior{Share: 0.9}},
		"trained on": {Data: krigo.Data{Target: "MEDV", TestFraction: 0.2}, Prior: krigo.Prior{Kind: "grid"},
			Method: krigo.Method{Name: "evidence", Solver: "cg"}},
		"a backtest": {Data: krigo.Data{Target: "MEDV", Split: "last"}},
		"certified":  {Data: krigo.Data{Target: "MEDV", TestFraction: 0.2}, Prior: krigo.Prior{Kind: "informed"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Kernel, o.Run.Restarts = krigo.Kernel{Expression: "linear", ARD: "off"}, 1
			r := fitted(t, rows, rows, o)
			var page strings.Builder
			must.Do(t, pageTemplate.Execute(&page, r.content))
			text := strings.NewReplacer("No certificate:", "", "not certified", "", "not a certificate", "",
				html.EscapeString(r.Sentence), "", html.EscapeString(cmp.Or(r.m.CertificateReason, "\x00")),
				"none").Replace(page.String())
			for _, reason := range r.Conditions {
				text = strings.ReplaceAll(text, html.EscapeString(reason), "")
			}
			if said, is := regexp.MustCompile("[^.<>]*(certified|the guarantee is|the certificate's "+
				"ε)[^.<>]*").FindString(text), name == "certified"; (said != "") != is {
				t.Errorf("valid: %v: %q", is, said)
			}
			must.Hold(t, len(r.samples) > 0, "no rows are drawn")
		})
	}
}

// TestManyCategories: if a figure has room for some categories only, its caption says how many categories and how many
// rows are drawn.
func TestManyCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var b strings.Builder
	b.WriteString("x,kind,y\n")
	for range 260 {
		x, k := rng.Float64(), rng.IntN(50)
		fmt.Fprintf(&b, "%.4f,category number %d of a longish text,%.4f\n", x, k, x+float64(k)/5)
	}
	table := must.Get(files.CSV{From: strings.NewReader(b.String()), Source: "wide.csv"}.Read())(t)
	r := fitted(t, table, table, krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"kind"}},
		Kernel: krigo.Kernel{Expression: "linear", ARD: "off"}, Promise: krigo.Promise{Population: "same"}, Run: krigo.Run{Restarts: 1}})
	f := figure(t, r, "Residuals by kind")
	found := regexp.MustCompile(` Drawn are the (\d+) rows of the 12 commonest of 5\d categories\.`)
	at := found.FindStringSubmatch(f.Caption)
	must.Need(t, at != nil, "%s", f.Caption)
	if n := must.Get(strconv.Atoi(at[1]))(t); n < 12 || n >= len(r.main().y) {
		t.Errorf("%d rows of %d are drawn", n, len(r.main().y))
	}
}

// TestCorrelation: correlation is right even if squares leave the range of float64, and NaN if predictions differ by
// rounding only.
func TestCorrelation(t *testing.T) {
	y, mean := []float64{1, 2, 4, 3}, []float64{2, 3, 3, 5}
	for _, c := range []struct{ y, mean, want float64 }{{1, 1, 2.5 / math.Sqrt(23.75)},
		{1e-200, 1e200, 2.5 / math.Sqrt(23.75)}, {1e300, 1e-310, 2.5 / math.Sqrt(23.75)}, {0, 1, math.NaN()}} {
		a, b := make([]float64, 4), make([]float64, 4)
		for i := range a {
			a[i], b[i] = y[i]*c.y, mean[i]*c.mean
		}
		if got := correlation(a, b); !(math.Abs(got-c.want) < 1e-9) && !(got != got && c.want != c.want) {
			t.Errorf("values times %g and %g: %v, want %v", c.y, c.mean, got, c.want)
		}
	}
	if got := correlation(y, []float64{1, 1 + 0x1p-52, 1, 1}); got == got {
		t.Errorf("with a constant but for rounding: %v", got)
	}
}
