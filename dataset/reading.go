package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// How cells are written, and read as numbers.

// Reading says how the cells of a table are written.
// The zero value is for cells as programs write them:
// numbers with a decimal point, without groups of digits or units, and dates as text.
// A model keeps its Reading for further tables.
// Decimal, Thousands, Below, Above and Units apply to formats that hold text, such as CSV, JSON and
// sheets. Missing and Dates apply to every format.
type Reading struct {
	Decimal string `json:"decimal,omitzero"` // "." (default) or ","
	// separator between groups of three digits: "," "." "'" or " "; "" (default):
	// digits aren't grouped
	Thousands string `json:"thousands,omitzero"`
	// texts, or numbers such as -999, that stand for a missing value, in addition to those that
	// IsMissing always knows; with COLUMN= before it, in one column, where >5 and <5 stand for all
	// numbers beyond 5
	Missing []string `json:"missing,omitempty"`
	// how a cell such as "<0.1", below a limit of detection, is read: "half" of the limit;
	// "" (default): as text
	Below string `json:"below,omitzero"`
	// how a cell such as ">2000", above a limit of detection, is read: "limit", that is, as 2000;
	// "" (default): as text
	Above string `json:"above,omitzero"`
	// texts that are ignored before or after a number, such as kg in "12 kg"
	Units []string `json:"units,omitempty"`
	Dates []Dates  `json:"dates,omitempty"` // columns of dates or times, which become days
	// leave out rows that equal an earlier row in every cell
	Distinct bool `json:"distinct,omitzero"`

	// Settings for what a file has besides cells.
	SkipRows int `json:"skip_rows,omitzero"` // lines, or rows of a sheet, above the table
	// whether the first row names the columns: "yes", "no"; "unique": yes, and repeated names get
	// numbers; "two": the first two rows do; "": krigo decides between yes and no
	Header string `json:"header,omitzero"`
	// name of the sheet, or of the file in an archive, if there are several
	Sheet string `json:"sheet,omitzero"`
	// what happens to a row without a target: it is an error (Refuse), or it is left out ("")
	MissingTarget string `json:"missing_target,omitzero"`

	names []string // columns that name things, set by Naming
	every bool     // a row without a target is an error, set by Every
	fills bool     // a date that can't be read is a gap, set by Filling
	part  bool     // further rows follow those of a table, set by Part
}

// Naming returns the reading of a table whose columns of these names, if it has them, name groups
// or categories. It ignores empty names. Because cells that look like numbers are read as numbers,
// 007 and 7 would become one name. In these columns such a pair of cells is an error.
func (r Reading) Naming(columns ...string) Reading {
	r.names = slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "" })
	return r
}

// Plain returns the reading for formats whose cells aren't text.
// It keeps only the columns of Naming.
func (r Reading) Plain() Reading { return Reading{names: r.names} }

// Defaults returns r with "" for every setting that is spelt out but is the default.
func (r Reading) Defaults() Reading {
	for of, byDefault := range map[*string]string{&r.Decimal: ".", &r.Header: "auto",
		&r.MissingTarget: "drop"} {
		if *of == byDefault {
			*of = ""
		}
	}
	return r
}

// zero says whether r parses cells as programs write them.
func (r *Reading) zero() bool {
	return r == nil || ((r.Decimal == "" || r.Decimal == ".") && r.Thousands == "" &&
		len(r.Missing) == 0 && len(r.Units) == 0 &&
		r.Below == "" && r.Above == "")
}

// Said lists in short, for people, the settings that r has. It returns "" if r has no setting.
func (r *Reading) Said() string {
	var parts []string
	add := func(what string, texts ...string) {
		if len(texts) > 0 && texts[0] != "" {
			parts = append(parts, what+" "+spelling.Quoted(texts, 3))
		}
	}
	add("decimal", r.Decimal)
	add("thousands", r.Thousands)
	add("missing values also", r.Missing...)
	add("below a limit", r.Below)
	add("above a limit", r.Above)
	add("units", r.Units...)
	for _, d := range r.Dates {
		add("dates", d.Column)
	}
	if r.Distinct {
		parts = append(parts, "equal rows once")
	}
	if r.SkipRows > 0 {
		parts = append(parts, fmt.Sprintf("%d lines above skipped", r.SkipRows))
	}
	add("header", r.Header)
	add("sheet", r.Sheet)
	add("missing target", r.MissingTarget)
	return strings.Join(parts, "; ")
}

// What happens to missing values. An input may have either setting.
// A target may have Refuse, or else rows without a target are left out.
const (
	Refuse = "refuse" // a missing value is an error
	// a missing number becomes the mean of prior rows, a missing category becomes other
	FillMean = "mean"
	// FillMean, and further inputs say which numbers were missing
	Indicate = "indicator"
)

// mostTexts limits the number of texts for missing values, and the number of units.
const mostTexts = 1000

// Check returns an error if a setting of r is invalid.
func (r *Reading) Check() error {
	decimal := cmp.Or(r.Decimal, ".")
	if err := faults.First(
		faults.If(decimal != "." && decimal != ",",
			`decimal %q: want "." or ","`, spelling.Clip(r.Decimal)),
		faults.If(!slices.Contains([]string{"", ",", ".", "'", " "}, r.Thousands),
			`thousands %q: want "," "." "'" or " "`, spelling.Clip(r.Thousands)),
		faults.If(r.Thousands == decimal,
			"decimal and thousands are both %q: use different separators", decimal),
		faults.If(r.SkipRows < 0,
			"skip-rows %d: want the number of lines above the table, from 0 up", r.SkipRows),
		faults.If(!slices.Contains([]string{"", "yes", "no", "unique", "two"}, r.Header),
			"header %q: want yes, no, unique, two or auto", spelling.Clip(r.Header)),
		faults.If(r.MissingTarget != "" && r.MissingTarget != Refuse,
			"missing-target %q: want drop or refuse", spelling.Clip(r.MissingTarget)),
		faults.If(r.Below != "" && r.Below != "half",
			`below %q: want "half"`, spelling.Clip(r.Below)),
		faults.If(r.Above != "" && r.Above != "limit",
			`above %q: want "limit"`, spelling.Clip(r.Above)),
	); err != nil {
		return err
	}
	if n := max(len(r.Missing), len(r.Units)); n > mostTexts {
		return fmt.Errorf("%d texts for missing values, or units: give at most %d, as every cell "+
			"is compared with each", n, mostTexts)
	}
	// A unit with digits, signs or points could be taken for a part of the number.
	for _, unit := range r.Units {
		if strings.TrimSpace(unit) == "" || strings.ContainsFunc(unit, unicode.IsDigit) ||
			strings.ContainsAny(unit, "+-.") {
			return fmt.Errorf("unit %q: want text without digits, signs and points, such as kg",
				spelling.Clip(unit))
		}
		other := strings.NewReplacer("W", "E", "S", "N").Replace(unit)
		if strings.Trim(unit, "°º WS") == "" && other != unit && slices.Contains(r.Units, other) {
			return fmt.Errorf("units %q and %q: krigo would read both directions alike; write "+
				"numbers of one direction with a minus, and give no such units", unit, other)
		}
	}
	known := map[string]bool{}
	for _, d := range r.Dates {
		if err := d.check(); err != nil {
			return err
		}
		if known[d.Column] {
			return fmt.Errorf("dates: column %q is listed twice", spelling.Clip(d.Column))
		}
		known[d.Column] = true
	}
	return nil
}

// IsMissing says whether a cell stands for a missing value.
func (r *Reading) IsMissing(cell string) bool {
	switch strings.ToLower(cell) {
	case "", "na", "n/a", "#n/a", "nan", "null", "?":
		return true
	}
	return r != nil && slices.ContainsFunc(r.Missing, func(text string) bool {
		return strings.EqualFold(text, cell)
	})
}

// misses says whether a cell of a column stands for a missing value.
func (r *Reading) misses(column, cell string) bool {
	return r.IsMissing(cell) || slices.ContainsFunc(r.Missing, func(text string) bool {
		of, in := inColumn(text, column)
		return in && (strings.EqualFold(of, cell) || r.beyond(of, cell))
	})
}

// beyond says whether a cell holds a number beyond a limit that is written as ">5" or "<5".
func (r *Reading) beyond(limit, cell string) bool {
	end, side, err := r.limit(limit)
	if err != nil {
		return false
	}
	v, err := r.Parse(cell)
	return err == nil && side*(v-end) > 0
}

// limit reads a limit that is written as ">5" or "<5". Numbers above it, where side is 1, or below it,
// where side is -1, stand for missing values.
func (r *Reading) limit(text string) (end, side float64, err error) {
	side = 1
	number, is := strings.CutPrefix(text, ">")
	if !is {
		side = -1
		number, is = strings.CutPrefix(text, "<")
	}
	if !is {
		return 0, 0, errors.New("no limit")
	}
	end, err = r.Parse(number)
	return end, side, err
}

// inColumn returns what stands for a missing value in one column, and whether text is about it.
func inColumn(text, column string) (of string, in bool) {
	if of, in = strings.CutPrefix(text, column); in {
		of, in = strings.CutPrefix(of, "=")
	}
	return of, in
}

// minus is the sign that typesetters write before a negative number.
const minus = "\u2212"

// Parse reads a number.
func (r *Reading) Parse(cell string) (float64, error) {
	if rest, typeset := strings.CutPrefix(cell, minus); typeset {
		cell = "-" + rest
	}
	if r.zero() {
		return parse(cell)
	}
	cell = r.bare(cell)
	// A cell below a limit of detection, such as <0.1, counts as half of the limit.
	if limit, below := belowLimit(cell); below && r.Below != "" {
		plain := *r
		plain.Below = ""
		v, err := plain.Parse(limit)
		return v / 2, err
	}
	if limit, above := aboveLimit(cell); above && r.Above != "" {
		plain := *r
		plain.Above = ""
		return plain.Parse(limit)
	}
	whole, fraction, _ := strings.Cut(cell, cmp.Or(r.Decimal, "."))
	if r.Thousands != "" {
		var ok bool
		if whole, ok = ungrouped(whole, r.Thousands); !ok {
			return 0, strconv.ErrSyntax
		}
	}
	// With decimal commas, a point can only group thousands. Such points are gone by now.
	if r.Decimal == "," {
		if strings.Contains(whole, ".") || strings.Contains(fraction, ".") ||
			strings.Contains(fraction, ",") {
			return 0, strconv.ErrSyntax
		}
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return parse(whole)
}

// bare returns a cell without the longest unit that it ends or begins with.
// The order of Units doesn't matter.
func (r *Reading) bare(cell string) string {
	unit := r.unitOf(cell)
	rest, found := strings.CutSuffix(cell, unit)
	if !found {
		rest = strings.TrimPrefix(cell, unit)
	}
	return strings.TrimSpace(rest)
}

// unitOf returns the unit that bare removes from a cell, or "".
func (r *Reading) unitOf(cell string) (longest string) {
	for _, unit := range r.Units {
		if len(unit) > len(longest) && (strings.HasSuffix(cell, unit) ||
			strings.HasPrefix(cell, unit)) {
			longest = unit
		}
	}
	return longest
}

// belowLimit says whether a cell such as "<0.1" says that a value is below a limit, and returns the
// limit.
func belowLimit(cell string) (limit string, below bool) {
	if limit, below = strings.CutPrefix(cell, "<"); !below {
		limit, below = strings.CutPrefix(cell, "≤")
	}
	return strings.TrimSpace(strings.TrimPrefix(limit, "=")), below
}

// aboveLimit says whether a cell such as ">2000" or "90+" says that a value is above a limit, and
// returns the limit.
func aboveLimit(cell string) (limit string, above bool) {
	if limit, above = strings.CutSuffix(cell, "+"); above {
		return limit, above
	}
	if limit, above = strings.CutPrefix(cell, ">"); !above {
		limit, above = strings.CutPrefix(cell, "≥")
	}
	return strings.TrimSpace(strings.TrimPrefix(limit, "=")), above
}

// alike replaces each character that looks like a separator by that separator.
var alike = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ",
	"\u2007", " ", "’", "'")

// ungrouped returns the whole part of a number without its separators.
// It also says whether every separator stood between groups of three digits.
func ungrouped(whole, separator string) (string, bool) {
	whole = alike.Replace(whole)
	groups := strings.Split(whole, separator)
	for i, group := range groups {
		digits := strings.TrimLeft(group, "+-")
		if (i > 0 && (len(group) != 3 || digits != group)) || (i == 0 && len(groups) > 1 &&
			(len(digits) == 0 || len(digits) > 3)) {
			return "", false
		}
		if i == 0 && len(groups) > 1 && digits[0] == '0' { // a decimal point, as in 0.123
			return "", false
		}
		if len(groups) > 1 && strings.ContainsFunc(digits, func(c rune) bool {
			return c < '0' || c > '9'
		}) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// Every returns a reading that leaves out no row, for tables in which every row is predicted or
// counted.
func (r Reading) Every() Reading {
	r.Distinct = false
	r.every = true
	return r.Filling()
}

// Filling returns a reading for rows that a model wasn't made from. A date that can't be read is a
// gap, which the model may fill.
func (r Reading) Filling() Reading {
	r.fills = true
	return r
}

// Part returns a reading for rows that come as others were waited for. A cell that can't be read
// is a gap, whatever came at the same time.
func (r Reading) Part() Reading {
	r.part = true
	return r
}

// Sent returns Every for rows that don't come in a file. The result has no settings of files.
func (r Reading) Sent() Reading {
	r.SkipRows = 0
	r.Header = ""
	r.Sheet = ""
	r.MissingTarget = ""
	return r.Every()
}

// parse reads a decimal number. Underscores between digits and hexadecimal numbers are for
// programs. In a table they are identifiers or mistakes, so parse refuses them.
func parse(cell string) (float64, error) {
	if programmed(cell) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(cell, 64)
}

// programmed says whether a cell has a character that Go's numbers may have and decimal numbers may
// not: _ or x.
func programmed(cell string) bool {
	for i := range len(cell) {
		if c := cell[i]; c == '_' || c|0x20 == 'x' {
			return true
		}
	}
	return false
}

// grouped matches a number with a comma before every three digits.
// A single comma may also be a decimal comma.
var grouped = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.eE].*)?$`)

// numeral writes a number in the fewest digits that read back as the same number.
// It writes −0 as 0.
func numeral(v float64) string { return strconv.FormatFloat(v+0, 'g', -1, 64) }

// allFinite says whether no value is infinite or NaN.
func allFinite(vs []float64) bool {
	return !slices.ContainsFunc(vs, func(v float64) bool { return v-v != 0 })
}
