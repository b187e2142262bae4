package iterative

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Solver solves A X = B by preconditioned conjugate gradients.
// It solves all columns of B at once, with one product by A for all of them (mBCG, Gardner et al.
// 2018, App. A). The solution of a column doesn't depend on the other columns.
type Solver struct {
	// Times sets out ← A v for a symmetric positive definite A.
	Times func(v, out matrix.Dense)
	// Rough, unless nil, is a cheaper Times with a few correct digits, which the iterations use.
	// Residuals are computed by Times, and Solve solves again for what is left (iterative
	// refinement). So the answer is as accurate as without Rough. Lanczos processes don't use it.
	Rough func(v, out matrix.Dense)
	// Preconditioner may be nil.
	Preconditioner *Preconditioner
	// Tolerance is the largest relative residual ‖b − A x‖/‖b‖ of a column; 0 means 1e-6.
	// The residual is computed from x itself, not by the recurrence.
	Tolerance float64
	// MaxIterations ends a solve that would take more iterations; 0 means 2000.
	MaxIterations int
	// Probes is the number of columns, at the end of B, whose Lanczos processes are kept.
	// They must be solved from X = 0.
	Probes int
	// Progress, unless nil, is called after every iteration.
	Progress func(Progress)
}

// Progress reports the progress of a solve.
type Progress struct {
	Iteration int
	Residual  float64 // largest relative residual of a column, by the recurrence
}

// Solution holds the results of Solve except X.
type Solution struct {
	Iterations int // products with A or its rough form, without those for residuals
	Residual   float64
	Residuals  matrix.Dense // B − A X
	Lanczos    []*Lanczos   // one per probe
}

// Lanczos is what conjugate gradients learn about P^-½ A P^-½ from one right-hand side z.
// Lanczos' process turns P^-½z into an orthonormal basis V and a tridiagonal matrix T.
// Lanczos keeps T and the vectors P^-½V, which need no root of P (Golub & Van Loan 2013, Sect.
// 11.3).
type Lanczos struct {
	Diagonal, OffDiagonal []float64   // diagonals of T; OffDiagonal has one entry less
	Basis                 [][]float64 // columns of P^-½V

	inverse float64 // 1/α of the last step
}

// Stalled says that a solve can't reach its tolerance.
type Stalled struct {
	Residual, Tolerance float64 // relative
	Iterations          int
	Reason              string
}

// Error says how far the residual came, and what would help. A residual of NaN means that numbers
// overflowed.
func (e *Stalled) Error() string {
	if e.Residual != e.Residual {
		return fmt.Sprintf("conjugate gradients came to numbers that overflow, in %d iterations: "+
			"scale the data, whose numbers are too large or too far apart, or raise the noise "+
			"variance", e.Iterations)
	}
	return fmt.Sprintf("conjugate gradients reached a relative residual of %.2g, not %.2g, in %d "+
		"iterations (%s): raise the noise variance, the preconditioner's rank or the tolerance",
		e.Residual, e.Tolerance, e.Iterations, e.Reason)
}

// roughDigits is the factor by which a cycle of iterations with rough products reduces a residual
// before it is computed again. It stays within what their rounding allows.
const roughDigits = 1e-3

// Solve solves A X = B for all columns of B at once, by conjugate gradients, and overwrites X with
// the solution. X holds the starting point, which may be zeros. An error is a *Stalled, with the
// best X that was reached, or the context's.
//
// It works in cycles: r ← B − A X, conjugate gradients for A e = r, X ← X + e, until the residual
// at the beginning of a cycle is small enough.
func (s Solver) Solve(ctx context.Context, b, x matrix.Dense) (*Solution, error) {
	s.Tolerance, s.MaxIterations = cmp.Or(s.Tolerance, 1e-6), cmp.Or(s.MaxIterations, 2000)
	n := b.Rows
	t := b.Cols
	u := &cycle{Solver: s, ctx: ctx, b: b, x: x, norms: make([]float64, t),
		target: make([]float64, t), norm: make([]float64, t), r: matrix.New(n, t),
		z: matrix.New(n, t), p: matrix.New(n, t), q: matrix.New(n, t)}
	columnNorms(n, u.norms, func(i int, sum []float64) { addSquares(sum, b.Row(i)) })
	for range s.Probes {
		u.lanczos = append(u.lanczos, &Lanczos{})
	}
	// Rounding makes the residual that conjugate gradients carry along differ from B − A X, so each
	// cycle begins with the true residual. If a cycle doesn't halve it, the solve goes on without
	// Rough, or ends.
	before := math.Inf(1)
	for {
		u.residual()
		now := u.worst()
		if now <= s.Tolerance {
			return u.solution(), nil
		}
		reason := ""
		switch gained := now <= before/2; {
		case u.iterations >= s.MaxIterations:
			reason = "as many as are allowed"
		case !gained && u.Rough != nil && u.cycles > 0:
			u.Rough = nil // Rough's rounding may be the reason that the residual doesn't shrink
		case !gained && u.indefinite:
			reason = "the matrix isn't positive definite to working precision"
		case !gained:
			reason = "rounding: more would gain nothing"
		}
		if reason != "" {
			return u.solution(), &Stalled{Residual: now, Tolerance: s.Tolerance,
				Iterations: u.iterations, Reason: reason}
		}
		before = now
		if err := u.run(); err != nil {
			return nil, err
		}
	}
}

// cycle is the state of a solve.
type cycle struct {
	Solver
	ctx          context.Context
	b, x         matrix.Dense
	r, z, p, q   matrix.Dense // r: residual, z: preconditioned residual, p: direction, q = A p
	norms        []float64    // ‖b‖ for every column
	norm, target []float64    // ‖r‖, and the ‖r‖ at which a column's cycle ends
	rho          []float64    // rᵀz before the last step of the previous cycle
	lanczos      []*Lanczos
	iterations   int
	cycles       int
	indefinite   bool
}

// solution returns the figures of the solve so far: iterations, true residuals, and Lanczos
// processes.
func (u *cycle) solution() *Solution {
	return &Solution{Iterations: u.iterations, Residual: u.worst(), Residuals: u.r,
		Lanczos: u.lanczos}
}

// worst returns the largest relative residual. A right-hand side of zeros has no relative residual.
func (u *cycle) worst() float64 {
	var w float64
	for j, v := range u.norm {
		if rel := v / u.norms[j]; u.norms[j] > 0 && !(rel <= w) {
			w = rel
		}
	}
	return w
}

// residual computes r = b − A x again.
func (u *cycle) residual() {
	u.r.CopyFrom(u.b)
	started := false
	for i := range u.x.Rows {
		for _, v := range u.x.Row(i) {
			started = started || v != 0
		}
	}
	if started {
		u.Times(u.x, u.q)
		for i := range u.r.Rows {
			linalg.Axpy(-1, u.q.Row(i), u.r.Row(i))
		}
	}
	columnNorms(u.r.Rows, u.norm, func(i int, sum []float64) { addSquares(sum, u.r.Row(i)) })
}

// run runs one cycle.
func (u *cycle) run() error {
	n := u.r.Rows
	t := u.r.Cols
	record := u.cycles == 0 && u.Probes > 0
	times := u.Times
	digits := 0.
	if u.Rough != nil && !record {
		times = u.Rough
		digits = roughDigits
	}
	for j, v := range u.norms {
		u.target[j] = max(u.Tolerance*v, digits*u.norm[j])
	}
	u.cycles++
	u.indefinite = false
	active := lists.To(t, func(j int) bool { return u.norm[j] > u.target[j] })
	rho := make([]float64, t)
	next := make([]float64, t)
	curve := make([]float64, t)
	alpha := make([]float64, t)
	beta := make([]float64, t)
	u.precondition()
	columnSums(n, rho, func(i int, sum []float64) { addProducts(sum, u.r.Row(i), u.z.Row(i)) })
	for j, last := range u.rho {
		// The new residual differs only in its last digits, so the directions stay conjugate to it
		// (van der Vorst & Ye 2000). A fresh start would search all of them again.
		if u.Rough != nil && active[j] && last > 0 {
			beta[j] = rho[j] / last
		}
	}
	u.turn(beta)
	clear(beta)
	for slices.Contains(active, true) && u.iterations < u.MaxIterations {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		times(u.p, u.q)
		u.iterations++
		columnSums(n, curve,
			func(i int, sum []float64) { addProducts(sum, u.p.Row(i), u.q.Row(i)) })
		for j := range alpha {
			if active[j] && !(rho[j] > 0 && curve[j] > 0) {
				u.indefinite = true // because of rounding, or because A is
				active[j] = false
			}
		}
		quotients(alpha, active, rho, curve)
		if record {
			u.record(active, rho, alpha, beta)
		}
		u.move(alpha)
		for j, v := range u.norm {
			active[j] = active[j] && !(v <= u.target[j])
		}
		if u.Progress != nil {
			u.Progress(Progress{Iteration: u.iterations, Residual: u.worst()})
		}
		if !slices.Contains(active, true) {
			break
		}
		u.precondition()
		columnSums(n, next, func(i int, sum []float64) { addProducts(sum, u.r.Row(i), u.z.Row(i)) })
		quotients(beta, active, next, rho)
		rho, next = next, rho
		u.turn(beta)
	}
	u.rho = rho
	return nil
}

// move sets x ← x + α p and r ← r − α q, and computes the norms of r.
func (u *cycle) move(alpha []float64) {
	columnNorms(u.r.Rows, u.norm, func(i int, sum []float64) {
		x := u.x.Row(i)
		r := u.r.Row(i)
		p := u.p.Row(i)
		q := u.q.Row(i)
		for j, a := range alpha {
			x[j] += a * p[j]
			r[j] -= a * q[j]
		}
		addSquares(sum, r)
	})
}

// quotients sets out to a/b in active columns, and to 0 elsewhere.
func quotients(out []float64, active []bool, a, b []float64) {
	for j := range out {
		out[j] = 0
		if active[j] {
			out[j] = a[j] / b[j]
		}
	}
}

// turn sets p ← z + β p.
func (u *cycle) turn(beta []float64) {
	linalg.Each(u.p.Rows, columnRows, func(i int) {
		p := u.p.Row(i)
		z := u.z.Row(i)
		for j, c := range beta {
			p[j] = z[j] + c*p[j]
		}
	})
}

// precondition writes z = P⁻¹r, or z = r without a preconditioner.
func (u *cycle) precondition() {
	if u.Preconditioner == nil {
		u.z.CopyFrom(u.r)
		return
	}
	u.Preconditioner.Solve(u.r, u.z)
}

// record adds a step to the Lanczos processes of the probes.
// With the coefficients α, β of conjugate gradients, T_jj = 1/α_j + β_j−1/α_j−1 and T_j,j+1 =
// √β_j/α_j, and the vectors are (−1)^j z_j/√(r_jᵀz_j).
func (u *cycle) record(active []bool, rho, alpha, beta []float64) {
	first := len(rho) - len(u.lanczos)
	for c, l := range u.lanczos {
		j := first + c
		if !active[j] {
			continue
		}
		k := len(l.Diagonal)
		diagonal := 1 / alpha[j]
		scale := 1 / math.Sqrt(rho[j])
		if k > 0 {
			diagonal += beta[j] * l.inverse
			l.OffDiagonal = append(l.OffDiagonal, math.Sqrt(beta[j])*l.inverse)
		}
		if k%2 == 1 {
			scale = -scale
		}
		l.inverse = 1 / alpha[j]
		l.Diagonal = append(l.Diagonal, diagonal)
		l.Basis = append(l.Basis, lists.To(u.z.Rows, func(i int) float64 {
			return scale * u.z.At(i, j)
		}))
	}
}

// columnRows is the number of rows whose columns one task adds up.
const columnRows = 1024

// columnSums sets sum to the sum over all rows of what f adds, in a fixed order.
func columnSums(n int, sum []float64, f func(i int, sum []float64)) {
	parts := linalg.Borrow((n+columnRows-1)/columnRows, len(sum))
	parts.Zero()
	linalg.Parallel(parts.Rows, func(t int) {
		for i := t * columnRows; i < min((t+1)*columnRows, n); i++ {
			f(i, parts.Row(t))
		}
	})
	clear(sum)
	for t := range parts.Rows {
		linalg.Axpy(1, parts.Row(t), sum)
	}
	linalg.Return(parts)
}

// columnNorms sets norm to the roots of what columnSums sets.
func columnNorms(n int, norm []float64, f func(i int, sum []float64)) {
	columnSums(n, norm, f)
	for j, v := range norm {
		norm[j] = math.Sqrt(v)
	}
}

// addSquares adds v_j² to sum_j.
func addSquares(sum, v []float64) { addProducts(sum, v, v) }

// addProducts adds v_j w_j to sum_j, for all j of sum.
func addProducts(sum, v, w []float64) {
	v = v[:len(sum)]
	w = w[:len(sum)]
	for j := range sum {
		sum[j] += v[j] * w[j]
	}
}
