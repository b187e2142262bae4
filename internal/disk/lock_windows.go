package disk

import (
	"errors"

	"golang.org/x/sys/windows"
)

const (
	// of temporary files: they must be closed before they are renamed, and then a sweep would take them
	locks       = false
	renamesOpen = false
)

// Lock keeps all others that ask for it from a file until it is closed, or the process ends. It is ErrLocked if another
// has it. The byte that is locked lies far behind the file's end: Windows keeps others from reading what is locked.
func Lock(f File) error {
	err := windows.LockFileEx(windows.Handle(f.f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
