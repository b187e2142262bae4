package method

import (
	"cmp"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// Sites of many rows. A full GP of n rows takes n³ operations in each sweep. So each row sees the
// others either through inducing inputs or through its nearest rows.
// Inducing inputs suit a function that they can follow.
// The table has log losses with 20,000 rows, and of an exact GP of 4,000 rows.
// 1,000 rows trained the parameters.
//
//	                                        exact 4,000    1,000 inducing inputs    64, then 512 nearest
//	kin40k above its median                       .1757                    .1398                   .1222
//	pm25 above its median                         .3996                    .3822                   .3689
//	protein above its median                      .3688                    .4348          doesn't settle
//	labels drawn by a sum of smooth effects       .3200                    .3112
const (
	sitedInducing = 1000
	sitedSample   = 10_000 // rows among which the inducing inputs are chosen
	sitedTrial    = 20_000 // rows whose sites show which of the two predicts better
	sitedJudges   = 1000   // rows that are left out for it, one by one
)

// bySites returns Q of the rows whose noise takes sites, at [θ, β, ln s].
func (t Task) bySites(x []float64) (*posterior.Posterior, finding.List, error) {
	if t.Solver != posterior.ByNearest {
		// The sites replace targets and noise variances, and Q is then the exact GP's.
		at, err := t.evidence().Sites(x)
		if err != nil {
			return nil, nil, err
		}
		return t.exact(objective.Observed{Sites: at}.Sited(t.All.X), x)
	}
	// Rows beyond a full GP see the others through nearest rows or inducing inputs. Both are tried
	// on some rows, and −ln p of rows that are left out decides.
	ways := []func(rows objective.Memory, x []float64) (*posterior.Posterior, float64,
		error){t.sitesByNearest, t.sitesByInducing}
	if !t.Either {
		ways = ways[:1]
	} else if _, tree := kernel.Joint(t.Kernel, x[:len(t.Kernel.Params())]); !tree &&
		t.All.X.Rows > neighbours.CorrelatedRows {
		ways = ways[1:] // the search for the nearest rows would compare all rows with all
	}
	rows := t.All
	if len(ways) > 1 && t.All.X.Rows > sitedTrial {
		rows = some(t.All, sitedTrial)
	}
	var q *posterior.Posterior
	best := 0
	least := math.Inf(1)
	failed := error(nil)
	for i, way := range ways {
		p, value, err := way(rows, x)
		if err := t.Context.Err(); err != nil {
			return nil, nil, err
		}
		if failed = cmp.Or(failed, err); err == nil && (q == nil || value < least) {
			q = p
			best = i
			least = value
		}
	}
	if q == nil {
		return nil, nil, failed
	}
	if rows.X.Rows < t.All.X.Rows {
		var err error
		if q, _, err = ways[best](t.All, x); err != nil {
			return nil, nil, err
		}
	}
	if _, nearest := q.Arrays(); nearest > 0 {
		return q, finding.List{finding.New(finding.ByNearest, nearest, t.All.X.Rows)}, nil
	}
	return q, finding.List{finding.New(finding.ByInducing, t.All.X.Rows, q.Inducing())}, nil
}

// judges returns the numbers of the rows that are left out, one by one, to see how a way predicts.
func judges(n int) []int { return lists.Spread(n, sitedJudges) }

// some returns n of the rows, spaced evenly.
func some(rows objective.Memory, n int) objective.Memory {
	of := lists.Spread(rows.X.Rows, n)
	few := objective.Memory{X: rows.X.Like(n, rows.X.Cols), Y: make([]float64, n)}
	for _, i := range of {
		if rows.Shift != nil {
			few.Shift = append(few.Shift, rows.Shift[i])
		}
	}
	_ = rows.Pick(of, few.X.Data, few.Y) // rows in memory are there
	return few
}

// sitesByNearest returns Q whose rows see their nearest rows, and −ln p of rows that are left out.
func (t Task) sitesByNearest(rows objective.Memory,
	x []float64) (*posterior.Posterior, float64, error) {
	theta, beta, scale := t.parameters(x)
	g := posterior.Given{Kernel: t.Kernel, Theta: theta, Mean: t.Mean, Beta: beta, Noise: scale,
		X: rows.X, Y: rows.Y}
	at, err := objective.NearestSites(objective.Stepped(t.Noise, x[t.prior()+1:]), g, rows.Shift)
	if err != nil {
		return nil, 0, err
	}
	sited := at.Sited(rows.X)
	g.Y = sited.Y
	g.PerRow = sited.PerRow
	q := posterior.NewNearest(g, PredictiveRows)
	of := judges(len(rows.Y))
	value := 0.
	errs, variance := q.Others(g.Y, of)
	for k, i := range of {
		value += at.Missed(i, g.Y[i]-errs[k], variance[k])
	}
	return q, value, nil
}

// sitesByInducing returns Q whose rows see inducing inputs, and −ln p of rows that are left out.
func (t Task) sitesByInducing(rows objective.Memory,
	x []float64) (*posterior.Posterior, float64, error) {
	theta, _, _ := t.parameters(x)
	sample := rows.X
	if rows.X.Rows > sitedSample {
		sample = some(rows, sitedSample).X
	}
	// Greedy choice among a sample of the rows, with the kernel at x.
	chosen, err := inducing.Greedy(t.Kernel, theta, sample, sitedInducing)
	if err != nil {
		return nil, 0, err
	}
	t.M = chosen.Z.Rows
	t.Ranks = nil
	noise := objective.Stepped(t.Noise, x[t.prior()+1:])
	x = slices.Concat(x[:t.prior()+1], chosen.Z.Data)
	sparse := t.Sparse()
	sparse.Rows, sparse.Objective = rows, objective.PEP(1)
	at, err := sparse.Sites(noise, rows, x)
	if err != nil {
		return nil, 0, err
	}
	sparse.Rows = at.Sited(rows.X)
	q, err := sparse.Posterior(x, 1)
	return q, lists.Sum(judges(len(rows.Y)), at.LeftOut), err
}
