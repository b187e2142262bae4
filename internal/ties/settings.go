package ties

import (
	"cmp"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// A setting is what the rows of a unit have in common if no column names the unit:
// a few columns have equal values, or nearly equal values, in these rows.
// Not all sets of columns can be candidates. So a set begins with one column, and takes in columns
// as long as more rows agree in the set than would by chance.

const (
	mostBegun     = 8      // number of columns that a set may begin with
	mostCompared  = 20_000 // with more rows, sets don't grow
	leastRepeated = 0.2    // least share of rows whose setting has another row
	leastSettings = 8      // least number of settings
	// fewer settings must agree in more columns than by chance, and must tell more
	manySettings = 20
	mostLinked   = 2000 // rows among which nearly equal rows are sought
	// least difference of the logarithms of distances within and between settings, in their sds
	leastGap      = 4
	leastDistance = 1e-7
)

// settings returns the candidates that columns of equal or of nearly equal values make.
func settings(columns []column, x matrix.Dense) (all []Candidate) {
	repeat := lists.If(columns, func(c column) bool {
		return c.of != nil && c.levels > 1 && !c.dates
	})
	slices.SortStableFunc(repeat, func(a, b column) int { return cmp.Compare(b.levels, a.levels) })
	input := func(c column) bool { return len(c.inputs) > 0 }
	// Sets of columns to look at: all inputs whose values repeat, or all but one of them; all
	// columns of labels; and sets that grow from a single column.
	sets := butOne(lists.If(repeat, input))
	sets = append(sets, lists.If(repeat, func(c column) bool { return c.label }))
	for _, c := range repeat[:min(len(repeat), mostBegun)] {
		if x.Rows <= mostCompared {
			sets = append(sets, grown(c, repeat))
		}
	}
	for _, set := range sets {
		least := leastSettings
		if byChance(set) {
			least = manySettings
		}
		all = add(all, set, agreeing(set), 0, least)
	}
	// Nearly equal rows take a comparison of all pairs of rows.
	if x.Rows > mostLinked {
		return all
	}
	for _, set := range butOne(lists.If(columns, input)) {
		of, size := linked(set, x)
		all = add(all, set, of, size, leastSettings)
	}
	return all
}

// byChance says whether rows have settings in common because values of each column repeat, as on a
// grid, and not because columns agree.
func byChance(set []column) bool {
	return !slices.ContainsFunc(set, func(c column) bool {
		return c.of == nil
	}) && unlikely(set) < leastUnlikely
}

// butOne returns a set, and, unless it is large, the sets that lack one of its columns.
func butOne(set []column) [][]column {
	all := [][]column{set}
	for i := range set {
		if 1 < len(set) && len(set) <= 2*mostBegun {
			all = append(all, slices.Concat(set[:i], set[i+1:]))
		}
	}
	return all
}

// add adds a candidate, unless another candidate has the same units, or too few rows have a setting
// in common with others.
func add(all []Candidate, set []column, of []int, size float64, least int) []Candidate {
	if len(set) == 0 || (len(set) == 1 && set[0].label) {
		return all
	}
	// Only units of several rows are settings. Other rows stay without a unit (−1).
	c := Candidate{Kind: Setting, Size: size, Of: slices.Repeat([]int{-1}, len(of)),
		Chance: byChance(set)}
	n := 0
	repeated := 0
	for _, rows := range lists.Members(of) {
		if len(rows) > 1 {
			for _, row := range rows {
				c.Of[row] = n
			}
			n++
			repeated += len(rows)
		}
	}
	if n < least || float64(repeated) < leastRepeated*float64(len(of)) {
		return all
	}
	// The same units may come from several sets. Then one set that chance doesn't explain is
	// enough.
	if i := slices.IndexFunc(all, func(o Candidate) bool {
		return slices.Equal(o.Of, c.Of)
	}); i >= 0 {
		all[i].Chance = all[i].Chance && c.Chance
		return all
	}
	for _, m := range set {
		c.Names = append(c.Names, m.name)
		c.Inputs = append(c.Inputs, m.inputs...)
	}
	slices.Sort(c.Names)
	return append(all, c)
}

// agreeing numbers the rows by their values in a set of columns. A missing value is a value here.
func agreeing(set []column) (of []int) {
	for k, c := range set {
		if k == 0 {
			of = make([]int, len(c.of))
		}
		of, _ = lists.Numbered(lists.To(len(of), func(i int) int {
			return of[i]*(c.levels+1) + c.of[i]
		}))
	}
	return of
}

// agreements returns the number of pairs of rows of the same group that have the same place in a
// column. A missing value is a value here.
func agreements(groups [][]int, c column) float64 {
	count := make([]int, c.levels+1)
	pairs := 0
	for _, rows := range groups {
		for _, row := range rows {
			at := &count[c.of[row]+1]
			pairs += *at
			*at++
		}
		for _, row := range rows {
			count[c.of[row]+1] = 0
		}
	}
	return float64(pairs)
}

// together returns all of n rows as one group.
func together(n int) [][]int { return [][]int{linalg.UpTo(n)} }

// leastUnlikely is the least value of unlikely that chance doesn't explain.
const leastUnlikely = 2

// unlikely compares the number of pairs of rows that agree in all columns of a set with the number
// that would agree if the columns were independent.
// It returns the difference in standard deviations; 0 for a single column.
func unlikely(set []column) float64 {
	if len(set) < 2 {
		return 0
	}
	rows := together(len(set[0].of))
	pairs := pairsOf(len(set[0].of))
	chance := pairs
	for _, c := range set {
		chance *= agreements(rows, c) / pairs
	}
	last := len(set) - 1
	return beyondChance(agreements(lists.Members(agreeing(set[:last])), set[last]), chance)
}

// pairsOf returns the number of pairs of n rows.
func pairsOf(n int) float64 { return float64(n) * float64(n-1) / 2 }

// beyondChance returns by how many standard deviations a number of pairs is more than chance makes.
func beyondChance(pairs, chance float64) float64 { return (pairs - chance) / math.Sqrt(chance+1) }

// grown returns the set that begins with a column.
// It takes in the column that makes the set the most unlikely, and stops where no column makes it
// more unlikely.
func grown(c column, from []column) []column {
	set := []column{c}
	best := float64(leastUnlikely)
	rows := together(len(c.of))
	chance := agreements(rows, c)
	shares := lists.Of(from, func(o column) float64 {
		return agreements(rows, o) / pairsOf(len(o.of))
	})
	for {
		next := -1
		groups := lists.Members(agreeing(set))
		for j, o := range from {
			if slices.ContainsFunc(set, func(s column) bool { return s.name == o.name }) {
				continue
			}
			if by := beyondChance(agreements(groups, o), chance*shares[j]); by > best {
				next = j
				best = by
			}
		}
		if next < 0 {
			return set
		}
		set = append(set, from[next])
		chance *= shares[next]
	}
}

// linked numbers rows by settings that are nearly equal in the inputs of a set.
// Neighbouring rows are joined one after the other (the tree of least distances, by Prim's
// algorithm). If the tree's distances are of two sizes, the longer ones are between settings.
// size is a distance between both.
func linked(set []column, x matrix.Dense) (of []int, size float64) {
	var inputs []int
	for _, c := range set {
		inputs = append(inputs, c.inputs...)
	}
	own := make([]float64, 0, x.Rows*len(inputs))
	for i := range x.Rows {
		for _, j := range inputs {
			own = append(own, x.At(i, j))
		}
	}
	row := func(i int) []float64 { return own[i*len(inputs):][:len(inputs)] }
	// near holds each row's squared distance from the tree, and to the row of the tree that it is
	// nearest to. left holds the rows that aren't in the tree, in their order. logs are logarithms
	// of the distances at which rows were joined.
	near := slices.Repeat([]float64{math.Inf(1)}, x.Rows)
	to := make([]int, x.Rows)
	left := linalg.UpTo(x.Rows)[1:]
	order := append(make([]int, 0, x.Rows), 0)
	logs := make([]float64, 0, x.Rows)
	for at := 0; len(left) > 0; {
		next := 0
		for i, k := range left {
			if d := closer(row(k), row(at), near[k]); d < near[k] {
				near[k] = d
				to[k] = at
			}
			if near[k] < near[left[next]] {
				next = i
			}
		}
		at = left[next]
		left = slices.Delete(left, next, next+1)
		order = append(order, at)
		logs = append(logs, math.Log(math.Sqrt(near[at])+leastDistance))
	}
	limit, gap := parted(slices.Clone(logs))
	of = slices.Repeat([]int{-1}, x.Rows)
	if gap < leastGap {
		return of, 0
	}
	// A row that was joined at a longer distance begins a new setting. The other rows have the
	// setting of the row that they were joined to.
	for k, at := range order {
		if k > 0 && logs[k-1] <= limit {
			of[at] = of[to[at]]
		} else {
			of[at] = k
		}
	}
	return of, math.Exp(limit)
}

// closer returns the squared distance of two rows if it is less than a limit, and otherwise any
// number that isn't.
func closer(a, b []float64, limit float64) (d float64) {
	for j, v := range a {
		e := v - b[j]
		if d += e * e; d >= limit {
			return d
		}
	}
	return d
}

// parted parts values in two, so that their squared distances from the mean of their part are least
// (Otsu 1979). It returns a limit, and the difference of the means in standard deviations within
// the parts.
func parted(values []float64) (limit, gap float64) {
	slices.Sort(values)
	n := len(values)
	var sum, squares, left float64
	for _, v := range values {
		sum += v
		squares += v * v
	}
	best := 0.
	for i, v := range values[:max(0, n-1)] {
		left += v
		a := float64(i + 1)
		b := float64(n - i - 1)
		apart := (sum-left)/b - left/a
		if between := a * b / float64(n) * apart * apart; between > best && values[i+1] > v {
			within := math.Max(squares-sum*sum/float64(n)-between, 1e-12)
			best = between
			limit = (v + values[i+1]) / 2
			gap = apart / math.Sqrt(within/float64(n))
		}
	}
	return limit, gap
}
