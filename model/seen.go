package model

import "github.com/krigo-gp/krigo/dataset"

// Seen returns the rows of d that equal a row the model was made from.
func (m *Model) Seen(d *dataset.Data) ([]int, error) {
	hashes, _, err := d.RowHashes(d.All())
	var seen []int
	for i, h := range hashes {
		if among(m.Rows, h) {
			seen = append(seen, i)
		}
	}
	return seen, err
}

// Copies are rows that may not be the independent draws they are taken for.
type Copies struct {
	// rows that equal another one (of another group, where there are groups), or one that the model was made from
	Repeats int
	Seen    int // rows of the second kind
	Groups  int // groups that the model was made from
}

// Copies counts those among the given rows of d, of all ranks.
func (m *Model) Copies(d *dataset.Data, rows []int) (c Copies, err error) {
	h, err := hashesOf(d, rows)
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
	for _, name := range h.names() {
		if among(m.Named, name) {
			c.Groups++
		}
	}
	// The first rank, which has the hashes, tells all.
	counts := []float64{float64(c.Repeats), float64(c.Seen), float64(c.Groups)}
	err = d.Ranks().Sum(counts)
	return Copies{int(counts[0]), int(counts[1]), int(counts[2])}, err
}

// repeats counts the rows the model was made from that equal another one, of another group where there are groups.
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
