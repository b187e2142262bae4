package finding

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestWords shows that every kind of finding has an entry in words, and that words has no other entries.
func TestWords(t *testing.T) {
	f := must.Get(parser.ParseFile(token.NewFileSet(), "words.go", nil, 0))(t)
	kinds := 0
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if of, is := v, ok; !is || len(of.Values) != 1 {
			return true
		} else if name, is := of.Type.(*ast.Ident); is && name.Name == "Kind" {
			kinds++
			kind, err := strconv.Unquote(of.Values[0].(*ast.BasicLit).Value)
			if e := words[Kind(kind)]; err != nil || e.text == "" || e.severity != Note && e.severity != Warning {
				t.Errorf("%s has no words: %+v, %v", of.Names[0], e, err)
			}
		}
		return true
	})
	must.Hold(t, kinds == len(words), "%d kinds, words of %d", kinds, len(words))
}

// TestString: String writes findings in the right words. The examples contain every sort of place for a subject or
// number.
func TestString(t *testing.T) {
	const ofRange = " end of its range, 0.006738 to 148.4 in scaled units"
	many := strings.Fields("a b c d e f g h i j")
	for want, f := range map[string]Finding{
		"columns with the same value in every row, which teach the model nothing: \"a\", \"b\"": New(Constant, many[:2]),
		`some times name their time zone; krigo reads the other times as UTC, in the columns "a", "b", "c", "d", "e", "f", ` +
			`"g", "h" and 2 more`: New(SomeZones, many),
		"line 4: begins with \"Total\"; if this line is no row of the table, delete it": New(TotalRow, "line 4", "Total"),
		`numbers of "w" have different units, and krigo doesn't convert them: 3 without a unit, 12 with kg`: New(MixedUnits, "w",
			"", 3, "kg", 12),
		`the mean of target "y" (10,000,000) is more than a million standard deviations (0.5) from 0: subtract a constant ` +
			"to keep digits": New(FarTarget, "y", 10000001.5, 0.5),
		`fuel: 2 of 9 rows have a category that no prior row has; krigo treats it as "other": "a\nb"`: New(Unseen, "fuel", 2, 9,
			[]string{"a\nb"}),
		"the budget of 1m30s allowed 2 of 5 kernels; se and later kernels weren't tried": New(BudgetSpent,
			90*time.Second, 2, 5, "se"),
		"start 3 of se lies outside the objective's domain: not positive\\ndefinite": New(StartOutside, 3, "se",
			errors.New("not positive\ndefinite")),
		"the temper 0.5 gave the lowest bound of 0.5, 1, 2":                                                          New(Temper, 0.5, []float64{0.5, 1, 2}),
		"the posterior is free-form: its bound is 0.1235, and the bound of the objective's own posterior 0.2001":     New(FreeForm, 0.12341, 0.2),
		"krigo added 1.0e-08 to the diagonal of the inducing inputs' covariance matrix, so that it can be factored":  New(Jitter, 1e-8),
		"inducing inputs almost determine one another: rounding moves the log likelihood by at most about 0.02 nats": New(Rounding, 0.021),
		"training moved the variance in part 3.1 of the kernel to the lower" + ofRange: New(ParameterLow, "variance",
			[]string{}, "3.1", math.Exp(-5), math.Exp(5)),
		"of grids with 0 to 3 digits, the grid with 1 gave the lowest bound": New(Digits, 3, 1),
		"2 of 3 rows equal an earlier row in every cell, and were left out":  New(Dropped, 2, 3),
		"a sentence of 100 %, as older files have it": New(Text,
			"a sentence of 100 %, as older files have it"),
		"training moved the lengthscale of ZN, \"x.\\nAll is well. Yes\" to the upper" + ofRange + ": along these inputs " +
			"the function is nearly a straight line, or hardly changes": New(LengthscaleHigh, "lengthscale", []string{"ZN", "x.\nAll is well. Yes"}, "",
			math.Exp(-5), math.Exp(5)),
	} {
		must.Be(t, f.String(), want, fmt.Sprintf("%+v is", f))
	}
}

// TestForged: String lists a finding's contents on one line if there are no words for its kind, or if the words don't
// fit the contents.
func TestForged(t *testing.T) {
	for want, f := range map[string]Finding{
		"cold_start: a, \"b\\nWith 100 % confidence\"; 3, 0.25": {"cold_start", []string{"a", "b\nWith 100 % confidence"},
			[]float64{3, 0.25}},
		"\"\\x1b[2J\"":                     {Kind: "\x1b[2J"},
		"rows_repeated; 3":                 {Kind: Repeats, Numbers: []float64{3}},
		"constant_columns: a; 1e+300":      {Kind: Constant, Subject: []string{"a"}, Numbers: []float64{1e300}},
		"constant_columns: a; -1":          {Kind: Constant, Subject: []string{"a"}, Numbers: []float64{-1}},
		"objective_is_mean_of_batches: me": {Kind: MeanOfBatches, Subject: []string{"me"}},
	} {
		must.Be(t, f.String(), want, fmt.Sprintf("%+v is", f))
	}
	for kind := range words { // no content of a file makes String panic
		for subjects := range 4 {
			for numbers := range 6 {
				for _, v := range []float64{0, -1, 3, math.MaxFloat64, -math.MaxFloat64} {
					f := Finding{Kind: kind}
					for range subjects {
						f.Subject = append(f.Subject, "a\nb")
					}
					for range numbers {
						f.Numbers = append(f.Numbers, v)
					}
					if text := f.String(); text == "" || strings.ContainsAny(text, "\n\x1b") || strings.Contains(text, "%!") {
						t.Errorf("%+v is %q", f, text)
					}
				}
			}
		}
	}
}

// TestJSON: findings with any numbers survive JSON, and Tell adds the severity.
func TestJSON(t *testing.T) {
	all := List{New(Jitter, math.Inf(1)), New(Constant, []string{"a"})}
	text, err := json.Marshal(all)
	var back List
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	must.Hold(t, err == nil && reflect.DeepEqual(back, all), "%s, %v", text, err)
	const want = `[{"kind":"jitter","numbers":[1.7976931348623157e+308],"severity":"note"},` +
		`{"kind":"constant_columns","subject":["a"],"numbers":[1],"severity":"warning"}]`
	if told, err := json.Marshal(all.Tell()); err != nil || string(told) != want {
		t.Errorf("%s, %v", told, err)
	}
}
