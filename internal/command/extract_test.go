package command

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestSeveralTargets fits, predicts, certifies and extracts several targets by commands.
func TestSeveralTargets(t *testing.T) {
	workplace(t)
	text := "x,a,\"b, EUR\"\n"
	for i := range 150 {
		x := float64(i%40) / 10
		b := fmt.Sprint(10 * math.Cos(x+float64(i)))
		if i%8 == 0 || i%40 < 3 {
			b = ""
		}
		text += fmt.Sprintf("%g,%g,%s\n", x+float64(i)/1e4, math.Sin(x)+float64(i%7)/40, b)
	}
	must.Do(t, os.WriteFile("two.csv", []byte(text), 0o600))
	target := `a,"b, EUR"`
	must.Be(t, strings.HasSuffix(runs(t, "inspect", "two.csv", "--target", target),
		"\nkrigo fit two.csv --target 'a,\"b, EUR\"'\n"), true)
	said := flat(runs(t, "fit", "two.csv", "--target", target, "--kernel", "se", "--quiet", "--verbose"))
	for _, words := range []string{"all of these hold together", "all at once", "Target a", "Target b, EUR",
		`27 of 150 rows of two.csv have no "b, EUR"`, "δ = 0.00333333 were"} {
		must.Be(t, strings.Contains(said, words), true, words, said)
	}
	// Only b is missing wherever x is near 0, so the notice about these rows names b.
	heard := call(t.Context(), "predict", "two.krigo", "two.csv").stderr
	must.Be(t, strings.Contains(heard, "b, EUR: 12 of 150 rows lie outside the range"), true, heard)
	said = runs(t, "predict", "two.krigo", "two.csv", "--keep", "x", "--intervals", "conformal", "--out", "p.csv",
		"--quiet")
	must.Be(t, said, "")
	rows := strings.SplitN(string(must.Get(os.ReadFile("p.csv"))(t)), "\n", 2)
	must.Be(t, strings.HasPrefix(rows[0], "x,mean_a,"), true, rows[0])
	must.Be(t, strings.HasSuffix(rows[0], `"conformal_lower_b, EUR","conformal_upper_b, EUR"`), true, rows[0])
	runs(t, "predict", "two.krigo", "two.csv", "--keep", "x", "--out", "p.csv", "--quiet") // over its own file
	must.Be(t, strings.Contains(runs(t, "predict", "two.krigo", "two.csv", "--json", "--quiet"), `{"targets":[{"target":"a"`),
		true)
	said = flat(runs(t, "certify", "two.krigo", "two.csv", "--quiet"))
	must.Be(t, strings.Count(said, "Reproduced: "), 2, said)
	runs(t, "extract", "two.krigo", "--target", "b, EUR", "--out", "b.krigo")
	must.Be(t, strings.Contains(runs(t, "certify", "b.krigo", "two.csv", "--quiet"), "Reproduced: "), true)
	runs(t, "fit", "two.csv", "--target", "b, EUR", "--kernel", "se", "--quiet", "--out", "one.krigo") // one column
	runs(t, "fit", "two.csv", "--target", target, "--dry-run", "--quiet")
	for _, c := range []struct{ words, line string }{
		{"krigo extract FILE --target NAME", "report two.krigo --out r.html"},
		{"only krigo fit takes several targets", "declare two.csv --target"},
		{"only krigo fit takes several targets", "compare two.csv --target"},
		{`no column "c" for the target`, "inspect two.csv --target a,c"},
		{"keeps no checkpoint", "fit two.csv --fresh-start --target"},
		{"are for the model of one target", "certify two.krigo two.csv --fresh"},
		{"no such target", "extract two.krigo --out c.krigo --target"},
	} {
		args := strings.Fields(c.line)
		if args[len(args)-1] == "--target" {
			args = append(args, target)
		}
		o := call(context.Background(), args...)
		must.Be(t, o.status > 0 && strings.Contains(flat(o.stderr), c.words), true, c.line, o.stderr)
	}
}

// TestClasses fits three and two classes, and goes through what commands make of them: labels and sets, certificates,
// fresh rows, outcomes, a report, and one class's own model.
func TestClasses(t *testing.T) {
	workplace(t)
	three, two := "x,kind\n", "x,kind\n"
	for i := range 180 {
		x := float64(i*7%180) / 60
		k := min(max(int(x+0.3*math.Sin(float64(i*i))), 0), 2)
		three += fmt.Sprintf("%g,%s\n", x, []string{"low", "\"mid, so\"", "up"}[k])
		two += fmt.Sprintf("%g,%s\n", x, []string{"low", "up", "up"}[k])
	}
	must.Do(t, os.WriteFile("three.csv", []byte(three), 0o600))
	must.Do(t, os.WriteFile("two.csv", []byte(two), 0o600))
	must.Do(t, os.WriteFile("new.csv", []byte("x,kind\n0.51,low\n1.52,\"mid, so\"\n2.53,low\n"), 0o600))
	for _, name := range []string{"three", "two"} {
		runs(t, "fit", name+".csv", "--target", "kind", "--kernel", "se", "--restarts", "1", "--quiet")
		out := runs(t, "predict", name+".krigo", "new.csv", "--keep", "x", "--intervals", "conformal", "--level", "0.9",
			"--quiet")
		must.Hold(t, strings.HasPrefix(out, "x,label,labels,probability_low,") &&
			strings.Contains(out, "\n0.51,low,low,"), "%s", out)
		out = runs(t, "predict", name+".krigo", "new.csv", "--intervals", "conformal", "--level", "0.9999", "--json",
			"--quiet")
		all := map[string]string{"three": `["low","mid, so","up"]`, "two": `["low","up"]`}[name]
		must.Hold(t, strings.Contains(out, `"sets":[`+all+","+all+","+all+"]"),
			"too few rows for this level: %s", out)
		must.Hold(t,
			!strings.Contains(runs(t, "predict", name+".krigo", "new.csv", "--json", "--quiet"), "sets"),
			"sets")
		for _, more := range []string{"--quiet", "--intervals=conformal", "--quiet"} { // over its own files
			runs(t, "predict", name+".krigo", "new.csv", "--out", "p.csv", more)
			runs(t, "predict", name+".krigo", "new.csv", "--out", "p.json", "--json", more)
		}
		runs(t, "certify", name+".krigo", name+".csv", "--quiet", "--no-refit")
		runs(t, "report", name+".krigo", name+".csv")
		must.Be(t, strings.Contains(read(t, name+".html"), "Answers only when sure"), true, name)
	}
	out := runs(t, "predict", "three.krigo", "new.csv", "--intervals", "conformal", "--level", "0.9999", "--quiet")
	must.Be(t, strings.Count(out, `,"low,""mid, so"",up",`), 3, out)
	said := flat(runs(t, "certify", "three.krigo", "new.csv", "--fresh"))
	must.Be(t, strings.Contains(said, "from 3 fresh rows: loss 0.3333 here"), true, said)
	said = flat(runs(t, "watch", "three.krigo", "new.csv"))
	must.Be(t, strings.HasPrefix(said, "3 outcomes, 1 got a wrong label (33.33 %)"), true, said)
	must.Be(t, strings.Contains(runs(t, "watch", "three.krigo", "new.csv", "--check"), "0 have another loss"), true)
	runs(t, "extract", "three.krigo", "--target", "kind=up", "--out", "up.krigo")
	said = runs(t, "predict", "up.krigo", "new.csv", "--quiet")
	must.Be(t, strings.HasPrefix(said, "label,probability_0,probability_1,") && strings.Contains(said, "\n1,"), true, said)
	for line, words := range map[string]string{
		"predict three.krigo new.csv --intervals band":                        "has conformal sets of labels alone",
		"predict two.krigo new.csv --intervals conformal,normalised":          "has conformal sets of labels alone",
		"predict three.krigo new.csv --intervals conformal --out p.npy":       "in CSV and JSON",
		"predict two.krigo new.csv --intervals conformal --out p.npy":         "in CSV and JSON",
		"predict three.krigo new.csv --samples 3":                             "no draws",
		"predict up.krigo new.csv --intervals conformal":                      "no scores for them",
		"declare three.csv --target kind":                                     "only krigo fit takes more than two classes",
		"fit two.csv --target kind --calibration-fraction 0.2 --out no.krigo": "calibration",
	} {
		o := call(t.Context(), strings.Fields(line)...)
		must.Be(t, o.status > 0 && strings.Contains(flat(o.stderr), words), true, line, o.stderr)
	}
}
