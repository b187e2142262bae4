// Command cancel measures how soon each kind of long step returns after its context is cancelled.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/report"
)

// step is a computation that takes long. do returns the computation's error.
type step struct {
	name string
	do   func(ctx context.Context) error
}

func main() {
	only := flag.String("only", "", "only steps whose name contains this text")
	moments := flag.Duration("every", 900*time.Millisecond, "cancel after this time, then after twice, three … times as long")
	times := flag.Int("times", 5, "how often to cancel each step")
	flag.Parse()
	fmt.Printf("| step | cancelled | slowest return after cancelling |\n|---|---|---|\n")
	for _, s := range steps() {
		if !strings.Contains(s.name, *only) {
			continue
		}
		var slowest time.Duration
		for k := range *times {
			ctx, cancel := context.WithCancel(context.Background())
			var at time.Time
			timer := time.AfterFunc(time.Duration(k+1)**moments, func() { at = time.Now(); cancel() })
			err := s.do(ctx)
			took := time.Since(at)
			if timer.Stop() || !errors.Is(err, context.Canceled) {
				log.Fatalf("%s: ended before it was cancelled, or for another reason: %v", s.name, err)
			}
			slowest = max(slowest, took)
		}
		fmt.Printf("| %s | %d times, up to %.1f s in | %.2f s |\n", s.name, *times,
			(time.Duration(*times) * *moments).Seconds(), slowest.Seconds())
	}
}

// table returns a table of random rows with d inputs and a target y.
func table(rows, d int) *dataset.Table {
	rng := rand.New(rand.NewPCG(1, 2))
	t := &dataset.Table{Source: "rows", Rows: rows, Values: make([]float64, 0, rows*(d+1))}
	for j := range d {
		t.Names = append(t.Names, fmt.Sprintf("x%d", j+1))
	}
	t.Names = append(t.Names, "y")
	for range rows {
		y := 0.3 * rng.NormFloat64()
		for j := range d {
			x := rng.NormFloat64()
			t.Values = append(t.Values, x)
			y += math.Sin(x + float64(j))
		}
		t.Values = append(t.Values, y)
	}
	return t
}

// steps returns the computations that take more than 5 s on two cores.
func steps() []step {
	const d = 4
	train, many, long := table(8000, d), table(300_000, d), table(14_000, d)
	options := func(change func(o *krigo.Options)) krigo.Options {
		o := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se", ARD: "off"},
			Method: krigo.Method{Name: "evidence", Solver: "cholesky", InducingBy: "none"}, Prior: krigo.Prior{Kind: "informed"}}
		change(&o)
		return o
	}
	given := func(rows *dataset.Table, change func(o *krigo.Options)) *krigo.Model {
		m, err := krigo.Fit(context.Background(), rows, options(func(o *krigo.Options) {
			o.Method.Epochs, o.Run.Restarts = 1, 1 // nobody looks at what these models predict
			change(o)
		}))
		if err != nil {
			log.Fatal(err)
		}
		return m
	}
	few := table(4900, d)
	exact, ofFew := given(train, func(*krigo.Options) {}), given(few, func(o *krigo.Options) {})
	fit := func(rows *dataset.Table, change func(o *krigo.Options)) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := krigo.Fit(ctx, rows, options(change))
			return err
		}
	}
	return []step{
		{"fit, full GP, 5,600 rows to train", fit(train, func(*krigo.Options) {})},
		{"fit kl-pac, full GP, 7,200 rows", fit(train, func(o *krigo.Options) {
			o.Method.Name, o.Prior.Kind = "kl-pac",
				"grid"
		})},
		{"fit renyi, full GP, 100 inducing inputs", fit(train, func(o *krigo.Options) {
			a := 0.5
			o.Method.Name, o.Method.Alpha, o.Method.Inducing, o.Method.InducingBy = "renyi", &a, 100, ""
		})},
		{"fit, 260,000 rows, 1,500 inducing inputs (k-means, then vfe)", fit(many, func(o *krigo.Options) {
			o.Method = krigo.Method{Name: "vfe", Inducing: 1500}
		})},
		{"choose 1,500 inducing inputs by k-DPP, and fit", fit(many, func(o *krigo.Options) {
			o.Method = krigo.Method{Name: "vfe", Inducing: 1500, InducingInit: "kdpp"}
		})},
		{"choose 1,500 inducing inputs greedily, and fit", fit(many, func(o *krigo.Options) {
			o.Method = krigo.Method{Name: "vfe", Inducing: 1500, InducingInit: "greedy"}
		})},
		{"fit by conjugate gradients, 260,000 rows", fit(many, func(o *krigo.Options) { o.Method.Solver = "cg" })},
		{"fit nearest, 260,000 rows", fit(many, func(o *krigo.Options) { o.Method = krigo.Method{Name: "nearest"} })},
		{"certify again, 5,600 rows of support", func(ctx context.Context) error {
			for {
				if _, err := exact.Certify(ctx, train, krigo.CertifyOptions{}); err != nil {
					return err
				}
			}
		}},
		{"predict 300,000 rows from 5,600", func(ctx context.Context) error {
			_, err := exact.Predict(ctx, many, krigo.PredictOptions{})
			return err
		}},
		{"covariance of 14,000 rows", func(ctx context.Context) error {
			_, err := exact.Covariance(ctx, long)
			return err
		}},
		{"5,000 draws at 14,000 rows", func(ctx context.Context) error {
			_, err := exact.Sample(ctx, long, krigo.SampleOptions{Count: 5000, Seed: 1})
			return err
		}},
		{"full-conformal intervals of 14,000 rows, from 4,900", func(ctx context.Context) error {
			_, err := ofFew.IntervalsOfFew(ctx, few, long, krigo.IntervalOptions{Kind: "full", Level: 0.9})
			return err
		}},
		{"jackknife+ intervals of 14,000 rows, from 4,900", func(ctx context.Context) error {
			_, err := ofFew.IntervalsOfFew(ctx, few, long, krigo.IntervalOptions{Kind: "jackknife", Level: 0.9})
			return err
		}},
		{"report, 5,600 rows of support", func(ctx context.Context) error {
			for {
				if err := report.Write(ctx, io.Discard, exact, train); err != nil {
					return err
				}
			}
		}},
	}
}
