package dataset

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// Role says what a row may be used for. The values are part of the model-file
// format.
type Role byte

const (
	Test        Role = iota // scored at the end, never seen by training
	Calibration             // sets the width of conformal intervals
	Prior                   // anything may be learnt from it before training
	Certified               // trained on, and counted by the certificate
)

// String returns the role in lower case.
func (r Role) String() string {
	if names := [...]string{"test", "calibration", "prior", "certified"}; int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("role(%d)", byte(r))
}

// shuffleStream is the second half of the generator's state (the golden ratio's
// bits), so that the shuffle shares no stream with other uses of a seed.
const shuffleStream = 0x9e3779b97f4a7c15

// Deal shuffles rows by the seed and deals them in shuffled order: test rows,
// then calibration, then prior, the rest certified. It returns each row's role.
//
// Because test rows are dealt first they stay the same when the other counts
// change. The shuffle (Fisher–Yates from the end, indices drawn from PCG-DXSM
// seeded with the seed and a constant, by Lemire's method) is a contract of the
// model file: `certify` deals again and must find the same rows, so it never
// changes, and draws on no method of [rand.Rand], which might.
func Deal(rows int, seed uint64, test, calibration, prior int) ([]Role, error) {
	counts := []int{test, calibration, prior}
	left := rows
	for k, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("%d %s rows asked for: the count must not be negative", n, Role(k))
		}
		if n > left {
			return nil, fmt.Errorf("%d test, %d calibration and %d prior rows asked for, but there are only %d rows: ask for fewer",
				test, calibration, prior, rows)
		}
		left -= n
	}
	order := make([]int, rows)
	for i := range order {
		order[i] = i
	}
	pcg := rand.NewPCG(seed, shuffleStream)
	for i := rows - 1; i > 0; i-- {
		j := below(pcg, uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	roles := make([]Role, rows)
	for k, n := range append(counts, left) {
		for _, i := range order[:n] {
			roles[i] = Role(k)
		}
		order = order[n:]
	}
	return roles, nil
}

// below draws uniformly from 0, …, n−1 without bias (Lemire, "Fast random
// integer generation in an interval", 2019).
func below(pcg *rand.PCG, n uint64) uint64 {
	for {
		high, low := bits.Mul64(pcg.Uint64(), n)
		if low >= -n%n { // −n mod n = 2⁶⁴ mod n draws are too many
			return high
		}
	}
}

// RowsOf returns the rows that have the role, in increasing order.
func RowsOf(roles []Role, role Role) []int {
	var rows []int
	for i, r := range roles {
		if r == role {
			rows = append(rows, i)
		}
	}
	return rows
}

// DefaultPriorRows is how many of the rows left after test and calibration are
// prior rows where only scaling is learnt from them: a tenth, at least 20, for
// means and deviations within some 20 %, at most 1000, beyond which they hardly
// improve while each costs a certified row.
func DefaultPriorRows(rows int) int {
	return max(20, min(1000, (rows+9)/10))
}
