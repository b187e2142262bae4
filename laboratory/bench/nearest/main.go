// Command nearest is krigo's side of the benchmark that bench/nearest.py drives. It times the nearest-neighbour
// conditional density and its gradient. The kernel is squared-exponential with a lengthscale for each input, and the
// mean is zero. bench/README.md describes the protocol. GOMAXPROCS sets the number of threads.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

const inputs = 8

type report struct {
	Contender string    `json:"contender"`
	Version   string    `json:"version"`
	Value     float64   `json:"value"`
	Gradient  []float64 `json:"gradient"` // with respect to ln l_1 …, ln σ_s², ln σ_n²
	Seconds   []float64 `json:"seconds"`
	Search    float64   `json:"search_seconds"`
	Predicted float64   `json:"predicted_rows_a_second"`
}

func main() {
	data := flag.String("data", "", "`file` of ln l_1 …, ln σ_s², ln σ_n², X and y: float64, little-endian")
	rows := flag.Int("rows", 0, "rows of X")
	near := flag.Int("neighbours", 32, "m")
	repeat := flag.Int("repeat", 0, "how many evaluations to time")
	write := flag.String("write", "", "`file` for the neighbours, int32, row by row")
	predict := flag.Int("predict", 0, "number of rows to predict from their 256 nearest rows, timed")
	flag.Parse()
	r, err := measure(*data, *rows, *near, *repeat, *predict, *write)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nearest:", err)
		os.Exit(1)
	}
}

func measure(path string, n, m, repeat, predict int, write string) (*report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	at, rows := make([]float64, inputs+2), objective.Memory{X: matrix.New(n, inputs), Y: make([]float64, n)}
	in := bufio.NewReader(file)
	for _, v := range [][]float64{at, rows.X.Data, rows.Y} {
		if err := binary.Read(in, binary.LittleEndian, v); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for i := range inputs {
		at[i] *= 2 // krigo's parameters are ln l²
	}
	p := &objective.NearestProblem{Kernel: kernel.SE(inputs, true), Mean: kernel.ZeroMean{}, Rows: rows, Neighbours: m}
	theta, _, _ := p.Split(at)
	r := &report{Contender: "krigo", Version: runtime.Version(), Seconds: []float64{}, Gradient: make([]float64, len(at))}
	start := time.Now()
	p.Search(at)
	r.Search = time.Since(start).Seconds()
	if write != "" {
		found, all := make([]int32, n*m), make([]int, n)
		for i := range all {
			all[i] = i
		}
		neighbours.New(p.Kernel, theta, rows.X).Others(all, m, found)
		out, err := os.Create(write)
		if err != nil {
			return nil, err
		}
		if err := binary.Write(out, binary.LittleEndian, found); err != nil {
			return nil, err
		}
		if err := out.Close(); err != nil {
			return nil, err
		}
	}
	for i := range repeat + 1 { // the first evaluation warms up
		start := time.Now()
		if r.Value, err = p.Evaluate(at, r.Gradient); err != nil {
			return nil, err
		}
		if i > 0 {
			r.Seconds = append(r.Seconds, time.Since(start).Seconds())
		}
	}
	for i := range inputs {
		r.Gradient[i] *= 2 // d/d ln l = 2 d/d ln l²
	}
	if predict = min(predict, n); predict > 0 {
		q := posterior.NewNearest(posterior.Given{Kernel: p.Kernel, Theta: theta, Mean: p.Mean, Noise: 0.1, X: rows.X,
			Y: rows.Y}, 256)
		mean, variance := make([]float64, predict), make([]float64, predict)
		start := time.Now()
		q.Latent(rows.X.RowRange(0, predict), mean, variance)
		r.Predicted = float64(predict) / time.Since(start).Seconds()
	}
	return r, nil
}
