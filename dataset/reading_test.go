package dataset_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestReading: cells become the numbers that people mean by them.
func TestReading(t *testing.T) {
	for _, c := range []struct {
		of   dataset.Reading
		cell string
		want float64 // NaN: the cell is no number
	}{
		{dataset.Reading{Decimal: ","}, "1,5", 1.5},
		{dataset.Reading{Decimal: ","}, "-1,5e3", -1500},
		{dataset.Reading{Decimal: ","}, "7", 7},
		{dataset.Reading{Decimal: ","}, "1.5", math.NaN()},
		{dataset.Reading{Decimal: ","}, "1,5,0", math.NaN()},
		{dataset.Reading{Decimal: ",", Thousands: "."}, "1.234,5", 1234.5},
		{dataset.Reading{Decimal: ",", Thousands: "."}, "-1.234.567", -1234567},
		{dataset.Reading{Decimal: ",", Thousands: "."}, "1.5", math.NaN()},
		{dataset.Reading{Decimal: ",", Thousands: "."}, "12345,6", 12345.6},
		{dataset.Reading{Decimal: ",", Thousands: "."}, "1234.567", math.NaN()},
		{dataset.Reading{Decimal: ",", Thousands: " "}, "1\u00a0234,5", 1234.5},
		{dataset.Reading{Decimal: ",", Thousands: " "}, "1\u202f234", 1234},
		{dataset.Reading{Thousands: ","}, "1,234.5", 1234.5},
		{dataset.Reading{Thousands: ","}, "1,23", math.NaN()},
		{dataset.Reading{Thousands: ","}, ",234", math.NaN()},
		{dataset.Reading{Thousands: ","}, "0,123", math.NaN()},
		{dataset.Reading{Decimal: ",", Thousands: "."}, "-0.123", math.NaN()},
		{dataset.Reading{Decimal: ",", Thousands: "."}, "0,123", 0.123},
		{dataset.Reading{Thousands: ","}, "1,234,", math.NaN()},
		{dataset.Reading{Thousands: ","}, "1e,234", math.NaN()},
		{dataset.Reading{Thousands: "'"}, "1’234'567.25", 1234567.25},
		{dataset.Reading{Units: []string{"kg"}}, "12.5 kg", 12.5},
		{dataset.Reading{Units: []string{"mN", "mS", "°W"}}, "12.5 mS", 12.5},
		{dataset.Reading{Units: []string{"€"}}, "€ -12", -12},
		{dataset.Reading{Units: []string{"%", "€"}, Decimal: ","}, "3,5%", 3.5},
		{dataset.Reading{Units: []string{"kg"}}, "kg", math.NaN()},
		{dataset.Reading{Units: []string{"m", "mm"}}, "12 mm", 12},
		{dataset.Reading{Units: []string{"mm", "m"}}, "12 mm", 12},
		{dataset.Reading{Units: []string{"kg"}}, "12 g", math.NaN()},
	} {
		v, err := c.of.Parse(c.cell)
		if err != nil {
			v = math.NaN()
		}
		must.Hold(t, v == c.want || (v != v && c.want != c.want),
			"%q by %+v: %v, want %v", c.cell, c.of, v, c.want)
	}
	for _, c := range []struct {
		of   dataset.Reading
		want string
	}{
		{dataset.Reading{Decimal: ";"}, `decimal ";"`},
		{dataset.Reading{Decimal: ",", Thousands: ","}, "use different separators"},
		{dataset.Reading{Thousands: "."}, "use different separators"},
		{dataset.Reading{Thousands: "_"}, `thousands "_"`},
		{dataset.Reading{Below: "third"}, `below "third": want "half"`},
		{dataset.Reading{Units: []string{"m2"}}, "without digits"},
		{dataset.Reading{Units: []string{" "}}, "without digits"},
		{dataset.Reading{Units: []string{"°W", "kg", "°E"}}, "both directions"},
		{dataset.Reading{Units: []string{"N", "S"}}, "both directions"},
		{dataset.Reading{Units: slices.Repeat([]string{"m"}, 1001)}, "at most 1000"},
		{dataset.Reading{Missing: slices.Repeat([]string{"m"}, 1001)}, "at most 1000"},
		{dataset.Reading{Dates: []dataset.Dates{{Column: "a"}, {Column: "a"}}}, "twice"},
		{dataset.Reading{Dates: []dataset.Dates{{Column: "a", Form: "ydm"}}}, `form "ydm" isn't known`},
		{dataset.Reading{Dates: []dataset.Dates{{Column: "a", Parts: []string{"moon"}}}}, `period "moon"`},
	} {
		_, err := files.CSV{From: strings.NewReader("a\n1\n"), Source: "f.csv", As: c.of}.Read()
		wantError(t, err, c.want)
	}
}

// TestReadingOfTable: settings of a Reading apply to whole tables. They also decide whether a first line without
// semicolons holds names, and where a line is split.
func TestReadingOfTable(t *testing.T) {
	read := func(of dataset.Reading, text string) *dataset.Table {
		t.Helper()
		return must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv", As: of}.Read())(t)
	}
	german := dataset.Reading{Decimal: ",", Thousands: ".", Missing: []string{"k.A.", "-"}}
	for _, text := range []string{"a;b\n1,5;2.000\nk.a.;-\n3,25;4\n", "a\tb\n1,5\t2.000\nk.A.\t-\n3,25\t4\n"} {
		table := read(german, text)
		if table.Text != nil || !slices.EqualFunc(table.Values, []float64{1.5, 2000, math.NaN(), math.NaN(), 3.25, 4},
			func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%q: %v %q", text, table.Values, table.Text)
		}
	}
	if table := read(german, "1,5;2\n3,5;4\n"); !slices.Equal(table.Names, []string{"x1", "y"}) ||
		table.Values[0] != 1.5 {
		t.Errorf("without a header: %q, %v", table.Names, table.Values)
	}
	// With decimal commas, 7.5 is an error beside numbers such as 1,5.
	_, err := read(dataset.Reading{Decimal: ","}, "a;b\n7.5;2\n1,5;3\n2,5;4\n").Regression("b")
	wantError(t, err, `line 2 (row 1), column 1 ("a"): "7.5"`)
	// The index of a DataFrame is an input only if it is asked for.
	table := read(dataset.Reading{}, ",a,y\n0,1,2\n1,3,4\n")
	left, err := table.Leave(nil, nil, "y")
	must.Hold(t, err == nil && slices.Equal(left, []string{"(index)"}),
		"%q left out, %v", left, err)
	if left, err := table.Leave([]string{"*"}, nil, "y"); err != nil || len(left) > 0 {
		t.Errorf("%q left out, %v", left, err)
	}
}

// TestDates: dates become the days since 1970-01-01 that package time computes, and periods become positions in them.
func TestDates(t *testing.T) {
	days := func(year int, month time.Month, day, hour, minute, second int) float64 {
		return float64(time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix()) / 86400
	}
	formsOf := func(texts []string) (forms []dataset.Dates) {
		for _, name := range dataset.DateForms() {
			d := dataset.Dates{Form: name}
			if !slices.ContainsFunc(texts, func(text string) bool { _, _, ok := d.Days(text); return !ok }) {
				forms = append(forms, d)
			}
		}
		return forms
	}
	for _, c := range []struct {
		texts []string
		form  string
		want  float64 // days of the first text
	}{
		{[]string{"2024-01-31"}, "ymd", days(2024, 1, 31, 0, 0, 0)},
		{[]string{"1969-12-31T12:00:00Z", "2024-01-31 10:30"}, "ymd", -0.5},
		{[]string{"2024-01-31T10:30:15+02:00"}, "ymd", days(2024, 1, 31, 8, 30, 15)},
		{[]string{"2024-01-31 10:30:15.25"}, "ymd", days(2024, 1, 31, 10, 30, 15) + 0.25/86400},
		{[]string{"2024/1/31"}, "ymd", days(2024, 1, 31, 0, 0, 0)},
		{[]string{"31.1.2024", "1.2.2024"}, "dmy", days(2024, 1, 31, 0, 0, 0)},
		{[]string{"01/31/2024 3:04 PM"}, "mdy", days(2024, 1, 31, 15, 4, 0)},
		{[]string{"31 Jan 2024"}, "words", days(2024, 1, 31, 0, 0, 0)},
		{[]string{"March 1, 2023"}, "words", days(2023, 3, 1, 0, 0, 0)},
		{[]string{"31-Jan-24"}, "words", days(2024, 1, 31, 0, 0, 0)},
		{[]string{"Jan 01 2024"}, "words", days(2024, 1, 1, 0, 0, 0)},
		{[]string{"Feb 2010"}, "words", days(2010, 2, 1, 0, 0, 0)},
		{[]string{"20240131T103015"}, "ymd", days(2024, 1, 31, 10, 30, 15)},
		{[]string{"20240131T1030Z"}, "ymd", days(2024, 1, 31, 10, 30, 0)},
		{[]string{"2024-01-31 10:30 UTC"}, "ymd", days(2024, 1, 31, 10, 30, 0)},
		{[]string{"31.01.2024 24:00"}, "dmy", days(2024, 2, 1, 0, 0, 0)},
		{[]string{"2024-02-28T24:00:00Z"}, "ymd", days(2024, 2, 29, 0, 0, 0)},
		{[]string{"2022-W52", "2020-W53-7"}, "ymd", days(2022, 12, 26, 0, 0, 0)},
		{[]string{"2020W537"}, "ymd", days(2021, 1, 3, 0, 0, 0)},
		{[]string{"2024-02"}, "month", days(2024, 2, 1, 0, 0, 0)},
		{[]string{"06:30"}, "time", 6.5 / 24},
	} {
		forms := formsOf(c.texts)
		if len(forms) != 1 || forms[0].Form != c.form {
			t.Errorf("%q: forms %v, want %s", c.texts, forms, c.form)
			continue
		}
		if v, _, ok := forms[0].Days(c.texts[0]); !ok || math.Abs(v-c.want) > 1e-11*math.Max(1, math.Abs(c.want)) {
			t.Errorf("%q: %v, want %v", c.texts[0], v, c.want)
		}
	}
	for _, text := range []string{"2022-W53", "2022-W00", "31.01.2024 24:01", "31.01.2024 25:00", "24:00",
		"31-Jan-2024-24", "2024-01-31 10:30 CET"} {
		if forms := formsOf([]string{text}); forms != nil {
			t.Errorf("%q: form %s", text, forms[0].Form)
		}
	}
	read := func(text string, dates ...string) (*dataset.Table, error) {
		var of dataset.Reading
		for _, d := range dates {
			parsed := must.Get(dataset.ParseDates(d))(t)
			of.Dates = append(of.Dates, parsed)
		}
		return files.CSV{From: strings.NewReader(text), Source: "f.csv", As: of}.Read()
	}
	_, err := read("a,y\n01/02/2024,1\n03/04/2024,2\n", "a")
	wantError(t, err, "may have the day or the month first: say --dates a:dmy or --dates a:mdy")
	_, err = read("a,y\n01/02/2024,1\nsoon,2\n", "a")
	wantError(t, err, `f.csv: line 3 (row 2), column 1 ("a"): "soon" is not a date like the others`)
	_, err = read("a,y\n01/02/2024,1\n13/02/2024,2\n", "a:mdy")
	wantError(t, err, `line 3 (row 2), column 1 ("a"): "13/02/2024" is not a date of the form mdy`)
	table := must.Get(read("a:b,y\n1970-01-05 06:00,1\n,2\n1970-01-08 18:00,3\n", "a:b:day:week"))(t)
	if want := []string{"a:b", "y", "a:b day sin", "a:b day cos", "a:b week sin",
		"a:b week cos"}; !slices.Equal(table.Names, want) {
		t.Fatalf("columns %q, want %q", table.Names, want)
	}
	quarter := 2 * math.Pi * 0.25 / 7 // a quarter of the week's first day
	for k, want := range []float64{4.25, 1, 1, 0, math.Sin(quarter), math.Cos(quarter)} {
		must.Hold(t, math.Abs(table.Values[k]-want) <= 1e-12,
			"%s: %v, want %v", table.Names[k], table.Values[k], want)
	}
	for k, v := range table.Values[6:12] {
		must.Hold(t, (v != v) == (k != 1), "a missing date: %v", table.Values[6:12])
	}
	must.Be(t, table.Reading().Dates[0].Form, "ymd", "the form")
	kept := must.Get(table.Keep([]string{"a:b"}))(t)
	if all, err := kept.Columns(3); err != nil ||
		!slices.Equal(all["a:b"], []string{"1970-01-05T06:00:00", "", "1970-01-08T18:00:00"}) {
		t.Errorf("kept %q, %v", all, err)
	}
}

// TestDescribe: Describe recognises what a column holds, and suggests the right flags.
func TestDescribe(t *testing.T) {
	column := func(cells ...string) string {
		var b strings.Builder
		b.WriteString("a\ty\n")
		for i := range 60 {
			b.WriteString(cells[i%len(cells)] + "\t1\n")
		}
		return b.String()
	}
	rising := "a\ty\n"
	for i := range 60 {
		rising += string(rune('A'+i%26)) + "-" + strings.Repeat("I", i+1) + "\t1\n"
	}
	for _, c := range []struct {
		text, kind string
		flags      string
		unfit      bool
	}{
		{column("1", "2"), "number", "", false},
		{column("3"), "constant", "--ignore a", false},
		{column(""), "empty", "--ignore a", true},
		{column("gas", "oil"), "category", "--categorical a", true},
		{rising, "identifier", "--ignore a", true},
		{column("1,5", "2,25"), "number", "--decimal ,", true},
		{column("1,500", "2,250"), "number", "--decimal , or --thousands ,", true},
		{column("1.500,5", "2.250,5"), "number", "--decimal , --thousands .", true},
		{column("1 500", "2 250"), "number", "--thousands ' '", true},
		{column("12 kg", "1.5 kg"), "number", "--units kg", true},
		{column("€12", "€ 5"), "number", "--units '€'", true},
		{column("12,5%", "5%"), "number", "--decimal , --units %", true},
		{column("1", "2", "3", "-"), "number", "--na -", true},
		{column("1,5", "2", "k.A."), "number", "--decimal , --na k.A.", true},
		{column("2024-01-31", "2024-02-28"), "date", "--dates a", true},
		{column("01/02/2024", "02/01/2024"), "date", "--dates a:dmy or --dates a:mdy", true},
		{column("H1", "H2"), "category", "--categorical a", true},
	} {
		table := must.Get(files.CSV{From: strings.NewReader(c.text), Source: "f.tsv"}.Read())(t)
		facts := must.Get(inspect.Describe(table))(t)
		if f := facts[0]; f.Kind != c.kind || f.Flags() != c.flags || f.Unfit != c.unfit {
			t.Errorf("%.40q: %s, %q, unfit %v; want %s, %q, %v", c.text, f.Kind, f.Flags(), f.Unfit, c.kind, c.flags, c.unfit)
		}
	}
}

// TestEqualRows: repeated rows are left out, or become a group.
func TestEqualRows(t *testing.T) {
	text := "a,b,y\n1,x,2\n3,,4\n1,x,2\n3,,4\n1,z,2\n"
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv",
		As: dataset.Reading{Distinct: true}}.Read())(t)
	must.Hold(t, table.Rows == 3 && table.Found.Dropped == 2 && table.Where(2) == "line 6",
		"%d rows, %d left out, the last in %s", table.Rows, table.Found.Dropped, table.Where(2))
	table = must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv"}.Read())(t)
	d, err := table.Regression("y", "b")
	if err == nil {
		d, err = d.GroupBy(dataset.EqualRows)
	}
	must.Do(t, err)
	units := must.Get(d.Units())(t)
	if g := units.Groups(); g[0] != g[2] || g[0] != g[4] || g[1] != g[3] || g[0] == g[1] {
		t.Errorf("groups %v", g)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true},
		{"a*c*e", "abcde", true},
		{"a*c*e", "abcdf", false}, {"?b", "éb", true}, {"a?", "a", false}, {"a[b]*", "a[b]c", true}, {"**a", "ba", true},
		{"m/*", "m/s", true},
	} {
		if left := dataset.Left([]string{c.name}, nil, []string{c.pattern}); (left != nil) != c.want {
			t.Errorf("%q of %q: %v", c.pattern, c.name, !c.want)
		}
	}
}

// TestDatesInDoubt: a fit has a finding about years without a century, and refuses numbers among dates, which
// spreadsheets count from 1900. Rows to be predicted may have such numbers, as days.
func TestDatesInDoubt(t *testing.T) {
	read := func(first string) *dataset.Table {
		t.Helper()
		of := dataset.Reading{Dates: []dataset.Dates{{Column: "when", Form: "dmy"}}}
		table := must.Get(files.CSV{From: strings.NewReader("when,y\n" + first + ",1\n31.12.1999,2\n01.02.2003 10:30,3\n"),
			Source: "f.csv", As: of}.Read())(t)
		return table
	}
	for first, want := range map[string]bool{"27.01.45": true, "27.1.45 10:00": true, "27.01.1945": false} {
		d := must.Get(read(first).Regression("y"))(t)
		found, err := inspect.Findings(d, must.Get(d.Units())(t))
		if said := found.Of(finding.Centuries) != nil; err != nil || said != want {
			t.Errorf("%q: %q, %v", first, found, err)
		}
	}
	table := read("16464")
	_, err := table.Regression("y")
	wantError(t, err, `f.csv: line 2 (row 1), column 1 ("when"): 16464 is a number among dates`)
	if _, err := table.Unlabelled([]string{"when"}); err != nil {
		t.Error(err)
	}
}

// TestNaming: two different texts of one number are an error in a column of names, in any order. Equal texts are
// allowed. In other columns all texts are allowed.
func TestNaming(t *testing.T) {
	read := func(text string, names ...string) error {
		of := dataset.Reading{}.Naming(names...)
		table, err := files.CSV{From: strings.NewReader(text), Source: "t.csv", As: of}.Read()
		must.Hold(t, err != nil || reflect.DeepEqual(table.Reading(), dataset.Reading{}.Naming()),
			"names are part of a model's reading")
		return err
	}
	for text, want := range map[string]string{
		"g,x\n1,1\n00001,2\n": `t.csv: line 3: column "g": "00001" and, in an earlier row, ` +
			`"1" are one number`,
		"g,x\n1e5,1\n100000,2\n":                              `"100000" and, in an earlier row, "1e5"`,
		"g,x\n1.10,1\nb,1\n1.1,2\n":                           `line 4: column "g": "1.1" and, in an earlier row, "1.10"`,
		"g,x\n1000000000000000001,1\n1000000000000000002,2\n": "are one number",
		"g,x\n7.0,1\n7,2\n-7,1\n":                             "",
		"g,x\n007,1\n008,2\n007,3\n":                          "",
		"x,g\n1,a\n01,a\n":                                    "",
	} {
		err := read(text, "g", "absent")
		must.Hold(t, (want != "" || err == nil) &&
			(want == "" || (err != nil && strings.Contains(err.Error(), want))),
			"%q: %v, want %q", text, err, want)
		if err := read(text); err != nil {
			t.Errorf("%q, although nothing names it: %v", text, err)
		}
	}
}

// TestNumbersSaid: a Reading recognises numbers that stand for missing values, limits of detection, and dates that are
// written as numbers.
func TestNumbersSaid(t *testing.T) {
	table := func(r dataset.Reading, cells ...string) (*dataset.Table, error) {
		made := r.New("f.csv")
		made.Names = []string{"c"}
		for i, cell := range cells {
			if err := made.AppendLine(i+2, []string{cell}); err != nil {
				return nil, err
			}
		}
		return made, r.Apply(made)
	}
	dated := dataset.Reading{Dates: []dataset.Dates{{Column: "c"}}}
	for _, c := range []struct {
		r     dataset.Reading
		cells []string
		want  []float64
	}{
		{dataset.Reading{Missing: []string{"-999"}}, []string{"1", "-999", "-999.0", "-99"}, []float64{1, math.NaN(), math.NaN(), -99}},
		{dataset.Reading{Missing: []string{"-999,5"}, Decimal: ","}, []string{"1,5", "-999,5"}, []float64{1.5, math.NaN()}},
		{dataset.Reading{Below: "half"}, []string{"<0.5", "3", "≤ 1"}, []float64{0.25, 3, 0.5}},
		{dataset.Reading{Below: "half", Decimal: ",", Units: []string{"mg"}}, []string{"<0,5 mg", "3 mg"}, []float64{0.25, 3}},
		{dated, []string{"20240131", "", "20240201"}, []float64{19753, math.NaN(), 19754}},
		{dated, []string{"1706659200", "1706702400"}, []float64{19753, 19753.5}},
		{dated, []string{"1706659200000"}, []float64{19753}},
		{dated, []string{"19753", "-3.5"}, []float64{19753, -3.5}}, // days
		{dataset.Reading{Dates: []dataset.Dates{{Column: "c", Form: "ymd"}}}, []string{"2024-01-31", "20240201"}, []float64{19753, 19754}},
	} {
		got, err := table(c.r, c.cells...)
		if err != nil || got.Texts(0) != nil || !slices.EqualFunc(got.Values, c.want,
			func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%q as %+v: %v, %v", c.cells, c.r, got, err)
		}
	}
	for _, cells := range [][]string{{"20240131", "20240231"}, {"20240131", "19754"}, {"30000101"}} {
		if _, err := table(dated, cells...); err == nil || !strings.Contains(err.Error(), fmt.Sprint("line ", len(cells)+1)) {
			t.Errorf("%q: %v", cells, err)
		}
	}
	if got, _ := table(dataset.Reading{Below: "half"}, "7", "<0.5", "<0.5"); got.Found.Below[0] != (dataset.Written{2, "line 3", 4}) {
		t.Errorf("%+v", got.Found.Below)
	}
}
