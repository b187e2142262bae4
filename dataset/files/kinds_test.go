package files

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/ranks"
)

// zipOf returns an archive of files, given by their names.
func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w := must.Get(z.Create(name))(t)
		must.Get(io.WriteString(w, files[name]))(t)
	}
	must.Do(t, z.Close())
	return b.Bytes()
}

// book returns a workbook as spreadsheet programs write it. sheets are pairs of a name and a sheetData.
// Style 1 is for dates, 2 for dates and times in a format of its own, and 3 for hours.
func book(t *testing.T, properties string, sheets ...string) []byte {
	t.Helper()
	files := map[string]string{
		"xl/sharedStrings.xml": `<sst><si><t>when</t></si><si><r><t>zo</t></r><r><t xml:space="preserve">ne </t></r>` +
			`<rPh sb="0" eb="1"><t>ソ</t></rPh></si><si><t>price</t></si><si><t>north</t></si></sst>`,
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-409]yyyy\-mm\-dd&quot; at &quot;hh:mm"/>` +
			`<numFmt numFmtId="165" formatCode="[h]:mm &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/>` +
			`</cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>` +
			`</styleSheet>`,
	}
	var list strings.Builder
	links := ""
	for k := 0; k < len(sheets); k += 2 {
		name, state, _ := strings.Cut(sheets[k], "/")
		fmt.Fprintf(&list, `<sheet name=%q sheetId="%d" state=%q r:id="rId%d"/>`, name, k+1, cmp.Or(state, "visible"), k+1)
		links = fmt.Sprintf(`<Relationship Id="rId%d" Type="http://x/worksheet" Target="worksheets/s%d.xml"/>`, k+1, k) +
			links // programs write them in any order
		files[fmt.Sprintf("xl/worksheets/s%d.xml", k)] = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` +
			`<worksheet xmlns="http://m"><sheetViews><row r="99"/></sheetViews><sheetData>` + sheets[k+1] +
			`</sheetData><pageMargins left="0.7"/></worksheet>`
	}
	files["xl/workbook.xml"] = `<workbook xmlns="http://m" xmlns:r="http://r"><workbookPr ` + properties + `/><sheets>` +
		list.String() + `</sheets></workbook>`
	files["xl/_rels/workbook.xml.rels"] = `<Relationships xmlns="http://p">` + links +
		`<Relationship Id="t" Type="http://x/sharedStrings" Target="/xl/sharedStrings.xml"/>` +
		`<Relationship Id="s" Type="http://x/styles" Target="styles.xml"/></Relationships>`
	return zipOf(t, files)
}

// at writes a file of a test.
func at(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, content, 0o666))
	return path
}

const header = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>`

// TestKinds: files of every kind give the same rows with the same hash, to the bit.
func TestKinds(t *testing.T) {
	const (
		csv = "when,zone,price\n2024-01-31,north,1.5\n2024-02-01T06:30:00,,-2e-7\n1904-02-28,south,1234567.25\n" +
			"2024-01-31,1,3\n"
		json = `{"when":"2024-01-31","zone":"north","price":1.5}` + "\n\n" +
			`{"when":"2024-02-01T06:30:00","zone":null,"price":-2e-7}` + "\r\n" +
			`{"price":1234567.25,"zone":"south","when":"1904-02-28"}` + "\n" + ` {"when":"2024-01-31","zone":true,"price":"3"}`
		rows = `<c r="A2" s="1"><v>45322</v></c><c r="B2" t="s"><v>3</v></c><c r="C2"><v>1.5</v></c></row><row/>` +
			`<row><c s="2"><v>45323.270833333336</v></c><c r="C4" s="3" t="n"><v>-2E-7</v></c></row>` +
			`<row><c s="1"><v>1520</v></c><c t="inlineStr"><is><r><t>so</t></r><r><t>uth</t></r></is></c>` +
			`<c><f>1+1</f><v>1234567.25</v></c></row>` +
			`<row><c t="d"><v>2024-01-31</v></c><c t="b"><v>1</v></c><c t="str"><f>A1</f><v> 3 </v></c></row>` +
			`<row><c s="1"/><c t="str"><f>A1</f><v></v></c></row>`
		sheet = header + `<row r="2">` + rows
	)
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	must.Get(io.WriteString(z, json))(t)
	must.Do(t, z.Close())
	want := ""
	for _, c := range []struct {
		name    string
		content []byte
		as      dataset.Reading
	}{
		{"t.csv", []byte(csv), dataset.Reading{}},
		{"t.txt", []byte(strings.ReplaceAll(csv, ",", "|")), dataset.Reading{}},
		{"t.dat", []byte(strings.ReplaceAll(csv, ",", "\t")), dataset.Reading{}},
		{"spaces.txt", []byte(strings.NewReplacer(",,", " NA ", ",", "   ", "\n", "  \n  ").Replace(csv)), dataset.Reading{}},
		{"above.csv", []byte("\ufeffa \"remark\n\nof\xff two;lines\n" + csv), dataset.Reading{SkipRows: 3}},
		{"t.XLSX", book(t, "", "Data", sheet), dataset.Reading{}},
		{"1904.xlsm", book(t, `date1904="1"`, "old/hidden", header, "Data",
			strings.NewReplacer("45322", "43860", "45323", "43861", "1520", "58").Replace(sheet)), dataset.Reading{}},
		{"comma.xlsx", book(t, "", "Data", sheet), dataset.Reading{Decimal: ",", Thousands: "."}},
		{"two.xlsx", book(t, "", "Notes", header, "Data", sheet), dataset.Reading{Sheet: "Data"}},
		{"one of three.xlsx", book(t, "", "Sheet1", "", "Data", sheet, "Sheet3", `<row r="1"><c r="A1" s="1"/></row>`),
			dataset.Reading{}},
		{"title.xlsx", book(t, "", "Data", `<row r="1"><c r="F1" t="str"><v>A title</v></c></row>`+strings.NewReplacer(
			`1"`, `3"`, `2"`, `4"`, "C4", "C6").Replace(header+`<row r="2">`)+strings.NewReplacer("A2", "A4", "B2", "B4", "C2",
			"C4", "C4", "C6").Replace(rows)), dataset.Reading{SkipRows: 2}},
		{"t.jsonl", []byte(json), dataset.Reading{}},
		{"comma.ndjson", []byte(json), dataset.Reading{Decimal: ","}},
		{"t.jsonl.gz", gz.Bytes(), dataset.Reading{}},
		{"t.zip", zipOf(t, map[string]string{"t/": "", "t/t.csv": csv, "__MACOSX/t/._t.csv": "x", "t/about.md": "x"}),
			dataset.Reading{}},
		{"data.zip", zipOf(t, map[string]string{"t.data": csv}), dataset.Reading{}},
		{"two.zip", zipOf(t, map[string]string{"a.csv": "x\n1\n", "t.jsonl.gz": gz.String()}),
			dataset.Reading{Sheet: "t.jsonl.gz"}},
	} {
		c.as.Dates = []dataset.Dates{{Column: "when"}}
		table, err := ReadFile(at(t, c.name, c.content), c.as)
		if err != nil {
			t.Error(err)
			continue
		}
		d, err := table.Encode("price", nil, dataset.Coding{Categorical: []string{"zone"}, Missing: dataset.FillMean},
			func(d *dataset.Data) ([]int, error) { return d.All(), nil })
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		hash := must.Get(d.Hash(d.All()))(t)
		if want = cmp.Or(want, hash); hash != want || d.Rows != 4 {
			t.Errorf("%s: %d rows, %v %v, %v", c.name, d.Rows, table.Names, table.Text, table.Values)
		}
	}
}

// TestHeader: the Reading says whether there is a header, or else krigo finds out from the file. krigo also finds the
// separator.
func TestHeader(t *testing.T) {
	for _, c := range []struct{ text, header, want string }{
		{"1,2\n3,4\n", "", "[x1 y] [1 2 3 4]"},
		{"1,2\n3,4\n", "no", "[c1 c2] [1 2 3 4]"},
		{"1,2\n3,4\n", "yes", "[1 2] [3 4]"},
		{"a,b\n3,4\n", "no", "[c1 c2] [0 0 1 1]"},
		{"  1.0  2\n 3   4\n", "", "[x1 y] [1 2 3 4]"},
		{"a  \"b c\" \n\"3\"  4 \n", "", "[a b c] [3 4]"},
		{"living area\n120\n", "", "[living area] [120]"},           // a name with a space
		{"opened at\n9 h\n10 h", "", "[opened at] [0 1]"},           // the table's cells have units
		{"P(A|B)\n0.5\n", "", "[P(A|B)] [0.5]"},                     // a name with a bar
		{"a|b;c\n1;2\n", "", "[a|b c] [1 2]"},                       // a bar separates only if nothing else does
		{"{x},y\n1,2\n", "", "[{x} y] [1 2]"},                       // no JSON
		{"{\"1\":1,\"2\":2}", "", "[1 2] [1 2]"},                    // the keys are names
		{"sep=|\na|b\n1|2\n", "", "[a b] [1 2]"},                    // a spreadsheet names its separator so
		{"a|b\n1,5|2,5\n", "", "[a b] [0 0]"},                       // texts without --decimal
		{"{\"a\":1}\n{\"a\":2,\"b\":3}\n", "", "[a b] [1 NaN 2 3]"}, // the first object lacks a key
	} {
		as := dataset.Reading{Header: c.header}
		if strings.Contains(c.text, " h") {
			as.Units = []string{"h"}
			c.want = "[opened at] [9 10]"
		}
		table := must.Get(CSV{From: strings.NewReader(c.text), As: as}.Read())(t)
		if got := fmt.Sprint(table.Names, " ", table.Values); got != c.want {
			t.Errorf("%q, header %q: %s, want %s", c.text, c.header, got, c.want)
		}
	}
	// A caller that has measured a text can have it read as plain CSV only.
	for _, text := range []string{"{\"a\":1}\n", "a|b\n1|2\n", "a b\n1 2\n"} {
		if table, err := (CSV{From: strings.NewReader(text), Bare: true}).Read(); err == nil && len(table.Names) != 1 {
			t.Errorf("%q has the columns %q", text, table.Names)
		}
	}
	// A stream can hold objects too.
	var got []float64
	must.Do(t, CSV{From: strings.NewReader("x\n{\"a\":1}\n{\"a\":2}\n"), As: dataset.Reading{SkipRows: 1}}.Stream(1,
		func(t *dataset.Table) error { got = append(got, t.Values...); return nil }))
	if !slices.Equal(got, []float64{1, 2}) {
		t.Error(got)
	}
}

// TestKindsRefuse: an error names its place: a line, or a sheet and a cell.
func TestKindsRefuse(t *testing.T) {
	cell := func(c string) []byte { return book(t, "", "Data", header+`<row r="4">`+c+`</row>`) }
	damaged := cell(`<c r="A4"><v>1</v></c>`)
	for _, c := range []struct {
		name    string
		content []byte
		as      dataset.Reading
		want    string
	}{
		{"t.xlsx", cell(`<c r="B4" t="str"><v>x</v></c><c r="C4"><v>1</v></c>`), dataset.Reading{},
			`t.xlsx: sheet "Data", cell A4 (row 1), column 1 ("when"): the value is missing`},
		{"t.xlsx", cell(`<c r="AB4"><v>1</v></c>`), dataset.Reading{},
			`t.xlsx: sheet "Data", cell AB4: "1" stands beside the table, whose first row ends in column 3`},
		{"t.xlsx", cell(`<c r="B4"><f>A1</f></c>`), dataset.Reading{}, `sheet "Data", cell B4: a formula whose value`},
		{"t.xlsx", cell(`<c r="B4" t="s"><v>4</v></c>`), dataset.Reading{}, `sheet "Data", cell B4: text "4" of 4`},
		{"t.xlsx", cell(`<c r="ZZZZ4"><v>4</v></c>`), dataset.Reading{}, `sheet "Data", row 4: a cell at "ZZZZ4"`},
		{"t.xlsx", cell(`<c r="A4"><v>1</c>`), dataset.Reading{}, "t.xlsx: cannot be read after row 0: XML syntax error"},
		{"t.xlsx", damaged[:len(damaged)/2], dataset.Reading{}, "t.xlsx: not a whole XLSX file"},
		{"t.xlsx", zipOf(t, map[string]string{"a": ""}), dataset.Reading{}, `"xl/workbook.xml" isn't in it`},
		{"t.xlsx", book(t, "", "Data", ""), dataset.Reading{}, "t.xlsx: the file is empty"},
		{"t.xlsx", book(t, "", "Data", header), dataset.Reading{}, "a header but no rows"},
		{"t.xlsx", book(t, "", "A/hidden", header), dataset.Reading{}, "no sheet with a table"},
		{"t.xlsx", book(t, "", "A", header, "B b", header), dataset.Reading{},
			`more than one sheet may hold the table, "A", "B b": say which, as --sheet A`},
		{"t.xlsx", book(t, "", "A", header, "B", header), dataset.Reading{Sheet: "C"}, `no sheet "C"`},
		{"t.zip", zipOf(t, map[string]string{"a.csv": "", "b.csv": "", "c.md": ""}), dataset.Reading{},
			`t.zip: more than one file may hold the table, "a.csv", "b.csv"`},
		{"t.zip", zipOf(t, map[string]string{"a.csv": "x,y\n1\n"}), dataset.Reading{}, "t.zip: line 2 (row 1): expected 2"},
		{"t.zip", zipOf(t, nil), dataset.Reading{}, "t.zip: no file with a table is in it"},
		{"t.zip", []byte("a,b\n1,2\n"), dataset.Reading{}, "t.zip: not a whole zip file"},
		{"t.zip", bytes.Replace(zipOf(t, map[string]string{"a.csv": "x,y\n1,2\n"}), []byte{0x50, 0x4b, 7, 8},
			[]byte{0x50, 0x4b, 7, 9}, 1), dataset.Reading{}, "t.zip"},
		{"t.jsonl", []byte("{\"a\":1}\n\n{\"a\":[1]}"), dataset.Reading{}, `t.jsonl: line 3: "a" holds a list or an object`},
		{"t.jsonl", []byte("{\"a\":1}\n{\"a\":1"), dataset.Reading{}, "t.jsonl: line 2: no JSON object with keys"},
		{"t.jsonl", []byte("{\"a\":1,\"a\":2}"), dataset.Reading{}, `t.jsonl: line 1: "a" stands twice`},
		{"t.jsonl", []byte("{\n\"a\":1}"), dataset.Reading{}, "t.jsonl: line 1: no JSON object with keys"},
		{"t.jsonl", []byte("{\"a\":1}\n" + strings.Repeat("{\"a\":1}\n", blockSize/8) + "{\"b\":1}"), dataset.Reading{},
			fmt.Sprintf(`t.jsonl: line %d: the key "b" is new`, blockSize/8+2)},
		{"t.jsonl", []byte("{\"a\":1}\n{\"a\":\"x\"}"), dataset.Reading{},
			`t.jsonl: line 2 (row 2), column 1 ("a"): "x" is not`},
		{"t.csv", []byte("x\na,b\n1,2\n"), dataset.Reading{SkipRows: 5}, "t.csv: the file ends within the 5 lines"},
		{"t.csv", []byte("x\na,b\n1,2\n1,\"2\n"), dataset.Reading{SkipRows: 1}, "t.csv: line 4: a quote"},
		{"t.csv", []byte("x\na,b\n1,2\n1,z\n"), dataset.Reading{SkipRows: 1}, `t.csv: line 4 (row 2), column 2 ("b"): "z"`},
		{"t.csv", []byte("a\n"), dataset.Reading{SkipRows: -1}, "skip-rows -1"},
		{"t.csv", []byte("a\n"), dataset.Reading{Header: "maybe"}, `header "maybe": want yes, no, unique, two or auto`},
		{"t.csv", []byte("a\n"), dataset.Reading{MissingTarget: "x"}, `missing-target "x": want drop or refuse`},
	} {
		path := at(t, c.name, c.content)
		table, err := ReadFile(path, c.as)
		if err == nil {
			_, err = table.Unlabelled(table.Names)
		}
		wantError(t, err, c.want)
	}
	for _, name := range []string{"t.xlsx", "t.zip", "t.jsonl"} {
		wantError(t, WriteFile(filepath.Join(t.TempDir(), name), []string{"y"}, 1, rowsOf([]float64{1})), name,
			"read, and not written")
	}
}

// TestKindsAfford: reading a file that unpacks to more than the limit returns an error before it takes much memory.
func TestKindsAfford(t *testing.T) {
	must.Long(t)
	many := func(what string) string { return strings.Repeat(what, (24<<20)/len(what)) }
	for name, content := range map[string][]byte{
		"cells.xlsx": book(t, "", "A", header+`<row r="2">`+many(`<c/>`)+`</row>`),
		"rows.xlsx":  book(t, "", "A", header+many(`<row><c><v>1</v></c><c r="C1"><v>2</v></c></row>`)),
		"wide.xlsx":  book(t, "", "A", many(`<row><c r="XFD1"><v>1</v></c></row>`)),
		"text.xlsx":  book(t, "", "A", header+`<row r="2"><c t="str"><v>`+many("x")+`</v></c></row>`),
		"attrs.xlsx": book(t, "", "A", header+`<row `+many(`a="" `)+`></row>`),
		"links.xlsx": book(t, many(" "), "A", header),
		"t.zip":      zipOf(t, map[string]string{"t.csv": "a,b\n" + many("1,2\n")}),
		"line.zip":   zipOf(t, map[string]string{"t.csv": many("1,")}),
		"keys.jsonl": []byte("{\"a\":1}\n{" + many("\"a\":1,")),
		"rows.jsonl": []byte(many("{\"a\":1}\n")),
	} {
		path := at(t, name, content)
		memory.SetLimit(8 << 20)
		_, err := ReadFile(path, dataset.Reading{})
		memory.SetLimit(0)
		wantError(t, err, name, "--memory")
	}
}

// TestTargets: rows without a target are left out of fits and scores, and of nothing else. Errors and places refer to
// the file.
func TestTargets(t *testing.T) {
	const n = 50
	nan := math.NaN()
	values := make([]float64, 0, 2*n)
	for i := range n {
		values = append(values, float64(i), map[bool]float64{true: nan, false: float64(i * i)}[i%7 == 3])
	}
	folder := t.TempDir()
	raw := "a,y\n"
	for i := range n {
		raw += strings.Replace(fmt.Sprintf("%v,%v\n", values[2*i], values[2*i+1]), "NaN", "", 1)
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, "t.csv"), []byte(raw), 0o666))
	zeros := slices.Clone(values)
	for i, v := range zeros {
		if v != v {
			zeros[i] = 0
		}
	}
	npy := filepath.Join(folder, "t.npy")
	must.Do(t, WriteFile(npy, []string{"a", "y"}, n, rowsOf(zeros)))
	content := must.Get(os.ReadFile(npy))(t)
	for i := range n {
		if v := values[2*i+1]; v != v {
			copy(content[len(content)-16*n+16*i+8:], "\x00\x00\x00\x00\x00\x00\xf8\x7f")
		}
	}
	must.Do(t, os.WriteFile(npy, content, 0o666))
	var want string
	for _, name := range []string{"t.csv", "t.npy"} {
		path := filepath.Join(folder, name)
		for _, size := range []int{1, 3} {
			var wait sync.WaitGroup
			for rank, r := range ranks.Threads(size) {
				wait.Go(func() {
					table, err := ReadPart(path, r, dataset.Reading{})
					if err != nil {
						t.Error(err)
						return
					}
					defer table.Close()
					d, err := table.Regression("y")
					if err != nil {
						t.Error(err)
						return
					}
					hash, err := d.Hash(d.All())
					if err != nil || d.Rows != 43 || d.Table().Found.Untargeted != 7 || table.Rows != n {
						t.Errorf("%s on %d ranks: %d rows, %v", name, size, d.Rows, err)
					}
					if rank == 0 && size == 1 {
						want = cmp.Or(want, hash)
					}
					if hash != want {
						t.Errorf("%s on %d ranks: another hash", name, size)
					}
					own := d.All()
					last := own[len(own)-1]
					x, y, err := d.Select([]int{last})
					if err != nil || y[0] != x[0]*x[0] || rank == size-1 && x[0] != 49 {
						t.Errorf("%s on %d ranks: the last row is %v, %v, %v", name, size, x, y, err)
					}
					where := map[string]string{"t.csv": fmt.Sprintf("line %v", x[0]+2), "t.npy": fmt.Sprintf("row %v", x[0]+1)}
					if d.Where(last) != where[name] {
						t.Errorf("%s on %d ranks: %s, want %s", name, size, d.Where(last), where[name])
					}
				})
			}
			wait.Wait()
		}
		for _, as := range []dataset.Reading{{MissingTarget: dataset.Refuse}, dataset.Reading{}.Every()} {
			table := must.Get(ReadFile(path, as))(t)
			_, err := table.Regression("y")
			wantError(t, err, "(and 6 more problems)", "the value is missing")
			table.Close()
		}
	}
	// A text in such a row doesn't turn the numbers of other rows into text.
	remark := must.Get(CSV{From: strings.NewReader("a,b,y\n1,x,2\n-0.5,NA,3\n# a remark,z,\n7,1,4\n"),
		Source: "f.csv"}.Read())(t)
	d, err := remark.Select([]string{"a"}, "y")
	if err != nil {
		t.Fatal(err)
	}
	if x, y, err := d.Select(d.All()); err != nil || !slices.Equal(x, []float64{1, -0.5, 7}) || !slices.Equal(y,
		[]float64{2, 3, 4}) || d.Table().Text[0] != nil || d.Table().Text[1] == nil || remark.Text[0] == nil ||
		remark.Values[0] != 0 {
		t.Errorf("%v, %v, %v", x, y, err)
	}
	_, err = remark.Select([]string{"b"}, "y")
	wantError(t, err, `f.csv: line 2 (row 1), column 2 ("b"): "x" is not a number`)
	// Missing cells of other columns leave no row out, and a column without any target is an error.
	table := must.Get(CSV{From: strings.NewReader("a,y,z\n1,,\n2,3,\n,4,\n5,6,\n"), Source: "f.csv"}.Read())(t)
	if d := must.Get(table.Unlabelled(nil))(t); d.Rows != 4 {
		t.Error(d.Rows)
	}
	_, err = table.Select([]string{"a"}, "y")
	wantError(t, err, `f.csv: line 4 (row 2), column 1 ("a"): the value is missing`)
	_, err = table.Select([]string{"a"}, "z")
	wantError(t, err, `f.csv: line 2 (row 1), column 3 ("z"): the value is missing`)
}
