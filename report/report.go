// Package report writes one HTML page about a model, which needs no other file:
// the certificate in words, how well the model predicts, what its function looks like, and how it
// was trained.
//
// This program fits a model and writes its report to report.html:
//
//	package main
//
//	import (
//		"context"
//		"log"
//		"os"
//
//		"github.com/krigo-gp/krigo"
//		"github.com/krigo-gp/krigo/data"
//		"github.com/krigo-gp/krigo/report"
//	)
//
//	func main() {
//		ctx, table := context.Background(), data.Snelson()
//		m, err := krigo.Fit(ctx, table, krigo.Options{Data: krigo.Data{Target: "y"}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		page, err := os.Create("report.html")
//		if err != nil {
//			log.Fatal(err)
//		}
//		if err := report.Write(ctx, page, m, table); err != nil {
//			log.Fatal(err)
//		}
//		if err := page.Close(); err != nil {
//			log.Fatal(err)
//		}
//	}
package report

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

//go:embed report.html
var page string

//go:embed style.css
var style string

var pageTemplate = template.Must(
	template.New("report").Funcs(template.FuncMap{"flags": flags}).Parse(page))

// flags returns a text as HTML in which no line breaks within a flag, such as --epsilon.
func flags(text string) template.HTML {
	return template.HTML(flag.ReplaceAllString(html.EscapeString(text),
		`<span class="flag">$0</span>`))
}

var flag = regexp.MustCompile(`\B--[a-z][a-z-]*`)

// Write writes the report of a model. With a table the report has figures of predictions, on rows
// that the model hasn't seen if the table has any. The table may be nil.
func Write(ctx context.Context, w io.Writer, m *krigo.Model, table *dataset.Table) error {
	return Page{Model: m, Data: table}.Write(ctx, w)
}

// Page is a report to write.
type Page struct {
	Model   *krigo.Model
	Labels  *krigo.CertifiedLabels // a certificate of labels, instead of a model
	Data    *dataset.Table         // rows to predict; nil: no rows
	Version string                 // version of the program that writes the page; "": not shown
	Command string                 // the command that makes the page again; "": not shown
}

// Write writes the page as one HTML document to w. The foot of the page's first part names
// p.Version and p.Command. If ctx ends, Write returns its error and writes nothing.
func (p Page) Write(ctx context.Context, w io.Writer) (err error) {
	defer matrix.Ended(&err)
	r, err := p.made(ctx)
	if err == nil {
		err = r.ctx.Err() // ctx has ended, so there is no page
	}
	if err != nil {
		return err
	}
	return pageTemplate.Execute(w, r.content)
}

// made computes everything that the page shows. Labels have a page of their own, and so have models
// of more than two classes. A figure that can't be drawn is left out with its reason, while an
// error of the data ends the page.
func (p Page) made(ctx context.Context) (*maker, error) {
	if p.Labels != nil {
		r, err := ofLabels(ctx, p.Labels, p.Data)
		if err == nil {
			r.Style, r.last().Foot = template.CSS(style+drawing.Style), append(r.last().Foot,
				p.madeBy()...)
		}
		return r, err
	}
	m := p.Model
	r := &maker{ctx: ctx, m: m, q: m.Trained(), context: m.Context, target: m.Learned(cautious.Name(m.Target)),
		columns: columnsOf(m)}
	r.Style = template.CSS(style + drawing.Style)
	r.Title = fmt.Sprintf("%s predicted from %s", r.target, count(len(r.columns), "column"))
	r.Belief = "95 % intervals"
	if m.Joint != nil {
		r.Belief = "probabilities"
	} else if m.Classes != nil {
		r.target = "probability of " + cautious.Name(m.Classes[1])
		r.Belief = "probabilities"
	}
	r.certificate(m.Certificate, "as the model file has it; krigo certify, or a report with the "+
		"model's own data, recomputes it")
	r.warnOfCertificate()
	if m.Exposure != "" {
		r.warn("Figures of the function are for the exposure %s = 1.", cautious.Name(m.Exposure))
	}
	if p.Data != nil {
		if err := r.take(p.Data.Within(ctx)); err != nil {
			return nil, err
		}
	}
	if m.Joint != nil {
		return r, r.joint(p)
	}
	// The columns are ranked first, because residuals and slices are drawn against the most
	// important ones.
	unranked := r.settle()
	against := r.order[:min(mostAgainst, len(r.order))]
	if r.data != nil {
		if err := r.choose(r.data, against); err != nil {
			return nil, err
		}
	}
	r.compared()
	// The picture of the promise stands above all sections, so it is drawn in a section that is
	// then dropped.
	top := r.begin("", "")
	r.guard(promise, r.drawPromise)
	r.Sections = nil
	r.Promise = top.Figures
	r.glance(unranked)
	r.last().Foot = r.foot(p)
	r.residuals(against)
	if c := r.certified; c != nil {
		title := "What is certified"
		if m.Terms.Backtest {
			title = "What the backtest counts"
		} else if !r.Valid {
			title = "The heuristic bound"
		}
		r.begin("certificate", title).Facts = r.bound()
		r.guard("Kinds of rows", r.drawKinds)
	}
	r.function()
	r.parts()
	if r.data != nil {
		t, err := r.summary()
		if err != nil {
			return nil, err
		}
		r.begin("data", "The data").Tables = []table{t}
	}
	s := r.begin("training", "How it was trained")
	s.Facts = r.facts()
	r.guard("Training", r.drawCurves)
	if r.real.n() > 0 {
		r.guard("Inducing inputs", r.drawInducing)
	}
	s.Tables = []table{{Name: "Hyperparameters", Head: []string{"hyperparameter", "in scaled units",
		"in the column's unit"}, Cells: r.hyperparameters(), Folded: true}}
	if len(r.q.Kernel.Spec(r.q.Theta).Parts) > 0 {
		s.Tables[0].Says = "Values of the kernel's parts stand in their order. One value alone " +
			"is the value of all parts."
	}
	// Findings that ask for an action become warnings at the top. The others stand below the
	// training.
	for _, f := range m.Findings {
		text := strings.TrimSuffix(upper(f.String()), ".") + "."
		if f.Severity() == finding.Warning {
			r.Warnings = append(r.Warnings, text)
		} else {
			s.Notices = append(s.Notices, text)
		}
	}
	return r, nil
}

// take reads what the page needs from a table, and recertifies the model if it was made from the
// table.
func (r *maker) take(table *dataset.Table) (err error) {
	if r.data, err = r.m.Labelled(table); err != nil {
		return err
	}
	if err := r.recertify(r.data, table); err != nil {
		return err
	}
	if r.real, err = referenceOf(r.data); err != nil {
		return err
	}
	if r.evidence, err = r.m.BoundEvidence(r.data); err != nil {
		r.warn("The bounds of the log evidence can't be computed: %v.", err)
	}
	return nil
}

// foot says where the page comes from.
func (r *maker) foot(p Page) (facts []fact) {
	var parts []string
	for _, role := range []dataset.Role{dataset.Prior, dataset.Certified, dataset.Calibration,
		dataset.Test} {
		if n := r.m.Counts[role]; n > 0 {
			parts = append(parts, whole(n)+" "+
				map[dataset.Role]string{dataset.Prior: "that train the model",
					dataset.Certified: r.kept(), dataset.Calibration: "for calibration",
					dataset.Test: "for tests"}[role])
		}
	}
	// The first 16 digits of the rows' hash tell two tables with one name apart.
	data := fmt.Sprintf("%s, %s: %s (seed %d)", r.m.Source, count(r.m.Counts.Sum(), "row"),
		strings.Join(parts, ", "), r.m.Seed)
	if len(r.m.All) > 16 {
		data += "; hash of the rows " + r.m.All[:16] + "…"
	}
	if r.data != nil && r.data.Source != r.m.Source {
		data += fmt.Sprintf("; shown are rows of %s", r.data.Source)
	}
	facts = []fact{{"Data", data}}
	if r.Standing != "" {
		facts = append(facts, fact{"Certificate", r.Standing})
	}
	return append(facts, p.madeBy()...)
}

// madeBy says what made the page, if it is known.
func (p Page) madeBy() []fact {
	return lists.If([]fact{{"Version", p.Version}, {"Command", p.Command}}, func(f fact) bool {
		return f.Value != ""
	})
}

// joint makes the page of more than two classes: it has what is known of labels.
func (r *maker) joint(p Page) error {
	s := r.begin("glance", "At a glance")
	if r.data == nil {
		s.Missing = "No data were given: figures of errors need rows with observations. Name a " +
			"table: krigo report MODEL DATA."
	} else if err := r.choose(r.data, nil); err != nil {
		return err
	}
	r.Scores = table{Name: "Errors of the model",
		Head: []string{"rows", "wrong labels", "log loss"}}
	// Each sample gets its share of wrong labels, its mean log loss in nats, and a table of which
	// class is taken for which.
	for i, of := range r.samples {
		chances, truth, err := r.m.Joint.Judged(r.data.Table(), of.rows)
		if err != nil {
			return err
		}
		l := labelled{name: of.name, classes: r.m.Classes, truth: truth}
		wrong := 0.
		lost := 0.
		for i, chance := range chances {
			shares := model.Shares(chance)
			l.label = append(l.label, model.Likeliest(chance))
			l.sure = append(l.sure, shares[l.label[i]])
			wrong = wrong + 1 - l.right(i)
			lost = lost - math.Log(shares[truth[i]])
		}
		n := float64(len(truth))
		r.Scores.Cells = append(r.Scores.Cells,
			[]string{l.name, cautious.Percent(wrong / n), number(lost / n)})
		s.Tables = append(s.Tables, l.confusion())
		if i == 0 {
			r.guard(reliability, func() error { return r.drawReliability(l, of.fresh) })
			r.guard(answers, func() error { return r.drawAnswers(l) })
		}
	}
	s.Foot = r.foot(p)
	if r.certified != nil {
		r.begin("certificate", "What is certified").Facts = r.bound()
	}
	s = r.begin("training", "How it was trained")
	s.Note = "A model of each class against the others was trained. krigo extract MODEL --target " +
		"NAME writes it to a file, whose report shows its function and its training."
	// Every class has a model of its own, so the page only names their kernels.
	for _, m := range r.m.Joint.Models {
		q := m.Trained()
		s.Facts = append(s.Facts,
			fact{cautious.Name(m.Target), "kernel " + q.Kernel.Spec(q.Theta).String()})
	}
	s.Notices = lists.Of(r.m.Findings, func(f finding.Finding) string { return upper(f.String()) })
	return nil
}

// glance begins the section "At a glance": predicted against observed values and residuals, or a
// table of labels for classes, and the importance of columns. unranked says why there is no
// ranking, or is nil.
func (r *maker) glance(unranked error) {
	s := r.begin("glance", "At a glance")
	of := r.main()
	if r.data == nil {
		s.Missing = "No data were given: figures of errors need rows with observations. Name a " +
			"table: krigo report MODEL DATA."
	}
	if of != nil && r.m.Classes != nil {
		l := of.labels(r.m.Classes)
		s.Tables = []table{l.confusion()}
		r.guard(reliability, func() error { return r.drawReliability(l, of.fresh) })
		r.guard(answers, func() error { return r.drawAnswers(l) })
	} else if of != nil {
		r.guard(predicted, func() error { return r.drawPredicted(predicted, of) })
		r.guard("Residuals by prediction", func() error {
			return r.drawAgainst("Residuals by prediction", of,
				axis{label: "predicted " + r.target, along: "with the prediction"}, of.mean)
		})
	}
	if r.real.n() > 0 {
		r.guard("Importance", func() error { return r.drawImportance(unranked) })
	}
	if of != nil && r.m.Classes == nil {
		r.guard("Q–Q plot of residuals", func() error { return r.drawQuantiles(of) })
	}
}

// function draws what the model predicts column by column.
func (r *maker) function() {
	s := r.begin("function", "What the function looks like")
	if r.real.n() == 0 {
		s.Missing = "The model holds no rows, and none were given: importance and slices need " +
			"rows. Name a table: krigo report MODEL DATA."
		return
	}
	switch {
	case r.data == nil:
		s.Missing = "No data were given: the figures use " + r.real.what + "."
	case r.instead:
		s.Missing = "The rows given are too few, or too far away: the figures use " +
			r.real.what + "."
	}
	s.Note = strings.TrimSpace(r.through() + " The bands are the model's own belief, not " +
		"certified.")
	r.drawSlices()
	r.guard("The two most important columns", r.drawSurface)
}

// supported chooses rows of the posterior's support as the rows at which the report draws the
// function.
func (r *maker) supported() {
	d := len(r.m.Inputs)
	r.real = rows{what: "the rows that trained the model, which the model file holds", d: d}
	if r.q.Inducing() > 0 {
		r.real.what = inducing
	}
	chosen := spread(max(1, min(mostReference, mostNumbers/d)), r.q.Support.Rows)
	if len(chosen) < r.q.Support.Rows {
		r.real.what = fmt.Sprintf("%s of %s", whole(len(chosen)), r.real.what)
	}
	for _, i := range chosen {
		row := r.support(i)
		for _, c := range r.columns {
			// inputs are 0 and 1 only up to rounding, and inducing inputs may lie between
			if c.categories != nil {
				c.set(row, c.value(row))
			}
		}
		r.real.x = append(r.real.x, row...)
	}
}

// If fewer than leastReference rows were given, the function is drawn at the posterior's rows, if
// these are more.
const leastReference = 20

// settle ranks the columns by importance, and sets r.middle, the row at which slices hold the other
// columns. If fewer than leastReference rows were given and the posterior has more, or if the given
// rows can't be predicted, the posterior's rows replace them. If the columns can't be ranked, they
// keep their order, and settle returns the reason.
func (r *maker) settle() error {
	if few := r.real.n() < leastReference; few ||
		caught(func() error { _, err := r.means(r.real.x); return err }) != nil {
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

// residuals writes the section "Errors in detail".
func (r *maker) residuals(against []int) {
	of := r.main()
	if of == nil {
		return
	}
	s := r.begin("residuals", "Errors in detail")
	if r.m.Classes != nil {
		s.Tables = lists.Of(r.samples[1:], func(other *sample) table {
			return other.labels(r.m.Classes).confusion()
		})
	} else {
		r.detailed(s, of, against)
	}
	if r.m.Classes == nil && !of.finite() {
		return
	}
	if t, err := r.worst(of); err != nil {
		r.warn("The worst rows can't be read again: %v.", err)
	} else {
		s.Tables = append(s.Tables, t)
	}
}

// detailed draws residuals.
func (r *maker) detailed(s *section, of *sample, against []int) {
	if s.Note = rule; r.m.Sited() != nil {
		s.Note = countRule + strings.TrimPrefix(rule, differences)
	}
	r.guard("Calibration", func() error { return r.drawCalibration(of) })
	for _, other := range r.samples[1:] {
		title := predicted + ": " + other.of
		r.guard(title, func() error { return r.drawPredicted(title, other) })
	}
	r.drawResiduals(of, against)
}

const predicted = "Predicted and observed"

// recertify recomputes the certificate if the model was made from the data.
// It refuses a model that isn't what its data make it.
func (r *maker) recertify(d *dataset.Data, table *dataset.Table) error {
	own, err := r.m.MadeFrom(d)
	if err != nil || !own || r.m.Certificate == nil {
		return err
	}
	again := &krigo.Recertification{Certificate: r.m.Certificate}
	if r.m.Joint != nil {
		_, err = (&krigo.Targets{Several: *r.m.Joint}).Certify(r.ctx, table)
	} else {
		again, err = r.m.Certify(r.ctx, table, krigo.CertifyOptions{})
	}
	if err != nil {
		return err
	}
	if again.Differs != "" {
		return fmt.Errorf("the model isn't what its data make it: %s; don't rely on it",
			again.Differs)
	}
	if again.Context != nil {
		r.context = again.Context
	}
	r.certificate(again.Certificate,
		fmt.Sprintf("recomputed from model and data (%s) for this page", d.Source))
	return nil
}

// certificate copies to the page what a certificate promises, and where the certificate's numbers
// come from.
func (r *maker) certificate(c *pacbayes.Certificate, standing string) {
	if r.certified = c; c == nil {
		r.Sentence = "No certificate: " + r.m.CertificateReason + "."
		return
	}
	r.Sentence = r.m.Sentence(c)
	r.Standing = standing
	r.Valid = c.Valid
	r.Conditions = c.Conditions
	if c.Valid && c.Curve != nil {
		r.Words, r.Sentence = r.Sentence, r.m.Headline(c)
	}
	r.NoBetter = r.m.NoBetter()
}

// warnOfCertificate warns of a bound that isn't a certificate, and of a certificate that promises
// nothing because its bound on the loss is 1.
func (r *maker) warnOfCertificate() {
	switch c := r.m.Certificate; {
	case c == nil, r.m.Terms.Backtest: // the first sentence of the page says it
	case !c.Valid:
		r.warn("The bound is heuristic, not a certificate: %s.", c.Label)
	case cautious.RoundUp(c.MeanBound, 3) >= 1 && (c.Curve == nil || len(c.Curve.Points) == 0):
		r.warn("The bound on predictions is 1: it promises nothing. More rows, a wider ε or " +
			"fewer kernel parameters lower it.")
	}
}
