// Command numcore times krigo's dense routines for bench/numcore.py. For each line "routine n seconds" on standard
// input, it repeats the routine on n × n matrices for about that many seconds. It prints the median time of a call,
// in seconds.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// A routine prepares matrices of order n. It returns the call to time, and a function that runs untimed before each
// call.
type routine func(n int) (before func(), call func() error)

var routines = map[string]routine{
	"gemm": func(n int) (func(), func() error) {
		a, b, c := random(n), random(n), linalg.New(n, n)
		return func() {}, func() error { linalg.Gemm(false, false, 1, a, b, 0, c); return nil }
	},
	"syrk": func(n int) (func(), func() error) {
		a, c := random(n), linalg.New(n, n)
		return func() {}, func() error { linalg.SyrkLower(false, 1, a, 0, c); return nil }
	},
	"trsm": func(n int) (func(), func() error) {
		l, b, x := positive(n), random(n), linalg.New(n, n)
		return func() { x.CopyFrom(b) }, func() error { linalg.Trsm(true, false, l, x); return nil }
	},
	"potrf": func(n int) (func(), func() error) {
		a, l := positive(n), linalg.New(n, n)
		return func() { l.CopyFrom(a) }, func() error { return linalg.Cholesky(l) }
	},
	"potrf+potri": func(n int) (func(), func() error) {
		a, l, c := positive(n), linalg.New(n, n), linalg.New(n, n)
		return func() { l.CopyFrom(a) }, func() error {
			err := linalg.Cholesky(l)
			linalg.CholeskyInverse(l, c)
			return err
		}
	},
}

func random(n int) linalg.Matrix {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	m := linalg.New(n, n)
	for i := range m.Data {
		m.Data[i] = rng.Float64() - 0.5
	}
	return m
}

// positive returns a positive definite matrix of order n.
func positive(n int) linalg.Matrix {
	a, c := random(n), linalg.New(n, n)
	linalg.SyrkLower(false, 1/float64(n), a, 0, c)
	linalg.MirrorLower(c)
	c.AddDiagonal(1)
	return c
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("numcore: ")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var name string
		var n int
		var seconds float64
		if _, err := fmt.Sscan(in.Text(), &name, &n, &seconds); err != nil || routines[name] == nil {
			log.Fatalf("can't read %q: want routine, order, seconds", in.Text())
		}
		before, call := routines[name](n)
		var times []float64
		for spent := 0.0; spent < seconds || len(times) < 4; {
			before()
			start := time.Now()
			if err := call(); err != nil {
				log.Fatal(err)
			}
			s := time.Since(start).Seconds()
			times = append(times, s)
			spent += s
		}
		times = times[1:] // the first call warmed up
		slices.Sort(times)
		fmt.Println(times[len(times)/2])
	}
}
