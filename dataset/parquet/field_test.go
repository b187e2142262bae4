package parquet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestField: files of pandas, Arrow and DuckDB with columns of any kind. Those that hold neither numbers nor text are
// refused where they are used.
func TestField(t *testing.T) {
	for name, want := range map[string]string{
		"p_null":       "number number empty",
		"p_time":       "number number date",
		"p_f16":        "number number refused",
		"p_list":       "number number refused",
		"p_struct":     "number number refused",
		"p_map":        "number number refused",
		"p_bin":        "number number refused",
		"p_duck":       "number number category date identifier number number refused date",
		"p_pandas_ext": "number number number number identifier",
	} {
		table := must.Get(files.ReadFile("testdata/"+name+".parquet", dataset.Reading{}))(t)
		facts := must.Get(inspect.Describe(table))(t)
		var kinds []string
		for j, f := range facts {
			kinds = append(kinds, f.Kind)
			if f.Kind == "refused" {
				_, err := table.Select([]string{f.Name}, "y")
				must.Fail(t, err, fmt.Sprintf("column %d (%q) holds ", j+1, f.Name))
				must.Fail(t, err, "neither numbers nor text: cast it, or leave it out")
			}
		}
		must.Be(t, strings.Join(kinds, " "), want, name)
		d := must.Get(table.Select([]string{"x"}, "y"))(t)
		must.Be(t, d.Rows, 150, name)
	}
	// DuckDB's decimals are the numbers, and its hugeints doubles.
	table := must.Get(files.ReadFile("testdata/p_duck.parquet", dataset.Reading{}))(t)
	x, _ := table.Column("x")
	dec, _ := table.Column("dec")
	for i := range table.Rows {
		row := table.Values[i*len(table.Names) : (i+1)*len(table.Names)]
		must.Near(t, row[dec], 1000*row[x], 0.006, "row", i+1)
	}
}

// TestMeanings: decimals of every physical type, times, stamps of Spark and UUIDs.
func TestMeanings(t *testing.T) {
	type row struct {
		A int32            `parquet:"a,decimal(2:9)"`
		B int64            `parquet:"b,decimal(3:18)"`
		C [2]byte          `parquet:"c,decimal(1:4),dict"`
		S deprecated.Int96 `parquet:"s,dict"`
		U [16]byte         `parquet:"u,uuid"`
		N struct {
			X float64 `parquet:"x"`
		} `parquet:"n"`
		Z float64 `parquet:"z"`
	}
	const noon = 12 * 3600 * 1_000_000_000
	stamp := deprecated.Int96{uint32(noon & 0xffffffff), uint32(noon >> 32), 2440588 + 19000}
	path := filepath.Join(t.TempDir(), "t.parquet")
	rows := []row{{A: -150, B: 1234567, C: [2]byte{0xff, 0xf6}, S: stamp, U: [16]byte{0xab, 15: 1}, Z: 5}}
	for i := range 300 {
		rows = append(rows, row{C: [2]byte{byte(i / 256), byte(i)}, S: stamp})
	}
	must.Do(t, parquet.WriteFile(path, rows))
	table := must.Get(files.ReadFile(path, dataset.Reading{Dates: []dataset.Dates{{Column: "s"}}}))(t)
	must.Be(t, fmt.Sprint(table.Names), "[a b c s u n z]")
	must.Be(t, fmt.Sprint(table.Values[:4]), "[-1.5 1234.567 -1 19000.5]")
	must.Be(t, table.CellText(4, table.Values[4]), "ab000000-0000-0000-0000-000000000001")
	must.Be(t, table.Values[6], 5.0)
	must.Be(t, table.Values[300*7+2], 29.9)
	must.Fail(t, table.Refused(5), `column 6 ("n") holds group`)
}

// TestDamagedColumn: damage in a column that isn't used keeps nobody from the others.
func TestDamagedColumn(t *testing.T) {
	type row struct {
		A float64 `parquet:"a"`
		B float64 `parquet:"b"`
	}
	var b bytes.Buffer
	must.Do(t, parquet.Write(&b, []row{{1, 2}, {3, 4}}))
	file := must.Get(parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	for k := range 4 {
		b.Bytes()[file.Metadata().RowGroups[0].Columns[1].MetaData.DataPageOffset+int64(k)] = 0xff
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o666))
	table := must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	d := must.Get(table.Unlabelled([]string{"a"}))(t)
	x := make([]float64, 2)
	must.Do(t, d.Read(d.All(), x, nil))
	must.Be(t, fmt.Sprint(x), "[1 3]")
	must.Refuse(table.Unlabelled([]string{"a", "b"}))(t, `t.parquet: column 2 ("b") is damaged`)
}

// TestParts: a folder of Parquet files, as Spark and DuckDB write it, is one table.
func TestParts(t *testing.T) {
	table := must.Get(files.ReadFile("testdata/p_part", dataset.Reading{}))(t)
	must.Be(t, fmt.Sprint(table.Names, table.Rows, table.Text[2]), "[x y k] 150 [a b c]")
	first := must.Get(files.ReadFile("testdata/p_part/k=a/data_0.parquet", dataset.Reading{}))(t)
	last := must.Get(files.ReadFile("testdata/p_part/k=c/data_0.parquet", dataset.Reading{}))(t)
	must.Hold(t, table.Values[0] == first.Values[0] && table.Values[2] == 0 && table.Values[449] == 2 &&
		table.Values[447] == last.Values[len(last.Values)-2], "%v %v", table.Values[:3], table.Values[447:])
	must.Be(t, table.Where(149), "row 150")
	// Columns are found by their names. A column may hold numbers in one part and texts in another.
	type one struct {
		A float64 `parquet:"a"`
		B string  `parquet:"b"`
	}
	type two struct {
		B float64 `parquet:"b"`
		A float64 `parquet:"a"`
	}
	type three struct {
		A float64 `parquet:"a"`
		C float64 `parquet:"c"`
	}
	folder := t.TempDir()
	at := func(name string) string {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o777))
		return filepath.Join(folder, name)
	}
	must.Do(t, parquet.WriteFile(at("k=1/j=x%20y/1.parquet"), []one{{1, "red"}}))
	must.Do(t, parquet.WriteFile(at("k=2/j=__HIVE_DEFAULT_PARTITION__/2.parquet"), []two{{2.5, 3}}))
	must.Do(t, parquet.WriteFile(at("k=2/_temporary/3.parquet"), []three{{1, 2}}))
	must.Do(t, os.WriteFile(at("_SUCCESS"), nil, 0o666))
	table = must.Get(files.ReadFile(folder, dataset.Reading{}))(t)
	var cells []string
	for k, v := range table.Values {
		cells = append(cells, table.CellText(k%len(table.Names), v))
	}
	must.Be(t, fmt.Sprintf("%q %q", table.Names, cells), `["a" "b" "k" "j"] ["1" "red" "1" "x y" "3" "2.5" "2" ""]`)
	must.Do(t, parquet.WriteFile(at("k=2/j=z/3.parquet"), []three{{1, 2}}))
	must.Refuse(files.ReadFile(folder, dataset.Reading{}))(t, `3.parquet: a part has the columns "a", "c", and an `+
		`earlier part has "a", "b"`)
	must.Do(t, os.RemoveAll(at("k=2")))
	must.Do(t, parquet.WriteFile(at("k=2/2.parquet"), []one{{1, "red"}}))
	must.Refuse(files.ReadFile(folder, dataset.Reading{}))(t, `its folders name the columns "k", and those of`)
}
