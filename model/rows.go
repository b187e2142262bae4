package model

import (
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/ranks"
)

// hashed are the hashes of rows, of all ranks on the first one and sorted; where rows are grouped those
// of each row's group beside them.
type hashed struct {
	rows, groups []uint64
}

func hashesOf(d *dataset.Data, rows []int) (h hashed, err error) {
	if h.rows, h.groups, err = d.RowHashes(rows); err != nil {
		return h, err
	}
	if h.rows, err = ranks.Gather(d.Ranks(), h.rows); err != nil {
		return h, err
	}
	if d.Ranks().Rank() > 0 {
		h.rows = nil
	}
	if h.groups == nil {
		h.rows = slices.Clone(h.rows)
		slices.Sort(h.rows)
		return h, nil
	}
	order := make([]int, len(h.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if h.rows[a] < h.rows[b] {
			return -1
		} else if h.rows[a] > h.rows[b] {
			return 1
		}
		return 0
	})
	sorted := hashed{make([]uint64, len(order)), make([]uint64, len(order))}
	for k, i := range order {
		sorted.rows[k], sorted.groups[k] = h.rows[i], h.groups[i]
	}
	return sorted, nil
}

// names are the hashes of the groups, each once.
func (h hashed) names() []uint64 {
	names := slices.Clone(h.groups)
	slices.Sort(names)
	return slices.Compact(names)
}

// repeated says which rows equal another one: of another group, where rows are grouped, since those of one
// group needn't be independent.
func (h hashed) repeated() []bool {
	of := make([]bool, len(h.rows))
	for i := 0; i < len(h.rows); {
		j := i + 1
		same := true // group
		for j < len(h.rows) && h.rows[j] == h.rows[i] {
			same = same && h.groups != nil && h.groups[j] == h.groups[i]
			j++
		}
		for k := i; k < j; k++ {
			of[k] = j-i > 1 && !same
		}
		i = j
	}
	return of
}

// HashRows returns the hashes of the rows a model with these roles is made from, and of their groups, in
// ascending order: on the first rank, for the model file; the others have none.
func HashRows(d *dataset.Data, roles dataset.Roles) (rows, groups []uint64, err error) {
	h, err := made(d, roles)
	return h.rows, h.names(), err
}

// made are the hashes of all but the test rows.
func made(d *dataset.Data, roles dataset.Roles) (hashed, error) {
	return hashesOf(d, slices.DeleteFunc(d.All(), func(i int) bool { return roles.Of[i] == dataset.Test }))
}

// Seen returns the rows of d that equal a row the model was made from.
func (m *Model) Seen(d *dataset.Data) ([]int, error) {
	hashes, _, err := d.RowHashes(d.All())
	var seen []int
	for i, h := range hashes {
		if _, found := slices.BinarySearch(m.Rows, h); found {
			seen = append(seen, i)
		}
	}
	return seen, err
}

// Copies are rows that may not be the independent draws they are taken for.
type Copies struct {
	Repeats int // rows that equal another one (of another group, where there are groups), or one that the model was made from
	Seen    int // rows of the second kind
	Groups  int // groups that the model was made from
}

// Copies counts those among the rows, of all ranks.
func (m *Model) Copies(d *dataset.Data, rows []int) (c Copies, err error) {
	h, err := hashesOf(d, rows)
	if err != nil {
		return c, err
	}
	known := func(hashes []uint64, h uint64) bool {
		_, found := slices.BinarySearch(hashes, h)
		return found
	}
	for i, again := range h.repeated() {
		seen := known(m.Rows, h.rows[i])
		if seen {
			c.Seen++
		}
		if seen || again {
			c.Repeats++
		}
	}
	for _, name := range h.names() {
		if known(m.Named, name) {
			c.Groups++
		}
	}
	// The first rank, which has the hashes, tells all.
	counts := []float64{float64(c.Repeats), float64(c.Seen), float64(c.Groups)}
	err = d.Ranks().Sum(counts)
	return Copies{int(counts[0]), int(counts[1]), int(counts[2])}, err
}

// repeats counts the rows the model was made from that equal another one, of another group where there
// are groups.
func (m *Model) repeats(d *dataset.Data, roles dataset.Roles) (n int, err error) {
	h, err := made(d, roles)
	if err != nil {
		return 0, err
	}
	count := []float64{float64(count(h.repeated()))}
	err = d.Ranks().Sum(count)
	return int(count[0]), err
}

// repeated is repeats by the stored hashes, which don't tell groups: what the certificate has, then.
func (m *Model) repeated() int {
	if m.Group != "" && m.Certificate != nil {
		return m.Certificate.Repeats
	}
	return count(hashed{rows: m.Rows}.repeated())
}

func count(of []bool) (n int) {
	for _, b := range of {
		if b {
			n++
		}
	}
	return n
}
