package dataset

import (
	"fmt"
	"strings"
	"testing"
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

// TestBlocks: rows are in one group if they lie in the same interval of every column, below 0 too, and other rows of
// the table, or another table, change nothing of it.
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

// TestBlocksAuto: the size auto makes 300 blocks or a few more, and is written as it is read.
func TestBlocksAuto(t *testing.T) {
	table := coordinates(t, 5000, func(i int) (x, y float64) { return float64(i % 71), float64(i / 71) })
	for _, group := range []string{"block:x,y:auto", "block:z:auto"} {
		name, err := table.Blocks(group)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := table.Blocks(name); err != nil || again != name {
			t.Errorf("%s is read as %s: %v", name, again, err)
		}
		b, columns, err := table.blocks(name)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		if err := table.Each(columns, func(_ int, cells []float64) error {
			seen[b.name(cells)] = true
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(seen) < enoughBlocks || len(seen) > enoughBlocks*3/2 {
			t.Errorf("%s: %d blocks", name, len(seen))
		}
	}
}

// TestBlocksNames: spans of time are days; what is no block says what is wrong.
func TestBlocksNames(t *testing.T) {
	table := coordinates(t, 50, func(i int) (x, y float64) { return float64(i), 1 })
	for name, size := range map[string]float64{"block:x:2w": 14, "block:x:36h": 1.5, "block:x:90min": .0625, "block:x:3d": 3,
		"block:x:1e3": 1000} {
		if b, _, err := table.blocks(name); err != nil || b.sizes[0] != size {
			t.Errorf("%s: sizes %v, want %g: %v", name, b.sizes, size, err)
		}
	}
	for name, want := range map[string]string{
		"block:x": "no size", "block::1": "no columns", "block:x,x:1": "twice", "block:x:0": "is no size",
		"block:x:-1": "is no size", "block:x:Inf": "is no size", "block:x:1,2": "2 sizes for 1 columns", "block:x:1y": "is no size",
		"block:w:1": `no column "w"`, "block:z:1": "target", "block:x,y:auto": `column "y" is constant`,
		"block:x:auto": "fewer than 300 blocks",
	} {
		d, err := table.Regression("z")
		if err == nil {
			if name, err = table.Blocks(name); err == nil {
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
