package disk

import (
	"errors"

	"golang.org/x/sys/windows"
)

const (
	// temporary files aren't locked, because they must be closed before they are renamed, and a
	// sweep would remove them then
	locks       = false
	renamesOpen = false
)

// Lock locks a file until it is closed or the process ends.
// If another process has the lock, the error is ErrLocked.
// Lock locks a byte far behind the file's end, because Windows lets no other process read what is
// locked.
func Lock(f File) error {
	err := windows.LockFileEx(windows.Handle(f.f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
