package krigo

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Predicted is a certificate of predictions that were made elsewhere, by any model.
type Predicted struct {
	Source     string `json:"source"`
	Target     string `json:"target"`
	Prediction string `json:"prediction"` // name of the column of predictions
	// hash of all rows' targets and predictions, in any order
	Hash        string                `json:"rows_sha256"`
	Terms       pacbayes.Terms        `json:"terms"`
	Certificate *pacbayes.Certificate `json:"certificate"`
	Sentence    string                `json:"sentence"`
}

// CertifyPredictions bounds the loss of the predictions in a column of a table, which stand beside
// what they predict, on further rows of the same source: a hold-out bound.
// It holds if the model, or whatever else made the predictions, never saw these rows and wasn't
// chosen by them. The caller vouches for this.
// Of the options it takes Data.Target, Data.Group and the Promise, whose ε is in the target's own
// units, because standard deviations would be computed from the certified rows.
func CertifyPredictions(ctx context.Context, table *dataset.Table, prediction string,
	o Options) (*Predicted, error) {
	if o.Data.Group == dataset.EqualRows {
		return nil, faults.Usage("group %q: different rows may well have the same prediction and "+
			"target, so that equal ones are no copies", o.Data.Group)
	}
	o.Data.Reading = table.Reading()
	terms, err := predictedTerms(o)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(table.Names, prediction) || prediction == o.Data.Target {
		return nil, faults.Usage("prediction %q: %s has no such column beside the target; its columns "+
			"are %s", prediction, table.Source, spelling.Quoted(table.Names, 10))
	}
	d, err := table.Within(ctx).ReadAs(o.Data.Reading.Every()).Select([]string{prediction},
		o.Data.Target) // a constant target is allowed, because nothing is learnt
	if err == nil && o.Data.Group != "" {
		d, err = d.GroupBy(o.Data.Group)
	}
	if err != nil {
		return nil, err
	}
	units, err := d.Units()
	if err != nil {
		return nil, err
	}
	s := pacbayes.Sample{Y: make([]float64, d.Rows), Mean: make([]float64, d.Rows),
		Variance: make([]float64, d.Rows)}
	if err := d.Scaled(d.All(), dataset.Identity(1)).Block(0, d.Rows, s.Mean, s.Y); err != nil {
		return nil, err
	}
	if terms.Loss.Unitless() {
		s.Scale = lists.Of(s.Y, math.Abs)
	}
	if s.Rows = d.Rows; o.Data.Group != "" {
		s.Group = units.Groups()
		s.Groups = slices.Max(s.Group) + 1
	}
	copies, err := (&model.Model{}).Copies(d, d.All())
	if err != nil {
		return nil, err
	}
	terms.Repeats = copies.Repeats
	p := &Predicted{Source: table.Source, Target: o.Data.Target, Prediction: prediction,
		Hash: units.Hash, Terms: terms}
	if p.Certificate, err = terms.Certify(s, 0); err != nil {
		return nil, err
	}
	of := Model{model.Model{Target: o.Data.Target, Terms: terms}}
	of.Group = o.Data.Group
	of.Scaling = dataset.Identity(1)
	p.Sentence = of.Sentence(p.Certificate)
	return p, nil
}

// predictedTerms returns the terms that the options decide for a certificate of predictions.
func predictedTerms(o Options) (t pacbayes.Terms, err error) {
	promise := o.Promise
	if err := faults.AsUsage(faults.First(
		faults.If(o.Data.Target == "", "target: name the column that was predicted"),
		faults.If(promise.Units != "" && promise.Units != "raw",
			"epsilon-units %s: of predictions ε is in the target's own units, raw: its "+
				"standard deviation would be one of the rows that are certified", promise.Units),
		faults.If(promise.Share > 0 || promise.Calibration > 0 ||
			(promise.MeanBound != "" && promise.MeanBound != pacbayes.Direct),
			"promise, calibration-fraction and mean-bound: of predictions there is one "+
				"hold-out bound"),
		faults.If(pacbayes.Kind(promise.Loss).OwnSD(),
			"loss %s: the predictions of a table have no standard deviations",
			promise.Loss),
	)); err != nil {
		return t, err
	}
	kind := pacbayes.Band
	if promise.Loss != "" {
		if kind, err = pacbayes.ParseLoss(promise.Loss); err != nil {
			return t, faults.AsUsage(err)
		}
	}
	if kind == pacbayes.ClippedAbsolute && promise.Epsilon != 0 {
		return t, faults.Usage("epsilon %v with loss clipped-absolute, which has no ε: leave it out",
			promise.Epsilon)
	}
	if kind != pacbayes.Asymmetric && promise.EpsilonAbove != 0 {
		return t, faults.Usage("epsilon: two widths are for the asymmetric loss, not %q", kind)
	}
	t = pacbayes.Terms{Loss: pacbayes.Loss{Kind: kind, Below: promise.Epsilon,
		Above: promise.EpsilonAbove}, EpsilonRaw: promise.Epsilon,
		Delta: cmp.Or(promise.Delta, 0.01), Grid: pacbayes.DefaultGrid(), Choices: 1,
		Scaling: dataset.Declared, Informed: true, Fixed: true, Elsewhere: true,
		Route: pacbayes.Direct, Group: o.Data.Group, Curve: promise.Curve,
		Copies: o.Data.Reading.Distinct}
	t.Inequality = promise.Bound
	if t.Group != "" || !t.Loss.IsZeroOne() {
		t.Inequality = cmp.Or(t.Inequality, pacbayes.BettingBound) // as for a fit
	}
	if t.Inequality == pacbayes.KLBound {
		t.Inequality = ""
	}
	if !t.Curve {
		t.Rules = t.NewestRules()
	}
	if err := t.Check(); err != nil {
		return t, faults.Usage("%w (ε is in the target's units, and has no default here)", err)
	}
	return t, nil
}
