package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// score says how a predictor does on some rows. A number that isn't known is NaN.
type score struct {
	who, rows                                    string
	rmse, mae, r2, risk, bound, covered, logLoss float64
}

// scored returns the model's score on a sample. Numbers that the model file has come from the file.
func (r *maker) scored(s *sample) score {
	n := float64(len(s.y))
	off := floats.SubTo(make([]float64, len(s.y)), s.y, s.mean)
	about := slices.Clone(s.y)
	floats.AddConst(-stat.Mean(s.y, nil), about)
	share := floats.Norm(off, 2) / floats.Norm(about, 2)
	out := score{"this model", s.name, floats.Norm(off, 2) / math.Sqrt(n), floats.Norm(off, 1) / n,
		1 - share*share, math.NaN(), math.NaN(), s.within(objective.Normal975),
		linalg.Sum(s.logLoss) / n}
	if s.miss != nil {
		out.risk = float64(s.misses()) / float64(len(s.miss))
	}
	if t := r.m.Test; s.role == dataset.Test && t != nil {
		out.ofTest(t)
	}
	if s.role == dataset.Certified {
		r.ofCertified(&out)
	}
	return out
}

// ofTest sets the numbers that the model file has about the test rows.
func (s *score) ofTest(t *model.Test) {
	s.rmse = t.RMSERaw
	s.risk = t.MeanRisk
	s.covered = t.Coverage95
	s.logLoss = t.NLPD
}

// ofCertified sets the numbers that certificate and context have about the certified rows.
func (r *maker) ofCertified(s *score) {
	if x := r.m.Context; x != nil {
		s.rmse = x.RMSE
		s.mae = x.MAE
		s.risk = x.MeanRisk
		s.covered = x.Coverage95
		if x.R2 != 0 {
			s.r2 = x.R2
		}
	}
	if c := r.certified; c != nil && c.Valid {
		s.bound = c.MeanBound
	}
}

// compared fills the table of the first page:
// the model's scores on each kind of rows, and the baselines' on the certified rows.
func (r *maker) compared() {
	var all []score
	blank := func(who, rows string) score {
		v := math.NaN()
		return score{who, rows, v, v, v, v, v, v, v}
	}
	counted := false
	for _, s := range r.samples {
		all = append(all, r.scored(s))
		counted = counted || s.role == dataset.Certified
	}
	// Without test rows at hand, the figures in the model file are shown, in the fitter's name.
	if t := r.m.Test; t != nil && len(r.samples) == 0 {
		s := blank("this model", count(t.Rows, "test row")+", the fitter says")
		s.ofTest(t)
		all = append(all, s)
	}
	if r.certified != nil && r.context != nil {
		rows := whole(r.context.Rows) + " " + r.kept()
		// The context in the file has the model's figures on the certified rows.
		if !counted {
			s := blank("this model", rows)
			r.ofCertified(&s)
			all = append(all, s)
		}
		for _, of := range r.rivals() {
			s := blank(of.name, rows)
			if s.rmse, s.risk = of.RMSE, of.MeanRisk; r.certified.Valid {
				s.bound = of.MeanBound
			}
			all = append(all, s)
		}
	}
	r.Scores = r.tabled(all)
	r.AllRows = r.m.FromAllRows()
}

// tabled writes scores in a table, without the columns that are empty.
func (r *maker) tabled(all []score) table {
	share := cautious.Percent
	bound := cautious.PercentUp
	missed := "misses"
	if !r.m.Terms.Loss.IsZeroOne() {
		share = func(v float64) string { return fmt.Sprintf("%.3f", v) }
		bound = func(v float64) string { return share(cautious.RoundUp(v, 3)) }
		missed = "mean loss"
	}
	known := func(v float64, text func(v float64) string) string {
		if !linalg.Finite([]float64{v}) {
			return ""
		}
		return text(v)
	}
	t := table{Name: "Errors of the model and of simple predictors",
		Head: []string{"predictor", "rows", "RMSE (" + r.target + ")", "MAE", "R²", missed,
			"at most", "inside 95\u00a0%"}}
	cells := func(s score) []string {
		return []string{s.who, s.rows, known(s.rmse, number), known(s.mae, number),
			known(s.r2, func(v float64) string {
				return fmt.Sprintf("%.3f", v)
			}), known(s.risk, share), known(s.bound, bound),
			known(s.covered, cautious.Percent)}
	}
	if r.m.Classes != nil {
		t.Head = []string{"predictor", "rows", "wrong labels", "at most", "Brier score", "log loss"}
		cells = func(s score) []string {
			return []string{s.who, s.rows, known(s.risk, share), known(s.bound, bound),
				known(s.rmse*s.rmse, number), known(s.logLoss, number)}
		}
	}
	t.Cells = lists.Of(all, cells)
	// from the last column, so that deletions leave the numbers of the others
	for k := range slices.Backward(t.Head) {
		if !slices.ContainsFunc(t.Cells, func(cells []string) bool { return cells[k] != "" }) {
			t.Head = slices.Delete(t.Head, k, k+1)
			for i := range t.Cells {
				t.Cells[i] = slices.Delete(t.Cells[i], k, k+1)
			}
		}
	}
	if c := r.certified; c != nil && missed == "misses" && r.missed() != "" {
		t.Says = "A miss is off by more than " + r.missed() + "."
	}
	if c := r.certified; c != nil && c.Groups > 0 {
		t.Says += " Misses on certified rows are averages over groups."
	}
	if slices.Contains(t.Head, "at most") {
		t.Says += fmt.Sprintf(" “At most” is guaranteed for the rows that the promise is about, "+
			"for each line by itself, with %s confidence.", cautious.Complement(r.certified.Delta))
	}
	if x := r.m.Context; r.certified != nil && x != nil && x.LinearReason != "" {
		t.Says += " There is no linear model, because " + x.LinearReason + "."
	}
	t.Says += spelling.If(slices.Contains(t.Head, "inside 95\u00a0%"),
		" The 95 %% intervals are the model's own belief.")
	return t
}

// missed returns what a miss exceeds, with its unit; "" of a loss that has no single width.
func (r *maker) missed() string {
	c := r.certified
	switch c.Loss {
	case pacbayes.Band:
		return "±" + cautious.Width(c.EpsilonRaw) + " " + r.target
	case pacbayes.Relative:
		return fmt.Sprintf("±%s %% of %s", cautious.Width(100*c.Epsilon), r.target)
	case pacbayes.Scaled:
		return "±" + cautious.Width(c.Epsilon) + " of the model's own standard deviations"
	}
	return ""
}
