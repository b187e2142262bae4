package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"gonum.org/v1/gonum/floats"
)

// near predicts each row from the nearest rows of the support.
// Only single points have variances, and no joint distribution of several points exists.
type near struct {
	count int // nearest rows used for a prediction
	index func() *neighbours.Index
}

// newNear makes the index of the rows once, when it is first needed.
func newNear(p *Posterior, count int) near {
	return near{min(count, p.Support.Rows),
		sync.OnceValue(func() *neighbours.Index {
			return neighbours.New(p.Kernel, p.Theta, p.Support)
		})}
}

func (near) Inducing() int               { return 0 }
func (near) kl(*Posterior) float64       { return math.NaN() }
func (near) rounding(*Posterior) float64 { return math.NaN() }

// explain panics: Joint and Drawable keep callers from asking for covariances.
func (near) explain(matrix.Dense, matrix.Dense) { panic("posterior: no joint covariance") }

// prior returns an error, because a prior's covariance needs the factor of one matrix.
func (near) prior(*kernel.Conditional) error {
	return errors.New("a posterior by conjugate gradients or nearest rows can't be a prior: its " +
		"covariance isn't factored")
}

// work returns about count³/3 multiplications for the Cholesky factor of a row's own C, and 2·n·d
// for the search of its nearest rows.
func (s near) work(n, d float64, _ bool) float64 {
	k := float64(s.count)
	return k*k*k/3 + 2*n*d
}

// Nearest is the solution that predicts a row by the exact GP of count rows of the support:
// the rows that the prior correlates most with it (package neighbours).
// For stationary kernels these are the nearest rows.
// It is another model than the exact GP on all rows.
type Nearest struct {
	near
	Targets []float64 // y − m_β(X)
}

var _ Solution = (*Nearest)(nil)

// NewNearest returns a posterior that predicts each row from count rows of x. It keeps x.
func NewNearest(g Given, count int) *Posterior {
	p := &Posterior{Kernel: g.Kernel, Theta: g.Theta, Mean: g.Mean, Beta: g.Beta, Noise: g.Noise,
		Support: g.X, Noises: g.PerRow.Each(g.X.Rows, g.Noise)}
	targets := make([]float64, len(g.Y))
	g.Mean.At(g.Beta, g.X, targets)
	linalg.Minus(g.Y, targets)
	p.Solution = &Nearest{newNear(p, count), targets}
	return p
}

func (*Nearest) Kind() string { return ByNearest }

// Joint returns why there is no certificate: each row is predicted by a GP of its own.
func (*Nearest) Joint() error {
	return errors.New("each prediction stands on other rows: there is no one posterior Q to " +
		"certify; --prior informed certifies the mean by its own misses, and kl-pac with " +
		"inducing inputs has a Q")
}

// Drawable returns why there are no draws: predictions from different rows have no joint
// distribution.
func (*Nearest) Drawable() error {
	return errors.New("a posterior of the nearest rows can't be sampled: each prediction stands " +
		"on other rows, so they have no joint distribution: fit one with --solver cholesky or " +
		"cg, or with inducing inputs")
}

func (q *Nearest) Local() string {
	return fmt.Sprintf("the %d training rows nearest to it", q.count)
}

// Arrays returns the targets y − m(X), and the number of nearest rows. Everything else follows from
// the support.
func (q *Nearest) Arrays() ([]Array, int) {
	return []Array{list("targets", q.Targets)}, q.count
}
func (q *Nearest) until(context.Context) Solution { return q }
func (*Nearest) Weights() []float64               { return nil }

// latent adds to m(x) what the nearest rows' targets explain, and subtracts from k(x,x) the
// variance that they explain.
func (q *Nearest) latent(p *Posterior, x matrix.Dense, mean, variance []float64) {
	p.Mean.At(p.Beta, x, mean)
	if variance != nil {
		p.Kernel.Diag(p.Theta, x, variance)
	}
	q.nearest(p, q.Targets, x, mean, variance)
}

func (*Nearest) conditioning(context.Context, *Posterior, Iterative) (conditioner, error) {
	return nil, (*Nearest)(nil).Drawable()
}

// refactor builds a new index of the rows.
func (q *Nearest) refactor(p *Posterior) (Solution, error) {
	return &Nearest{newNear(p, q.count), q.Targets}, nil
}

// follows checks that Targets are y − m(X), to the tolerance of at. Free rows may have any target.
func (q *Nearest) follows(_ *Posterior, y, mean []float64, at Made) error {
	for i := range y {
		residual := y[i] - mean[i]
		if !at.free(i) &&
			!(math.Abs(q.Targets[at.Place(i)]-residual) <= at.Tolerance*(math.Abs(y[i])+
				math.Abs(mean[i]))) {
			return ErrOther
		}
	}
	return nil
}

const (
	nearestTask = 32      // rows predicted by a task
	nearestRows = 1 << 14 // rows whose neighbours are in memory at a time
)

// nearest adds the effect of targets to the prior's mean, unless targets is nil.
// It subtracts the explained variance from the prior's variance, unless variance is nil.
func (s near) nearest(p *Posterior, targets []float64, x matrix.Dense, mean, variance []float64) {
	rows := make([]int32, min(x.Rows, nearestRows)*s.count)
	for i0, i1 := range lists.Blocks(x.Rows, nearestRows) {
		s.index().Nearest(x.RowRange(i0, i1), s.count, rows, nil)
		p.condition(targets, x.RowRange(i0, i1), rows, s.count, mean[i0:], variance)
		if variance != nil {
			variance = variance[i1-i0:]
		}
	}
}

// condition does the work of nearest for rows of x whose m nearest rows are known.
func (p *Posterior) condition(targets []float64, x matrix.Dense, rows []int32, m int, mean,
	variance []float64) {
	linalg.Blocks(x.Rows, nearestTask, func(i0, i1 int) {
		x.Check()
		near := newLocal(p, targets, m)
		for i := i0; i < i1; i++ {
			m, explained := near.condition(x.RowRange(i, i+1), rows[i*m:][:m])
			mean[i] += m
			if variance != nil {
				variance[i] = max(variance[i]-explained, 0)
			}
		}
		near.release()
	})
}

// Own returns a function that sets the mean and variance of f in each row of g, as NewNearest has
// them for count rows, given the rows' targets and noise variances.
// It searches for the nearest rows once.
func Own(g Given, count int) func(y, noises, mean, variance []float64) {
	p := NewNearest(g, count)
	s := p.Solution.(*Nearest)
	rows := make([]int32, p.Support.Rows*s.count)
	s.index().Nearest(p.Support, s.count, rows, nil)
	return func(y, noises, mean, variance []float64) {
		q := *p
		q.Noises = noises
		q.Mean.At(q.Beta, q.Support, mean)
		q.Kernel.Diag(q.Theta, q.Support, variance)
		targets := floats.SubTo(make([]float64, len(y)), y, mean)
		q.condition(targets, q.Support, rows, s.count, mean, variance)
	}
}

// othersRows is the most rows that Others predicts a row from.
const othersRows = 128

// Others predicts rows of the support, given by their numbers, from the nearest others.
// It returns the errors and the variances of f, given the targets y of the support's rows, or nil
// unless the solution has nearest rows.
func (p *Posterior) Others(y []float64, of []int) (errs, variance []float64) {
	s, ok := p.Solution.(interface{ neighbours() near })
	if !ok {
		return nil, nil
	}
	near := s.neighbours()
	// A row of the support is its own nearest row, so the search leaves it out.
	m := min(near.count, othersRows, p.Support.Rows-1)
	targets := make([]float64, len(y))
	points := linalg.Pick(p.Support.Like(len(of), p.Support.Cols), p.Support, of)
	p.Mean.At(p.Beta, p.Support, targets)
	linalg.Minus(y, targets)
	rows := make([]int32, len(of)*m)
	errs = make([]float64, len(of))
	variance = make([]float64, len(of))
	near.index().Others(of, m, rows)
	p.Kernel.Diag(p.Theta, points, variance)
	linalg.Blocks(len(of), nearestTask, func(k0, k1 int) {
		l := newLocal(p, targets, m)
		for k := k0; k < k1; k++ {
			mean, explained := l.condition(points.RowRange(k, k+1), rows[k*m:][:m])
			errs[k], variance[k] = targets[of[k]]-mean, max(variance[k]-explained, 0)
		}
		l.release()
	})
	return errs, variance
}

func (s near) neighbours() near { return s }

// local conditions single rows on their nearest rows.
type local struct {
	*Posterior
	targets []float64
	x       matrix.Dense // the nearest rows
	// k holds the nearest rows' C. Below C it has a row k(x)ᵀ and a row rᵀ, which become L⁻¹k(x)
	// and L⁻¹r when C becomes L.
	k matrix.Dense
}

// newLocal returns scratch memory for m nearest rows. The caller gives it back with release.
func newLocal(p *Posterior, targets []float64, m int) *local {
	return &local{p, targets, linalg.Borrow(m, p.Support.Cols), linalg.Borrow(m+2, m+2)}
}

// release gives the scratch memory back to its pool.
func (l *local) release() { linalg.Return(l.x, l.k) }

// uncounted stands on the diagonal of the rows k(x)ᵀ and rᵀ, whose factor matters only left of the
// diagonal. It is so large that no number which the factorisation subtracts makes it negative.
const uncounted = math.MaxFloat64 / 4

// condition conditions a point on rows of the support, in the order of the support, so that the
// last digits don't depend on which row is nearest.
// It returns what the rows add to the mean (nothing without targets), and the variance that they
// explain. If their covariance matrix can't be factored, or if too few covariances are finite, the
// results are NaN.
func (l *local) condition(point matrix.Dense, rows []int32) (mean, explained float64) {
	if rows[len(rows)-1] == neighbours.None {
		return math.NaN(), math.NaN()
	}
	slices.Sort(rows)
	c, r, err := l.factor(point, rows)
	if err != nil {
		return math.NaN(), math.NaN()
	}
	return linalg.Dot(c, r), linalg.Dot(c, c)
}

// factor returns L⁻¹k(x) and L⁻¹r for rows of the support.
// The first numbers of both depend on the first rows alone.
func (l *local) factor(point matrix.Dense, rows []int32) (c, r []float64, err error) {
	m := len(rows)
	c = l.k.Row(m)[:m]
	r = l.k.Row(m + 1)[:m]
	for i, row := range rows {
		copy(l.x.Row(i), l.Support.Row(int(row)))
		if r[i] = 0; l.targets != nil {
			r[i] = l.targets[row]
		}
	}
	kernel.At(l.Kernel, l.Theta).FillLower(l.x, l.k.View(0, m, 0, m))
	for i, row := range rows {
		l.k.Row(i)[i] += l.NoiseOf(int(row))
	}
	l.Kernel.Cov(l.Theta, point, l.x, l.k.View(m, m+1, 0, m))
	l.k.Set(m, m, uncounted)
	l.k.Set(m+1, m, 0)
	l.k.Set(m+1, m+1, uncounted)
	return c, r, linalg.Cholesky(l.k)
}

// Along returns a posterior whose mean has slopes on the way through the points:
// p itself, if p has weights, else the exact GP on as many rows of the support as predict a single
// row. These are the rows nearest to the points, about the same number for each point.
// The mean of this GP is near p's.
func (p *Posterior) Along(points matrix.Dense) *Posterior {
	q, ok := p.Solution.(*Nearest)
	if !ok {
		return p
	}
	near := make([]int32, points.Rows*q.count)
	q.index().Nearest(points, q.count, near, nil)
	taken := map[int32]bool{neighbours.None: true}
	var rows []int32
	for i := 0; i < len(near) && len(rows) < q.count; i++ {
		// the nearest rows of all points, then the second nearest rows
		row := near[i%points.Rows*q.count+i/points.Rows]
		if !taken[row] {
			taken[row] = true
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	x := points.Like(len(rows), points.Cols)
	y := make([]float64, len(rows))
	var of RowNoise // the rows' own noise, if they differ
	for i, row := range rows {
		copy(x.Row(i), p.Support.Row(int(row)))
		if p.Noises != nil {
			of.Factor = append(of.Factor, p.Noises[row]/p.Noise)
		}
	}
	p.Mean.At(p.Beta, x, y)
	for i, row := range rows {
		y[i] += q.Targets[row]
	}
	exact, err := NewExact(Given{p.Kernel, p.Theta, p.Mean, p.Beta, p.Noise, x, y, of})
	if err != nil {
		panic(matrix.End{Err: err})
	}
	return exact
}
