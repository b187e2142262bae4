package model

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// Parts says which share of the predicted mean's variance comes from each part of an additive
// kernel: a column alone, two columns together, and the rest of the kernel.
// Inputs are independent and N(0, 1). Standard deviations are by the delta method.
// The formulas are in docs/theory/method.md.
type Parts struct {
	Shares []*Share `json:"shares"` // shares of at least leastShare, the largest first
	Others float64  `json:"others"` // the sum of all other shares
}

// Share is the share of a part, which has all inputs of a categorical column or of a date.
type Share struct {
	Columns []string `json:"columns,omitempty"`
	// the terms of the kernel beside the additive kernel, if this is their share
	Rest  string  `json:"rest,omitempty"`
	Share float64 `json:"share"`
	SD    float64 `json:"sd"`

	m       *Model
	kernels []kernel.Part
	effects []*effect
}

// Shares below leastShare aren't listed. A model with more than mostSplit inputs isn't split, since
// it has thousands of pairs. The rest is averaged over restDraws points.
const (
	leastShare = 0.005
	mostSplit  = 64
	restDraws  = 1000
)

// axis has points over which an effect is averaged, and covariances of a kernel of weight 1.
type axis struct {
	x            matrix.Dense
	weights      []float64
	support, own matrix.Dense // covariances of the points with the support, and among one another
}

// fill computes the covariances of a's points for kernel k at theta.
func (a *axis) fill(q *posterior.Posterior, k kernel.Kernel, theta []float64) {
	a.support, a.own = linalg.New(a.x.Rows, q.Support.Rows), linalg.New(a.x.Rows, a.x.Rows)
	k.Cov(theta, a.x, q.Support, a.support)
	k.Cov(theta, a.x, a.x, a.own)
}

// axisOf makes the points of the trapezoidal rule.
// A product of two covariances and the density has Gaussian factors with a variance of at least
// λ/(λ+2) for the squared lengthscale λ. Steps of that standard deviation leave a relative error of
// about 2 exp(−2π²) (Trefethen and Weideman, "The exponentially convergent trapezoidal rule",
// 2014).
func axisOf(q *posterior.Posterior, main kernel.Part) (a axis) {
	lambda := math.Exp(main.Theta[0])
	step := max(math.Sqrt(lambda/(lambda+2)), 1./32)
	n := int(6.5 / step)
	a.x = linalg.New(2*n+1, q.Support.Cols)
	for i := range a.x.Rows {
		z := float64(i-n) * step
		a.x.Set(i, main.Inputs[0], z)
		a.weights = append(a.weights, step*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
	}
	a.fill(q, main.Kernel, []float64{main.Theta[0], 0})
	return a
}

// drawn has random points, the same in every call.
func drawn(q *posterior.Posterior, of kernel.Part) axis {
	a := axis{x: linalg.New(restDraws, q.Support.Cols),
		weights: slices.Repeat([]float64{1. / restDraws}, restDraws)}
	rng := rand.New(rand.NewPCG(3, 17))
	for i := range a.x.Data {
		a.x.Data[i] = rng.NormFloat64()
	}
	a.fill(q, of.Kernel, of.Theta)
	return a
}

// effect is a function on the points of a, or on all pairs of points of a and b.
// Without a second axis, b is one point that has the covariance 1 with everything.
type effect struct {
	a, b     axis
	weight   float64
	slopes   []float64    // of a linear mean
	mean     matrix.Dense // the posterior mean, 0 on average
	variance float64
}

// integrate sets the mean and the variance, for the posterior's weights w.
func (e *effect) integrate(w []float64) {
	k := linalg.New(e.a.support.Rows, len(w))
	k.CopyFrom(e.a.support)
	e.mean = linalg.New(k.Rows, e.b.support.Rows)
	for i := range k.Rows {
		linalg.Mul(k.Row(i), w)
		for j := range e.mean.Row(i) {
			e.mean.Set(i, j, linalg.Dot(e.slopes, e.a.x.Row(i)))
		}
	}
	linalg.Gemm(false, true, e.weight, k, e.b.support, 1, e.mean)
	middle := 0.
	for i, wa := range e.a.weights {
		middle += wa * linalg.Dot(e.mean.Row(i), e.b.weights)
	}
	for i, v := range e.mean.Data {
		e.mean.Data[i] = v - middle
		e.variance += e.a.weights[i/e.mean.Cols] * e.b.weights[i%e.mean.Cols] * (v - middle) * (v - middle)
	}
}

// moves adds the covariances of 2∫ m δ N with f at the support to c, and returns its prior
// variance.
func (e *effect) moves(c []float64) (variance float64) {
	m := linalg.New(e.mean.Rows, e.mean.Cols)
	for i, v := range e.mean.Data {
		m.Data[i] = 2 * e.a.weights[i/m.Cols] * e.b.weights[i%m.Cols] * v
	}
	along := linalg.New(m.Rows, len(c))
	own := linalg.New(m.Rows, m.Rows)
	half := linalg.New(m.Rows, m.Cols)
	linalg.Gemm(false, false, e.weight, m, e.b.support, 0, along)
	linalg.Gemm(false, false, e.weight, m, e.b.own, 0, half)
	linalg.Gemm(false, true, 1, half, m, 0, own)
	for i := range m.Rows {
		linalg.Mul(along.Row(i), e.a.support.Row(i))
		linalg.Axpy(1, along.Row(i), c)
		variance += linalg.Dot(own.Row(i), e.a.own.Row(i))
	}
	return variance
}

// Parts returns the parts of an additive kernel with their shares of the variance, the largest
// first. It returns nil if the kernel neither is additive nor has such a term, or if the posterior
// isn't factored.
func (m *Model) Parts() *Parts {
	if m.Sited() != nil { // a probability isn't a sum, and neither is a rate
		return nil
	}
	q := m.Trained()
	slopes := make([]float64, len(m.Inputs))
	switch q.Mean.(type) {
	case kernel.ZeroMean:
	case kernel.LinearMean:
		copy(slopes, q.Beta[1:])
	default:
		return nil
	}
	kernels, rest := kernel.Effects(q.Kernel, q.Theta, len(m.Inputs))
	if len(kernels) == 0 || len(m.Inputs) > mostSplit || q.Support.Rows == 0 ||
		q.Part(kernels[0]) == nil || m.Posterior.Monotone != nil {
		return nil
	}
	all := m.split(q, kernels, rest, slopes)
	// Share is the variance so far
	total := lists.Sum(all, func(s *Share) float64 { return s.Share })
	if !(total > 0 && total <= math.MaxFloat64) {
		return nil
	}
	p := &Parts{Shares: all}
	slices.SortStableFunc(all, func(a, b *Share) int { return cmp.Compare(b.Share, a.Share) })
	// Parts of less than leastShare are only summed.
	for i, s := range all {
		if s.Share /= total; s.Share < leastShare {
			p.Shares = p.Shares[:min(i, len(p.Shares))]
			p.Others += s.Share
		}
	}
	m.deviate(q, p.Shares, total)
	return p
}

// split returns the parts of the mean, one for each column, pair of columns and rest, with their
// variances over the inputs' distribution. Categories of one column count as one part.
func (m *Model) split(q *posterior.Posterior, kernels []kernel.Part, rest kernel.Part,
	slopes []float64) (all []*Share) {
	names, of := m.sources()
	axes := map[int]axis{}
	d := len(m.Inputs)
	n := q.Support.Rows
	none := axis{weights: []float64{1}, support: matrix.Of(1, n, slices.Repeat([]float64{1}, n)),
		own: matrix.Of(1, 1, []float64{1})}
	var effects []*effect
	for _, k := range kernels {
		a := k.Inputs[0]
		b := k.Inputs[len(k.Inputs)-1]
		e := &effect{b: none, weight: math.Exp(k.Theta[len(k.Theta)-1]), slopes: make([]float64, d)}
		columns := []string{names[of[a]]}
		// an effect of one input, which comes before the pairs that it is in
		if a == b {
			axes[a] = axisOf(q, k)
			e.slopes[a] = slopes[a]
		} else if e.b = axes[b]; of[a] != of[b] {
			columns = []string{names[min(of[a], of[b])], names[max(of[a], of[b])]}
		}
		e.a = axes[a]
		at := slices.IndexFunc(all, func(s *Share) bool { return slices.Equal(s.Columns, columns) })
		if at < 0 {
			at = len(all)
			all = append(all, &Share{m: m, Columns: columns})
		}
		all[at].kernels = append(all[at].kernels, k)
		all[at].effects = append(all[at].effects, e)
		effects = append(effects, e)
	}
	if rest.Kernel != nil {
		effects = append(effects, &effect{a: drawn(q, rest), b: none, weight: 1,
			slopes: make([]float64, d)})
		all = append(all, &Share{m: m, Rest: rest.Kernel.Spec(rest.Theta).Expression(),
			kernels: []kernel.Part{rest}, effects: effects[len(effects)-1:]})
	}
	linalg.Parallel(len(effects), func(i int) { effects[i].integrate(q.Weights()) })
	for _, s := range all {
		for _, e := range s.effects {
			s.Share += e.variance
		}
	}
	return all
}

// deviate sets the standard deviations of some shares of a total variance.
// Other shares' variances count as known.
func (m *Model) deviate(q *posterior.Posterior, shares []*Share, total float64) {
	n := len(shares)
	_, temper := m.Posterior.OfPrior()
	c := linalg.New(n, q.Support.Rows)
	cov := linalg.New(n, n)
	linalg.Parallel(n, func(i int) {
		for _, e := range shares[i].effects {
			cov.Row(i)[i] += e.moves(c.Row(i))
		}
	})
	q.Explain(c, cov)
	for i, s := range shares {
		slope := slices.Repeat([]float64{-s.Share / total}, n)
		moved := 0.
		slope[i] += 1 / total
		for j, v := range slope {
			moved += v * linalg.Dot(cov.Row(j), slope)
		}
		s.SD = math.Sqrt(cmp.Or(temper, 1) * max(moved, 0))
	}
}

// Name returns "x1", "x2 · x5", or "the rest (matern32)".
func (s *Share) Name() string {
	if s.Rest != "" {
		return "the rest (" + s.Rest + ")"
	}
	return cautious.Name(strings.Join(s.Columns, " · "))
}

// String returns the largest shares with 95 % intervals:
// "x1 31 % ± 2, x2 · x5 12 % ± 3, others 4 %".
func (p *Parts) String() string {
	says := []string(nil)
	others := 1.
	for _, s := range p.Shares[:min(8, len(p.Shares))] {
		says = append(says, fmt.Sprintf("%s %.0f %% ± %.0f", s.Name(), 100*s.Share,
			100*objective.Normal975*s.SD))
		others -= s.Share
	}
	return strings.Join(append(says, fmt.Sprintf("others %.0f %%", 100*max(others, 0))), ", ")
}

// At writes the mean and the standard deviation of the part at the rows of x, both in scaled units.
func (s *Share) At(x matrix.Dense, mean, sd []float64) {
	q := s.m.Trained()
	_, temper := s.m.Posterior.OfPrior()
	q.Part(kernel.SumOf(s.kernels)).Latent(x, mean, sd)
	for i := range mean {
		sd[i] = math.Sqrt(cmp.Or(temper, 1) * sd[i])
		for _, e := range s.effects {
			mean[i] += linalg.Dot(e.slopes, x.Row(i))
		}
	}
}
