// Package files reads tables from files and writes them. A kind of file is a [Format], a value that [Register] makes
// known: CSV, gzip of it, NPY and NPZ are registered here, Parquet by package dataset/parquet where that is imported.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// ReadFile reads a table from a file of a registered [Format], told by its first bytes or its
// ending, or else of CSV (see [CSV]). All but NPY are read into memory, as are the
// formats of packages of their own, such as Parquet. Of an NPY file the rows stay on disk until they
// are needed: it is an array of records with named fields, or a matrix, whose columns are
// named c1, c2, … . The fields are numbers: <f8, <f4, or whole ones. Cells that are missing or text
// are found when their column is read for something else.
func ReadFile(path string, as dataset.Reading) (*dataset.Table, error) {
	if err := as.Check(); err != nil {
		return nil, err
	}
	f, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; check the path: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be opened: %w", path, err)
	}
	format, known := formatOf(path, startOf(f))
	if !known {
		format = csvFormat
	}
	t := as.Plain().New(path)
	if format.Text {
		t = as.New(path)
	}
	err = format.Read(f.OS(), t)
	if err == nil && len(t.Names) == 0 {
		err = fmt.Errorf("%s: the file has no columns: a table was expected", path)
	}
	if err == nil {
		err = as.Apply(t)
	}
	switch {
	case t.Disk == nil:
		f.Close()
	case err != nil:
		t.Close() // which keeps the file
	}
	if !known && errors.Is(err, errNotText) {
		var all []string
		for _, f := range formats {
			all = append(all, fmt.Sprintf("%s (%s)", f.Name, strings.Join(f.Endings, ", ")))
		}
		err = fmt.Errorf("%w; the formats that are read are %s", err, strings.Join(all, ", "))
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// WriteFile writes a table to a file, all or nothing, in the registered [Format] whose ending the
// path has, or else as CSV. Like [ReadFile] it refuses numbers that are not finite.
func WriteFile(path string, names []string, rows int, fill Fill) error {
	format, known := formatOf(path, "")
	if !known {
		format = csvFormat
	}
	return disk.Write(path, func(w io.Writer) error { return format.Write(w, names, rows, fill) })
}

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
