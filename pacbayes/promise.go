package pacbayes

import "math"

// Promise is the smallest half-width of a fixed grid within which a share of further predictions is
// guaranteed to lie.
type Promise struct {
	// at least this share of predictions lies within the half-width
	Share float64 `json:"share"`
	// in standard deviations; relative bands: a share of |y|
	HalfWidth float64 `json:"half_width"`
	// in the target's units; relative bands: as HalfWidth
	HalfWidthRaw float64 `json:"half_width_raw"`
	Relative     bool    `json:"relative,omitempty"`
	// the half-width counts the predictor's own standard deviations of y at the row
	Scaled bool `json:"scaled,omitempty"`
	// Bound bounds the share that lies outside.
	// If the search for the width was free (see Terms.promise), Bound is 1−Share, because no part
	// of δ paid for a bound at the width that was found.
	Bound float64 `json:"bound"`
	// If no width could be promised, Reason says why, and the widths are 0.
	Reason string `json:"reason,omitempty"`
}

// promiseWidths is the number of half-widths among which promise searches.
const promiseWidths = 100

// PromiseWidth returns the j-th half-width, j < 100.
// Half-widths go from 0.01 to 10 standard deviations in equal ratios of 1.07.
// Bands relative to |y| have a tenth of these numbers.
func PromiseWidth(j int, relative bool) float64 {
	w := math.Pow(10, -2+3*float64(j)/(promiseWidths-1))
	if relative {
		w /= 10
	}
	return w
}

// promise looks for the smallest width such that, by the bound on the mean, at most the share
// 1−Promise of targets lies outside. It has half of δ.
//
// On the route twice Q was learnt on the rows, and all hundred bounds have to hold together, so
// that each pays ln 100.
// If the mean was fixed before, the search is free.
// To see why, let w be the largest width within which less than the share lies.
// The promise fails only if it chooses a width up to w.
// The rows miss w at most as often as this width, so that the bound at w is below the share that
// really misses w. w doesn't depend on the rows, so this has probability at most δ/2.
// (This is Wilks's tolerance limit, on a grid:
// "Determination of sample sizes for setting tolerance limits", Ann. Math. Stat. 12, 1941.)
//
// With a curve c the promise is one of the curve's points, which all hold together.
func (t Terms) promise(s Sample, kl float64, c *Curve) (*Promise, error) {
	band := Loss{Kind: Band}
	p := &Promise{Share: t.Promise}
	switch {
	case t.Loss.Kind.OwnSD():
		band.Kind = Scaled
		p.Scaled = true
	case t.Loss.Unitless():
		band.Kind = Relative
		p.Relative = true
	}
	if t.Curve {
		at, ok := c.Width(t.Promise)
		if p.HalfWidth, p.HalfWidthRaw, p.Bound = at.HalfWidth, at.HalfWidthRaw, 1-t.Promise; !ok {
			p.Reason = "no width of the curve can be guaranteed for that share: ask for a " +
				"smaller one, or certify more rows"
		}
		return p, nil
	}
	n := s.units()
	direct := t.Fixed && t.Route != Twice && t.Route != ""
	// half has the terms of a bound at one width: it has the promise's part of δ, and nothing else
	// to share that part with.
	half := t
	half.Slices = nil
	half.Promise, half.Route, half.Delta = 0, Twice, t.Delta/2/t.share()
	if !direct {
		half.Choices *= promiseWidths
	}
	for j := range promiseWidths {
		band.Below = PromiseWidth(j, p.Relative)
		half.Loss = band
		var b, risk float64
		var err error
		switch {
		case direct:
			b, err = half.fixed(s, s.pointLosses(band), s.zeroOne(band), half.Delta)
		case t.Fixed:
			b, err = half.fixed(s, s.drawLosses(band), false, half.Delta/float64(half.Choices))
		default:
			if half.Inequality == SplitBound { // split-kl has no closed form for a band
				half.Inequality = MaurerBound
			}
			risk, err = s.Risk(band, nil, nil)
			b = half.inequality().anyQ(risk, 0, (kl+half.Penalty(n))/float64(n), n)
		}
		if err != nil {
			return nil, err
		}
		// The bound on the mean is twice the bound on a random draw.
		if p.Bound = b; !direct {
			p.Bound = math.Min(1, 2*b)
		}
		if p.Bound <= 1-t.Promise {
			// The search was free only for the declared share, not for the bound at the width that
			// was found.
			if direct {
				p.Bound = 1 - t.Promise
			}
			p.HalfWidth = band.Below
			p.HalfWidthRaw = band.Below
			if !t.Loss.Unitless() {
				p.HalfWidthRaw *= t.EpsilonRaw / t.Loss.Below
			}
			return p, nil
		}
	}
	p.Reason = "even the widest band of the grid can't be guaranteed for that share: ask for a " +
		"smaller one, or certify more rows"
	return p, nil
}
