package say

import (
	"context"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Observed says how predictions did on rows whose targets are known. It is no certificate.
type Observed struct {
	Targets []float64 `json:"targets"`
	Losses  []float64 `json:"losses,omitempty"` // losses, where 1 is a miss; nil without a promise
	RMSE    float64   `json:"rmse"`
	MAE     float64   `json:"mae"`
	// Contradicts says that the lower limit of the risk, with confidence 1−δ, is above the promised
	// risk. It is false if the certificate counts groups, or if more than half of the rows equal
	// rows of the model.
	Contradicts bool   `json:"contradicts,omitempty"`
	Promise     string `json:"promise"` // what these rows say of the promise, in words
}

// Observe compares the model's predictions for the rows of a table with the table's targets.
// The promise is the share that the certificate guarantees for its band, or, if no share was asked
// for, its bound on the loss.
func Observe(ctx context.Context, m *model.Model, table *dataset.Table,
	ps []model.Prediction) (o *Observed, err error) {
	defer matrix.Ended(&err)
	d, err := m.Targeted(table.Within(ctx))
	if err != nil {
		return nil, err
	}
	o = &Observed{Promise: "The model has no certificate, so there is no promise to compare " +
		"these rows with."}
	if o.Targets, err = d.Targets(d.All()); err != nil {
		return nil, err
	}
	if d, err = m.Beyond(d); err != nil {
		return nil, err
	}
	sides, err := d.Sides(d.All())
	if err != nil {
		return nil, err
	}
	n := float64(len(ps))
	for i, p := range ps {
		miss := p.Mean - o.Targets[i]
		// A prediction on the right side of a limit has no error.
		if sides != nil && sides[i]*miss > 0 {
			miss = 0
		}
		o.RMSE = math.Hypot(o.RMSE, miss/math.Sqrt(n))
		o.MAE += math.Abs(miss) / n
	}
	if !linalg.Finite([]float64{o.RMSE, o.MAE}) {
		return nil, faults.Usage("%s: the errors are beyond the range of numbers: check %s's unit",
			table.Source, cautious.Name(m.Target))
	}
	c := m.Certificate
	band := *m
	if c == nil || !c.Valid {
		return o, nil
	}
	certified := c.MeanBound
	within := within(m, c.Loss, c.Epsilon, c.EpsilonRaw)
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		band.Terms.Loss = pacbayes.Loss{Kind: BandOf(p), Below: p.HalfWidth}
		certified = p.Bound
		within = Promised(m, p)
	}
	of, err := band.Outcomes(d, d.All())
	if err != nil {
		return nil, err
	}
	o.Losses = of.Losses
	risk := lists.Sum(of.Losses, func(loss float64) float64 { return loss / n })
	zeroOne := band.Terms.Loss.IsZeroOne()
	what := "the mean loss"
	number := "%.4f"
	scale := 1.
	o.Promise = fmt.Sprintf("The mean loss is %.4f. The certificate allows at most %.4f.", risk,
		cautious.RoundUp(certified, 4))
	if band.Terms.Loss.Kind == pacbayes.Asymmetric {
		within = "the declared band"
	}
	if zeroOne {
		what = "the share of misses"
		number = "%.2f %%"
		scale = 100
		miss := "miss: the target isn't within " + within
		if m.Classes != nil {
			what = "the share of wrong labels"
			miss = "are wrong labels"
		}
		o.Promise = fmt.Sprintf("%.0f of %.0f predictions (%.2f %%) %s. The certificate allows "+
			"at most %.2f %%.", risk*n, n, 100*risk, miss, 100*cautious.RoundUp(certified, 4))
	}
	// A lower limit, with confidence 1 − δ, on the loss on further rows like these. Above the
	// certified bound it contradicts the promise.
	least := pacbayes.HoldOutLimit(zeroOne, risk, len(ps), m.Terms.Delta)
	sure := cautious.Complement(m.Terms.Delta)
	switch {
	case 2*of.Seen > len(ps):
		o.Promise += fmt.Sprintf(" But %d of these rows equal rows that the model was made from. "+
			"If they are the same observations, this says nothing about new rows.", of.Seen)
	case c.Group != "":
		o.Promise += fmt.Sprintf(" The certificate counts groups by %s: krigo certify --fresh "+
			"compares whole groups with it.", cautious.Name(c.Group))
	case least > certified:
		o.Contradicts = true
		o.Promise += fmt.Sprintf(" THIS CONTRADICTS THE PROMISE: with %s confidence %s on "+
			"further rows like these is at least "+number+". Either they come from another "+
			"source than the certified rows, or a condition of the certificate isn't met, "+
			"or it is chance.", sure, what, scale*cautious.RoundDown(least, 4))
	default:
		o.Promise += " This is compatible with the promise"
		if least = cautious.RoundDown(least, 4); least > 0 {
			o.Promise += fmt.Sprintf(": with %s confidence these rows show only that %s is at "+
				"least "+number, sure, what, scale*least)
		}
		o.Promise += ". It is a comparison, not a new certificate."
	}
	o.Promise += spelling.If(of.Seen > 0 && 2*of.Seen <= len(ps),
		" %s that the model was made from. This holds only if all rows are independent "+
			"draws, not the same observations.", equals(of.Seen))
	return o, nil
}

// equals begins a sentence about n rows that equal others.
func equals(n int) string {
	if n == 1 {
		return "1 of these rows equals a row"
	}
	return fmt.Sprintf("%d of these rows equal rows", n)
}
