package model

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
	far     float64 // of a Range
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
