package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/ranks"
)

// Conformal holds the widths of split-conformal intervals, set on calibration rows that
// nothing was trained on. Whatever the model and the distribution of the rows, an interval
// holds a further target with probability at least Level, over the draw of the calibration
// rows and of that row together: a marginal guarantee, true on average over rows and not for
// each kind of row (Vovk, Gammerman and Shafer 2005; Papadopoulos et al. 2002; normalised by
// the model's standard deviation: Lei et al., "Distribution-free predictive inference for
// regression", JASA 113, 2018, Sect. 5.2).
type Conformal struct {
	Level      float64 `json:"level"`
	Rows       int     `json:"rows"`
	HalfWidth  float64 `json:"half_width"` // of mean ± HalfWidth, in scaled units
	Normalised float64 `json:"normalised"` // of mean ± Normalised standard deviations of y
}

// ConformalLevel is the share of targets that intervals are to hold.
const ConformalLevel = 0.95

// LeastCalibration rows can set an interval for it: with fewer the ⌈0.95(n+1)⌉-th smallest of n
// scores doesn't exist.
const LeastCalibration = 19

// Calibrate sets the widths of conformal intervals on the calibration rows of d.
func (m *Model) Calibrate(d *dataset.Data, roles dataset.Roles) error {
	rows := d.RowsOf(roles, dataset.Calibration)
	first, n, err := ranks.Place(d.Ranks(), len(rows))
	if err != nil {
		return err
	}
	// The k-th smallest of n scores, the further row's being equally likely to fall between
	// any two of them.
	k := int(math.Ceil(float64(n+1)*ConformalLevel - 1e-9))
	if k > n {
		return fmt.Errorf("%d calibration rows can't hold %.0f %% of further targets: set aside at least %d",
			n, 100*ConformalLevel, LeastCalibration)
	}
	y, _, err := m.targets(d, rows)
	if err != nil {
		return err
	}
	mean, variance, err := Latent(m.Posterior, d.Scaled(rows, m.Scaling))
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
	m.Conformal = &Conformal{Level: ConformalLevel, Rows: n, HalfWidth: plain[k-1], Normalised: normalised[k-1]}
	return nil
}
