package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestVerdicts: the rules for trend, spread and tails find simulated effects, and find no effect in at least 95 of 100
// tables of pure noise.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name         string
		z            func(x, e float64) float64
		want, spread string
		tails        string
	}{
		{"noise", func(_, e float64) float64 { return e }, "No trend seen", " The spread looks even", "No heavy tails seen"},
		{"a curve", func(x, e float64) float64 { return e + 6*(x-0.5)*(x-0.5) - 0.5 }, "The mean error changes along it",
			" The spread looks even", "No heavy tails seen"},
		{"a fan", func(x, e float64) float64 { return e * (0.3 + x) }, "No trend seen", " The spread grows along it",
			"No heavy tails seen"},
		{"a closing fan", func(x, e float64) float64 { return e * (1.3 - x) }, "No trend seen",
			" The spread shrinks along it", "No heavy tails seen"},
		{"tails", func(_, e float64) float64 { return e * e * e / 1.5 }, "No trend seen", " The spread looks even",
			"Heavier tails than the normal distribution's"},
	} {
		held := [3]int{}
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 3))
			x, z := make([]float64, 300), make([]float64, 300)
			for i := range x {
				x[i] = rng.Float64()
				z[i] = c.z(x[i], rng.NormFloat64())
			}
			chart := drawing.NewChart("", "")
			trend := trend(chart, tenths(x, z), "along it", func(x, z float64) drawing.XY { return drawing.XY{X: x, Y: z} })
			for k, has := range []bool{strings.HasPrefix(trend, c.want),
				strings.HasPrefix(spreadWith(x, z, "along it"), c.spread), strings.HasPrefix(tailsOf(&sample{z: z}), c.tails)} {
				if has {
					held[k]++
				}
			}
		}
		if slices.Min(held[:]) < 95 {
			t.Errorf("%s: trend, spread and tails were judged rightly in %v of 100 tables", c.name, held)
		}
	}
}

// TestTails shows that few rows have no verdict, unless one of them is too far off for any normal distribution.
func TestTails(t *testing.T) {
	for lead, z := range map[string][]float64{"Too few rows": {0.1, -0.4}, "Heavier tails": {0.1, 2e8},
		"No heavy tails": {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}} {
		must.Hold(t, strings.HasPrefix(tailsOf(&sample{z: z}), lead),
			"%v: %s", z, tailsOf(&sample{z: z}))
	}
}

// TestMedian: the median of two values is their mean.
func TestMedian(t *testing.T) {
	must.Be(t, median([]float64{1, 1e9}), 500_000_000.5)
	must.Be(t, median([]float64{1, 2, 7}), 2)
}

// TestQuantiles: a Q–Q plot of many rows has few points. All points are quantiles of the rows, and both ends are among
// them.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s := &sample{name: "rows"}
	for range 20_000 {
		s.z, s.y = append(s.z, rng.NormFloat64()), append(s.y, 0)
	}
	s.z[7] = 40
	r := &maker{}
	r.begin("a", "A")
	must.Do(t, r.drawQuantiles(s))
	f := r.last().Figures[0]
	if n := strings.Count(string(f.SVG), "h0"); n < 200 || n > 2*mostQuantiles {
		t.Errorf("%d points", n)
	}
	must.Hold(t, strings.Contains(string(f.SVG), "to 40 standard deviations"),
		"the end isn't drawn")
	must.Hold(t, len(r.Warnings) == 1, "%q", r.Warnings)
}

// TestScores: the first part of the page has the errors from the model file and the certificate, beside the baselines'
// errors. For rows from elsewhere the report computes the errors itself.
func TestScores(t *testing.T) {
	table := data.Boston()
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.2},
		Kernel: krigo.Kernel{Expression: "se"}, Run: krigo.Run{Restarts: 1}}))(t)
	own := must.Get(Page{Model: m, Data: table}.made(t.Context()))(t)
	x := m.Context
	want := [][]string{
		{"this model", "102 test rows", number(m.Test.RMSERaw)},
		{"this model", fmt.Sprintf("%d certified rows", x.Rows), number(x.RMSE), number(x.MAE), fmt.Sprintf("%.3f", x.R2)},
		{"a linear model", fmt.Sprintf("%d certified rows", x.Rows), number(x.Linear.RMSE), "", ""},
		{"the constant " + number(x.Constant.Value), fmt.Sprintf("%d certified rows", x.Rows), number(x.Constant.RMSE)}}
	for i, cells := range own.Scores.Cells {
		must.Hold(t, slices.Equal(cells[:len(want[i])], want[i]), "%q, want %q", cells, want[i])
	}
	for _, s := range own.samples { // scores these rows as if they came from elsewhere
		is := own.scored(&sample{kind: kind{role: noRole}, y: s.y, mean: s.mean, z: s.z, miss: s.miss})
		rmse, covered := x.RMSE, x.Coverage95
		if s.role == dataset.Test {
			rmse, covered = m.Test.RMSERaw, m.Test.Coverage95
		}
		if math.Abs(is.rmse/rmse-1) > 1e-9 || math.Abs(is.covered-covered) > 1e-12 {
			t.Errorf("%s: RMSE %v, %v; in 95 %%: %v, %v", s.name, is.rmse, rmse, is.covered, covered)
		}
		if s.role == dataset.Certified && (math.Abs(is.mae/x.MAE-1) > 1e-9 || math.Abs(is.r2-x.R2) > 1e-9 ||
			math.Abs(is.risk-x.MeanRisk) > 1e-12) {
			t.Errorf("%+v, %+v", is, x)
		}
	}
	alone := must.Get(Page{Model: m}.made(t.Context()))(t)
	for i, cells := range alone.Scores.Cells {
		must.Hold(t, cells[2] == own.Scores.Cells[i][2], "without data: %q", cells)
	}
}

// gaps returns a table with missing cells, a category, a date and a column that the model doesn't use.
func gaps(t *testing.T) (*dataset.Table, krigo.Data) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 9))
	var b strings.Builder
	b.WriteString("name,kind,when,x,y\n")
	for i := range 200 {
		x := 10 * rng.Float64()
		cell := fmt.Sprintf("%.2f", x)
		if i%10 == 3 {
			cell = ""
		}
		y := x + 0.1*rng.NormFloat64()
		if i == 150 {
			y += 30
		}
		fmt.Fprintf(&b, "%d,%s,2024-01-%02d,%s,%.2f\n", i, []string{"a", "a", "b & c"}[i%3], 1+i%28, cell, y)
	}
	reading := dataset.Reading{Dates: []dataset.Dates{{Column: "when"}}}
	table := must.Get(files.CSV{From: strings.NewReader(b.String()), Source: "gaps.csv", As: reading}.Read())(t)
	return table, krigo.Data{Target: "y", Categorical: []string{"kind"}, Ignore: []string{"name"}, Missing: "mean"}
}

// TestTables: one table lists the worst rows, with their places and cells in the file. Another lists the columns, with
// their kinds, ranges and missing cells.
func TestTables(t *testing.T) {
	table, of := gaps(t)
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: of, Kernel: krigo.Kernel{Expression: "linear"},
		Run: krigo.Run{Restarts: 1}}))(t)
	for _, i := range []int{5, 93} { // rows that the model hasn't seen
		table.Values[i*5+4] += 1
	}
	of.Target = "y"
	other := *table
	other.Source = "other.csv"
	r := must.Get(Page{Model: m, Data: &other}.made(t.Context()))(t)
	worst := part(t, r, "residuals").Tables[0]
	s := r.main()
	must.Need(t, len(worst.Cells) > 0 && len(worst.Cells) <= mostWorst,
		"%d worst rows", len(worst.Cells))
	seen := map[string]bool{}
	for _, cells := range worst.Cells {
		i := slices.IndexFunc(s.rows, func(row int) bool { return strings.Replace(r.data.Where(row), " ", "\u00a0", 1) == cells[0] })
		must.Need(t, i >= 0, "no row %q", cells[0])
		row := s.rows[i]
		want := map[string]string{"observed": number(table.Values[row*5+4]), "predicted": number(s.mean[i]),
			"kind": []string{"a", "a", "b & c"}[row%3], "when": fmt.Sprintf("2024-01-%02d", 1+row%28),
			"x": number(table.Values[row*5+3])}
		if row%10 == 3 {
			want["x"] = "missing"
		}
		for k, head := range worst.Head {
			if is, known := want[head]; known {
				must.Hold(t, cells[k] == is, "%s of %s: %q, want %q", head, cells[0], cells[k], is)
				seen[head] = true
			}
		}
	}
	must.Hold(t, len(seen) == 5, "%q", worst.Head)
	columns := part(t, r, "data").Tables[0]
	got := map[string]string{}
	for _, cells := range columns.Cells {
		got[cells[0]] = strings.Join(cells[1:], "|")
	}
	for name, want := range map[string]string{"kind": "2 categories|0||mostly a (67.0 %)|",
		"when": "date|0|2024-01-01|2024-01-14|2024-01-28"} {
		must.Be(t, got[name], want, name)
	}
	must.Hold(t, strings.HasPrefix(got["x"], "number|20|0."), "x: %s", got["x"])
	must.Hold(t, strings.Contains(columns.Says, "200 rows") &&
		strings.Contains(columns.Says, "doesn't use 1 column"), "%s", columns.Says)
}

// TestTablesOfOffset: the table of columns has the target as the table has it, and the worst rows say that they have not.
func TestTablesOfOffset(t *testing.T) {
	table, of := gaps(t)
	of.Offset = "x"
	of.Missing = ""
	for i := range table.Rows {
		table.Values[i*5+3] = 1000
		table.Values[i*5+4] += 1000
	}
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: of, Kernel: krigo.Kernel{Expression: "linear"},
		Run: krigo.Run{Restarts: 1}}))(t)
	r := must.Get(Page{Model: m, Data: table}.made(t.Context()))(t)
	row := part(t, r, "data").Tables[0].Cells[0]
	must.Hold(t, row[0] == "y" && strings.HasPrefix(row[len(row)-1], "10"), "%q", row)
	says := part(t, r, "residuals").Tables[0].Says
	must.Hold(t, strings.HasSuffix(says, " Observed values are y − x."), "%s", says)
}

// TestWide: with 2,000 inputs the page names few columns, counts the others, and isn't larger than with 20.
func TestWide(t *testing.T) {
	must.Long(t)
	size := map[int]int{}
	for _, d := range []int{20, 2000} {
		rng := rand.New(rand.NewPCG(1, 4))
		table := &dataset.Table{Source: "wide"}
		for j := range d {
			table.Names = append(table.Names, fmt.Sprintf("column%d", j))
		}
		table.Names = append(table.Names, "y")
		for i := range 120 {
			row := make([]float64, d+1)
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			row[d] = row[3] + 0.1*row[d]
			table.Values, table.Lines, table.Rows = append(table.Values, row...), append(table.Lines, i+2), i+1
		}
		m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "linear", ARD: "on"}, Run: krigo.Run{Restarts: 1}}))(t)
		r := must.Get(Page{Model: m, Data: table}.made(t.Context()))(t)
		var page bytes.Buffer
		must.Do(t, Page{Model: m, Data: table}.Write(t.Context(), &page))
		size[d] = page.Len()
		for _, s := range r.Sections {
			for _, table := range s.Tables {
				must.Hold(t, len(table.Cells) <= mostTold+5,
					"%s has %d rows", table.Name, len(table.Cells))
			}
		}
		columns := part(t, r, "data").Tables[0]
		must.Hold(t, len(columns.Cells) == mostDescribed &&
			strings.Contains(columns.Says, fmt.Sprintf("Not listed: %s less important columns (0 of categories), with 0 missing cells", whole(d+1-mostDescribed))),
			"%d: %s", len(columns.Cells), columns.Says)
	}
	must.Hold(t, size[2000] <= size[20]*3/2,
		"%d bytes with 2,000 inputs, %d with 20", size[2000], size[20])
}

// TestNoticesApart: findings that aren't warnings are in a list of notices, and not among the warnings.
func TestNoticesApart(t *testing.T) {
	m := must.Get(krigo.Fit(t.Context(), data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Inducing: 5}}))(t)
	m.Findings = finding.List{finding.New(finding.FewRows, 3, 4), finding.New(finding.WeightsByCG)}
	r := must.Get(Page{Model: m}.made(t.Context()))(t)
	if notices := part(t, r, "training").Notices; len(notices) != 1 || !strings.HasPrefix(notices[0], "Conjugate gradients") ||
		strings.Contains(strings.Join(r.Warnings, ""), notices[0]) {
		t.Errorf("notices %q, warnings %q", notices, r.Warnings)
	}
	must.Hold(t, strings.Contains(strings.Join(r.Warnings, ""), "Fewer rows (3) than inputs (4)."),
		"%q", r.Warnings)
}

// TestFoot: the foot of the page shows data, version and command, with markup escaped.
func TestFoot(t *testing.T) {
	m := must.Get(krigo.Fit(t.Context(), data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Inducing: 5}}))(t)
	var page bytes.Buffer
	must.Do(t, Page{Model: m, Version: "krigo v9", Command: "krigo report '<m>.krigo'"}.Write(t.Context(), &page))
	for _, want := range []string{"<dd>krigo v9</dd>", "<dd>krigo report &#39;&lt;m&gt;.krigo&#39;</dd>",
		"snelson.csv.gz, 200 rows", m.All[:16]} {
		must.Hold(t, strings.Contains(page.String(), want), "nothing says %q", want)
	}
}
