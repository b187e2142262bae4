package model

import (
	"errors"
	"slices"

	"github.com/krigo-gp/krigo/pacbayes"
)

// Context is how a model that was fixed before the certified rows were seen does on them, beside what anybody could
// have predicted. But for the bounds of others nothing in it is one. Errors are by rows, in the target's units, and
// risks by groups where there are groups.
type Context struct {
	Rows       int     `json:"rows"`
	RMSE       float64 `json:"rmse"`
	MAE        float64 `json:"mae"`
	R2         float64 `json:"r2,omitzero"` // 1 − Σ(y − ŷ)²/Σ(y − ȳ)²; absent where all targets are the same
	Coverage95 float64 `json:"coverage95"`  // share of y within the central 95 % credible interval
	MeanRisk   float64 `json:"mean_risk"`   // mean loss of the posterior mean

	Constant     Constant `json:"constant,omitzero"`
	Linear       Baseline `json:"linear,omitzero"` // least squares on the prior rows
	LinearReason string   `json:"linear_reason,omitempty"`

	AllRows AllRows `json:"all_rows,omitzero"`
}

// Baseline is a predictor that the prior rows make in a simple way. Its bound is the hold-out bound of the
// certificate's own terms, and holds by itself: see pacbayes.Terms.HoldOut.
type Baseline struct {
	RMSE      float64 `json:"rmse"`
	MeanRisk  float64 `json:"mean_risk"`
	MeanBound float64 `json:"mean_bound"`
}

// Constant is the median of the prior rows' targets.
type Constant struct {
	Value float64 `json:"value"`
	Baseline
}

// AllRows estimates what it costs that certified rows don't train.
type AllRows struct {
	Trained int     `json:"trained"`       // prior rows
	Rows    int     `json:"rows"`          // prior and certified ones
	LowerBy float64 `json:"rmse_lower_by"` // the share by which the error would be lower
}

// Why there is no linear model, and the least share that all rows are said to gain.
const (
	manyInputs = "it has more than 500 inputs"
	spreadRows = "the rows are spread over ranks"
	overflows  = "its sums of squares overflow"
	leastGain  = 0.005
)

// NoBetter says whether a constant has as low an RMSE as the model (byError), or as low a bound as the certificate, or
// where that isn't a hold-out bound of the mean, at one ε alone, as low a loss (byLoss).
func (x *Context) NoBetter(c *pacbayes.Certificate) (byError, byLoss bool) {
	if x == nil || c == nil || x.Constant == (Constant{}) {
		return false, false
	}
	byLoss = x.MeanRisk >= x.Constant.MeanRisk
	if c.Route == pacbayes.Direct && c.Curve == nil {
		byLoss = c.MeanBound >= x.Constant.MeanBound
	}
	return x.RMSE >= x.Constant.RMSE, byLoss
}

// misses are the errors of a context, shares its numbers from 0 to 1.
func (x *Context) misses() []float64 {
	return []float64{x.RMSE, x.MAE, x.Constant.RMSE, x.Linear.RMSE}
}

func (x *Context) shares() []float64 {
	return []float64{x.Coverage95, x.MeanRisk, x.Constant.MeanRisk, x.Constant.MeanBound, x.Linear.MeanRisk,
		x.Linear.MeanBound}
}

// numbers are all of a context's but for AllRows, in units of the target.
func (x *Context) numbers(unit float64) []float64 {
	of := append(x.misses(), x.Constant.Value)
	for i := range of {
		of[i] /= unit
	}
	return append(append(of, x.shares()...), x.R2, float64(x.Rows))
}

// sane reports what no context of a model with so many rows is, of a file.
func (x *Context) sane(prior, certified int) error {
	ok := x.Rows == certified && x.R2 <= 1 && slices.Min(x.misses()) >= 0 && slices.Min(x.shares()) >= 0 &&
		slices.Max(x.shares()) <= 1+1e-9 &&
		slices.Contains([]string{"", manyInputs, spreadRows, overflows}, x.LinearReason)
	if a := x.AllRows; a != (AllRows{}) {
		ok = ok && a.Trained == prior && a.Rows == prior+certified && a.LowerBy >= leastGain && a.LowerBy < 1
	}
	if !ok {
		return errors.New("the model file's context isn't one of its certified rows")
	}
	return nil
}
