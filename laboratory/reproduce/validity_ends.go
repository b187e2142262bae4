package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Statements about a further row, or about further groups one after the other, by the names of their tallies.
const anytimeGroups = "any time, groups"

// ends counts the sets for which one further row lies outside its interval of level 1 − δ. Over draws of the set and
// of the row, this is what such an interval promises. (jackknife+ promises 1 − 2δ, and reaches about 1 − δ.)
func (tr trial) ends(ctx context.Context, t truth, m *krigo.Model, table *dataset.Table, rng *rand.Rand,
	count tallies) error {
	if m.Conformal == nil {
		return nil
	}
	one := *tr.design
	one.units, one.sort = rowsOf(1), nil
	next := t.table(one.draw(t, rng), "")
	ps, err := m.Predict(ctx, next, krigo.PredictOptions{})
	if err != nil {
		return err
	}
	kinds := []string{"conformal", "normalised"}
	if m.NoWhole(0) == nil {
		kinds = append(kinds, krigo.FewRowKinds()...)
	}
	for di, delta := range trialDeltas {
		for _, kind := range kinds {
			is := []krigo.Interval{{Lower: next.Values[1], Upper: next.Values[1]}} // too few rows: no end
			switch {
			case slices.Contains(krigo.FewRowKinds(), kind):
				is, err = m.IntervalsOfFew(ctx, table, next, krigo.IntervalOptions{Kind: kind, Level: 1 - delta})
			case float64(m.Conformal.Rows+1)*delta >= 1:
				is, err = m.Intervals(ps, krigo.IntervalOptions{Kind: kind, Level: 1 - delta})
			}
			if err != nil {
				return err
			}
			count.count("many/"+tr.String()+"/"+kind, di, !(is[0].Lower <= next.Values[1] && next.Values[1] <= is[0].Upper))
		}
	}
	return nil
}

// groupByGroup counts the sets in which, after some number of complete groups, the risk lies outside the limits that
// hold at any time.
func (tr trial) groupByGroup(t truth, m *krigo.Model, table *dataset.Table, count tallies) error {
	if !m.Terms.MeanAlone() || m.Group == "" {
		return nil
	}
	p, err := t.predict(m, m.Posterior, table)
	if err != nil {
		return err
	}
	band, s := trialLosses[0], p.certified
	risk := t.risk(band, m.Scaling, p.mean, make([]float64, t.points()))
	losses, sizes := make([]float64, s.Groups), make([]float64, s.Groups)
	for i, g := range s.Group {
		losses[g] += band.Point(s.Y[i], s.Mean[i], 0)
		sizes[g]++
	}
	for di, delta := range trialDeltas {
		sum, fails := 0., false
		for g := range losses {
			sum += losses[g] / sizes[g]
			least, most := pacbayes.Anytime(min(sum/float64(g+1), 1), g+1, delta)
			fails = fails || risk < least || risk > most
		}
		count.count("many/"+tr.String()+"/"+anytimeGroups, di, fails)
	}
	return nil
}
