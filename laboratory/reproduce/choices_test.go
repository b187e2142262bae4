package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestChoices: the simulations have a line for each fit and promise, with one set each.
func TestChoices(t *testing.T) {
	for name, designs := range map[string][]choicesDesign{"choices": choicesOfKernel, "noises": choicesOfNoise} {
		var out bytes.Buffer
		must.Do(t, choices(name, designs)(context.Background(), Env{Reps: 1, Stdout: &out, Out: t.TempDir()}))
		for _, d := range designs {
			for _, of := range d.promises {
				want := "| " + d.name + " | " + of.name + " | 1 | "
				must.Hold(t, strings.Contains(out.String(), want),
					"no %s in\n%s", want, out.String())
			}
		}
	}
}

// TestChoicesTruth compares the share of misses of drawn rows with the share that the truth says.
func TestChoicesTruth(t *testing.T) {
	for _, draw := range []func(*rand.Rand, int) choicesTruth{someInputs, changingNoise} {
		rng := rand.New(rand.NewPCG(7, 8))
		of := draw(rng, 0) // with heavy tails, or the function of all inputs
		const rows = 40000
		table := must.Get(of.table(rng, rows))(t)
		k, misses := len(table.Names), 0.
		for i := range rows {
			if math.Abs(table.Values[(i+1)*k-1]) > 0.5 {
				misses++
			}
		}
		zeros, ones := make([]float64, len(of.f)), slices.Repeat([]float64{1}, len(of.f))
		must.Near(t, misses/rows, of.missed(0.5, zeros, ones), 4*0.5/math.Sqrt(rows), "share of misses")
	}
}
