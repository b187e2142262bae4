package kernel

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Mean is a family of mean functions m_β; β are plain numbers, in scaled units.
type Mean interface {
	// Params lists the parameters in the order in which β holds them.
	Params() []Param
	// At writes m_β(x_i) to m.
	At(beta []float64, x matrix.Dense, m []float64)
	// Pull adds Σ_i bar_i ∂m_β(x_i)/∂β to dBeta.
	Pull(beta []float64, x matrix.Dense, bar []float64, dBeta []float64)
	// PullInputs adds bar_i ∂m_β(x_i)/∂x_i to row i of dX.
	PullInputs(beta []float64, x matrix.Dense, bar []float64, dX matrix.Dense)
}

// ZeroMean is m(x) = 0.
type ZeroMean struct{}

var _ Mean = ZeroMean{}

func (ZeroMean) Params() []Param                                             { return nil }
func (ZeroMean) At(_ []float64, _ matrix.Dense, m []float64)                 { clear(m) }
func (ZeroMean) Pull([]float64, matrix.Dense, []float64, []float64)          {}
func (ZeroMean) PullInputs([]float64, matrix.Dense, []float64, matrix.Dense) {}

// LinearMean is m(x) = β_0 + Σ β_i x_i over Dim inputs. If Dim is 0, it is a constant.
type LinearMean struct{ Dim int }

var _ Mean = LinearMean{}

func (l LinearMean) Params() []Param {
	slopes := lists.To(l.Dim, func(i int) Param {
		return Param{Name: "mean_slope", Kind: Slope, Dim: i}
	})
	return append([]Param{{Name: "mean_constant", Kind: Constant, Dim: -1}}, slopes...)
}

func (l LinearMean) At(beta []float64, x matrix.Dense, m []float64) {
	for i := range m {
		m[i] = beta[0]
		if l.Dim > 0 {
			m[i] += linalg.Dot(beta[1:], x.Row(i))
		}
	}
}

func (l LinearMean) Pull(_ []float64, x matrix.Dense, bar []float64, dBeta []float64) {
	for i, g := range bar {
		dBeta[0] += g
		if l.Dim > 0 {
			linalg.Axpy(g, x.Row(i), dBeta[1:])
		}
	}
}

func (l LinearMean) PullInputs(beta []float64, _ matrix.Dense, bar []float64, dX matrix.Dense) {
	if l.Dim == 0 {
		return
	}
	for i, g := range bar {
		linalg.Axpy(g, beta[1:], dX.Row(i))
	}
}
