package model

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

// conformalLevel is the share of targets that intervals are to hold.
const conformalLevel = 0.95

// LeastCalibration is how many calibration rows it takes at least to set an interval that holds 95 % of
// targets: with fewer the ⌈0.95(n+1)⌉-th smallest of n scores doesn't exist.
const LeastCalibration = 19
