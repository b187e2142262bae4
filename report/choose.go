package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
)

// At most mostRows rows of a kind are predicted, and fewer if that would take long.
const mostRows = 50_000

// sample predicts rows of the data. It keeps the values of some columns.
func (r *maker) sample(d *dataset.Data, k kind, columns []int) error {
	s := &sample{kind: k, all: len(k.rows), values: map[int][]float64{},
		epsilon: spelling.Either(r.Valid, "the certificate's ε", "ε")}
	// this takes some seconds
	if most := max(1000, min(mostRows, int(1e11/r.q.Work(true)))); s.all > most {
		for i, k := range spread(most, s.all) {
			s.rows[i] = s.rows[k]
		}
		s.rows = s.rows[:most]
	}
	for rows := range slices.Chunk(s.rows, max(1, mostNumbers/d.Cols)) {
		b := block{rows: rows}
		var err error
		if b.x, b.y, err = d.Select(b.rows); err != nil {
			return err
		}
		if b.mean, b.variance, err = r.latent(b.x, true); err != nil {
			r.warn("There are no figures of the %s: %v.", k.of, err)
			return nil
		}
		if err := r.compare(s, d, b); err != nil {
			return err
		}
		for _, c := range columns {
			for row := range slices.Chunk(b.x, d.Cols) {
				s.values[c] = append(s.values[c], r.columns[c].value(row))
			}
		}
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

// block is rows of the data with their inputs and targets, and the mean and variance of f there.
type block struct {
	rows                 []int
	x, y, mean, variance []float64
}

// compare adds the rows of block b to a sample: observations, predictions, residuals in the
// target's scale, normal scores z, log losses of classes, and misses of the certificate's band.
func (r *maker) compare(s *sample, d *dataset.Data, b block) error {
	rows := d.Scaled(b.rows, r.m.Scaling)
	noises, err := r.m.KnownNoise(rows)
	if err != nil {
		return err
	}
	if err := rows.Shift(b.mean); err != nil {
		return err
	}
	if noises == nil {
		noises = r.noises(b.x, b.mean, b.variance)
	}
	if s.role != dataset.Certified { // what certified rows show of the GP made the stretch
		b.variance, noises = r.m.Stretched(b.variance, noises)
	}
	point, sds, err := r.m.Points(b.mean, b.variance, noises)
	if err != nil {
		return err
	}
	sizes, err := d.Sizes(b.rows, b.y)
	if err != nil {
		return err
	}
	loss := r.m.Terms.Loss
	scale := model.TargetScale(loss, r.m.Scaling, sizes)
	// such a loss counts predictive standard deviations
	if loss.Kind.OwnSD() {
		scale = sds
	}
	scaled := make([]float64, len(b.y))
	seen := make([]float64, len(b.y))
	r.m.Scaling.Standard(scaled, b.y)
	r.m.Scaling.Target(seen, b.y)
	for i, v := range scaled {
		s.scaled = append(s.scaled, v-point[i])
		// residual in the units that the model sees, which a transform may have made
		residual := seen[i] - b.mean[i]
		z := residual / sds[i]
		noise := r.m.ObservationNoise
		switch sited := r.m.Sited(); {
		case sited != nil:
			z, err = sited.NormalScore(b.y[i], b.mean[i], b.variance[i], noise)
		case r.m.Scaling.Transform != nil && noises != nil:
			noise = noises[i]
			fallthrough
		case r.m.Scaling.Transform != nil: // the noise of the transformed target is Gaussian
			z = residual / math.Sqrt(b.variance[i]+noise)
		}
		if err != nil {
			return err
		}
		s.z = append(s.z, z)
		if r.m.Classes != nil {
			log := r.m.Sited().LogPredictive(b.y[i], b.mean[i], b.variance[i], noise)
			s.logLoss = append(s.logLoss, -log)
		}
		if r.certified != nil && loss.IsZeroOne() {
			s.miss = append(s.miss, loss.Point(v, point[i], lists.At(scale, i, 0)) > 0)
		}
	}
	predicted, err := r.raw(b.mean, b.variance)
	s.y = append(s.y, b.y...)
	s.mean = append(s.mean, predicted...)
	return err
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
	// A model's own data have roles. Only rows that the mean hasn't seen show errors as further
	// rows have them.
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
		// rows of another table, without those that the model was made from
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
