package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

var (
	widthSets   = []string{"pol", "kin40k", "sarcos10k", "protein"}
	widthShares = []float64{0.9, 0.95}
	widthLosses = []pacbayes.Loss{{Kind: pacbayes.Band, Below: 0.6}, {Kind: pacbayes.Scaled, Below: 2}}
)

// promised says how well a promise does on test rows.
type promised struct {
	Width float64 `json:"width"` // mean half-width, in standard deviations of the target
	Holds float64 `json:"holds"` // share of the rows within the band
	Least float64 `json:"least"` // the same share among the fifth of the rows with the largest standard deviation
}

// widths compares promises of one width with promises whose width follows the model's standard deviation, for the
// same model and the same rows.
func widths(ctx context.Context, env Env) error {
	sets := widthSets
	if err := check("data set", env.Sets, sets); err != nil {
		return err
	}
	if env.Sets != nil {
		sets = env.Sets
	}
	var tasks []task[[]promised] // each task returns promises by share, then by loss
	for split := range env.reps(3) {
		for _, set := range sets {
			key := fmt.Sprintf("%s/%d", set, split)
			tasks = append(tasks, task[[]promised]{key,
				func(ctx context.Context) ([]promised, error) { return env.promises(ctx, key, set, split) }})
		}
	}
	results, err := runAll(ctx, env, "widths", tasks, nil)
	if err != nil {
		return err
	}
	header(env.Stdout, []string{"set", "promise", "splits", "mean half-width: constant", "scaled",
		"share of test rows within: constant", "scaled", "share of the least certain fifth: constant", "scaled"})
	for i, set := range sets {
		for j, share := range widthShares {
			row := []string{set, fmt.Sprint(share), fmt.Sprint(len(results) / len(sets))}
			for _, of := range []func(p promised) float64{func(p promised) float64 { return p.Width },
				func(p promised) float64 { return p.Holds }, func(p promised) float64 { return p.Least }} {
				for k := range widthLosses {
					var v []float64
					for n := i; n < len(results); n += len(sets) {
						v = append(v, of(results[n][j*len(widthLosses)+k]))
					}
					mean, _ := meanSE(v)
					row = append(row, fmt.Sprintf("%.3f", mean))
				}
			}
			line(env.Stdout, row)
		}
	}
	return nil
}

// promises fits a set once, and makes both kinds of promises with the model.
func (e Env) promises(ctx context.Context, key, set string, split int) (all []promised, err error) {
	table, err := e.table(set)
	if err != nil {
		return nil, err
	}
	m, err := e.fit(ctx, key, table, krigo.Options{Data: krigo.Data{Target: table.Names[len(table.Names)-1],
		TestFraction: 0.2}, Run: krigo.Run{Seed: uint64(split)}})
	if err != nil {
		return nil, err
	}
	d, err := m.Labelled(table)
	if err != nil {
		return nil, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	rows := d.RowsOf(roles, dataset.Test)
	x, y, err := d.Select(rows)
	if err != nil {
		return nil, err
	}
	ps, err := m.PredictAt(mat.NewDense(len(rows), d.Cols, x))
	if err != nil {
		return nil, err
	}
	var sds []float64
	for _, p := range ps {
		sds = append(sds, p.PredictiveSD)
	}
	fifth := slices.Sorted(slices.Values(sds))[len(sds)*4/5]
	for _, share := range widthShares {
		for _, loss := range widthLosses {
			with := *m
			with.Terms.Loss, with.Terms.EpsilonRaw, with.Terms.Promise = loss, loss.Below, share
			if loss.Kind == pacbayes.Band {
				with.Terms.EpsilonRaw *= m.Scaling.TargetScale
			}
			c, err := with.Model.Certify(d)
			if err != nil {
				return nil, err
			}
			var p promised
			least := 0.
			for i := range rows {
				w := c.Promise.HalfWidthRaw
				if c.Promise.Scaled {
					w *= sds[i]
				}
				n := float64(len(rows))
				p.Width += w / m.Scaling.TargetScale / n
				within := math.Abs(y[i]-ps[i].Mean) <= w
				if within {
					p.Holds += 1 / n
				}
				if sds[i] >= fifth {
					least++
					if within {
						p.Least++
					}
				}
			}
			p.Least /= least
			all = append(all, p)
		}
	}
	return all, nil
}
