// Package report draws a model as one HTML page that needs nothing else: its certificate in
// words, how it was trained, how it predicts, and which inputs matter.
package report

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/plotter"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

//go:embed report.html
var page string

//go:embed style.css
var style string

var pageTemplate = template.Must(template.New("report").Parse(page))

// A report shows at most maxDrawn points of a figure, from at most maxRows rows evenly
// spread over those it is about, slices of maxSlices inputs, and bars of maxBars.
const (
	maxDrawn  = 800
	maxRows   = 5000
	maxSlices = 4
	maxBars   = 20
)

// content is what the page shows.
type content struct {
	Style      template.CSS
	Title      string
	Sentence   string
	Standing   string // whether the certificate was recomputed or is as stored
	Valid      bool
	Conditions []string
	Facts      []fact
	Scores     []fact
	Figures    []Figure
	Warnings   []string
}

type fact struct{ Name, Value string }

// sample is rows with their predictions.
type sample struct {
	name  string
	fresh bool // the model was not trained on them
	x     []float64
	y     []float64
	ps    []krigo.Prediction
}

// maker makes a report of a model.
type maker struct {
	m *krigo.Model
	q *posterior.Posterior // that was trained
	content
	shown  *sample // rows that the figures show; nil without data
	effect []float64
	order  []int // inputs, the most relevant first
	by     string
	centre []float64
	low    []float64
	high   []float64

	evidence *krigo.EvidenceBounds // nil where there are none
}

// Write writes the report of a model, with figures of its predictions on a table's rows
// unless that is nil: on those it has not seen, if there are any.
func Write(w io.Writer, m *krigo.Model, table *dataset.Table) error {
	r := &maker{m: m, q: m.Trained()}
	r.Style = template.CSS(style)
	r.Title = fmt.Sprintf("%s from %s", m.Target, count(len(m.Inputs), "input"))
	r.certificate(m.Certificate, "As the model file has it, not recomputed: krigo certify does that, or a report with the data that it was made from.")
	r.warnOfCertificate()
	if table != nil {
		d, err := m.Labelled(table)
		if err != nil {
			return err
		}
		if err := r.recertify(d, table); err != nil {
			return err
		}
		if err := r.sample(d); err != nil {
			return err
		}
		if r.evidence, err = krigo.BoundEvidence(m, d); err != nil {
			r.warn("How much evidence the inducing inputs leave open can't be said: %v.", err)
		}
	}
	r.facts()
	r.extent()
	ranked := caught(r.relevance)
	if ranked != nil { // what is drawn of single inputs is of the first ones then
		r.effect, r.order = nil, nil
		for j := range m.Inputs {
			r.order = append(r.order, j)
		}
	}
	for _, f := range []struct {
		title string
		draw  func() error
	}{{"Every width at once", r.drawWidths}, {"Training", r.drawCurves}, {predicted, r.drawPredictions}, {"Residuals", r.drawResiduals}, {"Calibration", r.drawCalibration},
		{"Relevance", func() error { return r.drawRelevance(ranked) }}, {"", r.drawSlices}, {"The two most relevant inputs", r.drawSurface}, {"Inducing inputs", r.drawInducing}} {
		r.guard(f.title, f.draw)
	}
	r.Warnings = append(r.Warnings, m.Notices...)
	return pageTemplate.Execute(w, r.content)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *maker) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// guard draws a figure, or says in its place why it can't be drawn: a page without one figure is worth more than no page.
func (r *maker) guard(title string, draw func() error) {
	if err := caught(draw); err != nil {
		r.Figures = append(r.Figures, Figure{Title: title, Failed: err.Error()})
	}
}

// caught has a panic as an error: what draws the figures panics at numbers that it doesn't expect.
func caught(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("drawing it failed (%v)", cause)
		}
	}()
	return f()
}

func (r *maker) add(f Figure, err error) error {
	if err == nil {
		r.Figures = append(r.Figures, f)
	}
	return err
}

// recertify computes the certificate anew where the data are those that the model was made from, and
// refuses a model that isn't what they make it.
func (r *maker) recertify(d *dataset.Data, table *dataset.Table) error {
	own, err := r.m.MadeFrom(d)
	if err != nil || !own || r.m.Certificate == nil {
		return err
	}
	again, err := krigo.Certify(r.m, table, 0)
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
func (r *maker) certificate(c *krigo.Certificate, standing string) {
	if c == nil {
		r.Sentence = "No certificate: " + r.m.CertificateReason + "."
		return
	}
	r.Sentence, r.Standing, r.Valid, r.Conditions = krigo.Sentence(r.m, c), standing, c.Valid, c.Conditions
}

func (r *maker) warnOfCertificate() {
	switch c := r.m.Certificate; {
	case c == nil:
	case !c.Valid:
		r.warn("The bound is heuristic, not a certificate: %s.", c.Label)
	case cautious.RoundUp(c.MeanBound, 3) >= 1:
		r.warn("The bound on predictions is 1: it promises nothing. More rows, a wider ε or fewer kernel parameters lower it.")
	}
}

// sample chooses the rows that the figures show, and predicts them.
func (r *maker) sample(d *dataset.Data) error {
	own, err := r.m.MadeFrom(d)
	if err != nil {
		return err
	}
	seen, err := r.m.Seen(d)
	if err != nil {
		return err
	}
	s := &sample{fresh: true}
	var rows []int
	if own {
		roles, err := r.m.RolesOf(d)
		if err != nil {
			return err
		}
		rows, s.name = d.RowsOf(roles, dataset.Test), "test rows"
	} else {
		rows, s.name = slices.DeleteFunc(d.All(), func(i int) bool { _, found := slices.BinarySearch(seen, i); return found }), "rows of "+d.Source
	}
	if len(rows) == 0 {
		rows, s.name, s.fresh = d.All(), "rows that it was made from", false
		r.warn("The figures show rows that the model was made from, which it predicts better than others. Fit with --test-fraction, or name a file of rows it hasn't seen.")
	}
	if len(rows) == 0 {
		return nil
	}
	step := (len(rows) + maxRows - 1) / maxRows
	var chosen []int
	for i := 0; i < len(rows); i += step {
		chosen = append(chosen, rows[i])
	}
	if s.x, s.y, err = d.Select(chosen); err != nil {
		return err
	}
	if s.ps, err = r.m.PredictAt(mat.NewDense(len(chosen), len(r.m.Inputs), s.x)); err != nil {
		r.warn("There are no figures of the %s: %v.", s.name, err)
		return nil
	}
	r.shown = s
	return nil
}

func (r *maker) facts() {
	m := r.m
	spec := r.q.Kernel.Spec(r.q.Theta)
	rows := count(m.Counts[dataset.Prior]+m.Counts[dataset.Certified], "row")
	if n := m.Counts[dataset.Calibration]; n > 0 {
		rows += fmt.Sprintf(" and %d for calibration", n)
	}
	method := "full GP"
	if r.q.Sparse() {
		method = fmt.Sprintf("sparse GP, %s", count(r.q.Support.Rows, "inducing input"))
	}
	number := func(v float64) string { return fmt.Sprintf("%.4g", v) }
	t := m.Training
	r.Facts = []fact{
		{"Data", fmt.Sprintf("%s, %s (seed %d)", m.Source, rows, m.Seed)},
		{"Inputs", strings.Join(m.Inputs, ", ")},
		{"Objective", m.Objective + ", " + method},
		{"Kernel", spec.String()},
		{"Noise variance", number(r.q.Noise) + " (scaled units); observation noise " + number(m.ObservationNoise)},
		{"Training", fmt.Sprintf("%s, %s, %.1f s; %s at %s", count(t.Starts, "start"), count(t.Iterations, "iteration"), t.Seconds, t.Stopped, number(t.ObjectiveValue))},
	}
	if e := m.Encoding; e != nil {
		r.Facts = slices.Insert(r.Facts, 2, fact{"Encoding", e.String()})
	}
	if b := r.evidence; b != nil {
		r.Facts = append(r.Facts, fact{"Log evidence", fmt.Sprintf("between %s (L_VI) and %s (L_upper) nats: so much the inducing inputs leave open of the exact GP's", number(*b.Variational), number(*b.Upper))})
	}
	if c := m.Certificate; c != nil {
		bound := fmt.Sprintf("on a random draw %.4f, on the mean %.4f", cautious.RoundUp(c.Bound, 4), cautious.RoundUp(c.MeanBound, 4))
		if c.Route == pacbayes.Direct {
			bound = fmt.Sprintf("hold-out bound on the mean %.4f", cautious.RoundUp(c.MeanBound, 4))
		}
		sure := ""
		if c.Valid {
			sure = fmt.Sprintf(", with %s confidence over their draw", cautious.Complement(c.Delta))
		}
		counted := count(c.Rows, "certified row")
		if c.Groups > 0 {
			counted = fmt.Sprintf("%s of %s", count(c.Groups, "certified group"), count(c.Rows, "row"))
		}
		if m.Terms.Backtest {
			bound, counted = fmt.Sprintf("none; loss of the mean %.4f", c.EmpiricalRisk), "the last "+count(c.Rows, "row")
		}
		r.Facts = append(r.Facts,
			fact{"Bound", bound + ", from " + counted + sure},
			fact{"Made of", fmt.Sprintf("empirical risk %.4f, KL %.2f, grid %.2f, choices %.2f nats", c.EmpiricalRisk, c.KL, c.GridPenalty, c.ChoicesPenalty)})
	}
	if s := m.Test; s != nil {
		r.Scores = []fact{
			{"Test rows", fmt.Sprint(s.Rows)}, {"RMSE (" + m.Target + ")", number(s.RMSERaw)}, {"Mean squared error, scaled", number(s.MSE)}, {"NLPD, scaled", number(s.NLPD)},
			{"Loss of the mean", number(s.MeanRisk)}, {"Loss of a random draw", number(s.GibbsRisk)}, {"Within the model's own 95 % intervals", fmt.Sprintf("%.1f %%", 100*s.Coverage95)},
		}
		if m.Terms.Route == pacbayes.Direct { // which doesn't speak of a random draw
			r.Scores = slices.DeleteFunc(r.Scores, func(f fact) bool { return f.Name == "Loss of a random draw" })
		}
	}
}

// extent finds where the slices run: through the medians of the rows shown, from the first
// to the last per cent of them, or within 2.5 scales of the means without rows.
func (r *maker) extent() {
	for j := range r.m.Inputs {
		mean, scale := r.m.Scaling.InputMean[j], r.m.Scaling.InputScale[j]
		centre, low, high := mean, mean-2.5*scale, mean+2.5*scale
		if r.m.Encoding.OneHot(j) {
			low, high = 0, 1
		}
		if r.shown != nil {
			var column []float64
			for i := j; i < len(r.shown.x); i += len(r.m.Inputs) {
				column = append(column, r.shown.x[i])
			}
			slices.Sort(column)
			n := len(column)
			if column[n-1-n/100] > column[n/100] {
				centre, low, high = column[n/2], column[n/100], column[n-1-n/100]
			}
		}
		if a, b, ok := widened(low, high); ok {
			low, high = a, b
		}
		r.centre, r.low, r.high = append(r.centre, centre), append(r.low, low), append(r.high, high)
	}
}

const sliceSteps = 60

// along predicts the centre with some inputs replaced, at each of the points.
func (r *maker) along(points [][]float64, inputs ...int) ([]krigo.Prediction, error) {
	x := mat.NewDense(len(points), len(r.centre), nil)
	for i, p := range points {
		x.SetRow(i, r.centre)
		for k, j := range inputs {
			x.Set(i, j, p[k])
		}
	}
	return r.m.PredictAt(x)
}

// slice predicts along one input, the others at the centre.
func (r *maker) slice(j int) (x []float64, ps []krigo.Prediction, err error) {
	var points [][]float64
	for k := range sliceSteps + 1 {
		v := r.low[j] + (r.high[j]-r.low[j])*float64(k)/sliceSteps
		x, points = append(x, v), append(points, []float64{v})
	}
	ps, err = r.along(points, j)
	return x, ps, err
}

// relevance orders the inputs: by their lengthscales where each has its own, else by how
// far the mean moves along them.
func (r *maker) relevance() error {
	d := len(r.m.Inputs)
	r.effect = inverseLengthscales(r.q.Kernel.Spec(r.q.Theta), d)
	r.by = "inverse lengthscale, in standard deviations of the input"
	if d == 1 || r.effect == nil || slices.Min(r.effect) == slices.Max(r.effect) {
		r.effect, r.by = make([]float64, d), "standard deviation of the mean along the input, the others at their medians ("+r.m.Target+")"
		for j := range d {
			_, ps, err := r.slice(j)
			if err != nil {
				return err
			}
			var mean, square float64
			for _, p := range ps {
				mean += p.Mean / float64(len(ps))
			}
			unit := r.m.Scaling.TargetScale // in the target's own a square may leave the range of float64
			for _, p := range ps {
				square += (p.Mean - mean) / unit * ((p.Mean - mean) / unit) / float64(len(ps))
			}
			r.effect[j] = math.Sqrt(square) * unit
		}
	}
	for j := range d {
		r.order = append(r.order, j)
	}
	slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(r.effect[b], r.effect[a]) })
	return nil
}

// inverseLengthscales returns the largest of the kernel's parts for every input, or nil of a
// kernel that has none.
func inverseLengthscales(s kernel.Spec, d int) []float64 {
	var most []float64
	for _, part := range s.Parts {
		if own := inverseLengthscales(part, d); own != nil && most == nil {
			most = own
		} else {
			for j := range own {
				most[j] = max(most[j], own[j])
			}
		}
	}
	if len(s.Lengthscales) == 0 {
		return most
	}
	most = make([]float64, d)
	for j := range most {
		most[j] = 1 / s.Lengthscales[min(j, len(s.Lengthscales)-1)]
	}
	return most
}

func (r *maker) drawCurves() error {
	if !slices.ContainsFunc(r.m.Curves, func(c *model.Curve) bool { return len(c.Values) > 0 }) {
		return nil
	}
	p := newPlot("iteration", r.m.Objective)
	best := slices.MinFunc(r.m.Curves, func(a, b *model.Curve) int { return cmp.Compare(last(a), last(b)) })
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range r.m.Curves {
		if len(c.Values) == 0 { // it ended before its first step
			continue
		}
		pts := make(plotter.XYs, len(c.Values))
		for i, v := range c.Values {
			pts[i] = plotter.XY{X: float64(c.Iterations[i]), Y: v}
			low = min(low, v)
			if 20*i >= len(c.Values) { // the first steps dwarf the others
				high = max(high, v)
			}
		}
		colour, label := grey, ""
		if c == best {
			colour, label = blue, "the best of "+count(len(r.m.Curves), "start")
			if len(r.m.Curves) == 1 {
				label = ""
			}
		}
		if err := drawing.Curve(p, label, drawing.Palette[colour], pts); err != nil {
			return err
		}
	}
	p.Y.Min, p.Y.Max = low, max(high, math.Nextafter(low, math.Inf(1)))
	p.Legend.Top = true
	return r.add(figure("Training", fmt.Sprintf("The objective by iteration; the first steps may run out of the frame. It ended: %s.", r.m.Training.Stopped), p))
}

func last(c *model.Curve) float64 {
	if len(c.Values) == 0 {
		return math.Inf(1)
	}
	return c.Values[len(c.Values)-1]
}

// drawn thins points out.
func drawn(n int, at func(i int) plotter.XY) plotter.XYs {
	var pts plotter.XYs
	for i := 0; i < n; i += (n + maxDrawn - 1) / maxDrawn {
		pts = append(pts, at(i))
	}
	return pts
}

// drawWidths draws what a certificate of every width says: steps, of which each share lies under what was seen.
func (r *maker) drawWidths() error {
	c := r.m.Certificate
	if c == nil || c.Curve == nil || len(c.Curve.Points) == 0 {
		return nil
	}
	unit := ", in units of " + r.m.Target
	switch c.Loss {
	case pacbayes.Relative:
		unit = ", as a share of " + r.m.Target
	case pacbayes.Scaled:
		unit = ", in the model's own standard deviations"
	}
	p := newPlot("half-width"+unit, "share of predictions within")
	var sure, seen plotter.XYs
	for _, at := range c.Curve.Points {
		sure = append(sure, plotter.XY{X: at.HalfWidthRaw, Y: 1 - at.Bound})
		seen = append(seen, plotter.XY{X: at.HalfWidthRaw, Y: 1 - float64(at.Misses)/float64(c.Rows)})
	}
	for _, of := range []struct {
		label  string
		colour int
		pts    plotter.XYs
	}{{"of the certified rows", blue, seen}, {"guaranteed, at all widths at once", green, sure}} {
		if err := drawing.Curve(p, of.label, drawing.Palette[of.colour], drawing.Steps(of.pts)); err != nil {
			return err
		}
	}
	p.Y.Min, p.Y.Max, p.X.Min = 0, 1, 0
	p.Legend.Top = false
	return r.add(figure("Every width at once", fmt.Sprintf("With %s confidence, at least the lower share of predictions on further rows lie within ± the width, whichever one picks.", cautious.Complement(c.Delta)), p))
}

func (r *maker) drawPredictions() error {
	s := r.shown
	if s == nil {
		return nil
	}
	n, c := len(s.y), r.m.Certificate
	p := newPlot("predicted "+r.m.Target, "observed "+r.m.Target)
	low, high := s.span()
	diagonal := []float64{low, high}
	if c != nil && c.Valid && c.Loss == "band" {
		if err := band(p, fmt.Sprintf("± %s, the certificate's ε", cautious.Width(c.EpsilonRaw)), green, diagonal, diagonal, []float64{c.EpsilonRaw, c.EpsilonRaw}); err != nil {
			return err
		}
	}
	if err := dashed(p, plotter.XYs{{X: low, Y: low}, {X: high, Y: high}}); err != nil {
		return err
	}
	if err := dots(p, "", blue, 1.8, drawn(n, func(i int) plotter.XY { return plotter.XY{X: s.ps[i].Mean, Y: s.y[i]} })); err != nil {
		return err
	}
	p.Legend.Top, p.Legend.Left = true, true
	return r.add(figure(predicted, fmt.Sprintf("%d %s.", n, s.name), p))
}

func (r *maker) drawResiduals() error {
	s := r.shown
	if s == nil {
		return nil
	}
	n := len(s.y)
	z := make([]float64, n)
	far := 0
	for i, q := range s.ps {
		z[i] = (s.y[i] - q.Mean) / q.PredictiveSD()
		if math.Abs(z[i]) > 5 {
			far++
		}
	}
	if far > 0 {
		r.warn("%d of %d %s lie more than 5 standard deviations from their prediction: look for errors in the data, or for heavy tails.", far, n, s.name)
	}
	low, high := s.span()
	over := newPlot("predicted "+r.m.Target, "residual, in its standard deviation")
	if err := dashed(over, plotter.XYs{{X: low, Y: 0}, {X: high, Y: 0}}); err != nil {
		return err
	}
	if err := dots(over, "", blue, 1.8, drawn(n, func(i int) plotter.XY { return plotter.XY{X: s.ps[i].Mean, Y: z[i]} })); err != nil {
		return err
	}
	share := newPlot("residual, in its standard deviation", "density")
	if !linalg.Finite(z) || !linalg.Finite([]float64{slices.Max(z) - slices.Min(z)}) {
		return errRange
	}
	h, err := plotter.NewHist(plotter.Values(z), max(8, min(30, int(math.Sqrt(float64(n))))))
	if err != nil {
		return err
	}
	h.Normalize(1)
	h.FillColor, h.LineStyle.Width = drawing.Transparent(blue), 0
	share.Add(h)
	a, b := min(-3, slices.Min(z)), max(3, slices.Max(z))
	normal := make(plotter.XYs, 121)
	for i := range normal {
		x := a + (b-a)*float64(i)/120
		normal[i] = plotter.XY{X: x, Y: math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)}
	}
	if err := drawing.Curve(share, "", drawing.Palette[orange], normal); err != nil {
		return err
	}
	return r.add(figure("Residuals", fmt.Sprintf("Of %d %s: observed less predicted, divided by the predictive standard deviation. Left by prediction: a trend or a funnel is structure the model missed. Right their distribution, beside the normal one.", n, s.name), over, share))
}

const predicted = "Predicted and observed"

// span is that of what was observed and what was predicted.
func (s *sample) span() (low, high float64) {
	return min(slices.Min(s.y), minMean(s.ps)), max(slices.Max(s.y), -minMean(negated(s.ps)))
}

func minMean(ps []krigo.Prediction) float64 {
	return slices.MinFunc(ps, func(a, b krigo.Prediction) int { return cmp.Compare(a.Mean, b.Mean) }).Mean
}

func negated(ps []krigo.Prediction) []krigo.Prediction {
	out := slices.Clone(ps)
	for i := range out {
		out[i].Mean = -out[i].Mean
	}
	return out
}

// drawCalibration compares the share of rows within central intervals with what it should
// be. On rows that a model was trained on it says nothing, so it isn't drawn.
func (r *maker) drawCalibration() error {
	s := r.shown
	if s == nil || !s.fresh {
		return nil
	}
	n := float64(len(s.y))
	within := func(share float64) float64 {
		half := math.Sqrt2 * math.Erfinv(share)
		inside := 0.0
		for i, q := range s.ps {
			if math.Abs(s.y[i]-q.Mean) <= half*q.PredictiveSD() {
				inside++
			}
		}
		return inside / n
	}
	chance := func(share float64) float64 { return model.Normal975 * math.Sqrt(share*(1-share)/n) }
	p := newPlot("share that should lie within", "share that does")
	var shares, widths []float64
	var pts plotter.XYs
	for k := 1; k < 40; k++ {
		share := float64(k) / 40
		shares, widths = append(shares, share), append(widths, chance(share))
		pts = append(pts, plotter.XY{X: share, Y: within(share)})
	}
	if err := band(p, "95 % by chance", grey, shares, shares, widths); err != nil {
		return err
	}
	if err := drawing.Curve(p, "", drawing.Palette[blue], pts); err != nil {
		return err
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Legend.Top, p.Legend.Left = true, true
	if got := within(0.95); math.Abs(got-0.95) > 1.7*chance(0.95) { // one in a thousand
		r.warn("The model's own 95 %% intervals hold %.1f %% of %d %s: more than chance explains. They are no guarantee.", 100*got, len(s.y), s.name)
	}
	return r.add(figure("Calibration", fmt.Sprintf("Central intervals of every size, the model's own belief, on %d %s: above the grey area they are too wide, below it too narrow.", len(s.y), s.name), p))
}

// drawRelevance draws what there is unless the inputs couldn't be ranked.
func (r *maker) drawRelevance(failed error) error {
	if len(r.m.Inputs) == 1 || failed != nil {
		return failed
	}
	var names []string
	var values []float64
	for _, j := range r.order[:min(maxBars, len(r.order))] {
		names, values = append(names, r.m.Inputs[j]), append(values, r.effect[j])
	}
	p := newPlot("relevance", "")
	if err := bars(p, names, values); err != nil {
		return err
	}
	caption := "Relevance of the inputs: " + r.by + "."
	if left := len(r.order) - len(names); left > 0 {
		caption += fmt.Sprintf(" %d more are less relevant.", left)
	}
	return r.add(figure("Relevance", caption, p))
}

func (r *maker) drawSlices() error {
	d := len(r.m.Inputs)
	for _, j := range r.order[:min(maxSlices, d)] {
		r.guard("Along "+r.m.Inputs[j], func() error { return r.drawSlice(j) })
	}
	return nil
}

func (r *maker) drawSlice(j int) error {
	d := len(r.m.Inputs)
	x, ps, err := r.slice(j)
	if err != nil {
		return err
	}
	mean, of, with := make([]float64, len(ps)), make([]float64, len(ps)), make([]float64, len(ps))
	line := make(plotter.XYs, len(ps))
	for i, q := range ps {
		mean[i], of[i], with[i] = q.Mean, model.Normal975*q.LatentSD(), model.Normal975*q.PredictiveSD()
		line[i] = plotter.XY{X: x[i], Y: q.Mean}
	}
	p := newPlot(r.m.Inputs[j], r.m.Target)
	if err := errors.Join(band(p, "95 % of observations", blue, x, mean, with), band(p, "of the function", blue, x, mean, of),
		drawing.Curve(p, "", drawing.Palette[blue], line)); err != nil {
		return err
	}
	caption := fmt.Sprintf("%s along %s, with 95 %% intervals that are the model's own belief, not certified", r.m.Target, r.m.Inputs[j])
	if d > 1 {
		caption += "; the other inputs at their medians"
		if r.shown == nil {
			caption = strings.Replace(caption, "medians", "means", 1)
		}
	} else if s := r.shown; s != nil {
		if err := dots(p, "", grey, 1.5, drawn(len(s.y), func(i int) plotter.XY { return plotter.XY{X: s.x[i], Y: s.y[i]} })); err != nil {
			return err
		}
		caption += "; points are " + s.name
	}
	if d == 1 && r.q.Sparse() {
		level := min(slices.Min(mean)-slices.Max(with), p.Y.Min)
		var pts plotter.XYs
		for i := range r.q.Support.Rows {
			pts = append(pts, plotter.XY{X: r.raw(i, 0), Y: level})
		}
		if err := dots(p, "inducing inputs", orange, 2.5, pts); err != nil {
			return err
		}
		caption += "; below, where the inducing inputs are"
	}
	p.Legend.Top = true
	p.Y.Max += 0.2 * (p.Y.Max - p.Y.Min) // room for it
	return r.add(figure("Along "+r.m.Inputs[j], caption+".", p))
}

// raw is coordinate j of support point i in the units of the data.
func (r *maker) raw(i, j int) float64 {
	return r.q.Support.At(i, j)*r.m.Scaling.InputScale[j] + r.m.Scaling.InputMean[j]
}

func (r *maker) drawSurface() error {
	if len(r.m.Inputs) == 1 {
		return nil
	}
	const n = 41
	a, b := r.order[0], r.order[1]
	mean := surface{}
	var points [][]float64
	for k := range n {
		mean.x = append(mean.x, r.low[a]+(r.high[a]-r.low[a])*float64(k)/(n-1))
		mean.y = append(mean.y, r.low[b]+(r.high[b]-r.low[b])*float64(k)/(n-1))
	}
	for _, y := range mean.y {
		for _, x := range mean.x {
			points = append(points, []float64{x, y})
		}
	}
	ps, err := r.along(points, a, b)
	if err != nil {
		return err
	}
	sd := mean
	for _, q := range ps {
		mean.z, sd.z = append(mean.z, q.Mean), append(sd.z, q.LatentSD())
	}
	left, right := newPlot(r.m.Inputs[a], r.m.Inputs[b]), newPlot(r.m.Inputs[a], r.m.Inputs[b])
	if err := errors.Join(heat(left, "mean", mean), heat(right, "standard deviation", sd)); err != nil {
		return err
	}
	return r.add(figure("The two most relevant inputs", fmt.Sprintf("Left %s, right the standard deviation of the function, over %s and %s; other inputs as in the slices.", r.m.Target, r.m.Inputs[a], r.m.Inputs[b]), left, right))
}

func (r *maker) drawInducing() error {
	if !r.q.Sparse() || len(r.m.Inputs) == 1 {
		return nil
	}
	a, b := r.order[0], r.order[1]
	p := newPlot(r.m.Inputs[a], r.m.Inputs[b])
	if s := r.shown; s != nil {
		d := len(r.m.Inputs)
		if err := dots(p, s.name, grey, 1, drawn(len(s.y), func(i int) plotter.XY { return plotter.XY{X: s.x[i*d+a], Y: s.x[i*d+b]} })); err != nil {
			return err
		}
	}
	var pts plotter.XYs
	for i := range r.q.Support.Rows {
		pts = append(pts, plotter.XY{X: r.raw(i, a), Y: r.raw(i, b)})
	}
	if err := dots(p, "inducing inputs", orange, 2, pts); err != nil {
		return err
	}
	p.Legend.Top = true
	return r.add(figure("Inducing inputs", fmt.Sprintf("Where the %d inducing inputs went, over the two most relevant inputs.", len(pts)), p))
}
