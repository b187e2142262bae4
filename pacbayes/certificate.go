package pacbayes

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
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
	Params     int     `json:"params"`            // T: parameters of the prior that lie on the grid
	Choices    int     `json:"choices"`           // kernel families chosen among on the certified rows, at least 1
	PriorRows  int     `json:"prior_rows"`        // rows set aside for the scaling, and for the prior where it is informed
	Scaling    string  `json:"scaling"`           // prior-rows, declared or all-rows
	Encoded    bool    `json:"encoded,omitempty"` // categories, or means in the place of missing values, were learnt on the prior rows

	// A mixed p_θ: it gives equal shares to grids of 0, 1, … digits, and to so many structures of
	// the lengthscales. With Tied > 0 these take Tied different values, which Params counts,
	// assigned to Lengthscales of them in one of Tied^Lengthscales ways. 0: neither.
	Resolutions  int `json:"resolutions,omitempty"`
	Structures   int `json:"structures,omitempty"`
	Lengthscales int `json:"lengthscales,omitempty"`
	Tied         int `json:"tied,omitempty"`

	Informed bool   `json:"informed,omitempty"` // P was learnt on the prior rows: none of its parameters lies on the grid
	Fixed    bool   `json:"fixed,omitempty"`    // Q is P itself, so that nothing was learnt on the certified rows
	Family   Family `json:"family,omitempty"`   // the inequality; "": kl
	Route    Route  `json:"route,omitempty"`    // to the bound on the mean; "": twice

	// Promise is the share of predictions for which the smallest half-width is looked for
	// that is guaranteed; 0: none.
	Promise float64 `json:"promise,omitempty"`

	// Group is the column by which rows are grouped: a group is what is drawn and counted.
	Group string `json:"group,omitempty"`
	// Backtest says that the certified rows are the last of the table: not drawn at random.
	Backtest bool `json:"backtest,omitempty"`

	// Of a computation, not of the model: how many of the rows the model was made from equal
	// another one, and whether ε is another than the declared one.
	Repeats      int  `json:"-"`
	Positional   bool `json:"-"` // roles were dealt by where rows stood in the file
	OtherEpsilon bool `json:"-"`
}

// Certificate is a bound on the risk of a Gaussian-process posterior and all that is
// needed to recompute it. With probability at least 1−Delta over the certified rows, a
// random function f ~ Q has an expected loss of at most Bound on a further row drawn
// from the same source, and its mean, which is what predict returns, one of at most
// MeanBound (Reeb et al. 2018, Theorem 1, Eq. 5, Sect. 2.1), and a promise holds: all of
// these at once. On the route direct, Bound is that of the mean, to which all of δ went.
type Certificate struct {
	Bound          float64  `json:"bound"`                   // of the Gibbs risk R(Q)
	BoundSqrt      float64  `json:"bound_sqrt"`              // the looser B_Pin; may exceed 1
	EmpiricalRisk  float64  `json:"empirical_risk"`          // R_S(Q) on the certified rows
	KL             float64  `json:"kl"`                      // KL(Q‖P), nats
	GridPenalty    float64  `json:"grid_penalty"`            // ln(1/p_θ), nats
	ChoicesPenalty float64  `json:"choices_penalty"`         // ln of the number of choices, nats
	Delta          float64  `json:"delta"`                   // confidence 1−δ
	Rows           int      `json:"rows"`                    // certified; N, unless groups are counted
	Group          string   `json:"group,omitempty"`         // the column that groups them
	Groups         int      `json:"groups,omitempty"`        // N, where groups are counted
	Loss           Kind     `json:"loss"`                    //
	Epsilon        float64  `json:"epsilon"`                 // in standard deviations of the target; relative losses: no unit
	EpsilonAbove   float64  `json:"epsilon_above,omitempty"` // asymmetric loss: the width above
	EpsilonRaw     float64  `json:"epsilon_raw"`             // in the target's units
	MeanBound      float64  `json:"mean_bound"`              // of the posterior mean
	Prior          string   `json:"prior"`                   // grid or informed
	PriorRows      int      `json:"prior_rows"`              //
	Scaling        string   `json:"scaling"`                 //
	Family         Family   `json:"family,omitempty"`        // the inequality, where it isn't kl
	Route          Route    `json:"route,omitempty"`         // to MeanBound, where it isn't twice Bound
	Promise        *Promise `json:"promise,omitempty"`       //
	Repeats        int      `json:"repeats,omitempty"`       // rows the model was made from that equal another one
	Valid          bool     `json:"valid"`                   // false: a heuristic number, not a guarantee
	Label          string   `json:"label"`                   // what the number may be called
	Conditions     []string `json:"conditions"`              // what the guarantee rests on
}

// Route names the way to the bound on the mean. It is declared beforehand.
type Route string

const (
	// Twice bounds the mean's risk by twice the bound on a random draw: the losses are
	// quasi-convex, and Q is symmetric about its mean. It holds however Q was learnt.
	Twice Route = "twice"
	// Direct bounds the mean by its own losses on the certified rows: a plain hold-out bound,
	// for a mean that was fixed before these rows were seen. All of δ goes to it.
	Direct Route = "direct"
	// Both gives half of δ to either, and takes the lower.
	Both Route = "both"
)

// ErrTooFewRows says why no certificate was issued.
var ErrTooFewRows = fmt.Errorf("fewer than %d certified rows", MinRows)

// tooFew is ErrTooFewRows, or the same of groups.
func (t Terms) tooFew() error {
	if t.Group != "" {
		return fmt.Errorf("%w: a group is one draw, and there are fewer than %d certified groups", ErrTooFewRows, MinRows)
	}
	return ErrTooFewRows
}

// rounding covers what rounding may have taken off R_S and KL.
const rounding = 1e-12

// Extended says whether the terms hold more than a prior on one grid and a bound by kl.
func (t Terms) Extended() bool {
	return t.Resolutions > 0 || t.Informed || t.Fixed || t.Family != "" || t.Route != "" || t.Promise > 0
}

// statements is the number of equal parts of δ: one each for the declared ε and the promise,
// and of that one each for a random draw and for the mean.
func (t Terms) statements() float64 {
	parts := 1.
	if t.Promise > 0 {
		parts = 2
	}
	if t.Route == Both {
		parts *= 2
	}
	return parts
}

func (t Terms) family() Family {
	if t.Family == "" {
		return KLFamily
	}
	return t.Family
}

func (t Terms) gridPenalty() float64 {
	if t.Params == 0 {
		return 0
	}
	penalty := t.Grid.LogInverseP(t.Params)
	if t.Resolutions > 1 {
		penalty += math.Log(float64(t.Resolutions))
	}
	if t.Structures > 1 {
		penalty += math.Log(float64(t.Structures))
	}
	if t.Tied > 1 {
		penalty += float64(t.Lengthscales) * math.Log(float64(t.Tied))
	}
	return penalty
}

func (t Terms) choicesPenalty() float64 { return math.Log(float64(t.Choices) * t.statements()) }

// Penalty is what a bound on n rows pays besides KL, in nats: ln(1/p_θ), ln of the choices
// and statements, and ln of the family's constant over δ.
func (t Terms) Penalty(n int) float64 {
	return t.gridPenalty() + t.choicesPenalty() + t.family().logConstant(n) - math.Log(t.Delta)
}

// Check reports terms that no certificate can have.
func (t Terms) Check() error {
	if err := t.Loss.Validate(); err != nil {
		return err
	}
	if !(t.Delta > 0 && t.Delta < 1) {
		return fmt.Errorf("delta %v: want a probability between 0 and 1, such as 0.01", t.Delta)
	}
	if t.Params > 0 {
		if err := t.Grid.Validate(); err != nil {
			return err
		}
	}
	if !slices.Contains([]string{"prior-rows", "declared", "all-rows"}, t.Scaling) {
		return fmt.Errorf("unknown scaling %q: want prior-rows, declared or all-rows", t.Scaling)
	}
	if t.Choices < 1 {
		return fmt.Errorf("%d choices: want at least 1", t.Choices)
	}
	return t.CheckRoute()
}

// CheckRoute reports a family, a route and a promise that don't go together or with how Q came
// about.
func (t Terms) CheckRoute() error {
	if t.Route != "" && t.Route != Twice && !t.Fixed {
		return fmt.Errorf("mean-bound %s: the mean has a bound of its own only where nothing was learnt on the certified rows: it needs an informed prior that is the posterior itself", t.Route)
	}
	if t.Route != "" && t.Route != Twice && t.Route != Direct && t.Route != Both {
		return fmt.Errorf("mean-bound %q: want %s, %s or %s", t.Route, Twice, Direct, Both)
	}
	if t.Fixed && !t.Informed {
		return errors.New("a posterior that is the prior itself needs an informed prior")
	}
	if !(t.Promise >= 0 && t.Promise < 1) {
		return fmt.Errorf("promise %v: want a share below 1, such as 0.95", t.Promise)
	}
	return t.family().Check(t.Loss, !t.Fixed)
}

// Certify computes the certificate of a posterior Q from its predictions on all N
// certified rows (means and latent variances, in the units of y), KL(Q‖P), and the
// terms. scale holds |y_raw| in the units of y for relative losses, else nil. Q and P
// must share parameters that lie on the grid. It fails with ErrTooFewRows, or where a
// number isn't finite.
func (t Terms) Certify(y, mean, variance, scale []float64, kl float64) (*Certificate, error) {
	return t.CertifySample(Sample{Y: y, Mean: mean, Variance: variance, Scale: scale}, kl)
}

// CertifySample is Certify, also where a part of the rows is at hand.
func (t Terms) CertifySample(s Sample, kl float64) (*Certificate, error) {
	n := s.units()
	if err := t.Check(); err != nil {
		return nil, err
	}
	if n < MinRows {
		return nil, t.tooFew()
	}
	if (s.Group != nil) != (t.Group != "") {
		return nil, errors.New("the terms and the rows disagree about whether groups are counted: no certificate")
	}
	if kl < -1e-8 || math.IsNaN(kl) {
		return nil, fmt.Errorf("KL(Q‖P) came out as %v: a numerical failure, so no certificate; raise the noise variance", kl)
	}
	kl = math.Max(kl, 0)
	if t.Fixed && kl > 0 {
		return nil, fmt.Errorf("the posterior is said to be the prior itself, but KL(Q‖P) is %v: no certificate", kl)
	}
	risk, err := s.Risk(t.Loss, nil, nil)
	if err != nil {
		return nil, err
	}
	if math.IsNaN(risk) {
		return nil, errors.New("a prediction on the certified rows isn't a number, so no certificate")
	}
	c := t.stated()
	c.EmpiricalRisk, c.KL, c.Rows = risk, kl, n
	if t.Group != "" {
		c.Rows, c.Groups = len(s.Y), n
	}
	if err := t.bounds(c, s); err != nil {
		return nil, err
	}
	if t.Promise > 0 && !t.OtherEpsilon { // it stands, but isn't about another ε
		if c.Promise, err = t.promise(s, kl); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// stated returns what of a certificate follows from the terms alone.
func (t Terms) stated() *Certificate {
	c := &Certificate{
		GridPenalty: t.gridPenalty(), ChoicesPenalty: t.choicesPenalty(), Delta: t.Delta, Group: t.Group,
		Loss: t.Loss.Kind, Epsilon: t.Loss.Below, EpsilonRaw: t.EpsilonRaw,
		Prior: "grid", PriorRows: t.PriorRows, Scaling: t.Scaling, Repeats: t.Repeats,
		Valid: t.Scaling != "all-rows" && !t.OtherEpsilon && !t.Backtest, Label: "certificate", Conditions: t.Conditions(),
	}
	if t.Fixed && t.Route == Direct { // the choice among tempers leaves the mean alone
		c.ChoicesPenalty = math.Log(t.statements())
	}
	if t.Loss.Kind == Asymmetric {
		c.EpsilonAbove = t.Loss.Above
	}
	if t.Informed {
		c.Prior = "informed"
	}
	if f := t.family(); f != KLFamily {
		c.Family = f
	}
	if t.Route != Twice {
		c.Route = t.Route
	}
	switch {
	case t.Backtest:
		c.Label = "backtest (the certified rows are the last of the table, not drawn at random)"
	case t.OtherEpsilon:
		c.Label = "bound (heuristic: ε was chosen after the certified rows were seen)"
	case !c.Valid:
		c.Label = "bound (heuristic: scaled with training statistics)"
	}
	return c
}

// Reword makes the words of a certificate those of the terms, and says what else of it isn't what they say;
// "" if nothing.
func (t Terms) Reword(c *Certificate) string {
	s := t.stated()
	c.Label, c.Conditions, c.Repeats = s.Label, s.Conditions, s.Repeats
	s.Bound, s.BoundSqrt, s.EmpiricalRisk, s.KL, s.MeanBound = c.Bound, c.BoundSqrt, c.EmpiricalRisk, c.KL, c.MeanBound
	s.Rows, s.Groups, s.Promise = c.Rows, c.Groups, c.Promise
	if p := c.Promise; (p != nil) != (t.Promise > 0) || p != nil && p.Share != t.Promise {
		return "promise is another"
	}
	return s.Difference(c)
}

// bounds fills in the bounds on a random draw and on the mean.
func (t Terms) bounds(c *Certificate, s Sample) error {
	n := s.units()
	if t.Fixed {
		delta := t.Delta / t.statements()
		var own float64
		var err error
		if t.Route != Twice && t.Route != "" {
			if own, err = t.family().fixed(s, s.pointLosses(t.Loss), s.zeroOne(t.Loss), delta); err != nil {
				return err
			}
		}
		if t.Route == Direct {
			c.EmpiricalRisk, err = s.PointRisk(t.Loss)
			c.Bound = own
		} else {
			c.Bound, err = t.family().fixed(s, s.drawLosses(t.Loss), false, delta/float64(t.Choices))
		}
		if err != nil {
			return err
		}
		c.BoundSqrt = c.EmpiricalRisk + math.Sqrt((c.ChoicesPenalty-math.Log(t.Delta))/(2*float64(n))) + rounding
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
	eps := (c.KL + t.Penalty(n)) / float64(n)
	var low float64
	if t.family() == SplitFamily {
		var err error
		if low, err = s.lowRisk(t.Loss); err != nil {
			return err
		}
	}
	c.Bound = t.family().anyQ(c.EmpiricalRisk, low, eps, n)
	c.BoundSqrt = c.EmpiricalRisk + math.Sqrt(eps/2) + rounding
	c.MeanBound = math.Min(1, 2*c.Bound)
	return nil
}

// Equal says whether two certificates say the same: see Difference.
func (c *Certificate) Equal(d *Certificate) bool { return d != nil && c.Difference(d) == "" }

// reproducible is how closely another kind of processor computes the same numbers: those of honest
// sparse models were up to 2e-7 apart. It is also how far a stored number may be from the recomputed
// one, which is what is printed.
const reproducible = 1e-6

// Difference names what a certificate says otherwise than another one; "" if nothing. Computed numbers may
// differ by 1e-6, or that share of one above 1. Conditions follow from the terms, and repeats from the
// rows' hashes: neither is compared.
func (c *Certificate) Difference(d *Certificate) string {
	type number struct {
		name string
		a, b *float64
	}
	a, b := *c, *d
	a.Conditions, a.Repeats = b.Conditions, b.Repeats
	numbers := []number{{"bound", &a.Bound, &b.Bound}, {"bound_sqrt", &a.BoundSqrt, &b.BoundSqrt}, {"empirical_risk", &a.EmpiricalRisk, &b.EmpiricalRisk},
		{"kl", &a.KL, &b.KL}, {"mean_bound", &a.MeanBound, &b.MeanBound}, {"grid_penalty", &a.GridPenalty, &b.GridPenalty},
		{"choices_penalty", &a.ChoicesPenalty, &b.ChoicesPenalty}}
	if a.Promise != nil && b.Promise != nil {
		p, q := *a.Promise, *b.Promise
		a.Promise, b.Promise = &p, &q
		numbers = append(numbers, number{"promise's bound", &p.Bound, &q.Bound})
	}
	for _, n := range numbers {
		if !(math.Abs(*n.a-*n.b) <= reproducible*math.Max(1, math.Abs(*n.b))) {
			return fmt.Sprintf("%s is %.12g, not %.12g", n.name, *n.a, *n.b)
		}
		*n.a = *n.b
	}
	if !reflect.DeepEqual(a.Promise, b.Promise) {
		return "promise is another"
	}
	if !reflect.DeepEqual(a, b) {
		return "terms are others"
	}
	return ""
}

// Conditions are what the guarantee of a certificate with these terms rests on.
func (t Terms) Conditions() (c []string) {
	declared, grid := fmt.Sprintf("The %s loss", t.Loss.Kind), fmt.Sprintf("the grid %s", t.Grid)
	if t.OtherEpsilon {
		c = append(c, "NOT MET: ε isn't the one declared when the model was fitted.")
	} else if t.Loss.Kind != ClippedAbsolute {
		declared += ", its ε"
	}
	if t.Promise > 0 {
		declared += fmt.Sprintf(", the share %g of the promise (to which half of δ went)", t.Promise)
	}
	if t.Resolutions > 1 {
		grid = fmt.Sprintf("the grids of 0 to %d digits in [−%g, %g] (of which that with %d was chosen afterwards, and paid for)", t.Resolutions-1, t.Grid.L, t.Grid.L, t.Grid.Digits)
	}
	fixed := fmt.Sprintf("%s, δ = %g, the kernel family and %s were declared before the certified rows were seen; "+
		"running again with other seeds or settings and keeping the best isn't covered.", declared, t.Delta, grid)
	if t.Informed {
		fixed = fmt.Sprintf("%s and δ = %g were declared before the certified rows were seen, and the prior was learnt on %d prior rows alone; "+
			"running again with other shares, seeds or settings and keeping the best isn't covered.", declared, t.Delta, t.PriorRows)
	}
	source := "The certified rows are independent draws from one source, and the bound is about further rows from that source. " +
		"For rows ordered in time it covers other moments of the same period, not the future."
	switch {
	case t.Backtest:
		source = "NOT MET: the certified rows are the last of the table, so that they may be of another time than further rows; as a backtest the number says how the model did on them."
	case t.Group != "":
		source = fmt.Sprintf("The groups of the certified rows, by %s, are independent draws from one source of groups; rows within a group may depend on one another. "+
			"The bound is about a further group from that source: the loss is averaged over its rows, and then over groups.", t.Group)
	}
	c = append(c, source, fixed)
	if t.Positional {
		c = append(c, "The order of the rows in the file has nothing to do with what they hold: their roles were dealt by it, as in models of before version 5. A new fit doesn't need this.")
	}
	switch {
	case t.Repeats > 0 && t.Group != "":
		c = append(c, fmt.Sprintf("%d of the rows the model was made from equal one of another group: they are independent draws that came out alike, not copies. Copies must go first.", t.Repeats))
	case t.Repeats > 0:
		c = append(c, fmt.Sprintf("%d of the rows the model was made from equal another one: they are independent draws that came out alike, not copies. Copies must go first.", t.Repeats))
	}
	switch t.Scaling {
	case "prior-rows":
		c = append(c, fmt.Sprintf("Scaling constants come from %d prior rows, which the bound doesn't count.", t.PriorRows))
	case "declared":
		c = append(c, "Scaling constants were declared beforehand, not taken from the certified rows.")
	default:
		c = append(c, "NOT MET: scaling constants were taken from all rows, the certified ones included, so the theorem doesn't cover this number.")
	}
	if t.Encoded {
		c = append(c, "Categories of inputs, and what stands in the place of their missing values, come from the prior rows too.")
	}
	switch t.Route {
	case Direct:
		return append(c, "The bound is a plain hold-out bound on the mean prediction, which was fixed before the certified rows were seen.")
	case Both:
		return append(c, "Half of δ went to the bound on the loss of a random draw f ~ Q, half to the hold-out bound on that of the mean prediction.")
	}
	return append(c, "The bound holds for the loss of a random draw f ~ Q; that of the mean prediction is at most twice as large.")
}
