package pacbayes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/must"
)

// betaLike draws a loss in [0,1] with a mean of about 0.12 and little variance.
func betaLike(rng *rand.Rand) float64 { return 0.24 * (rng.Float64() + rng.Float64()) / 2 }

func draw(n int, f func() float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f()
	}
	return x
}

// betting and split are the two bounds for losses on a single rank. older is betting by the rules of older files.
func betting(losses []float64, delta float64) float64 {
	b, _ := Sample{Y: losses}.bettingBound(losses, delta, gamblers(tunedRules, len(losses), delta))
	return b
}

func older(losses []float64, delta float64) float64 {
	b, _ := Sample{Y: losses}.bettingBound(losses, delta, gamblers(0, len(losses), delta))
	return b
}

func split(losses []float64, delta float64) float64 {
	b, _ := Sample{Y: losses}.splitBound(losses, delta)
	return b
}

// TestBettingGolden compares the bound with the least m of wealth 1/δ, which mpmath found with 40 digits by bisection,
// by the newest rules and by the rules of older files.
func TestBettingGolden(t *testing.T) {
	for _, g := range []struct {
		x           []float64
		delta       float64
		tuned, then float64
	}{
		{make([]float64, 21), 0.01, 0.223995846019398328, 0.247088021681421622},
		{draw(24, eighths()), 0.01, 0.615064245401873444, 0.625196347509028412},
		{slices.Repeat([]float64{0.5}, 40), 0.005, 0.572112834719895967, 0.577580265528894953},
		{slices.Repeat([]float64{1, 0, 0.25, 0.75, 0.125}, 6), 0.05, 0.627167063411653526, 0.635558294170521771},
		{[]float64{0.25, 0.5, 0, 0.75, 0.5}, 0.3, 0.587937635556355217, 0.623177898967664084},
		{slices.Repeat([]float64{0, 0.0625, 0.125, 0.1875}, 15), 1e-9, 0.373819536956004720, 0.381642304604225047},
	} {
		for b, want := range map[float64]float64{betting(g.x, g.delta): g.tuned, older(g.x, g.delta): g.then} {
			must.Near(t, b, want, 1e-11)
			must.Hold(t, b >= want, "the bound %v is below %v", b, want)
		}
	}
}

// eighths returns a function that counts 1/8, 2/8, …, 7/8, 0 and so on.
func eighths() func() float64 {
	i := 0
	return func() float64 {
		i++
		return float64(i%8) / 8
	}
}

// TestBettingBoundDefinition compares the bound with W(m), summed without shortcuts.
func TestBettingBoundDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	wealth := func(x []float64, delta, m float64) float64 {
		least := math.Sqrt(min(0.75, math.Sqrt(math.Log(1/delta)/float64(len(x)))))
		var w float64
		for k := 1; k <= 64; k++ {
			c := math.Pow(least+(1-least)*math.Sin((float64(k)-0.5)*math.Pi/128), 2)
			var l float64
			for _, v := range x {
				l += math.Log(1 - c*(v-m)/(1-m))
			}
			w += math.Exp(l) / 64
		}
		return w
	}
	for _, n := range []int{1, 5, 60, 333} {
		for _, delta := range []float64{0.3, 0.05, 0.01} {
			x := draw(n, func() float64 { return betaLike(rng) })
			b := betting(x, delta)
			if lo, hi := wealth(x, delta, b-1e-9), wealth(x, delta, b+1e-9); !(lo < 1/delta && hi > 1/delta) {
				t.Errorf("n=%d δ=%v: W goes from %v to %v at the bound %v", n, delta, lo, hi, b)
			}
			back := slices.Clone(x)
			slices.Reverse(back)
			must.Near(t, betting(back, delta), b, 1e-12, "the bound depends on the rows' order")
		}
	}
}

// TestFixedBoundsOrder shows that betting and split-kl reward little variance, that each bound is above the sample
// mean, and that the exact bound is the smallest for 0/1 losses.
func TestFixedBoundsOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := draw(300, func() float64 { return betaLike(rng) })
	var mean float64
	for _, v := range x {
		mean += v / 300
	}
	kl, parts, bets := TestBound(mean, 300, 0.01), split(x, 0.01), betting(x, 0.01)
	must.Hold(t, mean < bets && bets < parts && parts < kl,
		"mean %v, betting %v, split-kl %v, kl %v", mean, bets, parts, kl)
	coin := draw(300, func() float64 { return float64(rng.IntN(10) / 9) })
	k := 0
	for _, v := range coin {
		k += int(v)
	}
	exact, kl := HoldOutBound(true, float64(k)/300, 300, 0.01), HoldOutBound(false, float64(k)/300, 300, 0.01)
	must.Hold(t, exact == ClopperPearson(k, 300, 0.01) &&
		kl == TestBound(float64(k)/300, 300, 0.01), "hold-out bounds %v, %v", exact, kl)
	if bets := betting(coin, 0.01); !(exact < kl && kl < bets && bets < 1.2*kl) {
		t.Errorf("coin: exact %v, kl %v, betting %v", exact, kl, bets)
	}
}

func TestFixedBoundsEdges(t *testing.T) {
	ones, zeros := slices.Repeat([]float64{1}, 30), make([]float64, 30)
	for name, f := range map[string]func([]float64, float64) float64{"betting": betting, "split": split} {
		must.Be(t, f(ones, 0.05), 1, fmt.Sprintf("%s of ones", name))
		if b := f(zeros, 0.05); !(b > 0 && b < 0.2) {
			t.Errorf("%s of zeros: %v", name, b)
		}
		for _, bad := range []float64{f(nil, 0.05), f([]float64{0.5, 1.5}, 0.05), f([]float64{math.NaN()}, 0.05), f(zeros, 0),
			f(zeros, 2)} {
			must.Hold(t, math.IsNaN(bad), "%s of nonsense: %v", name, bad)
		}
	}
}

// TestFixedBoundsHold simulates how often a bound fails: at most a share δ of the samples, plus 4 standard errors. The
// mean itself, which is no bound, fails far more often.
func TestFixedBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const sets, n, delta = 400, 40, 0.1
	for _, d := range []struct {
		name string
		mean float64
		draw func() float64
	}{
		{"coin", 0.1, func() float64 { return float64(rng.IntN(10) / 9) }},
		{"narrow", 0.12, func() float64 { return betaLike(rng) }},
		{"square", 1. / 3, func() float64 { u := rng.Float64(); return u * u }},
		{"mixed", 0.1, func() float64 {
			if rng.IntN(20) == 0 {
				return 1
			}
			return rng.Float64() * 0.1 * 20 / 19
		}},
	} {
		fails := map[string]int{}
		for range sets {
			x := draw(n, d.draw)
			var mean compensated.Sum
			for _, v := range x {
				mean.Add(v / n)
			}
			for name, b := range map[string]float64{"betting": betting(x, delta), "split-kl": split(x, delta),
				"no bound": mean.Value()} {
				if d.mean > b {
					fails[name]++
				}
			}
		}
		most := sets*delta + 4*math.Sqrt(sets*delta*(1-delta))
		for name, k := range fails {
			must.Hold(t, (float64(k) > most) == (name == "no bound"),
				"%s, %s: %d of %d sets violate it", d.name, name, k, sets)
		}
	}
}

// TestLittleVariance shows that betting bounds a loss of little variance far better than a bound by its mean alone.
func TestLittleVariance(t *testing.T) {
	losses := make([]float64, 200)
	for i := range losses {
		losses[i] = 0.1 + 0.05*float64(i%3)
	}
	got := fmt.Sprintf("kl %.3f  split-kl %.3f  betting %.3f", TestBound(0.15, 200, 0.01), split(losses, 0.01),
		betting(losses, 0.01))
	if want := "kl 0.237  split-kl 0.196  betting 0.175"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
