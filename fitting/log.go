package fitting

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/memory"
)

// Logged is a line of a log of declarations, which is JSON.
// Each line has the SHA-256 of the line before, so that the SHA-256 of the last line, the log's
// head, fixes all lines. If the head is published, its readers can date what the log declares.
type Logged struct {
	Log  int `json:"declaration_log"` // logVersion
	Line int `json:"line"`            // 1 for the first line
	// Told is what the clock of the machine said that wrote the line. Nobody vouches for the clock.
	Told        time.Time `json:"told"`
	Declaration string    `json:"declaration_sha256"`
	Rows        string    `json:"rows_sha256"` // of the declaration's plan
	Target      string    `json:"target"`
	Previous    string    `json:"previous_sha256"` // of the line before, with its newline, or ""
}

const logVersion = 1

// chain is a log whose chain is unbroken.
type chain struct {
	lines []Logged
	heads []string // the SHA-256 of each line
}

// SHA256 returns the hash of a declaration's bytes, or of a line of a log, in hexadecimal digits.
func SHA256(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// head returns the SHA-256 of the last line, or "" if the log is empty.
func (c *chain) head() string { return lists.At(c.heads, len(c.heads)-1, "") }

// parseLog reads the text of a log. It refuses a log with a broken chain, and names the line.
func parseLog(text []byte) (*chain, error) {
	c := new(chain)
	for line := range bytes.Lines(text) {
		var e Logged
		number := len(c.lines) + 1
		err := json.Unmarshal(line, &e)
		switch {
		case err != nil || !bytes.Equal(e.text(), line) || e.Log != logVersion:
			return nil, fmt.Errorf("line %d isn't as this krigo writes it: the log was changed or "+
				"cut, a newer krigo wrote it, or it isn't a log of declarations", number)
		case e.Line != number || e.Previous != c.head():
			return nil, fmt.Errorf("line %d doesn't follow the line before it: one of the two was "+
				"changed, or a line was removed, added or moved", number)
		}
		c.lines = append(c.lines, e)
		c.heads = append(c.heads, SHA256(line))
	}
	return c, nil
}

// text returns the bytes of a line.
func (e Logged) text() []byte {
	line, _ := json.Marshal(e) // fails for no time that a machine tells
	return append(line, '\n')
}

// logTimes is how many times its size a log may take in memory.
const logTimes = 8

// patience is how long AppendLog waits for other writers.
const patience = 10 * time.Second

// AppendLog adds a declaration to the log in a file, and returns the number of its line and the
// log's head. It creates a file that doesn't exist. If it fails, or if the process is killed, the
// file stays as it was. Of several processes that write, each waits for the one before it.
func AppendLog(path string, declaration []byte) (line int, head string, err error) {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file // one file has one lock, by whatever name it is written
	}
	release, err := disk.Claim(path + ".lock")
	for since := time.Now(); errors.Is(err, disk.ErrLocked) && time.Since(since) < patience; {
		time.Sleep(patience / 1000)
		release, err = disk.Claim(path + ".lock")
	}
	if err != nil {
		return 0, "", fmt.Errorf("%s.lock: %w", path, err)
	}
	defer release()
	text, err := memory.ReadFile(path, logTimes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, "", err
	}
	c, err := parseLog(text)
	if err != nil {
		return 0, "", fmt.Errorf("%s: %w", path, err)
	}
	// The plan says which declarations are of the same rows.
	var says struct {
		Plan struct {
			Rows    string `json:"rows_sha256"`
			Options struct {
				Data struct{ Target string }
			}
		}
	}
	if err := json.Unmarshal(declaration, &says); err != nil {
		return 0, "", err
	}
	e := Logged{Log: logVersion, Line: len(c.lines) + 1,
		Told: time.Now().UTC().Truncate(time.Second), Declaration: SHA256(declaration),
		Rows: says.Plan.Rows, Target: says.Plan.Options.Data.Target, Previous: c.head()}
	return e.Line, SHA256(e.text()), disk.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(text, e.text()...))
		return err
	})
}

// Standing says where a declaration stands in a log, and what that proves.
type Standing struct {
	Declaration string    `json:"declaration_sha256"`
	Line        int       `json:"line"`
	Lines       int       `json:"lines"`       // lines up to the head
	Head        string    `json:"head_sha256"` // the log's head, or an earlier head that was given
	Later       int       `json:"later_lines"` // lines after the given head
	Told        time.Time `json:"told"`
	// Others is the number of other declarations of the same target in the whole log.
	// OfRows of them are of the same rows and columns.
	Others int    `json:"others"`
	OfRows int    `json:"others_of_rows"`
	Proves string `json:"proves"`
	Not    string `json:"doesnt_prove"`
}

// Find returns where the declaration of a line stands in a log, up to the line whose SHA-256 is head.
// The head "" is that of the last line.
func Find(log []byte, of Logged, head string) (*Standing, error) {
	c, err := parseLog(log)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(c.lines, func(e Logged) bool { return e.Declaration == of.Declaration })
	last := slices.Index(c.heads, cmp.Or(head, c.head()))
	switch {
	case at < 0:
		return nil, fmt.Errorf("none of its %d lines has the model's declaration (SHA-256: %s)",
			len(c.lines), cmp.Or(of.Declaration, "the model was fitted without one"))
	case last < 0:
		return nil, fmt.Errorf("none of its %d lines has the SHA-256 %.70q: lines were removed, "+
			"or this is the head of another log", len(c.lines), head)
	case last < at:
		return nil, fmt.Errorf("the declaration stands at line %d, behind line %d, which has "+
			"this head: the head says nothing about it", at+1, last+1)
	}
	s := &Standing{Declaration: of.Declaration, Line: at + 1, Lines: last + 1, Head: c.heads[last],
		Later: len(c.lines) - last - 1, Told: c.lines[at].Told}
	seen := map[string]bool{of.Declaration: true}
	for _, other := range c.lines {
		if other.Target != of.Target || seen[other.Declaration] {
			continue
		}
		seen[other.Declaration] = true
		s.Others++
		if other.Rows == of.Rows {
			s.OfRows++
		}
	}
	s.Proves = fmt.Sprintf("this declaration stands at line %d of %d in an unbroken chain whose "+
		"head is %s. So whoever published this head at a time knows that the declaration existed "+
		"before it. An unpublished head proves nothing, because whoever has the log can write it "+
		"anew", s.Line, s.Lines, s.Head)
	s.Not = fmt.Sprintf("when the declaration was written (%s is what the clock of the machine "+
		"told), that no other declaration was made elsewhere, that nobody had seen the rows "+
		"before, or that the model is the declared one (--declaration FILE shows this). The log "+
		"has %d other declarations of this target, %d of them of the same rows and columns",
		s.Told.Format(time.RFC3339), s.Others, s.OfRows)
	return s, nil
}
