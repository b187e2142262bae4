package command

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// sheets writes a workbook with a table of rows on each named sheet.
func sheets(t *testing.T, file string, rows []string, names ...string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name, text string) { must.Get(must.Get(z.Create(name))(t).Write([]byte(text)))(t) }
	var book, links, cells string
	for i, row := range rows {
		cells += fmt.Sprintf(`<row r="%d">`, i+1)
		for _, cell := range strings.Split(row, ";") {
			cells += `<c t="inlineStr"><is><t>` + cell + `</t></is></c>`
		}
		cells += "</row>"
	}
	for i, name := range names {
		book += fmt.Sprintf(`<sheet name="%s" id="s%d"/>`, name, i)
		links += fmt.Sprintf(`<Relationship Id="s%d" Type="http://schemas/worksheet" Target="s%[1]d.xml"/>`, i)
		add(fmt.Sprintf("xl/s%d.xml", i), `<worksheet><sheetData>`+cells+`</sheetData></worksheet>`)
	}
	add("xl/workbook.xml", `<workbook><sheets>`+book+`</sheets></workbook>`)
	add("xl/_rels/workbook.xml.rels", `<Relationships>`+links+`</Relationships>`)
	must.Do(t, z.Close())
	write(t, file, b.String())
}

// TestReadingOfTheCall: a table is read as the model's table was, unless flags of the command say otherwise.
func TestReadingOfTheCall(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows []string
	for i := range 120 {
		x := float64(i*37%127) / 10
		rows = append(rows, fmt.Sprintf("%.2f;%.3f", x, 2*x+math.Sin(float64(i))/10))
	}
	text := strings.Join(rows, "\n") + "\n"
	write(t, "bare.csv", text)
	write(t, "titled.csv", "A title\n"+text)
	write(t, "comma.csv", "a;b\n"+strings.ReplaceAll(text, ".", ","))
	write(t, "point.csv", "a;b\n"+text)
	write(t, "limits.csv", "a;b\n4.5;>8.5\n"+text)
	write(t, "commas.csv", "a;b\n4,5;>8,5\n"+strings.ReplaceAll(text, ".", ","))
	sheets(t, "june.xlsx", append([]string{"a;b"}, rows...), "notes", "june")
	sheets(t, "july.xlsx", append([]string{"a;b"}, rows...), "notes", "july")
	for _, c := range []struct {
		fit, other []string
		refused    string // what commands say without the flags; "": they skip a row
	}{
		{[]string{"titled.csv", "--skip-rows", "1", "--header", "no", "--target", "c2"},
			[]string{"bare.csv", "--skip-rows", "0"}, ""},
		{[]string{"june.xlsx", "--sheet", "june", "--target", "b"}, []string{"july.xlsx", "--sheet", "july"},
			`no sheet "june"`},
		{[]string{"point.csv", "--target", "b"}, []string{"comma.csv", "--decimal", ","}, "not a number"},
		{[]string{"limits.csv", "--censored", "b", "--target", "b"}, []string{"commas.csv", "--decimal", ","}, "not a number"},
	} {
		runs(t, append([]string{"fit", "--kernel", "se", "--restarts", "1", "--out", "m.krigo", "--quiet"}, c.fit...)...)
		want := runs(t, "predict", "m.krigo", c.fit[0], "--quiet")
		for _, command := range [][]string{{"predict", "--level", "0.9"}, {"report", "--out", "m.html"},
			{"certify", "--refit"}, {"watch", "--ledger", "m.ledger"}, {"watch", "--ledger", "m.ledger", "--check"}} {
			call := func(table ...string) outcome {
				return call(t.Context(), slices.Concat(command[:1], []string{"m.krigo"}, table, command[1:])...)
			}
			if command[0] != "watch" {
				switch o := call(c.other[0]); {
				case c.refused != "":
					must.Hold(t, o.status != 0 && strings.Contains(o.stderr, c.refused),
						"%v %v: %+v", command, c.fit, o)
				case command[0] != "certify": // which refuses 119 rows for 120
					must.Hold(t, o.status == 0 &&
						strings.Contains(o.stderr, "--skip-rows 0 reads them"),
						"%v: %+v", command, o)
				}
			}
			o := call(c.other...)
			must.Hold(t, o.status == 0 && !strings.Contains(o.stderr, "skipped"),
				"%v %v: %+v", command, c.other, o)
			if command[0] == "predict" {
				must.Be(t, o.stdout, want, c.other[0])
			}
			if slices.Contains(command, "--check") {
				must.Hold(t, strings.Contains(o.stdout, " rows: 0 aren't in the ledger"), "%+v", o)
			}
		}
		must.Do(t, os.RemoveAll("m.ledger"))
	}
	// Predictions of another program, and labels.
	write(t, "other.csv", "Made elsewhere\ny;prediction\n"+strings.ReplaceAll(text, ".", ","))
	labels := "Made elsewhere\n"
	for i := range 60 {
		labels += []string{"cat,cat\n", "dog,dog\n", "cat,dog\n"}[min(2, i%5)]
	}
	write(t, "labels.csv", labels)
	runs(t, "certify", "--predictions", "other.csv", "--target", "y", "--epsilon", "9", "--skip-rows", "1", "--decimal", ",")
	runs(t, "certify", "--predictions", "labels.csv", "--target", "c1", "--prediction", "c2", "--skip-rows", "1",
		"--header", "no", "--out", "labels.json")
	for _, command := range []string{"report", "watch"} {
		runs(t, command, "labels.json", "labels.csv", "--skip-rows", "1", "--header", "no")
	}
}

// TestAdvisedFlags: whatever is wrong with a table, a message advises only flags that the command has.
func TestAdvisedFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := []string{"a;b;y"}
	for i := range 120 {
		x := float64(i*37%127) / 10
		rows = append(rows, fmt.Sprintf("%.2f;%d;%.3f", x, i%3, 2*x+math.Sin(float64(i))/10))
	}
	with := func(file, cell string) string {
		changed := append(slices.Clone(rows), fmt.Sprintf("%s;1;3", cell), fmt.Sprintf("2;1;%s", cell))
		write(t, file, strings.Join(changed, "\n")+"\n")
		return file
	}
	write(t, "t.csv", strings.Join(rows, "\n")+"\n")
	runs(t, "fit", "t.csv", "--target", "y", "--kernel", "se", "--restarts", "1", "--quiet")
	runs(t, "fit", "t.csv", "--target", "y", "--censored", "y", "--kernel", "se", "--restarts", "1", "--quiet", "--out",
		"limits.krigo")
	sheets(t, "two.xlsx", rows, "A", "B")
	sheets(t, "empty.xlsx", nil, "A", "B")
	write(t, "bare.csv", strings.Join(rows[1:], "\n")+"\n")
	write(t, "titled.csv", "A title\n"+strings.Join(rows, "\n")+"\n")
	write(t, "params.json", `{"kernel": {"name": "se", "variance": 1, "lengthscales": [1]}, "noise_variance": 0.1,
		"mean": {"constant": 0}}`)
	tables := []string{"two.xlsx", "empty.xlsx", "bare.csv", "titled.csv"}
	for i, cell := range []string{"1,5", "1.500,5", "1 500", "12 kg", "<0.1", "k.A.", "", "2024-01-31", "01/02/2024", "1e999",
		"1_000", "Inf", "'1'"} {
		tables = append(tables, with(fmt.Sprintf("t%d.csv", i), cell))
	}
	commands := [][]string{{"predict", "t.krigo"}, {"certify", "t.krigo"}, {"certify", "t.krigo", "--fresh"},
		{"watch", "t.krigo"}, {"report", "t.krigo"}, {"predict", "limits.krigo"}, {"certify", "limits.krigo", "--fresh"},
		{"report", "limits.krigo"},
		{"inspect"}, {"fit", "--target", "y", "--dry-run"}, {"declare", "--target", "y"},
		{"evaluate", "--target", "y", "--params", "params.json"}, {"compare", "--target", "y", "--splits", "1"},
		{"certify", "--target", "y", "--prediction", "a", "--epsilon", "1", "--predictions"},
		{"certify", "--target", "y", "--prediction", "a", "--predictions"}}
	flag := regexp.MustCompile(`--[a-z][a-z-]*`)
	advised := map[string]bool{}
	for _, command := range commands {
		cmd, _, err := newRoot().Find(command[:1])
		must.Do(t, err)
		for _, table := range tables {
			if command[0] == "compare" && table == "t6.csv" {
				continue // a table that it can compare on, for some seconds
			}
			o := call(t.Context(), append(slices.Clone(command), table)...)
			if o.status == 0 {
				continue
			}
			for _, name := range flag.FindAllString(o.stderr, -1) {
				advised[command[0]+" "+name] = true
				if cmd.Flag(strings.TrimPrefix(name, "--")) == nil {
					t.Errorf("%s %s advises %s:\n%s", strings.Join(command, " "), table, name, o.stderr)
				}
			}
		}
	}
	for _, want := range []string{"predict --sheet", "certify --sheet", "watch --sheet", "report --sheet", "fit --na"} {
		must.Hold(t, advised[want], "%s wasn't advised: %v", want, advised)
	}
}

// TestLongCells: a cell of a million characters is cut in messages and in JSON. As the name of a column, a category or a
// class it is refused.
func TestLongCells(t *testing.T) {
	if testing.Short() {
		t.Skip("cells of a million characters take a minute with the race detector")
	}
	t.Chdir(t.TempDir())
	long := strings.Repeat("q", 1_000_000)
	table := func(file, head string, cells func(i int, x float64) string) {
		text := head + "\n"
		for i := range 60 {
			text += cells(i, float64(i*37%61)/10) + "\n"
		}
		write(t, file, text)
	}
	table("text.csv", "a,b,y", func(i int, x float64) string {
		if i == 7 {
			return fmt.Sprintf("%s,%d,%.2f", long, i%3, x)
		}
		return fmt.Sprintf("%.2f,%d,%.2f", x, i%3, x)
	})
	table("head.csv", "a,"+long+",y", func(i int, x float64) string { return fmt.Sprintf("%.2f,%d,%.2f", x, i%3, x) })
	table("classes.csv", "a,b,y", func(i int, x float64) string {
		return fmt.Sprintf("%.2f,%s,%s", x, []string{"k", long}[i%2], []string{"lo", long}[i/30])
	})
	const refused = "has 1000000 characters, and a name has at most 1000"
	for _, c := range []struct{ command, want string }{
		{"inspect text.csv --json", ""}, {"inspect text.csv --target y", ""}, {"inspect classes.csv --target y --json", ""},
		{"fit text.csv --target y", `"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq…"`},
		{"inspect head.csv", refused}, {"fit head.csv --target y --json", refused},
		{"fit classes.csv --target y --ignore b --json", refused},
		{"fit classes.csv --target a --ignore y --categorical b --prior informed --kernel se --json", refused},
		{"certify --predictions classes.csv --target y --prediction b --json", refused},
		{"fit text.csv --target " + long, "no column"},
	} {
		o := call(t.Context(), strings.Fields(c.command)...)
		name := c.command[:min(40, len(c.command))]
		must.Hold(t, len(o.stdout)+len(o.stderr) <= 5000,
			"%s: %d bytes", name, len(o.stdout)+len(o.stderr))
		must.Hold(t, (o.status == 0) == (c.want == "") && strings.Contains(o.stderr, c.want),
			"%s: %.300s", name, o.stderr)
	}
	// What says how predictions come about is about numbers.
	table("two.csv", "a,b,y", func(i int, x float64) string {
		return fmt.Sprintf("%.2f,%d,%s", x, i%3, []string{"lo", "hi"}[min(1, int(x/3))])
	})
	runs(t, "fit", "two.csv", "--target", "y", "--kernel", "se", "--restarts", "1", "--quiet")
	o := call(t.Context(), "predict", "two.krigo", "two.csv", "--explain")
	must.Hold(t, o.status == 1 &&
		strings.Contains(o.stderr, "this model predicts the probabilities of classes"), "%+v", o)
}
