// Command cg measures the iterative solver. With -solve it is krigo's side of bench/cg.py, which describes the task.
// Without -solve it prints the iterations and seconds of each preconditioner on a table.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/ranks"
)

func main() {
	train := flag.String("train", "", "CSV `file`, with the target in the last column")
	test := flag.String("test", "", "CSV `file` of rows to predict, for -solve")
	params := flag.String("params", "", "JSON `file` of parameters, as krigo fit --init takes it")
	rows := flag.Int("rows", 0, "number of rows to train on, chosen at random; 0: all")
	tolerance := flag.Float64("tolerance", 1e-4, "relative residual")
	limit := flag.Int("limit", 1000, "largest number of iterations")
	solve := flag.Bool("solve", false, "report one solve as JSON")
	rank := flag.Int("rank", 500, "rank of the preconditioner, for -solve")
	double := flag.Bool("float64", false, "do all products in float64")
	flag.Parse()
	p, err := read(*train, *params, *rows)
	if err == nil {
		s := iterative.Solver{Times: p.Times, Tolerance: *tolerance, MaxIterations: *limit}
		if !*double {
			s.Rough = p.Rough(ranks.Alone{}, nil)
		}
		if *solve {
			err = p.report(s, *rank, *test)
		} else {
			err = p.table(s)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cg:", err)
		os.Exit(1)
	}
}

// problem is the linear system of a GP: the covariance A at given parameters, and the targets y.
type problem struct {
	iterative.Covariance
	y []float64
}

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// regression reads a table whose target is the last column.
func regression(path string) (*dataset.Data, error) {
	table, err := files.ReadFile(path, dataset.Reading{})
	if err != nil {
		return nil, err
	}
	return table.Regression(table.Names[len(table.Names)-1])
}

// read reads a table and parameters, and standardises the rows by their own mean and scale.
func read(data, paramsFile string, rows int) (problem, error) {
	var p problem
	d, err := regression(data)
	if err != nil {
		return p, err
	}
	chosen := d.All()
	if rows > 0 {
		chosen = rng().Perm(d.Rows)[:rows]
	}
	scaling, err := dataset.ScalingOf(d, chosen, dataset.AllRows)
	if err != nil {
		return p, err
	}
	x, y, err := d.Select(chosen)
	if err != nil {
		return p, err
	}
	scaling.Inputs(x, x)
	scaling.Target(y, y)
	raw, err := os.ReadFile(paramsFile)
	if err != nil {
		return p, err
	}
	var given krigo.Params
	if err := json.Unmarshal(raw, &given); err != nil {
		return p, err
	}
	k, theta, err := given.Kernel.Build(d.Cols)
	if err != nil {
		return p, err
	}
	c := iterative.Covariance{Kernel: k, Theta: theta, X: linalg.Of(len(y), d.Cols, x), Noise: given.NoiseVariance}
	return problem{c, y}, nil
}

// table prints iterations and seconds for each preconditioner.
func (p problem) table(s iterative.Solver) error {
	b, x := linalg.Of(len(p.y), 1, p.y), linalg.New(len(p.y), 1)
	for _, name := range []string{"none", "diagonal", "pivoted 100", "pivoted 500", "pivoted 1000", "nystrom 500"} {
		begin := time.Now()
		pre, err := p.preconditioner(name)
		if err != nil {
			return err
		}
		built := time.Since(begin)
		s.Preconditioner = pre
		x.Zero()
		solution, err := s.Solve(context.Background(), b, x)
		var stalled *iterative.Stalled
		if err != nil && !errors.As(err, &stalled) {
			return err
		}
		fmt.Printf("%-12s %5d iterations, residual %.1e, preconditioner %.2f s, solve %.2f s\n",
			name, solution.Iterations, solution.Residual, built.Seconds(), (time.Since(begin) - built).Seconds())
	}
	return nil
}

func (p problem) preconditioner(name string) (*iterative.Preconditioner, error) {
	kind, size, _ := strings.Cut(name, " ")
	rank, _ := strconv.Atoi(size)
	switch kind {
	case "diagonal":
		return iterative.Diagonal(p.Covariance), nil
	case "pivoted":
		return iterative.PivotedCholesky(p.Covariance, rank)
	case "nystrom":
		z, err := inducing.KMeans(p.X, rank, rng())
		if err != nil {
			return nil, err
		}
		return iterative.Nystrom(p.Covariance, z)
	}
	return nil, nil
}

type report struct {
	Solve      float64   `json:"solve"`
	CPU        float64   `json:"cpu"` // CPU seconds of the solve, summed over threads
	Predict    float64   `json:"predict"`
	Iterations int       `json:"iterations"`
	Residual   float64   `json:"residual"`
	Product    float64   `json:"product"` // CPU seconds of one product in float64, with one column
	Single     float64   `json:"single"`  // CPU seconds of the same product in float32
	RMSE       float64   `json:"rmse"`
	Mean       []float64 `json:"mean"`
	Baseline   int       `json:"baseline_kib"`
	Peak       int       `json:"peak_kib"`
}

func (p problem) report(s iterative.Solver, rank int, test string) error {
	d, err := regression(test)
	if err != nil {
		return err
	}
	// bench/cg.py wrote the test rows in the training rows' units.
	x, y, err := d.Select(d.All())
	if err != nil {
		return err
	}
	var r report
	if r.Baseline, err = memoryKiB("VmRSS"); err != nil {
		return err
	}
	n := len(p.y)
	b, w := linalg.Of(n, 1, p.y), linalg.New(n, 1)
	begin, cpu := time.Now(), cpuSeconds()
	if s.Preconditioner, err = iterative.PivotedCholesky(p.Covariance, rank); err != nil {
		return err
	}
	solution, err := s.Solve(context.Background(), b, w)
	if err != nil {
		return err
	}
	r.CPU = cpuSeconds() - cpu
	r.Solve, r.Iterations, r.Residual = time.Since(begin).Seconds(), solution.Iterations, solution.Residual
	begin = time.Now()
	mean := linalg.New(len(y), 1)
	kernel.At(p.Kernel, p.Theta).Times(linalg.Of(len(y), d.Cols, x), p.X, w, mean)
	r.Predict, r.Mean = time.Since(begin).Seconds(), mean.Data
	for i, v := range y {
		r.RMSE += (v - r.Mean[i]) * (v - r.Mean[i]) / float64(len(y))
	}
	r.RMSE = math.Sqrt(r.RMSE)
	if r.Peak, err = memoryKiB("VmHWM"); err != nil {
		return err
	}
	cpu = cpuSeconds()
	p.Times(w, b)
	r.Product = cpuSeconds() - cpu
	if s.Rough != nil {
		cpu = cpuSeconds()
		s.Rough(w, b)
		r.Single = cpuSeconds() - cpu
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// memoryKiB returns a field of /proc/self/status, in KiB.
func memoryKiB(field string) (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, field+":"); found {
			return strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return 0, fmt.Errorf("no %s in /proc/self/status", field)
}
