package inspect

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/must"
)

// tableOf reads a table of 120 rows from texts of its columns, by row.
func tableOf(t *testing.T, names []string, row func(i int) []string) *dataset.Table {
	t.Helper()
	text := strings.Join(names, ",") + "\n"
	for i := range 120 {
		text += strings.Join(row(i), ",") + "\n"
	}
	return must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv"}.Read())(t)
}

// TestSettle: inputs decide what they are, one column at a time. Nothing is decided where a person must choose.
func TestSettle(t *testing.T) {
	num := func(i int) string { return fmt.Sprintf("%.3f", math.Sin(float64(i))) }
	either := func(every int, a string, b func(i int) string) func(i int) string {
		return func(i int) string {
			if i%every == 0 {
				return a
			}
			return b(i)
		}
	}
	count := func(i int) string { return fmt.Sprint(i + 1) }
	for _, c := range []struct {
		name, column string
		cell         func(i int) string
		want         string
	}{
		{"numbers", "a", num, ""},
		{"numbers of rows", "rownames", count, "ignore a"},
		{"numbers of rows in R", "X", count, "ignore a"},
		{"time counts up", "day", count, ""},
		{"an input counts up", "x", count, ""},
		{"keys", "id", func(i int) string { return fmt.Sprint(i * 7919 % 100003) }, "ignore a"},
		{"names", "who", func(i int) string { return fmt.Sprintf("n%d", i%100) }, "ignore a"},
		{"addresses", "home", func(i int) string { return fmt.Sprintf("%d %c. Center St", 10+i, 'A'+i%26) }, "ignore a"},
		{"constants", "unit", func(int) string { return "7" }, "ignore a"},
		{"hardly any values", "rare", func(i int) string { return map[bool]string{true: "5"}[i%40 == 0] }, "ignore a"},
		{"categories", "kind", func(i int) string { return []string{"p", "q"}[i%2] }, "categorical a"},
		{"dates", "when", func(i int) string { return fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28) }, "dates a"},
		{"two readings of a date", "when", func(i int) string { return fmt.Sprintf("%02d/%02d/2024", 1+i%12, 1+i%11) }, ""},
		{"hexadecimal numbers", "code", func(i int) string { return fmt.Sprintf("0x%x", 997*i) }, ""},
		{"durations", "long", func(i int) string { return fmt.Sprintf("PT%dM%dS", i, i%60) }, ""},
		{"coordinates", "at", func(i int) string { return fmt.Sprintf("N%d.%d", i, i%7) }, ""},
		{"two units", "views", func(i int) string { return map[bool]string{true: "5.3k", false: fmt.Sprint(i)}[i%2 == 0] }, ""},
		{"gaps", "a", either(5, "", num), "missing indicator"},
		{"words among numbers", "a", either(5, "unknown", num), "na a=unknown"},
		{"grades among numbers", "a", func(i int) string { return []string{"low", "high", num(i)}[i%3] }, "categorical a"},
		{"a text among numbers", "a", either(5, "K", num), ""},
		{"one text in all rows", "a", func(int) string { return "same" }, "ignore a"},
		{"a sentinel", "a", either(9, "255", num), ""},
		{"zero far from all", "a", either(9, "0", func(i int) string { return fmt.Sprintf("%.2f", 60+20*math.Sin(float64(i))) }),
			""},
		{"zero among others", "a", either(9, "0", num), ""},
		{"doses", "a", func(i int) string { return fmt.Sprint(math.Pow(2, float64(i%12))) }, ""},
		{"a slip", "a", either(120, "5e6", num), ""},
		{"a slip among pressures", "a", either(120, "101325000", func(i int) string { return fmt.Sprintf("%.3f", 101325+math.Sin(float64(i))) }),
			""},
		{"a slip among dates", "a", either(120, "2202-01-01",
			func(i int) string { return fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28) }), "dates a"},
	} {
		apart := map[string]bool{"a sentinel": true, "zero far from all": true, "a slip": true, "a slip among dates": true,
			"a slip among pressures": true}
		table := tableOf(t, []string{"b", c.column, "y"}, func(i int) []string { return []string{num(3 * i), c.cell(i), num(i)} })
		made, told, err := Settle(table, Undecided{Inputs: []string{"b", c.column}, Targets: []string{"y"}})
		must.Do(t, err)
		got := strings.Join(lists.Of(made, func(d Decision) string {
			must.Hold(t, d.Found.Settles() && d.Found.Severity() == finding.Note, "%s: %s", c.name, d.Found)
			return d.Flag + " " + strings.Replace(d.Value, c.column, "a", 1)
		}), ",")
		must.Hold(t, got == c.want && (told != nil) == apart[c.name], "%s: %s, want %s (%v)", c.name,
			got, c.want, told)
		if said, _, _ := Settle(table, Undecided{Inputs: []string{"b", c.column}, Said: []string{c.column},
			Missing: dataset.Refuse}); said != nil {
			t.Errorf("%s: %v, although the user has said what it is", c.name, said)
		}
	}
}

// TestSettleOthers: at least one input stays, a number that most inputs have for missing values has that meaning in the
// whole table, and what lies far away in the target is told and not decided.
func TestSettleOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	num := func() string { return fmt.Sprintf("%.3f", rng.NormFloat64()) }
	table := tableOf(t, []string{"id", "y"}, func(i int) []string { return []string{fmt.Sprint(i), num()} })
	made, _, err := Settle(table, Undecided{Inputs: []string{"id"}, Targets: []string{"y"}})
	must.Hold(t, err == nil && len(made) == 0, "%v, %v", made, err)

	table = tableOf(t, []string{"a", "b", "y"}, func(i int) []string {
		row := []string{num(), num(), num()}
		row[i%3] = map[bool]string{true: "-200", false: row[i%3]}[i%4 == 0]
		return row
	})
	made, told, err := Settle(table, Undecided{Inputs: []string{"a", "b"}, Targets: []string{"y"}})
	must.Hold(t, err == nil && len(made) == 0 && len(told) == 3, "%v, %v, %v", made, told, err)
	must.Hold(t, told[2].Kind == finding.Sentinel && strings.Contains(told[2].String(), "say --na y=-200"), "%v", told)
	read := must.Get(table.Further([]string{"-200"}, nil))(t)
	must.Hold(t, !slices.Contains(read.Values, -200) && slices.Contains(table.Values, -200), "%v", read.Values)

	table = tableOf(t, []string{"a", "y"}, func(i int) []string {
		return []string{num(), map[bool]string{true: "6e7", false: num()}[i == 37]}
	})
	_, told, err = Settle(table, Undecided{Inputs: []string{"a"}, Targets: []string{"y"}})
	must.Hold(t, err == nil && len(told) == 1 && told[0].Kind == finding.Slip && told[0].Severity() == finding.Warning &&
		strings.Contains(told[0].String(), `"y" is 6e+07 in 1 cell, but`) && strings.Contains(told[0].String(), "line 39"),
		"%v, %v", told, err)

	// the slips at one end are told at once, whatever their numbers
	far := map[int]string{90: "5e6", 7: "7e6", 30: "6e6"}
	table = tableOf(t, []string{"a", "b", "y"}, func(i int) []string {
		below := num()
		if v, slips := far[i+2]; slips {
			below = "-" + v
		}
		return []string{cmp.Or(far[i], num()), below, cmp.Or(far[i+1], num())}
	})
	_, told, err = Settle(table, Undecided{Inputs: []string{"a", "b"}, Targets: []string{"y"}})
	must.Hold(t, err == nil && len(told) == 3, "%v, %v", told, err)
	for k, want := range []string{`"a" is 5e+06 to 7e+06 in 3 cells, but`, `"b" is -7e+06 to -5e+06 in 3 cells, but`,
		`"y" is 5e+06 to 7e+06 in 3 cells, but`} {
		said := told[k].String()
		must.Hold(t, strings.HasPrefix(said, want) && strings.Contains(said, "(first in line "+[]string{"9", "7", "8"}[k]+")") &&
			strings.Contains(said, []string{"=>", "=<-", "=>"}[k]), "%s", said)
	}
}

// TestLone: heavy tails have no slips, and a value that repeats where others lie close isn't taken for a gap.
func TestLone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	said := 0
	for range 200 {
		var heavy, inflated, normal []spot
		for i := range 300 {
			heavy = append(heavy, spot{math.Exp(2 * rng.NormFloat64()), i})
			inflated = append(inflated, spot{max(0, rng.NormFloat64()), i})
			normal = append(normal, spot{rng.NormFloat64(), i})
		}
		said += len(loneOf(heavy)) + len(loneOf(inflated)) + len(loneOf(normal))
	}
	must.Hold(t, said == 0, "%d values of 600 columns stand apart", said)
	both := []spot{{-999, 0}, {-999, 1}, {-999, 2}, {-999, 3}, {-999, 4}, {1e9, 5}}
	for i := range 100 {
		both = append(both, spot{rng.Float64(), 6 + i})
	}
	found := loneOf(both)
	must.Hold(t, len(found) == 2 && found[0].v == 1e9 && !found[0].sentinel && found[0].first == 5 &&
		found[1].v == -999 && found[1].sentinel && found[1].rows == 5 && found[1].low > 0 && found[1].high < 1,
		"%+v", found)
}

// TestLeaks: inputs that are made from the target are named, and inputs that it is made from aren't left out.
func TestLeaks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	table := tableOf(t, []string{"area", "rounded", "size", "noise", "y"}, func(int) []string {
		v := 10 * rng.Float64()
		return []string{fmt.Sprint(v), fmt.Sprint(math.Round(v)), map[bool]string{true: "large", false: "small"}[v > 4],
			fmt.Sprint(rng.IntN(5)), fmt.Sprint(1500 * v)}
	})
	facts := must.Get(Describe(table))(t)
	found := Judge(table, facts, "y")
	must.Be(t, fmt.Sprint(lists.Of(slices.Concat(found.Of(finding.Leak), found.Of(finding.Derived)),
		func(f finding.Finding) string { return f.Subject[0] })), "[area rounded size]")
	must.Hold(t, facts[0].Advice == nil && facts[1].Advice == nil, "%v", facts)
}

// TestIsGroup: a column names units if its name says so, if all have equally many rows, or if another column is the same
// in all rows of each. A value that rows have in common isn't a unit.
func TestIsGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	price := map[string]string{}
	table := tableOf(t, []string{"patient", "plan", "firm", "town", "price", "y"}, func(i int) []string {
		firm := fmt.Sprint("f", rng.IntN(20))
		price[firm] = fmt.Sprint(len(firm) + int(firm[len(firm)-1]))
		return []string{fmt.Sprint(rng.IntN(30)), fmt.Sprint(i % 12), firm, price[firm], fmt.Sprint(rng.IntN(40)), fmt.Sprint(i)}
	})
	for column, want := range map[string]bool{"patient": true, "plan": true, "firm": true, "price": false, "none": false} {
		must.Hold(t, IsGroup(table, column, "y") == want, "%s: want %t", column, want)
	}
}

// TestUnits: texts, or numbers with the name of a unit, that repeat a few times may name units. Counts of students don't.
func TestUnits(t *testing.T) {
	num := func(i int) string { return fmt.Sprintf("%.3f", math.Sin(float64(i))) }
	unit := func(format string, few int) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, 100+i%few) }
	}
	for _, c := range []struct {
		column string
		cell   func(i int) string
		want   bool
	}{
		{"who", unit("P%d", 24), true}, {"who", unit("P%d", 3), false}, {"patient", unit("%d", 24), true},
		{"cls_students", unit("%d", 24), false}, {"temperature", unit("%d", 24), false}, {"patient", unit("%d", 120), false},
		{"when", func(i int) string { return fmt.Sprintf("2024-01-%02d", 1+i%24) }, false}, {"patient", num, false},
	} {
		table := tableOf(t, []string{"b", c.column, "y"}, func(i int) []string { return []string{num(3 * i), c.cell(i), num(i)} })
		for _, grouped := range []bool{false, true} {
			_, told, err := Settle(table, Undecided{Inputs: []string{"b", c.column}, Targets: []string{"y"}, Grouped: grouped})
			must.Do(t, err)
			found := told.Of(finding.MayGroup)
			must.Hold(t, (found != nil) == (c.want && !grouped), "%s: %v", c.column, told)
			must.Hold(t, found == nil || strings.Contains(found[0].String(), "say --group "+c.column), "%v", found)
		}
	}
}

// TestSaysHow: decisions about dates name the row that decides their order, and gaps of categories aren't filled by means.
func TestSaysHow(t *testing.T) {
	table := tableOf(t, []string{"when", "kind", "a", "y"}, func(i int) []string {
		day := map[bool]int{true: 17, false: 1 + i%12}[i == 30]
		return []string{fmt.Sprintf("%02d/%02d/2024", day, 1+i%11), []string{"p", "q", ""}[i%3],
			map[bool]string{true: fmt.Sprint(i % 7)}[i%5 > 0], fmt.Sprint(i * i % 31)}
	})
	made, _, err := Settle(table, Undecided{Inputs: []string{"when", "kind", "a"}, Targets: []string{"y"}})
	must.Do(t, err)
	said := strings.Join(lists.Of(made, func(d Decision) string { return d.Found.String() }), "\n")
	for _, part := range []string{`the day is first, as line 32 shows with "17/09/2024"`,
		`kind misses 40 of 120 cells (the first in line 4), which count as "other"`,
		`a misses 24 of 120 cells (the first in line 2), which the prior rows' mean fills`} {
		must.Hold(t, strings.Contains(said, part), "%q isn't in %s", part, said)
	}
}
