package objective

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// Energy is the family of collapsed energies of sparse GPs (Reeb et al. 2018, Eq. 34,
// and power EP, Bui, Yan, Turner 2017):
//
//	F_α = ½[ln|B| + Σ ln D_i + N ln 2π + Σ r_i²/D_i − bᵀB⁻¹b] + ((1−α)/(2α)) Σ ln(1 + αλ_i/s)
//
// ½[…] is −ln N(r; 0, VᵀV + D). For α → 0 the last term tends to Σ λ_i/(2s), and F_α to the energy
// of Titsias' VFE bound. α = 1 is FITC. DTC is VFE without the last term, the trace term.
type Energy struct {
	Alpha float64 // α, in [0, 1]
	DTC   bool    // leave the trace term out; needs Alpha 0
}

// VFE, FITC, DTC and PEP return the energies with these names. alpha of PEP lies in (0, 1].
func VFE() *Energy              { return &Energy{} }
func FITC() *Energy             { return &Energy{Alpha: 1} }
func DTC() *Energy              { return &Energy{DTC: true} }
func PEP(alpha float64) *Energy { return &Energy{Alpha: alpha} }

func (f *Energy) alpha() float64 { return f.Alpha }

// evaluate implements Sparse. It returns F_α over the rows of all ranks.
// Unless s is nil, it fills s with the direct adjoints of B, b, D_i, λ_i, r_i and s.
func (f *Energy) evaluate(e *sparseEngine, s *sparseSeeds) (float64, error) {
	// The rows of sum hold ln D_i, r_i²/D_i, and ln(1 + αλ_i/s), or λ_i/s for α = 0.
	sum := linalg.Borrow(3, e.n)
	defer linalg.Return(sum)
	alpha := f.Alpha
	for i, d := range e.dd {
		noise := e.each.At(i, e.noise)
		sum.Row(0)[i] = math.Log(d)
		sum.Row(1)[i] = e.r[i] * e.r[i] / d
		if alpha > 0 {
			sum.Row(2)[i] = math.Log1p(alpha * e.lambda[i] / noise)
		} else {
			sum.Row(2)[i] = e.lambda[i] / noise
		}
	}
	sums := []float64{linalg.Sum(sum.Row(0)), linalg.Sum(sum.Row(1)), linalg.Sum(sum.Row(2))}
	if err := e.sum(nil, sums); err != nil {
		return 0, err
	}
	logD := sums[0]
	quad := sums[1]
	trace := sums[2]
	// factor is (1−α)/(2α), or ½ for α = 0, where the last term is Σ λ_i/(2s).
	factor := 0.5
	if alpha > 0 {
		factor = (1 - alpha) / (2 * alpha)
	}
	if f.DTC {
		factor = 0
	}
	value := 0.5*(linalg.LogDet(e.lb)+logD+float64(e.total)*math.Log(2*math.Pi)+quad-linalg.Dot(e.b,
		e.mu)) + factor*trace
	if s == nil {
		return value, nil
	}
	// B̄ = ½B⁻¹ + ½μμᵀ, b̄ = −μ, and then the direct adjoints of each row's D, λ and r.
	linalg.CholeskyInverse(e.lb, e.binv)
	for i, m := range e.mu {
		row := s.B.Row(i)
		copy(row, e.binv.Row(i))
		linalg.Axpy(m, e.mu, row)
		linalg.Scale(0.5, row)
		s.b[i] = -m
	}
	// The last term's derivatives are (1−α)/(2D_i) by λ_i, and −(1−α)λ_i/(2sD_i) by s.
	t := (1 - alpha) / 2
	if f.DTC {
		t = 0
	}
	s.uniform = e.same()
	s.shared = t / e.noise
	for i, d := range e.dd {
		s.d[i] = 0.5/d - 0.5*e.r[i]*e.r[i]/(d*d)
		s.lambda[i] = t / d
		s.r[i] = e.r[i] / d
		s.noise -= e.each.Slope(i) * (t * e.lambda[i] / (e.each.At(i, e.noise) * d))
	}
	return value, nil
}
