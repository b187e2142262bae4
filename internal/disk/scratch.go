package disk

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// Scratch is memory for numbers that lies in a file in the folder for temporary files (TMPDIR).
// The system keeps in memory what fits, and reads the rest again when it is needed.
// The file has no name, so it can't outlive the process.
type Scratch struct {
	Numbers []float64

	mapped  []byte
	cleanup runtime.Cleanup
}

// NewScratch returns n numbers, all 0. Release gives them back, or else the garbage collector does
// once the Scratch is unreachable. The error is errors.ErrUnsupported where files can't be mapped.
// NewScratch writes the whole file, so that a full disk is an error here.
// Later the process would end when it writes a number.
func NewScratch(n int) (*Scratch, error) {
	if !renamesOpen {
		return nil, errors.ErrUnsupported
	}
	f, err := create(os.TempDir(), 0o600)
	if err != nil {
		return nil, fmt.Errorf("a file for rows that don't fit in memory (TMPDIR names another "+
			"folder): %w", err)
	}
	defer drop(f)
	os.Remove(f.Name()) // a process that is killed leaves nothing
	// Writing zeros takes the space on the disk now. A mapped file that is only lengthened would
	// not.
	zeros := make([]byte, 1<<20)
	for left := 8 * n; left > 0 && err == nil; left -= len(zeros) {
		_, err = f.Write(zeros[:min(left, len(zeros))])
	}
	s := &Scratch{}
	if err == nil {
		s.mapped, err = f.Map(int64(8*n), true)
	}
	if err != nil {
		return nil, fmt.Errorf("%d bytes for rows that don't fit in memory (TMPDIR names another "+
			"folder): %w", 8*n, err)
	}
	s.Numbers = unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s.mapped))), n)
	s.cleanup = runtime.AddCleanup(s, func(mapped []byte) { Unmap(mapped) }, s.mapped)
	return s, nil
}

// Release gives the numbers back. They must not be used afterwards.
func (s *Scratch) Release() {
	s.cleanup.Stop()
	Unmap(s.mapped)
	s.Numbers = nil
	s.mapped = nil
}
