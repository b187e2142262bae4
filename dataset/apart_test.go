package dataset_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestScalesWithout: a few values far from all others don't scale their column, and don't fill its gaps. Heavy tails, rare
// codes and the target stay as they are.
func TestScalesWithout(t *testing.T) {
	smooth := func(i int) float64 { return float64(i*37%101) / 101 }
	for _, c := range []struct {
		name  string
		of    func(i int) float64
		apart []int // rows that don't count
	}{
		{"no slip", smooth, nil},
		{"a slip", func(i int) float64 { return map[bool]float64{true: 1e6}[i == 7] + smooth(i) }, []int{7}},
		{"slips at both ends", func(i int) float64 {
			return smooth(i) + map[int]float64{3: -50, 9: 700, 11: 1e9, 12: 1e200}[i]
		}, []int{3, 9, 11, 12}},
		{"too many", func(i int) float64 { return map[bool]float64{true: 1e6}[i%50 == 7] + smooth(i) }, nil},
		{"far, but not in logarithms", func(i int) float64 { return math.Exp(float64(i*37%101) / 5) }, nil},
		{"a heavy tail", func(i int) float64 { return 300 / (0.5 + float64(i*7%300)) }, nil},
		{"rare codes", func(i int) float64 { return map[bool]float64{true: 99}[i == 7] + float64(i%4) }, nil},
		{"one row in many", func(i int) float64 { return map[bool]float64{true: 1}[i == 7] }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var x, y, rest, of []float64
			text := "a,y\n,0\n"
			apart := map[int]bool{}
			for _, row := range c.apart {
				apart[row] = true
			}
			for i := range 300 {
				v := c.of(i)
				x = append(x, v)
				y = append(y, v)
				text += fmt.Sprintf("%v,%d\n", v, i)
				if !apart[i] {
					rest = append(rest, v)
					of = append(of, v)
				}
			}
			d := dataOf(1, x, y)
			others := dataOf(1, rest, of)
			got := must.Get(dataset.ScalingOf(d, d.All(), dataset.PriorRows))(t)
			plain := must.Get(d.Moments(d.All()))(t)
			want := must.Get(others.Moments(others.All()))(t)[0]
			must.Be(t, dataset.Moments{Mean: got.InputMean[0], SD: got.InputScale[0]}, want)
			must.Be(t, dataset.Moments{Mean: got.TargetMean, SD: got.TargetScale}, plain[1])
			encoded := must.Get(read(t, text).Encode("y", nil, dataset.Coding{Missing: dataset.FillMean}, these(upTo(301))))(t)
			must.Near(t, *encoded.Encoding.Columns[0].Mean, want.Mean, 1e-15*math.Abs(want.Mean))
		})
	}
}
