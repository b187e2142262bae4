package fitting

import (
	"math"
	"strconv"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Comparison is the result of one objective at one ε over several splits.
type Comparison struct {
	Objective string             `json:"objective"`
	Epsilon   float64            `json:"epsilon"` // ε as the user gave it
	Splits    int                `json:"splits"`
	Measures  map[string]Measure `json:"measures"` // measures by their names in MeasureNames

	// Differences are the same measures minus the measures of the first objective at the same ε,
	// split by split, so that what splits have in common cancels.
	// The first objective has no differences.
	Differences map[string]Measure `json:"differences,omitempty"`
}

// Measure is the mean of a figure over splits, and its standard error.
// With one split the standard error is 0.
type Measure struct {
	Mean   float64 `json:"mean"`
	SE     float64 `json:"se"`
	Splits int     `json:"splits"` // splits that have the figure
}

// Text formats a measure for a table: the mean, ± the standard error if there is one.
// If signed, as for differences, the mean has a sign.
func (m Measure) Text(signed bool) string {
	text := figure(m.Mean)
	if signed && m.Mean > 0 {
		text = "+" + text
	}
	se := figure(m.SE)
	// The standard error has as many decimals as the mean.
	if size := math.Abs(m.Mean); size >= 0.001 && size < 1000 && m.SE >= 0.00005 && m.SE < 0.001 {
		se = strconv.FormatFloat(m.SE, 'f', 4, 64)
	}
	return text + spelling.If(m.Splits > 1, " ± %s", se)
}

// figure formats a number with four decimals, or with three digits if four decimals don't show
// three.
func figure(v float64) string {
	switch size := math.Abs(v); {
	case v == 0:
		return "0"
	case size < 0.001:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case size < 1000:
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return cautious.Digits(v, 5)
}

// MeasureNames lists what a Comparison measures, in the order of tables.
// If all rows scaled the columns, the theorem doesn't cover the bounds. They are then heuristic_bound
// and heuristic_mean_bound, and there is no bound or mean_bound.
func MeasureNames() []string {
	return []string{"bound", "mean_bound", "empirical_risk", "gibbs_risk", "mean_risk", "mse",
		"nlpd", "coverage95", "kl_per_row", "noise_variance", "seconds", "heuristic_bound",
		"heuristic_mean_bound"}
}

// Summary averages every measure over the splits that have it, or its difference from base's
// measure on the same split.
func Summary(splits, base []map[string]float64) map[string]Measure {
	of := map[string]Measure{}
	for _, name := range MeasureNames() {
		var vs []float64
		for i, split := range splits {
			v, ok := split[name]
			if base != nil && ok {
				var b float64
				b, ok = base[i][name]
				v -= b
			}
			if ok {
				vs = append(vs, v)
			}
		}
		if len(vs) > 0 {
			of[name] = measureOf(vs)
		}
	}
	return of
}

func measureOf(v []float64) Measure {
	n := float64(len(v))
	m := Measure{Splits: len(v)}
	for _, x := range v {
		m.Mean += x / n
	}
	if n < 2 {
		return m
	}
	for _, x := range v {
		m.SE += (x - m.Mean) * (x - m.Mean)
	}
	m.SE = math.Sqrt(m.SE / (n - 1) / n)
	return m
}
