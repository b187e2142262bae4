package pacbayes

import "math"

// HoldOut returns the mean loss on the certified rows of a predictor that was fixed before these rows were seen, and a
// bound on its expected loss on further rows. The bound follows the rules of the terms' own certificate, at its ε and
// with the part of δ that its bound on the mean has. The bound holds by itself, not together with the certificate. If
// the certificate has a curve, the bound is about the declared ε alone.
func (t Terms) HoldOut(s Sample) (risk, bound float64, err error) {
	if t.Route, t.Choices = Direct, 1; t.Curve {
		t.Curve, t.Promise = false, 0 // the promise is a point of the curve
	}
	c := &Certificate{ChoicesPenalty: math.Log(t.statements())}
	err = t.bounds(c, s)
	return c.EmpiricalRisk, c.MeanBound, err
}
