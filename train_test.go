package krigo

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
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
	tried := ask.AutoKernels
	defer func() { ask.AutoKernels = tried }()
	o := Options{Data: Data{Target: "y"}}
	ask.AutoKernels = []string{"hollow", "matern32", "se"}
	m, err := Fit(context.Background(), data.Snelson(), o)
	must.Hold(t, err == nil && len(m.Findings.Of(finding.StartOutside)) > 0 &&
		m.Findings.Of(finding.StartOutside)[0].Subject[0] == "hollow (ARD)", "%+v, %v", m, err)
	ask.AutoKernels = []string{"hollow"}
	if _, err := Fit(context.Background(), data.Snelson(), o); err == nil ||
		!strings.Contains(err.Error(), "hollow (ARD) failed from every starting point") {
		t.Errorf("no kernel: %v", err)
	}
}

// TestSimplerKernel: on Snelson's rows rq has no more evidence than se, which it becomes as α grows. So only se is
// trained to the end.
func TestSimplerKernel(t *testing.T) {
	tried := ask.AutoKernels
	defer func() { ask.AutoKernels = tried }()
	ask.AutoKernels = []string{"matern52", "rq", "se"}
	var ends []string
	o := Options{Data: Data{Target: "y"}, Run: Run{Progress: func(e Event) {
		if e.Stopped != "" && e.Stopped != train.Near {
			ends = append(ends, e.Family)
		}
	}}}
	m, err := Fit(context.Background(), data.Snelson(), o)
	must.Hold(t, err == nil && slices.Equal(ends, []string{"se (ARD)"}) && m.Training.Starts == 4,
		"%q, %v, %d starts", ends, err, m.Training.Starts)
}

// TestAlikeLengthscales: where all inputs matter alike, the default takes lengthscales that are alike a priori. It
// doesn't where one of them matters, and doesn't try them if the certificate pays for kernels, or none is chosen.
func TestAlikeLengthscales(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const inputs = 6
	var all, one [][]float64
	for range 90 {
		row, sum := make([]float64, inputs+1), 0.
		for j := range inputs {
			row[j] = rng.Float64()
			sum += row[j]
		}
		noise := 0.05 * rng.NormFloat64()
		row[inputs] = math.Sin(2*sum) + noise
		all = append(all, row)
		row = slices.Clone(row)
		row[inputs] = math.Sin(6*row[0]) + noise
		one = append(one, row)
	}
	const alike = ", alike lengthscales"
	for _, c := range []struct {
		rows         [][]float64
		kernel       string
		prior        string
		tried, taken bool
	}{{all, "matern52,se", "", true, true}, {one, "matern52,se", "", true, false}, {all, "se", "", false, false},
		{all, "matern52,se", "grid", false, false}} {
		o := Options{Data: Data{Target: "y"}, Kernel: Kernel{Expression: c.kernel}, Prior: Prior{Kind: c.prior}}
		if o.Prior.Kind == "" {
			o.Prior.Share = 1
		} else {
			o.Method.Name = "evidence"
		}
		var tried bool
		o.Run.Progress = func(e Event) { tried = tried || strings.HasSuffix(e.Family, alike) }
		m, err := Fit(t.Context(), must.Get(dataset.FromRows(strings.Split("a b c d e f y", " "), c.rows))(t), o)
		if err != nil {
			t.Fatal(err)
		}
		found := m.Findings.Of(finding.KernelByEvidence)
		taken := len(found) > 0 && strings.HasSuffix(found[0].Subject[0], alike)
		must.Hold(t, tried == c.tried && taken == c.taken,
			"%s %s: tried %v, taken %v: %+v", c.kernel, c.prior, tried, taken, found)
	}
}

// TestFurtherKernels: auto goes on to try a straight line beside its best kernel, and steps if that kernel is rough. It
// takes each where it is the truth, and tries neither if kernels are named or the certificate pays for them. The
// model's own options allow the kernel that was taken.
func TestFurtherKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const rows, inputs = 200, 3
	var steps, line [][]float64
	for range rows {
		row := make([]float64, inputs+1)
		for j := range inputs {
			row[j] = rng.Float64()
		}
		noise := 0.1 * rng.NormFloat64()
		for j, at := range []float64{0.3, 0.6, 0.5} {
			if row[j] > at {
				row[inputs] += float64(j + 1)
			}
		}
		if row[0] > 0.7 && row[1] > 0.4 {
			row[inputs] -= 3
		}
		other := slices.Clone(row)
		row[inputs] += noise
		other[inputs] = 4*other[0] - 3*other[1] + 5*other[2] + math.Sin(25*other[0])/2 + noise
		steps, line = append(steps, row), append(line, other)
	}
	for _, c := range []struct {
		rows         [][]float64
		kernel       string
		tried, taken string
	}{{steps, "auto", "steps", "steps"}, {line, "auto", "+linear", "+linear"}, {steps, "matern32,se", "", ""}} {
		o := Options{Data: Data{Target: "y"}, Kernel: Kernel{Expression: c.kernel}}
		o.Prior.Kind = "informed"
		tried := c.tried == ""
		o.Run.Progress = func(e Event) {
			further := strings.HasPrefix(e.Family, ask.AutoSteps) || strings.Contains(e.Family, "+"+ask.AutoLinear)
			must.Hold(t, c.tried != "" || !further, "%s: tried %s", c.kernel, e.Family)
			tried = tried || strings.Contains(e.Family, c.tried)
		}
		m, err := Fit(t.Context(), must.Get(dataset.FromRows(strings.Split("a b c y", " "), c.rows))(t), o)
		if err != nil {
			t.Fatal(err)
		}
		names := m.Findings.Of(finding.KernelByEvidence)
		must.Hold(t, tried && strings.Contains(names[0].Subject[0], c.taken),
			"%s: tried %v, took %+v", c.kernel, tried, names)
		err = conduct.CheckAsked(&m.Model, strings.Split("a b c y", " "))
		must.Hold(t, m.Certificate != nil && err == nil,
			"%s: certificate %v, %v", c.kernel, m.Certificate, err)
	}
}
