package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// header prints the head of a Markdown table.
func header(w io.Writer, cells []string) {
	line(w, cells)
	fmt.Fprintln(w, "|"+strings.Repeat("---|", len(cells)))
}

// line prints a row of a Markdown table.
func line(w io.Writer, cells []string) { fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |") }

// meanSE returns the mean and its standard error.
func meanSE(v []float64) (mean, se float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	if n < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// meanSD returns the mean and the standard deviation, as the papers print them.
func meanSD(v []float64) (mean, sd float64) {
	mean, se := meanSE(v)
	return mean, se * math.Sqrt(float64(len(v)))
}

// plusMinus prints a mean, with its standard deviation if there is one.
func plusMinus(mean, sd float64, digits int) string {
	if math.IsNaN(sd) {
		return fmt.Sprintf("%.*f", digits, mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, sd)
}
