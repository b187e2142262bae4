package model

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// Score evaluates the model's predictions on the given rows of d, those of all ranks together.
// Where they belong to groups, whose numbers are given by row, risks are those of groups.
func (m *Model) Score(d *dataset.Data, rows, group []int) (*Test, error) {
	at, err := m.sample(d, rows, group)
	if err != nil {
		return nil, err
	}
	ys, mean, variance := at.Y, at.Mean, at.Variance
	if err := d.Ranks().Agree(m.scorable(d, rows, at)); err != nil {
		return nil, err
	}
	t := &Test{Rows: at.Rows, Groups: at.Groups}
	if t.GibbsRisk, err = at.Risk(m.Terms.Loss, nil, nil); err != nil {
		return nil, err
	}
	if t.MeanRisk, err = at.PointRisk(m.Terms.Loss); err != nil {
		return nil, err
	}
	if math.IsNaN(t.GibbsRisk + t.MeanRisk) {
		return nil, fmt.Errorf("the loss %s isn't a number from 0 to 1 on all test rows", m.Terms.Loss.Kind)
	}
	n := float64(at.Rows)
	se, lp := make([]float64, len(ys)), make([]float64, len(ys))
	inside := 0.
	var scores scores
	spreads, err := m.Spreads(mean, variance)
	if err := d.Ranks().Agree(err); err != nil {
		return nil, err
	}
	noise, _ := objective.NoiseOf(m.Noise) // which Spreads found
	for i, v := range ys {
		d, sd := v-mean[i], math.Sqrt(spreads[i].Variance)
		se[i] = d * d
		lp[i] = -noise.LogPredictive(v, mean[i], variance[i], m.ObservationNoise)
		if spreads[i].Lower*sd <= d && d <= spreads[i].Upper*sd {
			inside++
		}
		z, err := noise.NormalScore(v, mean[i], variance[i], m.ObservationNoise)
		if err != nil {
			return nil, err
		}
		scores.z, scores.d, scores.deviations = append(scores.z, z), append(scores.d, d), append(scores.deviations, d/sd)
	}
	sums := []float64{linalg.Sum(se), linalg.Sum(lp), inside}
	if err := d.Ranks().Sum(sums); err != nil {
		return nil, err
	}
	t.MSE = sums[0] / n
	t.RMSERaw = math.Sqrt(t.MSE) * m.Scaling.TargetScale
	t.NLPD = sums[1] / n
	t.Coverage95 = sums[2] / n
	return t, scores.report(t, m.Conformal, d.Ranks().Sum)
}

// sample returns the predictions at rows of d, as a part of those at the rows of all ranks. group
// holds the number of every row's group; nil: there are none.
func (m *Model) sample(d *dataset.Data, rows, group []int) (s pacbayes.Sample, err error) {
	if group != nil {
		s.Group, s.Groups = numbered(rows, group)
	}
	if _, s.Rows, err = ranks.Place(d.Ranks(), len(rows)); err != nil {
		return s, err
	}
	if d.Ranks().Size() > 1 { // else all rows are at hand
		s.Sum = d.Ranks().Sum
	}
	if s.Y, s.Scale, err = m.targets(d, rows); err != nil {
		return s, err
	}
	if s.Mean, s.Variance, err = latent(m.Posterior, d.Scaled(rows, m.Scaling)); err != nil ||
		m.Terms.Loss.Kind != pacbayes.Scaled {
		return s, err
	}
	s.Scale, err = m.deviations(s.Mean, s.Variance)
	return s, err
}

// scorable reports a row whose prediction, or its distance from the target, isn't a number: as of a file whose
// posterior nobody fitted, or of a row very far away.
func (m *Model) scorable(d *dataset.Data, rows []int, at pacbayes.Sample) error {
	for i, y := range at.Y {
		miss := y - at.Mean[i]
		if noisy := at.Variance[i] + m.ObservationNoise; !linalg.Finite([]float64{miss * miss / noisy, noisy}) ||
			!(at.Variance[i] >= 0) {
			return fmt.Errorf("%s: %s: the prediction overflows, or isn't a number: its inputs are too far from the training "+
				"data", d.Source, d.Where(rows[i]))
		}
	}
	return nil
}

// numbered numbers the groups of rows from 0, in their order.
func numbered(rows, group []int) (numbers []int, groups int) {
	number := map[int]int{}
	for _, row := range rows {
		g := group[row]
		if _, ok := number[g]; !ok {
			number[g] = len(number)
		}
		numbers = append(numbers, number[g])
	}
	return numbers, len(number)
}
