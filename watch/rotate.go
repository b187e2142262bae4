package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/internal/disk"
)

// Rotate replaces the ledger at path by a new ledger, as [Ledger.Rotate] does.
// The new ledger has the state of c. If another process writes the ledger, that process rotates it,
// with the states of all models that it watches.
// Rotate asks for this with a file beside the ledger, and waits.
func Rotate(ctx context.Context, path string, c Claim) (archive string, err error) {
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("there is no ledger to rotate: %w", err)
	}
	l, err := Open(path)
	if errors.Is(err, errBusy) {
		archive, err = ask(ctx, path)
		// or the writer had just rotated it, as another process had asked
		if errors.Is(err, errUnrotated) {
			return ask(ctx, path)
		}
		return archive, err
	}
	if err != nil {
		return "", err
	}
	defer l.Close()
	w, err := l.WatchClaim(c)
	if err != nil {
		return "", err
	}
	defer runtime.KeepAlive(w)
	return l.Rotate()
}

// Rotate copies the ledger to a file beside it whose name ends in the next free number, and
// replaces the ledger by a new ledger. The new ledger has a line with the state of each model that
// is watched, and the lines of all other models as they are. Outcomes that come meanwhile wait.
// If a Rotate is killed at any moment, the file is the old ledger or the new ledger.
func (l *Ledger) Rotate() (archive string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if runtime.GOOS == "windows" {
		return "", errors.New("a ledger can't be rotated on Windows, where an open file can't be " +
			"replaced")
	}
	if err := cmp.Or(j.broken, j.stands(j.size)); err != nil {
		return "", &WriteError{j.path, err}
	}
	whole := func(do func(e entry, line []byte) error) error {
		return lines(io.NewSectionReader(j.file, 0, j.size), j.size, do)
	}
	// computed from the lines, since a live watch may be a line behind
	states := map[string]*Watch{}
	for checksum, w := range l.watches {
		if w := w.Value(); w != nil {
			states[checksum] = newWatch(w.claim, l)
		}
	}
	kept := 0 // states that earlier rotations carried over, of models that nobody watches now
	if err := whole(func(e entry, _ []byte) error {
		if w := states[e.Model]; w != nil {
			return w.add(e)
		}
		if e.Carried != nil {
			kept++
		}
		return nil
	}); err != nil {
		return "", fmt.Errorf("the ledger %s: %w", j.path, err)
	}
	// The archive is whole and on disk before the ledger is replaced.
	archive = nextArchive(j.path)
	if err := disk.Write(archive, func(to io.Writer) error {
		return whole(func(_ entry, line []byte) error { _, err := to.Write(line); return err })
	}); err != nil {
		return "", err
	}
	// A watch without outcomes has no state to carry over.
	carry := slices.Sorted(maps.Keys(states))
	carry = slices.DeleteFunc(carry, func(checksum string) bool {
		return states[checksum].counts.Rows == 0 && len(states[checksum].keys) == 0
	})
	next, err := disk.Replace(j.path, func(to io.Writer) error {
		for _, checksum := range carry {
			e := entry{Format: carriedFormat, Model: checksum,
				At:      time.Now().UTC().Truncate(time.Millisecond),
				Carried: states[checksum].carried(), Lines: len(carry) + kept}
			if err := json.NewEncoder(to).Encode(e); err != nil {
				return err
			}
		}
		return whole(func(e entry, line []byte) error {
			if states[e.Model] != nil {
				return nil
			}
			_, err := to.Write(line)
			return err
		})
	})
	// The old ledger is still in place, so the archive would be a second copy of it.
	if err != nil && j.stands(j.size) == nil {
		return "", errors.Join(err, os.Remove(archive))
	}
	is, failed := next.OS().Stat()
	if failed != nil {
		j.broken = fmt.Errorf("it couldn't be rotated: %w", cmp.Or(err, failed))
		return archive, j.broken
	}
	j.file.Close() // the archive has all of it
	j.file = &next
	j.is = is
	j.size = is.Size()
	return archive, err
}

// nextArchive returns the first numbered name that no file beside the ledger has.
func nextArchive(path string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.%d", path, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// asking returns the path of a file that asks the process that writes the ledger to rotate it.
func asking(path string) string { return path + ".rotate" }

// Rotations rotates the ledger whenever another process asks for it, until ctx ends.
// It calls told with the result of each rotation.
func (l *Ledger) Rotations(ctx context.Context, told func(archive string, err error)) {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := os.Lstat(asking(l.path)); err != nil {
			continue
		}
		archive, err := l.Rotate()
		gone := os.Remove(asking(l.path)) // last, since the process that asked waits for this
		told(archive, errors.Join(err, gone))
		if gone != nil {
			return // else it would rotate again and again
		}
	}
}

// looks is how often the writer of a ledger looks for a request, and patience is how long the
// asking process waits.
const (
	looks    = 500 * time.Millisecond
	patience = time.Minute
)

// errUnrotated says that the writer of a ledger answered a request to rotate without an archive.
var errUnrotated = errors.New("couldn't rotate it")

// ask asks the process that writes a ledger to rotate it, and waits until this is done.
func ask(ctx context.Context, path string) (archive string, err error) {
	archive = nextArchive(path)
	if err := disk.Write(asking(path), func(io.Writer) error { return nil }); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return "", errors.Join(fmt.Errorf("the process that writes %s doesn't rotate it: %w",
				path, ctx.Err()), os.Remove(asking(path)))
		case <-time.After(looks / 5):
		}
		if _, err := os.Lstat(asking(path)); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(archive); err != nil {
				return "", fmt.Errorf("the process that writes %s %w; it says why in its log", path,
					errUnrotated)
			}
			return archive, nil
		}
	}
}
