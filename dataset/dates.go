package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Dates is a column of dates, or of dates and times, or of times of day, which becomes one of days since 1970-01-01 in UTC, or
// of parts of a day. A time without a zone is taken as it stands.
type Dates struct {
	Column string   `json:"column"`
	Form   string   `json:"form,omitzero"`   // how they are written, a key of dateForms; "": as all texts of the column can be read
	Parts  []string `json:"parts,omitempty"` // periods that each add two inputs, the sine and the cosine of where in it: day, week, year
}

// dateForm is a way to write dates.
type dateForm struct {
	name, example string
	layouts       []string
}

// clocks may follow a date.
var clocks = []string{"", " 15:04:05", " 15:04", " 15:04:05Z07:00", " 15:04Z07:00", " 15:04:05 Z07:00", " 15:04:05-0700", " 15:04:05 -0700 MST", " 3:04 PM", " 3:04:05 PM"}

func withClocks(dates ...string) (all []string) {
	for _, date := range dates {
		for _, clock := range clocks {
			all = append(all, date+clock)
		}
	}
	return all
}

// dateForms are those that are known. Day and month are told apart by their form alone.
var dateForms = []dateForm{
	{"ymd", "2024-01-31", withClocks("2006-01-02", "2006/01/02", "2006/1/2", "2006.01.02")},
	{"dmy", "31/01/2024", withClocks("2/1/2006", "2.1.2006", "2-1-2006", "2.1.06", "2/1/06")},
	{"mdy", "01/31/2024", withClocks("1/2/2006", "1-2-2006", "1/2/06")},
	{"words", "31 Jan 2024", withClocks("2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "2-Jan-2006", "Mon, 2 Jan 2006", "Jan 2006", "January 2006")},
	{"month", "2024-01", []string{"2006-01", "2006/01", "01/2006", "2006M01"}},
	{"time", "15:04", []string{"15:04:05", "15:04", "3:04 PM", "3:04:05 PM"}},
}

// periods of dates, in days, and where the first begins.
var periods = map[string]struct{ days, begin float64 }{
	"day": {1, 0}, "week": {7, 4}, "year": {365.2425, 0}, // 1970-01-05 was a Monday
}

func (d Dates) check() error {
	if d.Form != "" && !slices.ContainsFunc(dateForms, func(f dateForm) bool { return f.name == d.Form }) {
		return fmt.Errorf("dates: column %q: form %q isn't known: known are %s", clip(d.Column), clip(d.Form), strings.Join(DateForms(), ", "))
	}
	for i, part := range d.Parts {
		if _, known := periods[part]; !known || slices.Contains(d.Parts[:i], part) {
			return fmt.Errorf("dates: column %q: period %q: want day, week or year, each once", clip(d.Column), clip(part))
		}
	}
	return nil
}

// DateForms are the names of the ways to write dates that are known.
func DateForms() (names []string) {
	for _, f := range dateForms {
		names = append(names, f.name)
	}
	return names
}

// ParseDates reads COLUMN, or COLUMN:FORM, and periods, as in "when:dmy:day:year".
func ParseDates(text string) (Dates, error) {
	d := Dates{Column: text}
	for {
		at := strings.LastIndexByte(d.Column, ':')
		if at < 0 {
			break
		}
		word := d.Column[at+1:]
		if _, period := periods[word]; period {
			d.Parts = append(d.Parts, word)
		} else if slices.Contains(DateForms(), word) && d.Form == "" {
			d.Form = word
		} else {
			break // part of the column's name
		}
		d.Column = d.Column[:at]
	}
	slices.Reverse(d.Parts)
	if d.Column == "" {
		return d, fmt.Errorf("dates %q: want COLUMN, COLUMN:FORM, or with periods COLUMN:day:year", clip(text))
	}
	return d, d.check()
}

// Inputs are the names of the columns that become of it.
func (d Dates) Inputs() []string { return append([]string{d.Column}, d.Derived()...) }

// Derived are the names of the columns that it adds.
func (d Dates) Derived() (names []string) {
	for _, part := range d.Parts {
		names = append(names, d.Column+" "+part+" sin", d.Column+" "+part+" cos")
	}
	return names
}

// days reads a date.
func (f dateForm) days(text string) (float64, bool) {
	if f.name == "ymd" && len(text) > 10 && text[10] == 'T' {
		text = text[:10] + " " + text[11:]
	}
	for _, layout := range f.layouts {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if f.name == "time" {
			return float64(at.Hour())/24 + float64(at.Minute())/1440 + (float64(at.Second())+float64(at.Nanosecond())/1e9)/86400, true
		}
		// Whole days first: nanoseconds since 1970 fit no float64.
		seconds := at.Unix()
		days := math.Floor(float64(seconds) / 86400)
		return days + (float64(seconds)-days*86400+float64(at.Nanosecond())/1e9)/86400, true
	}
	return 0, false
}

// formsOf are the forms by which all these texts can be read.
func formsOf(texts []string) (forms []dateForm) {
	for _, f := range dateForms {
		if len(texts) > 0 && !slices.ContainsFunc(texts, func(text string) bool { _, ok := f.days(text); return !ok }) {
			forms = append(forms, f)
		}
	}
	return forms
}

// errWhichForm says that day and month can't be told apart.
func errWhichForm(name, text string) error {
	return fmt.Errorf("dates as %q may have the day first or the month: say which, as --dates %s:dmy or %s:mdy", clip(text), clip(name), clip(name))
}

func describeForms() string {
	var all []string
	for _, f := range dateForms {
		all = append(all, fmt.Sprintf("%s (%s)", f.name, f.example))
	}
	return strings.Join(all, ", ")
}
