package conduct

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/fit/search"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// CheckAsked checks that a model fits the options that it says it was fitted with:
// above all the certificate's terms, for a table with these columns.
// The fitter vouches for both the model and the options, so they must at least agree.
func CheckAsked(m *model.Model, columns []string) error {
	if m.Fitted == nil {
		if m.Split != model.ByPosition {
			return errors.New("the model doesn't say what it was fitted with: no certificate")
		}
		return nil // a file that is older than the field
	}
	o, err := ask.Fitted(m)
	if err != nil {
		return fmt.Errorf("%w: no certificate", err)
	}
	other := func(what string) error {
		return fmt.Errorf("the model and the options that it says it was fitted with disagree "+
			"about %s: no certificate", what)
	}
	if why := otherTerms(m, termsAsked(m, o)); why != "" {
		return other(why)
	}
	if why := otherInputs(o.Data, m, columns); why != "" {
		return other("the inputs: " + why)
	}
	if why := otherKernel(o, m); why != "" {
		return other(why)
	}
	_, temper := m.Posterior.OfPrior()
	for _, part := range []struct {
		differs bool
		name    string
	}{
		{otherColumns(o, m), "the columns"},
		{!sameWays(o.Kernel, m), "the columns with which predictions rise or fall"},
		{!m.TrainsForBound() && m.Noise != o.Likelihood(), "the noise"},
		{o.Method.Name != m.Objective, "the objective"},
		{otherRoles(o, m), "the roles of rows"},
		{otherScaling(o.Data, m.Scaling), "the scaling's constants"},
		{otherTransform(o.Data, m.Scaling.Transform), "the target's transform"},
		{temper > 0 && !slices.Contains(o.Prior.Temper, temper),
			"the factor of the prior's covariance"},
		{m.Ignores(o.Promise.Population), "the rows that the promise is for"},
	} {
		if part.differs {
			return other(part.name)
		}
	}
	return nil
}

// otherKernel says how the prior's kernel, or its mean, differs from what the options ask for.
// If a posterior followed an informed prior, OfPrior returns that prior.
func otherKernel(o ask.Asked, m *model.Model) string {
	base, _ := m.Posterior.OfPrior()
	base = cmp.Or(base, m.Posterior)
	is := base.Kernel.Spec(base.Theta)
	possible := plan.Possible(o, model.InputsOf(m.Inputs, m.Encoding))
	other := func(s kernel.Spec) bool {
		return !slices.ContainsFunc(possible, func(f plan.Family) bool {
			return plan.SameShape(f.Spec(), s) && f.Mean == base.Mean
		})
	}
	if !other(is) || (o.Averages() && is.Name == "sum" &&
		len(is.Parts) <= search.MostAveraged && !slices.ContainsFunc(is.Parts, other)) {
		return ""
	}
	return fmt.Sprintf("the kernel or its mean: it is %s, and they ask for %s, ARD %s, mean %s",
		is, o.Kernel.Expression, o.Kernel.ARD, o.Kernel.Mean)
}

// otherColumns says whether the model reads other columns than the options name.
func otherColumns(o ask.Asked, m *model.Model) bool {
	seen := m.Observation
	if o.LooksAtNoise() && seen.Varying != nil && seen.Varying.Later {
		seen.Varying = nil // the prior rows decided
	}
	return o.Data.Target != m.Target || !slices.Equal(o.Data.Beside, m.Beside) ||
		o.Data.Group != m.Group || !o.Observed().Same(&seen) ||
		ask.Encodes(o.Data) != (m.Encoding != nil) ||
		!reflect.DeepEqual(o.Data.Reading, m.Reading)
}

// otherRoles says whether the options deal the rows in another way.
func otherRoles(o ask.Asked, m *model.Model) bool {
	var roles dataset.Counts
	dealt := m.DealtUnits()
	roles[dataset.Test], roles[dataset.Calibration], roles[dataset.Prior] = o.Counts(dealt.Sum())
	roles[dataset.Certified] = dealt.Sum() - roles.Sum()
	return o.Run.Seed != m.Seed || ask.Split(o.Data) != m.Split || roles != dealt
}

// otherScaling says whether the options declare other constants.
func otherScaling(o fitting.Data, has dataset.Scaling) bool {
	if o.Declared == nil {
		return false
	}
	declared := *o.Declared
	declared.Source = dataset.Declared
	return !reflect.DeepEqual(declared, has)
}

// termsAsked returns the terms of a certificate that a fit with these options gives the model.
func termsAsked(m *model.Model, o ask.Asked) pacbayes.Terms {
	f := plan.Family{Kernel: m.Posterior.Kernel, Mean: m.Posterior.Mean}
	choices := len(o.Prior.Temper)
	if o.Prior.Kind == "grid" {
		choices = len(plan.Families(o, model.InputsOf(m.Inputs, m.Encoding)))
	}
	terms := plan.PriorTerms(o, f, choices, m.Scaling)
	if o.Prior.Mixed { // the fit chose the digits and ties, and its bound pays for the choice
		terms.Grid.Digits = m.Terms.Grid.Digits
		f.Mix(&terms, m.Terms.Tied)
	}
	terms.PriorRows = m.Counts[dataset.Prior]
	terms.Encoded = m.Encoding != nil
	// If the file is older than the rules, the rules of its time hold.
	terms.Rules = min(terms.Rules, m.Terms.Rules)
	return terms
}

// otherTerms says how the model's terms differ from these terms, or "".
func otherTerms(m *model.Model, terms pacbayes.Terms) string {
	want := reflect.ValueOf(terms)
	have := reflect.ValueOf(m.Terms)
	for i := range want.NumField() {
		if !reflect.DeepEqual(want.Field(i).Interface(), have.Field(i).Interface()) {
			return fmt.Sprintf("%s of the certificate's terms: %v and %v",
				want.Type().Field(i).Name, have.Field(i), want.Field(i))
		}
	}
	return ""
}

// sameWays says whether a model is monotone as the options ask.
func sameWays(k fitting.Kernel, m *model.Model) bool {
	ways, err := ask.Monotone(k, model.InputsOf(m.Inputs, m.Encoding))
	return err == nil &&
		slices.EqualFunc(ways, m.Posterior.Monotone, func(a, b posterior.Axis) bool {
			return a.Input == b.Input && (a.From < a.To) == (b.From < b.To)
		})
}

// otherTransform says whether the model has another transform of the target than the options ask
// for.
func otherTransform(d fitting.Data, t *dataset.Transform) bool {
	if t == nil {
		return cmp.Or(d.Transform, ask.NoTransform) != ask.NoTransform
	}
	return (t.Name != d.Transform && d.Transform != ask.AutoTransform) ||
		t.Estimate != cmp.Or(d.Estimate, dataset.Mean)
}

// otherInputs says how a model's inputs differ from the inputs that these options choose among
// columns, or "".
func otherInputs(d fitting.Data, m *model.Model, columns []string) string {
	has := m.Inputs
	missing := dataset.Refuse
	if m.Encoding != nil {
		has = nil
		missing = m.Encoding.Missing
		for _, c := range m.Encoding.Columns {
			has = append(has, c.Name)
			if (c.Categories != nil) != slices.Contains(d.Categorical, c.Name) {
				return fmt.Sprintf("whether %q is categorical", c.Name)
			}
		}
	}
	// The options name the columns that aren't inputs. Each column must be one or the other.
	left := dataset.Left(columns, d.Inputs, d.Ignore, d.Own()...)
	for _, name := range columns {
		switch is, was := slices.Contains(has, name), !slices.Contains(left, name); {
		case is && !was:
			return fmt.Sprintf("the model predicts from the column %q, which they leave out", name)
		case was && !is:
			return fmt.Sprintf("the model doesn't predict from the column %q, which they don't "+
				"leave out (a column that came after the fit: certify a table without it)", name)
		}
	}
	if missing != d.Missing {
		return fmt.Sprintf("missing values: %s, and %s was asked for", missing, d.Missing)
	}
	return ""
}

// A posterior from another kind of processor is at most this far from the stored posterior, in
// standard deviations of the target. The largest difference seen was 5e-6, for targets without
// noise. Rounding can't explain a difference above followsAtMost, so checkDerived returns an error
// for such a difference. Between the two limits checkDerived returns false and no error.
const (
	follows       = 1e-5
	followsAtMost = 1e-3
)

// CheckDerived computes an informed prior's weights and covariance again, if its method computes
// them in closed form.
// It needs the prior's parameters, inducing inputs and noise variance, and the prior rows.
// It returns an error if the results differ. derived says that they agree.
func CheckDerived(m *model.Model, d *dataset.Data) (derived bool, err error) {
	q := m.Trained()
	if !m.Terms.Informed || q.Inducing() == 0 || m.Posterior.Support.Rows > 0 || m.Fitted == nil {
		return false, nil
	}
	o, err := ask.Fitted(m)
	if err != nil || o.Method.Kind().Exact { // the model doesn't keep the sites of its rows
		return false, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return false, err
	}
	rows := d.ScaledOf(roles, dataset.Prior, m.Scaling)
	// The prior's rows get the noise that they had in training: learnt, from a column, or constant.
	task := method.Task{Kernel: q.Kernel, Mean: q.Mean, Rows: rows, M: q.Support.Rows,
		Ranks: d.Ranks()}
	if m.Varying != nil {
		a, err := m.Varying.Of(rows)
		if err != nil {
			return false, err
		}
		task.Rows = &plan.NoisyRows{Scaled: rows, Noise: posterior.RowNoise{Factor: a}}
	}
	if known, err := rows.KnownNoise(); err != nil {
		return false, err
	} else if known != nil {
		task.Rows = &plan.NoisyRows{Scaled: rows, Noise: posterior.RowNoise{Known: known}}
	}
	again, err := plan.PriorMethod(o.Method).Recompute(task, q)
	if again == nil || err != nil {
		return false, err
	}
	// The largest difference in means and covariances decides, at prior and certified rows.
	off := 0.0
	for _, role := range []dataset.Role{dataset.Prior, dataset.Certified} {
		at, err := deal.Gather(d.ScaledOf(roles, role, m.Scaling))
		if err != nil {
			return false, err
		}
		mean, covariance := again.Apart(q, at.X)
		off = math.Max(off, math.Max(mean, covariance))
	}
	if !(off <= followsAtMost) {
		return false, fmt.Errorf("the prior's weights aren't those that its parameters, inducing "+
			"inputs, noise variance and prior rows make: they are off by %.3g: no certificate", off)
	}
	return off <= follows, nil
}
