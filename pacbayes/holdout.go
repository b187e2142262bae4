package pacbayes

import "math"

// HoldOut is the mean loss of a predictor that was fixed before the certified rows were seen, on these, and the bound
// on its loss on further rows, by the rules of the terms' own certificate: at its ε, and with the part of δ that its
// bound on the mean has. It holds by itself, and not together with the certificate. If the
// certificate has a curve, this bound is about its ε alone.
func (t Terms) HoldOut(s Sample) (risk, bound float64, err error) {
	if t.Route, t.Choices = Direct, 1; t.Curve {
		t.Curve, t.Promise = false, 0 // which is one of its points
	}
	c := &Certificate{ChoicesPenalty: math.Log(t.statements())}
	err = t.bounds(c, s)
	return c.EmpiricalRisk, c.MeanBound, err
}
