package posterior_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// problem is a GP with everything the dense formulas need.
type problem struct {
	name  string
	k     kernel.Kernel
	theta []float64
	mean  kernel.Mean
	beta  []float64
	x     matrix.Dense
	y     []float64
	noise float64
}

func problems(t *testing.T) []problem {
	t.Helper()
	const n, d = 19, 3
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := matrix.New(n, d), make([]float64, n)
	for i := range y {
		for j := range d {
			x.Row(i)[j] = rng.NormFloat64()
		}
		y[i] = 0.5 + math.Sin(2*x.At(i, 0)) - x.At(i, 2) + 0.2*rng.NormFloat64()
	}
	parse := func(expr string, ard bool) kernel.Kernel {
		return must.Get(kernel.Parse(expr, d, ard))(t)
	}
	linear := kernel.LinearMean{Dim: d}
	return []problem{
		{"se ard, zero mean", parse("se", true), []float64{-0.4, 0.9, 0.2, 0.3}, kernel.ZeroMean{}, nil, x, y, 0.15},
		{"matern12, linear mean", parse("matern12", false), []float64{0.5, -0.2}, linear, []float64{0.3, 0.1, -0.2, -0.7}, x,
			y, 0.4},
		{"matern32+linear, constant mean", parse("matern32+linear", true), []float64{-0.4, 0.9, 0.2, 0.3, -1},
			kernel.LinearMean{}, []float64{0.4}, x, y, 0.02},
		{"noise far above the prior variance", parse("se", false), []float64{0, -2}, kernel.ZeroMean{}, nil, x, y, 40},
	}
}

func (p problem) fit(t *testing.T) *posterior.Posterior {
	t.Helper()
	q := must.Get(posterior.NewExact(posterior.Given{Kernel: p.k, Theta: p.theta, Mean: p.mean, Beta: p.beta,
		Noise: p.noise,
		X:     p.x, Y: p.y}))(t)
	return q
}

// without returns the problem without a row.
func (p problem) without(row int) problem {
	x, y := matrix.New(p.x.Rows-1, p.x.Cols), make([]float64, 0, len(p.y)-1)
	for i, v := range p.y {
		if i != row {
			copy(x.Row(len(y)), p.x.Row(i))
			y = append(y, v)
		}
	}
	p.x, p.y = x, y
	return p
}

// cov returns k(a, b), entry by entry.
func (p problem) cov(a, b matrix.Dense) *mat.Dense {
	out := mat.NewDense(a.Rows, b.Rows, nil)
	one := matrix.New(1, 1)
	for i := range a.Rows {
		for j := range b.Rows {
			p.k.Cov(p.theta, a.RowRange(i, i+1), b.RowRange(j, j+1), one)
			out.Set(i, j, one.At(0, 0))
		}
	}
	return out
}

// prior returns m_β(x), written out.
func (p problem) prior(x matrix.Dense) []float64 {
	m := make([]float64, x.Rows)
	for i := range m {
		for j, b := range p.beta {
			if j == 0 {
				m[i] = b
			} else {
				m[i] += b * x.At(i, j-1)
			}
		}
	}
	return m
}

// inverse returns C⁻¹ explicitly, with C = K + sI.
func (p problem) inverse(t *testing.T) *mat.Dense {
	t.Helper()
	c := p.cov(p.x, p.x)
	for i := range p.y {
		c.Set(i, i, c.At(i, i)+p.noise)
	}
	inv := mat.NewDense(len(p.y), len(p.y), nil)
	must.Do(t, inv.Inverse(c))
	return inv
}

// naive returns the posterior at x by the printed formulas: m + k C⁻¹ r, k − k C⁻¹ kᵀ.
func (p problem) naive(t *testing.T, x matrix.Dense) (mean []float64, cov *mat.Dense) {
	t.Helper()
	n := len(p.y)
	r := mat.NewVecDense(n, nil)
	for i, m := range p.prior(p.x) {
		r.SetVec(i, p.y[i]-m)
	}
	ks := p.cov(x, p.x)
	var gain, drop mat.Dense
	gain.Mul(ks, p.inverse(t))
	var m mat.VecDense
	m.MulVec(&gain, r)
	mean = p.prior(x)
	for i := range mean {
		mean[i] += m.AtVec(i)
	}
	drop.Mul(&gain, ks.T())
	cov = p.cov(x, x)
	cov.Sub(cov, &drop)
	return mean, cov
}

func points(n, d int) matrix.Dense {
	rng := rand.New(rand.NewPCG(5, 6))
	x := matrix.New(n, d)
	for i := range x.Data {
		x.Data[i] = 1.5 * rng.NormFloat64()
	}
	return x
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	must.Hold(t, math.Abs(got-want) <= tol*math.Max(1, math.Abs(want)),
		"%s: got %.15g, want %.15g", what, got, want)
}

func TestLatentAgainstDense(t *testing.T) {
	for _, p := range problems(t) {
		t.Run(p.name, func(t *testing.T) {
			q := p.fit(t)
			for what, x := range map[string]matrix.Dense{"support": p.x, "elsewhere": points(11, 3)} {
				mean, variance := make([]float64, x.Rows), make([]float64, x.Rows)
				q.Latent(x, mean, variance)
				wantMean, wantCov := p.naive(t, x)
				for i := range mean {
					near(t, fmt.Sprintf("%s: mean %d", what, i), mean[i], wantMean[i], 1e-11)
					near(t, fmt.Sprintf("%s: variance %d", what, i), variance[i], wantCov.At(i, i), 1e-11)
				}
			}
		})
	}
}

// TestSquaredExponential compares the whole chain with a formula typed here.
func TestSquaredExponential(t *testing.T) {
	p := problems(t)[0]
	l2 := []float64{math.Exp(-0.4), math.Exp(0.9), math.Exp(0.2)}
	want := p.cov(p.x, p.x)
	for i := range p.y {
		for j := range p.y {
			var d2 float64
			for c, l := range l2 {
				d := p.x.At(i, c) - p.x.At(j, c)
				d2 += d * d / l
			}
			near(t, "k", want.At(i, j), math.Exp(0.3)*math.Exp(-d2/2), 1e-14)
		}
	}
	// L Lᵀ = K + sI and C w = y.
	q := p.fit(t)
	for i := range p.y {
		var cw float64
		l := q.Solution.(*posterior.Exact).Chol
		for j, w := range q.Weights() {
			c := want.At(i, j)
			if i == j {
				c += p.noise
			}
			cw += c * w
			near(t, "L Lᵀ", linalg.Dot(l.Row(i)[:min(i, j)+1], l.Row(j)[:min(i, j)+1]), c, 1e-13)
		}
		near(t, "C w", cw, p.y[i], 1e-12)
	}
}

// TestKLForms compares KL(Q‖P) with its eigen-form
//
//	½Σ[log1p(λ_i/s) − λ_i/(λ_i+s)] + ½Σ λ_i(e_i·r)²/(λ_i+s)²
//
// and with the divergence of two Gaussians, at the support.
func TestKLForms(t *testing.T) {
	for _, p := range problems(t) {
		t.Run(p.name, func(t *testing.T) {
			n := len(p.y)
			got := p.fit(t).KL()
			must.Need(t, got > 0, "KL %v", got)
			dense := p.cov(p.x, p.x)
			k := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i + 1 {
					k.SetSym(i, j, dense.At(i, j))
				}
			}
			var eigen mat.EigenSym
			must.Need(t, eigen.Factorize(k, true), "no eigenvalues")
			var e mat.Dense
			eigen.VectorsTo(&e)
			prior := p.prior(p.x)
			var form float64
			for i, l := range eigen.Values(nil) {
				var er float64
				for j, m := range prior {
					er += e.At(j, i) * (p.y[j] - m)
				}
				ls := l + p.noise
				form += 0.5*(math.Log1p(l/p.noise)-l/ls) + 0.5*l*er*er/(ls*ls)
			}
			must.Hold(t, math.Abs(got-form) <= 1e-10*form, "KL %.15g, eigen-form %.15g", got, form)

			mean, cov := p.naive(t, p.x)
			inv := mat.NewDense(n, n, nil)
			must.Do(t, inv.Inverse(k))
			var kinvS mat.Dense
			kinvS.Mul(inv, cov)
			d := mat.NewVecDense(n, nil)
			for i := range mean {
				d.SetVec(i, mean[i]-prior[i])
			}
			logK, _ := mat.LogDet(k)
			logS, _ := mat.LogDet(cov)
			general := 0.5 * (mat.Trace(&kinvS) + mat.Inner(d, inv, d) - float64(n) + logK - logS)
			if !(math.Abs(got-general) <= 1e-6*general) { // K⁻¹ loses digits
				t.Errorf("KL %.15g, between Gaussians %.15g", got, general)
			}
		})
	}
}

// TestKLVanishes shows that KL(Q‖P) falls to 0 as the noise grows.
func TestKLVanishes(t *testing.T) {
	p := problems(t)[0]
	last := math.Inf(1)
	for _, noise := range []float64{1e-2, 1, 1e2, 1e4, 1e6} {
		p.noise = noise
		kl := p.fit(t).KL()
		must.Hold(t, kl < last && kl >= -1e-9, "noise %v: KL %v after %v", noise, kl, last)
		last = kl
	}
	must.Hold(t, last <= 1e-3, "KL %v at noise 1e6", last)
}

func TestLeaveOneOut(t *testing.T) {
	for _, p := range problems(t) {
		t.Run(p.name, func(t *testing.T) {
			n := len(p.y)
			mean, variance, _ := p.fit(t).LeaveOneOut(p.y)
			units := make([]int, n)
			for i := range units {
				units[i] = i % 5 // i, i+5, i+10 and i+15 are left out together
			}
			means, variances, _ := p.fit(t).LeaveOneOut(p.y, units...)
			for i := range n {
				m, v := make([]float64, 1), make([]float64, 1)
				p.without(i).fit(t).Latent(p.x.RowRange(i, i+1), m, v)
				near(t, fmt.Sprintf("mean %d", i), mean[i], m[0], 1e-10)
				near(t, fmt.Sprintf("variance %d", i), variance[i], v[0]+p.noise, 1e-10)
				rest := p
				for j := n - 1; j >= 0; j-- {
					if units[j] == units[i] {
						rest = rest.without(j)
					}
				}
				rest.fit(t).Latent(p.x.RowRange(i, i+1), m, v)
				near(t, fmt.Sprintf("mean %d without its unit", i), means[i], m[0], 1e-10)
				near(t, fmt.Sprintf("variance %d without its unit", i), variances[i], v[0]+p.noise, 1e-10)
			}
		})
	}
}

// TestRowsAreIndependent: a row's prediction has the same bits alone, in a batch that
// spans several blocks, without its variance, and on any number of cores.
func TestRowsAreIndependent(t *testing.T) {
	for _, p := range problems(t) {
		t.Run(p.name, func(t *testing.T) {
			q := p.fit(t)
			const n = 600
			x := points(n, 3)
			mean, variance := make([]float64, n), make([]float64, n)
			q.Latent(x, mean, variance)
			only := make([]float64, n)
			q.Latent(x, only, nil)
			m, v := make([]float64, 1), make([]float64, 1)
			for i := range n {
				q.Latent(x.RowRange(i, i+1), m, v)
				if m[0] != mean[i] || v[0] != variance[i] || only[i] != mean[i] {
					t.Fatalf("row %d: alone %v ± %v, in a batch %v ± %v, without variance %v", i, m[0], v[0], mean[i], variance[i],
						only[i])
				}
			}
			m, v = make([]float64, 7), make([]float64, 7)
			for i := 0; i+7 <= n; i += 41 {
				q.Latent(x.RowRange(i, i+7), m, v)
				for j := range m {
					must.Need(t, m[j] == mean[i+j] && v[j] == variance[i+j],
						"row %d differs in a batch of 7", i+j)
				}
			}
		})
	}
}

func TestNoisyAddsNoise(t *testing.T) {
	p := problems(t)[0]
	q := p.fit(t)
	x := points(5, 3)
	m, v, mn, vn := make([]float64, 5), make([]float64, 5), make([]float64, 5), make([]float64, 5)
	q.Latent(x, m, v)
	q.Noisy(x, 0.7, mn, vn)
	for i := range m {
		if mn[i] != m[i] || vn[i] != v[i]+0.7 {
			t.Errorf("row %d: %v ± %v, without noise %v ± %v", i, mn[i], vn[i], m[i], v[i])
		}
	}
}

func TestNewExactRefuses(t *testing.T) {
	p := problems(t)[0]
	copy(p.x.Row(1), p.x.Row(0))
	p.noise = 1e-20
	_, err := posterior.NewExact(posterior.Given{Kernel: p.k, Theta: p.theta, Mean: p.mean, Beta: p.beta, Noise: p.noise,
		X: p.x, Y: p.y})
	must.Hold(t, err != nil && strings.Contains(err.Error(), "1e-20") &&
		strings.Contains(err.Error(), "raise the noise variance"),
		"two equal rows without noise: %v", err)
	p = problems(t)[0]
	p.y[3] = math.Inf(1)
	must.Refuse(posterior.NewExact(posterior.Given{Kernel: p.k, Theta: p.theta, Mean: p.mean, Beta: p.beta,
		Noise: p.noise, X: p.x, Y: p.y}))(t, "extreme values", "an infinite target")
}

// Example conditions a Gaussian process on three points and predicts between them.
func Example() {
	k := kernel.SE(1, false)
	theta := []float64{0, 0} // ln l² and ln σ_s²: both 1
	x := matrix.Of(3, 1, []float64{-1, 0, 1})
	y := []float64{-0.8, 0.1, 0.9}
	q, err := posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.ZeroMean{}, Noise: 0.01, X: x,
		Y: y})
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	q.Latent(matrix.Of(2, 1, []float64{0.5, 9}), mean, variance)
	fmt.Printf("between: %.2f ± %.2f\n", mean[0], math.Sqrt(variance[0]))
	fmt.Printf("far off: %.2f ± %.2f\n", mean[1], math.Sqrt(variance[1]))
	fmt.Printf("KL from the prior: %.2f nats\n", q.KL())
	// Output:
	// between: 0.63 ± 0.16
	// far off: 0.00 ± 1.00
	// KL from the prior: 5.76 nats
}
