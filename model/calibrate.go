package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/ranks"
)

// Calibrate sets the model's Conformal, the widths of conformal intervals on the calibration rows of d.
func (m *Model) Calibrate(d *dataset.Data, roles dataset.Roles) error {
	rows := d.RowsOf(roles, dataset.Calibration)
	first, n, err := ranks.Place(d.Ranks(), len(rows))
	if err != nil {
		return err
	}
	// The k-th smallest of n scores, the further row's being equally likely to fall between
	// any two of them.
	k := int(math.Ceil(float64(n+1)*conformalLevel - 1e-9))
	if k > n {
		return fmt.Errorf("%d calibration rows can't hold %.0f %% of further targets: set aside at least %d",
			n, 100*conformalLevel, LeastCalibration)
	}
	y, _, err := m.targets(d, rows)
	if err != nil {
		return err
	}
	mean, variance, err := latent(m.Posterior, d.Scaled(rows, m.Scaling))
	if err != nil {
		return err
	}
	plain, normalised := make([]float64, n), make([]float64, n)
	for i := range y {
		d := math.Abs(y[i] - mean[i])
		plain[first+i], normalised[first+i] = d, d/math.Sqrt(variance[i]+m.ObservationNoise)
	}
	if err := d.Ranks().Sum(plain, normalised); err != nil {
		return err
	}
	slices.Sort(plain)
	slices.Sort(normalised)
	m.Conformal = &Conformal{Level: conformalLevel, Rows: n, HalfWidth: plain[k-1], Normalised: normalised[k-1]}
	return nil
}
