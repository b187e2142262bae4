package files

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// perRank stands in a path for the number of a rank that has a file of its own.
const perRank = "%d"

// ReadPart is [ReadFile] for one rank of several, whose tables together are one. Each has a file
// of its own where the path holds %d, which stands for the rank's number; the rows follow in the
// order of ranks. Otherwise each has an equal share of the rows of the one file, in order; of an NPY
// file it reads nothing else, of others it keeps nothing else. What is computed from the table, from
// [dataset.Table.Regression] on, is collective: all ranks compute it together.
func ReadPart(path string, r ranks.Ranks, as dataset.Reading) (*dataset.Table, error) {
	own := strings.Contains(path, perRank)
	if r.Size() == 1 && !own {
		return ReadFile(path, as)
	}
	table, err := readOwn(path, own, r, as)
	if err = r.Agree(err); err != nil {
		return nil, err
	}
	return table, table.Spread(r, !own)
}

// readOwn reads the whole file of a rank, or of all.
func readOwn(path string, own bool, r ranks.Ranks, as dataset.Reading) (*dataset.Table, error) {
	if !own {
		return ReadFile(path, as)
	}
	next := strings.ReplaceAll(path, perRank, strconv.Itoa(r.Size()))
	if _, err := os.Stat(next); err == nil {
		return nil, fmt.Errorf("%s: there are %d ranks, of which none reads it: start a rank for each file", next, r.Size())
	}
	table, err := ReadFile(strings.ReplaceAll(path, perRank, strconv.Itoa(r.Rank())), as)
	if err != nil {
		return nil, err
	}
	if err := alike(table, as); err != nil { // no rank sees another's file
		table.Close()
		return nil, err
	}
	return table, nil
}

// alike refuses what ranks would each find out for themselves from a file of their own, and not in the same way.
func alike(table *dataset.Table, as dataset.Reading) error {
	if as.Distinct {
		return fmt.Errorf("%s: rows that repeat one of another rank's file can't be left out: write all rows to one file",
			table.Source)
	}
	for i, d := range as.Dates {
		if form := table.Reading().Dates[i].Form; form != d.Form {
			return fmt.Errorf("%s: column %q: each rank would choose the form of dates by its own file: say which, as %s:%s",
				table.Source, spelling.Clip(d.Column), spelling.Clip(d.Column), form)
		}
	}
	return nil
}
