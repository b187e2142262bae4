// Package inspect tells people about a table:
// what its columns hold ([Describe]), which rows seem to be no rows of it ([Strays]), what to know
// before a fit ([Findings]), and why columns can't be fitted ([Explain]). It changes nothing.
//
// This program prints what each column of a CSV text holds:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//		"strings"
//
//		"github.com/krigo-gp/krigo/dataset/files"
//		"github.com/krigo-gp/krigo/dataset/inspect"
//	)
//
//	func main() {
//		text := "size,fuel,price\n40,gas,120\n55,oil,150\n,gas,190\n"
//		table, err := files.CSV{From: strings.NewReader(text), Source: "flats.csv"}.Read()
//		if err != nil {
//			log.Fatal(err)
//		}
//		columns, err := inspect.Describe(table)
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, c := range columns {
//			fmt.Printf("%s: %s, %d missing, flags %q\n", c.Name, c.Kind, c.Missing, c.Flags())
//		}
//		// Output:
//		// size: number, 1 missing, flags ""
//		// fuel: category, 0 missing, flags "--categorical fuel"
//		// price: number, 0 missing, flags ""
//	}
package inspect

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
)

// Findings returns what a person should know about the data before a fit.
// u holds the units of its rows. No finding is an error.
func Findings(d *dataset.Data, u *dataset.Units) (found finding.List, err error) {
	columns, err := d.Moments(d.All())
	if err != nil {
		return nil, err
	}
	list := func(kind finding.Kind, names []string) {
		if len(names) > 0 {
			found.Add(kind, names)
		}
	}
	of := map[finding.Kind][]string{} // the names of the columns with a finding, by its kind
	for j, name := range append(slices.Clone(d.Inputs), d.Target) {
		var kind finding.Kind
		switch m, input := columns[j], j < d.Cols; {
		case input && d.Encoding.OneHot(j): // such a column is often constant, which is no fault
		case input && m.Constant() && m.SD > 1e-15*math.Abs(m.Mean):
			kind = finding.TooClose
		case input && m.Constant():
			kind = finding.Constant
		case m.SD < 1e-9:
			kind = finding.SmallScale
		case m.SD > 1e9:
			kind = finding.LargeScale
		}
		of[kind] = append(of[kind], name)
	}
	list(finding.Constant, of[finding.Constant])
	list(finding.TooClose, of[finding.TooClose])
	seen, err := tableFindings(d)
	if err != nil {
		return nil, err
	}
	found = append(found, seen...)
	list(finding.Centuries, d.Table().Found.Centuries)
	if n := d.Table().Found.Dropped; n > 0 {
		found.Add(finding.Dropped, n, d.Rows+n)
	}
	if n, row := u.Repeats(); n > 0 {
		found.Add(finding.Repeats, n, d.Rows, row+1)
	}
	if column, grouped := d.Table().Column(d.Group()); grouped {
		list(finding.AlikeGroups, alike(d.Table().Texts(column), func(string) bool { return true }))
	}
	if d.Rows < d.Cols {
		found.Add(finding.FewRows, d.Rows, d.Cols)
	}
	list(finding.SmallScale, of[finding.SmallScale])
	list(finding.LargeScale, of[finding.LargeScale])
	target := columns[d.Cols]
	if math.Abs(target.Mean) > 1e6*target.SD {
		found.Add(finding.FarTarget, d.Target, target.Mean, target.SD)
	}
	if square := target.SD * target.SD; square < 0x1p-1022 || square > math.MaxFloat64 {
		found.Add(finding.TargetScale, d.Target, target.SD)
	}
	return found, nil
}

// tableFindings returns findings about rows and cells that krigo may have misread.
func tableFindings(d *dataset.Data) (found finding.List, err error) {
	t := d.Table()
	found = slices.Concat(Strays(t), asRead(t))
	var columns []int
	// A first column that was left out by its name, as a DataFrame's index, may hold anything.
	if t.Names[0] == dataset.IndexName && t.Disk == nil && d.Target != t.Names[0] &&
		d.Group() != t.Names[0] && !slices.Contains(d.Columns(), 0) {
		columns = append(columns, 0)
	}
	if d.Encoding != nil {
		// Look at columns of text that became categories: they may be numbers or dates with
		// mistakes.
		for k, c := range d.Encoding.Columns {
			if j := d.Columns()[k]; c.Categories != nil && t.Texts(j) != nil {
				columns = append(columns, j)
			}
		}
	}
	if columns == nil {
		return found, nil
	}
	facts, err := describe(t, columns)
	for _, f := range facts {
		if f.unnamed {
			found = append(found, unnamed)
		}
		if (f.Why != "" && (f.Kind == "number" || f.Kind == "date")) ||
			(f.Kind == "text" && f.Then != "") {
			found.Add(finding.OddCategories, f.Name, f.Why)
		}
	}
	return found, err
}

// alike returns texts that differ only in case and spaces.
func alike(texts []string, used func(text string) bool) (names []string) {
	first := map[string]string{}
	for _, text := range texts {
		plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
		if before, known := first[plain]; known && used(text) {
			names = append(names, before, text)
		} else if used(text) {
			first[plain] = text
		}
	}
	return names
}

// Remarks returns what to know about the table as a whole:
// rows that seem to be no rows of it, a header that seems to be a row or is missing, and facts
// about cells that Describe doesn't give with a column.
func Remarks(t *dataset.Table, facts []ColumnFacts) (found finding.List) {
	if t.Reading().Header != "" { // the user has said whether there is a header
	} else if t.Found.Headless {
		found.Add(finding.NoHeader)
	} else if rowAsHeader(t, facts) {
		found.Add(finding.RowAsHeader, t.Names)
	}
	return slices.Concat(found, Strays(t), asRead(t))
}

// rowAsHeader says whether the column names look like the columns' cells:
// numbers in their range, and texts that occur there.
func rowAsHeader(t *dataset.Table, facts []ColumnFacts) bool {
	numbers := 0
	reading := t.Reading()
	for j, name := range t.Names {
		v, err := reading.Parse(name)
		switch f := facts[j]; {
		case err == nil && t.Texts(j) == nil && f.Low <= v && v <= f.High:
			numbers++
		case err == nil || (!slices.Contains(t.Texts(j), name) && f.Kind != "identifier"):
			return false
		}
	}
	return numbers > 0
}

// asRead reports facts about cells as they were read:
// columns in which only some times name their zone, numbers in several units (read without
// conversion), limits of detection that are read as numbers, and lines that were left out.
func asRead(t *dataset.Table) (found finding.List) {
	if t.Found.Zones != nil {
		found.Add(finding.SomeZones, t.Found.Zones)
	}
	for j, counts := range t.Found.Units {
		if len(counts) < 2 {
			continue
		}
		about := []any{t.Names[j]}
		for _, unit := range slices.Sorted(maps.Keys(counts)) {
			about = append(about, unit, counts[unit])
		}
		found.Add(finding.MixedUnits, about...)
	}
	for _, j := range slices.Sorted(maps.Keys(t.Found.Below)) {
		found.Add(finding.BelowLimit, t.Found.Below[j].Cells, t.Names[j], t.Found.Below[j].First)
	}
	for _, j := range slices.Sorted(maps.Keys(t.Found.Above)) {
		found.Add(finding.AboveLimit, t.Found.Above[j].Cells, t.Names[j], t.Found.Above[j].First)
	}
	if n := t.Found.Remarks; n > 0 {
		found.Add(finding.RemarkLines, n)
	}
	return found
}
