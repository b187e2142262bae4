package files

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/memory"
)

// squeezed returns gzip of a text too long for memory: the string first, followed by many copies of the string then, as
// many as times says.
func squeezed(t *testing.T, first, then string, times int) []byte {
	t.Helper()
	stream := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, text)
		must.Do(t, errors.Join(err, z.Close()))
		return b.Bytes()
	}
	const at = 1 << 20
	// gzip streams may follow one another
	return append(stream(first), bytes.Repeat(stream(strings.Repeat(then, at)), times/at)...)
}

// TestBombs: within 64 MiB, tables that would take gigabytes are errors that name the file and what to do. Little
// memory is taken before.
func TestBombs(t *testing.T) {
	must.Long(t)
	const limit = 64 << 20
	header := func(text string) []byte {
		return append([]byte(npyMagic+"\x01\x00"), append([]byte{byte(len(text)), byte(len(text) >> 8)}, text...)...)
	}
	archive := func(size, packed uint64, content []byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.CreateRaw(&zip.FileHeader{Name: "a.npy", Method: zip.Deflate, CompressedSize64: packed,
			UncompressedSize64: size})
		if err == nil {
			_, err = w.Write(content)
		}
		must.Do(t, errors.Join(err, z.Close()))
		return b.Bytes()
	}
	var zeros bytes.Buffer
	z, err := flate.NewWriter(&zeros, flate.BestSpeed)
	if err == nil {
		_, err = z.Write(make([]byte, 2*limit))
	}
	must.Do(t, errors.Join(err, z.Close()))
	var counted strings.Builder // as many texts as lines
	for i := range 1 << 20 {
		fmt.Fprintf(&counted, "%d\n", i)
	}
	for name, test := range map[string]struct {
		file []byte
		says string
	}{
		"rows.csv.gz":   {squeezed(t, "x,y\n", "1,2\n", 1<<28), "the table"},
		"line.csv.gz":   {squeezed(t, "x,y\n1,", "0", 1<<30), "a line that doesn't end"},
		"quoted.csv.gz": {squeezed(t, "x,y\n1,\"", "\n", 1<<30), "a line that doesn't end"},
		"header.csv.gz": {squeezed(t, "", "x", 1<<30), "a line that doesn't end"},
		"fields.csv.gz": {squeezed(t, "x,y\n1", ",", 1<<30), "a line that doesn't end"},
		"columns.csv":   {[]byte(strings.Repeat("1,", 900_000) + "1\n"), "line that doesn't end"},
		"columns2.csv":  {[]byte(strings.Repeat("1,", 400_000) + "1\n"), "400001 columns"},
		"texts.csv":     {[]byte("x\nred\n" + counted.String()), "the table"},
		"late text.csv": {[]byte("x\n" + counted.String() + "red\n"), "the table"},
		"shape.npy": {header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1000000000000), }"),
			"cut short"},
		"product.npy": {header("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"),
			"cut short"},
		"wide.npy": {append(header("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1000000), }"),
			make([]byte, 1000000)...), "1000000 columns"},
		"long.npy": {append(header("{'descr': '|u1', 'fortran_order': False, 'shape': (4096, 2000), }"),
			make([]byte, 4096*2000)...), "a block of its rows"},
		"length.npy": {[]byte(npyMagic + "\x02\x00\xff\xff\xff\xff{"), "cut short"},
		"much.npy": {append([]byte(npyMagic+"\x02\x00\x00\x00\x80\x00"), bytes.Repeat([]byte("["), 1<<23)...),
			"the NPY header"},
		"size.npz":   {archive(1<<50, 20, make([]byte, 20)), "memory"},
		"ratio.npz":  {archive(32<<20, 20, make([]byte, 20)), "can't be had from"},
		"packed.npz": {archive(1000, 1<<40, make([]byte, 20)), "can't be had from"},
		"zeros.npz":  {archive(2*limit, uint64(zeros.Len()), zeros.Bytes()), "--memory"},
		"less.npz":   {archive(1<<20, uint64(zeros.Len()), zeros.Bytes()), "damaged"},
		"values.npz": {floats(t, 9<<20), "--memory"},
		"a name without end.gz": {append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00"),
			bytes.Repeat([]byte("a"), 1<<20)...), "damaged"},
	} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, test.file, 0o666))
		memory.SetLimit(limit)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		table, err := ReadFile(path, dataset.Reading{})
		runtime.ReadMemStats(&after)
		memory.SetLimit(0)
		if err == nil {
			t.Errorf("%s: a table of %d rows", name, table.Rows)
			continue
		}
		if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 400 {
			t.Errorf("%s: %v, which doesn't name it and %q", name, err, test.says)
		}
		var over *memory.Error
		must.Hold(t, !errors.As(err, &over) ||
			(over.Need > limit && over.Limit == limit && strings.Contains(err.Error(), "--memory")),
			"%s: %v", name, err)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 3*limit { // freed memory counts too
			t.Errorf("%s: %s were allocated", name, memory.Text(float64(taken)))
		}
	}
	memory.SetLimit(limit)
	defer memory.SetLimit(0)
	if _, err := (CSV{From: bytes.NewReader(squeezed(t, "x,y\n", "1,2\n", 1<<28)),
		Source: "standard input"}).Read(); err == nil ||
		!strings.Contains(err.Error(), "standard input") || !strings.Contains(err.Error(), "--memory") {
		t.Error(err)
	}
	rows := 0
	if err := (CSV{From: bytes.NewReader(squeezed(t, "x,y\n", "1,2\n", 1<<22)), Source: "standard input"}).Stream(1000,
		func(t *dataset.Table) error { rows += t.Rows; return nil }); err != nil || rows != 1<<22 {
		t.Errorf("of a stream, which is never held, %d rows: %v", rows, err)
	}
}

// floats returns an archive of n numbers of a byte. Each takes eight bytes in a table.
func floats(t *testing.T, n int) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("x.npy")
	text := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }", n)
	if err == nil {
		_, err = w.Write(append([]byte(npyMagic+"\x01\x00"+string([]byte{byte(len(text)), 0})+text), make([]byte, n)...))
	}
	must.Do(t, errors.Join(err, z.Close()))
	return b.Bytes()
}

// TestWide: the time doesn't grow with the square of the number of columns.
func TestWide(t *testing.T) {
	const cols = 50_000
	text := strings.Repeat("1,", cols-1) + "1\n" + strings.Repeat("2,", cols-1) + "2\n"
	table := must.Get(CSV{From: strings.NewReader(text), Source: "wide"}.Read())(t)
	d, err := table.Regression("y")
	must.Hold(t, err == nil && d.Cols == cols-1, "%v", err)
}
