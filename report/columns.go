package report

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
)

// column is a column of a table that a model predicts from.
// It has one input, or several if it holds categories or dates.
type column struct {
	name       string // for people
	raw        string // as the table has it
	inputs     []int
	categories []string // the category that each input stands for; nil: a column of numbers
	dates      string   // how dates are written (dataset.Dates.Form); "": the column has no dates
}

// columnsOf returns the columns of a model's inputs, in their order.
func columnsOf(m *krigo.Model) (all []column) {
	if m.Encoding == nil {
		all = lists.To(len(m.Inputs), func(j int) column {
			return column{name: m.Inputs[j], inputs: []int{j}}
		})
	} else {
		j := 0
		for _, c := range m.Encoding.Columns {
			of := column{name: c.Name, categories: c.Names()}
			for k := range max(1, len(of.categories)) {
				of.inputs = append(of.inputs, j+k)
			}
			j += c.Width()
			all = append(all, of)
		}
	}
	for _, d := range m.Reading.Dates {
		all = joined(all, d)
	}
	for k := range all {
		all[k].raw, all[k].name = all[k].name, cautious.Name(all[k].name)
	}
	return all
}

// joined makes one column of the columns that a date became.
func joined(all []column, d dataset.Dates) []column {
	names := append([]string{d.Column}, d.Derived()...)
	first := -1
	return slices.DeleteFunc(all, func(c column) bool {
		if c.categories != nil || !slices.Contains(names, c.name) {
			return false
		}
		at := slices.IndexFunc(all, func(o column) bool { return o.name == c.name })
		if first < 0 {
			if first = at; c.name == d.Column {
				all[first].dates = cmp.Or(d.Form, "ymd")
			}
			return false
		}
		all[first].inputs = append(all[first].inputs, all[at].inputs...)
		return true
	})
}

// continuous says whether a column is a single input that isn't a category.
func (c column) continuous() bool { return c.categories == nil && len(c.inputs) == 1 }

// value returns what a row of inputs has in the column: a number, or the place of its category.
func (c column) value(row []float64) float64 {
	if c.categories == nil {
		return row[c.inputs[0]]
	}
	first := c.inputs[0]
	// inducing inputs may lie between categories
	return float64(floats.MaxIdx(row[first : first+len(c.inputs)]))
}

// set gives the column a value in a row: a number, or the place of a category.
func (c column) set(row []float64, value float64) {
	if c.categories == nil {
		row[c.inputs[0]] = value
		return
	}
	for k, j := range c.inputs {
		row[j] = 0
		if float64(k) == value {
			row[j] = 1
		}
	}
}

// put copies the column from one row to another.
func (c column) put(to, from []float64) {
	for _, j := range c.inputs {
		to[j] = from[j]
	}
}

// rows holds rows of inputs, in their own units. The function is drawn at them.
type rows struct {
	what string // "rows of boston.csv"
	d    int
	x    []float64
}

// n returns the number of rows.
func (r rows) n() int { return len(r.x) / max(1, r.d) }

// at returns row i, with d raw inputs. It shares the rows' memory.
func (r rows) at(i int) []float64 { return r.x[i*r.d : (i+1)*r.d] }

// of returns the column's value in each row.
func (r rows) of(c column) []float64 {
	return lists.To(r.n(), func(i int) float64 { return c.value(r.at(i)) })
}

// The function is drawn at no more than mostReference rows, and at fewer if these held more than
// mostNumbers numbers.
const (
	mostReference = 2000
	mostNumbers   = 1 << 24
)

// spread returns n of the numbers below all: one at random from each of n equal parts, so that no
// period in the file matters. Every call returns the same numbers.
func spread(n, all int) []int {
	rng := rand.New(rand.NewPCG(1, 7))
	n = min(n, all)
	return lists.To(n, func(i int) int {
		from := i * all / n
		to := (i + 1) * all / n
		return from + rng.IntN(to-from)
	})
}

// referenceOf returns rows of a table at which the function is drawn.
func referenceOf(d *dataset.Data) (rows, error) {
	all := d.All()
	chosen := spread(max(1, min(mostReference, mostNumbers/max(1, d.Cols))), len(all))
	for i, k := range chosen {
		chosen[i] = all[k]
	}
	x := make([]float64, len(chosen)*d.Cols)
	r := rows{what: "rows of " + d.Source, d: d.Cols, x: x}
	if len(chosen) < len(all) {
		r.what = cautious.Digits(float64(len(chosen)), 9) + " of the " + r.what + ", evenly spread"
	}
	return r, d.Read(chosen, x, nil)
}

// medoid returns the row with the least sum of distances to the other rows, in scaled units.
// If some rows have the commonest category in every column of categories, it is one of these rows.
func medoid(r rows, columns []column, scale []float64) int {
	candidates := spread(r.n(), r.n())
	for _, c := range columns {
		if c.categories == nil {
			continue
		}
		all, _ := frequent(r.of(c))
		with := slices.DeleteFunc(slices.Clone(candidates), func(i int) bool {
			return c.value(r.at(i)) != all[0]
		})
		if len(with) > 0 {
			candidates = with
		}
	}
	// This takes at most a fifth of a second. Many rows are near the middle, so that some rows are
	// enough.
	most := max(10, int(math.Sqrt(1e8/float64(r.d))))
	best := candidates[0]
	least := math.Inf(1)
	others := spread(most, r.n())
	for _, k := range spread(most, len(candidates)) {
		row := r.at(candidates[k])
		sum := 0.
		for _, o := range others {
			square := 0.
			for j, v := range r.at(o) {
				t := (v - row[j]) / scale[j]
				square += t * t
			}
			if sum += math.Sqrt(square); sum >= least {
				break
			}
		}
		if sum < least {
			best = candidates[k]
			least = sum
		}
	}
	return best
}

// frequent returns the values that occur, the most frequent and then the least first, and how often
// they occur.
func frequent(vs []float64) (all []float64, counts map[float64]int) {
	counts = map[float64]int{}
	for _, v := range vs {
		counts[v]++
	}
	return slices.SortedFunc(maps.Keys(counts), func(a, b float64) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}), counts
}

// level is a value of a column that has few values.
type level struct {
	name  string
	value float64
	rows  int // how many rows have the value
}

// A column of at most mostLevels numbers is drawn value by value, and a column of categories by the
// mostCategories commonest.
const (
	mostLevels     = 6
	mostCategories = 12
)

// levels returns the values that rows have in a column, if the column has few values or holds
// categories. Otherwise it returns nil.
func levels(r rows, c column) []level {
	values, counts := frequent(r.of(c))
	// a date has several numbers
	if c.categories == nil && (len(values) > mostLevels || len(c.inputs) > 1) {
		return nil
	}
	all := lists.Of(values, func(v float64) level {
		name := cautious.Digits(v, 9)
		if c.categories != nil {
			name = cautious.Name(c.categories[int(v)])
		}
		return level{name, v, counts[v]}
	})
	if c.categories == nil {
		slices.SortFunc(all, func(a, b level) int { return cmp.Compare(a.value, b.value) })
	}
	return all[:min(len(all), mostCategories)]
}

// central returns the range of the middle 98 % of values, or of all values if the middle is a
// single value.
func central(vs []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(vs))
	n := len(sorted)
	if low, high = sorted[n/100], sorted[n-1-n/100]; low == high {
		low = sorted[0]
		high = sorted[n-1]
	}
	return low, high
}
