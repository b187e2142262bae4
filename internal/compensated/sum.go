// Package compensated adds numbers so that the error of the sum doesn't grow with their count.
package compensated

import "math"

// Sum is a running sum and the rounding error that it left behind (Neumaier, 1974).
// Total + Lost has the error of one rounding. The zero value is an empty sum.
// encoding/binary can carry a Sum, since its size is fixed.
type Sum struct{ Total, Lost float64 }

// Add adds one number.
func (s *Sum) Add(x float64) {
	t := s.Total + x
	if math.Abs(s.Total) >= math.Abs(x) {
		s.Lost += (s.Total - t) + x
	} else {
		s.Lost += (x - t) + s.Total
	}
	s.Total = t
}

// Join adds another sum.
func (s *Sum) Join(t Sum) { s.Add(t.Total); s.Lost += t.Lost }

// Value returns the sum. It is infinite or NaN if the running sum is.
func (s *Sum) Value() float64 {
	if math.IsInf(s.Total, 0) || math.IsNaN(s.Total) {
		return s.Total // Lost is NaN here, and says less
	}
	return s.Total + s.Lost
}
