package dataset

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/disk"
)

// NPZ is NumPy's archive of arrays: a zip file of NPY files.

func init() {
	// Without its first bytes: spreadsheets begin like it.
	Register(Format{Name: "NPZ", Endings: []string{".npz"}, Read: readNPZ, Write: WriteNPZ})
}

// readNPZ reads a table from an open NPZ file: arrays of one dimension are columns of their
// names, matrices columns NAME1, NAME2, …, records columns of their fields' names. All have
// the same number of rows.
func readNPZ(f *os.File, source string) (*Table, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", source, err)
	}
	archive, err := zip.NewReader(disk.Of(f), info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: not a whole NPZ file (%w): save it by numpy.savez", source, err)
	}
	t := &Table{Source: source}
	var arrays []*npy
	for _, entry := range archive.File {
		name := strings.TrimSuffix(entry.Name, ".npy")
		n, err := npyIn(entry, source+": array "+strconv.Quote(clip(name)))
		if err != nil {
			return nil, err
		}
		if t.Rows == 0 {
			t.Rows = n.rows
		}
		if n.rows != t.Rows {
			return nil, fmt.Errorf("%s: array %q has %d rows, those before it %d: save columns of one table", source, clip(name), n.rows, t.Rows)
		}
		for k, c := range n.fields {
			switch {
			case n.named:
				name = c.name
			case len(n.fields) > 1:
				name = strings.TrimSuffix(entry.Name, ".npy") + strconv.Itoa(k+1)
			}
			if _, found := t.Column(name); found || name == "" {
				return nil, fmt.Errorf("%s: two columns named %q, or one without a name: rename one", source, clip(name))
			}
			t.Names = append(t.Names, name)
		}
		arrays = append(arrays, n)
	}
	if len(arrays) == 0 {
		return nil, fmt.Errorf("%s: the archive holds no arrays", source)
	}
	t.Values = make([]float64, t.Rows*len(t.Names))
	column := 0
	for _, n := range arrays {
		for _, c := range n.fields {
			c.decode(n.mapped[n.start+int64(c.offset):], n.size, t.Values[column:], len(t.Names))
			column++
		}
	}
	return t, nil
}

// npyIn reads an NPY file of an archive whole.
func npyIn(entry *zip.File, source string) (*npy, error) {
	if !strings.HasSuffix(entry.Name, ".npy") {
		return nil, fmt.Errorf("%s: not an NPY file: save the archive by numpy.savez", source)
	}
	r, err := entry.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", source, err)
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: damaged (%w): write it again", source, err)
	}
	n, err := readHeader(bytes.NewReader(raw), int64(len(raw)), source, true)
	if err != nil {
		return nil, err
	}
	n.mapped = raw
	return n, nil
}

// WriteNPZ writes a table as NPZ: one array of records, named table.
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
