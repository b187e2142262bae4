// Package dataset holds what krigo knows about data before any model sees it:
// tables, the choice of target and inputs, encoding and scaling, the roles of rows, and the hash by
// which a certificate recognises its rows.
//
// This program makes a table, deals its rows roles, and scales the prior rows:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/dataset"
//	)
//
//	func main() {
//		homes := [][]float64{{40, 120}, {55, 150}, {60, 190}, {70, 200}, {80, 260}, {95, 270}}
//		table := must(dataset.FromRows([]string{"size", "price"}, homes))
//		d := must(table.Regression("price")) // every other column is an input
//		units := must(d.Units())
//		roles := must(units.Deal(1, dataset.Counts{dataset.Prior: 4})) // seed 1; the rest is certified
//		scaling := must(dataset.ScalingOf(d, d.RowsOf(roles, dataset.Prior), dataset.PriorRows))
//		rows, cols := d.ScaledOf(roles, dataset.Certified, scaling).Dims()
//		fmt.Println(rows, "certified rows,", cols, "input")
//		// Output:
//		// 2 certified rows, 1 input
//	}
//
//	func must[T any](v T, err error) T {
//		if err != nil {
//			log.Fatal(err)
//		}
//		return v
//	}
//
// A row takes these steps. Package files reads the row from a file into a [Table] (cells with
// column names, in memory or on disk). [Table.Regression] or [Table.Encode] views the columns as
// [Data] (inputs X, target y), or refuses a cell and names its line.
// [Data.Units] knows the row by its content. [Units.Deal] then deals roles, that is, it gives each
// row one: test, calibration, prior or certified.
// Anything may be learnt from prior rows before training, and the certificate counts certified
// rows. [ScalingOf] takes constants from the prior rows.
// [Scaled] reads the rows of one role in scaled units.
// Package inspect says what people are told about the data on the way.
//
// A unit is what gets a role: a row, or a group of rows that belong together.
// A rank is one of several processes that share the rows of a table.
// [FromRows] and [FromMatrix] make tables from numbers.
// Matrices are flat row-major slices of float64.
//
// Nothing here repairs data unasked, because a certificate speaks about the rows that it was given.
// If a column is read for numbers, a cell that isn't a finite number is an [Error] with file, line,
// row, column and value. Rows are left out only if they have no target (see [Reading]), or if they
// are repeated and [Reading] asks for it. [Table.Encode] turns categories into inputs and fills
// missing inputs, with what it learns from prior rows alone.
//
// Several goroutines may use the same tables, data, encodings, scalings, units and roles at once.
// Only [Table.Append], [Table.Set], [Table.Close], [Reading.Apply], [Table.Spread] and assignments
// to fields change them. If a table is spread over ranks, one goroutine of each rank uses it at a
// time, because all ranks compute results together.
package dataset
