package radial

import (
	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// init enters the loops of AVX2 and AVX-512, and selects the loops of the chosen level.
func init() {
	in := inner{width: 8, distances: distancesAVX2, moments: momentsAVX2, rows: 4, vector: 4}
	in.apply = [...]func(a *float64, rowStep, depthStep, depth int, v *float64, vStride int,
		out *float64, outStride int){apply1AVX2, apply2AVX2}
	in.rowProduct = rowProductAVX2
	in.value = [...]func(k, u []float64, shape, variance float64){seValueAVX2, matern12ValueAVX2,
		matern32ValueAVX2, matern52ValueAVX2, rqValueAVX2}
	in.pull = [...]func(w, u, bar []float64, shape float64, sums *[3 * Lanes]float64){sePullAVX2,
		matern12PullAVX2, matern32PullAVX2, matern52PullAVX2, rqPullAVX2}
	in.bundleDistances = bundleDistancesAVX2
	in.bundleMoments = bundleMomentsAVX2
	in.effect = effectAVX2
	in.effectPull = effectPullAVX2
	in.effectMove = effectMoveAVX2
	levels[cpu.AVX2] = in
	in = inner{width: 16, distances: distancesAVX512, moments: momentsAVX512, rows: 8, vector: 8}
	in.apply = [...]func(a *float64, rowStep, depthStep, depth int, v *float64, vStride int,
		out *float64, outStride int){apply1AVX512, apply2AVX512}
	in.rowProduct = rowProductAVX512
	in.value = [...]func(k, u []float64, shape, variance float64){seValueAVX512,
		matern12ValueAVX512, matern32ValueAVX512, matern52ValueAVX512, rqValueAVX512}
	in.pull = [...]func(w, u, bar []float64, shape float64, sums *[3 * Lanes]float64){sePullAVX512,
		matern12PullAVX512, matern32PullAVX512, matern52PullAVX512, rqPullAVX512}
	in.bundleDistances = bundleDistancesAVX512
	in.bundleMoments = bundleMomentsAVX512
	in.effect = effectAVX512
	in.effectPull = effectPullAVX512
	in.effectMove = effectMoveAVX512
	levels[cpu.AVX512] = in
	loops = levels[linalg.Level]

	s := singleInner{width: 16, distances: distancesSingleAVX2, rows: 4, vector: 8,
		rowProduct: rowProductSingleAVX2}
	s.apply = [...]func(a *float32, rowStep, depthStep, depth int, v *float32, vStride int,
		out *float32, outStride int){apply1SingleAVX2, apply2SingleAVX2}
	s.value = [...]func(k, u []float32, shape, variance float32){seValueSingleAVX2,
		matern12ValueSingleAVX2, matern32ValueSingleAVX2, matern52ValueSingleAVX2}
	singleLevels[cpu.AVX2] = s
	s = singleInner{width: 32, distances: distancesSingleAVX512, rows: 8, vector: 16,
		rowProduct: rowProductSingleAVX512}
	s.apply = [...]func(a *float32, rowStep, depthStep, depth int, v *float32, vStride int,
		out *float32, outStride int){apply1SingleAVX512, apply2SingleAVX512}
	s.value = [...]func(k, u []float32, shape, variance float32){seValueSingleAVX512,
		matern12ValueSingleAVX512, matern32ValueSingleAVX512, matern52ValueSingleAVX512}
	singleLevels[cpu.AVX512] = s
	singles = singleLevels[linalg.Level]
}
