package radial

// Effect is one input of the additive kernel: k_t = over·exp(−(at−x)²) − hidden·g(x), for a point whose input is at and
// points whose inputs are x. All inputs are divided by √2 l. The adjoint of k_t is
// w = bar (main + pairs (total − k_t)).
type Effect struct {
	At, Hidden, Over, Main, Pairs float64
}

// Add writes over·exp(−(at−x)²) to se, and adds k_t to total and k_t² to squares, for points with inputs x and roots g.
func (e Effect) Add(x, g, se, total, squares []float64) {
	n := len(x)
	loops.effect(se[:n], total[:n], squares[:n], x, g[:n], e.At, e.Hidden, e.Over)
}

// Pull adds Σ w (se ((at−x)² − shrink) − g (first + second x²)) to sums. se is from Add.
func (e Effect) Pull(x, g, se, bar, total []float64, first, second, shrink float64, sums *[Lanes]float64) {
	n := len(x)
	loops.effectPull(x, g[:n], bar[:n], total[:n], se[:n], e.At, e.Hidden, e.Main, e.Pairs, first, second, shrink, sums)
}

// Move returns Σ w se (at−x) and Σ w g.
func (e Effect) Move(x, g, se, bar, total []float64) (slope, root float64) {
	n := len(x)
	var sums [2 * Lanes]float64
	loops.effectMove(x, g[:n], bar[:n], total[:n], se[:n], e.At, e.Hidden, e.Main, e.Pairs, &sums)
	return Total(sums[:Lanes]), Total(sums[Lanes:])
}
