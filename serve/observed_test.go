package serve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestObservedText: outcomes in JSON may have text where CSV has it: labels, targets such as <0.1, and sides of limits.
func TestObservedText(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text := "x,kind,y,level,side\n"
	for range 130 {
		x := rng.Float64() * 3
		y := math.Sin(2*x) + 0.2*rng.NormFloat64()
		kind, cell, side := "no", fmt.Sprint(y), "none"
		if y > 0 {
			kind = "yes"
		}
		if y < -0.3 {
			cell, side, y = "<-0.3", "left", -0.3
		}
		text += fmt.Sprintf("%v,%s,%s,%v,%s\n", x, kind, cell, y, side)
	}
	for _, c := range []struct {
		data        krigo.Data
		row, misses string
	}{
		{krigo.Data{Target: "kind"}, `{"x": 0.7, "kind": "no"}, [0.7, "yes"]`, "1"},
		{krigo.Data{Target: "y", Columns: krigo.Columns{Censored: "y"}}, `{"x": 0.7, "y": "<-0.3"}, [0.7, 1], {"x": 0.7, "y": 9}`, "2"},
		{krigo.Data{Target: "level", Columns: krigo.Columns{Censored: "side"}},
			`{"x": 0.7, "level": -0.3, "side": "left"}, [0.7, 1, "none"], [2.4, -0.3, -1]`, "1"},
	} {
		c.data.Inputs = []string{"x"}
		m := must.Get(krigo.Fit(t.Context(), must.Get(files.CSV{From: strings.NewReader(text)}.Read())(t),
			krigo.Options{Data: c.data, Kernel: krigo.Kernel{Expression: "se"}, Run: krigo.Run{Restarts: 1}}))(t)
		folder := t.TempDir()
		address, _ := started(t, saved(t, m, filepath.Join(folder, "m.krigo")), Options{Ledger: filepath.Join(folder, "l")})
		status, body := post(t, "http://"+address+"/v1/outcomes", jsonKind, `{"rows": [`+c.row+`]}`)
		must.Hold(t, status == 200 && strings.Contains(body, `"misses":`+c.misses+`,`),
			"%s: status %d: %s", c.data.Target, status, body)
	}
}
