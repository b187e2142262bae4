package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func coordinates(t *testing.T, rows int, at func(i int) (x, y float64)) *Table {
	t.Helper()
	all := make([][]float64, rows)
	for i := range all {
		x, y := at(i)
		all[i] = []float64{x, y, float64(i)}
	}
	table, err := FromRows([]string{"x", "y", "z"}, all)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestBlocks shows that rows form a group if they lie in the same interval of every column, also below 0, and that
// further rows don't change this.
func TestBlocks(t *testing.T) {
	places := [][2]float64{{0, 0}, {.4, .9}, {.5, 0}, {-.1, 0}, {-.5, 0}, {-.6, 0}, {.1, 1}}
	want := []string{"0,0", "0,0", "1,0", "-1,0", "-1,0", "-2,0", "0,1"}
	table := coordinates(t, len(places), func(i int) (x, y float64) { return places[i][0], places[i][1] })
	d, err := table.Regression("z")
	if err != nil {
		t.Fatal(err)
	}
	if d, err = d.GroupBy("block:x,y:0.5,1"); err != nil {
		t.Fatal(err)
	}
	u, err := d.Units()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range want {
		for k, b := range want {
			if (u.Groups()[i] == u.Groups()[k]) != (a == b) {
				t.Errorf("rows %v and %v: in one block %t", places[i], places[k], a != b)
			}
		}
	}
	if d.Group() != "block:x,y:0.5,1" || len(d.Inputs) != 2 || u.Count != 5 {
		t.Errorf("grouped by %q, inputs %q, %d blocks", d.Group(), d.Inputs, u.Count)
	}
	_, all, err := d.RowHashes(d.All())
	if err != nil {
		t.Fatal(err)
	}
	one, err := coordinates(t, 2, func(i int) (x, y float64) { return .3 + float64(i), .3 }).Regression("z")
	if err == nil {
		one, err = one.GroupBy(d.Group())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, own, err := one.RowHashes([]int{0}); err != nil || own[0] != all[0] {
		t.Errorf("the block of (.3, .3) is %x in a table of its own, %x in the other: %v", own, all[0], err)
	}
}

// TestBlocksAuto: the candidates of auto make 150, 300 and 1,000 blocks, or a few more. Blocks takes the smallest size
// over which targets depend on one another, looks only at prior rows, and returns a name that it would return
// unchanged.
func TestBlocksAuto(t *testing.T) {
	var rng *rand.Rand
	cells := map[[2]float64]float64{}
	for want, target := range map[int]func(x, y float64) float64{
		1000: func(float64, float64) float64 { return rng.NormFloat64() },
		300: func(x, y float64) float64 { // targets depend on one another within 3.6, and 300 blocks are 3.7 long
			cell := [2]float64{math.Floor(x / 3.6), math.Floor(y / 3.6)}
			if _, known := cells[cell]; !known {
				cells[cell] = rng.NormFloat64()
			}
			return cells[cell]
		},
		150: func(x, y float64) float64 { return x + y + 10*rng.NormFloat64() },
	} {
		rng = rand.New(rand.NewPCG(29, uint64(want)))
		table := coordinates(t, 5000, func(int) (x, y float64) { return 71 * rng.Float64(), 71 * rng.Float64() })
		for i := range table.Rows {
			table.Values[3*i+2] = target(table.Values[3*i], table.Values[3*i+1])
		}
		count := map[string]int{}
		name := must.Get(table.Blocks("block:x,y:auto", "z", func(group string) []Role {
			u := must.Get(must.Get(must.Get(table.Regression("z"))(t).GroupBy(group))(t).Units())(t)
			count[group] = u.Count
			roles := must.Get(u.Deal(1, Counts{Prior: u.Count * 7 / 10}))(t)
			for row, role := range roles.Of {
				if role != Prior {
					table.Values[3*row+2] = 1e6 * table.Values[3*row] // Blocks must not read it
				}
			}
			return roles.Of
		}))(t)
		if n := count[name]; len(count) != 3 || n < want || n > want*3/2 {
			t.Errorf("%s makes %d blocks, want %d: %v", name, n, want, count)
		}
		if again := must.Get(table.Blocks(name, "z", nil))(t); again != name {
			t.Errorf("%s is read as %s", name, again)
		}
	}
}

// TestBlocksNames: units of time become days, and the error of an invalid name says what is wrong with it.
func TestBlocksNames(t *testing.T) {
	table := coordinates(t, 50, func(i int) (x, y float64) { return float64(i), 1 })
	for name, size := range map[string]float64{"block:x:2w": 14, "block:x:36h": 1.5, "block:x:90min": .0625, "block:x:3d": 3,
		"block:x:1e3": 1000} {
		if b, _, err := table.blocks(name); err != nil || b.sizes[0] != size {
			t.Errorf("%s: sizes %v, want %g: %v", name, b.sizes, size, err)
		}
	}
	for _, sizes := range [][]float64{{2, 7, 7}, {2, 2, 7}, {2, 2, 2}} {
		name := blocks{columns: []string{"x", "y", "z"}, sizes: sizes}.String()
		if b, _, err := table.blocks(name); err != nil || !slices.Equal(b.sizes, sizes) {
			t.Errorf("%v is written %s, which is read as %v: %v", sizes, name, b.sizes, err)
		}
	}
	for name, want := range map[string]string{
		"block:x": "no size", "block::1": "no columns", "block:x,x:1": "twice", "block:x:0": `the size "0" isn't a pos`,
		"block:x:-1": "isn't a positive", "block:x:Inf": "isn't a positive", "block:x:1,2": "2 sizes for 1 columns",
		"block:x:1y": "isn't a positive",
		"block:w:1":  `no column "w"`, "block:z:1": "target", "block:x,y:auto": `column "y" is constant`,
		"block:x:auto": "and auto takes 150",
	} {
		d, err := table.Regression("z")
		if err == nil {
			if name, err = table.Blocks(name, "z", nil); err == nil {
				_, err = d.GroupBy(name)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	own, err := FromRows([]string{"block:x:1", "z"}, [][]float64{{1, 2}, {1, 3}, {2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := own.Regression("z", "block:x:1"); err == nil {
		t.Errorf("no input is left, and %v", d)
	} else if _, _, err := own.blocks("block:x:1"); err != nil {
		t.Error(fmt.Errorf("a column of that name: %w", err))
	}
}

// TestFewPlaces: if a table has too few places for auto, the error names the largest blocks that tell them apart.
func TestFewPlaces(t *testing.T) {
	var rows [][]float64
	for i := range 300 {
		at := float64(i % 20)
		rows = append(rows, []float64{at, float64(i%20*7%20) / 10, at})
	}
	table, err := FromRows([]string{"east", "north", "y"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	_, err = table.Blocks("block:east,north:auto", "y", nil)
	said, flag, _ := strings.Cut(err.Error(), ", as in --group ")
	d, problem := table.Regression("y")
	if problem == nil {
		_, problem = d.GroupBy(flag)
	}
	if !strings.Contains(said, `columns "east", "north" make at most 20 blocks`) || problem != nil {
		t.Fatalf("%v, %v", err, problem)
	}
	b, _, _ := table.blocks(flag)
	seen := map[string]bool{}
	for _, row := range rows {
		seen[b.name(row[:2])] = true
	}
	if len(seen) != 20 {
		t.Errorf("%s makes %d blocks", flag, len(seen))
	}
}
