package krigo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/memory"
)

// Fit a model, read its certificate, and predict. The half-width ε says what counts as a miss. Here a miss is off by
// more than one standard deviation of the target.
func ExampleFit() {
	m, err := krigo.Fit(context.Background(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 1}})
	if err != nil {
		log.Fatal(err)
	}
	c := m.Certificate
	fmt.Printf("%s from %d certified rows, trained on %d others\n", c.Label, c.Rows, c.PriorRows)
	fmt.Printf("with %g %% confidence predictions miss at most %.0f %%\n", 100*(1-c.Delta), 100*c.MeanBound)

	table, err := files.CSV{From: strings.NewReader("x\n1\n2.5\n"), Source: "new points"}.Read()
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := m.Predict(context.Background(), table, krigo.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range predictions {
		fmt.Printf("f = %.1f ± %.1f\n", p.Mean, math.Sqrt(p.LatentVariance))
	}
	// Output:
	// certificate from 60 certified rows, trained on 140 others
	// with 99 % confidence predictions miss at most 7 %
	// f = -1.4 ± 0.1
	// f = 0.3 ± 0.1
}

// Give a half-width in the target's own units, and set rows aside for testing. Progress hears about every step. Here
// it counts the starting points.
func ExampleFit_options() {
	starts := map[int]bool{}
	m, err := krigo.Fit(context.Background(), data.Boston(), krigo.Options{
		Data:    krigo.Data{Target: "MEDV", TestFraction: 0.5}, // median value of homes, in 1000 dollars
		Kernel:  krigo.Kernel{Expression: "matern52", ARD: "off"},
		Promise: krigo.Promise{Loss: "band", Epsilon: 10, Units: "raw"},
		Run:     krigo.Run{Restarts: 1, Progress: func(e krigo.Event) { starts[e.Start] = true }},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d start, %d test rows\n", len(starts), m.Test.Rows)
	fmt.Printf("off by more than %g: at most %.0f %% promised, %.0f %% of the test rows\n",
		m.Certificate.EpsilonRaw, 100*m.Certificate.MeanBound, 100*m.Test.MeanRisk)
	// Output:
	// 1 start, 253 test rows
	// off by more than 10: at most 15 % promised, 3 % of the test rows
}

// Columns of text become categories, and missing inputs are filled, if the options ask for it. The model keeps what
// it learnt about them from the prior rows. Predict takes tables like the table of the fit.
func ExampleFit_categories() {
	fuels := []string{"gas", "oil", "wood"}
	var text strings.Builder
	text.WriteString("fuel,size,price\n")
	for i := range 90 {
		size := strconv.Itoa(20 + i%41)
		if i%10 == 9 {
			size = "NA"
		}
		fmt.Fprintf(&text, "%s,%s,%d\n", fuels[i%3], size, 20+i%41+10*(i%3))
	}
	table, err := files.CSV{From: strings.NewReader(text.String()), Source: "flats"}.Read()
	if err != nil {
		log.Fatal(err)
	}
	m, err := krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "price", Categorical: []string{"fuel"}, Missing: "mean"},
			Method: krigo.Method{Name: "evidence"}, Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Inputs)

	news, err := files.CSV{From: strings.NewReader("fuel,size\ngas,40\nwood,40\n"), Source: "new flats"}.Read()
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := m.Predict(context.Background(), news, krigo.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range predictions {
		fmt.Printf("%.1f\n", p.Mean)
	}
	// Output:
	// [fuel=gas fuel=oil fuel=wood fuel=other size]
	// 39.5
	// 59.7
}

// An interrupted fit hands over its state. A later fit goes on from the state and ends with the same bits.
// encoding/json writes and reads a Checkpoint.
func ExampleFit_resume() {
	options := krigo.Options{Data: krigo.Data{Target: "y"}, Run: krigo.Run{Restarts: 1}}
	ctx, interrupt := context.WithCancel(context.Background())
	var state *krigo.Checkpoint
	options.Run.Save = func(c *krigo.Checkpoint) error {
		state = c
		interrupt() // Ctrl-C would do the same
		return nil
	}
	_, err := krigo.Fit(ctx, data.Snelson(), options)
	fmt.Println(err)

	options.Run.Save, options.Run.Resume = nil, state
	resumed, err := krigo.Fit(context.Background(), data.Snelson(), options)
	if err != nil {
		log.Fatal(err)
	}
	options.Run.Resume = nil
	straight, err := krigo.Fit(context.Background(), data.Snelson(), options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("same bound:", resumed.Certificate.Bound == straight.Certificate.Bound)
	// Output:
	// context canceled
	// same bound: true
}

// A model is one file. Save it here, load it there.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "krigo")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "snelson.krigo")

	m, err := krigo.Fit(context.Background(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Run: krigo.Run{Restarts: 1}})
	if err != nil {
		log.Fatal(err)
	}
	if err := m.Save(path); err != nil {
		log.Fatal(err)
	}
	loaded, err := krigo.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.Objective, loaded.Inputs, "→", loaded.Target)
	fmt.Println("same certificate:", loaded.Certificate.Bound == m.Certificate.Bound)
	// Output:
	// evidence [x] → y
	// same certificate: true
}

// Anyone who has the model and its data can recompute the certificate. Another half-width than the declared one gives
// a number, but no certificate.
func ExampleModel_Certify() {
	table := data.Snelson()
	m, err := krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 1}, Run: krigo.Run{Restarts: 1}})
	if err != nil {
		log.Fatal(err)
	}
	r, err := m.Certify(context.Background(), table, krigo.CertifyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Matches, r.Certificate.Label)

	r, err = m.Certify(context.Background(), table, krigo.CertifyOptions{Epsilon: 1.5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Certificate.Valid, r.Certificate.Label)

	table.Values[0] += 0.5 // not the model's data any more
	_, err = m.Certify(context.Background(), table, krigo.CertifyOptions{})
	fmt.Println(err != nil)
	// Output:
	// true certificate
	// false bound (heuristic: ε was chosen after the certified rows were seen)
	// true
}

// Rows that the model never saw bound its risk, without any theory of the training.
func ExampleModel_CertifyFresh() {
	table := data.Snelson()
	m, err := krigo.Fit(context.Background(), table, krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.3},
		Promise: krigo.Promise{Epsilon: 1}, Run: krigo.Run{Restarts: 1}})
	if err != nil {
		log.Fatal(err)
	}
	f, err := m.CertifyFresh(context.Background(), table) // the table's test rows; another table would serve too
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows: the mean missed %.0f %% of them, and misses at most %.0f %% in general\n", f.Rows, 100*f.MeanRisk,
		100*f.MeanBound)
	// Output:
	// 60 rows: the mean missed 0 % of them, and misses at most 7 % in general
}

// Evaluate gives the value and gradient of an objective at given parameters, in scaled units.
func ExampleEvaluate() {
	params := &krigo.Params{
		Kernel:        kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{0.5}},
		NoiseVariance: 0.1,
	}
	e, err := krigo.Evaluate(context.Background(), data.Snelson(), params, krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Name: "evidence"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("−ln p(y) = %.2f\n", e.Value)
	fmt.Printf("by ln l: %.2f, by ln σ_s²: %.2f, by ln σ_n²: %.2f\n",
		e.Gradient.LogLengthscales[0], *e.Gradient.LogVariance, *e.Gradient.LogNoiseVariance)
	// Output:
	// −ln p(y) = 97.67
	// by ln l: 71.99, by ln σ_s²: -9.54, by ln σ_n²: -19.18
}

// Predict finds the model's columns by name. Other columns may stand beside them.
func ExampleModel_Predict() {
	m, err := krigo.Fit(context.Background(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: "evidence"}, Run: krigo.Run{Restarts: 1}})
	if err != nil {
		log.Fatal(err)
	}
	table, err := files.CSV{From: strings.NewReader("id,x\n1,3.0\n2,40\n"), Source: "new points"}.Read()
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := m.Predict(context.Background(), table, krigo.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range predictions {
		fmt.Printf("y = %.2f, between %.1f and %.1f\n", p.Mean, p.Lower95, p.Upper95)
	}
	// Output:
	// y = 0.35, between -0.2 and 0.9
	// y = -0.12, between -1.9 and 1.6
}

// Tell errors apart by their type.
func Example_errors() {
	ctx, table := context.Background(), data.Snelson()
	options := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se"},
		Run: krigo.Run{Restarts: 1}}
	few, err := dataset.FromRows([]string{"x", "y"}, [][]float64{{1, 2}, {2, 3}, {3, 5}, {4, 4}, {5, 7}})
	if err != nil {
		log.Fatal(err)
	}
	gap, err := files.CSV{From: strings.NewReader("x,y\n1,2\n,4\n5,6\n"), Source: "gap"}.Read()
	if err != nil {
		log.Fatal(err)
	}
	uncertified, err := krigo.Fit(ctx, few, options)
	if err != nil {
		log.Fatal(err)
	}
	wrong, stopped := options, options
	wrong.Promise.Delta = 2
	stopped.Run.Resume = &krigo.Checkpoint{Version: 1}
	for _, call := range []func() error{
		func() error { _, err := krigo.Fit(ctx, table, wrong); return err },
		func() error { _, err := uncertified.Certify(ctx, few, krigo.CertifyOptions{}); return err },
		func() error { _, err := krigo.Fit(ctx, table, stopped); return err },
		func() error { _, err := krigo.Fit(ctx, gap, options); return err },
		func() error {
			_, err := uncertified.Sample(ctx, table, krigo.SampleOptions{Count: 1 << 50})
			return err
		},
		func() error { _, err := krigo.Load("missing.krigo"); return err },
	} {
		err := call()
		var usage *krigo.UsageError
		var none *krigo.NoCertificate
		var cell *dataset.Error
		var most *memory.Error
		var file *fs.PathError
		switch {
		case errors.As(err, &usage):
			fmt.Println("options:", err)
		case errors.As(err, &none):
			fmt.Println("no certificate:", none.Reason != "")
		case errors.Is(err, krigo.ErrOtherCheckpoint):
			fmt.Println("checkpoint:", err)
		case errors.As(err, &cell):
			fmt.Printf("row %d, column %q\n", cell.Row, cell.Name)
		case errors.As(err, &most):
			fmt.Printf("memory: %.0e bytes\n", most.Need)
		case errors.As(err, &file):
			fmt.Println("file:", file.Path, errors.Is(err, fs.ErrNotExist))
		default:
			fmt.Println("?", err)
		}
	}
	// Output:
	// options: delta 2: want a probability between 0 and 0.5, such as 0.01
	// no certificate: true
	// checkpoint: the checkpoint belongs to other data or other options: it was written by another version of krigo
	// row 2, column "x"
	// memory: 4e+18 bytes
	// file: missing.krigo true
}
