package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestDoctor: inspect names each oddity of a table with its rows. The command that it suggests settles the oddity, or
// inspect says what to settle first. Each table here has one oddity.
func TestDoctor(t *testing.T) {
	t.Chdir(t.TempDir())
	type doctored struct {
		name, header string
		cells        func(i int) string      // the cells before x and y
		y            func(y float64) float64 // the target
		last         []string
		kind, say    string // the finding's kind, and a part of its text
		command      string // the flags after "krigo fit NAME --target y"
		first        string // what inspect says to settle first
	}
	of := func(every int, odd, format string, v func(i int) float64) func(i int) string {
		return func(i int) string {
			if i%every == every/2 {
				return odd
			}
			return fmt.Sprintf(format, v(i))
		}
	}
	among := func(texts ...string) func(i int) string { return func(i int) string { return texts[7*i%len(texts)] } }
	tenth := func(i int) float64 { return 0.3 + float64(37*i%83)/10 }
	wide := func(i int) float64 { return float64(37*i%83)*3000 - 50000 }
	whole := func(i int) float64 { return float64(37 * i % 83) }
	for _, c := range []doctored{
		{name: "none", header: "a", cells: of(1000, "", "%.4g", tenth)},
		{name: "few99", header: "a", cells: of(9, "99", "%.0f", func(i int) float64 { return whole(i) * 2 })},
		{name: "prices", header: "a", cells: of(1000, "", "%.0f", func(i int) float64 { return 1.9e6 + 1e3*whole(i) })},
		{name: "months", header: "a", cells: of(1000, "", "%02.0f", func(i int) float64 { return 1 + float64(i%12) })},
		{name: "twice", header: "a", cells: of(1000, "", "%.4g", tenth), last: []string{"0.3,ROW"}, kind: "rows_repeated",
			say: "2 of 62 rows", first: "whether the rows that repeat others are copies (--duplicates drop)"},
		{name: "nines", header: "a", cells: of(9, "-999", "%.4g", tenth), kind: "sentinel",
			say:     `"a" is -999 in 7 cells, but lies between 0.3 and 8.3 in all others (first in line 6)`,
			command: " --na -999 --missing indicator"},
		{name: "nines2", header: "a,b", cells: func(i int) string {
			return of(9, "999", "%.4g", tenth)(i) + "," + of(9, "999", "%.0f", wide)(i)
		}, kind: "sentinel", say: "say --na a=999", command: " --na a=999 --missing indicator"},
		{name: "born", header: "a", cells: of(9, "1900-01-01", "%.0f-03-04", func(i int) float64 { return 1960 + whole(i)/2 }),
			kind: "sentinel", say: "\"a\" is 1900-01-01 in 7 cells", command: " --na 1900-01-01 --dates a --missing indicator"},
		{name: "limits", header: "a", cells: of(9, "<0.1", "%.4g", tenth), command: " --below half"},
		{name: "ymd", header: "a", cells: func(i int) string { return fmt.Sprintf("2023%02d%02d", 1+i%12, 1+i%28) },
			kind: "dates_as_numbers", say: `the 60 numbers of "a" are dates as 20230101, from line 2 on`, command: " --dates a"},
		{name: "unix", header: "a", cells: of(1000, "", "%.0f", func(i int) float64 { return 1.7e9 + 3600*whole(i) }),
			kind: "dates_as_numbers", say: "seconds since 1970", command: " --dates a"},
		{name: "zip", header: "a", cells: among("02139", "10001", "90210"), kind: "numbers_as_codes",
			say: `20 numbers of "a" begin with 0, the first in line 2, so they seem to be codes of 5 digits`, command: " --categorical a"},
		{name: "blank", header: "a", cells: of(1000, "", "%.4g", tenth), last: []string{",,", ",,"}, kind: "blank_rows",
			say: "2 rows are blank, the first in line 62", first: "the rows that seem to be none"},
		{name: "total", header: "a", cells: among("North", "East", "South", "West", "Total"), kind: "rows_of_totals",
			say: `12 rows have "Total" in column "a", the first in line`, command: " --categorical a",
			first: "the rows that seem to be none"},
		{name: "spelt", header: "a", cells: among("North", "north ", "South"), kind: "categories_alike",
			say: `20 rows of "a", the first in line 3`, command: " --categorical a", first: "column a"},
		{name: "likert", header: "a", cells: among("agree", "Strongly agree", "Neutral", "Disagree"),
			kind: "ordered_categories", say: `in this order: "Disagree", "Neutral", "agree", "Strongly agree"`,
			command: " --categorical a"},
		{name: "id", header: "customer_id", cells: of(1000, "", "%.0f", func(i int) float64 { return 7e4 + 5*whole(i) }),
			kind: "numbers_of_rows", say: `the 60 whole numbers of "customer_id" are all different, from line 2 on`,
			command: " --ignore customer_id"},
		{name: "leak", header: "a", kind: "like_the_target", say: "in 60 rows, from line 2 on",
			first: "whether a is known before the target (if not, say --ignore a)"},
		{name: "capped", y: func(y float64) float64 { return min(y, 3) }, kind: "target_capped", say: "its largest value"},
		{name: "zeroone", y: func(y float64) float64 { return math.Round(1 / (1 + math.Exp(-y))) },
			kind: "target_of_two_values", say: "of 60 rows, the first in line"},
		{name: "counts", y: func(y float64) float64 { return math.Floor(math.Exp(y / 2)) }, kind: "target_of_counts",
			say: "it is at most 5"},
		{name: "skewed", y: math.Exp, kind: "target_skewed", say: "above three times its median"},
	} {
		rng := rand.New(rand.NewPCG(3, 5))
		lines := []string{strings.TrimPrefix(c.header+",x,y", ",")}
		for i := range 60 {
			x := rng.NormFloat64()
			y := 2*x + rng.NormFloat64()
			if c.y != nil {
				y = c.y(y)
			}
			row := fmt.Sprintf("%.4f,%.4g", x, y)
			switch {
			case c.name == "leak":
				row = fmt.Sprintf("%.6g,", 32+1.8*y) + row
			case c.cells != nil:
				row = c.cells(i) + "," + row
			}
			lines = append(lines, row)
		}
		if c.name == "twice" {
			c.last = lines[3:5]
		}
		name := c.name + ".csv"
		write(t, name, strings.Join(append(lines, c.last...), "\n")+"\n")
		var d inspectDocument
		must.Do(t, json.Unmarshal([]byte(runs(t, "inspect", name, "--target", "y", "--json")), &d))
		var kinds []string
		for _, f := range d.Findings {
			kinds = append(kinds, string(f.Kind))
		}
		if i := slices.Index(kinds, c.kind); c.kind != "" && (i < 0 || !strings.Contains(d.Remarks[i], c.say)) ||
			c.kind == "" && kinds != nil || d.Command != "krigo fit "+name+" --target y"+c.command ||
			strings.Join(d.First, ";") != c.first {
			t.Errorf("%s: %v\n%s\nto be settled %q\n%q", name, kinds, d.Command, d.First, d.Remarks)
		}
		runs(t, append(shellWords(t, strings.TrimPrefix(d.Command, "krigo ")), "--quiet", "--dry-run")...)
	}
}
