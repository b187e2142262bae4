// Command covariance is krigo's side of bench/numcore/covariance.py. Each line on standard input names a task. The
// command does the task once, and prints a JSON object with the seconds that it took and numbers to compare.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"time"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
)

type answer struct {
	Seconds float64   `json:"seconds"`
	Check   []float64 `json:"check"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("covariance: ")
	name := flag.String("kernel", "se", "kernel, with a lengthscale for each input")
	file := flag.String("data", "", "file of float64s: x (rows × dim), v (rows × columns), left (rows), right (centres)")
	rows := flag.Int("rows", 20000, "points")
	centres := flag.Int("centres", 500, "number of points on the other side, which are the first rows of x")
	dim := flag.Int("dim", 8, "inputs")
	columns := flag.Int("columns", 16, "columns of v")
	flag.Parse()
	if err := linalg.LevelError(); err != nil {
		log.Fatal(err)
	}
	k, err := kernel.Parse(*name, *dim, true)
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Open(*file)
	if err != nil {
		log.Fatal(err)
	}
	in := bufio.NewReader(f)
	read := func(r, c int) linalg.Matrix {
		m := linalg.New(r, c)
		if err := binary.Read(in, binary.LittleEndian, m.Data); err != nil {
			log.Fatalf("%s: %v", *file, err)
		}
		return m
	}
	x, v := read(*rows, *dim), read(*rows, *columns)
	left, right := read(*rows, 1), read(1, *centres)
	z := x.RowRange(0, *centres)
	block, bar, out := linalg.New(*rows, *centres), linalg.New(*rows, *centres), linalg.New(*rows, *columns)
	linalg.Gemm(false, false, 1, left, right, 0, bar)
	theta := make([]float64, len(k.Params()))
	for i := range theta {
		theta[i] = 0.1 * float64(i) // ln l², …, ln σ²
	}
	gradient := make([]float64, len(theta))

	tasks := map[string]struct{ run, check func() }{}
	check := func(m linalg.Matrix) []float64 {
		var sum float64
		for i := range m.Rows {
			for _, v := range m.Row(i) {
				sum += math.Abs(v)
			}
		}
		return []float64{sum, m.At(m.Rows/2, m.Cols/3), m.At(m.Rows-1, m.Cols-1)}
	}
	var result answer
	tasks["fill"] = struct{ run, check func() }{
		func() { kernel.At(k, theta).Fill(x, z, block) },
		func() { result.Check = check(block) },
	}
	tasks["pull"] = struct{ run, check func() }{
		func() {
			clear(gradient)
			kernel.At(k, theta).Pull(x, z, kernel.Adjoint{K: bar, Gradient: kernel.Gradient{Theta: gradient}})
		},
		func() { result.Check = gradient },
	}
	tasks["times"] = struct{ run, check func() }{
		func() { kernel.At(k, theta).TimesSymmetric(x, v, out) },
		func() { result.Check = check(out) },
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		t, ok := tasks[lines.Text()]
		if !ok {
			log.Fatalf("unknown task %q", lines.Text())
		}
		start := time.Now()
		t.run()
		result.Seconds = time.Since(start).Seconds()
		t.check()
		line, err := json.Marshal(result)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(line))
	}
}
