package verify_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestKinds checks the label of three classes, and alters its certificate.
func TestKinds(t *testing.T) {
	must.Long(t)
	python(t)
	folder := t.TempDir()
	path, table := filepath.Join(folder, "m.krigo"), filepath.Join(folder, "kinds.csv")
	text, rng := "x,kind\n", rand.New(rand.NewPCG(7, 8))
	for range 160 {
		x := 3 * rng.Float64()
		text += fmt.Sprintf("%g,%s\n", x, []string{"a", "b", "c", "b"}[min(int(max(x+0.4*rng.NormFloat64(), 0)), 3)])
	}
	must.Do(t, os.WriteFile(table, []byte(text), 0o600))
	rows := must.Get(files.CSV{From: strings.NewReader(text), Source: "kinds.csv"}.Read())(t)
	o := krigo.Options{Data: krigo.Data{Target: "kind"}, Kernel: krigo.Kernel{Expression: "se"},
		Run: krigo.Run{Restarts: 1}}
	rows, of, err := o.Kinds(rows)
	must.Do(t, err)
	all := must.Get(krigo.FitTargets(t.Context(), rows, of.Data.Beside, of))(t)
	must.Do(t, all.Save(path))
	agrees, said := verify(t, path, table)
	must.Hold(t, agrees, "%s", said)
	must.Hold(t, all.Together.Certificate.EmpiricalRisk != 0,
		"no label is wrong, so that nothing is counted")
	score := &all.Together.Sets[1][0]
	*score /= 2
	must.Do(t, all.Save(path))
	agrees, said = verify(t, path, table)
	must.Hold(t, !agrees, "with another score: %s", said)
	*score *= 2
	all.Together.Certificate.MeanBound -= 0.01
	must.Do(t, all.Save(path))
	agrees, said = verify(t, path, table)
	must.Hold(t, !agrees, "with a lower bound: %s", said)

	text = strings.ReplaceAll(text, ",c", ",a")
	rows = must.Get(files.CSV{From: strings.NewReader(text), Source: "kinds.csv"}.Read())(t)
	m := must.Get(krigo.Fit(t.Context(), rows, o))(t)
	must.Do(t, os.WriteFile(table, []byte(text), 0o600))
	must.Do(t, m.Save(path))
	agrees, said = verify(t, path, table)
	must.Hold(t, agrees, "two classes: %s", said)
	m.Sets[0][0] /= 2
	must.Do(t, m.Save(path))
	agrees, said = verify(t, path, table)
	must.Hold(t, !agrees, "two classes, with another score: %s", said)
}
