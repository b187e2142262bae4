package krigo

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/train"
)

// hollow is white noise whose covariance matrices aren't covariance matrices.
type hollow struct{ kernel.Kernel }

func (hollow) Cov(_ []float64, _, _, k matrix.Dense) {
	for i := range k.Data {
		k.Data[i] = math.NaN()
	}
}

func (h hollow) Spec(theta []float64) kernel.Spec { return kernel.SpecOf("hollow", h.Params(), theta) }

func init() {
	kernel.Register("hollow", func(int, bool) (kernel.Kernel, error) { return hollow{kernel.White()}, nil })
}

// TestKernelThatFails: if one of several kernels can't be trained, a finding names it and the others are trained. If
// no kernel can be trained, the fit returns the error.
func TestKernelThatFails(t *testing.T) {
	tried := autoKernels
	defer func() { autoKernels = tried }()
	o := Options{Data: Data{Target: "y"}}
	autoKernels = []string{"hollow", "matern32", "se"}
	m, err := Fit(context.Background(), data.Snelson(), o)
	must.Not(t, err != nil || len(m.Findings.Of(finding.StartOutside)) == 0 ||
		m.Findings.Of(finding.StartOutside)[0].Subject[0] != "hollow (ARD)", "%+v, %v", m, err)
	autoKernels = []string{"hollow"}
	if _, err := Fit(context.Background(), data.Snelson(), o); err == nil ||
		!strings.Contains(err.Error(), "hollow (ARD) failed from every starting point") {
		t.Errorf("no kernel: %v", err)
	}
}

// TestSimplerKernel: on Snelson's rows rq has no more evidence than se, which it becomes as α grows. So only se is
// trained to the end.
func TestSimplerKernel(t *testing.T) {
	tried := autoKernels
	defer func() { autoKernels = tried }()
	autoKernels = []string{"matern52", "rq", "se"}
	var ends []string
	o := Options{Data: Data{Target: "y"}, Run: Run{Progress: func(e Event) {
		if e.Stopped != "" && e.Stopped != train.Near {
			ends = append(ends, e.Family)
		}
	}}}
	m, err := Fit(context.Background(), data.Snelson(), o)
	must.Not(t, err != nil || !slices.Equal(ends, []string{"se (ARD)"}) || m.Training.Starts != 3, "%q, %v", ends, err)
}
