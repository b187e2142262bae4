package answer

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Table has columns of numbers, with a value for each row of an answer.
type Table struct {
	Names []string
	parts []part
}

// part is some columns that are filled together.
type part struct {
	columns int
	fill    func(i int, values []float64)
}

// Add adds columns. fill sets the values of row i.
func (t *Table) Add(names []string, fill func(i int, values []float64)) {
	t.Names = append(t.Names, names...)
	t.parts = append(t.parts, part{len(names), fill})
}

// Fill sets the values of row i in all columns. It never fails.
func (t *Table) Fill(i int, values []float64) error {
	for _, p := range t.parts {
		p.fill(i, values[:p.columns])
		values = values[p.columns:]
	}
	return nil
}

// Beside adds the columns of another target. Their names end in the target's.
func (t *Table) Beside(target string, other Table) {
	t.Add(lists.Of(other.Names, func(name string) string { return name + "_" + target }),
		func(i int, values []float64) { other.Fill(i, values) })
}

// Table returns an answer's predictions, intervals, samples, chances and explanation.
func (a Answer) Table() (t Table) {
	t.Add(krigo.PredictionNames(), func(i int, values []float64) {
		a.Predictions[i].Fill(values)
	})
	a.further(&t)
	return t
}

// Probabilities returns an answer about two classes with the probability of each instead of the
// predicted number.
func (a Answer) Probabilities() (t Table) {
	t.Add([]string{"probability_" + a.Classes[0], "probability_" + a.Classes[1], "latent_sd",
		"outside"}, func(i int, values []float64) {
		p := a.Predictions[i]
		copy(values, []float64{1 - p.Mean, p.Mean, p.LatentSD, float64(p.Outside)})
	})
	a.further(&t)
	return t
}

// drawn returns the draws of row i, or NaN.
func (a Answer) drawn(i int) []float64 {
	if a.Samples[i] == nil {
		return slices.Repeat([]float64{math.NaN()}, a.asked.Samples)
	}
	return a.Samples[i]
}

// Drawn returns the draws of all rows one after another, and NaN for rows whose draws overflow.
func (a Answer) Drawn() []float64 { return slices.Concat(lists.To(len(a.Samples), a.drawn)...) }

// further adds what was asked for beside predictions. Sets of labels are text.
func (a Answer) further(t *Table) {
	for _, o := range a.asked.Intervals {
		of := a.Intervals[o.Kind]
		t.Add([]string{o.Kind + "_lower", o.Kind + "_upper"}, func(i int, values []float64) {
			values[0] = of[i].Lower
			values[1] = of[i].Upper
		})
	}
	if a.Samples != nil {
		names := lists.To(a.asked.Samples, func(j int) string {
			return fmt.Sprintf("sample%d", j+1)
		})
		t.Add(names, func(i int, values []float64) { copy(values, a.drawn(i)) })
	}
	for _, c := range a.Chances {
		t.Add([]string{fmt.Sprintf("probability_%.0f", c.Level)}, func(i int, values []float64) {
			if values[0] = c.Probabilities[i]; a.Predictions[i].Lost() {
				values[0] = math.NaN()
			}
		})
	}
	t.Add(a.Explanation.Names(), a.Explanation.Fill)
}
