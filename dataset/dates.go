package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Dates is a column of dates, or of dates and times, or of times of day, which becomes one of days since 1970-01-01 in
// UTC, or of parts of a day. A time without a zone is taken as it stands.
type Dates struct {
	Column string `json:"column"`
	// how they are written, a key of dateForms; "": as all texts of the column can be read
	Form string `json:"form,omitzero"`
	// periods that each add two inputs, the sine and the cosine of where in it: day, week, year
	Parts []string `json:"parts,omitempty"`
}

// dateForm is a way to write dates.
type dateForm struct {
	name, example string
	layouts       []layout
}

// clocks may follow a date, and zones a clock.
var (
	clocks = []string{"", " 15:04:05", " 15:04", " 3:04 PM", " 3:04:05 PM"}
	zoned  = []string{" 15:04:05Z07:00", " 15:04Z07:00", " 15:04:05 Z07:00", " 15:04:05-0700", " 15:04:05 -0700 MST",
		" 15:04:05 UTC", " 15:04 UTC"}
)

// layout is a way to write dates as package time has it.
type layout struct {
	text string
	zone bool // it names the zone
	outline
}

// outline is what a layout shares with every text that it reads. Most layouts are ruled out by it: time.Parse makes an
// error for each that fails, which took minutes in wide tables.
type outline struct {
	mark  byte // the first one that is neither a letter nor a digit, 0: there is none
	colon bool
}

func outlineOf(text string) (o outline) {
	for i := range len(text) {
		if c := text[i] | 0x20; o.mark == 0 && (c < 'a' || c > 'z') && (text[i] < '0' || text[i] > '9') {
			o.mark = text[i]
		}
		o.colon = o.colon || text[i] == ':'
	}
	return o
}

// may says whether a layout may read a text. A zone has a colon of its own.
func (l layout) may(text outline) bool {
	return l.mark == text.mark && (l.colon == text.colon || l.zone && !l.colon)
}

func layouts(zone bool, texts ...string) (all []layout) {
	for _, text := range texts {
		all = append(all, layout{text, zone, outlineOf(strings.TrimSuffix(text, "Z07:00"))})
	}
	return all
}

func plain(dates ...string) []layout { return layouts(false, dates...) }

func withClocks(dates ...string) (all []layout) {
	for _, date := range dates {
		for _, clock := range clocks {
			all = append(all, plain(date+clock)...)
		}
		for _, clock := range zoned {
			all = append(all, layouts(true, date+clock)...)
		}
	}
	return all
}

// dateForms are those that are known. Day and month are told apart by their form alone.
var dateForms = []dateForm{
	{"ymd", "2024-01-31", slices.Concat(withClocks("2006-01-02", "2006/01/02", "2006/1/2", "2006.01.02"),
		plain("20060102 150405", "20060102 1504"), layouts(true, "20060102 150405Z07:00", "20060102 1504Z07:00"))},
	{"dmy", "31/01/2024", withClocks("2/1/2006", "2.1.2006", "2-1-2006", "2.1.06", "2/1/06")},
	{"mdy", "01/31/2024", withClocks("1/2/2006", "1-2-2006", "1/2/06")},
	{"words", "31 Jan 2024", withClocks("2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "2-Jan-2006",
		"2-Jan-06", "Jan 2 2006", "Mon, 2 Jan 2006", "Jan 2006", "January 2006")},
	{"month", "2024-01", plain("2006-01", "2006/01", "01/2006", "2006M01")},
	{"time", "15:04", plain("15:04:05", "15:04", "3:04 PM", "3:04:05 PM")},
}

// periods of dates, in days, and where the first begins.
var periods = map[string]struct{ days, begin float64 }{
	"day": {1, 0}, "week": {7, 4}, "year": {365.2425, 0}, // 1970-01-05 was a Monday
}

func (d Dates) check() error {
	if d.Form != "" && !slices.ContainsFunc(dateForms, func(f dateForm) bool { return f.name == d.Form }) {
		return fmt.Errorf("dates: column %q: form %q isn't known: known are %s", spelling.Clip(d.Column),
			spelling.Clip(d.Form),
			strings.Join(DateForms(), ", "))
	}
	for i, part := range d.Parts {
		if _, known := periods[part]; !known || slices.Contains(d.Parts[:i], part) {
			return fmt.Errorf("dates: column %q: period %q: want day, week or year, each once", spelling.Clip(d.Column),
				spelling.Clip(part))
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
		return d, fmt.Errorf("dates %q: want COLUMN, COLUMN:FORM, or with periods COLUMN:day:year", spelling.Clip(text))
	}
	return d, d.check()
}

// String writes it as ParseDates reads it.
func (d Dates) String() string {
	words := append([]string{d.Column}, d.Parts...)
	if d.Form != "" {
		words = slices.Insert(words, 1, d.Form)
	}
	return strings.Join(words, ":")
}

// Derived are the names of the columns that it adds.
func (d Dates) Derived() (names []string) {
	for _, part := range d.Parts {
		names = append(names, d.Column+" "+part+" sin", d.Column+" "+part+" cos")
	}
	return names
}

// isoWeek is a week of ISO 8601, or a day of it, midnight the end of a day, and clockAfter what stands between a date
// and its time.
var (
	isoWeek    = regexp.MustCompile(`^([0-9]{4})-?W([0-9]{2})(?:-?([1-7]))?$`)
	midnight   = regexp.MustCompile(`^(.+[ T])24(:?00.*)$`)
	clockAfter = regexp.MustCompile(`^([0-9]{4}-?[0-9]{2}-?[0-9]{2})T`)
)

// Days reads a date of the form, which is given, and says whether it names its zone.
func (d Dates) Days(text string) (days float64, zone, ok bool) { return formOf(d.Form).days(text) }

// formOf returns the form of this name, or else one that reads nothing.
func formOf(name string) (form dateForm) {
	if i := slices.IndexFunc(dateForms, func(f dateForm) bool { return f.name == name }); i >= 0 {
		form = dateForms[i]
	}
	return form
}

// days reads a date, and says whether it names its zone.
func (f dateForm) days(text string) (days float64, zone, ok bool) {
	if !strings.ContainsAny(text, "0123456789") {
		return 0, false, false
	}
	if f.name == "ymd" {
		if week := isoWeek.FindStringSubmatch(text); week != nil {
			days, ok := ofWeek(week)
			return days, false, ok
		}
		text = clockAfter.ReplaceAllString(text, "$1 ")
	}
	later := 0.0
	if parts := midnight.FindStringSubmatch(text); parts != nil &&
		!strings.ContainsFunc(parts[2], func(c rune) bool { return c >= '1' && c <= '9' }) {
		text, later = parts[1]+"00"+parts[2], 1
	}
	shape := outlineOf(text)
	for _, layout := range f.layouts {
		if !layout.may(shape) {
			continue
		}
		at, err := time.Parse(layout.text, text)
		if err != nil {
			continue
		}
		if f.name == "time" {
			return float64(at.Hour())/24 + float64(at.Minute())/1440 +
					(float64(at.Second())+float64(at.Nanosecond())/1e9)/86400,
				false, true
		}
		return daysOf(at) + later, layout.zone, true
	}
	return 0, false, false
}

// daysOf counts days since 1970-01-01.
func daysOf(at time.Time) float64 {
	// Whole days first: nanoseconds since 1970 fit no float64.
	seconds := at.Unix()
	days := math.Floor(float64(seconds) / 86400)
	return days + (float64(seconds)-days*86400+float64(at.Nanosecond())/1e9)/86400
}

// DaysOfNumber reads a number in a column of dates, which counts "days" since 1970 unless its size says that it is one of
// "dates" as 20240131, or of "seconds" or "milliseconds" since 1970: days of such sizes are tens of thousands of years away.
// ok is false of a number of eight digits that is no date, and of larger ones than a time can be.
func DaysOfNumber(v float64) (days float64, kind string, ok bool) {
	switch {
	case v < 1000_01_01:
		return v, "days", true
	case v < 3000_00_00:
		at, err := time.Parse("20060102", strconv.FormatFloat(v, 'f', -1, 64))
		return daysOf(at), "dates", err == nil
	case v < 1e8:
		return 0, "", false
	case v < 1e11:
		return v / 86400, "seconds", true
	}
	return v / 86400e3, "milliseconds", v < 1e14
}

// ofWeek is the first day of a week of a year, or that which is named.
func ofWeek(parts []string) (days float64, ok bool) {
	year, _ := strconv.Atoi(parts[1])
	week, _ := strconv.Atoi(parts[2])
	day := 1
	if parts[3] != "" {
		day, _ = strconv.Atoi(parts[3])
	}
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is always in week 1
	at := fourth.AddDate(0, 0, 7*(week-1)+day-1-(int(fourth.Weekday())+6)%7)
	y, w := at.ISOWeek()
	return daysOf(at), y == year && w == week
}
