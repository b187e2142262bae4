package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// Score evaluates the model's predictions on the given rows of d and of all other ranks.
// If group isn't nil, it holds the number of each row's group, and risks are averages over groups.
// A row without a prediction has the loss 1. A row whose error overflows has its loss, too. All other
// figures leave out these rows, which Found names. If no row is left, the error is an ErrUnscored.
func (m *Model) Score(d *dataset.Data, rows, group []int) (*Test, error) {
	at, err := m.predicted(d, rows, group)
	if err != nil {
		return nil, err
	}
	mean := at.allowed(at.z, at.mean)
	seen := at // as predictions have it
	seen.variance, seen.noises = m.Stretched(at.variance, at.noises)
	spreads, errs, err := m.SpreadsWithin(d.Context(), mean, seen.variance, seen.noises)
	if err := d.Ranks().Agree(err); err != nil {
		return nil, err
	}
	t := &Test{Rows: at.Rows, Groups: at.Groups, Limits: at.limits()}
	at.Lost = make([]bool, len(rows))
	var all scores
	var unscored []float64 // numbers of rows
	var why error          // of the first of these rows
	for i, row := range rows {
		one, err := m.figures(seen, i, mean[i], spreads[i], cmp.Or(errs[i], at.wrong[i]))
		if err == nil {
			all = append(all, one)
			continue
		}
		unscored = append(unscored, float64(row))
		why = cmp.Or(why, err)
		if at.Lost[i] = err == observation.ErrTooFar ||
			!linalg.Finite([]float64{at.z[i], at.Y[i]}); at.Lost[i] {
			// so that no loss, which counts as 1, is looked for far away
			for _, v := range [][]float64{at.z, at.Y, at.mean, at.Mean, at.variance} {
				v[i] = 0
			}
		}
	}
	if err := t.leaveOut(d, unscored, why); err != nil {
		return t, err
	}
	if t.Unscored == 0 {
		at.Lost = nil
	}
	t.GibbsRisk, err = m.drawRisk(at)
	if err == nil {
		t.MeanRisk, err = at.PointRisk(m.Terms.Loss)
	}
	if err != nil {
		return nil, err
	}
	if math.IsNaN(t.GibbsRisk + t.MeanRisk) {
		return nil, fmt.Errorf("the loss %s isn't a number from 0 to 1 on all test rows",
			m.Terms.Loss.Kind)
	}
	err = all.report(t, m.Conformal, d.Ranks().Sum)
	t.RMSERaw = math.Sqrt(t.MSE) * m.Scaling.TargetScale
	return t, err
}

// figures returns the figures of row i, given its distribution of y. wrong says why there is no such
// distribution, or is nil. The error is ErrTooFar if the row has no prediction.
func (m *Model) figures(at scored, i int, mean float64, y objective.Spread,
	wrong error) (f figures, err error) {
	noise, err := m.Likelihood()
	noisy := m.NoiseIn(at.noises, i)
	off := at.z[i] - mean
	miss := at.Y[i] - at.Mean[i]
	f[missed] = miss
	f[squared] = miss * miss
	if wrong != nil || err != nil || !(at.variance[i] >= 0) ||
		!linalg.Finite([]float64{at.variance[i] + noisy, at.mean[i], at.Mean[i]}) {
		return f, observation.ErrTooFar
	}
	if wrong := m.Allows(at.z[i]); wrong != nil {
		return f, fmt.Errorf("its target is %v, and %w", at.z[i], wrong)
	}
	if !linalg.Finite([]float64{off * off / (at.variance[i] + noisy), f[squared]}) {
		return f, errFar
	}
	// −ln of the density or probability of y
	f[logLoss] = -noise.LogPredictive(at.z[i], mean, at.variance[i], noisy)
	if m.Scaling.Transform != nil {
		// the density of the transformed target times the transform's slope
		f[logLoss] -= m.Scaling.LogSlope(at.Y[i]*m.Scaling.TargetScale + m.Scaling.TargetMean)
	}
	sd := math.Sqrt(y.Variance)
	if r := at.z[i] - m.From(mean, at.variance[i]); y.Lower*sd <= r && r <= y.Upper*sd {
		f[inside] = 1
	}
	if m.Scaling.AsIs { // the mean of y isn't the mean of f
		off = miss * m.Scaling.TargetScale
		if !m.Sited().Whole() {
			f[logLoss] -= math.Log(m.Scaling.TargetScale)
		}
	}
	f[deviation] = off / sd
	// A normal score is standard normal if the predictive distribution is right.
	f[normal], err = noise.NormalScore(at.z[i], mean, at.variance[i], noisy)
	if f[normal] != f[normal] || f[logLoss]-f[logLoss] != 0 {
		err = errFar
	}
	return f, err
}

// ErrUnscored is the error if no row of a table has test figures.
var ErrUnscored = errors.New("no row has test figures")

// errFar is the error of a row whose target is too far away to be scored.
var errFar = errors.New("the target is so far from the prediction that the error overflows")

// leaveOut counts the rows of d, on all ranks, that figures of t leave out, and names the first.
func (t *Test) leaveOut(d *dataset.Data, unscored []float64, why error) error {
	rows, err := ranks.Gather(d.Ranks(), unscored)
	if t.Unscored = len(rows); err != nil || rows == nil {
		return err
	}
	where := fmt.Sprintf("row %.0f", rows[0]+1)
	if d.Ranks().Size() == 1 {
		where = d.Where(int(rows[0]))
	}
	t.Found.Add(finding.Unscored, len(rows), t.Rows, where+" of "+d.Source,
		cmp.Or(why, errFar))
	if t.Unscored == t.Rows {
		err = fmt.Errorf("%w: %v", ErrUnscored, t.Found[0])
	}
	return err
}

// scored holds rows and their predictions in the units of losses, standard deviations of the
// target.
type scored struct {
	pacbayes.Sample
	// after the target's transform; else Y, Mean and Variance of Sample
	z, mean, variance []float64
	noises            []float64          // see NoisesAt
	spreads           []objective.Spread // of y
	wrong             []error            // for each row nil, or why it has no prediction
	sides             []float64          // see dataset.Data.Sides; Y then has the limits
	curve             *pacbayes.Curve    // the certificate's curve of these rows, if it has one
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
func (s scored) limits() int {
	return lists.Sum(s.sides, func(side float64) int { return int(math.Abs(side)) })
}

// sample returns what predicted does, or an error if a row has no prediction, or a target that the
// noise can't have.
func (m *Model) sample(d *dataset.Data, rows, group []int) (s scored, err error) {
	s, err = m.predicted(d, rows, group)
	return s, d.Ranks().Agree(cmp.Or(m.CheckTargets(d, rows), err,
		firstOf(s.wrong, d.Table(), rows)))
}

// firstOf returns the first error of these rows of a table, and names its row.
func firstOf(wrong []error, t *dataset.Table, rows []int) error {
	i := slices.IndexFunc(wrong, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", t.Source, t.Where(rows[i]), wrong[i])
}

// predicted returns the predictions at rows of d, this rank's part of all ranks' rows.
// group holds each row's group, or is nil.
func (m *Model) predicted(d *dataset.Data, rows, group []int) (s scored, err error) {
	defer matrix.Ended(&err)
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
	s.spreads, s.wrong, err = m.SpreadsWithin(d.Context(), s.mean, s.variance, s.noises)
	if err != nil {
		return s, err
	}
	if scaled := m.Terms.Loss.Kind.OwnSD(); scaled || transformed {
		point, sd := m.PointsOf(s.mean, s.variance, s.spreads)
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
	p, truth, wrong, err := by.judged(table, rows)
	s.wrong = wrong
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
	p, truth, wrong, err := s.judged(table, rows)
	return p, truth, cmp.Or(err, firstOf(wrong, table, rows))
}

// judged does what Judged does, and says for each row why it has no prediction, or nil.
func (s *Several) judged(table *dataset.Table, rows []int) (p [][]float64, truth []int,
	wrong []error, err error) {
	p = make([][]float64, len(rows))
	truth = make([]int, len(rows))
	wrong = make([]error, len(rows))
	for k, m := range s.Models {
		d, _, err := m.Later(table)
		if err != nil {
			return nil, nil, nil, err
		}
		at, err := m.predicted(d, rows, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		for i := range rows {
			wrong[i] = cmp.Or(wrong[i], at.wrong[i])
			if p[i] = append(p[i], at.Mean[i]); at.Y[i] == 1 {
				truth[i] = k
			}
		}
	}
	return p, truth, wrong, nil
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
	return at.MeanOf(lists.To(len(at.Y), func(i int) float64 {
		y := at.Y[i]
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
		return m.Terms.Loss.OfDraw(one, y, lists.At(at.Sample.Scale, i, 0))
	}))
}
