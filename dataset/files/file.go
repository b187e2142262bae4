// Package files reads tables from files and writes them.
// A kind of file is a [Format], which [Register] makes known.
// This package registers CSV, gzip of CSV, NPY and NPZ.
// Package dataset/parquet registers Parquet in programs that import it.
//
// This program reads a table from a file of any registered format and writes its first column as
// NPY:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//		"os"
//
//		"github.com/krigo-gp/krigo/dataset"
//		"github.com/krigo-gp/krigo/dataset/files"
//	)
//
//	func main() {
//		if err := os.WriteFile("flats.csv", []byte("size,price\n40,120\n55,150\n"), 0o644); err != nil {
//			log.Fatal(err)
//		}
//		table, err := files.ReadFile("flats.csv", dataset.Reading{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(table.Rows, "rows of", table.Names)
//		err = files.WriteFile("size.npy", table.Names[:1], table.Rows, func(row int, values []float64) error {
//			return table.Read(row, 1, []int{0}, values) // one row, column 0
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		// Output:
//		// 2 rows of [size price]
//	}
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
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// ReadFile reads a table from a file, or from a folder of Parquet files. It knows a registered
// [Format] by the file's first bytes or its ending, and takes any other file as CSV (see [CSV]).
// It reads all formats but NPY into memory, also the formats of packages of their own, such as
// Parquet.
//
// Rows of an NPY file stay on disk until they are needed.
// The file holds an array of records with named fields, or a matrix, whose columns get the names
// c1, c2, …. Its fields are numbers: <f8, <f4, or whole numbers.
// Missing cells are found when a column is read for use.
func ReadFile(path string, as dataset.Reading) (*dataset.Table, error) {
	if err := as.Check(); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return readFolder(path, as)
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
		t.Close() // Close keeps the file for the table
	}
	if !known && errors.Is(err, errNotText) {
		all := lists.Of(formats, func(f Format) string {
			return f.Name + " (" + strings.Join(f.Endings, ", ") + ")"
		})
		err = fmt.Errorf("%w; the formats that are read are %s", err, strings.Join(all, ", "))
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// WriteFile writes a table to a file, all or nothing.
// The ending of path chooses the registered [Format], and any other ending means CSV.
// It refuses infinite numbers. NaN stands for a missing value.
func WriteFile(path string, names []string, rows int, fill Fill) error {
	format, known := formatOf(path, "")
	if !known {
		format = csvFormat
	}
	return disk.Write(path, func(w io.Writer) error { return format.Write(w, names, rows, fill) })
}

// WritesCSV says whether WriteFile writes CSV to the path, packed or not.
func WritesCSV(path string) bool {
	format, known := formatOf(path, "")
	return !known || format.Name == csvFormat.Name || unpack[format.Magic] != nil
}

// perRank in a path stands for a rank's number, if each rank has its own file.
const perRank = "%d"

// ReadPart does what [ReadFile] does, for one of several ranks, whose tables together are one
// table. If path contains %d, it stands for the rank's number, and each rank reads its own file.
// The rows then follow one another in the order of ranks.
// Otherwise each rank has an equal share of one file's rows, in order.
// From an NPY file it reads only its share. From other files it keeps only its share.
// Everything computed from the table, from [dataset.Table.Regression] on, is collective, which
// means that all ranks compute it together.
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

// readOwn reads the whole file of one rank, or the file that all ranks share.
func readOwn(path string, own bool, r ranks.Ranks, as dataset.Reading) (*dataset.Table, error) {
	if !own {
		return ReadFile(path, as)
	}
	next := strings.ReplaceAll(path, perRank, strconv.Itoa(r.Size()))
	if _, err := os.Stat(next); err == nil {
		return nil, fmt.Errorf("%s: no rank reads it, since there are %d ranks: start a rank for "+
			"each file", next, r.Size())
	}
	table, err := ReadFile(strings.ReplaceAll(path, perRank, strconv.Itoa(r.Rank())), as)
	if err != nil {
		return nil, err
	}
	if err := alike(table, as); err != nil { // no rank sees another rank's file
		table.Close()
		return nil, err
	}
	return table, nil
}

// alike returns an error for settings that each rank would apply or decide by its own file alone,
// so that ranks might differ: leaving out repeated rows, and the form of dates.
func alike(table *dataset.Table, as dataset.Reading) error {
	if as.Distinct {
		return fmt.Errorf("%s: rows that repeat one of another rank's file can't be left out: "+
			"write all rows to one file", table.Source)
	}
	for i, d := range as.Dates {
		if form := table.Reading().Dates[i].Form; form != d.Form {
			return fmt.Errorf("%s: column %q: each rank would choose the form of dates by its "+
				"own file: say which, as %s:%s", table.Source, spelling.Clip(d.Column),
				spelling.Clip(d.Column), form)
		}
	}
	return nil
}
