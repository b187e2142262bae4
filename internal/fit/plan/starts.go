package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/train"
)

// Where training starts: the inducing inputs of a plan, and the starting points of each of its
// families.

// Decide decides how to train: full or sparse, from which points, and how often.
func (s Stage) Decide(found finding.List) (*Plan, error) {
	p, err := s.Planned(false, found)
	if err == nil && p.Sparse() {
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
	StartNoise   = 0.3
	leastSpread  = 1e-6 // the standard deviation of a constant column, instead of 0
)

// theoryInducing sets the number of inducing inputs as theory asks, up to the present limit.
// With the SE kernel it is the least M that Theorem 2 needs, if the inputs are Gaussian and
// independent. With a Matérn kernel and one input it is N^{1/r}, with which the bound doesn't grow
// with N. The spread of the inputs is taken from the rows x.
func (p *Plan) theoryInducing(x linalg.Matrix) error {
	n := p.N
	limit := p.Choice.Inducing
	expression := p.Options.Kernel.Expression
	if expression != "se" {
		if p.Data.Cols > 1 {
			return faults.Usage("inducing theory: for %s it is known for one input, not for %d: "+
				"choose the kernel se", expression, p.Data.Cols)
		}
		r := map[string]int{"matern32": 1, "matern52": 2}[expression]
		rate := inducing.MaternExponent(r, 0)
		p.Choice.Inducing = min(limit, int(math.Ceil(math.Pow(float64(n), rate))))
		p.Findings.Add(finding.InducingByRate, p.Choice.Inducing, rate, math.Pow(float64(n), rate),
			limit)
		return nil
	}
	// Theorem 2 needs ‖y‖² of all ranks' rows and the spectrum of the prior.
	var square float64
	for _, y := range p.Y {
		square += y * y
	}
	sum := []float64{square}
	if err := p.Data.Ranks().Sum(sum); err != nil {
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
	theory := inducing.Theory{Rows: n, Alpha: 1, Noise: StartNoise, Variance: 1, Delta: theoryDelta}
	m, bound, err := theory.Enough(spectrum, square, theoryTarget, limit)
	if err != nil {
		return err
	}
	p.Choice.Inducing = m
	if bound > theoryTarget {
		p.Findings.Add(finding.InducingTheoryCap, m, bound, 1-theoryDelta, theoryTarget, limit)
	} else {
		p.Findings.Add(finding.InducingByTheory, m, bound, 1-theoryDelta)
	}
	return nil
}

// chooseInducing sets the inducing inputs that training starts from.
// A choice that needs a kernel takes the family's kernel at the second starting point.
func (p *Plan) chooseInducing() error {
	f := p.Families[0]
	c := &p.Choice
	rng := rand.New(rand.NewPCG(p.Options.Run.Seed, 0x696e6475))
	// θ of the second start: ln l² = ln d for every lengthscale, and 0 for all other parameters.
	theta := make([]float64, len(f.Kernel.Params()))
	for i, q := range f.Kernel.Params() {
		if q.Kind == kernel.Lengthscale {
			theta[i] = math.Log(float64(p.Data.Cols))
		}
	}
	at, err := deal.Gather(p.sample(p.Options.Run.Seed))
	if err != nil {
		return err
	}
	x := at.X
	var set inducing.Set
	if c.InducingBy == "auto" {
		a, capped, err := inducing.AutoSize(f.Kernel, theta, x, p.Choice.Inducing,
			inducing.DefaultTolerance)
		if err != nil {
			return err
		}
		p.Choice.Inducing = len(a.Rows)
		if capped {
			p.Findings.Add(finding.InducingShareCap, p.Choice.Inducing, a.Share,
				inducing.DefaultTolerance)
		} else {
			p.Findings.Add(finding.InducingByShare, p.Choice.Inducing, a.Share)
		}
	}
	if c.InducingBy == "theory" {
		if err := p.theoryInducing(x); err != nil {
			return err
		}
	}
	switch c.InducingInit {
	case "random":
		set, err = inducing.Random(x, p.Choice.Inducing, rng)
	case "greedy":
		var a inducing.Approximation
		a, err = inducing.Greedy(f.Kernel, theta, x, p.Choice.Inducing)
		set = a.Set
		p.Findings.Add(finding.InducingGreedy, len(set.Rows), a.Share)
	case "kdpp":
		set, err = inducing.KDPP(f.Kernel, theta, x, p.Choice.Inducing, rng)
	default:
		set.Z, err = inducing.KMeans(x, p.Choice.Inducing, rng)
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
func (p *Plan) sample(seed uint64) *dataset.Scaled {
	if p.N <= sampleRows {
		return p.Rows
	}
	p.Findings.Add(finding.InducingSample, sampleRows, p.N)
	rng := rand.New(rand.NewPCG(seed, 0x73616d706c65))
	drawn := p.Data.Scaled(nil, p.Scaling)
	own := 0
	count := 0
	for i := range p.N {
		here := own < len(p.Rows.Numbers) && p.Rows.Place(own) == i
		// A row is drawn with probability (rows still wanted)/(rows still to come). All ranks draw
		// alike, and keep the rows that they hold.
		if rng.IntN(p.N-i) < sampleRows-count {
			if here {
				drawn.Numbers = append(drawn.Numbers, p.Rows.Numbers[own])
				if p.Rows.Places != nil {
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

// Starts returns the points [θ, β, ln σ_n², Z] from which a family is trained.
func (p *Plan) Starts(f Family, earlier *train.Result) [][]float64 {
	params := f.Kernel.Params()
	g := f.GridParams()
	at := func(spread, logNoise float64) []float64 {
		x := make([]float64, g+1, g+1+len(p.z.Data))
		for i, q := range params {
			if q.Kind == kernel.Lengthscale {
				x[i] = spread * math.Log(q.Distant(p.Data.Cols))
			}
		}
		var steps []float64
		if p.Ordinal != nil {
			x[len(params)], steps = p.Ordinal.Start(p.All.Y)
		} else if p.Options.Sited() != nil && !p.Options.Labels() && g > len(params) {
			n := float64(len(p.All.Y)) // f is a logarithm
			x[len(params)] = math.Log(floats.Sum(p.All.Y)/n) - floats.Sum(p.All.Shift)/n
		}
		x[g] = logNoise
		x = append(append(x, steps...), p.z.Data...)
		if p.Choice.Learns() && p.Sparse() {
			x = append(x, *p.Choice.Alpha)
		}
		return x
	}
	var starts [][]float64
	if p.init != nil {
		// decide has already reported the error, if there is one
		if x, _ := p.FromInit(f); x != nil {
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
	rng := rand.New(rand.NewPCG(p.Options.Run.Seed, 0x6b7269676f))
	for len(starts) < p.Restarts {
		x := at(0, math.Log(0.01)*rng.Float64())
		for i := range params {
			x[i] += rng.NormFloat64() + x[i]
			if params[i].Kind == kernel.Lengthscale {
				x[i] += math.Log(params[i].Distant(p.Data.Cols)) * rng.Float64()
			}
		}
		starts = append(starts, x)
	}
	return starts[:p.Restarts]
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

// FromInit returns the initial parameters in the shape of a family, or nil if they don't fit.
// One lengthscale is repeated for ARD. Several lengthscales don't fit a kernel with a single
// lengthscale.
func (p *Plan) FromInit(f Family) ([]float64, error) {
	if _, _, _, err := Vector(p.init, p.Options.Kernel.Mean, p.Inputs()); err != nil {
		return nil, err
	}
	like := f.Spec()
	init := *p.init
	init.Kernel = expand(p.init.Kernel, like)
	if !SameShape(init.Kernel, like) {
		return nil, nil
	}
	_, _, x, err := Vector(&init, p.Options.Kernel.Mean, p.Inputs())
	switch given := len(p.init.Inducing); {
	case err != nil || given == p.Choice.Inducing:
		return x, err
	case given == 0:
		return append(x, p.z.Data...), nil
	}
	return nil, faults.Usage("init: it has %d inducing inputs, the fit %d", len(p.init.Inducing),
		p.Choice.Inducing)
}

// checkInit checks that the initial parameters fit at least one family.
func (p *Plan) checkInit() error {
	if p.init == nil {
		return nil
	}
	for _, f := range p.Families {
		if x, err := p.FromInit(f); x != nil || err != nil {
			return err
		}
	}
	return faults.Usage("init: its kernel isn't %s with ard %s: give that kernel, with one "+
		"lengthscale or one an input", p.Options.Kernel.Expression, p.Options.Kernel.ARD)
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
