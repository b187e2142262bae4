package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// Score evaluates the model's predictions on the given rows of d and of all other ranks.
// If group isn't nil, it holds the number of each row's group, and risks are averages over groups.
func (m *Model) Score(d *dataset.Data, rows, group []int) (*Test, error) {
	at, err := m.sample(d, rows, group)
	if err != nil {
		return nil, err
	}
	mean := at.allowed(at.z, at.mean)
	variance, noises := m.Stretched(at.variance, at.noises)
	if err := d.Ranks().Agree(m.scorable(d, rows, at)); err != nil {
		return nil, err
	}
	t := &Test{Rows: at.Rows, Groups: at.Groups, Limits: at.limits()}
	if t.GibbsRisk, err = m.drawRisk(at); err != nil {
		return nil, err
	}
	if t.MeanRisk, err = at.PointRisk(m.Terms.Loss); err != nil {
		return nil, err
	}
	if math.IsNaN(t.GibbsRisk + t.MeanRisk) {
		return nil, fmt.Errorf("the loss %s isn't a number from 0 to 1 on all test rows",
			m.Terms.Loss.Kind)
	}
	n := float64(at.Rows)
	se := make([]float64, len(at.z))
	lp := make([]float64, len(at.z))
	inside := 0.
	var scores scores
	spreads, err := m.Spreads(mean, variance, noises)
	if err := d.Ranks().Agree(err); err != nil {
		return nil, err
	}
	noise, _ := m.Likelihood() // no error: Spreads found the noise
	for i, v := range at.z {
		d := v - mean[i]
		sd := math.Sqrt(spreads[i].Variance)
		miss := at.Y[i] - at.Mean[i]
		se[i] = miss * miss
		// −ln of the density or probability of y
		lp[i] = -noise.LogPredictive(v, mean[i], variance[i], m.NoiseIn(noises, i))
		if m.Scaling.Transform != nil {
			// the density of the transformed target times the transform's slope
			lp[i] -= m.Scaling.LogSlope(at.Y[i]*m.Scaling.TargetScale + m.Scaling.TargetMean)
		}
		if r := v - m.From(mean[i], variance[i]); spreads[i].Lower*sd <= r &&
			r <= spreads[i].Upper*sd {
			inside++
		}
		if m.Scaling.AsIs { // the mean of y isn't the mean of f
			d = miss * m.Scaling.TargetScale
			if !m.Sited().Whole() {
				lp[i] -= math.Log(m.Scaling.TargetScale)
			}
		}
		// A normal score is standard normal if the predictive distribution is right.
		z, err := noise.NormalScore(v, mean[i], variance[i], m.NoiseIn(noises, i))
		if err != nil {
			return nil, err
		}
		scores.z = append(scores.z, z)
		scores.d = append(scores.d, miss)
		scores.deviations = append(scores.deviations, d/sd)
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

// scored holds rows and their predictions in the units of losses, standard deviations of the
// target.
type scored struct {
	pacbayes.Sample
	// after the target's transform; else Y, Mean and Variance of Sample
	z, mean, variance []float64
	noises            []float64       // see NoisesAt
	sides             []float64       // see dataset.Data.Sides; Y then has the limits
	curve             *pacbayes.Curve // the certificate's curve of these rows, if it has one
}

// allowed returns predictions with the limit in place of each prediction that lies on the target's
// side of its limit.
// So the error of a limit is the distance of the prediction from the targets that are possible.
// y holds limits and targets, in the unit of the predictions.
func (s scored) allowed(y, predicted []float64) []float64 {
	if s.sides == nil {
		return predicted
	}
	of := slices.Clone(predicted)
	for i, side := range s.sides {
		if side*(predicted[i]-y[i]) > 0 {
			of[i] = y[i]
		}
	}
	return of
}

// limits returns how many targets are limits.
func (s scored) limits() (n int) {
	for _, side := range s.sides {
		n += int(math.Abs(side))
	}
	return n
}

// sample returns the predictions at rows of d, this rank's part of all ranks' rows.
// group holds each row's group, or is nil.
func (m *Model) sample(d *dataset.Data, rows, group []int) (s scored, err error) {
	if group != nil {
		s.Group, s.Groups = lists.Numbered(lists.Of(rows, func(row int) int { return group[row] }))
	}
	if _, s.Rows, err = ranks.Place(d.Ranks(), len(rows)); err != nil {
		return s, err
	}
	if d.Ranks().Size() > 1 { // a single rank has all rows
		s.Sum = d.Ranks().Sum
	}
	if s.Y, err = d.Targets(rows); err != nil {
		return s, err
	}
	if noise := m.Sited(); noise != nil && m.Classes == nil {
		if err := observation.CheckTargets(d, rows, noise); err != nil {
			return s, err
		}
	}
	sizes, err := d.Sizes(rows, s.Y)
	if err != nil {
		return s, err
	}
	s.Sample.Scale = TargetScale(m.Terms.Loss, m.Scaling, sizes)
	transformed := m.Scaling.Transform != nil || m.Sited() != nil
	if s.z = s.Y; transformed {
		if s.z = slices.Clone(s.Y); m.Classes == nil { // probit noise takes the labels 0 and 1
			m.Scaling.Target(s.z, s.z)
		}
	}
	m.Scaling.Standard(s.Y, s.Y)
	if s.mean, s.variance, err = latent(m.Posterior, d.Scaled(rows, m.Scaling)); err != nil {
		return s, err
	}
	if s.noises, err = m.Noises(d.Scaled(rows, m.Scaling), s.mean, s.variance); err != nil {
		return s, err
	}
	s.Mean = s.mean
	s.Variance = s.variance
	if scaled := m.Terms.Loss.Kind == pacbayes.Scaled; scaled || transformed {
		point, sd, err := m.Points(s.mean, s.variance, s.noises)
		var of *dataset.Error
		if errors.As(err, &of) {
			err = fmt.Errorf("%s: %s: %w", d.Source, d.Where(rows[of.Row-1]), of.Err)
		}
		if err != nil {
			return s, err
		}
		if s.Mean = point; scaled {
			s.Scale = sd
		}
	}
	if s.sides, err = d.Sides(rows); err != nil {
		return s, err
	}
	if s.Mean = s.allowed(s.Y, s.Mean); transformed || s.sides != nil {
		// no random draw of f is certified, only the prediction
		s.Variance = make([]float64, len(rows))
	}
	if m.Joint != nil {
		err = s.judge(m.Joint, d.Table(), rows)
	}
	return s, err
}

// judge replaces the predictions by labels that are wrong where the label of all models is wrong.
func (s *scored) judge(by *Several, table *dataset.Table, rows []int) error {
	p, truth, err := by.Judged(table, rows)
	for i, y := range s.Y {
		s.Mean[i] = y
		if err == nil && Likeliest(p[i]) != truth[i] {
			s.Mean[i] = 1 - y
		}
	}
	return err
}

// Judged returns the probability of each class against the others for each of the given rows of a
// table, and the place of the row's own class. Every row must have a class.
func (s *Several) Judged(table *dataset.Table, rows []int) (p [][]float64, truth []int, err error) {
	p = make([][]float64, len(rows))
	truth = make([]int, len(rows))
	for k, m := range s.Models {
		d, err := m.Labelled(table)
		if err != nil {
			return nil, nil, err
		}
		at, err := m.sample(d, rows, nil)
		if err != nil {
			return nil, nil, err
		}
		for i := range rows {
			if p[i] = append(p[i], at.Mean[i]); at.Y[i] == 1 {
				truth[i] = k
			}
		}
	}
	return p, truth, nil
}

// ofDraws returns the sample that the certificate counts:
// the distribution of f for labels that a random draw gives.
func (m *Model) ofDraws(at scored) pacbayes.Sample {
	s := at.Sample
	if m.drawn() {
		s.Mean = at.mean
		s.Variance = at.variance
	}
	return s
}

// drawRisk returns the mean loss of a random draw f ~ Q.
func (m *Model) drawRisk(at scored) (float64, error) {
	s := m.Scaling
	if s.Transform == nil && at.sides == nil {
		return m.ofDraws(at).Risk(m.Terms.Loss, nil, nil)
	}
	forth := func(y float64) float64 {
		v := []float64{y*s.TargetScale + s.TargetMean}
		s.Target(v, v)
		return v[0]
	}
	back := func(z float64) float64 { return (s.Raw(z) - s.TargetMean) / s.TargetScale }
	losses := make([]float64, len(at.Y))
	for i, y := range at.Y {
		scale := 0.
		if at.Sample.Scale != nil {
			scale = at.Sample.Scale[i]
		}
		one := pacbayes.Draw{Forth: forth, Back: back, Mean: at.mean[i], Variance: at.variance[i]}
		// a draw on this side of the limit misses by nothing
		if at.sides != nil && at.sides[i] != 0 {
			side := at.sides[i]
			one.Forth = func(v float64) float64 {
				if side*(v-y) > 0 {
					return math.Inf(int(side))
				}
				return forth(v)
			}
			one.Back = func(z float64) float64 { return side * min(side*back(z), side*y) }
		}
		losses[i] = m.Terms.Loss.OfDraw(one, y, scale)
	}
	return at.MeanOf(losses)
}

// scorable returns an error if the prediction of a row, or its distance from the target, isn't a
// finite number. That happens very far from the training rows, and with a posterior in a forged
// file.
func (m *Model) scorable(d *dataset.Data, rows []int, at scored) error {
	for i, z := range at.z {
		miss := z - at.mean[i]
		off := at.Y[i] - at.Mean[i]
		if noisy := at.variance[i] + m.NoiseIn(at.noises,
			i); !linalg.Finite([]float64{miss * miss / noisy, noisy, off * off}) ||
			!(at.variance[i] >= 0) {
			return fmt.Errorf("%s: %s: the prediction overflows, or isn't a number: its inputs "+
				"are too far from the training data", d.Source, d.Where(rows[i]))
		}
	}
	return nil
}
