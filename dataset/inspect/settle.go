package inspect

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Decision is what the cells of an input decide about it: advice that needs no person, and what to
// tell people about it.
type Decision struct {
	Advice
	Found finding.Finding
}

// mostCertainlySeen is the number of cells that a random choice of prior rows hardly ever misses.
const mostCertainlySeen = 10

// Undecided says what a table has to decide.
type Undecided struct {
	Inputs            []string
	Said, Categorical []string // inputs that the user described otherwise, and as categories
	Targets           []string
	Missing           string // what happens to gaps; "": they are filled
	Grouped           bool   // what units rows are about is said
}

// Settle returns what the cells of the inputs decide about them, in the order of the table, and
// values that stand apart in inputs and targets, about which nothing is decided.
//
// No decision looks at a target: the table is as if a person had read its inputs and named the
// columns. Each decision is about what a column holds.
//
// A number that stands for a missing value, or is a slip, decides nothing. If it did, rows that
// certify would be mended by the very cells that further rows lack, and bounds would be false:
// in 7 of 20 drawn tables of 20 columns with a slip each, and in 19 of 20 of 60 columns with rare codes.
func Settle(t *dataset.Table, of Undecided) (made []Decision, told finding.List, err error) {
	if err := t.Check(); err != nil {
		return nil, nil, err
	}
	// whether a row holds totals doesn't depend on its targets either
	blind := without(t, of.Targets)
	facts, err := Describe(blind)
	if err != nil {
		return nil, nil, err
	}
	j := judge{t: blind, facts: facts, targets: of.Targets, strays: strayRows(blind)}
	for k := range facts {
		name := facts[k].Name
		if slices.Contains(of.Inputs, name) && !slices.Contains(of.Said, name) &&
			!slices.Contains(of.Categorical, name) {
			made = append(made, j.decide(k, of.Missing != dataset.Refuse)...)
			told = append(told, lists.If(j.found, func(f finding.Finding) bool {
				return f.Kind == finding.Sentinel || f.Kind == finding.Slip
			})...)
		}
	}
	made = someLeft(made, facts, of.Inputs)
	for _, f := range facts {
		if slices.Contains(of.Inputs, f.Name) && !of.Grouped && j.units(f) {
			told.Add(finding.MayGroup, f.Name, f.Distinct, f.Cells, spelling.Flag("group", f.Name))
		}
		if of.Missing == "" && f.Missing > 0 && slices.Contains(of.Inputs, f.Name) &&
			!decided(made, "ignore", f.Name) {
			made = append(made, Decision{Advice{"missing", dataset.Indicate},
				finding.New(finding.GapsFilled, f.Name, f.Missing, f.Cells, f.gap,
					dataset.Filled(slices.Contains(of.Categorical, f.Name) ||
						decided(made, "categorical", f.Name)))})
		}
	}
	j.found = nil
	j.t = t
	for _, target := range of.Targets {
		if k, known := t.Column(target); known && t.Texts(k) == nil {
			j.outside(k, j.values(k))
		}
	}
	return made, append(told, j.found...), nil
}

// without returns a table with 0 in place of the numbers of some columns. Gaps stay.
func without(t *dataset.Table, columns []string) *dataset.Table {
	of := *t
	of.Values = slices.Clone(t.Values)
	for k, name := range t.Names {
		if !slices.Contains(columns, name) || t.Texts(k) != nil {
			continue
		}
		for i := k; i < len(of.Values); i += len(t.Names) {
			if v := t.Values[i]; v == v {
				of.Values[i] = 0
			}
		}
	}
	return &of
}

// decide returns what the cells of input k decide about it.
// They decide nothing where the user must choose, or change the file, or where the advice is about
// cells of other columns too. gaps says that missing values are no errors.
func (j *judge) decide(k int, gaps bool) (made []Decision) {
	f := &j.facts[k]
	j.found = nil
	if values := j.values(k); j.t.Texts(k) != nil {
		j.dates(k, values)
	} else {
		j.outside(k, values)
		j.number(k, values)
		f.Advice = slices.DeleteFunc(f.Advice, func(a Advice) bool { return a.Flag == "na" })
	}
	known := f.Cells - f.Missing
	if known < mostCertainlySeen && known < f.Missing && known > 0 {
		f.Why = "it has few values"
		f.Then = ""
		f.Advice = []Advice{{"ignore", f.Name}}
	}
	says := func(a Advice) bool { return a.Flag != "na" }
	advice := lists.If(f.Advice, says)
	if f.Either || f.Then != "" || len(advice) > 1 || j.perhaps(k) ||
		(len(advice) < len(f.Advice) && !gaps) {
		return nil
	}
	for _, a := range f.Advice {
		if says(a) {
			made = append(made, f.decide(a)...)
		} else if !slices.Contains(f.Advice, Advice{"ignore", f.Name}) {
			made = append(made, j.gap(k, a.Value))
		}
	}
	return made
}

// perhaps says whether the advice about a column of text takes a text for a missing value that isn't
// known as such.
func (j *judge) perhaps(k int) bool {
	return j.t.Texts(k) != nil && slices.ContainsFunc(j.facts[k].Advice, func(a Advice) bool {
		text := strings.TrimPrefix(a.Value, j.facts[k].Name+"=")
		return a.Flag == "na" && speaks(text) && !gapLike(text)
	})
}

// gap returns the decision that a text stands for a missing value in column k alone.
func (j *judge) gap(k int, text string) Decision {
	name := j.facts[k].Name
	text = strings.TrimPrefix(text, name+"=")
	a := Advice{"na", name + "=" + text}
	n, first := count(j.values(k), func(v float64) bool { return j.t.Texts(k)[int(v)] == text })
	return Decision{a, finding.New(finding.ReadAsGap, name, text, n, j.t.Where(first))}
}

// decide returns the decision that advice makes by itself, if any.
func (f *ColumnFacts) decide(a Advice) []Decision {
	known := f.Cells - f.Missing
	why := f.Why
	first := cmp.Or(f.First, f.known, f.gap)
	switch a.Flag {
	case "ignore":
		if why == "" {
			why = "its whole numbers all differ, as numbers of rows do"
		}
		keep := spelling.Either(f.Examples == nil || known == 0, "--inputs '*'",
			spelling.Flag("categorical", f.Name))
		keep = spelling.If(f.Examples == nil || f.Distinct <= dataset.MaxCategories,
			"; %s keeps it", keep)
		return []Decision{{a, finding.New(finding.LeftOut, f.Name, why, known, first, keep)}}
	case "categorical", "dates":
		why = spelling.Either(a.Flag == "dates", "dates", "categories") +
			spelling.If(why != "", ", %s", strings.TrimPrefix(why, "dates "))
		return []Decision{{a, finding.New(finding.ReadAs, f.Name, why, known, first,
			spelling.Flag("ignore", f.Name))}}
	}
	return nil
}

// decided says whether the decision that a flag makes about a column is among those made.
func decided(made []Decision, flag, column string) bool {
	return slices.ContainsFunc(made, func(d Decision) bool {
		return d.Advice == Advice{flag, column}
	})
}

// someLeft returns the decisions without those that leave out columns with numbers, if no input
// would be left otherwise.
func someLeft(made []Decision, facts []ColumnFacts, inputs []string) []Decision {
	if !slices.ContainsFunc(inputs, func(name string) bool {
		return !decided(made, "ignore", name)
	}) {
		made = slices.DeleteFunc(made, func(d Decision) bool {
			return slices.ContainsFunc(facts, func(f ColumnFacts) bool {
				return f.Name == d.Value && f.Examples == nil && f.Kind != "empty"
			})
		})
	}
	return made
}

// unitName matches names of columns that name what rows are about.
var unitName = regexp.MustCompile(`(?i)subject|patient|person|people|participant|respondent|` +
	`label|student|pupil|teacher|school|class$|site|plot|block|batch|^lot$|farm|field|cluster|family|` +
	`litter|animal|^rat$|mouse|^dog|store|shop|hospital|clinic|centre|center|user|customer|client|` +
	`household|group|device|machine|sensor|station|specimen|sample|well|tree|worker|employee|team`)

// units says whether the values of an input repeat a few times each, and may name units that rows
// are about: they are texts, or the name says so. A number of students counts them.
func (j *judge) units(f ColumnFacts) bool {
	const fewUnits, most = 10, 30 // the least number of units, and the most rows of one on average
	text := f.Kind == "category" || f.Kind == "text"
	return f.Missing == 0 && f.Distinct >= fewUnits && 2*f.Distinct <= f.Cells &&
		f.Cells <= most*f.Distinct && f.Kind != "date" &&
		(text || idName.MatchString(f.Name) ||
			(unitName.MatchString(f.Name) && !strings.HasSuffix(f.Name, "s"))) &&
		IsGroup(j.t, f.Name, "")
}

// IsGroup says whether a column may name units that rows are about, and not only a value that rows
// have in common, such as a price. Its cells aren't missing, and either its name says so,
// or all units have equally many rows, or another column is the same in all rows of each unit
// and differs between units. The target doesn't count.
func IsGroup(t *dataset.Table, column, target string) bool {
	at, known := t.Column(column)
	if !known || t.Disk != nil || t.Ranks().Size() > 1 {
		return false
	}
	cols := len(t.Names)
	sizes := map[float64]int{}
	first := map[float64]int{} // the first row of each unit
	// columns that are the same in all rows of each unit
	same := lists.To(cols, func(k int) bool { return k != at && t.Names[k] != target })
	differ := make([]bool, cols)
	for i := range t.Rows {
		row := t.Values[i*cols : (i+1)*cols]
		unit := row[at]
		if unit != unit {
			return false
		}
		if sizes[unit]++; sizes[unit] == 1 {
			first[unit] = i
		}
		begin := t.Values[first[unit]*cols : (first[unit]+1)*cols]
		for k, v := range row {
			same[k] = same[k] && v == begin[k]
			differ[k] = differ[k] || v != t.Values[k]
		}
	}
	equal := !slices.ContainsFunc(slices.Collect(maps.Values(sizes)), func(n int) bool {
		return n != sizes[t.Values[at]]
	})
	return idName.MatchString(column) || unitName.MatchString(column) || equal ||
		slices.ContainsFunc(linalg.UpTo(cols), func(k int) bool { return same[k] && differ[k] })
}
