package main

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/pacbayes"
)

var trialDeltas = []float64{0.05, 0.01}

const (
	trialInducing    = 6
	trialEvaluations = 12
	trialShare       = 0.7 // the share that a promise asks for
	trialEpsilon     = 0.6
)

// trialLosses are the losses for which bounds are computed, even if a model was trained for another loss.
var trialLosses = []pacbayes.Loss{{Kind: pacbayes.Band, Below: trialEpsilon}, {Kind: pacbayes.ClippedSquare, Below: 1},
	{Kind: pacbayes.Gaussian, Below: 1}}

// tally counts the sets in which a statement failed, for each δ.
type tally struct {
	Sets  int    `json:"sets"`
	Fails [2]int `json:"fails"`
}

// tallies holds tallies by keys such as "trial/statement/loss".
type tallies map[string]tally

func (t tallies) count(key string, delta int, fails bool) {
	c := t[key]
	if delta == 0 {
		c.Sets++
	}
	if fails {
		c.Fails[delta]++
	}
	t[key] = c
}

func (t tallies) add(u tallies) {
	for key, c := range u {
		a := t[key]
		a.Sets += c.Sets
		for d := range a.Fails {
			a.Fails[d] += c.Fails[d]
		}
		t[key] = a
	}
}

// passes says whether the lower 99 % binomial limit of the share of failures is at most δ. Failures are then no more
// than chance allows for a valid bound.
func (c tally) passes(delta int) bool {
	if c.Fails[delta] == 0 {
		return true
	}
	// The lower limit of failures is 1 minus the upper limit of successes: P(Bin(n, p) ≥ k) = 0.01.
	lower := 1 - pacbayes.ClopperPearson(c.Sets-c.Fails[delta], c.Sets, 0.01)
	return lower <= trialDeltas[delta]
}

func (c tally) text() string {
	var parts []string
	for d := range trialDeltas {
		mark := ""
		if !c.passes(d) {
			mark = "!"
		}
		parts = append(parts, fmt.Sprintf("%.4f%s", float64(c.Fails[d])/float64(c.Sets), mark))
	}
	return strings.Join(parts, " / ")
}
