package ties

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// given returns a GP with variance and lengthscales 1, and random rows.
func given(t *testing.T, n, d int, noise float64, rng *rand.Rand) posterior.Given {
	k, err := kernel.Parse("matern32", d, false)
	if err != nil {
		t.Fatal(err)
	}
	g := posterior.Given{Kernel: k, Theta: make([]float64, len(k.Params())), Mean: kernel.ZeroMean{}, Noise: noise,
		X: matrix.New(n, d), Y: make([]float64, n)}
	for i := range g.X.Data {
		g.X.Data[i] = rng.NormFloat64()
	}
	for i := range g.Y {
		g.Y[i] = math.Sin(g.X.At(i, 0)) + math.Sqrt(noise)*rng.NormFloat64()
	}
	return g
}

// without predicts a row from the rows that keep accepts. It returns the error and its standard deviation.
func without(t *testing.T, g posterior.Given, row int, keep func(other int) bool) (miss, sd float64) {
	rest := g
	rest.X, rest.Y = matrix.New(0, g.X.Cols), nil
	for i := range g.X.Rows {
		if keep(i) {
			rest.X.Data = append(rest.X.Data, g.X.Row(i)...)
			rest.X.Rows++
			rest.Y = append(rest.Y, g.Y[i])
		}
	}
	p, err := posterior.NewExact(rest)
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := []float64{0}, []float64{0}
	p.Noisy(g.X.RowRange(row, row+1), g.Noise, mean, variance)
	return g.Y[row] - mean[0], math.Sqrt(variance[0])
}

// TestLeftOut compares both predictors with GPs that are conditioned on the remaining rows.
func TestLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	g := given(t, nearestRows, 2, 0.1, rng) // so few rows that all are among the nearest
	closed, err := newPredictor(g)
	if err != nil {
		t.Fatal(err)
	}
	of := make([]int, g.X.Rows)
	for i := range of {
		of[i] = rng.IntN(7)
	}
	rows := slices.Concat(lists.Members(of)...)
	for name, p := range map[string]predictor{"exact": closed,
		"nearest": &nearest{g, g.Y, neighbours.New(g.Kernel, g.Theta, g.X)}} {
		alone, sd := p.alone(rows)
		apart := p.apart(rows, of)
		for i, row := range rows {
			miss, wide := without(t, g, row, func(j int) bool { return j != row })
			group, _ := without(t, g, row, func(j int) bool { return of[j] != of[row] })
			if math.Abs(alone[i]-miss) > 1e-10 || math.Abs(sd[i]-wide) > 1e-10 || math.Abs(apart[i]-group) > 1e-10 {
				t.Errorf("%s, row %d: %g ± %g alone and %g apart, want %g ± %g and %g", name, row, alone[i], sd[i], apart[i],
					miss, wide, group)
			}
		}
	}
}

// table returns the candidates of a table with the inputs, further columns and the target. All rows train.
func table(t *testing.T, g posterior.Given, names []string, cell func(i, j int) float64) []Candidate {
	all := slices.Concat(names, []string{"y"})
	var inputs []string
	for j := range g.X.Cols {
		inputs = append(inputs, fmt.Sprint("x", j))
	}
	all = slices.Concat(inputs, all)
	var rows [][]float64
	for i := range g.X.Rows {
		row := slices.Clone(g.X.Row(i))
		for j := range names {
			row = append(row, cell(i, j))
		}
		rows = append(rows, append(row, g.Y[i]))
	}
	made, err := dataset.FromRows(all, rows)
	if err != nil {
		t.Fatal(err)
	}
	d, err := made.Regression("y", names...)
	if err != nil {
		t.Fatal(err)
	}
	candidates, err := Candidates(d, d.All(), g.X, g.Y)
	if err != nil {
		t.Fatal(err)
	}
	return candidates
}

func look(t *testing.T, g posterior.Given, candidates []Candidate) []Tie {
	all, err := lookAt(g).Measure(context.Background(), candidates)
	if err != nil {
		t.Fatal(err)
	}
	return Found(all)
}

// lookAt returns a Look at g. Its Fit trains nothing: it returns a GP with the same kernel and fixed parameters on the
// rows that it gets, which may have fewer inputs.
func lookAt(g posterior.Given) Look {
	return Look{Given: g, Widths: []float64{0.3, 0.6}, Seed: 1, Fit: func(_ context.Context, x matrix.Dense, y []float64) (
		posterior.Given, error) {
		k, err := kernel.Parse("matern32", x.Cols, false)
		return posterior.Given{Kernel: k, Theta: make([]float64, len(k.Params())), Mean: g.Mean, Noise: 1, X: x, Y: y}, err
	}}
}

// TestIndependent shows that at most one in twenty tables with independent rows and random labels has a tie. If each
// table had a tie with a chance of 1 %, more than 7 of 150 tables would have ties in 1.5 of 10,000 runs.
func TestIndependent(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	tied := 0
	const tables = 150
	for i := range tables {
		g := given(t, 40+rng.IntN(120), 1+rng.IntN(3), []float64{0.01, 0.3, 1}[i%3], rng)
		levels := 6 + rng.IntN(10)
		if found := look(t, g, table(t, g, []string{"label", "other"}, func(int, int) float64 {
			return float64(rng.IntN(levels))
		})); len(found) > 0 {
			tied++
		}
	}
	if tied > tables/20 {
		t.Errorf("%d of %d independent tables have a tie", tied, tables)
	}
}

// TestAlike: Found finds units whose rows have similar errors, if no input tells units apart, and names the finest
// column.
func TestAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	g := given(t, 200, 2, 0.3, rng)
	effects := make([]float64, 25)
	for u := range effects {
		effects[u] = rng.NormFloat64()
	}
	unit := rng.Perm(200)
	for i := range g.Y {
		g.Y[i] += effects[unit[i]%25]
	}
	g.Noise = 1.3
	candidates := table(t, g, []string{"chick", "coop"}, func(i, j int) float64 {
		return float64([]int{unit[i] % 25, unit[i] % 25 % 12}[j])
	})
	found := look(t, g, candidates)
	if len(found) != 1 || !slices.Equal(found[0].Names, []string{"chick"}) || found[0].Alike < 0.4 ||
		found[0].Units != 25 {
		t.Errorf("found %+v, want chick alone", found)
	}
	if again := look(t, g, candidates); !reflect.DeepEqual(found, again) {
		t.Error("another result with the same seed")
	}
}

// TestKnown: Found finds units if an input names them, but not if the input is a measure on which the target depends
// smoothly.
func TestKnown(t *testing.T) {
	for _, smooth := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(4, 4))
		g := given(t, 200, 2, 0.05, rng)
		levels, effects := make([]int, g.X.Rows), make([]float64, 20)
		for u := range effects {
			effects[u] = 1.5 * rng.NormFloat64()
			if smooth {
				effects[u] = 2 * math.Sin(float64(u)/4)
			}
		}
		for i := range levels {
			levels[i] = rng.IntN(20)
			g.X.Set(i, 1, float64(levels[i])/4)
			g.Y[i] += effects[levels[i]]
		}
		of := Candidate{Kind: Column, Names: []string{"unit"}, Of: levels, Inputs: []int{1}}
		found := look(t, g, []Candidate{of})
		if smooth != (len(found) == 0) {
			t.Errorf("smooth %v: found %+v", smooth, found)
		}
		if len(found) > 0 && (found[0].Apart < 1.5 || found[0].New[1] >= found[0].Same[1]) {
			t.Errorf("a new unit is predicted %.2f times worse, %v kept and %v", found[0].Apart, found[0].Same, found[0].New)
		}
	}
}

// TestOrder: Found finds a random walk in the order of the file.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	g := given(t, 300, 2, 1, rng)
	walk := 0.
	for i := range g.Y {
		walk = 0.95*walk + 0.3*rng.NormFloat64()
		g.Y[i] = walk
	}
	found := look(t, g, table(t, g, nil, nil))
	if len(found) != 1 || found[0].Kind != Order {
		t.Errorf("found %+v, want the order", found)
	}
}

// TestCopies: Found finds rows that appear twice with other last digits.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	g := given(t, 120, 2, 0.3, rng)
	for i := 60; i < 120; i++ {
		for j := range 2 {
			g.X.Set(i, j, g.X.At(i-60, j)+1e-7*rng.NormFloat64())
		}
		g.Y[i] = g.Y[i-60] + 1e-7*rng.NormFloat64()
	}
	g.Noise = 1e-6
	found := look(t, g, table(t, g, nil, nil))
	if !slices.ContainsFunc(found, func(t Tie) bool { return t.Kind == Copies && t.Rows == 120 && t.Units == 60 }) {
		t.Errorf("found %+v, want 60 copies", found)
	}
}

// TestPlace: in a large table, where nearest rows predict, Found finds that unseen places are predicted worse.
func TestPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	g := given(t, mostExact+500, 2, 0.01, rng)
	for i := range g.Y {
		x := g.X.Row(i)
		g.Y[i] = math.Sin(4*x[0])*math.Cos(4*x[1]) + 0.1*rng.NormFloat64()
	}
	of := make([]int, len(g.Y))
	for i := range of {
		at := func(j int) int { return int(math.Floor(g.X.At(i, j))) + 20 }
		of[i] = at(0)*50 + at(1)
	}
	found := look(t, g, []Candidate{{Kind: Place, Names: []string{"lon", "lat"}, Of: of, Inputs: []int{0, 1}}})
	if len(found) != 1 || found[0].Apart < 2 {
		t.Errorf("found %+v, want a place", found)
	}
}

// TestEnds shows that Measure stops when its context ends.
func TestEnds(t *testing.T) {
	g := given(t, 100, 1, 1, rand.New(rand.NewPCG(8, 8)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lookAt(g).Measure(ctx, orders(make([]int, 100), nil)); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestSortedBy shows that sortedBy returns true for a file whose units are stretches of rows, and false for a file with
// rare units spread among the rows of one unit.
func TestSortedBy(t *testing.T) {
	rows := make([]int, 200)
	sortedOf, rare := make([]int, len(rows)), make([]int, len(rows))
	for i := range rows {
		rows[i], sortedOf[i] = i, i/40
		if i%7 == 0 {
			rare[i] = 1 + i%4
		}
	}
	if !sortedBy(column{of: sortedOf, levels: 5}, rows) || sortedBy(column{of: rare, levels: 5}, rows) {
		t.Error("sorted units don't stand in stretches, or rare ones do")
	}
}

// TestSettingUnits: settings are the rows that agree in the right columns, though other columns' values repeat too, and
// rows that are nearly equal. Independent columns of few values make no set, and independent numbers aren't nearly equal.
func TestSettingUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	g := given(t, 160, 2, 0.1, rng)
	plain := given(t, 160, 2, 0.1, rng)
	var a, b, hour, day []float64
	for i := range 160 {
		if i%4 == 0 {
			a, b = append(a, float64(rng.IntN(12))), append(b, float64(rng.IntN(12)))
		} else {
			a, b = append(a, a[i-1]), append(b, b[i-1])
			for j := range 2 {
				g.X.Set(i, j, g.X.At(i-i%4, j)+1e-3*rng.NormFloat64())
			}
		}
		hour, day = append(hour, float64(rng.IntN(4))), append(day, float64(rng.IntN(5)))
	}
	columns := lists.Of([][]float64{a, b, hour, day}, func(values []float64) column {
		of, n := lists.Numbered(values)
		return column{name: fmt.Sprint(n, values[:9]), of: of, levels: n}
	})
	if set := grown(columns[0], columns); len(set) != 2 || set[1].name != columns[1].name {
		t.Errorf("a and b grow to %d columns", len(set))
	}
	if set := grown(columns[2], columns[2:]); len(set) != 1 {
		t.Errorf("independent columns grow to %d columns", len(set))
	}
	both := []column{{name: "x", inputs: []int{0, 1}}}
	of, size := linked(both, g.X)
	if all := lists.Members(of); len(all) < 38 || len(all) > 40 || size < 1e-3 || size > 0.3 {
		t.Errorf("%d settings to within %g, want 40", len(all), size)
	}
	if of, size := linked(both, plain.X); size != 0 || len(lists.Members(of)) != 0 {
		t.Errorf("independent rows have %d settings to within %g", len(lists.Members(of)), size)
	}
}

// TestBriefly: a brief look finds what ties rows together without another fit, and takes the share of shuffled tables
// from the F distribution.
func TestBriefly(t *testing.T) {
	for level, want := range map[float64]int{0: 0, 1: 1} {
		rng := rand.New(rand.NewPCG(3, 3))
		g := given(t, 300, 2, 0.1, rng)
		effects := lists.To(30, func(int) float64 { return level * rng.NormFloat64() })
		for i := range g.Y {
			g.Y[i] += effects[i%30]
			g.X.Set(i, 1, float64(i*7%30)) // an input names the units
		}
		of := lists.To(300, func(i int) int { return i % 30 })
		few := lists.To(300, func(i int) int { return i % 5 })
		look := Look{Given: g, Brief: true, Fit: func(context.Context, matrix.Dense, []float64) (posterior.Given, error) {
			t.Error("a brief look at columns fits a model")
			return g, nil
		}}
		told := 0
		look.Told = func(done, of int) { told += 10*of + done }
		all, err := look.Measure(t.Context(), []Candidate{{Kind: Column, Names: []string{"unit"}, Of: of, Inputs: []int{1}},
			{Kind: Column, Names: []string{"kind"}, Of: few, Inputs: []int{0}},
			{Kind: Column, Names: []string{"visit"}, Of: lists.To(300, func(i int) int { return i })}}) // its units of two rows are elsewhere in the table
		if err != nil {
			t.Fatal(err)
		}
		if found := Found(all); len(found) != want || (want > 0 && found[0].Names[0] != "unit") {
			t.Errorf("level %g: %+v", level, found)
		}
		if all[1].Apart != 0 || told != 10*2+1+10*2+2 {
			t.Errorf("%d units were measured, or the progress isn't told: %d", all[1].Units, told)
		}
	}
}

// TestUnaware: the noise is much larger without an input that explains much than without another one.
func TestUnaware(t *testing.T) {
	g := given(t, 200, 2, 0.01, rand.New(rand.NewPCG(4, 4)))
	var noise [2]float64
	for input := range noise {
		blind, err := unaware(t.Context(), g, []int{input})
		if err != nil {
			t.Fatal(err)
		}
		if noise[input] = blind.Noise; blind.X.At(5, input) != 0 || g.X.At(5, input) == 0 {
			t.Errorf("input %d is %g, and was %g", input, blind.X.At(5, input), g.X.At(5, input))
		}
	}
	if !(noise[0] > 8*noise[1]) {
		t.Errorf("noise variances without an input: %g", noise)
	}
}

// TestShareByF: of tables whose units mean nothing or something, the share of shuffled tables is about the F
// distribution's, for units of any size.
func TestShareByF(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 8))
		var members [][]int
		n := 0
		for u := range 12 {
			members = append(members, lists.To(1+u*u/4, func(i int) int { return n + i }))
			n += 1 + u*u/4
		}
		values := lists.To(n, func(int) float64 { return math.Exp(rng.NormFloat64()) })
		for _, i := range members[10] {
			values[i] *= 1 + float64(seed%4)/4
		}
		icc, p := alike(values, members, rng)
		same, f := alike(values, members, nil)
		// more than 20 shuffles reach the table's correlation where p isn't small
		if icc != same || math.Abs(f-p) > 0.002+4*p/math.Sqrt(enoughAbove) {
			t.Errorf("%d: %g by shuffles, %g by F, for %g and %g", seed, p, f, icc, same)
		}
	}
	if _, p := alike([]float64{1, 2, 3, 11, 12, 13, 21, 22, 23}, [][]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}, nil); p < 1./5000 {
		t.Errorf("a share of %g, which shuffles can't show", p)
	}
}

// TestDecided: candidates of few units are left unmeasured only if every AlikeP of theirs says the same of the others.
func TestDecided(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	draw := func() float64 { return 0.01 * math.Pow(10, -2.5*rng.Float64()) }
	of := func(sorted bool, p float64) Tie {
		return Tie{Candidate: Candidate{Kind: Column, Inputs: []int{0}, Sorted: sorted}, Units: 5, AlikeP: p}
	}
	open, same := 0, 0
	for range 400 {
		var all []Tie
		for range 1 + rng.IntN(6) {
			all = append(all, of(true, draw()))
		}
		others := len(all)
		for range 1 + rng.IntN(6) {
			all = append(all, of(false, 1))
		}
		without := holm(all)[:others]
		settled := decided(all)
		for range 40 {
			for i := range all[others:] {
				all[others+i].AlikeP = draw()
			}
			if with := holm(all)[:others]; slices.Equal(with, without) {
				same++
			} else {
				open++
				if settled {
					t.Fatalf("%v with, %v without: %+v", with, without, all)
				}
			}
		}
	}
	if open < 100 || same < 100 {
		t.Errorf("%d times the others matter, %d times they don't: draw other tables", open, same)
	}
}
