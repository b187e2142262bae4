// Package dataset holds what krigo knows about data before any model sees it: tables, the choice of target and inputs,
// encoding and scaling, the roles of rows, and the hash by which a certificate recognises its rows.
//
// A row's road: package files reads it from a file into a [Table] (cells with column names, in memory or on disk).
// [Table.Regression] or [Table.Encode] views the columns as [Data] (inputs X, target y), or refuses a cell by its line.
// [Data.Units] knows the row by its content, and [Units.Deal] gives it a role: test, calibration, prior or certified.
// [ScalingOf] takes constants from the prior rows, and [Scaled] reads the rows of one role in scaled units. Package
// inspect says what people are told of it on the way.
//
// Rows of numbers become tables by [FromRows] and [FromMatrix]. Matrices are flat row-major slices of float64.
//
// Nothing here repairs data unasked. A certificate speaks about the rows it was given,
// so a cell that is not a finite number is refused, with file, line, row, column
// and value in the error (an [Error]), where its column is read for numbers, and rows are never dropped
// or de-duplicated. [Table.Encode] takes categories and fills missing inputs, by what it
// learns from prior rows alone.
//
// Tables, once read or made, their data, encodings, scalings, units and roles may be used by several
// goroutines at once, as nothing changes them but [Table.Append], [Table.Set], [Table.Close] and assignments
// to their fields. Those of a table that is spread over ranks are used by one goroutine of each rank at
// a time: what is computed from them is computed by all ranks together.
package dataset
