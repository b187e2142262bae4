//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"errors"
	"os"
	"syscall"
)

// mapFile maps the first size bytes of a file into memory, for reading.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if int64(int(size)) != size {
		return nil, errors.ErrUnsupported // the address space is too small
	}
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(mapped []byte) error {
	if mapped == nil {
		return nil
	}
	return syscall.Munmap(mapped)
}
