package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Judge says what is odd about a table whose columns are described.
// For each finding it gives the number of rows, the first such row, and what to do.
// It adds to facts what to say or do about a column.
// Judge doesn't look at a table on disk.
func Judge(t *dataset.Table, facts []ColumnFacts, targets ...string) finding.List {
	if t.Disk != nil || t.Ranks().Size() > 1 {
		return nil
	}
	j := judge{t: t, facts: facts, targets: targets, strays: strayRows(t)}
	j.repeats()
	for k := range facts {
		if values := j.values(k); t.Texts(k) == nil {
			j.outside(k, values)
			j.number(k, values)
		} else {
			j.text(k, values)
		}
	}
	inputs := lists.Where(len(facts), func(k int) bool {
		return !slices.Contains(targets, facts[k].Name) &&
			slices.Contains([]string{"number", "category"}, facts[k].Kind)
	})
	for _, target := range targets {
		k := slices.Index(t.Names, target)
		if k < 0 || t.Texts(k) != nil {
			continue
		}
		y := j.values(k)
		j.found = append(j.found, leaks(t, inputs, target, y)...)
		j.found = append(j.found, ofTarget(facts[k], y, t.Where)...)
	}
	return j.found
}

// outside finds numbers that stand for missing values, and slips.
func (j *judge) outside(k int, values []spot) {
	write := func(v float64) string {
		return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), ".",
			cmp.Or(j.t.Reading().Decimal, "."), 1)
	}
	j.sentinels(k, values, stands, 1, write)
	j.apart(k, values, write)
}

// apart adds findings, and advice, about values of column k that stand apart.
// A slip gets advice about all numbers that lie as far away, so that further rows are read as these
// rows are. A slip of the target or of a date gets no advice, since a person has to look at it.
// write writes a value as the file has it.
func (j *judge) apart(k int, values []spot, write func(float64) string) {
	f := &j.facts[k]
	for _, l := range loneOf(values) {
		text := f.Name + "=" + write(l.v)
		decided := l.sentinel || (j.t.Texts(k) == nil && !slices.Contains(j.targets, f.Name))
		if !l.sentinel && j.t.Texts(k) == nil && (decided || l.last > l.v) {
			text = f.Name + "=" + l.beyond(write)
		}
		if slices.ContainsFunc(f.Advice, func(a Advice) bool {
			return a.Flag == "na" && (a.Value == write(l.v) || a.Value == text)
		}) {
			continue // people write this number for a missing value, and that is said already
		}
		kind := finding.Slip
		if l.sentinel {
			kind = finding.Sentinel
		}
		if decided && !slices.Contains(f.Advice, Advice{"na", text}) {
			f.Advice = append(f.Advice, Advice{"na", text})
		}
		j.found.Add(kind, l.rows, f.Name,
			write(l.v)+spelling.If(l.last > l.v, " to %s", write(l.last)), write(l.low), write(l.high),
			j.t.Where(l.first), "say "+spelling.Flag("na", text)+
				spelling.If(!l.sentinel && decided, "; values so far away don't scale the column"))
	}
}

// judge collects findings about a table. facts has an element for each column, and strays the rows
// that seem to be no rows of the table.
type judge struct {
	t       *dataset.Table
	facts   []ColumnFacts
	targets []string
	strays  map[int]bool
	found   finding.List
}

// values returns the values of column k that aren't missing.
// For a column of text, these are codes of the texts.
func (j *judge) values(k int) (values []spot) {
	for i := range j.t.Rows {
		if v := j.t.Values[i*len(j.t.Names)+k]; v == v && !j.strays[i] {
			values = append(values, spot{v, i})
		}
	}
	return values
}

// repeats counts rows that equal an earlier row.
// If the columns have numbers that hardly ever repeat by chance, these rows may have been entered
// twice, or may be replicates. Only a person knows.
func (j *judge) repeats() {
	n := 0
	first := 0
	rows := j.t.Rows - len(j.strays)
	for i, repeated := range slices.Backward(j.t.Repeated()) {
		if repeated && !j.strays[i] {
			n = n + 1
			first = i
		}
	}
	if n == 0 {
		return
	}
	j.found.Add(finding.Repeats, n, rows, first+1)
	if slices.ContainsFunc(j.facts, func(f ColumnFacts) bool {
		return f.Kind == "number" && 2*f.Distinct > rows-n
	}) {
		j.found.Add(finding.Copies, n)
	}
}

// stands says whether people and programs write this number for a missing value.
func stands(v float64) bool {
	return math.Abs(v) >= 1e30 ||
		slices.Contains([]float64{99, 999, 9999, 99999, 999999, 99.9, 99.99, 999.9, 999.99,
			9999.9, 1e20, 1<<15 - 1, 1 << 15, 1<<31 - 1, 1 << 31}, math.Abs(v))
}

// sentinels finds values that may stand for missing values.
// Such a value v repeats, and it differs from the other values in one of two ways.
// Either v is negative and no other value is, or v lies outside their range by more than far times
// the range's width.
func (j *judge) sentinels(k int, values []spot, such func(float64) bool, far float64,
	write func(float64) string) {
	f := &j.facts[k]
	low := math.Inf(1)
	high := math.Inf(-1)
	odd := map[float64]bool{}
	for _, at := range values {
		if such(at.v) {
			odd[at.v] = true
		} else {
			low = min(low, at.v)
			high = max(high, at.v)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(odd)) {
		same := func(u float64) bool { return u == v }
		n, first := count(values, same)
		if n < 2 || low >= high || (max(low-v, v-high) <= far*(high-low) && (v >= 0 || low < 0)) {
			continue
		}
		text := write(v)
		for o, other := range j.facts { // other columns that have this number among their values
			if !(other.Low < v && v < other.High) || f.Kind == "date" {
				continue
			}
			// --na would clear these cells, too, unless it is about this column.
			if cells, _ := count(j.values(o), same); cells > 0 && o != k {
				text = f.Name + "=" + write(v)
			}
		}
		f.Advice = append(f.Advice, Advice{"na", text})
		j.found.Add(finding.Sentinel, n, f.Name, write(v), write(low), write(high),
			j.t.Where(first), "say "+spelling.Flag("na", text))
	}
}

// idName matches names of columns that number rows.
var idName = regexp.MustCompile(`(?i:^|[_ .-])(?i:id|nr|no|key|uuid|number)\.?$|[a-z]I[dD]$`)

// number says whether whole numbers are codes, dates or names of rows.
func (j *judge) number(k int, values []spot) {
	f := &j.facts[k]
	n := len(values)
	if odd, _ := count(values, broken); f.Kind != "number" || slices.Contains(j.targets, f.Name) ||
		n < 2 || odd > 0 {
		return
	}
	settle := func(kind finding.Kind, flag, holds string, about ...any) {
		f.Kind = holds
		f.Advice = append(f.Advice, Advice{flag, f.Name})
		j.found.Add(kind, append(about, spelling.Flag(flag, f.Name))...)
	}
	_, kind, _ := dataset.DaysOfNumber(values[0].v)
	begin := 7305.
	end := 25567. // 1990 to 2040
	how := kind + " since 1970"
	if kind == "dates" { // 1900 to 2100
		begin, end, how = -25567, 47482, fmt.Sprintf("dates as %.0f", values[0].v)
	}
	times, _ := count(values, func(v float64) bool {
		days, of, ok := dataset.DaysOfNumber(v)
		return ok && of == kind && days >= begin && days < end
	})
	first := j.t.Where(values[0].row)
	switch padded := j.t.Found.Padded[k]; {
	case padded.Width > 2 && f.Low >= 0 && f.High < math.Pow10(padded.Width):
		flag := spelling.Either(f.Distinct*2 > f.Cells || !dataset.Few(f.Distinct, f.Cells),
			"ignore",
			"categorical")
		settle(finding.Codes, flag, "identifier", padded.Cells, f.Name, padded.First, padded.Width)
	case times == n && kind != "days":
		settle(finding.DatesAsNumbers, "dates", "date", n, f.Name, how, first)
	case n >= 20 && f.Distinct == min(n, distinctMost+1) &&
		(idName.MatchString(f.Name) || (f.High-f.Low < 2*float64(n) && namesRows(f.Name))):
		settle(finding.NumbersOfRows, "ignore", "identifier", n, f.Name, first)
	}
}

// totals are texts that mark a row of totals, in any column.
var totals = []string{"total", "totals", "subtotal", "subtotals", "grand total", "summe", "gesamt",
	"gesamtsumme", "insgesamt", "zwischensumme", "totale", "totaal"}

// text looks in a column of text for totals, for dates that stand for a missing date, and for
// categories that differ only in spelling or have an order.
func (j *judge) text(k int, values []spot) {
	f := &j.facts[k]
	all := j.t.Texts(k)
	used := map[string]int{}
	first := map[string]int{}
	// From the last row to the first, so that first holds each text's first row at the end.
	for _, at := range slices.Backward(values) {
		text := all[int(at.v)]
		used[text]++
		first[text] = at.row
	}
	for _, text := range slices.Sorted(maps.Keys(used)) {
		if n := used[text]; n > 1 && 3*n <= f.Cells &&
			slices.Contains(totals, strings.ToLower(text)) {
			j.found.Add(finding.TotalRows, n, text, f.Name, j.t.Where(first[text]))
		}
	}
	j.dates(k, values)
	if f.Kind != "category" {
		return
	}
	if names := alike(all, func(text string) bool { return used[text] > 0 }); names != nil {
		n := 0
		for i := 1; i < len(names); i += 2 { // each follows the spelling that came first
			n += used[names[i]]
		}
		j.found.Add(finding.Spellings, n, f.Name, j.t.Where(first[names[1]]), names)
		f.Then = "write those that are the same in one way"
	}
	if order := inOrder(used); order != nil {
		j.found.Add(finding.Ordered, len(values), f.Name, j.t.Where(values[0].row), order)
	}
}

// dates finds dates that stand for missing ones, and slips.
func (j *judge) dates(k int, values []spot) {
	if j.facts[k].Kind != "date" {
		return
	}
	var days []spot
	written := map[float64]string{}
	for _, at := range values {
		text := j.t.Texts(k)[int(at.v)]
		if day, _, ok := (dataset.Dates{Form: "ymd"}).Days(text); ok {
			days = append(days, spot{day, at.row})
			written[day] = text
		}
	}
	write := func(day float64) string { return written[day] }
	j.sentinels(k, days, func(day float64) bool {
		return slices.Contains([]string{"1900-01-01", "1970-01-01", "9999-12-31"},
			dataset.DateOf(day))
	}, 0.25, write)
	j.apart(k, days, write)
}

// scales are lists of texts with an order, from the least. A | separates texts of the same rank.
var scales = []string{
	"strongly disagree,disagree,neutral|neither agree nor disagree|undecided,agree,strongly agree",
	"very dissatisfied,dissatisfied,neutral,satisfied,very satisfied",
	"very poor|very bad,poor|bad,fair,average|ok|typical,good,very good,excellent",
	"never,rarely|seldom,sometimes|occasionally,often|frequently,always",
	"not at all,slightly,somewhat|moderately,very,extremely",
	"very low,low,medium|moderate|middle,high,very high", "none,mild,moderate,severe",
	"tiny,small,medium,large,huge", "xs,s,m,l,xl,xxl",
}

// inOrder returns texts in their order, if a single scale contains all the texts.
func inOrder(used map[string]int) []string {
	for _, scale := range scales {
		rank := func(text string) int {
			return slices.IndexFunc(strings.Split(scale, ","), func(alike string) bool {
				return slices.Contains(strings.Split(alike, "|"), strings.ToLower(text))
			})
		}
		order := slices.SortedFunc(maps.Keys(used), func(a, b string) int {
			return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
		})
		if len(order) > 2 && rank(order[0]) >= 0 {
			return order
		}
	}
	return nil
}

// Leaks returns which inputs order these rows as the target does, or seem to be made from it, and
// whether a target of numbers has two values. Rows on disk or on several ranks aren't looked at.
func Leaks(d *dataset.Data, rows []int, numbers bool) (found finding.List, err error) {
	t := d.Table()
	if t.Disk != nil || t.Ranks().Size() > 1 || len(rows) == 0 {
		return nil, nil
	}
	rows = slices.Sorted(slices.Values(rows))
	y, err := d.Targets(rows)
	if err != nil {
		return nil, err
	}
	spots := lists.To(len(y), func(i int) spot { return spot{y[i], rows[i]} })
	if numbers {
		found = twoValues(d.Target, spots, t.Where)
	}
	return append(found, leaks(t, d.Columns(), d.Target, spots)...), nil
}

// leaks finds columns that order the rows as the target does.
func leaks(t *dataset.Table, columns []int, target string, y []spot) (found finding.List) {
	const most, least, nearly = 2000, 10, 0.999
	for _, k := range columns {
		name := t.Names[k]
		ignore := spelling.Flag("ignore", name)
		if levels, is := derived(t, k, y); is && levels > 1 {
			found.Add(finding.Derived, name, levels, target, ignore)
			continue
		}
		var a, b []float64
		for i := 0; t.Texts(k) == nil && i < len(y); i += 1 + len(y)/most {
			if v := t.Values[y[i].row*len(t.Names)+k]; v == v {
				a = append(a, v)
				b = append(b, y[i].v)
			}
		}
		if len(a) < least {
			continue
		}
		// Spearman's rank correlation, of about 2,000 rows from all over the table.
		if r := stat.Correlation(Ranks(a), Ranks(b), nil); math.Abs(r) > nearly {
			found.Add(finding.Leak, name, target, r, len(a), t.Where(y[0].row), ignore)
		}
	}
	return found
}
