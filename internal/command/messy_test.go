package command

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/must"
)

// messy is a table as people have them, with the flags that a person has to choose.
type messy struct {
	name   string
	ending string
	text   func(rng *rand.Rand, i int) string // the text of line i; line 0 is the header
	say    []string
}

// line joins cells.
func line(cells ...string) string { return strings.Join(cells, ",") + "\n" }

func num(v float64, digits int) string { return fmt.Sprintf("%.*f", digits, v) }

func comma(s string) string { return strings.ReplaceAll(s, ".", ",") }

// dots writes a number as 1.234.567,89.
func dots(v float64) string {
	whole, fraction, _ := strings.Cut(num(v, 2), ".")
	for k := len(whole) - 3; k > 0; k -= 3 {
		whole = whole[:k] + "." + whole[k:]
	}
	return whole + "," + fraction
}

// rows returns the text function of a table with x, a number from 1 to 9, and y, which is 3x plus noise.
func rows(header string, row func(i int, x, y float64) string) func(rng *rand.Rand, i int) string {
	return func(rng *rand.Rand, i int) string {
		if i == 0 {
			return header
		}
		x := 1 + 8*rng.Float64()
		return row(i, x, 3*x+0.3*rng.NormFloat64())
	}
}

var messyTables = []messy{
	{name: "text column", text: rows("x,fuel,y\n", func(i int, x, y float64) string {
		return line(num(x, 2), []string{"gas", "oil", "wood"}[i%3], num(y, 2))
	})},
	{name: "ISO dates", text: rows("when,x,y\n", func(i int, x, y float64) string {
		return line(fmt.Sprintf("2023-%02d-%02d", 1+i%12, 1+i%28), num(x, 2), num(y, 2))
	})},
	{name: "German dates and times", text: rows("wann;x;y\n", func(i int, x, y float64) string {
		return fmt.Sprintf("%d.%d.2023 %02d:30;%s;%s\n", 1+i%28, 1+i%12, i%24, num(x, 2), num(y, 2))
	})},
	{name: "dates with the month in words", text: rows("when,x,y\n", func(i int, x, y float64) string {
		return line(fmt.Sprintf("%d %s 2021", 1+i%28, []string{"Jan", "Feb", "Mar"}[i%3]), num(x, 2), num(y, 2))
	})},
	{name: "dates of either order", say: []string{"--dates", "when:dmy"},
		text: rows("when,x,y\n", func(i int, x, y float64) string {
			return line(fmt.Sprintf("%02d/%02d/2023", 1+i%12, 1+i%11), num(x, 2), num(y, 2))
		})},
	{name: "decimal commas", text: rows("x;y\n", func(_ int, x, y float64) string {
		return comma(num(x, 2)) + ";" + comma(num(y, 2)) + "\n"
	})},
	{name: "decimal commas, points between thousands",
		text: rows("x;y\n", func(_ int, x, y float64) string { return dots(1000*x) + ";" + dots(1e6*y) + "\n" })},
	{name: "quoted thousands", say: []string{"--thousands", ","}, text: rows("x,y\n", func(_ int, x, y float64) string {
		return fmt.Sprintf("\"%d,%03d\",%s\n", int(x), int(1000*x)%1000, num(y, 3))
	})},
	{name: "spaces between thousands", text: rows("x;y\n", func(_ int, x, y float64) string {
		return fmt.Sprintf("%d\u00a0%03d;%s\n", int(x), int(1000*x)%1000, num(y, 3))
	})},
	{name: "units behind numbers", text: rows("weight,y\n",
		func(_ int, x, y float64) string { return line(num(x, 2)+" kg", num(y, 2)) })},
	{name: "currency before numbers", text: rows("x,price\n",
		func(_ int, x, y float64) string { return line(num(x, 2), "€ "+num(y, 2)) })},
	{name: "percent", text: rows("share,y\n", func(_ int, x, y float64) string { return line(num(x, 1)+"%", num(y, 2)) })},
	{name: "names of rows", text: rows("id,x,y\n",
		func(i int, x, y float64) string { return line(fmt.Sprintf("HX-%05d", i), num(x, 2), num(y, 2)) })},
	{name: "index of pandas", text: rows(",x,y\n",
		func(i int, x, y float64) string { return line(fmt.Sprint(i-1), num(x, 2), num(y, 2)) })},
	{name: "gaps", text: rows("x,z,y\n", func(i int, x, y float64) string {
		return line(num(x, 2), []string{"1", "", "3", "NA"}[i%4], num(y, 2))
	})},
	{name: "gaps that say so in German", text: rows("x,z,y\n", func(i int, x, y float64) string {
		return line(num(x, 2), []string{"1", "k.A.", "3", "-"}[i%4], num(y, 2))
	})},
	{name: "byte order mark and CRLF", text: rows("\ufeffx,y\r\n",
		func(_ int, x, y float64) string { return num(x, 2) + "," + num(y, 2) + "\r\n" })},
	{name: "repeated rows", text: rows("x,y\n",
		func(_ int, x, y float64) string { return strings.Repeat(line(num(x, 2), num(y, 2)), 2) })},
	{name: "constant and empty columns", text: rows("site,x,note,y\n",
		func(_ int, x, y float64) string { return line("7", num(x, 2), "", num(y, 2)) })},
	{name: "names with spaces, quotes and commas",
		text: rows("\"size, m²\",\"the \"\"kind\"\"\",y\n", func(i int, x, y float64) string {
			return line(num(x, 2), []string{"a", "b"}[i%2], num(y, 2))
		})},
	{name: "tabs", ending: ".tsv", text: rows("x\ty\n", func(_ int, x, y float64) string {
		return num(x, 2) + "\t" + num(y, 2) + "\n"
	})},
	{name: "gzip", ending: ".csv.gz", text: rows("x,y\n",
		func(_ int, x, y float64) string { return line(num(x, 2), num(y, 2)) })},
	{name: "blank lines and spaces", text: rows("x , y\n\n", func(i int, x, y float64) string {
		return " " + num(x, 2) + " , " + num(y, 2) + "\n" + strings.Repeat("\n", i%2)
	})},
	{name: "yes and no", text: rows("x,heated,y\n", func(i int, x, y float64) string {
		return line(num(x, 2), []string{"yes", "no"}[i%2], num(y, 2))
	})},
	{name: "nanoseconds since 1970", text: rows("t,x,y\n", func(i int, x, y float64) string {
		return line(fmt.Sprint(1_700_000_000_000_000_000+int64(i%7)*1_000_000_007), num(x, 2), num(y, 2))
	})},
	{name: "points between thousands of some", text: rows("x;z;y\n", func(i int, x, y float64) string {
		if i%2 == 0 {
			return fmt.Sprintf("%d;%s;%s\n", int(100*x), comma(num(x, 2)), comma(num(y, 2)))
		}
		return fmt.Sprintf("%d.%03d;%s;%s\n", int(x), 100+i, comma(num(x, 2)), comma(num(y, 2)))
	})},
	{name: "errors of a spreadsheet", text: rows("x,z,y\n", func(i int, x, y float64) string {
		return line(num(x, 2), []string{"#DIV/0!", num(x, 1), num(y, 1), "1", "2"}[i%5], num(y, 2))
	})},
	{name: "dates of a spreadsheet", text: rows("when,x,y\n", func(i int, x, y float64) string {
		return line(fmt.Sprintf("%02d-%s-24", 1+i%28, []string{"Jan", "Feb", "Mar"}[i%3]), num(x, 2), num(y, 2))
	})},
	{name: "weeks", text: rows("when,x,y\n",
		func(i int, x, y float64) string { return line(fmt.Sprintf("2022-W%02d", 1+i%52), num(x, 2), num(y, 2)) })},
	{name: "midnight at the end of the day", text: rows("when,x,y\n", func(i int, x, y float64) string {
		return line(fmt.Sprintf("%02d.%02d.2024 24:00", 1+i%28, 1+i%12), num(x, 2), num(y, 2))
	})},
	{name: "shuffled index of pandas", text: rows(",x,kind,y\n", func(i int, x, y float64) string {
		return line(fmt.Sprint(7*i%150), num(x, 2), []string{"a", "b"}[i%2], num(y, 2))
	})},
	{name: "a spreadsheet's separator, on every line",
		text: rows("sep=;\r\nx;y;\r\n", func(_ int, x, y float64) string {
			return comma(num(x, 2)) + ";" + comma(num(y, 2)) + ";\r\n"
		})},
	{name: "all of it", text: func(rng *rand.Rand, i int) string {
		if i == 0 {
			return ";Nr.;Verkauft am;Heizung;Fläche;Preis;Bemerkung\r\n"
		}
		x := 30 + 170*rng.Float64()
		area := comma(num(x, 1)) + " m²"
		if i%40 == 7 {
			area = "k.A."
		}
		return fmt.Sprintf("%d;H%04d;%02d.%02d.2021;%s;%s;%s;\r\n", i-1, i, 1+i%28, 1+i%12, []string{"Gas", "Öl"}[i%2], area,
			dots(2000*x+9000*rng.NormFloat64()))
	}},
}

// TestMessyTables: two commands make a report from each table: the command that the first try suggests, and report.
func TestMessyTables(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many models")
	}
	must.Need(t, len(messyTables) >= 25, "%d tables", len(messyTables))
	for k, m := range messyTables {
		t.Run(m.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			rng := rand.New(rand.NewPCG(7, uint64(k)))
			var text bytes.Buffer
			for i := range 151 {
				text.WriteString(m.text(rng, i))
			}
			file := "table" + m.ending
			if m.ending == "" {
				file += ".csv"
			}
			raw := text.Bytes()
			if strings.HasSuffix(file, ".gz") {
				var zipped bytes.Buffer
				z := gzip.NewWriter(&zipped)
				z.Write(raw)
				z.Close()
				raw = zipped.Bytes()
			}
			must.Do(t, os.WriteFile(file, raw, 0o600))
			target := "y"
			switch m.name {
			case "currency before numbers":
				target = "price"
			case "all of it":
				target = "Preis"
			}
			args := append([]string{"fit", file, "--target", target, "--quiet", "--kernel", "se"}, m.say...)
			o := call(t.Context(), args...)
			if o.status != 0 {
				_, try, found := strings.Cut(o.stderr, "Try:  krigo ")
				must.Need(t, found, "nothing is suggested: %s", o.stderr)
				if o = call(t.Context(), shellWords(t, try)...); o.status != 0 {
					t.Fatalf("%s: status %d: %s", try, o.status, o.stderr)
				}
			}
			runs(t, "report", "table.krigo", file, "--quiet")
			runs(t, "certify", "table.krigo", file, "--quiet")
			if page, err := os.ReadFile("table.html"); err != nil || len(page) < 1000 {
				t.Errorf("a report of %d bytes, %v", len(page), err)
			}
			// The bound is small, which shows that krigo read the cells correctly.
			loaded := must.Get(krigo.Load("table.krigo"))(t)
			if c := loaded.Certificate; c == nil || c.Bound > 0.35 {
				t.Errorf("certificate %+v", c)
			}
		})
	}
}

// shellWords splits a command line of plain words and words in single quotes.
func shellWords(t *testing.T, text string) (words []string) {
	t.Helper()
	var word strings.Builder
	quoted, any := false, false
	for _, c := range strings.TrimSpace(text) + " " {
		switch {
		case c == '\'':
			quoted, any = !quoted, true
		case !quoted && c == ' ':
			if any {
				words = append(words, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(c)
			any = true
		}
	}
	must.Need(t, !quoted, "a quote isn't closed: %s", text)
	return words
}

// TestReadingIsKept: every command reads tables for a model as fit read the model's own table, and writes kept columns
// beside the predictions.
func TestReadingIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(3, 4))
	german, plain := "id;when;x;fuel;y\n", "id,when,x,fuel,y\n"
	for i := range 80 {
		x := rng.Float64()
		y := 5*x + 0.1*rng.NormFloat64()
		fuel := []string{"gas", "oil"}[i%2]
		german += fmt.Sprintf("H%d;%02d.%02d.2023;%s;%s;%s\n", i, 1+i%28, 1+i%12, comma(num(x, 4)), fuel, comma(num(y, 4)))
		plain += fmt.Sprintf("H%d,2023-%02d-%02d,%.4f,%s,%.4f\n", i, 1+i%12, 1+i%28, x, fuel, y)
	}
	write(t, "german.csv", german)
	write(t, "plain.csv", plain)
	flags := []string{"--target", "y", "--prior", "informed", "--ignore", "i*", "--categorical", "fuel", "--dates",
		"when:year", "--quiet"}
	runs(t, append([]string{"fit", "german.csv", "--decimal", ",", "--na", "k.A."}, flags...)...)
	runs(t, append([]string{"fit", "plain.csv"}, flags...)...)
	predicted := runs(t, "predict", "german.krigo", "german.csv", "--keep", "id,when,fuel", "--quiet")
	if other := runs(t, "predict", "plain.krigo", "plain.csv", "--keep", "id,when,fuel", "--quiet"); other != predicted {
		t.Error("the same numbers, written otherwise, have other predictions")
	}
	records, err := csv.NewReader(strings.NewReader(predicted)).ReadAll()
	if err != nil || len(records) != 81 || !slices.Equal(records[1][:3], []string{"H0", "2023-01-01", "gas"}) {
		t.Errorf("kept %q, %v", records[1], err)
	}
	for _, name := range []string{"kept.csv", "kept.csv.gz", "kept.csv.zst"} {
		runs(t, "predict", "german.krigo", "german.csv", "--keep", "id", "--quiet", "--out", name)
		read, err := files.ReadFile(name, dataset.Reading{})
		if err != nil || read.Rows != 80 || read.Names[0] != "id" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		read.Close()
	}
	var document struct {
		Kept map[string][]string `json:"kept"`
	}
	if err := json.Unmarshal([]byte(runs(t, "predict", "german.krigo", "german.csv", "--keep", "id", "--quiet", "--json")),
		&document); err != nil || len(document.Kept["id"]) != 80 || document.Kept["id"][2] != "H2" {
		t.Errorf("kept %v, %v", document.Kept, err)
	}
	// How cells are read can tell the model the targets: it is the fitter's word, by name.
	if _, word, _ := strings.Cut(runs(t, "certify", "german.krigo", "german.csv", "--quiet"),
		"Taken on the fitter's word"); !strings.Contains(flat(word),
		`how cells are read (decimal ","; missing values also "k.A."; dates "when") were chosen`) {
		t.Error(word)
	}
	runs(t, "certify", "german.krigo", "german.csv", "--refit", "--quiet")
	write(t, "new.csv", "when;x;fuel\n01.02.2023;0,5;pellets\n01.02.2023;0,5;gas\n")
	if o := call(t.Context(), "predict", "german.krigo", "new.csv"); o.status != 0 || !strings.Contains(o.stderr,
		`fuel: 1 of 2 rows have a category that no prior row has; krigo treats it as "other": "pellets"`) {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
	write(t, "wrong.csv", "when;x;fuel\n2023-02-01;0,5;gas\n")
	if o := call(t.Context(), "predict", "german.krigo", "wrong.csv"); o.status != 1 ||
		!strings.Contains(o.stderr, `"2023-02-01" is not a date of the form dmy`) {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
	write(t, "declared.json", runs(t, append([]string{"declare", "german.csv", "--decimal", ","},
		flags[:len(flags)-1]...)...))
	runs(t, "fit", "german.csv", "--declared", "declared.json", "--out", "declared.krigo", "--quiet")
	runs(t, "certify", "declared.krigo", "german.csv", "--declaration", "declared.json", "--quiet")
}

// TestDuplicates: with --duplicates drop, repeated rows are left out. With group, a row and its copies count once.
func TestDuplicates(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(5, 6))
	text := "x,y\n"
	for range 60 {
		x := rng.Float64()
		text += strings.Repeat(fmt.Sprintf("%.4f,%.4f\n", x, 5*x+0.1*rng.NormFloat64()), 1+rng.IntN(3))
	}
	write(t, "d.csv", text)
	for _, c := range []struct {
		how          string
		rows, groups int
	}{{"drop", 60, 60}, {"group", strings.Count(text, "\n") - 1, 60}} {
		runs(t, "fit", "d.csv", "--target", "y", "--prior", "informed", "--duplicates", c.how, "--quiet")
		m := must.Get(krigo.Load("d.krigo"))(t)
		if m.Counts.Sum() != c.rows || m.Groups.Sum() != c.groups {
			t.Errorf("%s: %d rows in %d groups", c.how, m.Counts.Sum(), m.Groups.Sum())
		}
		runs(t, "certify", "d.krigo", "d.csv", "--quiet")
		if lines := strings.Count(runs(t, "predict", "d.krigo", "d.csv", "--quiet"), "\n"); lines != strings.Count(text,
			"\n") {
			t.Errorf("%s: %d lines of predictions", c.how, lines)
		}
	}
	if o := call(t.Context(), "fit", "d.csv", "--target", "y", "--duplicates", "group", "--group", "x"); o.status != 2 ||
		!strings.Contains(o.stderr, "exclude each other") {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
}

// TestInspect: inspect describes the columns of a table, and suggests a command that fits it.
func TestInspect(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	of := messyTables[len(messyTables)-1]
	for i := range 61 {
		text.WriteString(of.text(rng, i))
	}
	write(t, "t.csv", text.String())
	want := "krigo fit t.csv --target Preis --decimal , --units 'm²' --na k.A. --thousands . --ignore Nr.,Bemerkung " +
		"--categorical Heizung --dates 'Verkauft am' --missing indicator\n"
	if got := runs(t, "inspect", "t.csv", "--target", "Preis", "--decimal", ","); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant at its end %s", got, want)
	}
	var d inspectDocument
	must.Do(t, json.Unmarshal([]byte(runs(t, "inspect", "t.csv", "--json")), &d))
	var kinds []string
	for _, f := range d.Columns {
		kinds = append(kinds, f.Kind)
	}
	if want := []string{"index", "identifier", "date", "category", "number", "number", "empty"}; !slices.Equal(kinds,
		want) || d.Rows != 60 {
		t.Errorf("%d rows, %q", d.Rows, kinds)
	}
	if strings.Contains(runs(t, "inspect", "t.csv", "--target", "Preis", "--decimal", ","), "Settle first") {
		t.Error("what was said is asked for")
	}
	if o := call(t.Context(), "inspect", "t.csv", "--target", "Pries"); o.status != 1 ||
		!strings.Contains(o.stderr, `did you mean "Preis"?`) {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
}

// TestInspectSettles: the last line of inspect is a fit that runs, if inspect prints a fit. The lines above it say what must be
// settled first.
func TestInspectSettles(t *testing.T) {
	t.Chdir(t.TempDir())
	table := func(header string, row func(i int) string, last ...string) (text string) {
		text = header + "\n"
		for i := range 60 {
			text += row(i) + "\n"
		}
		return text + strings.Join(last, "\n")
	}
	plain := func(i int) string { return fmt.Sprintf("%d,%d", 7*i%31, 14*i%62+i%3) }
	for name, c := range map[string]struct{ text, target, first, say string }{
		"plain.csv": {text: table("x,y", plain)},
		"-f.csv":    {text: table("x,y", plain), say: "krigo fit ./-f.csv --target y"},
		"totals.csv": {text: table("x,y", plain, "Summe,1900"), first: "the rows that seem to be none",
			say: `line 62: begins with "Summe"`},
		"remark.csv": {text: table("x,y", plain, "# exported by Bob,7"), first: "the rows that seem to be none"},
		"repeated.csv": {text: table("x,y", plain, "x,y", "1,2", ""), first: "the rows that seem to be none",
			say: "line 62: the header is repeated"},
		"ambiguous.csv": {text: table("when,x,y",
			func(i int) string { return fmt.Sprintf("%02d/%02d/2024,%s", 1+i%12, 1+i%11, plain(i)) }), first: "column when"},
		"limits.csv": {text: table("v,x,y", func(i int) string {
			return []string{"<10", "11", "12.5", "14"}[i%4] + "," + plain(i)
		}), first: "whether x is known before the target", say: `v: numbers, 15 of 60 below a limit of detection, as "<10", which can be read as half the limit (first ` +
			`in line 2); say --below half`},
		"words.csv": {text: table("x,y,kind", func(i int) string { return plain(i) + "," + []string{"a", "b"}[i%2] }),
			target: "kind", say: "krigo predicts the probabilities of its classes"},
		"kinds.csv": {text: table("x,y,kind",
			func(i int) string { return plain(i) + "," + []string{"a", "b", "c"}[i%3] }),
			target: "kind", say: "krigo predicts the probabilities of its classes"},
		"names.csv": {text: table("x,y,name", func(i int) string { return fmt.Sprintf("%s,n%d", plain(i), i) }),
			target: "name", first: "column name", say: "only numbers and classes are predicted"},
		"gaps.csv": {text: table("x,y", plain, "3,", ""), say: "values are missing: rows without a target are left out"},
		"alone.csv": {text: table("id,y", func(i int) string { return fmt.Sprintf("%d,%d", i, 7*i%31) }),
			first: "what to predict from"},
		"constant.csv": {text: table("x,y", func(i int) string { return fmt.Sprintf("%d,3", 7*i%31) }), first: "column y",
			say: "there is nothing to learn: choose another target"},
		"control.csv": {text: table("\"a\x1b[31m\nb\",y", plain), say: `"a\x1b[31m\nb"`},
		"numbers.csv": {text: table("2020,2021", plain), say: "the first line holds only numbers"},
	} {
		write(t, name, c.text)
		args := []string{"--target", "y"}
		if c.target != "" {
			args[1] = c.target
		}
		text := runs(t, append(append([]string{"inspect"}, args...), "--", name)...)
		var d inspectDocument
		must.Do(t, json.Unmarshal([]byte(runs(t, append(append([]string{"inspect", "--json"}, args...), "--", name)...)), &d))
		must.Hold(t, strings.Contains(flat(text), flat(c.say)) && !strings.Contains(text, "\x1b"),
			"%s: %s\nwant %q", name, text, c.say)
		_, ask, asks := strings.Cut(text, "\nSettle first: ")
		if asks != (c.first != "") || asks != (len(d.First) > 0) || !strings.HasPrefix(ask, c.first) {
			t.Errorf("%s: %s\nto be settled %q, want %q", name, text, d.First, c.first)
		}
		if d.Command == "" {
			must.Hold(t, c.first != "" && strings.HasSuffix(text, "with what you choose.\n"), "%s: %s", name, text)
			continue
		}
		o := call(t.Context(), append(shellWords(t, strings.TrimPrefix(d.Command, "krigo ")), "--quiet", "--kernel", "se",
			"--out", "m.krigo")...)
		must.Hold(t, o.status == 0, "%s: %s: status %d, %s", name, d.Command, o.status, o.stderr)
	}
}

// TestInspectWide: the advice on a table of very many columns takes time in proportion to their number.
func TestInspectWide(t *testing.T) {
	facts := make([]inspect.ColumnFacts, 200_000)
	for i := range facts {
		facts[i].Advice = []inspect.Advice{{Flag: "ignore", Value: fmt.Sprint("c", i)}}
	}
	begin := time.Now()
	if said := shellLine(suggestion([]string{"fit"}, facts, "")); !strings.HasSuffix(said, ",c199999") {
		t.Errorf("%.80s …", said)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
