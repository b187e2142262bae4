// Package disk is where krigo opens, writes and replaces files.
// A file is written as a whole or stays as it was, even if the process is killed at any moment or
// the disk fails.
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

// Write replaces the content of the file at path by what write writes.
// If anything fails, the old file stays. Write writes a temporary file in the same folder, syncs
// it, renames it and syncs the folder. A new file has the permissions that the umask leaves, and an
// old file keeps its permissions. If path is a symbolic link, Write replaces the file that it
// points to. It writes directly to anything that isn't a regular file (a pipe, /dev/null,
// /dev/stdout). At first Write removes temporary files of killed processes from the folder.
func Write(path string, write func(io.Writer) error) error {
	f, err := Replace(path, write)
	f.f.Close() // after a sync only an injected close can fail, and after an error there is no file
	return err
}

// Replace does what Write does, and returns the new file, open and locked.
// No other process has had its lock. There is no such file after an error, unless only the folder
// couldn't be synced, and on Windows.
func Replace(path string, write func(io.Writer) error) (File, error) {
	to, direct, err := follow(path)
	if err != nil {
		return File{}, fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	mode := os.FileMode(0o666)
	exists := false
	if info, err := os.Stat(to); err == nil {
		mode = info.Mode().Perm()
		exists = true
		direct = direct || !info.Mode().IsRegular()
	}
	if direct {
		return File{}, writeThrough(path, write)
	}
	f, err := create(filepath.Dir(to), mode)
	if err != nil {
		return File{}, fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	defer drop(f) // runs also when write panics
	if info, err := f.f.Stat(); err == nil {
		sweep(filepath.Dir(to), info.ModTime())
	}
	// The order matters: the content is on disk before the rename, so that a power failure leaves
	// either the old file or the whole new one.
	steps := []func() error{
		func() error { return buffered(f, write) },
		func() error {
			if exists { // undo the umask
				return f.after("chmod", func() error { return f.f.Chmod(mode) })
			}
			return nil
		},
		f.Sync,
		func() error { return replace(f, to) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return File{}, fmt.Errorf("%s: not written: %w", path, err)
		}
	}
	if err := SyncFolder(filepath.Dir(to)); err != nil {
		return f, fmt.Errorf("%s: written, but its folder can't be synced, so that it may be "+
			"gone after a power failure: %w", path, err)
	}
	return f, nil
}

// Try says, before long work, whether Write could begin.
// It makes the temporary file, and removes it again.
// It opens only regular files, because a program that reads from a pipe would think that the data
// had ended.
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

// follow returns the path at the end of a path's symbolic links, even if nothing exists there yet.
// direct says that the path stands for a file that a process has open, so Write must write to it
// instead of replacing it.
func follow(path string) (to string, direct bool, err error) {
	to = path
	for range 40 { // the limit of Linux
		if runtime.GOOS != "windows" && (strings.HasPrefix(to, "/dev/fd/") ||
			strings.HasPrefix(to, "/proc/")) {
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
			// Resolve the link's folder first, because ".." means the parent of the folder that a
			// link points to.
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

// SyncFolder makes sure that a power failure doesn't undo the creation or renaming of a file in the
// folder.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" { // Windows can't sync folders
		return nil
	}
	if _, err := asked("sync folder", path, 0); err != nil {
		return &os.PathError{Op: "sync", Path: path, Err: err}
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) { // the folder can be written to, but not listed
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	// Some file systems can't sync folders.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) &&
		!errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// writeThrough writes to what isn't a regular file, or is a file that a process has open, without a
// temporary file. It appends, so that a file behind /dev/stdout keeps what is in it. A failure can
// leave a part written.
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

// buffered calls write with a buffer before w, and flushes the buffer.
func buffered(w io.Writer, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(w, bufferSize)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

// bufferSize is the number of bytes that are written at a time.
const bufferSize = 1 << 16
