package model

import (
	"context"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/observation"
)

// A near copy of a row holds the same observation again, but not to the bit, because somebody
// rounded it otherwise or jittered it. Nearness alone doesn't show a copy, since any table with
// many rows has rows that are near one another. A gap shows a copy:
// hardly any further pairs of rows are up to ten times as far apart.
// If rows are drawn independently, and a number in the rows has a density, then at least ten times
// as many pairs are within ten times the distance, however dense the rows are.
// If no number has a density, rows are equal or well apart.
//
// Distances are measured in every input and the target, in standard deviations.
// The model's kernel and noise can't measure them.
// If the kernel hardly uses an input, rows of a designed experiment would seem near copies.
// A noise that was learnt from copies is as small as the distances between copies.
const (
	apart     = 0.05 // pairs that are farther apart in an input or the target are ignored
	tenths    = 5    // near copies are within apart/10, apart/100, … apart/10^tenths
	leastNear = 5    // copies of fewer rows may be chance
	// copies of a smaller share of rows may be chance too; copies of one row count once
	nearShare  = 0.05
	alikeShare = 0.05 // rows near a larger share of all rows are a crowd and no copies
	mostLooked = 1000 // most certified rows that are looked at
)

// near counts the near copies among the first mostLooked certified rows.
// It compares these rows with all rows that the model was made from, except rows of the same group.
// It returns 0 if rows are spread over ranks.
func (m *Model) near(d *dataset.Data, roles dataset.Roles) (int, error) {
	certified := d.RowsOf(roles, dataset.Certified)
	all := madeRows(d, roles)
	if d.Ranks().Size() > 1 {
		return 0, nil
	}
	read := func(rows []int) (x, y []float64, err error) {
		x = make([]float64, len(rows)*d.Cols)
		y = make([]float64, len(rows))
		return x, y, d.Scaled(rows, m.Scaling).Block(0, len(rows), x, y)
	}
	certified = certified[:min(len(certified), mostLooked)]
	x, y, err := read(certified)
	if err != nil {
		return 0, err
	}
	found := make([]nearest, len(certified))
	// Blocks of rows bound the memory. The cost is mostLooked times the number of rows.
	for rows := range slices.Chunk(all, observation.BlockRows(d.Cols)) {
		others, targets, err := read(rows)
		if err != nil {
			return 0, err
		}
		observation.Each(context.Background(), len(certified), func(i int) {
			for k, row := range rows {
				miss := math.Abs(y[i] - targets[k])
				if miss > apart || (roles.Group != nil &&
					roles.Group[row] == roles.Group[certified[i]]) {
					continue
				}
				found[i].add(row, nearness(x[i*d.Cols:(i+1)*d.Cols], others[k*d.Cols:(k+1)*d.Cols],
					miss))
			}
		})
	}
	return gap(found, len(all)), nil
}

// nearest counts a row's pairs with other rows by nearness.
// other is the nearest row that isn't equal, and best is its nearness.
type nearest struct {
	pairs       [tenths + 2]int
	best, other int
}

// add counts a pair with row, whose nearness is t. A negative t isn't counted. A t above tenths
// means that the rows are equal, so it never becomes best.
func (of *nearest) add(row, t int) {
	if t < 0 {
		return
	}
	if of.pairs[t]++; of.best < t && t <= tenths {
		of.best = t
		of.other = row
	}
}

// nearness returns the largest t ≤ tenths for which two rows are within apart/10^t.
// miss is the distance of their targets. It returns tenths+1 for equal rows, and −1 for rows
// farther apart than apart. It also returns −1 for rows with the same inputs and different targets,
// which are observations of one setting and no copies.
func nearness(a, b []float64, miss float64) (t int) {
	most := 0.
	for j, v := range a {
		if most = max(most, math.Abs(v-b[j])); most > apart {
			return -1
		}
	}
	if most == 0 && miss > 0 {
		return -1
	}
	most = max(most, miss)
	for limit := apart / 10; most <= limit && t < tenths; limit /= 10 {
		t++
	}
	if most == 0 {
		t++
	}
	return t
}

// gap looks for a gap in the distances, and counts the rows nearer to another row than the gap;
// 0 without a gap.
func gap(found []nearest, all int) int {
	for t := 1; t <= tenths; t++ {
		rows := 0.
		near := 0
		farther := 0
		copied := map[int]bool{}
		for _, of := range found {
			// another row equals it, which Repeats counts; one pair is the row itself
			if of.pairs[tenths+1] > 1 {
				continue
			}
			for _, n := range of.pairs[t : tenths+1] {
				near += n
			}
			if of.best >= t {
				copied[of.other] = true
				rows++
			}
			farther += of.pairs[t-1]
		}
		if float64(len(copied)) >= max(leastNear, nearShare*float64(len(found))) &&
			near >= farther && float64(near) <= alikeShare*rows*float64(all) {
			return int(rows)
		}
	}
	return 0
}
