package dataset

import (
	"io"

	"github.com/krigo-gp/krigo/internal/disk"
)

// WriteFileAtomic makes the file at path hold what write writes, or, if
// anything fails, leaves whatever was there: it writes a temporary file in the
// same folder, syncs it, renames it and syncs the folder. The permissions of a file that is
// there stay, and a symbolic link stays one: what it points to is replaced. A path that
// exists and is no regular file (a pipe, /dev/null) is written to directly.
func WriteFileAtomic(path string, write func(io.Writer) error) error { return disk.Write(path, write) }
