package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/posterior"
)

// check returns an error if the model isn't what its certificate's terms say, as far as data and
// model show. The seed must deal these roles.
// Scaling constants and encodings must come from the prior rows.
// A prior on a grid must lie on the grid that the bound pays for.
// Exact posteriors must be conditioned on their rows.
// check can't tell what else was tried, or whether the parameters of an informed prior, or all of a
// sparse prior, come from the prior rows alone.
// A sparse posterior needs no check, because the certificate holds for any, whether training found
// it or not. The caller must have recomputed the factors.
func (m *Model) check(d *dataset.Data, roles dataset.Roles) error {
	for _, check := range []func(*dataset.Data, dataset.Roles) error{m.checkDealt, m.checkSplit,
		m.checkTerms, m.checkScaling, m.checkEncoding, m.checkMonotone, m.checkConditioned} {
		if err := check(d, roles); err != nil {
			return err
		}
	}
	return nil
}

// checkDealt returns an error if an old model's roles aren't the roles that its seed deals.
// Newer roles are dealt anew.
func (m *Model) checkDealt(*dataset.Data, dataset.Roles) error {
	if m.Split != ByPosition {
		return nil
	}
	dealt, err := dataset.DealByPosition(len(m.positional), m.Seed, m.Counts)
	if err != nil {
		return err
	}
	if !slices.Equal(dealt, m.positional) {
		return fmt.Errorf("the model file gives rows other roles than seed %d deals: no "+
			"certificate", m.Seed)
	}
	return nil
}

// checkSplit returns an error if the way of dealing doesn't fit the terms.
func (m *Model) checkSplit(*dataset.Data, dataset.Roles) error {
	return faults.First(
		faults.If((m.Split == ByLast) != m.Terms.Backtest,
			"the certificate's terms and the model disagree about whether the certified rows "+
				"are the last: no certificate"),
		faults.If(m.Terms.Group != m.Group,
			"the certificate's terms and the model disagree about how rows are grouped: no "+
				"certificate"),
		faults.If(m.Terms.Copies != (m.Reading.Distinct || m.Group == dataset.EqualRows),
			"the certificate's terms and the model disagree about whether equal rows are "+
				"copies: no certificate"),
	)
}

// checkTerms returns an error if the terms of the certificate don't fit the posterior.
func (m *Model) checkTerms(*dataset.Data, dataset.Roles) error {
	q := m.Posterior
	t := m.Terms
	prior, _ := q.OfPrior()
	if err := faults.First(
		faults.If(t.Loss.Kind.OwnSD() && m.TrainsForBound(),
			"the certificate's loss counts standard deviations with a noise that is "+
				"estimated on the certified rows: no certificate"),
		faults.If(t.Scaling != m.Scaling.Source,
			"the certificate's terms say that the scaling is %s, the model says %s: no "+
				"certificate", t.Scaling, m.Scaling.Source),
		faults.If(t.PriorRows != m.Counts[dataset.Prior],
			"the certificate's terms speak of %d prior rows, the model has %d: no certificate",
			t.PriorRows, m.Counts[dataset.Prior]),
		faults.If(t.Encoded != (m.Encoding != nil),
			"the certificate's terms and the model disagree about whether inputs are "+
				"encoded: no certificate"),
		faults.If(t.Informed != (prior != nil || q.Joint() != nil),
			"the certificate's terms and the posterior disagree about whether the prior was "+
				"learnt: no certificate"),
		faults.If(t.Fixed && q.Joint() == nil && q.Support.Rows > 0,
			"the certificate's terms say that nothing was learnt on the certified rows, but "+
				"the posterior was: no certificate"),
	); err != nil {
		return err
	}
	if t.Informed && q.Joint() != nil { // the parameters of a learnt prior lie on no grid
		if t.Params != 0 {
			return fmt.Errorf("the certificate's terms pay for %d parameters of a prior that was "+
				"learnt: no certificate", t.Params)
		}
		return nil
	}
	params := len(q.Theta) + len(q.Beta)
	// Tied lengthscales pay for their different values alone.
	if t.Tied > 0 {
		different := map[float64]bool{}
		lengthscales := 0
		for i, p := range q.Kernel.Params() {
			if p.Kind == kernel.Lengthscale && p.Dim >= 0 {
				different[q.Theta[i]] = true
				lengthscales++
			}
		}
		if len(different) > t.Tied || lengthscales != t.Lengthscales {
			return fmt.Errorf("the certificate's terms pay for %d different values of %d "+
				"lengthscales, but the prior has %d different values of %d: no certificate", t.Tied,
				t.Lengthscales, len(different), lengthscales)
		}
		params -= t.Lengthscales - t.Tied
	}
	if t.Params != params {
		return fmt.Errorf("the certificate's terms pay for %d parameters of the prior, which has "+
			"%d: no certificate", t.Params, params)
	}
	// What is paid for is a choice among points of the grid.
	for _, v := range append(slices.Clone(q.Theta), q.Beta...) {
		if at, _, _ := t.Grid.Round(v); at != v {
			return fmt.Errorf("a parameter of the prior, %v, isn't on the grid %s: no certificate",
				v, t.Grid)
		}
	}
	return nil
}

// checkScaling returns an error if the scaling's constants don't come from the rows that the
// scaling names. It tolerates other last digits, which sums of many rows have on other processors.
func (m *Model) checkScaling(d *dataset.Data, roles dataset.Roles) error {
	s := m.Scaling
	if s.Source == dataset.Declared {
		return nil
	}
	rows := d.RowsOf(roles, dataset.Prior)
	whose := "the prior rows"
	if s.Source == dataset.AllRows {
		rows = append(rows, d.RowsOf(roles, dataset.Certified)...)
		whose = "prior and certified rows"
	}
	again, err := s.Again(d, rows)
	if again.AsIs = s.AsIs; m.Classes != nil {
		again.TargetMean, again.TargetScale = observation.LabelScale(m.drawn())
	}
	if t := s.Transform; err == nil && t != nil {
		again, err = again.Transformed(t.Name, t.Estimate, d, rows)
	}
	if err != nil {
		return err
	}
	// equal up to 1e-9, relative to the larger of b and its unit
	near := func(a, b, unit float64) bool {
		return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(b), unit)
	}
	same := again.Without == s.Without && len(again.InputMean) == len(s.InputMean) &&
		len(again.InputMean) == len(s.InputScale) &&
		near(s.TargetMean, again.TargetMean, again.TargetScale) &&
		near(s.TargetScale, again.TargetScale, 0)
	if a, b := again.Transform, s.Transform; same && b != nil {
		same = a.Lambda == b.Lambda && a.From == b.From && near(b.Mean, a.Mean, a.Scale) &&
			near(b.Scale, a.Scale, 0)
	}
	for i := 0; same && i < len(s.InputMean); i++ {
		same = near(s.InputMean[i], again.InputMean[i], again.InputScale[i]) &&
			near(s.InputScale[i], again.InputScale[i], 0)
	}
	if !same {
		return fmt.Errorf("the scaling's constants don't come from %s: no certificate", whose)
	}
	return nil
}

// checkEncoding returns an error if categories and fills don't come from the prior rows.
func (m *Model) checkEncoding(d *dataset.Data, roles dataset.Roles) error {
	if m.Encoding == nil {
		return nil
	}
	again, err := d.Learn(d.RowsOf(roles, dataset.Prior))
	if err != nil {
		return err
	}
	if !again.Near(m.Encoding) {
		return errors.New("the categories of inputs, or the fills for missing values, don't come " +
			"from the prior rows: no certificate")
	}
	return nil
}

// Tolerances of the equations that weights solve, relative to the size of the equations' terms.
// These limits hold on any processor. solvedAfter is for a prior that is itself a posterior.
// The covariances of such a prior are small differences of larger covariances, and have the
// rounding errors of the larger covariances.
const (
	solved      = 1e-11
	solvedAfter = 1e-6
)

// checkConditioned returns an error if a posterior wasn't made from its rows:
// prior rows for a prior and for a predictor by cg or nearest, and certified rows for the posterior
// that is certified.
func (m *Model) checkConditioned(d *dataset.Data, roles dataset.Roles) error {
	q := m.Posterior
	if q.Joint() != nil {
		return m.checkMade("predictor", q, d, roles, dataset.Prior, solved)
	}
	prior, _ := q.OfPrior()
	if prior == nil {
		return m.checkMade("posterior", q, d, roles, dataset.Certified, solved)
	}
	if err := m.checkMade("prior", prior, d, roles, dataset.Prior, solved); err != nil ||
		q.Support.Rows == 0 {
		return err
	}
	return m.checkMade("posterior", q, d, roles, dataset.Certified, solvedAfter)
}

// checkMade returns an error if q doesn't follow from the rows with the given role.
// The support must be the rows' inputs, and the rows' targets must give the solution.
// Inducing inputs may be any, so that a q with inducing inputs always passes.
func (m *Model) checkMade(what string, q *posterior.Posterior, d *dataset.Data, roles dataset.Roles,
	role dataset.Role, tolerance float64) error {
	if q.Inducing() > 0 {
		return nil
	}
	other := fmt.Errorf("the %s wasn't conditioned on the model's %s rows, in this order: no "+
		"certificate", what, role)
	rows := d.ScaledOf(roles, role, m.Scaling)
	n, cols := rows.Dims()
	if q.Support.Rows != roles.Count(role) || q.Support.Cols != cols {
		return other
	}
	x := linalg.New(n, cols)
	y := make([]float64, n)
	mean := make([]float64, n)
	if err := rows.Block(0, n, x.Data[:n*cols], y); err != nil {
		return err
	}
	if lists.Where(n, func(i int) bool {
		return !slices.Equal(q.Support.Row(rows.Place(i)), x.Row(i))
	}) != nil {
		return other
	}
	known, err := m.KnownNoise(rows)
	if err != nil {
		return err
	}
	made := posterior.Made{Place: rows.Place, Sum: d.Ranks().Sum, Tolerance: tolerance}
	if made.Free, err = d.Sides(rows.Numbers); err != nil {
		return err
	}
	// measured rows have the model's noise; training alone finds what limits become
	if m.Censored != "" {
		known = slices.Repeat([]float64{m.ObservationNoise}, n)
		for i, side := range made.Free {
			if side != 0 && q.Noises != nil {
				known[i] = max(known[i], q.Noises[rows.Place(i)])
			}
		}
	}
	if err := m.checkNoises(q.Noises, known, x, rows.Place); err != nil {
		return err
	}
	if kind, _ := method.Find(m.Objective); m.Sited() != nil && what != "posterior" &&
		kind.Bound == "" {
		return m.checkSites(q, y, rows)
	}
	q.Mean.At(q.Beta, x, mean)
	err = q.Follows(y, mean, made)
	switch {
	case errors.Is(err, posterior.ErrOther):
		return other
	case err != nil:
		return fmt.Errorf("%w: no certificate", err)
	}
	return nil
}

// checkSites returns an error if the sites of targets y aren't the fixed point of expectation
// propagation.
func (m *Model) checkSites(q *posterior.Posterior, y []float64, rows *dataset.Scaled) error {
	n := len(y)
	wrong := fmt.Errorf("the predictor's sites don't follow from the targets of the %s rows: no "+
		"certificate", dataset.Prior)
	at := objective.Observed{Y: make([]float64, n), Mean: make([]float64, n),
		Variance: make([]float64, n), Sites: objective.Sites{Y: make([]float64, n),
			Known: q.Noises}, Noise: m.Sited(), Scale: 1}
	if at.Noise.Scaled() {
		at.Scale = m.ObservationNoise
	}
	shift := make([]float64, n)
	if err := rows.Shift(shift); err != nil {
		return err
	}
	at.Shift = make([]float64, n)
	for i, v := range y {
		at.Y[rows.Place(i)], at.Shift[rows.Place(i)] = v, shift[i]
	}
	// Site targets aren't stored. They follow from the weights, y_i = mean_i + w_i v_i, or from the
	// targets of Nearest.
	s, near := q.Solution.(*posterior.Nearest)
	if len(q.Noises) != n || (!near && len(q.Weights()) != n) {
		return wrong
	}
	if near {
		q.Mean.At(q.Beta, q.Support, at.Sites.Y)
		linalg.Axpy(1, s.Targets, at.Sites.Y)
		posterior.Own(posterior.Given{Kernel: q.Kernel, Theta: q.Theta, Mean: q.Mean, Beta: q.Beta,
			Noise: q.Noise, X: q.Support, Y: at.Sites.Y},
			objective.SiteNeighbours)(at.Sites.Y, q.Noises, at.Mean, at.Variance)
	} else {
		q.Latent(q.Support, at.Mean, at.Variance)
		for i, w := range q.Weights() {
			at.Sites.Y[i] = at.Mean[i] + w*q.Noises[i]
		}
	}
	// one more sweep would move the sites
	if !(at.Unsettled() <= sameFigure) {
		return wrong
	}
	return nil
}

// checkMonotone returns an error if the ends of a monotone mean's axes aren't the prior rows'.
func (m *Model) checkMonotone(d *dataset.Data, roles dataset.Roles) error {
	own, err := MonotoneOf(d.ScaledOf(roles, dataset.Prior, m.Scaling), m.Posterior.Monotone)
	for i, a := range m.Posterior.Monotone {
		if err == nil && !(math.Abs(a.From-own[i].From)+
			math.Abs(a.To-own[i].To) <= sameFigure*math.Abs(a.To-a.From)) {
			err = fmt.Errorf("the ends of the monotone input %q aren't those of the prior "+
				"rows: no certificate", m.Inputs[a.Input])
		}
	}
	return err
}

// checkNoises returns an error if the rows' noise in a posterior isn't what the model's noise makes
// it. want is what KnownNoise returned.
func (m *Model) checkNoises(noises, want []float64, x matrix.Dense, place func(int) int) error {
	if m.Varying.Trains() {
		want = m.NoisesAt(x, nil, nil)
	}
	if m.Noise != "" {
		return nil // such a noise has variances of its own
	}
	if (want == nil) != (noises == nil) {
		return fmt.Errorf("the model and its posterior disagree about whether %s rows differ in "+
			"noise: no certificate", dataset.Prior)
	}
	for i, v := range want {
		if own := noises[place(i)]; !(math.Abs(own-v) <= sameFigure*v) {
			return fmt.Errorf("the noise variance of a row of the posterior is %.9g, but the "+
				"model's noise makes it %.9g: no certificate", own, v)
		}
	}
	return nil
}
