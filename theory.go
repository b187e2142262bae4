package krigo

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
)

// Theory is what the theorems of Yue & Kontar ("The Rényi Gaussian Process") say at given parameters, of
// inducing.Theory and objective.RiskBound: Theorems 1 and 2 and their corollary bound D = ln p(y) − L_α, the Rényi
// divergence of the sparse posterior from the exact one, Theorem 5 that of the model's distribution of the targets from
// their true one. A figure whose condition fails isn't there, and Unsaid says why.
type Theory struct {
	Alpha      float64    `json:"alpha"`
	Delta      float64    `json:"delta"`                // each bound may fail with this probability
	Divergence *float64   `json:"divergence,omitempty"` // D itself, where the evidence is known
	Tail       *float64   `json:"tail,omitempty"`       // Σ_{m>M} λ_m of the kernel's eigenvalues
	Theorem1   *float64   `json:"theorem_1,omitempty"`  // ≥ D for targets drawn from the prior with the noise
	Theorem2   *float64   `json:"theorem_2,omitempty"`  // ≥ D for any targets
	Corollary  *Corollary `json:"corollary,omitempty"`
	Theorem5   *Theorem5  `json:"theorem_5,omitempty"`
	Conditions []string   `json:"conditions,omitempty"`
	Unsaid     []string   `json:"unsaid,omitempty"`
}

// Corollary is how many inducing inputs are enough for D to fall like N^−γ, and the bound of D with so many, which of
// Matérn kernels isn't known.
type Corollary struct {
	Gamma    float64  `json:"gamma"`
	Inducing float64  `json:"inducing"`
	Bound    *float64 `json:"bound,omitempty"`
}

// Theorem5 is the bound of D_α(p_θ‖p_θ*)/N: PerNat times ln p_θ*(y) − L_α, and Constant. The truth θ* that targets were
// drawn from is known of simulations alone.
type Theorem5 struct {
	PerNat     float64  `json:"per_nat"`
	Constant   float64  `json:"constant"`
	AlphaELBO  float64  `json:"alpha_elbo"`
	Truth      *float64 `json:"truth,omitempty"`      // ln p_θ*(y)
	Bound      *float64 `json:"bound,omitempty"`      // with it
	Divergence *float64 `json:"divergence,omitempty"` // what is bounded
}

// corollaryRate is the γ of the corollary: D falls like 1/N.
const corollaryRate = 1

// theory returns what is known at x = [θ, β, ln σ_n², Z] of a method whose value is some −L_α; nil of the others.
func (p *plan) theory(params *Params, x []float64, value float64, divergence *float64) (*Theory, error) {
	t := &Theory{Delta: p.options.Promise.Delta, Divergence: divergence}
	switch p.choice.Name {
	case method.RenyiName:
		t.Alpha = *p.choice.Alpha
	case method.VFEName:
		t.Alpha = 1
	default:
		return nil, nil
	}
	switch {
	case t.Alpha == 0:
		t.refuse("α = 0: L_α is the evidence itself, whatever the inducing inputs: give --alpha")
		return t, nil
	case t.Alpha < 0:
		t.refuse("α = %g: the theorems are about 0 ≤ α ≤ 1", t.Alpha)
		return t, nil
	}
	f := p.families[0]
	rows, err := p.survey(f, x, params.Inducing)
	if err != nil {
		return nil, err
	}
	if err := t.ofInducing(p.n, f, params, rows); err != nil {
		return nil, err
	}
	return t, p.risk(t, params, -value)
}

func (t *Theory) refuse(format string, args ...any) {
	t.Unsaid = append(t.Unsaid, fmt.Sprintf(format, args...))
}

// survey is what the theorems ask of the rows.
type survey struct {
	spread []float64 // standard deviations of the inputs
	square float64   // ‖y − m‖²
	given  bool      // the inducing inputs are some of the rows
}

// survey goes through all rows once. Inputs are taken relative to an inducing input, so that their variances have their
// digits.
func (p *plan) survey(f family, x []float64, z [][]float64) (s survey, err error) {
	const block = 4096
	nk, g, d := len(f.kernel.Params()), f.gridParams(), p.data.Cols
	bits := func(row []float64) string {
		var key []byte
		for _, v := range row {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // of −0 as of 0
		}
		return string(key)
	}
	among := map[string]int{}
	for i, row := range z {
		among[bits(row)] = i
	}
	sums, squares, residual, found := make([]float64, d), make([]float64, d), []float64{0}, make([]float64, len(z))
	at, y, mean := matrix.New(block, d), make([]float64, block), make([]float64, block)
	own, _ := p.rows.Dims()
	for i := 0; i < own && err == nil; i += block {
		n := min(block, own-i)
		part := at.RowRange(0, n)
		if err = p.rows.Block(i, n, part.Data[:n*d], y[:n]); err != nil {
			break
		}
		f.mean.At(x[nk:g], part, mean[:n])
		for r := range n {
			residual[0] += (y[r] - mean[r]) * (y[r] - mean[r])
			for j, v := range part.Row(r) {
				sums[j] += v - z[0][j]
				squares[j] += (v - z[0][j]) * (v - z[0][j])
			}
			if k, ok := among[bits(part.Row(r))]; ok {
				found[k] = 1
			}
		}
	}
	ranks := p.data.Ranks()
	if err := ranks.Agree(err); err != nil {
		return s, err
	}
	if err := ranks.Sum(sums, squares, residual, found); err != nil {
		return s, err
	}
	for j, sum := range sums {
		mean := sum / float64(p.n)
		s.spread = append(s.spread, math.Sqrt(max(squares[j]/float64(p.n)-mean*mean, 0)))
	}
	s.square, s.given = residual[0], !slices.Contains(found, 0)
	return s, nil
}

// ofInducing fills in Theorems 1 and 2 and the corollary.
func (t *Theory) ofInducing(n int, f family, params *Params, rows survey) error {
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
			t.Conditions = append(t.Conditions, "rows are independent, and their inputs Gaussian and independent of one "+
				"another, with the standard deviations that they have here")
		}
	case !matern:
		t.refuse("Theorems 1, 2, corollary: the eigenvalues of the kernel %s aren't known, but of se and, for one input, "+
			"Matérn kernels up to a constant", f.name)
	default:
		t.refuse("Theorems 1, 2: of Matérn kernels the eigenvalues are known up to a constant alone")
		switch enough := math.Pow(float64(n), inducing.MaternExponent(r, corollaryRate)); {
		case d > 1:
			t.refuse("corollary: of Matérn kernels it is for one input, not %d", d)
		case r == 0 || enough > float64(n):
			t.refuse("corollary: of %s no M ≤ N = %d makes D fall like N^−%d: it takes N^((γ+2)/(2r)), r = %d", spec.Name, n,
				corollaryRate, r)
		default:
			t.Conditions = append(t.Conditions, "the input's range is bounded; M is that of the corollary but for a constant "+
				"factor")
			t.Corollary = &Corollary{Gamma: corollaryRate, Inducing: enough}
		}
	}
	if t.Theorem1 != nil || t.Corollary != nil {
		t.Conditions = append(t.Conditions, "inducing inputs are drawn from the rows by a k-DPP (--inducing-init kdpp), of "+
			"the corollary as many as it says, and kept (--fix-inducing)",
			"the other parameters were chosen before the rows were seen")
	}
	return nil
}

// ofSE fills in what the eigenvalues of the kernel se give.
func (t *Theory) ofSE(theory inducing.Theory, m int, spec kernel.Spec, rows survey) error {
	lengths, d := spec.Lengthscales, len(rows.spread)
	if len(lengths) == 1 {
		lengths = slices.Repeat(lengths, d)
	}
	for j, sd := range rows.spread {
		rows.spread[j] = max(sd, leastSpread)
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
		one, two := theory.Theorem1(m, tail), theory.Theorem2(m, tail, rows.square)
		t.Tail, t.Theorem1, t.Theorem2 = &tail, &one, &two
	} else {
		t.refuse("Theorems 1, 2: the inducing inputs aren't rows, from which a k-DPP would have drawn them")
	}
	if d > 1 {
		t.refuse("corollary: it is for one input, not %d", d)
		return nil
	}
	enough, bound := theory.SECorollary(lengths[0], rows.spread[0], corollaryRate, rows.square/float64(theory.Rows))
	if enough = math.Max(math.Ceil(enough), 1); enough+1 > float64(theory.Rows) {
		t.refuse("corollary: it takes M = %g inducing inputs, and M + 1 ≤ N = %d", enough, theory.Rows)
		return nil
	}
	t.Corollary = &Corollary{Gamma: corollaryRate, Inducing: enough, Bound: &bound}
	return nil
}

// risk fills in Theorem 5.
func (p *plan) risk(t *Theory, params *Params, elbo float64) error {
	switch {
	case t.Alpha == 1:
		t.refuse("Theorem 5: it is for 0 < α < 1, not α = 1")
		return nil
	case p.estimate:
		t.refuse("Theorem 5: by conjugate gradients L_α is an estimate, and bounds nothing")
		return nil
	}
	t.Conditions = append(t.Conditions, "of Theorem 5 the parameters were chosen before the targets were seen: of "+
		"trained ones it says nothing")
	of := &Theorem5{AlphaELBO: elbo}
	of.PerNat, of.Constant = objective.RiskTerms(p.n, t.Alpha, t.Delta)
	t.Theorem5 = of
	if params.Truth == nil {
		return nil
	}
	if p.options.Kernel.Mean != "zero" {
		t.refuse("Theorem 5: the divergence from the truth is known of means that are zero")
		return nil
	}
	k, mean, x, err := params.Truth.vector("zero", p.data.Cols)
	if err != nil {
		return fmt.Errorf("truth: %w", err)
	}
	all, err := gather(p.rows)
	if err != nil {
		return err
	}
	x = x[:len(k.Params())+1]
	value, err := (&objective.RenyiProblem{Kernel: k, Mean: mean, Rows: all}).Evaluate(x, nil)
	if err != nil {
		return fmt.Errorf("truth: %w", err)
	}
	f := p.families[0]
	own, _, theta, err := params.vector("zero", p.data.Cols)
	if err != nil {
		return err
	}
	covariance := func(k kernel.Kernel, x []float64) linalg.Matrix {
		nk, c := len(k.Params()), all.X.Like(p.n, p.n)
		kernel.FillSymmetric(k, x[:nk], all.X, c)
		c.AddDiagonal(math.Exp(x[nk]))
		return c
	}
	divergence, err := objective.RenyiDivergence(covariance(own, theta), covariance(k, x), t.Alpha)
	if err != nil {
		return fmt.Errorf("the divergence of %s from the truth: %w", f.name, err)
	}
	truth := -value
	bound := objective.RiskBound(p.n, t.Alpha, truth, of.AlphaELBO, t.Delta)
	divergence /= float64(p.n)
	of.Truth, of.Bound, of.Divergence = &truth, &bound, &divergence
	return nil
}
