package fitting

import (
	"github.com/krigo-gp/krigo/pacbayes"
)

// Evaluation is the value of an objective at given parameters.
type Evaluation struct {
	Objective string `json:"objective"`
	// Value is to be minimised: −ln p(y), or a risk bound.
	Value float64 `json:"value"`
	// set if the value is an estimate
	StandardError *float64 `json:"value_standard_error,omitempty"`
	// Jitter is added to the diagonal of the inducing inputs' covariance matrix, for all fields of
	// this struct.
	Jitter float64 `json:"jitter,omitempty"`
	// Rounding is about how many nats rounding can move the log likelihood of a sparse GP.
	// It is 0 if that is less than 10⁻⁶ nats a row.
	Rounding float64  `json:"rounding,omitempty"`
	Gradient Gradient `json:"gradient"`
	// set if StandardError is set
	GradientError *Gradient `json:"gradient_standard_error,omitempty"`
	// Certificate is at the parameters rounded to the grid.
	Certificate       *pacbayes.Certificate `json:"certificate"`
	CertificateReason string                `json:"certificate_reason,omitempty"`

	EvidenceBounds *EvidenceBounds `json:"evidence_bounds,omitempty"` // set for a sparse GP
}

// EvidenceBounds bounds ln p(y) from above and below at the parameters of a sparse GP, in nats,
// from all rows. It shows how far the sparse GP is from the exact GP (see objective.Sandwich).
// A method other than renyi has only Upper and Variational.
//
//	Upper ≥ UpperNorm ≥ Evidence ≥ AlphaELBO ≥ AlphaAtVariational ≥ Jensen ≥ Variational
//
// If α is negative, AlphaELBO is an upper bound too, and fields that aren't ordered then are left
// out.
type EvidenceBounds struct {
	Upper              *float64 `json:"upper,omitempty"`
	UpperNorm          *float64 `json:"upper_norm,omitempty"`
	Evidence           *float64 `json:"evidence,omitempty"`
	AlphaELBO          *float64 `json:"alpha_elbo,omitempty"`
	AlphaAtVariational *float64 `json:"alpha_elbo_at_variational,omitempty"`
	Jensen             *float64 `json:"jensen,omitempty"`
	Variational        *float64 `json:"variational,omitempty"`
}

// Gradient mirrors Params. Its derivatives are with respect to ln l (not ln l²), ln σ_s², ln σ_n²
// and other logarithms, and with respect to the mean's parameters themselves.
// A sum or a product has Parts.
type Gradient struct {
	LogVariance     *float64  `json:"log_variance,omitempty"`
	LogLengthscales []float64 `json:"log_lengthscales,omitempty"`
	LogShape        *float64  `json:"log_shape,omitempty"`
	LogPeriod       *float64  `json:"log_period,omitempty"`
	// parameters of a registered kernel, by name
	Parameters       map[string]float64 `json:"parameters,omitempty"`
	Parts            []Gradient         `json:"parts,omitempty"`
	LogNoiseVariance *float64           `json:"log_noise_variance,omitempty"`
	Mean             *MeanParams        `json:"mean,omitempty"`
	Inducing         [][]float64        `json:"inducing,omitempty"`
	Posterior        *FreeParams        `json:"posterior,omitempty"`
}
