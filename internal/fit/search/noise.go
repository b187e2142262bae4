package search

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A noise that depends on the inputs is learnt on the rows that train, in turns with the parameters
// (Goldberg, Williams and Bishop 1998, in the form of most likely noises: Kersting et al. 2007).
// With the errors r_i of predicting each row from the others, and the variances v_i of f there, it
// minimises
//
//	½ Σ_i [ln(v_i + s_i) + r_i²/(v_i + s_i)] + |b|²/(2τ²),  ln s_i = c + φ(x_i)ᵀb
//
// φ(x) is x itself (linear), or L⁻¹k(Z,x) for centres Z with K_ZZ = L Lᵀ, so that φᵀb is a Gaussian
// process on Z's span (gp). Held-out density chooses the length of k and τ, and whether the noise
// may be a constant.
//
// With nearest, and on batches, exp(φᵀb + c) is a factor of the whole variance v_i + s instead, and
// φ is a function of the mean and ln(v_i + s) too (observation.Varying).
// A kernel that is rough takes noise for a function, and no noise makes up for a v_i that is too
// large. On a fifth of protein, the half-width that holds .95, on average in standard deviations of
// the target, falls from 1.133 to .894 and the NLPD from .587 to .533.
// With φ(x) alone the NLPD is .456 instead of .529 on another tenth, and the half-width is no less.
// With a noise beside v_i the NLPD is .84 there.
//
// If nobody names a noise, and errors are uneven (evenness), the noise of an exact GP is learnt for
// predictions alone (observation.Varying.Later). On 32 of 96 splits of 48 tables left-out errors
// speak for it. The NLPD is .24 less there (median .07), and worse by more than .02 on two splits.
// 95 % intervals hold 95.1 % of test rows, and 94.7 % with one noise. Training again with it raises
// the RMSE by more than 3 % on 10 of 21 splits, and lowers it on three.
// As a factor of v_i + s, it makes intervals too narrow in gaps between rows (yacht: NLPD 1.7, and
// 1.4 with a noise beside v_i).

const (
	noiseRounds  = 2    // times that noise and parameters are trained in turn
	noiseRows    = 4096 // most rows that the noise is learnt on
	noiseCentres = 50   // most centres of gp
	noiseFolds   = 5    // parts of the rows, of which each is predicted from the others
	noiseGain    = 3    // nats that auto asks of a noise that isn't constant
	noiseChance  = 0.01 // of errors that look as uneven, if the noise is constant
)

// noiseForm is a form of noise to try.
type noiseForm struct {
	length float64 // lengthscale of gp's kernel; 0: linear
	spread float64 // τ
}

// noiseForms returns the forms to try for an option (linear, gp, or auto, which tries both), for
// inputs of d columns. Lengths grow with √d, as distances between scaled rows do.
func noiseForms(option string, d int) (all []noiseForm) {
	for _, spread := range []float64{0.3, 1, 2} {
		if option != ask.NoiseGP {
			all = append(all, noiseForm{0, spread})
		}
		for _, length := range []float64{0.25, 0.5, 1, 2} {
			if option != ask.NoiseLinear {
				all = append(all, noiseForm{length * math.Sqrt(float64(d)), spread})
			}
		}
	}
	return all
}

// noiseProblem is −ln of the density of errors, as a function of [c, b].
type noiseProblem struct {
	phi    matrix.Dense
	r2, v  []float64 // r_i² and v_i
	rows   []int     // the rows that count
	spread float64
}

var _ train.Objective = noiseProblem{}

// Dim returns the number of parameters: c, and one of b for each column of φ.
func (p noiseProblem) Dim() int { return 1 + p.phi.Cols }

// Evaluate returns the objective at the head of this file at x = [c, b], in nats and without the
// constant ½ ln 2π of each row. It writes the gradient unless gradient is nil.
func (p noiseProblem) Evaluate(x, gradient []float64) (float64, error) {
	b := x[1:]
	value := linalg.Dot(b, b) / (2 * p.spread * p.spread)
	if gradient != nil {
		gradient[0] = 0
		linalg.ScaleTo(gradient[1:], 1/(p.spread*p.spread), b)
	}
	for _, i := range p.rows {
		s := math.Exp(x[0] + linalg.Dot(p.phi.Row(i), b))
		all := p.v[i] + s
		value += (math.Log(all) + p.r2[i]/all) / 2
		if gradient != nil {
			// ∂/∂ln s_i = ½ s_i/(v_i + s_i) · (1 − r_i²/(v_i + s_i)), and ln s_i is linear in [c,
			// b].
			g := s * (1 - p.r2[i]/all) / (2 * all)
			gradient[0] += g
			linalg.Axpy(g, p.phi.Row(i), gradient[1:])
		}
	}
	return value, nil
}

// fit returns the minimiser. Without features it is the constant noise.
func (p noiseProblem) fit(ctx context.Context) ([]float64, error) {
	start := make([]float64, p.Dim())
	// E[r²] = v + s gives a first s. The tenth of r² keeps it positive if v is too large.
	sum := lists.Sum(p.rows, func(i int) float64 { return max(p.r2[i]-p.v[i], p.r2[i]/10) })
	start[0] = math.Log(max(sum/float64(len(p.rows)), model.LeastNoise))
	box := train.Bounds{Lower: slices.Repeat([]float64{math.Inf(-1)}, p.Dim()),
		Upper: slices.Repeat([]float64{math.Inf(1)}, p.Dim())}
	box.Lower[0], box.Upper[0] = math.Log(model.LeastNoise), math.Log(model.MostNoise)
	start[0] = min(max(start[0], box.Lower[0]), box.Upper[0])
	r, err := train.LBFGS{MaxEvaluations: 200, ValueTolerance: 1e-7}.In(box).Minimize(ctx, p,
		train.Start(start), nil)
	if err != nil {
		return nil, err
	}
	return r.X, ctx.Err()
}

// heldOut returns the −ln of the density of all rows, each predicted by a fit to the other folds.
func (p noiseProblem) heldOut(ctx context.Context) (total float64, err error) {
	for fold := range noiseFolds {
		q := p
		q.rows = nil
		var out []int
		for k, i := range p.rows {
			// rows are in random order, so every fifth one makes a random fold
			if k%noiseFolds == fold {
				out = append(out, i)
			} else {
				q.rows = append(q.rows, i)
			}
		}
		x, err := q.fit(ctx)
		if err != nil {
			return 0, err
		}
		q.rows = out
		q.spread = math.Inf(1) // only the density
		value, _ := q.Evaluate(x, nil)
		total += value
	}
	return total, nil
}

// features returns φ at the rows of x.
func (f noiseForm) features(x, z, l matrix.Dense) matrix.Dense {
	if f.length == 0 {
		return x
	}
	phi := x.Like(x.Rows, z.Rows)
	kernel.At(kernel.SE(x.Cols, false), f.theta()).Fill(x, z, phi)
	linalg.Trsm(false, true, l, phi)
	return phi
}

// theta returns the parameters [ln l², ln variance] of the squared exponential kernel of gp, whose
// variance is 1.
func (f noiseForm) theta() []float64 { return []float64{2 * math.Log(f.length), 0} }

// factor returns the Cholesky factor of the form's K_ZZ.
func (f noiseForm) factor(z matrix.Dense) (matrix.Dense, error) {
	l := z.Like(z.Rows, z.Rows)
	if f.length == 0 {
		return l, nil
	}
	_, err := posterior.FactorInducing(kernel.At(kernel.SE(z.Cols, false), f.theta()), z, 1e-8, l)
	return l, err
}

// learnNoise returns the noise of an option that the errors speak for, and c, the mean of ln s on
// the rows. It is nil if auto finds that held-out density doesn't gain enough. gain is in nats.
func learnNoise(ctx context.Context, option string, x matrix.Dense, r2, v []float64,
	seed uint64) (_ *observation.Varying, mean, gain float64, err error) {
	rng := rand.New(rand.NewPCG(seed, 0x6e6f697365)) // "noise"
	base := noiseProblem{phi: x.Like(x.Rows, 0), r2: r2, v: v, rows: rng.Perm(x.Rows), spread: 1}
	constant, err := base.heldOut(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	z, err := inducing.KMeans(x, min(noiseCentres, (x.Rows+1)/2), rng)
	if err != nil {
		return nil, 0, 0, err
	}
	forms := noiseForms(option, x.Cols)
	values := make([]float64, len(forms))
	factors := make([]matrix.Dense, len(forms))
	errs := make([]error, len(forms))
	linalg.Parallel(len(forms), func(k int) {
		p := base
		f := forms[k]
		if factors[k], errs[k] = f.factor(z); errs[k] == nil {
			p.phi = f.features(x, z, factors[k])
			p.spread = f.spread
			values[k], errs[k] = p.heldOut(ctx)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, 0, 0, err
	}
	// The constant noise wins unless the best form gains more than noiseGain nats on held-out rows.
	best := slices.Index(values, slices.Min(values))
	if gain = constant - values[best]; option == ask.NoiseAuto && !(gain > noiseGain) {
		return nil, 0, gain, nil
	}
	f := forms[best]
	l := factors[best]
	base.phi = f.features(x, z, l)
	base.spread = f.spread
	w, err := base.fit(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	varying := &observation.Varying{Slopes: w[1:]}
	// φᵀb = k(x,Z) L⁻ᵀb, so the file keeps the weights L⁻ᵀb and the centres.
	if f.length > 0 {
		linalg.Trsv(true, l, w[1:])
		varying = &observation.Varying{Length: f.length, Weights: w[1:],
			Centres: lists.To(z.Rows, func(k int) []float64 { return slices.Clone(z.Row(k)) })}
	}
	// The mean of ln s moves into the noise parameter. Predictions stay within the logarithms that
	// the rows have.
	logs := varying.Logs(x)
	mean = linalg.Sum(logs) / float64(len(logs))
	const most = observation.MostVarying
	varying.Shift = -mean
	varying.Low = max(slices.Min(logs)-mean, -most)
	varying.High = min(slices.Max(logs)-mean, most)
	return varying, w[0] + mean, gain, nil
}

// WithNoise trains the noise that the options ask for, in turns with the parameters.
// It returns the plan and the result of rows that differ in noise.
func WithNoise(ctx context.Context, p *plan.Plan, c *deal.Checkpoints,
	t Trained) (*plan.Plan, Trained, error) {
	option := p.Options.Kernel.Noise
	later := p.Options.LooksAtNoise() && !p.Given
	if later {
		option = ask.NoiseAuto
	} else if !p.Options.Varies() {
		return p, t, nil
	}
	for round := range noiseRounds {
		problem := p.Problem(ctx, c, t.Best.Family)
		q, _, err := problem.Posterior(t.Best.Result.X)
		if err != nil {
			return nil, t, err
		}
		x, r2, mean, v, err := leftOutErrors(p, q)
		if err != nil {
			return nil, t, err
		}
		if later && evenness(x, mean, r2, v, q.Noise) > noiseChance {
			return p, t, nil
		}
		whole := p.Choice.Kind().Local || p.Choice.OnBatches()
		// With the noise as a factor of v + s, r² is divided by it, and v_i is 0 in noiseProblem.
		if whole {
			x = new(observation.Varying).Beside(x, mean, v, q.Noise)
			for i := range v {
				r2[i], v[i] = r2[i]/(v[i]+q.Noise), 0
			}
		}
		varying, c0, _, err := learnNoise(ctx, option, x, r2, v, p.Options.Run.Seed)
		if err != nil {
			return nil, t, err
		}
		if varying == nil {
			if !later {
				t.Findings.Add(finding.NoiseConstant)
			}
			return p, t, nil
		}
		varying.Whole = whole
		const most = observation.MostVarying
		least := -float64(most)
		if varying.Later = later; later {
			c0 -= math.Log(q.Noise)
			// No row may have less noise than LeastNoise, or its variance would be rounding.
			least = math.Max(least, math.Log(model.LeastNoise/q.Noise))
		}
		if whole || later {
			varying.Shift += c0
			varying.Low = min(max(varying.Low+c0, least), most)
			varying.High = min(max(varying.High+c0, least), most)
			t.Findings.Add(finding.NoiseVaries, math.Exp((varying.High-varying.Low)/2))
			p, err = withVarying(p, varying)
			return p, t, err
		}
		if p, err = withVarying(p, varying); err != nil {
			return nil, t, err
		}
		best := t.Best
		// Training goes on from the parameters found, with the noise that the errors speak for.
		again := *best.Result
		again.X = slices.Clone(again.X)
		again.X[best.Family.GridParams()] = c0
		best.Result = &again
		if !p.Given {
			best.key += "/noise"
			best.event.Stage = "varying noise"
			if best.Result, err = p.Problem(ctx, c, best.Family).Minimize(ctx,
				c.Run(best.key, best.event), best.Result.X); err != nil {
				return nil, t, err
			}
		}
		// No row may have less noise than LeastNoise, or its variance would be rounding.
		if least := math.Log(
			model.LeastNoise) - best.Result.X[best.Family.GridParams()]; varying.Low < least {
			varying.Low = least
			varying.High = max(least,
				varying.High) // the quietest rows have a variance that rounding leaves
			if p, err = withVarying(p, varying); err != nil {
				return nil, t, err
			}
		}
		t.Best = best
		if p.Given || round == noiseRounds-1 {
			t.Findings.Add(finding.NoiseVaries, math.Exp((varying.High-varying.Low)/2))
			t.All = append(t.All, best)
			break
		}
	}
	return p, t, ctx.Err()
}

// withVarying returns a copy of the plan whose rows have the noise v. If v multiplies the whole
// variance (v.Whole), or was learnt later, the rows train as before and only predictions use v.
// Otherwise every row trains with its own factor of the noise variance.
func withVarying(p *plan.Plan, v *observation.Varying) (_ *plan.Plan, err error) {
	d := *p.Dealt
	again := *p
	d.Varying = v
	again.Share.Dealt = &d
	if !v.Trains() {
		return &again, nil
	}
	if p.All.X.Rows > 0 {
		again.All.PerRow = posterior.RowNoise{Factor: v.Factors(p.All.X)}
	} else {
		again.Varied, err = v.Of(p.Rows)
	}
	return &again, err
}

// leftOutErrors returns rows that train (x), the squared errors r2 of predicting each from the
// others, these predictions (mean), and the variances v of f there, in scaled units. With Cholesky
// these are errors of all rows, for which a promise about new groups leaves out groups, else errors
// of at most noiseRows rows. A sparse GP predicts each row from all rows, since it can't leave one
// out.
func leftOutErrors(p *plan.Plan, q *posterior.Posterior) (x matrix.Dense, r2, mean, v []float64,
	err error) {
	var errs []float64
	rows := p.All
	if left, variance, ok := q.LeaveOneOut(rows.Y, p.Units...); ok {
		for i, y := range rows.Y {
			errs = append(errs, y-left[i])
			v = append(v, max(variance[i]-q.NoiseOf(i), 0))
		}
	} else {
		of := lists.Spread(p.N, noiseRows)
		some := objective.Memory{X: x.Like(len(of), p.Data.Cols), Y: make([]float64, len(of))}
		if err := p.Rows.Pick(of, some.X.Data, some.Y); err != nil {
			return x, nil, nil, nil, err
		}
		errs, v = q.Others(rows.Y, of)
		if errs == nil {
			left := make([]float64, len(of))
			v = make([]float64, len(of))
			q.Latent(some.X, left, v)
			errs = lists.To(len(of), func(i int) float64 { return some.Y[i] - left[i] })
		}
		rows = some
	}
	for i, e := range errs {
		r2 = append(r2, e*e)
		mean = append(mean, rows.Y[i]-e)
	}
	return rows.X, r2, mean, v, nil
}

// evenness returns the chance that errors are as uneven as these if all rows have the same noise:
// the score test of Koenker (1981), for |z|^(2/3) in place of z², which is nearly Gaussian, where z
// is an error in standard deviations. Its regressors are the inputs and the mean.
func evenness(x matrix.Dense, mean, r2, v []float64, s float64) float64 {
	n := float64(x.Rows)
	sizes := centred(lists.To(x.Rows, func(i int) float64 { return math.Cbrt(r2[i] / (v[i] + s)) }))
	var axes [][]float64
	var score float64
	for j := range x.Cols + 1 {
		axis := mean
		if j < x.Cols {
			axis = lists.To(x.Rows, func(i int) float64 { return x.At(i, j) })
		}
		axis = centred(slices.Clone(axis))
		own := linalg.Dot(axis, axis)
		for _, a := range axes {
			linalg.Axpy(-linalg.Dot(axis, a), a, axis)
		}
		left := linalg.Dot(axis, axis)
		if !(left > 1e-8*own) {
			continue // the other axes say as much
		}
		linalg.ScaleTo(axis, 1/math.Sqrt(left), axis)
		axes = append(axes, axis)
		along := linalg.Dot(sizes, axis)
		score += n * along * along / linalg.Dot(sizes, sizes)
	}
	if len(axes) == 0 || !(score >= 0) {
		return 1 // all inputs are equal, or all errors
	}
	return distuv.ChiSquared{K: float64(len(axes))}.Survival(score)
}

// centred subtracts the mean of a from a.
func centred(a []float64) []float64 {
	floats.AddConst(-linalg.Sum(a)/float64(len(a)), a)
	return a
}
