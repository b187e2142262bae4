package disk

import (
	"os"
)

// Claim makes the file at path and locks it, so that one process at a time has the claim. It is ErrLocked if another
// process has it. What a killed process left doesn't hinder. release removes the file; End does so too.
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
		// Whoever had it removed it before it was locked here.
	}
}
