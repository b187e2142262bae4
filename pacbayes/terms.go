package pacbayes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
)

// NewestRules are the Terms.Rules of new certificates with a curve or slices.
const NewestRules = 1

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
	PriorRows  int     `json:"prior_rows"` // rows set aside for the scaling, and for the prior where it is informed
	Scaling    string  `json:"scaling"`    // prior-rows, declared or all-rows
	// categories, or means in the place of missing values, were learnt on the prior rows
	Encoded bool `json:"encoded,omitempty"`

	// A mixed p_θ: it gives equal shares to grids of 0, 1, … digits, and to so many structures of
	// the lengthscales. With Tied > 0 these take Tied different values, which Params counts,
	// assigned to Lengthscales of them in one of Tied^Lengthscales ways. 0: neither.
	Resolutions  int `json:"resolutions,omitempty"`
	Structures   int `json:"structures,omitempty"`
	Lengthscales int `json:"lengthscales,omitempty"`
	Tied         int `json:"tied,omitempty"`

	// P was learnt on the prior rows: none of its parameters lies on the grid
	Informed   bool       `json:"informed,omitempty"`
	Fixed      bool       `json:"fixed,omitempty"`  // Q is P itself, so that nothing was learnt on the certified rows
	Inequality Inequality `json:"family,omitempty"` // "": kl
	Route      Route      `json:"route,omitempty"`  // to the bound on the mean; "": twice

	// Promise is the share of predictions for which the smallest half-width is looked for that is guaranteed; 0: none.
	Promise float64 `json:"promise,omitempty"`

	// Curve says that all half-widths are bounded at once.
	Curve bool `json:"curve,omitempty"`
	// Slices are columns, SliceSD or SliceDistance, by which kinds of rows have bounds of their own. They have half of δ.
	Slices []string `json:"slices,omitempty"`
	// Rules is the version of the rules by which curves and slices share δ. 0, of older model files: a curve has a bound
	// at every share of misses, and every slice has a part of δ. 1: a curve ends at curveEnd, and slices of fewer than
	// MinRows rows have no part.
	Rules int `json:"rules,omitempty"`

	// Declaration is the SHA-256 of a text by which all that was done was declared beforehand, in hexadecimal; "": none.
	Declaration string `json:"declaration,omitempty"`

	// Group is the column by which rows are grouped: a group is what is drawn and counted.
	Group string `json:"group,omitempty"`
	// Copies says that rows that equal one another were taken for copies of one observation: all but the first were left
	// out, or they are a group.
	Copies bool `json:"copies,omitempty"`
	// Elsewhere says that the predictions were made by no model of this package: that they were made without the certified
	// rows is the word of who certifies.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Backtest says that the certified rows are the last of the table: not drawn at random.
	Backtest bool `json:"backtest,omitempty"`

	// Of a computation, not of the model: how many of the rows the model was made from equal
	// another one, and whether ε is another than the declared one.
	Repeats      int  `json:"-"`
	Near         int  `json:"-"` // of the first 1,000 certified rows, those nearly equal to another one
	Positional   bool `json:"-"` // roles were dealt by where rows stood in the file
	OrderChance  bool `json:"-"` // who certifies vouches that this order has nothing to do with what the rows hold
	OtherEpsilon bool `json:"-"`
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

// MeanAlone says whether nothing but the mean is certified, which was fixed before the certified rows were seen: any
// function of the prior rows will do.
func (t Terms) MeanAlone() bool { return t.Fixed && t.Route == Direct }

// ErrTooFewRows says why no certificate was issued.
var ErrTooFewRows = fmt.Errorf("fewer than %d certified rows", MinRows)

// ErrLoss says why no certificate was issued: the loss left [0, 1], which every bound rests on.
var ErrLoss = errors.New("a loss outside [0, 1]")

// tooFew is ErrTooFewRows, or the same of groups.
func (t Terms) tooFew() error {
	if t.Group != "" {
		return fmt.Errorf("%w: a group is one draw, and there are fewer than %d certified groups", ErrTooFewRows, MinRows)
	}
	return ErrTooFewRows
}

// named are columns as they stand in a sentence.
func named(columns []string) string {
	names := make([]string, len(columns))
	for i, name := range columns {
		names[i] = cautious.Name(name)
	}
	return strings.Join(names, ", ")
}

// Extended says whether the terms hold more than a prior on one grid and a bound by kl.
func (t Terms) Extended() bool {
	return t.Resolutions > 0 || t.Informed || t.Fixed || t.Inequality != "" || t.Route != "" || t.Promise > 0 || t.Curve ||
		len(t.Slices) > 0
}

// statements is the number of equal parts of δ: one each for the declared ε and the promise,
// and of that one each for a random draw and for the mean.
func (t Terms) statements() float64 {
	parts := 1.
	if t.Promise > 0 && !t.Curve { // of which it is one point
		parts = 2
	}
	if t.Route == Both {
		parts *= 2
	}
	return parts * t.share()
}

// share is the number of equal parts of δ of which all but slices has one.
func (t Terms) share() float64 {
	if len(t.Slices) > 0 {
		return 2
	}
	return 1
}

func (t Terms) inequality() Inequality { return cmp.Or(t.Inequality, KLBound) }

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
// and statements, and ln of the inequality's constant over δ.
func (t Terms) Penalty(n int) float64 {
	return t.inequality().Penalty(t.gridPenalty()+t.choicesPenalty(), n, t.Delta)
}

// leastDelta is smaller than anybody's δ, and its parts still are numbers.
const leastDelta = 1e-300

// isSHA256 says whether a text is a digest in lower-case hexadecimal.
func isSHA256(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// Check reports terms that no certificate can have.
func (t Terms) Check() error {
	if err := t.Loss.Validate(); err != nil {
		return err
	}
	if t.Declaration != "" && !isSHA256(t.Declaration) {
		return errors.New("declaration: it isn't a SHA-256 in hexadecimal")
	}
	if !(t.Delta >= leastDelta && t.Delta < 1) {
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

// CheckRoute reports an inequality, a route and a promise that don't go together or with how Q came about.
func (t Terms) CheckRoute() error {
	if t.Route != "" && t.Route != Twice && !t.Fixed {
		return fmt.Errorf("mean-bound %s: the mean has a bound of its own only where nothing was learnt on the certified "+
			"rows: it needs an informed prior that is the posterior itself", t.Route)
	}
	if t.Route != "" && t.Route != Twice && t.Route != Direct && t.Route != Both {
		return fmt.Errorf("mean-bound %q: want %s, %s or %s", t.Route, Twice, Direct, Both)
	}
	if t.Fixed && !t.Informed {
		return errors.New("a posterior that is the prior itself needs an informed prior")
	}
	if t.Elsewhere && !t.MeanAlone() {
		return errors.New("predictions of elsewhere have a hold-out bound alone")
	}
	if !(t.Promise >= 0 && t.Promise < 1) {
		return fmt.Errorf("promise %v: want a share below 1, such as 0.95", t.Promise)
	}
	if t.Loss.Kind.ByQuadrature() && !t.MeanAlone() {
		return fmt.Errorf("loss %s: its expectation over a random draw is known by quadrature alone, which is no bound: it "+
			"is "+
			"certified for a predictor that was fixed before the certified rows were seen: it needs an informed prior that "+
			"nothing is learnt after, and mean-bound direct", t.Loss.Kind)
	}
	if t.Loss.Kind == Scaled && !t.MeanAlone() {
		return errors.New("loss scaled: it is of a predictor that was fixed before the certified rows were seen, its " +
			"standard deviations too: it needs an informed prior that nothing is learnt after, and mean-bound direct")
	}
	if t.Rules != 0 && (t.Rules != NewestRules || !t.Curve && len(t.Slices) == 0) {
		return fmt.Errorf("rules %d: want %d, of a curve or of slices", t.Rules, NewestRules)
	}
	if err := errors.Join(t.checkCurve(), t.checkSlices()); err != nil {
		return err
	}
	return t.inequality().Check(t.Loss, !t.Fixed)
}

// checkCurve reports terms that have no curve.
func (t Terms) checkCurve() error {
	switch {
	case !t.Curve:
		return nil
	case !t.MeanAlone():
		return errors.New("curve: it is of a mean that was fixed before the certified rows were seen: it needs an informed " +
			"prior that nothing is learnt after, and mean-bound direct")
	case t.Loss.Kind != Band && t.Loss.Kind != Relative && t.Loss.Kind != Scaled:
		return fmt.Errorf("curve: it is of the losses %s, %s and %s, of every width, not of %s", Band, Relative, Scaled,
			t.Loss.Kind)
	case t.Group != "":
		return errors.New("curve: of groups, the shares of whose rows are counted, there is none")
	case t.inequality() != KLBound:
		return fmt.Errorf("curve: its bounds are exact and binomial: leave out bound %s", t.Inequality)
	}
	return nil
}

// checkSlices reports terms that have no slices.
func (t Terms) checkSlices() error {
	switch {
	case len(t.Slices) == 0:
		return nil
	case !t.MeanAlone() || !t.Loss.IsZeroOne():
		return errors.New("slices: they are of a mean that was fixed before the certified rows were seen, and of a loss " +
			"that is 0 or 1: they need an informed prior that nothing is learnt after, and mean-bound direct")
	case t.Group != "":
		return errors.New("slices: of groups, the shares of whose rows are counted, there are none")
	}
	return nil
}

// declared says what was declared before the certified rows were seen, after what of it wasn't.
func (t Terms) declared() (c []string) {
	declared, grid := fmt.Sprintf("The %s loss", t.Loss.Kind), fmt.Sprintf("the grid %s", t.Grid)
	if t.Curve && t.Loss.Kind != ClippedAbsolute {
		declared += " of every ε"
	} else if t.OtherEpsilon {
		c = append(c, "NOT MET: ε isn't the one declared when the model was fitted.")
	} else if t.Loss.Kind != ClippedAbsolute {
		declared += ", its ε"
	}
	if len(t.Slices) > 0 && !t.OtherEpsilon {
		declared += fmt.Sprintf(", the slices by %s (to which half of δ went)", named(t.Slices))
	}
	if t.Promise > 0 && !t.Curve {
		rest := ""
		if len(t.Slices) > 0 {
			rest = " that slices left"
		}
		declared += fmt.Sprintf(", the share %g of the promise (to which half of δ went%s)", t.Promise, rest)
	}
	if t.Resolutions > 1 {
		grid = fmt.Sprintf("the grids of 0 to %d digits in [−%g, %g] (of which that with %d was chosen afterwards, and "+
			"paid for)", t.Resolutions-1, t.Grid.L, t.Grid.L, t.Grid.Digits)
	}
	fixed := fmt.Sprintf("%s, δ = %g, the kernel family and %s were declared before the certified rows were seen; "+
		"running again with other seeds or settings and keeping the best isn't covered.", declared, t.Delta, grid)
	if t.Elsewhere {
		fixed = fmt.Sprintf("%s and δ = %g were declared before the certified rows were seen, and what made the "+
			"predictions never saw these rows, nor was chosen by them: by the word of who certifies.", declared, t.Delta)
	} else if t.Informed {
		fixed = fmt.Sprintf("%s and δ = %g were declared before the certified rows were seen, and the prior was learnt on "+
			"%d prior rows alone; "+
			"running again with other shares, seeds or settings and keeping the best isn't covered.", declared, t.Delta,
			t.PriorRows)
	}
	if t.Declaration != "" {
		fixed += fmt.Sprintf(" The model says that it is the one declared by the text with SHA-256 %s. That doesn't show "+
			"that nothing else was tried; when the text was written, somebody else has to vouch for.", t.Declaration)
	}
	return append(c, fixed)
}

// source says what the certified rows were drawn from.
func (t Terms) source() string {
	switch {
	case t.Backtest:
		return "NOT MET: the certified rows are the last of the table, so that they may be of another time than further " +
			"rows; as a backtest the number says how the model did on them."
	case t.Group != "":
		return fmt.Sprintf("The groups of the certified rows, by %s, are independent draws from one source of groups; "+
			"rows within a group may depend on one another. "+
			"The bound is about a further group from that source: the loss is averaged over its rows, and then over groups. "+
			"For groups ordered in time, such as weeks, it covers others of the same period, not the future (--split last "+
			"shows how the model does later).",
			cautious.Name(t.Group))
	}
	return "The certified rows are independent draws from one source, and the bound is about further rows from that " +
		"source. For rows ordered in time it covers other moments of the same period, not the future."
}

// Conditions are what the guarantee of a certificate with these terms rests on.
func (t Terms) Conditions() (c []string) {
	declared := t.declared()
	last := len(declared) - 1
	c = append(declared[:last:last], t.source(), declared[last])
	switch {
	case t.Positional && t.OrderChance:
		c = append(c, "The order of the rows in the file has nothing to do with what they hold, as the person who "+
			"certifies vouches: it decided which rows are certified.")
	case t.Positional:
		c = append(c, "NOT MET: the order of the rows in the file decided which rows are certified, as in models of before "+
			"version 5, and whoever fitted the model could choose that order. "+
			"Fit again, or vouch for the order (krigo certify --accept-file-order).")
	}
	if t.Repeats > 0 {
		rows, another := "the rows the model was made from", "another one"
		if t.Elsewhere {
			rows = "the certified rows" // in prediction and target
		}
		if t.Group != "" {
			another = "one of another group"
		}
		c = append(c, fmt.Sprintf("%d of %s equal %s: they are independent draws that came out alike, not copies. Copies "+
			"must go first.", t.Repeats, rows, another))
	}
	if t.Near > 0 {
		c = append(c, fmt.Sprintf("%d certified rows nearly equal another row, in every input and the target, as hardly any "+
			"independent draws do: they are ones, not copies. Copies must go first.", t.Near))
	}
	if t.Copies {
		c = append(c, "Rows that equal one another are copies of one observation, as they were taken for, not independent "+
			"draws that came out alike: of a source where these are frequent the bound says nothing.")
	}
	if t.Elsewhere {
		return append(c, "The bound is a plain hold-out bound on the predictions.")
	}
	switch t.Scaling {
	case "prior-rows":
		c = append(c, fmt.Sprintf("Scaling constants come from %d prior rows, which the bound doesn't count.", t.PriorRows))
	case "declared":
		c = append(c, "Scaling constants were declared beforehand, not taken from the certified rows.")
	default:
		c = append(c, "NOT MET: scaling constants were taken from all rows, the certified ones included, so the theorem "+
			"doesn't cover this number.")
	}
	if t.Encoded {
		c = append(c, "Categories of inputs, and what stands in the place of their missing values, come from the prior "+
			"rows too.")
	}
	switch t.Route {
	case Direct:
		return append(c, "The bound is a plain hold-out bound on the mean prediction, which was fixed before the certified "+
			"rows were seen.")
	case Both:
		return append(c, "Half of δ went to the bound on the loss of a random draw f ~ Q, half to the hold-out bound on "+
			"that of the mean prediction.")
	}
	return append(c, "The bound holds for the loss of a random draw f ~ Q; that of the mean prediction is at most twice "+
		"as large.")
}
