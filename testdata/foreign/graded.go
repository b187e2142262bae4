package foreign

import "github.com/krigo-gp/krigo/pacbayes"

// Graded is a loss in [0,1]: the mean of other losses. With several bands, for example, a miss costs more if it is
// farther off. It is also a noise for objective.SVGP, with σ_n² as the temperature s. The objective is then
//
//	F = (1/s) Σ_i E_{f ~ N(m̂_i, σ̂²_i)} ℓ(y_i, f) + KL(Q‖P)
//
// whose minimum over Q, at s fixed, is the Gibbs posterior (Catoni 2007; Alquier, Ridgway, Chopin 2016).
type Graded []pacbayes.Loss

// Expect implements pacbayes.Expectation.
func (l Graded) Expect(at pacbayes.Sample, s, weight float64, d pacbayes.Derivatives) (value, dNoise float64,
	err error) {
	g, h := d.Mean, d.Variance
	share := 1 / (s * float64(len(l)))
	return at.SumRows(weight, g, h, func(i int) (e, dMean, dVar, dNoise float64) {
		for _, part := range l {
			a, b, c := part.Expected(at.Y[i], at.Mean[i], at.Variance[i], 0)
			e, dMean, dVar = e+share*a, dMean+share*b, dVar+share*c
		}
		return e, dMean, dVar, -e / s
	})
}
