package disk

import (
	"os"
)

// Claim makes the file at path and locks it, so that one process at a time has the claim. If another process has it,
// the error is ErrLocked. The file of a killed process is no obstacle. release and End remove the file.
func Claim(path string) (release func(), err error) {
	for {
		f, err := OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		err = Lock(f)
		if err == nil && same(f) {
			underway.Lock()
			defer underway.Unlock()
			underway.files[path] = f
			return func() { drop(f) }, nil
		}
		f.f.Close()
		if err != nil {
			return nil, err
		}
		// The process that had the file removed it before this process locked it, so try again.
	}
}
