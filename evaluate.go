package krigo

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Evaluation is an objective at given parameters.
type Evaluation struct {
	Objective         string       `json:"objective"`
	Value             float64      `json:"value"` // something to minimise: −ln p(y), or a risk bound
	Gradient          Gradient     `json:"gradient"`
	Certificate       *Certificate `json:"certificate"` // at the parameters rounded to the grid
	CertificateReason string       `json:"certificate_reason,omitempty"`
}

// Gradient mirrors Params: derivatives with respect to ln l (not ln l²), ln σ_s²,
// ln σ_n² and other logarithms, and plain ones for the mean. A sum or product has Parts.
type Gradient struct {
	LogVariance      *float64    `json:"log_variance,omitempty"`
	LogLengthscales  []float64   `json:"log_lengthscales,omitempty"`
	LogShape         *float64    `json:"log_shape,omitempty"`
	LogPeriod        *float64    `json:"log_period,omitempty"`
	Parts            []Gradient  `json:"parts,omitempty"`
	LogNoiseVariance *float64    `json:"log_noise_variance,omitempty"`
	Mean             *MeanParams `json:"mean,omitempty"`
	Inducing         [][]float64 `json:"inducing,omitempty"`
}

// Evaluate computes the objective, its gradient, and the certificate at the parameters
// rounded to the grid, without training; svgp is taken at its optimal q. Rows are dealt and scaled as Fit would, with
// no choice among kernel families to pay for: ARD is what the lengthscales say.
func Evaluate(table *dataset.Table, params *Params, o Options) (*Evaluation, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := prepare(table, o)
	if err != nil {
		return nil, err
	}
	k, mean, x, err := params.vector(o.Mean, p.data.Cols)
	if err != nil {
		return nil, err
	}
	if o.PosteriorFree {
		return nil, usage("posterior free is found by training: there are no parameters to evaluate it at")
	}
	f := family{params.Kernel.Name, k, mean}
	if o.Inducing != 0 && o.Inducing != len(params.Inducing) {
		return nil, usage("inducing %d: the parameters have %d inducing inputs", o.Inducing, len(params.Inducing))
	}
	o.Inducing, o.Full = len(params.Inducing), len(params.Inducing) == 0
	if o.Full && o.sparseOnly() {
		return nil, usage("objective %q needs inducing inputs in the parameters", o.Objective)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := p.setMethod(o); err != nil {
		return nil, err
	}
	problem := p.newProblem(o, f, 1)
	if free, ok := problem.(*objective.FreeFormProblem); ok {
		if x, err = free.StartFrom(x, 0); err != nil { // svgp: the optimal q
			return nil, err
		}
	}
	gradient := make([]float64, len(x))
	e := &Evaluation{Objective: o.Objective}
	if e.Value, err = problem.Evaluate(x, gradient); err != nil {
		return nil, err
	}
	nk, g := len(k.Params()), f.gridParams()
	dTheta, dBeta, dNoise := gradient[:nk], gradient[nk:g], gradient[g]
	e.Gradient = gradientOf(params.Kernel, &dTheta)
	e.Gradient.LogNoiseVariance = &dNoise
	for i := range params.Inducing {
		d := p.data.Cols
		e.Gradient.Inducing = append(e.Gradient.Inducing, gradient[g+1+i*d:g+1+(i+1)*d])
	}
	if len(dBeta) > 0 {
		e.Gradient.Mean = &MeanParams{Constant: dBeta[0], Linear: dBeta[1:]}
	}

	o.Grid.RoundAll(x[:g], x[:g])
	m, err := p.model(o, f, x, 1)
	if err != nil && p.rows.Err() != nil {
		return nil, err
	}
	if err != nil {
		e.CertificateReason = err.Error()
		return e, nil
	}
	e.Certificate, e.CertificateReason = m.Certificate, m.CertificateReason
	return e, nil
}

// gradientOf takes a kernel's derivatives off the front of d.
func gradientOf(s kernel.Spec, d *[]float64) Gradient {
	var g Gradient
	if len(s.Parts) > 0 {
		for _, part := range s.Parts {
			g.Parts = append(g.Parts, gradientOf(part, d))
		}
		return g
	}
	next := func() *float64 {
		v := (*d)[0]
		*d = (*d)[1:]
		return &v
	}
	for range s.Lengthscales {
		g.LogLengthscales = append(g.LogLengthscales, 2**next()) // from ln l² to ln l
	}
	if s.Shape > 0 {
		g.LogShape = next()
	}
	if s.Period > 0 {
		g.LogPeriod = next()
	}
	g.LogVariance = next()
	return g
}

// Recertification is what Certify finds.
type Recertification struct {
	Certificate *Certificate `json:"certificate"`
	Matches     bool         `json:"matches"` // the model's own certificate was reproduced
}

// Certify computes a model's certificate anew from its parameters and the data it was
// made from. An epsilon other than 0, in standard deviations of the target, asks for
// another half-width than the declared one: the number is then a heuristic, never a
// certificate, because the half-width was chosen after the rows were seen.
func Certify(m *Model, table *dataset.Table, epsilon float64) (*Recertification, error) {
	d, err := table.Select(m.Inputs, m.Target)
	if err != nil {
		return nil, err
	}
	if epsilon == 0 || epsilon == m.Terms.Loss.Below {
		if m.Certificate == nil {
			return nil, &NoCertificate{m.CertificateReason}
		}
		c, err := m.Certify(d)
		if err != nil {
			return nil, err
		}
		return &Recertification{c, c.Equal(m.Certificate)}, nil
	}
	other := *m
	other.Terms.EpsilonRaw *= epsilon / m.Terms.Loss.Below
	other.Terms.Loss.Above *= epsilon / m.Terms.Loss.Below
	other.Terms.Loss.Below = epsilon
	if err := other.Terms.Loss.Validate(); err != nil {
		return nil, &UsageError{err}
	}
	c, err := other.Certify(d)
	if err != nil {
		return nil, err
	}
	c.Valid, c.Label = false, "bound (heuristic: ε was chosen after the certified rows were seen)"
	c.Conditions = append([]string{"NOT MET: ε isn't the one declared when the model was fitted."}, c.Conditions...)
	return &Recertification{Certificate: c}, nil
}

// NoCertificate says why a model has none.
type NoCertificate struct{ Reason string }

func (e *NoCertificate) Error() string { return "the model has no certificate: " + e.Reason }

// Fresh is the bound from rows the model never saw, whatever it was trained on.
type Fresh struct {
	Rows      int           `json:"rows"`
	Delta     float64       `json:"delta"` // each of the two bounds fails with at most this probability
	Loss      pacbayes.Kind `json:"loss"`
	Epsilon   float64       `json:"epsilon"`
	GibbsRisk float64       `json:"gibbs_risk"` // mean loss of a random draw on these rows
	Bound     float64       `json:"bound"`      // of the Gibbs risk: kl⁻¹(risk, ln(1/δ)/n)
	MeanRisk  float64       `json:"mean_risk"`  // mean loss of the posterior mean
	MeanBound float64       `json:"mean_bound"` // of its risk: exact binomial for 0/1 losses, else kl⁻¹
}

// CertifyFresh bounds the model's risk from rows it never saw: a table of their own,
// or, given the data the model was made from, its test rows.
func CertifyFresh(m *Model, table *dataset.Table) (*Fresh, error) {
	d, err := table.Select(m.Inputs, m.Target)
	if err != nil {
		return nil, err
	}
	rows := d.All()
	made, err := m.MadeFrom(d)
	if err != nil {
		return nil, err
	}
	if made {
		if rows = dataset.RowsOf(m.Roles, dataset.Test); len(rows) == 0 {
			return nil, &NoCertificate{table.Source + " is the data the model was made from, and no test rows were set aside: give rows it never saw"}
		}
	} else if seen, err := m.Seen(d); err != nil {
		return nil, err
	} else if len(seen) > 0 {
		return nil, &NoCertificate{fmt.Sprintf("%d of the %d rows of %s equal rows the model was made from (the first: %s): give rows it never saw",
			len(seen), d.Rows, table.Source, d.Where(seen[0]))}
	}
	s, err := m.Score(d, rows)
	if err != nil {
		return nil, err
	}
	f := &Fresh{Rows: s.Rows, Delta: m.Terms.Delta, Loss: m.Terms.Loss.Kind, Epsilon: m.Terms.Loss.Below,
		GibbsRisk: s.GibbsRisk, MeanRisk: s.MeanRisk}
	f.Bound = pacbayes.TestBound(s.GibbsRisk, s.Rows, f.Delta)
	if m.Terms.Loss.IsZeroOne() {
		f.MeanBound = pacbayes.ClopperPearson(int(math.Round(s.MeanRisk*float64(s.Rows))), s.Rows, f.Delta)
	} else {
		f.MeanBound = pacbayes.TestBound(s.MeanRisk, s.Rows, f.Delta)
	}
	return f, nil
}
