package krigo

import (
	"fmt"
	"math"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// NoBetter says, before the sentence of the certificate, that the model is no better than a constant; "" where it is.
func (m *Model) NoBetter() string {
	c, x := m.Certificate, m.Context
	if x == nil || c == nil || x.Constant == (model.Constant{}) {
		return ""
	}
	said := fmt.Sprintf("This model is no better than the constant %s.", cautious.Number(x.Constant.Value))
	errs := fmt.Sprintf("%s, the constant's %s", cautious.Number(x.RMSE), cautious.Number(x.Constant.RMSE))
	lossWorse := x.MeanRisk >= x.Constant.MeanRisk
	if c.Route == pacbayes.Direct && c.Curve == nil { // a hold-out bound of the mean at one ε, as the constant's is
		lossWorse = c.MeanBound >= x.Constant.MeanBound
	}
	switch {
	case x.RMSE >= x.Constant.RMSE:
		return fmt.Sprintf("%s Its RMSE is %s.", said, errs)
	case !lossWorse:
		return ""
	}
	said += fmt.Sprintf(" Its loss is %.3f on these rows, the constant's %.3f; its RMSE is lower, %s", x.MeanRisk,
		x.Constant.MeanRisk, errs)
	if c.Loss != pacbayes.ClippedAbsolute {
		return said + ": another ε would show that."
	}
	return said + "."
}

// InContext says how the model does on the certified rows, beside others, in lines; "" where that isn't known.
func (m *Model) InContext() string {
	c, x := m.Certificate, m.Context
	if c == nil || x == nil {
		return ""
	}
	which, r2 := "certified", ""
	if m.Terms.Backtest {
		which = "last"
	}
	if x.R2 != 0 {
		r2 = fmt.Sprintf(", R² %.3f", x.R2)
	}
	said := fmt.Sprintf("On the %d %s rows: RMSE %s, MAE %s (%s)%s; the model's own 95 %% intervals hold %.1f %%.", x.Rows,
		which, cautious.Number(x.RMSE), cautious.Number(x.MAE), cautious.Name(m.Target), r2, 100*x.Coverage95)
	said += m.others()
	if a := x.AllRows; a.Rows > 0 {
		said += fmt.Sprintf("\nTrained on %d of %d rows: on all of them its error would be about %.0f %% lower (learning "+
			"curve of the prior rows): --deliver all.", a.Trained, a.Rows, math.Max(1, 100*a.LowerBy))
		if m.NoWhole(a.Rows) == nil {
			said += " Intervals that hold on average, by all of them: krigo predict --intervals full."
		}
	}
	return said
}

// others returns one line about a constant and a linear model on the same rows; "" where there is neither.
func (m *Model) others() string {
	c, x := m.Certificate, m.Context
	lead := "Others, by a hold-out bound of the same kind, each by itself: "
	if c.Groups > 0 {
		lead = "Others, by a hold-out bound of the same kind, each by itself, on average over groups: "
	}
	if !c.Valid {
		lead = "Others on these rows: "
	}
	var each []string
	add := func(who string, b model.Baseline) {
		loss := fmt.Sprintf("loses at most %.3f on average", cautious.RoundUp(b.MeanBound, 3))
		if m.Terms.Loss.IsZeroOne() {
			loss = fmt.Sprintf("misses at most %.1f %%", 100*cautious.RoundUp(b.MeanBound, 3))
		}
		if !c.Valid {
			loss = fmt.Sprintf("lost %.3f", b.MeanRisk)
		}
		if b != (model.Baseline{}) {
			each = append(each, fmt.Sprintf("%s %s (RMSE %s)", who, loss, cautious.Number(b.RMSE)))
		}
	}
	add("the constant "+cautious.Number(x.Constant.Value), x.Constant.Baseline)
	add("a linear model", x.Linear)
	if x.LinearReason != "" {
		each = append(each, "no linear model, since "+x.LinearReason)
	}
	if each == nil {
		return ""
	}
	return "\n" + lead + strings.Join(each, ", ") + "."
}
