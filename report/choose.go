package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// At most mostRows rows of a kind are predicted, and fewer if that would take long.
const mostRows = 50_000

// sample predicts rows of the data. It keeps the values of some columns.
func (r *maker) sample(d *dataset.Data, k kind, columns []int) error {
	chosen := k.rows
	s := &sample{kind: k, all: len(chosen), values: map[int][]float64{},
		epsilon: "the certificate's ε"}
	if !r.Valid {
		s.epsilon = "ε"
	}
	// this takes some seconds
	if most := max(1000, min(mostRows, int(1e11/r.q.Work(true)))); len(chosen) > most {
		for i, k := range spread(most, len(chosen)) {
			chosen[i] = chosen[k]
		}
		chosen = chosen[:most]
	}
	s.rows = chosen
	loss := r.m.Terms.Loss
	counted := r.certified != nil && loss.IsZeroOne()
	for left := chosen; len(left) > 0; {
		n := min(len(left), max(1, mostNumbers/d.Cols))
		x, y, err := d.Select(left[:n])
		if err != nil {
			return err
		}
		whole, err := d.Whole(left[:n], y)
		if err != nil {
			return err
		}
		scale := model.TargetScale(loss, r.m.Scaling, whole)
		noises, err := r.m.KnownNoise(d.Scaled(left[:n], r.m.Scaling))
		if err != nil {
			return err
		}
		mean, variance, err := r.latent(x, true)
		if err != nil {
			r.warn("There are no figures of the %s: %v.", k.of, err)
			return nil
		}
		if err := d.Scaled(left[:n], r.m.Scaling).Expose(mean); err != nil {
			return err
		}
		left = left[n:]
		if noises == nil {
			noises = r.noises(x, mean, variance)
		}
		point, sds, err := r.m.Points(mean, variance, noises)
		if err != nil {
			return err
		}
		scaled := make([]float64, n)
		seen := make([]float64, n)
		r.m.Scaling.Standard(scaled, y)
		r.m.Scaling.Target(seen, y)
		for i, v := range scaled {
			sd := sds[i]
			z := (seen[i] - mean[i]) / sds[i]
			if r.m.Scaling.Transform != nil { // the noise of the transformed target is Gaussian
				noise := r.m.ObservationNoise
				if noises != nil {
					noise = noises[i]
				}
				z = (seen[i] - mean[i]) / math.Sqrt(variance[i]+noise)
			}
			if noise := r.m.Sited(); noise != nil {
				if z, err = noise.NormalScore(y[i], mean[i], variance[i],
					r.m.ObservationNoise); err != nil {
					return err
				}
			}
			s.scaled = append(s.scaled, v-point[i])
			s.z = append(s.z, z)
			if r.m.Classes != nil {
				log := r.m.Sited().LogPredictive(y[i], mean[i], variance[i], r.m.ObservationNoise)
				s.logLoss = append(s.logLoss, -log)
			}
			at := 0.
			if loss.Kind == pacbayes.Scaled {
				at = sd
			} else if scale != nil {
				at = scale[i]
			}
			if counted {
				s.miss = append(s.miss, loss.Point(v, point[i], at) > 0)
			}
		}
		for _, c := range columns {
			for i := range n {
				s.values[c] = append(s.values[c], r.columns[c].value(x[i*d.Cols:(i+1)*d.Cols]))
			}
		}
		predicted, err := r.raw(mean, variance)
		if err != nil {
			return err
		}
		s.y = append(s.y, y...)
		s.mean = append(s.mean, predicted...)
	}
	s.name = fmt.Sprintf("%s %s", whole(len(s.y)), s.of)
	if len(s.y) == 1 {
		s.name = "1 " + strings.Replace(s.of, "rows", "row", 1)
	}
	if s.all > len(s.y) {
		s.name = fmt.Sprintf("%s of %s %s, evenly spread", whole(len(s.y)), whole(s.all), s.of)
	}
	r.samples = append(r.samples, s)
	return nil
}

// choose finds the rows that the figures show.
// If the model was made from the data, these are the test rows and the certified rows, otherwise
// the rows that the model hasn't seen.
func (r *maker) choose(d *dataset.Data, columns []int) error {
	own, err := r.m.MadeFrom(d)
	if err != nil {
		return err
	}
	var kinds []kind
	if own {
		roles, err := r.m.RolesOf(d)
		if err != nil {
			return err
		}
		kinds = []kind{{"test rows", dataset.Test, true, d.RowsOf(roles, dataset.Test)},
			{r.kept(), dataset.Certified, r.m.Terms.Fixed, d.RowsOf(roles, dataset.Certified)}}
		if len(kinds[0].rows)+len(kinds[1].rows) == 0 { // every row trains
			kinds = []kind{{"rows that trained the model", noRole, false,
				d.RowsOf(roles, dataset.Prior)}}
		}
	} else {
		seen, err := r.m.Seen(d)
		if err != nil {
			return err
		}
		rows := slices.DeleteFunc(d.All(),
			func(i int) bool { _, found := slices.BinarySearch(seen, i); return found })
		kinds = []kind{{"rows of " + d.Source, noRole, true, rows}}
		if len(rows) == 0 {
			kinds = []kind{{"rows that the model was made from", noRole, false, d.All()}}
		}
	}
	fresh := false
	for _, k := range kinds {
		if fresh = fresh || (k.fresh && len(k.rows) > 0); len(k.rows) == 0 {
			continue
		}
		if err := r.sample(d, k, columns); err != nil {
			return err
		}
	}
	if !fresh && len(r.samples) > 0 {
		r.warn("The figures show rows that the model was trained on, and errors on further rows " +
			"are larger. Fit with --test-fraction, or give a file of rows that the model " +
			"hasn't seen.")
	}
	return nil
}

// kept names the rows of the role that certificates count.
// Without a certificate the name says how the fit used them.
func (r *maker) kept() string {
	switch {
	case r.m.Terms.Backtest:
		return "last rows"
	case r.certified != nil && r.Valid:
		return "certified rows"
	case r.m.Terms.Fixed:
		return "rows that weren't trained on"
	}
	return "rows that were trained on"
}

// main returns the sample whose residuals are drawn, or nil without data.
func (r *maker) main() *sample {
	if len(r.samples) == 0 {
		return nil
	}
	return r.samples[0]
}

// rug returns what some of the rows have in a column.
func (r *maker) rug(c column) []float64 {
	return lists.Of(spread(300, r.real.n()), func(i int) float64 { return c.value(r.real.at(i)) })
}

// points returns what at most the given number of rows have in two columns.
func (r *maker) points(most int, a, b column) []drawing.XY {
	return lists.Of(spread(most, r.real.n()), func(i int) drawing.XY {
		return drawing.XY{X: a.value(r.real.at(i)), Y: b.value(r.real.at(i))}
	})
}

// chartOf returns an empty chart over two columns.
func chartOf(a, b column) *drawing.Chart {
	chart := drawing.NewChart(a.name, b.name)
	chart.X.Ticks, chart.Y.Ticks = ticksOf(a), ticksOf(b)
	return chart
}
