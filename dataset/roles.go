package dataset

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Role says what a row may be used for. The values are part of the model-file format.
type Role byte

const (
	Test        Role = iota // scored at the end, never seen by training
	Calibration             // sets the width of conformal intervals
	Prior                   // anything may be learnt from a prior row before training
	Certified               // training uses the row, and the certificate counts it
)

// String returns the role in lower case.
func (r Role) String() string {
	if names := [...]string{"test", "calibration", "prior", "certified"}; int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("role(%d)", byte(r))
}

// Roles holds the roles of a table's rows, and the order in which rows are used.
// Because of this order, results don't depend on how the file orders its rows.
type Roles struct {
	Of    []Role // role of every row, in the table's order
	Order []int  // rows in the order in which they were dealt; nil: the table's order
	Group []int  // number of every row's group; nil: rows aren't grouped
}

// Rows returns the rows of all ranks that have the role, in the order of r.
func (r Roles) Rows(role Role) []int {
	has := func(i int) bool { return r.Of[i] == role }
	if r.Order != nil {
		return lists.If(r.Order, has)
	}
	return lists.Where(len(r.Of), has)
}

// Count returns the number of rows with a role.
func (r Roles) Count(role Role) (n int) {
	return len(lists.If(r.Of, func(other Role) bool { return other == role }))
}

// Counts holds numbers of rows, or of groups, by role.
// A request leaves Certified at 0, and all other units are certified.
type Counts [Certified + 1]int

// Sum returns the number of rows, or of groups, of all roles.
func (c Counts) Sum() int { return c[Test] + c[Calibration] + c[Prior] + c[Certified] }

// Counts returns the numbers of rows, and of groups, by role.
func (r Roles) Counts() (rows, groups Counts) {
	seen := map[int]bool{}
	for i, role := range r.Of {
		rows[role]++
		if r.Group != nil && !seen[r.Group[i]] {
			seen[r.Group[i]] = true
			groups[role]++
		}
	}
	if r.Group == nil {
		groups = rows
	}
	return rows, groups
}

// complete returns the counts of all roles for this number of things (rows or groups).
// The counts in asked stay as they are, and all other things are certified.
func complete(things int, asked Counts) (c Counts, err error) {
	left := things
	for role, n := range asked[:Certified] {
		if n < 0 {
			return c, fmt.Errorf("%d %s rows asked for: the count must not be negative",
				n, Role(role))
		}
		if n > left {
			return c, fmt.Errorf("%d test, %d calibration and %d prior rows asked for, but there "+
				"are only %d rows: ask for fewer", asked[Test], asked[Calibration],
				asked[Prior], things)
		}
		c[role] = n
		left -= n
	}
	c[Certified] = left
	return c, nil
}

// DealLast deals roles in the table's order: first prior, then calibration, then certified rows,
// and test rows last.
// This is a backtest if rows follow time.
func DealLast(rows int, asked Counts) (Roles, error) {
	c, err := complete(rows, asked)
	if err != nil {
		return Roles{}, err
	}
	return Roles{Of: slices.Concat(slices.Repeat([]Role{Prior}, c[Prior]),
		slices.Repeat([]Role{Calibration}, c[Calibration]),
		slices.Repeat([]Role{Certified}, c[Certified]), slices.Repeat([]Role{Test}, c[Test]))}, nil
}

// shuffleStream is the second half of the generator's state (the golden ratio's bits).
// It makes the shuffle draw other numbers than other uses of the same seed.
const shuffleStream = 0x9e3779b97f4a7c15

// DealByPosition shuffles row numbers by the seed and deals them in shuffled order:
// first test rows, then calibration rows, then prior rows, and the rest are certified.
// Model files up to version 4 follow this rule.
// Nothing else may use it, because the roles depend on where rows stand in the file.
// In a sorted file they aren't random, unless each file gets a seed of its own.
//
// The shuffle is Fisher–Yates from the end. Lemire's method draws its indices from PCG-DXSM, seeded
// with the seed and a constant. `certify` repeats the shuffle for such files and must find the same
// rows, so the shuffle never changes.
// It uses no method of [rand.Rand], because these methods might change.
func DealByPosition(rows int, seed uint64, asked Counts) ([]Role, error) {
	counts, err := complete(rows, asked)
	if err != nil {
		return nil, err
	}
	order := linalg.UpTo(rows)
	pcg := rand.NewPCG(seed, shuffleStream)
	for i := rows - 1; i > 0; i-- {
		j := below(pcg, uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	roles := make([]Role, rows)
	for role, n := range counts {
		for _, i := range order[:n] {
			roles[i] = Role(role)
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
		// a smaller low part would bias the draw (in uint64, 2⁶⁴ mod n is −n mod n)
		if low >= -n%n {
			return high
		}
	}
}

// DefaultPriorRows returns the number of prior rows if only scaling is learnt from them.
// rows is the number of rows that are left after test and calibration.
// The result is a tenth of rows. It is at least 20, for means and deviations within some 20 %, and
// at most 1000, because more hardly improve them and each costs a certified row.
func DefaultPriorRows(rows int) int {
	return max(20, min(1000, (rows+9)/10))
}
