package inspect

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// described reads a table of one column and a row number, and describes the column.
func described(t *testing.T, of dataset.Reading, rows int, cell func(i int) string) ColumnFacts {
	t.Helper()
	var b strings.Builder
	b.WriteString("c\tn\n")
	for i := range rows {
		fmt.Fprintf(&b, "%s\t%d\n", cell(i), 7*i%11)
	}
	table := must.Get(files.CSV{From: strings.NewReader(b.String()), Source: "f.tsv", As: of}.Read())(t)
	facts := must.Get(Describe(table))(t)
	return facts[0]
}

// TestDescribeTexts: if most cells of a column are numbers or dates, it isn't called categories, and the other cells
// don't matter. If it isn't clear what a column is, there is no advice.
func TestDescribeTexts(t *testing.T) {
	num := func(i int) string { return fmt.Sprintf("%d.%d", 10+i, i%7) }
	either := func(every int, a, b func(i int) string) func(i int) string {
		return func(i int) string {
			if i%every == 0 {
				return a(i)
			}
			return b(i)
		}
	}
	is := func(text string) func(int) string { return func(int) string { return text } }
	with := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, num(i)) } }
	day := func(i int) string { return fmt.Sprintf("%02d/%02d/2024", 1+i%28, 1+i/28) }
	for _, c := range []struct {
		name      string
		cell      func(i int) string
		kind, why string
		advice    []Advice
		then      string
	}{
		{"errors of a spreadsheet", either(9, is("#DIV/0!"), num), "number", `"#DIV/0!" among numbers: a missing value?`,
			[]Advice{{"na", "#DIV/0!"}}, ""},
		{"limits of detection", either(9, is("<10"), num), "number", `numbers, 9 of 80 below a limit of detection, as "<10"`,
			[]Advice{{"below", "half"}}, ""},
		{"limits above", either(9, is("> 500"), num), "number", `numbers, 9 of 80 above a limit of detection, as "> 500"`,
			[]Advice{{"above", "limit"}}, ""},
		{"limits of both sides", either(9, is("> 500"), either(7, is("<1"), num)), "number", `as "> 500", which can be read ` +
			`as the limit`, []Advice{{"below", "half"}, {"above", "limit"}}, ""},
		{"marks of missing values", either(5, func(i int) string { return []string{".", "--", "missing", "nil", "*"}[i%7%5] },
			num), "number", `among numbers: a missing value?`,
			[]Advice{{"na", "."}, {"na", "nil"}, {"na", "--"}, {"na", "*"}, {"na", "missing"}}, ""},
		{"grams and kilograms", either(2, with("%s kg"), with("%s g")), "text", "what looks like numbers", nil,
			"in one unit"},
		{"grams among kilograms", either(5, with("%s g"), with("%s kg")), "text", "what looks like numbers", nil,
			"in one unit"},
		{"currencies", either(2, with("€%s"), with("$%s")), "text", "what looks like numbers", nil, "in one unit"},
		{"negative in parentheses", with("(%s)"), "text", "what looks like numbers", nil, "--ignore c"},
		{"a minus of typesetters", with("−%s"), "number", "", nil, ""},
		{"tolerances", with("%s ± 0.1"), "text", "what looks like numbers", nil, "plain numbers"},
		{"durations", func(i int) string { return fmt.Sprintf("%d:15:00", i) }, "text", "what looks like numbers", nil,
			"plain numbers"},
		{"groups of two digits", func(i int) string { return fmt.Sprintf("1,%d,100.50", 10+i) }, "text",
			"what looks like numbers", nil, "--ignore c"},
		{"ranges of ages", func(i int) string { return []string{"18-25", "26-40", "41-65"}[i%3] }, "category",
			"3 different texts", []Advice{{"categorical", "c"}}, ""},
		{"codes", func(i int) string { return []string{"A1", "B2", "C3"}[i%3] }, "category", "3 different texts",
			[]Advice{{"categorical", "c"}}, ""},
		{"names of rows", with("HX-%s"), "identifier", "names rows", []Advice{{"ignore", "c"}}, ""},
		{"keys that begin with digits", func(i int) string {
			return fmt.Sprintf("%d-%c%c%cQX", 1000+i*7919%9000, 'A'+i%26, 'A'+i*7%26, 'A'+i/26)
		}, "identifier", "names rows", []Advice{{"ignore", "c"}}, ""},
		{"tickets", either(3, func(i int) string {
			return fmt.Sprintf([]string{"PC %d", "A/5 %d", "STON/O2. %d", "C.A. %d"}[i%4], 17000+i*31)
		}, func(i int) string { return fmt.Sprint(110000 + i*7919%9000) }), "identifier", "names rows", []Advice{{"ignore", "c"}}, ""},
		{"tickets of one series", either(4, func(i int) string { return fmt.Sprint("PC ", 17000+i*31) },
			func(i int) string { return fmt.Sprint(110000 + i*7919%9000) }), "identifier", "names rows", []Advice{{"ignore", "c"}}, ""},
		{"distances", func(i int) string { return fmt.Sprintf("%d km", 1000+i*31) }, "number", `as "1000 km"`,
			[]Advice{{"units", "km"}}, ""},
		{"currencies in letters", func(i int) string { return fmt.Sprintf("USD %d", 1000+i*31) }, "number", `as "USD 1000"`,
			[]Advice{{"units", "USD"}}, ""},
		{"prices, and some words", either(9, func(i int) string { return "lot " + string(rune('a'+i%26)) }, num), "number",
			"but for 9 of 80 cells", nil, "correct them"},
		{"a date that isn't", either(79, is("31/02/2024"), day), "date",
			`dates as "02/01/2024", but for 2 of 80 cells: "31/02/2024"`, []Advice{{"dates", "c"}},
			"write them as the others"},
		{"gaps among dates", either(10, is("k.A."), day), "date", `"k.A." among dates: a missing value?`,
			[]Advice{{"dates", "c"}, {"na", "k.A."}}, ""},
		{"numbers among dates", either(10, num, day), "date", "but for 8 of 80 cells", []Advice{{"dates", "c"}},
			"write them as the others"},
		{"two orders of dates", either(2, func(i int) string { return fmt.Sprintf("2024-01-%02d", 1+i%28) }, day), "date",
			"but for 40 of 80 cells", []Advice{{"dates", "c"}}, "write them as the others"},
		{"zones at times", either(2, is("2024-01-01 10:00Z"), is("2024-01-02 11:00")), "date", "some name their zone",
			[]Advice{{"dates", "c"}}, ""},
		{"units at times", either(3, num, with("%s%%")), "number", "27 of 80 have no unit", nil, "--units %"},
		{"a unit that few lack", either(12, num, with("%s%%")), "number", "7 of 80 have no unit", []Advice{{"units", "%"}}, ""},
	} {
		f := described(t, dataset.Reading{}, 80, c.cell)
		must.Hold(t, f.Kind == c.kind && strings.Contains(f.Why, c.why) &&
			slices.Equal(f.Advice, c.advice) && strings.Contains(f.Then, c.then) &&
			(f.Then == "") == (c.then == ""), "%s: %+v", c.name, f)
	}
	// Advice doesn't contradict what the user has said.
	f := described(t, dataset.Reading{Decimal: ","}, 80, func(i int) string { return []string{"103", "1.109"}[i%2] })
	if want := []Advice{{"thousands", "."}}; !slices.Equal(f.Advice, want) || f.Either {
		t.Errorf("%+v", f)
	}
}

// TestPointed: if other columns have decimal commas, a point in numbers groups thousands, if it can.
func TestPointed(t *testing.T) {
	for cells, want := range map[string]ColumnFacts{
		"1.109;103": {Kind: "number", Advice: []Advice{{"thousands", "."}}},
		"1.5;103":   {Kind: "number", Then: "write them in one way"},
		"0.109;103": {Kind: "number", Then: "write them in one way"},
	} {
		a, b, _ := strings.Cut(cells, ";")
		table := must.Get(files.CSV{From: strings.NewReader("a;b\n" + strings.Repeat(a+";1,25\n"+b+";2,75\n", 10)),
			Source: "f.csv"}.Read())(t)
		facts := must.Get(Describe(table))(t)
		if f := facts[0]; !slices.Equal(f.Advice, want.Advice) || f.Then != want.Then || !f.Unfit {
			t.Errorf("%s: %+v", cells, f)
		}
	}
}

// TestStrays: Strays names exactly the rows that don't belong to the table, and columns are described without these
// rows.
func TestStrays(t *testing.T) {
	rows := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("L%d,%d,%d\n", i, 3*i%17, 2+i%5)
		}
		return text
	}
	sum := 0
	for i := range 20 {
		sum += 3 * i % 17
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"totals", rows(20) + "Total,144,80\n", []string{`line 22: begins with "Total"`}},
		{"totals and means", rows(20) + "Total :,144,80\nMittelwert,7,4\n",
			[]string{`line 23: begins with "Mittelwert"`, `line 22: begins with "Total :"`}},
		{"totals that don't say so", rows(20) + fmt.Sprintf("L20,%d,80\n", sum),
			[]string{"line 22: holds the sums of the rows above it"}},
		{"a remark", rows(20) + "# exported by Bob,,\n", []string{`line 22: begins with "# exported by Bob"`}},
		{"a remark among numbers", strings.ReplaceAll(rows(20), "L", "") + "checked by Bob,,\n",
			[]string{`line 22: has "checked by Bob" in a column of numbers or dates`}},
		{"headers", rows(20) + "id,a,b\n" + rows(20) + "id,a,b\n", []string{"line 22, line 43: the header is repeated here"}},
		{"none", rows(20), nil},
		{"a gap", strings.ReplaceAll(rows(20), "L", "") + "-,1,2\n", nil},
		{"a category", strings.Repeat("sum,1,2\nmean,3,4\n", 10), nil},
		{"few rows", "L0,1,2\nL1,3,4\nL2,4,6\n", nil},
	} {
		table := must.Get(files.CSV{From: strings.NewReader("id,a,b\n" + c.text), Source: "f.csv"}.Read())(t)
		said := Strays(table).Words()
		if len(said) != len(c.want) {
			t.Errorf("%s: %q", c.name, said)
			continue
		}
		for i, want := range c.want {
			must.Hold(t, strings.HasPrefix(said[i], want), "%s: %q, want %q", c.name, said[i], want)
		}
		facts := must.Get(Describe(table))(t)
		if f := facts[1]; f.Kind != "number" || f.High > 16 || f.Unfit {
			t.Errorf("%s: %+v", c.name, f)
		}
		_, err := table.Encode("b", []string{"id"}, dataset.Coding{Missing: dataset.FillMean},
			func(d *dataset.Data) ([]int, error) { return d.All(), nil })
		err = Explain(err)
		must.Hold(t, err == nil ||
			(len(c.want) > 0 && strings.Contains(err.Error(), c.want[0]) && !strings.Contains(err.Error(), "--na")),
			"%s: %v", c.name, err)
	}
}

// TestRemarks: krigo reports a header that seems to be a row, a missing header, and cells that it read as they stand.
func TestRemarks(t *testing.T) {
	rows := func(format string) (text string) {
		for i := range 20 {
			text += fmt.Sprintf(format+"\n", []string{"A", "B"}[i%2], float64(i)/2, i%9)
		}
		return text
	}
	for _, c := range []struct {
		name, header, format string
		reading              dataset.Reading
		want                 string
	}{
		{"numbers as a header", "2020,2021", "%[2]g,%[3]d", dataset.Reading{}, "the first line holds only numbers, "},
		{"no header", "A,1.5,3", "%s,%g,%d", dataset.Reading{}, "krigo reads the first line as the header, "},
		{"years in the header", "kind,2020,2021", "%s,%g,%d", dataset.Reading{}, ""},
		{"units", "kind,x,y", "%s,%g %%,%d", dataset.Reading{Units: []string{"%"}}, ""},
		{"several units", "x,y", "%[2]g %[1]s,%[3]d", dataset.Reading{Units: []string{"A", "B"}},
			`numbers of "x" have different units, and krigo doesn't convert them: 10 with A, 10 with B`},
		{"zones", "x,y", "%[1]s,%[3]d", dataset.Reading{Dates: []dataset.Dates{{Column: "x"}}},
			`some times name their time zone; krigo reads the other times as UTC, in the columns "x"`},
	} {
		text := rows(c.format)
		if c.name == "zones" {
			text = strings.NewReplacer("A", "2024-01-01 10:00", "B", "2024-01-01T11:00Z").Replace(text)
		}
		table := must.Get(files.CSV{From: strings.NewReader(c.header + "\n" + text), Source: "f.csv",
			As: c.reading}.Read())(t)
		facts := must.Get(Describe(table))(t)
		if got := strings.Join(Remarks(table, facts).Words(), "; "); !strings.HasPrefix(got, c.want) || c.want == "" &&
			got != "" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestIndex: a first column without a name is no input, for any order of its values. If it may be more than row
// numbers, krigo says so.
func TestIndex(t *testing.T) {
	const many = 2*distinctMost + 1
	for _, c := range []struct {
		name string
		cell func(i int) string
		told bool
	}{
		{"shuffled", func(i int) string { return fmt.Sprint(7 * i % 20) }, false},
		{"shuffled, from 1", func(i int) string { return fmt.Sprint(1 + 7*i%20) }, false},
		{"many", func(i int) string { return fmt.Sprint(2 * i % many) }, false},
		{"names", func(i int) string { return fmt.Sprintf("r%d", i) }, true},
		{"numbers", func(i int) string { return fmt.Sprint(7 * i) }, true},
		{"repeated", func(i int) string { return fmt.Sprint(7 * i % 10) }, true},
	} {
		rows := 20
		if c.name == "many" {
			rows = many
		}
		text := ",a,y\n"
		for i := range rows {
			text += fmt.Sprintf("%s,%d,%d\n", c.cell(i), i*i%13, i)
		}
		table := must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv"}.Read())(t)
		facts, err := Describe(table)
		must.Hold(t, err == nil && facts[0].Kind == "index" && facts[0].Advice == nil,
			"%s: %+v, %v", c.name, facts[0], err)
		left := must.Get(table.Leave(nil, nil, "y"))(t)
		d := must.Get(table.Regression("y", left...))(t)
		found, err := Findings(d, must.Get(d.Units())(t))
		must.Hold(t, err == nil && (found.Of(finding.UnnamedColumn) != nil) == c.told,
			"%s: %q, %v", c.name, found, err)
	}
}

// TestFindingsOfTables: krigo reports categories that seem to be numbers, and numbers that differ by too little for
// their size.
func TestFindingsOfTables(t *testing.T) {
	text := "big,v,code,y\n"
	for i := range 40 {
		v := []string{"#DIV/0!", fmt.Sprint(i), fmt.Sprint(2 * i), fmt.Sprint(3 * i)}[i%4]
		text += fmt.Sprintf("%d,%s,%s,%d\n", 9007199254740990+int64(3*i), v, []string{"B2", "A1"}[i%2], i)
	}
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv"}.Read())(t)
	facts, err := Describe(table)
	if err != nil || !strings.Contains(facts[0].Why, "rounded, here to multiples of 2") || facts[0].Unfit {
		t.Errorf("%+v, %v", facts[0], err)
	}
	d := must.Get(table.Encode("y", nil, dataset.Coding{Categorical: []string{"v", "code"}, Missing: dataset.Refuse},
		func(d *dataset.Data) ([]int, error) { return d.All(), nil }))(t)
	found, err := Findings(d, must.Get(d.Units())(t))
	odd := found.Of(finding.OddCategories)
	must.Hold(t, err == nil && len(odd) == 1 && odd[0].Subject[0] == "v" &&
		strings.HasPrefix(odd[0].Subject[1], `"#DIV/0!" among numbers`) &&
		reflect.DeepEqual(found.Of(finding.TooClose), finding.List{finding.New(finding.TooClose, []string{"big"})}) &&
		found.Of(finding.Constant) == nil, "%q, %v", found, err)
}

// TestLeaksOfRows: Leaks looks only at the rows that it gets.
func TestLeaksOfRows(t *testing.T) {
	text := "a,side,k,y\n"
	for i := range 100 {
		y := i * 37 % 101
		text += fmt.Sprintf("%d,%s,%d,%d\n", y*y-i/90*y*y, map[bool]string{true: "high", false: "low"}[y > 50], i%7, y)
	}
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv"}.Read())(t)
	d := must.Get(table.Encode("y", nil, dataset.Coding{Categorical: []string{"side"}, Missing: dataset.Refuse},
		func(d *dataset.Data) ([]int, error) { return d.All(), nil }))(t)
	for rows, want := range map[int]int{90: 2, 100: 1} {
		found := must.Get(Leaks(d, d.All()[:rows], true))(t)
		must.Hold(t, len(found) == want && found[want-1].Kind == finding.Derived && found[want-1].Subject[0] == "side", "%v", found)
	}
}
