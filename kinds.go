package krigo

import (
	"context"
	"errors"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
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

// KindNames returns the names of the columns of a table of such predictions, beside their labels.
func KindNames(classes []string) []string {
	return append(lists.Of(classes, func(class string) string { return "probability_" + class }), "outside")
}

// Fill copies the prediction to values, a row of a table with the columns KindNames.
func (p KindPrediction) Fill(values []float64) {
	values[copy(values, p.Probabilities)] = float64(p.Outside)
}

// PredictClasses returns a label and probabilities for each row of a table. P(k) is Φ_k/ΣΦ, where Φ_k is the
// probability of class k against the others.
func (t *Targets) PredictClasses(ctx context.Context, table *dataset.Table) ([]KindPrediction, error) {
	each := make([][]model.Prediction, len(t.Models))
	for i := range each {
		var err error
		if each[i], err = t.Model(i).Predict(ctx, table, PredictOptions{}); err != nil {
			return nil, err
		}
	}
	return t.JoinClasses(each), nil
}

// JoinClasses does what PredictClasses does, given each model's predictions of the rows.
func (t *Targets) JoinClasses(each [][]model.Prediction) []KindPrediction {
	return lists.To(len(each[0]), func(i int) KindPrediction {
		p := lists.Of(each, func(ps []model.Prediction) float64 { return ps[i].Mean })
		return KindPrediction{t.Classes()[model.Likeliest(p)], model.Shares(p), each[0][i].Outside}
	})
}

// PredictionFindings does what Model.PredictionFindings does.
func (t *Targets) PredictionFindings(table *dataset.Table, ps []KindPrediction) (finding.List, error) {
	return t.Model(0).PredictionFindings(table, lists.Of(ps, func(p KindPrediction) model.Prediction {
		return model.Prediction{Outside: p.Outside}
	}))
}

// LabelSets returns for each prediction the labels that can't be excluded at a level, such as 0.9. For the rows of each
// class, they hold the label of a further row with a probability of at least the level, on average over draws of the
// certified rows and over further rows from the same source. This is no certificate. See model.Sets.
func (t *Targets) LabelSets(ps []KindPrediction, level float64) ([][]string, error) {
	p := lists.Of(ps, func(p KindPrediction) []float64 { return p.Probabilities })
	return labelSets(t.Together.Sets, t.Classes(), p, level)
}

// LabelSets does for two classes what Targets.LabelSets does.
func (m *Model) LabelSets(ps []model.Prediction, level float64) ([][]string, error) {
	p := lists.Of(ps, func(p model.Prediction) []float64 { return model.Both(p.Mean) })
	return labelSets(m.Sets, m.Classes, p, level)
}

func labelSets(s model.Sets, classes []string, p [][]float64, level float64) ([][]string, error) {
	switch {
	case !(level > 0 && level < 1):
		return nil, usage("level %v: want a share of rows between 0 and 1, such as 0.9", level)
	case s == nil:
		return nil, errors.New("sets of labels: the model has no scores for them; they take single certified rows (no " +
			"groups, no backtest), a label certified by its own misses, and a fit by this version of krigo")
	}
	return lists.Of(p, func(p []float64) []string {
		return append([]string{}, lists.Of(s.Labels(p, level), func(k int) string { return classes[k] })...)
	}), nil
}
