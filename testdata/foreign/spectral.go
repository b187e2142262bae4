// Package foreign shows what a module outside krigo can add to krigo: a kernel (spectral.go), a noise (student.go), a
// loss (squashed.go), a method with its objective (loo.go) and a file format (dat.go).
package foreign

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/kernel"
)

func init() { kernel.RegisterPair("spectral", spectralParams, spectral) }

const components = 2

func spectralParams(dim int) (all []kernel.Param) {
	for q := range components {
		all = append(all, kernel.Param{Name: fmt.Sprintf("log_weight[%d]", q+1), Dim: -1})
		for d := range dim {
			all = append(all, kernel.Param{Name: fmt.Sprintf("log_frequency[%d,%d]", q+1, d+1), Dim: d},
				kernel.Param{Name: fmt.Sprintf("log_bandwidth[%d,%d]", q+1, d+1), Dim: d})
		}
	}
	return all
}

// spectral is the spectral-mixture kernel (Wilson and Adams, "Gaussian Process Kernels for Pattern Discovery and
// Extrapolation", ICML 2013): Σ_q w_q exp(−2π² Σ_d τ_d² v_qd) cos(2π Σ_d τ_d μ_qd), τ = x − x', with the spectral
// density Σ_q w_q ½[N(μ_q, diag v_q) + N(−μ_q, diag v_q)]. The parameters of each component are ln w, and ln μ and ln
// v for each input. Frequencies are in units of q/10, so that components start at different frequencies.
func spectral(theta, a, b []float64, bar float64, dTheta, dA []float64) (k float64) {
	for q := range components {
		first := q * (1 + 2*len(a))
		var decay, phase float64
		for d := range a {
			tau := a[d] - b[d]
			mu, v := component(theta[first:], q, d)
			decay += 2 * math.Pi * math.Pi * tau * tau * v
			phase += 2 * math.Pi * tau * mu
		}
		w := math.Exp(theta[first] - decay)
		even, odd := w*math.Cos(phase), w*math.Sin(phase)
		k += even
		if dTheta == nil {
			continue
		}
		dTheta[first] += bar * even
		for d := range a {
			tau := a[d] - b[d]
			mu, v := component(theta[first:], q, d)
			dTheta[first+1+2*d] -= bar * odd * 2 * math.Pi * tau * mu
			dTheta[first+2+2*d] -= bar * even * 2 * math.Pi * math.Pi * tau * tau * v
			if dA != nil {
				dA[d] -= bar * (even*4*math.Pi*math.Pi*tau*v + odd*2*math.Pi*mu)
			}
		}
	}
	return k
}

func component(theta []float64, q, d int) (mu, v float64) {
	unit := float64(q+1) / 10
	return unit * math.Exp(theta[1+2*d]), unit * unit * math.Exp(theta[2+2*d])
}
