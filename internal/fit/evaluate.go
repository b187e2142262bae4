package fit

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
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
func within(p *plan.Plan) context.Context {
	if ctx := p.Data.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// evidenceBounds returns the bounds at x = [θ, β, ln σ_n², Z], and nil for a full GP.
func evidenceBounds(p *plan.Plan, d method.Diagnostics,
	x []float64) (*fitting.EvidenceBounds, error) {
	if !p.Sparse() {
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
		return &fitting.EvidenceBounds{Upper: number(s.Upper), UpperNorm: number(s.UpperNorm),
			Evidence: number(s.Evidence), AlphaELBO: number(s.Optimal),
			AlphaAtVariational: number(s.Alpha), Jensen: number(s.Jensen),
			Variational: number(s.Variational)}, err
	}
	lower, upper, err := p.Task(within(p), nil, p.Families[0]).Sparse().Bounds(x)
	return &fitting.EvidenceBounds{Upper: &upper, Variational: &lower}, err
}

// Evaluate returns the objective and its gradient at given parameters, without training, and the
// certificate at these parameters if they have one.
func Evaluate(ctx context.Context, table *dataset.Table, params *fitting.Params,
	o ask.Asked) (e *fitting.Evaluation, err error) {
	defer matrix.Ended(&err)
	p, x, err := given(table.Within(ctx), params, o)
	if err != nil {
		return nil, err
	}
	f := p.Families[0]
	var at []float64 // x as the problem orders it
	way := p.Method()
	if params.Posterior != nil && !p.Choice.Kind().FreeForm {
		way = p.Choice.FreeUp(params.NoiseVariance)
	}
	task := p.Task(within(p), nil, f)
	task.GradientErrors = true
	problem := way.Bind(task)
	d := problem.Diagnostics()
	switch free := d.FreeForm; {
	case params.Posterior != nil && free == nil:
		return nil, faults.Usage("params: a posterior is given, and %s takes none", p.Choice.Name)
	case params.Posterior != nil:
		at, err = startFree(free, f, x, params.Posterior)
	case free != nil && !d.Conjugate:
		return nil, faults.Usage("params: the best posterior of %s isn't known: give one as "+
			"\"posterior\"", p.Choice.Name)
	default:
		at, err = problem.Start(slices.Clone(x))
	}
	if err != nil {
		return nil, err
	}
	e = &fitting.Evaluation{Objective: p.Choice.Name}
	gradient := make([]float64, len(at))
	if e.Value, err = problem.Evaluate(at, gradient); err != nil {
		return nil, err
	}
	d = problem.Diagnostics()
	e.Jitter = d.Jitter
	e.StandardError = d.StandardError
	if errors := d.GradientErrors; errors != nil {
		e.GradientError = &fitting.Gradient{LogNoiseVariance: &errors[f.GridParams()]}
		of(e.GradientError, f.Kernel, &errors)
	}
	if e.EvidenceBounds, err = evidenceBounds(p, d, x); err != nil {
		return nil, err
	}
	differentiate(e, f, d.FreeForm, at, gradient, params)
	// An α-ELBO by conjugate gradients is a random estimate without a posterior.
	if p.Estimate {
		e.CertificateReason = "by conjugate gradients (cg) the α-ELBO is estimated, and its " +
			"posterior isn't computed"
		return e, nil
	}
	if p.Sparse() {
		_, notes, _ := problem.Posterior(slices.Clone(at)) // no posterior, no estimate
		for _, f := range notes.Of(finding.Rounding) {
			e.Rounding = f.Numbers[0]
		}
	}
	m, err := certifyGiven(p, problem, d.FreeForm, at, x, params)
	if err != nil {
		if p.Rows.Err() != nil || within(p).Err() != nil {
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
func given(table *dataset.Table, params *fitting.Params,
	o ask.Asked) (*plan.Plan, []float64, error) {
	o = o.WithDefaults()
	if err := faults.First(
		o.Check(true),
		faults.UsageIf(params == nil, "params: give the parameters at which to evaluate"),
		faults.UsageIf(o.Informed(),
			"prior informed: nothing is trained here, so no prior can be learnt"),
	); err != nil {
		return nil, nil, err
	}
	d, err := deal.Deal(table, o)
	if err != nil {
		return nil, nil, err
	}
	rows, err := d.Take(dataset.Certified)
	if err != nil {
		return nil, nil, err
	}
	k, mean, x, err := plan.Vector(params, o.Kernel.Mean, d.Inputs())
	if err != nil {
		return nil, nil, err
	}
	if o.Method.Free() && params.Posterior == nil {
		return nil, nil, faults.Usage("posterior free: give it as \"posterior\" in the parameters")
	}
	if o.Method.AlphaBy != "" {
		return nil, nil, faults.Usage("alpha learn and cv: nothing is trained here, give a number")
	}
	// Parameters may bring a free-form posterior of their own.
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
	families := plan.Priced(d, []plan.Family{{Name: params.Kernel.Name, Kernel: k, Mean: mean}})
	p, err := plan.Stage{Share: rows, Choice: o.Method, Families: families}.Planned(true,
		d.Findings)
	return p, x, err
}

// differentiate fills in e.Gradient from the objective's gradient, whose entries are as those of
// at. free isn't nil if q is among the parameters.
func differentiate(e *fitting.Evaluation, f plan.Family, free *objective.FreeFormProblem, at,
	gradient []float64, params *fitting.Params) {
	nk := len(f.Kernel.Params())
	g := f.GridParams()
	var d objective.FreeFormParts
	if free != nil {
		d = free.Split(gradient)
		aBar, lsBar := free.MomentGradient(at, gradient)
		if params.Posterior != nil {
			chol := lists.To(lsBar.Rows, func(i int) []float64 { return lsBar.Row(i)[:i+1] })
			e.Gradient.Posterior = &fitting.FreeParams{Mean: aBar, Chol: chol}
		}
	} else {
		d = objective.FreeFormParts{Theta: gradient[:nk], Beta: gradient[nk:g],
			LogNoise: gradient[g : g+1]}
		if m := len(params.Inducing); m > 0 {
			dim := len(params.Inducing[0])
			d.Z = linalg.Of(m, dim, gradient[g+1:][:m*dim])
		}
	}
	of(&e.Gradient, f.Kernel, &d.Theta)
	if len(d.LogNoise) > 0 {
		e.Gradient.LogNoiseVariance = &d.LogNoise[0]
	}
	if len(params.Inducing) > 0 {
		e.Gradient.Inducing = lists.To(len(params.Inducing), d.Z.Row)
	}
	if len(d.Beta) > 0 {
		e.Gradient.Mean = &fitting.MeanParams{Constant: d.Beta[0], Linear: d.Beta[1:]}
	}
}

// certifyGiven certifies the posterior at parameters rounded to the grid.
// at are the parameters as the problem orders them, and x = [θ, β, ln σ_n², Z].
func certifyGiven(p *plan.Plan, problem method.Problem, free *objective.FreeFormProblem, at,
	x []float64, params *fitting.Params) (*model.Model, error) {
	f := p.Families[0]
	g := f.GridParams()
	p.Options.Prior.Grid.RoundAll(x[:g], x[:g])
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
	return conduct.Certify(p.Dealt, q, f.Terms, slices.Concat(p.Findings, notes))
}

// startFree returns the parameters of a free-form problem from x = [θ, β, ln σ_n², Z] and the given
// q.
func startFree(free *objective.FreeFormProblem, f plan.Family, x []float64,
	given *fitting.FreeParams) ([]float64, error) {
	ls, err := plan.Factor(given, free.M)
	if err != nil {
		return nil, err
	}
	nk := len(f.Kernel.Params())
	g := f.GridParams()
	full := make([]float64, free.Dim())
	at := free.Split(full)
	copy(at.Theta, x[:nk])
	copy(at.Beta, x[nk:g])
	copy(at.LogNoise, x[g:])
	copy(at.Z.Data, x[g+1:])
	return full, free.SetMoments(full, given.Mean, ls)
}

// of moves a kernel's derivatives from the front of d to g, part by part. Derivatives by ln l²
// become derivatives by ln l.
func of(g *fitting.Gradient, k kernel.Kernel, d *[]float64) {
	if parts := kernel.Parts(k); parts != nil {
		g.Parts = make([]fitting.Gradient, len(parts))
		for i, part := range parts {
			of(&g.Parts[i], part, d)
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

// BoundEvidence returns bounds on ln p(y) at the parameters of a sparse model, in nats, for the
// rows that its posterior saw. It returns nil if the model isn't sparse, wasn't made from d, or
// learnt a posterior after an informed prior.
func BoundEvidence(m *model.Model, d *dataset.Data) (bounds *fitting.EvidenceBounds,
	err error) {
	defer matrix.Ended(&err)
	q := m.Trained()
	role := dataset.Certified
	if m.Terms.Fixed {
		role = dataset.Prior
	}
	own, err := m.MadeFrom(d)
	if err != nil || !own || q.Inducing() == 0 || (m.Terms.Informed && !m.Terms.Fixed) {
		return nil, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	rows := d.ScaledOf(roles, role, m.Scaling)
	p := method.Task{Kernel: q.Kernel, Mean: q.Mean, Rows: rows, M: q.Support.Rows,
		Ranks: d.Ranks()}.Sparse()
	x := slices.Concat(q.Theta, q.Beta, []float64{math.Log(q.Noise)})
	for i := range q.Support.Rows {
		x = append(x, q.Support.Row(i)...)
	}
	lower, upper, err := p.Bounds(x)
	if err := errors.Join(err, rows.Err()); err != nil {
		return nil, err
	}
	return &fitting.EvidenceBounds{Upper: &upper, Variational: &lower}, nil
}
