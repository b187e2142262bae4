package files

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/must"
)

// zipped compresses text and leaves out the last cut bytes.
func zipped(t *testing.T, text string, cut int) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	must.Do(t, z.Close())
	return b.String()[:b.Len()-cut]
}

// rowsOf returns a Fill with the rows of a row-major matrix.
func rowsOf(matrix []float64) Fill {
	return func(i int, values []float64) error {
		copy(values, matrix[i*len(values):])
		return nil
	}
}

func TestRead(t *testing.T) {
	plain := "a,b\n1,2\n3,4\n"
	for _, c := range []struct {
		name, text string
		names      []string
		values     []float64
		lines      []int
	}{
		{"plain", plain, []string{"a", "b"}, []float64{1, 2, 3, 4}, []int{2, 3}},
		{"gzip", zipped(t, plain, 0), []string{"a", "b"}, []float64{1, 2, 3, 4}, []int{2, 3}},
		{"byte order mark", "\ufeff\"a\",b\n1,2\n", []string{"a", "b"}, []float64{1, 2}, []int{2}},
		{"CRLF, no last newline", "a,b\r\n1,2\r\n3,4", []string{"a", "b"}, []float64{1, 2, 3, 4}, []int{2, 3}},
		{"blank lines and lines of spaces", "\n  \na,b\n\n1,2\n   \n3,4\n\n", []string{"a", "b"}, []float64{1, 2, 3, 4},
			[]int{5, 7}},
		{"quotes and spaces", "\" a, \"\"x\"\" \", b \n\"1\", \"2\"\n 3 ,-4e-3\n", []string{"a, \"x\"", "b"},
			[]float64{1, 2, 3, -4e-3}, []int{2, 3}},
		{"quoted newline", "\"a\nx\",b\n1,\"2\n\"\n3,4\n", []string{"a\nx", "b"}, []float64{1, 2, 3, 4}, []int{3, 5}},
		{"semicolons", "a;b\n1;2\n", []string{"a", "b"}, []float64{1, 2}, []int{2}},
		{"semicolons around quoted commas", "\"a, m\";b\n1;2\n", []string{"a, m", "b"}, []float64{1, 2}, []int{2}},
		{"tabs", "a\tb\n1\t2\n", []string{"a", "b"}, []float64{1, 2}, []int{2}},
		{"no header", "1,2,3\n4,5,6\n", []string{"x1", "x2", "y"}, []float64{1, 2, 3, 4, 5, 6}, []int{1, 2}},
		{"one column", "y\n1\n2\n", []string{"y"}, []float64{1, 2}, []int{2, 3}},
		{"signs, points and exponents", "a,b\n+1,.5\n5.,1E5\n -0 ,2e+05\n", []string{"a", "b"},
			[]float64{1, 0.5, 5, 1e5, 0, 2e5}, []int{2, 3, 4}},
		{"a number in the header", "1,b\n2,3\n", []string{"1", "b"}, []float64{2, 3}, []int{2}},
		{"UTF-16, little end first", "\xff\xfea\x00,\x00\xe9\x00\n\x001\x00,\x002\x00", []string{"a", "é"}, []float64{1, 2},
			[]int{2}},
		{"UTF-16, big end first", "\xfe\xff\x00a\x00,\x00b\x00\n\x001\x00,\x002", []string{"a", "b"}, []float64{1, 2},
			[]int{2}},
		{"a spreadsheet's separator", "sep=;\r\na;b\r\n1;2\r\n", []string{"a", "b"}, []float64{1, 2}, []int{3}},
		{"separators that end lines", "a;b;\n1;2;\n3;4\n", []string{"a", "b"}, []float64{1, 2, 3, 4}, []int{2, 3}},
		{"underflow is zero", "a,b\n1e-999,2\n", []string{"a", "b"}, []float64{0, 2}, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := must.Get(CSV{From: strings.NewReader(c.text), Source: "f.csv"}.Read())(t)
			must.Hold(t, slices.Equal(table.Names, c.names) &&
				slices.Equal(table.Values, c.values) && slices.Equal(table.Lines, c.lines) &&
				table.Rows == len(c.lines), "got %+v", table)
		})
	}
}

func TestReadRefuses(t *testing.T) {
	badSum := []byte(zipped(t, "a,b\n1,2\n", 0))
	badSum[len(badSum)-8] ^= 1
	// Random digits don't compress away, so half of the stream holds rows.
	var rows strings.Builder
	random := rand.New(rand.NewPCG(1, 1))
	names := []string{"a", "b"}
	values := make([]float64, 20000)
	for i := range values {
		values[i] = random.Float64()
	}
	must.Do(t, Write(&rows, names, len(values)/2, rowsOf(values)))
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f.csv: the file is empty"},
		{"blank", "\n \n\n", "f.csv: the file is empty"},
		{"header only", "a,b\n", "f.csv: a header but no rows"},
		{"gzip header cut", "\x1f\x8b", "f.csv is cut short: the gzip stream ends early, after row 0"},
		{"gzip cut", zipped(t, rows.String(), 90000), "f.csv is cut short: the gzip stream ends early, after row "},
		{"gzip trailer cut", zipped(t, "a,b\n1,2\n3,4\n", 4),
			"f.csv is cut short: the gzip stream ends early, after row 2"},
		{"gzip checksum", string(badSum), "f.csv is damaged; fetch it again: gzip: invalid checksum"},
		{"gzip trailing garbage", zipped(t, "a,b\n1,2\n", 0) + "garbage garbage", "f.csv is damaged"},
		{"NUL", "a,b\n1,\x002\n", "f.csv: not a text file"},
		{"not UTF-8", "temp\xe9rature,b\n1,2\n", "f.csv: not a text file"},
		{"UTF-16 cut", "\xff\xfea\x00,\x00", "f.csv: line 1: column 2 has no name"},
		{"Latin-1", "temp\xe9rature,b\n1,2\n", "as by iconv -f WINDOWS-1252 -t UTF-8 f.csv if it is of Windows"},
		{"other separator", "sep=#\na#b\n1#2\n", `cells are separated by "#"`},
		{"unnamed column with cells", "a;b;\n1;2;\n3;4;5\n", `f.csv: line 3 (row 2): column 3 has no name, and holds "5"`},
		{"zip in gzip", zipped(t, "PK\x03\x04\x00\x00", 0), "f.csv: not a text file"},
		{"unnamed column", "a,\n1,2\n", "f.csv: line 1: column 2 has no name"},
		{"duplicate name", "a,b, a\n1,2,3\n", `f.csv: columns 1 and 3 are both named "a"`},
		{"short row", "a,b\n1,2\n3\n", "f.csv: line 3 (row 2): expected 2 fields, got 1"},
		{"long row", "a,b\nx,y,z\n", "f.csv: line 2 (row 1): expected 2 fields, got 3"},
		{"open quote", "a,b\n1,2\n\"3,4\n5,6\n", "f.csv: line 3: a quote"},
		{"space after a quote", "a,b\n\"1\" ,2\n", "f.csv: line 2: a quote"},
		{"several", "a,b\n1\nx,y\n1,2,3\n", "f.csv: line 2 (row 1): expected 2 fields, got 1: add or remove fields, or " +
			"quote those that hold a ',' (and 1 more problems)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := CSV{From: strings.NewReader(c.text), Source: "f.csv"}.Read()
			must.Fail(t, err, c.want)
			if strings.Contains(c.want, "cut short") && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error is not io.ErrUnexpectedEOF: %v", err)
			}
		})
	}
}

// TestCells: every cell is a number, a missing value or a text, and is refused where a cell of another kind is needed.
func TestCells(t *testing.T) {
	long := strings.Repeat("é", 50)
	for _, c := range []struct{ name, text, want string }{
		{"blank cell", "a,b\n1,2\n3, \n",
			`f.csv: line 3 (row 2), column 2 ("b"): the value is missing; remove the row or fill the value`},
		{"blank in the first line of data", "1,,3\n4,5,6\n",
			`f.csv: line 1 (row 1), column 2 ("x2"): the value is missing`},
		{"NaN", "a,b\n1,NaN\n", "the value is missing"},
		{"null", "a,b\n1,NULL\n", "the value is missing"},
		{"NA", "a,b\n1,n/a\n", "the value is missing"},
		{"question mark", "a,b\n1,?\n", "the value is missing"},
		{"none is a word", "a,b\n1,none\n", `"none" is not a number`},
		{"text", "a,b\nred,2\n", `f.csv: line 2 (row 1), column 1 ("a"): "red" is not a number; write one`},
		{"text below numbers", "a,b\n1,2\n,3\nred,2\n4,\n",
			`f.csv: line 3 (row 2), column 1 ("a"): the value is missing; remove the row or fill the value (and 2 more ` +
				`problems)`},
		{"long text", "a,b\n1," + long + "\n", `"` + strings.Repeat("é", 40) + `…" is not a number`},
		{"decimal comma", "a;b\n1,5;2\n", `"1,5" is not a number; write a decimal point`},
		{"decimal comma that can't group", "a;b\n0,500;2\n", `"0,500" is not a number; write a decimal point`},
		{"thousands or decimal comma", "a,b\n1,\"1,000\"\n",
			`f.csv: line 2 (row 1), column 2 ("b"): "1,000" is ambiguous: its comma may group thousands or be a decimal comma`},
		{"the same between semicolons", "a;b\n-12,345;2\n", `"-12,345" is ambiguous`},
		{"the same with an exponent", "a;b\n1,234e5;2\n", `"1,234e5" is ambiguous`},
		{"thousands", "a,b\n1,\"1,234,567\"\n", `"1,234,567" groups thousands`},
		{"thousands and decimals", "a,b\n1,\"1,234.5\"\n", `"1,234.5" groups thousands`},
		{"underscores", "a,b\n1,2\n1_000,2\n", `f.csv: line 3 (row 2), column 1 ("a"): "1_000" is written as in a program`},
		{"hexadecimal", "a,b\n1,0x1p-2\n", `f.csv: line 2 (row 1), column 2 ("b"): "0x1p-2" is written as in a program`},
		{"without a header", "0X1p-2,1_000\n3,4\n",
			`f.csv: line 1 (row 1), column 1 ("x1"): "0X1p-2" is written as in a program`},
		{"Fortran's exponent", "a,b\n1,1d5\n", `"1d5" is not a number`},
		{"spaces between", "a b\n1 2 3 4\n", "separate columns by commas"},
		{"Inf", "a,b\n1,Inf\n", "+Inf is not finite; remove the row or fill the value"},
		{"-inf", "a,b\n-inf,1\n", "-Inf is not finite"},
		{"out of range", "a,b\n1,1e999\n", `"1e999" is out of the range`},
		{"after a quoted newline", "a,b\n\"1\n\",\"\n\n2\"\n3,x\n", `f.csv: line 6 (row 2), column 2 ("b"): "x"`},
		{"several", "a,b\nx,y\nz,4\n",
			`column 1 ("a"): "x" is not a number; write one, or remove the row (and 2 more problems)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := must.Get(CSV{From: strings.NewReader(c.text), Source: "f.csv"}.Read())(t)
			d, err := table.Unlabelled(table.Names)
			must.Hold(t, d == nil && err != nil && strings.Contains(err.Error(), c.want),
				"error %v\nwant one with %s", err, c.want)
		})
	}
	// A fit can still choose what the columns are.
	table := must.Get(CSV{From: strings.NewReader("a,b,y\nred,1,2\nred,,3\nblue,2,4\n"), Source: "f.csv"}.Read())(t)
	_, err := table.Regression("y")
	wantError(t, inspect.Explain(err), `f.csv: a column is no column of numbers:
  a: 2 different texts: "red", "blue" (first in line 2); say --categorical a or --ignore a
and values are missing of "b"; say --missing mean, or leave such rows out`)
	_, err = table.Select([]string{"b"}, "y")
	wantError(t, err, `line 3 (row 2), column 2 ("b"): the value is missing`)
	// Columns that no one uses may hold anything.
	table = must.Get(CSV{From: strings.NewReader("a,b\nred,1\n,2\n"), Source: "f.csv"}.Read())(t)
	if d, err := table.Unlabelled([]string{"b"}); err != nil || d.Rows != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestReadPassesOnErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, before := range []string{"", "a,b\n1,2\n"} {
		_, err := CSV{From: io.MultiReader(strings.NewReader(before), failing{broken}), Source: "f.csv"}.Read()
		must.Hold(t, errors.Is(err, broken), "after %q: error %v", before, err)
	}
}

func TestReadFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no.csv")
	if _, err := ReadFile(missing, dataset.Reading{}); !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), missing+": no such file") {
		t.Errorf("missing file: %v", err)
	}
	must.Refuse(ReadFile(t.TempDir(), dataset.Reading{}))(t, "", "a folder was read")
	table := must.Get(ReadFile("../../data/boston.csv.gz", dataset.Reading{}))(t)
	d := must.Get(table.Regression("MEDV"))(t)
	x, y, err := d.Select(d.All())
	must.Do(t, err)
	must.Hold(t, d.Rows == 506 && d.Cols == 13 && y[0] == 24 && x[13] == 0.02731 &&
		d.Inputs[12] == "LSTAT",
		"%d×%d, first target %g, inputs %v", d.Rows, d.Cols, y[0], d.Inputs)
	if found, err := inspect.Findings(d, must.Get(d.Units())(t)); len(found) != 0 || err != nil {
		t.Error(found, err)
	}
	s := must.Get(dataset.ScalingOf(d, d.All(), dataset.AllRows))(t)
	// The mean house price is known to be 22.5328, and its standard deviation (ddof 0) 9.18801.
	must.Hold(t, math.Abs(s.TargetMean-22.5328063) <= 1e-6 &&
		math.Abs(s.TargetScale-9.1880115) <= 1e-6,
		"target mean %v, scale %v", s.TargetMean, s.TargetScale)
}

func TestWriteRoundTrip(t *testing.T) {
	names := []string{"a, \"m\"", "é", "line\nbreak"}
	values := []float64{0.1, -1.0 / 3, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Copysign(0, -1)}
	var b bytes.Buffer
	must.Do(t, Write(&b, names, 2, rowsOf(values)))
	table := must.Get(CSV{From: &b, Source: "b"}.Read())(t)
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	must.Hold(t, slices.Equal(table.Names, names) && slices.EqualFunc(table.Values, values, same),
		"got %+v", table)
	full := errors.New("full")
	must.Be(t, Write(io.Discard, names, 3, func(int, []float64) error { return full }), full, "the error of a row")
	if err := Write(io.Discard, []string{"p", "q"}, 1, rowsOf([]float64{1, math.Inf(1)})); err == nil ||
		!strings.Contains(err.Error(), `row 1, column 2 ("q")`) {
		t.Errorf("∞: %v", err)
	}
	b.Reset()
	must.Do(t, Write(&b, []string{"p", "q"}, 2, rowsOf([]float64{1, math.NaN(), math.NaN(), 2})))
	must.Be(t, b.String(), "p,q\n1,\n,2\n", "missing values")
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "1;2\n3;4", "\ufeffa\tb\r\n1\t\"2\n\"\r\n", "a,b\nNA,\n", "\"", "\x1f\x8b\x08\x00", "y\n\n1",
		"1e999,_\n0x1p-2,1_0", "a,b\n1,red\n2,\xff\nred,3\nNA,1e0\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := CSV{From: bytes.NewReader(text), Source: "fuzz"}.Read()
		if err != nil {
			must.Need(t, table == nil, "a table beside an error")
			return
		}
		if table.Rows == 0 || len(table.Names) == 0 || len(table.Values) != table.Rows*len(table.Names) ||
			len(table.Lines) != table.Rows {
			t.Fatalf("shape: %d rows, %d names, %d values, %d lines", table.Rows, len(table.Names), len(table.Values),
				len(table.Lines))
		}
		for k, v := range table.Values {
			var texts []string
			if table.Text != nil {
				texts = table.Text[k%len(table.Names)]
			}
			must.Need(t, !math.IsInf(v, 0) && (texts == nil || v != v || texts[int(v)] != ""),
				"value %g of %q", v, texts)
		}
		for i, line := range table.Lines {
			must.Need(t, line >= 1 && (i <= 0 || line > table.Lines[i-1]), "lines %v", table.Lines)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	const rows, cols = 20000, 12
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, rows*cols)
	for i := range values {
		values[i] = random.NormFloat64()
	}
	var text bytes.Buffer
	must.Do(b, Write(&text, strings.Split("abcdefghijkl", ""), rows, rowsOf(values)))
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		must.Get((CSV{From: bytes.NewReader(text.Bytes()), Source: "b"}).Read())(b)
	}
}

// TestReadColumns: a column that wasn't asked for stays in the table, but without its texts. Errors about the whole
// table are still reported.
func TestReadColumns(t *testing.T) {
	const text = "id,x,note\na,1,long\nb,red,\"text, more\"\n"
	table := must.Get(CSV{From: strings.NewReader(text), Source: "t.csv", Columns: []string{"x", "y"}}.Read())(t)
	must.Hold(t, slices.Equal(table.Names, []string{"id", "x", "note"}) && table.Rows == 2 &&
		len(table.Text[0])+len(table.Text[2]) == 0 &&
		slices.Equal(table.Text[1], []string{"1", "red"}), "%+v", table)
	must.Refuse((CSV{From: strings.NewReader(text + "c,1\n"), Source: "t.csv",
		Columns: []string{"x"}}).Read())(t, "expected 3 fields, got 2")
	headless, err := CSV{From: strings.NewReader("1,2\n3,4\n"), Source: "t.csv", Columns: []string{"a", "b"}}.Read()
	must.Hold(t, err == nil && slices.Equal(headless.Values, []float64{1, 2, 3, 4}),
		"%+v, %v", headless, err)
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		must.Fail(t, err, part)
	}
}
