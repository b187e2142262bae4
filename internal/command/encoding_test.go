package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestCategories goes through the commands with a table of text and missing cells. The model file holds the encoding,
// so every command reads tables of the same kind.
func TestCategories(t *testing.T) {
	workplace(t)
	fuels := []string{"gas", "oil", "", "wood"}
	var table strings.Builder
	table.WriteString("fuel,size,price\n")
	for i := range 120 {
		size := fmt.Sprint(float64(i%11) / 2)
		if i%10 == 3 {
			size = "NA"
		}
		fmt.Fprintf(&table, "%s,%s,%v\n", fuels[i%4], size, float64(i%11)+float64(3*(i%4))+0.01*float64(i%7))
	}
	write(t, "flats.csv", table.String())
	write(t, "seller.csv", "size,note,fuel\n2,a,oil\n,b,gas\n1,,coal\n3,1,\n")
	write(t, "fresh2.csv", "price,size,fuel\n7.5,2,oil\n2,,gas\n4,1,coal\n8,3,null\n")
	encoding := []string{"--target", "price", "--categorical", "fuel", "--missing", "mean"}
	fit := append([]string{"fit", "flats.csv", "--inducing", "12", "--ard", "off", "--test-fraction", "0.2", "--prior",
		"informed", "--out", "m.krigo", "--json"}, encoding...)
	var document struct {
		Inputs   int
		Encoding struct {
			Missing string
			Columns []struct {
				Name       string
				Categories []string
				Mean       *float64
			}
		}
		Certificate struct{ Valid bool }
	}
	must.Do(t, json.Unmarshal([]byte(runs(t, fit...)), &document))
	if e := document.Encoding; document.Inputs != 5 || !document.Certificate.Valid || e.Missing != "mean" ||
		len(e.Columns) != 2 || !slices.Equal(e.Columns[0].Categories, []string{"gas", "oil", "wood"}) ||
		e.Columns[1].Name != "size" || e.Columns[1].Mean == nil {
		t.Errorf("%+v", document)
	}
	m := must.Get(krigo.Load("m.krigo"))(t)
	if want := []string{"fuel=gas", "fuel=oil", "fuel=wood", "fuel=other", "size"}; !slices.Equal(m.Inputs, want) {
		t.Errorf("inputs %q", m.Inputs)
	}

	if out := runs(t, "certify", "m.krigo", "flats.csv"); !strings.HasPrefix(out, "Reproduced: ") {
		t.Errorf("%s", out)
	}
	runs(t, "certify", "m.krigo", "flats.csv", "--fresh") // certifies with the test rows of the model's data
	if out := runs(t, "certify", "m.krigo", "fresh2.csv", "--fresh"); !strings.Contains(out, "4 fresh rows") {
		t.Errorf("%s", out)
	}
	runs(t, "report", "m.krigo", "flats.csv")
	if page := read(t, "m.html"); !strings.Contains(page, "Predicted price by fuel") || !strings.Contains(page, "gas (") ||
		!strings.Contains(page, "24 test rows") {
		t.Error("the report doesn't show the encoded inputs on the test rows")
	}
	runs(t, "report", "m.krigo", "--out", "alone.html")
	if out := runs(t, append([]string{"compare", "flats.csv", "--objectives", "vfe", "--splits", "2", "--inducing", "4",
		"--ard", "off"}, encoding...)...); !strings.Contains(out, "over 2 splits") {
		t.Errorf("%s", out)
	}
	write(t, "p.json", `{"kernel": {"name": "se", "variance": 1, "lengthscales": [1]}, "noise_variance": 0.1}`)
	runs(t, append([]string{"evaluate", "flats.csv", "--params", "p.json"}, encoding...)...)
	// The rows of another table are scored by the same encoding.
	if out := runs(t, append([]string{"fit", "flats.csv", "--test", "fresh2.csv", "--inducing", "4", "--ard", "off",
		"--verbose", "--out", "t.krigo"}, encoding...)...); !strings.Contains(out, "Test      4 rows") ||
		!strings.Contains(out, `fuel by "gas", "oil", "wood", "other"; size `) {
		t.Errorf("%s", out)
	}

	predicted := runs(t, "predict", "m.krigo", "seller.csv")
	if lines := strings.Split(strings.TrimSpace(predicted), "\n"); len(lines) != 5 || lines[1] == lines[2] {
		t.Errorf("%s", predicted)
	}
	write(t, "encoded.csv",
		fmt.Sprintf("fuel=gas,fuel=oil,fuel=wood,fuel=other,size\n0,1,0,0,2\n1,0,0,0,%v\n0,0,0,1,1\n0,0,0,1,3\n",
			*document.Encoding.Columns[1].Mean))
	if again := runs(t, "predict", "m.krigo", "encoded.csv"); again != predicted {
		t.Errorf("encoded already:\n%s\n%s", again, predicted)
	}
	write(t, "renamed.csv", strings.ReplaceAll(table.String(), "wood", "coal"))
	write(t, "filled.csv", strings.ReplaceAll(table.String(), "NA", "2"))
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"fit", "flats.csv", "--target", "price", "--strict"}, 1,
			`fuel: 3 different texts: "gas", "oil", "wood" (first in line 2); say --categorical fuel`},
		{[]string{"fit", "flats.csv", "--target", "price", "--categorical", "fuel", "--strict"}, 1,
			`line 4 (row 3), column 1 ("fuel"): the value is missing`},
		{[]string{"predict", "m.krigo", "homes.csv"}, 1, `input columns missing: "fuel", "size"`},
		{[]string{"certify", "m.krigo", "renamed.csv"}, 1, "SHA-256"},
		{[]string{"certify", "m.krigo", "filled.csv"}, 1, "SHA-256"},
		{[]string{"certify", "m.krigo", "encoded.csv", "--fresh"}, 1, `"price"`},
	} {
		if o := call(t.Context(), append(c.args, "--quiet")...); o.status != c.status || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%v: status %d, %s; want %d, %s", c.args, o.status, o.stderr, c.status, c.want)
		}
	}
}
