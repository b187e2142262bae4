package pacbayes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// NewestRules returns the Terms.Rules of a new certificate.
func (t Terms) NewestRules() int {
	switch {
	case t.Curve:
		return readRules
	case len(t.Slices) > 0:
		return 1
	case t.Inequality == BettingBound:
		return tunedRules
	}
	return 0
}

// readRules are the Terms.Rules by which a curve is tightest where it is read.
const readRules = 3

// MinRows is the smallest number of certified rows, or groups, for which krigo issues a
// certificate.
const MinRows = 20

// Terms holds what was fixed before the certified rows were seen, and what the choices made on
// these rows cost. Terms with a loss in scaled units turn predictions and KL into a Certificate.
type Terms struct {
	Loss       Loss    `json:"loss"`        // its half-widths are in the units of y as certified
	EpsilonRaw float64 `json:"epsilon_raw"` // Loss.Below in the target's own units
	Delta      float64 `json:"delta"`       // the certificate fails with at most this probability
	Grid       Grid    `json:"grid"`
	Params     int     `json:"params"` // T, the number of the prior's parameters on the grid
	// at least 1; alternatives, such as kernels, that certified rows chose among
	Choices int `json:"choices"`
	// rows set aside for the scaling, and for an informed prior
	PriorRows int    `json:"prior_rows"`
	Scaling   string `json:"scaling"` // prior-rows, declared or all-rows
	// the prior rows gave the categories, or the means that replace missing values
	Encoded bool `json:"encoded,omitempty"`

	// These describe a mixed p_θ, or are 0. p_θ gives equal shares to Resolutions grids, of 0, 1, …
	// digits, and to Structures structures of the lengthscales.
	// With Tied > 0 the lengthscales take Tied different values, which Params counts.
	// There are Tied^Lengthscales ways to assign these values to the Lengthscales lengthscales.
	Resolutions  int `json:"resolutions,omitempty"`
	Structures   int `json:"structures,omitempty"`
	Lengthscales int `json:"lengthscales,omitempty"`
	Tied         int `json:"tied,omitempty"`

	// P was learnt on the prior rows, so that no parameter of P lies on the grid
	Informed bool `json:"informed,omitempty"`
	// Q is P itself: nothing was learnt on the certified rows
	Fixed      bool       `json:"fixed,omitempty"`
	Inequality Inequality `json:"family,omitempty"` // "" means kl
	// the way to the bound on the mean; "" means twice
	Route Route `json:"route,omitempty"`

	// Promise is the share of predictions for which krigo looks for the smallest guaranteed
	// half-width. It is 0 if no promise was asked for.
	Promise float64 `json:"promise,omitempty"`

	// Curve says that all half-widths are bounded at once.
	Curve bool `json:"curve,omitempty"`
	// Slices are columns, SliceSD or SliceDistance.
	// They cut rows into kinds with bounds of their own, which get half of δ.
	Slices []string `json:"slices,omitempty"`
	// Rules is the version of the rules of some bounds.
	// By rules 0, in older model files, a curve has a bound at every share of misses, and every
	// slice has a part of δ. By rules 1 a curve ends at curveEnd, and slices of fewer than MinRows
	// rows have no part. By rules 2 the number of units decides what the gamblers of betting stake.
	// By rules 3 a curve's bounds have the most of δ where the curve is read.
	Rules int `json:"rules,omitempty"`

	// Declaration is the SHA-256, in hexadecimal, of a text that declared all that was done
	// beforehand; "": no text.
	Declaration string `json:"declaration,omitempty"`

	// Group is the column by which rows are grouped.
	// A group is then the unit that is drawn and counted.
	Group string `json:"group,omitempty"`
	// Copies says that equal rows count as copies of one observation.
	// One copy was kept, or the copies form a group.
	Copies bool `json:"copies,omitempty"`
	// Elsewhere says that no model of this package made the predictions.
	// The person who certifies vouches that they were made without the certified rows.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Backtest says that the certified rows are the last rows of the table, not drawn at random.
	Backtest bool `json:"backtest,omitempty"`

	// These belong to a computation, and a model doesn't store them.
	// Repeats counts the rows the model was made from that equal another row.
	// OtherEpsilon says that ε isn't the declared ε.
	Repeats int `json:"-"`
	// certified rows whose targets are known as limits of detection alone
	Limits int `json:"-"`
	// certified rows, among the first 1,000, that nearly equal another row
	Near       int  `json:"-"`
	Positional bool `json:"-"` // roles were dealt by the places of the rows in the file
	// the person who certifies vouches that this order says nothing about the rows
	OrderChance  bool `json:"-"`
	OtherEpsilon bool `json:"-"`
}

// Route names how the mean gets its bound. It is declared before the certified rows are seen.
type Route string

const (
	// Twice bounds the mean's risk by twice the bound on a random draw.
	// This holds however Q was learnt, since the losses are quasi-convex and Q is symmetric about
	// its mean.
	Twice Route = "twice"
	// Direct bounds the mean's risk from its losses on the certified rows.
	// It is a plain hold-out bound, for a mean that was fixed before these rows were seen.
	// All of δ goes to this bound.
	Direct Route = "direct"
	// Both gives half of δ to each of the two bounds, and takes the lower bound.
	Both Route = "both"
)

// MeanAlone says whether the certificate is only about the mean, and the mean was fixed before the
// certified rows were seen. Any function that is learnt on the prior rows can be such a mean.
func (t Terms) MeanAlone() bool { return t.Fixed && t.Route == Direct }

// ErrTooFewRows says that there is no certificate, since there are fewer than MinRows units.
var ErrTooFewRows = fmt.Errorf("fewer than %d certified rows", MinRows)

// ErrLoss says that there is no certificate, since the loss left [0, 1].
// Every bound needs this range.
var ErrLoss = errors.New("a loss outside [0, 1]")

// tooFew returns ErrTooFewRows, worded for groups if groups are counted.
func (t Terms) tooFew() error {
	if t.Group != "" {
		return fmt.Errorf("%w: a group is one draw, and there are fewer than %d certified groups",
			ErrTooFewRows, MinRows)
	}
	return ErrTooFewRows
}

// named returns column names as they stand in a sentence.
func named(columns []string) string {
	names := lists.Of(columns, cautious.Name)
	return strings.Join(names, ", ")
}

// Extended says whether the terms hold more than a prior on one grid and a bound by kl.
func (t Terms) Extended() bool {
	return t.Resolutions > 0 || t.Informed || t.Fixed || t.Inequality != "" || t.Route != "" ||
		t.Promise > 0 || t.Curve || len(t.Slices) > 0
}

// statements returns the number of equal parts of δ. The declared ε and a promise get equal parts.
// On the route both, each part is divided equally between a random draw and the mean.
func (t Terms) statements() float64 {
	parts := 1.
	if t.Promise > 0 && !t.Curve { // a curve's promise is one of its points
		parts = 2
	}
	if t.Route == Both {
		parts *= 2
	}
	return parts * t.share()
}

// share returns 2 if slices take half of δ, else 1.
func (t Terms) share() float64 {
	if len(t.Slices) > 0 {
		return 2
	}
	return 1
}

// inequality returns the inequality of the bound. Without a name it is kl.
func (t Terms) inequality() Inequality { return cmp.Or(t.Inequality, KLBound) }

// gridPenalty returns ln(1/p_θ) in nats for a prior that was chosen on a grid after the certified
// rows were seen (Reeb et al. 2018, Sect. 3.1): the grid's T·ln(G+1), and ln of the number of each
// further discrete choice. It returns 0 for a prior with no parameters on the grid.
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

// choicesPenalty returns ln of the number of choices times the number of statements, in nats: the
// union bound over both.
func (t Terms) choicesPenalty() float64 { return math.Log(float64(t.Choices) * t.statements()) }

// Penalty returns what a bound on n rows pays besides KL, in nats:
// ln(1/p_θ), ln of the number of choices and statements, and ln of the inequality's constant
// divided by δ.
func (t Terms) Penalty(n int) float64 {
	return t.inequality().Penalty(t.gridPenalty()+t.choicesPenalty(), n, t.Delta)
}

// fixed bounds the expected loss, in [0,1], of a predictor that was fixed before the units of s
// were seen. losses holds the losses of this rank's units.
func (t Terms) fixed(s Sample, losses []float64, zeroOne bool, delta float64) (float64, error) {
	n := s.units()
	q := t.inequality()
	mean, err := s.meanOf(losses)
	if err != nil {
		return math.NaN(), err
	}
	risk := math.Min(mean, 1)
	var b float64
	switch {
	case q.byMean(zeroOne):
		return q.ofMean(risk, n, zeroOne, delta), nil
	case q == SplitBound:
		b, err = s.splitBound(losses, delta)
	default:
		b, err = s.bettingBound(losses, delta, gamblers(t.Rules, n, delta))
	}
	return math.Min(1, b+rounding), err
}

// alone returns the terms of a bound on the mean of a simple predictor by itself, at the declared ε
// alone.
func (t Terms) alone() Terms {
	t.Route = Direct
	t.Choices = 1
	if t.Curve {
		t.Curve = false
		t.Promise = 0 // it is a point of the curve
	}
	return t
}

// mostDelta is the end of the range of δ. What may fail as often as it holds is no promise.
const mostDelta = 0.5

// leastDelta is smaller than any δ that people use. Its parts are still positive numbers.
const leastDelta = 1e-300

// isSHA256 says whether text is a SHA-256 digest in lower-case hexadecimal.
func isSHA256(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// Check returns an error for terms that no certificate can have.
func (t Terms) Check() error {
	return faults.First(
		t.Loss.Validate(),
		faults.If(t.Declaration != "" && !isSHA256(t.Declaration),
			"declaration: it isn't a SHA-256 in hexadecimal"),
		faults.If(!(t.Delta >= leastDelta && t.Delta < mostDelta),
			"delta %v: want a probability between 0 and %v, such as 0.01", t.Delta, mostDelta),
		faults.When(t.Params > 0, t.Grid.Validate(), "%w"),
		faults.If(!slices.Contains([]string{"prior-rows", "declared", "all-rows"}, t.Scaling),
			"unknown scaling %q: want prior-rows, declared or all-rows", t.Scaling),
		faults.If(t.Choices < 1, "%d choices: want at least 1", t.Choices),
		t.CheckRoute(),
	)
}

// CheckRoute returns an error if an inequality, a route and a promise don't fit together, or don't
// fit how Q was made.
func (t Terms) CheckRoute() error {
	return faults.First(
		faults.If(t.Route != "" && t.Route != Twice && !t.Fixed,
			"mean-bound %s: the mean has a bound of its own only if nothing is learnt on the "+
				"certified rows; use an informed prior that is the posterior itself", t.Route),
		faults.If(t.Route != "" && t.Route != Twice && t.Route != Direct && t.Route != Both,
			"mean-bound %q: want %s, %s or %s", t.Route, Twice, Direct, Both),
		faults.If(t.Fixed && !t.Informed,
			"a posterior that is the prior itself needs an informed prior"),
		faults.If(t.Elsewhere && !t.MeanAlone(),
			"predictions that krigo didn't make can only have a hold-out bound"),
		faults.If(!(t.Promise >= 0 && t.Promise < 1),
			"promise %v: want a share below 1, such as 0.95", t.Promise),
		faults.If(t.Loss.Kind.registered() != nil && !t.MeanAlone(),
			"loss %s: krigo computes its expectation over a random draw by quadrature, which "+
				"gives no bound; use a predictor that is fixed before the certified rows are "+
				"seen: an informed prior after which nothing is learnt, and mean-bound direct",
			t.Loss.Kind),
		faults.If(t.Loss.Kind.OwnSD() && !t.MeanAlone(),
			"loss %s: the predictor and its standard deviations must be fixed before the "+
				"certified rows are seen; use an informed prior after which nothing is learnt, "+
				"and mean-bound direct", t.Loss.Kind),
		faults.If(t.Rules != 0 && t.Rules != t.NewestRules() && (t.Rules != 1 || !t.Curve),
			"rules %d: want %d, for these terms", t.Rules, t.NewestRules()),
		errors.Join(t.checkCurve(), t.checkSlices()),
		t.inequality().Check(t.Loss, !t.Fixed),
	)
}

// checkCurve returns an error if the terms ask for a curve that they can't have.
func (t Terms) checkCurve() error {
	if !t.Curve {
		return nil
	}
	return faults.First(
		faults.If(!t.MeanAlone(),
			"curve: the mean must be fixed before the certified rows are seen; use an "+
				"informed prior after which nothing is learnt, and mean-bound direct"),
		faults.If(t.Loss.Kind != Band && t.Loss.Kind != Relative && t.Loss.Kind != Scaled,
			"curve: it bounds the misses of every width, by the loss %s, %s or %s, not %s",
			Band, Relative, Scaled, t.Loss.Kind),
		faults.If(t.Group != "",
			"curve: groups have no curve, since a group's loss is the share of its rows that "+
				"miss"),
		faults.If(t.inequality() != KLBound,
			"curve: its bounds are exact and binomial; leave out bound %s", t.Inequality),
	)
}

// checkSlices returns an error if the terms ask for slices that they can't have.
func (t Terms) checkSlices() error {
	if len(t.Slices) == 0 {
		return nil
	}
	return faults.First(
		faults.If(!t.MeanAlone() || !t.Loss.IsZeroOne(),
			"slices: the mean must be fixed before the certified rows are seen, and the loss "+
				"must be 0 or 1, for example band; use an informed prior after which nothing is "+
				"learnt, and mean-bound direct"),
		faults.If(t.Group != "",
			"slices: groups have no slices, since a group's loss is the share of its rows "+
				"that miss"),
	)
}

// declared returns sentences on what wasn't declared before the certified rows were seen, and last
// on what was.
func (t Terms) declared() (c []string) {
	declared := fmt.Sprintf("The %s loss", t.Loss.Kind)
	grid := fmt.Sprintf("the grid %s", t.Grid)
	if t.Curve && t.Loss.Kind != ClippedAbsolute {
		declared += " of every ε"
	} else if t.OtherEpsilon {
		c = append(c, "NOT MET: ε isn't the one declared when the model was fitted.")
	} else if t.Loss.Kind != ClippedAbsolute && t.Loss.Kind != Label {
		declared += ", its ε"
	}
	declared += spelling.If(len(t.Slices) > 0 && !t.OtherEpsilon,
		", the slices by %s (to which half of δ went)", named(t.Slices))
	if t.Promise > 0 && !t.Curve {
		rest := spelling.If(len(t.Slices) > 0, " that slices left")
		declared += fmt.Sprintf(", the share %g of the promise (to which half of δ went%s)",
			t.Promise, rest)
	}
	if t.Resolutions > 1 {
		grid = fmt.Sprintf("the grids of 0 to %d digits in [−%g, %g] (the %d-digit grid was "+
			"chosen afterwards, and paid for)", t.Resolutions-1, t.Grid.L, t.Grid.L, t.Grid.Digits)
	}
	delta := cautious.Digits(t.Delta, 6) // a part of δ may have 17 digits
	fixed := fmt.Sprintf("%s, δ = %s, the kernel family and %s were declared before the "+
		"certified rows were seen; running again with other seeds or settings and keeping the "+
		"best isn't covered.", declared, delta, grid)
	if t.Elsewhere {
		fixed = fmt.Sprintf("%s and δ = %s were declared before the certified rows were seen, "+
			"and the predictor was neither trained on these rows nor chosen by them. The person "+
			"who certifies vouches for both.", declared, delta)
	} else if t.Informed {
		fixed = fmt.Sprintf("%s and δ = %s were declared before the certified rows were seen, "+
			"and the prior was learnt on %d prior rows alone; running again with other shares, "+
			"seeds or settings and keeping the best isn't covered.", declared, delta, t.PriorRows)
	}
	fixed += spelling.If(t.Declaration != "",
		" The model says that the text with SHA-256 %s declared it. This doesn't show that "+
			"nothing else was tried, and somebody else has to vouch for the time when the text "+
			"was written.", t.Declaration)
	return append(c, fixed)
}

// source says what the certified rows were drawn from.
func (t Terms) source() string {
	switch {
	case t.Backtest:
		return "NOT MET: the certified rows are the last rows of the table, so further rows may " +
			"come from another time. As a backtest, the number says how the model did on the " +
			"certified rows."
	case t.Group != "":
		return fmt.Sprintf("The groups of the certified rows, by %s, are independent draws from "+
			"one source of groups; rows within a group may depend on one another. The bound is "+
			"about a further group from that source: the loss is averaged over its rows, and "+
			"then over groups. For groups ordered in time, such as weeks, it covers other groups "+
			"of the same period, not the future (--split last shows how the model does later).",
			cautious.Name(t.Group))
	}
	return "The certified rows are independent draws from one source, and the bound is about " +
		"further rows from that source. For rows ordered in time it covers other moments of the " +
		"same period, not the future."
}

// Conditions returns sentences that say what the guarantee of a certificate with these terms rests
// on.
func (t Terms) Conditions() (c []string) {
	// What wasn't declared comes first, then the source of the rows, then what was declared.
	declared := t.declared()
	last := len(declared) - 1
	c = append(declared[:last:last], t.source(), declared[last])
	switch {
	case t.Positional && t.OrderChance:
		c = append(c, "The order of the rows in the file decided which rows are certified. The "+
			"person who certifies vouches that this order has nothing to do with what the "+
			"rows hold.")
	case t.Positional:
		c = append(c, "NOT MET: the order of the rows in the file decided which rows are "+
			"certified, as in models older than version 5, and whoever fitted the model could "+
			"choose that order. Fit again, or vouch for the order (krigo certify "+
			"--accept-file-order).")
	}
	if t.Repeats > 0 {
		rows := "the rows the model was made from"
		another := "another row"
		if t.Elsewhere {
			rows = "the certified rows" // equal in prediction and target
		}
		if t.Group != "" {
			another = "a row of another group"
		}
		c = append(c, fmt.Sprintf("%d of %s equal %s: they are independent draws that came out "+
			"alike, not copies. Remove copies first.", t.Repeats, rows, another))
	}
	if t.Near > 0 {
		c = append(c, fmt.Sprintf("%d certified rows nearly equal another row in every input and "+
			"the target, which is rare among independent draws. They are independent draws all "+
			"the same, not copies. Remove copies first.", t.Near))
	}
	if t.Limits > 0 {
		c = append(c, fmt.Sprintf("%d certified rows say only on which side of a limit their "+
			"target lies, and errors count from the nearest possible target. So the bound is "+
			"about what is known of further rows with such limits: it doesn't limit how far "+
			"predictions beyond a limit are from the target itself.", t.Limits))
	}
	if t.Copies {
		c = append(c, "Rows that equal one another are copies of one observation, as the fit "+
			"assumed. If independent draws of the source often come out alike, the bound says "+
			"nothing about the source.")
	}
	if t.Elsewhere {
		return append(c, "The bound is a plain hold-out bound on the predictions.")
	}
	switch t.Scaling {
	case "prior-rows":
		c = append(c, fmt.Sprintf("Scaling constants come from %d prior rows, which the bound "+
			"doesn't count.", t.PriorRows))
	case "declared":
		c = append(c, "Scaling constants were declared beforehand, not taken from the "+
			"certified rows.")
	default:
		c = append(c, "NOT MET: scaling constants were taken from all rows, the certified ones "+
			"included, so the theorem doesn't cover this number.")
	}
	if t.Encoded {
		c = append(c, "Categories of inputs, and the values that replace missing cells, come "+
			"from the prior rows too.")
	}
	switch t.Route {
	case Direct:
		return append(c, "The bound is a plain hold-out bound on the mean prediction, which was "+
			"fixed before the certified rows were seen.")
	case Both:
		return append(c, "Half of δ went to the bound on the loss of a random draw f ~ Q, half "+
			"to the hold-out bound on the loss of the mean prediction.")
	}
	return append(c, "The bound holds for the loss of a random draw f ~ Q. The loss of the mean "+
		"prediction is at most twice as large.")
}
