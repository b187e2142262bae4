package dataset

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
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

// Roles are those of a table's rows, and the order in which rows are used: whatever is
// computed from them is the same however the file orders its rows.
type Roles struct {
	Of    []Role // of every row, as they stand in the table
	Order []int  // rows, as they were dealt; nil: as they stand in the table
	Group []int  // number of the group of every row; nil: each is its own
}

// Rows returns the rows of all ranks that have the role, in their order.
func (r Roles) Rows(role Role) []int {
	var rows []int
	if r.Order != nil {
		for _, i := range r.Order {
			if r.Of[i] == role {
				rows = append(rows, i)
			}
		}
		return rows
	}
	for i, other := range r.Of {
		if other == role {
			rows = append(rows, i)
		}
	}
	return rows
}

// Count returns the number of rows with a role.
func (r Roles) Count(role Role) (n int) {
	for _, other := range r.Of {
		if other == role {
			n++
		}
	}
	return n
}

// Counts are numbers of rows, or of groups of them, by role. Who asks for roles leaves Certified at 0: all others are.
type Counts [Certified + 1]int

// Sum is that of all roles.
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

// complete is the counts of so many things, of which those without another role are certified.
func complete(things int, asked Counts) (c Counts, err error) {
	left := things
	for role, n := range asked[:Certified] {
		if n < 0 {
			return c, fmt.Errorf("%d %s rows asked for: the count must not be negative", n, Role(role))
		}
		if n > left {
			return c,
				fmt.Errorf("%d test, %d calibration and %d prior rows asked for, but there are only %d rows: ask for fewer",
					asked[Test], asked[Calibration], asked[Prior], things)
		}
		c[role] = n
		left -= n
	}
	c[Certified] = left
	return c, nil
}

// DealLast makes the last rows of a table test rows, those before them the certified ones,
// and deals the others prior rows first: a backtest, where rows follow time.
func DealLast(rows int, asked Counts) (Roles, error) {
	c, err := complete(rows, asked)
	if err != nil {
		return Roles{}, err
	}
	return Roles{Of: slices.Concat(slices.Repeat([]Role{Prior}, c[Prior]),
		slices.Repeat([]Role{Calibration}, c[Calibration]),
		slices.Repeat([]Role{Certified}, c[Certified]), slices.Repeat([]Role{Test}, c[Test]))}, nil
}

// shuffleStream is the second half of the generator's state (the golden ratio's
// bits), so that the shuffle shares no stream with other uses of a seed.
const shuffleStream = 0x9e3779b97f4a7c15

// DealByPosition shuffles row numbers by the seed and deals them in shuffled order: test rows,
// then calibration, then prior, the rest certified. It is the rule of model files up to version 4, and
// nothing else may use it: roles that depend on where rows stand in the file aren't random where
// the file is sorted, unless the seed is drawn anew for each file.
//
// The shuffle (Fisher–Yates from the end, indices drawn from PCG-DXSM
// seeded with the seed and a constant, by Lemire's method) is a contract of those
// files: `certify` deals again and must find the same rows, so it never
// changes, and draws on no method of [rand.Rand], which might.
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
		if low >= -n%n { // −n mod n = 2⁶⁴ mod n draws are too many
			return high
		}
	}
}

// DefaultPriorRows is how many of the rows left after test and calibration are
// prior rows where only scaling is learnt from them: a tenth, at least 20, for
// means and deviations within some 20 %, at most 1000, beyond which they hardly
// improve while each costs a certified row.
func DefaultPriorRows(rows int) int {
	return max(20, min(1000, (rows+9)/10))
}
