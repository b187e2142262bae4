package watch

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/krigo-gp/krigo/internal/disk"
)

// journal is the file of a ledger. One process at a time adds lines of JSON, and never changes a
// line.
type journal struct {
	// Repaired is the number of bytes that opened removed after the last whole line.
	Repaired int64

	path   string
	mu     sync.Mutex
	file   *disk.File // nil: the journal can only be read
	is     os.FileInfo
	size   int64 // bytes of its whole lines
	broken error // why nothing more can be written
	fresh  bool  // opened made the file
}

// entry is a line of a ledger.
type entry struct {
	Format  int       `json:"ledger"` // format, or carriedFormat
	Model   string    `json:"model"`  // checksum of the model
	At      time.Time `json:"at"`
	Losses  []float64 `json:"losses"`            // losses of the rows, in the rows' order
	Hashes  []string  `json:"rows"`              // hashes of the rows' content, in hex
	Of      []string  `json:"of,omitempty"`      // the rows' kinds, if the claim has kinds of rows
	Key     string    `json:"key,omitempty"`     // the key that was given with the rows
	Outside int       `json:"outside,omitempty"` // rows outside the model's range
	Seen    int       `json:"seen,omitempty"`    // rows that the model was made from
	// totals of the model's earlier lines; such a line has no rows
	Carried *carried `json:"carried,omitempty"`
	// with Carried: number of such lines in the ledger then; older lines have 0
	Lines int `json:"lines,omitempty"`
}

// WriteError says why outcomes couldn't be written. They aren't counted.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("the ledger %s can't be written: %v", e.Path, e.Err)
}
func (e *WriteError) Unwrap() error { return e.Err }

// KeyError says that the ledger holds other rows under a key.
type KeyError struct{ Key string }

func (e *KeyError) Error() string {
	return fmt.Sprintf("the ledger holds other rows, or these rows in another order, under the "+
		"key %q: give them another key", e.Key)
}

// format is the version of the lines, and of the way in which evidence follows from the lines.
// Lines that carry a state over have another number, so that no older krigo takes them for
// outcomes.
const (
	format        = 1
	carriedFormat = 2
	carriedStart  = `{"ledger":2,` // a line of carriedFormat begins like this
)

// opened opens a file for writing, or creates it, and removes an incomplete last line.
func opened(path string) (*journal, error) {
	_, absent := os.Stat(path)
	f, err := disk.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("the ledger can't be opened: %w", err)
	}
	j := &journal{path: path, file: &f, fresh: errors.Is(absent, fs.ErrNotExist)}
	// The lock keeps all other processes out, on systems where files can be locked.
	if j.is, err = f.Stat(); err == nil {
		err = disk.Lock(f)
	}
	if now, gone := os.Stat(path); err == nil && gone == nil && !os.SameFile(now, j.is) {
		f.Close() // another process has rotated the ledger meanwhile, and holds the new one
		return opened(path)
	}
	if err == nil {
		err = j.repair()
	} else if errors.Is(err, disk.ErrLocked) {
		err = errBusy
	}
	if err == nil && errors.Is(absent, fs.ErrNotExist) {
		err = disk.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the ledger %s: %w", path, err)
	}
	return j, nil
}

// read opens a file for reading only.
func read(path string) (*journal, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the ledger can't be read: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		_, err = wholeLines(path, f, info.Size(), false)
	}
	if err != nil {
		return nil, fmt.Errorf("the ledger %s: %w", path, err)
	}
	return &journal{path: path, size: info.Size(),
		broken: errors.New("it was opened for reading only")}, nil
}

// Close closes the file.
func (j *journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	j.broken = errors.New("it is closed")
	err := j.file.Close()
	j.file = nil
	return err
}

// errBusy says that another process has the ledger open for writing.
var errBusy = errors.New("another process writes it: watch there, or stop that process first")

// wholeLines returns where the last whole line of a ledger ends.
// An incomplete line behind it is an outcome that nobody was told of.
// But a rotation writes a ledger whole, so if the state that it carried over is cut, the file was
// damaged, and its alarms would be forgotten. That is an error, unless the file is fresh.
func wholeLines(path string, f io.ReaderAt, size int64, fresh bool) (end int64, err error) {
	end = size
	for block := make([]byte, 1<<16); end > 0; {
		n := min(end, int64(len(block)))
		if _, err := f.ReadAt(block[:n], end-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(block[:n], '\n'); i >= 0 {
			end += int64(i) + 1 - n
			break
		}
		end -= n
	}
	start := make([]byte, min(size-end, int64(len(carriedStart))))
	if _, err := f.ReadAt(start, end); err != nil && err != io.EOF {
		return 0, err
	}
	archive := lastArchive(path)
	if string(start) == carriedStart || (end == 0 && archive != "" && !fresh) {
		return 0, fmt.Errorf("it lacks what the last rotation carried over: the file was cut: "+
			"restore it from a copy. Without a copy, put the archive that the rotation made (%s) "+
			"in its place, and give the outcomes since then again. To begin a new ledger, remove "+
			"this file", cmp.Or(archive, path+".N"))
	}
	return end, nil
}

// lastArchive returns the archive with the highest number beside the ledger, or "".
// Some archives may have been moved away. A file that doesn't begin like a ledger is no archive.
func lastArchive(path string) (last string) {
	names, err := filepath.Glob(quoted(path) + ".[0-9]*")
	if err != nil {
		return ""
	}
	highest := 0
	for _, name := range names {
		n, err := strconv.Atoi(strings.TrimPrefix(name, path+"."))
		if err == nil && n > highest && beginsLikeLedger(name) {
			highest = n
			last = name
		}
	}
	return last
}

// quoted returns a pattern that matches the path alone.
func quoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// lineStart is how every line of a ledger begins.
const lineStart = `{"ledger":`

// beginsLikeLedger says whether a file can be read and begins as every ledger does, so that krigo
// never adds to or replaces another file.
func beginsLikeLedger(path string) bool {
	f, err := disk.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(lineStart))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == lineStart
}

// repair finds the end of the last whole line, and removes what follows.
func (j *journal) repair() error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it isn't a file")
	}
	end, err := wholeLines(j.path, j.file, info.Size(), j.fresh)
	if err != nil {
		return err
	}
	j.size = end
	j.Repaired = info.Size() - end
	if j.Repaired == 0 {
		return nil
	}
	// repair first makes sure that the file is a ledger.
	if err := j.each(func(entry) error { return nil }); err != nil {
		return err
	}
	start := make([]byte, len(lineStart))
	if n, _ := j.file.ReadAt(start, 0); end == 0 && string(start[:n]) != lineStart[:n] {
		return errors.New("it isn't a ledger")
	}
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	return j.file.Sync()
}

// each calls do for every line.
func (j *journal) each(do func(entry) error) error {
	j.mu.Lock()
	f, err := disk.Open(j.path)
	size := j.size
	j.mu.Unlock()
	if err != nil {
		return err
	}
	defer f.Close()
	return lines(f, size, func(e entry, _ []byte) error { return do(e) })
}

// lines calls do for every line in the first size bytes of a file.
func lines(f io.Reader, size int64, do func(e entry, line []byte) error) error {
	in := bufio.NewReaderSize(io.LimitReader(f, size), 1<<16)
	lost := 0 // lines that the last rotation wrote, and that haven't been read yet
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && lost > 0 {
			return fmt.Errorf("%d lines that the last rotation carried over are missing: the "+
				"file was cut: restore it from a copy", lost)
		}
		if err == io.EOF { // a line that is still being written doesn't count
			return nil
		}
		if err != nil {
			return err
		}
		var e entry
		switch err := json.Unmarshal(line, &e); {
		case err != nil:
			return fmt.Errorf("line %d isn't a ledger's line (%w): the file was altered, or is "+
				"no ledger; name another file with --ledger", number, err)
		// Two versions are known: lines of outcomes, and lines that carry a state over and have no
		// outcomes.
		case e.Format != format && !(e.Format == carriedFormat && e.Carried != nil &&
			len(e.Losses) == 0):
			return fmt.Errorf("line %d has format %d, but this krigo knows format %d: use a "+
				"newer krigo", number, e.Format, format)
		case len(e.Hashes) != len(e.Losses) || e.Model == "":
			return fmt.Errorf("line %d doesn't have a hash for each of its %d rows, or names no "+
				"model: the file was altered", number, len(e.Losses))
		}
		for _, loss := range e.Losses {
			if !(0 <= loss && loss <= 1) {
				return fmt.Errorf("line %d: a loss of %v isn't between 0 and 1: the file was "+
					"altered", number, loss)
			}
		}
		// The first line after a rotation says how many lines carry states over. If the file has
		// fewer, a part of the state is lost, and with it perhaps an alarm.
		if e.Lines > 0 && number == 1 {
			lost = e.Lines
		}
		if e.Carried != nil && lost > 0 {
			lost--
		}
		if err := do(e, line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

// stands returns an error unless the file at the path is the one that the journal writes, with size
// bytes. If somebody removed, moved, cut or wrote the file, a line that is added might be lost.
func (j *journal) stands(size int64) error {
	now, err := os.Stat(j.path)
	switch {
	case err != nil:
		return fmt.Errorf("it isn't where it was: put it back, or start again (%w)", err)
	case !os.SameFile(now, j.is):
		return errors.New("another file is in its place: put the ledger back, or start again; to " +
			"begin a new ledger, use krigo watch --rotate")
	case now.Size() != size:
		return fmt.Errorf("it has %d bytes, but it had %d: something else writes or cuts it; "+
			"start again", now.Size(), size)
	}
	return nil
}

// append adds a line. Without an error the line is on disk.
// With an error the line isn't in the ledger.
func (j *journal) append(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return &WriteError{j.path, j.broken}
	}
	if err := j.stands(j.size); err != nil {
		return &WriteError{j.path, err}
	}
	_, err = j.file.WriteAt(append(line, '\n'), j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		err = j.stands(j.size + int64(len(line)) + 1)
	}
	if err != nil {
		// Nobody knows which part of the line has reached the disk.
		// If this part can't be removed, no line may follow it, and it mustn't be taken for a line.
		if undo := errors.Join(j.file.Truncate(j.size), j.file.Sync()); undo != nil {
			j.broken = fmt.Errorf("an earlier outcome wasn't written: %w", err)
		}
		return &WriteError{j.path, err}
	}
	j.size += int64(len(line)) + 1
	return nil
}
