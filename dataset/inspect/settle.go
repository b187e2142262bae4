package inspect

import (
	"cmp"
	"fmt"
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
	Inputs  []string
	Said    []string // the inputs of which the user said what they are
	Targets []string
	Missing string // what happens to gaps; "": they are filled
}

// Settle returns what the cells of the inputs decide about them, in the order of the table, and
// what to tell people of targets and of slips among dates, about which nothing is decided.
//
// No decision looks at a target, so that a certificate doesn't pay for it:
// for it the table is as if a person had read its inputs and named the columns.
// Each decision is about what a column holds.
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
	j := judge{t: t, facts: facts, targets: of.Targets, strays: strayRows(blind)}
	for k := range facts {
		name := facts[k].Name
		if slices.Contains(of.Inputs, name) && !slices.Contains(of.Said, name) {
			made = append(made, j.decide(k, of.Missing != dataset.Refuse)...)
			if t.Texts(k) != nil { // dates
				told = append(told, lists.If(j.found, func(f finding.Finding) bool {
					return f.Kind == finding.Slip
				})...)
			}
		}
	}
	made = someLeft(made, facts, of.Inputs)
	shared(made, t, of.Inputs)
	for _, f := range facts {
		left := slices.ContainsFunc(made, func(d Decision) bool {
			return d.Advice == Advice{"ignore", f.Name}
		})
		if of.Missing == "" && f.Missing > 0 && slices.Contains(of.Inputs, f.Name) && !left {
			made = append(made, Decision{Advice{"missing", dataset.Indicate},
				finding.New(finding.GapsFilled, f.Name, f.Missing, f.Cells, f.gap)})
		}
	}
	j.found = nil
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
		if gaps {
			j.outside(k, values)
		}
		j.number(k, values)
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

// gap returns the decision that a text or number stands for a missing value in column k alone.
func (j *judge) gap(k int, text string) Decision {
	name := j.facts[k].Name
	text = strings.TrimPrefix(text, name+"=")
	a := Advice{"na", name + "=" + text}
	rows := 0.
	var about finding.Finding
	for _, f := range j.found {
		s := f.Subject
		if (f.Kind == finding.Sentinel || f.Kind == finding.Slip) &&
			(s[1] == text || s[5] == "say "+spelling.Flag("na", a.Value)) {
			rows += f.Numbers[0]
			about = f
		}
	}
	if s := about.Subject; s != nil {
		return Decision{a, finding.New(finding.ReadAsGap, name, text, rows, s[4],
			fmt.Sprintf(", since all others lie between %s and %s", s[2], s[3]))}
	}
	n, first := count(j.values(k), func(v float64) bool { return j.t.Texts(k)[int(v)] == text })
	return Decision{a, finding.New(finding.ReadAsGap, name, text, n, j.t.Where(first), "")}
}

// shared makes decisions about numbers that stand for missing values in half of the columns of
// numbers, and two, decisions about the whole table. A number that another input has isn't shared,
// nor one that another column, such as the target, has among its other values, or as a text.
func shared(made []Decision, t *dataset.Table, inputs []string) {
	numbers := lists.If(inputs, func(name string) bool {
		k, _ := t.Column(name)
		return t.Texts(k) == nil
	})
	in := map[string][]string{} // columns by what stands for missing values there
	for _, d := range made {
		if d.Found.Kind == finding.ReadAsGap {
			in[d.Found.Subject[1]] = append(in[d.Found.Subject[1]], d.Found.Subject[0])
		}
	}
	for i, d := range made {
		if d.Found.Kind != finding.ReadAsGap {
			continue
		}
		text := d.Found.Subject[1]
		reading := t.Reading()
		v, err := reading.Parse(text)
		if of := in[text]; err == nil && len(of) > 1 && 2*len(of) >= len(numbers) &&
			!slices.ContainsFunc(numbers, func(name string) bool {
				k, _ := t.Column(name)
				return !slices.Contains(of, name) && holds(t, k, v)
			}) && !slices.ContainsFunc(t.Names, func(name string) bool {
			return !slices.Contains(of, name) && among(t, name, text, v)
		}) {
			made[i].Value = text
		}
	}
}

// among says whether a column has a number among its other values, or its text.
func among(t *dataset.Table, name, text string, v float64) bool {
	k, _ := t.Column(name)
	if texts := t.Texts(k); texts != nil {
		return slices.ContainsFunc(texts, func(other string) bool {
			return strings.EqualFold(other, text)
		})
	}
	less := false
	more := false
	for i := k; i < len(t.Values); i += len(t.Names) {
		less = less || t.Values[i] < v
		more = more || t.Values[i] > v
	}
	return less && more && holds(t, k, v)
}

// holds says whether column k has the number v.
func holds(t *dataset.Table, k int, v float64) bool {
	for i := k; i < len(t.Values); i += len(t.Names) {
		if t.Values[i] == v {
			return true
		}
	}
	return false
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

// someLeft returns the decisions without those that leave out columns with numbers, if no input
// would be left otherwise.
func someLeft(made []Decision, facts []ColumnFacts, inputs []string) []Decision {
	left := func(name string) bool {
		return slices.ContainsFunc(made, func(d Decision) bool {
			return d.Advice == Advice{"ignore", name}
		})
	}
	if !slices.ContainsFunc(inputs, func(name string) bool { return !left(name) }) {
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
	`student|pupil|teacher|school|class$|site|plot|block|batch|^lot$|farm|field|cluster|family|` +
	`litter|animal|^rat$|mouse|^dog|store|shop|hospital|clinic|centre|center|user|customer|client|` +
	`household|group|device|machine|sensor|station|specimen|sample|well|tree|worker|employee|team`)

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
	same := make([]bool, cols) // columns that are the same in all rows of each unit
	differ := make([]bool, cols)
	for k := range same {
		same[k] = k != at && t.Names[k] != target
	}
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
