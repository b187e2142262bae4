package pacbayes

import (
	"errors"
	"fmt"
	"math"
	"reflect"
)

// MinRows is the smallest number of certified rows for which a certificate is issued.
const MinRows = 20

// Terms are what was fixed before the certified rows were seen, and what the choices
// made on them cost. With a loss in scaled units they determine a Certificate.
type Terms struct {
	Loss       Loss    `json:"loss"`        // half-widths in the units of y as certified
	EpsilonRaw float64 `json:"epsilon_raw"` // Loss.Below in the target's own units
	Delta      float64 `json:"delta"`       // the bound fails with at most this probability
	Grid       Grid    `json:"grid"`
	Params     int     `json:"params"`     // T: parameters of the prior that lie on the grid
	Choices    int     `json:"choices"`    // kernel families chosen among on the certified rows, at least 1
	PriorRows  int     `json:"prior_rows"` // rows set aside for the scaling
	Scaling    string  `json:"scaling"`    // prior-rows, declared or all-rows
}

// Certificate is a bound on the risk of a Gaussian-process posterior and all that is
// needed to recompute it. With probability at least 1−Delta over the certified rows, a
// random function f ~ Q has an expected loss of at most Bound on a further row drawn
// from the same source, and its mean, which is what predict returns, one of at most
// MeanBound (Reeb et al. 2018, Theorem 1, Eq. 5, Sect. 2.1).
type Certificate struct {
	Bound          float64  `json:"bound"`                   // of the Gibbs risk R(Q)
	BoundSqrt      float64  `json:"bound_sqrt"`              // the looser B_Pin; may exceed 1
	EmpiricalRisk  float64  `json:"empirical_risk"`          // R_S(Q) on the certified rows
	KL             float64  `json:"kl"`                      // KL(Q‖P), nats
	GridPenalty    float64  `json:"grid_penalty"`            // ln(1/p_θ), nats
	ChoicesPenalty float64  `json:"choices_penalty"`         // ln of the number of choices, nats
	Delta          float64  `json:"delta"`                   // confidence 1−δ
	Rows           int      `json:"rows"`                    // N
	Loss           Kind     `json:"loss"`                    //
	Epsilon        float64  `json:"epsilon"`                 // in standard deviations of the target; relative losses: no unit
	EpsilonAbove   float64  `json:"epsilon_above,omitempty"` // asymmetric loss: the width above
	EpsilonRaw     float64  `json:"epsilon_raw"`             // in the target's units
	MeanBound      float64  `json:"mean_bound"`              // of the posterior mean: min(1, 2·Bound)
	Prior          string   `json:"prior"`                   // grid
	PriorRows      int      `json:"prior_rows"`              //
	Scaling        string   `json:"scaling"`                 //
	Valid          bool     `json:"valid"`                   // false: a heuristic number, not a guarantee
	Label          string   `json:"label"`                   // what the number may be called
	Conditions     []string `json:"conditions"`              // what the guarantee rests on
}

// ErrTooFewRows says why no certificate was issued.
var ErrTooFewRows = fmt.Errorf("fewer than %d certified rows", MinRows)

// rounding covers what rounding may have taken off R_S and KL.
const rounding = 1e-12

// Certify computes the certificate of a posterior Q from its predictions on all N
// certified rows (means and latent variances, in the units of y), KL(Q‖P), and the
// terms. scale holds |y_raw| in the units of y for relative losses, else nil. Q and P
// must share parameters that lie on the grid. It fails with ErrTooFewRows, or where a
// number isn't finite.
func (t Terms) Certify(y, mean, variance, scale []float64, kl float64) (*Certificate, error) {
	n := len(y)
	if n < MinRows {
		return nil, ErrTooFewRows
	}
	if kl < -1e-8 || math.IsNaN(kl) {
		return nil, fmt.Errorf("KL(Q‖P) came out as %v: a numerical failure, so no certificate; raise the noise variance", kl)
	}
	kl = math.Max(kl, 0)
	risk := Risk(t.Loss, y, mean, variance, scale, nil, nil)
	if math.IsNaN(risk) {
		return nil, errors.New("a prediction on the certified rows isn't a number, so no certificate")
	}
	c := &Certificate{
		EmpiricalRisk: risk, KL: kl,
		GridPenalty:    t.Grid.LogInverseP(t.Params),
		ChoicesPenalty: math.Log(float64(t.Choices)),
		Delta:          t.Delta, Rows: n,
		Loss: t.Loss.Kind, Epsilon: t.Loss.Below, EpsilonRaw: t.EpsilonRaw,
		Prior: "grid", PriorRows: t.PriorRows, Scaling: t.Scaling,
		Valid: t.Scaling != "all-rows", Label: "certificate",
	}
	if t.Loss.Kind == Asymmetric {
		c.EpsilonAbove = t.Loss.Above
	}
	eps := (kl + Penalty(c.GridPenalty, c.ChoicesPenalty, n, t.Delta)) / float64(n)
	c.Bound = math.Min(1, KLInverseUp(risk, eps)+rounding)
	c.BoundSqrt = risk + math.Sqrt(eps/2) + rounding
	c.MeanBound = math.Min(1, 2*c.Bound)
	c.Conditions = t.conditions()
	if !c.Valid {
		c.Label = "bound (heuristic: scaled with training statistics)"
	}
	return c, nil
}

// Equal says whether two certificates say the same, their numbers to 1e-9: on another
// kind of processor the last digits differ.
func (c *Certificate) Equal(d *Certificate) bool {
	if d == nil {
		return false
	}
	a, b := *c, *d
	for _, pair := range [][2]*float64{{&a.Bound, &b.Bound}, {&a.BoundSqrt, &b.BoundSqrt}, {&a.EmpiricalRisk, &b.EmpiricalRisk}, {&a.KL, &b.KL},
		{&a.MeanBound, &b.MeanBound}, {&a.GridPenalty, &b.GridPenalty}, {&a.ChoicesPenalty, &b.ChoicesPenalty}} {
		if !(math.Abs(*pair[0]-*pair[1]) <= 1e-9*math.Max(1, math.Abs(*pair[1]))) {
			return false
		}
		*pair[0] = *pair[1]
	}
	return reflect.DeepEqual(a, b)
}

func (t Terms) conditions() []string {
	c := []string{
		"The certified rows are independent draws from one source, and the bound is about further rows from that source. " +
			"For rows ordered in time it covers other moments of the same period, not the future.",
		fmt.Sprintf("The %s loss, its ε, δ = %g, the kernel family and the grid %s were declared before the certified rows were seen; "+
			"running again with other seeds or settings and keeping the best isn't covered.", t.Loss.Kind, t.Delta, t.Grid),
	}
	switch t.Scaling {
	case "prior-rows":
		c = append(c, fmt.Sprintf("Scaling constants come from %d prior rows, which the bound doesn't count.", t.PriorRows))
	case "declared":
		c = append(c, "Scaling constants were declared beforehand, not taken from the certified rows.")
	default:
		c = append(c, "NOT MET: scaling constants were taken from all rows, the certified ones included, so the theorem doesn't cover this number.")
	}
	return append(c, "The bound holds for the loss of a random draw f ~ Q; that of the mean prediction is at most twice as large.")
}
