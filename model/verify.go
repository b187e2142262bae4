package model

import (
	"cmp"
	"fmt"
	"math"
	"reflect"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Verified holds what Verify computes from a model's data.
type Verified struct {
	Certificate *pacbayes.Certificate
	Context     *Context
	// Differs says where the model and the figures from its data differ; "" if they agree.
	Differs string
	// Findings says whether rows next to one another in the file have similar residuals.
	Findings finding.List
}

// Verify recomputes everything that the model states, from its parameters and the data that it was
// made from. This is the certificate and the figures beside it.
// It fails if it can't do that, for example with other data, and if the model doesn't follow the
// certificate's terms.
func (m *Model) Verify(d *dataset.Data) (*Verified, error) {
	v := &Verified{}
	again, roles, at, err := m.remade(d)
	if err != nil {
		return nil, err
	}
	if v.Certificate, v.Context, err = again.certify(d, roles, at); err != nil {
		return nil, err
	}
	if v.Differs = v.Certificate.Difference(m.Certificate); v.Differs != "" {
		v.Differs = "the certificate's " + v.Differs
		return v, nil
	}
	if v.Differs = m.verifyContext(v.Context); v.Differs != "" {
		return v, nil
	}
	// Each check returns what differs, or "".
	conformal := func(d *dataset.Data, roles dataset.Roles) (string, error) {
		return m.verifyConformal(d, roles, at)
	}
	for _, check := range []func(*dataset.Data, dataset.Roles) (string, error){m.verifyNoise,
		conformal, m.verifyTest} {
		if v.Differs, err = check(d, roles); err != nil || v.Differs != "" {
			return v, err
		}
	}
	if v.Differs, err = m.verifyRange(d, roles, v.Context); err != nil || v.Differs != "" {
		return v, err
	}
	v.Findings, err = m.inOrder(d, roles, at.mean)
	return v, err
}

// verifyContext compares a recomputed context with the model's context, which older models don't
// have.
func (m *Model) verifyContext(again *Context) string {
	stored := m.Context
	if stored == nil {
		return ""
	}
	again = cmp.Or(again, &Context{})
	a := again.numbers(m.Scaling.TargetScale)
	b := stored.numbers(m.Scaling.TargetScale)
	const what = "context (RMSE, R², other predictors) differs: "
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= sameFigure*math.Max(1, math.Abs(b[i]))) {
			return what + fmt.Sprintf("a figure is %v, and the stored figure is %v", a[i], b[i])
		}
	}
	return spelling.If(again.LinearReason != stored.LinearReason,
		what+"why there is no linear model")
}

// verifyNoise says how the observation noise differs from the estimate on the rows, or "".
func (m *Model) verifyNoise(d *dataset.Data, roles dataset.Roles) (string, error) {
	noise, err := m.EstimateNoise(d, roles)
	// The likelihood is flat near its maximum, so that rounding moves the estimate.
	if err == nil && !(math.Abs(noise-m.ObservationNoise) <= sameFigure*math.Max(noise,
		m.ObservationNoise)) {
		return fmt.Sprintf("observation noise is %.9g, not %.9g", noise, m.ObservationNoise), nil
	}
	return "", err
}

// verifyConformal says how conformal intervals and label sets differ from new ones, or "".
func (m *Model) verifyConformal(d *dataset.Data, roles dataset.Roles, at *scored) (string, error) {
	again, err := m.calibrated(d, roles, at)
	if err != nil {
		return "", err
	}
	sets, err := m.sets(d, at)
	if differs := sets.Difference(m.Sets); err != nil || differs != "" {
		return differs, err
	}
	switch {
	case m.Conformal == nil && (again == nil || again.From == FromCertified):
		// old models lack these
		return "", nil
	case again == nil || m.Conformal == nil:
		return "conformal intervals are stored without rows that could give them, or are missing",
			nil
	}
	return again.difference(m.Conformal, math.Sqrt(m.LeastNoise())), nil
}

// verifyTest says which test figure in the file differs from the figure that the test rows give, or
// "". Rounding doesn't count.
func (m *Model) verifyTest(d *dataset.Data, roles dataset.Roles) (string, error) {
	switch {
	case m.Counts[dataset.Test] == 0:
		return "", nil
	case m.Test == nil:
		return "test figures are missing", nil
	}
	t, err := m.Score(d, d.RowsOf(roles, dataset.Test), roles.Group)
	if err != nil {
		return "", err
	}
	a := *t
	a.Found = nil
	b := *m.Test
	for _, n := range []struct {
		name string
		a, b *float64
	}{{"mse", &a.MSE, &b.MSE}, {"rmse_raw", &a.RMSERaw, &b.RMSERaw}, {"nlpd", &a.NLPD, &b.NLPD},
		{"gibbs_risk", &a.GibbsRisk, &b.GibbsRisk}, {"mean_risk", &a.MeanRisk, &b.MeanRisk}} {
		if !(math.Abs(*n.a-*n.b) <= sameFigure*math.Max(1, math.Abs(*n.b))) {
			return fmt.Sprintf("test's %s is %.9g, not %.9g", n.name, *n.a, *n.b), nil
		}
		*n.a = *n.b
	}
	if !reflect.DeepEqual(a, b) {
		return "test figures differ", nil
	}
	return "", nil
}

// verifyRange says how the range of the inputs differs from the rows' range, or "".
func (m *Model) verifyRange(d *dataset.Data, roles dataset.Roles,
	context *Context) (string, error) {
	if m.Split == ByPosition {
		return "", nil // an old model has no range
	}
	r, err := RangeOf(d, roles)
	if m.Range.Missed == nil { // an old model
		r.Missed = nil
	}
	if r.Far = m.Range.Far; err == nil && !reflect.DeepEqual(r, m.Range) {
		return "the inputs' range differs", nil
	}
	// a model with a context has it
	if m.Context != nil && context != nil && r.Far == 0 && context.far > 0 {
		return "the distance beyond which rows are far is missing", nil
	}
	// In old models Range.Far is 0. Variances are compared instead of distances, since rounding
	// moves small distances more.
	if far := r.Far * r.Far; r.Far > 0 && (context == nil || math.IsInf(far, 1) ||
		!(math.Abs(context.far*context.far-far) <= sameFigure*math.Max(1, far))) {
		return "the distance beyond which rows are far differs", nil
	}
	return "", err
}
