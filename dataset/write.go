package dataset

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// Write writes a rows×len(names) matrix as CSV with a header, each number in
// the fewest digits that read back as the same float64. Like [Read] it refuses
// numbers that are not finite.
func Write(w io.Writer, names []string, rows int, values []float64) error {
	cols := len(names)
	if len(values) != rows*cols {
		return fmt.Errorf("write CSV: %d values do not fill %d rows of %d columns", len(values), rows, cols)
	}
	header := csv.NewWriter(w)
	if err := header.Write(names); err != nil {
		return err
	}
	header.Flush()
	if err := header.Error(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, blockSize)
	for i := range rows {
		line := out.AvailableBuffer()
		for j, v := range values[i*cols : (i+1)*cols] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("write CSV: row %d, column %d (%q): %g is not finite", i+1, j+1, names[j], v)
			}
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// WriteFileAtomic makes the file at path hold what write writes, or, if
// anything fails, leaves whatever was there: it writes a temporary file in the
// same folder, syncs it and renames it. A path that exists and is no regular
// file (a pipe, /dev/null) is written to directly.
func WriteFileAtomic(path string, write func(io.Writer) error) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return writeThrough(path, write)
		}
		mode = info.Mode().Perm()
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // replace what a link points to, not the link
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".krigo-*.tmp")
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	renamed := false
	defer func() {
		if !renamed { // also when write panics
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := buffered(f, write); err != nil {
		return fmt.Errorf("%s: not written: %w", path, err)
	}
	for _, step := range []func() error{
		func() error { return f.Chmod(mode) },
		f.Sync,
		f.Close,
		func() error { return os.Rename(f.Name(), path) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("%s: not written: %w", path, err)
		}
	}
	renamed = true
	return nil
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	err = buffered(f, write)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: not fully written: %w", path, err)
	}
	return nil
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(w, blockSize)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}
