package dataset

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/ranks"
)

// perRank stands in a path for the number of a rank that has a file of its own.
const perRank = "%d"

// ReadPart is ReadFile for one rank of several, whose tables together are one. Each has a file
// of its own where the path holds %d, which stands for the rank's number; the rows follow in the
// order of ranks. Otherwise each has an equal share of the rows of the one file, in order; of an NPY
// file it reads nothing else, of others it keeps nothing else. What is computed from the table, from
// [Table.Regression] on, is collective: all ranks compute it together.
func ReadPart(path string, r ranks.Ranks) (*Table, error) { return Reading{}.ReadPart(path, r) }

// ReadPart is [ReadPart] of a table whose cells are written so.
func (of Reading) ReadPart(path string, r ranks.Ranks) (*Table, error) {
	if r.Size() == 1 && !strings.Contains(path, perRank) {
		return of.ReadFile(path)
	}
	table, err := of.readPart(path, r)
	if err = r.Agree(err); err != nil {
		return nil, err
	}
	// The columns are those of the first rank.
	names, err := ranks.Bytes(r, 0, []byte(strings.Join(table.Names, "\n")))
	if err != nil {
		return nil, err
	}
	if string(names) != strings.Join(table.Names, "\n") {
		err = fmt.Errorf("%s: %s, not those of the first rank's file", table.Source, table.describeColumns())
	}
	if err = r.Agree(err); err != nil {
		return nil, err
	}
	p := table.part
	p.first, table.Rows, err = ranks.Place(r, p.rows)
	return table, err
}

func (of Reading) readPart(path string, r ranks.Ranks) (*Table, error) {
	var share func(rows int) (first, n int)
	if strings.Contains(path, perRank) {
		next := strings.ReplaceAll(path, perRank, strconv.Itoa(r.Size()))
		if _, err := os.Stat(next); err == nil {
			return nil, fmt.Errorf("%s: there are %d ranks, of which none reads it: start a rank for each file", next, r.Size())
		}
		path = strings.ReplaceAll(path, perRank, strconv.Itoa(r.Rank()))
	} else {
		share = func(rows int) (first, n int) {
			first = r.Rank() * rows / r.Size()
			return first, (r.Rank()+1)*rows/r.Size() - first
		}
	}
	table, err := of.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if share == nil { // no rank sees another's file
		err = of.alike(table)
	}
	if err != nil {
		table.Close()
		return nil, err
	}
	table.part = &part{rows: table.Rows}
	if share != nil {
		if err := table.take(share); err != nil {
			table.Close()
			return nil, err
		}
	}
	table.part.ranks = r
	return table, nil
}

// alike refuses what ranks would each find out for themselves from a file of their own, and not in the same way.
func (of Reading) alike(table *Table) error {
	if of.Distinct {
		return fmt.Errorf("%s: rows that repeat one of another rank's file can't be left out: write all rows to one file",
			table.Source)
	}
	for i, d := range of.Dates {
		if form := table.reading.Dates[i].Form; form != d.Form {
			return fmt.Errorf("%s: column %q: each rank would choose the form of dates by its own file: say which, as %s:%s",
				table.Source, clip(d.Column), clip(d.Column), form)
		}
	}
	return nil
}

// take makes a share of the rows those that this rank has.
func (t *Table) take(share func(rows int) (first, n int)) error {
	first, n := share(t.Rows)
	if n == 0 {
		return errors.New(t.Source + ": fewer rows than ranks: use fewer ranks")
	}
	t.part = &part{first: first, rows: n, inFile: first, held: first}
	if t.disk == nil {
		cols := len(t.Names)
		t.part.held = 0
		t.Values = slices.Clone(t.Values[first*cols : (first+n)*cols])
		if t.Lines != nil {
			t.Lines = slices.Clone(t.Lines[first : first+n])
		}
	}
	return nil
}
