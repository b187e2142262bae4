// Command cg measures the iterative solver on a table, for bench/cg.py and for the tables
// of docs/performance.md: iterations for each preconditioner, or the time and memory of
// one solve and of predictions.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
)

func main() {
	log.SetFlags(0)
	data := flag.String("data", "", "CSV file, its target in the last column")
	paramsFile := flag.String("params", "", "parameters in scaled units, as krigo evaluate takes them")
	rows := flag.Int("rows", 0, "rows to train on, of a shuffle; 0: all")
	tolerance := flag.Float64("tolerance", 1e-4, "relative residual")
	limit := flag.Int("limit", 1000, "iterations")
	flag.Parse()
	c, y := problem(*data, *paramsFile, *rows)
	b, x := linalg.Of(len(y), 1, y), linalg.New(len(y), 1)
	for _, name := range []string{"none", "diagonal", "pivoted 50", "pivoted 100", "pivoted 200", "pivoted 500", "nystrom 200", "nystrom 500"} {
		begin := time.Now()
		var p *iterative.Preconditioner
		var err error
		var kind string
		var rank int
		fmt.Sscan(name, &kind, &rank)
		switch kind {
		case "diagonal":
			p = iterative.Diagonal(c)
		case "pivoted":
			p, err = iterative.PivotedCholesky(c, rank)
		case "nystrom":
			var z linalg.Matrix
			if z, err = inducing.KMeans(c.X, rank, rng()); err == nil {
				p, err = iterative.Nystrom(c, z)
			}
		}
		if err != nil {
			fmt.Printf("%s: %v\n", name, err)
			continue
		}
		built := time.Since(begin)
		x.Zero()
		s, err := iterative.Solver{Times: c.Times, Preconditioner: p, Tolerance: *tolerance, MaxIterations: *limit}.Solve(context.Background(), b, x)
		if s == nil {
			log.Fatal(err)
		}
		fmt.Printf("%-12s %5d iterations, residual %.1e, preconditioner %.2f s, all %.2f s\n", name, s.Iterations, s.Residual, built.Seconds(), time.Since(begin).Seconds())
	}
}

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// problem returns A at the parameters and standardised targets, of rows chosen at random.
func problem(data, paramsFile string, rows int) (iterative.Covariance, []float64) {
	table, err := dataset.ReadFile(data)
	if err != nil {
		log.Fatal(err)
	}
	d, err := table.Regression(table.Names[len(table.Names)-1])
	if err != nil {
		log.Fatal(err)
	}
	chosen := rng().Perm(d.Rows)
	if rows > 0 {
		chosen = chosen[:rows]
	}
	scaling, err := dataset.ScalingOf(d, chosen, dataset.AllRows)
	if err != nil {
		log.Fatal(err)
	}
	x, y, err := d.Select(chosen)
	if err != nil {
		log.Fatal(err)
	}
	scaling.Inputs(x, x)
	scaling.Target(y, y)
	raw, err := os.ReadFile(paramsFile)
	if err != nil {
		log.Fatal(err)
	}
	var params krigo.Params
	if err := json.Unmarshal(raw, &params); err != nil {
		log.Fatal(err)
	}
	k, theta, err := params.Kernel.Build(d.Cols)
	if err != nil {
		log.Fatal(err)
	}
	if !(params.NoiseVariance > 0) || math.IsInf(params.NoiseVariance, 1) {
		log.Fatalf("%s: noise_variance is %v", paramsFile, params.NoiseVariance)
	}
	return iterative.Covariance{Kernel: k, Theta: theta, X: linalg.Of(len(y), d.Cols, x), Noise: params.NoiseVariance}, y
}
