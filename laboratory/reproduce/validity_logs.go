package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

// checkLogs checks the certificate of a log-normal target, which the model may see through a transform. It compares
// the bounds with the share of further targets that are farther from their predictions than each width, in the
// target's own units.
func (t truth) checkLogs(m *krigo.Model, table *dataset.Table, name string, count tallies) error {
	d, err := m.Labelled(table)
	if err != nil {
		return err
	}
	x := mat.NewDense(t.points(), 1, nil)
	for i := range t.points() {
		x.Set(i, 0, t.place(i))
	}
	ps, err := m.PredictAt(x)
	if err != nil {
		return err
	}
	for di, delta := range trialDeltas {
		with := *m
		with.Terms.Delta = delta
		c, err := with.Model.Certify(d)
		if err != nil {
			return err
		}
		missed := func(width float64) (share float64) {
			for i, p := range ps {
				share += t.beyond(t.place(i), p.Mean, width) / float64(len(ps))
			}
			return share
		}
		count.count(name+"/"+string(pacbayes.KLBound)+"/direct/band", di, missed(c.EpsilonRaw) > c.MeanBound)
		with.Terms.Promise, with.Terms.Curve = trialShare, true
		with.Terms.Rules = with.Terms.NewestRules()
		if c, err = with.Model.Certify(d); err != nil {
			return err
		}
		count.count("many/"+name+"/"+manyWidths, di, slices.ContainsFunc(c.Curve.Points,
			func(p pacbayes.CurvePoint) bool { return missed(p.HalfWidthRaw) > p.Bound }))
	}
	return nil
}

// beyond returns the probability that the target at x is farther than width from a prediction.
func (t truth) beyond(x, prediction, width float64) float64 {
	g := distuv.Normal{Mu: t.f(x), Sigma: t.noise(x)[0].sd}
	inside := g.CDF(math.Log(prediction + width))
	if low := prediction - width; low > 0 {
		inside -= g.CDF(math.Log(low))
	}
	return 1 - inside
}
