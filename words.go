package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/fresh"
	"github.com/krigo-gp/krigo/model/say"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Sentence returns what the certificate c promises about predictions of m, in words.
// It rounds every number to the cautious side, so that the promise still holds.
// Each line is a paragraph or an item of a list.
func (m *Model) Sentence(c *pacbayes.Certificate) string { return say.Sentence(&m.Model, c) }

// Headline returns the promise of c in one sentence. Of a curve it names one width (see Foremost).
func (m *Model) Headline(c *pacbayes.Certificate) string { return say.Headline(&m.Model, c) }

// NoBetter returns a warning if the model is no better than a constant, and "" if it is better.
// The warning belongs before the sentence of the certificate.
func (m *Model) NoBetter() string { return say.NoBetter(&m.Model) }

// InContext returns lines about how the model does on the certified rows, compared with simpler
// predictors. It returns "" if that isn't known.
func (m *Model) InContext() string { return say.InContext(&m.Model) }

// Scores returns the model's errors on the certified rows in a line, beside the errors of simpler
// predictors. It returns "" if they aren't known.
func (m *Model) Scores() string { return say.Scores(&m.Model) }

// Simpler returns a constant and a linear model, with their names, as far as the context has them.
func (m *Model) Simpler() (names []string, scores []model.Baseline) { return say.Simpler(&m.Model) }

// FromAllRows says how many rows trained the model, and how a model of all rows is made.
// It returns "" without a certificate whose rows could train too.
func (m *Model) FromAllRows() string { return say.FromAllRows(&m.Model) }

// Observe compares the model's predictions for the rows of a table with the table's targets.
// The promise is the share that the certificate guarantees for its band, or, if no share was asked
// for, its bound on the loss.
func (m *Model) Observe(ctx context.Context, table *dataset.Table,
	ps []model.Prediction) (*Observed, error) {
	return say.Observe(ctx, &m.Model, table, ps)
}

// CertifyFresh bounds the model's risk from rows that the model never saw.
// table holds fresh rows alone, or is the table of the fit, and then its test rows count.
// Rows that equal a row of the model's data are counted, not refused, because a second draw may
// give the same row.
func (m *Model) CertifyFresh(ctx context.Context, table *dataset.Table) (*Fresh, error) {
	return fresh.Certify(ctx, &m.Model, table)
}

// Foremost returns the point of c's curve to name if only one is named (see say.Foremost).
func Foremost(c *pacbayes.Certificate) pacbayes.CurvePoint { return say.Foremost(c) }

// Widths returns the points of c's curve that Sentence lists, by width.
func Widths(c *pacbayes.Certificate) []pacbayes.CurvePoint { return say.Widths(c) }
