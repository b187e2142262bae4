// Package finding holds findings: what krigo finds in rows, in a fit or in predictions, and a
// person should know. The code that finds something makes a Finding, which is a value.
// String writes it with the words of its kind, from words.go.
//
// This program makes two findings and prints what they hold:
//
//	package main
//
//	import (
//		"fmt"
//
//		"github.com/krigo-gp/krigo/finding"
//	)
//
//	func main() {
//		var found finding.List
//		found.Add(finding.Constant, []string{"country"})
//		found.Add(finding.FewRows, 8, 13)
//		for _, f := range found {
//			fmt.Println(f.Kind, f.Severity(), f.Subject, f.Numbers) // f.String() is a sentence
//		}
//		// Output:
//		// constant_columns warning [country] [1]
//		// fewer_rows_than_inputs warning [] [8 13]
//	}
package finding

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Finding is something that krigo found. The words of its kind show what subject and numbers are,
// in their order.
type Finding struct {
	Kind    Kind      `json:"kind"`
	Subject []string  `json:"subject,omitempty"` // columns, categories, kernels, reasons
	Numbers []float64 `json:"numbers,omitempty"`
}

const (
	most      = 8    // the number of names that a finding keeps of a list
	mostParts = 1000 // limit of subjects, and of numbers
)

// New returns a finding about strings, errors, numbers and lists.
// For a []string the subject gets the first names, and the numbers get its length.
// A duration becomes seconds.
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
	f.Subject = f.Subject[:min(len(f.Subject), mostParts)]
	f.Numbers = f.Numbers[:min(len(f.Numbers), mostParts)]
	for i, v := range f.Numbers {
		// JSON has no NaN or ∞, so the largest number stands for them
		if math.IsNaN(v) || math.IsInf(v, 0) {
			f.Numbers[i] = math.Copysign(math.MaxFloat64, v)
		}
	}
	return f
}

// Severity says whether f is only for information, or may call for action.
func (f Finding) Severity() Severity {
	if e, known := words[f.Kind]; known {
		return e.severity
	}
	return Note
}

// Settles says whether f is a decision about an input that the table made itself.
func (f Finding) Settles() bool {
	return slices.Contains([]Kind{LeftOut, ReadAs, GapsFilled, ReadAsGap}, f.Kind)
}

// List holds findings in the order in which krigo found them.
type List []Finding

// Add appends the finding that New returns.
func (l *List) Add(kind Kind, about ...any) { *l = append(*l, New(kind, about...)) }

// Check returns an error if f, for example from a file, has a kind or a size that New never makes.
func (f Finding) Check() error {
	if k := string(f.Kind); k == "" || len(k) > 40 ||
		strings.Trim(k, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return fmt.Errorf("the kind %.40q: want 1 to 40 of a to z, 0 to 9 and _", k)
	}
	if len(f.Subject) > mostParts || len(f.Numbers) > mostParts {
		return fmt.Errorf("%d subjects and %d numbers, more than %d", len(f.Subject),
			len(f.Numbers), mostParts)
	}
	return nil
}

// Of returns the findings of a kind.
func (l List) Of(kind Kind) List {
	return lists.If(l, func(f Finding) bool { return f.Kind == kind })
}

// Words returns each finding in words.
func (l List) Words() []string {
	return lists.Of(l, Finding.String)
}

// String returns f in words. It only lists kind, subject and numbers if the kind has no words here,
// for example because a newer krigo or a method from elsewhere made f, or if the words have more or
// fewer places than f fills.
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
//	%N  a list of names      %Q  the same in quotes
//	%o  " of " and a list of names, or nothing if the list is empty
//	%c  a number of cells
//	%d  a whole number       %v  any number    %g, %.3g, %.2f, …  a number as in package fmt
//	%b  a bound, rounded up  %t  a duration    %G  all further numbers
//	%U  all further subjects and numbers: counts by unit
//	%k  the part of a kernel to which a parameter belongs
//
// A list takes names from subject and their number from numbers, as New puts them there.
// fits is false if the text has more or fewer places than there are subjects and numbers.
func fill(text string, subject []string, numbers []float64) (filled string, fits bool) {
	var b strings.Builder
	// name and number take the next subject and the next number, list takes a number, and then at
	// most as many names.
	missing := false
	name := func() string { return first(&subject, &missing) }
	number := func() float64 { return first(&numbers, &missing) }
	list := func(write func(string) string) string {
		all := number()
		names := lists.To(int(max(0, min(all, most))), func(int) string { return write(name()) })
		return strings.Join(names, ", ") + spelling.If(all > most, " and %.0f more", all-most)
	}
	for {
		// A place reaches from % to the first letter, as in %.3g.
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
			b.WriteString(spelling.Escaped(name()))
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
		case "c":
			cells := number()
			fmt.Fprintf(&b, "%.0f cell%s", cells, spelling.If(cells != 1, "s"))
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

// first removes and returns the first value of a list. It sets missing if the list is empty.
func first[T any](of *[]T, missing *bool) (v T) {
	if len(*of) == 0 {
		*missing = true
		return v
	}
	v = (*of)[0]
	*of = (*of)[1:]
	return v
}

// Told is a finding with its severity, for JSON that other programs read.
type Told struct {
	Finding
	Severity Severity `json:"severity"`
}

// Tell returns all findings with their severities.
func (l List) Tell() []Told {
	return lists.Of(l, func(f Finding) Told { return Told{f, f.Severity()} })
}
