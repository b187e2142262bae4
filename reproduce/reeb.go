package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// measures are what Table 1 of Reeb et al. 2018 reports of a run.
type measures struct {
	B         float64 `json:"b"`
	BPin      float64 `json:"b_pin"`
	TrainRisk float64 `json:"train_risk"` // Gibbs
	TestRisk  float64 `json:"test_risk"`  // Gibbs
	MSE       float64 `json:"mse"`
	KLPerRow  float64 `json:"kl_per_row"`
	Noise     float64 `json:"noise_variance"`
	Valid     bool    `json:"valid"`
}

func (m measures) values() []float64 {
	return []float64{m.B, m.BPin, m.TrainRisk, m.TestRisk, m.MSE, m.KLPerRow, m.Noise}
}

var measureNames = []string{"B", "B_Pin", "R_S train", "R_S test", "MSE", "KL/N", "σ_n²"}

// reebSplit is the split of the paper's code: 20 % test rows off the front of numpy's
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

func reebFullGP(ctx context.Context, rep int, eps float64, method string) (measures, error) {
	sp, err := paperSplit(data.Boston(), "MEDV", rep)
	if err != nil {
		return measures{}, err
	}
	x, y, xTest, yTest := sp.x, sp.y, sp.xTest, sp.yTest

	grid := pacbayes.DefaultGrid
	terms := pacbayes.Terms{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: eps}, EpsilonRaw: eps * sp.sd,
		Delta: 0.01, Grid: grid, Params: 2, Choices: 1, Scaling: dataset.AllRows}
	k, mean := kernel.SE(x.Cols, false), kernel.ZeroMean{}
	problem := &objective.Problem{Kernel: k, Mean: mean, X: x, Y: y}
	penalty := pacbayes.Penalty(grid.LogInverseP(terms.Params), 0, len(y), terms.Delta)
	coords := softplus{problem, 1}
	box := coords.box(3)
	switch method {
	case "kl-pac":
		problem.Objective = &objective.PAC{Loss: terms.Loss, Bound: pacbayes.KLBound, Penalty: penalty}
	case "sqrt-pac":
		problem.Objective = &objective.PAC{Loss: terms.Loss, Bound: pacbayes.PinskerBound, Penalty: penalty}
	default:
		problem.Objective, box = &objective.Evidence{}, train.Bounds{}
	}
	one := softplusInverse(1)
	r, err := train.LBFGS{}.Minimize(ctx, coords, box, train.Start([]float64{one, one, one}), nil)
	if err != nil {
		return measures{}, err
	}
	at, _ := coords.logs(r.X)
	noise := math.Exp(at[2])
	q, err := posterior.NewExact(k, []float64{roundPaper(grid, at[0], true), roundPaper(grid, at[1], false)}, mean, nil, x, y, noise)
	if err != nil {
		return measures{}, err
	}
	m, v := make([]float64, len(y)), make([]float64, len(y))
	q.Latent(x, m, v)
	c, err := terms.Certify(y, m, v, nil, q.KL())
	if err != nil {
		return measures{}, err
	}
	out := measures{B: c.Bound, BPin: c.BoundSqrt, TrainRisk: c.EmpiricalRisk, KLPerRow: c.KL / float64(c.Rows), Noise: noise, Valid: c.Valid}
	m, v = m[:len(yTest)], v[:len(yTest)]
	q.Latent(xTest, m, v)
	out.TestRisk = pacbayes.Risk(terms.Loss, yTest, m, v, nil, nil, nil)
	for i, t := range yTest {
		out.MSE += (t - m[i]) * (t - m[i]) / float64(len(yTest))
	}
	return out, nil
}

// softplus is a Problem in the coordinates of the paper's code: every lengthscale l,
// σ_s² and σ_n² is ln(1+eˣ) + 1e-6; inducing inputs are as they are. The optimum doesn't
// care, but the path to it does, and with it which local optimum a single start finds.
type softplus struct {
	problem      train.Objective
	lengthscales int
}

const softplusFloor = 1e-6

func softplusInverse(v float64) float64 {
	return v - softplusFloor + math.Log(-math.Expm1(softplusFloor-v))
}

// box is the paper's: lengthscales and variance in [e⁻⁶, e⁶], all else free.
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

// logs returns [ln l², ln σ_s², ln σ_n², …] at x and the derivative of each by its own x.
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

// roundPaper rounds ln l, not ln l², to the grid, as the paper's code does, or ln σ_s².
func roundPaper(grid pacbayes.Grid, log float64, isLengthscale bool) float64 {
	if isLengthscale {
		l, _, _ := grid.Round(log / 2)
		return 2 * l
	}
	v, _, _ := grid.Round(log)
	return v
}

// column returns mean and standard error of one measure.
func column(rs []measures, j int) (mean, se float64) {
	v := make([]float64, len(rs))
	for i, r := range rs {
		v[i] = r.values()[j]
	}
	return meanSE(v)
}

// sparseSetting is one run of the paper's sparse experiments.
type sparseSetting struct {
	Data   string
	ARD    bool
	Method string // kl-pac, sqrt-pac, vfe, fitc
	M      int
	Loss   pacbayes.Kind
	Eps    float64
	Rep    int
}

func (s sparseSetting) key() string {
	return fmt.Sprintf("%s/ard=%v/%s/m=%d/%s/eps=%g/rep=%d", s.Data, s.ARD, s.Method, s.M, s.Loss, s.Eps, s.Rep)
}

// targets are the columns to predict of the sparse data sets.
var targets = map[string]string{"pol": "y", "kin40k": "y", "sarcos10k": "torque1", "boston": "MEDV"}

// split is a data set scaled by all its rows and split as the paper's code does.
type split struct {
	x, xTest linalg.Matrix
	y, yTest []float64
	sd       float64 // of the target
}

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

// run trains one setting as the paper's code does: k-means start, hyperparameters at
// ones, everything trained jointly with at most maxEvaluations evaluations, then ln l and
// ln σ_s² rounded to two decimals.
func (s sparseSetting) run(ctx context.Context, env Env) (sparseResult, error) {
	table, err := env.table(s.Data)
	if err != nil {
		return sparseResult{}, err
	}
	sp, err := paperSplit(table, targets[s.Data], s.Rep)
	if err != nil {
		return sparseResult{}, err
	}
	return s.fit(ctx, env, sp)
}

func (s sparseSetting) fit(ctx context.Context, env Env, sp split) (sparseResult, error) {
	d := sp.x.Cols
	z, err := kmeans2(sp.x, s.M, uint32(math.Abs(sp.x.At(0, 0)))) // the seed of the paper's code
	if err != nil {
		return sparseResult{}, err
	}
	k := kernel.SE(d, s.ARD)
	nl := len(k.Params()) - 1
	grid := pacbayes.DefaultGrid
	terms := pacbayes.Terms{Loss: pacbayes.Loss{Kind: s.Loss, Below: s.Eps}, EpsilonRaw: s.Eps * sp.sd,
		Delta: 0.01, Grid: grid, Params: nl + 1, Choices: 1, Scaling: dataset.AllRows}
	problem := &objective.SparseProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: sp.x, Y: sp.y}, M: s.M, Keep: 1 << 30, MinJitter: 1e-6}
	penalty := pacbayes.Penalty(grid.LogInverseP(terms.Params), 0, len(sp.y), terms.Delta)
	pac := func(b pacbayes.Inequality) *objective.SparsePAC {
		return &objective.SparsePAC{Alpha: 1, Loss: terms.Loss, Bound: b, Penalty: penalty}
	}
	switch s.Method {
	case "kl-pac":
		problem.Objective = pac(pacbayes.KLBound)
	case "sqrt-pac":
		problem.Objective = pac(pacbayes.PinskerBound)
	case "vfe":
		problem.Objective = objective.VFE()
	case "fitc":
		problem.Objective = objective.FITC()
	default:
		return sparseResult{}, fmt.Errorf("unknown method %q", s.Method)
	}
	// The paper bounds lengthscales and variance for its own methods; GPflow's are free.
	coords := softplus{problem, nl}
	x0 := append(slices.Repeat([]float64{softplusInverse(1)}, nl+2), z.Data...)
	box := train.Bounds{}
	if s.Method == "kl-pac" || s.Method == "sqrt-pac" {
		box = coords.box(len(x0))
	}
	r, err := env.minimize(ctx, s.key(), env.maxEvaluations(), coords, box, x0)
	if err != nil {
		return sparseResult{}, err
	}
	x, _ := coords.logs(r.X)
	for i := range nl + 1 {
		x[i] = roundPaper(grid, x[i], i < nl)
	}
	out := sparseResult{Evaluations: r.Evaluations, Stopped: r.Stopped}
	evaluate := func(alpha float64) (measures, float64, error) {
		q, err := problem.Posterior(x, alpha)
		if err != nil {
			return measures{}, 0, err
		}
		m, v := make([]float64, len(sp.y)), make([]float64, len(sp.y))
		q.Latent(sp.x, m, v)
		c, err := terms.Certify(sp.y, m, v, nil, q.KL())
		if err != nil {
			return measures{}, 0, err
		}
		res := measures{B: c.Bound, BPin: c.BoundSqrt, TrainRisk: c.EmpiricalRisk, KLPerRow: c.KL / float64(c.Rows), Noise: q.Noise, Valid: c.Valid}
		m, v = m[:len(sp.yTest)], v[:len(sp.yTest)]
		q.Latent(sp.xTest, m, v)
		res.TestRisk = pacbayes.Risk(terms.Loss, sp.yTest, m, v, nil, nil, nil)
		for i, t := range sp.yTest {
			res.MSE += (t - m[i]) * (t - m[i]) / float64(len(sp.yTest))
		}
		zeroOne := pacbayes.Risk(pacbayes.Loss{Kind: pacbayes.Band, Below: s.Eps}, sp.yTest, m, v, nil, nil, nil)
		return res, zeroOne, nil
	}
	if out.FITC, out.ZeroOne, err = evaluate(1); err != nil {
		return out, err
	}
	if s.Method == "vfe" {
		own, _, err := evaluate(0)
		if err != nil {
			return out, err
		}
		out.Own = &own
	}
	return out, nil
}

// maxEvaluations is the limit of the paper's code, unless the environment sets another.
func (e Env) maxEvaluations() int {
	if e.Evaluations > 0 {
		return e.Evaluations
	}
	return 1000
}
