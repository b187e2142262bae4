// Command site makes a static site from README and docs: go -C tools run ./site --out DIR. Pages are in the order in
// which they are best read. A link or an anchor that leads nowhere is an error.
package main

import (
	"bytes"
	_ "embed"
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

// chapters holds the pages of each chapter, by the path of their text in the repository.
var chapters = []struct {
	Name  string
	Pages []string
}{
	{"Begin", []string{"README.md", "docs/README.md"}},
	{"Learn", []string{"docs/learn/start.md", "docs/learn/tutorial.md", "docs/learn/gallery.md"}},
	{"How-to", []string{"docs/how-to/install.md", "docs/how-to/data.md", "docs/how-to/groups.md", "docs/how-to/time.md",
		"docs/how-to/space.md", "docs/how-to/promise.md", "docs/how-to/intervals.md", "docs/how-to/model.md",
		"docs/how-to/other-model.md", "docs/how-to/check.md", "docs/how-to/python.md", "docs/how-to/r.md",
		"docs/how-to/go.md", "docs/how-to/production.md", "docs/how-to/large.md", "docs/how-to/cluster.md",
		"docs/how-to/resume.md", "docs/how-to/cost.md", "docs/how-to/faq.md"}},
	{"Reference", []string{"docs/reference/command-line.md", "docs/reference/settings.md", "docs/reference/json.md",
		"docs/reference/tables.md", "docs/reference/http.md",
		"docs/reference/pipe.md", "docs/reference/format.md", "docs/reference/glossary.md"}},
	{"Theory", []string{"docs/theory/certificate.md", "docs/theory/method.md", "docs/theory/training.md", "docs/theory/proof.md",
		"verify/README.md"}},
	{"Behind", []string{"docs/behind/architecture.md", "docs/behind/reliability.md", "docs/behind/benchmark.md",
		"docs/behind/performance.md", "docs/behind/ranks.md", "docs/behind/reproduce.md", "CONTRIBUTING.md",
		"SECURITY.md", "CHANGELOG.md"}},
}

// source is the address of files that aren't pages of the site.
const source = "https://github.com/krigo-gp/krigo/blob/main/"

// page is one document and the page made from it.
type page struct {
	From, File, Title string
	Sections          []section
	Body              template.HTML

	anchors map[string]bool
	links   []string // links to pages, as FILE#ANCHOR
}

type section struct{ Title, Anchor string }

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
	var pages []*page
	files := map[string]string{} // the page's file name for each source
	for _, chapter := range chapters {
		for _, from := range chapter.Pages {
			files[from] = strings.ToLower(strings.TrimSuffix(path.Base(from), ".md")) + ".html"
			switch from {
			case "README.md":
				files[from] = "index.html"
			case "verify/README.md":
				files[from] = "verify.html"
			case "docs/README.md":
				files[from] = "manual.html"
			}
		}
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	if err != nil {
		return err
	}
	for _, d := range documents {
		if from, err := filepath.Rel(root, d); err != nil || files[filepath.ToSlash(from)] == "" {
			return fmt.Errorf("%s isn't in a chapter: add it to chapters in tools/site/main.go", d)
		}
	}
	pictures := map[string]bool{}
	for _, chapter := range chapters {
		for _, from := range chapter.Pages {
			p, err := read(root, from, files, pictures)
			if err != nil {
				return err
			}
			pages = append(pages, p)
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
	return write(out, pages)
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
	err = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := said(n, written)
			if n.Level == 1 {
				p.Title = title
			} else if id, ok := n.AttributeString("id"); ok && n.Level == 2 {
				p.Sections = append(p.Sections, section{title, string(id.([]byte))})
			}
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
		case *ast.HTMLBlock, *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("the text contains HTML, which the site would leave out")
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
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

func write(out string, pages []*page) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	type entry struct {
		*page
		Here bool
	}
	type chapter struct {
		Name  string
		Pages []entry
	}
	for i, p := range pages {
		data := struct {
			*page
			Style          template.CSS
			Chapters       []chapter
			Previous, Next *page
		}{page: p, Style: template.CSS(style)}
		for _, c := range chapters {
			shown := chapter{Name: c.Name}
			for _, q := range pages {
				if slices.Contains(c.Pages, q.From) {
					shown.Pages = append(shown.Pages, entry{q, q == p})
				}
			}
			data.Chapters = append(data.Chapters, shown)
		}
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
