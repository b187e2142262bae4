package dataset_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
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

func read(t *testing.T, text string) *dataset.Table {
	t.Helper()
	return must.Get(files.CSV{From: strings.NewReader(text), Source: "f.csv"}.Read())(t)
}

func regression(t *testing.T, text, target string) *dataset.Data {
	t.Helper()
	return must.Get(read(t, text).Regression(target))(t)
}

// dataOf returns a regression problem with inputs x1, … and target y.
func dataOf(cols int, x, y []float64) *dataset.Data {
	table := &dataset.Table{Source: "f", Names: []string{"y"}, Rows: len(y)}
	for j := range cols {
		table.Names = append(table.Names, fmt.Sprintf("x%d", j+1))
	}
	for i, v := range y {
		table.Values = append(append(table.Values, v), x[i*cols:(i+1)*cols]...)
	}
	d, err := table.Select(table.Names[1:], "y")
	if err != nil {
		panic(err)
	}
	return d
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		must.Fail(t, err, part)
	}
}

// upTo returns the numbers 0 to n−1.
func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

// valuesOf returns all values of a table.
func valuesOf(t *testing.T, table *dataset.Table) []float64 {
	t.Helper()
	v := make([]float64, table.Rows*len(table.Names))
	must.Do(t, table.Read(0, table.Rows, upTo(len(table.Names)), v))
	return v
}

func TestRegression(t *testing.T) {
	table := read(t, "a,MEDV,b\n1,2,3\n4,5,6\n")
	d := must.Get(table.Regression("MEDV"))(t)
	x, y, err := d.Select(d.All())
	must.Hold(t, slices.Equal(d.Inputs, []string{"a", "b"}) &&
		slices.Equal(x, []float64{1, 3, 4, 6}) && slices.Equal(y, []float64{2, 5}) && err == nil,
		"got %+v, %v, %v, %v", d, x, y, err)
	must.Hold(t, slices.Equal(table.Names, []string{"a", "MEDV", "b"}),
		"the table changed: %v", table.Names)
	x, y, err = d.Select([]int{1, 0})
	must.Hold(t, err == nil && slices.Equal(x, []float64{4, 6, 1, 3}) &&
		slices.Equal(y, []float64{5, 2}), "selected %v, %v", x, y)

	_, err = table.Regression("medw")
	wantError(t, err, `f.csv: no column "medw" for the target; did you mean "MEDV"?`, `the columns are "a", "MEDV", "b"`)
	_, err = table.Regression("price")
	if wantError(t, err, `no column "price" for the target; the columns`); strings.Contains(err.Error(), "mean") {
		t.Errorf("a bad guess: %v", err)
	}
	wide := make([]string, 25)
	for j := range wide {
		wide[j] = fmt.Sprintf("c%d", j)
	}
	_, err = read(t, strings.Join(wide, ",")+"\n"+strings.Repeat("1,", 24)+"1\n").Regression("target")
	wantError(t, err, `"c19" and 5 more`)
	_, err = read(t, "1,2\n3,4\n").Regression("z")
	wantError(t, err, "the file has no header line")
	_, err = read(t, "y\n1\n2\n").Regression("y")
	wantError(t, err, `"y" is the only column`)
	_, err = read(t, "a,y\n1,2\n").Regression("y")
	wantError(t, err, "1 row of data: at least 2")
	_, err = read(t, "a,y\n1,5\n2,5\n").Regression("y")
	wantError(t, err, `every value of target "y" is 5: nothing to learn`)
}

func TestUnlabelled(t *testing.T) {
	table := read(t, "a,b,c\n1,2,3\n4,5,6\n")
	d := must.Get(table.Unlabelled([]string{"c", "a"}))(t)
	x := make([]float64, 4)
	if err := d.Scaled(d.All(), dataset.Identity(2)).Block(0, 2, x, nil); err != nil || !slices.Equal(x, []float64{3, 1,
		6, 4}) {
		t.Errorf("got %v, %v", x, err)
	}
	_, err := table.Unlabelled([]string{"p", "a", "q"})
	wantError(t, err, `f.csv: input columns missing: "p", "q"; the columns are "a", "b", "c"`)
}

func TestBlock(t *testing.T) {
	d := regression(t, "a,b,y\n1,2,3\n4,5,6\n7,8,9\n1e300,0,0\n", "y")
	v := d.Scaled([]int{0, 2, 1, 3}, dataset.Scaling{InputMean: []float64{1, 2}, InputScale: []float64{3, 1e-10},
		TargetMean:  3,
		TargetScale: 3})
	x, y := make([]float64, 4), make([]float64, 2)
	if err := v.Block(1, 2, x, y); err != nil || !slices.Equal(x, []float64{2, 6e10, 1, 3e10}) ||
		!slices.Equal(y, []float64{2, 1}) {
		t.Errorf("got %v, %v, %v", x, y, err)
	}
	if n, cols := v.Dims(); n != 4 || cols != 2 || v.Err() != nil {
		t.Errorf("%d×%d, %v", n, cols, v.Err())
	}
	for _, c := range [][2]int{{3, 2}, {-1, 2}, {0, -1}, {0, 3}, {math.MaxInt, 2}} {
		must.Hold(t, v.Block(c[0], c[1], x, y) != nil, "rows %v accepted", c)
	}
	v = d.Scaled([]int{0, 3}, dataset.Scaling{InputMean: []float64{1, 2}, InputScale: []float64{1e-300, 1},
		TargetScale: 3})
	wantError(t, v.Block(0, 2, x, y), "f.csv: line 5: a value is so far from the others")
	wantError(t, v.Err(), "f.csv: line 5")
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       finding.List
	}{
		{"none", "a,y\n1,2\n2,3\n", nil},
		{"constant", "a,b,y\n1,7,2\n2,7,3\n3,7,5\n", finding.List{finding.New(finding.Constant, []string{"b"})}},
		{"many constant", "a,b,c,y\n1,1,1,1\n1,1,1,2\n",
			finding.List{finding.New(finding.Constant, []string{"a", "b", "c"}), finding.New(finding.FewRows, 2, 3)}},
		{"repeats", "a,y\n1,2\n3,4\n1,2\n1,3\n1,2\n", finding.List{finding.New(finding.Repeats, 2, 5, 3)}},
		{"scale", "a,b,y\n1e-12,1e12,2\n2e-12,2e12,3\n", finding.List{finding.New(finding.SmallScale, []string{"a"}),
			finding.New(finding.LargeScale, []string{"b"})}},
		{"far target", "a,y\n1,10000001\n2,10000002\n",
			finding.List{finding.New(finding.FarTarget, "y", 10000001.5, 0.5)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := regression(t, c.text, "y")
			got, err := inspect.Findings(d, must.Get(d.Units())(t))
			must.Hold(t, err == nil && reflect.DeepEqual(got, c.want), "got %q", got)
		})
	}
}

func TestScalingOf(t *testing.T) {
	const root = 0.816496580927726 // √(2/3), the standard deviation of 1, 2, 3
	for _, c := range []struct {
		name        string
		values      [3]float64
		mean, scale float64
	}{
		{"small", [3]float64{1, 2, 3}, 2, root},
		{"huge offset", [3]float64{1e12 + 1, 1e12 + 2, 1e12 + 3}, 1e12 + 2, root},
		{"constant", [3]float64{5, 5, 5}, 5, 1},
		{"constant with rounding noise", [3]float64{0.3, 0.1 + 0.2, 0.3}, 0.3, 1},
		{"constant zero", [3]float64{0, 0, 0}, 0, 1},
		{"squares overflow", [3]float64{1e200, 2e200, 3e200}, 2e200, root * 1e200},
		{"squares underflow", [3]float64{1e-200, 2e-200, 3e-200}, 2e-200, root * 1e-200},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := c.values
			d := dataOf(1, []float64{v[0], -77, v[1], v[2]}, []float64{1, 99, 2, 3})
			s := must.Get(dataset.ScalingOf(d, []int{0, 2, 3}, dataset.PriorRows))(t)
			near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-15*math.Abs(want) }
			must.Hold(t, near(s.InputMean[0], c.mean) && near(s.InputScale[0], c.scale) &&
				s.TargetMean == 2 && near(s.TargetScale, root) && s.Source == dataset.PriorRows,
				"got %+v", s)
		})
	}
	d := regression(t, "a,y\n1,5\n2,5\n3,6\n", "y")
	_, err := dataset.ScalingOf(d, []int{0, 1}, dataset.PriorRows)
	wantError(t, err, `f.csv: target "y" is 5 on all 2 rows that the scaling is computed from (prior-rows)`)
	large := make([]float64, 39)
	for i := range large {
		large[i] = 1e15 // their computed mean is 1.0000000000000002e+15
	}
	_, err = dataset.ScalingOf(dataOf(1, make([]float64, 39), large), upTo(39), dataset.PriorRows)
	wantError(t, err, "is 1e+15 on all 39 rows")
	large[7]++
	_, err = dataset.ScalingOf(dataOf(1, make([]float64, 39), large), upTo(39), dataset.PriorRows)
	wantError(t, err, "differs by no more than rounding does from 1e+15 on all 39 rows")
	_, err = dataset.ScalingOf(d, nil, dataset.PriorRows)
	wantError(t, err, "f.csv: no rows")
	d = regression(t, "a,y\n1.7e308,5\n1.7e308,6\n", "y")
	_, err = dataset.ScalingOf(d, []int{0, 1}, dataset.AllRows)
	wantError(t, err, `column "a" are too large`)
}

func TestScalingApplies(t *testing.T) {
	s := dataset.Scaling{InputMean: []float64{1, 10}, InputScale: []float64{2, 5}, TargetMean: 3, TargetScale: 4,
		Source: dataset.Declared}
	x, y := []float64{3, 0, 1, 15}, []float64{7, 3}
	s.Inputs(x, x)
	s.Target(y, y)
	must.Hold(t, slices.Equal(x, []float64{1, -2, 0, 1}) && slices.Equal(y, []float64{1, 0}),
		"scaled %v, %v", x, y)
	must.Hold(t, s.Raw(1) == 7 && s.RawVariance(1) == 16,
		"raw mean %g, variance %g", s.Raw(1), s.RawVariance(1))
	dataset.Identity(2).Inputs(x, []float64{3, 0, 1, 15})
	must.Hold(t, slices.Equal(x, []float64{3, 0, 1, 15}) && dataset.Identity(2).Raw(5) == 5,
		"the identity changes values")
	text, err := json.Marshal(dataset.Identity(1))
	if want := `{"input_mean":[0],"input_scale":[1],"target_mean":0,` +
		`"target_scale":1,"source":"declared"}`; string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

func TestReadScaling(t *testing.T) {
	d := regression(t, "a,b,y\n1,2,3\n4,5,6\n", "y")
	path := filepath.Join(t.TempDir(), "s.json")
	for _, c := range []struct{ name, text, want string }{
		{"good", `{"inputs":{"b":{"mean":3,"scale":4},"a":{"mean":1,"scale":2}},"target":{"mean":5,"scale":6}}`, ""},
		{"unknown column",
			`{"inputs":{"b":{"mean":3,"scale":4},"a":{"mean":1,"scale":2},"c":{"mean":1,"scale":2}},"target":{"mean":5,"scale":6}}`,
			`f.csv has no input columns "c"`},
		{"missing column", `{"inputs":{"b":{"mean":3,"scale":4}},"target":{"mean":5,"scale":6}}`,
			`no constants for inputs "a"`},
		{"missing target", `{"inputs":{"b":{"mean":3,"scale":4},"a":{"mean":1,"scale":2}}}`,
			`the target needs both "mean" and "scale"`},
		{"missing mean", `{"inputs":{"b":{"scale":4},"a":{"mean":1,"scale":2}},"target":{"mean":5,"scale":6}}`,
			`input "b" needs both`},
		{"zero scale", `{"inputs":{"b":{"mean":3,"scale":0},"a":{"mean":1,"scale":2}},"target":{"mean":5,"scale":6}}`,
			`input "b" has scale 0`},
		{"infinite scale",
			`{"inputs":{"b":{"mean":3,"scale":1e999},"a":{"mean":1,"scale":2}},"target":{"mean":5,"scale":6}}`,
			"1e999"},
		{"unknown key", `{"inputs":{"b":{"mean":3,"sd":4}}}`, `unknown field "sd"`},
		{"syntax", "{\n\"inputs\":}", "s.json: line 2: "},
		{"more text", `{} {}`, "more text after"},
		{"empty", "", "not the JSON that was expected"},
		{"a column twice",
			"{\"inputs\":{\"b\":{\"mean\":3,\"scale\":4},\n\"a\":{\"mean\":1,\"scale\":2},\n\"b\":{\"mean\":0,\"scale\":1}},\"target\":{\"mean\":5,\"scale\":6}}",
			`s.json: line 3: the key "b" stands twice`},
		{"a mean twice",
			`{"inputs":{"b":{"mean":3,"scale":4},"a":{"mean":1,"scale":2}},"target":{"mean":5,"scale":6,"mean":5}}`,
			`the key "mean" stands twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, []byte(c.text), 0o600))
			s, err := dataset.ReadScaling(path, d)
			if c.want != "" {
				wantError(t, err, path, c.want)
				return
			}
			if err != nil || !slices.Equal(s.InputMean, []float64{1, 3}) || !slices.Equal(s.InputScale, []float64{2, 4}) ||
				s.TargetMean != 5 || s.TargetScale != 6 || s.Source != dataset.Declared {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
	_, err := dataset.ReadScaling(path+".no", d)
	wantError(t, err, "s.json.no: cannot be read")
}

// The deal and the hash are contracts of the model file. These values must never change, because krigo would then find
// other rows for an old model than the rows that trained it.
func TestContractsPinned(t *testing.T) {
	roles := must.Get(dataset.DealByPosition(12, 7, dataset.Counts{3, 2, 4}))(t)
	// A separate implementation of PCG-DXSM and the byte layout gives the same two values.
	if want := []dataset.Role{3, 2, 2, 0, 1, 3, 2, 0, 1, 2, 0, 3}; !slices.Equal(roles, want) {
		t.Errorf("dealt %d, want %d", roles, want)
	}
	const hash = "ce20aaec4f34605fff6fe80e1b9eeae45e2d52ea70a9f79dfc385cdfb6517a60"
	if got, err := dataOf(2, []float64{1, 2, 3, 4, 5, 6}, []float64{0.1, 0.2, 0.3}).Hash([]int{2, 0}); got != hash ||
		err != nil {
		t.Errorf("hash %s, %v", got, err)
	}
	for r, want := range []string{"test", "calibration", "prior", "certified", "role(4)"} {
		must.Be(t, dataset.Role(r).String(), want, fmt.Sprintf("role %d is called", r))
	}
}

func TestHashSees(t *testing.T) {
	Hash := func(x, y []float64, rows []int, cols int) string {
		return must.Get(dataOf(cols, x, y).Hash(rows))(t)
	}
	x, y := []float64{1, 2, 3, 4, 5, 6}, []float64{0.1, 0.2, 0.3}
	base := Hash(x, y, []int{0, 2}, 2)
	must.Hold(t, Hash(x, y, []int{2, 0}, 2) == base, "the order of rows counts")
	for j := range x {
		changed := slices.Clone(x)
		changed[j] = math.Nextafter(changed[j], 9)
		if counted := j/2 != 1; (Hash(changed, y, []int{0, 2}, 2) != base) != counted {
			t.Errorf("input %d: counted should be %v", j, counted)
		}
	}
	must.Hold(t, Hash(x, []float64{0.1, 0.2, 0.4}, []int{0, 2}, 2) != base &&
		Hash(x, y, []int{0, 1}, 2) != base && Hash(x, y, nil, 2) != Hash(x, y, nil, 1),
		"targets, rows or counts do not count")
}

func TestDealByPosition(t *testing.T) {
	roles := must.Get(dataset.DealByPosition(100, 1, dataset.Counts{10, 20, 30}))(t)
	var all []int
	for role, n := range []int{10, 20, 30, 40} {
		rows := dataset.Roles{Of: roles}.Rows(dataset.Role(role))
		must.Hold(t, len(rows) == n && slices.IsSorted(rows),
			"%d %s rows: %v", len(rows), dataset.Role(role), rows)
		all = append(all, rows...)
	}
	if slices.Sort(all); all[0] != 0 || all[99] != 99 {
		t.Error("not all rows dealt")
	}
	other, _ := dataset.DealByPosition(100, 1, dataset.Counts{10, 0, 90})
	must.Hold(t,
		slices.Equal(dataset.Roles{Of: roles}.Rows(dataset.Test), dataset.Roles{Of: other}.Rows(dataset.Test)),
		"test rows depend on the other counts")
	other, _ = dataset.DealByPosition(100, 2, dataset.Counts{10, 20, 30})
	must.Hold(t, !slices.Equal(roles, other), "the seed does not count")
	if roles, err := dataset.DealByPosition(3, 1, dataset.Counts{0, 0, 3}); err != nil ||
		len(dataset.Roles{Of: roles}.Rows(dataset.Certified)) != 0 {
		t.Errorf("no certified rows: %v, %v", roles, err)
	}
	for _, c := range [][4]int{{10, 5, 5, 1}, {10, 11, 0, 0}, {10, math.MaxInt, math.MaxInt, math.MaxInt},
		{-1, 0, 0, 0}} {
		_, err := dataset.DealByPosition(c[0], 1, dataset.Counts{c[1], c[2], c[3]})
		wantError(t, err, fmt.Sprintf("%d test, %d calibration and %d prior rows asked for, but there are only %d rows",
			c[1],
			c[2], c[3], c[0]))
	}
	_, err := dataset.DealByPosition(10, 1, dataset.Counts{0, -2, 0})
	wantError(t, err, "-2 calibration rows asked for")
}

// Each of the 3! orders of three rows should come up equally often.
func TestDealByPositionUniform(t *testing.T) {
	const deals = 6000
	count := map[string]int{}
	for seed := range uint64(deals) {
		roles := must.Get(dataset.DealByPosition(3, seed, dataset.Counts{1, 1, 1}))(t)
		count[fmt.Sprintf("%d", roles)]++
	}
	chi2 := 0.0
	for _, n := range count {
		chi2 += math.Pow(float64(n)-deals/6, 2) / (deals / 6)
	}
	if len(count) != 6 || chi2 > 20.5 { // 99.9 % quantile, 5 degrees of freedom
		t.Errorf("χ² = %.1f, %v", chi2, count)
	}
}

func TestDefaultPriorRows(t *testing.T) {
	for rows, want := range map[int]int{0: 20, 200: 20, 201: 21, 505: 51, 9991: 1000, 1000000: 1000} {
		must.Be(t, dataset.DefaultPriorRows(rows), want, fmt.Sprintf("%d rows", rows))
	}
}

// TestDeal: a row's role depends on what the row holds, not on where it stands. Each copy of a row gets its own role.
func TestDeal(t *testing.T) {
	const n = 60
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = float64(i%20), float64(i%4) // every row appears three times
	}
	deal := func(x, y []float64, seed uint64, test, calibration, prior int) (*dataset.Units, dataset.Roles) {
		u := must.Get(dataOf(1, x, y).Units())(t)
		r := must.Get(u.Deal(seed, dataset.Counts{test, calibration, prior}))(t)
		return u, r
	}
	u, roles := deal(x, y, 7, 6, 8, 20)
	if rows, groups := roles.Counts(); rows != (dataset.Counts{6, 8, 20, 26}) || groups != rows || u.Count != n {
		t.Errorf("%v, %v of %d", rows, groups, u.Count)
	}
	content := func(x, y []float64, r dataset.Roles) (of [][2]float64) {
		for role := dataset.Test; role <= dataset.Certified; role++ {
			for _, i := range r.Rows(role) {
				of = append(of, [2]float64{x[i], y[i]})
			}
		}
		return of
	}
	x2, y2 := slices.Clone(x), slices.Clone(y)
	slices.Reverse(x2)
	slices.Reverse(y2)
	u2, roles2 := deal(x2, y2, 7, 6, 8, 20)
	must.Hold(t, slices.Equal(content(x, y, roles), content(x2, y2, roles2)) && u.Hash == u2.Hash &&
		u.HashOf(roles.Rows(dataset.Certified)) == u2.HashOf(roles2.Rows(dataset.Certified)),
		"the order of rows counts")
	must.Hold(t, u.HashOf(roles.Rows(dataset.Prior)) != u.HashOf(roles.Rows(dataset.Certified)) &&
		u.HashOf(roles.Rows(dataset.Prior)) != u.Hash, "the hash doesn't see which rows")
	if _, other := deal(x, y, 7, 6, 0, 0); !slices.Equal(other.Rows(dataset.Test), roles.Rows(dataset.Test)) {
		t.Error("test rows depend on the other counts")
	}
	if _, other := deal(x, y, 8, 6, 8, 20); slices.Equal(other.Of, roles.Of) {
		t.Error("the seed doesn't count")
	}
	// Copies get different roles, and one changed row changes the roles of many others.
	several := 0
	for i := range 20 {
		if roles.Of[i] != roles.Of[i+20] || roles.Of[i] != roles.Of[i+40] {
			several++
		}
	}
	changed := slices.Clone(y)
	changed[3] += 0.5
	_, anew := deal(x, changed, 7, 6, 8, 20)
	moved := 0
	for i := range n {
		if anew.Of[i] != roles.Of[i] {
			moved++
		}
	}
	must.Hold(t, several >= 5 && moved >= 15,
		"%d of 20 rows have copies in other roles; %d rows moved when one changed", several, moved)
	_, err := u.Deal(1, dataset.Counts{30, 30, 1})
	wantError(t, err, "30 test, 30 calibration and 1 prior rows asked for, but there are only 60 rows")
}

// TestDealPinned: the deal is a contract of the model file, so these values must never change.
func TestDealPinned(t *testing.T) {
	u := must.Get(dataOf(2, []float64{1, 2, 3, 4, 5, 6, 1, 2}, []float64{0.1, 0.2, 0.3, 0.1}).Units())(t)
	roles := must.Get(u.Deal(5, dataset.Counts{1, 0, 1}))(t)
	const hash = "9f304ebd45dac86a3a204b9dd82105224a52095e42f8fa724a8dbfbc9151bc04"
	// A separate implementation of the byte layout gives the same two values.
	if want := []dataset.Role{2, 3, 0, 3}; u.Hash != hash || !slices.Equal(roles.Of, want) {
		t.Errorf("hash %s, roles %d in the order %v", u.Hash, roles.Of, roles.Order)
	}
}

// TestDealUniform: each of the 3! orders of three rows comes up equally often, over seeds and over data.
func TestDealUniform(t *testing.T) {
	const deals = 6000
	for name, of := range map[string]func(k int) (y float64, seed uint64){
		"seeds": func(k int) (float64, uint64) { return 0.5, uint64(k) },
		"data":  func(k int) (float64, uint64) { return float64(k) / 7, 0 },
	} {
		count := map[string]int{}
		for k := range deals {
			y, seed := of(k)
			u := must.Get(dataOf(1, []float64{1, 2, 3}, []float64{y, -1, -2}).Units())(t)
			roles := must.Get(u.Deal(seed, dataset.Counts{1, 1, 1}))(t)
			count[fmt.Sprint(roles.Order)]++
		}
		chi2 := 0.0
		for _, c := range count {
			d := float64(c) - deals/6
			chi2 += d * d / (deals / 6)
		}
		if len(count) != 6 || chi2 > 20.5 { // 99.9 % quantile with five degrees of freedom
			t.Errorf("%s: χ² = %v, %v", name, chi2, count)
		}
	}
}
