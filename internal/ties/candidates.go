package ties

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

const (
	// least number of units of a candidate; fewer units say too little about new units
	leastUnits   = 4
	leastOfUnits = 1.8 // rows of a unit, on average
)

// Candidates returns the candidates of a table, made from the given rows, whose scaled inputs are x
// and targets y.
func Candidates(d *dataset.Data, rows []int, x matrix.Dense, y []float64) ([]Candidate, error) {
	columns, err := columnsOf(d, rows)
	if err != nil {
		return nil, err
	}
	all := labels(columns, rows)
	var known []int // inputs that number the rows of the file
	for _, c := range columns {
		if c.dates {
			all = append(all, times(c)...)
		}
		if c.rising {
			known = append(known, c.inputs...)
		}
	}
	if known != nil || !sorted(rows, x) {
		all = append(all, orders(rows, known)...)
	}
	all = append(all, space(columns)...)
	all = append(all, copies(x, y)...)
	return append(all, settings(columns, x)...), nil
}

// columnsOf reads the given rows of all columns except the target.
func columnsOf(d *dataset.Data, rows []int) (columns []column, err error) {
	t := d.Table()
	inputs := inputsOf(d)
	var read []int
	for j, name := range t.Names {
		if name != d.Target {
			read = append(read, j)
			columns = append(columns, column{name: name, numbers: make([]float64, len(rows)),
				inputs: inputs[j], dates: slices.ContainsFunc(t.Reading().Dates,
					func(at dataset.Dates) bool { return at.Column == name })})
		}
	}
	cells := make([]float64, len(read))
	for i, row := range rows {
		if err := t.Read(row, 1, read, cells); err != nil {
			return nil, err
		}
		for k, v := range cells {
			columns[k].numbers[i] = v
		}
	}
	for k := range columns {
		columns[k].level(t.Text != nil && t.Text[read[k]] != nil, rows)
	}
	return columns, nil
}

// needed says whether a candidate may need the column:
// if its values repeat, or if it holds dates or coordinates.
// Other columns would take most of the memory of a large fit.
func (c *column) needed() bool {
	return c.dates || judged(max(c.levels, leastUnits), len(c.numbers)) ||
		slices.ContainsFunc(coordinates, func(names [2]string) bool {
			return strings.EqualFold(c.name, names[0]) || strings.EqualFold(c.name, names[1])
		})
}

// inputsOf returns the inputs that each column of the table becomes.
func inputsOf(d *dataset.Data) map[int][]int {
	inputs := map[int][]int{}
	at := 0
	for k, j := range d.Columns() {
		width := 1
		if d.Encoding.Categorical(k) {
			width = len(d.Encoding.Columns[k].Names())
		}
		for range width {
			inputs[j] = append(inputs[j], at)
			at++
		}
	}
	return inputs
}

// level numbers the distinct values of a column, and finds out whether they are labels or number
// the rows.
func (c *column) level(text bool, rows []int) {
	c.values = slices.Clone(c.numbers)
	c.values = slices.DeleteFunc(c.values, func(v float64) bool { return v != v })
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	c.levels = len(c.values)
	c.label = text || !slices.ContainsFunc(c.values, func(v float64) bool {
		return v != math.Trunc(v)
	})
	c.rising = !text && len(rows) > 1
	for i, v := range c.numbers {
		c.rising = c.rising && v-c.numbers[0] == float64(rows[i]-rows[0])
	}
	if !c.needed() {
		c.values = nil
		c.numbers = nil
		return
	}
	c.of = make([]int, len(rows))
	for i, v := range c.numbers {
		if c.of[i] = -1; v == v {
			c.of[i], _ = slices.BinarySearch(c.values, v)
		}
	}
}

// judged says whether the given numbers of units and of rows are enough to judge from.
func judged(units, rows int) bool {
	return units >= leastUnits && float64(rows) >= leastOfUnits*float64(units)
}

// labels returns the columns whose values repeat and may be names, and pairs of such columns.
func labels(columns []column, rows []int) (all []Candidate) {
	var may []column
	for _, c := range columns {
		if !c.label || c.levels < 2 || c.dates {
			continue
		}
		if judged(c.levels, len(c.of)) {
			all = append(all, Candidate{Kind: Column, Names: []string{c.name}, Of: c.of,
				Named: len(c.inputs) > 1, Inputs: c.inputs, Nests: nests(c, columns),
				Sorted: sortedBy(c, rows)})
		}
		if judged(max(c.levels, leastUnits), len(c.of)) {
			may = append(may, c)
		}
	}
	// Pairs are made of the columns with the most values. A pair is a candidate only if it divides
	// the rows into more units than either column does.
	slices.SortStableFunc(may, func(a, b column) int { return cmp.Compare(b.levels, a.levels) })
	may = may[:min(len(may), mostPaired)]
	for i, a := range may {
		for _, b := range may[:i] {
			of, n := blocksOf(func(i int) string { return fmt.Sprint(a.of[i], b.of[i]) }, a, b)
			if n >= 2*leastUnits && judged(n, len(of)) && n > a.levels && n > b.levels {
				all = append(all, Candidate{Kind: Pair, Names: []string{b.name, a.name}, Of: of,
					Inputs: slices.Concat(b.inputs, a.inputs)})
			}
		}
	}
	return all
}

// sortedBy says whether the rows of each unit follow one another in the file.
// A unit may have at most two stretches on average, and the file at most half as many stretches as
// in random order.
func sortedBy(c column, rows []int) bool {
	runs := 0
	last := -1
	ofUnit := make([]float64, c.levels)
	for _, i := range inFile(rows) {
		if c.of[i] != last {
			runs = runs + 1
			last = c.of[i]
		}
		if last >= 0 {
			ofUnit[last]++
		}
	}
	shuffled := float64(len(rows))
	for _, n := range ofUnit {
		shuffled -= n * n / float64(len(rows))
	}
	return runs <= 2*c.levels && float64(runs) <= shuffled/2
}

// inFile returns the places of rows (0 to len(rows)−1), sorted by the order of the file.
func inFile(rows []int) []int { return lists.Order(rows, cmp.Compare) }

// nests says whether another input is the same in all rows of nearly every unit.
// If the other input has a different value in every unit, it may hold the same units under other
// names. It then counts only if the column itself is no input.
func nests(c column, columns []column) bool {
	for _, other := range columns {
		if len(other.inputs) == 0 || other.name == c.name || other.levels < 2 ||
			other.levels > c.levels || (other.levels == c.levels && len(c.inputs) > 0) {
			continue
		}
		// first holds 1 plus the number of the unit's first row, several whether the unit has
		// another row, and same whether the other input is the same in all of its rows.
		first := make([]int, c.levels)
		several := make([]bool, c.levels)
		same := slices.Repeat([]bool{true}, c.levels)
		for i, u := range c.of {
			if u < 0 {
				continue
			}
			several[u] = first[u] > 0
			if !several[u] {
				first[u] = i + 1
			}
			same[u] = same[u] && other.of[first[u]-1] == other.of[i]
		}
		var all, constant float64
		for u := range several {
			if several[u] {
				all++
				if same[u] {
					constant++
				}
			}
		}
		// Units of a single row tell nothing, so they don't count.
		if all > 0 && constant >= mostlySame*all {
			return true
		}
	}
	return false
}

// mostlySame is the share of units that counts as nearly every unit.
const mostlySame = 0.95

// mostPaired is the number of columns whose pairs are candidates.
const mostPaired = 5

// sorted says whether an input goes up or down with the rows' order.
// The order then adds nothing to this input. Some of the rows are enough to tell, because the
// correlation of independent rows is about 1/√n.
func sorted(rows []int, x matrix.Dense) bool {
	const least, enough = 0.5, 10_000
	of := make([]float64, min(len(rows), enough))
	at := func(i int) int { return i * len(rows) / len(of) }
	for i := range of {
		of[i] = float64(rows[at(i)])
	}
	a := scores(of)
	for j := range x.Cols {
		for i := range of {
			of[i] = x.At(at(i), j)
		}
		b := scores(of)
		var ab, aa, bb float64
		for i, v := range a {
			ab += v * b[i]
			aa += v * v
			bb += b[i] * b[i]
		}
		if math.Abs(ab) >= least*math.Sqrt(aa*bb) {
			return true
		}
	}
	return false
}

// orders returns blocks of rows that follow one another in the file.
func orders(rows, known []int) (all []Candidate) {
	place := inFile(rows)
	for _, size := range []int{4, 16, 64} {
		if len(rows)/size < leastUnits {
			break
		}
		of := make([]int, len(rows))
		for k, i := range place {
			of[i] = k / size
		}
		all = append(all, Candidate{Kind: Order, Size: float64(size), Of: of, Inputs: known})
	}
	return all
}

// times returns blocks of time.
func times(c column) (all []Candidate) {
	span := c.values[len(c.values)-1] - c.values[0]
	for _, blocks := range []float64{64, 16} {
		size := span / blocks
		of, n := blocksOf(func(i int) string {
			return fmt.Sprint(math.Floor((c.numbers[i] - c.values[0]) / size))
		}, c)
		if judged(n, len(of)) {
			all = append(all, Candidate{Kind: Time, Names: []string{c.name}, Size: size, Of: of,
				Inputs: c.inputs})
		}
	}
	return all
}

// blocksOf numbers the blocks of rows. A row has no block if it lacks a value in a column.
func blocksOf(block func(i int) string, columns ...column) (of []int, n int) {
	numbers := map[string]int{}
	of = make([]int, len(columns[0].of))
	for i := range of {
		if of[i] = -1; slices.ContainsFunc(columns, func(c column) bool { return c.of[i] < 0 }) {
			continue
		}
		at := block(i)
		u, known := numbers[at]
		if !known {
			u = len(numbers)
			numbers[at] = u
		}
		of[i] = u
	}
	return of, len(numbers)
}

// coordinates holds pairs of names, in any case of letters, of columns that say places on a map.
var coordinates = [][2]string{{"lon", "lat"}, {"long", "lat"}, {"lng", "lat"},
	{"longitude", "latitude"}, {"easting", "northing"}, {"xloc", "yloc"}, {"x", "y"}}

// Map returns the places of the first two names that are known as coordinates, or nil.
func Map(names []string) []int {
	for _, pair := range coordinates {
		at := lists.Of(pair[:], func(of string) int {
			return slices.IndexFunc(names, func(name string) bool {
				return strings.EqualFold(name, of)
			})
		})
		if min(at[0], at[1]) >= 0 {
			return at
		}
	}
	return nil
}

// space returns blocks of columns that are known as coordinates.
func space(columns []column) (all []Candidate) {
	columns = lists.If(columns, func(c column) bool { return c.levels > 1 })
	if at := Map(lists.Of(columns, func(c column) string { return c.name })); at != nil {
		a := columns[at[0]]
		b := columns[at[1]]
		// Squares have the same size in both columns, so that the wider range decides it.
		wide := max(a.values[a.levels-1]-a.values[0], b.values[b.levels-1]-b.values[0])
		for _, cells := range []float64{32, 16, 8, 4} {
			size := wide / cells
			of, n := blocksOf(func(i int) string {
				return fmt.Sprint(math.Floor((a.numbers[i]-a.values[0])/size),
					math.Floor((b.numbers[i]-b.values[0])/size))
			}, a, b)
			if judged(n, len(of)) {
				all = append(all, Candidate{Kind: Place, Names: []string{a.name, b.name},
					Size: size, Of: of, Inputs: slices.Concat(a.inputs, b.inputs)})
			}
		}
	}
	return all
}

const (
	// largest difference of copies, in standard deviations of each input and the target
	copied      = 1e-4
	leastCopied = 0.05 // least share of rows that are copies
	// copies may have this many rows between them when all rows are sorted along a line
	mostNear = 64
)

// copies returns rows whose inputs and target are nearly, but not exactly, the same as another
// row's. Such rows are also near one another along a line of any direction, so that only neighbours
// along a random line are compared.
func copies(x matrix.Dense, y []float64) []Candidate {
	rng := rand.New(rand.NewPCG(0, 0x636f706965730000))
	// along is each row's place on the line. Places of copies differ by at most reach.
	along := slices.Clone(y)
	order := make([]int, x.Rows)
	of := make([]int, x.Rows)
	reach := copied
	for j := range x.Cols {
		weight := rng.NormFloat64()
		reach += copied * math.Abs(weight)
		for i := range along {
			along[i] += weight * x.At(i, j)
		}
	}
	for i := range order {
		order[i], of[i] = i, -1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(along[a], along[b]) })
	n := 0
	rows := 0
	for k, a := range order {
		for _, b := range order[k+1 : min(k+1+mostNear, len(order))] {
			if along[b]-along[a] > reach {
				break
			}
			if of[b] >= 0 || !nearly(x.Row(a), x.Row(b), y[a], y[b]) {
				continue
			}
			// The first row of a unit counts when a copy of it is found.
			if of[a] < 0 {
				of[a] = n
				n++
				rows++
			}
			of[b] = of[a]
			rows++
		}
	}
	if n < leastUnits || float64(rows) < leastCopied*float64(x.Rows) {
		return nil
	}
	return []Candidate{{Kind: Copies, Of: of}}
}

// nearly says whether two rows are copies: they differ, but by little.
func nearly(a, b []float64, ya, yb float64) bool {
	equal := ya == yb
	for j, v := range a {
		if math.Abs(v-b[j]) > copied {
			return false
		}
		equal = equal && v == b[j]
	}
	return !equal && math.Abs(ya-yb) <= copied
}
