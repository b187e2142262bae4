package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/train"
)

// renyiSetting is one run of the two papers' experiments on the Rényi GP.
type renyiSetting struct {
	Data string
	// renyi, egp, sgp, pep; renyi-fixed, evidence and vfe, with all rows in every step; renyi-nearest, egp-nearest
	Method  string
	Kernel  string  // the kernel, with one lengthscale per input
	Alpha   float64 // the α of pep and renyi-fixed
	M       int
	Batch   int // rows of a batch, 0: all
	Epochs  int
	Rate    float64 // size of Adam's first step
	Fixed   bool    // training doesn't move the inducing inputs
	Rows    int     // most training rows, 0: all
	Spread  float64 // standard deviation of the starting log-parameters around their default
	NewData bool    // a new split for every repetition, not only a new start
	Fold    int     // 1, 2, 3: leave out this third of the training rows, and score on the rows left out
	Rep     int
}

func (s renyiSetting) key() string { return fmt.Sprintf("%+v", s) }

// renyiResult is the result of a run, in standard deviations of the target.
type renyiResult struct {
	RMSE     float64 `json:"rmse"`
	NLPD     float64 `json:"nlpd"` // mean over the first test rows, at most nlpdRows
	Value    float64 `json:"value"`
	Noise    float64 `json:"noise"`
	Minutes  float64 `json:"minutes"` // time of training
	Total    float64 `json:"total"`   // time of training and prediction
	Rejected int     `json:"rejected"`
	Predicts string  `json:"predicts"` // how the posterior predicts
}

// nlpdRows is the largest number of test rows in the mean of NLPD.
const nlpdRows = 2000

// simulated are the test functions of the papers, evaluated at 1,000 random points.
var simulated = map[string]struct {
	lower, upper []float64
	f            func(x []float64) float64
}{
	"gramacy-lee": {[]float64{0.5}, []float64{2.5}, func(x []float64) float64 {
		return math.Sin(10*math.Pi*x[0])/(2*x[0]) + math.Pow(x[0]-1, 4)
	}},
	"branin-hoo": {[]float64{-5, 0}, []float64{10, 15}, func(x []float64) float64 {
		a := x[1] - 5.1/(4*math.Pi*math.Pi)*x[0]*x[0] + 5/math.Pi*x[0] - 6
		return a*a + 10*(1-1/(8*math.Pi))*math.Cos(x[0]) + 10
	}},
	"griewank-4": {slices.Repeat([]float64{-600}, 4), slices.Repeat([]float64{600}, 4), func(x []float64) float64 {
		sum, product := 0.0, 1.0
		for i, v := range x {
			sum += v * v / 4000
			product *= math.Cos(v / math.Sqrt(float64(i+1)))
		}
		return sum - product + 1
	}},
}

const simulatedRows = 1000

// derived are data sets of the second paper that have another set's rows with another target.
var derived = map[string]struct {
	of     string
	target func(y float64) float64
	train  int // number of training rows that the paper states
}{
	"protein-log": {"protein", math.Log1p, 29_267},
}

// rows returns a data set's inputs and targets, in their own units.
func (s renyiSetting) rows(env Env) (linalg.Matrix, []float64, error) {
	if f, ok := simulated[s.Data]; ok {
		rng := rand.New(rand.NewPCG(2023, uint64(len(f.lower))))
		x, y := linalg.New(simulatedRows, len(f.lower)), make([]float64, simulatedRows)
		for i := range y {
			for j := range f.lower {
				x.Set(i, j, f.lower[j]+(f.upper[j]-f.lower[j])*rng.Float64())
			}
			y[i] = f.f(x.Row(i))
		}
		return x, y, nil
	}
	other, isDerived := derived[s.Data]
	table, err := env.table(cmp.Or(other.of, s.Data), slices.Sorted(maps.Keys(simulated))...)
	if err != nil {
		return linalg.Matrix{}, nil, err
	}
	var inputs []string
	for _, name := range table.Names[:len(table.Names)-1] {
		if name != "unit" { // unit is an identifier
			inputs = append(inputs, name)
		}
	}
	d, err := table.Select(inputs, table.Names[len(table.Names)-1])
	if err != nil {
		return linalg.Matrix{}, nil, err
	}
	x, y, err := d.Select(d.All())
	if isDerived {
		for i := range y {
			y[i] = other.target(y[i])
		}
	}
	return linalg.Of(d.Rows, d.Cols, x), y, err
}

// split standardises by all rows and gives 60 % of them to training, as the papers do. Columns that don't vary are
// left out.
func (s renyiSetting) split(env Env) (split, error) {
	x, y, err := s.rows(env)
	if err != nil {
		return split{}, err
	}
	standardise := func(n int, at func(i int) *float64) bool {
		var mean, square float64
		for i := range n {
			mean += *at(i) / float64(n)
		}
		for i := range n {
			square += (*at(i) - mean) * (*at(i) - mean) / float64(n)
		}
		for i := range n {
			*at(i) = (*at(i) - mean) / math.Sqrt(square)
		}
		return square > 0
	}
	standardise(len(y), func(i int) *float64 { return &y[i] })
	var keep []int
	for j := range x.Cols {
		if standardise(x.Rows, func(i int) *float64 { return &x.Data[i*x.Stride+j] }) {
			keep = append(keep, j)
		}
	}
	seed := uint64(0)
	if s.NewData {
		seed = uint64(s.Rep)
	}
	order := rand.New(rand.NewPCG(seed, 0x73706c6974)).Perm(len(y))
	n := cmp.Or(derived[s.Data].train, len(y)*6/10)
	trainRows, testRows := order[:n], order[n:]
	if s.Rows > 0 && n > s.Rows {
		trainRows = trainRows[:s.Rows]
	}
	if s.Fold > 0 {
		n, f := len(trainRows), s.Fold
		trainRows, testRows = slices.Concat(trainRows[:(f-1)*n/3], trainRows[f*n/3:]), trainRows[(f-1)*n/3:f*n/3]
	}
	pick := func(rows []int) (linalg.Matrix, []float64) {
		px, py := linalg.New(len(rows), len(keep)), make([]float64, len(rows))
		for i, row := range rows {
			for k, j := range keep {
				px.Set(i, k, x.At(row, j))
			}
			py[i] = y[row]
		}
		return px, py
	}
	var sp split
	sp.x, sp.y = pick(trainRows)
	sp.xTest, sp.yTest = pick(testRows)
	return sp, nil
}

// run trains one setting and scores it on the test rows.
func (s renyiSetting) run(ctx context.Context, env Env) (renyiResult, error) {
	sp, err := s.split(env)
	if err != nil {
		return renyiResult{}, err
	}
	return s.fit(ctx, sp)
}

func (s renyiSetting) fit(ctx context.Context, sp split) (renyiResult, error) {
	begin := time.Now()
	n, d := sp.x.Rows, sp.x.Cols
	rng := rand.New(rand.NewPCG(uint64(s.Rep), 0x7374617274))
	k, err := kernel.Parse(s.Kernel, d, true)
	if err != nil {
		return renyiResult{}, err
	}
	// ln l² = ln d, from the distance of standardised rows. The variance is 1, and the noise variance 0.1.
	x := make([]float64, len(k.Params())+1)
	for i, q := range k.Params() {
		if q.Kind == kernel.Lengthscale {
			x[i] = math.Log(float64(d)) + 2*s.Spread*rng.NormFloat64()
		} else {
			x[i] = s.Spread * rng.NormFloat64()
		}
	}
	x[len(x)-1] = math.Log(0.1) + s.Spread*rng.NormFloat64()
	free := len(x)
	how := way{name: s.Method, alpha: s.Alpha, limit: 12, seed: uint64(s.Rep)}
	if s.Method == method.EvidenceName {
		how.name = "egp" // on batches of another size
	}
	if how.name != "egp" && how.name != egpLocal {
		set, err := inducing.Random(sp.x, min(s.M, n), rng)
		if err != nil {
			return renyiResult{}, err
		}
		x = append(x, set.Z.Data...)
		how.m = set.Z.Rows
	}
	problem, err := how.bind(k, sp.x, sp.y)
	if err != nil {
		return renyiResult{}, err
	}
	batch := s.Batch
	if batch == 0 || batch > n {
		batch = n
	}
	a := train.Adam{Batch: batch, LearningRate: s.Rate, Seed: uint64(s.Rep)}
	a.Steps = s.Epochs * a.Batches(n)
	if s.Method == "sgp" {
		a.NaturalStep = max(0.1, 1/float64(a.Batches(n)))
	}
	if x, err = problem.Start(x); err != nil {
		return renyiResult{}, err
	}
	box := train.Bounds{Lower: slices.Repeat([]float64{math.Inf(-1)}, len(x)),
		Upper: slices.Repeat([]float64{math.Inf(1)}, len(x))}
	for i := range free {
		box.Lower[i], box.Upper[i] = -how.limit, how.limit
	}
	box.Lower[free-1] = math.Log(1e-8)
	if s.Fixed {
		copy(box.Lower[free:free+how.m*d], x[free:])
		copy(box.Upper[free:free+how.m*d], x[free:])
	}
	var r renyiResult
	if s.Method == renyiLocal || s.Method == egpLocal { // these methods have their own minimiser
		alone := method.Run{Load: func(string) *method.State { return nil },
			Tell: func(string, *method.State, int, float64, string) error { return nil }}
		o, err := problem.Minimize(ctx, alone, x)
		if err != nil {
			return r, err
		}
		x, r.Value, r.Rejected = o.X, o.Value, o.Rejected
	} else if s.Epochs == 0 { // trains until convergence, with all rows in every step
		o, err := train.MMA{MaxEvaluations: mmaEvaluations}.In(box).Minimize(ctx, problem, train.StartMMA(x), nil)
		if err != nil {
			return r, err
		}
		x, r.Value, r.Rejected = o.X, o.Value, o.Rejected
	} else {
		stochastic, ok := problem.(train.Stochastic)
		if !ok {
			return r, fmt.Errorf("%s isn't trained on batches", s.Method)
		}
		a.Box = box
		state, err := a.Minimize(ctx, stochastic, train.StartAdam(x), nil)
		if err != nil {
			return r, err
		}
		x, r.Value, r.Rejected = state.X, state.Mean, state.Rejected
		for i := range x {
			x[i] = min(max(x[i], box.Lower[i]), box.Upper[i])
		}
	}
	r.Minutes = time.Since(begin).Minutes()

	r.Noise = math.Exp(x[len(k.Params())])
	q, _, err := problem.Posterior(x)
	if err != nil {
		return r, err
	}
	r.Predicts = predicts(q)
	mean, v := make([]float64, len(sp.yTest)), make([]float64, min(len(sp.yTest), nlpdRows))
	q.Latent(sp.xTest.RowRange(0, len(v)), mean[:len(v)], v)
	q.Latent(sp.xTest.RowRange(len(v), len(mean)), mean[len(v):], nil)
	for i, y := range sp.yTest {
		r.RMSE += (y - mean[i]) * (y - mean[i]) / float64(len(mean))
	}
	r.RMSE = math.Sqrt(r.RMSE)
	for i, variance := range v {
		variance += r.Noise
		e := sp.yTest[i] - mean[i]
		r.NLPD += (math.Log(2*math.Pi*variance) + e*e/variance) / 2 / float64(len(v))
	}
	r.Total = time.Since(begin).Minutes()
	return r, nil
}

// mmaEvaluations limits training with all rows in every step. The first paper's limit is 10,000 iterations.
const mmaEvaluations = 300

// runRenyi runs settings, one after another if a step keeps all cores busy.
func runRenyi(ctx context.Context, env Env, name string, settings []renyiSetting,
	partial func([]renyiResult, []bool)) ([]renyiResult, error) {
	tasks := make([]task[renyiResult], len(settings))
	for i, s := range settings {
		tasks[i] = task[renyiResult]{s.key(), func(ctx context.Context) (renyiResult, error) { return s.run(ctx, env) }}
	}
	env.OneAtATime = true
	return runAll(ctx, env, name, tasks, partial)
}
