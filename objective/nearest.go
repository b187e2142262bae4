package objective

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// NearestProblem is the nearest-neighbour conditional density of rows, as −ln, for a given kernel
// and mean function. It is a function of [θ, β, ln σ_n²] with a gradient:
//
//	L = −Σ_i ln p(y_i | y_n(i)),  n(i) the m rows nearest to row i
//
// In the leave-one-out form, n(i) is chosen from all rows but i.
// For m = N−1 this is the form of Rasmussen & Williams 2006, Eqs. 5.10–5.12.
// In Vecchia's form, n(i) is chosen from the rows before i in a random order, and L approximates
// −ln of the density of all rows together (Vecchia 1988). For m = N−1 it is −ln of the evidence.
// With C = K_nn + sI, a = C⁻¹(y_n − m_n), b = C⁻¹k_i
//
//	μ = m_i + k_iᵀa,  v = k_ii − k_iᵀb,  term φ(y_i, μ, v, s)
//
// where the cost φ is −ln N(y; μ, v+s) unless Term says otherwise.
// With g = ∂φ/∂μ, h = ∂φ/∂v the adjoints are
//
//	k̄_i = g a − 2h b,  C̄ = −½g(abᵀ + baᵀ) + h bbᵀ,  k̄_ii = h,  s̄ = ∂φ/∂s + tr C̄,  m̄_i = g,  m̄_n = −g b
//
// With Apart, half of the leave-one-out terms predict their rows from a thinned table.
//
// Search fixes the neighbours, so L is smooth between searches. L is a sum over rows.
// So N/|batch| times the sum over a random batch is an unbiased estimate of L.
// L with limited Terms is also an unbiased estimate.
// Time O(N m³), memory O(N m) for the neighbours.
type NearestProblem struct {
	Kernel     kernel.Kernel
	Mean       kernel.Mean
	Rows       Memory
	Neighbours int // m, the most neighbours of a row
	// choose neighbours from the rows before, in an order drawn by Seed
	Vecchia bool
	// Apart says that predictions are asked for between and beyond the rows.
	// In the leave-one-out form every second term then predicts its row from some rows, drawn by Seed:
	// N/4, N/16, … down to about leastThinned. So L also says how far rows inform one another, and
	// how much targets vary where no row is near.
	Apart bool
	// Units, unless nil, holds the unit of each row. In the leave-one-out form n(i) then has rows of
	// other units alone, so that L says how well the rows of a new unit are predicted. Apart goes
	// before Units.
	Units []int
	Term  pacbayes.Expectation // φ; nil means LogDensity
	// |raw target| of each row, in the scaled units of y, for relative losses; else nil
	Scale []float64
	Seed  uint64

	// Terms, unless 0, limits the number of terms.
	// If there are more rows, Seed draws the rows that have a term, and each term counts N/Terms
	// times. Neighbours still come from all rows.
	Terms int

	// Ranks, unless nil, share the terms. Every rank has all Rows and evaluates its share of the
	// terms.
	Ranks ranks.Ranks

	of []int // the rows that have a term, in ascending order; nil before they are drawn
	// neighbours of this rank's terms, m for each term; nil before the first search
	near     []int32
	residual []float64
	adjoint  []float64 // m̄, adjoints of the prior mean at the rows
	// one bit for each row: whether the row is an evaluated term's own row or one of its neighbours
	stand []uint64
}

// Dim returns the number of parameters.
func (p *NearestProblem) Dim() int { return len(p.Kernel.Params()) + len(p.Mean.Params()) + 1 }

// Split cuts a parameter vector, or a gradient, into the parts for θ, β and ln σ_n².
func (p *NearestProblem) Split(x []float64) (theta, beta []float64, logNoise float64) {
	return (&Problem{Kernel: p.Kernel, Mean: p.Mean}).Split(x)
}

// Names returns the name of every parameter.
func (p *NearestProblem) Names() []string { return parameterNames(p.Kernel, p.Mean) }

// BatchRows returns the number of terms. Batches are drawn from the terms.
func (p *NearestProblem) BatchRows() int {
	if p.Terms > 0 {
		return min(p.Terms, p.Rows.X.Rows)
	}
	return p.Rows.X.Rows
}

// m returns Neighbours, limited to the number of other rows.
func (p *NearestProblem) m() int { return max(min(p.Neighbours, p.Rows.X.Rows-1), 0) }

// share returns this rank's share of the terms: first … last−1.
func (p *NearestProblem) share() (first, last int) {
	r := over(p.Ranks)
	n := p.BatchRows()
	return r.Rank() * n / r.Size(), (r.Rank() + 1) * n / r.Size()
}

// draw chooses the rows that have a term.
func (p *NearestProblem) draw() {
	all := p.Rows.X.Rows
	n := p.BatchRows()
	p.of = linalg.UpTo(all)
	if n < all {
		rng := rand.New(rand.NewPCG(p.Seed, 0x7465726d73000000))
		rng.Shuffle(all, func(i, j int) { p.of[i], p.of[j] = p.of[j], p.of[i] })
		p.of = slices.Sorted(slices.Values(p.of[:n]))
	}
}

// Search finds the neighbours of every row that has a term.
// It measures distances in the lengthscales at x, in the joint metric of a product
// (neighbours.About). On pol the product matern32*matern12 trains as well with these neighbours as
// with the most correlated rows (RMSE .1358 and .1362), and a search takes .1 to .5 CPU s instead
// of 3.
// Among more than neighbours.MostRows rows it may take rows that are a little farther instead, so
// that a term takes the same time for any number of rows.
func (p *NearestProblem) Search(x []float64) {
	theta, _, _ := p.Split(x)
	first, last := p.share()
	if p.of == nil {
		p.draw()
	}
	near := make([]int32, (last-first)*p.m())
	ix := neighbours.About(p.Kernel, theta, p.Rows.X).Some()
	defer ix.Release()
	if p.Vecchia {
		// place[i] is the place of row i in the random order of Vecchia's form.
		rng := rand.New(rand.NewPCG(p.Seed, 0x7665636368696100))
		place := lists.Of(rng.Perm(p.Rows.X.Rows), func(at int) int32 { return int32(at) })
		ix.Earlier(place, p.of[first:last], p.m(), near)
	} else if p.Units != nil && !p.Apart {
		ix.Outside(p.Units, p.of[first:last], p.m(), near)
	} else {
		ix.Others(p.of[first:last], p.m(), near)
	}
	p.near = near
	if p.Apart && !p.Vecchia {
		p.thin(theta)
	}
}

// Thinned tables have N/thinnedBy, N/thinnedBy², … rows, down to about leastThinned.
// Every second term predicts from one. On a map, a quarter of the terms left the constant mean and
// the variance far from rows to chance.
const (
	thinnedEvery = 2
	thinnedBy    = 4
	leastThinned = 64
	mostThinned  = 16 // tables of a size
)

// thin replaces the neighbours of every second term by rows of thinned tables.
// Each size has several tables, so that no few rows decide.
func (p *NearestProblem) thin(theta []float64) {
	n := p.Rows.X.Rows
	order := rand.New(rand.NewPCG(p.Seed, 0x7468696e6e656400)).Perm(n)
	sizes := int(math.Round(math.Log(float64(n)/leastThinned) / math.Log(thinnedBy)))
	first, last := p.share()
	of := map[[2]int][]int{} // the terms of a stretch of order
	for term := first; term < last && sizes > 0; term++ {
		if term%thinnedEvery > 0 {
			continue
		}
		turn := term / thinnedEvery
		size := int(float64(n) * math.Pow(thinnedBy, -float64(turn%sizes+1)))
		at := turn / sizes % min(n/size, mostThinned) * size
		stretch := [2]int{at, at + size}
		of[stretch] = append(of[stretch], term)
	}
	for stretch, terms := range of {
		p.predictFrom(order[stretch[0]:stretch[1]], terms, theta)
	}
}

// predictFrom lets the terms predict from the nearest of these rows.
func (p *NearestProblem) predictFrom(rows, terms []int, theta []float64) {
	x := p.Rows.X
	of := lists.Of(terms, func(term int) int { return p.of[term] })
	// The predicted rows are no rows of the table.
	rows = lists.If(rows, func(row int) bool {
		_, own := slices.BinarySearch(of, row)
		return !own
	})
	near := make([]int32, len(of)*p.m())
	ix := neighbours.About(p.Kernel, theta, linalg.Pick(matrix.New(len(rows), x.Cols), x, rows))
	defer ix.Release()
	ix.Nearest(linalg.Pick(matrix.New(len(of), x.Cols), x, of), p.m(), near, nil)
	for i, at := range near {
		row := at
		if at != neighbours.None {
			row = int32(rows[at])
		}
		p.neighboursOf(terms[i/p.m()])[i%p.m()] = row
	}
}

// Evaluate returns L at x and, unless gradient is nil, fills gradient.
// The first evaluation calls Search, unless the caller did.
func (p *NearestProblem) Evaluate(x, gradient []float64) (float64, error) {
	first, last := p.share()
	terms := lists.To(last-first, func(i int) int { return first + i })
	return p.evaluate(x, gradient, terms, float64(p.Rows.X.Rows)/float64(p.BatchRows()))
}

// EvaluateBatch does what Evaluate does, for N/|terms| times the sum of the terms with the given
// numbers.
func (p *NearestProblem) EvaluateBatch(x, gradient []float64, terms []int) (float64, error) {
	if len(terms) == 0 {
		return math.NaN(), errors.New("the batch has no terms")
	}
	first, last := p.share()
	own := lists.If(terms, func(term int) bool { return first <= term && term < last })
	return p.evaluate(x, gradient, own, float64(p.Rows.X.Rows)/float64(len(terms)))
}

// evaluate returns weight times the sum of the given terms of all ranks.
// Each rank gives the terms in its share.
func (p *NearestProblem) evaluate(x, gradient []float64, terms []int,
	weight float64) (float64, error) {
	if p.near == nil {
		p.Search(x)
	}
	value, err := p.sum(x, gradient, terms, weight)
	r := over(p.Ranks)
	if err = r.Agree(err); err != nil {
		return math.NaN(), err
	}
	if r.Size() > 1 {
		v := []float64{value}
		if err := r.Sum(v, gradient); err != nil {
			return math.NaN(), err
		}
		value = v[0]
	}
	return value, finite(value, gradient, math.Exp(x[len(x)-1]))
}

// nearestTask is the number of terms that one task evaluates.
// It is small, so that a batch has tasks for many cores.
// Sums over terms add up the sums of tasks, so another number would change the rounding of results.
const nearestTask = 4 * linalg.Abreast

// sum does what evaluate does, for the terms of this rank alone.
func (p *NearestProblem) sum(x, gradient []float64, terms []int, weight float64) (float64, error) {
	theta, beta, logNoise := p.Split(x)
	noise := math.Exp(logNoise)
	p.residuals(beta, terms)
	slopes := gradient != nil && len(beta) > 0
	m := p.m()
	var pulled matrix.Dense // m̄ of each term: m numbers for the neighbours, and last the row's own
	if slopes {
		pulled = linalg.Borrow(len(terms), m+1)
		defer linalg.Return(pulled)
	}
	// Each task adds up its own terms. The tasks' sums are added in a fixed order, so the result
	// doesn't depend on which core is first.
	tasks := (len(terms) + nearestTask - 1) / nearestTask
	parts := linalg.Borrow(tasks, len(theta)+2) // θ̄, s̄, value
	defer linalg.Return(parts)
	failures := make([]error, tasks)
	linalg.Parallel(tasks, func(c int) {
		r0 := c * nearestTask
		r1 := min((c+1)*nearestTask, len(terms))
		g := p.newGroup(theta, noise, weight, gradient != nil)
		defer g.release()
		g.sums = parts.Row(c)
		clear(g.sums)
		for r := r0; r < r1 && failures[c] == nil; r += linalg.Abreast {
			p.Rows.X.Check()
			n := min(linalg.Abreast, r1-r)
			failures[c] = g.add(terms[r : r+n])
			if slopes {
				g.pulled(pulled.RowRange(r, r+n))
			}
		}
	})
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		return math.NaN(), failures[i]
	}
	total := make([]float64, parts.Cols)
	column := make([]float64, tasks)
	for j := range total {
		for c := range column {
			column[c] = parts.At(c, j)
		}
		total[j] = linalg.Sum(column)
	}
	if gradient == nil {
		return total[len(theta)+1], nil
	}
	clear(gradient)
	copy(gradient, total[:len(theta)])
	gradient[len(gradient)-1] = noise * total[len(theta)]
	if slopes {
		p.pullMean(beta, terms, pulled, gradient[len(theta):len(theta)+len(beta)])
	}
	return total[len(theta)+1], nil
}

// neighboursOf returns the neighbours of a term of this rank.
func (p *NearestProblem) neighboursOf(term int) []int32 {
	first, _ := p.share()
	return p.near[(term-first)*p.m():][:p.m()]
}

// residuals computes y − m_β(X) for the rows that the terms need.
// If the mean function has no parameters, the first call computes the residuals of all rows for
// good.
func (p *NearestProblem) residuals(beta []float64, terms []int) {
	fresh := p.residual == nil
	if fresh {
		n := len(p.Rows.Y)
		p.residual = make([]float64, n)
		p.adjoint = make([]float64, n)
		p.stand = make([]uint64, (n+63)/64)
	}
	if len(beta) == 0 {
		if fresh {
			p.Mean.At(beta, p.Rows.X, p.residual)
			linalg.Minus(p.Rows.Y, p.residual)
		}
		return
	}
	// Mark the rows that the terms use, and compute only their residuals.
	clear(p.stand)
	for _, term := range terms {
		row := p.of[term]
		p.stand[row/64] |= 1 << (row % 64)
		for _, other := range p.neighboursOf(term) {
			if other != neighbours.None {
				p.stand[other/64] |= 1 << (other % 64)
			}
		}
	}
	mean := make([]float64, standRows)
	p.standing(func(rows []int, x matrix.Dense) {
		mean := mean[:len(rows)]
		p.Mean.At(beta, x, mean)
		for i, row := range rows {
			p.residual[row], p.adjoint[row] = p.Rows.Y[row]-mean[i], 0
		}
	})
}

// standRows is the number of rows that standing copies at a time.
const standRows = 1024

// standing calls f with the rows that the evaluated terms use, as own rows or as neighbours.
// It goes in blocks of up to standRows rows. rows has their numbers, ascending, and x their inputs.
// residuals marks these rows in p.stand. A batch from a million rows needs few of the rows.
func (p *NearestProblem) standing(f func(rows []int, x matrix.Dense)) {
	rows := make([]int, 0, standRows)
	x := linalg.Borrow(standRows, p.Rows.X.Cols)
	defer linalg.Return(x)
	for word, set := range p.stand {
		for ; set != 0; set &= set - 1 {
			row := word*64 + bits.TrailingZeros64(set)
			copy(x.Row(len(rows)), p.Rows.X.Row(row))
			if rows = append(rows, row); len(rows) == standRows {
				f(rows, x)
				rows = rows[:0]
			}
		}
	}
	f(rows, x.RowRange(0, len(rows)))
}

// pullMean adds the pull-back of m̄ to dBeta.
// Row i of pulled belongs to term i: a number for each neighbour, and last the number of the term's
// own row (see group.pulled).
// pullMean first adds these numbers up in p.adjoint, by rows of the table, because a row may serve
// several terms. residuals has set the entries of these rows to 0.
func (p *NearestProblem) pullMean(beta []float64, terms []int, pulled matrix.Dense,
	dBeta []float64) {
	for i, term := range terms {
		bar := pulled.Row(i)
		for j, other := range p.neighboursOf(term) {
			if other != neighbours.None {
				p.adjoint[other] += bar[j]
			}
		}
		p.adjoint[p.of[term]] += bar[len(bar)-1]
	}
	adjoint := make([]float64, standRows)
	p.standing(func(rows []int, x matrix.Dense) {
		adjoint := adjoint[:len(rows)]
		for i, row := range rows {
			adjoint[i] = p.adjoint[row]
		}
		p.Mean.Pull(beta, x, adjoint, dBeta)
	})
}

// group evaluates linalg.Abreast terms side by side, each in a lane of its own.
// The points of a term are its neighbours and, last, the row itself.
// The row also fills the places of missing neighbours, whose covariances complete sets to 0.
type group struct {
	*NearestProblem
	theta         []float64
	noise, weight float64
	back          bool // the gradient is wanted
	m             int

	// a lane without a term repeats the first term, and counts nothing
	terms []int
	near  [linalg.Abreast][]int32 // neighbours of the terms
	x     linalg.Bundle           // m+1 × d
	// m+2 × m+1: the first m rows are C; row m is k_i, then b; row m+1 is r_n, then a
	c      linalg.Bundle
	bar    linalg.Bundle              // m+1 × m+1: the adjoint of K
	sample [5][linalg.Abreast]float64 // y, μ, v, scale and residual of the rows
	g, h   [linalg.Abreast]float64
	sums   []float64 // θ̄, s̄, value
}

// newGroup borrows the memory of a group, which release returns. back asks for the gradient.
func (p *NearestProblem) newGroup(theta []float64, noise, weight float64, back bool) *group {
	m := p.m()
	return &group{NearestProblem: p, theta: theta, noise: noise, weight: weight, back: back, m: m,
		x: linalg.BorrowBundle(m+1, p.Rows.X.Cols), c: linalg.BorrowBundle(m+2, m+1),
		bar: linalg.BorrowBundle(m+1, m+1)}
}

func (g *group) release() {
	g.x.Release()
	g.c.Release()
	g.bar.Release()
}

// add adds the given terms, at most linalg.Abreast, to sums.
func (g *group) add(terms []int) error {
	g.gather(terms)
	// c gets K of the m+1 points. The factorisation turns C in its first m rows into L, and the
	// rows k_i and r_n below it into L⁻¹k_i and L⁻¹r_n.
	kernel.At(g.Kernel, g.theta).FillBundle(g.x, g.c)
	g.complete()
	if err := linalg.CholeskyBundle(g.c, g.m); err != nil {
		return posterior.NotDefinite(err, g.noise)
	}
	if err := g.score(); err != nil || !g.back {
		return err
	}
	g.pull()
	return nil
}

// gather copies the points, targets and residuals of the terms.
func (g *group) gather(terms []int) {
	g.terms = terms
	d := g.x.Cols
	for l := range linalg.Abreast {
		term := terms[0]
		if l < len(terms) {
			term = terms[l]
		}
		row := g.of[term]
		g.near[l] = g.neighboursOf(term)
		for j := range g.m + 1 {
			from := row
			if j < g.m && g.near[l][j] != neighbours.None {
				from = int(g.near[l][j])
			}
			// Point j of lane l: its coordinates are Abreast numbers apart.
			to := g.x.Data[j*d*linalg.Abreast+l:]
			for t, v := range g.Rows.X.Row(from) {
				to[t*linalg.Abreast] = v
			}
		}
		y := &g.sample[0]
		mu := &g.sample[1]
		_ = &g.sample[2]
		scale := &g.sample[3]
		residual := &g.sample[4]
		y[l], residual[l], scale[l] = g.Rows.Y[row], g.residual[row], 0
		mu[l] = y[l] - residual[l]
		if g.Scale != nil {
			scale[l] = g.Scale[row]
		}
	}
}

// complete adds the noise to C and writes r_n.
// It makes the places of missing neighbours uncorrelated with all points.
func (g *group) complete() {
	residuals := g.c.Row(g.m + 1)
	clear(residuals)
	for j := range g.m {
		d := g.c.At(j, j)
		for l := range d {
			other := g.near[l][j]
			if other != neighbours.None {
				d[l] += g.Rows.PerRow.At(int(other), g.noise)
				residuals[j*linalg.Abreast+l] = g.residual[other]
				continue
			}
			for i := range j {
				g.c.At(j, i)[l] = 0
			}
			d[l] = 1
			for i := j + 1; i <= g.m; i++ {
				g.c.At(i, j)[l] = 0
			}
		}
	}
}

// score predicts the rows and adds their terms to sums.
func (g *group) score() error {
	n := len(g.terms)
	k := g.c.Row(g.m)
	r := g.c.Row(g.m + 1) // L⁻¹k_i, L⁻¹r_n
	mu := &g.sample[1]
	v := &g.sample[2]
	var explained, mean [linalg.Abreast]float64
	// μ = m_i + (L⁻¹k_i)ᵀL⁻¹r_n, and v = k_ii − ‖L⁻¹k_i‖².
	for j := 0; j < g.m*linalg.Abreast; j += linalg.Abreast {
		kj := (*[linalg.Abreast]float64)(k[j:])
		rj := (*[linalg.Abreast]float64)(r[j:])
		for l, w := range kj {
			explained[l] += w * w
			mean[l] += w * rj[l]
		}
	}
	for l, own := range g.c.At(g.m, g.m) {
		mu[l] += mean[l]
		v[l] = max(own-explained[l], 0)
	}
	term := cmp.Or[pacbayes.Expectation](g.Term, LogDensity{})
	sample := pacbayes.Sample{Y: g.sample[0][:n], Mean: mu[:n], Variance: v[:n]}
	if g.Scale != nil {
		sample.Scale = g.sample[3][:n]
	}
	clear(g.g[:])
	clear(g.h[:])
	last := len(g.sums) - 1
	// Expect takes one noise, so rows that differ in noise are scored one by one.
	if !g.Rows.PerRow.Same() {
		for l, i := range g.terms {
			own := pacbayes.Sample{Y: sample.Y[l : l+1], Mean: sample.Mean[l : l+1],
				Variance: sample.Variance[l : l+1]}
			if g.Scale != nil {
				own.Scale = sample.Scale[l : l+1]
			}
			value, dNoise, err := term.Expect(own, g.Rows.PerRow.At(g.of[i], g.noise), g.weight,
				pacbayes.Derivatives{Mean: g.g[l : l+1], Variance: g.h[l : l+1]})
			if err != nil {
				return err
			}
			g.sums[last] += value
			g.sums[last-1] += g.Rows.PerRow.Slope(g.of[i]) * dNoise
		}
		return nil
	}
	value, dNoise, err := term.Expect(sample, g.noise, g.weight,
		pacbayes.Derivatives{Mean: g.g[:n], Variance: g.h[:n]})
	g.sums[last] += value
	g.sums[last-1] += dNoise
	return err
}

// pull pulls g and h back to θ and s, and adds to sums.
func (g *group) pull() {
	// L⁻¹k_i becomes b, and L⁻¹r_n becomes a.
	linalg.SubstituteBundle(g.c, g.m)
	b := g.c.Row(g.m)
	a := g.c.Row(g.m + 1)
	var ofA, ofB [linalg.Abreast]float64
	noise := &g.sums[len(g.sums)-2]
	for i := range g.m {
		for l := range ofA {
			ai := a[i*linalg.Abreast+l]
			bi := b[i*linalg.Abreast+l]
			ofA[l] = -g.g[l] * bi
			ofB[l] = 2*g.h[l]*bi - g.g[l]*ai
		}
		// 2C̄: the lower triangle counts both entries of a pair
		linalg.CombineBundle(i, a, &ofA, b, &ofB, g.bar.Row(i))
		for l, d := 0, g.bar.At(i, i); l < linalg.Abreast; l++ {
			ai := a[i*linalg.Abreast+l]
			bi := b[i*linalg.Abreast+l]
			// The diagonal counts once.
			d[l] = bi * (g.h[l]*bi - g.g[l]*ai)
			if other := g.near[l][i]; other != neighbours.None {
				*noise += g.Rows.PerRow.Slope(int(other)) * d[l]
			}
		}
	}
	// Row m of the adjoint is k̄_i = g a − 2h b, and its last element is k̄_ii = h.
	for l := range ofA {
		ofA[l], ofB[l] = g.g[l], -2*g.h[l]
	}
	linalg.CombineBundle(g.m, a, &ofA, b, &ofB, g.bar.Row(g.m))
	copy(g.bar.At(g.m, g.m), g.h[:])
	kernel.At(g.Kernel, g.theta).PullBundle(g.x, g.bar, g.sums[:len(g.sums)-2])
}

// pulled writes m̄ of the neighbours and, last, of the rows themselves.
func (g *group) pulled(to matrix.Dense) {
	b := g.c.Row(g.m)
	for l := range to.Rows {
		row := to.Row(l)
		for j := range g.m {
			row[j] = -g.g[l] * b[j*linalg.Abreast+l]
		}
		row[g.m] = g.g[l]
	}
}
