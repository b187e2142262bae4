package train

import (
	"errors"
	"math"
	"slices"
)

// objective is an Objective with n parameters and the function eval. It counts its calls.
type objective struct {
	n     int
	eval  func(x, g []float64) (float64, error)
	calls int
}

func (o *objective) Dim() int { return o.n }
func (o *objective) Evaluate(x, g []float64) (float64, error) {
	o.calls++
	return o.eval(x, g)
}

// problem is a test function with its known minimum.
type problem struct {
	name    string
	o       LBFGS
	new     func() *objective
	bounds  Bounds
	start   []float64
	x       []float64 // the minimiser, or nil if it isn't known in closed form
	value   float64   // the minimum; if x is nil, SciPy's at its tightest tolerances
	tol     float64   // tolerance of the value, in units of max(|value|, 1)
	atBound []int
	// scipy is the number of evaluations that L-BFGS-B of SciPy 1.17.1 takes with the tolerances and memory of o. limit
	// is the number allowed here.
	limit, scipy int
}

func rosenbrock(n int) func() *objective {
	return func() *objective {
		return &objective{n: n, eval: func(x, g []float64) (float64, error) {
			f := 0.0
			clear(g)
			for i := range n - 1 {
				a, b := x[i+1]-x[i]*x[i], 1-x[i]
				f += 100*a*a + b*b
				g[i] += -400*a*x[i] - 2*b
				g[i+1] += 200 * a
			}
			return f, nil
		}}
	}
}

func beale() *objective {
	return &objective{n: 2, eval: func(x, g []float64) (float64, error) {
		f := 0.0
		clear(g)
		p := 1.0
		for i, c := range []float64{1.5, 2.25, 2.625} {
			q := p * x[1]
			r := c - x[0]*(1-q)
			f += r * r
			g[0] -= 2 * r * (1 - q)
			g[1] += 2 * r * x[0] * float64(i+1) * p
			p = q
		}
		return f, nil
	}}
}

// illConditioned has the Hessian diag(1 .. 1e8), turned by the reflection I - 2vvᵀ/vᵀv, and its
// minimum at 1.
func illConditioned(n int) func() *objective {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1 / float64(i+1)
	}
	vv := dot(v, v)
	reflect := func(u []float64) {
		c := 2 * dot(v, u) / vv
		for i := range u {
			u[i] -= c * v[i]
		}
	}
	return func() *objective {
		return &objective{n: n, eval: func(x, g []float64) (float64, error) {
			for i := range g {
				g[i] = x[i] - 1
			}
			reflect(g)
			f := 0.0
			for i, u := range g {
				h := math.Pow(10, 8*float64(i)/float64(n-1))
				f += h * u * u / 2
				g[i] = h * u
			}
			reflect(g)
			return f, nil
		}}
	}
}

// chain is xᵀAx/2 - bᵀx with A = tridiag(-1, 2, -1) and all b_i = 1. Its minimiser is x_i = i(n+1-i)/2. With x <= c,
// the obstacle problem, x follows the discrete parabola from each end until it touches c (see chainKKT).
func chain(n int) func() *objective {
	return func() *objective {
		return &objective{n: n, eval: func(x, g []float64) (float64, error) {
			f := 0.0
			for i := range n {
				g[i] = 2*x[i] - 1
				if i > 0 {
					g[i] -= x[i-1]
				}
				if i < n-1 {
					g[i] -= x[i+1]
				}
				f += (g[i] - 1) * x[i] / 2
			}
			return f, nil
		}}
	}
}

// chainKKT returns the solution of chain(n) with x <= c = k(k+1)/2. The i-th parameter from either end, i <= k, has x =
// i(2k+1-i)/2, which solves the equations of the free parameters, and touches c at i = k (and would at k+1). The
// multipliers at the bound are 1 or 0.
func chainKKT(n, k int) (x []float64, c, value float64, touching []int) {
	c = float64(k*(k+1)) / 2
	x = make([]float64, n)
	for i := range x {
		j := min(i+1, n-i, k)
		x[i] = float64(j*(2*k+1-j)) / 2
		if j == k {
			touching = append(touching, i)
		}
	}
	value, _ = chain(n)().eval(x, make([]float64, n))
	return x, c, value, touching
}

// evidence is the negative log evidence of a GP with a squared exponential kernel. Its log-parameters are a lengthscale
// for each of dims inputs, the signal variance and the noise variance. The target depends on the first two inputs at
// most. evidence returns an error if the covariance matrix isn't positive definite to rounding.
func evidence(rows, dims int) func() *objective {
	inputs, y := make([][]float64, rows), make([]float64, rows)
	for i := range inputs {
		inputs[i] = make([]float64, dims)
		for j := range inputs[i] {
			inputs[i][j] = 2 * math.Sin(float64((i+1)*(2*j+3)))
		}
		y[i] = math.Sin(2*inputs[i][0]) + 0.1*math.Cos(float64(37*i))
		if dims > 1 {
			y[i] += inputs[i][1] / 2
		}
	}
	return func() *objective {
		n := rows
		k, l, inv := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		alpha := make([]float64, n)
		return &objective{n: dims + 2, eval: func(x, g []float64) (float64, error) {
			variance, noise := math.Exp(x[dims]), math.Exp(x[dims+1])
			for i := range n {
				for j := range n {
					d := 0.0
					for q := range dims {
						u := (inputs[i][q] - inputs[j][q]) * math.Exp(-x[q])
						d += u * u
					}
					k[i*n+j] = variance * math.Exp(-d/2)
				}
			}
			f := float64(n) / 2 * math.Log(2*math.Pi)
			for i := range n {
				for j := range i + 1 {
					s := k[i*n+j]
					if i == j {
						s += noise
					}
					for q := range j {
						s -= l[i*n+q] * l[j*n+q]
					}
					if i > j {
						l[i*n+j] = s / l[j*n+j]
						continue
					}
					if !(s > 1e-14*variance) {
						return 0, errors.New("covariance is not positive definite")
					}
					l[i*n+i] = math.Sqrt(s)
					f += math.Log(s) / 2
				}
			}
			solve := func(b []float64) {
				for i := range n {
					for q := range i {
						b[i] -= l[i*n+q] * b[q]
					}
					b[i] /= l[i*n+i]
				}
				for i := n - 1; i >= 0; i-- {
					for q := i + 1; q < n; q++ {
						b[i] -= l[q*n+i] * b[q]
					}
					b[i] /= l[i*n+i]
				}
			}
			copy(alpha, y)
			solve(alpha)
			f += dot(alpha, y) / 2
			clear(inv)
			for i := range n {
				inv[i*n+i] = 1
				solve(inv[i*n : i*n+n])
			}
			clear(g)
			for i := range n {
				for j := range n {
					w := (inv[i*n+j] - alpha[i]*alpha[j]) / 2 // d f / d K
					for q := range dims {
						u := (inputs[i][q] - inputs[j][q]) * math.Exp(-x[q])
						g[q] += w * k[i*n+j] * u * u
					}
					g[dims] += w * k[i*n+j]
					if i == j {
						g[dims+1] += w * noise
					}
				}
			}
			return f, nil
		}}
	}
}

// barrier is (x1+x2+x3)/sqrt(3) - 0.01 log(4 - |x|²), defined inside a ball only. Outside, it is an error at half of
// the points and NaN at the other half. It falls almost up to the sphere.
func barrier() *objective {
	return &objective{n: 3, eval: func(x, g []float64) (float64, error) {
		gap := 4 - dot(x, x)
		if gap <= 0 && x[0] > x[1] {
			return 0, errors.New("outside the ball")
		}
		f := -0.01 * math.Log(gap)
		for i, v := range x {
			f += v / math.Sqrt(3)
			g[i] = 1/math.Sqrt(3) + 0.02*v/gap
		}
		return f, nil
	}}
}

func linear(c ...float64) func() *objective {
	return func() *objective {
		return &objective{n: len(c), eval: func(x, g []float64) (float64, error) {
			copy(g, c)
			return dot(c, x), nil
		}}
	}
}

func fill(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// classic returns Rosenbrock's start, -1.2 and 1 in turn.
func classic(n int) []float64 {
	x := fill(n, 1)
	for i := 0; i < n; i += 2 {
		x[i] = -1.2
	}
	return x
}

func box(n int, lower, upper float64) Bounds {
	return Bounds{Lower: fill(n, lower), Upper: fill(n, upper)}
}

func problems() []problem {
	chainX, chainTop, chainValue, touching := chainKKT(60, 8)
	edge := -(math.Sqrt(4.0001) - 0.01) // the barrier's minimum is at x = edge·(1, 1, 1)/sqrt(3)
	return []problem{
		{name: "rosenbrock-2", new: rosenbrock(2), start: classic(2), x: fill(2, 1), tol: 1e-8, limit: 50, scipy: 44},
		{name: "rosenbrock-10", new: rosenbrock(10), start: classic(10), x: fill(10, 1), tol: 1e-8, limit: 100, scipy: 88},
		{name: "rosenbrock-100", new: rosenbrock(100), start: classic(100), x: fill(100, 1), tol: 1e-8, limit: 680,
			scipy: 602},
		{name: "rosenbrock-2 x<=0.5", new: rosenbrock(2), start: classic(2), bounds: Bounds{Upper: fill(2, 0.5)},
			x: []float64{0.5, 0.25}, value: 0.25, tol: 1e-9, atBound: []int{0}, limit: 22, scipy: 19},
		{name: "rosenbrock-10 x<=0.5", new: rosenbrock(10), start: fill(10, -1), bounds: Bounds{Upper: fill(10, 0.5)},
			value: 7.594812948946874, tol: 1e-8, atBound: []int{0}, limit: 36, scipy: 28},
		{name: "rosenbrock-100 x<=0.5", new: rosenbrock(100), start: fill(100, -1), bounds: Bounds{Upper: fill(100, 0.5)},
			value: 96.68553161751234, tol: 1e-8, atBound: []int{0}, limit: 36, scipy: 28},
		{name: "beale", new: beale, start: []float64{1, 1}, x: []float64{3, 0.5}, tol: 1e-10, limit: 20, scipy: 16},
		// With less memory than twice the dimension, this problem takes some thousand evaluations; rounding changes the
		// number.
		{name: "condition 1e8", o: LBFGS{Memory: 20}, new: illConditioned(10), start: fill(10, 0), x: fill(10, 1), tol: 1e-7,
			limit: 210, scipy: 149},
		{name: "obstacle", new: chain(60), start: fill(60, 0), bounds: Bounds{Upper: fill(60, chainTop)},
			x: chainX, value: chainValue, tol: 1e-8, atBound: touching, limit: 24, scipy: 17},
		{name: "evidence-1", new: evidence(20, 1), start: fill(3, 0), bounds: box(3, -6, 6), value: -8.864178864358571,
			tol: 1e-9, limit: 21, scipy: 20},
		// The minimum is all noise: the signal variance ends at its bound, on a plateau flat to 1e-6.
		{name: "evidence-1 far", new: evidence(20, 1), start: fill(3, 3), bounds: box(3, -6, 6), value: 20.3135012, tol: 1e-6,
			atBound: []int{1}, limit: 19, scipy: 15},
		{name: "evidence-8 far", new: evidence(40, 8), start: fill(10, 2), bounds: box(10, -6, 6), value: -35.45588124634891,
			tol: 1e-9, atBound: []int{4, 5, 7}, limit: 27, scipy: 21},
		{name: "evidence-8 tight", new: evidence(40, 8), start: fill(10, 0), bounds: box(10, -2, 2), value: 20.17284929360057,
			tol: 1e-8, atBound: []int{0, 2, 4, 5, 6, 7, 9}, limit: 20, scipy: 20},
		{name: "barrier", new: barrier, start: fill(3, 0), x: fill(3, edge/math.Sqrt(3)),
			value: edge - 0.01*math.Log(4-edge*edge), tol: 1e-9, limit: 40},
		{name: "corner", new: linear(1, -2, 3), start: fill(3, 0), bounds: box(3, -1, 2),
			x: []float64{-1, 2, -1}, value: -8, tol: 1e-12, atBound: []int{0, 1, 2}, limit: 3, scipy: 2},
	}
}
