package radial

import (
	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// init enters the loops of NEON, and selects the loops of the chosen level.
func init() {
	in := inner{width: 8, distances: distancesNEON, moments: momentsNEON, rows: 4, vector: 4,
		rowProduct: rowProductNEON}
	in.apply = [...]func(a *float64, rowStep, depthStep, depth int, v *float64, vStride int,
		out *float64, outStride int){apply1NEON, apply2NEON}
	in.value = [...]func(k, u []float64, shape, variance float64){seValueNEON, matern12ValueNEON,
		matern32ValueNEON, matern52ValueNEON, rqValueNEON}
	in.pull = [...]func(w, u, bar []float64, shape float64, sums *[3 * Lanes]float64){sePullNEON,
		matern12PullNEON, matern32PullNEON, matern52PullNEON, rqPullNEON}
	in.bundleDistances, in.bundleMoments = bundleDistancesNEON, bundleMomentsNEON
	in.effect, in.effectPull, in.effectMove = effectNEON, effectPullNEON, effectMoveNEON
	levels[cpu.NEON] = in
	loops = levels[linalg.Level]

	s := singleInner{width: 16, distances: distancesSingleNEON, rows: 4, vector: 8,
		rowProduct: rowProductSingleNEON}
	s.apply = [...]func(a *float32, rowStep, depthStep, depth int, v *float32, vStride int,
		out *float32, outStride int){apply1SingleNEON, apply2SingleNEON}
	s.value = [...]func(k, u []float32, shape, variance float32){seValueSingleNEON,
		matern12ValueSingleNEON, matern32ValueSingleNEON, matern52ValueSingleNEON}
	singleLevels[cpu.NEON] = s
	singles = singleLevels[linalg.Level]
}
