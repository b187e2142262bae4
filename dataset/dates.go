package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Dates describes a column of dates, with or without times, or of times of day.
// krigo turns dates into days since 1970-01-01 in UTC, and times of day into fractions of a day.
// A time without a zone is read as if it were UTC.
type Dates struct {
	Column string `json:"column"`
	// how the dates are written, a name in dateForms; "":
	// the only form that reads all texts of the column
	Form string `json:"form,omitzero"`
	// periods (day, week, year): each adds two inputs, the sine and the cosine of the position in
	// the period
	Parts []string `json:"parts,omitempty"`
}

// dateForm is a way to write dates.
type dateForm struct {
	name, example string
	layouts       []layout
}

// clocks holds layouts of times that may follow a date, and zoned holds layouts of times with a
// zone.
var (
	clocks = []string{"", " 15:04:05", " 15:04", " 3:04 PM", " 3:04:05 PM"}
	zoned  = []string{" 15:04:05Z07:00", " 15:04Z07:00", " 15:04:05 Z07:00", " 15:04:05-0700",
		" 15:04:05 -0700 MST", " 15:04:05 UTC", " 15:04 UTC"}
)

// layout is a way to write dates, in the notation of package time.
type layout struct {
	text string
	zone bool // the text ends with a zone
	outline
}

// outline holds what a layout has in common with every text that it reads.
// It rules out most layouts without time.Parse, which makes an error for each layout that fails.
// In wide tables, making these errors took minutes.
type outline struct {
	// the first character that is neither a letter nor a digit; 0: there is no such character
	mark  byte
	colon bool
}

// outlineOf returns the outline of a date's text, or of a layout without its zone.
func outlineOf(text string) (o outline) {
	for i := range len(text) {
		if c := text[i] | 0x20; o.mark == 0 && (c < 'a' || c > 'z') &&
			(text[i] < '0' || text[i] > '9') {
			o.mark = text[i]
		}
		o.colon = o.colon || text[i] == ':'
	}
	return o
}

// may says whether the layout may read a text with this outline.
// A colon of the text may belong to its zone.
func (l layout) may(text outline) bool {
	return l.mark == text.mark && (l.colon == text.colon || (l.zone && !l.colon))
}

// layouts returns texts as layouts. zone says that they end with a zone.
func layouts(zone bool, texts ...string) []layout {
	return lists.Of(texts, func(text string) layout {
		return layout{text, zone, outlineOf(strings.TrimSuffix(text, "Z07:00"))}
	})
}

// plain returns layouts without a zone and without further times.
func plain(dates ...string) []layout { return layouts(false, dates...) }

// withClocks returns, for each layout of a date, the layouts with every time of clocks and zoned.
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

// dateForms lists the known forms of dates. Only the form tells which number is the day, and which
// is the month.
var dateForms = []dateForm{
	{"ymd", "2024-01-31",
		slices.Concat(withClocks("2006-01-02", "2006/01/02", "2006/1/2", "2006.01.02"),
			plain("20060102 150405", "20060102 1504"),
			layouts(true, "20060102 150405Z07:00", "20060102 1504Z07:00"))},
	{"dmy", "31/01/2024", withClocks("2/1/2006", "2.1.2006", "2-1-2006", "2.1.06", "2/1/06")},
	{"mdy", "01/31/2024", withClocks("1/2/2006", "1-2-2006", "1/2/06")},
	{"words", "31 Jan 2024", withClocks("2 Jan 2006", "2 January 2006", "Jan 2, 2006",
		"January 2, 2006", "2-Jan-2006",
		"2-Jan-06", "Jan 2 2006", "Mon, 2 Jan 2006", "Jan 2006", "January 2006", "Jan-2006",
		"Jan-06")},
	{"month", "2024-01", plain("2006-01", "2006/01", "01/2006", "2006M01")},
	{"time", "15:04", plain("15:04:05", "15:04", "3:04 PM", "3:04:05 PM")},
}

// periods holds the length of each period, in days, and the day since 1970-01-01 on which a period
// begins.
var periods = map[string]struct{ days, begin float64 }{
	"day": {1, 0}, "week": {7, 4}, "year": {365.2425, 0}, // 1970-01-05 was a Monday
}

// check returns an error for a form or a period that isn't known, and for a period listed twice.
func (d Dates) check() error {
	if d.Form != "" && !slices.ContainsFunc(dateForms, func(f dateForm) bool {
		return f.name == d.Form
	}) {
		return fmt.Errorf("dates: column %q: form %q isn't known; the forms are %s",
			spelling.Clip(d.Column), spelling.Clip(d.Form), strings.Join(DateForms(), ", "))
	}
	for i, part := range d.Parts {
		if _, known := periods[part]; !known || slices.Contains(d.Parts[:i], part) {
			return fmt.Errorf("dates: column %q: period %q: want day, week or year, each once",
				spelling.Clip(d.Column), spelling.Clip(part))
		}
	}
	return nil
}

// DateForms returns the names of the known forms of dates.
func DateForms() []string {
	return lists.Of(dateForms, func(f dateForm) string { return f.name })
}

// ParseDates reads COLUMN or COLUMN:FORM, which periods may follow, for example
// "when:dmy:day:year".
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
			break // the word belongs to the column's name
		}
		d.Column = d.Column[:at]
	}
	slices.Reverse(d.Parts)
	if d.Column == "" {
		return d, fmt.Errorf("dates %q: want COLUMN, COLUMN:FORM, or with periods COLUMN:day:year",
			spelling.Clip(text))
	}
	return d, d.check()
}

// String returns d in the form that ParseDates reads.
func (d Dates) String() string {
	words := append([]string{d.Column}, d.Parts...)
	if d.Form != "" {
		words = slices.Insert(words, 1, d.Form)
	}
	return strings.Join(words, ":")
}

// Derived returns the names of the columns that the periods of d add.
func (d Dates) Derived() (names []string) {
	for _, part := range d.Parts {
		names = append(names, d.Column+" "+part+" sin", d.Column+" "+part+" cos")
	}
	return names
}

// quarter matches a quarter of a year.
// isoWeek matches a week of ISO 8601, or a day in it.
// midnight matches a date with the time 24:00, the end of the day.
// clockAfter matches a date and the T between the date and its time.
var (
	quarter    = regexp.MustCompile(`^([0-9]{4})[- ]?[Qq]([1-4])$|^[Qq]([1-4])[- /]?([0-9]{4})$`)
	isoWeek    = regexp.MustCompile(`^([0-9]{4})-?W([0-9]{2})(?:-?([1-7]))?$`)
	midnight   = regexp.MustCompile(`^(.+[ T])24(:?00.*)$`)
	clockAfter = regexp.MustCompile(`^([0-9]{4}-?[0-9]{2}-?[0-9]{2})T`)
)

// Days reads a date of the form d.Form, which must be set.
// It also says whether text names its zone, and is such a date.
func (d Dates) Days(text string) (days float64, zone, ok bool) { return formOf(d.Form).days(text) }

// formOf returns the form of this name, or a form that reads nothing if there is no such form.
func formOf(name string) (form dateForm) {
	if i := slices.IndexFunc(dateForms, func(f dateForm) bool { return f.name == name }); i >= 0 {
		form = dateForms[i]
	}
	return form
}

// misreads says whether a text is no date of the form.
func (f dateForm) misreads(text string) bool {
	_, _, ok := f.days(text)
	return !ok
}

// days reads a date. zone says whether the text names its zone, and ok whether the text is a date
// of the form.
func (f dateForm) days(text string) (days float64, zone, ok bool) {
	if !strings.ContainsAny(text, "0123456789") {
		return 0, false, false
	}
	// ISO 8601 also has weeks, and a T between date and time.
	if f.name == "ymd" {
		if week := isoWeek.FindStringSubmatch(text); week != nil {
			days, ok := ofWeek(week)
			return days, false, ok
		}
		text = clockAfter.ReplaceAllString(text, "$1 ")
	}
	// A quarter begins with its first month.
	if of := quarter.FindStringSubmatch(text); of != nil && f.name == "month" {
		number, _ := strconv.Atoi(of[2] + of[3])
		text = fmt.Sprintf("%s-%02d", of[1]+of[4], 3*number-2)
	}
	// 24:00 is 0:00 of the next day. Package time doesn't read it.
	later := 0.0
	if parts := midnight.FindStringSubmatch(text); parts != nil &&
		!strings.ContainsFunc(parts[2], func(c rune) bool { return c >= '1' && c <= '9' }) {
		text = parts[1] + "00" + parts[2]
		later = 1
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
		// A time of day is a fraction of a day.
		if f.name == "time" {
			return float64(at.Hour())/24 + float64(at.Minute())/1440 +
				(float64(at.Second())+float64(at.Nanosecond())/1e9)/86400, false, true
		}
		return daysOf(at) + later, layout.zone, true
	}
	return 0, false, false
}

// daysOf returns the days since 1970-01-01, with a fraction for the time.
func daysOf(at time.Time) float64 {
	// Count whole days first, because nanoseconds since 1970 don't fit in a float64.
	seconds := at.Unix()
	days := math.Floor(float64(seconds) / 86400)
	return days + (float64(seconds)-days*86400+float64(at.Nanosecond())/1e9)/86400
}

// DaysOfNumber reads a number in a column of dates, and returns the days since 1970.
// The number's size decides its kind: "days" since 1970, "dates" such as 20240131, "seconds" since
// 1970, or "milliseconds" since 1970. As days, such large numbers would lie tens of thousands of
// years away. ok is false if a number of eight digits is no date, or if a number is larger than a
// time can be.
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

// ofWeek returns the day that the parts of isoWeek name, or the first day of the week if they name
// no day.
func ofWeek(parts []string) (days float64, ok bool) {
	year, _ := strconv.Atoi(parts[1])
	week, _ := strconv.Atoi(parts[2])
	day := 1
	if parts[3] != "" {
		day, _ = strconv.Atoi(parts[3])
	}
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // 4 January is always in week 1
	at := fourth.AddDate(0, 0, 7*(week-1)+day-1-(int(fourth.Weekday())+6)%7)
	y, w := at.ISOWeek()
	return daysOf(at), y == year && w == week
}
