package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// A design says how the rows of a training set are drawn, and in which order they stand.
type design struct {
	name    string
	sources []source
	units   func(rng *rand.Rand) int // draws the number of rows, or of groups
	sort    func(a, b xyg) int       // order of the rows in the file; nil: the order in which they were drawn

	// size draws the number of rows of a group. common is what the rows share, in standard deviations. If size is nil,
	// each row is its own group.
	size     func(rng *rand.Rand, common float64) int
	onePlace bool // all rows of a group have the same x

	// oneSeed fits all sets with the default seed, so that only the draw of the rows is random. Otherwise each set
	// has its own seed.
	oneSeed bool

	mistake *mistake // a mistake that such rows invite

	// cells is the number of cells, or 0 for none. A cell has two places, and a group lies in one cell. block is
	// krigo's name for the cells.
	cells int
	block string

	plain bool // of the statements about the rows, tries only the default inequality, betting, and the default loss

	// choose, unless nil, draws a table instead of draw, with options that group it.
	choose func(ctx context.Context, t truth, o krigo.Options, rng *rand.Rand) (truth, *dataset.Table, krigo.Options,
		error)
}

// A mistake is a way to fit rows that gives a certificate which doesn't hold. undo returns the rows and options for the
// mistake. m is the model without the mistake.
type mistake struct {
	wrong, right string
	undo         func(rows []xyg, o krigo.Options, m *krigo.Model) ([]xyg, krigo.Options, error)
}

var (
	// byPosition assigns roles as an old version of krigo did. It orders the rows so that a backtest has these roles.
	byPosition = &mistake{"roles by position", "roles by content",
		func(rows []xyg, o krigo.Options, m *krigo.Model) (dealt []xyg, _ krigo.Options, err error) {
			roles, err := dataset.DealByPosition(len(rows), o.Run.Seed, dataset.Counts{dataset.Prior: m.Counts[dataset.Prior]})
			for _, role := range []dataset.Role{dataset.Prior, dataset.Certified} {
				for i, other := range roles {
					if other == role {
						dealt = append(dealt, rows[i])
					}
				}
			}
			o.Data.Split = "last"
			return dealt, o, err
		}}
	rowByRow = &mistake{"each row counted", "each group counted",
		func(rows []xyg, o krigo.Options, _ *krigo.Model) ([]xyg, krigo.Options, error) {
			o.Data.Group = ""
			return rows, o, nil
		}}
)

// try takes the right model m, fits the rows by the mistake as well, and counts which certificates of the mean fail.
func (k *mistake) try(ctx context.Context, name string, t truth, rows []xyg, o krigo.Options, m *krigo.Model,
	count tallies) error {
	one := func(key string, m *krigo.Model, table *dataset.Table) error {
		p, err := t.predict(m, m.Posterior, table)
		if err != nil {
			return err
		}
		risk, terms := t.risk(m.Terms.Loss, m.Scaling, p.mean, make([]float64, t.points())), m.Terms
		for di, delta := range trialDeltas {
			terms.Delta = delta
			c, err := terms.Certify(p.certified, m.Posterior.KL()+m.Posterior.KLRounding())
			if err != nil {
				return err
			}
			count.count(key, di, risk > c.MeanBound)
		}
		return nil
	}
	if err := one("valid/"+name+": "+k.right, m, t.table(rows, o.Data.Group)); err != nil {
		return err
	}
	rows, o, err := k.undo(rows, o, m)
	if err != nil {
		return err
	}
	table := t.table(rows, o.Data.Group)
	if m, err = krigo.Fit(ctx, table, o); err != nil {
		return err
	}
	return one("control/"+name+": "+k.wrong, m, table)
}

// xyg is x, y and the number of the group.
type xyg struct{ x, y, group float64 }

const groupColumn = "group"

// independent rows have no order, and every set has its own seed.
var independent = &design{name: "independent", sources: sources,
	units: func(rng *rand.Rand) int { return 80 + rng.IntN(121) }}

// logNormal rows are independent, and their logarithms have Gaussian noise.
var logNormal = &design{name: "log-normal", sources: []source{
	{name: "log-normal", f: fourier, noise: gaussian(0.3), logs: true},
	{name: "log-normal, heteroskedastic", f: fourier, logs: true, noise: func(x float64) [2]component {
		return [2]component{{share: 1, sd: 0.1 + 0.8*x}}
	}}}, units: independent.units}

// In a sorted file, a role that depends on a row's place depends on the row's rank. One seed then certifies the same
// ranks of every set. With an informed prior's share, seed 0 certifies 3 of the highest 37 of 181 rows (11 would be
// expected), and 5 of the lowest 36 of 132 (10.6 would be expected). In these designs, these ranks hold the misses.
var (
	byTarget = &design{
		name: "sorted by target",
		sources: []source{{name: "outliers above", f: fourier, noise: func(float64) [2]component {
			return [2]component{{share: 0.83, sd: 0.1}, {share: 0.17, mean: 20, sd: 1}}
		}}},
		units: rowsOf(181), sort: xyg.byTarget, oneSeed: true, mistake: byPosition,
	}
	byInput = &design{
		name: "sorted by input",
		sources: []source{{name: "falling noise", f: fourier, noise: func(x float64) [2]component {
			size := 6 / (1 + math.Exp(80*(x-0.28)))
			return [2]component{{share: 0.5, mean: size, sd: 0.2}, {share: 0.5, mean: -size, sd: 0.2}}
		}}},
		units: rowsOf(132), sort: func(a, b xyg) int { return cmp.Compare(a.x, b.x) }, oneSeed: true, mistake: byPosition,
	}
	// discrete sets have six different rows. If roles depended only on a row's content and count, almost all rows
	// would have the same role in every set.
	discrete = &design{
		name: "discrete",
		sources: []source{{name: "three places, 0 or 1", f: zero, places: 3, noise: func(x float64) [2]component {
			p := 0.12 + 0.08*x
			return [2]component{{share: 1 - p}, {share: p, mean: 1}}
		}}},
		units: rowsOf(181), sort: xyg.byTarget, oneSeed: true, mistake: byPosition,
	}
)

func rowsOf(n int) func(*rand.Rand) int { return func(*rand.Rand) int { return n } }

func (a xyg) byTarget(b xyg) int { return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x)) }

func zero(*rand.Rand) func(float64) float64 { return func(float64) float64 { return 0 } }

// Each group has its own offset, the same for all its rows.
var (
	offsets = []source{
		{name: "offsets", f: fourier, noise: func(float64) [2]component {
			return [2]component{{share: 1, sd: 0.1,
				common: 0.7}}
		}},
		{name: "some large offsets", f: fourier, noise: func(float64) [2]component {
			return [2]component{{share: 0.8, sd: 0.1, common: 0.2}, {share: 0.2, sd: 0.1, common: 3}}
		}},
	}
	inGroups = &design{name: "groups", sources: offsets, units: someGroups, size: anySize, oneSeed: true,
		mistake: rowByRow}
	inPlaces = &design{name: "groups of one place", sources: offsets, units: someGroups, size: anySize, onePlace: true,
		oneSeed: true, mistake: rowByRow}
	// bySize: groups are larger the nearer their offset is to 0. The mean loss over rows is then less than the mean
	// over groups, which the certificate is about.
	bySize = &design{name: "groups sized by offset", sources: offsets, units: someGroups,
		size: func(_ *rand.Rand, common float64) int {
			return max(1, 8-int(6*math.Abs(common)))
		}, oneSeed: true, mistake: rowByRow}
)

// inBlocks are places far apart, among a thousand, each with its own offset. krigo's input is x, and krigo knows the
// places only by their blocks.
var inBlocks = &design{name: "blocks", sources: []source{{name: "places", f: fourier, places: 2 * manyCells,
	step: 1. / (2 * manyCells), noise: offsets[0].noise}}, units: someGroups, size: anySize, plain: true, cells: manyCells,
	block: fmt.Sprintf("block:x:%g", 1./manyCells), oneSeed: true, mistake: rowByRow}

const manyCells = 1024 // a power of two, so that places and ends of blocks are exact in float64

func someGroups(rng *rand.Rand) int { return 40 + rng.IntN(41) }

func anySize(rng *rand.Rand, _ float64) int { return 1 + rng.IntN(8) }

// draw draws the rows of a set.
func (d *design) draw(t truth, rng *rand.Rand) (rows []xyg) {
	cells := rng.Perm(d.cells)
	for g := range d.units(rng) {
		common, size := 0., 1
		if d.size != nil {
			common = rng.NormFloat64()
			size = d.size(rng, common)
		}
		var x, which float64
		for k := range size {
			if k == 0 || !d.onePlace {
				if d.cells > 0 {
					x = t.place(2*cells[g] + rng.IntN(2))
				} else {
					x = t.place(rng.IntN(t.points()))
				}
			}
			if k == 0 {
				which = rng.Float64()
			}
			c := t.noise(x)
			part := c[0]
			if which >= c[0].share {
				part = c[1]
			}
			rows = append(rows, xyg{x, t.f(x) + part.mean + part.common*common + part.sd*rng.NormFloat64(), float64(g)})
		}
	}
	if d.sort != nil {
		slices.SortStableFunc(rows, d.sort)
	}
	return rows
}

// table returns the rows as a table, with their groups if group names a column.
func (t truth) table(rows []xyg, group string) *dataset.Table {
	d := &dataset.Table{Source: t.name, Names: []string{"x", "y"}, Rows: len(rows), Lines: make([]int, len(rows))}
	if group == groupColumn {
		d.Names = append(d.Names, group)
	}
	for i, r := range rows {
		if t.logs {
			r.y = math.Exp(r.y)
		}
		d.Values = append(d.Values, []float64{r.x, r.y, r.group}[:len(d.Names)]...)
		d.Lines[i] = i + 2
	}
	return d
}
