package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Temporary files are called .krigo-HOST-RANDOM.tmp, and locked by the process that writes them until they have their
// name: the lock ends with the process. Host is a digest of the machine's name, since on some network file systems
// machines don't see each other's locks.
const (
	before = ".krigo-"
	after  = ".tmp"

	// abandoned is for how long nobody has written to a temporary file of another machine before it is taken for a killed
	// process's.
	abandoned = time.Hour
)

// underway are the temporary files that this process writes, and its claims.
var underway = struct {
	sync.Mutex
	files map[string]File
	ended bool
}{files: map[string]File{}}

// host is the part of a temporary file's name that tells its machine.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("%08x-", h.Sum32())
})

// create makes a temporary file in a folder, and locks it.
func create(folder string, mode os.FileMode) (File, error) {
	underway.Lock()
	defer underway.Unlock()
	if underway.ended {
		return File{}, errEnded
	}
	for {
		f, err := OpenFile(filepath.Join(folder, before+host()+rand.Text()+after), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return f, err
		}
		// Between the two another process may have taken it for one of a killed process. Where there are no locks nobody
		// does.
		if err := Lock(f); !errors.Is(err, ErrLocked) && same(f) {
			underway.files[f.Name()] = f
			return f, nil
		}
		f.f.Close()
	}
}

// same says whether a file still has its name.
func same(f File) bool {
	open, err := f.f.Stat()
	named, gone := os.Lstat(f.Name())
	return err == nil && gone == nil && os.SameFile(open, named)
}

// replace gives a temporary file its name. Its lock must outlast the temporary one, but on Windows open files can't be
// renamed.
func replace(f File, to string) error {
	underway.Lock()
	defer underway.Unlock()
	if underway.ended {
		return errEnded
	}
	if !renamesOpen {
		if err := f.Close(); err != nil {
			return err
		}
		if err := rename(f.Name(), to); err != nil {
			return err
		}
		delete(underway.files, f.Name())
		return nil
	}
	// it can't fail any more once the data are synced, but for one that is injected
	if _, err := f.asked("close", 0); err != nil {
		return err
	}
	if err := rename(f.Name(), to); err != nil {
		return err
	}
	delete(underway.files, f.Name())
	f.f.Close()
	return nil
}

// drop removes a temporary file that didn't get its name, or a claim.
func drop(f File) {
	underway.Lock()
	defer underway.Unlock()
	if _, found := underway.files[f.Name()]; found {
		delete(underway.files, f.Name())
		f.remove()
	}
}

// remove removes a file and then gives up its lock: in the other order the file could be another's by then. Windows
// removes no open file, so that none that is another's is removed there.
func (f File) remove() {
	if renamesOpen {
		os.Remove(f.Name())
		f.f.Close()
		return
	}
	f.f.Close()
	os.Remove(f.Name())
}

var errEnded = errors.New("the process ends")

// End removes the temporary files and claims of this process, which writes no others afterwards: it is about to exit in
// the middle of its work.
func End() {
	underway.Lock()
	defer underway.Unlock()
	underway.ended = true
	for _, f := range underway.files {
		f.remove()
	}
	clear(underway.files)
}

// sweep removes the temporary files in a folder that no process writes any more. What can't be looked at stays.
func sweep(folder string) {
	f, err := os.Open(folder)
	if err != nil {
		return
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1000)
		for _, name := range names {
			if strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
				remove(filepath.Join(folder, name), strings.HasPrefix(name, before+host()))
			}
		}
		if err != nil {
			return
		}
	}
}

// remove removes a temporary file if its lock is free, and if it is of another machine only after a while.
func remove(path string, own bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !own && time.Since(info.ModTime()) < abandoned {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if locks && Lock(File{f}) == nil && same(File{f}) {
		os.Remove(path)
	}
}
