//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package watch

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps all others from a file until it is closed, or the process ends.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another process writes it: watch there, or stop that first")
	}
	return err
}
