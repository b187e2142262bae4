package dataset_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

const rooms = `fuel,size,zone,y
gas,1,3,10
oil,,3.0,20
,3,7,30
wood,5,,40
gas,NA,11,50
other,2,north,60
`

var roomInputs = []string{"fuel=gas", "fuel=oil", "fuel=other", "size", "zone=3", "zone=7", "zone=other"}

// encoded reads a table from text, and encodes it with the first three rows as prior rows.
func encoded(t *testing.T, text string) *dataset.Data {
	t.Helper()
	d := must.Get(read(t, text).Encode("y", nil, dataset.Coding{Categorical: []string{"fuel", "zone"},
		Missing: dataset.FillMean}, these([]int{0, 1, 2})))(t)
	return d
}

func inputsOf(t *testing.T, d *dataset.Data) []float64 {
	t.Helper()
	x := make([]float64, d.Rows*d.Cols)
	must.Do(t, d.Read(d.All(), x, nil))
	return x
}

// these returns a choice of prior rows that always chooses the given rows.
func these(rows []int) func(*dataset.Data) ([]int, error) {
	return func(*dataset.Data) ([]int, error) { return rows, nil }
}

// TestEncode shows that categories and means are learnt from prior rows alone, that unknown categories become the
// category other, and that a file keeps the encoding.
func TestEncode(t *testing.T) {
	d := encoded(t, rooms)
	want := []float64{
		1, 0, 0, 1, 1, 0, 0,
		0, 1, 0, 2, 1, 0, 0, // the missing size is the mean of 1 and 3
		0, 0, 1, 3, 0, 1, 0,
		0, 0, 1, 5, 0, 0, 1,
		1, 0, 0, 2, 0, 0, 1,
		0, 0, 1, 2, 0, 0, 1,
	}
	must.Hold(t, slices.Equal(d.Inputs, roomInputs) && d.Cols == 7 &&
		slices.Equal(inputsOf(t, d), want) && d.Where(4) == "line 6",
		"%q, %v", d.Inputs, inputsOf(t, d))
	x, y, err := d.Select([]int{5, 0, 1})
	if err != nil || !slices.Equal(x, slices.Concat(want[35:], want[:14])) || !slices.Equal(y, []float64{60, 10, 20}) {
		t.Errorf("%v, %v, %v", x, y, err)
	}
	must.Be(t, d.Encoding.String(), `fuel by "gas", "oil", "other"; zone by "3", "7", "other"; size 2 if missing`)

	// a category called other isn't new, since it counts as itself
	unseen := must.Get(d.Encoding.Unseen(read(t, rooms)))(t).Words()
	must.Be(t, unseen[0], `fuel: 1 of 6 rows have a category that no prior row has; krigo treats it as "other": "wood"`)

	raw := must.Get(json.Marshal(d.Encoding))(t)
	e := &dataset.Encoding{}
	if err := json.Unmarshal(raw, e); err != nil || !reflect.DeepEqual(e, d.Encoding) {
		t.Fatalf("%s, %v", raw, err)
	}
	// The same columns in another order, without a target, and with numbers for zones.
	other := read(t, "zone,note,size,fuel\n7,a,9,oil\n12,b,,coal\n3e0,c,4,\n")
	of, err := e.Unlabelled(other, roomInputs)
	if err != nil || !slices.Equal(inputsOf(t, of), []float64{0, 1, 0, 9, 0, 1, 0, 0, 0, 1, 2, 0, 0, 1, 0, 0, 1, 4, 1, 0,
		0}) {
		t.Errorf("%v, %v", of, err)
	}
	// Unlabelled leaves a table of encoded inputs as it is, and Select refuses it.
	again := &dataset.Table{Source: "t", Names: append(slices.Clone(roomInputs), "y"), Rows: 1,
		Values: []float64{1, 0, 0, 4, 0, 1, 0, 9}}
	if of, err = e.Unlabelled(again, roomInputs); err != nil || of.Encoding != nil ||
		!slices.Equal(inputsOf(t, of), again.Values[:7]) {
		t.Errorf("%v, %v", of, err)
	}
	_, err = e.Select(again, roomInputs, "y")
	wantError(t, err, `input columns missing: "fuel", "zone"`)
	_, err = e.Unlabelled(read(t, "a\n1\n"), roomInputs)
	wantError(t, err, `input columns missing: "fuel", "size", "zone"`)
	_, err = e.Unlabelled(read(t, "fuel,size,zone\ngas,large,3\n"), roomInputs)
	wantError(t, err, `line 2 (row 1), column 2 ("size"): "large" is not a number; write one`)
	_, err = e.Select(read(t, "fuel,size,zone,y\ngas,1,3,\n"), roomInputs, "y")
	wantError(t, err, `column 4 ("y"): the value is missing; remove the row or fill the value`)
	// Without an encoding, columns are inputs.
	var none *dataset.Encoding
	if of, err := none.Select(again, []string{"size"}, "y"); err != nil || of.Cols != 1 || none.OneHot(0) {
		t.Errorf("%v, %v", of, err)
	}
}

// TestEncodingOfPriorRows: an encoding and a scaling depend on nothing but the prior rows.
func TestEncodingOfPriorRows(t *testing.T) {
	prior := strings.Join(strings.SplitAfter(rooms, "\n")[:4], "")
	a, b := encoded(t, rooms), encoded(t, prior+"coal,1e9,99,4\nx,,y,5\n")
	must.Hold(t, reflect.DeepEqual(a.Encoding, b.Encoding), "%v and %v", a.Encoding, b.Encoding)
	sa := must.Get(dataset.ScalingOf(a, []int{0, 1, 2}, dataset.PriorRows))(t)
	if sb, err := dataset.ScalingOf(b, []int{0, 1, 2}, dataset.PriorRows); err != nil || !reflect.DeepEqual(sa, sb) {
		t.Errorf("%+v and %+v, %v", sa, sb, err)
	}
	// Inputs of categories stay 0 and 1. Numbers are standardised after missing numbers have been filled.
	must.Hold(t, slices.Equal(sa.InputMean, []float64{0, 0, 0, 2, 0, 0, 0}) &&
		slices.Equal(sa.InputScale, []float64{1, 1, 1, math.Sqrt(2. / 3), 1, 1, 1}), "%+v", sa)
}

// TestEncodedHash: hashes are taken of cells. Different cells have different hashes even if they become the same
// inputs, and the same cells have the same hashes however they are written.
func TestEncodedHash(t *testing.T) {
	of := func(d *dataset.Data) string {
		hash := must.Get(d.Hash(d.All()))(t)
		hashes, _, err := d.RowHashes(d.All())
		must.Do(t, err)
		return fmt.Sprint(hash, hashes)
	}
	d := encoded(t, rooms)
	for from, to := range map[string]string{"wood": "coal", "wood,5": "w,ood5", ",3,7": "x,3,7", "gas,NA": "gas,2",
		"north": "", "oil,,": "oil,2,", ",40": ",41"} {
		changed, err := d.Encoding.Select(read(t, strings.Replace(rooms, from, to, 1)), d.Inputs, "y")
		if from == "wood,5" {
			wantError(t, err, "not a number")
			continue
		}
		must.Do(t, err)
		must.Hold(t, of(changed) != of(d), "%q for %q has the same hash", to, from)
	}
	same, err := d.Encoding.Select(read(t, strings.NewReplacer("NA", "null", "3.0", "3", "zone,y",
		"zone,y").Replace(rooms)), d.Inputs, "y")
	must.Hold(t, err == nil && of(same) == of(d), "written otherwise: %v", err)
}

// stored is a store of rows with three columns.
type stored []float64

func (s stored) Read(first, count int, columns []int, out []float64) error {
	for i := range count {
		for _, j := range columns {
			out[0], out = s[3*(first+i)+j], out[1:]
		}
	}
	return nil
}

func (s stored) Close() error { return nil }

// TestEncodeDisk: a table on disk is encoded block by block, and the result is the same as in memory.
func TestEncodeDisk(t *testing.T) {
	const rows = 2*4096 + 5
	memory := &dataset.Table{Source: "x", Names: []string{"a", "kind", "y"}, Rows: rows}
	for i := range rows {
		memory.Values = append(memory.Values, math.Sin(float64(i)), float64(i%4-1), math.Cos(float64(i)))
		if i%9 == 5 {
			memory.Values[3*i] = math.NaN()
		}
	}
	disk := &dataset.Table{Source: "x", Names: memory.Names, Rows: rows, Disk: stored(memory.Values)}
	prior := []int{0, 1, 2, 6, 50, 8000}
	var answers []string
	for _, table := range []*dataset.Table{memory, disk} {
		d := must.Get(table.Encode("y", nil, dataset.Coding{Categorical: []string{"kind"}, Missing: dataset.FillMean},
			these(prior)))(t)
		hash := must.Get(d.Hash(d.All()))(t)
		x, y, err := d.Select([]int{8000, 8001, 7, 8, 5, 4096})
		must.Do(t, err)
		found, err := inspect.Findings(d, must.Get(d.Units())(t))
		answers = append(answers, fmt.Sprint(d.Encoding, d.Inputs, hash, x, y, inputsOf(t, d), found, err))
	}
	if answers[0] != answers[1] || !strings.Contains(answers[0], `kind by "-1", "0", "1", "other"; a`) {
		t.Errorf("%.300s\n%.300s", answers[0], answers[1])
	}
	must.Hold(t, disk.Values == nil, "the table was loaded")
}

// TestFills: missing values are filled in a table without categories too.
func TestFills(t *testing.T) {
	d, err := read(t, "a,y\n1,1\n,2\n5,3\n").Encode("y", nil, dataset.Coding{Missing: dataset.FillMean},
		these([]int{0, 2}))
	must.Hold(t, err == nil && slices.Equal(inputsOf(t, d), []float64{1, 3, 5}) &&
		slices.Equal(d.Inputs, []string{"a"}), "%+v, %v", d, err)
}

// TestEncodeFindings: the input for other categories is 0 in all rows, and no finding calls it constant.
func TestEncodeFindings(t *testing.T) {
	d := must.Get(read(t, "fuel,c,y\ngas,7,1\noil,7,2\ngas,7,3\noil,7,4\ncoal,7,5\nwood,7,5\noil,7,2\n").Encode("y", nil,
		dataset.Coding{Categorical: []string{"fuel"}, Missing: dataset.Refuse}, these([]int{0, 1, 4, 5})))(t)
	found, err := inspect.Findings(d, must.Get(d.Units())(t))
	if want := (finding.List{finding.New(finding.Constant, []string{"c"}), finding.New(finding.Repeats, 1, 7, 7)}); err !=
		nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%q, %v", found, err)
	}
}

// TestCategoriesRounded: a fit refuses a category that float64 can't tell from its neighbours, among numbers or texts.
// Rows for a fitted model may have such numbers.
func TestCategoriesRounded(t *testing.T) {
	for _, c := range []struct{ first, last, want string }{
		{"1", "2",
			`x.csv: line 3 (row 2), column 1 ("id"): 9.007199254740992e+15 can't be told from neighbouring categories`},
		{"red", "1e999",
			`x.csv: line 3 (row 2), column 1 ("id"): 9.007199254740992e+15 can't be told from neighbouring categories`},
	} {
		text := "id,y\n" + c.first + ",1\n9007199254740992,2\n9007199254740993,3\n" + c.last + ",3\n"
		table := must.Get(files.CSV{From: strings.NewReader(text), Source: "x.csv"}.Read())(t)
		_, err := table.Encode("y", nil, dataset.Coding{Categorical: []string{"id"}, Missing: dataset.Refuse},
			these([]int{0, 1, 2}))
		wantError(t, err, c.want, "(and 1 more problems)")
		small := must.Get(files.CSV{From: strings.NewReader("id,y\n" + c.first + ",1\n9007199254740991,2\n"),
			Source: "x.csv"}.Read())(t)
		d := must.Get(small.Encode("y", nil, dataset.Coding{Categorical: []string{"id"}, Missing: dataset.Refuse},
			these([]int{0, 1})))(t)
		if _, err := d.Encoding.Select(table, d.Inputs, "y"); err != nil {
			t.Errorf("%s: %v", c.first, err)
		}
	}
}

// TestEncodeRefuses: an error names the column or cell that can't be encoded.
func TestEncodeRefuses(t *testing.T) {
	var many strings.Builder
	many.WriteString("id,y\n")
	for i := range 1100 {
		fmt.Fprintf(&many, "x%d,%d\n", i, i)
	}
	both := []string{"fuel", "zone"}
	for _, c := range []struct {
		text        string
		rows        []int
		categorical []string
		missing     string
		target      string
		want        string
	}{
		{rooms, []int{0}, []string{"zone"}, dataset.FillMean, "y",
			`column "fuel" is no column of numbers: 4 different texts: "gas", "oil", "wood" and 1 more (first in line 2); say ` +
				`--categorical fuel or --ignore fuel`},
		{rooms, []int{0}, []string{"fule"}, dataset.Refuse, "y",
			`no column "fule" to be categorical; did you mean "fuel"?`},
		{rooms, []int{0}, []string{"fuel"}, dataset.Refuse, "price", `no column "price" for the target`},
		{rooms, []int{0, 1}, both, dataset.FillMean, "zone", `the target "zone" can't be categorical`},
		{rooms, []int{1, 4}, both, dataset.FillMean, "y",
			`column "size" is empty on all 2 prior rows, so nothing is known about it: remove it, or use more prior rows`},
		{rooms, []int{2}, both, dataset.FillMean, "y", `column "fuel" is empty on all 1 prior rows`},
		{rooms, []int{0, 1}, both, dataset.Refuse, "y",
			`line 3 (row 2), column 2 ("size"): the value is missing; remove the row or fill the value, or have it filled ` +
				`with --missing mean (and 3 more problems)`},
		{"a,y\nb,1\n,2\n", []int{0}, []string{"a"}, dataset.Refuse, "y",
			`line 3 (row 2), column 1 ("a"): the value is missing`},
		{"a,y\n1,\n2,\n", []int{0, 1}, nil, dataset.FillMean, "y",
			`f.csv: column "y" is no column of numbers: it has no values; only numbers and classes are predicted`},
		{"a,y\n1,b\n2,3\n", []int{0, 1}, nil, dataset.FillMean, "y", `"b" is not a number; write one`},
		{"a,y\n1,2\ninf,3\n", []int{0, 1}, nil, dataset.FillMean, "y", "+Inf is not finite"},
		{many.String(), upTo(1100), []string{"id"}, dataset.Refuse, "y", `column "id" has 1100 categories on 1100 prior rows`},
		{"a,a=b,y\nb,1,1\nc,2,2\n", []int{0}, []string{"a"}, dataset.Refuse, "y", `two columns named "a=b"`},
		{"a,y\n1e308,1\n1e308,2\n", []int{0, 1}, nil, dataset.FillMean, "y", `"a" are too large`},
		{"a,y\nb,1\nc,1\n", []int{0, 1}, []string{"a"}, dataset.Refuse, "y", "nothing to learn"},
		{"y\n1\n2\n", []int{0, 1}, nil, dataset.FillMean, "y", "the only column"},
	} {
		table := must.Get(files.CSV{From: strings.NewReader(c.text), Source: "f.csv"}.Read())(t)
		d, err := table.Encode(c.target, nil, dataset.Coding{Categorical: c.categorical, Missing: c.missing}, these(c.rows))
		must.Hold(t, d == nil, "%q was encoded, want %s", c.text, c.want)
		wantError(t, inspect.Explain(err), c.want)
	}
}

// TestText: bytes that aren't UTF-8 become the text that a model file would make of them.
func TestText(t *testing.T) {
	table := &dataset.Table{Source: "t", Names: []string{"a"}, Text: [][]string{{"red"}}}
	for _, cell := range []string{"red", "b\xffd", "b\ufffdd", "1e1", " blue ", "b\xffd"} {
		table.Append([]string{cell})
	}
	must.Hold(t, slices.Equal(table.Values, []float64{0, 1, 1, 2, 3, 1}) &&
		slices.Equal(table.Text[0], []string{"red", "b\ufffdd", "10", "blue"}) && table.Rows == 6,
		"%+v", table)
}

// TestGaps: an input says which numbers were missing, if enough prior rows miss one and no column before it misses in
// the same rows. Only prior rows decide that, and a file keeps it.
func TestGaps(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,c,few,y\n")
	for i := range 60 {
		cell := func(gap bool) string { return map[bool]string{true: "NA", false: fmt.Sprint(i)}[gap] }
		fmt.Fprintf(&text, "%s,%s,%s,%s,%d\n", cell(i%3 == 0), cell(i%3 == 0), cell(i%2 == 0), cell(i%9 == 0), i*i)
	}
	coding := dataset.Coding{Missing: dataset.Indicate}
	d := must.Get(read(t, text.String()).Encode("y", nil, coding, these(upTo(45))))(t)
	must.Be(t, fmt.Sprint(d.Inputs), "[a a=missing b c c=missing few]")
	x := inputsOf(t, d)
	must.Be(t, fmt.Sprint(x[:12]), "[22.5 1 22.5 22 1 22.5 1 0 1 1 0 1]")
	must.Hold(t, d.Encoding.OneHot(1) && !d.Encoding.OneHot(2) && d.Encoding.Fills(), "%v", d.Encoding)
	s := must.Get(dataset.ScalingOf(d, upTo(45), dataset.PriorRows))(t)
	must.Hold(t, s.InputMean[1] == 0 && s.InputScale[1] == 1, "%+v", s)
	must.Hold(t, strings.Contains(d.Encoding.String(), "a 22.5 if missing, with an input that says so; b 22.5 if missing;"),
		"%s", d.Encoding)

	few := must.Get(read(t, text.String()).Encode("y", nil, coding, these(upTo(25))))(t)
	must.Be(t, fmt.Sprint(few.Inputs), "[a b c c=missing few]")
	again := must.Get(d.Learn(upTo(45)))(t)
	other := must.Get(d.Learn(upTo(25)))(t)
	must.Hold(t, again.Near(d.Encoding) && !other.Near(d.Encoding), "%v, %v", again, other)

	raw := must.Get(json.Marshal(d.Encoding))(t)
	e := &dataset.Encoding{}
	must.Hold(t, json.Unmarshal(raw, e) == nil && reflect.DeepEqual(e, d.Encoding) && e.Check(d.Inputs) == nil, "%s", raw)
	e.Columns[0].Mean = nil
	wantError(t, e.Check(d.Inputs), "no mean")
}
