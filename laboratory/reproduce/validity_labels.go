package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// Tables with three labels that aren't inputs. Rows with the same first label share an offset of the target. Rows with
// the same second label also share an offset. The third label says nothing. krigo looks at the table and chooses the
// label to certify. The number of rows is Poisson, and every row's labels are drawn independently. So for each label
// the groups are independent draws, given the offsets of the other label.
const (
	labels      = 3
	labelLevels = 60
	labelRows   = 240 // mean number of rows
	labelNoise  = 0.2
)

// labelled are tables for which krigo chooses the groups.
var labelled = &design{name: "groups found by krigo", sources: []source{{name: "labels", f: fourier,
	noise: gaussian(labelNoise)}}, oneSeed: true, plain: true, choose: chosenGroups}

// chosenGroups draws a table and lets krigo look for what ties its rows. It returns the table with the options of a
// fit with these groups, and with the truth about a further group. Without a tie the group is "".
func chosenGroups(ctx context.Context, t truth, o krigo.Options, rng *rand.Rand) (truth, *dataset.Table, krigo.Options,
	error) {
	n := 0
	for waited := rng.ExpFloat64(); waited < labelRows; waited += rng.ExpFloat64() {
		n++
	}
	d := &dataset.Table{Source: t.name, Names: []string{"x", "y"}, Rows: n, Lines: make([]int, n)}
	var sizes [labels]float64
	var offsets [labels][labelLevels]float64
	for k := range labels {
		name := fmt.Sprintf("label %d", k+1)
		d.Names, o.Data.Ignore = append(d.Names, name), append(o.Data.Ignore, name)
		if k < labels-1 {
			sizes[k] = 0.2 + 0.6*rng.Float64()
		}
		for j := range offsets[k] {
			offsets[k][j] = sizes[k] * rng.NormFloat64()
		}
	}
	for i := range n {
		x := t.place(rng.IntN(t.points()))
		row := []float64{x, t.f(x) + labelNoise*rng.NormFloat64()}
		for k := range labels {
			j := rng.IntN(labelLevels)
			row[1] += offsets[k][j]
			row = append(row, float64(j))
		}
		d.Values = append(d.Values, row...)
		d.Lines[i] = i + 2
	}
	found, err := krigo.Ties(ctx, d, krigo.Options{Data: o.Data})
	if err != nil {
		return t, nil, o, err
	}
	lost := 0.
	for _, tie := range found { // follows inspect's advice
		if group := tie.Group(); group != "" && (o.Data.Group == "" || tie.Lost() > lost) {
			o.Data.Group, lost = group, tie.Lost()
		}
	}
	o.Data.Ignore, t.shifts = nil, []float64{0}
	for k, name := range d.Names[2:] {
		if name == o.Data.Group {
			t.noise = func(float64) [2]component { return [2]component{{share: 1, sd: labelNoise, common: sizes[k]}} }
			continue
		}
		o.Data.Ignore = append(o.Data.Ignore, name)
		if sizes[k] > 0 {
			var sums []float64
			for _, s := range t.shifts {
				for _, e := range offsets[k] {
					sums = append(sums, s+e)
				}
			}
			t.shifts = sums
		}
	}
	return t, d, o, nil
}
