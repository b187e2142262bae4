package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/krigo-gp/krigo/internal/disk"
)

// ReadFile reads a table from a file of a registered [Format], told by its first bytes or its
// ending, or else of CSV (see [Read]). CSV, gzip of it, and NPZ are read into memory, as are the
// formats of packages of their own, such as Parquet. Of an NPY file the rows stay on disk until they
// are needed: it is an array of records with named fields, or a matrix, whose columns are
// named c1, c2, … . The fields are numbers: <f8, <f4, or whole ones. Cells that are missing or text
// are found when their column is read for something else.
func ReadFile(path string) (*Table, error) { return Reading{}.ReadFile(path) }

// ReadFile is [ReadFile] of a table whose cells are written so.
func (r Reading) ReadFile(path string) (*Table, error) {
	return readFile(path, func(f *os.File, format Format) (*Table, error) {
		if format.text {
			return r.Read(disk.Of(f), path)
		}
		read := format.Read
		if format.ReadAs != nil {
			read = func(f *os.File, path string) (*Table, error) { return format.ReadAs(f, path, Reading{names: r.names}) }
		}
		t, err := read(f, path)
		if err != nil {
			return nil, err
		}
		if err := r.Apply(t); err != nil {
			t.Close()
			return nil, err
		}
		return t, nil
	})
}

// readFile opens a file, tells its format, and has it read.
func readFile(path string, read func(*os.File, Format) (*Table, error)) (*Table, error) {
	f, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; check the path: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be opened: %w", path, err)
	}
	format, known := formatOf(path, startOf(f))
	if !known {
		format = csvFormat
	}
	t, err := read(f.OS(), format)
	if t == nil || t.disk == nil { // else the table keeps it
		f.Close()
	}
	if err == nil && t.over != nil {
		return nil, t.over
	}
	if !known && errors.Is(err, errNotText) {
		err = fmt.Errorf("%w; the formats that are read are %s", err, listFormats())
	}
	return t, err
}

// WriteFile writes a table to a file, all or nothing, in the registered [Format] whose ending the
// path has, or else as CSV. Like [ReadFile] it refuses numbers that are not finite.
func WriteFile(path string, names []string, rows int, fill Fill) error {
	format, known := formatOf(path, "")
	if !known {
		format = csvFormat
	}
	return WriteFileAtomic(path, func(w io.Writer) error { return format.Write(w, names, rows, fill) })
}
