package train_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/krigo-gp/krigo/train"
)

// bowl is (x-1)² + 10(y-2)². The first example minimises it for y <= 1.5.
type bowl struct{}

func (bowl) Dim() int { return 2 }

func (bowl) Evaluate(x, gradient []float64) (float64, error) {
	u, v := x[0]-1, x[1]-2
	if gradient != nil {
		gradient[0], gradient[1] = 2*u, 20*v
	}
	return u*u + 10*v*v, nil
}

func ExampleLBFGS_Minimize() {
	inf := 1e300 // or math.Inf(1), or leave out the slice
	bounds := train.Bounds{Upper: []float64{inf, 1.5}}
	r, err := train.LBFGS{}.In(bounds).Minimize(context.Background(), bowl{}, train.Start([]float64{0, 0}), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f at %.4f, on a bound: %v, %s\n", r.Value, r.X, r.AtBound, r.Stopped)
	// Output: 2.5000 at [1.0000 1.5000], on a bound: [1], converged: gradient
}

// A run that stops, is saved and is resumed later ends where it would have ended without the stop.
func ExampleState() {
	var file []byte
	save := func(s *train.State) (err error) { file, err = json.Marshal(s); return err }
	short := train.LBFGS{MaxIterations: 2}
	r, err := short.Minimize(context.Background(), bowl{}, train.Start([]float64{0, 0}), save)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Stopped)

	var state train.State
	if err := json.Unmarshal(file, &state); err != nil {
		fmt.Println(err)
		return
	}
	r, err = train.LBFGS{}.Minimize(context.Background(), bowl{}, &state, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f, %s\n", r.X, r.Stopped)
	// Output:
	// iteration limit
	// [1.0000 2.0000], converged: gradient
}

// mean is the mean squared distance from a number to the numbers of the rows.
type mean []float64

func (m mean) Dim() int       { return 1 }
func (m mean) BatchRows() int { return len(m) }

func (m mean) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	var value float64
	gradient[0] = 0
	for _, i := range rows {
		d := x[0] - m[i]
		value += d * d / float64(len(rows))
		gradient[0] += 2 * d / float64(len(rows))
	}
	return value, nil
}

func ExampleAdam_Minimize() {
	rows := mean{1, 2, 3, 4, 5, 6, 7, 8}
	adam := train.Adam{Steps: 2000, Batch: 4, LearningRate: 0.1, FinalRate: 1e-5}
	s, err := adam.Minimize(context.Background(), rows, train.StartAdam([]float64{0}), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f after %d steps, %d an epoch\n", s.X, s.Steps, adam.Batches(len(rows)))
	// Output: [4.5] after 2000 steps, 2 an epoch
}
