package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
)

// Theory holds the figures of the theorems of Yue & Kontar ("The Rényi Gaussian Process") at given parameters.
// Theorems 1 and 2 and their corollary bound D = ln p(y) − L_α, the Rényi divergence of the sparse posterior from the
// exact posterior. Theorem 5 bounds the divergence of the model's distribution of the targets from the true
// distribution. A figure whose condition fails is missing, and Unsaid says why.
type Theory struct {
	Alpha      float64    `json:"alpha"`
	Delta      float64    `json:"delta"`                // each bound may fail with this probability
	Divergence *float64   `json:"divergence,omitempty"` // D itself, if the evidence is known
	Tail       *float64   `json:"tail,omitempty"`       // Σ_{m>M} λ_m of the kernel's eigenvalues
	Theorem1   *float64   `json:"theorem_1,omitempty"`  // ≥ D for targets drawn from the prior with the noise
	Theorem2   *float64   `json:"theorem_2,omitempty"`  // ≥ D for any targets
	Corollary  *Corollary `json:"corollary,omitempty"`
	Theorem5   *Theorem5  `json:"theorem_5,omitempty"`
	Conditions []string   `json:"conditions,omitempty"`
	Unsaid     []string   `json:"unsaid,omitempty"`
}

// Corollary holds a number of inducing inputs that makes D fall like N^−γ, and the bound of D with that number. The
// bound is missing for Matérn kernels, where it isn't known.
type Corollary struct {
	Gamma    float64  `json:"gamma"`
	Inducing float64  `json:"inducing"`
	Bound    *float64 `json:"bound,omitempty"`
}

// Theorem5 holds the two terms of the bound of D_α(p_θ‖p_θ*)/N, which is PerNat times ln p_θ*(y) − L_α, plus
// Constant. The true parameters θ*, from which targets were drawn, are known in simulations only.
type Theorem5 struct {
	PerNat     float64  `json:"per_nat"`
	Constant   float64  `json:"constant"`
	AlphaELBO  float64  `json:"alpha_elbo"`
	Truth      *float64 `json:"truth,omitempty"`      // ln p_θ*(y)
	Bound      *float64 `json:"bound,omitempty"`      // the bound, if the truth is known
	Divergence *float64 `json:"divergence,omitempty"` // the divergence that Bound bounds
}

// corollaryRate is the corollary's γ. With γ = 1, D falls like 1/N.
const corollaryRate = 1

// leastSpread replaces smaller standard deviations σ_x of inputs. A constant column has σ_x = 0, and the formulas
// divide by σ_x.
const leastSpread = 1e-6

// question is the input of the theorems: rows in the scale of the parameters, and the GP from which the targets were
// drawn, if that is known.
type question struct {
	table         *dataset.Table
	target        string
	scaling       func(*dataset.Data) (dataset.Scaling, error)
	method        string
	alpha         *float64
	delta         float64
	params, truth *krigo.Params
}

// problem is a question with its rows read and the kernel built.
type problem struct {
	question
	rows   objective.Memory // y minus the prior mean
	kernel kernel.Kernel
	theta  []float64
}

// theory returns the theorems' figures. The method's value must be −L_α for some α.
func (q question) theory(ctx context.Context) (*Theory, error) {
	t := &Theory{Delta: q.delta}
	switch {
	case q.method == method.VFEName:
		t.Alpha, q.alpha = 1, nil
	case q.method != method.RenyiName:
		return nil, fmt.Errorf("objective %q: the theorems hold for renyi and vfe only", q.method)
	case q.alpha != nil:
		t.Alpha = *q.alpha
	}
	switch {
	case t.Alpha == 0:
		t.refuse("α = 0: L_α is then the evidence, whatever the inducing inputs; give another --alpha")
		return t, nil
	case t.Alpha < 0:
		t.refuse("α = %g: the theorems need 0 ≤ α ≤ 1", t.Alpha)
		return t, nil
	}
	p, scaling, err := q.read()
	if err != nil {
		return nil, err
	}
	e, err := krigo.Evaluate(ctx, q.table, q.params, krigo.Options{
		Data:   krigo.Data{Target: q.target, Scaling: dataset.Declared, Declared: &scaling},
		Kernel: krigo.Kernel{Mean: q.mean()}, Method: krigo.Method{Name: q.method, Alpha: q.alpha},
		Promise: krigo.Promise{Delta: q.delta}})
	if err != nil {
		return nil, err
	}
	if b := e.EvidenceBounds; b != nil && b.Evidence != nil && b.Jensen != nil {
		d := max(*b.Evidence-*b.AlphaELBO, 0)
		t.Divergence = &d
	}
	if err := t.ofInducing(len(p.rows.Y), p.params, p.survey()); err != nil {
		return nil, err
	}
	return t, t.risk(p, -e.Value)
}

// mean returns the name of the parameters' prior mean.
func (q question) mean() string {
	switch m := q.params.Mean; {
	case m == nil:
		return "zero"
	case len(m.Linear) == 0:
		return "constant"
	}
	return "linear"
}

// read reads and scales the rows, and subtracts the prior mean from their targets.
func (q question) read() (p *problem, s dataset.Scaling, err error) {
	defer matrix.Ended(&err)
	p = &problem{question: q}
	d, err := q.table.Regression(q.target)
	if err != nil {
		return nil, s, err
	}
	if s, err = q.scaling(d); err != nil {
		return nil, s, err
	}
	all := d.All()
	p.rows = objective.Memory{X: matrix.New(len(all), d.Cols), Y: make([]float64, len(all))}
	if err = d.Scaled(all, s).Block(0, len(all), p.rows.X.Data, p.rows.Y); err != nil {
		return nil, s, err
	}
	if p.kernel, p.theta, err = q.params.Kernel.Build(d.Cols); err != nil {
		return nil, s, err
	}
	if m := q.params.Mean; m != nil {
		for i := range p.rows.Y {
			p.rows.Y[i] -= m.Constant
			for j, slope := range m.Linear {
				p.rows.Y[i] -= slope * p.rows.X.At(i, j)
			}
		}
	}
	return p, s, nil
}

func (t *Theory) refuse(format string, args ...any) {
	t.Unsaid = append(t.Unsaid, fmt.Sprintf(format, args...))
}

// survey holds the figures of the rows that the theorems need.
type survey struct {
	spread []float64 // standard deviations of the inputs
	square float64   // ‖y − m‖²
	given  bool      // every inducing input is a row
}

// survey computes the figures. It first subtracts an inducing input from the inputs, so that large offsets don't cost
// digits of the variances.
func (p *problem) survey() (s survey) {
	bits := func(row []float64) string {
		var key []byte
		for _, v := range row {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // turns −0 into 0
		}
		return string(key)
	}
	missing, z := map[string]bool{}, p.params.Inducing
	for _, row := range z {
		missing[bits(row)] = true
	}
	d, n := p.rows.X.Cols, float64(len(p.rows.Y))
	sums, squares := make([]float64, d), make([]float64, d)
	for i, y := range p.rows.Y {
		s.square += y * y
		for j, v := range p.rows.X.Row(i) {
			sums[j] += v - z[0][j]
			squares[j] += (v - z[0][j]) * (v - z[0][j])
		}
		delete(missing, bits(p.rows.X.Row(i)))
	}
	for j, sum := range sums {
		s.spread = append(s.spread, max(math.Sqrt(max(squares[j]/n-sum/n*sum/n, 0)), leastSpread))
	}
	s.given = len(missing) == 0
	return s
}

// ofInducing fills in Theorems 1 and 2 and the corollary for n rows.
func (t *Theory) ofInducing(n int, params *krigo.Params, rows survey) error {
	m, d, spec := len(params.Inducing), len(rows.spread), params.Kernel
	theory := inducing.Theory{Rows: n, Alpha: t.Alpha, Noise: params.NoiseVariance, Variance: spec.Variance,
		Delta: t.Delta}
	smooth := map[string]int{"matern12": 0, "matern32": 1, "matern52": 2}
	switch r, matern := smooth[spec.Name]; {
	case spec.Name == "se":
		if err := t.ofSE(theory, m, spec, rows); err != nil {
			return err
		}
		if t.Theorem1 != nil || t.Corollary != nil {
			t.Conditions = append(t.Conditions, "rows are independent, and inputs are independent and Gaussian, with the "+
				"standard deviations of these rows")
		}
	case !matern:
		t.refuse("Theorems 1, 2, corollary: the eigenvalues of the kernel %s aren't known; they are known for se and, with one "+
			"input, up to a constant for Matérn kernels", spec)
	default:
		t.refuse("Theorems 1, 2: the eigenvalues of Matérn kernels are known only up to a constant")
		switch enough := math.Pow(float64(n), inducing.MaternExponent(r, corollaryRate)); {
		case d > 1:
			t.refuse("corollary: for Matérn kernels it needs one input, not %d", d)
		case r == 0 || enough > float64(n):
			t.refuse("corollary: with %s no M ≤ N = %d makes D fall like N^−%d; M must be N^((γ+2)/(2r)), r = %d", spec.Name, n,
				corollaryRate, r)
		default:
			t.Conditions = append(t.Conditions, "the input's range is bounded, and M is the corollary's up to a constant "+
				"factor")
			t.Corollary = &Corollary{Gamma: corollaryRate, Inducing: enough}
		}
	}
	if t.Theorem1 != nil || t.Corollary != nil {
		t.Conditions = append(t.Conditions, "inducing inputs are drawn from the rows by a k-DPP (--inducing-init kdpp) "+
			"and kept (--fix-inducing); for the corollary their number is its M",
			"the other parameters were chosen before the rows were seen")
	}
	return nil
}

// ofSE fills in the figures that follow from the eigenvalues of the kernel se.
func (t *Theory) ofSE(theory inducing.Theory, m int, spec kernel.Spec, rows survey) error {
	lengths, d := spec.Lengthscales, len(rows.spread)
	if len(lengths) == 1 {
		lengths = slices.Repeat(lengths, d)
	}
	if rows.given {
		spectrum, err := inducing.NewSESpectrum(spec.Variance, lengths, rows.spread)
		if err != nil {
			return err
		}
		var tail float64
		for range m {
			_, tail = spectrum.Next()
		}
		one, two := theorem1(theory, m, tail), theory.Theorem2(m, tail, rows.square)
		t.Tail, t.Theorem1, t.Theorem2 = &tail, &one, &two
	} else {
		t.refuse("Theorems 1, 2: the inducing inputs aren't rows, but a k-DPP draws them from rows")
	}
	if d > 1 {
		t.refuse("corollary: it needs one input, not %d", d)
		return nil
	}
	enough, bound, err := seCorollary(theory, lengths[0], rows.spread[0], rows.square/float64(theory.Rows))
	if err != nil {
		return err
	}
	if enough = math.Max(math.Ceil(enough), 1); enough+1 > float64(theory.Rows) {
		t.refuse("corollary: it needs M = %g inducing inputs, and M + 1 ≤ N = %d", enough, theory.Rows)
		return nil
	}
	t.Corollary = &Corollary{Gamma: corollaryRate, Inducing: enough, Bound: &bound}
	return nil
}

// theorem1 returns the bound on D for y drawn from the prior with the noise ("Optimize to Generalize in Gaussian
// Processes", Theorem 1, second part; "The Rényi Gaussian Process", Theorem 1). It is Theorem 2 with ‖y‖²/s = 1.
func theorem1(t inducing.Theory, m int, tail float64) float64 { return t.Theorem2(m, tail, t.Noise) }

// seCorollary computes Corollary 2 of "Optimize to Generalize" (Corollary 3 of "The Rényi Gaussian Process") for the
// kernel se on one Gaussian input, with ‖y‖² ≤ RN. It returns the number m of inducing inputs that is enough, not
// rounded, and the bound of D with m, which falls like N^−γ. η has 2√A where the papers print a√A. a = 1/(4σ_x²) has
// the input's variance, not the noise. ε is δs/(vN^{γ+2}), whatever t.DPPError is. The corollary needs M+1 ≤ N.
func seCorollary(t inducing.Theory, lengthscale, inputSD, r float64) (m, bound float64, err error) {
	spectrum, err := inducing.NewSESpectrum(1, []float64{lengthscale}, []float64{inputSD})
	if err != nil {
		return 0, 0, err
	}
	_, b := spectrum.Next() // Σ_{m>1} (1−B)B^{m−1}
	n, share, gamma := float64(t.Rows), 1-t.Alpha, float64(corollaryRate)
	eta := t.Variance / (2 * t.Noise * t.Delta) // √(2a/A) = 1 − B
	m = ((3+gamma)*math.Log(n) + math.Log(eta)) / -math.Log(b)
	small := 4 * t.Delta / math.Pow(n, gamma+2)
	first := n * small
	if share > 0 {
		first = n * math.Log1p(share*small) / share
	}
	return m, t.Alpha * (2*r/(t.Noise*math.Pow(n, gamma)) + first/(2*t.Delta)), nil
}

// risk fills in Theorem 5, from the value elbo of L_α.
func (t *Theory) risk(p *problem, elbo float64) error {
	if t.Alpha == 1 {
		t.refuse("Theorem 5: it needs 0 < α < 1, not α = 1")
		return nil
	}
	t.Conditions = append(t.Conditions, "for Theorem 5, the parameters were chosen before the targets were seen; it says "+
		"nothing about trained parameters")
	n := len(p.rows.Y)
	of := &Theorem5{AlphaELBO: elbo}
	of.PerNat, of.Constant = riskTerms(n, t.Alpha, t.Delta)
	t.Theorem5 = of
	if p.truth == nil {
		return nil
	}
	if p.params.Mean != nil || p.truth.Mean != nil {
		t.refuse("Theorem 5: the divergence from the truth is known for zero means only")
		return nil
	}
	k, theta, err := p.truth.Kernel.Build(p.rows.X.Cols)
	if err != nil {
		return fmt.Errorf("truth: %w", err)
	}
	value, err := (&objective.RenyiProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: p.rows}).Evaluate(
		append(slices.Clone(theta), math.Log(p.truth.NoiseVariance)), nil)
	if err != nil {
		return fmt.Errorf("truth: %w", err)
	}
	covariance := func(k kernel.Kernel, theta []float64, noise float64) matrix.Dense {
		c := matrix.New(n, n)
		kernel.At(k, theta).FillSymmetric(p.rows.X, c)
		c.AddDiagonal(noise)
		return c
	}
	divergence, err := renyiDivergence(covariance(p.kernel, p.theta, p.params.NoiseVariance),
		covariance(k, theta, p.truth.NoiseVariance), t.Alpha)
	if err != nil {
		return fmt.Errorf("the divergence from the truth: %w", err)
	}
	truth := -value
	bound := riskBound(n, t.Alpha, truth, of.AlphaELBO, t.Delta)
	divergence /= float64(n)
	of.Truth, of.Bound, of.Divergence = &truth, &bound, &divergence
	return nil
}
