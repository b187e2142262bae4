package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// What is told of a column: its facts, and what a column of text may be.

// Advice is what a person may say of a column, as a flag of the command line has it: categorical, dates, ignore,
// decimal, thousands, na, below, units, duplicates.
type Advice struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// ColumnFacts describes a column of a table for people.
type ColumnFacts struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // number, constant, empty, index, date, text, identifier, category
	Cells    int      `json:"cells"`
	Missing  int      `json:"missing"`
	Distinct int      `json:"distinct"` // values, at most distinctMost+1 of them
	Low      float64  `json:"low"`      // of numbers
	High     float64  `json:"high"`
	Examples []string `json:"examples"`         // of text
	First    string   `json:"first,omitempty"`  // where the first cell stands that is no number
	Why      string   `json:"why,omitempty"`    // it can't be an input as it stands, or shouldn't be
	Then     string   `json:"then,omitempty"`   // what a person has to do before a fit can use it, where no advice does
	Advice   []Advice `json:"advice,omitempty"` // what to say of it: all that is needed, or of Either one
	Either   bool     `json:"either,omitempty"` // of the advice one is to be chosen
	Unfit    bool     `json:"unfit"`            // it can't be an input as it stands
	unnamed  bool     // a first column without a name that doesn't hold row numbers
}

// Flags are what to say of the column on a command line.
func (f ColumnFacts) Flags() string {
	var flags []string
	for _, a := range f.Advice {
		flags = append(flags, "--"+a.Flag+" "+spelling.Shell(a.Value))
	}
	if f.Either {
		return strings.Join(flags, " or ")
	}
	return strings.Join(flags, " ")
}

// String says what is known of the column, and what to do about it.
func (f ColumnFacts) String() string {
	text := f.Why
	if f.First != "" && f.Unfit {
		text += " (first in " + f.First + ")"
	}
	if len(f.Advice) > 0 {
		text += "; say " + f.Flags()
	}
	if f.Then != "" {
		text += "; " + f.Then
	}
	return text
}

// AsTarget are the facts of a column that is to be predicted, and so can't be left out, nor be categories.
// Rows without it are left out, or refused.
func (f ColumnFacts) AsTarget(refused bool) ColumnFacts {
	f.Advice = slices.DeleteFunc(slices.Clone(f.Advice),
		func(a Advice) bool { return a.Flag == "ignore" || a.Flag == "categorical" })
	switch gaps := slices.ContainsFunc(f.Advice, func(a Advice) bool { return a.Flag == "na" }); {
	case f.Unfit && len(f.Advice) == 0 && f.Kind != "number":
		f.Then = "only numbers are predicted"
	case f.Kind == "constant":
		f.Then = "there is nothing to be predicted"
	case f.Missing > 0 || gaps:
		f.Why = strings.TrimPrefix(f.Why+"; values are missing", "; ")
		if refused {
			f.Then = "a target may have no gaps: take these rows out"
		} else {
			f.Why += ": rows without a target are left out"
		}
	}
	return f
}

// column is a column of text, as a look at its cells tells.
type column struct {
	t             *dataset.Table
	j             int
	texts         []string
	counts        []int // how many cells are each text
	used, strange []int // codes of texts that there are, and of those that are no numbers
	cells         int   // that aren't missing
}

func (c *column) of(codes []int) (texts []string) {
	for _, code := range codes {
		texts = append(texts, c.texts[code])
	}
	return texts
}

// number is how many cells are one of these texts.
func (c *column) number(codes []int) (n int) {
	for _, code := range codes {
		n += c.counts[code]
	}
	return n
}

// explain says what the column may be, and what to say of it: dates or numbers where most cells are, or else names or
// categories.
func (c *column) explain(f *ColumnFacts) {
	if c.dates(f) || c.numbers(f) || c.likeNumbers(f) {
		return
	}
	switch odd := c.number(c.strange); {
	case len(c.strange) == c.cells && c.cells >= 10:
		f.Kind, f.Why, f.Advice = "identifier", fmt.Sprintf("text that differs in every row, as %q: it names rows",
			spelling.Clip(f.Examples[0])), []Advice{{"ignore", f.Name}}
	case len(c.used) > dataset.MaxCategories:
		f.Kind, f.Why, f.Advice = "text", fmt.Sprintf("%d different texts, more than %d: too many for categories",
			len(c.used), dataset.MaxCategories), []Advice{{"ignore", f.Name}}
	default:
		f.Kind, f.Why, f.Advice = "category", fmt.Sprintf("%d different texts: %s", len(c.used),
			spelling.Quoted(c.of(c.strange), 3)),
			[]Advice{{"categorical", f.Name}}
		if odd < c.cells {
			f.Why += fmt.Sprintf(", beside %d numbers", c.cells-odd)
		}
	}
}

// dates says of a column of which most cells are dates which these are, and which cells are not.
func (c *column) dates(f *ColumnFacts) bool {
	if !c.anyDate() {
		return false
	}
	var forms []dataset.Dates
	var left []int // cells that these don't read
	none := c.used // that no form reads
	for _, name := range dataset.DateForms() {
		form := dataset.Dates{Form: name}
		rest := slices.DeleteFunc(slices.Clone(c.used),
			func(code int) bool { _, _, ok := form.Days(c.texts[code]); return ok })
		none = slices.DeleteFunc(slices.Clone(none),
			func(code int) bool { _, left := slices.BinarySearch(rest, code); return !left })
		switch few, least := c.number(rest), c.number(left); {
		case len(rest) == len(c.used):
		case forms == nil || few < least:
			forms, left = []dataset.Dates{form}, rest
		case slices.Equal(rest, left):
			forms = append(forms, form)
		}
	}
	if c.number(none)*2 >= c.cells {
		return false
	}
	example := c.texts[slices.IndexFunc(c.texts, func(text string) bool { _, _, ok := forms[0].Days(text); return ok })]
	f.Kind, f.Why, f.Advice = "date", fmt.Sprintf("dates as %q", spelling.Clip(example)), []Advice{{"dates", f.Name}}
	then := "write them as the others"
	if forms[0].Form == "time" {
		f.Why, then = fmt.Sprintf("times of day as %q", spelling.Clip(example)), "write durations as numbers, as of hours"
	}
	if len(forms) > 1 {
		f.Why, f.Either, f.Advice = f.Why+": is the day first, or the month?", true, nil
		for _, form := range forms {
			f.Advice = append(f.Advice, Advice{"dates", f.Name + ":" + form.Form})
		}
	}
	if len(left) > 0 {
		c.but(f, left, then)
	}
	if c.someZones(forms[0]) {
		f.Why += "; some name their zone, others don't and are taken for UTC"
	}
	return true
}

// anyDate says whether there is a date among some of the texts, which may be very many.
func (c *column) anyDate() bool {
	const some = 200
	for k := 0; k < len(c.used); k += 1 + len(c.used)/some {
		if slices.ContainsFunc(dataset.DateForms(), func(form string) bool {
			_, _, ok := dataset.Dates{Form: form}.Days(c.texts[c.used[k]])
			return ok
		}) {
			return true
		}
	}
	return false
}

// someZones says whether of the times some name their zone, and others don't.
func (c *column) someZones(form dataset.Dates) bool {
	var with, without bool
	for _, code := range c.used {
		if _, zone, ok := form.Days(c.texts[code]); ok {
			with, without = with || zone, without || !zone
		}
	}
	return with && without
}

// fewTexts, each of several rows, may be names, even if they look like numbers.
const fewTexts = 20

// but says of a column which of its cells are not as the others, and what can be done about them: they stand for
// missing values, or are to be written otherwise.
func (c *column) but(f *ColumnFacts, left []int, then string) {
	if c.named(left) {
		var quotes []string
		for _, text := range c.of(left) {
			quotes = append(quotes, strconv.Quote(spelling.Clip(text)))
			if !f.Either {
				f.Advice = append(f.Advice, Advice{"na", text})
			}
		}
		gaps := strings.Join(quotes, ", ") + " among " + f.Kind + "s: a missing value?"
		f.Why = strings.TrimPrefix(f.Why+"; "+gaps, "numbers; ")
		return
	}
	f.Why += fmt.Sprintf(", but for %d of %d cells: %s", c.number(left), c.cells, spelling.Quoted(c.of(left), 3))
	f.Then = then
	awkward := func(text string) bool {
		return spelling.Clip(text) != text || spelling.Printable(text) != text || strings.ContainsAny(text, `,"`)
	}
	if texts := c.of(left); len(left) <= 3 && !slices.ContainsFunc(texts, awkward) {
		f.Then += ", or, if they stand for missing values, say --na " + spelling.Shell(strings.Join(texts, ","))
	}
	if len(c.used) <= fewTexts && 5*len(c.used) <= c.cells {
		f.Then += ", or, if all are names, say --categorical " + spelling.Shell(f.Name)
	}
}

// named says whether these texts seem to stand for missing values.
func (c *column) named(codes []int) bool {
	return len(codes) > 0 && len(codes) <= 3 && !slices.ContainsFunc(codes, func(code int) bool {
		return c.counts[code] < 2 && !gapLike(c.texts[code]) || !speaks(c.texts[code])
	})
}

// way is a way in which numbers may be written, and what to say then.
type way struct {
	reading dataset.Reading
	advice  []Advice
}

// ways are those that a table may be read by, beside what was said already.
func (c *column) ways() (all []way) {
	said := c.t.Reading()
	said.Dates, said.Distinct = nil, false
	unit := commonUnit(c.of(c.strange))
	limits := said.Below == "" && slices.ContainsFunc(c.strange, func(code int) bool { return belowLimit(c.texts[code]) })
	for _, units := range []string{"", unit} {
		for _, marks := range [][2]string{{"", ""}, {",", ""}, {"", ","}, {"", " "}, {"", "'"}, {",", "."}, {",", " "}} {
			w := way{reading: said}
			if limits {
				w.reading.Below, w.advice = "half", []Advice{{"below", "half"}}
			}
			if marks[0] != "" && said.Decimal != marks[0] {
				w.reading.Decimal, w.advice = marks[0], append(w.advice, Advice{"decimal", marks[0]})
			}
			if marks[1] != "" && said.Thousands != marks[1] {
				w.reading.Thousands, w.advice = marks[1], append(w.advice, Advice{"thousands", marks[1]})
			}
			if units != "" {
				w.reading.Units, w.advice = append(slices.Clone(said.Units), units), append(w.advice, Advice{"units", units})
			}
			known := slices.ContainsFunc(all, func(other way) bool { return slices.Equal(other.advice, w.advice) })
			if w.advice != nil && !known && w.reading.Check() == nil {
				all = append(all, w)
			}
		}
	}
	return all
}

// numbers says of a column of which most cells are numbers, if perhaps written otherwise, how, and which cells are
// none.
func (c *column) numbers(f *ColumnFacts) bool {
	// With which way most cells are numbers, and the fewest others left.
	best, left := []way(nil), c.strange
	for _, w := range c.ways() {
		rest := slices.DeleteFunc(slices.Clone(c.strange), func(code int) bool {
			v, err := w.reading.Parse(c.texts[code])
			return err == nil && v-v == 0
		})
		switch {
		case len(rest) >= len(c.strange):
		case best == nil || len(rest) < len(left):
			best, left = []way{w}, rest
		case len(rest) == len(left) && len(w.advice) == len(best[0].advice):
			best = append(best, w)
		}
	}
	readable := c.cells - c.number(left) // cells that are numbers then
	clear := len(left) == 0 || c.named(left) && readable*4 >= c.cells
	switch {
	case readable == 0, !clear && readable*2 <= c.cells && c.number(left) > 1:
		return false
	case !clear && len(c.alikeOf(left)) > 0 && best != nil && len(best[0].reading.Units) > len(c.t.Reading().Units):
		// with other units
		return false
	}
	f.Kind, f.Why = "number", "numbers"
	if best != nil {
		f.Advice = best[0].advice
		f.Why = fmt.Sprintf("numbers as %q", spelling.Clip(c.texts[c.strange[0]]))
		if slices.Contains(f.Advice, Advice{"below", "half"}) {
			limits := slices.DeleteFunc(slices.Clone(c.strange), func(code int) bool { return !belowLimit(c.texts[code]) })
			f.Why = fmt.Sprintf("numbers, %d of %d below a limit of detection, as %q, which can be read as half the limit",
				c.number(limits), c.cells, spelling.Clip(c.texts[limits[0]]))
		}
		if len(best) > 1 {
			f.Either = true
			f.Why += ": does the comma group thousands, or is it the decimal one?"
			f.Advice = []Advice{best[0].advice[0], best[1].advice[0]}
		}
	}
	if len(left) > 0 {
		c.but(f, left, "correct them")
		odd := c.number(c.strange)
		f.Unfit = clear || odd > 1 && odd*20 > c.cells // else each is told of by itself, with its line
	}
	bare := c.cells - c.number(c.strange)
	if bare > 0 && slices.ContainsFunc(f.Advice, func(a Advice) bool { return a.Flag == "units" }) {
		f.Why += fmt.Sprintf("; %d of %d have no unit, and would be read as they stand", bare, c.cells)
	}
	return true
}

// alikeOf are those of the texts that look like numbers: no letter stands before their last digit.
func (c *column) alikeOf(codes []int) []int {
	return slices.DeleteFunc(slices.Clone(codes), func(code int) bool {
		text := c.texts[code]
		end := strings.LastIndexFunc(text, unicode.IsDigit)
		return end < 0 || text[0] == '#' || strings.ContainsFunc(text[:end], unicode.IsLetter)
	})
}

// likeNumbers says of a column of which most cells look like numbers, and which has more of them than there are
// categories, that it isn't known what they say.
func (c *column) likeNumbers(f *ColumnFacts) bool {
	const few = 20 // categories as 18-25, or 2x4
	alike := c.number(c.alikeOf(c.used))
	if alike*10 < c.cells*9 || len(c.used) <= few && len(c.used)*3 <= c.cells {
		return false
	}
	f.Kind, f.Why = "text", fmt.Sprintf("what looks like numbers or dates, but can't be read as such: %s",
		spelling.Quoted(c.of(c.strange), 3))
	f.Then = fmt.Sprintf("write plain numbers in one unit, or dates as 2024-01-31 15:04, or say --ignore %s if they "+
		"name rows, --categorical %s if they are categories", spelling.Shell(f.Name), spelling.Shell(f.Name))
	return true
}

// belowLimit says whether a text says that a value is below some other.
func belowLimit(text string) bool { return text[0] == '<' || strings.HasPrefix(text, "≤") }

// gapLike says whether a text is one that people write for a missing value, so that once is enough.
func gapLike(text string) bool {
	return slices.Contains([]string{"-", "--", "---", "–", "—", ".", "*", "x", "none", "nil", "missing", "unknown",
		"n.a.", "k.a.", "k. a.", "n/d", "nd", "#n/v"}, strings.ToLower(text))
}

// speaks says whether a text is no number, not even one that isn't finite: it has no digits, or is an error of a
// spreadsheet.
func speaks(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err != nil && !errors.Is(err, strconv.ErrRange) &&
		(text[0] == '#' || !strings.ContainsFunc(text, unicode.IsDigit))
}

// commonUnit is the text without digits that most of these texts end with, or, where it is a currency's sign or stands
// apart, begin with; "" where there is none.
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

// parse reads a number as programs write it.
func parse(cell string) (float64, error) { return new(dataset.Reading).Parse(cell) }
