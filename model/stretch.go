package model

import "github.com/krigo-gp/krigo/internal/lists"

// Stretch returns the factor of predictions' standard deviations: Conformal.Stretch, or 1.
func (m *Model) Stretch() float64 {
	if m.Conformal == nil || m.Conformal.Stretch == 0 {
		return 1
	}
	return m.Conformal.Stretch
}

// Stretched returns the variances of f and of the noise, as Noises returns it, that predictions
// have: the GP's, times the square of Stretch. A GP whose prior variance and noise are
// larger by a factor has the same mean. The certificate is about the mean, or about the GP itself.
func (m *Model) Stretched(variance, noises []float64) (of, noise []float64) {
	if m.Stretch() == 1 {
		return variance, noises
	}
	square := m.Stretch() * m.Stretch()
	of = lists.Of(variance, func(v float64) float64 { return v * square })
	return of, lists.To(len(of), func(i int) float64 { return m.NoiseIn(noises, i) * square })
}
