package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestFormats: a table that is written in any format reads back the same, bit for bit.
func TestFormats(t *testing.T) {
	names := []string{"zone, \"x\"", "naïve", "a"}
	const rows = 10000 // more than a page and a block
	value := func(i, j int) float64 {
		v := math.Sin(float64(3*i+j)) * math.Pow(10, float64(i%40-20))
		if i == 7 {
			v = []float64{math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1)}[j]
		}
		return v
	}
	for _, ending := range []string{".csv", ".csv.gz", ".npy", ".npz", ".parquet"} {
		path := filepath.Join(t.TempDir(), "t"+ending)
		must.Do(t, files.WriteFile(path, names, rows, func(i int, values []float64) error {
			for j := range values {
				values[j] = value(i, j)
			}
			return nil
		}))
		table := must.Get(files.ReadFile(path, dataset.Reading{}))(t)
		must.Need(t,
			slices.Equal(slices.Sorted(slices.Values(table.Names)), slices.Sorted(slices.Values(names))) &&
				table.Rows == rows, "%s: %q, %d rows", ending, table.Names, table.Rows)
		d := must.Get(table.Unlabelled(names))(t)
		x := make([]float64, rows*len(names))
		must.Do(t, d.Read(d.All(), x, nil))
		for k, v := range x {
			if want := value(k/len(names), k%len(names)); math.Float64bits(v) != math.Float64bits(want) {
				t.Fatalf("%s: row %d, %q: %v, want %v", ending, k/len(names), names[k%len(names)], v, want)
			}
		}
		table.Close()

		bad := errors.New("no more")
		for _, fill := range []files.Fill{
			func(i int, values []float64) error { return bad },
			func(i int, values []float64) error { values[0] = math.Inf(1); return nil },
		} {
			must.Fail(t, files.WriteFile(path+"2"+ending, names, 3, fill),
				"", fmt.Sprintf("%s: written without its rows", ending))
			if left, _ := filepath.Glob(path + "2*"); len(left) > 0 {
				t.Errorf("%s: left %v", ending, left)
			}
		}
	}
}

// TestTypes: whole numbers, floats and booleans are read. A file with several groups of rows is one table.
func TestTypes(t *testing.T) {
	type row struct {
		Flag bool    `parquet:"flag"`
		I    int32   `parquet:"i"`
		J    int64   `parquet:"j"`
		U    uint64  `parquet:"u"`
		W    uint32  `parquet:"w"`
		F    float32 `parquet:"f"`
		G    float64 `parquet:"g,dict"`
		O    *int64  `parquet:"o,optional"`
	}
	var rows []row
	o := int64(-9)
	for i := range 50 {
		rows = append(rows, row{i%2 == 1, int32(-i), int64(i) << 40, math.MaxUint64 - 2047, math.MaxUint32, 0.5,
			float64(i % 3), &o})
	}
	path := filepath.Join(t.TempDir(), "t.data") // the file's first bytes show the format
	must.Do(t, parquet.WriteFile(path, rows, parquet.MaxRowsPerRowGroup(20)))
	table := must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	if table.Rows != 50 || !slices.Equal(table.Names, []string{"flag", "i", "j", "u", "w", "f", "g", "o"}) {
		t.Fatalf("%d rows, %q", table.Rows, table.Names)
	}
	for i := range 50 {
		want := []float64{float64(i % 2), float64(-i), float64(int64(i) << 40), math.MaxUint64 - 2047, math.MaxUint32, 0.5,
			float64(i % 3), -9}
		if got := table.Values[i*8 : i*8+8]; !slices.Equal(got, want) {
			t.Fatalf("row %d: %v, want %v", i, got, want)
		}
	}
}

// TestRefuses: reading a file that can't be a table of numbers returns an error that names the file.
func TestRefuses(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	type texts struct {
		X float64 `parquet:"x"`
		S string  `parquet:"s"`
	}
	type dates struct {
		D int32 `parquet:"d,date"`
	}
	type lists struct {
		L []float64 `parquet:"l"`
	}
	type raw struct {
		B []byte `parquet:"b"`
	}
	type nested struct {
		N struct{ A float64 } `parquet:"n"`
	}
	type optional struct {
		O *float64 `parquet:"o,optional"`
	}
	one := 1.0
	for _, err := range []error{
		parquet.WriteFile(at("text.parquet"), []texts{{1, "red"}}), parquet.WriteFile(at("date.parquet"), []dates{{1}}),
		parquet.WriteFile(at("list.parquet"), []lists{{[]float64{1, 2}}}),
		parquet.WriteFile(at("nested.parquet"), []nested{{}}), parquet.WriteFile(at("bytes.parquet"),
			[]raw{{[]byte("red")}}),
		parquet.WriteFile(at("null.parquet"), []optional{{&one}, {nil}}),
		parquet.WriteFile(at("nan.parquet"), []optional{{&one}, {ptr(math.NaN())}}),
		parquet.WriteFile(at("none.parquet"), []optional{}),
	} {
		must.Do(t, err)
	}
	whole, _ := os.ReadFile(at("null.parquet"))
	os.WriteFile(at("half.parquet"), whole[:len(whole)/2], 0o600)
	os.WriteFile(at("not.parquet"), []byte("x\n1\n"), 0o600)
	for name, want := range map[string]string{
		"text.parquet":   `row 1, column 2 ("s"): "red" is not a number`,
		"date.parquet":   `row 1, column 1 ("d"): "1970-01-02" is not a number`,
		"bytes.parquet":  `column 1 ("b") holds BYTE_ARRAY, neither numbers nor text`,
		"list.parquet":   `column 1 ("l")`,
		"nested.parquet": `column 1 ("n")`, "null.parquet": `row 2, column 1 ("o"): the value is missing`,
		"nan.parquet": `row 2, column 1 ("o"): the value is missing`, "none.parquet": "no rows",
		"half.parquet": "not a whole Parquet file", "not.parquet": "not a whole Parquet file",
	} {
		table, err := files.ReadFile(at(name), dataset.Reading{})
		if err == nil {
			_, err = table.Unlabelled(table.Names)
		}
		must.Hold(t, err != nil && strings.Contains(err.Error(), want) &&
			strings.Contains(err.Error(), name), "%s: %v, want %s", name, err, want)
	}
	for _, names := range [][]string{{"a", "a"}, {""}} {
		must.Fail(t, Write(&bytes.Buffer{}, names, 0, nil), "", fmt.Sprintf("%q written", names))
	}
	// Damaged bytes give an error or other numbers, never a panic.
	for i := range whole {
		bent := slices.Clone(whole)
		bent[i] ^= 0x55
		os.WriteFile(at("bent.parquet"), bent, 0o600)
		if table, err := files.ReadFile(at("bent.parquet"), dataset.Reading{}); err == nil {
			table.Unlabelled(table.Names)
		}
	}
}

// TestPromises: a file whose numbers of rows can't be true is refused before memory is spent on the rows.
func TestPromises(t *testing.T) {
	type row struct {
		A float64 `parquet:"a"`
		S string  `parquet:"s"`
	}
	const groups, each = 3, 20
	var rows []row
	for i := range groups * each {
		rows = append(rows, row{float64(i), "x"})
	}
	var b bytes.Buffer
	must.Do(t, parquet.Write(&b, rows, parquet.MaxRowsPerRowGroup(each)))
	whole := b.Bytes()
	length := int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	path := filepath.Join(t.TempDir(), "t.parquet")
	for name, c := range map[string]struct {
		bend func(m *format.FileMetaData)
		want string
	}{
		"as it was": {func(m *format.FileMetaData) {}, ""},
		"rows of no group": {func(m *format.FileMetaData) { m.NumRows = 300e6 },
			"t.parquet: damaged: its footer promises 300000000 rows, its row groups hold 60"},
		"no groups": {func(m *format.FileMetaData) { m.RowGroups = nil },
			"its footer promises 60 rows, its row groups hold 0"},
		"fewer than groups": {func(m *format.FileMetaData) { m.NumRows = 59 },
			"its footer promises 59 rows, its row groups hold more"},
		"a group's": {func(m *format.FileMetaData) { m.NumRows += 5; m.RowGroups[1].NumRows += 5 },
			`column 1 ("a") is damaged (20 values for the 25 rows from row 21 on)`},
		"more of a group": {func(m *format.FileMetaData) { m.NumRows -= 5; m.RowGroups[2].NumRows -= 5 },
			`column 1 ("a") is damaged (a page of 20 values, where 15 rows are left)`},
		"absurd": {func(m *format.FileMetaData) {
			m.NumRows, m.RowGroups = 300e6, m.RowGroups[:1]
			m.RowGroups[0].NumRows = 300e6
		}, "300000000 rows in "},
		"a column less": {func(m *format.FileMetaData) { m.RowGroups[2].Columns = m.RowGroups[2].Columns[:1] },
			"not a whole Parquet file"},
		"a name twice": {func(m *format.FileMetaData) { m.Schema[2].Name = "a" }, `columns 1 and 2 are both named "a"`},
	} {
		file := must.Get(parquet.OpenFile(bytes.NewReader(whole), int64(len(whole))))(t)
		c.bend(file.Metadata())
		footer := must.Get(thrift.Marshal(new(thrift.CompactProtocol), file.Metadata()))(t)
		bent := append(slices.Clone(whole[:len(whole)-8-length]), footer...)
		bent = append(binary.LittleEndian.AppendUint32(bent, uint32(len(footer))), magic...)
		must.Do(t, os.WriteFile(path, bent, 0o600))
		table, err := files.ReadFile(path, dataset.Reading{})
		switch {
		case name == "as it was" && (err != nil || table.Rows != groups*each):
			t.Errorf("%s: %v", name, err)
		case name != "as it was" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestTexts: texts, numbers and missing values are the same as in the same table as CSV. They are encoded to the same
// inputs, and have the same hashes.
func TestTexts(t *testing.T) {
	type row struct {
		Fuel *string  `parquet:"fuel,optional"`
		Size *float64 `parquet:"size,optional"`
		Zone *string  `parquet:"zone,optional"`
		Y    int64    `parquet:"y"`
	}
	text, number := func(s string) *string { return &s }, ptr
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, parquet.WriteFile(path, []row{{text("gas"), number(1), text("3"), 10}, {text("oil"), nil, text("3"), 20},
		{nil, number(3), text("7"), 30},
		{text("wood"), number(5), nil, 40}, {text("gas"), number(math.NaN()), text("11"), 50},
		{text("other"), number(2), text("north"), 60}}))
	fromParquet := must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	fromCSV := must.Get(files.CSV{From: strings.NewReader("fuel,size,zone,y\ngas,1,3,10\noil,,3.0,20\n,3,7,30\n" +
		"wood,5,,40\ngas,NA,11,50\nother,2,north,60\n"), Source: "f.csv"}.Read())(t)
	var encodings []*dataset.Encoding
	var found []string
	for _, table := range []*dataset.Table{fromCSV, fromParquet} {
		d := must.Get(table.Encode("y", nil, dataset.Coding{Categorical: []string{"fuel", "zone"}, Missing: dataset.FillMean},
			func(*dataset.Data) ([]int, error) { return []int{0, 1, 2}, nil }))(t)
		x, y, err := d.Select(d.All())
		must.Do(t, err)
		hash := must.Get(d.Hash(d.All()))(t)
		hashes, _, err := d.RowHashes(d.All())
		must.Do(t, err)
		encodings, found = append(encodings, d.Encoding), append(found, fmt.Sprint(d.Inputs, x, y, hash, hashes))
	}
	must.Hold(t, reflect.DeepEqual(encodings[0], encodings[1]) && found[0] == found[1],
		"%v\n%v", found[0], found[1])
}

// TestNames shows that reading a column of names refuses two texts that mean the same number, such as 7 and 007.
func TestNames(t *testing.T) {
	type row struct {
		Unit string `parquet:"unit"`
		Y    int64  `parquet:"y"`
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, parquet.WriteFile(path, []row{{"7", 10}, {"8", 20}, {"007", 30}}))
	if table, err := files.ReadFile(path, dataset.Reading{}); err != nil || table.Values[4] != 7 {
		t.Error(err)
	}
	var at *dataset.Error
	if _, err := files.ReadFile(path, dataset.Reading{}.Naming("unit")); !errors.As(err, &at) || at.Row != 3 ||
		at.Name != "unit" {
		t.Error(err)
	}
}

func ptr(v float64) *float64 { return &v }

// TestDates: dates and timestamps are text that a reading takes as days.
func TestDates(t *testing.T) {
	type row struct {
		D int32     `parquet:"d,date"`
		M time.Time `parquet:"m,timestamp(millisecond)"`
		N time.Time `parquet:"n,timestamp(nanosecond)"`
		Y float64   `parquet:"y"`
	}
	at := time.Date(1969, 12, 31, 18, 0, 0, 250e6, time.UTC)
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, parquet.WriteFile(path, []row{{-1, at, at.Add(1), 1}, {19000, at.AddDate(55, 0, 0), at, 2}}))
	must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	of := dataset.Reading{Dates: []dataset.Dates{{Column: "d"}, {Column: "m"}, {Column: "n", Parts: []string{"day"}}}}
	table := must.Get(files.ReadFile(path, of))(t)
	d := must.Get(table.Unlabelled([]string{"d", "m", "n", "n day sin"}))(t)
	x := make([]float64, 8)
	must.Do(t, d.Read(d.All(), x, nil))
	part := (18*3600 + 0.25) / 86400
	for k, want := range []float64{-1, part - 1, part - 1, math.Sin(2 * math.Pi * (part - 1)), 19000} {
		must.Hold(t, math.Abs(x[k]-want) <= 1e-12, "%s: %v, want %v", d.Inputs[k%4], x[k], want)
	}
}
