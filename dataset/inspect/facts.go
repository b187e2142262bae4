package inspect

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// What krigo says about a column: its facts, and what a column of text may be.

// Advice is what a person may say about a column, as a flag of the command line:
// categorical, dates, ignore, decimal, thousands, na, below, above, units, duplicates.
type Advice struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// ColumnFacts describes a column of a table for people.
type ColumnFacts struct {
	Name string `json:"name"`
	// number, constant, empty, index, date, text, identifier, category, refused
	Kind     string   `json:"kind"`
	Cells    int      `json:"cells"`
	Missing  int      `json:"missing"`
	Distinct int      `json:"distinct"` // number of different values, at most distinctMost+1
	Low      float64  `json:"low"`      // the smallest number
	High     float64  `json:"high"`
	Examples []string `json:"examples"`        // some of its texts
	First    string   `json:"first,omitempty"` // place of the first cell that isn't a number
	// why the column can't, or shouldn't, be an input without a change
	Why string `json:"why,omitempty"`
	// what to do before a fit can use the column, if no advice is enough
	Then    string   `json:"then,omitempty"`
	Advice  []Advice `json:"advice,omitempty"` // all are needed, or only one if Either is set
	Either  bool     `json:"either,omitempty"` // the user must choose one item of Advice
	Unfit   bool     `json:"unfit"`            // the column can't be an input without a change
	unnamed bool     // a first column without a name that doesn't hold row numbers
	gap     string   // place of the first missing cell
	known   string   // place of the first other cell
}

// Flags returns the advice as flags of the command line.
func (f ColumnFacts) Flags() string {
	flags := lists.Of(f.Advice, func(a Advice) string { return spelling.Flag(a.Flag, a.Value) })
	if f.Either {
		return strings.Join(flags, " or ")
	}
	return strings.Join(flags, " ")
}

// String says what is known about the column, and what to do about it.
func (f ColumnFacts) String() string {
	return f.Why + spelling.If(f.First != "" && f.Unfit, " (first in %s)", f.First) +
		spelling.If(len(f.Advice) > 0, "; say %s", f.Flags()) +
		spelling.If(f.Then != "", "; %s", f.Then)
}

// Reads returns the facts with the advice that says how cells are read, and not what columns are.
func (f ColumnFacts) Reads() ColumnFacts {
	f.Advice = slices.DeleteFunc(slices.Clone(f.Advice), func(a Advice) bool {
		return slices.Contains([]string{"ignore", "categorical", "dates"}, a.Flag)
	})
	return f
}

// Gapped says whether cells are missing, or are by the advice.
func (f ColumnFacts) Gapped() bool {
	return (f.Missing > 0 && f.Kind != "empty") ||
		slices.ContainsFunc(f.Advice, func(a Advice) bool { return a.Flag == "na" })
}

// AsTarget returns the facts of a column as a target, which can't be left out or be categories.
// Rows without a target are left out, or refused.
func (f ColumnFacts) AsTarget(t *dataset.Table) ColumnFacts {
	// Texts such as <0.1 are limits of detection if all cells can be read so.
	if len(f.Examples) > 0 {
		if _, err := t.Limited(f.Name, f.Name); err == nil {
			f.Kind = "number"
			f.Then = ""
			f.Advice = []Advice{{"censored", f.Name}}
			f.Why = fmt.Sprintf("numbers, and limits of detection such as %q",
				spelling.Clip(f.Examples[0]))
		}
	}
	f.Advice = slices.DeleteFunc(slices.Clone(f.Advice),
		func(a Advice) bool { return a.Flag == "ignore" || a.Flag == "categorical" })
	switch gaps := slices.ContainsFunc(f.Advice, func(a Advice) bool { return a.Flag == "na" }); {
	// A few different texts are classes, which a classifier predicts.
	case f.Kind == "category" && f.Distinct >= 2 && f.Distinct <= 20:
		f.Unfit = false
		f.Then = ""
		f.Why = f.Why + "; krigo predicts the probabilities of its classes"
	case f.Kind == "constant":
		f.Then = "there is nothing to learn: choose another target, or add rows with other values"
	case f.Unfit && len(f.Advice) == 0 && f.Kind != "number":
		f.Then = "only numbers and classes are predicted"
	case f.Missing > 0 || gaps:
		f.Why = strings.TrimPrefix(f.Why+"; values are missing", "; ")
		if t.Reading().MissingTarget == dataset.Refuse {
			f.Then = "a target may have no gaps: take these rows out"
		} else {
			f.Why += ": rows without a target are left out"
		}
	}
	return f
}

// column is a column of text, with what its cells show.
type column struct {
	t             *dataset.Table
	j             int
	texts         []string
	counts        []int // number of cells, for each text
	used, strange []int // codes of the texts that occur, and of the texts that aren't numbers
	cells         int   // number of cells that aren't missing
}

// of returns the texts of codes.
func (c *column) of(codes []int) []string {
	return lists.Of(codes, func(code int) string { return c.texts[code] })
}

// number returns how many cells have one of these texts.
func (c *column) number(codes []int) int {
	return lists.Sum(codes, func(code int) int { return c.counts[code] })
}

// explain says what the column may be, and what to say about it.
// It is dates or numbers if most cells are, and otherwise names or categories.
func (c *column) explain(f *ColumnFacts) {
	if c.dates(f) || c.numbers(f) || c.likeNumbers(f) {
		return
	}
	switch odd := c.number(c.strange); {
	case len(c.strange) == c.cells && c.cells >= 10:
		f.Kind, f.Why, f.Advice = "identifier", fmt.Sprintf("text that differs in every row, as "+
			"%q: it names rows", spelling.Clip(f.Examples[0])), []Advice{{"ignore", f.Name}}
	case c.names():
		f.Kind, f.Why, f.Advice = "identifier", fmt.Sprintf("%d different texts in %d rows, as "+
			"%q: it names rows", len(c.used), c.cells,
			spelling.Clip(f.Examples[0])), []Advice{{"ignore", f.Name}}
	case !dataset.Few(len(c.used), c.cells):
		f.Kind, f.Why, f.Advice = "text", fmt.Sprintf("%d different texts in %d rows: too many "+
			"for categories", len(c.used), c.cells), []Advice{{"ignore", f.Name}}
	case len(c.used) == 1 && f.Missing == 0:
		f.Kind = "constant"
		f.Why = fmt.Sprintf("the same text in all rows, %q", spelling.Clip(f.Examples[0]))
		f.Advice = []Advice{{"ignore", f.Name}}
	default:
		f.Kind, f.Why, f.Advice = "category", fmt.Sprintf("%d different texts: %s", len(c.used),
			spelling.Quoted(c.of(c.strange), 3)), []Advice{{"categorical", f.Name}}
		if odd < c.cells {
			f.Why += fmt.Sprintf(", beside %d numbers", c.cells-odd)
		}
	}
}

// dates reports whether most cells of a column are dates.
// It then says in which form, and which cells aren't dates.
func (c *column) dates(f *ColumnFacts) bool {
	if !c.anyDate() {
		return false
	}
	var forms []dataset.Dates
	var left []int // cells that these forms don't read
	none := c.used // cells that no form reads
	for _, name := range dataset.DateForms() {
		form := dataset.Dates{Form: name}
		rest := slices.DeleteFunc(slices.Clone(c.used),
			func(code int) bool { _, _, ok := form.Days(c.texts[code]); return ok })
		none = slices.DeleteFunc(slices.Clone(none),
			func(code int) bool { _, left := slices.BinarySearch(rest, code); return !left })
		switch few, least := c.number(rest), c.number(left); {
		case len(rest) == len(c.used):
		case forms == nil || few < least:
			forms = []dataset.Dates{form}
			left = rest
		case slices.Equal(rest, left):
			forms = append(forms, form)
		}
	}
	if c.number(none)*2 >= c.cells {
		return false
	}
	example := c.texts[slices.IndexFunc(c.texts,
		func(text string) bool { _, _, ok := forms[0].Days(text); return ok })]
	f.Kind, f.Why, f.Advice = "date", fmt.Sprintf("dates as %q",
		spelling.Clip(example)), []Advice{{"dates", f.Name}}
	then := "write them as the others"
	if forms[0].Form == "time" {
		f.Why = fmt.Sprintf("times of day as %q", spelling.Clip(example))
		then = "write durations as numbers, as of hours"
	}
	if len(forms) > 1 {
		f.Why = f.Why + ": is the day first, or the month?"
		f.Either = true
		f.Advice = lists.Of(forms, func(form dataset.Dates) Advice {
			return Advice{"dates", f.Name + ":" + form.Form}
		})
	}
	if len(left) > 0 {
		c.but(f, left, then)
	}
	if other := map[string]string{"dmy": "mdy", "mdy": "dmy"}[forms[0].Form]; other != "" {
		f.Why += c.decides(forms[0], dataset.Dates{Form: other})
	}
	f.Why += spelling.If(c.someZones(forms[0]),
		"; some name their zone, others don't and are taken for UTC")
	return true
}

// decides says which cell is a date only if the day, or the month, is first, where other cells are
// dates in both orders.
func (c *column) decides(form, other dataset.Dates) string {
	only := lists.If(c.used, func(code int) bool {
		_, _, ok := form.Days(c.texts[code])
		_, _, both := other.Days(c.texts[code])
		return ok && !both
	})
	if len(only) == 0 || c.number(only) == c.cells {
		return ""
	}
	row, _ := c.t.RowOf(c.j, only[0])
	return fmt.Sprintf("; the %s is first, as %s shows with %q",
		spelling.Either(form.Form == "dmy", "day", "month"), c.t.Where(row), c.texts[only[0]])
}

// anyDate says whether there is a date among some of the texts. There may be many texts.
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

// someZones says whether some times name their zone and other times don't.
func (c *column) someZones(form dataset.Dates) bool {
	var with, without bool
	for _, code := range c.used {
		if _, zone, ok := form.Days(c.texts[code]); ok {
			with = with || zone
			without = without || !zone
		}
	}
	return with && without
}

// fewTexts texts, each in several rows, may be names even if they look like numbers.
const fewTexts = 20

// but says which cells of a column differ from the others, and what to do about them:
// declare them as missing values, or write them differently.
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
	f.Why += fmt.Sprintf(", but for %d of %d cells: %s", c.number(left), c.cells,
		spelling.Quoted(c.of(left), 3))
	f.Then = then
	awkward := func(text string) bool {
		return spelling.Clip(text) != text || spelling.Printable(text) != text ||
			strings.ContainsAny(text, `,"`)
	}
	if texts := c.of(left); len(left) <= 3 && !slices.ContainsFunc(texts, awkward) {
		f.Then += ", or, if they stand for missing values, say " + spelling.Flag("na", texts...)
	}
	f.Then += spelling.If(len(c.used) <= fewTexts && 5*len(c.used) <= c.cells,
		", or, if all are names, say %s", spelling.Flag("categorical", f.Name))
}

// named says whether these texts seem to stand for missing values.
// Among them may be one text that isn't known as such, in at most a fifth of the cells.
func (c *column) named(codes []int) bool {
	unknown := lists.If(codes, func(code int) bool { return !gapLike(c.texts[code]) })
	return len(codes) > 0 && len(unknown) <= 1 && 5*c.number(unknown) <= c.cells &&
		!slices.ContainsFunc(codes, func(code int) bool {
			return (c.counts[code] < 2 && !gapLike(c.texts[code])) || !speaks(c.texts[code])
		})
}

// way is a way to write numbers, and the advice that says it.
type way struct {
	reading dataset.Reading
	advice  []Advice
}

// set gives a setting of the reading a value, unless that is "" or what the setting has.
func (w *way) set(to *string, name, value string) {
	if value != "" && *to != value {
		*to = value
		w.advice = append(w.advice, Advice{name, value})
	}
}

// ways returns the ways in which a table may be read, beyond what was said already.
func (c *column) ways() (all []way) {
	said := c.t.Reading()
	said.Dates = nil
	said.Distinct = false
	// Each way adds settings to those that were given: decimal mark and thousands, each with and
	// without the unit that the strange cells have in common.
	unit := c.commonUnit()
	below := said.Below
	if slices.ContainsFunc(c.of(c.strange), belowLimit) {
		below = "half"
	}
	above := said.Above
	if slices.ContainsFunc(c.of(c.strange), aboveLimit) {
		above = "limit"
	}
	for _, units := range []string{"", unit} {
		for _, marks := range [][2]string{{"", ""}, {",", ""}, {"", ","}, {"", " "}, {"", "'"},
			{",", "."}, {",", " "}} {
			w := way{reading: said}
			w.set(&w.reading.Below, "below", below)
			w.set(&w.reading.Above, "above", above)
			w.set(&w.reading.Decimal, "decimal", marks[0])
			w.set(&w.reading.Thousands, "thousands", marks[1])
			if units != "" {
				w.reading.Units = append(slices.Clone(said.Units), units)
				w.advice = append(w.advice, Advice{"units", units})
			}
			// A way that needs no new setting, or the same as another, adds nothing.
			known := slices.ContainsFunc(all, func(other way) bool {
				return slices.Equal(other.advice, w.advice)
			})
			if w.advice != nil && !known && w.reading.Check() == nil {
				all = append(all, w)
			}
		}
	}
	return all
}

// numbers reports whether most cells of a column are numbers, perhaps in another notation.
// It then says in which notation, and which cells aren't numbers.
func (c *column) numbers(f *ColumnFacts) bool {
	// best is the way that reads most cells as numbers, and left the cells it can't read.
	best := []way(nil)
	left := c.strange
	for _, w := range c.ways() {
		rest := slices.DeleteFunc(slices.Clone(c.strange), func(code int) bool {
			v, err := w.reading.Parse(c.texts[code])
			return err == nil && v-v == 0
		})
		switch {
		case len(rest) >= len(c.strange):
		case best == nil || len(rest) < len(left):
			best = []way{w}
			left = rest
		case len(rest) == len(left) && len(w.advice) == len(best[0].advice):
			best = append(best, w)
		}
	}
	readable := c.cells - c.number(left) // cells that the readings in best turn into numbers
	clear := len(left) == 0 || (c.named(left) && readable*4 >= c.cells)
	switch {
	case readable == 0, !clear && (c.keys(left) || (readable*2 <= c.cells && c.number(left) > 1)):
		return false
	case !clear && len(c.alikeOf(left)) > 0 && best != nil &&
		len(best[0].reading.Units) > len(c.t.Reading().Units):
		// The cells have other units.
		return false
	}
	f.Kind = "number"
	f.Why = "numbers"
	if best != nil {
		f.Advice = best[0].advice
		f.Why = fmt.Sprintf("numbers as %q", spelling.Clip(c.texts[c.strange[0]]))
		if limits := c.limits(f.Advice); limits != "" {
			f.Why = "numbers" + limits
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
		// otherwise each is reported by itself, with its line
		f.Unfit = clear || (odd > 1 && odd*20 > c.cells)
	}
	c.bare(f)
	return true
}

// limits says how many cells are limits of detection, if the advice says how to read them.
func (c *column) limits(advice []Advice) (words string) {
	for _, side := range []struct {
		advice Advice
		such   func(string) bool
		as     string
	}{{Advice{"below", "half"}, belowLimit, "half the limit"},
		{Advice{"above", "limit"}, aboveLimit, "the limit"}} {
		codes := lists.If(c.strange, func(code int) bool { return side.such(c.texts[code]) })
		if slices.Contains(advice, side.advice) {
			words += fmt.Sprintf(", %d of %d %s a limit of detection, as %q, which can be read as "+
				"%s", c.number(codes), c.cells, side.advice.Flag,
				spelling.Clip(c.texts[codes[0]]), side.as)
		}
	}
	return words
}

// bare says how many numbers have no unit, if the advice names one.
// Many of them may be in another unit, as 950 beside 5.3k is, and then a person has to say.
func (c *column) bare(f *ColumnFacts) {
	bare := c.cells - c.number(c.strange)
	at := slices.IndexFunc(f.Advice, func(a Advice) bool { return a.Flag == "units" })
	if at < 0 || bare == 0 {
		return
	}
	f.Why += fmt.Sprintf("; %d of %d have no unit, and would be read as they stand", bare, c.cells)
	if f.Then == "" && 10*bare >= c.cells {
		f.Then = fmt.Sprintf("write all in one unit, or, if those without one have it too, say %s",
			spelling.Flag("units", f.Advice[at].Value))
		f.Advice = slices.Delete(slices.Clone(f.Advice), at, at+1)
	}
}

// lettered matches numbers with letters before their last digit:
// hexadecimal ones, durations as ISO 8601 has them, and coordinates.
var lettered = regexp.MustCompile(`^(0[xX][0-9a-fA-F]+|P([0-9]+[YMWD])*(T([0-9.]+[HMS])+)?|` +
	`[NSEW] ?[0-9]+[.][0-9]+)$`)

// alikeOf returns the texts that look like numbers: no letter stands before their last digit, and
// not more than a word after it, as it does in addresses; or they are lettered.
func (c *column) alikeOf(codes []int) []int {
	return slices.DeleteFunc(slices.Clone(codes), func(code int) bool {
		text := c.texts[code]
		end := strings.LastIndexFunc(text, unicode.IsDigit)
		return end < 0 || text[0] == '#' || len(strings.Fields(text[end+1:])) > 1 ||
			(strings.ContainsFunc(text[:end], unicode.IsLetter) && !lettered.MatchString(text))
	})
}

// mostUnits is the largest number of units in a column. Parts of keys are more.
const mostUnits = 5

// mixed returns the texts with letters and digits, and how many texts they are without digits and
// signs of numbers.
func (c *column) mixed(codes []int) (both []int, parts int) {
	seen := map[string]bool{}
	for _, code := range codes {
		part := strings.Join(strings.FieldsFunc(c.texts[code], inNumber), " ")
		if part != c.texts[code] && strings.ContainsFunc(part, unicode.IsLetter) {
			both = append(both, code)
			seen[spelling.Either(lettered.MatchString(c.texts[code]), "", part)] = true
		}
	}
	return both, len(seen)
}

// keys says whether the column has keys, some of them with letters such as PC 17599: whole numbers
// that hardly repeat, and at least a twentieth of the cells with letters and digits.
func (c *column) keys(left []int) bool {
	both, _ := c.mixed(left)
	return c.names() && 2*c.number(both) > c.number(left) && 20*c.number(both) > c.cells &&
		!slices.ContainsFunc(c.used, func(code int) bool {
			v, err := parse(c.texts[code])
			return err == nil && v != math.Trunc(v)
		})
}

// names says whether most cells have different texts.
func (c *column) names() bool { return 2*len(c.used) > c.cells && len(c.used) > fewTexts }

// likeNumbers looks for a column whose texts mostly look like numbers, but can't be read as
// numbers. If it finds this, it says so in f and returns true.
// A column of a few texts that repeat isn't such a column, because it may hold categories. Neither
// is one of keys such as 4028-QHMHR.
func (c *column) likeNumbers(f *ColumnFacts) bool {
	const few = 20 // categories such as 18-25 or 2x4
	alike := c.number(c.alikeOf(c.strange))
	if _, parts := c.mixed(c.strange); parts > mostUnits || alike*10 < c.number(c.strange)*9 ||
		(len(c.used) <= few && len(c.used)*3 <= c.cells) {
		return false
	}
	f.Kind = "text"
	f.Why = fmt.Sprintf("what looks like numbers or dates, but can't be read as such: %s",
		spelling.Quoted(c.of(c.strange), 3))
	f.Then = fmt.Sprintf("write plain numbers in one unit, or dates as 2024-01-31 15:04, or say "+
		"%s if they name rows, %s if they are categories", spelling.Flag("ignore", f.Name),
		spelling.Flag("categorical", f.Name))
	return true
}

// belowLimit says whether a text says that a value is below a limit.
func belowLimit(text string) bool { return text[0] == '<' || strings.HasPrefix(text, "≤") }

// aboveLimit says whether a text says that a value is above a limit.
func aboveLimit(text string) bool {
	last := len(text) - 1
	return text[0] == '>' || strings.HasPrefix(text, "≥") ||
		(last > 0 && text[last] == '+' && text[last-1] >= '0' && text[last-1] <= '9')
}

// gapLike says whether people write this text for a missing value, so that one such cell is enough.
func gapLike(text string) bool {
	// errors of spreadsheets, such as #DIV/0! and #NAME?
	if text[0] == '#' && strings.ContainsAny(text[len(text)-1:], "!?") {
		return true
	}
	return slices.Contains([]string{"-", "--", "---", "–", "—", ".", "*", "x", "none", "nil",
		"missing", "unknown", "n.a.", "k.a.", "k. a.", "n/d", "nd", "n.d.", "#n/v", "<na>",
		"(null)", "<null>", "\\n", "..", "...", "…", "not available", "no data", "nodata",
		"undefined"}, strings.ToLower(text))
}

// speaks says whether a text is no number at all, not even NaN or an infinity:
// it has no digits, or is an error of a spreadsheet.
func speaks(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err != nil && !errors.Is(err, strconv.ErrRange) &&
		(text[0] == '#' || !strings.ContainsFunc(text, unicode.IsDigit))
}

// inNumber says whether numbers have this sign, or are grouped by it.
func inNumber(c rune) bool {
	return unicode.IsDigit(c) || strings.ContainsRune(".,-+' \u00a0\u202f", c)
}

// currency matches what may stand before a number: the sign of a currency, or its three letters.
var currency = regexp.MustCompile(`^([A-Z]{0,2}\p{Sc}|[A-Z]{3} )[^\pL]*$`)

// commonUnit returns the text without digits with which most texts that aren't numbers end, or "".
// It may also be a currency before the number.
// A sign such as > is no unit: the text gives a limit.
func (c *column) commonUnit() (best string) {
	counts := map[string]int{}
	both, parts := c.mixed(c.strange)
	for _, text := range c.of(c.strange) {
		unit := strings.TrimFunc(text, inNumber)
		if before := strings.HasPrefix(text, unit); unit == "" || unit == text ||
			(before && !currency.MatchString(text)) ||
			strings.ContainsAny(unit, "<>≤≥0123456789") {
			continue
		}
		counts[unit]++
		if counts[unit] > counts[best] || (counts[unit] == counts[best] && unit < best) {
			best = unit
		}
	}
	return spelling.If(len(both) == 0 || parts <= mostUnits, "%s", best)
}

// parse reads a number as programs write it.
func parse(cell string) (float64, error) { return new(dataset.Reading).Parse(cell) }

// inTime matches names of columns whose values rise with time, or along a line, and aren't numbers
// of rows although they count up.
var inTime = regexp.MustCompile(`(?i:time|date|year|month|week|day|hour|minute|second|quarter|` +
	`step|epoch|age|period|depth|dist|pos|dose|run|trial|cycle|visit|wave)|` +
	`^[a-hj-mo-z][0-9]*$`)

// namesRows says whether a column that counts up, or whose whole numbers all differ, names rows.
func namesRows(name string) bool { return !inTime.MatchString(name) }
