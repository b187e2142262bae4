package verify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// fitted fits the rows of a text, and returns whether verify.py agrees with the model, and its words.
// other may change the table that verify.py reads.
func fitted(t *testing.T, text string, as dataset.Reading, target string, other ...string) (bool, string) {
	t.Helper()
	folder := t.TempDir()
	model, table := filepath.Join(folder, "m.krigo"), filepath.Join(folder, "table")
	must.Do(t, os.WriteFile(table, []byte(text), 0o600))
	rows := must.Get(files.CSV{From: strings.NewReader(text), Source: table, As: as}.Read())(t)
	o := krigo.Options{Data: krigo.Data{Target: target, Missing: "mean"},
		Kernel: krigo.Kernel{Expression: "se"}, Run: krigo.Run{Restarts: 1}}
	must.Do(t, must.Get(krigo.Fit(t.Context(), rows, o))(t).Save(model))
	if len(other) > 0 {
		must.Do(t, os.WriteFile(table, []byte(strings.NewReplacer(other...).Replace(text)), 0o600))
	}
	return verify(t, model, table)
}

// rowOf writes a row of the tests below: a time, an input and a target.
func rowOf(form string) (text string) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 120 {
		at := time.Date(1961, 3, 5, 0, 0, 0, 0, time.FixedZone("", -19800)).Add(time.Duration(rng.Int64N(2e18)))
		x := 5 * rng.Float64()
		when := at.Format(form)
		if i%17 == 0 {
			when = "NA"
		}
		text += fmt.Sprintf("%s;%.3f;%.4f\n", when, x, math.Sin(x)+0.1*rng.NormFloat64())
	}
	return text
}

// TestDates shows that verify.py reads columns of dates, and their places in a period, to the last bit.
func TestDates(t *testing.T) {
	forms := []string{"2006-01-02", "2.1.2006 15:04", "1/2/06 3:04 PM", "2 Jan 2006",
		"Mon, 2 Jan 2006 15:04:05-0700", "2006-01-02T15:04:05.000000Z07:00", "20060102T150405Z07:00",
		"01/2006", "15:04:05", "20060102"}
	if testing.Short() {
		forms = forms[:3]
	}
	for _, form := range forms {
		as := dataset.Reading{Dates: []dataset.Dates{
			{Column: "when", Parts: []string{"day", "week", "year"}}}}
		switch {
		case strings.HasPrefix(form, "2.1."):
			as.Dates[0].Form = "dmy"
		case strings.HasPrefix(form, "1/2/"):
			as.Dates[0].Form = "mdy"
		}
		agrees, said := fitted(t, "when;x;y\n"+rowOf(form), as, "y")
		must.Hold(t, agrees, "%s: %s", form, said)
	}
	agrees, said := fitted(t, "when;x;y\n"+rowOf("2006-01-02"),
		dataset.Reading{Dates: []dataset.Dates{{Column: "when"}}}, "y", "when;", "then;")
	must.Hold(t, !agrees && strings.Contains(said, `lacks the column of dates 'when'`), "%s", said)
	agrees, said = fitted(t, "when;x;y\n"+rowOf("2006-01-02"),
		dataset.Reading{Dates: []dataset.Dates{{Column: "when"}}}, "y", "NA;", "Easter;")
	must.Hold(t, !agrees && strings.Contains(said, `not checked by this program: 'Easter' as a date`), "%s", said)
}

// TestReadings shows that verify.py reads JSON, tables without a header, and cells that stand for gaps,
// and that it says which other settings it doesn't know.
func TestReadings(t *testing.T) {
	plain := strings.NewReplacer("NA;", "-999;").Replace(rowOf("2.04"))
	numbered := ""
	for i, line := range slices.Collect(strings.Lines(plain)) {
		numbered += fmt.Sprintf("r%d%s", i, line[strings.IndexByte(line, ';'):])
	}
	number := strings.TrimSpace(plain[strings.LastIndexByte(plain, ';')+1:]) // the last target
	objects := "["
	for line := range strings.Lines(plain) {
		of := strings.Split(strings.TrimSpace(line), ";")
		objects += fmt.Sprintf("{\"a\": %s, \"x\": \"%s\", \"far\": %t,\n \"y\": %s},\n", of[0], of[1], of[1] > "2", of[2])
	}
	objects = strings.TrimSuffix(objects, ",\n") + "]"
	lines := strings.NewReplacer("},\n", "}\n", ",\n", ",").Replace(objects[1 : len(objects)-1])
	for name, of := range map[string]struct {
		text, target string
		as           dataset.Reading
	}{
		"JSON":              {objects, "y", dataset.Reading{}},
		"JSON in an object": {`{"n": 120, "rows": ` + objects + "}", "y", dataset.Reading{}},
		"JSON lines":        {lines, "y", dataset.Reading{}},
		"numbers alone":     {plain, "y", dataset.Reading{}},
		"no header":         {plain, "c3", dataset.Reading{Header: "no", Missing: []string{"-999.0"}}},
		"a number is a gap": {"a;x;y\n" + plain, "y", dataset.Reading{Missing: []string{"a=-999", "x=>4.5"}}},
		"notes above":       {"notes\nx\na;x;y\n" + plain, "y", dataset.Reading{SkipRows: 2}},
		"remarks above":     {"# of 2020\na,x,y\n" + strings.ReplaceAll(plain, ";", ","), "y", dataset.Reading{}},
		"spaces":            {"a x y\n" + strings.ReplaceAll(plain, ";", "  "), "y", dataset.Reading{}},
		"bars":              {"a|x|y\n" + strings.ReplaceAll(plain, ";", "|"), "y", dataset.Reading{}},
		"names of rows":     {"x y\n" + strings.ReplaceAll(numbered, ";", " "), "y", dataset.Reading{}},
		"equal rows":        {"a;x;y\n" + plain + plain, "y", dataset.Reading{Distinct: true}},
	} {
		agrees, said := fitted(t, of.text, of.as, of.target)
		must.Hold(t, agrees, "%s: %s", name, said)
		agrees, said = fitted(t, of.text, of.as, of.target, number, "7.125")
		must.Hold(t, !agrees, "%s, with another number: %s", name, said)
	}
	text := "a;x;y\n" + plain
	for want, of := range map[string]struct {
		as    dataset.Reading
		other []string
	}{
		"cells that are read by decimal": {dataset.Reading{Decimal: ",", Missing: []string{"-"}}, nil},
		"a header that is read as 'two'": {dataset.Reading{Header: "two"}, nil},
		"in the format Parquet":          {dataset.Reading{}, []string{"a;x", "PAR1"}},
		"in the format zip or XLSX":      {dataset.Reading{}, []string{"a;x;", "PK\x03\x04"}},
	} {
		use, target := text, "y"
		if of.as.Decimal != "" {
			use = strings.ReplaceAll(text, ".", ",")
		}
		if of.as.Header == "two" {
			use, target = "a;b;c\n"+text, "c y"
		}
		agrees, said := fitted(t, use, of.as, target, of.other...)
		must.Hold(t, !agrees && strings.Contains(said, "not checked by this program: ") &&
			strings.Contains(said, want), "want %s: %s", want, said)
	}
}
