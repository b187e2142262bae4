package inspect

import (
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Advice is what a person may say of a column, as a flag of the command line has it: categorical, dates, ignore,
// decimal, thousands, na, units.
type Advice struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// ColumnFacts describes a column of a table for people.
type ColumnFacts struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // number, constant, empty, index, date, text, identifier, category
	Cells    int      `json:"cells"`
	Missing  int      `json:"missing"`
	Distinct int      `json:"distinct"` // values, at most distinctMost+1 of them
	Low      float64  `json:"low"`      // of numbers
	High     float64  `json:"high"`
	Examples []string `json:"examples"`         // of text
	First    string   `json:"first,omitempty"`  // where the first cell stands that is no number
	Why      string   `json:"why,omitempty"`    // it can't be an input as it stands, or shouldn't be
	Then     string   `json:"then,omitempty"`   // what a person has to do before a fit can use it, where no advice does
	Advice   []Advice `json:"advice,omitempty"` // what to say of it: all that is needed, or of Either one
	Either   bool     `json:"either,omitempty"` // of the advice one is to be chosen
	Unfit    bool     `json:"unfit"`            // it can't be an input as it stands
	unnamed  bool     // a first column without a name that doesn't hold row numbers
}

// Flags are what to say of the column on a command line.
func (f ColumnFacts) Flags() string {
	var flags []string
	for _, a := range f.Advice {
		flags = append(flags, "--"+a.Flag+" "+spelling.Shell(a.Value))
	}
	if f.Either {
		return strings.Join(flags, " or ")
	}
	return strings.Join(flags, " ")
}

// AsTarget are the facts of a column that is to be predicted, and so can't be left out, nor be categories.
func (f ColumnFacts) AsTarget() ColumnFacts {
	f.Advice = slices.DeleteFunc(slices.Clone(f.Advice),
		func(a Advice) bool { return a.Flag == "ignore" || a.Flag == "categorical" })
	switch gaps := slices.ContainsFunc(f.Advice, func(a Advice) bool { return a.Flag == "na" }); {
	case f.Unfit && len(f.Advice) == 0 && f.Kind != "number":
		f.Then = "only numbers are predicted"
	case f.Kind == "constant":
		f.Then = "there is nothing to be predicted"
	case f.Missing > 0 || gaps:
		f.Why = strings.TrimPrefix(f.Why+"; values are missing", "; ")
		f.Then = "a target may have no gaps: take these rows out"
	}
	return f
}
