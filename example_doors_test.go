package krigo_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

// quick returns options of a fit that takes a moment.
func quick(target string) krigo.Options {
	return krigo.Options{Data: krigo.Data{Target: target}, Kernel: krigo.Kernel{Expression: "se"},
		Promise: krigo.Promise{Epsilon: 1}, Run: krigo.Run{Restarts: 1}}
}

// wave returns y = sin x at n points.
func wave(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		x := 6 * float64(i*7%n) / float64(n)
		rows[i] = []float64{x, math.Sin(x) + 0.01*math.Cos(50*x)}
	}
	return rows
}

// Fit a gonum matrix, and predict without a table.
func ExampleFit_matrix() {
	rows := wave(60)
	m := mat.NewDense(len(rows), 2, nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	table, err := dataset.FromMatrix([]string{"x", "y"}, m)
	if err != nil {
		log.Fatal(err)
	}
	model, err := krigo.Fit(context.Background(), table, quick("y"))
	if err != nil {
		log.Fatal(err)
	}
	ps, err := model.PredictAt(mat.NewDense(1, 1, []float64{math.Pi / 2}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", ps[0].Mean)
	// Output: 1.0
}

// Append makes a table from the rows of a database. It takes a cell as text, as a driver gives it, and knows numbers,
// text and missing values.
func ExampleFit_sql() {
	db := sql.OpenDB(waveDB{})
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), "select x, y from wave")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		log.Fatal(err)
	}
	table := &dataset.Table{Source: "wave", Names: names}
	cells, at := make([]sql.NullString, len(names)), make([]any, len(names))
	for j := range cells {
		at[j] = &cells[j]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			log.Fatal(err)
		}
		texts := make([]string, len(cells))
		for j, cell := range cells {
			texts[j] = cell.String // "" of NULL: missing
		}
		table.Append(texts)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	model, err := krigo.Fit(context.Background(), table, quick("y"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Rows, model.Certificate.Valid)
	// Output: 120 true
}

// waveDB is a database with one table, for ExampleFit_sql.
type waveDB struct{}

func (waveDB) Connect(context.Context) (driver.Conn, error) { return waveDB{}, nil }
func (waveDB) Driver() driver.Driver                        { return nil }
func (waveDB) Prepare(string) (driver.Stmt, error)          { return waveDB{}, nil }
func (waveDB) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (waveDB) Close() error                                 { return nil }
func (waveDB) NumInput() int                                { return 0 }
func (waveDB) Exec([]driver.Value) (driver.Result, error)   { return nil, driver.ErrSkip }
func (waveDB) Query([]driver.Value) (driver.Rows, error)    { return &waveRows{left: wave(120)}, nil }

type waveRows struct{ left [][]float64 }

func (*waveRows) Columns() []string { return []string{"x", "y"} }
func (*waveRows) Close() error      { return nil }
func (r *waveRows) Next(to []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	for j, v := range r.left[0] {
		to[j] = v
	}
	r.left = r.left[1:]
	return nil
}

//go:embed data/snelson.csv.gz
var embedded embed.FS

// Read a table that is built into a program. Any stream is read like this, also a compressed one.
func ExampleFit_embedded() {
	const name = "data/snelson.csv.gz"
	f, err := embedded.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	table, err := files.CSV{From: f, Source: name}.Read()
	if err != nil {
		log.Fatal(err)
	}
	model, err := krigo.Fit(context.Background(), table, quick("y"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Rows, model.Certificate.Valid)
	// Output: 200 true
}

// End a fit through its context, and send its progress to a log.
func ExampleFit_context() {
	table, err := dataset.FromRows([]string{"x", "y"}, wave(60))
	if err != nil {
		log.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	o := quick("y")
	o.Run.Progress = func(e krigo.Event) {
		if e.Stopped != "" {
			logger.Info("trained", "kernel", e.Family, "start", e.Start, "of", e.Starts)
		}
		cancel() // called, for example, when the caller stops waiting
	}
	_, err = krigo.Fit(ctx, table, o)
	fmt.Println(err)
	// Output: context canceled
}

// Predict with one model from several goroutines. gonum makes a distribution from mean and covariance.
func ExampleModel_Covariance() {
	table, err := dataset.FromRows([]string{"x", "y"}, wave(60))
	if err != nil {
		log.Fatal(err)
	}
	model, err := krigo.Fit(context.Background(), table, quick("y"))
	if err != nil {
		log.Fatal(err)
	}
	at, err := dataset.FromRows([]string{"x"}, [][]float64{{1}, {2}, {3}})
	if err != nil {
		log.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := model.Predict(context.Background(), at, krigo.PredictOptions{}); err != nil {
				log.Fatal(err)
			}
		})
	}
	all.Wait()
	ps, err := model.Predict(context.Background(), at, krigo.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	cov, err := model.Covariance(context.Background(), at)
	if err != nil {
		log.Fatal(err)
	}
	mean, sigma := make([]float64, at.Rows), mat.NewSymDense(at.Rows, nil)
	for i, p := range ps {
		mean[i] = p.Mean
		for j := range i + 1 {
			sigma.SetSym(i, j, cov.At(i, j))
		}
		sigma.SetSym(i, i, cov.At(i, i)+model.Scaling.RawVariance(model.ObservationNoise)) // noise included
	}
	// distmv.NewNormal(mean, sigma, nil) is gonum's distribution of the observations.
	var factor mat.Cholesky
	fmt.Println(factor.Factorize(sigma), len(mean))
	// Output: true 3
}
