package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// The kinds of tables for settingsFound. In the first five a setting has an effect of its own, and no column names it.
const (
	equalSettings = "equal"    // the inputs of a setting's rows are equal
	butOne        = "but one"  // they are equal but for a time
	nearSettings  = "near"     // they are nearly equal
	textSettings  = "texts"    // the rows share three texts
	placeSettings = "place"    // they share two of several inputs
	chanceRepeats = "chance"   // independent rows whose inputs have few values
	designs       = "designed" // designed experiments with replicates, and independent errors
)

var settingKinds = []string{equalSettings, butOne, nearSettings, textSettings, placeSettings, chanceRepeats, designs}

var texts = []string{"town", "type", "maker"}

const (
	settingTables  = 100
	designedTables = 20
	settingFits    = 20 // tables of each kind that are fitted, too
	ofSetting      = 4  // rows of a setting
	heldSettings   = 200
)

// drawing draws a table's rows. Every row has the numbers that a setting has, and numbers of its own.
type drawing struct {
	rng    *rand.Rand
	number int
	noise  func(x float64) float64 // the error of a row
	waves  []func(x float64) float64
	table  tieTable
}

// settingsOf draws a table of a kind. A third of the tables has Gaussian errors, a third has heavy tails, and in a third
// errors grow with an input. Half of the tables are in the order of their settings.
func settingsOf(kind string, number int) tieTable {
	rng := rand.New(rand.NewPCG(uint64(number), 0x73657474696e6773+uint64(len(kind))))
	d := &drawing{rng: rng, number: number, table: tieTable{kind: kind, name: fmt.Sprintf("%s-%d", kind, number)}}
	size := 0.1 + 0.3*rng.Float64()
	d.noise = func(x float64) float64 {
		e := size * rng.NormFloat64()
		switch number % 3 {
		case 1:
			e /= math.Sqrt((rng.ExpFloat64() + rng.ExpFloat64()) / 2) // Student's t with four degrees of freedom
		case 2:
			e *= 0.5 + x
		}
		return e
	}
	for range 6 {
		d.waves = append(d.waves, fourier(rng))
	}
	switch kind {
	case chanceRepeats:
		d.chance()
	case designs:
		d.designed()
	default:
		d.settings(kind, size*(1.5+2.5*rng.Float64()))
	}
	return d.table
}

// settings draws rows of settings. effect is the standard deviation of a setting's effect.
func (d *drawing) settings(kind string, effect float64) {
	const settings = 60
	rng := d.rng
	shared, own := 2+rng.IntN(3), 0
	jitter := math.Pow(10, -2.5-2.5*rng.Float64())
	round := 0. // values of the covariates of a place, if it isn't 0
	levels := []int{4 + rng.IntN(3), 4 + rng.IntN(3), 4 + rng.IntN(3)}
	switch kind {
	case butOne:
		own = 1
	case textSettings:
		shared, own = 0, 1+rng.IntN(3)
	case placeSettings:
		shared, own = 2, 1+rng.IntN(3)
		if d.number%2 == 1 {
			round = float64(8 + rng.IntN(12))
		}
	}
	grid := rng.IntN(2) == 0 // the rows' own numbers have few values, as hours have
	for j := range shared {
		d.table.names = append(d.table.names, fmt.Sprintf("s%d", j+1))
	}
	if kind == textSettings {
		d.table.names = append(d.table.names, texts...)
	}
	for j := range own {
		d.table.names = append(d.table.names, fmt.Sprintf("v%d", j+1))
	}
	d.table.names = append(d.table.names, "y")
	scale := 0.4
	seen := map[string]bool{}
	var all [][]string
	for u := 0; u < settings+heldSettings; u++ {
		var of []float64
		for range shared {
			x := rng.Float64()
			if round > 0 {
				x = math.Floor(x*round) / round
			}
			of = append(of, x)
		}
		var words []string
		if kind == textSettings {
			for j, n := range levels {
				words = append(words, fmt.Sprintf("%c%d", 'A'+j, 1+rng.IntN(n)))
			}
		}
		if key := fmt.Sprint(of, words); u < settings && seen[key] {
			u--
			continue
		} else if seen[key] {
			continue // there may be fewer new combinations of texts
		} else {
			seen[key] = true
		}
		b := effect * rng.NormFloat64()
		for k := range ofSetting {
			y, first := b, rng.Float64()
			var row []string
			for j, x := range of {
				if first = of[0]; kind == nearSettings {
					x += jitter * rng.NormFloat64()
				}
				row = append(row, strconv.FormatFloat(x, 'g', 6, 64))
				y += d.waves[j](scale*x) / float64(j+1)
			}
			row = append(row, words...)
			for j := range own {
				x := rng.Float64()
				if grid {
					x = float64(k) / ofSetting
					if j > 0 {
						x = float64(rng.IntN(5)) / 5
					}
				}
				row = append(row, strconv.FormatFloat(x, 'g', 6, 64))
				y += d.waves[shared+j](scale*x) / float64(j+1)
			}
			row = append(row, strconv.FormatFloat(y+d.noise(first), 'g', 8, 64))
			if u < settings {
				all = append(all, row)
			} else {
				d.table.held = append(d.table.held, row)
			}
		}
	}
	if d.number%4 < 2 {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	d.table.rows, d.table.group = all, "a setting"
}

// chance draws independent rows. Inputs have 2 to 12 values each, so that rows have equal inputs by chance.
func (d *drawing) chance() {
	rng := d.rng
	n, inputs := 120+rng.IntN(281), 1+rng.IntN(4)
	levels := make([]int, inputs)
	for j := range levels {
		d.table.names = append(d.table.names, fmt.Sprintf("x%d", j+1))
		levels[j] = 2 + rng.IntN(11)
	}
	free := rng.IntN(2) // inputs whose values don't repeat
	for j := range free {
		d.table.names = append(d.table.names, fmt.Sprintf("z%d", j+1))
	}
	d.table.names = append(d.table.names, "y")
	for range n {
		var x []float64
		for _, l := range levels {
			x = append(x, float64(rng.IntN(l))/float64(l))
		}
		for range free {
			x = append(x, rng.Float64())
		}
		d.table.rows = append(d.table.rows, d.row(x))
	}
}

// row returns a row of independent errors.
func (d *drawing) row(x []float64) (row []string) {
	y := d.noise(x[0])
	for j, v := range x {
		row = append(row, strconv.FormatFloat(v, 'g', 6, 64))
		y += d.waves[j](0.4*v) / float64(j+1)
	}
	return append(row, strconv.FormatFloat(y, 'g', 8, 64))
}

// designed draws an experiment: all combinations of the factors' levels, or settings in a random plan that fills the
// space, each with the same number of replicates.
func (d *drawing) designed() {
	rng := d.rng
	factors := [][]int{{3, 3, 3}, {5, 5}, {2, 2, 2, 2}, {4, 3, 2}, {10, 4}, {3, 3, 2, 2}, {8, 5}}[rng.IntN(7)]
	plan := [][]float64{{}}
	for _, levels := range factors {
		var more [][]float64
		for _, p := range plan {
			for l := range levels {
				more = append(more, append(append([]float64(nil), p...), float64(l)/float64(levels-1)))
			}
		}
		plan = more
	}
	if rng.IntN(3) == 0 { // a Latin hypercube
		runs := 20 + rng.IntN(40)
		plan = make([][]float64, runs)
		for range factors {
			for i, at := range rng.Perm(runs) {
				plan[i] = append(plan[i], (float64(at)+0.5)/float64(runs))
			}
		}
	}
	for j := range factors {
		d.table.names = append(d.table.names, fmt.Sprintf("x%d", j+1))
	}
	d.table.names = append(d.table.names, "y")
	replicates := max(3, 150/len(plan))
	for range replicates {
		for _, x := range plan {
			d.table.rows = append(d.table.rows, d.row(x))
		}
	}
	rng.Shuffle(len(d.table.rows), func(i, j int) {
		d.table.rows[i], d.table.rows[j] = d.table.rows[j], d.table.rows[i]
	})
}
