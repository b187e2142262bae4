package main

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// The statements that one certificate makes together, by the names of their tallies.
const (
	manyWidths   = "every width"
	manyScaled   = "every width, scaled"
	manySlices   = "slices"
	manyDistance = "slices by distance"
	manyLines    = "table without ε"
)

var manyStatements = []string{manyWidths, manyScaled, manySlices, manyDistance, manyLines, "conformal", "normalised",
	"full", "jackknife",
	anytimeGroups}

// many compares certificates by the curve (a bound for every width) and certificates of slices (kinds of rows) with the
// true risks. krigo computes them for the model's own posterior. A certificate counts as false if any part of it is
// false.
func (t truth) many(m *krigo.Model, table *dataset.Table, name string, count tallies) error {
	if !m.Terms.MeanAlone() || m.Group != "" {
		return nil
	}
	d, err := m.Labelled(table)
	if err != nil {
		return err
	}
	p, err := t.predict(m, m.Posterior, table)
	if err != nil {
		return err
	}
	spreads, err := m.Spreads(p.mean, p.variance, p.noises)
	if err != nil {
		return err
	}
	_, sd := m.PointsOf(p.mean, p.variance, spreads)
	none := make([]float64, t.points())
	kind, _ := method.Find(m.Objective)
	for di, delta := range trialDeltas {
		with := *m
		with.Conformal = nil                         // a promise in standard deviations is in the GP's own
		if with.Terms.Delta = delta; m.Terms.Curve { // as fitted: bounds for all widths, and for the default ε
			c, err := with.Model.Certify(d)
			if err != nil {
				return err
			}
			l, fails := m.Terms.Loss, t.risk(m.Terms.Loss, m.Scaling, p.mean, none) > c.MeanBound
			for _, at := range c.Curve.Points {
				l.Below = at.HalfWidth
				fails = fails || t.risk(l, m.Scaling, p.mean, none) > at.Bound
			}
			count.count("many/"+name+"/"+manyLines, di, fails)
		}
		with.Terms.Delta, with.Terms.Promise, with.Terms.Inequality = delta, trialShare, ""
		with.Terms.Curve = true
		with.Terms.Rules = with.Terms.NewestRules()
		for statement, l := range map[string]pacbayes.Loss{manyWidths: {Kind: pacbayes.Band, Below: trialEpsilon},
			manyScaled: {Kind: pacbayes.Scaled, Below: 2}} {
			if l.Kind == pacbayes.Scaled && kind.Bound != "" {
				continue // the certified rows give its noise
			}
			if with.Terms.Loss, with.Terms.EpsilonRaw = l, l.Below; l.Kind == pacbayes.Band {
				with.Terms.EpsilonRaw *= m.Scaling.TargetScale
			}
			c, err := with.Model.Certify(d)
			if err != nil {
				return err
			}
			points := slices.Clone(c.Curve.Points)
			if w := c.Promise; w.HalfWidth > 0 {
				points = append(points, pacbayes.CurvePoint{HalfWidth: w.HalfWidth, Bound: w.Bound})
			}
			fails := false
			for _, at := range points {
				l.Below = at.HalfWidth
				fails = fails || t.riskScaled(l, m.Scaling, p.mean, none, sd) > at.Bound
			}
			count.count("many/"+name+"/"+statement, di, fails)
		}
		with.Terms.Curve = false
		with.Terms.Loss, with.Terms.EpsilonRaw = pacbayes.Loss{Kind: pacbayes.Band, Below: trialEpsilon},
			trialEpsilon*m.Scaling.TargetScale
		for statement, by := range map[string][]string{manySlices: {pacbayes.SliceSD, "x"},
			manyDistance: {pacbayes.SliceDistance}} {
			with.Terms.Slices = by
			with.Terms.Rules = with.Terms.NewestRules()
			c, err := with.Model.Certify(d)
			if err != nil {
				return err
			}
			fails := false
			for _, s := range c.Slices {
				fails = fails || t.riskIn(with.Terms.Loss, m.Scaling, p.mean, t.where(func(i int) bool {
					switch s.By {
					case pacbayes.SliceSD:
						return s.Has(sd[i] * m.Scaling.TargetScale)
					case pacbayes.SliceDistance:
						return s.Has(math.Sqrt(p.variance[i]))
					}
					return s.Has(t.place(i))
				})) > s.MeanBound
			}
			count.count("many/"+name+"/"+statement, di, fails)
		}
	}
	return nil
}

// where lists the places for which holds is true.
func (t truth) where(holds func(i int) bool) (in []int) {
	for i := range t.points() {
		if holds(i) {
			in = append(in, i)
		}
	}
	return in
}

// picked counts how often a slice fails that was picked after its rows were seen: of eight stretches of x, the half
// with the fewest misses. It counts the same with a price for the choice among seventy halves.
func (t truth) picked(m *krigo.Model, d *dataset.Data, rows []int, p predictions, count tallies) error {
	const stretches, halves = 8, 70
	x := make([]float64, len(rows))
	if err := d.Read(rows, x, nil); err != nil {
		return err
	}
	band := trialLosses[0]
	of := func(v float64) int { return min(int(stretches*v), stretches-1) }
	var n, misses [stretches]int
	for i, v := range x {
		n[of(v)]++
		misses[of(v)] += int(band.Point(p.certified.Y[i], p.certified.Mean[i], 0))
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7}
	slices.SortStableFunc(order, func(a, b int) int { return misses[a] - misses[b] })
	few := order[:stretches/2]
	rowsIn, missesIn := 0, 0
	for _, k := range few {
		rowsIn += n[k]
		missesIn += misses[k]
	}
	if rowsIn == 0 {
		return nil
	}
	risk := t.riskIn(band, m.Scaling, p.mean, t.where(func(i int) bool { return slices.Contains(few, of(t.place(i))) }))
	for di, delta := range trialDeltas {
		count.count("control/slices picked afterwards, unpaid", di, risk > pacbayes.ClopperPearson(missesIn, rowsIn, delta))
		count.count("valid/the same, paid with ln 70", di, risk > pacbayes.ClopperPearson(missesIn, rowsIn, delta/halves))
	}
	return nil
}

// looked counts how often a bound fails at any number of rows at which a person may look while rows come in: the
// first row, the first two, and so on.
func (t truth) looked(p predictions, risk float64, count tallies) {
	band := trialLosses[0]
	for di, delta := range trialDeltas {
		fixed, anytime, k := false, false, 0
		for i, y := range p.certified.Y {
			k += int(band.Point(y, p.certified.Mean[i], 0))
			least, most := pacbayes.Anytime(float64(k)/float64(i+1), i+1, delta)
			fixed = fixed || risk > pacbayes.ClopperPearson(k, i+1, delta)
			anytime = anytime || risk > most || risk < least
		}
		count.count("control/a bound of a fixed number of rows, looked at after each", di, fixed)
		count.count("valid/the bound at every number of rows at once", di, anytime)
	}
}
