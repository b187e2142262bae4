// Package disk is where krigo opens, writes and replaces files. A file that is written is there as a whole or as it was
// before, whenever the process is killed and whatever the disk does.
package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Write makes the file at path hold what write writes, or, if anything fails, leaves whatever was there: it writes a
// temporary file in the same folder, syncs it, renames it and syncs the folder. A new file has the permissions that the
// umask leaves, one that was there keeps its own, and of a symbolic link what it points to is replaced. What is no
// regular file (a pipe, /dev/null, /dev/stdout) is written to directly. Temporary files of processes that were killed
// are removed from the folder first.
func Write(path string, write func(io.Writer) error) error {
	to, direct, err := follow(path)
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	mode, exists := os.FileMode(0o666), false
	if info, err := os.Stat(to); err == nil {
		mode, exists = info.Mode().Perm(), true
		direct = direct || !info.Mode().IsRegular()
	}
	if direct {
		return writeThrough(path, write)
	}
	sweep(filepath.Dir(to))
	f, err := create(filepath.Dir(to), mode)
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	defer drop(f) // also when write panics
	steps := []func() error{
		func() error { return buffered(f, write) },
		func() error {
			if exists { // what the umask took away
				return f.after("chmod", func() error { return f.f.Chmod(mode) })
			}
			return nil
		},
		f.Sync,
		func() error { return replace(f, to) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("%s: not written: %w", path, err)
		}
	}
	if err := SyncFolder(filepath.Dir(to)); err != nil {
		return fmt.Errorf("%s: written, but its folder can't be synced, so that it may be gone after a power failure: %w",
			path, err)
	}
	return nil
}

// Try says, before long work, whether Write could begin: it makes the temporary file, and removes it again. What is no
// regular file is left alone: who reads from a pipe would take it for the end.
func Try(path string) error {
	to, direct, err := follow(path)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(to); err == nil && !info.Mode().IsRegular() {
			return nil
		} else if !direct {
			var f File
			if f, err = create(filepath.Dir(to), 0o666); err == nil {
				drop(f)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	return nil
}

// follow finds what a path stands for at the end of its symbolic links, also of one that points to nothing yet, and
// whether that is something to write to as it is: another open file of a process.
func follow(path string) (to string, direct bool, err error) {
	to = path
	for range 40 { // as many as Linux follows
		if runtime.GOOS != "windows" && (strings.HasPrefix(to, "/dev/fd/") || strings.HasPrefix(to, "/proc/")) {
			return to, true, nil
		}
		info, err := os.Lstat(to)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			return to, false, nil
		}
		next, err := os.Readlink(to)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(next) {
			// The link's folder as it is, since ".." means the parent of what a link to a folder points to.
			folder, err := filepath.EvalSymlinks(filepath.Dir(to))
			if err != nil {
				return "", false, err
			}
			next = filepath.Join(folder, next)
		}
		to = next
	}
	return "", false, errors.New("too many symbolic links")
}

// SyncFolder makes sure that a file that was made or renamed in a folder is found there after a power failure.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" { // whose folders can't be asked
		return nil
	}
	if _, err := asked("sync folder", path, 0); err != nil {
		return &os.PathError{Op: "sync", Path: path, Err: err}
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) { // a folder that may be written to, but not listed
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	// of file systems that have no such thing
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
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
