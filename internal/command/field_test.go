package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestFieldFits: predict and certify read a table as the fit did, whatever its kind. The numbers are those of the same
// table as plain CSV.
func TestFieldFits(t *testing.T) {
	parquet := must.Get(os.Getwd())(t) + "/../../dataset/parquet/testdata/"
	t.Chdir(t.TempDir())
	var a, x, y []string
	for i := range 150 {
		v := float64(i*37%151) / 15
		a, x = append(a, fmt.Sprint(i%4)), append(x, fmt.Sprintf("%.3f", v-5))
		y = append(y, fmt.Sprintf("%.4f", 3*math.Sin(v)+float64(i*17%13)/60))
	}
	rows := func(header, format string) string {
		text := header
		for i := range x {
			text += strings.NewReplacer("N", fmt.Sprint(i+1), "A", a[i], "X", x[i], "Y", y[i]).Replace(format)
		}
		return text
	}
	write(t, "plain.csv", rows("a,x,y\n", "A,X,Y\n"))
	write(t, "r.csv", rows("\"a\" \"x\" \"y\"\n", "\"N\" A X Y\n"))
	write(t, "remarks.csv", rows("# of 2024\na,x,y\n", "A,X,Y\n")+"# end\n")
	write(t, "cr.csv", strings.ReplaceAll(rows("a,x,y\n", "A,X,Y\n"), "\n", "\r"))
	write(t, "minus.csv", strings.NewReplacer("-", "\u2212", ",", ";").Replace(rows("a,x,y\n", "A,X,Y,\n")))
	write(t, "array.json", "["+strings.TrimSuffix(rows("", "{\"a\": A, \"x\": X, \"y\": Y, \"o\": {\"p\": [1]}},\n"), ",\n")+"]")
	write(t, "unique.csv", rows("a,y,y\n", "A,Y,X\n"))
	write(t, "two.csv", rows("a,x,y\nkg,m,s\n", "A,X,Y\n"))
	want := ""
	for _, c := range []struct {
		flags string
		same  bool // the same columns as in plain.csv
	}{
		{"plain.csv --target y", true}, {"r.csv --target y", true}, {"remarks.csv --target y", true},
		{"cr.csv --target y", true}, {"minus.csv --target y", true}, {"array.json --target y --ignore o", true},
		{"unique.csv --header unique --target y", false}, {"two.csv --header two --target y~s", false},
		{parquet + "p_list.parquet --target y --ignore l", false}, {parquet + "p_part --target y --categorical k", false},
	} {
		args := strings.Fields(c.flags)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		runs(t, append([]string{"fit", "--kernel", "se", "--restarts", "1", "--out", "m.krigo", "--quiet"}, args...)...)
		predicted := runs(t, "predict", "m.krigo", args[0], "--quiet")
		runs(t, "certify", "m.krigo", args[0], "--quiet")
		if want == "" {
			want = predicted
		}
		must.Hold(t, !c.same || predicted == want, "%s predicts otherwise", c.flags)
	}
	// A used column that can't be read is an error that names it. A fit alone and inspect's command leave it out.
	listed := runs(t, "fit", "array.json", "--target", "y", "--kernel", "se", "--out", "m.krigo", "--quiet")
	must.Hold(t, strings.Contains(listed, "Settled   o is left out: ") && strings.Contains(listed, "(150 rows from line 1)"), "%s",
		listed)
	o := call(t.Context(), "fit", "array.json", "--target", "y", "--out", "m.krigo", "--quiet", "--strict")
	must.Hold(t, o.status != 0 && strings.Contains(o.stderr, `"o" holds a list or an object`) &&
		strings.Contains(o.stderr, "--ignore o"), "%s", o.stderr)
	said := runs(t, "inspect", "array.json", "--target", "y")
	must.Hold(t, strings.Contains(said, "--target y --ignore o"), "%s", said)
}

// TestConstantTarget: of several targets, one whose values are all the same gets no model, and the others get theirs, at
// the δ that they would have had.
func TestConstantTarget(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "x,y,z,c\n"
	for i := range 160 {
		v := float64(i*37%161) / 16
		text += fmt.Sprintf("%.3f,%.4f,%.4f,4.5\n", v, math.Sin(v)+float64(i*17%13)/60, math.Cos(v)+float64(i*7%11)/60)
	}
	write(t, "t.csv", text)
	for _, targets := range []string{"y,c", "y,z,c"} {
		said := runs(t, "fit", "t.csv", "--target", targets, "--kernel", "se", "--restarts", "1", "--out", "m.krigo", "--quiet")
		parts := strings.Count(targets, ",") + 2
		must.Hold(t, strings.Contains(flat(said), `every value of target "c" is the same, so it has no model`) &&
			strings.Contains(flat(said), fmt.Sprintf("δ = %.6g", 0.01/float64(parts))),
			"%s", said)
		runs(t, "certify", "m.krigo", "t.csv", "--quiet")
		write(t, "new.csv", "x,z\n1,0\n2,1\n")
		runs(t, "predict", "m.krigo", "new.csv", "--quiet")
	}
	o := call(t.Context(), "fit", "t.csv", "--target", "c", "--out", "m.krigo", "--quiet")
	must.Hold(t, o.status != 0 && strings.Contains(o.stderr, "nothing to learn"), "%s", o.stderr)
}

// TestSlip: a slip of one input in 400 rows costs hardly anything, in prior rows or not.
func TestSlip(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(5, 9))
	text := "a,b,y\n"
	for i := range 400 {
		a, b := rng.Float64(), rng.Float64()
		y := 5*math.Sin(6*a) + 3*b + 0.2*rng.NormFloat64()
		if i == 10 {
			a = 1e6
		}
		text += fmt.Sprintf("%.4f,%.4f,%.4f\n", a, b, y)
	}
	write(t, "slip.csv", text)
	var d struct {
		Context  struct{ RMSE float64 }
		Findings []finding.Finding
	}
	said := runs(t, "fit", "slip.csv", "--target", "y", "--kernel", "se", "--quiet", "--json")
	must.Do(t, json.Unmarshal([]byte(said), &d))
	kinds := lists.Of(d.Findings, func(f finding.Finding) finding.Kind { return f.Kind })
	must.Hold(t, slices.Contains(kinds, finding.Slip), "%v", d.Findings)
	must.Hold(t, d.Context.RMSE < 0.3, "RMSE %g", d.Context.RMSE)
	runs(t, "certify", "slip.krigo", "slip.csv")
}

// TestLeakAlone: a fit alone names an input that is the target in another form, and looks at no row that certifies.
func TestLeakAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(5, 11))
	var rows [][3]float64
	for range 200 {
		a := rng.Float64()
		rows = append(rows, [3]float64{a, 0, math.Sin(6*a) + 0.3*rng.NormFloat64()})
	}
	const fit = "fit leak.csv --target y --kernel se --quiet --json"
	for _, copies := range []bool{false, true} {
		text := "a,log,y\n"
		for _, row := range rows {
			if row[1] = rng.Float64(); copies {
				row[1] = math.Log(5 + row[2])
			}
			text += fmt.Sprintf("%.6f,%.6f,%.6f\n", row[0], row[1], row[2])
		}
		write(t, "leak.csv", text)
		said := runs(t, strings.Fields(fit)...)
		must.Hold(t, strings.Contains(said, string(finding.Leak)) == copies, "%s", said)
	}
}

// TestBadRow: one new row whose prediction overflows, or whose date can't be read, takes no other row's answer. It is
// named, also with --quiet, and counts as outside. It is an error if no row can be predicted.
func TestBadRow(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(7, 12))
	text := "a,sold,y\n"
	for i := range 120 {
		a := 3 * rng.Float64()
		day := time.Unix(int64(i)*86400, 0).UTC().Format("2006-01-02")
		text += fmt.Sprintf("%.4f,%s,%.6g\n", a, day, math.Exp(4*a+0.3*rng.NormFloat64()))
	}
	write(t, "full.csv", text)
	write(t, "whole.csv", "a,sold\n1,1970-01-09\n2,1970-02-03\n")
	write(t, "far.csv", "a,sold\n1,1970-01-09\n1e200,1970-01-09\n2,1970-02-03\n")
	write(t, "dates.csv", "a,sold\n1,1970-01-09\n1,soon\n2,1970-02-03\n")
	write(t, "numbers.csv", "a,sold\n1,19700109\n1,19701331\n2,19700203\n")
	write(t, "years.csv", "a,sold\n1,1970-01-09\n1,2019\n2,1970-02-03\n")
	runs(t, "fit", "full.csv", "--target", "y", "--kernel", "linear", "--target-transform", "log", "--quiet")
	want := strings.Split(runs(t, "predict", "full.krigo", "whole.csv"), "\n")
	for file, notice := range map[string]string{
		"far.csv":   "1 of 3 rows have no prediction, the first in line 3: the prediction overflows",
		"dates.csv": `sold: 1 of 3 cells can't be read as numbers or dates (the first in line 3: "soon"), which the`,
		"numbers.csv": `sold: 1 of 3 cells can't be read as numbers or dates (the first in line 3: "19701331"), ` +
			"which the prior rows' mean fills",
		"years.csv": `sold: 1 of 3 cells can't be read as numbers or dates (the first in line 3: "2019"), which the`,
	} {
		o := call(t.Context(), "predict", "full.krigo", file, "--quiet", "--intervals", "conformal", "--samples", "1",
			"--explain")
		must.Hold(t, o.status == 0 && strings.Contains(o.stderr, notice), "%+v", o)
		o = call(t.Context(), "predict", "full.krigo", file, "--quiet")
		got := strings.Split(o.stdout, "\n")
		must.Hold(t, len(got) == 5 && got[1] == want[1] && got[3] == want[2], "%+v", o)
		must.Be(t, strings.Split(got[2], ",")[5], "1", file)
		must.Hold(t, (got[2] == ",,,,,1,,") == (file == "far.csv"), "%s", got[2])
		var d struct {
			Predictions []*model.Prediction
			Notices     []string
		}
		must.Do(t, json.Unmarshal([]byte(runs(t, "predict", "full.krigo", file, "--json")), &d))
		must.Hold(t, len(d.Predictions) == 3 && d.Predictions[0] != nil && strings.Contains(d.Notices[0], notice) &&
			(d.Predictions[1] == nil) == (file == "far.csv"), "%+v", d)
	}
	must.Hold(t, strings.Contains(runs(t, "predict", "full.krigo", "dates.csv", "--keep", "sold"), "\nsoon,"), "kept")
	write(t, "far.csv", "a,sold\n1e200,1970-01-09\n")
	write(t, "dates.csv", "a,sold\n1,soon\n1,never\n2,1970-02-03\n")
	write(t, "years.csv", "a,sold\n1,2019\n")
	for file, wrong := range map[string]string{"far.csv": "far.csv: line 2: the prediction overflows",
		"years.csv": `years.csv: line 2 (row 1), column 2 ("sold"): 2019 is no date such as 20240131`,
		"dates.csv": `dates.csv: line 2 (row 1), column 2 ("sold"): "soon" is not a date of the form ymd`} {
		o := call(t.Context(), "predict", "full.krigo", file)
		must.Hold(t, o.status == 1 && o.stdout == "" && strings.Contains(o.stderr, wrong), "%+v", o)
	}
}

// TestFilledTests: gaps and texts of test rows are filled, as those of rows to predict are, and named with their file.
func TestFilledTests(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(8, 12))
	rows := func(n int) (text string) {
		for range n {
			a := rng.Float64()
			text += fmt.Sprintf("%.4f,%.4f,%.4f\n", a, rng.Float64(), math.Sin(6*a)+0.1*rng.NormFloat64())
		}
		return text
	}
	write(t, "full.csv", "a,b,y\n"+rows(100))
	write(t, "test.csv", "a,b,y\n"+rows(20)+",.5,0\n.5,n.d.,0\n")
	fit := []string{"fit", "full.csv", "--target", "y", "--kernel", "se", "--test", "test.csv"}
	var d struct {
		Test    model.Test
		Notices []string
	}
	must.Do(t, json.Unmarshal([]byte(runs(t, append(fit, "--json", "--quiet")...)), &d))
	must.Be(t, d.Test.Rows, 22)
	said := strings.Join(d.Notices, "\n")
	for _, notice := range []string{"a misses 1 of 22 cells (the first in line 22 of test.csv), which the prior rows' mean fills",
		`b: 1 of 22 cells can't be read as numbers or dates (the first in line 23 of test.csv: "n.d.")`} {
		must.Hold(t, strings.Contains(said, notice), "%s", said)
	}
	o := call(t.Context(), append(fit, "--missing", "refuse")...)
	must.Hold(t, o.status == 1 && strings.Contains(o.stderr, `test.csv: line 22 (row 21), column 1 ("a"): the value is missing`),
		"%+v", o)
}

// TestNewGaps: a model of rows without gaps predicts rows that have some, or texts. The notice names column, count and line.
func TestNewGaps(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(5, 12))
	text := "a,k,y\n"
	for range 120 {
		a := rng.Float64()
		text += fmt.Sprintf("%.4f,%c,%.4f\n", a, 'p'+rune(rng.IntN(2)), math.Sin(6*a)+0.3*rng.NormFloat64())
	}
	write(t, "full.csv", text)
	write(t, "whole.csv", "a,k\n.2,p\n.4,q\n")
	write(t, "gaps.csv", "a,k\n.2,p\n,q\n.4,q\n.5,\n,p\n")
	runs(t, "fit", "full.csv", "--target", "y", "--kernel", "se", "--quiet")
	want := strings.Split(runs(t, "predict", "full.krigo", "whole.csv"), "\n")
	o := call(t.Context(), "predict", "full.krigo", "gaps.csv")
	got := strings.Split(o.stdout, "\n")
	must.Hold(t, o.status == 0 && len(got) == 7 && got[1] == want[1] && got[3] == want[2], "%+v", o)
	for _, notice := range []string{"a misses 2 of 5 cells (the first in line 3), which the prior rows' mean fills",
		`k misses 1 of 5 cells (the first in line 5), which count as "other"`} {
		must.Hold(t, strings.Contains(o.stderr, notice), "%s", o.stderr)
	}
	for row, cells := range got[1:6] {
		outside := strings.Split(cells, ",")[5]
		must.Hold(t, (outside == "0") == (row == 0 || row == 2), "row %d: %s", row, cells)
	}
	write(t, "texts.csv", "a,k\n.2,p\nn.d.,q\n.4,q\n.5,\n1e999,p\n")
	o = call(t.Context(), "predict", "full.krigo", "texts.csv", "--keep", "a")
	for row, cells := range strings.Split(o.stdout, "\n")[1:6] {
		_, predicted, _ := strings.Cut(cells, ",")
		must.Be(t, predicted, got[row+1]) // as a gap
	}
	must.Hold(t, strings.Contains(o.stdout, "n.d.,") && strings.Contains(o.stderr,
		`a: 2 of 5 cells can't be read as numbers or dates (the first in line 3: "n.d."), which the prior rows' mean fills`), "%+v", o)
	write(t, "some.csv", "a,k\n.2,p\nlow,q\n")
	write(t, "texts.csv", "a,k\n.2,p\nlow,q\nhigh,q\n")
	o = call(t.Context(), "predict", "full.krigo", "texts.csv")
	must.Hold(t, o.status != 0 && strings.Contains(o.stderr, `line 3 (row 2), column 1 ("a"): "low" is not a number`), "%+v", o)

	// Whoever refuses gaps at the fit refuses them later.
	runs(t, "fit", "full.csv", "--target", "y", "--kernel", "se", "--missing", "refuse", "--out", "strict.krigo", "--quiet")
	for _, file := range []string{"gaps.csv", "some.csv"} {
		o = call(t.Context(), "predict", "strict.krigo", file)
		must.Hold(t, o.status == 1 && o.stdout == "" && strings.Contains(o.stderr, `line 3 (row 2), column 1 ("a"): `), "%+v", o)
	}
	runs(t, "certify", "strict.krigo", "full.csv")
	write(t, "d.json", runs(t, "declare", "full.csv", "--target", "y", "--kernel", "se", "--missing", "refuse"))
	runs(t, "fit", "full.csv", "--declared", "d.json", "--out", "declared.krigo", "--quiet")
	must.Be(t, call(t.Context(), "predict", "declared.krigo", "gaps.csv").status, 1)

	// Texts are outside for a model that knows gaps, too.
	write(t, "some.csv", text+",p,1\n")
	runs(t, "fit", "some.csv", "--target", "y", "--kernel", "se", "--quiet")
	write(t, "texts.csv", "a,k\n.2,p\nn.d.,q\n,q\n")
	o = call(t.Context(), "predict", "some.krigo", "texts.csv", "--json")
	var d struct {
		Predictions []struct{ Mean, Outside float64 }
	}
	must.Do(t, json.Unmarshal([]byte(o.stdout), &d))
	of := d.Predictions
	must.Hold(t, of[1].Mean == of[2].Mean && of[0].Outside+of[2].Outside == 0 && of[1].Outside == 1 &&
		strings.Contains(o.stderr, "a: 1 of 3 cells can't be read"), "%+v", o)

	// A gap in a column that had none is outside, whatever other columns had.
	write(t, "some.csv", text+".5,,1\n")
	runs(t, "fit", "some.csv", "--target", "y", "--kernel", "se", "--quiet")
	o = call(t.Context(), "predict", "some.krigo", "gaps.csv", "--json")
	must.Do(t, json.Unmarshal([]byte(o.stdout), &d))
	of = d.Predictions
	must.Hold(t, of[0].Outside+of[3].Outside == 0 && of[1].Outside == 1 && of[4].Outside == 1 &&
		strings.Contains(o.stderr, "a misses 2 of 5 cells (the first in line 3)") &&
		!strings.Contains(o.stderr, "k misses"), "%+v", o)
	write(t, "tests.csv", "a,k,y\n.2,p,.9\n,q,.5\n.3,,1\n")
	said := runs(t, "fit", "some.csv", "--target", "y", "--test", "tests.csv", "--kernel", "se", "--quiet")
	must.Hold(t, strings.Contains(said, "a misses 1 of 3 cells") && !strings.Contains(said, "k misses 1 of 3"), "%s", said)
	runs(t, "certify", "some.krigo", "some.csv")
}

// TestTwoNumbers: a fit of 0 and 1 as numbers says which flag fits two classes.
func TestTwoNumbers(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(5, 13))
	text := "a,b,y\n"
	for range 150 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		text += fmt.Sprintf("%.3f,%.3f,%d\n", a, b, map[bool]int{true: 1}[a+rng.NormFloat64() > 0])
	}
	write(t, "two.csv", text)
	for noise, says := range map[string]bool{"": true, "probit": false, "constant": false} {
		said := runs(t, "fit", "two.csv", "--target", "y", "--kernel", "se", "--noise", noise, "--quiet", "--out", noise+"m.krigo")
		must.Hold(t, strings.Contains(strings.Join(strings.Fields(said), " "), "--noise probit fits two classes") == says,
			"noise %q: %s", noise, said)
	}
}

// TestLimitsOfBoth: the command that an error about limits of inputs prints runs if the target's cells are limits, too.
// A test row without a target isn't scored.
func TestLimitsOfBoth(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(9, 12))
	limited := func(v float64) string {
		if v < 0.2 {
			return "<0.2"
		}
		return fmt.Sprintf("%.4f", v)
	}
	text := "a,b,y\n"
	for range 120 {
		b := rng.Float64()
		text += fmt.Sprintf("%s,%.4f,%s\n", limited(rng.Float64()), b, limited(b+0.1*rng.NormFloat64()))
	}
	write(t, "both.csv", text)
	for _, more := range []string{"", " --censored y"} {
		o := call(t.Context(), strings.Fields("fit both.csv --target y --kernel se --quiet"+more)...)
		_, try, found := strings.Cut(o.stderr, "Try:  krigo ")
		must.Hold(t, found && strings.Contains(try, "--ignore a") && strings.Contains(o.stderr, "say --ignore a"), "%+v", o)
		runs(t, strings.Fields(try)...)
	}
	write(t, "full.csv", strings.ReplaceAll(text, "<", ""))
	write(t, "tests.csv", "a,b,y\n.5,.5,.5\n.5,.6,\n.4,.6,.5\n")
	said := runs(t, strings.Fields("fit full.csv --target y --kernel se --quiet --test tests.csv")...)
	must.Hold(t, strings.Contains(said, `1 of 3 rows of tests.csv have no "y", and aren't scored`), "%s", said)
}
