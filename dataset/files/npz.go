package files

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// NPZ is NumPy's archive of arrays: a zip file of NPY files.

func init() {
	// The format has no Magic, because spreadsheets begin in the same way.
	Register(Format{Name: "NPZ", Endings: []string{".npz"}, Read: readNPZ, Write: WriteNPZ})
}

// readNPZ reads a table from an open NPZ file.
// An array of one dimension is a column with the array's name.
// A matrix gives the columns NAME1, NAME2, ….
// An array of records gives columns with its fields' names.
// All arrays have the same number of rows.
func readNPZ(f *os.File, t *dataset.Table) error {
	source := t.Source
	archive, size, err := openZip(f, source, "NPZ")
	if err != nil {
		return err
	}
	var arrays []*npy
	var raw float64 // bytes of all arrays
	for _, entry := range archive.File {
		name := strings.TrimSuffix(entry.Name, ".npy")
		within := source + ": array " + strconv.Quote(spelling.Clip(name))
		if raw += float64(entry.UncompressedSize64); raw > 0 {
			if err := memory.Afford(within, raw); err != nil {
				return err
			}
		}
		n, err := npyIn(entry, size, within)
		if err != nil {
			return err
		}
		if t.Rows = cmp.Or(t.Rows, n.rows); n.rows != t.Rows {
			return fmt.Errorf("%s: array %q has %d rows, those before it %d: save columns of "+
				"one table", source, spelling.Clip(name), n.rows, t.Rows)
		}
		for k, c := range n.fields {
			switch {
			case n.named:
				name = c.name
			case len(n.fields) > 1:
				name = strings.TrimSuffix(entry.Name, ".npy") + strconv.Itoa(k+1)
			}
			t.Names = append(t.Names, name)
		}
		arrays = append(arrays, n)
	}
	if len(arrays) == 0 {
		return fmt.Errorf("%s: the archive holds no arrays", source)
	}
	if err := memory.Afford(source, raw+8*float64(t.Rows)*float64(len(t.Names))); err != nil {
		return err
	}
	t.Values = make([]float64, t.Rows*len(t.Names))
	column := 0
	for _, n := range arrays {
		for _, c := range n.fields {
			c.decode(n.mapped[n.start+int64(c.offset):], n.size, t.Values[column:], len(t.Names))
			column++
		}
	}
	return nil
}

// npyIn reads a whole NPY file from an archive. archive is the archive's size in bytes.
func npyIn(entry *zip.File, archive int64, source string) (*npy, error) {
	if !strings.HasSuffix(entry.Name, ".npy") {
		return nil, fmt.Errorf("%s: not an NPY file: save the archive by numpy.savez", source)
	}
	// DEFLATE turns 2 bits into at most 258 bytes.
	const most = 1032
	size := entry.UncompressedSize64
	if entry.CompressedSize64 > uint64(archive) || size > most*entry.CompressedSize64 {
		return nil, fmt.Errorf("%s: damaged: %d bytes can't be had from %d in a file of %d: "+
			"write it again", source, size, entry.CompressedSize64, archive)
	}
	r, err := entry.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", source, err)
	}
	defer r.Close()
	raw := make([]byte, size)
	if _, err = io.ReadFull(r, raw); err == nil {
		// the end is where the checksum is checked
		if _, err = io.ReadFull(r, make([]byte, 1)); err == nil {
			err = errors.New("more bytes than its directory says")
		}
	}
	if err != io.EOF {
		return nil, fmt.Errorf("%s: damaged (%w): write it again", source, err)
	}
	n, err := readHeader(bytes.NewReader(raw), int64(len(raw)), source, true)
	if err != nil {
		return nil, err
	}
	n.mapped = raw
	return n, nil
}

// WriteNPZ writes a table as NPZ, with one array of records named table.
func WriteNPZ(w io.Writer, names []string, rows int, fill Fill) error {
	z := zip.NewWriter(w)
	entry, err := z.Create("table.npy")
	if err != nil {
		return err
	}
	if err := WriteNPY(entry, names, rows, fill); err != nil {
		return err
	}
	return z.Close()
}
