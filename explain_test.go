package krigo_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestExplain: on real data, with every kind of posterior and with a transform of the target, the contributions sum to
// the prediction minus the prediction at the mean row. The remainder is next to nothing if the function is smooth, and
// small if each prediction stands on its nearest rows.
func TestExplain(t *testing.T) {
	table := pick(data.Boston(), every(0, 3, 506), "RM", "LSTAT", "DIS", "MEDV")
	informed := krigo.Prior{Kind: "informed"}
	for options, c := range map[string]struct {
		o    krigo.Options
		most float64
	}{
		"informed": {krigo.Options{
			Data:   krigo.Data{Transform: "none"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  informed,
		}, 1e-6},
		"log": {krigo.Options{
			Data:   krigo.Data{Transform: "log"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  informed,
		}, 1e-6},
		"inducing": {krigo.Options{
			Data:   krigo.Data{Transform: "none"},
			Method: krigo.Method{Name: "kl-pac", Inducing: 20},
		}, 1e-6},
		"cg": {krigo.Options{
			Data:   krigo.Data{Transform: "none"},
			Method: krigo.Method{Name: "evidence", Solver: "cg"},
		}, 1e-6},
		"kl-pac": {krigo.Options{Method: krigo.Method{Name: "kl-pac"}, Prior: informed}, 1e-6},
		"nearest": {krigo.Options{
			Data:   krigo.Data{Transform: "none"},
			Method: krigo.Method{Name: "nearest", Epochs: 3},
			Prior:  informed,
		}, 0.05},
		"kernels": {krigo.Options{
			Kernel: krigo.Kernel{Expression: "periodic*matern12+linear"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  informed,
		}, 1e-4},
	} {
		m := fit(t, table, cheap(c.o))
		ps := predict(t, m, table)
		e := must.Get(m.Explain(t.Context(), table))(t)
		mean := &dataset.Table{Source: "mean", Names: m.Inputs, Rows: 1, Values: m.Scaling.InputMean, Lines: []int{2}}
		near(t, options+": base", e.Base, predict(t, m, mean)[0].Mean, 1e-12)
		must.Need(t, slices.Equal(e.Columns, []string{"RM", "LSTAT", "DIS"}), "%v", e.Columns)
		var left, size float64
		for i, p := range ps {
			sum := e.Base + e.Remainder[i]
			for _, v := range e.Contributions[i] {
				sum += v
				size += math.Abs(v)
			}
			left += math.Abs(e.Remainder[i])
			must.Near(t, sum, p.Mean, 1e-9, options, "row", i)
		}
		must.Hold(t, left <= c.most*size,
			"%s: the remainder is %.3g of the contributions", options, left/size)
	}
}

// TestExplainColumns: all inputs of a category or of a date are one column, a missing value contributes nothing, and
// columns that are equal contribute the same.
func TestExplainColumns(t *testing.T) {
	text := "when,fuel,size,again,price\n"
	for i := range 120 {
		size := fmt.Sprint(20 + i%41)
		if i%10 == 9 {
			size = ""
		}
		text += fmt.Sprintf("2024-%02d-%02d,%s,%s,%s,%d\n", 1+i%12, 1+i%28, []string{"gas", "oil", "wood"}[i%3], size, size,
			20+i%41+10*(i%3)+i%12)
	}
	reading := dataset.Reading{Dates: []dataset.Dates{{Column: "when", Parts: []string{"year"}}}}
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "flats", As: reading}.Read())(t)
	o := cheap(krigo.Options{
		Data:   krigo.Data{Target: "price", Missing: "mean"},
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
	})
	o.Data.Categorical = []string{"fuel"}
	m := fit(t, table, o)
	e := must.Get(m.Explain(t.Context(), table))(t)
	must.Need(t, slices.Equal(e.Columns, []string{"when", "fuel", "size", "again"}) &&
		len(m.Inputs) == 9, "%v of %v", e.Columns, m.Inputs)
	for i, c := range e.Contributions {
		must.Near(t, c[2], c[3], 1e-9, "equal columns, row", i)
		if i%10 == 9 {
			must.Near(t, c[2], 0, 1e-9, "missing size, row", i)
		}
	}
}
