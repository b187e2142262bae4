package model

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
)

// Near copies of a row hold the same observation again, but not to the bit: rounded otherwise, or jittered. What makes a
// pair of rows one isn't that it is near, as in any table with many rows some are, but a gap: hardly any more pairs are
// up to ten times as far apart. The pairs of rows that are drawn independently grow tenfold by then, or more, however
// dense they are, if one number of a row has a density; where none has, rows are equal or well apart.
//
// That is measured in every input and the target, in their standard deviations. The model's kernel and its noise won't
// do: an input that it hardly looks at would make near copies of the rows of a designed experiment, and a noise that
// was learnt from copies is as small as they are near.
const (
	apart      = 0.05 // pairs that are farther apart in something aren't looked at
	tenths     = 5    // near copies are those within 0.1, 0.01, … of apart
	leastNear  = 5    // copies of fewer rows may be chance,
	nearShare  = 0.05 // and so may those of a smaller share; one row that is near many zeros is one
	alikeShare = 0.05 // of all rows: who is near more of them isn't a copy, but where most rows are
	mostLooked = 1000 // certified rows that are looked at
)

// near counts, of the first certified rows, at most mostLooked, the near copies of other rows that the model was made
// from, of other groups where there are groups. There are none where rows are spread over ranks.
func (m *Model) near(d *dataset.Data, roles dataset.Roles) (int, error) {
	certified, all := d.RowsOf(roles, dataset.Certified), madeRows(d, roles)
	if d.Ranks().Size() > 1 {
		return 0, nil
	}
	read := func(rows []int) (x, y []float64, err error) {
		x, y = make([]float64, len(rows)*d.Cols), make([]float64, len(rows))
		return x, y, d.Scaled(rows, m.Scaling).Block(0, len(rows), x, y)
	}
	certified = certified[:min(len(certified), mostLooked)]
	x, y, err := read(certified)
	if err != nil {
		return 0, err
	}
	found := make([]nearest, len(certified))
	for rows := range slices.Chunk(all, blockRows(d.Cols)) {
		others, targets, err := read(rows)
		if err != nil {
			return 0, err
		}
		each(len(certified), func(i int) {
			for k, row := range rows {
				miss := math.Abs(y[i] - targets[k])
				if miss > apart || roles.Group != nil && roles.Group[row] == roles.Group[certified[i]] {
					continue
				}
				found[i].add(row, nearness(x[i*d.Cols:(i+1)*d.Cols], others[k*d.Cols:(k+1)*d.Cols], miss))
			}
		})
	}
	return gap(found, len(all)), nil
}

// nearest are a row's pairs with others, by how near these are, equal ones last, and the nearest one that isn't equal.
type nearest struct {
	pairs       [tenths + 2]int
	best, other int
}

func (of *nearest) add(row, t int) {
	if t < 0 {
		return
	}
	if of.pairs[t]++; of.best < t && t <= tenths {
		of.best, of.other = t, row
	}
}

// nearness says within how many tenths of apart two rows are whose targets differ by miss: tenths+1 if they are equal,
// −1 if they are farther apart. Rows with the same inputs and different targets are observations of one setting, and
// no copies.
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

// gap counts the rows nearer than a gap among the pairs of each row with all others; 0 if there is none.
func gap(found []nearest, all int) int {
	for t := 1; t <= tenths; t++ {
		rows, near, farther, copied := 0., 0, 0, map[int]bool{}
		for _, of := range found {
			if of.pairs[tenths+1] > 1 { // an exact copy, and counted as that: one is the row itself
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
		if float64(len(copied)) >= max(leastNear, nearShare*float64(len(found))) && near >= farther &&
			float64(near) <= alikeShare*rows*float64(all) {
			return int(rows)
		}
	}
	return 0
}
