package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/ranks"
)

// Spread makes tables that ranks have read one that is spread over them. Where each has read all rows, whole, it keeps
// an equal share of them, in order; otherwise the rows follow in the order of ranks. After an error the table is
// closed.
func (t *Table) Spread(r ranks.Ranks, whole bool) error {
	err := t.keepPart(r, whole)
	if err = r.Agree(err); err == nil {
		err = t.join(r)
	}
	if err != nil {
		t.Close()
	}
	return err
}

// join numbers the rows among those of all ranks. The columns are those of the first rank.
func (t *Table) join(r ranks.Ranks) error {
	names, err := ranks.Bytes(r, 0, []byte(strings.Join(t.Names, "\n")))
	if err != nil {
		return err
	}
	if string(names) != strings.Join(t.Names, "\n") {
		err = fmt.Errorf("%s: %s, not those of the first rank's file", t.Source, t.describeColumns())
	}
	if err = r.Agree(err); err != nil {
		return err
	}
	t.part.first, t.Rows, err = ranks.Place(r, t.part.rows)
	return err
}

// keepPart keeps the rows that this rank has.
func (t *Table) keepPart(r ranks.Ranks, whole bool) error {
	t.part = &part{ranks: r, rows: t.Rows}
	if !whole {
		return nil
	}
	first := r.Rank() * t.Rows / r.Size()
	n := (r.Rank()+1)*t.Rows/r.Size() - first
	if n == 0 {
		return errors.New(t.Source + ": fewer rows than ranks: use fewer ranks")
	}
	t.part = &part{ranks: r, first: first, rows: n, inFile: first, held: first}
	if t.Disk == nil {
		cols := len(t.Names)
		t.part.held = 0
		t.Values = slices.Clone(t.Values[first*cols : (first+n)*cols])
		if t.Lines != nil {
			t.Lines = slices.Clone(t.Lines[first : first+n])
		}
	}
	return nil
}
