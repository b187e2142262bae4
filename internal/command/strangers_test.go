package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// messyColumn returns a name and the cells of a column as strangers' tables have them. b is its hidden number in a row.
func messyColumn(rng *rand.Rand, k, rows int) (name string, cell func(i int, b float64) string) {
	name = fmt.Sprintf("%s%d", []string{"a", "Temp ", "price, net", "b=", "größe"}[rng.IntN(5)], k)
	letters := []string{"red", "green", "blue", "oil, old", "Öl", "NA ", "other", "0"}
	some := 2 + rng.IntN(len(letters)-2)
	number := func(_ int, b float64) string { return fmt.Sprintf("%.3f", b) }
	kinds := []func(i int, b float64) string{
		number, number,
		func(_ int, b float64) string { return fmt.Sprintf("%.0f", 10*b) },
		func(_ int, b float64) string { return letters[min(some-1, int(math.Abs(2*b)))] },
		func(i int, _ float64) string { return fmt.Sprint(i + 1) },
		func(i int, _ float64) string { return fmt.Sprintf("K-%04d", i*7%rows) },
		func(i int, _ float64) string { return fmt.Sprintf("%d %c Street", 10+i, 'A'+i%26) },
		func(int, float64) string { return "7" },
		func(int, float64) string { return "" },
		func(i int, _ float64) string { return fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28) },
		func(i int, _ float64) string { return fmt.Sprintf("%02d.%02d.2023", 1+i%28, 1+i%12) },
		func(i int, _ float64) string { return fmt.Sprintf("%02d/%02d/24", 1+i%12, 1+i%11) },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.2f", b), "-999"}[i%9/8] },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.2f", 20+b), "0"}[i%7/6] },
		func(i int, b float64) string { return fmt.Sprintf("%.2f", b) + map[bool]string{true: "e7"}[i == 5] },
		func(_ int, b float64) string { return fmt.Sprintf("%.1f kg", b) },
		func(_ int, b float64) string { return fmt.Sprintf("%.1f%%", 10*b) },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.1f", b), "<0.1"}[i%8/7] },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.1f", b), "unknown"}[i%8/7] },
		func(i int, b float64) string { return map[bool]string{true: fmt.Sprintf("%.1f", b)}[i%23 == 3] },
		func(i int, _ float64) string { return fmt.Sprintf("0x%x", 997*i) },
		func(i int, _ float64) string { return fmt.Sprintf("%05d", 12345*(i%9)) },
		func(i int, _ float64) string { return fmt.Sprint(20240101 + i%28) },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.1f", b), "oops"}[i%rows/(rows-1)] },
	}
	name = strings.TrimSpace(name)
	of := kinds[rng.IntN(len(kinds))]
	gaps := []float64{0, 0, 0.05, 0.4}[rng.IntN(4)]
	return name, func(i int, b float64) string {
		if rng.Float64() < gaps {
			return ""
		}
		return of(i, b)
	}
}

// messyTable returns a table in CSV, drawn from columns of all kinds, with the target y.
func messyTable(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 47))
	rows := 40 + rng.IntN(120)
	names := []string{"y"}
	var cells []func(i int, b float64) string
	for k := range 1 + rng.IntN(6) {
		name, cell := messyColumn(rng, k, rows)
		names = append(names, `"`+name+`"`)
		cells = append(cells, cell)
	}
	classes := rng.IntN(6)
	text := strings.Join(names, ",") + "\n"
	for i := range rows {
		sum := 0.1 * rng.NormFloat64()
		row := []string{""}
		for _, cell := range cells {
			b := rng.NormFloat64()
			sum += math.Sin(b)
			row = append(row, `"`+cell(i, b)+`"`)
		}
		row[0] = fmt.Sprintf("%.3f", sum)
		switch {
		case classes == 0:
			row[0] = map[bool]string{true: "yes", false: "no"}[sum > 0]
		case classes == 1:
			row[0] = []string{"u", "v", "w"}[min(2, int(math.Abs(2*sum)))]
		case classes == 2 && i%10 == 0:
			row[0] = ""
		}
		text += strings.Join(row, ",") + "\n"
	}
	return text
}

// TestInspectRuns: on any table, the command that inspect prints last exits with 0. If inspect prints no command, it says what
// to settle first. krigo fit alone does the same, since both let the table decide.
func TestInspectRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	tables := 100
	if testing.Short() {
		tables = 15
	}
	none := 0
	for seed := range tables {
		name := fmt.Sprintf("t%d.csv", seed)
		text := messyTable(uint64(seed))
		write(t, name, text)
		var d inspectDocument
		must.Do(t, json.Unmarshal([]byte(runs(t, "inspect", name, "--target", "y", "--json")), &d))
		alone := call(t.Context(), "fit", name, "--target", "y", "--kernel", "se", "--ard", "off", "--quiet", "--out", "b.krigo")
		if d.Command == "" {
			none++
			must.Hold(t, d.First != nil, "%s: no command, and nothing to settle\n%.400s", name, text)
			continue
		}
		o := call(t.Context(), append(shellWords(t, strings.TrimPrefix(d.Command, "krigo ")), "--kernel", "se", "--ard", "off",
			"--quiet", "--out", "m.krigo")...)
		must.Hold(t, o.status == 0, "%s: %s: %s%.400s", name, d.Command, o.stderr, text)
		reads := strings.Contains(d.Command, "--units") || strings.Contains(d.Command, "--below") ||
			strings.Contains(d.Command, "--decimal") || strings.Contains(d.Command, "--thousands")
		must.Hold(t, alone.status == 0 || reads, "%s: %s runs, and fit alone doesn't: %s", name, d.Command, alone.stderr)
		if !strings.Contains(d.Command, "--group") && alone.status == 0 {
			predicted := runs(t, "predict", "b.krigo", name, "--quiet")
			must.Hold(t, strings.Count(predicted, "\n") == strings.Count(text, "\n"), "%s: %.200s", name, predicted)
		}
	}
	must.Hold(t, none < tables/2, "%d of %d tables have no command", none, tables)
}
