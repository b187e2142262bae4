package dataset

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fill sets the values of one row, counted from 0, of a table that is being written. Rows
// are asked for once each, in order.
type Fill func(row int, values []float64) error

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

// Write writes a table as CSV with a header, each number in the fewest digits that read
// back as the same float64.
func Write(w io.Writer, names []string, rows int, fill Fill) error {
	header := csv.NewWriter(w)
	if err := header.Write(names); err != nil {
		return err
	}
	header.Flush()
	if err := header.Error(); err != nil {
		return err
	}
	return writeRows(w, names, rows, fill, func(line []byte, values []float64) []byte {
		for j, v := range values {
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		return append(line, '\n')
	})
}

// WriteNPY writes a table as NPY: an array of records whose fields are the columns, of
// type <f8.
func WriteNPY(w io.Writer, names []string, rows int, fill Fill) error {
	var text strings.Builder
	version := byte(1)
	text.WriteString("{'descr': [")
	for j, name := range names {
		if slices.Contains(names[:j], name) || name == "" || !utf8.ValidString(name) {
			return fmt.Errorf("write NPY: column %d is named %q: names must be distinct text", j+1, name)
		}
		fmt.Fprintf(&text, "(%s, '<f8'), ", pythonString(name))
	}
	fmt.Fprintf(&text, "], 'fortran_order': False, 'shape': (%d,), }", rows)
	if text.Len() > math.MaxUint16-64 {
		version = 2
	}
	for _, c := range text.String() {
		if c >= utf8.RuneSelf {
			version = 3 // UTF-8, where the others are Latin-1
		}
	}
	prefix := append([]byte(npyMagic), version, 0, 0, 0)
	if version > 1 {
		prefix = append(prefix, 0, 0)
	}
	for (len(prefix)+text.Len()+1)%64 != 0 { // records begin on a cache line
		text.WriteByte(' ')
	}
	text.WriteByte('\n')
	if version == 1 {
		binary.LittleEndian.PutUint16(prefix[len(npyMagic)+2:], uint16(text.Len()))
	} else {
		binary.LittleEndian.PutUint32(prefix[len(npyMagic)+2:], uint32(text.Len()))
	}
	if _, err := io.WriteString(w, string(prefix)+text.String()); err != nil {
		return err
	}
	return writeRows(w, names, rows, fill, func(record []byte, values []float64) []byte {
		for _, v := range values {
			record = binary.LittleEndian.AppendUint64(record, math.Float64bits(v))
		}
		return record
	})
}

// pythonString quotes text as Python does.
func pythonString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, c := range s {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\x%02x", c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

func writeRows(w io.Writer, names []string, rows int, fill Fill, encode func(to []byte, values []float64) []byte) error {
	out := bufio.NewWriterSize(w, blockSize)
	values := make([]float64, len(names))
	for i := range rows {
		if err := fill(i, values); err != nil {
			return err
		}
		for j, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d, column %d (%q): %g is not finite", i+1, j+1, names[j], v)
			}
		}
		if _, err := out.Write(encode(out.AvailableBuffer(), values)); err != nil {
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
