//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"errors"
	"os"
	"syscall"
)

// mapFile maps a file of so many bytes into memory, to be read.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if int64(int(size)) != size {
		return nil, errors.ErrUnsupported // no address space for it
	}
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(mapped []byte) error {
	if mapped == nil {
		return nil
	}
	return syscall.Munmap(mapped)
}
