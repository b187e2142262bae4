package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// The page lists mostWorst rows with mostInputs columns each, and describes mostDescribed columns.
// The median of more rows than mostRows is the median of mostRows rows, evenly spread.
const (
	mostWorst     = 10
	mostInputs    = 8
	mostDescribed = 15
)

// text writes a cell of the column as the table has it:
// v is a number, a date's day, or the place of a text.
func (c column) text(v float64, texts []string) string {
	switch {
	case v != v:
		return "missing"
	case texts != nil:
		return cautious.Name(texts[int(v)])
	case c.dates == "" || math.Abs(v) > 2_900_000:
		return number(v)
	}
	layout := "2006-01-02"
	t := time.Unix(int64(math.Round(v*86400)), 0).UTC()
	switch {
	case c.dates == "time":
		layout = "15:04:05"
	case v != math.Trunc(v):
		layout += " 15:04"
	}
	return t.Format(layout)
}

// median returns the median of sorted values.
func median(v []float64) float64 { return v[(len(v)-1)/2]/2 + v[len(v)/2]/2 }

// worst returns a table of the rows of a sample whose residuals are the largest in their standard
// deviation.
func (r *maker) worst(s *sample) (t table, err error) {
	order := linalg.UpTo(len(s.z))
	slices.SortStableFunc(order, func(a, b int) int {
		if r.m.Classes != nil {
			return cmp.Compare(s.logLoss[b], s.logLoss[a])
		}
		return cmp.Compare(math.Abs(s.z[b]), math.Abs(s.z[a]))
	})
	order = order[:min(mostWorst, len(order))]
	t.Name = "The " + count(len(order), "worst prediction")
	t.Head = []string{"row", "observed", "predicted", "error", "error in sd"}
	own := func(i int) []string {
		return []string{number(s.y[i]), number(s.mean[i]), number(s.y[i] - s.mean[i]),
			fmt.Sprintf("%+.1f", s.z[i])}
	}
	t.Says = fmt.Sprintf("Of %s, these have the largest errors in predictive standard "+
		"deviations (sd).", s.name) +
		spelling.If(r.target != cautious.Name(r.m.Target), " Observed values are %s.", r.target)
	if classes := r.m.Classes; classes != nil {
		t.Head = []string{"row", "true class", "label", "probability of the true class"}
		own = func(i int) []string {
			return []string{cautious.Name(classes[int(s.y[i])]),
				cautious.Name(classes[int(math.Round(s.mean[i]))]),
				cautious.Digits(math.Exp(-s.logLoss[i]), 3)}
		}
		t.Says = fmt.Sprintf("Of %s, these give the least probability to their true class.", s.name)
	}
	shown := r.order[:min(mostInputs, len(r.order))]
	from := r.data.Table()
	places := make([]int, len(shown))
	for i, k := range shown {
		t.Head = append(t.Head, r.columns[k].name)
		places[i], _ = from.Column(r.columns[k].raw)
	}
	cells := make([]float64, len(shown))
	for _, i := range order {
		if err := from.Read(s.rows[i], 1, places, cells); err != nil {
			return t, err
		}
		// no line ends after "line"
		row := append([]string{strings.Replace(r.data.Where(s.rows[i]), " ", "\u00a0", 1)},
			own(i)...)
		for k, v := range cells {
			row = append(row, r.columns[shown[k]].text(v, from.Texts(places[k])))
		}
		t.Cells = append(t.Cells, row)
	}
	if left := len(r.columns) - len(shown); left > 0 {
		t.Says += fmt.Sprintf(" The inputs are the %d most important; %s more aren't shown.",
			len(shown), count(left, "column"))
	}
	return t, nil
}

// summary returns a table about the columns of the data that the model uses:
// the target, and the most important columns.
func (r *maker) summary() (t table, err error) {
	from := r.data.Table()
	target, _ := from.Column(r.m.Target)
	used := []column{{name: cautious.Name(r.m.Target), raw: r.m.Target}}
	if r.m.Classes != nil {
		used[0].categories = r.m.Classes
	}
	places := []int{target}
	// r.order lacks constant columns
	for _, k := range slices.Concat(r.order, linalg.UpTo(len(r.columns))) {
		j, _ := from.Column(r.columns[k].raw)
		if slices.Contains(places, j) {
			continue
		}
		used = append(used, r.columns[k])
		places = append(places, j)
	}
	told := min(mostDescribed, len(used))
	missing := make([]int, len(used))
	low := slices.Repeat([]float64{math.Inf(1)}, told)
	high := slices.Repeat([]float64{math.Inf(-1)}, told)
	values := make([][]float64, told)
	next := 0
	chosen := spread(mostRows, from.Rows)
	if err := from.Each(places, func(i int, cells []float64) error {
		keep := next < len(chosen) && chosen[next] == i
		if keep {
			next++
		}
		for k, v := range cells {
			switch {
			case v != v:
				missing[k]++
			case k < told:
				if low[k], high[k] = min(low[k], v), max(high[k], v); keep {
					values[k] = append(values[k], v)
				}
			}
		}
		return nil
	}); err != nil {
		return t, err
	}
	t.Name = "The columns"
	t.Head = []string{"column", "kind", "missing", "least", "median", "most"}
	for k, c := range used[:told] {
		texts := from.Texts(places[k])
		if k == 0 && r.m.Classes != nil {
			texts = r.m.Classes
		}
		row := []string{c.name, "number", whole(missing[k]), "", "", ""}
		switch n := len(values[k]); {
		case n == 0:
			row[1] = "empty"
		case c.categories != nil:
			all, counts := frequent(values[k])
			row[1] = whole(len(all)) + " categories"
			row[4] = fmt.Sprintf("mostly %s (%s)", c.text(all[0], texts),
				cautious.Percent(float64(counts[all[0]])/float64(n)))
		default:
			slices.Sort(values[k])
			if c.dates != "" {
				row[1] = "date"
			}
			row[3], row[4], row[5] = c.text(low[k], nil), c.text(median(values[k]),
				nil), c.text(high[k], nil)
		}
		t.Cells = append(t.Cells, row)
	}
	t.Says = fmt.Sprintf("%s has %s.", from.Source, count(from.Rows, "row"))
	if none := from.Found.Untargeted; none > 0 {
		t.Says = fmt.Sprintf("%s has %s with a target. Left out: %s without.", from.Source,
			count(from.Rows, "row"), count(none, "row"))
	}
	t.Says += spelling.If(from.Rows > len(chosen),
		" Medians are those of %s rows, evenly spread.", whole(len(chosen)))
	if left := used[told:]; len(left) > 0 {
		kinds := 0
		gaps := 0
		for k, c := range left {
			gaps += missing[told+k]
			if c.categories != nil {
				kinds++
			}
		}
		t.Says += fmt.Sprintf(" Not listed: %s (%s of categories), with %s.",
			count(len(left), "less important column"), whole(kinds), count(gaps, "missing cell"))
	}
	if unused := len(from.Names) - len(used); unused > 0 {
		t.Says += fmt.Sprintf(" The model doesn't use %s of the table.", count(unused, "column"))
	}
	return t, nil
}
