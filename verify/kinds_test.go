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
	python(t)
	folder := t.TempDir()
	path, table := filepath.Join(folder, "m.krigo"), filepath.Join(folder, "kinds.csv")
	text, rng := "x,kind\n", rand.New(rand.NewPCG(7, 8))
	for range 160 {
		x := 3 * rng.Float64()
		text += fmt.Sprintf("%g,%s\n", x, []string{"a", "b", "c", "b"}[int(x+0.2*rng.Float64())])
	}
	must.Do(t, os.WriteFile(table, []byte(text), 0o600))
	rows := must.Get(files.CSV{From: strings.NewReader(text), Source: "kinds.csv"}.Read())(t)
	rows, o, err := krigo.Options{Data: krigo.Data{Target: "kind"}, Kernel: krigo.Kernel{Expression: "se"},
		Run: krigo.Run{Restarts: 1}}.Kinds(rows)
	must.Do(t, err)
	all := must.Get(krigo.FitTargets(t.Context(), rows, o.Data.Beside, o))(t)
	must.Do(t, all.Save(path))
	agrees, said := verify(t, path, table)
	must.Not(t, !agrees, "%s", said)
	all.Together.Certificate.MeanBound -= 0.01
	must.Do(t, all.Save(path))
	agrees, said = verify(t, path, table)
	must.Not(t, agrees, "with a lower bound: %s", said)
}
