package krigo

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/train"
)

// starts returns the points [θ, β, ln σ_n², Z] to train a family from.
func (p *plan) starts(f family, earlier *train.Result) [][]float64 {
	o := p.options
	params := f.kernel.Params()
	g := f.gridParams()
	at := func(logL2, logNoise float64) []float64 {
		x := make([]float64, g+1, g+1+len(p.z.Data))
		for i, q := range params {
			if q.Kind == kernel.Lengthscale {
				x[i] = logL2
			}
		}
		x[g] = logNoise
		x = append(x, p.z.Data...)
		if p.choice.Learns() && p.sparse() {
			x = append(x, *p.choice.Alpha)
		}
		return x
	}
	var starts [][]float64
	if p.init != nil {
		if x, _ := p.fromInit(f); x != nil { // errors were met by decide
			full := at(0, 0)
			copy(full, x)
			starts = append(starts, full)
		}
	}
	if earlier != nil {
		// One lengthscale for all inputs, repeated for each.
		x := at(0, 0)
		j := 0
		for i, q := range params {
			x[i] = earlier.X[j]
			if q.Kind != kernel.Lengthscale || q.Dim == p.data.Cols-1 {
				j++
			}
		}
		copy(x[len(params):], earlier.X[j:])
		starts = append(starts, x)
	}
	// All ones is where Reeb et al. start; standardised inputs lie about √(2d) apart,
	// for which l² = d is the natural length.
	spread := math.Log(float64(p.data.Cols))
	starts = append(starts, at(spread, math.Log(0.3)), at(0, 0))
	rng := rand.New(rand.NewPCG(o.Run.Seed, 0x6b7269676f)) // a stream apart from the shuffle's
	for len(starts) < p.restarts {
		x := at(0, math.Log(0.01)*rng.Float64())
		for i := range params {
			x[i] += rng.NormFloat64() + x[i]
			if params[i].Kind == kernel.Lengthscale {
				x[i] += spread * rng.Float64()
			}
		}
		starts = append(starts, x)
	}
	return starts[:p.restarts]
}

// fromInit returns the initial parameters in the shape of a family, or nil where
// they don't have it: one lengthscale is repeated for ARD, several don't fit without.
func (p *plan) fromInit(f family) ([]float64, error) {
	if _, _, _, err := p.init.vector(p.options.Kernel.Mean, p.data.Cols); err != nil {
		return nil, err
	}
	like := f.spec()
	init := *p.init
	init.Kernel = expand(p.init.Kernel, like)
	if !sameShape(init.Kernel, like) {
		return nil, nil
	}
	_, _, x, err := init.vector(p.options.Kernel.Mean, p.data.Cols)
	switch given := len(p.init.Inducing); {
	case err != nil || given == p.choice.Inducing:
		return x, err
	case given == 0:
		return append(x, p.z.Data...), nil
	}
	return nil, usage("init: it has %d inducing inputs, the fit %d", len(p.init.Inducing), p.choice.Inducing)
}

// checkInit makes sure that the initial parameters serve at least one family.
func (p *plan) checkInit() error {
	if p.init == nil {
		return nil
	}
	for _, f := range p.families {
		if x, err := p.fromInit(f); x != nil || err != nil {
			return err
		}
	}
	return usage("init: its kernel isn't %s with ard %s: give that kernel, with one lengthscale or one an input",
		p.options.Kernel.Expression, p.options.Kernel.ARD)
}

// expand repeats single lengthscales of s as often as like has them.
func expand(s, like kernel.Spec) kernel.Spec {
	if len(s.Lengthscales) == 1 && len(like.Lengthscales) > 1 {
		s.Lengthscales = slices.Repeat(s.Lengthscales, len(like.Lengthscales))
	}
	if len(s.Parts) == len(like.Parts) {
		s.Parts = slices.Clone(s.Parts)
		for i := range s.Parts {
			s.Parts[i] = expand(s.Parts[i], like.Parts[i])
		}
	}
	return s
}

// run is the training from one starting point.
type run struct {
	family family
	result *train.Result
}

// count adds up what runs took, since training begun.
func count(t *model.Training, runs []run, begun time.Time) {
	for _, r := range runs {
		t.Starts++
		t.Iterations += r.result.Iterations
		t.Evaluations += r.result.Evaluations
	}
	t.Seconds = time.Since(begun).Seconds()
}
