//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import "errors"

// Map says that this system doesn't map files. ReadAt reads them.
func (f File) Map(int64, bool) ([]byte, error) { return nil, errors.ErrUnsupported }

// Unmap does nothing.
func Unmap([]byte) error { return nil }
