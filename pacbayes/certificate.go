package pacbayes

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Certificate is a bound on the risk of a Gaussian-process posterior Q, with all that is needed to
// recompute it. With probability at least 1−Delta over the certified rows, all its statements hold
// together (Reeb et al. 2018, Theorem 1, Eq. 5, Sect. 2.1).
// On a further row from the same source, a random function f ~ Q has an expected loss of at most
// Bound. The mean of Q, which predict returns, has an expected loss of at most MeanBound.
// A promise holds too. On the route direct, Bound is about the mean, and all of δ went to it.
type Certificate struct {
	Bound         float64 `json:"bound"`          // on the Gibbs risk R(Q)
	BoundSqrt     float64 `json:"bound_sqrt"`     // the looser B_Pin, by Pinsker; may exceed 1
	EmpiricalRisk float64 `json:"empirical_risk"` // R_S(Q) on the certified rows
	KL            float64 `json:"kl"`             // KL(Q‖P), nats
	GridPenalty   float64 `json:"grid_penalty"`   // ln(1/p_θ), nats
	// ln of the number of choices and parts of δ, nats
	ChoicesPenalty float64 `json:"choices_penalty"`
	Delta          float64 `json:"delta"`            // δ; the confidence is 1−δ
	Rows           int     `json:"rows"`             // certified rows; N, unless groups are counted
	Group          string  `json:"group,omitempty"`  // the column that groups the rows
	Groups         int     `json:"groups,omitempty"` // certified groups; N if groups are counted
	Loss           Kind    `json:"loss"`             // name of the loss
	// ε in standard deviations of the target; for relative losses without a unit
	Epsilon      float64 `json:"epsilon"`
	EpsilonAbove float64 `json:"epsilon_above,omitempty"` // asymmetric loss: the tolerance above
	EpsilonRaw   float64 `json:"epsilon_raw"`             // ε in the target's units
	// bound on the risk of the posterior mean
	MeanBound  float64    `json:"mean_bound"`
	Prior      string     `json:"prior"`            // grid or informed
	PriorRows  int        `json:"prior_rows"`       // number of prior rows
	Scaling    string     `json:"scaling"`          // prior-rows, declared or all-rows
	Inequality Inequality `json:"family,omitempty"` // the inequality, unless it is kl
	// way to MeanBound, unless it is twice Bound
	Route   Route    `json:"route,omitempty"`
	Promise *Promise `json:"promise,omitempty"` // if a promise was asked for
	// if bounds at every width were asked for
	Curve  *Curve  `json:"curve,omitempty"`
	Slices []Slice `json:"slices,omitempty"` // if kinds of rows were asked for
	// rows the model was made from that equal another row
	Repeats int `json:"repeats,omitempty"`
	// near copies among the first 1,000 certified rows
	NearCopies int `json:"near_copies,omitempty"`
	// certified rows whose targets are known as limits alone
	Limits int `json:"limits,omitempty"`
	// SHA-256 of the text that declared everything beforehand
	Declaration string `json:"declaration,omitempty"`
	// false: a heuristic number, not a guarantee
	Valid bool   `json:"valid"`
	Label string `json:"label"` // what the number may be called
	// what must be true for the guarantee to hold
	Conditions []string `json:"conditions"`
}

// Certify computes the certificate of a posterior Q.
// s holds Q's predictions, in the units of y, on all N certified rows or on this rank's part of
// them. kl is KL(Q‖P). For relative losses s.Scale holds |y_raw| in the units of y.
// Q and P must have the same parameters, which lie on the grid.
// Certify returns ErrTooFewRows if there are fewer than MinRows units, and an error if a number
// isn't finite.
func (t Terms) Certify(s Sample, kl float64) (*Certificate, error) {
	n := s.units()
	if err := t.Check(); err != nil {
		return nil, err
	}
	if n < MinRows {
		return nil, t.tooFew()
	}
	if (s.Group != nil) != (t.Group != "") {
		return nil, errors.New("the terms and the rows disagree about whether groups are " +
			"counted: no certificate")
	}
	if kl < -1e-8 || math.IsNaN(kl) {
		return nil, fmt.Errorf("KL(Q‖P) came out as %v: a numerical failure, so no certificate; "+
			"raise the noise variance", kl)
	}
	kl = math.Max(kl, 0)
	if t.Fixed && kl > 0 {
		return nil, fmt.Errorf("the posterior is said to be the prior itself, but KL(Q‖P) is %v: "+
			"no certificate", kl)
	}
	risk, err := s.Risk(t.Loss, nil, nil)
	if err != nil {
		return nil, err
	}
	point, err := s.PointRisk(t.Loss)
	switch {
	case err != nil:
		return nil, err
	case math.IsNaN(risk+point) && t.Loss.Kind.registered() != nil:
		return nil, fmt.Errorf("%w: the loss %s, or a prediction, isn't a number from 0 to 1 on "+
			"the certified rows: no certificate", ErrLoss, t.Loss.Kind)
	case math.IsNaN(risk + point):
		return nil, errors.New("a prediction on the certified rows isn't a number, so no " +
			"certificate")
	}
	c := t.stated()
	c.EmpiricalRisk = risk
	c.KL = kl
	c.Rows = n
	if t.Group != "" {
		c.Rows = len(s.Y)
		c.Groups = n
	}
	if t.Curve {
		if c.Curve, err = t.curve(s); err != nil {
			return nil, err
		}
	}
	if len(t.Slices) > 0 && !t.OtherEpsilon { // the slices are about the declared ε
		if c.Slices, err = t.slices(s); err != nil {
			return nil, err
		}
	}
	if err := t.bounds(c, s); err != nil {
		return nil, err
	}
	// a registered loss gave another value the second time
	if math.IsNaN(c.Bound + c.MeanBound + c.EmpiricalRisk) {
		return nil, fmt.Errorf("%w: the bound by the loss %s isn't a number: no certificate",
			ErrLoss, t.Loss.Kind)
	}
	// the promise stands, but isn't about another ε
	if t.Promise > 0 && (!t.OtherEpsilon || t.Curve) {
		if c.Promise, err = t.promise(s, kl, c.Curve); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// stated returns the part of a certificate that follows from the terms alone.
func (t Terms) stated() *Certificate {
	c := &Certificate{
		GridPenalty: t.gridPenalty(), ChoicesPenalty: t.choicesPenalty(), Delta: t.Delta,
		Group: t.Group,
		Loss:  t.Loss.Kind, Epsilon: t.Loss.Below, EpsilonRaw: t.EpsilonRaw,
		Prior: "grid", PriorRows: t.PriorRows, Scaling: t.Scaling, Repeats: t.Repeats,
		NearCopies: t.Near, Limits: t.Limits, Declaration: t.Declaration,
		Valid: t.Scaling != "all-rows" && (!t.OtherEpsilon || t.Curve) &&
			!t.Backtest && (!t.Positional || t.OrderChance),
		Label: "certificate", Conditions: t.Conditions(),
	}
	if t.MeanAlone() { // the choice among tempers doesn't change the mean
		c.ChoicesPenalty = math.Log(t.statements())
	}
	if t.Loss.Kind == Asymmetric {
		c.EpsilonAbove = t.Loss.Above
	}
	if t.Informed {
		c.Prior = "informed"
	}
	if q := t.inequality(); q != KLBound {
		c.Inequality = q
	}
	if t.Route != Twice {
		c.Route = t.Route
	}
	switch {
	case t.Backtest:
		c.Label = "backtest (the certified rows are the last of the table, not drawn at random)"
	case t.OtherEpsilon && !t.Curve:
		c.Label = "bound (heuristic: ε was chosen after the certified rows were seen)"
	case t.Scaling == "all-rows":
		c.Label = "bound (heuristic: scaled with training statistics)"
	case t.Positional && t.OrderChance:
		c.Label = "certificate (if the order of the rows in the file is chance)"
	case t.Positional:
		c.Label = "bound (heuristic: the order of the rows in the file decided which rows are " +
			"certified)"
	}
	return c
}

// Reword sets the label, the conditions and the counts of copies in c, which follow from the terms.
// It returns the first thing in the rest of c that contradicts the terms, or "".
func (t Terms) Reword(c *Certificate) string {
	s := t.stated()
	c.Label = s.Label
	c.Conditions = s.Conditions
	c.Repeats = s.Repeats
	c.NearCopies = s.NearCopies
	if t.Positional {
		c.Valid = s.Valid // model files with positional roles are old, and say true
	}
	// Take the numbers from c, since terms alone can't give them. What then differs contradicts the
	// terms.
	s.Bound = c.Bound
	s.BoundSqrt = c.BoundSqrt
	s.EmpiricalRisk = c.EmpiricalRisk
	s.KL = c.KL
	s.MeanBound = c.MeanBound
	s.Rows = c.Rows
	s.Groups = c.Groups
	s.Promise = c.Promise
	s.Curve = c.Curve
	s.Slices = c.Slices
	if (c.Curve != nil) != t.Curve {
		return "curve differs"
	}
	if (len(c.Slices) > 0) != (len(t.Slices) > 0) {
		return "slices differ"
	}
	if p := c.Promise; (p != nil) != (t.Promise > 0) || (p != nil && p.Share != t.Promise) {
		return "promise differs"
	}
	return s.Difference(c)
}

// LeastBound returns the bound on the mean that n rows, or groups, give if all their losses are 0.
func (t Terms) LeastBound(n int) float64 {
	zero := make([]float64, n)
	s := Sample{Y: zero, Mean: zero, Variance: zero, Scale: zero}
	c := &Certificate{ChoicesPenalty: t.choicesPenalty()}
	var err error
	if t.Curve {
		c.Curve, err = t.curve(s)
	}
	if err = errors.Join(err, t.bounds(c, s)); err != nil {
		panic(err) // sums in a single process can't fail
	}
	return c.MeanBound
}

// bounds fills in c's bounds on a random draw and on the mean.
func (t Terms) bounds(c *Certificate, s Sample) error {
	n := s.units()
	if t.Fixed {
		// The statements that share δ, such as a promise, take equal parts.
		delta := t.Delta / t.statements()
		// own bounds the loss of the mean itself, from the curve or from the mean's losses.
		var own float64
		var err error
		switch {
		case t.Curve:
			own = c.Curve.At(t.Loss.Below)
		case t.Route != Twice && t.Route != "":
			if own, err = t.fixed(s, s.pointLosses(t.Loss), s.zeroOne(t.Loss), delta); err != nil {
				return err
			}
		}
		// On the route direct only the mean is bounded, and all of this δ goes to it.
		// Otherwise Bound is about a random draw, and pays for the choices besides.
		if t.Route == Direct {
			c.EmpiricalRisk, err = s.PointRisk(t.Loss)
			c.Bound = own
		} else {
			c.Bound, err = t.fixed(s, s.drawLosses(t.Loss), false, delta/float64(t.Choices))
		}
		if err != nil {
			return err
		}
		if t.Curve {
			delta = c.Curve.Level
		} else {
			delta = t.Delta / math.Exp(c.ChoicesPenalty)
		}
		// Without a KL term Pinsker's form is Hoeffding's bound, risk + √(ln(1/δ)/2n).
		c.BoundSqrt = c.EmpiricalRisk + math.Sqrt(-math.Log(delta)/(2*float64(n))) + rounding
		switch t.Route {
		case Direct:
			c.MeanBound = c.Bound
		case Both:
			c.MeanBound = math.Min(math.Min(1, 2*c.Bound), own)
		default:
			c.MeanBound = math.Min(1, 2*c.Bound)
		}
		return nil
	}
	// A posterior that learnt on the certified rows pays its KL: eps is the right-hand side of the
	// inequality, in nats per unit.
	eps := (c.KL + t.Penalty(n)) / float64(n)
	// The split bound needs a second statistic of the rows beside their risk.
	var low float64
	if t.inequality() == SplitBound {
		var err error
		if low, err = s.lowRisk(t.Loss); err != nil {
			return err
		}
	}
	c.Bound = t.inequality().anyQ(c.EmpiricalRisk, low, eps, n)
	c.BoundSqrt = c.EmpiricalRisk + math.Sqrt(eps/2) + rounding
	c.MeanBound = math.Min(1, 2*c.Bound)
	return nil
}

// Equal says whether Difference finds no difference between two certificates.
func (c *Certificate) Equal(d *Certificate) bool { return d != nil && c.Difference(d) == "" }

// Difference names the first thing that differs between two certificates, or returns "".
// Computed numbers may differ by 1e-6, or by this share of a number above 1.
// Difference ignores conditions, which follow from the terms, repeats, which follow from the rows'
// hashes, and near copies, which old certificates don't count.
func (c *Certificate) Difference(d *Certificate) string {
	type number struct {
		name string
		a, b *float64
	}
	// Each part that has its own comparison is compared, and then made equal in the copies a and b.
	// At the end DeepEqual sees only what is left, which must be equal exactly.
	a := *c
	b := *d
	a.Conditions = b.Conditions
	a.Repeats = b.Repeats
	a.NearCopies = b.NearCopies
	if differs := a.Curve.difference(b.Curve); differs != "" {
		return differs
	}
	if differs := sameSlices(a.Slices, b.Slices); differs != "" {
		return differs
	}
	a.Curve = b.Curve
	a.Slices = b.Slices
	numbers := []number{{"bound", &a.Bound, &b.Bound}, {"bound_sqrt", &a.BoundSqrt, &b.BoundSqrt},
		{"empirical_risk", &a.EmpiricalRisk, &b.EmpiricalRisk}, {"kl", &a.KL, &b.KL},
		{"mean_bound", &a.MeanBound, &b.MeanBound},
		{"grid_penalty", &a.GridPenalty, &b.GridPenalty},
		{"choices_penalty", &a.ChoicesPenalty, &b.ChoicesPenalty}}
	if a.Promise != nil && b.Promise != nil {
		p := *a.Promise
		q := *b.Promise
		a.Promise, b.Promise = &p, &q
		numbers = append(numbers, number{"promise's bound", &p.Bound, &q.Bound})
	}
	for _, n := range numbers {
		if !same(*n.a, *n.b) {
			return fmt.Sprintf("%s is %.12g, not %.12g", n.name, *n.a, *n.b)
		}
		*n.a = *n.b
	}
	if p, q := a.Promise, b.Promise; p != nil && q != nil &&
		sameWidths(p.HalfWidth, q.HalfWidth, p.HalfWidthRaw, q.HalfWidthRaw,
			unitOf(p.HalfWidth, p.HalfWidthRaw)) {
		p.HalfWidth = q.HalfWidth
		p.HalfWidthRaw = q.HalfWidthRaw // a curve's widths are computed from the rows
	}
	if !reflect.DeepEqual(a.Promise, b.Promise) {
		return "promise differs"
	}
	return spelling.If(!reflect.DeepEqual(a, b), "terms differ")
}

// HoldOut returns the mean loss on the certified rows of a predictor that was fixed before these
// rows were seen, and a bound on its expected loss on further rows.
// The bound follows the rules of the terms' own certificate, at its ε and with the part of δ that
// its bound on the mean has. The bound holds by itself, not together with the certificate.
// If the certificate has a curve, the bound is about the declared ε alone.
func (t Terms) HoldOut(s Sample) (risk, bound float64, err error) {
	t = t.alone()
	c := &Certificate{ChoicesPenalty: math.Log(t.statements())}
	err = t.bounds(c, s)
	return c.EmpiricalRisk, c.MeanBound, err
}
