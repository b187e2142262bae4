// Package data holds the small public data sets that krigo's first command, its tests and its reproductions use.
//
// This program prints what a data set holds:
//
//	package main
//
//	import (
//		"fmt"
//
//		"github.com/krigo-gp/krigo/data"
//	)
//
//	func main() {
//		boston := data.Boston()
//		fmt.Println(boston.Rows, "rows of", boston.Names)
//		// Output:
//		// 506 rows of [CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT MEDV]
//	}
//
// boston.csv.gz: Boston housing, 506 × 13, target MEDV (Harrison & Rubinfeld 1978), in the original order of rows. Its
// column B is ethically contested: for benchmarks only. snelson.csv.gz: Snelson's one-dimensional set, 200 × 1, target
// y (Snelson & Ghahramani 2005).
package data

import (
	"bytes"
	"embed"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

//go:embed boston.csv.gz snelson.csv.gz
var tables embed.FS

// Boston returns the Boston housing data.
func Boston() *dataset.Table { return table("boston.csv.gz") }

// Snelson returns Snelson's one-dimensional data.
func Snelson() *dataset.Table { return table("snelson.csv.gz") }

func table(name string) *dataset.Table {
	raw, err := tables.ReadFile(name)
	if err != nil {
		panic(err) // can't happen: the file is built in
	}
	t, err := files.CSV{From: bytes.NewReader(raw), Source: name}.Read()
	if err != nil {
		panic(err)
	}
	return t
}
