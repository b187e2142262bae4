package krigo

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
)

// More than two classes: a model of each class against the others, in one file of several targets.
// The label is the class with the largest probability, and the certificate of all targets together
// counts wrong labels.

// KindPrediction is the prediction of one row by models of more than two classes.
type KindPrediction struct {
	Label         string    `json:"label"`
	Probabilities []float64 `json:"probabilities"` // in the order of the classes; they add up to 1
	Outside       int       `json:"outside"`       // as in Prediction
}

// MarshalJSON writes null if the row has no prediction (see model.Prediction.Lost). It has neither
// label nor probabilities then.
func (p KindPrediction) MarshalJSON() ([]byte, error) {
	if p.Label == "" {
		return []byte("null"), nil
	}
	type plain KindPrediction
	return json.Marshal(plain(p))
}

// Labels is what models of more than two classes say of the rows of a table.
type Labels struct {
	Target      string           `json:"target"`
	Classes     []string         `json:"classes"`
	Predictions []KindPrediction `json:"predictions"`
	// Sets has, for each row, the labels that can't be excluded at a level, such as 0.9.
	// For the rows of each class, they hold the label of a further row with a probability of at
	// least the level, on average over draws of the certified rows and over further rows from the
	// same source. This is no certificate. See model.Sets.
	Sets [][]string `json:"sets,omitempty"`
}

// Table returns the names of the columns of a table of labels, a function that fills a row, and the
// columns of text, after the kept ones, which may be nil.
func (l Labels) Table(kept *dataset.Kept) (names []string, fill func(i int, values []float64) error,
	_ *dataset.Kept) {
	names = append(lists.Of(l.Classes, func(class string) string {
		return "probability_" + class
	}), "outside")
	return names, func(i int, values []float64) error {
		values[copy(values, l.Predictions[i].Probabilities)] = float64(l.Predictions[i].Outside)
		return nil
	}, kept.Labelled(func(row int) string { return l.Predictions[row].Label }, l.Sets)
}

// PredictLabels returns labels and probabilities for the rows of a table, and sets of labels at a
// level unless it is 0.
// P(k) is Φ_k/ΣΦ, where Φ_k is the probability of class k against the others.
func (t *Targets) PredictLabels(ctx context.Context, table *dataset.Table,
	level float64) (l Labels, err error) {
	each := make([][]model.Prediction, len(t.Models))
	for i := range each {
		if each[i], err = t.Model(i).Predict(ctx, table, PredictOptions{}); err != nil {
			return l, err
		}
	}
	return t.JoinLabels(each, level)
}

// JoinLabels does what PredictLabels does, given each model's predictions of the rows.
func (t *Targets) JoinLabels(each [][]model.Prediction, level float64) (Labels, error) {
	classes := t.Classes()
	l := Labels{Target: t.Models[0].Kinds.Column, Classes: classes,
		Predictions: lists.To(len(each[0]), func(i int) KindPrediction {
			p := lists.Of(each, func(ps []model.Prediction) float64 { return ps[i].Mean })
			k := KindPrediction{Probabilities: model.Shares(p), Outside: each[0][i].Outside}
			if !math.IsNaN(k.Probabilities[0]) {
				k.Label = classes[model.Likeliest(p)]
			}
			return k
		})}
	return l, l.addSets(t.Together.Sets, level)
}

// LabelsOf returns predictions of two classes as Labels, with sets of labels at a level unless it
// is 0.
func (m *Model) LabelsOf(ps []model.Prediction, level float64) (Labels, error) {
	l := Labels{Target: m.Target, Classes: m.Classes,
		Predictions: lists.Of(ps, func(p model.Prediction) KindPrediction {
			return KindPrediction{p.Label, model.Both(p.Mean), p.Outside}
		})}
	return l, l.addSets(m.Sets, level)
}

// addSets adds the set of labels of each prediction at a level, a share of rows in (0, 1). It adds
// nothing if the level is 0.
func (l *Labels) addSets(s model.Sets, level float64) error {
	switch {
	case level == 0:
		return nil
	case !(level > 0 && level < 1):
		return faults.Usage("level %v: want a share of rows between 0 and 1, such as 0.9", level)
	case s == nil:
		return errors.New("sets of labels: the model has no scores for them; they take single " +
			"certified rows (no groups, no backtest), a label certified by its own misses, and a " +
			"fit by this version of krigo")
	}
	for _, p := range l.Predictions {
		in := s.Labels(p.Probabilities, level)
		l.Sets = append(l.Sets, append([]string{}, lists.Of(in, func(k int) string {
			return l.Classes[k]
		})...))
	}
	return nil
}

// looksLikeKinds is the largest number of different texts by which a target looks like classes.
const looksLikeKinds = 20

// Kinds returns the table with a column of 0 and 1 for each class, and the options of a fit of
// these columns, if the target has more than two classes:
// a text of at most 20 kinds, or of more kinds, or numbers, if the options ask for probit noise.
// Otherwise it returns both as they are. FitTargets takes what Kinds returns.
func (o Options) Kinds(table *dataset.Table) (*dataset.Table, Options, error) {
	d := o.Data
	asked := o.asked()
	if text := table.IsText(d.Target); d.Beside != nil || d.Classes != nil ||
		d.Censored != "" || asked.Kept || (!asked.Labels() && (o.Kernel.Noise != "" || !text)) {
		return table, o, nil
	}
	classes, err := table.Classes(d.Target)
	if err != nil || len(classes) <= 2 || (len(classes) > looksLikeKinds && !asked.Labels()) {
		return table, o, err
	}
	k := &dataset.Kinds{Column: d.Target, Labels: classes}
	if table, err = k.Spread(table); err == nil {
		o.Data.Kinds = k
		o.Data.Beside = k.Names()
		o.Kernel.Noise = objective.ProbitName
		o.Data.Target = o.Data.Beside[0]
	}
	return table, o, err
}
