package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// page is a document and what runs of it.
type page struct {
	path  string // from the repository's root
	lines []string
	parts []*part
}

// part is a command or a snippet, with the output that the page shows for it.
type part struct {
	kind     string // the language of the fence: "go", "python" or "r"; "commands" for a command
	line     int    // where the part begins, from 1
	text     string
	from, to int // the output is lines[from:to] of the page; both are 0 if the page shows none
}

// shown returns the output of a part as the page shows it. … stands for any text.
func (p *page) shown(of *part) string { return strings.Join(p.lines[of.from:of.to], "\n") }

// at names the line of a part.
func (p *page) at(of *part) string { return fmt.Sprintf("%s:%d", p.path, of.line) }

// readPage reads a document of the repository.
func readPage(root, path string) (*page, error) {
	raw, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, err
	}
	return parse(path, string(raw))
}

var (
	indented = regexp.MustCompile(`^(    |\t)`)
	begins   = regexp.MustCompile(`^(krigo|go run \./cmd/krigo|curl) `)
	pipes    = regexp.MustCompile(`^[a-z][^|#]* \| krigo `)
)

// parse finds the parts of a document: lines of code that begin with krigo, go run ./cmd/krigo or curl, or that pipe to
// krigo, and blocks fenced as go, python or r. A block fenced as text is the output of the nearest part above it.
func parse(path, text string) (*page, error) {
	p := &page{path: path, lines: strings.Split(text, "\n")}
	for i := 0; i < len(p.lines); i++ {
		name, fenced := strings.CutPrefix(p.lines[i], "```")
		if !fenced {
			if indented.MatchString(p.lines[i]) {
				i = p.command(i)
			}
			continue
		}
		end := i + 1
		for end < len(p.lines) && !strings.HasPrefix(p.lines[end], "```") {
			end++
		}
		switch name {
		case "text":
			if len(p.parts) == 0 || p.parts[len(p.parts)-1].to > 0 {
				return nil, fmt.Errorf("%s:%d: no command or snippet stands above this output", path, i+1)
			}
			last := p.parts[len(p.parts)-1]
			last.from = i + 1
			last.to = end
		case "go", "python", "r":
			code := strings.Join(p.lines[i+1:end], "\n") + "\n"
			p.parts = append(p.parts, &part{kind: name, line: i + 2, text: code})
		default:
			for i++; i < end; i++ {
				i = p.command(i)
			}
		}
		i = end
	}
	return p, nil
}

// command adds the command that begins in a line of code, if there is one. It returns the command's last line.
func (p *page) command(i int) int {
	first := i
	text := strings.TrimSpace(p.lines[i])
	for strings.HasSuffix(text, `\`) && i+1 < len(p.lines) {
		i++
		text = strings.TrimSuffix(text, `\`) + strings.TrimSpace(p.lines[i])
	}
	if begins.MatchString(text) || pipes.MatchString(text) {
		p.parts = append(p.parts, &part{kind: "commands", line: first + 1, text: plain(text)})
	}
	return i
}

// plain returns a command without shell comments, and with single spaces.
func plain(text string) string {
	for _, at := range regexp.MustCompile(`\s#`).FindAllStringIndex(text, -1) {
		if strings.Count(text[:at[0]], "'")%2 == 0 {
			text = text[:at[0]]
			break
		}
	}
	return strings.Join(strings.Fields(strings.Replace(text, "go run ./cmd/krigo", "krigo", 1)), " ")
}

// words splits a command as a shell does. It knows only the quoting that the documentation uses.
func words(text string) (all []string) {
	for _, w := range regexp.MustCompile(`('[^']*'|"[^"]*"|[^\s'"]+)+`).FindAllString(text, -1) {
		if w[0] != '\'' {
			w = strings.ReplaceAll(w, `"`, "")
		}
		all = append(all, strings.ReplaceAll(w, "'", ""))
	}
	return all
}
