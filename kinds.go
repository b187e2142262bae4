package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
)

// More than two classes: a model of each class against the others, in one file of several targets. The label is the
// class with the largest probability, and the certificate of all targets together counts wrong labels.

// looksLikeKinds is the largest number of different texts by which a target looks like classes.
const looksLikeKinds = 20

// Kinds returns the table with a column of 0 and 1 for each class, and the options of a fit of these columns, if the
// target has more than two classes: a text of at most 20 kinds, or of more kinds, or numbers, if the options ask for
// probit noise. Otherwise it returns both as they are. FitTargets takes what Kinds returns.
func (o Options) Kinds(table *dataset.Table) (*dataset.Table, Options, error) {
	d := o.Data
	if text := table.IsText(d.Target); d.Beside != nil || d.Classes != nil || d.Censored != "" || o.kept ||
		!o.labels() && (o.Kernel.Noise != "" || !text) {
		return table, o, nil
	}
	classes, err := table.Classes(d.Target)
	if err != nil || len(classes) <= 2 || len(classes) > looksLikeKinds && !o.labels() {
		return table, o, err
	}
	k := &dataset.Kinds{Column: d.Target, Labels: classes}
	if table, err = k.Spread(table); err == nil {
		o.Data.Kinds, o.Data.Beside, o.Kernel.Noise = k, k.Names(), objective.ProbitName
		o.Data.Target = o.Data.Beside[0]
	}
	return table, o, err
}

// KindPrediction is the prediction of one row by models of more than two classes.
type KindPrediction struct {
	Label         string    `json:"label"`
	Probabilities []float64 `json:"probabilities"` // in the order of the classes; they add up to 1
	Outside       int       `json:"outside"`       // as in Prediction
}

// PredictClasses returns a label and probabilities for each row of a table. P(k) is Φ_k/ΣΦ, where Φ_k is the
// probability of class k against the others.
func (t *Targets) PredictClasses(ctx context.Context, table *dataset.Table) ([]KindPrediction, error) {
	ps := make([]KindPrediction, table.Rows)
	for i := range t.Models {
		one, err := t.Model(i).Predict(ctx, table, PredictOptions{})
		if err != nil {
			return nil, err
		}
		for row, p := range one {
			ps[row].Probabilities = append(ps[row].Probabilities, p.Mean)
			ps[row].Outside = p.Outside
		}
	}
	for i, p := range ps {
		total := 0.
		for _, v := range p.Probabilities {
			total += v
		}
		ps[i].Label = t.Classes()[model.Likeliest(p.Probabilities)]
		ps[i].Probabilities = lists.Of(p.Probabilities, func(v float64) float64 { return v / total })
	}
	return ps, nil
}
