// Package settings reads settings from the comments and tags of a struct's fields, so that each
// setting is described in one place:
//
//	// Rows that a row is predicted from: all others, or earlier ones.
//	// Default: by the number of rows.
//	Form string `set:"form" value:"F" values:"loo vecchia"` // see Vecchia 1988
//
// The first paragraph of the comment above a field is the setting's help. The help is "rows that a
// row is predicted from: all others, or earlier ones":
// a full stop at the end goes, and so does the capital letter at the beginning, unless another one
// follows it. Two kinds of lines end that paragraph, and aren't part of the help. A line that
// begins with "Default:" says what decides the default.
// A line that begins with "Takes" describes the range, for errors.
// Further paragraphs, and a comment behind the field, are for readers of the code.
// If several structs have a setting, one of them has its help, and the fields of the others have a
// comment behind them.
//
// A program can't read its own comments, so that go generate writes them to words.json.
// A module of somebody else has tags for them: help, rule for the default, and want for the range.
// The other tags are
//
//	set      the setting's name, without the dashes of its flag
//	value    the placeholder for the value in help, for example F in --form F
//	values   the words that the setting takes
//	range    the least and the largest number: 1:512, or 0:<1 for numbers below 1; 0 stands for the default
//	default  the value that replaces zero
//	tier     everyday, if help always shows the setting
//	for      training, if only training uses the setting; fit, if only training that ends with a model uses it
//	zero     the word that the number 0 stands for
//
// A setting may have two fields. One holds numbers.
// The other, whose name ends in By, holds words that replace a number.
// Fields of embedded structs count as the struct's own.
// Several structs may have a setting with the same name.
// The setting then takes the values of all these structs, and each property comes from the first
// struct that has it.
package settings

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Setting holds what the comment and the tags of one setting say.
type Setting struct {
	Name, Value, Default, Rule, Help, For string
	Values                                []string
	Everyday                              bool

	Field string       // the name of the Go field
	Type  reflect.Type // the type of the Go field
	zero  string
	least string
	most  string
	want  string
	index []int
}

// word holds what the comment above a setting's field says:
// its help, the rule for its default, and the numbers that the setting takes.
type word struct {
	Help string `json:"help,omitzero"`
	Rule string `json:"rule,omitzero"`
	Want string `json:"want,omitzero"`
}

//go:generate env UPDATE_SNAPSHOTS=1 go test -run=^TestWords$ .

//go:embed words.json
var wordsJSON []byte

// words returns the words of krigo's own settings, by type and field.
var words = sync.OnceValue(func() (all map[string]map[string]word) {
	if err := json.Unmarshal(wordsJSON, &all); err != nil {
		panic(fmt.Sprintf("words.json: %v", err))
	}
	return all
})

// known holds the settings of each type that was asked for.
// A start of krigo asks for each of them many times.
var known sync.Map

// Of returns the settings of a struct, in the order of its fields.
// Don't change the elements of their Values.
func Of(v any) []Setting {
	t := reflect.Indirect(reflect.ValueOf(v)).Type()
	all, is := known.Load(t)
	if !is {
		all, _ = known.LoadOrStore(t, of(t, nil))
	}
	return slices.Clone(all.([]Setting))
}

// of returns the settings of a struct's type, and those of structs embedded in it. index is the
// place of the struct in the outermost struct, as reflect.Value.FieldByIndex takes it.
func of(t reflect.Type, index []int) (all []Setting) {
	said := words()[t.PkgPath()+"."+t.Name()]
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		_, is := f.Tag.Lookup("set")
		switch {
		case is:
			all = append(all, settingOf(f, at, said[f.Name]))
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			all = append(all, of(f.Type, at)...)
		}
	}
	return all
}

// settingOf returns the setting in a field. said is what the comment above the field says.
func settingOf(f reflect.StructField, index []int, said word) Setting {
	get := f.Tag.Get
	s := Setting{Name: get("set"), Value: get("value"), Default: get("default"), For: get("for"),
		Help: cmp.Or(get("help"), said.Help), Rule: cmp.Or(get("rule"), said.Rule),
		want: cmp.Or(get("want"), said.Want), Values: strings.Fields(get("values")),
		Everyday: get("tier") == "everyday", Field: f.Name, Type: f.Type,
		zero: get("zero"), index: index}
	s.least, s.most, _ = strings.Cut(get("range"), ":")
	return s
}

// Merge merges the settings of several structs that have the same name.
// They are in the order in which their names come first.
func Merge(structs ...any) (all []Setting) {
	for _, v := range structs {
		for _, s := range Of(v) {
			i := slices.IndexFunc(all, func(other Setting) bool { return other.Name == s.Name })
			if i < 0 {
				all = append(all, s)
				continue
			}
			a := &all[i]
			for _, v := range s.Values {
				if !slices.Contains(a.Values, v) {
					a.Values = append(slices.Clip(a.Values), v)
				}
			}
			for to, from := range map[*string]string{&a.Value: s.Value, &a.Default: s.Default,
				&a.Rule: s.Rule, &a.Help: s.Help, &a.For: s.For, &a.zero: s.zero, &a.want: s.want} {
				*to = cmp.Or(*to, from)
			}
			if !s.Word() && (s.least != a.least || s.most != a.most) {
				a.least = ""
				a.most = "" // each struct checks its own range
			}
			a.Everyday = a.Everyday || s.Everyday
		}
	}
	for i := range all { // a word that means 0 isn't offered
		all[i].Values = slices.DeleteFunc(slices.Clone(all[i].Values), func(v string) bool {
			return v == all[i].zero
		})
	}
	return all
}

// Key returns the setting's name in JSON.
func (s Setting) Key() string { return strings.ReplaceAll(s.Name, "-", "_") }

// Base returns the type of the setting's value.
// If the field is a pointer, Base returns the type to which it points.
func (s Setting) Base() reflect.Type {
	if s.Type.Kind() == reflect.Pointer {
		return s.Type.Elem()
	}
	return s.Type
}

// Word returns whether the field holds words that replace a number of another field.
func (s Setting) Word() bool {
	return s.Type.Kind() == reflect.String && strings.HasSuffix(s.Field, "By")
}

// Named returns the setting with this name, or nil if there is no such setting.
func Named(all []Setting, name string) *Setting {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// in returns the setting's field in the struct to which v points.
func (s Setting) in(v any) reflect.Value { return reflect.ValueOf(v).Elem().FieldByIndex(s.index) }

// Get returns the setting's value in the struct to which v points.
func (s Setting) Get(v any) any { return s.in(v).Interface() }

// Give sets the setting's value in the struct to which v points.
func (s Setting) Give(v, value any) { s.in(v).Set(reflect.ValueOf(value)) }

// Fill copies fields of from to the settings of the struct to which to points.
// It copies fields with the same name that aren't zero.
// If only the field of from is a pointer, Fill copies the value to which it points.
func Fill(to, from any) {
	source := reflect.Indirect(reflect.ValueOf(from))
	for _, s := range Of(to) {
		f := source.FieldByName(s.Field)
		if !f.IsValid() || f.IsZero() {
			continue
		}
		if f.Kind() == reflect.Pointer && s.Type.Kind() != reflect.Pointer {
			f = f.Elem()
		}
		s.in(to).Set(f)
	}
}

// Defaults sets the zero fields of the struct to which v points to their defaults.
func Defaults(v any) {
	for _, s := range Of(v) {
		if f := s.in(v); s.Default != "" && f.IsZero() {
			if err := Parse(f.Addr().Interface(), s.Default); err != nil {
				panic(fmt.Sprintf("the default of %s: %v", s.Name, err))
			}
		}
	}
}

// Parse parses text and stores the value where to points:
// text, a number, true or false, or a list of numbers with commas between them.
func Parse(to any, text string) (err error) {
	switch to := to.(type) {
	case *string:
		*to = text
	case *bool:
		*to, err = strconv.ParseBool(text)
	case *int:
		*to, err = strconv.Atoi(text)
	case *float64:
		*to, err = strconv.ParseFloat(text, 64)
	// A pointer tells a number that was given, also 0, from none.
	case **float64:
		*to = new(float64)
		**to, err = strconv.ParseFloat(text, 64)
	case *[]float64:
		*to = nil
		for _, part := range strings.Split(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
			if err != nil {
				return err
			}
			*to = append(*to, v)
		}
	default:
		return fmt.Errorf("a setting can't have the type %T", to)
	}
	return err
}

// fields returns the setting's fields in the struct to which v points:
// the field of the value, and the field of words that replace it. The struct needn't have tags.
// A field that is missing is invalid.
func (s Setting) fields(v any) (value, by reflect.Value) {
	name := strings.TrimSuffix(s.Field, "By")
	fields := reflect.ValueOf(v).Elem()
	return fields.FieldByName(name), fields.FieldByName(name + "By")
}

// Pointer returns a pointer to the setting's field in the struct to which v points.
// It returns nil if the setting has no field or two.
func (s Setting) Pointer(v any) any {
	if value, by := s.fields(v); value.IsValid() && !by.IsValid() {
		if value.Kind() == reflect.String { // the field may have a named string type
			return value.Addr().Convert(reflect.TypeFor[*string]()).Interface()
		}
		return value.Addr().Interface()
	}
	return nil
}

// Set parses text into the setting's fields of the struct to which v points.
func (s Setting) Set(v any, text string) error {
	if text == "0" && s.zero != "" {
		text = s.zero
	}
	value, by := s.fields(v)
	if by.IsValid() && (slices.Contains(s.Values, text) || text == s.zero) {
		by.SetString(text)
		return nil
	}
	return s.Parse(value.Addr().Interface(), text)
}

// Text returns the text from which Set would set the fields to their values, or "" if they are
// zero.
func (s Setting) Text(v any) string {
	value, by := s.fields(v)
	switch {
	case by.IsValid() && by.String() == s.zero && s.zero != "":
		return "0"
	case by.IsValid() && !by.IsZero():
		return by.String()
	case !value.IsValid() || value.IsZero():
		return ""
	}
	return fmt.Sprint(reflect.Indirect(value).Interface())
}

// Parse parses text as the setting's value, checks its range, and stores it where to points.
func (s Setting) Parse(to any, text string) error {
	if Parse(to, text) != nil {
		return s.wrong(text)
	}
	return errors.Join(s.check(reflect.ValueOf(to).Elem())...)
}

// wrong returns the error for a text that the setting doesn't take. The error says what it takes.
func (s Setting) wrong(text string) error {
	want := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Bool: "true or false",
		reflect.Slice: "numbers with commas between them"}[s.Type.Kind()]
	want = cmp.Or(want, "a number")
	want += spelling.If(len(s.Values) > 0 && s.Type.Kind() != reflect.Slice,
		", or %s", strings.Join(s.Values, " or "))
	return fmt.Errorf("%s %q: want %s", s.Name, text, want)
}

// Check returns an error for each number out of its range in the struct to which v points.
func Check(v any) (errs []error) {
	for _, s := range Of(v) {
		errs = append(errs, s.check(s.in(v))...)
	}
	return errs
}

// CheckAll does what Check does, and also reports words that a setting doesn't take.
func CheckAll(v any) (wrong Faults) {
	for _, s := range Of(v) {
		if f := s.in(v); f.Kind() == reflect.String && !f.IsZero() {
			wrong = append(wrong, OneOf(s.Name, f.String(), s.Values...)...)
		}
	}
	return append(wrong, Check(v)...)
}

// check returns an error for a number, or for each number of a list, that is out of the range.
func (s Setting) check(f reflect.Value) (errs []error) {
	if f.IsZero() {
		return nil
	}
	switch f = reflect.Indirect(f); {
	case f.CanInt():
		return s.ranged(float64(f.Int()), f)
	case f.CanFloat():
		return s.ranged(f.Float(), f)
	case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Float64:
		for _, v := range f.Seq2() {
			errs = append(errs, s.ranged(v.Float(), v)...)
		}
	}
	return errs
}

// ranged returns an error if x is out of the range. The error shows x as v.
func (s Setting) ranged(x float64, v reflect.Value) []error {
	if s.least == "" && s.most == "" {
		return nil
	}
	most, below := strings.CutPrefix(s.most, "<")
	least, above := strings.CutPrefix(s.least, ">")
	from := s.end(least, -math.MaxFloat64)
	to := s.end(most, math.MaxFloat64)
	if x >= from && x <= to && !(above && x == from) && !(below && x == to) {
		return nil
	}
	want := least + " to " + most
	switch {
	case most == "":
		want = least + " or more"
	case below:
		want = "a number in [" + least + ", " + most + ")"
	}
	return []error{fmt.Errorf("%s %v: want %s", s.Name, v, cmp.Or(s.want, want))}
}

// end returns an end of the range, which text holds, or open if text is empty.
func (s Setting) end(text string, open float64) float64 {
	if text == "" {
		return open
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("the range of %s: %v", s.Name, err))
	}
	return v
}

// OneOf returns an error if v isn't one of names. Without names, every word is allowed.
func OneOf(setting, v string, names ...string) []error {
	if len(names) == 0 || slices.Contains(names, v) {
		return nil
	}
	if said := spelling.Called(v, names); said != "" {
		return []error{fmt.Errorf("%s: %s", setting, said)}
	}
	return []error{fmt.Errorf("%s %q: want one of %s%s", setting, v, strings.Join(names, ", "),
		spelling.DidYouMean(v, names))}
}

// Faults lists what is wrong with settings.
type Faults []error

// If adds an error to f if wrong is true.
func (f *Faults) If(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// Of adds err, in the words of format, if it isn't nil.
func (f *Faults) Of(err error, format string) { f.If(err != nil, format, err) }
