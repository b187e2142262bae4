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
	"github.com/krigo-gp/krigo/internal/linalg"
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

// TestAverage: auto averages the kernels that it compared on few rows. The model is one GP whose covariance is the sum of
// its parts, its options allow it, and they allow no other part. Named kernels and many rows aren't averaged.
func TestAverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	table := func(n int) *dataset.Table {
		rows := make([][]float64, n)
		for i := range rows {
			a := rng.Float64()
			b := rng.Float64()
			rows[i] = []float64{a, b, math.Sin(5*a) + b*b + 0.2*rng.NormFloat64()}
		}
		return must.Get(dataset.FromRows(strings.Split("a b y", " "), rows))(t)
	}
	for _, c := range []struct {
		rows   int
		kernel string
		is     bool
	}{{160, "auto", true}, {160, "matern32,se", false}, {640, "auto", false}} {
		o := Options{Data: Data{Target: "y"}, Kernel: Kernel{Expression: c.kernel}}
		m, err := Fit(t.Context(), table(c.rows), o)
		must.Do(t, err)
		found := m.Findings.Of(finding.KernelsAveraged)
		must.Need(t, (len(found) == 1) == c.is && m.Certificate != nil, "%s of %d rows: %v, %v",
			c.kernel, c.rows, found, m.Certificate)
		columns := strings.Split("a b y", " ")
		must.Do(t, conduct.CheckAsked(&m.Model, columns))
		if !c.is {
			continue
		}
		q, _ := m.Posterior.OfPrior()
		must.Need(t, q != nil, "the posterior isn't the prior's")
		spec := q.Kernel.Spec(q.Theta)
		x := linalg.New(5, 2)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		sum := linalg.New(5, 5)
		for _, s := range spec.Parts {
			k, theta, err := s.Build(2)
			must.Do(t, err)
			part := linalg.New(5, 5)
			k.Cov(theta, x, x, part)
			linalg.Axpy(1, part.Data, sum.Data)
		}
		all := linalg.New(5, 5)
		q.Kernel.Cov(q.Theta, x, x, all)
		for i, v := range all.Data {
			must.Hold(t, math.Abs(v-sum.Data[i]) <= 1e-12*math.Abs(v), "%v, want %v", v, sum.Data[i])
		}
		forged := m.Model
		other := *q
		forged.Posterior = &other
		must.Do(t, conduct.CheckAsked(&forged, columns))
		alien := kernel.Spec{Name: "constant", Variance: 1}
		spec.Parts = append(slices.Clone(spec.Parts), alien)
		other.Kernel, other.Theta, err = spec.Build(2)
		must.Do(t, err)
		must.Hold(t, conduct.CheckAsked(&forged, columns) != nil,
			"a part that auto doesn't try was allowed")
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
	}{{steps, "auto", "steps", "steps"}, {line, "auto", "+linear", "+linear"}, {steps, "matern32,matern52,se", "", ""}} {
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

// TestOnMap: where two inputs are places, nearest doesn't try rq, which never returns to the mean beyond the rows.
func TestOnMap(t *testing.T) {
	inputs := func(names ...string) (of []kernel.Input) {
		for _, name := range names {
			of = append(of, kernel.Input{Column: name})
		}
		return of
	}
	for _, c := range []struct {
		method, group string
		inputs        []kernel.Input
		tries         bool
	}{
		{"nearest", "", inputs("Lat", "lon"), false},
		{"nearest", "", inputs("a", "b"), true},
		{"nearest", "block:a,b:2", inputs("a", "b"), false},
		{"nearest", "", inputs("lat", "lon", "rooms"), true},
		{"evidence", "", inputs("lat", "lon"), true},
	} {
		o := ask.Asked{}
		o.Method.Name = c.method
		o.Data.Group = c.group
		must.Hold(t, slices.Contains(o.Auto(c.inputs), "rq") == c.tries, "%+v: %q", c, o.Auto(c.inputs))
	}
}
