package main

import (
	"encoding/json"
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
// machine. A program that isn't committed has no name, and is an error.
func (s *store) take(name string, number int, in io.Reader) error {
	printed, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	tables := regexp.MustCompile(`(?m)(?:^\|.*\n?)+`).FindAllString(string(printed), -1)
	if number < 1 || number > len(tables) {
		return fmt.Errorf("standard input has %d tables", len(tables))
	}
	changed, err := s.git("status", "--porcelain", "-uno", "--", ".", ":!docs", ":!"+folder)
	if err != nil || changed != "" {
		return errors.Join(err, fmt.Errorf("commit what was run; these files differ from the commit:\n%s", changed))
	}
	commit, err := s.git("rev-parse", "--short=8", "HEAD")
	if err != nil {
		return err
	}
	old, err := os.ReadFile(s.path(name))
	if err != nil {
		return err
	}
	var rows [][]string
	for line := range strings.Lines(tables[number-1]) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
		}
		rows = append(rows, cells[1:len(cells)-1])
	}
	text, _, _ := strings.Cut(string(old), `"rows": [`)
	text = regexp.MustCompile(`(?m)^ *"until": .*\n`).ReplaceAllString(text, "")
	for key, value := range map[string]any{"commit": commit, "date": time.Now().UTC().Format(time.DateOnly),
		"machine": machine(), "defaults": s.measures["default"].Version, "columns": rows[0]} {
		line := regexp.MustCompile(fmt.Sprintf(`(?m)^ *%q: .*$`, key))
		text = line.ReplaceAllLiteralString(text, fmt.Sprintf("  %q: %s,", key, encode(value)))
	}
	var lines []string
	for _, row := range rows[min(2, len(rows)):] { // below the rule
		lines = append(lines, "    "+encode(row))
	}
	text += "\"rows\": [\n" + strings.Join(lines, ",\n") + "\n  ]\n}\n"
	return os.WriteFile(s.path(name), []byte(text), 0o644)
}

// encode returns JSON in which <, > and & stand as they are.
func encode(value any) string {
	text := &strings.Builder{}
	out := json.NewEncoder(text)
	out.SetEscapeHTML(false)
	if err := out.Encode(value); err != nil {
		panic(err) // strings and numbers always encode
	}
	return strings.TrimSuffix(text.String(), "\n")
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
