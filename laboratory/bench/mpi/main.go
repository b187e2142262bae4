// Command mpi is a rank, that is one of the processes, of the benchmark that bench/mpi.py drives. It times an
// evaluation of kl-PAC-SGP with its gradient, and sums over ranks alone. Each rank makes its own rows up. The kernel
// is squared-exponential with a lengthscale for each input, and the mean is zero. GOMAXPROCS sets the number of
// threads.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

const inputs = 8

type report struct {
	Ranks   int       `json:"ranks"`
	Threads int       `json:"threads"`
	Value   float64   `json:"value"`
	Seconds []float64 `json:"seconds"`  // time of each evaluation on the slowest rank
	Peak    []float64 `json:"peak_kib"` // the most memory that each rank held
	Sum     float64   `json:"sum"`      // seconds of summing M×M numbers over ranks
	One     float64   `json:"one"`      // seconds of summing one number
}

func main() {
	rows := flag.Int("rows", 200000, "rows of all ranks together")
	inducing := flag.Int("inducing", 500, "inducing inputs")
	repeat := flag.Int("repeat", 3, "how many evaluations to time")
	keep := flag.Int64("keep", 1<<30, "bytes of V that a rank may keep")
	flag.Parse()
	r, err := ranks.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpi:", err)
		os.Exit(1)
	}
	measured, err := measure(r, *rows, *inducing, *repeat, *keep)
	if err = r.Close(err); err != nil {
		fmt.Fprintln(os.Stderr, "mpi:", err)
		os.Exit(1)
	}
	if r.Rank() == 0 {
		json.NewEncoder(os.Stdout).Encode(measured)
	}
}

func measure(r ranks.Ranks, rows, inducing, repeat int, keep int64) (*report, error) {
	first, end := r.Rank()*rows/r.Size(), (r.Rank()+1)*rows/r.Size()
	at := objective.Memory{X: linalg.New(end-first, inputs), Y: make([]float64, end-first)}
	for i := range at.Y {
		at.Y[i] = row(first+i, at.X.Row(i))
	}
	p := &objective.SparseProblem{Kernel: kernel.SE(inputs, true), Mean: kernel.ZeroMean{}, Rows: at, M: inducing,
		Keep: keep, Ranks: r,
		Objective: &objective.SparsePAC{Alpha: 1, Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6},
			Bound: pacbayes.KLBound, Penalty: pacbayes.KLBound.Penalty(0, rows, 0.01)}}
	x := make([]float64, p.Dim())
	for i := range inputs {
		x[i] = math.Log(inputs)
	}
	x[inputs+1] = math.Log(0.3)
	for j := range inducing {
		row(rows+j, x[inputs+2+j*inputs:][:inputs])
	}
	gradient := make([]float64, len(x))
	out := &report{Ranks: r.Size(), Threads: runtime.GOMAXPROCS(0)}
	var err error
	if out.Value, err = p.Evaluate(x, gradient); err != nil {
		return nil, err
	}
	timed := func(work func() error) (float64, error) {
		if err := r.Agree(nil); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		every, err := ranks.All(r, time.Since(begin).Seconds())
		slowest := 0.
		for _, of := range every {
			slowest = max(slowest, of[0])
		}
		return slowest, err
	}
	for range repeat {
		s, err := timed(func() error { _, err := p.Evaluate(x, gradient); return err })
		if err != nil {
			return nil, err
		}
		out.Seconds = append(out.Seconds, s)
	}
	const sums = 200
	for _, c := range []struct {
		n  int
		to *float64
	}{{inducing * inducing, &out.Sum}, {1, &out.One}} {
		v := make([]float64, c.n)
		s, err := timed(func() error {
			for range sums {
				if err := r.Sum(v); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		*c.to = s / sums
	}
	peaks, err := ranks.All(r, peakKiB())
	for _, of := range peaks {
		out.Peak = append(out.Peak, of[0])
	}
	return out, err
}

// row fills x with made-up inputs of row i, and returns the row's target.
func row(i int, x []float64) float64 {
	rng := rand.New(rand.NewPCG(7, uint64(i)))
	y := 0.3 * rng.NormFloat64()
	for j := range x {
		x[j] = rng.NormFloat64()
		y += math.Sin(x[j]) / float64(1+j)
	}
	return y
}

// peakKiB returns the most memory that this process has held, in KiB.
func peakKiB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			return kib
		}
	}
	return math.NaN()
}
