package ties

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Look returns what ties the rows together that a GP was fitted to: the candidates that Measure and Found tell. widths
// are half-widths in the units of its targets.
func Look(ctx context.Context, g posterior.Given, candidates []Candidate, widths []float64, seed uint64) ([]Tie,
	error) {
	all, err := Measure(ctx, g, candidates, widths, seed)
	return Found(all), err
}

// Measure measures every candidate.
func Measure(ctx context.Context, g posterior.Given, candidates []Candidate, widths []float64, seed uint64) (
	ties []Tie, err error) {
	defer matrix.Ended(&err)
	g.X = g.X.Until(ctx)
	all, err := newPredictor(g)
	if err != nil {
		return nil, err
	}
	for i, c := range candidates {
		rng := rand.New(rand.NewPCG(seed, 0x7469657300000000+uint64(i)))
		t, err := measure(g, all, c, widths, rng)
		if err != nil {
			return nil, err
		}
		ties = append(ties, t)
	}
	return ties, nil
}

func measure(g posterior.Given, all predictor, c Candidate, widths []float64, rng *rand.Rand) (Tie, error) {
	_, some := all.(*nearest)
	members := units(c.Of)
	if some {
		members = sample(members, rng)
	}
	rows := slices.Concat(members...)
	t := Tie{Candidate: c, Units: len(members), Rows: len(rows), AlikeP: 1, ApartP: 1}
	if len(members) < 2 {
		return t, nil
	}
	alone, sd := all.alone(rows)
	apart := all.apart(rows, c.Of)
	t.Apart = medianSize(apart) / medianSize(alone)
	for _, w := range widths {
		t.Same, t.New = append(t.Same, share(alone, w)), append(t.New, share(apart, w))
	}
	switch {
	case !(t.Apart >= leastApart):
	case some:
		t.ApartP = onceApart(all, members, c.Of, apart, rng)
	default:
		t.ApartP = shuffledApart(all, rows, c, rootSize(apart), rng)
	}
	if len(c.Inputs) == 0 || t.ApartP > 1./(pairsLeftOut+1) {
		t.Alike, t.AlikeP = alike(standardised(alone, sd), places(members), rng)
		return t, nil
	}
	return t, t.withoutInputs(g, members, apart, rng)
}

const (
	mostRows   = 3000 // that a sample has
	mostOfUnit = 40   // and of one unit
	mostBlind  = 800  // that a model without some inputs is made for
)

// sample chooses units by chance, of more rows than all can be looked at, and rows of each.
func sample(members [][]int, rng *rand.Rand) [][]int {
	members = slices.DeleteFunc(members, func(rows []int) bool { return len(rows) < 2 })
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	n := 0
	for i, rows := range members {
		if n >= mostRows {
			return members[:i]
		}
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		members[i] = rows[:min(len(rows), mostOfUnit)]
		n += len(members[i])
	}
	return members
}

// places are the same units, of rows counted in their order.
func places(members [][]int) [][]int {
	to, n := make([][]int, len(members)), 0
	for u, rows := range members {
		for range rows {
			to[u] = append(to[u], n)
			n++
		}
	}
	return to
}

func standardised(errors, sd []float64) []float64 {
	z := make([]float64, len(errors))
	for i, e := range errors {
		z[i] = e / sd[i]
	}
	return z
}

func share(errors []float64, width float64) float64 {
	n := 0
	for _, e := range errors {
		if math.Abs(e) <= width {
			n++
		}
	}
	return float64(n) / float64(len(errors))
}

// onceApart is the chance of errors as much larger than those with shuffled units left out, of which there is one
// shuffle alone: each searches for neighbours. What units add to that is taken for normal.
func onceApart(all predictor, members [][]int, of []int, apart []float64, rng *rand.Rand) float64 {
	shuffled := slices.Clone(of)
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	chance := all.apart(slices.Concat(members...), shuffled)
	var sum, squares float64
	for _, rows := range places(members) {
		var more float64
		for _, i := range rows {
			more += math.Sqrt(math.Abs(apart[i])) - math.Sqrt(math.Abs(chance[i]))
		}
		sum += more
		squares += more * more
	}
	return math.Erfc(sum/math.Sqrt(2*squares)) / 2
}

// Shuffled units are left out so often; of pairs, of which there are many, less.
const (
	mostLeftOut  = 199
	pairsLeftOut = 19
)

// shuffledApart is the chance of errors as large where shuffled units are left out. It ends where one is.
func shuffledApart(all predictor, rows []int, c Candidate, size float64, rng *rand.Rand) float64 {
	times := mostLeftOut
	if c.Kind == Pair {
		times = pairsLeftOut
	}
	shuffled := slices.Clone(c.Of)
	for done := 1; done <= times; done++ {
		rng.Shuffle(len(rows), func(i, j int) {
			shuffled[rows[i]], shuffled[rows[j]] = shuffled[rows[j]], shuffled[rows[i]]
		})
		if !(rootSize(all.apart(rows, shuffled)) < size) {
			return 2 / float64(done+1)
		}
	}
	return 1 / float64(times+1)
}

// first are the first units, of about so many rows.
func first(members [][]int, most int) [][]int {
	n := 0
	for u, rows := range members {
		if n += len(rows); n >= most {
			return members[:u+1]
		}
	}
	return members
}

// only is what a GP was given at the rows of units, in their order, and the units of these rows.
func only(g posterior.Given, members [][]int) (posterior.Given, []int) {
	rows, of := slices.Concat(members...), []int(nil)
	x, y := linalg.New(len(rows), g.X.Cols).Until(g.X.Context()), make([]float64, len(rows))
	for i, row := range rows {
		copy(x.Row(i), g.X.Row(row))
		y[i] = g.Y[row]
	}
	for u, unit := range members {
		for range unit {
			of = append(of, u)
		}
	}
	g.X, g.Y = x, y
	return g, of
}

// withoutInputs measures how alike rows err of a model that doesn't know the unit, and whether that predicts new units
// as well. It is the GP without the candidate's inputs, of the noise variance with which it predicts best.
func (t *Tie) withoutInputs(g posterior.Given, members [][]int, apart []float64, rng *rand.Rand) error {
	of := t.Of
	if g.X.Rows > mostExact { // of the sample alone
		members = first(members, mostBlind)
		g, of = only(g, members)
		members = places(members)
	}
	rows := slices.Concat(members...)
	x := linalg.New(g.X.Rows, g.X.Cols).Until(g.X.Context())
	x.CopyFrom(g.X)
	for i := range x.Rows {
		for _, j := range t.Inputs {
			x.Set(i, j, 0)
		}
	}
	g.X = x
	var blind predictor
	var alone, sd []float64
	own := max(g.Noise, 1e-6)
	for _, power := range []float64{1, 2. / 3, 1. / 3, 0} { // up to 1, the variance of the targets
		g.Noise = max(math.Pow(own, power), own)
		p, err := newPredictor(g)
		if err != nil && power > 0 {
			continue // without what tells rows apart it takes more noise
		} else if err != nil {
			return err
		}
		if errors, s := p.alone(rows); blind == nil || medianSize(errors) < medianSize(alone) {
			blind, alone, sd = p, errors, s
		}
	}
	t.Unordered = medianSize(apart[:len(rows)]) / medianSize(blind.apart(rows, of))
	t.Alike, t.AlikeP = alike(standardised(alone, sd), places(members), rng)
	return nil
}
