package dataset

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// How cells are written, and read as numbers.

// Reading says how the cells of a table are written, where they aren't as programs write them: with a decimal
// point, without groups of digits or units, dates as text. The zero value is for tables without any of that. It is kept
// in a model, whose further tables are read in the same way.
//
// Decimal, Thousands, Missing and Units are about text, as of CSV, JSON lines and sheets; Dates about every format.
type Reading struct {
	Decimal string `json:"decimal,omitzero"` // "." (default) or ","
	// what stands between groups of three digits: "," "." "'" or " "; "" (default): nothing may
	Thousands string `json:"thousands,omitzero"`
	// texts, or numbers as -999, that stand for a missing value, beside those of Read
	Missing []string `json:"missing,omitempty"`
	// what a cell such as "<0.1", below a limit of detection, is read as: "half" of the limit; "" (default): as text
	Below string `json:"below,omitzero"`
	// texts that may stand before or after a number, as in "12 kg", and say nothing
	Units    []string `json:"units,omitempty"`
	Dates    []Dates  `json:"dates,omitempty"`   // columns of dates or times, which become days
	Distinct bool     `json:"distinct,omitzero"` // rows that equal an earlier one in every cell are left out

	// What a file has besides its cells.
	SkipRows int    `json:"skip_rows,omitzero"` // lines, or rows of a sheet, above the table
	Header   string `json:"header,omitzero"`    // the first row names the columns: "yes", "no", or "": where it does
	Sheet    string `json:"sheet,omitzero"`     // of a workbook, or file of an archive, that has several
	// Refuse: a row that is to have a target has one; "": those that lack it are left out
	MissingTarget string `json:"missing_target,omitzero"`

	names []string // columns that name things, of Naming
	every bool     // rows are to have a target, of Every
}

// Naming is the reading of a table whose columns of these names, where it has them, name groups or categories. "" is
// none. Their cells are numbers where they look like some, so that 007 and 7 would be one name: there it is an error
// that two of them are.
func (r Reading) Naming(columns ...string) Reading {
	r.names = slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "" })
	return r
}

// Plain is the reading of cells as programs write them, for formats whose cells are no text.
func (r Reading) Plain() Reading { return Reading{names: r.names} }

// zero says whether it is for tables as programs write them.
func (r *Reading) zero() bool {
	return r == nil || (r.Decimal == "" || r.Decimal == ".") && r.Thousands == "" && len(r.Missing) == 0 &&
		len(r.Units) == 0 && r.Below == ""
}

// Said says in short how cells are read otherwise than as programs write them; "" if they aren't.
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

// What is done about missing values: of inputs either, of a target the first, or its row is left out.
const (
	Refuse   = "refuse" // they are an error
	FillMean = "mean"   // of numbers their mean on prior rows is put there, of categories other
)

// mostTexts is how many texts of missing values, and units, there may be.
const mostTexts = 1000

// Check says what is wrong with it.
func (r *Reading) Check() error {
	decimal := cmp.Or(r.Decimal, ".")
	switch {
	case decimal != "." && decimal != ",":
		return fmt.Errorf(`decimal %q: want "." or ","`, spelling.Clip(r.Decimal))
	case !slices.Contains([]string{"", ",", ".", "'", " "}, r.Thousands):
		return fmt.Errorf(`thousands %q: want "," "." "'" or " "`, spelling.Clip(r.Thousands))
	case r.Thousands == decimal:
		return fmt.Errorf("decimal and thousands are both %q: numbers couldn't be told apart", decimal)
	case r.SkipRows < 0:
		return fmt.Errorf("skip-rows %d: want how many lines stand above the table", r.SkipRows)
	case !slices.Contains([]string{"", "yes", "no"}, r.Header):
		return fmt.Errorf("header %q: want yes, no or auto", spelling.Clip(r.Header))
	case r.MissingTarget != "" && r.MissingTarget != Refuse:
		return fmt.Errorf("missing-target %q: want drop or refuse", spelling.Clip(r.MissingTarget))
	case r.Below != "" && r.Below != "half":
		return fmt.Errorf(`below %q: want "half"`, spelling.Clip(r.Below))
	}
	if n := max(len(r.Missing), len(r.Units)); n > mostTexts {
		return fmt.Errorf("%d texts of missing values, or units: %d at most, since every cell is held against each", n,
			mostTexts)
	}
	for _, unit := range r.Units {
		if strings.TrimSpace(unit) == "" || strings.ContainsFunc(unit, unicode.IsDigit) || strings.ContainsAny(unit,
			"+-.") {
			return fmt.Errorf("unit %q: want text without digits, signs and points, such as kg", spelling.Clip(unit))
		}
	}
	known := map[string]bool{}
	for _, d := range r.Dates {
		if err := d.check(); err != nil {
			return err
		}
		if known[d.Column] {
			return fmt.Errorf("dates: column %q twice", spelling.Clip(d.Column))
		}
		known[d.Column] = true
	}
	return nil
}

// IsMissing knows how a missing value is written.
func (r *Reading) IsMissing(cell string) bool {
	switch strings.ToLower(cell) {
	case "", "na", "n/a", "#n/a", "nan", "null", "?":
		return true
	}
	return r != nil && slices.ContainsFunc(r.Missing, func(text string) bool { return strings.EqualFold(text, cell) })
}

// Parse reads a number.
func (r *Reading) Parse(cell string) (float64, error) {
	if r.zero() {
		return parse(cell)
	}
	cell = r.bare(cell)
	if limit, below := belowLimit(cell); below && r.Below != "" {
		plain := *r
		plain.Below = ""
		v, err := plain.Parse(limit)
		return v / 2, err
	}
	whole, fraction, _ := strings.Cut(cell, cmp.Or(r.Decimal, "."))
	if r.Thousands != "" {
		var ok bool
		if whole, ok = ungrouped(whole, r.Thousands); !ok {
			return 0, strconv.ErrSyntax
		}
	}
	if r.Decimal == "," {
		if strings.Contains(whole, ".") || strings.Contains(fraction, ".") || strings.Contains(fraction, ",") {
			return 0, strconv.ErrSyntax
		}
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return parse(whole)
}

// bare is a cell without the longest of the units that it ends or begins with, in whatever order they were named.
func (r *Reading) bare(cell string) string {
	unit := r.unitOf(cell)
	rest, found := strings.CutSuffix(cell, unit)
	if !found {
		rest = strings.TrimPrefix(cell, unit)
	}
	return strings.TrimSpace(rest)
}

// unitOf is the unit that bare takes from a cell.
func (r *Reading) unitOf(cell string) (longest string) {
	for _, unit := range r.Units {
		if len(unit) > len(longest) && (strings.HasSuffix(cell, unit) || strings.HasPrefix(cell, unit)) {
			longest = unit
		}
	}
	return longest
}

// belowLimit returns the limit of a cell that says that a value is below it.
func belowLimit(cell string) (limit string, below bool) {
	if limit, below = strings.CutPrefix(cell, "<"); !below {
		limit, below = strings.CutPrefix(cell, "≤")
	}
	return strings.TrimSpace(limit), below
}

// alike are characters that people take for the same separator.
var alike = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "’", "'")

// ungrouped takes the separators out of the whole part of a number, and says whether all stood between groups of three
// digits.
func ungrouped(whole, separator string) (string, bool) {
	whole = alike.Replace(whole)
	groups := strings.Split(whole, separator)
	for i, group := range groups {
		digits := strings.TrimLeft(group, "+-")
		if i > 0 && (len(group) != 3 || digits != group) || i == 0 && len(groups) > 1 &&
			(len(digits) == 0 || len(digits) > 3) {
			return "", false
		}
		if i == 0 && len(groups) > 1 && digits[0] == '0' { // no thousands begin so: it is the other's decimal point
			return "", false
		}
		if len(groups) > 1 && strings.ContainsFunc(digits, func(c rune) bool { return c < '0' || c > '9' }) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// Every is the reading that leaves out no row: of rows that are to be predicted, or counted one by one.
func (r Reading) Every() Reading {
	r.Distinct, r.every = false, true
	return r
}

// Sent is Every of rows that come in no file.
func (r Reading) Sent() Reading {
	r.SkipRows, r.Header, r.Sheet, r.MissingTarget = 0, "", "", ""
	return r.Every()
}

// parse reads a decimal number. Digits with underscores and hexadecimal numbers are syntax of
// programs: in a table they are identifiers or mistakes.
func parse(cell string) (float64, error) {
	if programmed(cell) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(cell, 64)
}

// programmed says whether a cell has the characters by which Go's numbers differ from decimal ones.
func programmed(cell string) bool {
	for i := range len(cell) {
		if c := cell[i]; c == '_' || c|0x20 == 'x' {
			return true
		}
	}
	return false
}

// grouped is a number with commas every three digits. With one of them it may as well be a decimal
// comma.
var grouped = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.eE].*)?$`)

// numeral writes a number in the fewest digits that read back as the same; −0 is 0.
func numeral(v float64) string { return strconv.FormatFloat(v+0, 'g', -1, 64) }

func allFinite(vs []float64) bool {
	for _, v := range vs {
		if v-v != 0 {
			return false
		}
	}
	return true
}
