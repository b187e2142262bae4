package krigo

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/train"
)

// Where training starts: the inducing inputs of a plan, and the starting points of each of its
// families.

// decide decides how to train: full or sparse, from which points, and how often.
func (s stage) decide(found finding.List) (*plan, error) {
	p, err := s.planned(false, found)
	if err == nil && p.sparse() {
		err = p.chooseInducing()
	}
	if err == nil {
		err = p.checkInit()
	}
	return p, err
}

// --inducing theory asks Theorem 2 for D ≤ 1 nat with probability 0.9, for the kernel that training
// starts from. At α = 1 the theorem's bound is largest.
const (
	theoryTarget = 1
	theoryDelta  = 0.1
	startNoise   = 0.3
	leastSpread  = 1e-6 // the standard deviation of a constant column, instead of 0
)

// theoryInducing sets the number of inducing inputs as theory asks, up to the present limit.
// With the SE kernel it is the least M that Theorem 2 needs, if the inputs are Gaussian and
// independent. With a Matérn kernel and one input it is N^{1/r}, with which the bound doesn't grow
// with N. The spread of the inputs is taken from the rows x.
func (p *plan) theoryInducing(x linalg.Matrix) error {
	n := p.n
	limit := p.choice.Inducing
	expression := p.options.Kernel.Expression
	if expression != "se" {
		if p.data.Cols > 1 {
			return faults.Usage("inducing theory: for %s it is known for one input, not for %d: choose "+
				"the kernel se", expression, p.data.Cols)
		}
		r := map[string]int{"matern32": 1, "matern52": 2}[expression]
		rate := inducing.MaternExponent(r, 0)
		p.choice.Inducing = min(limit, int(math.Ceil(math.Pow(float64(n), rate))))
		p.findings.Add(finding.InducingByRate, p.choice.Inducing, rate, math.Pow(float64(n), rate),
			limit)
		return nil
	}
	var square float64
	for _, y := range p.y {
		square += y * y
	}
	sum := []float64{square}
	if err := p.data.Ranks().Sum(sum); err != nil {
		return err
	}
	square = sum[0]
	lengths := slices.Repeat([]float64{math.Sqrt(float64(x.Cols))}, x.Cols)
	spread := make([]float64, x.Cols)
	for j := range x.Cols {
		var mean float64
		for i := range x.Rows {
			mean += x.At(i, j) / float64(x.Rows)
		}
		for i := range x.Rows {
			spread[j] += (x.At(i, j) - mean) * (x.At(i, j) - mean) / float64(x.Rows)
		}
		spread[j] = max(math.Sqrt(spread[j]), leastSpread)
	}
	spectrum, err := inducing.NewSESpectrum(1, lengths, spread)
	if err != nil {
		return err
	}
	theory := inducing.Theory{Rows: n, Alpha: 1, Noise: startNoise, Variance: 1, Delta: theoryDelta}
	m, bound, err := theory.Enough(spectrum, square, theoryTarget, limit)
	if err != nil {
		return err
	}
	p.choice.Inducing = m
	if bound > theoryTarget {
		p.findings.Add(finding.InducingTheoryCap, m, bound, 1-theoryDelta, theoryTarget, limit)
	} else {
		p.findings.Add(finding.InducingByTheory, m, bound, 1-theoryDelta)
	}
	return nil
}

// chooseInducing sets the inducing inputs that training starts from.
// A choice that needs a kernel takes the family's kernel at the second starting point.
func (p *plan) chooseInducing() error {
	f := p.families[0]
	c := &p.choice
	seed := p.options.Run.Seed
	rng := rand.New(rand.NewPCG(seed, 0x696e6475))
	theta := make([]float64, len(f.kernel.Params()))
	for i, q := range f.kernel.Params() {
		if q.Kind == kernel.Lengthscale {
			theta[i] = math.Log(float64(p.data.Cols))
		}
	}
	at, err := gather(p.sample(seed))
	if err != nil {
		return err
	}
	x := at.X
	var set inducing.Set
	if c.InducingBy == "auto" {
		a, capped, err := inducing.AutoSize(f.kernel, theta, x, p.choice.Inducing,
			inducing.DefaultTolerance)
		if err != nil {
			return err
		}
		p.choice.Inducing = len(a.Rows)
		if capped {
			p.findings.Add(finding.InducingShareCap, p.choice.Inducing, a.Share,
				inducing.DefaultTolerance)
		} else {
			p.findings.Add(finding.InducingByShare, p.choice.Inducing, a.Share)
		}
	}
	if c.InducingBy == "theory" {
		if err := p.theoryInducing(x); err != nil {
			return err
		}
	}
	switch c.InducingInit {
	case "random":
		set, err = inducing.Random(x, p.choice.Inducing, rng)
	case "greedy":
		var a inducing.Approximation
		a, err = inducing.Greedy(f.kernel, theta, x, p.choice.Inducing)
		set = a.Set
		p.findings.Add(finding.InducingGreedy, len(set.Rows), a.Share)
	case "kdpp":
		set, err = inducing.KDPP(f.kernel, theta, x, p.choice.Inducing, rng)
	default:
		set.Z, err = inducing.KMeans(x, p.choice.Inducing, rng)
	}
	if err != nil {
		return err
	}
	p.z = set.Z
	c.Inducing = set.Z.Rows
	return nil
}

// sampleRows limits the rows from which inducing inputs are chosen, because these rows are in
// memory at once. For 2,000 inducing inputs it still leaves 25 rows each.
const sampleRows = 50000

// sample views the rows to train on. If there are more than sampleRows, it draws sampleRows of them
// at random, in their order (Knuth's Algorithm S).
func (p *plan) sample(seed uint64) *dataset.Scaled {
	if p.n <= sampleRows {
		return p.rows
	}
	p.findings.Add(finding.InducingSample, sampleRows, p.n)
	rng := rand.New(rand.NewPCG(seed, 0x73616d706c65))
	drawn := p.data.Scaled(nil, p.scaling)
	own := 0
	count := 0
	for i := range p.n {
		here := own < len(p.rows.Numbers) && p.rows.Place(own) == i
		if rng.IntN(p.n-i) < sampleRows-count {
			if here {
				drawn.Numbers = append(drawn.Numbers, p.rows.Numbers[own])
				if p.rows.Places != nil {
					drawn.Places = append(drawn.Places, count)
				}
			}
			count++
		}
		if here {
			own++
		}
	}
	return drawn
}

// starts returns the points [θ, β, ln σ_n², Z] from which a family is trained.
func (p *plan) starts(f family, earlier *train.Result) [][]float64 {
	o := p.options
	params := f.kernel.Params()
	g := f.gridParams()
	at := func(spread, logNoise float64) []float64 {
		x := make([]float64, g+1, g+1+len(p.z.Data))
		for i, q := range params {
			if q.Kind == kernel.Lengthscale {
				x[i] = spread * math.Log(q.Distant(p.data.Cols))
			}
		}
		var steps []float64
		if p.ordinal != nil {
			x[len(params)], steps = p.ordinal.Start(p.all.Y)
		} else if o.sited() != nil && !o.labels() && g > len(params) {
			n := float64(len(p.all.Y)) // f is a logarithm
			x[len(params)] = math.Log(floats.Sum(p.all.Y)/n) - floats.Sum(p.all.Shift)/n
		}
		x[g] = logNoise
		x = append(append(x, steps...), p.z.Data...)
		if p.choice.Learns() && p.sparse() {
			x = append(x, *p.choice.Alpha)
		}
		return x
	}
	var starts [][]float64
	if p.init != nil {
		// decide has already reported the error, if there is one
		if x, _ := p.fromInit(f); x != nil {
			full := at(0, 0)
			copy(full, x)
			starts = append(starts, full)
		}
	}
	if earlier != nil {
		// Every input gets the same lengthscale.
		x := at(0, 0)
		j := 0
		for i := range params {
			x[i] = earlier.X[j]
			if base := ardBase(params, i); base == "" || base != ardBase(params, i+1) {
				j++
			}
		}
		copy(x[len(params):], earlier.X[j:])
		starts = append(starts, x)
	}
	// Reeb et al. start with all parameters 1. Standardised inputs lie about √(2d) apart, so l² = d
	// is a natural length.
	starts = append(starts, at(1, math.Log(0.3)), at(0, 0))
	// another stream than the stream that assigns roles
	rng := rand.New(rand.NewPCG(o.Run.Seed, 0x6b7269676f))
	for len(starts) < p.restarts {
		x := at(0, math.Log(0.01)*rng.Float64())
		for i := range params {
			x[i] += rng.NormFloat64() + x[i]
			if params[i].Kind == kernel.Lengthscale {
				x[i] += math.Log(params[i].Distant(p.data.Cols)) * rng.Float64()
			}
		}
		starts = append(starts, x)
	}
	return starts[:p.restarts]
}

// ardBase returns what the names of a kernel's lengthscales under ARD have in common, if parameter
// i is one of them, else "".
func ardBase(params []kernel.Param, i int) string {
	if i == len(params) || params[i].Kind != kernel.Lengthscale || params[i].Dim < 0 {
		return ""
	}
	base, _, _ := strings.Cut(params[i].Name, "[")
	return base
}

// fromInit returns the initial parameters in the shape of a family, or nil if they don't fit.
// One lengthscale is repeated for ARD. Several lengthscales don't fit a kernel with a single
// lengthscale.
func (p *plan) fromInit(f family) ([]float64, error) {
	if _, _, _, err := p.init.vector(p.options.Kernel.Mean, p.inputs()); err != nil {
		return nil, err
	}
	like := f.spec()
	init := *p.init
	init.Kernel = expand(p.init.Kernel, like)
	if !sameShape(init.Kernel, like) {
		return nil, nil
	}
	_, _, x, err := init.vector(p.options.Kernel.Mean, p.inputs())
	switch given := len(p.init.Inducing); {
	case err != nil || given == p.choice.Inducing:
		return x, err
	case given == 0:
		return append(x, p.z.Data...), nil
	}
	return nil, faults.Usage("init: it has %d inducing inputs, the fit %d", len(p.init.Inducing),
		p.choice.Inducing)
}

// checkInit checks that the initial parameters fit at least one family.
func (p *plan) checkInit() error {
	if p.init == nil {
		return nil
	}
	for _, f := range p.families {
		if x, err := p.fromInit(f); x != nil || err != nil {
			return err
		}
	}
	return faults.Usage("init: its kernel isn't %s with ard %s: give that kernel, with one lengthscale "+
		"or one an input", p.options.Kernel.Expression, p.options.Kernel.ARD)
}

// expand repeats single lengthscales of s, so that s has as many as like.
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
