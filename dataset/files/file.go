package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
)

// ReadFile reads a table from a file of a registered [Format], told by its first bytes or its
// ending, or else of CSV (see [Read]). CSV, gzip of it, and NPZ are read into memory, as are the
// formats of packages of their own, such as Parquet. Of an NPY file the rows stay on disk until they
// are needed: it is an array of records with named fields, or a matrix, whose columns are
// named c1, c2, … . The fields are numbers: <f8, <f4, or whole ones. Cells that are missing or text
// are found when their column is read for something else.
func ReadFile(path string, as dataset.Reading) (*dataset.Table, error) {
	if err := as.Check(); err != nil {
		return nil, err
	}
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
	t := as.Plain().New(path)
	if format.Text {
		t = as.New(path)
	}
	err = format.Read(f.OS(), t)
	if err == nil && len(t.Names) == 0 {
		err = fmt.Errorf("%s: the file has no columns: a table was expected", path)
	}
	if err == nil {
		err = as.Apply(t)
	}
	switch {
	case t.Disk == nil:
		f.Close()
	case err != nil:
		t.Close() // which keeps the file
	}
	if !known && errors.Is(err, errNotText) {
		err = fmt.Errorf("%w; the formats that are read are %s", err, listFormats())
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// WriteFile writes a table to a file, all or nothing, in the registered [Format] whose ending the
// path has, or else as CSV. Like [ReadFile] it refuses numbers that are not finite.
func WriteFile(path string, names []string, rows int, fill Fill) error {
	format, known := formatOf(path, "")
	if !known {
		format = csvFormat
	}
	return disk.Write(path, func(w io.Writer) error { return format.Write(w, names, rows, fill) })
}
