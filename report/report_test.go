package report_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/report"
)

// written fits and returns the report and its figures' titles.
func written(t *testing.T, table, shown *dataset.Table, o krigo.Options) (string, []string) {
	t.Helper()
	m, err := krigo.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Write(&b, m, shown); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, match := range regexp.MustCompile(`<figure[^>]*><h3>(.*?)</h3>`).FindAllStringSubmatch(b.String(), -1) {
		titles = append(titles, match[1])
	}
	return b.String(), titles
}

// withoutPictures leaves out the pixels of heat maps, whose text may hold any word.
func withoutPictures(text string) string {
	return regexp.MustCompile(`base64,[A-Za-z0-9+/=\s]+`).ReplaceAllString(text, "")
}

// TestFigures: which figures there are depends on the model and the rows, and the page says
// which rows they show.
func TestFigures(t *testing.T) {
	boston, snelson := data.Boston(), data.Snelson()
	boston.Rows, boston.Lines, boston.Values = 200, boston.Lines[:200], boston.Values[:200*len(boston.Names)]
	constant := &dataset.Table{Source: "odd<name>", Names: []string{"a", "b<i>", "c", "y"}}
	for i := range 60 {
		x := float64(i%17) / 17
		constant.Values = append(constant.Values, x, float64(i%7), 5, x+float64(i%3))
		constant.Rows++
	}
	for _, c := range []struct {
		name         string
		table, shown *dataset.Table
		o            krigo.Options
		titles       string
		want         []string
	}{
		{"sparse with test rows", boston, boston, krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.3}, Method: krigo.Method{Inducing: 10, Epochs: 20}, Kernel: krigo.Kernel{ARD: "on"}},
			"Training|Predicted and observed|Residuals|Calibration|Relevance|Along *|Along *|Along *|Along *|The two most relevant inputs|Inducing inputs",
			[]string{"Recomputed from model and data (boston.csv.gz) for this page.", "60 test rows", "inverse lengthscale", "10 inducing inputs", "Log evidence", "hold-out bound on the mean", "certified rows, with 99 % confidence over their draw",
				"over the draw of the certified rows", "Within the model&#39;s own 95 % intervals", "95 % intervals that are the model&#39;s own belief, not certified", "are the model's own belief, not certified"}},
		{"training rows", snelson, snelson, krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 5}},
			"Training|Predicted and observed|Residuals|Along x", []string{"made from, which it predicts better", "where the inducing inputs are"}},
		{"no data", snelson, nil, krigo.Options{Data: krigo.Data{Target: "y", Scaling: "all-rows"}, Method: krigo.Method{Name: "evidence"}, Run: krigo.Run{Restarts: 2}},
			"Training|Along x", []string{"As the model file has it, not recomputed", "Not a certificate", "heuristic", "the best of 2 starts"}},
		{"no lengthscales, a constant input, names with markup", constant, constant, krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "linear"}},
			"Training|Predicted and observed|Residuals|Relevance|Along *|Along *|Along *|The two most relevant inputs", []string{"odd&lt;name&gt;", "b&lt;i&gt;", "standard deviation of the mean along the input"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, titles := written(t, c.table, c.shown, c.o)
			pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(c.titles), `\*`, `[^|]+`) + "$"
			if got := strings.Join(titles, "|"); !regexp.MustCompile(pattern).MatchString(got) {
				t.Errorf("figures %s, want %s", got, c.titles)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("nothing says %q", want)
				}
			}
			if found := regexp.MustCompile(`(src|href)="?https?:|url\(|@import|NaN|b<i>`).FindString(withoutPictures(text)); found != "" {
				t.Errorf("the page has %q", found)
			}
			for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1) {
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

// TestExtremeUnits: in a unit in which squares leave the range of float64 the report has the same
// figures, of the inputs in the same order.
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
		if got := titles(unit); got != want {
			t.Errorf("unit %g: figures %s, want %s", unit, got, want)
		}
	}
}

// TestRecertifies: a model that isn't what its data make it has no report with them.
func TestRecertifies(t *testing.T) {
	m, err := krigo.Fit(context.Background(), data.Boston(), krigo.Options{Data: krigo.Data{Target: "MEDV"}, Run: krigo.Run{Restarts: 1}, Promise: krigo.Promise{Calibration: 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	m.Conformal.HalfWidth /= 10
	if err := report.Write(io.Discard, m, data.Boston()); err == nil || !strings.Contains(err.Error(), "conformal intervals of 51 rows") {
		t.Errorf("intervals of a tenth: %v", err)
	}
}

// TestRefuses: rows without the model's columns are an error that names them.
func TestRefuses(t *testing.T) {
	m, err := krigo.Fit(context.Background(), data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Write(io.Discard, m, data.Boston()); err == nil || !strings.Contains(err.Error(), `"y"`) {
		t.Errorf("%v", err)
	}
}

// TestBandOfReport: the band that is drawn as the certificate's isn't said to be narrower than it is.
func TestBandOfReport(t *testing.T) {
	text, _ := written(t, data.Snelson(), data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 5}, Promise: krigo.Promise{Epsilon: 0.123412, Units: "raw"}})
	if !strings.Contains(text, "± 0.1235, the certificate") {
		t.Error(regexp.MustCompile("±[^<]*certificate").FindString(text))
	}
}
