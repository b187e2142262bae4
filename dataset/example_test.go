package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

// A program's rows become a table, in which NaN is a missing value.
func ExampleFromRows() {
	table, err := dataset.FromRows([]string{"size", "price"}, [][]float64{{40, 120}, {55, 150}, {math.NaN(), 90}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = table.Regression("price")
	fmt.Println(err)
	// Output: rows: row 3, column 1 ("size"): the value is missing; remove the row or fill the value, or have it filled with --missing mean
}

// The error of bad data has its place in fields, also if Fit returns it.
func ExampleError() {
	table, err := files.CSV{From: strings.NewReader("size,price\n40,120\n55,dear\n"), Source: "flats.csv"}.Read()
	if err != nil {
		log.Fatal(err)
	}
	_, err = krigo.Fit(context.Background(), table, krigo.Options{Data: krigo.Data{Target: "price"}})
	var of *dataset.Error
	if errors.As(err, &of) {
		fmt.Println(of.File, of.Line, of.Row, of.Column, of.Name)
		fmt.Println(of.Err)
	}
	// Output:
	// flats.csv 3 2 2 price
	// "dear" is not a number; write one, or remove the row
}
