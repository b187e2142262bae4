package command

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestFilesAlike: files of every kind that hold the same table give the same fit, and certify reproduces the fit from
// its file. Rows without a target are counted, and can be predicted.
func TestFilesAlike(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(5, 6))
	lines, sheet := []string{"2020,fuel,y"}, ""
	var objects strings.Builder
	cells := func(row int, cells ...string) {
		sheet += fmt.Sprintf(`<row r="%d">`, row)
		for _, c := range cells {
			sheet += `<c t="inlineStr"><is><t>` + c + `</t></is></c>`
		}
		sheet += "</row>"
	}
	cells(1, "Homes, all of them")
	cells(3, "2020", "fuel", "y")
	for i := range 90 {
		x := rng.Float64()
		y, fuel := num(5*x+0.1*rng.NormFloat64(), 4), []string{"gas", "oil"}[i%2]
		known := y
		if i%9 == 4 {
			y, known = "", "null"
		}
		lines = append(lines, num(x, 4)+","+fuel+","+y)
		fmt.Fprintf(&objects, `{"2020":%s,"fuel":%q,"y":%s}`+"\n", num(x, 4), fuel, known)
		cells(4+i, num(x, 4), fuel, y)
	}
	table := strings.Join(lines, "\n") + "\n"
	archive := func(name string, parts ...string) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for k := 0; k < len(parts); k += 2 {
			must.Get(must.Get(z.Create(parts[k]))(t).Write([]byte(parts[k+1])))(t)
		}
		must.Do(t, z.Close())
		write(t, name, b.String())
	}
	const kind = `Type="http://schemas/worksheet"`
	archive("xlsx.xlsx",
		"xl/workbook.xml", `<workbook><sheets><sheet name="A" id="a"/><sheet name="B" id="b"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="a" `+kind+` Target="a.xml"/>`+
			`<Relationship Id="b" `+kind+` Target="b.xml"/></Relationships>`,
		"xl/a.xml", `<worksheet><sheetData/></worksheet>`,
		"xl/b.xml", `<worksheet><sheetData>`+sheet+`</sheetData></worksheet>`)
	archive("zip.zip", "homes.csv", table)
	z := must.Get(zstd.NewWriter(nil))(t)
	write(t, "zst.csv.zst", string(z.EncodeAll([]byte(table), nil)))
	write(t, "plain.csv", table)
	write(t, "bars.csv", strings.ReplaceAll(table, ",", "|"))
	write(t, "spaces.txt", strings.ReplaceAll(strings.ReplaceAll(table, ",\n", ",NA\n"), ",", "  "))
	write(t, "above.csv", "Homes, all of them\n\n"+table)
	write(t, "json.jsonl", objects.String())

	fit := []string{"--target", "y", "--prior", "informed", "--categorical", "fuel", "--quiet", "--json"}
	var want, predicted string
	for _, c := range []struct {
		file  string
		flags []string
	}{
		{"plain.csv", []string{"--header", "yes"}}, {"bars.csv", nil}, {"spaces.txt", nil}, {"json.jsonl", nil},
		{"zip.zip", nil}, {"zst.csv.zst", nil}, {"above.csv", []string{"--skip-rows", "2"}},
		{"xlsx.xlsx", []string{"--skip-rows", "2", "--sheet", "B"}},
	} {
		name := strings.SplitN(c.file, ".", 2)[0]
		var found struct {
			Certificate json.RawMessage
			Hash        string `json:"rows_sha256"`
			Findings    []struct {
				Kind    string
				Numbers []float64
			}
		}
		asked := append(append([]string{"fit", c.file}, fit...), c.flags...)
		must.Do(t, json.Unmarshal([]byte(runs(t, asked...)), &found))
		told := false
		for _, f := range found.Findings {
			told = told || f.Kind == "rows_without_target" && f.Numbers[0] == 10 && f.Numbers[1] == 90
		}
		if !told {
			t.Errorf("%s: %+v", c.file, found.Findings)
		}
		got := string(found.Certificate) + found.Hash
		if want == "" {
			want = got
		}
		if got != want || len(got) < 100 {
			t.Errorf("%s: %s, want %s", c.file, got, want)
		}
		if said := runs(t, "certify", name+".krigo", c.file, "--refit", "--quiet"); !strings.HasPrefix(said, "Reproduced: ") {
			t.Errorf("%s: %s", c.file, said)
		}
		o := call(t.Context(), "predict", name+".krigo", c.file)
		ps := o.stdout
		if skips := len(c.flags) > 0 && c.flags[0] == "--skip-rows"; o.status != 0 ||
			skips != strings.Contains(o.stderr, "skipped, as in the fit (--skip-rows 2)") {
			t.Errorf("%s: status %d, %s", c.file, o.status, o.stderr)
		}
		if predicted == "" {
			predicted = ps
		}
		if ps != predicted || strings.Count(ps, "\n") != 91 {
			t.Errorf("%s: other predictions, or not of all rows", c.file)
		}
		refused := call(t.Context(), append(asked, "--missing-target", "refuse")...)
		if refused.status != 1 || !strings.Contains(refused.stderr, "the value is missing") {
			t.Errorf("%s: status %d, %s", c.file, refused.status, refused.stderr)
		}
	}
	// Files of the kinds that standard input can have give the same fit from standard input.
	for _, file := range []string{"json.jsonl", "zst.csv.zst", "bars.csv"} {
		var stdout, stderr bytes.Buffer
		in := strings.NewReader(read(t, file))
		status := Run(t.Context(), append([]string{"fit", "-", "--out", "in.krigo"}, fit...), in, &stdout, &stderr)
		if status != 0 || !strings.Contains(stdout.String(), "rows_without_target") {
			t.Errorf("%s: status %d, %s", file, status, stderr.String())
		}
	}
	// A first line of numbers may be a header or a row: --header says which.
	write(t, "bare.csv", "1,2\n3,4\n5,7\n")
	said := runs(t, "inspect", "bare.csv", "--header", "no", "--target", "c2")
	if !strings.Contains(said, "--header no") ||
		!strings.Contains(said, "3 rows") || strings.Contains(said, "taken for a row") {
		t.Error(said)
	}
	// Rows without a target don't count as outcomes, and test rows without a target aren't scored.
	said = runs(t, "fit", "plain.csv", "--header", "yes", "--target", "y", "--ignore", "fuel", "--test", "plain.csv",
		"--out", "tested.krigo", "--quiet")
	if strings.Count(said, "10 of 90 rows of plain.csv have no \"y\"") != 2 {
		t.Error(said)
	}
	write(t, "fresh.csv", strings.ReplaceAll(table, ".", ".1"))
	fresh := runs(t, "certify", "tested.krigo", "fresh.csv", "--fresh", "--quiet", "--json")
	if !strings.Contains(fresh, `"without_target": 10`) {
		t.Error(fresh)
	}
}
