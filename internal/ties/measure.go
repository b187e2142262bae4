package ties

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Look holds what measures candidates: a GP, half-widths for Same and New in the units of the GP's
// targets, and Fit, which fits another GP to inputs and targets.
type Look struct {
	posterior.Given
	Widths []float64
	Seed   uint64
	// Told gets how many candidates are measured, and of how many.
	Told func(done, of int)
	// Brief saves work where the measures are for advice, and not for what a certificate says.
	Brief bool
	Fit   func(ctx context.Context, x matrix.Dense, y []float64) (posterior.Given, error)
}

// Measure measures candidates with the rows that the GP was fitted to. Candidates that can't tie
// rows together, because they have so few units, take most of the time, since their units are
// large. They matter only if their AlikeP decides how many candidates holm holds for chance.
// If it doesn't, or if the look is brief, they aren't measured.
func (l Look) Measure(ctx context.Context, candidates []Candidate) (ties []Tie, err error) {
	defer matrix.Ended(&err)
	l.X = l.X.Until(ctx)
	all, err := newPredictor(l.Given)
	if err != nil {
		return nil, err
	}
	ties = lists.Of(candidates, func(c Candidate) Tie {
		return Tie{Candidate: c, Units: len(lists.Members(c.Of)), AlikeP: 1, ApartP: 1}
	})
	may := lists.Where(len(ties), func(i int) bool { return ties[i].may(ties[i].Units) })
	rest := lists.Where(len(ties), func(i int) bool { return !slices.Contains(may, i) })
	for _, some := range [][]int{may, rest} {
		for k, i := range some {
			rng := rand.New(rand.NewPCG(l.Seed, 0x7469657300000000+uint64(i)))
			if ties[i], err = l.measure(ctx, all, candidates[i], rng); err != nil {
				return nil, err
			}
			if l.Told != nil {
				l.Told(k+1, len(some))
			}
		}
		if l.Brief || decided(ties) {
			break
		}
	}
	return ties, nil
}

// shuffles returns the numbers that shuffle units; nil if the look is brief.
func (l Look) shuffles(rng *rand.Rand) *rand.Rand {
	if l.Brief {
		return nil
	}
	return rng
}

// measure measures one candidate. It predicts each row once from all other rows, and once from the
// rows of other units (all.alone, all.apart).
func (l Look) measure(ctx context.Context, all predictor, c Candidate,
	rng *rand.Rand) (Tie, error) {
	_, some := all.(*nearest)
	members := lists.Members(c.Of)
	if some {
		members = sample(members, rng)
	}
	rows := slices.Concat(members...)
	t := Tie{Candidate: c, Units: len(members), Rows: len(rows), AlikeP: 1, ApartP: 1}
	// Units of one row say nothing. A brief look at some rows may have only such units.
	if len(members) < 2 || (l.Brief && len(members) == len(rows) && c.Kind != Setting) {
		return t, nil
	}
	alone, sd := all.alone(rows)
	apart := all.apart(rows, c.Of)
	in := places(members)
	// Same and New are shares of errors within a width, from all other rows and from other units.
	// Middle holds the lower and upper quartiles over units of New.
	t.Apart = ratio(apart, alone, in, median)
	for _, w := range l.Widths {
		shares := ofUnits(apart, in, w)
		last := len(shares) - 1
		t.Same, t.New = append(t.Same, mean(ofUnits(alone, in, w))), append(t.New, mean(shares))
		t.Middle = append(t.Middle, [2]float64{shares[last/4], shares[last-last/4]})
	}
	switch {
	case c.Kind == Setting:
		err := l.siblings(ctx, &t, members, rng)
		return t, err
	case !(t.Apart >= leastSeen) || c.Kind == Pair || (l.Brief && !c.asksApart()):
	case some || l.Brief || large(members):
		t.ApartP = onceApart(all, members, c.Of, apart, rng)
	default:
		t.ApartP = shuffledApart(all, rows, c.Of, mean(roots(apart)), rng)
	}
	t.Alike, t.AlikeP = alike(standardised(alone, sd), in, l.shuffles(rng))
	// Inputs let the model know the unit. So look at a model without them too.
	if len(c.Inputs) > 0 && c.Kind != Pair && (t.ApartP <= mostSeen || t.AlikeP <= mostP) {
		err := l.withoutInputs(ctx, &t, members, apart, rng)
		return t, err
	}
	return t, nil
}

const (
	mostRows   = 3000 // rows of a sample
	mostOfUnit = 40   // rows of a unit in a sample
	mostBlind  = 800  // rows to which a model without some inputs is fitted
)

// sample chooses units, and rows of each unit, at random from more rows than can all be measured.
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

// places returns the units with their rows renumbered: row numbers count from 0, unit by unit.
func places(members [][]int) [][]int {
	to := make([][]int, len(members))
	n := 0
	for u, rows := range members {
		for range rows {
			to[u] = append(to[u], n)
			n++
		}
	}
	return to
}

// standardised returns errors divided by their standard deviations.
func standardised(errors, sd []float64) []float64 {
	return lists.To(len(errors), func(i int) float64 { return errors[i] / sd[i] })
}

// ofUnits returns, for each unit, the share of errors that are within a width, in ascending order.
func ofUnits(errors []float64, members [][]int, width float64) []float64 {
	shares := lists.Of(members, func(rows []int) float64 {
		near := lists.If(rows, func(i int) bool { return math.Abs(errors[i]) <= width })
		return float64(len(near)) / float64(len(rows))
	})
	slices.Sort(shares)
	return shares
}

// onceApart returns the chance of errors as large as in apart if units said nothing.
// It compares these errors with the errors when shuffled units are left out.
// It shuffles only once, because every shuffle needs a new search for neighbours.
// It assumes that the sum of the units' differences has a normal distribution.
func onceApart(all predictor, members [][]int, of []int, apart []float64, rng *rand.Rand) float64 {
	shuffled := slices.Clone(of)
	rng.Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j],
			shuffled[i]
	})
	chance := all.apart(slices.Concat(members...), shuffled)
	var sum, squares float64
	for _, rows := range places(members) {
		more := lists.Sum(rows, func(i int) float64 {
			return math.Sqrt(math.Abs(apart[i])) - math.Sqrt(math.Abs(chance[i]))
		})
		sum += more
		squares += more * more
	}
	return math.Erfc(sum/math.Sqrt(2*squares)) / 2
}

// large says whether 199 shuffles would take more than about .1 seconds.
// To leave a unit of n rows out takes n³ operations. On ames (1,641 rows) 199 shuffles took 110 s.
func large(members [][]int) bool {
	const most = 3e7
	return lists.Sum(members, func(rows []int) float64 {
		return math.Pow(float64(len(rows)), 3)
	}) > most
}

const (
	mostLeftOut = 199 // number of shuffles
	// candidates with a smaller Apart, or an ApartP above mostSeen, aren't measured further
	leastSeen = 1.02
	mostSeen  = 0.05
)

// shuffledApart returns the chance that errors with shuffled units left out reach size.
// It shuffles until errors reach size, at most mostLeftOut times.
func shuffledApart(all predictor, rows, of []int, size float64, rng *rand.Rand) float64 {
	shuffled := slices.Clone(of)
	for done := 1; done <= mostLeftOut; done++ {
		rng.Shuffle(len(rows), func(i, j int) {
			shuffled[rows[i]], shuffled[rows[j]] = shuffled[rows[j]], shuffled[rows[i]]
		})
		if !(mean(roots(all.apart(rows, shuffled))) < size) {
			// Of done shuffles and the table itself, this shuffle and the table reach size.
			return 2 / float64(done+1)
		}
	}
	return 1. / (mostLeftOut + 1)
}

// withoutInputs fits a model without t.Inputs, which doesn't know the unit.
// It measures how alike this model's errors are within a unit (Alike), and compares its errors on
// left-out units with the full model's (Unordered).
func (l Look) withoutInputs(ctx context.Context, t *Tie, members [][]int, apart []float64,
	rng *rand.Rand) error {
	of := t.Of
	g := l.Given
	if g.X.Rows > mostExact { // use the sample alone
		members = first(members, mostBlind)
		g, of = only(g, members)
		members = places(members)
	}
	rows := slices.Concat(members...)
	fitted, err := l.blind(ctx, g, t.Inputs)
	if err != nil {
		return err
	}
	blind, err := newPredictor(fitted)
	if err != nil {
		return err
	}
	alone, sd := blind.alone(rows)
	t.Unordered = ratio(apart[:len(rows)], blind.apart(rows, of), places(members), mean)
	t.Alike, t.AlikeP = alike(standardised(alone, sd), places(members), l.shuffles(rng))
	return nil
}

// mostFitted is the largest number of inputs for which blind fits models. On ames (332 inputs) ten
// such models took 5 of 15 CPU seconds.
const mostFitted = 200

// blind fits a model without some of the inputs, or takes what some inputs tell from the full model
// where a fit takes long.
func (l Look) blind(ctx context.Context, g posterior.Given,
	inputs []int) (posterior.Given, error) {
	if l.Brief || g.X.Cols > mostFitted {
		return unaware(ctx, g, inputs)
	}
	x := linalg.New(g.X.Rows, max(1, g.X.Cols-len(inputs))).Until(ctx)
	left := 0
	for j := range g.X.Cols {
		if !slices.Contains(inputs, j) {
			for i := range x.Rows {
				x.Set(i, left, g.X.At(i, j))
			}
			left++
		}
	}
	return l.Fit(ctx, x, g.Y)
}

// mostFirst is the largest number of units from which siblings takes a row.
const mostFirst = 400

// siblings measures whether rows have more in common with other rows of their unit than a smooth
// function of the inputs. It fits a GP to one row of each unit.
// This GP can't know what the rows of a unit share: it is noise.
// The error of the row, predicted from the others, is compared with the error of the unit's other
// rows, predicted from all rows of the fit, and so also from the row itself.
// If the GP is right, no function of the rows of the fit tells anything of the second error, also
// where settings are so few that the function can't be learnt between them.
func (l Look) siblings(ctx context.Context, t *Tie, members [][]int, rng *rand.Rand) error {
	members = slices.Clone(members)
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	members = members[:min(len(members), mostFirst)]
	// first gets a random row of each unit, and members keeps the unit's other rows.
	var first [][]int
	for u, rows := range members {
		rows = slices.Clone(rows)
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		first = append(first, rows[:1])
		members[u] = rows[1:]
	}
	own, _ := only(l.Given, first)
	g, err := l.Fit(ctx, own.X, own.Y)
	if err != nil {
		return err
	}
	p, err := newPredictor(g)
	if err != nil {
		return err
	}
	q, err := posterior.NewExact(g)
	if err != nil {
		return err
	}
	rest, of := only(l.Given, members)
	mean := make([]float64, len(of))
	variance := make([]float64, len(of))
	q.Noisy(rest.X, g.Noise, mean, variance)
	errors, sd := p.alone(linalg.UpTo(len(first)))
	// more holds the mean error of each unit's other rows.
	more := make([]float64, len(first))
	for i, u := range of {
		more[u] += (rest.Y[i] - mean[i]) / float64(len(members[u]))
	}
	// Row u and its unit's mean error, len(first)+u, make a pair that alike compares.
	pairs := lists.To(len(first), func(u int) []int { return []int{u, len(first) + u} })
	t.Alike, t.AlikeP = alike(slices.Concat(scores(standardised(errors, sd)), scores(more)), pairs,
		l.shuffles(rng))
	return nil
}
