package model

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Seen returns the rows of d that equal a row the model was made from.
func (m *Model) Seen(d *dataset.Data) ([]int, error) {
	hashes, _, err := d.Ordered(m.HashOrder).RowHashes(d.All())
	return lists.Where(len(hashes), func(i int) bool { return among(m.Rows, hashes[i]) }), err
}

// Copies counts rows that may not be independent draws.
type Copies struct {
	// rows that equal another row (of another group, if rows have groups) or a row that the model
	// was made from
	Repeats int
	Seen    int // rows that equal a row that the model was made from
	Groups  int // groups that the model was made from too
}

// Copies counts copies among the given rows of d, over all ranks.
func (m *Model) Copies(d *dataset.Data, rows []int) (c Copies, err error) {
	h, err := hashesOf(d.Ordered(m.HashOrder), rows)
	if err != nil {
		return c, err
	}
	for i, again := range h.repeated() {
		seen := among(m.Rows, h.rows[i])
		if seen {
			c.Seen++
		}
		if seen || again {
			c.Repeats++
		}
	}
	c.Groups = len(lists.If(h.names(), func(name uint64) bool { return among(m.Named, name) }))
	// Only the first rank has the hashes. The sum gives its counts to all ranks.
	counts := []float64{float64(c.Repeats), float64(c.Seen), float64(c.Groups)}
	err = d.Ranks().Sum(counts)
	return Copies{int(counts[0]), int(counts[1]), int(counts[2])}, err
}

// repeats counts the rows that the model was made from that equal another such row, of another
// group if rows have groups.
func (m *Model) repeats(d *dataset.Data, roles dataset.Roles) (n int, err error) {
	h, err := made(d, roles)
	if err != nil {
		return 0, err
	}
	count := []float64{float64(count(h.repeated()))}
	err = d.Ranks().Sum(count)
	return int(count[0]), err
}

// repeated returns the count of repeats from the stored hashes.
// Stored hashes don't name a row's group, so that a model with groups returns the count in its
// certificate.
func (m *Model) repeated() int {
	if m.Group != "" && m.Certificate != nil {
		return m.Certificate.Repeats
	}
	return count(hashed{rows: m.Rows}.repeated())
}
