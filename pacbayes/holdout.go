package pacbayes

import "math"

// HoldOut is the mean loss of a predictor that was fixed before the certified rows were seen, on these, and the bound
// on its loss on further rows, by the rules of the terms' own certificate: at its ε, and with the part of δ that its
// bound on the mean has. It holds by itself, and not together with the certificate.
func (t Terms) HoldOut(s Sample) (risk, bound float64, err error) {
	t.Route, t.Choices = Direct, 1
	c := &Certificate{ChoicesPenalty: math.Log(t.statements())}
	if t.Curve {
		if c.Curve, err = t.curve(s); err != nil {
			return math.NaN(), math.NaN(), err
		}
	}
	err = t.bounds(c, s)
	return c.EmpiricalRisk, c.MeanBound, err
}
