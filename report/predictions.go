package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// A figure has at most mostDrawn points that aren't misses, and residuals are drawn against at most mostAgainst
// columns.
const (
	mostDrawn   = 800
	mostAgainst = 4
)

// drawn are points to draw: all misses, up to mostDrawn, and of the others some.
func (s *sample) drawn(at func(i int) (drawing.XY, bool)) (hits, misses []drawing.XY) {
	var in, out []int
	for i := range s.y {
		if s.miss != nil && s.miss[i] {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
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

// scatter draws the rows of a sample, misses apart.
func (s *sample) scatter(c *drawing.Chart, at func(i int) (drawing.XY, bool)) {
	hits, misses := s.drawn(at)
	label := ""
	if s.miss != nil {
		label = "within ε"
	}
	c.Many(label, drawing.Blue, hits)
	if len(misses) > 0 {
		c.Triangles("miss", drawing.Orange, misses)
	}
}

// counted says how many rows are misses.
func (s *sample) counted() string {
	if s.miss == nil {
		return ""
	}
	n := s.misses()
	switch n {
	case 0:
		return " None is a miss of " + s.epsilon + "."
	case 1:
		return fmt.Sprintf(" 1 (%s) is a miss of %s: a triangle.", percent(1/float64(len(s.y))), s.epsilon)
	}
	return fmt.Sprintf(" %s (%s) are misses of %s: triangles.", whole(n), percent(float64(n)/float64(len(s.y))), s.epsilon)
}

// thinned says that not all are drawn.
func (s *sample) thinned() string {
	if len(s.y)-s.misses() > mostDrawn || s.misses() > mostDrawn {
		return fmt.Sprintf(" Of either kind %s are drawn at most.", whole(mostDrawn))
	}
	return ""
}

// correlation is Pearson's, NaN where one of the two doesn't vary.
func correlation(a, b []float64) float64 {
	a, b = slices.Clone(a), slices.Clone(b)
	if !standardised(a) || !standardised(b) {
		return math.NaN()
	}
	return max(-1, min(linalg.Dot(a, b), 1))
}

func (r *maker) drawPredicted(title string, s *sample) error {
	c := r.certified
	chart := drawing.NewChart("predicted "+r.target, "observed "+r.target)
	low, high := min(slices.Min(s.y), slices.Min(s.mean)), max(slices.Max(s.y), slices.Max(s.mean))
	if c != nil && (c.Loss == pacbayes.Band || c.Loss == pacbayes.Asymmetric) {
		below := c.EpsilonRaw // of the observation: so much may it lie above the prediction
		above := below
		text := fmt.Sprintf("±%s", cautious.Width(below))
		if c.Loss == pacbayes.Asymmetric {
			above = below * c.EpsilonAbove / c.Epsilon
			text = fmt.Sprintf("−%s, +%s", cautious.Width(above), cautious.Width(below))
		}
		chart.Area(text+", "+s.epsilon, drawing.Green, []float64{low, high}, []float64{low - above, high - above},
			[]float64{low + below, high + below})
	}
	chart.Dashed("as predicted", []drawing.XY{{X: low, Y: low}, {X: high, Y: high}})
	s.scatter(chart, func(i int) (drawing.XY, bool) { return drawing.XY{X: s.mean[i], Y: s.y[i]}, true })
	words := fmt.Sprintf("Observed against predicted %s of %s, from %s to %s", r.target, s.name, number(low), number(high))
	if rho := correlation(s.y, s.mean); !math.IsNaN(rho) {
		words += fmt.Sprintf("; correlation %.3f", rho)
	}
	caption := upper(s.name) + "." + s.counted() + s.thinned()
	if s.promised >= 0 {
		caption += fmt.Sprintf(" %s (%s) lie within the band of the promise.", whole(s.promised),
			percent(float64(s.promised)/float64(len(s.y))))
	}
	if !s.fresh {
		caption += " The mean was learnt from them too."
	}
	return r.draw(Figure{Title: title, Caption: caption}, described{chart, words + "." + s.counted()})
}

const residual = "residual, in its standard deviation"

// drawDistribution draws the residuals beside a normal distribution.
func (r *maker) drawDistribution(s *sample) error {
	if !s.finite() {
		return drawing.ErrRange
	}
	n, far, inside := len(s.z), 0, 0
	for _, z := range s.z {
		if math.Abs(z) > 5 {
			far++
		}
		if math.Abs(z) <= objective.Normal975 {
			inside++
		}
	}
	if far > 0 {
		r.warn("%s of %s lie more than 5 standard deviations from their prediction: look for errors in the data, or for "+
			"heavy tails.", whole(far), s.name)
	}
	low, high, ok := drawing.Widened(slices.Min(s.z), slices.Max(s.z))
	if !ok {
		return drawing.ErrRange
	}
	bins := max(8, min(30, int(math.Sqrt(float64(n)))))
	edges, heights := make([]float64, bins+1), make([]float64, bins)
	for k := range edges {
		edges[k] = low + (high-low)*float64(k)/float64(bins)
	}
	for _, z := range s.z {
		heights[min(bins-1, int(float64(bins)*(z-low)/(high-low)))] += float64(bins) / (high - low) / float64(n)
	}
	chart := drawing.NewChart(residual, "density")
	chart.Histogram(drawing.Blue, edges, heights)
	a, b := min(-3, low), max(3, high)
	normal := make([]drawing.XY, 121)
	for i := range normal {
		x := a + (b-a)*float64(i)/120
		normal[i] = drawing.XY{X: x, Y: math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)}
	}
	chart.Line("the normal distribution", drawing.Orange, normal)
	return r.draw(Figure{Title: "Residuals",
		Caption: fmt.Sprintf("Observed less predicted of %s, in the predictive standard deviation. %s beyond 5.", s.name,
			whole(far))},
		described{chart, fmt.Sprintf("Histogram of the residuals of %s: from %s to %s standard deviations, %s within 1.96.",
			s.name, number(slices.Min(s.z)), number(slices.Max(s.z)), percent(float64(inside)/float64(n)))})
}

// tenth is the mean residual of a tenth of the rows, with its standard error.
type tenth struct{ x, mean, se float64 }

// tenths cuts rows in order of x into ten, or as many as have ten rows each; those of one x aren't parted.
func tenths(x, z []float64) (all []tenth) {
	order := linalg.UpTo(len(x))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	parts, from := min(10, len(x)/10), 0
	for k := range parts {
		to := max(from, (k+1)*len(x)/parts)
		for to > from && to < len(x) && x[order[to]] == x[order[to-1]] { // rows of one value stay together
			to++
		}
		in := order[from:to]
		if from = to; len(in) < 10 {
			continue
		}
		at, values := make([]float64, 0, len(in)), make([]float64, 0, len(in))
		for _, i := range in {
			at, values = append(at, x[i]), append(values, z[i])
		}
		all = append(all, meanOf(at[len(at)/2], values))
	}
	return all
}

func meanOf(x float64, values []float64) tenth {
	n := float64(len(values))
	mean := 0.
	for _, v := range values {
		mean += v / n
	}
	square := 0.
	for _, v := range values {
		square += (v - mean) * (v - mean) / max(n-1, 1)
	}
	return tenth{x, mean, math.Sqrt(square / n)}
}

// trend draws means with two standard errors, and says how many of them are farther from 0 than that.
func trend(c *drawing.Chart, all []tenth, label string, at func(x, z float64) drawing.XY) string {
	var dots []drawing.XY
	var ends [][2]drawing.XY
	off := 0
	for _, t := range all {
		dots = append(dots, at(t.x, t.mean))
		ends = append(ends, [2]drawing.XY{at(t.x, t.mean-2*t.se), at(t.x, t.mean+2*t.se)})
		if math.Abs(t.mean) > 2*t.se {
			off++
		}
	}
	if len(all) == 0 {
		return ""
	}
	c.Segments(label, drawing.Ink, ends)
	c.Dots("", drawing.Ink, dots)
	return fmt.Sprintf(" %d of %d means are farther from 0 than two standard errors.", off, len(all))
}

const ofTenths = "means of parts ± 2 standard errors"

// drawAgainst draws residuals against numbers.
func (r *maker) drawAgainst(title string, s *sample, label string, ticks func(low, high float64) []drawing.Tick,
	x []float64) error {
	if !s.finite() {
		return drawing.ErrRange
	}
	chart := drawing.NewChart(label, residual)
	chart.X.Ticks = ticks
	chart.Dashed("", []drawing.XY{{X: slices.Min(x), Y: 0}, {X: slices.Max(x), Y: 0}})
	s.scatter(chart, func(i int) (drawing.XY, bool) { return drawing.XY{X: x[i], Y: s.z[i]}, true })
	off := trend(chart, tenths(x, s.z), ofTenths, func(x, z float64) drawing.XY { return drawing.XY{X: x, Y: z} })
	return r.draw(Figure{Title: title, Caption: upper(s.name) + "." + off + s.thinned()},
		described{chart, fmt.Sprintf("Residuals of %s against %s.%s%s", s.name, label, off, s.counted())})
}

// drawByLevel draws residuals by the values of a column that has few.
func (r *maker) drawByLevel(title string, s *sample, c column, x []float64, of []level) error {
	if !s.finite() {
		return drawing.ErrRange
	}
	drawn := 0
	chart := drawing.NewChart(residual, c.name)
	place := map[float64]float64{}
	var means []tenth
	for k, l := range of {
		chart.Y.Names, place[l.value] = append(chart.Y.Names, l.name), float64(k)
		var z []float64
		for i, v := range x {
			if v == l.value {
				z = append(z, s.z[i])
			}
		}
		drawn += len(z)
		if len(z) >= 10 {
			means = append(means, meanOf(float64(k), z))
		}
	}
	chart.Dashed("", []drawing.XY{{X: 0, Y: -0.5}, {X: 0, Y: float64(len(of)) - 0.5}})
	s.scatter(chart, func(i int) (drawing.XY, bool) {
		at, ok := place[x[i]]
		return drawing.XY{X: s.z[i], Y: at + 0.5*(math.Mod(float64(i)*math.Phi, 1)-0.5)}, ok // side by side
	})
	off := trend(chart, means, "means ± 2 standard errors",
		func(x, z float64) drawing.XY { return drawing.XY{X: z, Y: x} })
	which := upper(s.name) + "."
	if drawn < len(x) {
		which = fmt.Sprintf("%s: the %s of the %d commonest of %d categories are drawn.", upper(s.name), whole(drawn),
			len(of), len(c.categories))
	}
	return r.draw(Figure{Title: title, Caption: which + off + s.thinned()},
		described{chart, fmt.Sprintf("Residuals of %s by %s.%s%s", s.name, c.name, off, s.counted())})
}

// drawResiduals draws them against what might explain them.
func (r *maker) drawResiduals(s *sample, columns []int) {
	r.guard("Residuals", func() error { return r.drawDistribution(s) })
	r.guard("Residuals by prediction", func() error {
		return r.drawAgainst("Residuals by prediction", s, "predicted "+r.target, nil, s.mean)
	})
	r.guard("Residuals in file order", func() error {
		x := make([]float64, len(s.rows))
		for i, row := range s.rows {
			x[i] = float64(row + 1)
		}
		return r.drawAgainst("Residuals in file order", s, "row of the file", nil, x)
	})
	for _, k := range columns {
		c := r.columns[k]
		title := "Residuals by " + c.name
		r.guard(title, func() error {
			if of := levels(r.real, c); of != nil {
				return r.drawByLevel(title, s, c, s.values[k], of)
			}
			return r.drawAgainst(title, s, c.name, ticksOf(c), s.values[k])
		})
	}
}

// ticksOf are those of a column's axis.
func ticksOf(c column) func(low, high float64) []drawing.Tick {
	switch c.dates {
	case "":
		return nil
	case "time":
		return drawing.ClockTicks
	}
	return drawing.DateTicks
}

// drawCalibration compares the share of rows within central intervals with what it should
// be. On rows that a model was trained on it says nothing, so it isn't drawn.
func (r *maker) drawCalibration(s *sample) error {
	if !s.fresh {
		return nil
	}
	n := float64(len(s.y))
	within := func(share float64) float64 {
		half := math.Sqrt2 * math.Erfinv(share)
		inside := 0.0
		for _, z := range s.z {
			if math.Abs(z) <= half {
				inside++
			}
		}
		return inside / n
	}
	chance := func(share float64) float64 { return objective.Normal975 * math.Sqrt(share*(1-share)/n) }
	chart := drawing.NewChart("share that should lie within", "share that does")
	chart.X.Span(0, 1)
	chart.Y.Span(0, 1)
	var shares, low, high []float64
	var pts []drawing.XY
	for k := range 41 {
		share := float64(k) / 40
		shares, low, high = append(shares, share), append(low, share-chance(share)), append(high, share+chance(share))
		if k > 0 && k < 40 {
			pts = append(pts, drawing.XY{X: share, Y: within(share)})
		}
	}
	chart.Area("95 % by chance", drawing.Grey, shares, low, high)
	chart.Dashed("as it should", []drawing.XY{{X: 0, Y: 0}, {X: 1, Y: 1}})
	chart.Line("these rows", drawing.Blue, pts)
	if got := within(0.95); math.Abs(got-0.95) > 1.7*chance(0.95) { // one in a thousand
		r.warn("The model's own 95 %% intervals hold %.1f %% of %s: more than chance explains. They are no guarantee.",
			100*got, s.name)
	}
	return r.draw(Figure{Title: "Calibration",
		Caption: fmt.Sprintf("Central intervals of every size, the model's own belief, on %s: above the grey area they are "+
			"too wide, below it too narrow.", s.name)},
		described{chart, fmt.Sprintf("Share of %s within central intervals: %.1f %% in those of 50 %%, %.1f %% in those of "+
			"80 %%, %.1f %% in those of 95 %%.", s.name, 100*within(0.5), 100*within(0.8), 100*within(0.95))})
}
