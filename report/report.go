// Package report draws a model as one HTML page that needs nothing else: its certificate in
// words, how it predicts, what its function looks like, and how it was trained.
package report

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
)

//go:embed report.html
var page string

//go:embed style.css
var style string

var pageTemplate = template.Must(template.New("report").Parse(page))

// Write writes the report of a model, with figures of its predictions on a table's rows
// unless that is nil: on those it has not seen, if there are any.
func Write(ctx context.Context, w io.Writer, m *krigo.Model, table *dataset.Table) (err error) {
	defer matrix.Ended(&err)
	r, err := made(ctx, m, table)
	if err == nil {
		err = r.ctx.Err() // what it ended isn't for a page to say
	}
	if err != nil {
		return err
	}
	return pageTemplate.Execute(w, r.content)
}

func made(ctx context.Context, m *krigo.Model, table *dataset.Table) (*maker, error) {
	r := &maker{ctx: ctx, m: m, q: m.Trained(), target: cautious.Name(m.Target), columns: columnsOf(m)}
	r.Style = template.CSS(style + drawing.Style)
	r.Title = fmt.Sprintf("%s from %s", r.target, count(len(r.columns), "column"))
	r.certificate(m.Certificate, "As the model file has it, not recomputed: krigo certify does that, or a report with "+
		"the data that it was made from.")
	r.warnOfCertificate()
	var d *dataset.Data
	if table != nil {
		var err error
		if d, err = m.Labelled(table.Within(ctx)); err != nil {
			return nil, err
		}
		if err := r.recertify(d, table); err != nil {
			return nil, err
		}
		if r.real, err = referenceOf(d); err != nil {
			return nil, err
		}
		if r.evidence, err = m.BoundEvidence(d); err != nil {
			r.warn("How much evidence the inducing inputs leave open can't be said: %v.", err)
		}
	}
	unranked := r.settle()
	against := r.order[:min(mostAgainst, len(r.order))]
	if d != nil {
		if err := r.choose(d, against); err != nil {
			return nil, err
		}
	}
	r.predictions(table == nil, against)
	if c := r.certified; c != nil {
		title := "What is certified"
		if m.Terms.Backtest {
			title = "What the backtest counts"
		} else if !r.Valid {
			title = "The heuristic bound"
		}
		r.begin("certificate", title).Facts = r.bound()
		r.guard("Every width at once", r.drawWidths)
		r.guard("Kinds of rows", r.drawKinds)
	}
	s := r.begin("function", "What the function looks like")
	if r.real.n() == 0 {
		s.Missing = "The model holds no rows, and none were given: importance and slices need some. Name a table: krigo " +
			"report MODEL DATA."
	} else {
		switch {
		case table == nil:
			s.Missing = "No data were given: these figures stand on " + r.real.what + "."
		case r.instead:
			s.Missing = "The rows given are too few, or too far away: these figures stand on " + r.real.what + "."
		}
		r.guard("Importance", func() error { return r.drawImportance(unranked) })
		r.drawSlices()
		r.guard("The two most important columns", r.drawSurface)
	}
	s = r.begin("training", "How it was trained")
	s.Facts, s.Head, s.Cells, s.Folded = r.facts(), []string{"hyperparameter", "in scaled units", "in its own"},
		r.hyperparameters(), "Hyperparameters"
	r.guard("Training", r.drawCurves)
	if r.real.n() > 0 {
		r.guard("Inducing inputs", r.drawInducing)
	}
	for _, text := range m.Findings.Words() {
		r.warn("%s.", strings.TrimSuffix(upper(text), "."))
	}
	return r, nil
}

// supported takes the rows that the posterior holds for real ones.
func (r *maker) supported() {
	n, d := r.q.Support.Rows, len(r.m.Inputs)
	r.real = rows{what: "the rows that the model was learnt from, which it holds", d: d}
	if r.q.Inducing() > 0 {
		r.real.what = inducing
	}
	chosen := spread(max(1, min(mostReference, mostNumbers/d)), n)
	if len(chosen) < n {
		r.real.what = fmt.Sprintf("%s of %s", whole(len(chosen)), r.real.what)
	}
	for _, i := range chosen {
		row := r.support(i)
		for _, c := range r.columns {
			if c.categories != nil { // 0 and 1 but for rounding, or where inducing inputs went
				c.set(row, c.value(row))
			}
		}
		r.real.x = append(r.real.x, row...)
	}
}

// leastReference are the rows below which figures of the function stand on those of the posterior, where these are
// more.
const leastReference = 20

// settle ranks the columns and finds the row that slices go through; where they can't be ranked they stay in their
// order.
func (r *maker) settle() error {
	if few := r.real.n() < leastReference; few || caught(func() error { _, err := r.means(r.real.x); return err }) != nil {
		if given := r.real; r.q.Support.Rows > given.n() || !few {
			r.supported()
			r.instead = given.n() > 0
		}
	}
	if r.real.n() == 0 {
		r.order = linalg.UpTo(len(r.columns))
		return errors.New("there are no rows")
	}
	r.middle = medoid(r.real, r.columns, r.m.Scaling.InputScale)
	err := caught(r.rank)
	if len(r.order) == 0 {
		r.order = linalg.UpTo(len(r.columns))
	}
	return err
}

// predictions is the section of rows with observations.
func (r *maker) predictions(without bool, against []int) {
	s := r.begin("predictions", "Predictions against observations")
	s.Scores = r.scores()
	if without {
		s.Missing = "No data were given: what is predicted beside what was observed, residuals and calibration need rows. " +
			"Name a table: krigo report MODEL DATA."
	}
	for i, of := range r.samples {
		title := predicted
		if i > 0 {
			title += ": " + of.of
		}
		r.guard(title, func() error { return r.drawPredicted(title, of) })
	}
	if of := r.main(); of != nil {
		r.guard("Calibration", func() error { return r.drawCalibration(of) })
		r.drawResiduals(of, against)
	}
}

const predicted = "Predicted and observed"

// recertify computes the certificate anew where the data are those that the model was made from, and
// refuses a model that isn't what they make it.
func (r *maker) recertify(d *dataset.Data, table *dataset.Table) error {
	own, err := r.m.MadeFrom(d)
	if err != nil || !own || r.m.Certificate == nil {
		return err
	}
	again, err := r.m.Certify(r.ctx, table, krigo.CertifyOptions{})
	if err != nil {
		return err
	}
	if again.Differs != "" {
		return fmt.Errorf("the model isn't what its data make it: %s; don't rely on it", again.Differs)
	}
	r.certificate(again.Certificate, fmt.Sprintf("Recomputed from model and data (%s) for this page.", d.Source))
	return nil
}

// certificate says what a certificate promises, and where it comes from.
func (r *maker) certificate(c *pacbayes.Certificate, standing string) {
	if r.certified = c; c == nil {
		r.Sentence = "No certificate: " + r.m.CertificateReason + "."
		return
	}
	r.Sentence, r.Standing, r.Valid, r.Conditions = r.m.Sentence(c), standing, c.Valid, c.Conditions
	r.NoBetter, r.Context = r.m.NoBetter(), r.m.InContext()
}

func (r *maker) warnOfCertificate() {
	switch c := r.m.Certificate; {
	case c == nil, r.m.Terms.Backtest: // the first sentence says what it is
	case !c.Valid:
		r.warn("The bound is heuristic, not a certificate: %s.", c.Label)
	case cautious.RoundUp(c.MeanBound, 3) >= 1:
		r.warn("The bound on predictions is 1: it promises nothing. More rows, a wider ε or fewer kernel parameters lower " +
			"it.")
	}
}
