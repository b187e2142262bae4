package dataset

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ReadFile reads a CSV file, plain or gzip (see [Read]), an NPZ or a Parquet file into memory,
// or opens an NPY file (told by its ending or its first bytes), whose rows stay on disk until they are needed: an
// array of records with named fields, or a matrix, whose columns are named c1, c2, … . The
// fields are numbers: <f8, <f4, or whole ones. Cells that are missing or text are found when
// their column is read for something else.
func ReadFile(path string) (*Table, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; check the path: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be opened: %w", path, err)
	}
	magic := make([]byte, len(npyMagic))
	n, _ := f.ReadAt(magic, 0) // a pipe has no place 0, and is no NPY file
	if filepath.Ext(path) == ".npy" || string(magic[:n]) == npyMagic {
		return openNPY(f, path)
	}
	defer f.Close()
	switch start := string(magic[:n]); {
	case filepath.Ext(path) == ".npz": // spreadsheets begin like it
		return readNPZ(f, path)
	case filepath.Ext(path) == ".parquet" || strings.HasPrefix(start, parquetMagic):
		return readParquet(f, path)
	}
	return Read(f, path)
}

// WriteFile writes a table to a file, all or nothing: as NPY, NPZ, Parquet, gzip of CSV or
// CSV, for a path that ends in .npy, .npz, .parquet, .gz or otherwise. Like [ReadFile] it refuses numbers that are
// not finite.
func WriteFile(path string, names []string, rows int, fill Fill) error {
	return WriteFileAtomic(path, func(w io.Writer) error {
		switch filepath.Ext(path) {
		case ".npy":
			return WriteNPY(w, names, rows, fill)
		case ".npz":
			return WriteNPZ(w, names, rows, fill)
		case ".parquet":
			return WriteParquet(w, names, rows, fill)
		case ".gz":
			z := gzip.NewWriter(w)
			if err := Write(z, names, rows, fill); err != nil {
				return err
			}
			return z.Close()
		}
		return Write(w, names, rows, fill)
	})
}
