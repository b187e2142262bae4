//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package files

import (
	"errors"
	"os"
)

// mapFile says that files aren't mapped here: they are read by ReadAt.
func mapFile(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }
