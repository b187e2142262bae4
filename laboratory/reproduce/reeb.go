package main

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// measures are what Table 1 of Reeb et al. 2018 reports of a run.
type measures struct {
	B         float64 `json:"b"`
	BPin      float64 `json:"b_pin"`
	TrainRisk float64 `json:"train_risk"` // Gibbs risk
	TestRisk  float64 `json:"test_risk"`  // Gibbs risk
	MSE       float64 `json:"mse"`
	KLPerRow  float64 `json:"kl_per_row"`
	Noise     float64 `json:"noise_variance"`
	Valid     bool    `json:"valid"`
}

func (m measures) values() []float64 {
	return []float64{m.B, m.BPin, m.TrainRisk, m.TestRisk, m.MSE, m.KLPerRow, m.Noise}
}

var measureNames = []string{"B", "B_Pin", "R_S train", "R_S test", "MSE", "KL/N", "σ_n²"}

// reebSetting is one run of the code of Reeb et al. 2018.
type reebSetting struct {
	Data   string
	ARD    bool
	Method string // kl-pac, sqrt-pac; evidence for full GPs; vfe and fitc for sparse GPs
	M      int    // 0: a full GP
	Loss   pacbayes.Kind
	Eps    float64
	Rep    int
}

func (s reebSetting) key() string {
	return fmt.Sprintf("%s/ard=%v/%s/m=%d/%s/eps=%g/rep=%d", s.Data, s.ARD, s.Method, s.M, s.Loss, s.Eps, s.Rep)
}

// trained names the trained state. Only the bounds depend on the loss. The evidence and its approximations give the
// same parameters with each loss, so Table 3 uses the states that Table 2 left.
func (s reebSetting) trained() string {
	if s.Method == method.KLPACName || s.Method == method.SqrtPACName {
		return s.key()
	}
	return fmt.Sprintf("%s/ard=%v/%s/m=%d/rep=%d", s.Data, s.ARD, s.Method, s.M, s.Rep)
}

// targets are the columns to predict in the sparse data sets.
var targets = map[string]string{"pol": "y", "kin40k": "y", "sarcos10k": "torque1", "boston": "MEDV"}

// reebSplit is the split of the paper's code: the test rows are the first 20 % of numpy's
// RandomState(seed).permutation(n), a Fisher–Yates shuffle with masked rejection.
func reebSplit(n, seed int) (trainRows, testRows []int) {
	mt := prng.NewMT19937()
	mt.Seed(uint64(seed))
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		mask := uint32(1)<<bits.Len(uint(i)) - 1
		j := mt.Uint32() & mask
		for j > uint32(i) {
			j = mt.Uint32() & mask
		}
		p[i], p[j] = p[j], p[i]
	}
	test := int(math.Ceil(0.2 * float64(n)))
	return p[test:], p[:test]
}

// paperSplit scales a data set by all its rows and splits it, as the paper's code does.
func paperSplit(table *dataset.Table, target string, rep int) (split, error) {
	d, err := table.Regression(target)
	if err != nil {
		return split{}, err
	}
	scaling, err := dataset.ScalingOf(d, d.All(), dataset.AllRows)
	if err != nil {
		return split{}, err
	}
	pick := func(rows []int) (linalg.Matrix, []float64, error) {
		x, y, err := d.Select(rows)
		scaling.Inputs(x, x)
		scaling.Target(y, y)
		return linalg.Of(len(rows), d.Cols, x), y, err
	}
	trainRows, testRows := reebSplit(d.Rows, rep)
	s := split{sd: scaling.TargetScale}
	if s.x, s.y, err = pick(trainRows); err != nil {
		return split{}, err
	}
	s.xTest, s.yTest, err = pick(testRows)
	return s, err
}

// reebModel is the trained GP of a setting.
type reebModel struct {
	split
	kernel      kernel.Kernel
	way         way
	terms       pacbayes.Terms
	params      []float64 // rounded parameters in the problem's order
	evaluations int
	stopped     string
}

// train does one run of the paper's code: inducing inputs start from k-means, hyperparameters start at 1, and
// everything is trained jointly. Then ln l and ln σ_s² are rounded to two decimals.
func (s reebSetting) train(ctx context.Context, env Env) (*reebModel, error) {
	table, err := env.table(s.Data)
	if err != nil {
		return nil, err
	}
	sp, err := paperSplit(table, targets[s.Data], s.Rep)
	if err != nil {
		return nil, err
	}
	k := kernel.SE(sp.x.Cols, s.ARD)
	nl := len(k.Params()) - 1
	grid := pacbayes.DefaultGrid()
	terms := pacbayes.Terms{Loss: pacbayes.Loss{Kind: s.Loss, Below: s.Eps}, EpsilonRaw: s.Eps * sp.sd,
		Delta: reebDelta, Grid: grid, Params: nl + 1, Choices: 1, Scaling: dataset.AllRows}
	how := way{name: s.Method, m: s.M, loss: terms.Loss, penalty: reebPenalty(grid, terms.Params, len(sp.y)),
		minJitter: 1e-6}
	problem, err := how.bind(k, sp.x, sp.y)
	if err != nil {
		return nil, err
	}
	coords := softplus{problem, nl}
	x0 := slices.Repeat([]float64{softplusInverse(1)}, nl+2)
	evaluations := 0 // 0: full GPs are trained to the end
	if s.M > 0 {
		z, err := kmeans2(sp.x, s.M, uint32(math.Abs(sp.x.At(0, 0)))) // the seed in the paper's code
		if err != nil {
			return nil, err
		}
		x0 = append(x0, z.Data...)
		evaluations = env.maxEvaluations()
	}
	// The paper bounds lengthscales and variance for its own methods. GPflow's methods have no bounds.
	box := train.Bounds{}
	if s.Method == method.KLPACName || s.Method == method.SqrtPACName {
		box = coords.box(len(x0))
	}
	r, err := env.minimize(ctx, s.trained(), evaluations, coords, box, x0)
	if err != nil {
		return nil, err
	}
	x, _ := coords.logs(r.X)
	for i := range nl + 1 {
		x[i] = roundPaper(grid, x[i], i < nl)
	}
	return &reebModel{sp, k, how, terms, x, r.Evaluations, r.Stopped}, nil
}

// measure returns the measures of the named method's posterior at the model's parameters.
func (g *reebModel) measure(name string) (m measures, zeroOne float64, err error) {
	how := g.way
	how.name = name
	problem, err := how.bind(g.kernel, g.x, g.y)
	if err != nil {
		return m, 0, err
	}
	q, _, err := problem.Posterior(g.params)
	if err != nil {
		return m, 0, err
	}
	return measure(q, g.terms, g.split)
}

// measure certifies a posterior by the rows that trained it, and scores it on the test rows. zeroOne is the Gibbs risk
// of the 0-1 loss on the test rows, also if the terms have another loss.
func measure(q *posterior.Posterior, terms pacbayes.Terms, sp split) (r measures, zeroOne float64, err error) {
	m, v := make([]float64, len(sp.y)), make([]float64, len(sp.y))
	q.Latent(sp.x, m, v)
	c, err := terms.Certify(pacbayes.Sample{Y: sp.y, Mean: m, Variance: v}, q.KL())
	if err != nil {
		return r, 0, err
	}
	r = measures{B: c.Bound, BPin: c.BoundSqrt, TrainRisk: c.EmpiricalRisk, KLPerRow: c.KL / float64(c.Rows),
		Noise: q.Noise, Valid: c.Valid}
	m, v = make([]float64, len(sp.yTest)), make([]float64, len(sp.yTest))
	q.Latent(sp.xTest, m, v)
	test := pacbayes.Sample{Y: sp.yTest, Mean: m, Variance: v}
	if r.TestRisk, err = test.Risk(terms.Loss, nil, nil); err != nil {
		return r, 0, err
	}
	for i, t := range sp.yTest {
		r.MSE += (t - m[i]) * (t - m[i]) / float64(len(sp.yTest))
	}
	zeroOne, err = test.Risk(pacbayes.Loss{Kind: pacbayes.Band, Below: terms.Loss.Below}, nil, nil)
	return r, zeroOne, err
}

// reebDelta is the paper's δ. reebPenalty is the penalty in the paper's bounds for δ and for a choice of params
// parameters on the grid.
const reebDelta = 0.01

func reebPenalty(grid pacbayes.Grid, params, rows int) float64 {
	return pacbayes.KLBound.Penalty(grid.LogInverseP(params), rows, reebDelta)
}

// maxEvaluations returns the limit in the paper's code for sparse GPs, unless the environment sets another limit.
func (e Env) maxEvaluations() int {
	if e.Evaluations > 0 {
		return e.Evaluations
	}
	return 1000
}

// softplus is a Problem in the coordinates of the paper's code. Every lengthscale l, σ_s² and σ_n² is ln(1+eˣ) + 1e-6,
// and inducing inputs are themselves. The optimum doesn't depend on the coordinates. But the path depends on them, and
// so the local optimum that a single start finds depends on them.
type softplus struct {
	problem      train.Objective
	lengthscales int
}

const softplusFloor = 1e-6

func softplusInverse(v float64) float64 {
	return v - softplusFloor + math.Log(-math.Expm1(softplusFloor-v))
}

// box returns the paper's box, which has lengthscales and variance in [e⁻⁶, e⁶], and no other limits.
func (s softplus) box(n int) train.Bounds {
	lower, upper := make([]float64, n), make([]float64, n)
	for i := range n {
		lower[i], upper[i] = math.Inf(-1), math.Inf(1)
		if i <= s.lengthscales {
			lower[i], upper[i] = softplusInverse(math.Exp(-6)), softplusInverse(math.Exp(6))
		}
	}
	return train.Bounds{Lower: lower, Upper: upper}
}

// Dim implements train.Objective.
func (s softplus) Dim() int { return s.problem.Dim() }

// logs returns [ln l², ln σ_s², ln σ_n², …] at x, and the derivative of each by its own x.
func (s softplus) logs(x []float64) (logs, slopes []float64) {
	logs, slopes = slices.Clone(x), slices.Repeat([]float64{1}, len(x))
	for i, v := range x[:s.lengthscales+2] {
		t := math.Max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) + softplusFloor
		l, d := math.Log(t), 1/((1+math.Exp(-v))*t)
		if i < s.lengthscales {
			l, d = 2*l, 2*d
		}
		logs[i], slopes[i] = l, d
	}
	return logs, slopes
}

// Evaluate implements train.Objective.
func (s softplus) Evaluate(x, gradient []float64) (float64, error) {
	logs, slopes := s.logs(x)
	value, err := s.problem.Evaluate(logs, gradient)
	for i := range gradient {
		gradient[i] *= slopes[i]
	}
	return value, err
}

// roundPaper rounds ln l (not ln l²) or ln σ_s² to the grid, as the paper's code does.
func roundPaper(grid pacbayes.Grid, log float64, isLengthscale bool) float64 {
	if isLengthscale {
		l, _, _ := grid.Round(log / 2)
		return 2 * l
	}
	v, _, _ := grid.Round(log)
	return v
}

// column returns the mean and standard error of one measure.
func column(rs []measures, j int) (mean, se float64) {
	v := make([]float64, len(rs))
	for i, r := range rs {
		v[i] = r.values()[j]
	}
	return meanSE(v)
}
