package model

import (
	"cmp"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/ranks"
)

// hashed holds the hashes of the rows of all ranks, in ascending order, on the first rank.
// If rows have groups, groups holds the hash of each row's group.
type hashed struct {
	rows, groups []uint64
}

// hashesOf returns the hashes of rows on all ranks, gathered on the first rank and sorted. Groups'
// hashes, if any, keep to their rows.
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
	order := lists.Order(h.rows, cmp.Compare)
	return hashed{lists.Of(order, func(i int) uint64 { return h.rows[i] }),
		lists.Of(order, func(i int) uint64 { return h.groups[i] })}, nil
}

// among says whether h is one of hashes, which are in ascending order.
func among(hashes []uint64, h uint64) bool {
	_, found := slices.BinarySearch(hashes, h)
	return found
}

// names returns the hashes of the groups in ascending order, each once.
func (h hashed) names() []uint64 {
	names := slices.Clone(h.groups)
	slices.Sort(names)
	return slices.Compact(names)
}

// repeated says which rows equal another row.
// If rows have groups, an equal row of the same group doesn't count, since rows of a group may
// depend on one another.
func (h hashed) repeated() []bool {
	of := make([]bool, len(h.rows))
	for i := 0; i < len(h.rows); {
		j := i + 1
		same := true // whether all these rows are of one group
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

// HashRows returns the hashes of the rows that a model with these roles is made from, and of their
// groups, in ascending order, for the model file.
// It returns them on the first rank, and nothing on the other ranks.
func HashRows(d *dataset.Data, roles dataset.Roles) (rows, groups []uint64, err error) {
	h, err := made(d, roles)
	return h.rows, h.names(), err
}

// made returns the hashes of all rows except test rows.
func made(d *dataset.Data, roles dataset.Roles) (hashed, error) {
	return hashesOf(d, madeRows(d, roles))
}

// madeRows returns the numbers of all rows except test rows.
func madeRows(d *dataset.Data, roles dataset.Roles) []int {
	return slices.DeleteFunc(d.All(), func(i int) bool { return roles.Of[i] == dataset.Test })
}

// count returns how many are true.
func count(of []bool) int { return len(lists.If(of, func(b bool) bool { return b })) }
