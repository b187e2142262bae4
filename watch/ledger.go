package watch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/krigo-gp/krigo/model"
)

// Ledger is a file of outcomes, a line of JSON for each batch of rows that came together, of one model or of several. Lines are only ever added, and are on disk before
// anyone is told that they are. A line that was cut short, as a machine that stops may leave one, was never acknowledged, and is taken off. One process at a time writes it.
//
// Several goroutines may use a ledger at once.
type Ledger struct {
	// Repaired is the number of bytes at the end that were no whole line.
	Repaired int64

	path    string
	mu      sync.Mutex
	file    *os.File                       // nil: to be read alone
	size    int64                          // of its whole lines
	broken  error                          // why nothing more can be written
	watches map[string]weak.Pointer[Watch] // by their models' checksums, while anyone has them
}

// entry is a line of a ledger.
type entry struct {
	Format  int       `json:"ledger"` // 1
	Model   string    `json:"model"`  // its checksum
	At      time.Time `json:"at"`
	Losses  []float64 `json:"losses"`            // of the rows, in their order
	Hashes  []string  `json:"rows"`              // of their content, in hex
	Outside int       `json:"outside,omitempty"` // rows with an input outside the model's range
	Seen    int       `json:"seen,omitempty"`    // rows that the model was made from
}

// WriteError says why outcomes couldn't be written: they aren't counted.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("the ledger %s can't be written: %v", e.Path, e.Err)
}
func (e *WriteError) Unwrap() error { return e.Err }

// format is that of the lines, and of how evidence follows from them.
const format = 1

// Open opens a ledger to be written, which it makes if there is none, and takes off what isn't a whole line.
func Open(path string) (*Ledger, error) {
	_, absent := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("the ledger can't be opened: %w", err)
	}
	l := &Ledger{path: path, file: f, watches: map[string]weak.Pointer[Watch]{}}
	if err = lock(f); err == nil {
		err = l.repair()
	}
	if err == nil && errors.Is(absent, fs.ErrNotExist) {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the ledger %s: %w", path, err)
	}
	return l, nil
}

// Read opens a ledger to be read alone, also while another process writes it.
func Read(path string) (*Ledger, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the ledger can't be read: %w", err)
	}
	return &Ledger{path: path, size: info.Size(), broken: errors.New("it was opened to be read"), watches: map[string]weak.Pointer[Watch]{}}, nil
}

// Close gives the file back.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	l.broken = errors.New("it is closed")
	err := l.file.Close()
	l.file = nil
	return err
}

// syncFolder makes sure that a new file is found again.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // whose folders can't be asked
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// repair finds the end of the last whole line, and takes off what follows.
func (l *Ledger) repair() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it isn't a file")
	}
	end := info.Size()
	for block := make([]byte, 1<<16); end > 0; {
		n := min(end, int64(len(block)))
		if _, err := l.file.ReadAt(block[:n], end-n); err != nil {
			return err
		}
		if i := bytes.LastIndexByte(block[:n], '\n'); i >= 0 {
			end += int64(i) + 1 - n
			break
		}
		end -= n
	}
	l.size, l.Repaired = end, info.Size()-end
	if l.Repaired == 0 {
		return nil
	}
	// That it is a ledger must be sure before anything is taken off.
	if err := l.each(func(entry) {}); err != nil {
		return err
	}
	if end == 0 && !l.begun() {
		return errors.New("it isn't a ledger")
	}
	if err := l.file.Truncate(end); err != nil {
		return err
	}
	return l.file.Sync()
}

// begun says whether a file without a whole line begins as a line does.
func (l *Ledger) begun() bool {
	const first = `{"ledger":`
	start := make([]byte, len(first))
	n, _ := l.file.ReadAt(start, 0)
	return string(start[:n]) == first[:n]
}

// each goes through the lines.
func (l *Ledger) each(do func(entry)) error {
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.LimitReader(f, l.size), 1<<16)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF { // of a line that is being written nothing is known yet
			return nil
		}
		if err != nil {
			return err
		}
		var e entry
		switch err := json.Unmarshal(line, &e); {
		case err != nil:
			return fmt.Errorf("line %d isn't one of a ledger (%w): the file was altered, or is another; name another with --ledger", number, err)
		case e.Format != format:
			return fmt.Errorf("line %d is of format %d, this krigo knows %d: use a newer krigo", number, e.Format, format)
		case len(e.Hashes) != len(e.Losses) || e.Model == "":
			return fmt.Errorf("line %d doesn't have a hash for each of its %d rows, or names no model: the file was altered", number, len(e.Losses))
		}
		for _, loss := range e.Losses {
			if !(0 <= loss && loss <= 1) {
				return fmt.Errorf("line %d: a loss of %v isn't between 0 and 1: the file was altered", number, loss)
			}
		}
		do(e)
	}
}

// append adds a line: when it returns without an error the line is on disk, and else it isn't in the ledger.
func (l *Ledger) append(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return &WriteError{l.path, l.broken}
	}
	_, err = l.file.WriteAt(append(line, '\n'), l.size)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		// What of it has reached the disk isn't known. It mustn't be taken for a line, nor may one follow it, if it can't be taken off.
		if undo := errors.Join(l.file.Truncate(l.size), l.file.Sync()); undo != nil {
			l.broken = fmt.Errorf("an earlier outcome wasn't written: %w", err)
		}
		return &WriteError{l.path, err}
	}
	l.size += int64(len(line)) + 1
	return nil
}

// Watch returns that of a model, as the outcomes in the ledger leave it: always the same one for models of one file's content.
func (l *Ledger) Watch(m *model.Model) (*Watch, error) {
	if err := Watchable(m); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.watches[m.Checksum()].Value(); w != nil {
		return w, nil
	}
	w := newWatch(m, l)
	err := l.each(func(e entry) {
		if e.Model == m.Checksum() {
			w.add(e)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the ledger %s: %w", l.path, err)
	}
	w.tell()
	l.watches[m.Checksum()] = weak.Make(w)
	return w, nil
}
