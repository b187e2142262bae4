package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// Calibrate computes m.Conformal from the calibration rows of d.
// If there are no such rows, it uses the certified rows, provided that the predictor was fixed
// before anybody saw them. Otherwise m.Conformal is nil.
func (m *Model) Calibrate(d *dataset.Data, roles dataset.Roles) (err error) {
	m.Conformal, err = m.calibrated(d, roles, nil)
	return err
}

// calibrated computes what Calibrate sets. certified holds the predictions of the certified rows,
// or nil if nobody has predicted these rows yet.
func (m *Model) calibrated(d *dataset.Data, roles dataset.Roles,
	certified *scored) (*Conformal, error) {
	if m.Classes != nil { // a label has no interval
		return nil, nil
	}
	role := dataset.Calibration
	from := ""
	if m.Counts[dataset.Calibration] == 0 {
		if !m.fixedBefore() {
			return nil, nil
		}
		role = dataset.Certified
		from = FromCertified
	}
	rows := d.RowsOf(roles, role)
	first, n, err := ranks.Place(d.Ranks(), len(rows))
	if err != nil {
		return nil, err
	}
	if from == "" && n < LeastCalibration {
		return nil, fmt.Errorf("%d calibration rows are too few for intervals that contain %.0f "+
			"%% of further targets: set aside at least %d", n, 100*conformalLevel, LeastCalibration)
	}
	at := certified
	if role == dataset.Calibration || at == nil {
		own, err := m.sample(d, rows, nil)
		if err != nil {
			return nil, err
		}
		at = &own
	}
	// Each rank fills the places of its own rows, and the sum over ranks has them all.
	misses := make([]float64, n)
	deviations := make([]float64, n)
	for i, y := range at.Y {
		misses[first+i] = math.Abs(y - at.Mean[i])
		off := at.z[i] - at.mean[i]
		if m.Sited() != nil {
			off = misses[first+i] * m.Scaling.TargetScale
		}
		// errors in units of the predictive standard deviation, for intervals that follow it
		deviations[first+i] = math.Abs(off) / math.Sqrt(at.spreads[i].Variance)
	}
	if err := d.Ranks().Sum(misses, deviations); err != nil {
		return nil, err
	}
	if !linalg.Finite(misses) || !linalg.Finite(deviations) {
		if from == "" {
			return nil, errors.New("no intervals: a calibration row is so far from its " +
				"prediction that the error overflows: mend or remove the row")
		}
		return nil, nil // nobody asked for intervals
	}
	if n < LeastCalibration {
		return nil, nil
	}
	slices.Sort(misses)
	slices.Sort(deviations)
	// The k-th smallest of n errors is the half-width (split conformal prediction).
	k := rank(conformalLevel, n)
	c := &Conformal{Level: conformalLevel, Rows: n, HalfWidth: misses[k-1],
		Normalised: deviations[k-1], From: from, Misses: misses, Deviations: deviations}
	if m.stretches() {
		c.Stretch = c.stretched()
	}
	return c, nil
}

// stretches says whether calibration may change standard deviations: if the noise is Gaussian and
// isn't known, and if the certificate says nothing of draws or in standard deviations, since that
// is about the GP's own.
func (m *Model) stretches() bool {
	return m.Noise == "" && m.NoiseColumn == "" && m.Sited() == nil && m.Terms.MeanAlone() &&
		!m.Terms.Loss.Kind.OwnSD() &&
		!slices.ContainsFunc(m.Terms.Slices, pacbayes.IsOwn)
}

// sets returns the Sets of a model of two classes, or nil if its certified rows can't give any.
// at holds the predictions of these rows.
func (m *Model) sets(d *dataset.Data, at *scored) (Sets, error) {
	if m.Classes == nil || m.Kinds != nil || !m.fixedBefore() {
		return nil, nil
	}
	y, err := ranks.Gather(d.Ranks(), at.Y)
	if err != nil {
		return nil, err
	}
	p, err := ranks.Gather(d.Ranks(), at.Mean)
	return setsOf(lists.Of(p, Both), lists.Of(y, func(v float64) int { return int(v) }), 2), err
}

// fixedBefore says whether the mean, variance and noise of predictions don't depend on the
// certified rows, and whether certified rows and further rows are exchangeable, with errors that
// are known.
func (m *Model) fixedBefore() bool {
	return m.Terms.MeanAlone() && !m.TrainsForBound() && m.Censored == "" &&
		m.Scaling.Source != dataset.AllRows && m.Group == "" && m.Split == ByContent
}
