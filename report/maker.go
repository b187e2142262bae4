package report

import (
	"context"
	"fmt"
	"html/template"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Figure is a drawing, or a pair of drawings, with its texts.
type Figure struct {
	Title   string
	Caption string
	SVG     template.HTML
	Pair    bool       // two drawings stand side by side
	Failed  string     // why there is no drawing; "" if there is one
	Head    []string   // headings of the table of the drawn numbers; nil if there is no such table
	Cells   [][]string // the rows of that table
}

// section is a part of the page.
type section struct {
	ID, Title string
	Missing   string // what the section lacks, and what to do about it
	Note      string // what is true of all figures in the section
	Facts     []fact
	Figures   []Figure
	Tables    []table
	Notices   []string // findings that need no action
	Foot      []fact   // where the page comes from
}

// fact is a line of a section: a name and what it has.
type fact struct{ Name, Value string }

// table is a table of the page.
type table struct {
	Name   string
	Head   []string
	Cells  [][]string
	Says   string // the caption of the table
	Folded bool   // a click shows it
}

// content is what the page shows.
type content struct {
	Style      template.CSS
	Title      string
	NoBetter   string
	Sentence   string
	Words      string   // all of the promise, if Sentence is only its headline; else ""
	Promise    []Figure // the picture of the promise, if it has a curve
	Scores     table    // errors of the model and of the baselines
	AllRows    string   // how many rows trained the model; "" if that isn't of use
	Standing   string   // whether the certificate was recomputed for this page
	Valid      bool
	Conditions []string
	Warnings   []string
	Sections   []*section
	Belief     string // what the model says without a guarantee
}

// maker makes a report of a model.
type maker struct {
	ctx  context.Context // ends the report
	m    *krigo.Model
	q    *posterior.Posterior // the posterior that was trained
	data *dataset.Data        // the rows that were given; nil: no rows
	content
	target    string // the target's name
	columns   []column
	certified *pacbayes.Certificate // recomputed if the data allow that
	// of the certified rows, recomputed if the data allow that; may be nil
	context *model.Context

	samples []*sample // rows with observations, for figures; empty without data
	real    rows      // the rows at which the function is drawn; empty if no rows are known
	ranked  []importance
	by      string // the method that ranked the columns
	shares  bool   // importances are shares of the variance, since the columns look independent
	order   []int  // columns, the most important first
	middle  int    // the row of real that slices go through
	instead bool   // real holds the posterior's rows, although others were given

	evidence *krigo.EvidenceBounds // nil if they weren't computed
}

// warn adds a warning to the top of the page.
func (r *maker) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// begin begins a section.
func (r *maker) begin(id, title string) *section {
	s := &section{ID: id, Title: title}
	r.Sections = append(r.Sections, s)
	return s
}

// last returns the section that was begun last.
func (r *maker) last() *section { return r.Sections[len(r.Sections)-1] }

// add adds a figure to the last section.
func (r *maker) add(f Figure) { r.last().Figures = append(r.last().Figures, f) }

// guard draws a figure. If drawing fails, the figure's place says why, and the page has its other
// figures.
func (r *maker) guard(title string, draw func() error) {
	if err := caught(draw); err != nil {
		r.add(Figure{Title: title, Failed: err.Error()})
	}
}

// caught returns a panic of f as an error, because drawing may panic at numbers that it doesn't
// expect.
func caught(f func() error) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case matrix.End: // it ends the whole report
			panic(cause)
		default:
			err = fmt.Errorf("drawing it failed (%v)", cause)
		}
	}()
	return f()
}

// described is a chart with a description of what it shows.
type described struct {
	*drawing.Chart
	words string
}

// draw adds a figure that consists of charts.
func (r *maker) draw(f Figure, charts ...described) error {
	var all strings.Builder
	for _, c := range charts {
		svg, err := c.SVG(c.words)
		if err != nil {
			return err
		}
		all.WriteString(svg)
	}
	f.SVG = template.HTML(all.String())
	f.Pair = len(charts) > 1
	r.add(f)
	return nil
}

// Table returns the table of the figure's numbers.
func (f Figure) Table() table {
	return table{Name: "The numbers of: " + f.Title, Head: f.Head, Cells: f.Cells}
}
