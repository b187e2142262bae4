package files

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/must"
)

// shown writes a table as names and cells, with its lines.
func shown(t *dataset.Table) string {
	var b strings.Builder
	fmt.Fprint(&b, strings.Join(t.Names, "|"))
	for i := range t.Rows {
		fmt.Fprintf(&b, "; %d:", t.Lines[i])
		for j := range t.Names {
			fmt.Fprintf(&b, " %s", t.CellText(j, t.Values[i*len(t.Names)+j]))
		}
	}
	return b.String()
}

// TestField: text as programs and people write it is read, though RFC 4180 doesn't have it.
func TestField(t *testing.T) {
	for _, c := range []struct {
		name, text string
		as         dataset.Reading
		want       string
	}{
		{"R, commas", "area,kind,price\n1,0.5,a,1\n2,0.25,b,2\n", dataset.Reading{},
			"(index)|area|kind|price; 2: 1 0.5 a 1; 3: 2 0.25 b 2"},
		{"R, spaces", "\"area\" \"kind\"\n\"1\" 0.5 \"a b\"\n\"2\" 0.25 \"c\"\n", dataset.Reading{},
			"(index)|area|kind; 2: 1 0.5 a b; 3: 2 0.25 c"},
		{"R, quotes escaped", "\"a\",\"b\"\n\"6\\\"\",1\n\"5\\\" x\",2\n", dataset.Reading{}, "a|b; 2: 6\" 1; 3: 5\" x 2"},
		{"separators that end rows alone", "a;b\n1;2;\n3;4;\n5;6\n", dataset.Reading{},
			"a|b; 2: 1 2; 3: 3 4; 4: 5 6"},
		{"columns without a name and cells", "a,b,c,, \n1,2,3,,\n4,5,6,\n7,8,9\n", dataset.Reading{},
			"a|b|c; 2: 1 2 3; 3: 4 5 6; 4: 7 8 9"},
		{"tabs, and commas in texts", "kind\ttext, as sent\na\tx, y, z\nb\tv\n", dataset.Reading{},
			"kind|text, as sent; 2: a x, y, z; 3: b v"},
		{"semicolons, and commas in names", "price (EUR, net);size\n1;2\n", dataset.Reading{},
			"price (EUR, net)|size; 2: 1 2"},
		{"backslashes", "a,b\n1,\"3\\\" x, y\"\n2,\"c:\\\"\n", dataset.Reading{}, "a|b; 2: 1 3\" x, y; 3: 2 c:\\"},
		{"inches", "a\tb\n1\t6\" flat\n2\t5\"\n", dataset.Reading{}, "a|b; 2: 1 6\" flat; 3: 2 5\""},
		{"zeros of spreadsheets", "a,b\n=\"00x\",1\n\"=\"\"01y\"\"\",2\n", dataset.Reading{}, "a|b; 2: 00x 1; 3: 01y 2"},
		{"remarks", "# of 2024, by x\n#\na,b\n1,2\n# half\n3,4\n#end\n", dataset.Reading{}, "a|b; 4: 1 2; 6: 3 4"},
		{"a header with #", "#a,b\n1,2\n", dataset.Reading{}, "#a|b; 2: 1 2"},
		{"remarks above a header with #", "# note\n#a,b\n1,2\n", dataset.Reading{}, "#a|b; 3: 1 2"},
		{"minus signs", "a;b\n\u22121\u202f234,5;\u22121\n2\u202f000,5;2\n", dataset.Reading{Decimal: ",", Thousands: " "},
			"a|b; 2: -1234.5 -1; 3: 2000.5 2"},
		{"minus signs, plain", "a\n\u22121.5\n", dataset.Reading{}, "a; 2: -1.5"},
		{"spaces and a tab", "1.5  2   3\t\"m 0\"\n2.5  ?   4\t\"m 1\"\n", dataset.Reading{Header: "no"},
			"c1|c2|c3|c4; 1: 1.5 2 3 m 0; 2: 2.5  4 m 1"},
		{"coordinates between tabs", "at\tplace\n48.1 11.5\tx\n", dataset.Reading{}, "at|place; 2: 48.1 11.5 x"},
		{"CR", "a,b\r1,2\r3,4\r", dataset.Reading{}, "a|b; 2: 1 2; 3: 3 4"},
		{"repeated names", "v,v,,v\n1,2,3,4\n", dataset.Reading{Header: "unique"}, "v|v.1|c3|v.2; 2: 1 2 3 4"},
		{"cells below no name", "v,a,b,c,,\n1,2,3,4,x,\n5,6,7,8,,\n", dataset.Reading{Header: "unique"},
			"v|a|b|c|c5|c6; 2: 1 2 3 4 x ; 3: 5 6 7 8  "},
		{"a short row below no name", "v,a,b,c,,\n1,2,3,4\n", dataset.Reading{Header: "unique"}, "v|a|b|c; 2: 1 2 3 4"},
		{"no cells below no name", "v,a,b,c,,\n1,2,3,4,,\n", dataset.Reading{Header: "unique"}, "v|a|b|c; 2: 1 2 3 4"},
		{"remarks and a blank line", "# by x\n# of y\n\na\tb\n1\t2\n", dataset.Reading{}, "a|b; 5: 1 2"},
		{"two rows of names", ",size,size\n,area,age\n0,1,2\n", dataset.Reading{Header: "two"},
			"(index)|size area|size age; 3: 0 1 2"},
		{"units", "area,age\nm2,years\n1,2\n", dataset.Reading{Header: "two"}, "area m2|age years; 3: 1 2"},
		{"above a limit", "a\n>2000\n5\n≥ 7\n>=8\n90+\n", dataset.Reading{Above: "limit"},
			"a; 2: 2000; 3: 5; 4: 7; 5: 8; 6: 90"},
		{"an array behind other keys", "{\"n\": 1, \"results\": [{\"a\": NaN, \"b\": \"x: NaN,\"}]}", dataset.Reading{},
			"a|b; 1:  x: NaN,"},
		{"an array", "[{\"a\":1,\"b\":\"x\"},\n {\"a\":2,\n\"b\":\"}\\\"]\"}]\n", dataset.Reading{},
			"a|b; 1: 1 x; 2: 2 }\"]"},
		{"an array in an object", "{\"data\": [{\"a\": 1}, {\"a\": 2, \"b\": 3}], \"n\": 2}", dataset.Reading{},
			"a|b; 1: 1 ; 1: 2 3"},
		{"pandas' table", "{\"schema\":{\"fields\":[{\"name\":\"a\"}]},\n\"data\":[{\"a\":1},{\"a\":2}]}", dataset.Reading{},
			"a; 2: 1; 2: 2"},
		{"quarters and months", "q,m\n2023-Q3,Sep-23\nQ1 2024,Jan-24\n",
			dataset.Reading{Dates: []dataset.Dates{{Column: "q"}, {Column: "m"}}}, "q|m; 2: 19539 19601; 3: 19723 19723"},
	} {
		table, err := CSV{From: strings.NewReader(c.text), Source: "f", As: c.as}.Read()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		must.Be(t, shown(table), c.want, c.name)
		// As it arrives, a text that its first lines explain gives the same rows.
		if c.name == "CR" || c.name == "pandas' table" {
			continue
		}
		names := table.Names
		rows := 0
		must.Do(t, CSV{From: iterated{strings.NewReader(c.text)}, Source: "f", As: c.as}.Stream(1,
			func(t *dataset.Table) error {
				names = t.Names
				rows += t.Rows
				return nil
			}))
		must.Hold(t, strings.Join(names, "|") == strings.Join(table.Names, "|") && rows == table.Rows,
			"%s: a stream has %d rows of %q", c.name, rows, names)
	}
}

// TestFieldRefuses: the error says which flag reads such a text, or what is wrong with it.
func TestFieldRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"repeated names", "v,v\n1,2\n", `columns 1 and 2 are both named "v": rename one, or have repeated names numbered ` +
			`with --header unique; if the second row names columns too, say --header two`},
		{"a title", "Report of 2024\n\na,b\n1,2\n3,4\n", `f: line 3 (row 1): expected 1 fields, got 2: add or remove fields, ` +
			`or quote those that hold a ',' (and 2 more problems); if the table begins in line 3, say --skip-rows 2`},
		{"lines in quotes", "\"a,b\"\n\"1,\"\"x\"\"\"\n", `f: line 2 (row 1): lines stand in quotes as a whole, as "1,\"x\""`},
		{"an inch at the beginning", "a\tb\n1\t\"6\n2\t3\n", "f: line 2: a quote"},
		{"decimal commas between commas", "a,b\n1,5,2\n1,7,3\n", `f: line 3: each row has a field more than the header, and ` +
			`the first can't be the row's name, since "1" stands in line 2 too`},
		{"a row of two fields more", "a,b\n1,2,3,4\n", "expected 2 fields, got 4"},
		{"one row of a field more", "a,b\n1,2,3\n4,5\n6,7\n", "f: line 2 (row 1): expected 2 fields, got 3: add or remove " +
			"fields, or quote those that hold a ','"},
		{"an array that doesn't end", "[{\"a\":1},\n{\"a\":2}\n", "f: line 3: the array of objects doesn't end"},
		{"an object of columns", "{\"a\":{\"0\":1},\"b\":{\"0\":2}}", `f: line 1: each key holds a list or an object: write an ` +
			`array of objects with a value for each key, as pandas does with orient="records"`},
		{"a title between separators", "Report,,\n,,\na,b,c\n1,2,3\n", "f: line 1: column 2 has no name: give it one in the " +
			"header, or remove it; if the table begins in line 3, say --skip-rows 2"},
		{"a column without a name", "a,,c\n1,2,3\n", "f: line 1: column 2 has no name: give it one in the header, or " +
			"remove it, or have it named c2 by --header unique"},
		{"a cell below no name", "a,b,c,,\n1,2,3,,\n1,2,3,,x\n", `f: line 3 (row 2): column 5 has no name, and holds "x"`},
		{"no header, an empty cell", "7,,c\n8,2,d\n", "by --header unique; if the first row names no columns, say --header no"},
		{"no header, equal cells", "c,c,7\nd,c,8\n", "say --header two; if the first row names no columns, say --header no"},
		{"numbers in an array", "[{\"a\":1},\n7]", "f: line 2: no JSON object with keys"},
	} {
		_, err := CSV{From: strings.NewReader(c.text), Source: "f"}.Read()
		must.Fail(t, err, c.want, c.name)
		must.Hold(t, c.name != "one row of a field more" || !strings.Contains(err.Error(), "--skip-rows"), "%v", err)
		must.Hold(t, strings.HasPrefix(c.name, "no header") || !strings.Contains(err.Error(), "--header no"), "%v", err)
	}
}

// TestLate: cells that aren't UTF-8, after the first block of a file, are refused where they are used. As U+FFFD, two
// categories would become one.
func TestLate(t *testing.T) {
	text := "x,kind,y\n" + strings.Repeat("1,a,2\n", blockSize/6) + "3,Citro\xebn,4\n5,Citro\xe8n,6\n"
	table := must.Get(CSV{From: strings.NewReader(text), Source: "f.csv"}.Read())(t)
	must.Be(t, must.Get(table.Select([]string{"x"}, "y"))(t).Rows, blockSize/6+2)
	_, err := table.Select([]string{"kind"}, "y")
	must.Fail(t, err, fmt.Sprintf(`f.csv: line %d (row %d), column 2 ("kind"): "Citro\xebn"`, blockSize/6+2, blockSize/6+1))
	must.Fail(t, err, `isn't UTF-8 text: save the table as CSV in UTF-8, as by iconv -f WINDOWS-1252 -t UTF-8 f.csv`)
}

// TestTabs: in a file of tabs, cells have commas. Elsewhere equally many commas separate cells.
func TestTabs(t *testing.T) {
	text := []byte("ham\tgo, he said\nham\tok, then\nspam\tfree, now, here\n")
	table := must.Get(ReadFile(at(t, "sms.TSV", text), dataset.Reading{}))(t)
	must.Be(t, fmt.Sprint(table.Names, table.Rows, table.Text[1]), "[ham go, he said] 2 [ok, then free, now, here]")
	must.Refuse(ReadFile(at(t, "sms.txt", text), dataset.Reading{}))(t, "expected 2 fields, got 3")
	// A stream waits for the second line.
	in, out := io.Pipe()
	go func() {
		for _, line := range []string{"kind\tas sent, all\n", "a\tx, y, z\n"} {
			io.WriteString(out, line)
		}
		out.Close()
	}()
	must.Do(t, CSV{From: in}.Stream(1, func(t *dataset.Table) error {
		text = []byte(fmt.Sprint(t.Names, t.Text))
		return nil
	}))
	must.Be(t, string(text), "[kind as sent, all] [[a] [x, y, z]]")
}

// TestRefused: a column whose cells can't be read is refused where it is used, and nowhere else.
func TestRefused(t *testing.T) {
	sheet := header + `<row r="2"><c r="A2"><f>B2</f></c><c r="B2"><v>2</v></c><c r="C2"><v>3</v></c></row>` +
		`<row r="3"><c r="A3"><v>1</v></c><c r="B3"><v>5</v></c><c r="C3"><v>7</v></c></row>`
	lines := "{\"when\":{\"a\":1},\"zone\":2,\"price\":3}\n{\"when\":null,\"zone\":5,\"price\":7}\n"
	for name, content := range map[string][]byte{"t.xlsx": book(t, "", "Data", sheet), "t.jsonl": []byte(lines)} {
		why := map[string]string{"t.xlsx": `sheet "Data", cell A2: a formula whose value isn't in the file`,
			"t.jsonl": `line 1: "when" holds a list or an object`}[name]
		table := must.Get(ReadFile(at(t, name, content), dataset.Reading{}))(t)
		if table.Names[1] != "zone" {
			table.Names[1] = "zone"
		}
		d := must.Get(table.Select([]string{"zone"}, "price"))(t)
		must.Be(t, d.Rows, 2, name)
		_, err := table.Select([]string{"when"}, "price")
		wantError(t, err, name, why)
		_, err = table.Regression("price")
		wantError(t, inspect.Explain(err), name, why, "--ignore when")
		_, err = table.Regression("when")
		wantError(t, err, name, why)
		_, err = table.Keep([]string{"when"})
		wantError(t, err, why)
		_, err = (&dataset.Kinds{Column: "when", Labels: []string{"x", "y", "z"}}).Spread(table)
		wantError(t, err, why)
		facts := must.Get(inspect.Describe(table))(t)
		must.Hold(t, facts[0].Kind == "refused" && facts[0].Missing == 0 && facts[0].Flags() == "--ignore when",
			"%+v", facts[0])
		must.Refuse(ReadFile(at(t, name, content), dataset.Reading{Distinct: true}))(t, "--duplicates drop")
	}
}

// TestAsStandard: what the standard library writes and reads as CSV, commas reads in the same way, with each mark.
func TestAsStandard(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	parts := strings.Split("a b 1.5 \" , ; | \n \r\n é \\ # =", " ")
	parts = append(parts, " ", "\t")
	for range 3000 {
		for _, mark := range []byte(",;\t|") {
			var text bytes.Buffer
			w := csv.NewWriter(&text)
			w.Comma = rune(mark)
			for range 1 + random.IntN(4) {
				row := []string{"x"}
				for range 1 + random.IntN(3) {
					cell := ""
					for range random.IntN(4) {
						cell += parts[random.IntN(len(parts))]
					}
					row = append(row, cell)
				}
				must.Do(t, w.Write(row))
			}
			w.Flush()
			// A backslash before a quote says what the quote is.
			if strings.Contains(text.String(), "\\\"") || strings.Contains(text.String(), "=\"") {
				continue
			}
			standard := csv.NewReader(bytes.NewReader(text.Bytes()))
			standard.Comma = rune(mark)
			standard.FieldsPerRecord = -1
			standard.TrimLeadingSpace = mark != '\t'
			want := must.Get(standard.ReadAll())(t)
			ours := newCommas(bytes.NewReader(text.Bytes()), mark, "", 0)
			for i, row := range want {
				got, err := ours.Read()
				must.Need(t, err == nil && slices.Equal(got, row), "%q: row %d is %q, want %q (%v)", text.String(), i, got,
					row, err)
			}
			_, err := ours.Read()
			must.Need(t, err == io.EOF && ours.InputOffset() == int64(text.Len()), "%q: %v", text.String(), err)
		}
	}
}

// TestUnitRow: a first row that names units, among numbers, is told with the flag that reads it.
func TestUnitRow(t *testing.T) {
	for text, told := range map[string]bool{"a,b,c\nm2,,x\n1,2,y\n3,4,z\n": true, "a,b,c\n-,u,x\n1,v,y\n3,w,z\n": false,
		"a,c\n1,x\n3,z\n": false} {
		table := must.Get(CSV{From: strings.NewReader(text), Source: "f"}.Read())(t)
		found := strings.Join(inspect.Strays(table).Words(), "\n")
		must.Be(t, strings.Contains(found, "line 2: names the columns too, or their units; say --header two"), told, found)
	}
}

// TestFolder: only a folder of Parquet files is a table.
func TestFolder(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.WriteFile(folder+"/t.csv", []byte("a\n1\n"), 0o666))
	must.Refuse(ReadFile(folder, dataset.Reading{}))(t, folder+": a folder without Parquet files")
}

// TestBeyond: all numbers of a column beyond a limit stand for missing values, in a file and in a table that was read
// before.
func TestBeyond(t *testing.T) {
	text := "a,b\n1,1\n19,1e9\n20,-3\n1e9,2\n-1e9,5\n"
	want := "[1 1 19 1e+09 NaN -3 NaN 2 NaN 5]"
	for _, as := range []dataset.Reading{{}, {Below: "half", Above: "limit"}} {
		read := must.Get(CSV{From: strings.NewReader(text), As: as}.Read())(t)
		as.Missing = []string{"a=>19", "a=<-10"}
		further := must.Get(read.Further(as.Missing, nil))(t)
		must.Be(t, fmt.Sprint(further.Values), want)
		read = must.Get(CSV{From: strings.NewReader(text), As: as}.Read())(t)
		must.Be(t, fmt.Sprint(read.Values), want)
	}
}
