// Command site makes a static site from README and docs: go -C tools run ./site --out DIR. Pages stand on the shelves
// of docs/README.md. A search finds their sections, also if the folder is opened without a server. A link or an anchor
// that leads nowhere is an error.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"log"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var layout string

//go:embed style.css
var style string

//go:embed search.js
var search string

// home holds the pages above the shelves. docs/README.md has the shelves, in the order in which they are best read.
var home = []entry{{From: "README.md", Label: "krigo"}, {From: "docs/README.md", Label: "The manual"}}

// shelf is a heading of the manual with its pages.
type shelf struct {
	Name  string
	Pages []entry
}

// entry is a page on a shelf: its text in the repository, its name in lists, and, once it is read, the page.
type entry struct {
	From, Label string
	*page
}

// source is the address of files that aren't pages of the site.
const source = "https://github.com/krigo-gp/krigo/blob/main/"

// page is a document and the web page that is made from it.
type page struct {
	From, File, Title string
	Sections          []*section
	Body              template.HTML

	anchors map[string]bool
	links   []string // links to pages, as FILE#ANCHOR
}

// section is a heading with the text below it, up to the next heading.
type section struct {
	Title, Anchor string
	Level         int
	text          strings.Builder
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "folder to write the site to")
	root := flag.String("root", "..", "the repository")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		log.Fatal("usage: go -C tools run ./site --out DIR")
	}
	if err := build(*root, *out); err != nil {
		log.Fatal("site: ", err)
	}
}

// build writes the site of the repository root into the folder out.
func build(root, out string) error {
	shelves, err := listed(root)
	if err != nil {
		return err
	}
	files := map[string]string{} // the page's file name for each source
	for _, s := range shelves {
		for _, e := range s.Pages {
			files[e.From] = strings.ToLower(strings.TrimSuffix(path.Base(e.From), ".md")) + ".html"
			switch e.From {
			case "README.md":
				files[e.From] = "index.html"
			case "verify/README.md":
				files[e.From] = "verify.html"
			case "docs/README.md":
				files[e.From] = "manual.html"
			}
		}
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	if err != nil {
		return err
	}
	for _, d := range documents {
		if from, err := filepath.Rel(root, d); err != nil || files[filepath.ToSlash(from)] == "" {
			return fmt.Errorf("%s isn't on a shelf: list it in docs/README.md", d)
		}
	}
	var pages []*page
	pictures := map[string]bool{}
	for _, s := range shelves {
		for i := range s.Pages {
			e := &s.Pages[i]
			if e.page, err = read(root, e.From, files, pictures); err != nil {
				return err
			}
			pages = append(pages, e.page)
		}
	}
	if err := connected(pages); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(out, "images"), 0o755); err != nil {
		return err
	}
	for picture := range pictures {
		raw, err := os.ReadFile(filepath.Join(root, picture))
		if err == nil {
			err = os.WriteFile(filepath.Join(out, "images", filepath.Base(picture)), raw, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(write(out, shelves, pages), index(out, shelves))
}

// listed returns the shelves of docs/README.md: a shelf for each heading, with the pages that the lists link to.
func listed(root string) ([]shelf, error) {
	written, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		return nil, err
	}
	shelves := []shelf{{Pages: slices.Clone(home)}}
	for line := range strings.Lines(string(written)) {
		if name, is := strings.CutPrefix(line, "## "); is {
			shelves = append(shelves, shelf{Name: strings.TrimSpace(name)})
		}
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		s := &shelves[len(shelves)-1]
		for _, m := range regexp.MustCompile(`\[([^\]]+)\]\(([^)]+\.md)\)`).FindAllStringSubmatch(line, -1) {
			label := []byte(strings.ReplaceAll(m[1], "`", ""))
			if 'a' <= label[0] && label[0] <= 'z' {
				label[0] -= 'a' - 'A'
			}
			s.Pages = append(s.Pages, entry{From: path.Join("docs", m[2]), Label: string(label)})
		}
	}
	return shelves, nil
}

// read reads a document and converts it to HTML. It adds the pictures that the document shows to pictures.
func read(root, from string, files map[string]string, pictures map[string]bool) (*page, error) {
	written, err := os.ReadFile(filepath.Join(root, from))
	if err != nil {
		return nil, err
	}
	p := &page{From: from, File: files[from], anchors: map[string]bool{}}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	tree := markdown.Parser().Parse(text.NewReader(written),
		parser.WithContext(parser.NewContext(parser.WithIDs(&names{p.anchors}))))
	var comments []ast.Node
	err = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		p.collect(n, written)
		switch n := n.(type) {
		case *ast.Heading:
			title, id := said(n, written), ""
			if n.Level == 1 {
				p.Title = title
			} else if value, ok := n.AttributeString("id"); ok {
				id = string(value.([]byte))
			}
			p.Sections = append(p.Sections, &section{Title: title, Anchor: id, Level: n.Level})
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			to, err := p.link(string(n.Destination), root, files)
			if err != nil {
				return ast.WalkStop, err
			}
			if picture, ok := strings.CutPrefix(to, "images/"); ok {
				pictures["docs/images/"+picture] = true
			}
			n.Destination = []byte(to)
		case *ast.Image:
			picture := path.Join(path.Dir(from), string(n.Destination))
			pictures[picture] = true
			n.Destination = []byte("images/" + path.Base(picture))
		case *ast.HTMLBlock:
			if n.HTMLBlockType == ast.HTMLBlockType2 { // a comment, such as the markers of tables of results
				comments = append(comments, n)
				return ast.WalkContinue, nil
			}
			return ast.WalkStop, fmt.Errorf("the text contains HTML, which the site would leave out")
		case *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("the text contains HTML, which the site would leave out")
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	for _, n := range comments {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	if p.Title == "" {
		return nil, fmt.Errorf("%s has no title: begin it with # Title", from)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, written, tree); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	body := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`, "<img ", `<img loading="lazy" `).Replace(b.String())
	body = regexp.MustCompile(`<(h[2-6]) id="([^"]+)">(.*?)</h`).ReplaceAllString(body,
		`<$1 id="$2"><a class="anchor" href="#$2">$3</a></h`)
	p.Body = template.HTML(body)
	return p, nil
}

// collect adds what a node says to the section in which it stands.
func (p *page) collect(n ast.Node, written []byte) {
	if len(p.Sections) == 0 {
		return
	}
	to := &p.Sections[len(p.Sections)-1].text
	switch n := n.(type) {
	case *ast.Text:
		to.Write(n.Segment.Value(written))
		if n.SoftLineBreak() {
			to.WriteByte(' ')
		}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
			to.WriteByte(' ')
			to.Write(line.Value(written))
		}
	default:
		if n.Type() == ast.TypeBlock {
			to.WriteByte(' ')
		}
	}
}

// index writes the script of the search, and the text of all sections as a script, which a page opened without a server
// can load.
func index(out string, shelves []shelf) error {
	type found struct {
		File, Shelf, Page, Title, Text string
	}
	var all []found
	for _, s := range shelves {
		for _, e := range s.Pages {
			for _, at := range e.Sections {
				file := e.File
				if at.Anchor != "" {
					file += "#" + at.Anchor
				}
				all = append(all, found{file, s.Name, e.Label, at.Title, strings.Join(strings.Fields(at.text.String()), " ")})
			}
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(out, "search.js"), []byte(search), 0o644),
		os.WriteFile(filepath.Join(out, "sections.js"), slices.Concat([]byte("const sections = "), raw, []byte(";\n")), 0o644))
}

// link returns the address in the site for a link in a document.
func (p *page) link(to, root string, files map[string]string) (string, error) {
	u, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	if u.Scheme != "" {
		return to, nil
	}
	if u.Path == "" {
		p.links = append(p.links, p.File+to)
		return to, nil
	}
	at := path.Join(path.Dir(p.From), u.Path)
	if file, ok := files[at]; ok {
		if u.Fragment != "" {
			file += "#" + u.Fragment
		}
		p.links = append(p.links, file)
		return file, nil
	}
	if _, err := os.Stat(filepath.Join(root, at)); err != nil {
		return "", fmt.Errorf("the link to %s leads nowhere", to)
	}
	if path.Dir(at) != "docs/images" {
		return source + at, nil
	}
	return "images/" + path.Base(at), nil
}

// connected returns an error for the first link within the site that leads nowhere.
func connected(pages []*page) error {
	for _, p := range pages {
		for _, l := range p.links {
			file, anchor, found := strings.Cut(l, "#")
			i := slices.IndexFunc(pages, func(q *page) bool { return q.File == file })
			if i < 0 || found && !pages[i].anchors[anchor] {
				return fmt.Errorf("%s: the link to %s leads nowhere", p.From, l)
			}
		}
	}
	return nil
}

// write writes the pages, each with all shelves.
func write(out string, shelves []shelf, pages []*page) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	for i, p := range pages {
		data := struct {
			*page
			Style          template.CSS
			Shelves        []shelf
			Previous, Next *page
		}{page: p, Style: template.CSS(style), Shelves: shelves}
		if i > 0 {
			data.Previous = pages[i-1]
		}
		if i+1 < len(pages) {
			data.Next = pages[i+1]
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, p.File), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// said returns the text of a heading.
func said(n ast.Node, written []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(written))
		} else {
			b.WriteString(said(c, written))
		}
	}
	return b.String()
}

// names makes anchors as GitHub makes them, so that links work both there and on the site.
type names struct{ taken map[string]bool }

func (n *names) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(string(value)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	name := b.String()
	for i := 1; n.taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", b.String(), i)
	}
	n.taken[name] = true
	return []byte(name)
}

func (n *names) Put(value []byte) { n.taken[string(value)] = true }
