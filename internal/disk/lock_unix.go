//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"syscall"
)

const (
	locks       = true
	renamesOpen = true
)

// Lock locks a file until it is closed or the process ends.
// If another process has the lock, the error is ErrLocked.
func Lock(f File) error {
	err := syscall.Flock(int(f.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
