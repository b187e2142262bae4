// Package files reads tables from files and writes them. A kind of file is a [Format], a value that [Register] makes
// known: CSV, gzip of it, NPY and NPZ are registered here, Parquet by package dataset/parquet where that is imported.
package files
