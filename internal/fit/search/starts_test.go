package search

import (
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/train"
)

// TestStartsOfOtherKernels: a kernel with one lengthscale per input starts where it ended with one lengthscale for
// all. It never starts where another kernel ended, whose parameters mean something else.
func TestStartsOfOtherKernels(t *testing.T) {
	for _, ard := range []string{"on", "auto"} {
		p := &plan.Plan{Stage: plan.Stage{Share: deal.Share{Dealt: &deal.Dealt{Data: &dataset.Data{Cols: 3}}}, Restarts: 1,
			Families: plan.Families(ask.Newly(ask.Options{Kernel: fitting.Kernel{Expression: ask.AutoKernel, ARD: ard, Mean: "constant"}}),
				make([]kernel.Input, 3))}}
		found := make([]Run, len(p.Families))
		for fi, f := range p.Families {
			alone := p.Starts(f, nil)[0]
			x := p.Starts(f, before(f, found[:fi]))[0]
			if ard == "auto" && fi%2 == 1 {
				iso := found[fi-1].Result.X
				if x[0] != iso[0] || x[2] != iso[0] || x[3] != iso[1] || x[len(x)-1] != iso[len(iso)-1] {
					t.Errorf("%s starts at %v where one lengthscale ended at %v", f.Name, x, iso)
				}
			} else if !slices.Equal(x, alone) {
				t.Errorf("%s starts at %v after others, alone at %v", f.Name, x, alone)
			}
			end := make([]float64, len(x))
			for i := range end {
				end[i] = float64(10*fi + i + 1)
			}
			found[fi] = Run{Family: f, Result: &train.Result{X: end, Value: -float64(fi)}}
		}
	}
}

// TestCertifiedShare: an eighth of many rows is certified, but at most mostCertified rows, and of
// 825 to 1,000 rows a fifth.
func TestCertifiedShare(t *testing.T) {
	for rows, certified := range map[int]int{506: 151, 550: 165, 825: 165, 1000: 200, 1100: 300, 1200: 360, 3333: 999, 8000: 1000, 400_000: 50_000, 10_000_000: 50_000} {
		must.Be(t, rows-ask.InformedRows(rows), certified, rows)
	}
}
