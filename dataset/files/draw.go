package files

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/memory"
)

// Draw is a table drawn from a Gaussian process with an SE kernel, approximated by random Fourier
// features (Rahimi & Recht 2007). With ω_kj ~ N(0, 1/l_j²), b_k ~ U(0, 2π),
//
//	x ~ N(0, I),  f(x) = √(2σ_s²/F) Σ_k cos(ω_kᵀx + b_k),  y = f(x) + N(0, σ_n²)
//
// The same Draw gives the same rows. With fewer Rows it gives the first of these rows.
type Draw struct {
	Rows, Inputs  int
	Variance      float64 // σ_s²
	NoiseVariance float64 // σ_n²
	// l, one per input or one for all; nil: drawn log-uniformly from √d/2 to 4√d
	Lengthscales []float64
	Features     int // F
	Seed         uint64
}

// Streams of a Draw's generator: one for the function, and one per block of rows.
const (
	functionStream = 0x67656e6572617465
	drawBlock      = 1024 // rows of a block, drawn from one stream
)

// Validate reports everything that is wrong with the settings.
func (g Draw) Validate() error {
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	var errs []error
	if g.Rows < 1 || g.Inputs < 1 || g.Features < 1 {
		errs = append(errs, fmt.Errorf("%d rows of %d inputs from %d features: want at least one "+
			"of each", g.Rows, g.Inputs, g.Features))
	}
	if !positive(g.Variance) || !(g.NoiseVariance >= 0) || math.IsInf(g.NoiseVariance, 1) {
		errs = append(errs, fmt.Errorf("variance %v, noise variance %v: want a positive number, "+
			"and one that isn't negative", g.Variance, g.NoiseVariance))
	}
	if n := len(g.Lengthscales); n > 1 && n != g.Inputs {
		errs = append(errs, fmt.Errorf("%d lengthscales for %d inputs: want one for each, or one "+
			"for all", n, g.Inputs))
	}
	for _, l := range g.Lengthscales {
		if !positive(l) {
			errs = append(errs, fmt.Errorf("lengthscale %v: want a positive number", l))
		}
	}
	return errors.Join(errs...)
}

// Write draws the rows and writes them to a file (see [WriteFile]).
// Its memory doesn't grow with the number of rows. It returns the lengthscales.
// Write calls progress, unless it is nil, from time to time with the number of rows done.
// If ctx ends, Write writes nothing.
func (g Draw) Write(ctx context.Context, path string,
	progress func(done int)) (lengthscales []float64, err error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	batch := 4 * runtime.GOMAXPROCS(0) // number of blocks drawn side by side
	const growth, name = 2, 32
	inputs := float64(g.Inputs) + 1
	values := growth*inputs*float64(g.Features) + float64(batch)*drawBlock*inputs
	if err := memory.Afford(fmt.Sprintf("%s: drawing %d inputs from %d features", path, g.Inputs,
		g.Features), 8*values+name*inputs); err != nil {
		return nil, err
	}
	names := append(lists.To(g.Inputs, func(j int) string { return "x" + strconv.Itoa(j+1) }), "y")

	f := g.function()
	blocks := make([][]float64, batch)
	return f.lengthscales, WriteFile(path, names, g.Rows, func(row int, values []float64) error {
		b := row / drawBlock
		if row%(batch*drawBlock) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(row)
			}
			var wait sync.WaitGroup
			for k := range blocks {
				wait.Go(func() {
					blocks[k] = f.draw(b+k,
						min(drawBlock, max(g.Rows-(b+k)*drawBlock, 0)), blocks[k])
				})
			}
			wait.Wait()
		}
		copy(values, blocks[b%batch][row%drawBlock*len(values):])
		return nil
	})
}

// drawn is the function of a Draw.
type drawn struct {
	Draw
	lengthscales []float64
	omega        []float64 // F×d
	phase        []float64 // F
}

// function draws the random Fourier features of a squared exponential kernel (Rahimi and Recht
// 2007): frequencies ω ~ N(0, 1/ℓ²) for each input, and phases uniform on [0, 2π). Without
// lengthscales it draws each ℓ from √d/2 to 4√d, uniform in its logarithm.
func (g Draw) function() *drawn {
	f := &drawn{Draw: g, lengthscales: g.Lengthscales}
	rng := rand.New(rand.NewPCG(g.Seed, functionStream))
	root := math.Sqrt(float64(g.Inputs))
	switch len(f.lengthscales) {
	case 0:
		f.lengthscales = lists.To(g.Inputs, func(int) float64 {
			return root / 2 * math.Pow(8, rng.Float64())
		})
	case 1:
		f.lengthscales = slices.Repeat(g.Lengthscales, g.Inputs)
	}
	for range g.Features {
		for _, l := range f.lengthscales {
			f.omega = append(f.omega, rng.NormFloat64()/l)
		}
		f.phase = append(f.phase, 2*math.Pi*rng.Float64())
	}
	return f
}

// draw returns the rows of a block, each with its inputs before its target.
// The result takes the memory of `instead` if that is large enough.
func (f *drawn) draw(block, rows int, instead []float64) []float64 {
	out := instead[:0]
	rng := rand.New(rand.NewPCG(f.Seed, functionStream+1+uint64(block)))
	scale := math.Sqrt(2 * f.Variance / float64(f.Features))
	noise := math.Sqrt(f.NoiseVariance)
	for range rows {
		for range f.Inputs {
			out = append(out, rng.NormFloat64())
		}
		x := out[len(out)-f.Inputs:]
		omega := f.omega
		sum := 0.0
		for _, angle := range f.phase {
			for j, v := range x {
				angle += omega[j] * v
			}
			omega = omega[f.Inputs:]
			sum += math.Cos(angle)
		}
		out = append(out, scale*sum+noise*rng.NormFloat64())
	}
	return out
}
