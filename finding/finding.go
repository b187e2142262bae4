// Package finding holds what krigo finds in rows, a fit or predictions and a person should know. A finding is a value,
// which whoever finds something makes; words.go has the words of every kind, which String writes where somebody reads
// them.
package finding

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Finding is something found. What its subject and numbers are, in their order, stands in the words of its kind.
type Finding struct {
	Kind    Kind      `json:"kind"`
	Subject []string  `json:"subject,omitempty"` // columns, categories, kernels, reasons
	Numbers []float64 `json:"numbers,omitempty"`
}

const (
	most      = 8    // names of a list are kept
	mostParts = 1000 // subjects, and numbers, has a finding at most
)

// New returns a finding about strings, errors, numbers and lists. Of a []string the subject has the first names, and
// the numbers its length; a duration is in seconds.
func New(kind Kind, about ...any) Finding {
	f := Finding{Kind: kind}
	for _, v := range about {
		switch v := v.(type) {
		case string:
			f.Subject = append(f.Subject, v)
		case error:
			f.Subject = append(f.Subject, v.Error())
		case []string:
			f.Subject = append(f.Subject, v[:min(len(v), most)]...)
			f.Numbers = append(f.Numbers, float64(len(v)))
		case int:
			f.Numbers = append(f.Numbers, float64(v))
		case time.Duration:
			f.Numbers = append(f.Numbers, v.Seconds())
		case float64:
			f.Numbers = append(f.Numbers, v)
		case []float64:
			f.Numbers = append(f.Numbers, v...)
		default:
			panic(fmt.Sprintf("finding: a %T", v))
		}
	}
	f.Subject, f.Numbers = f.Subject[:min(len(f.Subject), mostParts)], f.Numbers[:min(len(f.Numbers), mostParts)]
	for i, v := range f.Numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) { // JSON has neither: the largest number stands for them
			f.Numbers[i] = math.Copysign(math.MaxFloat64, v)
		}
	}
	return f
}

// Severity says whether f is only to be known, or may call for something to be done.
func (f Finding) Severity() Severity {
	if e, known := words[f.Kind]; known {
		return e.severity
	}
	return Note
}

// List is what was found, in the order in which it was.
type List []Finding

// Add adds what New makes.
func (l *List) Add(kind Kind, about ...any) { *l = append(*l, New(kind, about...)) }

// Check reports a finding of a file that New doesn't make.
func (f Finding) Check() error {
	if k := string(f.Kind); k == "" || len(k) > 40 || strings.Trim(k, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return fmt.Errorf("the kind %.40q: want 1 to 40 of a to z, 0 to 9 and _", k)
	}
	if len(f.Subject) > mostParts || len(f.Numbers) > mostParts {
		return fmt.Errorf("%d subjects and %d numbers, more than %d", len(f.Subject), len(f.Numbers), mostParts)
	}
	return nil
}

// Of returns those of a kind.
func (l List) Of(kind Kind) (of List) {
	for _, f := range l {
		if f.Kind == kind {
			of = append(of, f)
		}
	}
	return of
}

// Words are the words of all.
func (l List) Words() (said []string) {
	for _, f := range l {
		said = append(said, f.String())
	}
	return said
}

// String words f. A kind that isn't known here, as of a newer krigo or of a method from elsewhere, or one with another
// number of subjects or numbers than its words have places for, is written as it stands.
func (f Finding) String() string {
	if e, known := words[f.Kind]; known {
		if text, fits := fill(e.text, f.Subject, f.Numbers); fits {
			return text
		}
	}
	text := cautious.Name(string(f.Kind))
	for i, name := range f.Subject {
		text += [...]string{": ", ", "}[min(i, 1)] + cautious.Name(name)
	}
	for i, v := range f.Numbers {
		text += [...]string{"; ", ", "}[min(i, 1)] + cautious.Digits(v, 6)
	}
	return text
}

// fill writes subject and numbers in the places of a text, in their order:
//
//	%s  a text               %n  a name        %q  a name in quotes
//	%N  a list of names      %Q  one in quotes %o  " of " a list of names, or nothing
//	%d  a whole number       %v  any number    %g, %.3g, %.2f, … one as in package fmt
//	%b  a bound, rounded up  %t  a duration    %G  all further numbers
//	%U  all further subjects and numbers: counts by unit
//	%k  the part of a kernel that a parameter is of
//
// A list is as New makes it. fits is false if there are more places than subjects or numbers, or fewer.
func fill(text string, subject []string, numbers []float64) (filled string, fits bool) {
	var b strings.Builder
	missing := false
	name := func() string { return first(&subject, &missing) }
	number := func() float64 { return first(&numbers, &missing) }
	list := func(write func(string) string) string {
		var names []string
		all := number()
		for range int(max(0, min(all, most))) {
			names = append(names, write(name()))
		}
		said := strings.Join(names, ", ")
		if all > most {
			said += fmt.Sprintf(" and %.0f more", all-most)
		}
		return said
	}
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String(), !missing && len(subject)+len(numbers) == 0
		}
		end := strings.IndexFunc(after, unicode.IsLetter) + 1
		verb := after[:end]
		text = after[end:]
		switch verb {
		case "s":
			b.WriteString(oneLine(name()))
		case "n":
			b.WriteString(cautious.Name(name()))
		case "q":
			b.WriteString(spelling.Quote(name()))
		case "N":
			b.WriteString(list(cautious.Name))
		case "Q":
			b.WriteString(list(spelling.Quote))
		case "o":
			if said := list(cautious.Name); said != "" {
				b.WriteString(" of " + said)
			}
		case "k":
			if part := name(); part != "" {
				b.WriteString(" in part " + cautious.Name(part) + " of the kernel")
			}
		case "U":
			var parts []string
			for len(subject) > 0 && len(numbers) > 0 {
				with := "without a unit"
				if unit := name(); unit != "" {
					with = "with " + cautious.Name(unit)
				}
				parts = append(parts, fmt.Sprintf("%.0f %s", number(), with))
			}
			b.WriteString(strings.Join(parts, ", "))
		case "G":
			var all []string
			for len(numbers) > 0 {
				all = append(all, strconv.FormatFloat(number(), 'g', -1, 64))
			}
			b.WriteString(strings.Join(all, ", "))
		case "d":
			fmt.Fprintf(&b, "%.0f", number())
		case "v":
			b.WriteString(cautious.Number(number()))
		case "b":
			fmt.Fprintf(&b, "%.4f", cautious.RoundUp(number(), 4))
		case "t":
			b.WriteString(time.Duration(number() * float64(time.Second)).String())
		default:
			fmt.Fprintf(&b, "%"+verb, number())
		}
	}
}

// first takes the first of a list, or says that there is none.
func first[T any](of *[]T, missing *bool) (v T) {
	if len(*of) == 0 {
		*missing = true
		return v
	}
	v, *of = (*of)[0], (*of)[1:]
	return v
}

// oneLine writes what isn't printed as an escape.
func oneLine(text string) string {
	var b strings.Builder
	for _, c := range text {
		if unicode.IsPrint(c) || c == '\u00a0' || c == '\u202f' {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
}

// Told is a finding as JSON for others has it.
type Told struct {
	Finding
	Severity Severity `json:"severity"`
}

// Tell returns all as others read them.
func (l List) Tell() (all []Told) {
	for _, f := range l {
		all = append(all, Told{f, f.Severity()})
	}
	return all
}
