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
	said := flat(runs(t, "fit", "two.csv", "--target", target, "--kernel", "se", "--quiet"))
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
