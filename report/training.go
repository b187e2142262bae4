package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// The report names at most mostNames columns, and tells the hyperparameters of at most mostTold
// inputs. The encoding's text has at most mostEncoding letters.
const (
	mostEncoding = 300
	mostNames    = 15
	mostTold     = 15
)

// facts says what was trained, and how.
func (r *maker) facts() (facts []fact) {
	m := r.m
	method := spelling.Either(r.q.Inducing() > 0,
		"sparse GP, "+count(r.q.Inducing(), "inducing input"),
		"full GP")
	names := lists.Of(r.columns, func(c column) string { return c.name })
	t := m.Training
	unit, seen := r.seen()
	width := number(math.Sqrt(m.ObservationNoise) * unit)
	noise := fmt.Sprintf("standard deviation %s (%s)", width, seen)
	if m.Noise != "" {
		noise = fmt.Sprintf("%s, of scale %s in %s", m.Noise, width, r.target)
	}
	noise += fmt.Sprintf("; noise variance %s in scaled units", number(r.q.Noise))
	if m.Classes != nil {
		noise = fmt.Sprintf("probit: the %s is Φ(f), for a value f of %s", r.target, latentName)
	} else if m.Ordinal != nil {
		noise = fmt.Sprintf("ordinal: thresholds cut %s into the levels of %s",
			latentName, r.target)
	} else if m.Sited() != nil {
		noise = fmt.Sprintf("%s, of scale %s: the mean of %s is eᶠ, for a value f of %s", m.Noise,
			number(r.q.Noise), r.target, latentName)
	}
	facts = []fact{
		{"Predicted from", few(names, mostNames)},
		{"Objective", m.Objective + ", " + method},
		{"Kernel", r.q.Kernel.Spec(r.q.Theta).Expression()},
		{"Noise", noise},
		{"Training", fmt.Sprintf("%s, %s, %.1f s; %s at %s", count(t.Starts, "start"),
			count(t.Iterations, "iteration"),
			t.Seconds, t.Stopped, number(t.ObjectiveValue))},
	}
	if s := m.Test; s != nil {
		// A direct certificate says nothing about random draws.
		risk := spelling.If(m.Terms.Route != pacbayes.Direct,
			", loss of a random draw %s", number(s.GibbsRisk))
		text := fmt.Sprintf("mean squared error %s and NLPD %s in scaled units; loss of the "+
			"mean %s%s", number(s.MSE), number(s.NLPD), number(s.MeanRisk), risk)
		if m.Classes != nil {
			text = fmt.Sprintf("%s wrong labels, log loss %s, Brier score %s", cautious.Percent(s.MeanRisk),
				number(s.NLPD), number(s.MSE))
		}
		facts = append(facts, fact{"Test rows, as the fitter says", text})
	}
	if t := m.Scaling.Transform; t != nil {
		facts = slices.Insert(facts, 2,
			fact{"Target", fmt.Sprintf("the model sees %s; predictions are of the target's %s",
				seen, t.Estimate)})
	}
	if e := m.Encoding; e != nil {
		text := e.String()
		if rs := []rune(text); len(rs) > mostEncoding {
			text = string(rs[:mostEncoding]) + " …"
		}
		if text != "" {
			facts = slices.Insert(facts, 2, fact{"Encoding", text})
		}
	}
	if b := r.evidence; b != nil {
		facts = append(facts, fact{"Log evidence",
			fmt.Sprintf("between %s (L_VI) and %s (L_upper) nats; the inducing inputs leave the "+
				"gap open",
				number(*b.Variational), number(*b.Upper))})
	}
	return facts
}

// bound returns the certificate's bounds and what they are made of: empirical risk, KL and
// penalties in nats. It returns nil without a certificate.
func (r *maker) bound() []fact {
	c := r.certified
	if c == nil {
		return nil
	}
	bound := fmt.Sprintf("on a random draw %.4f, on the mean %.4f", cautious.RoundUp(c.Bound, 4),
		cautious.RoundUp(c.MeanBound, 4))
	if c.Route == pacbayes.Direct {
		bound = fmt.Sprintf("hold-out bound on the %s %.4f",
			spelling.Either(r.m.Classes != nil, "share of wrong labels", "mean"),
			cautious.RoundUp(c.MeanBound, 4))
	}
	sure := spelling.If(c.Valid,
		", with %s confidence over their draw", cautious.Complement(c.Delta))
	kind := spelling.If(c.Valid, "certified ")
	counted := spelling.Either(c.Groups > 0,
		fmt.Sprintf("%s of %s", count(c.Groups, kind+"group"), count(c.Rows, "row")),
		count(c.Rows, kind+"row"))
	if r.m.Terms.Backtest {
		bound = fmt.Sprintf("none; loss of the mean %.4f", c.EmpiricalRisk)
		counted = "the last " + count(c.Rows, "row")
	}
	return []fact{
		{"Bound", bound + ", from " + counted + sure},
		{"Made of", fmt.Sprintf("empirical risk %.4f, KL %.2f, grid %.2f, choices %.2f nats",
			c.EmpiricalRisk, c.KL,
			c.GridPenalty, c.ChoicesPenalty)},
	}
}

// hyperparameters returns lines about the parameters of the kernel and of the mean:
// a name, the value in scaled units, and the value in the column's unit.
func (r *maker) hyperparameters() (cells [][]string) {
	left := 0
	var parts []kernel.Spec
	var leaves func(s kernel.Spec)
	leaves = func(s kernel.Spec) {
		if len(s.Parts) == 0 {
			parts = append(parts, s)
		}
		for _, p := range s.Parts {
			leaves(p)
		}
	}
	leaves(r.q.Kernel.Spec(r.q.Theta))
	// If there are many inputs, the page tells only those of the most important columns, and leaves
	// out columns of many categories.
	told := map[int]bool{}
	for _, k := range append(slices.Clone(r.order), linalg.UpTo(len(r.columns))...) {
		if len(r.columns[k].inputs) > mostLevels {
			continue
		}
		for _, j := range r.columns[k].inputs {
			if len(told) < mostTold {
				told[j] = true
			}
		}
	}
	// A parameter has one line, with the values of all parts.
	place := map[string]int{}
	values := [][2][]string{}
	for i, s := range parts {
		more, untold := r.parameters(s, told)
		left = max(left, untold)
		for _, c := range more {
			at, known := place[c[0]]
			if !known {
				at = len(values)
				place[c[0]] = len(values)
				cells = append(cells, []string{c[0]})
				none := slices.Repeat([]string{"–"}, len(parts))
				values = append(values, [2][]string{none, slices.Clone(none)})
			}
			values[at][0][i], values[at][1][i] = c[1], c[2]
		}
	}
	for at, both := range values {
		for _, of := range both {
			if slices.Min(of) == slices.Max(of) {
				of = of[:1]
			}
			cells[at] = append(cells[at], strings.Join(of, "; "))
		}
	}
	unit, seen := r.seen()
	for i, p := range r.q.Mean.Params() {
		switch {
		case i >= len(r.q.Beta):
		case p.Kind == kernel.Slope && p.Dim >= 0 && p.Dim < len(r.m.Inputs):
			if !told[p.Dim] {
				left++
				continue
			}
			cells = append(cells, []string{"slope of the mean along " +
				cautious.Name(r.m.Inputs[p.Dim]), number(r.q.Beta[i]),
				number(r.q.Beta[i]*unit/r.m.Scaling.InputScale[p.Dim]) + " of " + seen +
					" for each of " +
					cautious.Name(r.m.Inputs[p.Dim])})
		case p.Kind == kernel.Constant:
			raw := r.m.Scaling.Raw(r.q.Beta[i])
			of := r.target
			if r.m.Sited() != nil {
				raw = r.q.Beta[i]
				of = seen
			}
			cells = append(cells, []string{"constant of the mean", number(r.q.Beta[i]),
				number(raw) + " of " + of})
		}
	}
	if left > 0 {
		cells = append(cells, []string{whole(left) + " more of less important columns", "", ""})
	}
	return cells
}

// parameters returns the parameters of a kernel that has no parts.
// It leaves out the lengthscales of inputs that aren't in told, and left counts them.
func (r *maker) parameters(s kernel.Spec, told map[int]bool) (cells [][]string, left int) {
	at := linalg.UpTo(len(r.m.Inputs)) // places of the kernel's inputs
	if _, columns, _ := s.Columns(); columns != nil {
		at, _ = kernel.Find(model.InputsOf(r.m.Inputs, r.m.Encoding), columns...)
	}
	unit, seen := r.seen()
	if s.Variance != 0 {
		cells = append(cells, []string{"variance", number(s.Variance), "sd " +
			number(math.Sqrt(s.Variance)*unit) + " of " + seen})
	}
	switch {
	case len(s.Lengthscales) == 1 && len(at) > 1:
		cells = append(cells, []string{"lengthscale of all its inputs", number(s.Lengthscales[0]),
			"–"})
	default:
		for i, l := range s.Lengthscales {
			j := at[i]
			if !told[j] {
				left++
				continue
			}
			cells = append(cells, []string{"lengthscale of " + cautious.Name(r.m.Inputs[j]),
				number(l), r.own(j, l)})
		}
	}
	if s.Shape != 0 {
		cells = append(cells, []string{"shape", number(s.Shape), "–"})
	}
	if s.Period != 0 {
		own := "–"
		if len(at) == 1 {
			own = r.own(at[0], s.Period)
		}
		cells = append(cells, []string{"period", number(s.Period), own})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		// the name may be "weight[2]"
		label, index, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		if j, err := strconv.Atoi(index); err == nil && 1 <= j && j <= len(at) {
			label += " of " + cautious.Name(r.m.Inputs[at[j-1]])
		} else {
			label = name
		}
		cells = append(cells, []string{label, number(s.Parameters[name]), "–"})
	}
	return cells, left
}

// own writes a length along input j in the input's own unit.
func (r *maker) own(j int, l float64) string {
	if r.m.Encoding.OneHot(j) {
		return "–"
	}
	for _, c := range r.columns {
		if c.dates != "" && c.inputs[0] == j {
			return number(l*r.m.Scaling.InputScale[j]) + " days"
		}
	}
	return number(l * r.m.Scaling.InputScale[j])
}

// drawCurves draws the objective by iteration of every start, with the best one in front. It draws
// nothing if no curve has values.
func (r *maker) drawCurves() error {
	if !slices.ContainsFunc(r.m.Curves, func(c *model.Curve) bool { return len(c.Values) > 0 }) {
		return nil
	}
	chart := drawing.NewChart("iteration", r.m.Objective)
	best := slices.MinFunc(r.m.Curves, func(a, b *model.Curve) int {
		return cmp.Compare(last(a), last(b))
	})
	low := math.Inf(1)
	high := math.Inf(-1)
	// The best curve is drawn last, over the others.
	others := lists.If(r.m.Curves, func(c *model.Curve) bool {
		return c != best && len(c.Values) > 0
	})
	for _, c := range append(others, best) {
		pts := make([]drawing.XY, len(c.Values))
		for i, v := range c.Values {
			pts[i] = drawing.XY{X: float64(c.Iterations[i]), Y: v}
			low = min(low, v)
			if 20*i >= len(c.Values) { // the first steps may be far above all others
				high = max(high, v)
			}
		}
		switch {
		case c != best:
			chart.Thin("", pts)
		case len(r.m.Curves) > 1:
			chart.Line("the best of "+count(len(r.m.Curves), "start"), drawing.Blue, pts)
		default:
			chart.Line("", drawing.Blue, pts)
		}
	}
	low, high, ok := drawing.Widened(low, max(low, high))
	if !ok {
		return drawing.ErrRange
	}
	room := 0.03 * (high - low)
	chart.Y.Span(low-room, high+room)
	return r.draw(Figure{Title: "Training",
		Caption: fmt.Sprintf("The objective by iteration. The first steps may lie outside the "+
			"frame. Training ended: %s.",
			r.m.Training.Stopped)},
		described{chart, fmt.Sprintf("%s by iteration, of %s: it ended at %s after %s.",
			r.m.Objective,
			count(len(r.m.Curves), "start"), number(last(best)),
			count(best.Iterations[len(best.Iterations)-1], "iteration"))})
}

// last returns the last value of a curve, or infinity for an empty one.
func last(c *model.Curve) float64 {
	if len(c.Values) == 0 {
		return math.Inf(1)
	}
	return c.Values[len(c.Values)-1]
}
