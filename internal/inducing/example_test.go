package inducing_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// How many inducing inputs do 1,000 points between 0 and 10 need, and where?
func Example() {
	x := matrix.New(1000, 1)
	for i := range x.Data {
		x.Data[i] = 10 * float64(i) / 999
	}
	k, theta := kernel.SE(1, false), []float64{math.Log(4), 0} // lengthscale 2, variance 1

	a, capped, err := inducing.AutoSize(k, theta, x, 100, inducing.DefaultTolerance)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d leave %.4f of the variance, capped: %v\n", len(a.Rows), a.Share, capped)

	z, err := inducing.KMeans(x, len(a.Rows), rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		panic(err)
	}
	fmt.Println(z.Rows, "centres")
	// Output:
	// 7 leave 0.0029 of the variance, capped: false
	// 7 centres
}
