package disk

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Op is an operation that is about to be done on a file.
type Op struct {
	// "open", "create", "stat", "read", "write", "truncate", "chmod", "sync", "rename", "close" or
	// "sync folder"
	Name  string
	Path  string // the file's path, as the caller gave it
	Bytes int    // number of bytes to read or write
}

// Fault decides whether an operation fails. A read or write that fails is done for the first `done`
// bytes.
type Fault func(Op) (done int, err error)

// fault is the injected Fault. It is nil except in tests.
var fault atomic.Pointer[Fault]

// Inject makes file operations fail as on a broken disk, in all goroutines, until end is called.
// It is for tests.
func Inject(f Fault) (end func()) {
	fault.Store(&f)
	return func() { fault.Store(nil) }
}

// asked asks the injected fault, if there is one, whether an operation fails. If it does, the first
// done bytes of a read or write are still done.
func asked(name, path string, bytes int) (done int, err error) {
	if f := fault.Load(); f != nil {
		return (*f)(Op{name, path, bytes})
	}
	return 0, nil
}

// ErrLocked says that another process has locked a file.
var ErrLocked = errors.New("another process has it locked")

// File is an open file whose failures can be injected.
type File struct{ f *os.File }

// Of returns a File for a file that was opened elsewhere.
func Of(f *os.File) File { return File{f} }

// Open opens a file for reading.
func Open(path string) (File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile does the same as os.OpenFile.
func OpenFile(path string, flag int, mode os.FileMode) (File, error) {
	name := spelling.Either(flag&os.O_CREATE != 0, "create", "open")
	if _, err := asked(name, path, 0); err != nil {
		return File{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f, err := os.OpenFile(path, flag, mode)
	return File{f}, err
}

// OS returns the *os.File, for callers that accept nothing else.
func (f File) OS() *os.File { return f.f }
func (f File) Name() string { return f.f.Name() }

// Stat does the same as os.File.Stat, unless a fault is injected.
func (f File) Stat() (os.FileInfo, error) {
	if _, err := f.asked("stat", 0); err != nil {
		return nil, err
	}
	return f.f.Stat()
}

func (f File) Read(p []byte) (int, error) { return f.partly("read", p, f.f.Read) }

// ReadAt reads from the byte at, and counts as the operation "read".
func (f File) ReadAt(p []byte, at int64) (int, error) {
	return f.partly("read", p, func(p []byte) (int, error) { return f.f.ReadAt(p, at) })
}

func (f File) Write(p []byte) (int, error) { return f.partly("write", p, f.f.Write) }

// WriteAt writes from the byte at, and counts as the operation "write".
func (f File) WriteAt(p []byte, at int64) (int, error) {
	return f.partly("write", p, func(p []byte) (int, error) { return f.f.WriteAt(p, at) })
}

// partly reads or writes p. If a fault is injected, it does only as many bytes as the fault allows.
func (f File) partly(name string, p []byte, do func([]byte) (int, error)) (int, error) {
	n, err := f.asked(name, len(p))
	if err != nil {
		n, _ = do(p[:n])
		return n, err
	}
	return do(p)
}

// Truncate cuts the file to size bytes, or lengthens it with zeros.
func (f File) Truncate(size int64) error {
	return f.after("truncate", func() error { return f.f.Truncate(size) })
}

func (f File) Sync() error { return f.after("sync", f.f.Sync) }

// after calls do, unless a fault is injected.
func (f File) after(name string, do func() error) error {
	if _, err := f.asked(name, 0); err != nil {
		return err
	}
	return do()
}

// Close closes the file, even if an injected fault makes it return an error.
func (f File) Close() error {
	_, failed := f.asked("close", 0)
	if err := f.f.Close(); failed == nil {
		return err
	}
	return failed
}

// asked asks the injected fault about an operation on f. It returns the fault's error in an
// *os.PathError, and at most `bytes` as the number of bytes that are still done.
func (f File) asked(name string, bytes int) (int, error) {
	n, err := asked(name, f.f.Name(), bytes)
	if err != nil {
		err = &os.PathError{Op: name, Path: f.f.Name(), Err: err}
	}
	return min(n, bytes), err
}

// rename does the same as os.Rename, unless a fault is injected for the path to.
func rename(from, to string) error {
	if _, err := asked("rename", to, 0); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return os.Rename(from, to)
}
