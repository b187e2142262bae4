package settings

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

type group struct {
	Rows int `set:"rows" value:"N" range:"1:9" for:"training" help:"rows and columns" rule:"many"`
	By   string
}

type one struct {
	group
	Size   int       `set:"size" range:"1:" zero:"none"`
	SizeBy string    `set:"size" values:"none auto"`
	Form   string    `set:"form" values:"a b" default:"b" tier:"everyday"`
	Rate   float64   `set:"rate" range:"0:1"`
	Fixed  bool      `set:"fixed"`
	List   []float64 `set:"list"`
}

type other struct {
	Form string   `set:"form" values:"c" help:"the form"`
	Rate *float64 `set:"rate" range:"0:2"`
}

// TestMerge shows that settings of two structs with the same name become one setting, with the tags of both.
func TestMerge(t *testing.T) {
	all := Merge(one{}, &other{})
	names := []string{}
	for _, s := range all {
		names = append(names, s.Name)
	}
	rows, size, form, rate := Named(all, "rows"), Named(all, "size"), Named(all, "form"), Named(all, "rate")
	if strings.Join(names, " ") != "rows size form rate fixed list" || Named(all, "By") != nil ||
		rows.Help != "rows and columns" || rows.Rule != "many" || rows.For != "training" || rows.Everyday || rows.Field != "Rows" ||
		strings.Join(size.Values, " ") != "auto" || size.Base().Kind() != reflect.Int ||
		strings.Join(form.Values, " ") != "a b c" || form.Default != "b" || form.Help != "the form" || !form.Everyday {
		t.Errorf("%q\n%+v", names, all)
	}
	var f float64
	if err := rate.Parse(&f, "7"); err != nil || f != 7 { // the two ranges differ, so that Merge drops them
		t.Errorf("%v, %v", f, err)
	}
	for _, v := range Of(one{}) { // Of keeps settings, which Merge mustn't change
		if got := strings.Join(v.Values, " "); v.Field == "SizeBy" && got != "none auto" || v.Field == "Form" && got != "a b" {
			t.Errorf("%s: %s", v.Name, got)
		}
	}
}

// TestFill shows that values go from one struct to another by name, and that zero fields get their defaults.
func TestFill(t *testing.T) {
	var o one
	half := 0.5
	Fill(&o, struct {
		Rows  int
		Rate  *float64
		Other string
	}{3, &half, "x"})
	Defaults(&o)
	must.Hold(t, o.Rows == 3 && o.Rate == 0.5 && o.Form == "b" && o.SizeBy == "", "%+v", o)
	for _, s := range Of(o) {
		if s.Name == "rows" {
			s.Give(&o, 4)
			must.Hold(t, s.Get(&o) == 4, "%+v", o)
		}
	}
}

// TestSet shows that text becomes a number or a word, and that an error for other text says what the setting takes.
func TestSet(t *testing.T) {
	for text, want := range map[string]struct {
		is  one
		err string
	}{
		"rows=3":    {is: one{group: group{Rows: 3}}},
		"rows=10":   {err: "rows 10: want 1 to 9"},
		"rows=x":    {err: `rows "x": want a whole number`},
		"size=0":    {is: one{SizeBy: "none"}},
		"size=auto": {is: one{SizeBy: "auto"}},
		"size=5":    {is: one{Size: 5}},
		"size=-5":   {err: "size -5: want 1 or more"},
		"size=some": {err: `size "some": want a whole number, or auto`},
		"form=a":    {is: one{Form: "a"}},
		"fixed=1":   {is: one{Fixed: true}},
		"fixed=2":   {err: `fixed "2": want true or false`},
		"list=1, 2": {is: one{List: []float64{1, 2}}},
		"list=1,x":  {err: "want numbers with commas"},
		"rate=NaN":  {err: "rate NaN: want 0 to 1"},
	} {
		name, value, _ := strings.Cut(text, "=")
		var o one
		err := Named(Merge(one{}), name).Set(&o, value)
		must.Hold(t, (want.err != "" || (err == nil && reflect.DeepEqual(o, want.is))) &&
			(want.err == "" || (err != nil && strings.Contains(err.Error(), want.err))),
			"%s: %+v, %v", text, o, err)
	}
}

// TestCheckAll shows that words and numbers of a struct, and each number of a list, are checked by its tags.
func TestCheckAll(t *testing.T) {
	type all struct {
		Form  string        `set:"form" values:"a b"`
		Any   string        `set:"any"`
		Share float64       `set:"share" range:"0:<1"`
		List  []float64     `set:"list" range:">0:" want:"positive numbers"`
		Took  time.Duration `set:"took" range:"0:"`
		Free  float64       `set:"free"` // a setting without a range, so every value is valid here
	}
	if wrong := CheckAll(&all{"a", "x", 0.999, []float64{1, 1e-300}, time.Hour, math.NaN()}); wrong != nil {
		t.Error(wrong)
	}
	wrong := CheckAll(&all{"c", "x", 1, []float64{1, 0, math.Inf(1)}, -time.Second, math.Inf(1)})
	wrong.If(false, "nothing")
	wrong.If(true, "%d more", 1)
	if got, want := errors.Join(wrong...).Error(), `form "c": want one of a, b
share 1: want a number in [0, 1)
list 0: want positive numbers
list +Inf: want positive numbers
took -1s: want 0 or more
1 more`; got != want {
		t.Error(got)
	}
}

// TestText shows that Text returns the text that Set took, and that a setting with one field has a pointer.
func TestText(t *testing.T) {
	for text, pointer := range map[string]bool{"rows=3": true, "size=0": false, "size=auto": false, "size=5": false,
		"form=a": true, "rate=0.5": true, "fixed=true": true} {
		name, value, _ := strings.Cut(text, "=")
		var o one
		s := Named(Merge(one{}), name)
		if before := s.Text(&o); before != "" || s.Set(&o, value) != nil || s.Text(&o) != value ||
			(s.Pointer(&o) != nil) != pointer {
			t.Errorf("%s: %q, then %q of %+v", text, before, s.Text(&o), o)
		}
	}
}

// TestCheck shows that 0 stands for the default, and that other numbers must be in the range. OneOf checks words.
func TestCheck(t *testing.T) {
	if errs := Check(&one{}); len(errs) > 0 {
		t.Error(errs)
	}
	three := 3.0
	for want, v := range map[string]any{"rows 10: want 1 to 9": &one{group: group{Rows: 10}},
		"size -1: want 1 or more": &one{Size: -1}, "rate 3: want 0 to 2": &other{Rate: &three}} {
		if err := errors.Join(Check(v)...); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	err := errors.Join(OneOf("form", "bb", "aa", "b")...)
	must.Hold(t, err != nil && err.Error() == `form "bb": want one of aa, b; did you mean "b"?`,
		"%v", err)
	for _, v := range []any{&struct {
		A string `set:"a" default:"x" range:"y:"`
		B []bool `set:"b" default:"true"`
	}{}, &struct {
		A int `set:"a" range:"y:"`
	}{A: 1}} {
		func() {
			defer func() {
				must.Hold(t, recover() != nil, "%T: a mistake in its tags isn't told", v)
			}()
			Defaults(v)
			Check(v)
		}()
	}
}
