// Package dataset holds what krigo knows about data before any model sees it:
// reading tables, choosing target and inputs, encoding and scaling them, dealing rows
// into roles, and the hash by which a certificate recognises its rows.
//
// A file becomes a [Table] (cells with column names, in memory or on disk), as do rows of numbers
// ([FromRows], [FromMatrix]). A table is seen as [Data] (inputs X, target y), where need be by an
// [Encoding], [Units.Deal] says what each row may be used for, and [Scaled] reads the rows of a role
// in scaled units. Matrices are flat row-major slices of float64. A kind of file is a [Format]: CSV, gzip of it, NPY
// and NPZ are registered here, Parquet by package dataset/parquet where that is imported.
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
