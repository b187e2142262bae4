package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Sets holds, for each class, the scores of its certified rows in ascending order.
// A row's score is 1 minus the probability that the model gives to the row's class, and the model
// was fixed before anybody saw the row. Whatever the model and the distribution of the rows, the
// set that Labels returns contains the class of a further row with a probability of at least the
// level, for the rows of each class alone, over the draw of the certified rows and the further row
// together (Vovk, Gammerman and Shafer 2005, Sect. 4.5;
// Sadinle, Lei and Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
// JASA 114, 2019).
type Sets [][]float64

// Labels returns the places of the classes that can't be excluded at a level for a row, given the
// probability of each class. A class with fewer than ⌈level/(1 − level)⌉ scores is always among
// them. There may be no such class.
func (s Sets) Labels(p []float64, level float64) (in []int) {
	for k, scores := range s {
		if at := rank(level, len(scores)); at > len(scores) ||
			!(1-p[k] > cautious.Widen(scores[at-1], 1)) { // without a p[k] nothing is excluded
			in = append(in, k)
		}
	}
	return in
}

// setsOf makes Sets of the probabilities of the classes, and of the class of each row.
func setsOf(p [][]float64, truth []int, classes int) Sets {
	s := slices.Repeat(Sets{{}}, classes)
	for i, k := range truth {
		s[k] = append(s[k], 1-p[i][k])
	}
	for _, scores := range s {
		slices.Sort(scores)
	}
	return s
}

// Both returns the probabilities of two classes, given the probability of the second class.
func Both(second float64) []float64 { return []float64{1 - second, second} }

// Shares returns the probabilities of classes, given the probability of each class against the
// others.
func Shares(p []float64) []float64 {
	// all of them may be too small for float64
	total := max(linalg.Sum(p), math.SmallestNonzeroFloat64)
	return lists.Of(p, func(v float64) float64 { return v / total })
}

// Likeliest returns the place of the largest probability, the first place if several are as large.
func Likeliest(p []float64) int { return floats.MaxIdx(p) }

// sane returns an error if sets in a file can't come from the given number of rows.
// Old models have no sets.
func (s Sets) sane(classes, rows int) error {
	for _, scores := range s {
		rows -= len(scores)
		if !slices.IsSorted(scores) ||
			(len(scores) > 0 && !(scores[0] >= 0 && scores[len(scores)-1] <= 1)) {
			rows = -1
			break
		}
	}
	if s != nil && (len(s) != classes || rows != 0) {
		return errors.New("the model file's label_scores can't come from its certified rows")
	}
	return nil
}

// Difference says how recomputed sets differ from stored sets.
// It returns "" if they agree, or if none are stored, as in old models.
func (s Sets) Difference(stored Sets) string {
	same := stored == nil || slices.EqualFunc(s, stored, func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(a, b float64) bool {
			return cautious.SameWidth(a, b, 1)
		})
	})
	if !same {
		return fmt.Sprintf("the scores for sets of labels differ, of %d classes", len(stored))
	}
	return ""
}
