//go:build browser

package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/report"
	"github.com/krigo-gp/krigo/serve"
)

func fit(t testing.TB, table *dataset.Table, o krigo.Options) *krigo.Model {
	t.Helper()
	return must.Get(krigo.Fit(t.Context(), table, o))(t)
}

// fitted returns a model of Snelson's data. Different seeds give different models.
func fitted(t testing.TB, seed uint64) *krigo.Model {
	t.Helper()
	return fit(t, data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 8},
		Run: krigo.Run{Restarts: 1, Seed: seed}, Promise: krigo.Promise{Epsilon: 1}})
}

// categorical returns a model with an input of text and an input with missing values.
func categorical(t testing.TB) *krigo.Model {
	t.Helper()
	table := &dataset.Table{Source: "t", Names: []string{"fuel", "size", "y"}}
	for i := range 60 {
		size := fmt.Sprint(i % 7)
		if i%9 == 4 {
			size = ""
		}
		table.Append([]string{[]string{"gas", "oil", "7", ""}[i%4], size, fmt.Sprint(i%7 + 3*(i%4))})
	}
	return fit(t, table, krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"fuel"}, Missing: "mean"},
		Method: krigo.Method{Inducing: 4}, Kernel: krigo.Kernel{ARD: "off"}})
}

// dated returns a model with an input of dates, fitted to a table with decimal commas.
func dated(t testing.TB) *krigo.Model {
	t.Helper()
	table := &dataset.Table{Source: "t", Names: []string{"when", "size", "y"}}
	for i := range 90 {
		table.Append([]string{time.Date(2024, 1, 1+4*i, 0, 0, 0, 0, time.UTC).Format("02.01.2006"), fmt.Sprint(i % 7),
			fmt.Sprint(i%7 + i/9)})
	}
	reading := dataset.Reading{Decimal: ",",
		Dates: []dataset.Dates{{Column: "when", Form: "dmy", Parts: []string{"year"}}}}
	must.Do(t, reading.Apply(table))
	return fit(t, table, krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 6},
		Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}})
}

// shops returns a table with categories, dates with a period, a column of few different numbers, long names, and
// names with HTML markup.
func shops(t *testing.T) (*dataset.Table, krigo.Data) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("when,zone,heating <kind>,the area of the whole floor in square metres (m²),rooms,price\n")
	for range 500 {
		day, zone, area := rng.IntN(1200), rng.IntN(4), 20+180*rng.Float64()
		fmt.Fprintf(&b, "%04d-%02d-%02d,%s,%s,%.1f,%d,%.1f\n", 2021+day/360, 1+day%360/30, 1+day%28,
			[]string{"centre", "north", "a zone whose name is as long as names of zones get to be",
				"WWWWWWWWWWWWWWWWWWWWWWWW"}[zone],
			[]string{"gas", "electric", "district & <steam>"}[rng.IntN(3)], area, 1+rng.IntN(5),
			1e4*(20+1.2*area+20*float64(zone)+8*rng.NormFloat64()))
	}
	reading := dataset.Reading{Dates: []dataset.Dates{{Column: "when", Parts: []string{"year"}}}}
	table := must.Get(files.CSV{From: strings.NewReader(b.String()), Source: "shops.csv", As: reading}.Read())(t)
	return table, krigo.Data{Target: "price", Categorical: []string{"zone", "heating <kind>"}, TestFraction: 0.2}
}

// written fits table and returns the report about shown, and the titles of the report's figures.
func written(t *testing.T, table, shown *dataset.Table, o krigo.Options) (string, []string) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, report.Write(t.Context(), &b, fit(t, table, o), shown))
	var titles []string
	for _, match := range regexp.MustCompile(`<figure[^>]*><h3>(.*?)</h3>`).FindAllStringSubmatch(b.String(), -1) {
		titles = append(titles, match[1])
	}
	return b.String(), titles
}

// started serves the models under their names until the test ends. It returns the server's address and the folder of
// the model files.
func started(t testing.TB, models map[string]*krigo.Model, o serve.Options) (address, folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, m := range models {
		must.Do(t, m.Save(filepath.Join(folder, name+".krigo")))
	}
	if o.Ledger != "" {
		o.Ledger = filepath.Join(folder, o.Ledger)
	}
	s := must.Get(serve.New(folder, o))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), folder
}
