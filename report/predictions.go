package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// A figure has at most mostDrawn misses, and at most mostDrawn other points.
// Residuals are drawn against at most mostAgainst columns.
const (
	mostDrawn   = 800
	mostAgainst = 3

	mostQuantiles = 300 // points of a Q–Q plot
)

// drawn returns the points to draw: at most mostDrawn misses, and at most mostDrawn other rows.
func (s *sample) drawn(at func(i int) (drawing.XY, bool)) (hits, misses []drawing.XY) {
	missed := func(i int) bool { return s.miss != nil && s.miss[i] }
	out := lists.Where(len(s.y), missed)
	in := lists.Where(len(s.y), func(i int) bool { return !missed(i) })
	take := func(from []int) (pts []drawing.XY) {
		for _, k := range spread(mostDrawn, len(from)) {
			if p, ok := at(from[k]); ok {
				pts = append(pts, p)
			}
		}
		return pts
	}
	return take(in), take(out)
}

// scatter draws the rows of a sample, with misses as triangles.
func (s *sample) scatter(c *drawing.Chart, at func(i int) (drawing.XY, bool)) {
	hits, misses := s.drawn(at)
	label := spelling.If(s.miss != nil, "within ε")
	c.Many(label, drawing.Blue, hits)
	if len(misses) > 0 {
		c.Triangles("miss", drawing.Orange, misses)
	}
}

// counted says how many rows miss.
func (s *sample) counted() string {
	if s.miss == nil {
		return ""
	}
	n := s.misses()
	switch n {
	case 0:
		return " No row is a miss by " + s.epsilon + "."
	case 1:
		return fmt.Sprintf(" 1 row (%s, a triangle) is a miss by %s.", cautious.Percent(1/float64(len(s.y))),
			s.epsilon)
	}
	return fmt.Sprintf(" %s rows (%s, triangles) are misses by %s.", whole(n),
		cautious.Percent(float64(n)/float64(len(s.y))), s.epsilon)
}

// thinned says that not all rows are drawn; "" if all are.
func (s *sample) thinned() string {
	if len(s.y)-s.misses() > mostDrawn || s.misses() > mostDrawn {
		return fmt.Sprintf(" At most %s points of each kind are drawn.", whole(mostDrawn))
	}
	return ""
}

// correlation returns Pearson's correlation, NaN if a or b doesn't vary.
func correlation(a, b []float64) float64 {
	a = slices.Clone(a)
	b = slices.Clone(b)
	if !standardised(a) || !standardised(b) {
		return math.NaN()
	}
	return max(-1, min(linalg.Dot(a, b), 1))
}

// drawPredicted draws observed against predicted values, with the certificate's band if it is one
// of fixed width.
func (r *maker) drawPredicted(title string, s *sample) error {
	c := r.certified
	chart := drawing.NewChart("predicted "+r.target, "observed "+r.target)
	low := min(slices.Min(s.y), slices.Min(s.mean))
	high := max(slices.Max(s.y), slices.Max(s.mean))
	if c != nil && (c.Loss == pacbayes.Band || c.Loss == pacbayes.Asymmetric) {
		below := c.EpsilonRaw // how far the prediction may lie below the observation
		above := below
		text := fmt.Sprintf("±%s", cautious.Width(below))
		if c.Loss == pacbayes.Asymmetric {
			above = below * c.EpsilonAbove / c.Epsilon
			text = fmt.Sprintf("−%s, +%s", cautious.Width(above), cautious.Width(below))
		}
		chart.Area(text+", "+s.epsilon, drawing.Green, []float64{low, high},
			[]float64{low - above, high - above}, []float64{low + below, high + below})
	}
	chart.Dashed("as predicted", []drawing.XY{{X: low, Y: low}, {X: high, Y: high}})
	s.scatter(chart, func(i int) (drawing.XY, bool) {
		return drawing.XY{X: s.mean[i], Y: s.y[i]}, true
	})
	words := fmt.Sprintf("Observed against predicted %s of %s, from %s to %s", r.target, s.name,
		number(low), number(high))
	if rho := correlation(s.y, s.mean); !math.IsNaN(rho) {
		words += fmt.Sprintf("; correlation %.3f", rho)
	}
	caption := upper(s.name) + "." + s.counted() + s.thinned()
	caption += spelling.If(!s.fresh, " The model was trained on these rows too.")
	return r.draw(Figure{Title: title, Caption: caption},
		described{chart, words + "." + s.counted()})
}

const residual = "residual, sd"

// drawQuantiles draws the sorted residuals against the quantiles of a normal distribution.
func (r *maker) drawQuantiles(s *sample) error {
	if !s.finite() {
		return drawing.ErrRange
	}
	n := len(s.z)
	sorted := slices.Sorted(slices.Values(s.z))
	if far := 1 - s.within(5); far > 0 {
		r.warn("%s of %s lie more than 5 standard deviations from their prediction: look for "+
			"errors in the data, or for heavy tails.", whole(int(math.Round(far*float64(n)))),
			s.name)
	}
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	end := quantile((float64(n) - 0.5) / float64(n))
	var pts []drawing.XY
	var at, low, high []float64
	// even steps of the axis, so that no row of the tails is left out
	for k, before := 0, -1; k <= mostQuantiles; k++ {
		p := 0.5 * math.Erfc(-(2*float64(k)/mostQuantiles-1)*end/math.Sqrt2)
		i := min(n-1, int(p*float64(n)))
		if i == before {
			continue
		}
		before = i
		p = (float64(i) + 0.5) / float64(n)
		q := quantile(p)
		// The standard error of an order statistic is √(p(1−p)/n) over the density.
		chance := 2 * math.Sqrt(p*(1-p)/float64(n)) * math.Sqrt(2*math.Pi) * math.Exp(q*q/2)
		pts = append(pts, drawing.XY{X: q, Y: sorted[i]})
		at = append(at, q)
		low = append(low, q-chance)
		high = append(high, q+chance)
	}
	chart := drawing.NewChart("quantile of the normal distribution", residual)
	chart.Area("95 % by chance", drawing.Grey, at, low, high)
	chart.Dashed("normal", []drawing.XY{{X: at[0], Y: at[0]}, {X: at[len(at)-1], Y: at[len(at)-1]}})
	chart.Many("these rows", drawing.Blue, pts)
	tails := tailsOf(s)
	return r.draw(Figure{Title: "Q–Q plot of residuals", Caption: tails + " Shown: " +
		s.name + "."}, described{chart,
		fmt.Sprintf("Sorted residuals of %s against normal quantiles: from %s to %s standard "+
			"deviations, %s "+
			"within 1.96. %s", s.name, number(sorted[0]), number(sorted[n-1]),
			cautious.Percent(s.within(objective.Normal975)), tails)})
}

// tailsOf says whether more residuals lie beyond 3 standard deviations than a normal distribution
// explains. That number is λ + 2.58 √λ + 1, if λ are expected.
// A residual beyond 5 standard deviations is too large for any table
func tailsOf(s *sample) string {
	n := float64(len(s.z))
	far := math.Round(n * (1 - s.within(3)))
	expected := 0.0027 * n
	lead := "No heavy tails seen"
	switch {
	case far > expected+2.58*math.Sqrt(expected)+1 || s.within(5) < 1:
		lead = "Heavier tails than the normal distribution's"
	case n < 10:
		lead = "Too few rows to look for heavy tails"
	}
	return fmt.Sprintf("%s: %s beyond ±3 sd, %.1f expected.", lead, count(int(far), "row"),
		expected)
}

// tenth holds the mean residual of a tenth of the rows, and the mean's standard error.
type tenth struct{ x, mean, se float64 }

// tenths sorts rows by x, cuts them into at most ten parts of at least ten rows, and returns the
// mean of z in each part. Rows of the same x are in the same part.
func tenths(x, z []float64) (all []tenth) {
	order := lists.Order(x, cmp.Compare)
	parts := min(10, len(x)/10)
	from := 0
	for k := range parts {
		to := max(from, (k+1)*len(x)/parts)
		// rows of one value stay together
		for to > from && to < len(x) && x[order[to]] == x[order[to-1]] {
			to++
		}
		in := order[from:to]
		if from = to; len(in) < 10 {
			continue
		}
		values := lists.Of(in, func(i int) float64 { return z[i] })
		all = append(all, meanOf(x[in[len(in)/2]], values))
	}
	return all
}

// meanOf returns the mean of values at x, with its standard error.
func meanOf(x float64, values []float64) tenth {
	mean, sd := stat.MeanStdDev(values, nil)
	return tenth{x, mean, stat.StdErr(sd, float64(len(values)))}
}

// leastOff is the least mean residual, in predicted standard deviations, that counts as off 0.
const leastOff = 0.1

// trend draws means with two standard errors, and says whether they depend on what the chart's axis
// shows.
func trend(c *drawing.Chart, all []tenth, along string, at func(x, z float64) drawing.XY) string {
	if len(all) < 2 {
		return "Too few rows to look for a trend."
	}
	var dots []drawing.XY
	var ends [][2]drawing.XY
	off := 0
	for _, t := range all {
		dots = append(dots, at(t.x, t.mean))
		ends = append(ends, [2]drawing.XY{at(t.x, t.mean-2*t.se), at(t.x, t.mean+2*t.se)})
		if math.Abs(t.mean) > max(2*t.se, leastOff) {
			off++
		}
	}
	c.Segments("mean of a part ± 2 standard errors", drawing.Ink, ends)
	c.Dots("", drawing.Ink, dots)
	lead := spelling.Either(off >= 2 && 4*off > len(all), "The mean error changes "+along,
		"No trend seen")
	return fmt.Sprintf("%s: %d of %d means are off 0.", lead, off, len(all))
}

// spreadWith says whether the size of residuals depends on x.
func spreadWith(x, z []float64, along string) string {
	size := lists.Of(z, math.Abs)
	rho := correlation(inspect.Ranks(x), inspect.Ranks(size))
	lead := "The spread looks even"
	switch {
	case len(z) < 20 || math.IsNaN(rho):
		return ""
	case math.Abs(rho) <= max(leastRho, 2.58/math.Sqrt(float64(len(z)-1))):
	case rho > 0:
		lead = "The spread grows " + along
	default:
		lead = "The spread shrinks " + along
	}
	return fmt.Sprintf(" %s: rank correlation %.2f.", lead, rho+0)
}

// leastRho is the rank correlation below which a spread counts as even, however many rows there
// are.
const leastRho = 0.1

// rule tells readers how verdicts about residuals are found.
const rule = differences + "Verdicts follow rules of thumb, and promise nothing. A mean is off 0 " +
	"if it is farther from 0 than two standard errors and 0.1 sd. A trend takes two such means " +
	"or more, and more than a quarter of all. The spread changes if the rank correlation of the " +
	"residual's size is beyond 0.1 and beyond what chance gives in one of a hundred tables."

const differences = "A residual is observed minus predicted, in the standard deviation (sd) that " +
	"the model predicts. "

// countRule stands before rule if residuals aren't differences.
const countRule = "The model's distribution of an observation isn't normal. A residual is the " +
	"quantile of the normal distribution at the probability that the model gives to values below " +
	"the observed. "

// axis describes what residuals are drawn against.
type axis struct {
	label string
	along string // how verdicts end, for example "with the prediction"
	ticks func(low, high float64) []drawing.Tick
}

// drawAgainst draws residuals against numbers x.
func (r *maker) drawAgainst(title string, s *sample, a axis, x []float64) error {
	if !s.finite() {
		return drawing.ErrRange
	}
	chart := drawing.NewChart(a.label, residual)
	chart.X.Ticks = a.ticks
	chart.Dashed("", []drawing.XY{{X: slices.Min(x), Y: 0}, {X: slices.Max(x), Y: 0}})
	s.scatter(chart, func(i int) (drawing.XY, bool) { return drawing.XY{X: x[i], Y: s.z[i]}, true })
	verdict := trend(chart, tenths(x, s.z), a.along, func(x, z float64) drawing.XY {
		return drawing.XY{X: x, Y: z}
	}) + spreadWith(x, s.z, a.along)
	return r.draw(Figure{Title: title, Caption: verdict + s.thinned()},
		described{chart, fmt.Sprintf("Residuals of %s against %s. %s%s", s.name, a.label, verdict,
			s.counted())})
}

// drawByLevel draws residuals by the values of a column that has few values.
func (r *maker) drawByLevel(title string, s *sample, c column, x []float64, of []level) error {
	if !s.finite() {
		return drawing.ErrRange
	}
	drawn := 0
	chart := drawing.NewChart(residual, c.name)
	place := map[float64]float64{}
	var means []tenth
	for k, l := range of {
		chart.Y.Names = append(chart.Y.Names, l.name)
		place[l.value] = float64(k)
		own := lists.Where(len(x), func(i int) bool { return x[i] == l.value })
		z := lists.Of(own, func(i int) float64 { return s.z[i] })
		drawn += len(z)
		if len(z) >= 10 {
			means = append(means, meanOf(float64(k), z))
		}
	}
	chart.Dashed("", []drawing.XY{{X: 0, Y: -0.5}, {X: 0, Y: float64(len(of)) - 0.5}})
	s.scatter(chart, func(i int) (drawing.XY, bool) {
		at, ok := place[x[i]]
		// not on one another
		return drawing.XY{X: s.z[i], Y: at + 0.5*(math.Mod(float64(i)*math.Phi, 1)-0.5)}, ok
	})
	verdict := trend(chart, means, "with "+c.name, func(x, z float64) drawing.XY {
		return drawing.XY{X: z, Y: x}
	})
	which := spelling.If(drawn < len(x),
		" Drawn are the %s rows of the %d commonest of %d categories.", whole(drawn), len(of),
		len(c.categories))
	return r.draw(Figure{Title: title, Caption: verdict + which + s.thinned()},
		described{chart, fmt.Sprintf("Residuals of %s by %s. %s%s", s.name, c.name, verdict,
			s.counted())})
}

// drawResiduals draws the residuals in file order and against columns.
func (r *maker) drawResiduals(s *sample, columns []int) {
	r.guard("Residuals in file order", func() error {
		x := lists.Of(s.rows, func(row int) float64 { return float64(row + 1) })
		return r.drawAgainst("Residuals in file order", s,
			axis{label: "row of the file", along: "along the file"}, x)
	})
	for _, k := range columns {
		c := r.columns[k]
		title := "Residuals by " + c.name
		r.guard(title, func() error {
			if of := levels(r.real, c); of != nil {
				return r.drawByLevel(title, s, c, s.values[k], of)
			}
			return r.drawAgainst(title, s, axis{c.name, "with " + c.name, ticksOf(c)}, s.values[k])
		})
	}
}

// ticksOf returns the function that sets the ticks of a column's axis, or nil for a column of
// numbers.
func ticksOf(c column) func(low, high float64) []drawing.Tick {
	switch c.dates {
	case "":
		return nil
	case "time":
		return drawing.ClockTicks
	}
	return drawing.DateTicks
}

// drawCalibration compares the share of rows within central intervals with the share that the model
// expects. For rows that the model was trained on it draws nothing, because they would show
// nothing.
func (r *maker) drawCalibration(s *sample) error {
	if !s.fresh {
		return nil
	}
	n := float64(len(s.y))
	within := func(share float64) float64 { return s.within(math.Sqrt2 * math.Erfinv(share)) }
	chance := func(share float64) float64 {
		return objective.Normal975 * math.Sqrt(share*(1-share)/n)
	}
	chart := drawing.NewChart("share that the model expects within", "share observed within")
	chart.X.Span(0, 1)
	chart.Y.Span(0, 1)
	var shares, low, high []float64
	var pts []drawing.XY
	for k := range 41 {
		share := float64(k) / 40
		shares = append(shares, share)
		low = append(low, share-chance(share))
		high = append(high, share+chance(share))
		if k > 0 && k < 40 {
			pts = append(pts, drawing.XY{X: share, Y: within(share)})
		}
	}
	chart.Area("95 % by chance", drawing.Grey, shares, low, high)
	chart.Dashed("as believed", []drawing.XY{{X: 0, Y: 0}, {X: 1, Y: 1}})
	chart.Line("these rows", drawing.Blue, pts)
	// chance does this in one of a thousand tables
	if got := within(0.95); math.Abs(got-0.95) > 1.7*chance(0.95) {
		r.warn("The model's own 95 %% intervals hold %.1f %% of %s. Chance doesn't explain the "+
			"difference from 95 %%. These intervals are no guarantee.", 100*got, s.name)
	}
	return r.draw(Figure{Title: "Calibration",
		Caption: fmt.Sprintf("The model's own central intervals of every size, on %s. Above the "+
			"grey area they are too "+
			"wide, below it too narrow.", s.name)},
		described{chart, fmt.Sprintf("Share of %s within central intervals: %.1f %% in those of "+
			"50 %%, %.1f %% in those of "+
			"80 %%, %.1f %% in those of 95 %%.", s.name, 100*within(0.5), 100*within(0.8),
			100*within(0.95))})
}
