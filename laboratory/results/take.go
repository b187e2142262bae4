package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// take puts a table of Markdown text, counted from 1, into a result's file, with the commit, today's date and this
// machine. A file's title, command and measures stay. A program that isn't committed has no name, and is an error.
func (s *store) take(name string, number int, in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	tables := regexp.MustCompile(`(?m)(?:^\|.*\n?)+`).FindAllString(string(text), -1)
	if number < 1 || number > len(tables) {
		return fmt.Errorf("standard input has %d tables", len(tables))
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
	align := r.Align
	r.Columns, r.Rows, r.Align = nil, nil, ""
	for line := range strings.Lines(tables[number-1]) {
		if strings.Trim(line, "|-: \n") == "" {
			continue
		}
		var row []any
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		for _, cell := range cells[1 : len(cells)-1] {
			row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
		}
		r.Rows = append(r.Rows, row)
	}
	for _, name := range r.Rows[0] {
		r.Columns = append(r.Columns, fmt.Sprint(name))
		r.Align += "l"
	}
	r.Rows = r.Rows[1:]
	if len(align) == len(r.Align) {
		r.Align = align
	}
	if err := r.sound(s.measures); err != nil {
		return err
	}
	return s.write(name, r)
}

// machine names the processor, the instruction set and the number of cores.
func machine() string {
	model := runtime.GOARCH
	info, _ := os.ReadFile("/proc/cpuinfo") // other systems don't have it
	if found := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(info); found != nil {
		model = string(found[1])
	}
	return fmt.Sprintf("%s, %v, %d cores", model, linalg.Level, runtime.NumCPU())
}

// git returns what a command of git prints.
func (s *store) git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", s.root}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}
