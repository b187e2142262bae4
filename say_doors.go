package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// What a model and its certificate say in words (package model/say), and what rows say of it that it
// never saw (package model/fresh).

// Sentence returns what the certificate c promises about predictions of m, in words.
// It rounds every number to the cautious side, so that the promise still holds.
// Each line is a paragraph or an item of a list.
func (m *Model) Sentence(c *pacbayes.Certificate) string { return Sentence(&m.Model, c) }

// Headline returns the promise of c in one sentence, for places that have no room for all of
// Sentence. Of a curve it names one width (see Foremost).
func (m *Model) Headline(c *pacbayes.Certificate) string { return Headline(&m.Model, c) }

// NoBetter returns a warning if the model is no better than a constant, and "" if it is better.
// The warning belongs before the sentence of the certificate.
func (m *Model) NoBetter() string { return NoBetter(&m.Model) }

// InContext returns lines about how the model does on the certified rows, compared with simpler
// predictors. It returns "" if that isn't known.
func (m *Model) InContext() string { return InContext(&m.Model) }

// Scores returns the model's errors on the certified rows in a line, beside the errors of simpler
// predictors. It returns "" if they aren't known.
func (m *Model) Scores() string { return Scores(&m.Model) }

// Simpler returns a constant and a linear model, with their names, as far as the context has them.
func (m *Model) Simpler() (names []string, scores []model.Baseline) { return Simpler(&m.Model) }

// FromAllRows says how many rows trained the model, and how a model of all rows is made.
// It returns "" without a certificate whose rows could train too.
func (m *Model) FromAllRows() string { return FromAllRows(&m.Model) }

// Observe compares the model's predictions for the rows of a table with the table's targets.
// The promise is the share that the certificate guarantees for its band, or, if no share was asked
// for, its bound on the loss.
func (m *Model) Observe(ctx context.Context, table *dataset.Table,
	ps []model.Prediction) (*Observed, error) {
	return Observe(ctx, &m.Model, table, ps)
}

// CertifyFresh bounds the model's risk from rows that the model never saw.
// table holds fresh rows alone, or is the table of the fit, and then its test rows count.
// Rows that equal a row of the model's data are counted, not refused, because a second draw may
// give the same row. With discrete data every row may equal an older row.
func (m *Model) CertifyFresh(ctx context.Context, table *dataset.Table) (*Fresh, error) {
	return certifyFresh(ctx, &m.Model, table)
}

// Foremost returns the point of c's curve to name if only one is named:
// what somebody asked for, or the width for nine in ten predictions, or the last point if the curve
// doesn't reach that share.
func foremost(c *pacbayes.Certificate) pacbayes.CurvePoint { return Foremost(c) }

// Widths returns the points of c's curve that Sentence lists, by width.
func widths(c *pacbayes.Certificate) []pacbayes.CurvePoint { return Widths(c) }

// CertifyLabels bounds the share of wrong labels of any classifier.
func certifyLabelsDoor(ctx context.Context, table *dataset.Table, o LabelOptions) (*CertifiedLabels, error) {
	return CertifyLabels(ctx, table, o)
}

// LoadLabels reads a certificate of labels.
func loadLabels(path string) (*CertifiedLabels, string, error) { return LoadLabels(path) }

// ReadCosts reads a table of costs.
func readCosts(table *dataset.Table) (*Costs, error) { return ReadCosts(table) }
