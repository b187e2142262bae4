package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
)

// The function is drawn along few columns. At most mostRanked columns are ranked (the steepest, if
// there are more), mostBars are drawn as bars, and mostSlices as slices, each through one row and
// otherRows more. mostWork bounds the multiplications of the ranking, roughly.
const (
	mostRanked = 40
	mostBars   = 10
	mostSlices = 4
	otherRows  = 8
	steps      = 60
	mostWork   = 3e9

	leastRanked = 50 // rows that columns are ranked on, however long that takes
)

// dear says that a prediction takes about a millisecond, for example with thousands of inputs, or
// by nearest rows.
// Figures then show fewer predictions.
func (r *maker) dear() bool { return r.q.Work(false) > 1e6 }

// rank orders the columns by importance, and sets r.order, r.ranked and the words about them.
// Columns that are constant in the rows aren't ranked. If there are more than mostRanked columns,
// only the steepest are.
func (r *maker) rank() error {
	var varying []int
	var constant []string
	for k, c := range r.columns {
		of := r.real.of(c)
		if slices.Min(of) < slices.Max(of) || (len(c.inputs) > 1 && c.categories == nil) {
			varying = append(varying, k)
		} else {
			constant = append(constant, c.name)
		}
	}
	r.order = slices.Clone(varying) // nothing can be drawn against a constant column
	candidates := varying
	screened := ""
	most := mostRanked
	if r.dear() {
		most /= 2
	}
	if len(varying) > most {
		steep, err := r.steepness()
		if err != nil {
			return err
		}
		slices.SortStableFunc(candidates, func(a, b int) int {
			return cmp.Compare(steep[b], steep[a])
		})
		copy(r.order, candidates)
		screened = fmt.Sprintf(" %s columns of %s were ranked: the steepest, by the mean squared "+
			"derivative of the predicted mean in the columns' standard deviations.", whole(most),
			whole(len(varying)))
		candidates = candidates[:most]
	}
	// The budget of multiplications decides at how many rows the function is evaluated.
	of := lists.Of(candidates, func(k int) column { return r.columns[k] })
	some := r.real
	if n := max(leastRanked,
		int(mostWork/r.q.Work(false)/float64(len(of)*partners+1))); n < some.n() {
		x := make([]float64, 0, n*some.d)
		for _, i := range spread(n, some.n()) {
			x = append(x, some.at(i)...)
		}
		some.x = x
	}
	all, err := importances(r.means, some, of)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].column = candidates[all[i].column]
		r.order[i] = all[i].column
	}
	r.ranked = all
	r.by = "How far the prediction moves if one column's value is exchanged for another row's. "
	if r.m.Sited() != nil {
		r.by = "How far the latent function, which decides the prediction, moves if one column's " +
			"value is exchanged for another row's. "
	}
	surest := slices.MaxFunc(all, func(a, b importance) int { return cmp.Compare(a.low, b.low) })
	// Importance is a share of the variance only if columns are independent.
	switch d, dependent := dependenceOf(some, of); {
	case dependent:
		what := spelling.Either(d.fold,
			"rank correlation, of one column's distance from its middle",
			"rank correlation")
		r.shares = false
		r.by += fmt.Sprintf("Columns depend on one another, most plainly %s and %s (%s %.2f): "+
			"this is no share of the variance, and may rest on rows like no real row.",
			of[d.a].name, of[d.b].name, what, d.correlation)
	case surest.low > 1: // no independent column can have such a share
		r.shares = false
		r.by += "A value above 1 shows that columns depend on one another: this is no share of " +
			"the variance, and may rest on rows like no real row."
	default:
		r.shares = true
		r.by += "The columns look independent of one another: this is about the share of the " +
			"variance that comes from a column, alone or with others (total Sobol index)."
	}
	r.by += fmt.Sprintf(" Whiskers: 95 %% intervals (bootstrap, %s).", count(some.n(), "row")) +
		screened +
		spelling.If(len(constant) > 0, " Constant in these rows: %s.", few(constant, 10))
	return nil
}

// steepness returns the mean square of the predicted mean's derivative along each column, in units
// of the column's scale, at some real rows. One pull-back computes it for all columns.
func (r *maker) steepness() ([]float64, error) {
	steep := make([]float64, len(r.columns))
	d := r.real.d
	// a pull-back costs about d times the support's rows for each row
	n := max(5, min(100, r.real.n(), int(mostWork/4/float64(d)/float64(max(1, r.q.Support.Rows)))))
	chosen := spread(n, r.real.n())
	a := linalg.New(len(chosen), d).Until(r.ctx)
	da := linalg.New(len(chosen), d)
	for i, k := range chosen {
		r.m.Scaling.Inputs(a.Row(i), r.real.at(k))
	}
	if !r.q.Slopes(a, da) { // lengthscales stand in for derivatives that the posterior lacks
		for j, l := range lengthscales(r.q.Kernel.Spec(r.q.Theta),
			model.InputsOf(r.m.Inputs, r.m.Encoding)) {
			for k, c := range r.columns {
				if slices.Contains(c.inputs, j) {
					steep[k] += 1 / (l * l)
				}
			}
		}
		return steep, nil
	}
	for k, c := range r.columns {
		for i := range chosen {
			for _, j := range c.inputs {
				steep[k] += da.At(i, j) * da.At(i, j) / float64(len(chosen))
			}
		}
	}
	if !linalg.Finite(steep) {
		return nil, errors.New("the function's derivatives overflow")
	}
	return steep, nil
}

// lengthscales returns the smallest lengthscale of the kernel's parts for each input, or +∞ for an
// input that no kernel with a lengthscale sees.
func lengthscales(s kernel.Spec, inputs []kernel.Input) []float64 {
	least := slices.Repeat([]float64{math.Inf(1)}, len(inputs))
	name, columns, _ := s.Columns()
	if at, err := kernel.Find(inputs, columns...); err == nil && len(at) > 0 {
		seen := lists.Of(at, func(t int) kernel.Input { return inputs[t] })
		s.Name = name
		for j, l := range lengthscales(s, seen) {
			least[at[j]] = l
		}
		return least
	}
	for _, part := range s.Parts {
		for j, l := range lengthscales(part, inputs) {
			least[j] = min(least[j], l)
		}
	}
	for j := range inputs {
		if n := len(s.Lengthscales); n > 0 {
			least[j] = s.Lengthscales[min(j, n-1)]
		}
	}
	return least
}

// drawImportance draws the ranking. failed is the reason why there is no ranking, or nil if there
// is one.
func (r *maker) drawImportance(failed error) error {
	if len(r.columns) == 1 || failed != nil {
		return failed
	}
	axis := "variances of the mean"
	unit := "variances of the mean"
	text := number
	says := "How far the mean moves with each column alone, in variances of the mean:"
	if r.shares {
		axis = "share of the variance"
		unit = "share of the mean's variance"
		text = cautious.Percent
		says = "Share of the mean's variance that comes from each column:"
	}
	chart := drawing.NewChart(axis, "")
	f := Figure{Title: "Importance", Caption: r.by, Head: []string{"column", unit, "95 % interval"}}
	var values []float64
	var ends [][2]drawing.XY
	words := ""
	// The table lists all ranked columns, the chart mostBars of them, and the text three.
	for i, p := range r.ranked {
		name := r.columns[p.column].name
		f.Cells = append(f.Cells, []string{name, text(p.share), text(p.low) + " to " +
			text(p.high)})
		if i >= mostBars {
			continue
		}
		chart.Y.Names = append(chart.Y.Names, name)
		values = append(values, p.share)
		ends = append(ends, [2]drawing.XY{{X: p.low, Y: float64(i)}, {X: p.high, Y: float64(i)}})
		words += spelling.If(i < 3, " %s %s;", name, text(p.share))
	}
	if left := len(r.ranked) - len(values); left > 0 {
		f.Caption += fmt.Sprintf(" The table has %d more.", left)
	}
	chart.Bars(drawing.Blue, values)
	chart.Segments("", drawing.Grey, ends)
	if len(words) > 0 {
		words = words[:len(words)-1]
	}
	return r.draw(f, described{chart, says + words + "."})
}

// slice holds the function along a column, through a real row.
type slice struct {
	column int
	levels []level // nil: a column of numbers
	x      []float64
	mean   []float64
	low    []float64   // where 95 % intervals for the function begin
	high   []float64   // where they end
	below  []float64   // how far below the mean 95 % of observations reach
	above  []float64   // how far above the mean
	others [][]float64 // means through other rows
	own    drawing.XY  // the row itself; unset with levels
	err    error
}

// grid returns the rows x of a slice through a row, and the column's values in them.
func (r *maker) grid(c column, through []float64, of []level) (x, values []float64) {
	row := slices.Clone(through)
	add := func(v float64) {
		x = append(x, row...)
		values = append(values, v)
	}
	switch {
	case of != nil:
		for _, l := range of {
			c.set(row, l.value)
			add(l.value)
		}
	case c.continuous():
		low, high := central(r.real.of(c))
		for k := range steps + 1 {
			v := low + (high-low)*float64(k)/steps
			// the other columns stay as in the row `through`
			row[c.inputs[0]] = v
			add(v)
		}
	default: // the parts of a date go together, so they are taken from real rows
		at := slices.SortedFunc(slices.Values(spread(2*steps, r.real.n())), func(a, b int) int {
			return cmp.Compare(c.value(r.real.at(a)), c.value(r.real.at(b)))
		})
		for _, i := range at {
			c.put(row, r.real.at(i))
			add(c.value(row))
		}
	}
	return x, values
}

// sliceOf computes the function along column k through the row r.middle: predictions, 95 %
// intervals of f and of observations, and predictions through some other rows. An error is left in
// the slice.
func (r *maker) sliceOf(k int) (s slice) {
	c := r.columns[k]
	s.column, s.levels = k, levels(r.real, c)
	s.err = caught(func() error {
		through := r.real.at(r.middle)
		x, values := r.grid(c, through, s.levels)
		mean, variance, err := r.latent(x, true)
		if err != nil {
			return err
		}
		s.x = values
		if s.mean, err = r.raw(mean, variance); err != nil {
			return err
		}
		variance, noises := r.m.Stretched(variance, r.noises(x, mean, variance))
		spreads, err := r.m.Spreads(mean, variance, noises)
		if err != nil {
			return err
		}
		seen := r.m.Scaling
		for i, v := range variance {
			sd := math.Sqrt(spreads[i].Variance)
			_, own := seen.Moments(mean[i], v)
			// Without a transform, both intervals are the mean plus quantiles times a standard
			// deviation.
			below := -spreads[i].Lower * sd * seen.TargetScale
			above := spreads[i].Upper * sd * seen.TargetScale
			// The quantiles of a transformed target are transformed back, since they don't lie
			// evenly about the mean.
			if seen.Transform != nil {
				below = s.mean[i] - seen.Raw(mean[i]+spreads[i].Lower*sd)
				above = seen.Raw(mean[i]+spreads[i].Upper*sd) - s.mean[i]
			}
			low := s.mean[i] - objective.Normal975*own
			high := s.mean[i] + objective.Normal975*own
			// Quantiles of the latent function become those of the rate or probability.
			if noise := r.m.Sited(); noise != nil {
				half := objective.Normal975 * math.Sqrt(v)
				low = noise.Point(mean[i]-half, 0, r.m.ObservationNoise)
				high = noise.Point(mean[i]+half, 0, r.m.ObservationNoise)
				below = s.mean[i] - mean[i] - spreads[i].Lower*sd
				above = mean[i] + spreads[i].Upper*sd - s.mean[i]
			}
			s.low = append(s.low, low)
			s.high = append(s.high, high)
			s.below = append(s.below, below)
			s.above = append(s.above, above)
		}
		at, err := r.predict(through)
		if err != nil {
			return err
		}
		s.own = drawing.XY{X: c.value(through), Y: at[0]}
		if len(r.columns) == 1 || s.levels != nil {
			return nil
		}
		// If lines through other rows aren't parallel, the column interacts with others.
		others := otherRows
		if r.dear() {
			others = 2
		}
		for _, i := range spread(others, r.real.n()) {
			x, _ := r.grid(c, r.real.at(i), s.levels)
			other, err := r.predict(x)
			if err != nil {
				return err
			}
			s.others = append(s.others, other)
		}
		return nil
	})
	return s
}

// drawSlices draws the function along the most important columns.
// All slices have one range of the target.
func (r *maker) drawSlices() {
	var all []slice
	low := math.Inf(1)
	high := math.Inf(-1)
	for _, k := range r.order[:min(mostSlices, len(r.order))] {
		s := r.sliceOf(k)
		all = append(all, s)
		for i := range s.mean {
			low = min(low, s.mean[i]-s.below[i])
			high = max(high, s.mean[i]+s.above[i])
		}
		for _, o := range s.others {
			low, high = min(low, slices.Min(o)), max(high, slices.Max(o))
		}
	}
	if len(r.columns) == 1 {
		for _, s := range r.samples {
			low, high = min(low, slices.Min(s.y)), max(high, slices.Max(s.y))
		}
	}
	room := 0.04 * (high - low)
	// All slices are computed before any is drawn, because they share one axis.
	for _, s := range all {
		title := "Along " + r.columns[s.column].name
		r.guard(title, func() error {
			if s.err != nil {
				return s.err
			}
			a, b, ok := drawing.Widened(low-room, high+room)
			if r.m.Classes != nil {
				a = 0
				b = 1
			}
			if !ok {
				return drawing.ErrRange
			}
			if s.levels != nil {
				return r.drawLevels(title, s, a, b)
			}
			return r.drawSlice(title, s, a, b)
		})
	}
}

// through says which row slices go through.
func (r *maker) through() string {
	if len(r.columns) == 1 {
		return ""
	}
	if slices.ContainsFunc(r.columns, func(c column) bool { return c.categories != nil }) {
		return "All figures start from one row, and change one or two columns: from the middle " +
			"row (medoid) of those with the commonest categories."
	}
	return "All figures start from one row, the middle one (medoid), and change one or two columns."
}

// drawSlice draws a slice along a column of numbers or dates, with the target's axis from low to
// high. If the model has this column alone, it draws the rows too.
func (r *maker) drawSlice(title string, s slice, low, high float64) error {
	c := r.columns[s.column]
	chart := drawing.NewChart(c.name, r.target)
	chart.X.Ticks = ticksOf(c)
	chart.Y.Span(low, high)
	// mean plus or minus the distances of the interval's ends
	edge := func(half []float64, sign float64) []float64 {
		return lists.To(len(half), func(i int) float64 { return s.mean[i] + sign*half[i] })
	}
	ofFunction := "95 % of the function"
	if r.m.Classes == nil { // labels have no interval
		chart.Area("95 % of observations", drawing.Blue, s.x, edge(s.below, -1), edge(s.above, 1))
		ofFunction = "of the function"
	}
	chart.Deep(ofFunction, drawing.Blue, s.x, s.low, s.high)
	join := func(ys []float64) []drawing.XY {
		return lists.To(len(ys), func(i int) drawing.XY { return drawing.XY{X: s.x[i], Y: ys[i]} })
	}
	for i, o := range s.others {
		label := spelling.If(i == 0, "through %d other rows", len(s.others))
		chart.Thin(label, join(o))
	}
	chart.Line("", drawing.Blue, join(s.mean))
	// With other columns, the rows don't lie on the slice, and only the row itself is drawn.
	caption := ""
	if len(r.columns) > 1 {
		chart.Dots("the row", drawing.Blue, []drawing.XY{s.own})
	} else if of := r.main(); of != nil {
		hits, misses := of.drawn(func(i int) (drawing.XY, bool) {
			return drawing.XY{X: of.values[0][i], Y: of.y[i]}, true
		})
		chart.Many(of.of, drawing.Grey, hits)
		if len(misses) > 0 {
			chart.Triangles("miss", drawing.Orange, misses)
		}
	}
	if len(r.columns) == 1 && r.q.Inducing() > 0 {
		chart.Rug("inducing inputs", lists.To(r.q.Support.Rows, func(i int) float64 {
			return r.support(i)[0]
		}))
		caption = "Marks below: where the inducing inputs are."
	} else {
		chart.Rug("rows", r.rug(c))
	}
	least := slices.Min(s.mean)
	most := slices.Max(s.mean)
	return r.draw(Figure{Title: title, Caption: caption},
		described{chart, fmt.Sprintf("Predicted %s along %s from %s to %s: between %s and %s.",
			r.target, c.name,
			number(s.x[0]), number(s.x[len(s.x)-1]), number(least), number(most))})
}

// drawLevels draws a slice along categories, or along few values: a line for each with its mean and
// both intervals.
func (r *maker) drawLevels(title string, s slice, low, high float64) error {
	c := r.columns[s.column]
	chart := drawing.NewChart(r.target, c.name)
	chart.X.Span(low, high)
	var wide, narrow [][2]drawing.XY
	var dots []drawing.XY
	words := ""
	for i, l := range s.levels {
		at := float64(i)
		chart.Y.Names = append(chart.Y.Names, l.name)
		chart.Y.After = append(chart.Y.After, " ("+whole(l.rows)+")")
		wide = append(wide, [2]drawing.XY{{X: s.mean[i] - s.below[i], Y: at},
			{X: s.mean[i] + s.above[i], Y: at}})
		narrow = append(narrow, [2]drawing.XY{{X: s.low[i], Y: at}, {X: s.high[i], Y: at}})
		dots = append(dots, drawing.XY{X: s.mean[i], Y: at})
		words += fmt.Sprintf(" %s %s;", l.name, number(s.mean[i]))
	}
	ofFunction := "95 % of the function"
	if r.m.Classes == nil {
		chart.Segments("95 % of observations", drawing.Grey, wide)
		ofFunction = "of the function"
	}
	chart.Strong(ofFunction, drawing.Blue, narrow)
	chart.Dots("mean", drawing.Blue, dots)
	caption := "In parentheses: how many rows have the value."
	switch of := len(c.categories); {
	case of <= len(s.levels):
	case len(s.levels) < mostCategories:
		caption += fmt.Sprintf(" Rows have %d of the model's %d categories.", len(s.levels), of)
	default:
		caption += fmt.Sprintf(" Drawn are the %d commonest of %d categories.", len(s.levels), of)
	}
	return r.draw(Figure{Title: title, Caption: caption},
		described{chart, fmt.Sprintf("Predicted %s by %s:%s.", r.target, c.name,
			words[:len(words)-1])})
}

// support returns row i of the posterior's support in the units of the data.
func (r *maker) support(i int) []float64 {
	row := slices.Clone(r.q.Support.Row(i))
	for j := range row {
		row[j] = row[j]*r.m.Scaling.InputScale[j] + r.m.Scaling.InputMean[j]
	}
	return row
}

// plane returns the two most important columns that are continuous.
func (r *maker) plane() (a, b column, ok bool) {
	var found []column
	for _, k := range r.order {
		if c := r.columns[k]; c.continuous() && levels(r.real, c) == nil {
			if found = append(found, c); len(found) == 2 {
				return found[0], found[1], true
			}
		}
	}
	return a, b, false
}

// near is the share of the axes within which a point counts as near a row.
const near = 1. / 12

// drawSurface draws the prediction and the standard deviation of f over the two most important
// columns of numbers. The other columns stay at the row r.middle. It draws nothing if there aren't
// two such columns.
func (r *maker) drawSurface() error {
	a, b, ok := r.plane()
	if !ok {
		return nil
	}
	cols := 44
	lines := 36
	if r.dear() {
		cols = 22
		lines = 18
	}
	mean := drawing.Grid{Cols: cols, Rows: lines}
	xs := r.real.of(a)
	ys := r.real.of(b)
	mean.Left, mean.Right = central(xs)
	mean.Low, mean.High = central(ys)
	if mean.Left, mean.Right, ok = drawing.Widened(mean.Left, mean.Right); !ok {
		return drawing.ErrRange
	}
	if mean.Low, mean.High, ok = drawing.Widened(mean.Low, mean.High); !ok {
		return drawing.ErrRange
	}
	var x []float64
	pale := 0
	row := slices.Clone(r.real.at(r.middle))
	for k := range lines {
		for i := range cols {
			p := mean.Centre(i, k)
			row[a.inputs[0]], row[b.inputs[0]] = p.X, p.Y
			x = append(x, row...)
			// squared distance of the cell from the nearest row, in lengths of the axes
			least := math.Inf(1)
			for o := range xs {
				u := (xs[o] - p.X) / (mean.Right - mean.Left)
				v := (ys[o] - p.Y) / (mean.High - mean.Low)
				least = min(least, u*u+v*v)
			}
			mean.Pale = append(mean.Pale, least > near*near)
			if least > near*near {
				pale++
			}
		}
	}
	f, variance, err := r.latent(x, true)
	if err != nil {
		return err
	}
	sd := mean
	if mean.Z, err = r.raw(f, variance); err != nil {
		return err
	}
	for i, v := range variance {
		_, own := r.m.Scaling.Moments(f[i], v)
		if r.m.Sited() != nil {
			own = math.Sqrt(v)
		}
		sd.Z = append(sd.Z, own)
	}
	specks := r.points(250, a, b)
	charts := make([]described, 2)
	spread := spelling.Either(r.m.Sited() != nil, "sd of "+latentName, "sd of f, "+r.target)
	for i, of := range []struct {
		label, words string
		grid         drawing.Grid
	}{{r.target, "Predicted " + r.target, mean},
		{spread, "Standard deviation of the function", sd}} {
		chart := chartOf(a, b)
		if err := chart.Heat(of.label, of.grid); err != nil {
			return err
		}
		chart.Specks(specks)
		charts[i] = described{chart,
			fmt.Sprintf("%s over %s and %s: from %s to %s. %.0f %% of the area is far from all "+
				"rows.", of.words, a.name, b.name, number(slices.Min(of.grid.Z)),
				number(slices.Max(of.grid.Z)), 100*float64(pale)/float64(cols*lines))}
	}
	return r.draw(Figure{Title: "Over " + a.name + " and " + b.name,
		Caption: "The two most important columns of numbers. Left: the prediction. Right: the " +
			"function's standard " +
			"deviation. Points are rows. Pale areas are farther than a twelfth of the axes from " +
			"every row."}, charts...)
}

// drawInducing draws rows and inducing inputs over the two most important columns of numbers, if
// the model has inducing inputs.
func (r *maker) drawInducing() error {
	a, b, ok := r.plane()
	if r.q.Inducing() == 0 || !ok {
		return nil
	}
	chart := chartOf(a, b)
	if r.real.what != inducing {
		chart.Many("rows", drawing.Grey, r.points(mostDrawn, a, b))
	}
	at := lists.Of(spread(mostDrawn, r.q.Support.Rows), func(i int) drawing.XY {
		row := r.support(i)
		return drawing.XY{X: a.value(row), Y: b.value(row)}
	})
	chart.Triangles("inducing inputs", drawing.Orange, at)
	return r.draw(Figure{Title: "Inducing inputs",
		Caption: fmt.Sprintf("Where training put %s, over the two most important columns of "+
			"numbers.",
			count(r.q.Support.Rows, "inducing input"))},
		described{chart, fmt.Sprintf("%s over %s and %s.", count(len(at), "inducing input"),
			a.name, b.name)})
}

// inducing names the rows of a sparse model that is drawn without data.
const inducing = "the model's inducing inputs, which stand for rows"
