package verify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestLimits checks targets that may be limits, and alters how many of them the certificate counts, and its misses.
func TestLimits(t *testing.T) {
	must.Long(t)
	python(t)
	folder := t.TempDir()
	path, table := filepath.Join(folder, "m.krigo"), filepath.Join(folder, "limits.csv")
	text, rng := "x,y\n0.5,-0.0\n", rand.New(rand.NewPCG(7, 8)) // the text below makes a 0 of the number -0
	for range 150 {
		x, y := rng.Float64(), "<0.4"
		if v := math.Sin(5*x) + 0.3*rng.NormFloat64(); v > 0.4 {
			y = fmt.Sprint(v)
		}
		text += fmt.Sprintf("%g,%s\n", x, y)
	}
	text += "0.6,-0.0\n"
	must.Do(t, os.WriteFile(table, []byte(text), 0o600))
	rows := must.Get(files.CSV{From: strings.NewReader(text), Source: "limits.csv"}.Read())(t)
	for _, method := range []string{"evidence", "nearest"} {
		o := krigo.Options{Data: krigo.Data{Target: "y", Columns: krigo.Columns{Censored: "y"}}, Kernel: krigo.Kernel{Expression: "se"},
			Method: krigo.Method{Name: method}, Prior: krigo.Prior{Kind: "informed"}, Run: krigo.Run{Restarts: 1}}
		m := must.Get(krigo.Fit(t.Context(), rows, o))(t)
		must.Hold(t, m.Certificate.Limits != 0, "no limits")
		must.Do(t, m.Save(path))
		agrees, said := verify(t, path, table)
		must.Hold(t, agrees, "%s: %s", method, said)
		m.Certificate.Limits--
		must.Do(t, m.Save(path))
		agrees, said = verify(t, path, table)
		must.Hold(t, !agrees && strings.Contains(said, "another number of limits"),
			"%s with fewer limits: %s", method, said)
		m.Certificate.Limits++
		m.Certificate.MeanBound -= 0.01
		must.Do(t, m.Save(path))
		agrees, said = verify(t, path, table)
		must.Hold(t, !agrees, "%s with a lower bound: %s", method, said)
	}
}
