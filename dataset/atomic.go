package dataset

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

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
	out := bufio.NewWriterSize(w, bufferSize)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

// bufferSize is how much is written at a time.
const bufferSize = 1 << 16
