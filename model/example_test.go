package model_test

import (
	"bytes"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/model"
)

// snelson returns a model with one input, x.
func snelson() (*krigo.Model, error) {
	return krigo.Fit(context.Background(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 8}, Run: krigo.Run{Restarts: 1},
			Promise: krigo.Promise{Epsilon: 1}})
}

// Rows of numbers are predicted as they are: a column for each input, in the order of Inputs.
func ExampleModel_PredictAt() {
	m, err := snelson()
	if err != nil {
		fmt.Println(err)
		return
	}
	predictions, err := m.PredictAt(mat.NewDense(3, 1, []float64{1, 2.5, 9}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range predictions {
		fmt.Printf("%.1f ± %.1f, from %.1f to %.1f, %d inputs outside\n", p.Mean, p.PredictiveSD, p.Lower95, p.Upper95,
			p.Outside)
	}
	_, err = m.PredictAt(mat.NewDense(1, 2, []float64{1, 2.5}))
	fmt.Println(err)
	// Output:
	// -1.4 ± 0.3, from -2.0 to -0.8, 0 inputs outside
	// 0.3 ± 0.3, from -0.3 to 0.9, 0 inputs outside
	// -0.3 ± 0.8, from -2.0 to 1.3, 1 inputs outside
	// a 1×2 matrix: want a column for each of the model's inputs, 1 in all, in their order
}

// A model can be written to any io.Writer and read from any io.Reader. Here both are a buffer in memory.
func ExampleRead() {
	m, err := snelson()
	if err != nil {
		fmt.Println(err)
		return
	}
	var stored bytes.Buffer
	if err := m.Write(&stored); err != nil {
		fmt.Println(err)
		return
	}
	again, err := model.Read(&stored)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s from %v, the same bound: %t\n", again.Target, again.Inputs,
		again.Certificate.Bound == m.Certificate.Bound)
	// Output:
	// y from [x], the same bound: true
}
