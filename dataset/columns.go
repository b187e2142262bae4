package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// indexName is the name of a first column that has none, and parquetIndex of one that pandas keeps in Parquet files: both are
// a DataFrame's index, and no input unless one asks for it.
const (
	indexName    = "(index)"
	parquetIndex = "__index_level_0__"
)

// Advice is what a person may say of a column, as a flag of the command line has it: categorical, dates, ignore, decimal,
// thousands, na, units.
type Advice struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// ColumnFacts describes a column of a table for people.
type ColumnFacts struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // number, constant, empty, date, text, identifier, category
	Cells    int      `json:"cells"`
	Missing  int      `json:"missing"`
	Distinct int      `json:"distinct"` // values, at most distinctMost+1 of them
	Low      float64  `json:"low"`      // of numbers
	High     float64  `json:"high"`
	Examples []string `json:"examples"`         // of text
	First    string   `json:"first,omitempty"`  // where the first cell stands that is no number
	Why      string   `json:"why,omitempty"`    // it can't be an input as it stands, or shouldn't be
	Advice   []Advice `json:"advice,omitempty"` // what to say of it: all that is needed, or of Either one
	Either   bool     `json:"either,omitempty"` // of the advice one is to be chosen
	Unfit    bool     `json:"unfit"`            // it can't be an input as it stands
}

// distinctMost is how many values are told apart.
const distinctMost = 10000

// Describe looks at each column of a table: what it holds, and what is to be said of it before a fit can use it. Of a table that is
// spread over ranks it sees this rank's rows.
func (t *Table) Describe() ([]ColumnFacts, error) {
	if err := t.fits(); err != nil {
		return nil, err
	}
	return t.describe(upTo(len(t.Names)))
}

func (t *Table) describe(columns []int) ([]ColumnFacts, error) {
	tallies := make([]tally, len(columns))
	for k, j := range columns {
		tallies[k] = tally{low: math.Inf(1), high: math.Inf(-1), rising: true, seen: map[float64]int{}, last: math.NaN(), text: t.texts(j) != nil}
	}
	x := make([]float64, min(t.Rows, blockRows)*len(columns))
	begin, own := t.own()
	for i := begin; i < begin+own; i += blockRows {
		n := min(blockRows, begin+own-i)
		cells := x[:n*len(columns)]
		if err := t.read(i, n, columns, cells); err != nil {
			return nil, err
		}
		for c, v := range cells {
			tallies[c%len(columns)].add(v)
		}
	}
	facts := make([]ColumnFacts, len(columns))
	for k, j := range columns {
		facts[k] = t.facts(j, own, &tallies[k])
	}
	return facts, nil
}

// tally counts the cells of a column.
type tally struct {
	text      bool
	missing   int
	low, high float64
	rising    bool // each is one more than that before it
	last      float64
	counted   int
	seen      map[float64]int // how often each value, or text, stands there
	more      bool            // there are too many to count
}

func (a *tally) add(v float64) {
	if v != v {
		a.missing++
		return
	}
	a.counted++
	a.low, a.high = min(a.low, v), max(a.high, v)
	if a.counted > 1 && v != a.last+1 {
		a.rising = false
	}
	a.last = v
	if !a.more || a.text {
		a.seen[v]++
		a.more = len(a.seen) > distinctMost
	}
}

// facts says what one column is.
func (t *Table) facts(j, rows int, a *tally) ColumnFacts {
	f := ColumnFacts{Name: t.Names[j], Cells: rows, Missing: a.missing, Distinct: min(len(a.seen), distinctMost+1)}
	texts := t.texts(j)
	if texts == nil {
		f.Kind = "number"
		if a.counted > 0 {
			f.Low, f.High = a.low, a.high
		}
		switch {
		case a.counted == 0:
			f.Kind, f.Why, f.Advice, f.Unfit = "empty", "it has no values", []Advice{{"ignore", f.Name}}, true
		case a.low == a.high:
			f.Kind, f.Why, f.Advice = "constant", "the same value in every row", []Advice{{"ignore", f.Name}}
		case a.rising && (f.Name == indexName || f.Name == parquetIndex):
			f.Kind, f.Why = "index", "the row numbers of a DataFrame, which fits leave out"
		case a.rising && a.counted >= 10:
			f.Kind, f.Why, f.Advice = "identifier", "counts up row by row: if it names rows, leave it out", []Advice{{"ignore", f.Name}}
		}
		return f
	}
	f.Unfit = true
	counts := make([]int, len(texts))
	for v, n := range a.seen {
		counts[int(v)] = n
	}
	var strange []int // codes of texts that are no numbers
	for code, text := range texts {
		if v, err := parse(text); (err != nil || v-v != 0 || t.strange(j, text)) && counts[code] > 0 {
			strange = append(strange, code)
		}
	}
	for _, code := range strange[:min(len(strange), 3)] {
		f.Examples = append(f.Examples, texts[code])
	}
	if len(strange) > 0 {
		if row, found := t.rowOf(j, strange[0]); found {
			f.First = t.Where(row)
		}
	}
	t.explain(&f, j, texts, counts, strange, a.counted)
	return f
}

// explain says what a column of text may be, and what to say of it.
func (t *Table) explain(f *ColumnFacts, j int, texts []string, counts, strange []int, cells int) {
	of := func(codes []int) (all []string) {
		for _, code := range codes {
			all = append(all, texts[code])
		}
		return all
	}
	number := func(codes []int) (n int) {
		for _, code := range codes {
			n += counts[code]
		}
		return n
	}
	odd := number(strange)
	all := make([]string, 0, len(texts))
	for code, text := range texts {
		if counts[code] > 0 {
			all = append(all, text)
		}
	}
	if forms := formsOf(of(strange)); len(forms) > 0 && odd*2 > cells {
		f.Kind = "date"
		if len(forms) > 1 {
			f.Why, f.Either = fmt.Sprintf("dates as %q: is the day first, or the month?", clip(f.Examples[0])), true
			for _, form := range forms {
				f.Advice = append(f.Advice, Advice{"dates", f.Name + ":" + form.name})
			}
			return
		}
		f.Why, f.Advice = fmt.Sprintf("dates as %q", clip(f.Examples[0])), []Advice{{"dates", f.Name}}
		return
	}
	// Written otherwise: with what most cells are numbers, and the fewest others left.
	type way struct {
		reading Reading
		advice  []Advice
	}
	ways := []way{
		{Reading{Decimal: ","}, []Advice{{"decimal", ","}}},
		{Reading{Thousands: ","}, []Advice{{"thousands", ","}}},
		{Reading{Thousands: " "}, []Advice{{"thousands", " "}}},
		{Reading{Thousands: "'"}, []Advice{{"thousands", "'"}}},
		{Reading{Decimal: ",", Thousands: "."}, []Advice{{"decimal", ","}, {"thousands", "."}}},
		{Reading{Decimal: ",", Thousands: " "}, []Advice{{"decimal", ","}, {"thousands", " "}}},
	}
	unit := commonUnit(of(strange))
	best, left := []way(nil), strange
	for _, units := range [][]string{nil, {unit}} {
		if len(units) == 1 && unit == "" {
			continue
		}
		tried := ways
		if len(units) == 1 {
			tried = append([]way{{}}, ways...)
		}
		for _, w := range tried {
			w.reading.Units = units
			if len(units) == 1 {
				w.advice = append(slices.Clone(w.advice), Advice{"units", unit})
			}
			var rest []int
			for _, code := range strange {
				if v, err := w.reading.parse(texts[code]); err != nil || v-v != 0 || t.strange(j, texts[code]) {
					rest = append(rest, code)
				}
			}
			switch {
			case len(rest) >= len(strange):
			case best == nil || len(rest) < len(left):
				best, left = []way{w}, rest
			case len(rest) == len(left) && len(w.advice) == len(best[0].advice):
				best = append(best, w)
			}
		}
	}
	readable := cells - number(left) // cells that are numbers then
	gaps := left
	named := len(gaps) > 0 && len(gaps) <= 3 && readable*4 >= cells && readable > 0 &&
		!slices.ContainsFunc(gaps, func(code int) bool { return counts[code] < 2 && !gapLike(texts[code]) || !speaks(texts[code]) })
	if (len(gaps) == 0 || named) && readable > 0 && (best != nil || named) {
		f.Kind = "number"
		var why []string
		if best != nil {
			f.Advice = best[0].advice
			why = append(why, fmt.Sprintf("numbers as %q", clip(texts[strange[0]])))
			if len(best) > 1 {
				f.Either = true
				why = []string{fmt.Sprintf("numbers as %q: does the comma group thousands, or is it the decimal one?", clip(texts[strange[0]]))}
				f.Advice = []Advice{best[0].advice[0], best[1].advice[0]}
			}
		}
		if named {
			var quotes []string
			for _, text := range of(gaps) {
				quotes = append(quotes, strconv.Quote(clip(text)))
				if !f.Either {
					f.Advice = append(f.Advice, Advice{"na", text})
				}
			}
			why = append(why, strings.Join(quotes, ", ")+" among numbers: a missing value?")
		}
		f.Why = strings.Join(why, "; ")
		return
	}
	switch {
	case readable > 0 && (odd == 1 || odd*20 <= cells):
		f.Kind, f.Why = "number", fmt.Sprintf("%d of %d cells are no number: %s", odd, cells, quoted(of(strange), 3))
		f.Unfit = false // each is told of by itself, with its line
	case len(strange) == cells && cells >= 10:
		f.Kind, f.Why, f.Advice = "identifier", fmt.Sprintf("text that differs in every row, as %q: it names rows", clip(f.Examples[0])), []Advice{{"ignore", f.Name}}
	case len(all) > maxCategories:
		f.Kind, f.Why, f.Advice = "text", fmt.Sprintf("%d different texts, more than %d: too many for categories", len(all), maxCategories), []Advice{{"ignore", f.Name}}
	default:
		f.Kind, f.Why, f.Advice = "category", fmt.Sprintf("%d different texts: %s", len(all), quoted(of(strange), 3)), []Advice{{"categorical", f.Name}}
	}
}

// gapLike says whether a text is one that people write for a missing value, so that once is enough.
func gapLike(text string) bool {
	return slices.Contains([]string{"-", "--", "---", "–", "—", ".", "*", "x", "none", "nil", "missing", "unknown", "n.a.", "k.a.", "k. a.", "n/d", "nd", "#n/v"}, strings.ToLower(text))
}

// speaks says whether a text is no number, not even one that isn't finite.
func speaks(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err != nil && !errors.Is(err, strconv.ErrRange) && !strings.ContainsFunc(text, unicode.IsDigit)
}

// commonUnit is the text without digits that most of these texts end with, or, where it is a currency's sign or stands apart, begin
// with; "" where there is none.
func commonUnit(texts []string) string {
	inNumber := func(c rune) bool { return unicode.IsDigit(c) || strings.ContainsRune(".,-+' \u00a0\u202f", c) }
	counts := map[string]int{}
	best := ""
	for _, text := range texts {
		unit := strings.TrimSpace(strings.TrimLeftFunc(text, inNumber))
		if bare := strings.TrimRightFunc(text, inNumber); unit == text { // it begins with no number
			unit = strings.TrimSpace(bare)
			apart := unicode.IsSpace([]rune(text + " ")[len([]rune(bare))])
			if !apart && strings.ContainsFunc(unit, func(c rune) bool { return !unicode.Is(unicode.Sc, c) }) {
				continue
			}
		}
		if unit == "" || unit == text || strings.ContainsFunc(unit, unicode.IsDigit) {
			continue
		}
		counts[unit]++
		if counts[unit] > counts[best] || counts[unit] == counts[best] && unit < best {
			best = unit
		}
	}
	return best
}

// ColumnsError says which columns can't be what they are wanted for, and what to say of each.
type ColumnsError struct {
	File    string
	Columns []ColumnFacts
	Gaps    []string // columns that would do, if they had no missing values
	Cell    error    // what is wrong with the first cell that is
}

// Unwrap returns what is wrong with a cell.
func (e *ColumnsError) Unwrap() error { return e.Cell }

// Error lists them, a line each, or says what is wrong with a cell where no column is at fault as a whole.
func (e *ColumnsError) Error() string {
	if len(e.Columns) == 0 {
		return e.Cell.Error()
	}
	describe := func(f ColumnFacts) string {
		text := f.Why
		if f.First != "" {
			text += " (first in " + f.First + ")"
		}
		if len(f.Advice) > 0 {
			text += "; say " + f.Flags()
		}
		if f.Kind == "category" && len(f.Advice) > 0 {
			text += " or --ignore " + Shell(f.Name)
		}
		return text
	}
	if len(e.Columns) == 1 && len(e.Gaps) == 0 {
		f := e.Columns[0]
		return fmt.Sprintf("%s: column %q is no column of numbers: %s", e.File, clip(f.Name), describe(f))
	}
	var b strings.Builder
	if len(e.Columns) == 1 {
		fmt.Fprintf(&b, "%s: a column is no column of numbers:", e.File)
	} else {
		fmt.Fprintf(&b, "%s: %d columns are no columns of numbers:", e.File, len(e.Columns))
	}
	const most = 20
	for _, f := range e.Columns[:min(len(e.Columns), most)] {
		fmt.Fprintf(&b, "\n  %s: %s", clip(f.Name), describe(f))
	}
	if more := len(e.Columns) - most; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more, which krigo inspect lists", more)
	}
	if len(e.Gaps) > 0 {
		fmt.Fprintf(&b, "\nand values are missing of %s; say --missing mean, or leave such rows out", quoted(e.Gaps, 10))
	}
	return b.String()
}

// Flags are what to say of the column on a command line.
func (f ColumnFacts) Flags() string {
	var flags []string
	for _, a := range f.Advice {
		flags = append(flags, "--"+a.Flag+" "+Shell(a.Value))
	}
	if f.Either {
		return strings.Join(flags, " or ")
	}
	return strings.Join(flags, " ")
}

// fit says what keeps columns from being fitted: whole columns, or else cells.
func (t *Table) fit(uses []use) error {
	for _, u := range uses { // rows to be predicted may have either
		if at := t.serials[u.column]; at != nil {
			return at
		}
	}
	err := t.check(uses...)
	if err == nil {
		return nil
	}
	e, failed := t.misfits(uses)
	if failed != nil {
		return failed
	}
	e.Cell = err
	return e
}

// misfits says which columns can't be read for what they are wanted.
func (t *Table) misfits(uses []use) (*ColumnsError, error) {
	columns := make([]int, len(uses))
	for k, u := range uses {
		columns[k] = u.column
	}
	facts, err := t.describe(columns)
	if err != nil {
		return nil, err
	}
	e := &ColumnsError{File: t.Source}
	for k, f := range facts {
		u := uses[k]
		if u.fitting && f.Missing > 0 && !u.gaps && f.Kind != "empty" {
			e.Gaps = append(e.Gaps, f.Name)
		}
		if !f.Unfit || u.categorical {
			continue
		}
		if !u.fitting { // the target, which can't be left out
			f.Advice = slices.DeleteFunc(f.Advice, func(a Advice) bool { return a.Flag == "ignore" || a.Flag == "categorical" })
			if len(f.Advice) == 0 {
				f.Why += "; only numbers are predicted"
			}
		}
		e.Columns = append(e.Columns, f)
	}
	return e, nil
}

// Leave returns the columns that are no inputs: those that none of the patterns of inputs names, where there are any, and those that
// one of the ignored does. A pattern is a name, or has * for any text and ? for a character. The target, and a column that rows are
// grouped by, are inputs in no case.
func (t *Table) Leave(inputs, ignored []string, target, group string) (left []string, err error) {
	known := func(pattern, flag string) error {
		if !slices.ContainsFunc(t.Names, func(name string) bool { return matches(pattern, name) }) {
			if _, err := t.column(pattern, "to be named by --"+flag); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := t.column(target, "for the target"); err != nil {
		return nil, err
	}
	for _, pattern := range inputs {
		if err := known(pattern, "inputs"); err != nil {
			return nil, err
		}
	}
	for _, pattern := range ignored {
		if err := known(pattern, "ignore"); err != nil {
			return nil, err
		}
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q is to be ignored too: name another", t.Source, clip(target))
		}
	}
	named := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
	}
	for _, name := range t.Names {
		switch {
		case name == target:
		case name == group, named(ignored, name), len(inputs) > 0 && !named(inputs, name),
			len(inputs) == 0 && (name == indexName || name == parquetIndex):
			left = append(left, name)
		}
	}
	for _, pattern := range inputs {
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q can't be an input too", t.Source, clip(target))
		}
	}
	if len(inputs) > 0 && len(left)+1 >= len(t.Names) {
		return nil, errors.New(t.Source + ": no inputs are left: name others with --inputs, or ignore fewer")
	}
	return left, nil
}

// matches says whether a name is that of a pattern, which may be the name itself whatever characters it has.
func matches(pattern, name string) bool {
	if pattern == name {
		return true
	}
	p, n := []rune(pattern), []rune(name)
	star, from := -1, 0 // the last star, and what it began with
	i, k := 0, 0
	for k < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, k
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[k]):
			i++
			k++
		case star >= 0:
			from++
			i, k = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
