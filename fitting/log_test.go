package fitting

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/must"
)

// declared returns the text of a declaration, and the SHA-256 of its rows.
func declared(target, rows, seed string) []byte {
	return fmt.Appendf(nil, `{"declaration": 1, "plan": {"options": {"data": {"target": %q}, "run": {"seed": %s}},
		"rows_sha256": %q}}`, target, seed, rows)
}

// priced returns what a model says of itself: its declaration, rows and target.
func priced(hash string) Logged { return Logged{Declaration: hash, Rows: "aa", Target: "price"} }

// logged writes a log of five declarations, and returns its path, its text and the head after each line.
func logged(t *testing.T) (path string, text []byte, heads []string) {
	path = filepath.Join(t.TempDir(), "log.jsonl")
	for i, d := range [][]byte{declared("price", "aa", "1"), declared("price", "aa", "2"), declared("price", "bb", "1"),
		declared("rent", "aa", "1"), declared("price", "aa", "2")} {
		line, head, err := AppendLog(path, d)
		must.Need(t, err == nil && line == i+1, "line %d, %v", line, err)
		heads = append(heads, head)
	}
	return path, must.Get(os.ReadFile(path))(t), heads
}

// TestFind: a log says where a declaration stands, up to any head that it had, and how many others it has.
func TestFind(t *testing.T) {
	_, text, heads := logged(t)
	lines := slices.Collect(bytes.Lines(text))
	for i, line := range lines {
		must.Be(t, SHA256(line), heads[i])
	}
	second := SHA256(declared("price", "aa", "2"))
	s := must.Get(Find(text, priced(second), ""))(t)
	must.Hold(t, s.Line == 2 && s.Lines == 5 && s.Head == heads[4] && s.Later == 0 && s.Others == 2 && s.OfRows == 1,
		"%+v", s)
	must.Hold(t, strings.Contains(s.Proves, "line 2 of 5") && strings.Contains(s.Proves, heads[4]), "%s", s.Proves)
	must.Hold(t, strings.Contains(s.Not, "2 other declarations of this target, 1 of them") &&
		strings.Contains(s.Not, "Z is what the clock of the machine told"), "%s", s.Not)
	s = must.Get(Find(text, priced(second), heads[2]))(t)
	must.Hold(t, s.Line == 2 && s.Lines == 3 && s.Head == heads[2] && s.Later == 2, "%+v", s)
	for _, c := range []struct {
		text                    []byte
		declaration, head, says string
	}{
		{text, SHA256(nil), "", "none of its 5 lines has the model's declaration (SHA-256: e3b0"},
		{text, "", "", "none of its 5 lines has the model's declaration (SHA-256: the model was fitted without one)"},
		{nil, second, "", "none of its 0 lines"},
		{text, second, heads[0], "stands at line 2, behind line 1"},
		{text, second, strings.Repeat("0", 64), "lines were removed"},
		// Only a head that was published shows that the last line is missing.
		{bytes.Join(lines[:4], nil), second, heads[4], "lines were removed"},
	} {
		must.Refuse(Find(c.text, priced(c.declaration), c.head))(t, c.says, c.says)
	}
}

// TestBrokenLog: a log with a line that was changed, removed, added, moved or cut is refused with the line's number, and
// nothing is added to it.
func TestBrokenLog(t *testing.T) {
	path, text, _ := logged(t)
	lines := strings.SplitAfter(string(text), "\n")[:5]
	with := func(edit func(lines []string) []string) string {
		return strings.Join(edit(slices.Clone(lines)), "")
	}
	change := func(i int, old, new string) string {
		return with(func(l []string) []string {
			must.Need(t, strings.Contains(l[i], old), "%s has no %s", l[i], old)
			l[i] = strings.Replace(l[i], old, new, 1)
			return l
		})
	}
	for says, broken := range map[string]string{
		"line 3 doesn't follow":   change(1, `"target":"price"`, `"target":"other"`),
		"line 4 doesn't follow":   with(func(l []string) []string { return slices.Delete(l, 3, 4) }),
		"line 5 doesn't follow":   change(3, `"target":"rent"`, `"target":"price"`),
		"line 1 doesn't follow":   with(func(l []string) []string { return l[1:] }),
		"line 2 doesn't follow":   with(func(l []string) []string { return slices.Insert(l, 1, l[0]) }),
		"line 3 isn't as this":    change(2, `"line":3`, `"line": 3`),
		"line 4 isn't as this":    change(3, `"told"`, `"reviewed":true,"told"`),
		"line 5 isn't as this":    strings.TrimSuffix(string(text), "\n"),
		"line 1 isn't as this":    change(0, `"declaration_log":1`, `"declaration_log":2`),
		"line 6 isn't as this":    string(text) + "\n",
		"it isn't a log of decla": "a,b\n1,2\n",
	} {
		must.Refuse(Find([]byte(broken), priced(SHA256(declared("price", "aa", "1"))), ""))(t, says, says)
		must.Do(t, os.WriteFile(path, []byte(broken), 0o644))
		_, _, err := AppendLog(path, declared("price", "aa", "3"))
		must.Fail(t, err, says, says)
		must.Be(t, string(must.Get(os.ReadFile(path))(t)), broken)
	}
}

// TestLogFaults: whichever file operation fails, the log is as it was or has the whole line, and takes the next line.
func TestLogFaults(t *testing.T) {
	for at, failed := 0, true; failed; at++ {
		path, text, _ := logged(t)
		failed = false
		n := 0
		name := ""
		end := disk.Inject(func(op disk.Op) (int, error) {
			if n++; n != at+1 {
				return 0, nil
			}
			failed = true
			name = op.Name
			return op.Bytes / 2, syscall.ENOSPC
		})
		_, _, err := AppendLog(path, declared("price", "aa", "3"))
		end()
		now := must.Get(os.ReadFile(path))(t)
		must.Hold(t, failed || err == nil, "%v", err)
		must.Hold(t, bytes.Equal(now, text) == (err != nil && name != "sync folder"), "%s: %s", name, now)
		_, _, err = AppendLog(path, declared("price", "aa", "4"))
		must.Do(t, err)
		must.Need(t, at < 30, "no end")
	}
}

// TestLogWriters: no line of several writers is lost, by whatever name they know the log.
func TestLogWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	_, _, err := AppendLog(path, declared("price", "aa", "1"))
	must.Do(t, err)
	link := path + ".link"
	if os.Symlink(path, link) != nil {
		link = path
	}
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			_, _, err := AppendLog([]string{path, link}[i%2], declared("price", "aa", fmt.Sprint(i)))
			must.Hold(t, err == nil, "writer %d: %v", i, err)
		})
	}
	writers.Wait()
	text := must.Get(os.ReadFile(path))(t)
	must.Be(t, must.Get(Find(text, priced(SHA256(declared("price", "aa", "7"))), ""))(t).Lines, 9)
	_, err = os.Stat(path + ".lock")
	must.Hold(t, os.IsNotExist(err), "the lock stays: %v", err)
	_, _, err = AppendLog(filepath.Join(path, "under", "a", "file"), nil)
	must.Hold(t, err != nil, "a log under a file")
	_, _, err = AppendLog(path, []byte("no JSON"))
	must.Hold(t, err != nil, "no declaration")
}
