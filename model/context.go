package model

import "github.com/krigo-gp/krigo/pacbayes"

// Context compares a model that was fixed before the certified rows were seen with simple
// predictors, on these rows.
// Only the fields MeanBound hold bounds. Errors are averages over rows, in the target's units.
// Risks are averages over groups if rows have groups.
type Context struct {
	Rows int     `json:"rows"`
	RMSE float64 `json:"rmse"`
	MAE  float64 `json:"mae"`
	// 1 − Σ(y − ŷ)²/Σ(y − ȳ)²; left out if all targets are equal
	R2         float64 `json:"r2,omitzero"`
	Coverage95 float64 `json:"coverage95"` // share of y within the central 95 % credible interval
	MeanRisk   float64 `json:"mean_risk"`  // mean loss of the posterior mean

	Constant     Constant `json:"constant,omitzero"`
	Linear       Baseline `json:"linear,omitzero"` // least squares on the prior rows
	LinearReason string   `json:"linear_reason,omitempty"`

	AllRows AllRows `json:"all_rows,omitzero"`

	// Unknown counts each limit of detection as a miss, whatever its target is.
	// Its bound holds alone.
	Unknown Unknown `json:"unknown,omitzero"`
	far     float64 // distance beyond which rows are far (Range.Far)
}

// Baseline holds figures of a simple predictor that is made from the prior rows.
// MeanBound is the predictor's hold-out bound by the certificate's terms.
// This bound holds alone, not together with the certificate (see pacbayes.Terms.HoldOut).
type Baseline struct {
	RMSE      float64 `json:"rmse"`
	MeanRisk  float64 `json:"mean_risk"`
	MeanBound float64 `json:"mean_bound"`

	// Curve is the predictor's own curve if the certificate has a curve.
	// It is computed from the rows, and no file holds it.
	Curve *pacbayes.Curve `json:"-"`
}

// Unknown holds the risk and the hold-out bound of the posterior mean if all limits among the
// targets are misses.
type Unknown struct {
	MeanRisk  float64 `json:"mean_risk"`
	MeanBound float64 `json:"mean_bound"`
}

// Constant is the predictor that always answers the median of the prior rows' targets.
// With an exposure it answers the prior rows' sum of targets over their sum of exposures, times the
// row's exposure.
type Constant struct {
	Value float64 `json:"value"`
	Baseline
}

// AllRows is an estimate in older files, which nothing reads: it didn't tell tables apart.
type AllRows struct {
	Trained int     `json:"trained"`
	Rows    int     `json:"rows"`
	LowerBy float64 `json:"rmse_lower_by"`
}

// The reasons why there is no linear model.
const (
	manyInputs = "it has more than 500 inputs"
	spreadRows = "the rows are spread over ranks"
	overflows  = "its sums of squares overflow"
	exposures  = "it has no exposure"
)

// misses returns the errors in a context, which are never negative.
func (x *Context) misses() []float64 {
	return []float64{x.RMSE, x.MAE, x.Constant.RMSE, x.Linear.RMSE}
}

// shares returns the numbers in a context that lie between 0 and 1.
func (x *Context) shares() []float64 {
	return []float64{x.Coverage95, x.MeanRisk, x.Constant.MeanRisk, x.Constant.MeanBound,
		x.Linear.MeanRisk, x.Linear.MeanBound, x.Unknown.MeanRisk, x.Unknown.MeanBound}
}

// numbers returns all numbers of a context except AllRows.
// Numbers in the target's units are divided by unit.
func (x *Context) numbers(unit float64) []float64 {
	of := append(x.misses(), x.Constant.Value)
	for i := range of {
		of[i] /= unit
	}
	return append(append(of, x.shares()...), x.R2, float64(x.Rows))
}
