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

// Lock keeps all others that ask for it from a file until it is closed, or the process ends. It is ErrLocked where
// another has it.
func Lock(f File) error {
	err := syscall.Flock(int(f.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
