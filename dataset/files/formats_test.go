package files

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestFormatsRefuse: a file that can't be a table of numbers gives an error that names it.
func TestFormatsRefuse(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	archive := func(name string, entries ...string) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for k := 0; k < len(entries); k += 2 {
			w := must.Get(z.Create(entries[k]))(t)
			w.Write([]byte(entries[k+1]))
		}
		must.Do(t, z.Close())
		os.WriteFile(at(name), b.Bytes(), 0o600)
	}
	npy := func(shape string, values int) string {
		header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s}", shape)
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + strings.Repeat("\x00", 8*values)
	}
	archive("good.npz", "x.npy", npy("(3,)", 3), "m.npy", npy("(3, 2)", 6))
	if table, err := ReadFile(at("good.npz"), dataset.Reading{}); err != nil || !slices.Equal(table.Names, []string{"x",
		"m1", "m2"}) ||
		table.Rows != 3 {
		t.Errorf("%+v, %v", table, err)
	}
	archive("empty.npz")
	archive("uneven.npz", "x.npy", npy("(3,)", 3), "z.npy", npy("(4,)", 4))
	archive("twice.npz", "m1.npy", npy("(3,)", 3), "m.npy", npy("(3, 2)", 6))
	archive("deep.npz", "x.npy", npy("(3, 1, 1)", 3))
	archive("cut.npz", "x.npy", npy("(3,)", 2))
	archive("text.npz", "x.txt", "1")
	whole, _ := os.ReadFile(at("good.npz"))
	os.WriteFile(at("half.npz"), whole[:len(whole)/2], 0o600)
	nan := npy("(1,)", 0) + "\x00\x00\x00\x00\x00\x00\xf8\x7f"
	archive("nan.npz", "x.npy", nan)
	for name, want := range map[string]string{
		"empty.npz": "no arrays", "uneven.npz": `array "z" has 4 rows, those before it 3`,
		"twice.npz": `columns 1 and 2 are both named "m1"`, "deep.npz": "shape [3 1 1]", "cut.npz": "cut short",
		"text.npz": "not an NPY file", "half.npz": "not a whole NPZ file",
		"nan.npz": `row 1, column 1 ("x"): the value is missing`,
	} {
		table, err := ReadFile(at(name), dataset.Reading{})
		if err == nil {
			_, err = table.Unlabelled(table.Names)
		}
		must.Hold(t, err != nil && strings.Contains(err.Error(), want) &&
			strings.Contains(err.Error(), name), "%s: %v, want %s", name, err, want)
	}
}

// TestRegister: a registered format is read and written. Its ending or its first bytes identify it.
func TestRegister(t *testing.T) {
	before := Formats()
	defer func() { formats = before }()
	Register(Format{
		Name: "lines", Endings: []string{".lines"}, Magic: "LINES\n",
		Read: func(f *os.File, t *dataset.Table) error {
			t.Names = []string{"y"}
			for in := bufio.NewScanner(f); in.Scan(); {
				if in.Text() != "LINES" {
					t.Values = append(t.Values, 0)
					t.Set(t.Rows, 0, in.Text())
					t.Rows++
				}
			}
			return nil
		},
		Write: func(w io.Writer, names []string, rows int, fill Fill) error {
			fmt.Fprintln(w, "LINES")
			return fill.Each(names, rows, func(values []float64) error {
				_, err := fmt.Fprintln(w, values[0])
				return err
			})
		},
	})
	folder := t.TempDir()
	path := filepath.Join(folder, "t.lines")
	must.Do(t, WriteFile(path, []string{"y"}, 2, rowsOf([]float64{1.5, 2})))
	wantError(t, WriteFile(path, []string{"y"}, 1, rowsOf([]float64{math.Inf(1)})), path,
		`row 1, column 1 ("y"): +Inf is not finite`)
	raw, err := os.ReadFile(path)
	must.Need(t, err == nil && string(raw) == "LINES\n1.5\n2\n", "%q, %v", raw, err)
	for name, text := range map[string]string{"t.lines": "1.5\nred\n\n2\n", "t.dat": "LINES\n1.5\nred\n\n2\n"} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
		table, err := ReadFile(filepath.Join(folder, name), dataset.Reading{})
		must.Hold(t, err == nil && table.Rows == 4 &&
			slices.Equal(table.Text[0], []string{"1.5", "red", "2"}) &&
			fmt.Sprint(table.Values) == "[0 1 NaN 2]", "%s: %+v, %v", name, table, err)
	}
	// The error for an unknown format lists the known formats.
	odd := filepath.Join(folder, "t.ods")
	must.Do(t, os.WriteFile(odd, []byte("PK\x03\x04\x00\xff"), 0o600))
	_, err = ReadFile(odd, dataset.Reading{Decimal: ";"})
	wantError(t, err, `decimal ";"`)
	_, err = ReadFile(odd, dataset.Reading{})
	wantError(t, err, "t.ods: not a text file",
		"save the table as CSV in UTF-8, plain or gzip; the formats that are read are zip of CSV (.zip), CSV (.csv, .txt, "+
			".tsv), JSON lines (.jsonl, .ndjson), gzip of CSV (.gz), NPY (.npy), NPZ (.npz), XLSX (.xlsx, .xlsm), lines (.lines)")
	for _, bad := range []Format{
		{}, {Name: "half", Endings: []string{".half"}, Read: formats[0].Read},
		{Name: "npy", Endings: []string{".npy"}, Read: formats[0].Read, Write: Write},
		{Name: "num", Endings: []string{".num"}, Magic: "\x93NUM", Read: formats[0].Read, Write: Write},
	} {
		func() {
			defer func() {
				must.Hold(t, recover() != nil, "%s was registered", bad.Name)
			}()
			Register(bad)
		}()
	}
}

// TestUnlinked: the error for a format whose package isn't imported names the package.
func TestUnlinked(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"t.parquet": "", "t.dat": "PAR1 and more"} {
		path := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ReadFile(path, dataset.Reading{})
		wantError(t, err, name+": Parquet", `import _ "github.com/krigo-gp/krigo/dataset/parquet"`)
	}
	path := filepath.Join(folder, "out.parquet")
	wantError(t, WriteFile(path, []string{"y"}, 1, rowsOf([]float64{1})), "out.parquet: not written: Parquet",
		`import _ "github.com/krigo-gp/krigo/dataset/parquet"`)
	must.Refuse(os.Stat(path))(t, "", "written all the same")
}
