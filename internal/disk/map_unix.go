//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"syscall"
)

// Map maps the first size bytes of a file into memory, for reading or also for writing.
// The memory stays when the file is closed.
func (f File) Map(size int64, write bool) ([]byte, error) {
	if int64(int(size)) != size {
		return nil, errors.ErrUnsupported // the address space is too small
	}
	access := syscall.PROT_READ
	if write {
		access |= syscall.PROT_WRITE
	}
	return syscall.Mmap(int(f.f.Fd()), 0, int(size), access, syscall.MAP_SHARED)
}

// Unmap gives back what Map returned.
func Unmap(mapped []byte) error {
	if mapped == nil {
		return nil
	}
	return syscall.Munmap(mapped)
}
