package pacbayes

import (
	"fmt"
	"math"
	"slices"
)

// Family names the inequality that a certificate rests on. It is declared beforehand.
//
// Each bounds the risk of all posteriors Q at once, or, where Q was fixed before the rows
// were seen, of that Q or its mean alone, which costs neither KL nor ln 2√N:
//
//	           any Q (learnt on the rows)             a fixed Q, or its mean
//	kl         kl⁻¹(R_S, (KL + ln 2√N/δ)/N)           kl⁻¹(R_S, ln(1/δ)/N) (Chernoff)
//	maurer     the same with ξ(N) for 2√N             the same as kl
//	pinsker    R_S + √((KL + ln 2√N/δ)/2N)            R_S + √(ln(1/δ)/2N) (Hoeffding)
//	split-kl   of two parts of the loss: see splitKL  SplitBound
//	betting    no form of it here                     BettingBound
//
// A 0/1 loss of the mean always has the exact binomial bound: none is tighter.
type Family string

// The families.
const (
	KLFamily      Family = "kl"       // Seeger 2002 with Maurer's 2√N; Reeb et al. 2018, Eq. 5
	MaurerFamily  Family = "maurer"   // Maurer 2004, Theorem 5, with its exact constant ξ(N)
	PinskerFamily Family = "pinsker"  // Reeb et al. 2018, Sect. 2.2
	SplitFamily   Family = "split-kl" // Wu and Seldin 2022
	BettingFamily Family = "betting"  // Waudby-Smith and Ramdas 2024
)

// Families lists them.
var Families = []Family{KLFamily, MaurerFamily, PinskerFamily, SplitFamily, BettingFamily}

// Check says what keeps a family from bounding the risk of a random draw from a Q that was
// learnt on the certified rows (learnt) or was fixed before, under a loss.
func (f Family) Check(l Loss, learnt bool) error {
	switch {
	case !slices.Contains(Families, f):
		return fmt.Errorf("bound %q: want one of %v", f, Families)
	case f == BettingFamily && learnt:
		return fmt.Errorf("bound betting: it is for a posterior fixed before the certified rows were seen, and this one is learnt on them")
	case f == SplitFamily && learnt && l.part() == "":
		return fmt.Errorf("bound split-kl: that of a posterior learnt on the certified rows needs the loss clipped-square or clipped-absolute, whose parts have closed forms, not %s", l.Kind)
	}
	return nil
}

// logConstant is ln 2√n or what takes its place.
func (f Family) logConstant(n int) float64 {
	if f == MaurerFamily || f == SplitFamily {
		return math.Log(MaurerXi(n))
	}
	return math.Log(2 * math.Sqrt(float64(n)))
}

// anyQ bounds the Gibbs risk of a Q learnt on the n rows, where eps = (KL + penalty)/n holds
// the family's constant. low is lowRisk, for split-kl alone, whose two parts share δ.
func (f Family) anyQ(risk, low, eps float64, n int) float64 {
	switch f {
	case PinskerFamily:
		return math.Min(1, risk+math.Sqrt(eps/2)+rounding)
	case SplitFamily:
		high := math.Max(0, (risk-splitAt*low)/(1-splitAt))
		return splitKL(low, high, eps+math.Ln2/float64(n))
	}
	return math.Min(1, KLInverseUp(risk, eps)+rounding)
}

// fixed bounds the mean of the losses in [0,1] that a predictor, fixed before, has on the units of s; losses
// are those of the units at hand.
func (f Family) fixed(s Sample, losses []float64, zeroOne bool, delta float64) (float64, error) {
	n := s.units()
	mean, err := s.meanOf(losses)
	if err != nil {
		return math.NaN(), err
	}
	risk := math.Min(mean, 1)
	var b float64
	switch {
	case zeroOne || f == KLFamily || f == MaurerFamily:
		b = HoldOutBound(zeroOne, risk, n, delta)
	case f == SplitFamily:
		b, err = s.splitBound(losses, delta)
	case f == BettingFamily:
		b, err = s.bettingBound(losses, delta)
	default:
		b = risk + math.Sqrt(-math.Log(delta)/(2*float64(n)))
	}
	return math.Min(1, b+rounding), err
}
