// Package answer puts together what a model says about the rows of a table.
// The command line, the pipe and the server read a request, ask this package, and write its answer
// in forms of their own.
package answer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// Asked says what an answer has beside predictions.
type Asked struct {
	Predictions []model.Prediction // made before; nil: Of makes them
	// ExactVariance and Progress are those of krigo.PredictOptions.
	ExactVariance bool
	Progress      func(iteration int, residual float64)

	Findings   bool // what a person should know about the rows
	Intervals  []krigo.IntervalOptions
	Data       *dataset.Table // what the model was made from, for krigo.FewRowKinds; nil: not given
	Sets       float64        // the level of sets of labels; 0: no sets
	Samples    int            // number of draws
	Seed       uint64         // of the draws
	Covariance bool
	Explain    bool
}

// Answer is what a model says about the rows of a table. As JSON it is the answer of the command
// line.
type Answer struct {
	Target  string   `json:"target"`
	Classes []string `json:"classes,omitempty"`
	// absent if the posterior is factored
	Solver      string             `json:"solver,omitempty"`
	Predictions []model.Prediction `json:"predictions"`
	// the intervals that were asked for, by kind; null for a row without a prediction
	Intervals map[string][]krigo.Interval `json:"intervals,omitempty"`
	// the same for classes, row by row
	Sets [][]string `json:"sets,omitempty"`
	// the draws, row by row, and null for a row whose draws overflow
	Samples     [][]float64        `json:"samples,omitempty"`
	Explanation *model.Explanation `json:"explanation,omitempty"`
	// of the levels of an ordinal target
	Chances    []model.Chance `json:"chances,omitempty"`
	Covariance matrix.Dense   `json:"-"`
	Findings   finding.List   `json:"-"`
	Notices    []string       `json:"notices,omitempty"` // the findings in words

	asked Asked
}

// Of returns what a model says about the rows of a table.
func (a Asked) Of(ctx context.Context, m *krigo.Model, table *dataset.Table) (d Answer, err error) {
	ps := a.Predictions
	if ps == nil {
		if ps, err = m.Predict(ctx, table, krigo.PredictOptions{ExactVariance: a.ExactVariance,
			Progress: a.Progress}); err != nil {
			return d, err
		}
	}
	d = Answer{Target: m.Target, Classes: m.Classes, Predictions: ps, Chances: m.Chances(ps),
		asked: a}
	// Only a posterior that isn't factored names its solver.
	if kind := m.Posterior.Kind(); kind != posterior.ByCholesky {
		d.Solver = kind
	}
	// Parts that weren't asked for cost nothing. After an error no further part is made.
	if a.Samples > 0 {
		d.Samples, err = m.Sample(ctx, table, krigo.SampleOptions{Count: a.Samples, Seed: a.Seed,
			Progress: a.Progress})
	}
	if err == nil && a.Findings {
		d.Findings, err = m.PredictionFindings(table, ps)
		undrawn := lists.Where(len(d.Samples), func(i int) bool {
			return d.Samples[i] == nil && !ps[i].Lost()
		})
		if undrawn != nil {
			d.Findings.Add(finding.Undrawn, len(undrawn), len(ps), table.Where(undrawn[0]))
		}
		d.Notices = d.Findings.Words()
	}
	if err == nil && a.Sets != 0 {
		var labels krigo.Labels
		labels, err = m.LabelsOf(ps, a.Sets)
		d.Sets = labels.Sets
	}
	if err == nil {
		err = a.intervals(ctx, m, table, &d)
	}
	for i, p := range ps {
		if !p.Lost() {
			continue
		}
		for _, ends := range d.Intervals {
			ends[i] = krigo.Interval{Lower: math.NaN(), Upper: math.NaN()}
		}
		if d.Samples != nil {
			d.Samples[i] = nil
		}
	}
	if err == nil && a.Explain {
		d.Explanation, err = m.Explain(ctx, table)
	}
	if err == nil && a.Covariance {
		d.Covariance, err = m.Covariance(ctx, table)
	}
	return d, err
}

// intervals adds intervals to an answer.
func (a Asked) intervals(ctx context.Context, m *krigo.Model, table *dataset.Table,
	to *Answer) error {
	to.Intervals = map[string][]krigo.Interval{}
	for _, o := range a.Intervals {
		var ends []krigo.Interval
		var err error
		switch few := slices.Contains(krigo.FewRowKinds(), o.Kind); {
		case few && a.Data == nil:
			err = &krigo.UsageError{Err: fmt.Errorf("intervals %s: give the data that the model "+
				"was made from", o.Kind)}
		case few:
			ends, err = m.IntervalsOfFew(ctx, a.Data, table, o)
		default:
			ends, err = m.Intervals(to.Predictions, o)
		}
		if err != nil {
			return err
		}
		to.Intervals[o.Kind] = ends
	}
	return nil
}

// Labels returns what models of more than two classes say about the rows of a table, with sets of
// labels at a level unless it is 0, and what a person should know about the rows.
func Labels(ctx context.Context, all *krigo.Targets, table *dataset.Table,
	level float64) (l krigo.Labels, found finding.List, err error) {
	if l, err = all.PredictLabels(ctx, table, level); err != nil {
		return l, nil, err
	}
	found, err = all.Model(0).PredictionFindings(table, lists.Of(l.Predictions,
		func(p krigo.KindPrediction) model.Prediction {
			return model.Prediction{Outside: p.Outside, Mean: p.Probabilities[0]}
		}))
	return l, found, err
}
