package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestSimulatedFunctions checks the known minima of the functions.
func TestSimulatedFunctions(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"gramacy-lee", []float64{0.548563}, -0.869011},
		{"branin-hoo", []float64{math.Pi, 2.275}, 0.397887},
		{"branin-hoo", []float64{-math.Pi, 12.275}, 0.397887},
		{"griewank-4", []float64{0, 0, 0, 0}, 0},
	} {
		must.Near(t, simulated[c.name].f(c.x), c.want, 1e-6, fmt.Sprintf("%s at %v", c.name, c.x))
	}
}

// TestLandscape: at the first reading's start the evidence is flat, and annealing isn't stuck.
func TestLandscape(t *testing.T) {
	l := landscapes[0]
	p, z, err := l.draw(3)
	must.Do(t, err)
	start := l.parameters(math.Log(landscapeStart[0]), math.Log(landscapeStart[1]), z)
	plain, stuck, err := l.path(context.Background(), p, start, 0)
	must.Do(t, err)
	annealed, value, err := l.path(context.Background(), p, start, falling(12)...)
	must.Do(t, err)
	// ln ℓ stays at the start for the plain run, and ends near the truth for the annealed run.
	end := func(paths [][][2]float64) float64 { last := paths[len(paths)-1]; return last[len(last)-1][0] }
	if math.Abs(end(plain)-math.Log(11)) > 0.01 || math.Abs(end(annealed)-math.Log(0.1)) > 0.7 || !(value < stuck-1) {
		t.Errorf("plain: ℓ = %v, %v; annealed: %v, %v", math.Exp(end(plain)), stuck, math.Exp(end(annealed)), value)
	}
	if alphas := falling(12); alphas[0] != 0.99 || alphas[11] != 0 {
		t.Errorf("α falls as %v", alphas)
	}
}

// TestRenyiMethods: every method learns something about a smooth function. The results make a table with PEP at its
// best α.
func TestRenyiMethods(t *testing.T) {
	table := renyiTable{sets: []string{"branin-hoo"}}
	var settings []renyiSetting
	var results []renyiResult
	for _, method := range []string{"renyi", "egp", "evidence", "sgp", "pep", "pep", "renyi-fixed", "vfe"} {
		s := renyiSetting{Data: "branin-hoo", Method: method, Kernel: "matern32", Alpha: 0.5, M: 20, Epochs: 30, Rate: 0.1,
			Rows: 80, Rep: 1}
		switch method {
		case "egp":
			s.Batch = 32
		case "renyi-fixed", "vfe":
			s.Epochs = 0
		}
		if len(results) == 5 {
			s.Alpha = 1
		}
		r, err := s.run(context.Background(), Env{})
		if err != nil {
			t.Fatal(method, err)
		}
		must.Hold(t, r.RMSE < 0.35 && r.NLPD < 1 && r.Noise > 0, "%s: %+v", method, r)
		settings, results = append(settings, s), append(results, r)
	}
	best := groups(settings, results, []bool{true, true, true, true, true, true, true, true})
	if pep := best["branin-hoo/pep"].rmse; len(pep) != 1 || pep[0] != min(results[4].RMSE, results[5].RMSE) {
		t.Errorf("PEP: %v of %v and %v", pep, results[4].RMSE, results[5].RMSE)
	}
	table.paper = []renyiRow{{"renyi", "Rényi", map[string]string{"branin-hoo": "0.009"}}, {"pep", "PEP", nil}}
	var out bytes.Buffer
	table.print(&out, table.sets, settings, results, []bool{true, true, true, true, true, false, true, true})
	for _, want := range []string{"| Rényi | 1 | ", "| 0.009 |", "PEP (α = 0.5)", fmt.Sprintf("%.4f", results[4].RMSE)} {
		must.Hold(t, strings.Contains(out.String(), want),
			"the table lacks %q:\n%s", want, out.String())
	}
	must.Refuse((renyiSetting{Data: "branin-hoo", Method: "guess", Kernel: "se", M: 5}).run(context.Background(),
		Env{}))(t, "", "an unknown method was run")
}
