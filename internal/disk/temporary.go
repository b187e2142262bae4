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

// A temporary file is called .krigo-HOST-RANDOM.tmp. The process that writes it locks it until it
// is renamed. The lock ends with the process.
// HOST is a digest of the machine's name, because on some network file systems machines don't see
// each other's locks.
const (
	before = ".krigo-"
	after  = ".tmp"

	// abandoned is the age at which a temporary file of another machine counts as a killed
	// process's file.
	abandoned = time.Hour
)

// underway holds the temporary files that this process is writing, and its claims.
var underway = struct {
	sync.Mutex
	files map[string]File
	ended bool
}{files: map[string]File{}}

// host returns the part of a temporary file's name that stands for this machine.
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
	// The name is random, so that the loop hardly ever runs twice.
	for {
		f, err := OpenFile(filepath.Join(folder, before+host()+rand.Text()+after),
			os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return f, err
		}
		// Before the file was locked, another process may have removed it as a killed process's
		// file. On systems without locks no process removes such files.
		if err := Lock(f); !errors.Is(err, ErrLocked) && same(f) {
			underway.files[f.Name()] = f
			return f, nil
		}
		f.f.Close()
	}
}

// same says whether the file's name still stands for this open file.
func same(f File) bool {
	open, err := f.f.Stat()
	named, gone := os.Lstat(f.Name())
	return err == nil && gone == nil && os.SameFile(open, named)
}

// replace renames a temporary file to its final name, and leaves it open and locked, except on
// Windows, where open files can't be renamed.
func replace(f File, to string) error {
	underway.Lock()
	defer underway.Unlock()
	if underway.ended {
		return errEnded
	}
	var err error
	if renamesOpen {
		_, err = f.asked("close", 0)
	} else {
		err = f.Close()
	}
	if err == nil {
		err = rename(f.Name(), to)
	}
	if err == nil {
		delete(underway.files, f.Name())
	}
	return err
}

// drop removes a claim, or a temporary file that wasn't renamed.
func drop(f File) {
	underway.Lock()
	defer underway.Unlock()
	if _, found := underway.files[f.Name()]; found {
		delete(underway.files, f.Name())
		f.remove()
	}
}

// remove removes a file and then gives up its lock, because in between another process could take
// the file. Windows can't remove open files. There the file is closed first, and a file that
// another process has open stays.
func (f File) remove() {
	if renamesOpen {
		os.Remove(f.Name())
		f.f.Close()
		return
	}
	f.f.Close()
	os.Remove(f.Name())
}

// errEnded is the error of writing a file after End.
var errEnded = errors.New("the process is about to end")

// End removes the temporary files and claims of this process, and stops the process from writing
// further temporary files and claims. It is for a process that exits in the middle of its work.
func End() {
	underway.Lock()
	defer underway.Unlock()
	underway.ended = true
	for _, f := range underway.files {
		f.remove()
	}
	clear(underway.files)
}

// sweep removes the temporary files in a folder that no process is writing any more.
// It leaves files that it can't open. The time is that of a file which the folder's system has just
// made: this machine's clock may be another one.
func sweep(folder string, now time.Time) {
	f, err := os.Open(folder)
	if err != nil {
		return
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1000)
		for _, name := range names {
			if strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
				remove(filepath.Join(folder, name), strings.HasPrefix(name, before+host()), now)
			}
		}
		if err != nil {
			return
		}
	}
}

// remove removes a temporary file if its lock is free.
// A temporary file of another machine is removed only if it is also abandoned.
func remove(path string, own bool, now time.Time) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || (!own && now.Sub(info.ModTime()) < abandoned) {
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

// Claim makes the file at path and locks it, so that one process at a time has the claim.
// If another process has it, the error is ErrLocked. The file of a killed process is no obstacle.
// release and End remove the file.
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
