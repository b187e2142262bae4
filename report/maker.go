package report

import (
	"context"
	"fmt"
	"html/template"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Figure is one drawing, or a pair, with what it says.
type Figure struct {
	Title   string
	Caption string
	SVG     template.HTML
	Pair    bool       // two drawings side by side
	Failed  string     // why there is no drawing; "" where there is one
	Head    []string   // of a table of the numbers that are drawn; nil: there is none
	Cells   [][]string // its rows
}

// section is a part of the page.
type section struct {
	ID, Title string
	Missing   string // what isn't there, and what to do about it
	Scores    []fact // a few numbers
	Facts     []fact
	Figures   []Figure
	Head      []string // of a table that is folded
	Cells     [][]string
	Folded    string // its title
}

type fact struct{ Name, Value string }

// content is what the page shows.
type content struct {
	Style      template.CSS
	Title      string
	NoBetter   string
	Sentence   string
	Context    string
	Standing   string // whether the certificate was recomputed or is as stored
	Valid      bool
	Conditions []string
	Warnings   []string
	Sections   []*section
}

// maker makes a report of a model.
type maker struct {
	ctx context.Context // with which the report ends
	m   *krigo.Model
	q   *posterior.Posterior // that was trained
	content
	target    string // its name
	columns   []column
	certified *pacbayes.Certificate // recomputed where it could be

	samples []*sample // rows with observations that the figures show; none without data
	real    rows      // that figures of the function stand on; none where nothing is known of any
	ranked  []importance
	by      string // what ranked them
	shares  bool   // of the variance, as the columns look independent
	order   []int  // columns, the most important first
	middle  int    // the row of real that slices go through
	instead bool   // real are the posterior's rows, though others were given

	evidence *krigo.EvidenceBounds // nil where there are none
}

func (r *maker) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// begin begins a section.
func (r *maker) begin(id, title string) *section {
	s := &section{ID: id, Title: title}
	r.Sections = append(r.Sections, s)
	return s
}

// add adds a figure to the section that was begun last.
func (r *maker) add(f Figure) {
	s := r.Sections[len(r.Sections)-1]
	s.Figures = append(s.Figures, f)
}

// guard draws a figure, or says in its place why it can't be drawn: a page without one figure is worth more than no
// page.
func (r *maker) guard(title string, draw func() error) {
	if err := caught(draw); err != nil {
		r.add(Figure{Title: title, Failed: err.Error()})
	}
}

// caught has a panic as an error: what draws the figures may panic at numbers that it doesn't expect.
func caught(f func() error) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case matrix.End: // of the whole report
			panic(cause)
		default:
			err = fmt.Errorf("drawing it failed (%v)", cause)
		}
	}()
	return f()
}

// described is a chart with what it shows in words.
type described struct {
	*drawing.Chart
	words string
}

// draw adds a figure of charts.
func (r *maker) draw(f Figure, charts ...described) error {
	var all strings.Builder
	for _, c := range charts {
		svg, err := c.SVG(c.words)
		if err != nil {
			return err
		}
		all.WriteString(svg)
	}
	f.SVG, f.Pair = template.HTML(all.String()), len(charts) > 1
	r.add(f)
	return nil
}

// table is a table of the page.
type table struct {
	Name  string
	Head  []string
	Cells [][]string
}

// Table is that of the section.
func (s *section) Table() table { return table{s.Folded, s.Head, s.Cells} }

// Table is that of the figure's numbers.
func (f Figure) Table() table { return table{"The numbers of: " + f.Title, f.Head, f.Cells} }
