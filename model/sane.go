package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
)

// sane returns an error if a file, for example a forged file, holds what no model has.
// Code that predicts from a model or prints it needn't check again.
// Verify checks what only the data can show.
func (m *Model) sane() error {
	for _, check := range []func() error{m.saneNames, m.saneWords, m.saneNumbers, m.saneCurves,
		m.saneTerms, m.saneCertificate, m.saneBounds, m.saneContext, m.saneMisses, m.saneTest} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// saneCurves returns an error if a training curve is impossible.
func (m *Model) saneCurves() error {
	for i, c := range m.Curves {
		if err := c.Check(); err != nil {
			return fmt.Errorf("the model file's curves[%d]: %w", i, err)
		}
	}
	return nil
}

// saneNames returns an error if inputs, target and group don't have different names.
func (m *Model) saneNames() error {
	names := append(slices.Clone(m.Inputs), m.Target)
	if m.Group != "" {
		names = append(names, m.Group)
	}
	slices.Sort(names)
	if names[0] == "" || len(slices.Compact(names)) < len(names) {
		return errors.New("two of the model file's inputs, target and group have the same name, " +
			"or one has an empty name")
	}
	return nil
}

// saneWords returns an error for impossible findings and ties, and for a certificate that ignores a
// tie.
func (m *Model) saneWords() error {
	for i, f := range m.Findings {
		if err := f.Check(); err != nil {
			return fmt.Errorf("the model file's findings[%d]: %w", i, err)
		}
	}
	for _, t := range m.Ties {
		if err := t.check(m.Target); err != nil {
			return fmt.Errorf("the model file's tie of the kind %.40q %w", t.Kind, err)
		}
	}
	var fitted struct{ Promise struct{ Population string } }
	_ = json.Unmarshal(m.Fitted, &fitted) // checkAsked refuses other options
	if m.Ignores(fitted.Promise.Population) ||
		(m.Certificate != nil && m.ByUnits() && m.Ties != nil) {
		return errors.New("the model file's ties contradict its certificate: the options don't " +
			"say which rows the promise is about")
	}
	return nil
}

// positive says whether v is a positive, finite number.
func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// saneNumbers returns an error if a noise variance isn't positive, or if parts of the model don't
// go together.
func (m *Model) saneNumbers() error {
	q := m.Posterior
	return faults.First(
		m.Valid(len(m.Inputs), m.drawn()),
		faults.If(!positive(q.Noise) || !positive(m.ObservationNoise),
			"the model file's noise variances, %v and for observations %v, aren't both positive",
			q.Noise, m.ObservationNoise),
		m.Goes(m.features()),
		faults.If(m.Censored == "" && m.Certificate != nil && m.Certificate.Limits > 0,
			"the model file's certificate counts limits, and no column has any"),
		faults.When(q.Monotone != nil, q.Monotone.Check(len(m.Inputs)), "the model file: %w"),
		faults.If(q.Monotone != nil &&
			(!m.Terms.MeanAlone() || m.TrainsForBound() || m.Split == ByPosition),
			"the model file has a monotone mean, which needs a mean that is certified by its "+
				"own misses"),
		m.saneIntervals(),
	)
}

// features returns what the target is combined with.
func (m *Model) features() observation.Features {
	kind, _ := method.Find(m.Objective)
	return observation.Features{File: true, Positional: m.Split == ByPosition,
		Target: m.Target, Own: []string{m.Target, m.Group},
		Limits:   m.Reading.Below + m.Reading.Above,
		Informed: m.Terms.Informed, MeanAlone: m.Terms.MeanAlone(), Drawn: m.drawn(),
		Labels: m.Terms.Loss.Kind == pacbayes.Label, Aside: m.Conformal != nil,
		Method: m.Objective, Noise: m.Noise, Likelihood: m.Noise, Bound: m.TrainsForBound(),
		Alternates: kind.Exact || kind.Local, Sites: m.Objective == method.EvidenceName,
		Transformed: m.Scaling.Transform != nil, Monotone: m.Posterior.Monotone != nil,
		Several: m.Beside != nil}
}

// saneIntervals returns an error if the ranges of inputs, the sets of labels or the intervals
// are impossible.
func (m *Model) saneIntervals() error {
	for j, least := range m.Range.Min {
		if least > m.Range.Max[j] {
			return fmt.Errorf("the model file's range of the input %q ends before it begins",
				m.Inputs[j])
		}
	}
	of := dataset.Calibration
	if m.Conformal != nil && m.Conformal.From == FromCertified {
		of = dataset.Certified
	}
	return faults.First(
		m.Sets.sane(len(m.Classes), m.Counts[dataset.Certified]),
		m.Conformal.sane(m.Counts[of]),
		faults.If(m.Stretch() != 1 && !m.stretches(), "the model file changes predictions' standard "+
			"deviations, which doesn't go with its noise, or with what its certificate is about"),
	)
}

// saneTerms refuses impossible terms, and terms that spell out a default, because each meaning has
// one form in a file.
func (m *Model) saneTerms() error {
	t := m.Terms
	raw := t.Loss.Below
	if !t.Loss.Unitless() {
		raw *= m.Scaling.TargetScale
	}
	count, negative := lists.Find([]int{t.Params, t.PriorRows, t.Resolutions, t.Structures,
		t.Lengthscales, t.Tied}, func(n int) bool { return n < 0 })
	err := faults.First(
		t.Check(),
		faults.If(!(math.Abs(t.EpsilonRaw-raw) <= 1e-12*raw),
			"they say that ε is %v in units of %s, but their ε in scaled units amounts to %v",
			t.EpsilonRaw, m.Target, raw),
		faults.If(negative, "a count is %d", count),
		faults.If(!(t.EpsilonRaw >= 0) || math.IsInf(t.EpsilonRaw, 1),
			"ε is %v in the target's units", t.EpsilonRaw),
		faults.If(t.Loss.Kind != pacbayes.Asymmetric && t.Loss.Above != 0,
			"the %s loss has no width above", t.Loss.Kind),
		faults.If(t.Elsewhere, "they say that another program made the predictions"),
		faults.If(t.Informed && t.Params+t.Resolutions+t.Structures > 0,
			"an informed prior has no grid"),
		faults.If(t.Resolutions == 1 || t.Structures == 1 ||
			(t.Structures > 0 && t.Resolutions == 0) || (t.Tied > 0 && t.Structures == 0),
			"a mix needs at least two parts"),
		faults.If(t.Tied > t.Lengthscales || (t.Tied == 0 && t.Lengthscales > 0),
			"%d lengthscales of %d are different", t.Tied, t.Lengthscales),
		faults.If(t.MeanAlone() && t.Choices > 1,
			"%d choices, but a mean that is bounded directly pays for no choice", t.Choices),
	)
	return faults.Of(err, "the model file's terms of the certificate: %w")
}

// saneCertificate returns an error if the certificate doesn't follow from the model's terms.
// It rewrites the certificate's words from the terms and the rows.
func (m *Model) saneCertificate() error {
	c := m.Certificate
	if c == nil {
		return nil
	}
	if err := m.certifiable(); err != nil {
		return fmt.Errorf("the model file has an impossible certificate: %w", err)
	}
	t := m.Terms
	t.Repeats = m.repeated()
	t.Near = c.NearCopies
	t.Limits = c.Limits
	t.Positional = m.Split == ByPosition
	if differs := t.Reword(c); differs != "" {
		return fmt.Errorf("the model file's certificate doesn't follow from its terms: its %s",
			differs)
	}
	groups := 0
	if t.Group != "" {
		groups = m.Groups[dataset.Certified]
	}
	if c.Rows != m.Counts[dataset.Certified] || c.Groups != groups {
		return fmt.Errorf("the model file's certificate counts %d rows and %d groups, but the "+
			"file has %d and %d to certify", c.Rows, c.Groups, m.Counts[dataset.Certified], groups)
	}
	return nil
}

// saneBounds returns an error if the certificate's bounds don't follow from its own counts.
func (m *Model) saneBounds() error {
	c := m.Certificate
	if c == nil {
		return nil
	}
	rows := float64(c.Rows)
	for _, l := range []struct {
		name    string
		v, most float64
	}{{"near_copies", float64(c.NearCopies), rows}, {"limits", float64(c.Limits), rows},
		{"kl", c.KL, math.MaxFloat64}} {
		if !(l.v >= 0 && l.v <= l.most) {
			return fmt.Errorf("the model file's certificate has %s %v, but it must be between 0 "+
				"and %v", l.name, l.v, l.most)
		}
	}
	// Only a context has the mean's share of misses.
	risk := math.NaN()
	if m.Context != nil {
		risk = m.Context.MeanRisk
	}
	if differs := m.Terms.Recount(c, risk); differs != "" {
		return fmt.Errorf("the model file's certificate contradicts its own counts: %s; don't "+
			"rely on this file", differs)
	}
	return nil
}

// saneMisses compares the certificate with the certified rows' errors, if the file has them for its
// intervals.
func (m *Model) saneMisses() error {
	c := m.Certificate
	of := m.Conformal
	if c == nil || of == nil || of.From != FromCertified || len(of.Misses) != c.Rows ||
		c.Groups > 0 || c.Loss != pacbayes.Band || m.Terms.Route != pacbayes.Direct {
		return nil
	}
	const margin = 1e-6 // rounding may decide whether a row misses
	above := func(width float64) int {
		at, _ := slices.BinarySearch(of.Misses, width)
		return len(of.Misses) - at
	}
	missed := int(math.Round(c.EmpiricalRisk * float64(c.Rows)))
	// The misses that the certificate counted lie between the numbers of errors above an ε a little
	// wider and a little narrower.
	ok := above(c.Epsilon*(1+margin)) <= missed && missed <= above(c.Epsilon*(1-margin))
	if c.Curve != nil {
		for _, p := range c.Curve.Points {
			ok = ok && above(p.HalfWidth*(1+margin)) <= p.Misses
		}
	}
	if m.Context != nil && m.Censored == "" {
		rmse := m.Scaling.TargetScale * norm(of.Misses) / math.Sqrt(float64(c.Rows))
		ok = ok && math.Abs(m.Context.RMSE-rmse) <= margin*rmse
	}
	if !ok {
		return errors.New("the model file's certificate and errors contradict the misses that " +
			"its intervals are made from; don't rely on this file")
	}
	return nil
}

// saneContext returns an error if the context contradicts the certificate, or has figures that no
// rows have.
func (m *Model) saneContext() error {
	x := m.Context
	certified := m.Counts[dataset.Certified]
	switch {
	case x == nil:
		return nil
	case m.Certificate == nil || !m.Terms.Fixed:
		return errors.New("the model file has a context, but no certificate of a model fixed " +
			"before the certified rows were seen")
	}
	own := m.Certificate.EmpiricalRisk
	ok := x.Rows == certified && x.R2 <= 1 && x.MAE <= x.RMSE*(1+sameFigure) &&
		(m.Certificate.Limits > 0) == (x.Unknown != Unknown{}) &&
		(m.Terms.Route != pacbayes.Direct || math.Abs(x.MeanRisk-own) <= sameFigure) &&
		slices.Min(x.misses()) >= 0 && slices.Min(x.shares()) >= 0 &&
		slices.Max(x.shares()) <= 1+1e-9 &&
		slices.Contains([]string{"", manyInputs, spreadRows, overflows, exposures}, x.LinearReason)
	n := cmp.Or(m.Certificate.Groups, certified)
	// A hold-out bound follows from the share of misses and the number of rows or groups.
	for _, of := range []struct{ risk, bound float64 }{{x.Constant.MeanRisk, x.Constant.MeanBound},
		{x.Linear.MeanRisk, x.Linear.MeanBound}, {x.Unknown.MeanRisk, x.Unknown.MeanBound}} {
		ok = ok && (of.bound == 0 || m.Terms.RecountHoldOut(of.risk, of.bound, n))
	}
	if !ok {
		return errors.New("the model file's context can't come from its certified rows")
	}
	return nil
}

// saneTest returns an error if test figures are impossible, or of another number of rows than the
// file's test rows.
func (m *Model) saneTest() error {
	t := m.Test
	if t == nil {
		return nil
	}
	counted := lists.Sum(append(slices.Clip(t.PIT), t.Unscored), func(n int) int {
		return max(n, 0)
	})
	if t.Rows < 1 || t.Rows != cmp.Or(m.Counts[dataset.Test], t.Rows) || counted > t.Rows ||
		t.Unscored < 0 || !(t.MSE >= 0 && t.RMSERaw >= 0) ||
		slices.ContainsFunc([]*float64{&t.GibbsRisk, &t.MeanRisk, &t.Coverage95}, noShare) {
		return errors.New("the model file's test figures can't be those of its test rows")
	}
	return nil
}

// saysTheta returns an error if the kernel in the header, which people read, has other parameters
// than the arrays.
func saysTheta(said, theta []float64) error {
	for i, v := range theta {
		if !(math.Abs(said[i]-v) <= 1e-9*math.Max(1, math.Abs(v))) {
			return fmt.Errorf("the model file's kernel says that the logarithm of a parameter is "+
				"%v, its arrays say %v", said[i], v)
		}
	}
	return nil
}

// AcceptFileOrder returns an old model with a certificate that is valid on the word of the person
// who certifies. The person vouches that the order of the rows in the file, which decided their
// roles, has nothing to do with what the rows hold.
func (m *Model) AcceptFileOrder() (*Model, error) {
	if m.Split != ByPosition || m.Certificate == nil {
		return nil, errors.New("the order of the rows in the file decided nothing about this " +
			"certificate: there is nothing to accept")
	}
	accepted := *m
	accepted.Terms.OrderChance = true
	accepted.Certificate = new(*m.Certificate)
	return &accepted, accepted.saneCertificate()
}
