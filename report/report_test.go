package report_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/report"
)

// written fits and returns the report and its figures' titles.
func written(t *testing.T, table, shown *dataset.Table, o krigo.Options) (string, []string) {
	t.Helper()
	m := must.Get(krigo.Fit(context.Background(), table, o))(t)
	var b bytes.Buffer
	must.Do(t, report.Write(t.Context(), &b, m, shown))
	var titles []string
	for _, match := range regexp.MustCompile(`<figure[^>]*><h3>(.*?)</h3>`).FindAllStringSubmatch(b.String(), -1) {
		titles = append(titles, match[1])
	}
	return b.String(), titles
}

// shops is a table with categories, dates with a period, a column of few numbers, names that are long, and markup.
func shops(t *testing.T) (*dataset.Table, krigo.Data) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("when,zone,heating <kind>,the area of the whole floor in square metres (m²),rooms,price\n")
	for range 500 {
		day, zone, area := rng.IntN(1200), rng.IntN(4), 20+180*rng.Float64()
		fmt.Fprintf(&b, "%04d-%02d-%02d,%s,%s,%.1f,%d,%.1f\n", 2021+day/360, 1+day%360/30, 1+day%28,
			[]string{"centre", "north", "a zone whose name is as long as names of zones get to be",
				"WWWWWWWWWWWWWWWWWWWWWWWW"}[zone],
			[]string{"gas", "electric", "district & <steam>"}[rng.IntN(3)], area, 1+rng.IntN(5),
			1e4*(20+1.2*area+20*float64(zone)+8*rng.NormFloat64()))
	}
	reading := dataset.Reading{Dates: []dataset.Dates{{Column: "when", Parts: []string{"year"}}}}
	table := must.Get(files.CSV{From: strings.NewReader(b.String()), Source: "shops.csv", As: reading}.Read())(t)
	return table, krigo.Data{Target: "price", Categorical: []string{"zone", "heating <kind>"}, TestFraction: 0.2}
}

// withoutPictures leaves out the pixels of heat maps, whose text may hold any word.
func withoutPictures(text string) string {
	return regexp.MustCompile(`base64,[A-Za-z0-9+/=\s]+`).ReplaceAllString(text, "")
}

// TestFigures: the model and the rows decide which figures the page has, and the page says which rows they show.
func TestFigures(t *testing.T) {
	boston, snelson := data.Boston(), data.Snelson()
	rich, of := shops(t)
	boston.Rows, boston.Lines, boston.Values = 200, boston.Lines[:200], boston.Values[:200*len(boston.Names)]
	constant := &dataset.Table{Source: "odd<name>", Names: []string{"a", "b<i>", "c", "y"}}
	for i := range 60 {
		x := float64(i%17) / 17
		constant.Values = append(constant.Values, x, float64(i%7), 5, x+float64(i%3))
		constant.Rows++
	}
	parts := &dataset.Table{Source: "parts.csv", Names: []string{"a", "b", "c", "y"}}
	for i := range 60 {
		a, b, c := math.Sin(float64(i*i)), math.Cos(float64(3*i*i)), float64(i%3)
		parts.Values = append(parts.Values, a, b, c, 2*a+a*b+c/2+0.1*math.Sin(float64(7*i)))
		parts.Rows++
	}
	const glance = "Predicted and observed|Residuals by prediction|Importance|Q–Q plot of residuals|"
	alone := strings.Replace(glance, "Importance|", "", 1) // a model of one column has no figure of importance
	for _, c := range []struct {
		name         string
		table, shown *dataset.Table
		o            krigo.Options
		titles       string
		want         []string
	}{
		{"sparse with test rows", boston, boston, krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.3},
			Method: krigo.Method{Inducing: 10, Epochs: 20}, Kernel: krigo.Kernel{ARD: "on"}},
			"The promise|" + glance + "Calibration|Predicted and observed: certified rows|Residuals in file order|" +
				"Residuals by *|Residuals by *|Residuals by *|Along *|Along *|Along *|Along *|Over *|Training|" +
				"Inducing inputs",
			[]string{"recomputed from model and data (boston.csv.gz) for this page", "60 test rows",
				"Columns depend on one another, most plainly", "this is no share of the variance", "10 inducing inputs",
				"Log evidence", "hold-out bound on the mean", "certified rows, with 99 % confidence over their draw",
				"over the draw of the certified rows", "inside 95\u00a0%", "linear model", "The 10 worst predictions",
				"The bands are the model&#39;s own belief, not certified", "lengthscale of LSTAT",
				"are the model's own belief, not certified"}},
		{"certified rows", snelson, snelson, krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 5}},
			"The promise|" + alone + "Calibration|Residuals in file order|Residuals by x|Along x|Training", []string{"60 certified rows", "where the inducing inputs are"}},
		{"training rows", snelson, snelson, krigo.Options{Data: krigo.Data{Target: "y"},
			Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "grid"}},
			alone + "Residuals in file order|Residuals by x|Along x|Training",
			[]string{"errors on further rows are larger", "The model was trained on these rows too"}},
		{"no data", snelson, nil, krigo.Options{Data: krigo.Data{Target: "y", Scaling: "all-rows"},
			Method: krigo.Method{Name: "evidence"}, Run: krigo.Run{Restarts: 2}},
			"Along x|Training", []string{"No data were given", "as the model file has it", "Not a certificate",
				"heuristic", "the best of 2 starts"}},
		{"categories, dates, every width and kinds of rows", rich, rich,
			krigo.Options{Data: of, Kernel: krigo.Kernel{Expression: "rq", ARD: "on"}, Run: krigo.Run{Restarts: 1},
				Promise: krigo.Promise{Curve: true, Slices: []string{"zone", "sd"}}},
			"The promise|" + glance + "Calibration|Predicted and observed: certified rows|Residuals in file order|" +
				"Residuals by *|Residuals by *|Residuals by *|Kinds of rows|Along *|Along *|Along *|Along *|Training",
			[]string{"Rows have 3 of the model&#39;s 4 categories", "zone = centre", "lengthscale of when year sin",
				"<th scope=\"row\">sd surest</th>", ">2022</text>"}},
		{"no lengthscales, a constant input, names with markup", constant, constant,
			krigo.Options{Data: krigo.Data{Target: "y"}, Prior: krigo.Prior{Kind: "informed"},
				Kernel: krigo.Kernel{Expression: "linear"}},
			glance + "Calibration|Residuals in file order|Residuals by *|Residuals by *|Along *|Along *|Over *|Training",
			[]string{"odd&lt;name&gt;", "b&lt;i&gt;", "Constant in these rows: c", "total Sobol index"}},
		{"parts that add up", parts, parts, krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"c"}},
			Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "grid"},
			Kernel: krigo.Kernel{Expression: "additive", ARD: "on"}},
			glance + "Residuals in file order|Residuals by *|Residuals by *|Residuals by *|Along *|Along *|Along *|Over *|" +
				"a, *|c, *|a · b, *|Training",
			[]string{"± 2 sd", "beyond each alone", "effect on y", "Shares of the parts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, titles := written(t, c.table, c.shown, c.o)
			pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(c.titles), `\*`, `[^|]+`) + "$"
			if got := strings.Join(titles, "|"); !regexp.MustCompile(pattern).MatchString(got) {
				t.Errorf("figures %s, want %s", got, c.titles)
			}
			for _, want := range c.want {
				must.Hold(t, strings.Contains(text, want), "nothing says %q", want)
			}
			strange := regexp.MustCompile(`(src|href)="?https?:|url\(|@import|NaN|b<i>`)
			must.Be(t, strange.FindString(withoutPictures(text)), "", "the page has")
			for _, svg := range regexp.MustCompile(`(?s)<svg class="chart".*?</svg></svg>`).FindAllString(text, -1) {
				d := xml.NewDecoder(strings.NewReader(svg))
				d.DefaultSpace = "svg"
				for {
					if _, err := d.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%v in %.300s", err, svg)
					}
				}
				if strings.Contains(svg, "#0072B2") || strings.Contains(svg, "stroke:#000000") {
					t.Error("a colour that the dark page can't change")
				}
			}
		})
	}
}

// TestExtremeUnits: the report has the same figures, with the inputs in the same order, if the target's squares leave
// the range of float64.
func TestExtremeUnits(t *testing.T) {
	titles := func(unit float64) string {
		table := data.Boston()
		table.Rows, table.Lines, table.Values = 200, table.Lines[:200], table.Values[:200*len(table.Names)]
		for i := len(table.Names) - 1; i < len(table.Values); i += len(table.Names) {
			table.Values[i] *= unit
		}
		text, titles := written(t, table, table, krigo.Options{
			Data:   krigo.Data{Target: "MEDV", TestFraction: 0.3, Split: "last"}, // the same roles in any unit
			Kernel: krigo.Kernel{Expression: "linear"},
		})
		if found := regexp.MustCompile("NaN|Inf").FindString(withoutPictures(text)); found != "" {
			t.Errorf("unit %g: the page has %q", unit, found)
		}
		return strings.Join(titles, "|")
	}
	want := titles(1)
	for _, unit := range []float64{0x1p-700, 0x1p600} {
		must.Be(t, titles(unit), want, fmt.Sprintf("unit %g: figures", unit))
	}
}

// TestRecertifies: a model that its data don't reproduce gets no report with these data.
func TestRecertifies(t *testing.T) {
	m := must.Get(krigo.Fit(context.Background(), data.Boston(),
		krigo.Options{Data: krigo.Data{Target: "MEDV"}, Run: krigo.Run{Restarts: 1},
			Promise: krigo.Promise{Calibration: 0.1}}))(t)
	m.Conformal.HalfWidth /= 10
	if err := report.Write(t.Context(), io.Discard, m, data.Boston()); err == nil ||
		!strings.Contains(err.Error(), "conformal intervals computed from 51 rows") {
		t.Errorf("intervals of a tenth: %v", err)
	}
}

// TestRefuses: rows without the model's columns are an error that names them.
func TestRefuses(t *testing.T) {
	m := must.Get(krigo.Fit(context.Background(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 5}}))(t)
	must.Fail(t, report.Write(t.Context(), io.Discard, m, data.Boston()), `"y"`)
}

// TestBandOfReport: the text never gives the certificate's band a smaller width than the certificate does.
func TestBandOfReport(t *testing.T) {
	text, _ := written(t, data.Snelson(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 5},
			Promise: krigo.Promise{Epsilon: 0.1234112, Units: "raw"}})
	if !strings.Contains(text, "±0.124, the certificate") {
		t.Error(regexp.MustCompile("±[^<]*certificate").FindString(text))
	}
}

// TestOddTables: there is a report for a table of any numbers. Each figure is drawn, or its place says why not.
func TestOddTables(t *testing.T) {
	table := func(n int, row func(i int) []float64) *dataset.Table {
		out := &dataset.Table{Source: "odd", Names: []string{"a", "b", "y"}, Rows: n}
		for i := range n {
			out.Values = append(out.Values, row(i)...)
			out.Lines = append(out.Lines, i+2)
		}
		return out
	}
	wave := func(i int) float64 { return math.Sin(float64(i)) }
	honest := func(i int) []float64 { return []float64{wave(i), wave(3 * i), wave(i) + 0.1*wave(7*i)} }
	for _, c := range []struct {
		name         string
		table, shown *dataset.Table
		want         string
		along        int // number of columns that aren't constant
	}{
		{"timestamps in nanoseconds", table(60,
			func(i int) []float64 { return []float64{1.7e18 + 256*float64(i%3), wave(i), wave(i)} }), nil, "", 2},
		{"one nanosecond apart", table(60, func(i int) []float64 {
			return []float64{1.7e18 + float64(i%3-1), wave(i),
				wave(i)}
		}), nil, "", 1},
		{"days in nanoseconds", table(60, func(i int) []float64 {
			return []float64{1.7e18 + 8.64e13*float64(i), wave(i),
				wave(i)}
		}), nil, "", 2},
		{"a constant input", table(60, func(i int) []float64 { return []float64{7, wave(i), wave(2 * i)} }), nil, "", 1},
		{"the target far from 0", table(60, func(i int) []float64 { return []float64{wave(2 * i), wave(i), 1e12 + wave(i)} }),
			nil, "", 2},
		{"a target of two numbers", table(60, func(i int) []float64 {
			return []float64{wave(2 * i), wave(i),
				float64(i % 2)}
		}), nil, "", 2},
		{"enormous numbers", table(60, func(i int) []float64 {
			return []float64{1e200 * wave(2*i), wave(i),
				1e150 * wave(i)}
		}), nil, "", 2},
		{"tiny numbers", table(60, func(i int) []float64 { return []float64{1e-200 * wave(2*i), wave(i), 1e-150 * wave(i)} }),
			nil, "", 2},
		{"one row", table(60, honest), table(1, honest), "", 2},
		{"rows far away", table(60, honest), table(3, func(i int) []float64 { return []float64{1e300, -1e300, 1e300} }), "",
			2},
		{"rows beyond every range", table(60, honest), table(4, func(i int) []float64 {
			return []float64{wave(i), wave(i), math.MaxFloat64 * float64(1-2*(i%2))}
		}), "can't be drawn", 2},
		{"rows that can't be predicted", table(60, honest),
			table(3, func(i int) []float64 { return []float64{math.MaxFloat64, 1, 1} }), "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			shown := c.shown
			if shown == nil {
				shown = c.table
			}
			text, titles := written(t, c.table, shown, krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.2},
				Run: krigo.Run{Restarts: 1}, Kernel: krigo.Kernel{ARD: "off"}})
			if got := strings.Join(titles, "|"); !strings.HasSuffix(got, "|Training") ||
				strings.Count(got, "Along ") != c.along || !strings.Contains(got, "Importance") {
				t.Errorf("figures %s", got)
			}
			must.Be(t, regexp.MustCompile("NaN|[+-]?Inf[^o]").FindString(withoutPictures(text)), "", "the page has")
			if strings.Contains(text, "drawing it failed") || !strings.Contains(text, c.want) || c.want == "" &&
				strings.Contains(text, "can't be drawn") {
				t.Errorf("%v", regexp.MustCompile("<h3>[^<]*</h3><p class=.failed.>[^<]*").FindAllString(text, -1))
			}
		})
	}
}
