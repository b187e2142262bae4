package conduct

import (
	"math"
	"reflect"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestAbout: a finding names a parameter's column and its part of the kernel. Parameters that differ only in their
// columns share a finding. Values aren't logarithms.
func TestAbout(t *testing.T) {
	d := &dataset.Data{Cols: 3}
	d.Inputs = []string{"CRIM", "ZN", "DIS"}
	p := &plan.Plan{Stage: plan.Stage{Share: deal.Share{Dealt: &deal.Dealt{Data: d}}}}
	names := []string{"1.log_lengthscale2[1]", "1.log_lengthscale2[2]", "1.log_lengthscale2[3]", "3.1.log_variance",
		"log_weight[3]", "mean_slope[2]", "log_noise_variance", "log_lengthscale2", "log_weight[4]"}
	got := about(p, names, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, func(i int, of parameter) (finding.Kind, []float64) {
		end := -2.
		if i == 2 {
			end = 2
		}
		return finding.ParameterLow, []float64{of.value(end)}
	})
	want := finding.List{}
	add := func(name, part string, end float64, inputs ...string) {
		want.Add(finding.ParameterLow, name, append([]string{}, inputs...), part, end)
	}
	add("lengthscale", "1", math.Exp(-1), "CRIM", "ZN")
	add("lengthscale", "1", math.Exp(1), "DIS")
	add("variance", "3.1", math.Exp(-2))
	add("weight", "", math.Exp(-2), "DIS")
	add("mean slope", "", -2, "ZN")
	add("noise variance", "", math.Exp(-2))
	add("lengthscale", "", math.Exp(-1))
	add("weight[4]", "", math.Exp(-2)) // has no column
	must.Hold(t, reflect.DeepEqual(got, want), "%+v, want %+v", got, want)
}
