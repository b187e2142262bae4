package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// take puts a table of Markdown text, counted from 1, into a result's file, with the commit, today's date and this
// machine. A file's title, command and measures stay. A program that isn't committed has no name, and is an error.
func (s *store) take(name string, number int, in io.Reader) error {
	table, err := nth(number, in)
	if err != nil {
		return err
	}
	changed, err := s.git("status", "--porcelain", "-uno", "--", ".", ":!docs", ":!"+folder)
	if err != nil || changed != "" {
		return errors.Join(err, fmt.Errorf("commit what was run; these files differ from the commit:\n%s", changed))
	}
	r := s.results[name]
	if r == nil {
		r = &result{Title: name, Command: unknown, Measures: []string{"default"}}
	}
	if r.Commit, err = s.git("rev-parse", "--short=8", "HEAD"); err != nil {
		return err
	}
	r.Date = time.Now().UTC().Format(time.DateOnly)
	r.Until = ""
	r.Machine = machine()
	r.Defaults = s.measures["default"].Version
	if len(r.Columns) != len(table[0]) {
		r.Align = strings.Repeat("l", len(table[0]))
	}
	r.Columns = table[0]
	r.Rows = nil
	for _, cells := range table[1:] {
		var row []any
		for _, cell := range cells {
			row = append(row, cell)
		}
		r.Rows = append(r.Rows, row)
	}
	if err := r.sound(s.measures); err != nil {
		return err
	}
	return s.write(name, r)
}

// nth returns the head and the rows of a table in Markdown text, without the rule between them.
func nth(number int, in io.Reader) (table [][]string, err error) {
	lines := bufio.NewScanner(in)
	before := ""
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		begins := strings.HasPrefix(line, "|") && !strings.HasPrefix(before, "|")
		before = line
		if begins {
			number--
		}
		if number != 0 || !strings.HasPrefix(line, "|") || strings.Trim(line, "|-: ") == "" {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|")
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
		}
		table = append(table, cells)
	}
	if table == nil {
		return nil, errors.Join(lines.Err(), errors.New("standard input doesn't have this table"))
	}
	return table, lines.Err()
}

// machine names the processor, the instruction set and the number of cores.
func machine() string {
	model := runtime.GOARCH
	info, _ := os.ReadFile("/proc/cpuinfo") // other systems don't have it
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%s, %v, %d cores", model, linalg.Level, runtime.NumCPU())
}

// git returns what a command of git prints.
func (s *store) git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", s.root}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}
