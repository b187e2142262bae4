package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// widest limits the characters in a line of a page.
const widest = 160

var (
	marker = regexp.MustCompile(`^<!-- results: ([a-z0-9-]+)(, linked)? -->$`)
	blanks = regexp.MustCompile(` ?\| ?`)
	end    = "<!-- end -->"
)

// page is a page as it is, and as it should be.
type page struct{ path, is, want string }

// pages returns the pages that show results. A file that no page shows is an error, as is a marker without a file.
func (s *store) pages() (all []page, err error) {
	shown := map[string]bool{}
	for _, glob := range []string{"*.md", "docs/*.md", "docs/*/*.md", folder + "/*.md"} {
		paths, err := filepath.Glob(filepath.Join(s.root, glob))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			p := page{path: path, is: string(text)}
			if p.want, err = s.fill(p, shown); err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	for _, name := range s.names() {
		if s.results[name].Columns != nil && !shown[name] {
			return nil, fmt.Errorf("%s: no page shows it", s.path(name))
		}
	}
	return all, nil
}

// fill returns a page with the tables of its markers, and notes their names in shown.
func (s *store) fill(p page, shown map[string]bool) (string, error) {
	var lines []string
	inside := false
	for n, line := range strings.Split(p.is, "\n") {
		found := marker.FindStringSubmatch(line)
		begins := strings.HasPrefix(line, "<!-- results")
		if begins && (found == nil || inside) || line == end && !inside {
			return "", fmt.Errorf("%s:%d: %s is out of place", p.path, n+1, line)
		}
		if inside = inside && line != end; !inside {
			lines = append(lines, line)
		}
		if found == nil {
			continue
		}
		r := s.results[found[1]]
		if r == nil || r.Columns == nil {
			return "", fmt.Errorf("%s:%d: there is no table %s", p.path, n+1, s.path(found[1]))
		}
		up, err := filepath.Rel(filepath.Dir(p.path), s.path(found[1]))
		if err != nil {
			return "", err
		}
		lines = append(lines, r.show(filepath.ToSlash(up), found[2] != "")...)
		inside = true
		shown[found[1]] = true
	}
	if inside {
		return "", fmt.Errorf("%s: a table has no %s", p.path, end)
	}
	return strings.Join(lines, "\n"), nil
}

// show returns the lines of a page about a result: its table, if the page doesn't only link it, and its origin.
// up leads from the page to the result's file, which has commands that are too long for a line.
func (r *result) show(up string, linked bool) (lines []string) {
	date := r.Date
	if r.Until != "" {
		date += " to " + r.Until
	}
	origin := strings.TrimSuffix(fmt.Sprintf("%.8s, %s, %s", r.Commit, date, r.Machine), ", "+unknown)
	if linked {
		origin = fmt.Sprintf("[%s](%s), %d rows: %s", r.Title, up, len(r.Rows), origin)
	} else {
		lines = append(r.table(), "")
	}
	last := fmt.Sprintf("*%s: `%s`.*", origin, r.Command)
	switch long := utf8.RuneCountInString(last) > widest; {
	case r.Command == unknown, long && linked:
		last = fmt.Sprintf("*%s.*", origin)
	case long:
		last = fmt.Sprintf("*%s, [command](%s).*", origin, up)
	}
	return append(lines, last)
}

// table returns the lines of the Markdown table.
func (r *result) table() []string {
	rule := "|"
	for _, align := range r.Align {
		rule += map[rune]string{'l': "---|", 'r': "--:|"}[align]
	}
	var head []any
	for _, name := range r.Columns {
		head = append(head, name)
	}
	lines := []string{row(head), rule}
	for _, cells := range r.Rows {
		lines = append(lines, row(cells))
	}
	if r.Tight {
		for i, line := range lines {
			lines[i] = blanks.ReplaceAllString(line, "|")
		}
	}
	return lines
}

// row returns a line of a Markdown table. An empty cell has one blank.
func row(cells []any) string {
	text := "|"
	for _, cell := range cells {
		shown := strings.ReplaceAll(fmt.Sprint(cell), "|", `\|`)
		text += strings.TrimRight(" "+shown, " ") + " |"
	}
	return text
}

// differs returns the first line in which a page isn't what its files say.
func (p page) differs() error {
	is := strings.Split(p.is, "\n")
	for n, line := range strings.Split(p.want, "\n") {
		if n >= len(is) || line != is[n] {
			return fmt.Errorf("%s:%d: the results' files say %q; run go run ./results", p.path, n+1, line)
		}
	}
	if p.is != p.want {
		return fmt.Errorf("%s: the page goes on after the end that the results' files say", p.path)
	}
	return nil
}

// write makes a page what its files say.
func (p page) write() error {
	if p.is == p.want {
		return nil
	}
	return os.WriteFile(p.path, []byte(p.want), 0o644)
}
