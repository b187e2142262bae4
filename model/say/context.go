package say

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// NoBetter returns a warning if the model is no better than a constant, and "" if it is better.
// The warning belongs before the sentence of the certificate.
func NoBetter(m *model.Model) string {
	c := m.Certificate
	x := m.Context
	if x == nil || c == nil || x.Constant == (model.Constant{}) {
		return ""
	}
	said := fmt.Sprintf("This model is no better than %s.", ofConstant(m))
	name, own := misses(m, x.RMSE)
	_, other := misses(m, x.Constant.RMSE)
	errs := fmt.Sprintf("%s, and the constant's %s", own, other)
	lossWorse := x.MeanRisk > x.Constant.MeanRisk
	if c.Route == pacbayes.Direct { // both are hold-out bounds of a mean at one ε
		lossWorse = c.MeanBound > x.Constant.MeanBound
	}
	switch {
	case x.RMSE >= x.Constant.RMSE && x.Linear != (model.Baseline{}) &&
		x.Linear.RMSE < x.Constant.RMSE:
		_, line := misses(m, x.Linear.RMSE)
		return fmt.Sprintf("%s Its %s is %s. A linear model of the same inputs has %s: try --kernel "+
			"linear.", said, name, errs, line)
	case x.RMSE >= x.Constant.RMSE:
		return fmt.Sprintf("%s Its %s is %s. To do better, add rows, or inputs that say more "+
			"about %s.", said, name, errs, cautious.Name(m.Target))
	case c.Curve != nil || !lossWorse: // nobody asked for the ε of a curve's certificate
		return ""
	}
	return fmt.Sprintf("%s Its mean loss on the certified rows is %.3f, and the constant's %.3f. "+
		"Its %s is lower: %s.", said, x.MeanRisk, x.Constant.MeanRisk, name, errs) +
		spelling.If(c.Loss != pacbayes.ClippedAbsolute && c.Loss != pacbayes.Label,
			" Use this model if the size of errors matters, and the constant if only their share "+
				"beyond ε does.")
}

// ofConstant names the simplest predictor, which predicts the same for all rows.
func ofConstant(m *model.Model) string {
	v := m.Context.Constant.Value
	if m.Classes != nil {
		return "the label " + cautious.Name(m.Classes[int(v)]) + " for all rows"
	}
	if m.Exposure != "" {
		return fmt.Sprintf("%s times %s", cautious.Number(v), cautious.Name(m.Exposure))
	}
	return m.Simple("the constant " + cautious.Number(v))
}

// misses names a root mean square of errors, and writes it.
// The square of this root is the Brier score if the target has classes.
func misses(m *model.Model, rms float64) (name, value string) {
	if m.Classes != nil {
		return "Brier score", cautious.Digits(rms*rms, 3)
	}
	return "RMSE", cautious.Digits(rms, 3)
}

// InContext returns lines about how the model does on the certified rows, compared with simpler
// predictors. It returns "" if that isn't known.
func InContext(m *model.Model) string {
	said := Scores(m)
	if said == "" {
		return ""
	}
	said += others(m)
	if all := FromAllRows(m); all != "" {
		said += "\n" + all
	}
	return said
}

// Scores returns the model's errors on the certified rows in a line, beside the errors of simpler
// predictors. It returns "" if they aren't known.
func Scores(m *model.Model) string {
	x := m.Context
	if m.Certificate == nil || x == nil {
		return ""
	}
	said := fmt.Sprintf("On the %d %s rows: ", x.Rows,
		spelling.Either(m.Terms.Backtest, "last", "certified"))
	name, value := misses(m, x.RMSE)
	if m.Classes != nil {
		return said + fmt.Sprintf("%.1f %% wrong labels, %s %s%s.", 100*x.MeanRisk, name,
			value, beside(m))
	}
	of := m.ShareOf()
	r2 := spelling.If(x.R2 != 0, ", R² %.3f%s", x.R2, spelling.If(of != "", " %s", of))
	hold := spelling.Either(m.Censored != "", "hold, or don't contradict,", "hold")
	return said + fmt.Sprintf("%s %s%s, MAE %s (in units of %s)%s. The model's own 95 %% "+
		"intervals %s %.1f %% of the targets.%s", name, value, beside(m), cautious.Digits(x.MAE, 3),
		m.Counted(cautious.Name(m.Target)), r2, hold, 100*x.Coverage95,
		spelling.If(m.Stretch() != 1, " By these rows, predictions have %.2f times its "+
			"standard deviations%s.", m.Stretch(), spelling.If(m.Scaling.Transform != nil,
			" of the transformed target")))
}

// Simpler returns a constant and a linear model, with their names, as far as the context has them.
func Simpler(m *model.Model) (names []string, scores []model.Baseline) {
	x := m.Context
	if x.Constant.Baseline != (model.Baseline{}) {
		names = append(names, ofConstant(m))
		scores = append(scores, x.Constant.Baseline)
	}
	if x.Linear != (model.Baseline{}) {
		names = append(names, m.Simple("a linear model"))
		scores = append(scores, x.Linear)
	}
	return names, scores
}

// beside returns the errors of simpler predictors in parentheses, or "" if the context has no such
// predictor.
func beside(m *model.Model) string {
	names, scores := Simpler(m)
	each := lists.To(len(names), func(i int) string {
		_, value := misses(m, scores[i].RMSE)
		return names[i] + ": " + value
	})
	return spelling.If(len(each) > 0, " (%s)", strings.Join(each, ", "))
}

// FromAllRows says how many rows trained the model, and how a model of all rows is made.
// It returns "" without a certificate whose rows could train too.
func FromAllRows(m *model.Model) string {
	if m.Certificate == nil || m.Context == nil || m.Censored != "" || m.Sited() != nil {
		return ""
	}
	trained := m.Counts[dataset.Prior]
	all := trained + m.Counts[dataset.Certified]
	said := fmt.Sprintf("This model was trained on %d of %d rows. On all rows its errors would "+
		"usually be smaller.", trained, all)
	// A fit of several targets has no --deliver all.
	return said + spelling.If(m.Beside == nil, " With --deliver all, fit also trains that model.") +
		spelling.If(m.NoWhole(all) == nil,
			" With --intervals full, predict uses all rows for intervals that hold on average.")
}

// others returns a line about a constant and a linear model on the same rows, or "" if the context
// has neither.
func others(m *model.Model) string {
	c := m.Certificate
	further := spelling.Either(c.Groups > 0,
		"further groups, on average over groups,",
		"further rows")
	mean := "mean loss"
	if !m.Terms.Loss.IsZeroOne() {
		mean, _, _ = graded(m, c, 1)
	}
	lead := fmt.Sprintf("the %s of predictions on %s is ", mean, further)
	ends := ""
	switch {
	case !c.Valid:
		lead = fmt.Sprintf("the %s on these rows is ", mean)
	case m.Terms.Loss.IsZeroOne():
		lead = fmt.Sprintf("the share of predictions on %s that lie %s is ", further, outside(m, c))
		if m.Classes != nil {
			lead = "the share of " + further + " that get a wrong label is "
		}
		fallthrough
	default:
		ends = fmt.Sprintf(" Each of these bounds holds with %s confidence by itself.",
			cautious.Complement(c.Delta))
	}
	number := func(b model.Baseline) (size string) {
		switch {
		case !c.Valid && m.Terms.Loss.IsZeroOne():
			return fmt.Sprintf("%.3f", b.MeanRisk)
		case !c.Valid:
			_, size, _ = graded(m, c, b.MeanRisk)
			return size
		case m.Terms.Loss.IsZeroOne():
			return "at most " + cautious.PercentUp(b.MeanBound)
		}
		_, size, _ = graded(m, c, b.MeanBound)
		return "at most " + size
	}
	names, scores := Simpler(m)
	if c.Loss == pacbayes.LogDensity { // their standard deviations would be the model's
		names = nil
	}
	each := lists.To(len(names), func(i int) string {
		return fmt.Sprintf("%s for %s", number(scores[i]), names[i])
	})
	return spelling.If(len(each) > 0,
		"\nFor comparison, %s%s.%s", lead, strings.Join(each, " and "), ends) +
		spelling.If(m.Context.LinearReason != "",
			"\nNo linear model was compared, since %s.", m.Context.LinearReason)
}
