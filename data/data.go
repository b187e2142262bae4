// Package data holds the small public data sets that krigo's first command, its tests
// and its reproductions use.
//
// boston.csv.gz: Boston housing, 506 × 13, target MEDV (Harrison & Rubinfeld 1978), in
// the original order of rows. Its column B is ethically contested: for benchmarks only.
// snelson.csv.gz: Snelson's one-dimensional set, 200 × 1, target y (Snelson &
// Ghahramani 2005).
package data

import (
	"bytes"
	"embed"

	"github.com/krigo-gp/krigo/dataset"
)

//go:embed boston.csv.gz snelson.csv.gz
var files embed.FS

// Boston returns the Boston housing data.
func Boston() *dataset.Table { return table("boston.csv.gz") }

// Snelson returns Snelson's one-dimensional data.
func Snelson() *dataset.Table { return table("snelson.csv.gz") }

func table(name string) *dataset.Table {
	raw, err := files.ReadFile(name)
	if err != nil {
		panic(err) // built in
	}
	t, err := dataset.Read(bytes.NewReader(raw), name)
	if err != nil {
		panic(err)
	}
	return t
}
