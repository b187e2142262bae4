package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/cpu"
)

// recorder runs pages, and checks or rewrites the outputs that they show.
type recorder struct {
	root, shelf, krigo string
	check              bool // compare, and write nothing
	all                bool // check slow commands, too
	pictures           bool
	kinds              []string            // the kinds of parts that run
	interpreters       map[string][]string // of Python and R
	packages           map[string]string   // of Go, by name
	env                []string
	places             int // by how many units numbers may differ in their last place
	slow               slowness
	log                io.Writer
	faults             []string
}

// recordedAt is the instruction set that recordings are made with. On it krigo prints the same digits on all
// processors. On others the last digits may differ.
const recordedAt = "avx2"

// level sets the instruction set that the commands use: recordedAt if the processor has it and no other is named.
func (r *recorder) level() {
	name := os.Getenv(cpu.EnvVar)
	if name == "" && slices.Contains(cpu.Available(), cpu.AVX2) {
		name = recordedAt
		r.env = append(r.env, cpu.EnvVar+"="+name)
	}
	if name != recordedAt {
		r.places = 1
	}
}

// fault notes what is wrong at a place.
func (r *recorder) fault(at, format string, args ...any) {
	text := at + ": " + fmt.Sprintf(format, args...)
	r.faults = append(r.faults, text)
	fmt.Fprintln(r.log, text)
}

// page runs the parts of a page in a folder of their own.
func (r *recorder) page(path string) error {
	page, err := readPage(r.root, path)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.CopyFS(folder, os.DirFS(r.shelf)); err != nil {
		return err
	}
	at := &place{krigo: r.krigo, folder: folder, env: r.env}
	outputs := map[*part]string{}
	left := false // a slow command was left out
	for _, p := range page.parts {
		if p.kind == "commands" && !r.all && r.check {
			if r.slow.has(page, p) && !(path == "README.md" && p.to > 0) || left && at.lacks(p.text) {
				left = true
				continue
			}
		}
		if !slices.Contains(r.kinds, p.kind) || unrun[firstLine(p.text)] != "" {
			continue
		}
		at.spent = 0
		out, done := outputs[p]
		if !done {
			out, err = r.part(at, page, p, outputs)
		}
		if err != nil {
			r.fault(page.at(p), "%s\n%v", strings.TrimSpace(p.text), err)
			continue
		}
		outputs[p] = out
		fmt.Fprintf(r.log, "%s: %.1f CPU s: %s\n", page.at(p), at.spent.Seconds(), firstLine(p.text))
		if !r.check && p.kind == "commands" {
			r.slow.note(page, p, at.spent)
		}
	}
	if err := at.stop(); err != nil {
		r.fault(path, "%v", err)
	}
	for _, found := range regexp.MustCompile(`!\[[^\]]*\]\(([^ )]+)`).FindAllStringSubmatch(strings.Join(page.lines, "\n"), -1) {
		if _, err := os.Stat(filepath.Join(r.root, filepath.Dir(path), found[1])); err != nil {
			r.fault(path, "a picture is missing: %v", err)
		}
	}
	if r.pictures {
		if err := hang(page, folder, r.root); err != nil {
			r.fault(path, "%v", err)
		}
	}
	return r.settle(page, outputs)
}

// part runs a command or a snippet. A page's snippets of Python or R run together, so that outputs gets all of them.
func (r *recorder) part(at *place, page *page, p *part, outputs map[*part]string) (string, error) {
	switch p.kind {
	case "commands":
		return at.command(p.text)
	case "go":
		return at.golang(r.root, p.text, r.packages)
	}
	var same []*part
	for _, o := range page.parts {
		if o.kind == p.kind && unrun[firstLine(o.text)] == "" {
			same = append(same, o)
		}
	}
	printed, err := at.script(r.interpreters[p.kind], p.kind, same)
	for _, o := range same {
		outputs[o] = printed[o]
	}
	return printed[p], err
}

// settle compares outputs with what a page shows, or rewrites the page.
func (r *recorder) settle(page *page, outputs map[*part]string) error {
	for _, p := range slices.Backward(page.parts) {
		out, ran := outputs[p]
		if !ran || p.to == 0 {
			continue
		}
		shown := page.shown(p)
		if r.check {
			if err := compare(shown, out, r.places); err != nil {
				r.fault(page.at(p), "%s\n%v\nthe page shows\n%s\nit prints\n%s", strings.TrimSpace(p.text), err, shown, out)
			}
			continue
		}
		block, lost, err := rewrite(shown, out)
		if err != nil {
			r.fault(page.at(p), "choose by hand what the page shows (%v). It prints\n%s", err, out)
			continue
		}
		for _, line := range lost {
			r.fault(page.at(p), "look at the new output. No line of it is like\n%s", line)
		}
		page.lines = slices.Replace(page.lines, p.from, p.to, strings.Split(block, "\n")...)
	}
	if r.check {
		return nil
	}
	return os.WriteFile(filepath.Join(r.root, page.path), []byte(strings.Join(page.lines, "\n")), 0o644)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// lacks says whether a command needs a server or a model that isn't there.
func (p *place) lacks(command string) bool {
	if strings.HasPrefix(command, "curl ") {
		return p.server == nil
	}
	args := words(command)
	for i, word := range args {
		if strings.HasSuffix(word, ".krigo") && args[i-1] != "--out" {
			if _, err := os.Stat(filepath.Join(p.folder, word)); err != nil {
				return true
			}
		}
	}
	return false
}

// slowness holds the commands that took more than most CPU time when they were recorded: lines of a page, a time and a
// command.
type slowness struct {
	path  string
	lines []string
}

// most is the CPU time of a command that is checked by default.
const most = 10 * time.Second

func readSlowness(path string) (slowness, error) {
	raw, err := os.ReadFile(path)
	if len(strings.TrimSpace(string(raw))) == 0 { // no command is slow
		return slowness{path: path}, err
	}
	return slowness{path, strings.Split(strings.TrimSpace(string(raw)), "\n")}, err
}

func (s *slowness) index(page *page, p *part) int {
	return slices.IndexFunc(s.lines, func(line string) bool {
		return strings.HasPrefix(line, page.path+" ") && strings.HasSuffix(line, " s: "+p.text)
	})
}

func (s *slowness) has(page *page, p *part) bool { return s.index(page, p) >= 0 }

// note notes the time of a command.
func (s *slowness) note(page *page, p *part, spent time.Duration) {
	if at := s.index(page, p); at >= 0 {
		s.lines = slices.Delete(s.lines, at, at+1)
	}
	if spent > most {
		s.lines = append(s.lines, fmt.Sprintf("%s %.0f s: %s", page.path, math.Ceil(spent.Seconds()), p.text))
	}
}

func (s *slowness) write() error {
	slices.Sort(s.lines)
	return os.WriteFile(s.path, []byte(strings.TrimSpace(strings.Join(s.lines, "\n"))+"\n"), 0o644)
}
