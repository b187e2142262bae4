package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/must"
)

// npyFile returns an NPY file of a version, put together by hand.
func npyFile(version byte, header string, records ...any) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	b = append(b, header...)
	for _, v := range records {
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return b
}

// dict returns a header with one dimension, or with two if cols isn't 0.
func dict(descr string, rows, cols int) string {
	shape := fmt.Sprintf("(%d,)", rows)
	if cols > 0 {
		shape = fmt.Sprintf("(%d, %d)", rows, cols)
	}
	return fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }   \n", descr, shape)
}

// readBytes reads a file of these bytes. The table is closed after the test.
func readBytes(t *testing.T, name string, raw []byte) (*dataset.Table, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, raw, 0o600))
	table, err := ReadFile(path, dataset.Reading{})
	if err == nil {
		t.Cleanup(func() { table.Close() })
	}
	return table, err
}

// valuesOf reads a whole table.
func valuesOf(t *testing.T, table *dataset.Table) []float64 {
	t.Helper()
	v := make([]float64, table.Rows*len(table.Names))
	columns := make([]int, len(table.Names))
	for j := range columns {
		columns[j] = j
	}
	must.Do(t, table.Read(0, table.Rows, columns, v))
	return v
}

func TestReadNPY(t *testing.T) {
	for _, c := range []struct {
		name   string
		raw    []byte
		names  []string
		values []float64
	}{
		{"records", npyFile(1, dict("[('a', '<f8'), ('b', '<f8')]", 2, 0), []float64{1, 2, 3, 4}), []string{"a", "b"},
			[]float64{1, 2, 3, 4}},
		{"a matrix", npyFile(1, dict("'<f8'", 2, 3), []float64{1, 2, 3, 4, 5, 6}), []string{"c1", "c2", "c3"},
			[]float64{1, 2, 3, 4, 5, 6}},
		{"a float32 matrix", npyFile(2, dict("'<f4'", 2, 2), []float32{1, 0.5, 3, 4}), []string{"c1", "c2"},
			[]float64{1, 0.5, 3, 4}},
		{"one column in Fortran order", npyFile(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1)}",
			[]float64{1, 2}), []string{"c1"}, []float64{1, 2}},
		{"types", npyFile(1, dict("[('a', '<f4'), ('b', '<i8'), ('c', '<u8'), ('d', '<i4'), ('e', '<u4'), ('f', '<i2'), "+
			"('g', '<u2'), ('h', '|i1'), ('i', '|u1'), ('j', '|b1')]", 2, 0),
			float32(0.25), int64(-2), uint64(1<<63), int32(-3), uint32(1<<31), int16(-4), uint16(1<<15), int8(-5), uint8(200),
			true,
			float32(-0.25), int64(2), uint64(3), int32(3), uint32(5), int16(4), uint16(6), int8(5), uint8(7), false),
			strings.Split("abcdefghij", ""), []float64{0.25, -2, 1 << 63, -3, 1 << 31, -4, 1 << 15, -5, 200, 1, -0.25, 2, 3,
				3,
				5, 4, 6, 5, 7, 0}},
		{"padding and titles", npyFile(1, dict("[('a', '|u1'), ('', '|V7'), (('the second', 'b'), '<f8')]", 2, 0),
			uint8(1), [7]byte{9}, 2.5, uint8(3), [7]byte{}, 4.5), []string{"a", "b"}, []float64{1, 2.5, 3, 4.5}},
		{"escapes", npyFile(1, dict(`[('it\'s', '<f8'), ("\"\\\x41\xe9", '<f8')]`, 1, 0), []float64{1, 2}),
			[]string{"it's", "\"\\Aé"}, []float64{1, 2}},
		{"Latin-1", npyFile(1, dict("[('\xe9', '<f8')]", 1, 0), 1.0), []string{"é"}, []float64{1}},
		{"UTF-8", npyFile(3, dict("[('σ', '<f8')]", 1, 0), 1.0), []string{"σ"}, []float64{1}},
		{"as Python 2 wrote it", npyFile(1, "{'shape': (1L, 1L), 'fortran_order': False, 'descr': '<f8'}", 7.0),
			[]string{"c1"}, []float64{7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := must.Get(readBytes(t, "x.npy", c.raw))(t)
			must.Hold(t, slices.Equal(table.Names, c.names) &&
				table.Rows*len(c.names) == len(c.values) &&
				slices.Equal(valuesOf(t, table), c.values), "%+v: %v", table, valuesOf(t, table))
			table.Disk.(*npy).mapped = nil // some systems don't map files
			must.Hold(t, slices.Equal(valuesOf(t, table), c.values),
				"without a mapping: %v", valuesOf(t, table))
		})
	}
}

func TestReadNPYRefuses(t *testing.T) {
	two := dict("[('a', '<f8'), ('b', '<f8')]", 2, 0)
	good := npyFile(1, two, []float64{1, 2, 3, 4})
	of := func(descr string) []byte { return npyFile(1, dict(descr, 2, 0), make([]float64, 100)) }
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "not an NPY file"},
		{"CSV", []byte("a,b\n1,2\n"), "not an NPY file"},
		{"magic alone", good[:6], "within the NPY header"},
		{"within the length", npyFile(2, two)[:11], "within the NPY header"},
		{"within the header", good[:40], "doesn't fit a file of 40"},
		{"version", npyFile(4, two), "version 4.0"},
		{"no dictionary", npyFile(1, "[1]"), "isn't a dictionary"},
		{"not closed", npyFile(1, "{'descr': '<f8'"), "isn't a dictionary"},
		{"more text", npyFile(1, two+"x"), "isn't a dictionary"},
		{"nesting", npyFile(1, strings.Repeat("(", 1000)), "isn't a dictionary"},
		{"no shape", npyFile(1, "{'descr': '<f8', 'fortran_order': False}"), "lacks"},
		{"odd shape", npyFile(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ('a', 2)}"), "whole numbers"},
		{"Fortran order", npyFile(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2)}", []float64{1, 2, 3, 4}),
			"Fortran order"},
		{"one dimension", npyFile(1, dict("'<f8'", 4, 0), []float64{1, 2, 3, 4}), "shape [4]"},
		{"records in two dimensions", npyFile(1, dict("[('a', '<f8')]", 2, 2), []float64{1, 2, 3, 4}), "shape [2 2]"},
		{"big-endian", of("[('a', '>f8')]"),
			`column 1 ("a") has the type ">f8", most significant byte first: save it as "<f8"`},
		{"text", of("[('a', '<f8'), ('b', '<U5')]"), `column 2 ("b") has the type "<U5"`},
		{"objects", of("'|O'"), "shape [2]"},
		{"matrix of objects", npyFile(1, dict("'|O'", 2, 2), make([]float64, 4)), `the matrix has the type "|O"`},
		{"complex", of("[('a', '<c16')]"), `"<c16"`},
		{"arrays", of("[('a', '<f8', (3,))]"), `column "a" holds records or arrays`},
		{"nested", of("[('a', [('b', '<f8')])]"), `column "a" holds records or arrays`},
		{"no pair", of("['a']"), "field 1 of the records isn't a pair"},
		{"no name", of("[('', '<f8')]"), "field 1 of the records has no name"},
		{"negative padding", of("[('', '|V-8')]"), `"|V-8"`},
		{"no columns", npyFile(1, dict("[]", 2, 0)), "no columns"},
		{"no rows", npyFile(1, dict("[('a', '<f8')]", 0, 0)), "no rows"},
		{"cut short", good[:len(good)-1], "2 rows of 16 bytes are promised, but the file ends within row 2"},
		{"a great many rows", npyFile(1, dict("[('a', '<f8')]", math.MaxInt, 0), 1.0), "ends within row 2"},
		{"a great many columns", npyFile(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 99999999999)}", 1.0),
			"a row of 99999999999 numbers"},
		{"more than promised", append(slices.Clone(good), 0), "1 bytes follow the last of 2 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := readBytes(t, "x.npy", c.raw)
			must.Need(t, table == nil, "a table beside an error")
			wantError(t, err, "x.npy: ", c.want)
		})
	}
	must.Refuse(ReadFile(t.TempDir()+"/no.npy", dataset.Reading{}))(t, "no such file")
	folder := filepath.Join(t.TempDir(), "folder.npy")
	must.Do(t, os.Mkdir(folder, 0o700))
	_, err := ReadFile(folder, dataset.Reading{})
	wantError(t, err, "folder.npy: ")
}

// TestNPYNotFinite: numbers that aren't finite are found when their columns are read.
func TestNPYNotFinite(t *testing.T) {
	two := dict("[('a', '<f8'), ('b', '<f8')]", 2, 0)
	for _, c := range []struct {
		raw  []byte
		want string
	}{
		{npyFile(1, two, []float64{1, 2, 3, math.NaN()}), `row 2, column 2 ("b"): the value is missing`},
		{npyFile(1, dict("'<f4'", 1, 3), []float32{1, float32(math.Inf(-1)), float32(math.Inf(1))}),
			`row 1, column 2 ("c2"): -Inf is not finite; remove the row or fill the value (and 1 more problems)`},
	} {
		table := must.Get(readBytes(t, "x.npy", c.raw))(t)
		_, err := table.Unlabelled(table.Names)
		wantError(t, err, "x.npy: ", c.want)
		if _, err := table.Unlabelled(table.Names[:1]); err != nil {
			t.Error(err)
		}
	}
}

// TestNPYByMagic: krigo knows an NPY file under any name.
func TestNPYByMagic(t *testing.T) {
	table, err := readBytes(t, "x.dat", npyFile(1, dict("[('a', '<f8')]", 1, 0), 5.0))
	must.Hold(t, err == nil && slices.Equal(table.Names, []string{"a"}) &&
		table.Where(0) == "row 1", "%+v, %v", table, err)
}

// TestNPYShortened: if a file becomes shorter while it is read, the result is an error, not a crash.
func TestNPYShortened(t *testing.T) {
	const rows = 10000
	path := filepath.Join(t.TempDir(), "x.npy")
	must.Do(t, WriteFile(path, []string{"a", "y"}, rows,
		func(i int, v []float64) error { v[0], v[1] = float64(i), 1; return nil }))
	for _, mapped := range []bool{true, false} {
		table := must.Get(ReadFile(path, dataset.Reading{}))(t)
		if !mapped {
			table.Disk.(*npy).mapped = nil
		}
		d := must.Get(table.Select([]string{"a"}, "y"))(t)
		if err := os.Truncate(path, 16*rows/2); err != nil {
			t.Skip(err) // the system may lock an open file
		}
		_, err := d.Targets(d.All())
		wantError(t, err, "x.npy: rows 1 to 10000 can't be read")
		if err := table.Close(); err != nil && mapped {
			t.Error(err)
		}
		must.Do(t, WriteFile(path, []string{"a", "y"}, rows, func(i int, v []float64) error { return nil }))
	}
}

// TestWriteFileRoundTrip: a written table reads back, in every format.
func TestWriteFileRoundTrip(t *testing.T) {
	values := []float64{0.1, -1.0 / 3, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Copysign(0, -1)}
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	long := strings.Repeat("long", 20000)
	for _, names := range [][]string{{"a", "b"}, {"it's", "a\\b\n"}, {"é", "σ"}, {long, "b"}} {
		for _, ending := range []string{".npy", ".csv", ".csv.gz"} {
			path := filepath.Join(t.TempDir(), "x"+ending)
			must.Do(t, WriteFile(path, names, 3, rowsOf(values)))
			if names[0] == long && ending != ".npy" {
				continue // longer than a CSV header may be
			}
			table, err := ReadFile(path, dataset.Reading{})
			if names[0] == long { // the header is read, and the name is refused
				must.Fail(t, err, "characters")
				continue
			}
			if err != nil {
				t.Errorf("%q, %s: %v", names, ending, err)
				continue
			}
			want := slices.Clone(names)
			if ending != ".npy" {
				want[1] = strings.TrimSpace(want[1])
			}
			must.Hold(t, slices.Equal(table.Names, want) &&
				slices.EqualFunc(valuesOf(t, table), values, same),
				"%s: %q, %v", ending, table.Names, valuesOf(t, table))
			raw, err := os.ReadFile(path)
			must.Hold(t, ending != ".npy" || (err == nil && (len(raw)-8*len(values))%64 == 0),
				"%q: records begin at byte %d", names, len(raw)-8*len(values))
			if err := table.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	wantError(t, WriteFile(path, []string{"a", "a"}, 1, rowsOf(values)), "x.npy: ", `column 2 is named "a"`)
	wantError(t, WriteFile(path, []string{"a", "b"}, 1, rowsOf([]float64{1, math.Inf(1)})), "x.npy: ",
		`row 1, column 2 ("b"): +Inf is not finite`)
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestDiskAsMemory: every method of a table gives the same result to the last bit from memory and from disk, for every
// order in which rows are read.
func TestDiskAsMemory(t *testing.T) {
	const rows = 3*4096 + 17
	memory := &dataset.Table{Source: "x", Names: []string{"a", "y", "b"}, Rows: rows}
	for i := range rows {
		memory.Values = append(memory.Values, math.Sin(float64(i)), math.Cos(float64(i*i)), float64(i%7))
	}
	copy(memory.Values[3*4096:], memory.Values[:6]) // makes rows repeat
	path := filepath.Join(t.TempDir(), "x.npy")
	must.Do(t, WriteFile(path, memory.Names, rows, rowsOf(memory.Values)))
	disk := must.Get(ReadFile(path, dataset.Reading{}))(t)
	defer disk.Close()
	disk.Source = "x"
	dealt, err := dataset.DealByPosition(rows, 1, dataset.Counts{10, 0, 500})
	roles := dataset.Roles{Of: dealt}
	must.Do(t, err)
	ask := func(table *dataset.Table) string {
		d := must.Get(table.Regression("y"))(t)
		var b strings.Builder
		scaling, err := dataset.ScalingOf(d, d.RowsOf(roles, dataset.Prior), dataset.PriorRows)
		fmt.Fprintln(&b, scaling, err)
		found, err := inspect.Findings(d, must.Get(d.Units())(t))
		fmt.Fprintln(&b, found, err)
		hash, err := d.Hash(d.RowsOf(roles, dataset.Certified))
		fmt.Fprintln(&b, hash, err)
		hashes, _, err := d.RowHashes(d.All())
		fmt.Fprintln(&b, hashes, err)
		v := d.Scaled(d.RowsOf(roles, dataset.Certified), scaling)
		x, y := make([]float64, 2*1000), make([]float64, 1000)
		fmt.Fprintln(&b, v.Block(5000, 1000, x, y), x, y)
		picked := make([]int, 1000)
		for i := range picked {
			picked[i] = i * 7919 % len(v.Numbers)
		}
		fmt.Fprintln(&b, v.Pick(picked, x, y), x, y)
		return b.String()
	}
	want := ask(memory)
	must.Hold(t, strings.Contains(want, "2 of 12305 rows equal an earlier row"), "%.200s", want)
	must.Be(t, ask(disk), want, "mapped: not as in memory")
	disk.Disk.(*npy).mapped = nil
	must.Be(t, ask(disk), want, "read at need: not as in memory")
}

func FuzzReadNPY(f *testing.F) {
	f.Add(npyFile(1, dict("[('a', '<f8'), ('', '|V2'), (('t', 'b'), '|u1')]", 2, 0), 1.0, [3]byte{}, 2.0, [3]byte{}))
	f.Add(npyFile(2, dict("'<f4'", 2, 2), []float32{1, 2, 3, 4}))
	f.Add(npyFile(3, dict(`[('\'\x41\u1234', '<i2')]`, 1, 0), int16(1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := readHeader(bytes.NewReader(raw), int64(len(raw)), "fuzz", false)
		if err != nil {
			must.Need(t, n == nil, "a table beside an error")
			return
		}
		n.mapped = raw
		table := &dataset.Table{Source: "fuzz", Rows: n.rows, Disk: n}
		for _, c := range n.fields {
			table.Names = append(table.Names, c.name)
		}
		values := valuesOf(t, table)
		if slices.ContainsFunc(values, func(v float64) bool { return v-v != 0 }) {
			return
		}
		var again bytes.Buffer
		must.Do(t, WriteNPY(&again, table.Names, table.Rows, rowsOf(values)))
		m := must.Get(readHeader(bytes.NewReader(again.Bytes()), int64(again.Len()), "again", false))(t)
		m.mapped = again.Bytes()
		if got := valuesOf(t, &dataset.Table{Names: table.Names, Rows: m.rows, Disk: m}); !slices.Equal(got, values) ||
			m.rows != n.rows {
			t.Fatalf("%v, then %v", values, got)
		}
		for j, c := range m.fields {
			must.Need(t, c.name == table.Names[j], "%q, then %q", table.Names[j], c.name)
		}
	})
}
