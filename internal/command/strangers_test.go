package command

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

var (
	tableCount  = flag.Int("tables", 100, "TestInspectRuns: the number of messy tables that are drawn")
	tableFolder = flag.String("folder", "", "TestInspectRuns: a folder with further tables")
)

// messyColumn returns a name and the cells of a column as strangers' tables have them. b is its hidden number in a row.
func messyColumn(rng *rand.Rand, k, rows int) (name string, cell func(i int, b float64) string) {
	name = fmt.Sprintf("%s%d", []string{"a", "Temp ", "price, net", "b=", "größe"}[rng.IntN(5)], k)
	letters := []string{"red", "green", "blue", "oil, old", "Öl", "NA ", "other", "0", "Red", "it's", "-", "<b>"}
	rng.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
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
		func(i int, b float64) string { return []string{fmt.Sprintf("%.2f", b), "-999"}[i%9/8] },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.2f", 20+b), "0"}[i%7/6] },
		func(i int, b float64) string { return fmt.Sprintf("%.2f", b) + map[bool]string{true: "e7"}[i == 5] },
		func(_ int, b float64) string { return fmt.Sprintf("%.1f%%", 10*b) },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.1f", b), "<0.1"}[i%8/7] },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.1f", b), "unknown"}[i%8/7] },
		func(i int, b float64) string { return map[bool]string{true: fmt.Sprintf("%.1f", b)}[i%23 == 3] },
		func(i int, _ float64) string { return fmt.Sprintf("%05d", 12345*(i%9)) },
		func(i int, _ float64) string { return fmt.Sprint(20240101 + i%28) },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.0f", 900+300*b), ">2000"}[i%11/10] },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.0f", 90+30*b), "255"}[i%6/5] },
		func(i int, _ float64) string { return fmt.Sprintf("c%03d", i*i%max(2, rows/3)) },
		func(i int, _ float64) string { return fmt.Sprintf("%08x-%04x", 2654435761*uint32(i+1), i*31) },
		func(i int, _ float64) string { return fmt.Sprint(1000 + i*7919%rows) },
		func(i int, _ float64) string { return []string{"same", ""}[i%10/9] },
		func(i int, _ float64) string { return []string{"same", "same", "unknown", "."}[i%4] },
		func(i int, _ float64) string { return fmt.Sprintf("2023-11-%02dT%02d:%02d:00Z", 1+i%28, i%24, i%60) },
		func(i int, _ float64) string { return fmt.Sprintf("%d-Q%d", 2015+i%9, 1+i%4) },
		func(i int, _ float64) string {
			return []string{"Jan", "May", "Sep"}[i%3] + fmt.Sprintf("-%02d", 10+i%14)
		},
		func(i int, _ float64) string { return fmt.Sprintf("%02d:%02d", i%24, i%60) },
		func(i int, b float64) string { return []string{"12-15", "16-20", "21+"}[min(2, int(math.Abs(2*b)))] },
		func(i int, b float64) string { return []string{"TRUE", "FALSE", "yes"}[min(2, int(math.Abs(b)))] },
		func(i int, b float64) string { return fmt.Sprintf("%.0f", math.Exp(9*b)) },
	}
	// columns about which a person has to say something
	asked := []func(i int, b float64) string{
		func(i int, b float64) string { return comma(fmt.Sprintf("%.2f", b)) },
		func(i int, _ float64) string { return fmt.Sprintf("%02d/%02d/24", 1+i%12, 1+i%11) },
		func(i int, _ float64) string { return fmt.Sprintf("0x%x", 997*i) },
		func(i int, b float64) string { return []string{fmt.Sprintf("%.1f", b), "oops"}[i%rows/(rows-1)] },
		func(i int, b float64) string {
			return []string{fmt.Sprintf("%.1fk", 3+b), fmt.Sprintf("%.0f", 950+b)}[i%2]
		},
		func(i int, b float64) string { return fmt.Sprintf("%s %.3f", []string{"N", "S", "E"}[i%3], 40+b) },
		func(i int, b float64) string { return fmt.Sprint([]float64{b, math.Inf(1)}[i%rows/(rows-1)]) },
		func(_ int, b float64) string { return fmt.Sprintf("%.1f kg", b) },
	}
	name = strings.TrimSpace(name)
	of := kinds[rng.IntN(len(kinds))]
	if rng.IntN(20) == 0 {
		of = asked[rng.IntN(len(asked))]
	}
	gaps := []float64{0, 0, 0.05, 0.4}[rng.IntN(4)]
	return name, func(i int, b float64) string {
		if rng.Float64() < gaps {
			return ""
		}
		return of(i, b)
	}
}

// messyTargets make a target's cell from its hidden number, which is normal or so.
var messyTargets = []func(i int, v float64) string{
	func(_ int, v float64) string { return []string{"no", "yes"}[min(1, int(math.Exp(v)))] },
	func(_ int, v float64) string { return []string{"u", "v", "w"}[min(2, int(math.Abs(2*v)))] },
	func(i int, v float64) string { return []string{fmt.Sprintf("%.3f", v), ""}[i%10/9] },
	func(i int, v float64) string { return []string{fmt.Sprintf("%.3f", v), "unknown"}[i%8/7] },
	func(i int, v float64) string { return []string{fmt.Sprintf("%.3f", v), "-999"}[i%8/7] },
	func(i int, v float64) string { return []string{fmt.Sprintf("%.0f", 900+500*v), ">2000"}[i%12/11] },
	func(_ int, v float64) string { return fmt.Sprint(min(1, int(math.Exp(v)))) },
	func(_ int, v float64) string { return fmt.Sprint(min(60, int(math.Exp(1.5+v/2)))) },
	func(_ int, v float64) string { return fmt.Sprintf("%.2f", math.Exp(3+2*v)) },
	func(_ int, v float64) string { return fmt.Sprintf("%.2f", max(0, v)) },
	func(_ int, v float64) string { return fmt.Sprintf("%.3f", 1/(1+math.Exp(-v))) },
	func(_ int, v float64) string {
		return fmt.Sprintf("$%.0f,%03.0f.50", 100+10*math.Abs(v), math.Abs(9*v))
	},
	func(i int, v float64) string { return fmt.Sprintf("%.1f", v) + map[bool]string{true: "e6"}[i == 4] },
	func(i int, _ float64) string { return []string{"4", "4", "5"}[min(2, i/6)] },
}

// messyTable returns a table in CSV, drawn from columns of all kinds, with the target y, and the way to read its header.
// It has from 8 to 159 rows, or some hundred. Rows of some tables come in groups, and names repeat in some.
func messyTable(seed uint64) (text string, header []string) {
	rng := rand.New(rand.NewPCG(seed, 47))
	rows := 40 + rng.IntN(120)
	switch rng.IntN(16) {
	case 0, 1, 2, 3:
		rows = 8 + rng.IntN(32)
	case 4:
		rows = 300 + rng.IntN(600)
	}
	names := []string{"y"}
	var cells []func(i int, b float64) string
	for k := range 1 + rng.IntN(6) {
		name, cell := messyColumn(rng, k, rows)
		if rng.IntN(30) == 0 {
			name = "again"
			header = []string{"--header", "unique"}
		}
		names = append(names, `"`+name+`"`)
		cells = append(cells, cell)
	}
	target := func(_ int, v float64) string { return fmt.Sprintf("%.3f", v) }
	if rng.IntN(3) > 0 {
		target = messyTargets[rng.IntN(len(messyTargets))]
	}
	units := 0
	if rng.IntN(5) == 0 {
		units = 2 + rng.IntN(rows/3)
		names = append(names, []string{"patient", "block"}[rng.IntN(2)])
	}
	bonus := make([]float64, units+1)
	for u := range bonus {
		bonus[u] = rng.NormFloat64()
	}
	text = strings.Join(names, ",") + "\n"
	for i := range rows {
		v := 0.1 * rng.NormFloat64()
		row := []string{""}
		for _, cell := range cells {
			b := rng.NormFloat64()
			v += math.Sin(b)
			row = append(row, `"`+cell(i, b)+`"`)
		}
		if units > 0 {
			v += bonus[i%units]
			row = append(row, fmt.Sprintf("P%d", i%units))
		}
		row[0] = `"` + target(i, v) + `"`
		text += strings.Join(row, ",") + "\n"
	}
	return text, header
}

// TestInspectRuns: on any table, the command that inspect prints last exits with 0. If inspect prints no command, it says what
// to settle first. krigo fit alone does the same, since both let the table decide.
func TestInspectRuns(t *testing.T) {
	folder := must.Get(filepath.Abs(*tableFolder))(t)
	t.Chdir(t.TempDir())
	tables := *tableCount
	if testing.Short() {
		tables = 15
	}
	none := 0
	for seed := range tables {
		name := fmt.Sprintf("t%d.csv", seed)
		text, header := messyTable(uint64(seed))
		write(t, name, text)
		if !inspectRuns(t, name, "y", text, header...) {
			none++
		}
	}
	must.Hold(t, none <= tables/2, "%d of %d tables have no command", none, tables)
	if *tableFolder == "" {
		return
	}
	targets := folderTargets(t, folder)
	for _, entry := range must.Get(os.ReadDir(folder))(t) {
		name := sample(t, filepath.Join(folder, entry.Name()))
		base, _, _ := strings.Cut(entry.Name(), ".")
		if name != "" && !strings.HasPrefix(base, "README") && base != "sets" {
			inspectRuns(t, name, targets[base], "")
		}
	}
}

// folderTargets returns the targets of tables by sets.csv, if the folder has this file.
func folderTargets(t *testing.T, folder string) map[string]string {
	t.Helper()
	targets := map[string]string{}
	f, err := os.Open(filepath.Join(folder, "sets.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return targets
	}
	must.Do(t, err)
	defer f.Close()
	sets := must.Get(csv.NewReader(f).ReadAll())(t)
	at := max(slices.Index(sets[0], "target"), slices.Index(sets[0], "label"))
	for _, set := range sets[1:] {
		targets[set[0]] = set[at]
	}
	return targets
}

// sampledRows limits the rows of a table that comes from a folder.
const sampledRows = 2000

// sample returns the path of a table, or of its rows, spaced evenly, if it is text of more than sampledRows lines.
func sample(t *testing.T, path string) string {
	t.Helper()
	if base, found := strings.CutSuffix(path, ".gz"); !strings.HasSuffix(base, ".csv") || !found {
		return path
	}
	packed := must.Get(os.ReadFile(path))(t)
	unpacked := must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)
	lines := strings.SplitAfter(string(must.Get(io.ReadAll(unpacked))(t)), "\n")
	every := max(1, len(lines)/sampledRows)
	text := lines[0]
	for i := 1; i < len(lines); i += every {
		text += lines[i]
	}
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	write(t, name, text)
	return name
}

// inspectRuns runs the command that inspect prints last for a table, and says whether it prints one.
// Without a target, it takes y or the last column of numbers. If text isn't "", it is the table's, and every row gets an answer.
func inspectRuns(t *testing.T, name, target, text string, header ...string) bool {
	t.Helper()
	var d inspectDocument
	if target == "" {
		o := call(t.Context(), "inspect", name, "--json")
		if o.status != 0 { // krigo says why a file can't be read, and what to do
			t.Logf("asks: %s: %s", name, o.stderr)
			return false
		}
		must.Do(t, json.Unmarshal([]byte(o.stdout), &d))
		for _, f := range d.Columns {
			if (f.Kind == "number" && target != "y") || f.Name == "y" || target == "" {
				target = f.Name
			}
		}
	}
	began := time.Now()
	ask := append([]string{"inspect", name, "--target", target, "--json"}, header...)
	o := call(t.Context(), ask...)
	must.Hold(t, o.status == 0, "%s: inspect: %s%.400s", name, o.stderr, text)
	if o.status != 0 {
		return false
	}
	must.Do(t, json.Unmarshal([]byte(o.stdout), &d))
	quick := []string{"--kernel", "se", "--ard", "off", "--quiet", "--out"}
	fit := slices.Concat([]string{"fit", name, "--target", target}, header, quick)
	alone := call(t.Context(), append(fit, "b.krigo")...)
	if d.Command == "" {
		must.Hold(t, d.First != nil, "%s: no command, and nothing to settle\n%.400s", name, text)
		t.Logf("asks: %s: %q: no command: %q; fit alone: %d %.200s", name, target, d.First, alone.status, alone.stderr)
		return false
	}
	o = call(t.Context(), append(append(shellWords(t, strings.TrimPrefix(d.Command, "krigo ")), quick...), "m.krigo")...)
	must.Hold(t, o.status == 0, "%s: %s: %s%.400s", name, d.Command, o.stderr, text)
	reads := strings.Contains(d.Command, "--units") || strings.Contains(d.Command, "--below") ||
		strings.Contains(d.Command, "--above") || strings.Contains(d.Command, "--decimal") ||
		strings.Contains(d.Command, "--thousands") || strings.Contains(alone.stderr, "column \"y\"")
	must.Hold(t, alone.status == 0 || reads, "%s: %s runs, and fit alone doesn't: %s", name, d.Command, alone.stderr)
	if alone.status == 0 && text != "" {
		predicted := runs(t, "predict", "b.krigo", name, "--quiet")
		must.Hold(t, strings.Count(predicted, "\n") == strings.Count(text, "\n"), "%s: %.200s", name, predicted)
	}
	t.Logf("ran: %s: %s (%.1f s)", name, d.Command, time.Since(began).Seconds())
	return true
}

// TestManyCategories: 300 categories of 1,200 rows are pooled partially. In a table of 4,000 rows they are left out, because
// training would take too long.
func TestManyCategories(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(11, 47))
	lines := []string{"zip,x,y\n"}
	var targets []float64
	effects := map[int]float64{}
	for k := range 300 {
		effects[k] = rng.NormFloat64()
	}
	for range 4000 {
		k := rng.IntN(300)
		x := rng.Float64()
		y := effects[k] + math.Sin(5*x) + 0.2*rng.NormFloat64()
		targets = append(targets, y)
		lines = append(lines, fmt.Sprintf("z%03d,%.4f,%.4f\n", k, x, y))
	}
	write(t, "few.csv", strings.Join(lines[:1201], ""))
	write(t, "many.csv", strings.Join(lines, ""))
	write(t, "test.csv", lines[0]+strings.Join(lines[3801:], ""))
	for name, ends := range map[string]string{"few.csv": "--categorical zip", "many.csv": "--ignore zip"} {
		var d inspectDocument
		must.Do(t, json.Unmarshal([]byte(runs(t, "inspect", name, "--target", "y", "--json")), &d))
		must.Hold(t, strings.HasSuffix(d.Command, ends), "%s", d.Command)
	}
	runs(t, "fit", "few.csv", "--target", "y", "--kernel", "matern32", "--ard", "off", "--out", "m.krigo", "--quiet")
	predicted := must.Get(csv.NewReader(strings.NewReader(runs(t, "predict", "m.krigo", "test.csv"))).ReadAll())(t)
	var squares float64
	for i, row := range predicted[1:] {
		e := must.Get(strconv.ParseFloat(row[0], 64))(t) - targets[3800+i]
		squares += e * e / 200
	}
	must.Hold(t, squares < 0.3, "mean squared error %g, where leaving the categories out makes 1", squares)
}
