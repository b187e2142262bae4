package krigo

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// within returns the context of the table, which can end the evaluation.
func (p *plan) within() context.Context {
	if ctx := p.data.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// evidenceBounds returns the bounds at x = [θ, β, ln σ_n², Z], and nil for a full GP.
func (p *plan) evidenceBounds(d method.Diagnostics, x []float64) (*EvidenceBounds, error) {
	if !p.sparse() {
		return nil, nil
	}
	number := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	if d.Bounds != nil {
		s, err := d.Bounds(x)
		return &EvidenceBounds{Upper: number(s.Upper), UpperNorm: number(s.UpperNorm),
			Evidence: number(s.Evidence), AlphaELBO: number(s.Optimal),
			AlphaAtVariational: number(s.Alpha), Jensen: number(s.Jensen),
			Variational: number(s.Variational)}, err
	}
	lower, upper, err := p.task(p.within(), nil, p.families[0]).Sparse().Bounds(x)
	return &EvidenceBounds{Upper: &upper, Variational: &lower}, err
}

func evaluate(ctx context.Context, table *dataset.Table, params *Params,
	o Asked) (e *Evaluation, err error) {
	defer matrix.Ended(&err)
	p, x, err := given(table.Within(ctx), params, o)
	if err != nil {
		return nil, err
	}
	f := p.families[0]
	at := x // x as the problem orders it
	way := p.method()
	if params.Posterior != nil && !p.choice.Kind().FreeForm {
		way = p.choice.FreeUp(params.NoiseVariance)
	}
	task := p.task(p.within(), nil, f)
	task.GradientErrors = true
	problem := way.Bind(task)
	d := problem.Diagnostics()
	switch free := d.FreeForm; {
	case params.Posterior != nil && free == nil:
		return nil, faults.Usage("params: a posterior is given, and %s takes none", p.choice.Name)
	case params.Posterior != nil:
		at, err = startFree(free, f, x, params.Posterior)
	case free != nil && !d.Conjugate:
		return nil, faults.Usage("params: the best posterior of %s isn't known: give one as \"posterior\"",
			p.choice.Name)
	default:
		at, err = problem.Start(slices.Clone(x))
	}
	if err != nil {
		return nil, err
	}
	e = &Evaluation{Objective: p.choice.Name}
	gradient := make([]float64, len(at))
	if e.Value, err = problem.Evaluate(at, gradient); err != nil {
		return nil, err
	}
	d = problem.Diagnostics()
	e.Jitter = d.Jitter
	e.StandardError = d.StandardError
	if errors := d.GradientErrors; errors != nil {
		e.GradientError = &Gradient{LogNoiseVariance: &errors[f.gridParams()]}
		e.GradientError.of(f.kernel, &errors)
	}
	if e.EvidenceBounds, err = p.evidenceBounds(d, x); err != nil {
		return nil, err
	}
	e.differentiate(f, d.FreeForm, at, gradient, params)
	if p.estimate {
		e.CertificateReason = "by conjugate gradients (cg) the α-ELBO is estimated, and its " +
			"posterior isn't computed"
		return e, nil
	}
	m, err := p.certifyGiven(problem, d.FreeForm, at, x, params)
	if err != nil {
		if p.rows.Err() != nil || p.within().Err() != nil {
			return nil, err
		}
		e.CertificateReason = err.Error()
		return e, nil
	}
	e.Certificate = m.Certificate
	e.CertificateReason = m.CertificateReason
	return e, nil
}

// given returns the plan of an evaluation, and its parameters as [θ, β, ln σ_n², Z].
func given(table *dataset.Table, params *Params, o Asked) (*plan, []float64, error) {
	o = o.withDefaults()
	if err := faults.First(
		o.check(true),
		faults.UsageIf(params == nil, "params: give the parameters at which to evaluate"),
		faults.UsageIf(o.informed(),
			"prior informed: nothing is trained here, so no prior can be learnt"),
	); err != nil {
		return nil, nil, err
	}
	d, err := deal(table, o)
	if err != nil {
		return nil, nil, err
	}
	rows, err := d.take(dataset.Certified)
	if err != nil {
		return nil, nil, err
	}
	k, mean, x, err := params.vector(o.Kernel.Mean, d.inputs())
	if err != nil {
		return nil, nil, err
	}
	if o.Method.Free() && params.Posterior == nil {
		return nil, nil, faults.Usage("posterior free: give it as \"posterior\" in the parameters")
	}
	if o.Method.AlphaBy != "" {
		return nil, nil, faults.Usage("alpha learn and cv: nothing is trained here, give a number")
	}
	if params.Posterior != nil && !o.Method.Kind().FreeForm {
		o.Method.Posterior = "free" // whether the objective has a free form is checked below
	}
	if o.Method.Inducing != 0 && o.Method.Inducing != len(params.Inducing) {
		return nil, nil, faults.Usage("inducing %d: the parameters have %d inducing inputs",
			o.Method.Inducing, len(params.Inducing))
	}
	o.Method.Inducing = len(params.Inducing)
	if o.Method.InducingBy = ""; o.Method.Inducing == 0 {
		o.Method.InducingBy = "none"
	}
	if o.Method.Full() && o.Method.SparseOnly() {
		return nil, nil, faults.Usage("objective %q needs inducing inputs in the parameters",
			o.Method.Name)
	}
	if errs := o.Method.Check(method.Use{Evaluating: true}); len(errs) > 0 {
		return nil, nil, faults.AsUsage(errors.Join(errs...))
	}
	families := d.priced([]family{{name: params.Kernel.Name, kernel: k, mean: mean}})
	p, err := stage{share: rows, choice: o.Method, families: families}.planned(true, d.findings)
	return p, x, err
}

// differentiate fills in the gradient. free isn't nil if q is a parameter.
func (e *Evaluation) differentiate(f family, free *objective.FreeFormProblem, at,
	gradient []float64, params *Params) {
	nk := len(f.kernel.Params())
	g := f.gridParams()
	var d objective.FreeFormParts
	if free != nil {
		d = free.Split(gradient)
		aBar, lsBar := free.MomentGradient(at, gradient)
		if params.Posterior != nil {
			chol := lists.To(lsBar.Rows, func(i int) []float64 { return lsBar.Row(i)[:i+1] })
			e.Gradient.Posterior = &FreeParams{Mean: aBar, Chol: chol}
		}
	} else {
		d = objective.FreeFormParts{Theta: gradient[:nk], Beta: gradient[nk:g],
			LogNoise: gradient[g : g+1]}
		if m := len(params.Inducing); m > 0 {
			dim := len(params.Inducing[0])
			d.Z = linalg.Of(m, dim, gradient[g+1:][:m*dim])
		}
	}
	e.Gradient.of(f.kernel, &d.Theta)
	if len(d.LogNoise) > 0 {
		e.Gradient.LogNoiseVariance = &d.LogNoise[0]
	}
	if len(params.Inducing) > 0 {
		e.Gradient.Inducing = lists.To(len(params.Inducing), d.Z.Row)
	}
	if len(d.Beta) > 0 {
		e.Gradient.Mean = &MeanParams{Constant: d.Beta[0], Linear: d.Beta[1:]}
	}
}

// certifyGiven certifies the posterior at parameters rounded to the grid.
// at are the parameters as the problem orders them, and x = [θ, β, ln σ_n², Z].
func (p *plan) certifyGiven(problem method.Problem, free *objective.FreeFormProblem, at,
	x []float64, params *Params) (*model.Model, error) {
	f := p.families[0]
	g := f.gridParams()
	p.options.Prior.Grid.RoundAll(x[:g], x[:g])
	var q *posterior.Posterior
	var notes finding.List
	var err error
	if params.Posterior == nil {
		copy(at, x[:g])
		q, notes, err = problem.Posterior(at)
	} else if at, err = startFree(free, f, x, params.Posterior); err == nil {
		q, err = free.Posterior(at)
	}
	if err != nil {
		return nil, err
	}
	return p.certify(q, f.terms, slices.Concat(p.findings, notes))
}

// startFree returns the parameters of a free-form problem from x = [θ, β, ln σ_n², Z] and the given
// q.
func startFree(free *objective.FreeFormProblem, f family, x []float64,
	given *FreeParams) ([]float64, error) {
	ls, err := given.factor(free.M)
	if err != nil {
		return nil, err
	}
	nk := len(f.kernel.Params())
	g := f.gridParams()
	full := make([]float64, free.Dim())
	at := free.Split(full)
	copy(at.Theta, x[:nk])
	copy(at.Beta, x[nk:g])
	copy(at.LogNoise, x[g:])
	copy(at.Z.Data, x[g+1:])
	return full, free.SetMoments(full, given.Mean, ls)
}

// of fills in a kernel's derivatives, and removes them from the front of d.
func (g *Gradient) of(k kernel.Kernel, d *[]float64) {
	if parts := kernel.Parts(k); parts != nil {
		g.Parts = make([]Gradient, len(parts))
		for i, part := range parts {
			g.Parts[i].of(part, d)
		}
		return
	}
	for _, p := range k.Params() {
		v := (*d)[0]
		*d = (*d)[1:]
		switch p.Kind {
		case kernel.Lengthscale:
			g.LogLengthscales = append(g.LogLengthscales, 2*v) // ∂/∂ln l = 2 ∂/∂ln l²
		case kernel.Variance:
			g.LogVariance = &v
		case kernel.Shape:
			g.LogShape = &v
		case kernel.Period:
			g.LogPeriod = &v
		default:
			if g.Parameters == nil {
				g.Parameters = map[string]float64{}
			}
			g.Parameters[p.Name] = v
		}
	}
}
