package pacbayes

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"
)

// Grid is the set of values that a log-hyperparameter of the prior may take,
//
//	{−L, −L + 2L/G, …, +L},  G = round(2L·10^Digits)
//
// (Reeb et al. 2018, Sect. 3.1). These are the numbers in [−L, L] with Digits decimals.
// The grid has to be fixed before the certified rows are seen.
type Grid struct {
	L      float64
	Digits int
}

// DefaultGrid returns the paper's grid: two decimals in [−6, 6], 1201 points.
func DefaultGrid() Grid { return Grid{L: 6, Digits: 2} }

// maxGridSteps keeps an index within 32 bits. A finer grid has no advantage.
const maxGridSteps = 1e9

// steps returns G, the number of steps from −L to +L, which is one less than the number of points.
func (g Grid) steps() float64 { return math.Round(2 * g.L * math.Pow10(g.Digits)) }

// Validate refuses an L that isn't positive and finite, digits outside 0…6, and fewer than 1 or more
// than 1e9 steps.
func (g Grid) Validate() error {
	s := g.steps()
	return faults.First(
		faults.If(!(g.L > 0) || math.IsInf(g.L, 1),
			"grid: L must be positive and finite, not %v", g.L),
		faults.If(g.Digits < 0 || g.Digits > 6, "grid: digits must be 0 to 6, not %d", g.Digits),
		faults.If(s < 1, "grid %s has a single point: raise L or the digits", g),
		faults.If(s > maxGridSteps,
			"grid %s has more than 1e9 points: lower L or the digits", g),
	)
}

// Points returns the number G+1 of values of one parameter.
func (g Grid) Points() int { return int(g.steps()) + 1 }

// LogInverseP returns ln(1/p_θ) = ln|Θ| = T ln(G+1), in nats, for the uniform prior over the grids
// of T = params parameters (Reeb et al. 2018, Sect. 3.1).
func (g Grid) LogInverseP(params int) float64 {
	return float64(params) * math.Log(float64(g.Points()))
}

// Round returns the grid value nearest to v (halves go up) and its index 0…G.
// clamped says that v lay more than half a step outside [−L, L], and that the result is an end of
// the grid. A NaN stays NaN, with index −1.
func (g Grid) Round(v float64) (rounded float64, index int, clamped bool) {
	return snap(v, g.L, g.steps())
}

// snap does the work of Round, on the grid of steps+1 points on [−l, l].
func snap(v, l, steps float64) (rounded float64, index int, clamped bool) {
	if math.IsNaN(v) {
		return v, -1, false
	}
	i := math.Floor((v+l)/(2*l/steps) + 0.5)
	at := min(max(i, 0), steps)
	// This is −l + at·2l/steps in a form that rounds symmetrically, and is exact at 0 and at both
	// ends.
	return (2*at - steps) * l / steps, int(at), at != i
}

// RoundAll rounds v into dst, a slice of the same length that may be v itself.
// It returns the indices of the values that were clamped, nil if no value was.
func (g Grid) RoundAll(dst, v []float64) (clamped []int) {
	if len(dst) != len(v) {
		panic("pacbayes: slices of unequal length")
	}
	for i, x := range v {
		r, _, off := g.Round(x)
		dst[i] = r
		if off {
			clamped = append(clamped, i)
		}
	}
	return clamped
}

// String returns "L,digits", which ParseGrid reads.
func (g Grid) String() string {
	return strconv.FormatFloat(g.L, 'g', -1, 64) + "," + strconv.Itoa(g.Digits)
}

// ParseGrid reads "L,digits", such as "6,2", and validates it.
func ParseGrid(s string) (Grid, error) {
	l, digits, found := strings.Cut(s, ",")
	g := Grid{}
	var err, err2 error
	g.L, err = strconv.ParseFloat(strings.TrimSpace(l), 64)
	g.Digits, err2 = strconv.Atoi(strings.TrimSpace(digits))
	if !found || err != nil || err2 != nil {
		return Grid{}, fmt.Errorf("grid %q: want L,digits, such as 6,2", s)
	}
	return g, g.Validate()
}
