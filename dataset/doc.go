// Package dataset holds what krigo knows about data before any model sees it:
// reading tables, choosing target and inputs, encoding and scaling them, dealing rows
// into roles, and the hash by which a certificate recognises its rows.
//
// A file becomes a [Table] (cells with column names, in memory or on disk), a table is
// seen as [Data] (inputs X, target y), where need be by an [Encoding], [Deal] says what each
// row may be used for, and [Scaled] reads the rows of a role in scaled units. Matrices are flat row-major slices of
// float64. Beside the standard library the package imports a reader of Parquet.
//
// Nothing here repairs data unasked. A certificate speaks about the rows it was given,
// so a cell that is not a finite number is refused, with file, line, row, column
// and value in the error, where its column is read for numbers, and rows are never dropped
// or de-duplicated. [Table.Encode] takes categories and fills missing inputs, by what it
// learns from prior rows alone.
package dataset
