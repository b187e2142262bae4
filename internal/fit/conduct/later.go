package conduct

import (
	"cmp"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// leastLater is the least number of rows in the latest fifth whose errors are told.
const leastLater = 20

// later finds how much larger errors are in the latest fifth of the prior rows if the rows before
// predict them, and not all others. A promise is about the same period, and says nothing of it.
// It takes the parameters as they were trained, and the first column of dates. It sees prior rows
// alone, so that it costs no part of δ.
func later(s deal.Share, q *posterior.Posterior, m *model.Model) (found finding.List) {
	at := slices.IndexFunc(m.Reading.Dates, func(d dataset.Dates) bool {
		return d.Form != "time" && slices.Contains(s.Data.Inputs, d.Column)
	})
	if at < 0 || q.Inducing() > 0 || q.Support.Rows != s.N || s.N > ask.DefaultFull ||
		s.Options.Sited() != nil || s.Options.Data.Censored != "" || s.Options.Data.Split == "last" {
		return nil
	}
	column := m.Reading.Dates[at].Column
	j := slices.Index(s.Data.Inputs, column)
	order := lists.To(s.N, func(i int) int { return i })
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(q.Support.At(a, j), q.Support.At(b, j))
	})
	from := s.N - s.N/5
	for from < s.N && q.Support.At(order[from], j) == q.Support.At(order[from-1], j) {
		from++ // rows of the same date stay together
	}
	rows := order[from:]
	if len(rows) < leastLater {
		return nil
	}
	all := objective.Memory{X: q.Support, Y: s.Y, PerRow: posterior.RowNoise{Known: s.Known}}
	before := all.Some(order[:from])
	of, err := posterior.NewExact(posterior.Given{Kernel: q.Kernel, Theta: q.Theta, Mean: q.Mean,
		Beta: q.Beta, X: before.X, Y: before.Y, Noise: q.Noise, PerRow: before.PerRow})
	left, _, ok := q.LeaveOneOut(s.Y)
	if err != nil || !ok {
		return nil // the figure is for people, and no condition of anything
	}
	mean := make([]float64, len(rows))
	of.Latent(all.Some(rows).X, mean, nil)
	var sum, others float64
	for k, i := range rows {
		y := s.Scaling.Raw(s.Y[i])
		sum += math.Pow(m.Estimate(mean[k])-y, 2)
		others += math.Pow(m.Estimate(left[i])-y, 2)
	}
	n := float64(len(rows))
	day := s.Scaling.InputMean[j] + s.Scaling.InputScale[j]*q.Support.At(rows[0], j)
	found.Add(finding.Later, column, dataset.DateOf(day), cautious.Digits(math.Sqrt(sum/n), 3),
		cautious.Digits(math.Sqrt(others/n), 3))
	return found
}
