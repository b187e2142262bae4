package model_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// slopes returns rows of a line with a wave on it, in two inputs, a third that doubles the first, and a block of three
// rows.
func slopes(rng *rand.Rand, n int) *dataset.Table {
	t := &dataset.Table{Source: "slopes", Names: []string{"a", "b", "double", "block", "y"}, Rows: n}
	for i := range n {
		a, b := rng.NormFloat64(), 5+rng.Float64()
		t.Values = append(t.Values, a, b, 2*a, float64(i/3), 1000+30*a+20*math.Sin(9*b)+5*rng.NormFloat64())
		t.Lines = append(t.Lines, i+2)
	}
	return t
}

// fixed returns options of a fit that doesn't train on certified rows.
func fixed(loss string, epsilon float64, group string) krigo.Options {
	o := krigo.Options{Data: krigo.Data{Target: "y", Group: group, Inputs: []string{"a", "b", "double"}},
		Kernel:  krigo.Kernel{Expression: "se", ARD: "off"},
		Method:  krigo.Method{Name: "evidence"},
		Promise: krigo.Promise{Loss: loss, Epsilon: epsilon},
		Prior:   krigo.Prior{Kind: "informed", Share: 0.6}, Run: krigo.Run{Restarts: 1}}
	return o
}

// TestContext compares each figure of a context with its definition.
func TestContext(t *testing.T) {
	table := slopes(rand.New(rand.NewPCG(1, 2)), 180)
	for _, c := range []struct {
		name string
		o    krigo.Options
	}{
		{"band", fixed("band", 0.4, "")},
		{"a promise", func() krigo.Options { o := fixed("band", 0.4, ""); o.Promise.Share = 0.8; return o }()},
		{"every width", func() krigo.Options { o := fixed("band", 0.4, ""); o.Promise.Curve = true; return o }()},
		{"a smooth loss", func() krigo.Options { o := fixed("clipped-square", 0.7, ""); o.Promise.Bound = "kl"; return o }()},
		{"groups", func() krigo.Options { o := fixed("band", 0.4, "block"); o.Promise.Bound = "kl"; return o }()},
		{"a transform", func() krigo.Options { o := fixed("band", 0.4, ""); o.Data.Transform = "log"; return o }()},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := must.Get(krigo.Fit(context.Background(), table, c.o))(t)
			d := must.Get(m.Labelled(table))(t)
			roles := must.Get(m.RolesOf(d))(t)
			prior, rows := d.RowsOf(roles, dataset.Prior), d.RowsOf(roles, dataset.Certified)
			x := m.Context
			must.Need(t, x != nil && x.Linear.RMSE != 0 && x.LinearReason == "", "%+v", x)
			ps := must.Get(m.Predict(context.Background(), table, krigo.PredictOptions{}))(t)
			y, yPrior := must.Get(d.Targets(rows))(t), must.Get(d.Targets(prior))(t)
			var mean, own []float64
			held := 0.
			for i, row := range rows {
				p := ps[row]
				mean = append(mean, p.Mean)
				own = append(own, y[i])
				if math.Abs(y[i]-p.Mean) <= (p.Upper95-p.Mean)/m.Stretch() {
					held++
				}
			}
			n := float64(len(rows))
			rmse := func(predicted []float64) float64 {
				var s float64
				for i, v := range predicted {
					s += (v - own[i]) * (v - own[i])
				}
				return math.Sqrt(s / n)
			}
			var absolute, average, total float64
			for i, v := range own {
				absolute, average = absolute+math.Abs(v-mean[i])/n, average+v/n
			}
			for _, v := range own {
				total += (v - average) * (v - average)
			}
			must.Be(t, x.Rows, len(rows))
			must.Near(t, x.RMSE, rmse(mean), 1e-9)
			must.Near(t, x.MAE, absolute, 1e-9)
			must.Near(t, x.R2, 1-n*rmse(mean)*rmse(mean)/total, 1e-9)
			must.Near(t, x.Coverage95, held/n, 1e-12)

			slices.Sort(yPrior)
			median := (yPrior[(len(yPrior)-1)/2] + yPrior[len(yPrior)/2]) / 2
			must.Near(t, x.Constant.Value, median, 1e-9)
			constant := slices.Repeat([]float64{median}, len(rows))
			must.Near(t, x.Constant.RMSE, rmse(constant), 1e-9)
			linear := byLeastSquares(t, d, prior, rows)
			must.Near(t, x.Linear.RMSE, rmse(linear), 1e-5)

			loss := m.Terms.Loss
			risk := func(predicted []float64) float64 {
				sums, sizes := map[int]float64{}, map[int]float64{}
				for i, row := range rows {
					of := row
					if roles.Group != nil {
						of = roles.Group[row]
					}
					sums[of] += loss.Point(own[i]/m.Scaling.TargetScale, predicted[i]/m.Scaling.TargetScale, 1)
					sizes[of]++
				}
				var s float64
				for of, v := range sums {
					s += v / sizes[of] / float64(len(sums))
				}
				return s
			}
			must.Near(t, x.MeanRisk, risk(mean), 1e-9)
			must.Near(t, x.Constant.MeanRisk, risk(constant), 1e-9)
			must.Near(t, x.Linear.MeanRisk, risk(linear), 1e-6)
			units, level := len(rows), m.Terms.Delta
			if m.Group != "" {
				units = m.Groups[dataset.Certified]
			}
			if m.Terms.Promise > 0 {
				level /= 2
			}
			for who, b := range map[string]model.Baseline{"constant": x.Constant.Baseline, "linear": x.Linear} {
				want := pacbayes.HoldOutBound(loss.IsZeroOne() && m.Group == "", b.MeanRisk, units, level)
				must.Near(t, b.MeanBound, want, 1e-9, who)
			}
			if m.Scaling.Transform != nil {
				return
			}
			// Without a curve, the hold-out bound of the model's own predictions is the certificate's bound. A curve's
			// bound is higher.
			_, own2, err := m.Terms.HoldOut(sampleOf(t, m, d, rows, roles))
			must.Do(t, err)
			must.Hold(t, m.Terms.Curve == (own2 < m.Certificate.MeanBound-1e-12) &&
				own2 <= m.Certificate.MeanBound+1e-12,
				"%v by itself, %v", own2, m.Certificate.MeanBound)
		})
	}
}

// sampleOf returns the sample of the model's predictions at rows.
func sampleOf(t *testing.T, m *krigo.Model, d *dataset.Data, rows []int, roles dataset.Roles) pacbayes.Sample {
	t.Helper()
	x, y := matrix.New(len(rows), d.Cols), make([]float64, len(rows))
	must.Do(t, d.Scaled(rows, m.Scaling).Block(0, len(rows), x.Data, y))
	s := pacbayes.Sample{Y: y, Mean: make([]float64, len(rows)), Variance: make([]float64, len(rows)), Rows: len(rows)}
	m.Posterior.Latent(x, s.Mean, s.Variance)
	if roles.Group != nil {
		number := map[int]int{}
		for _, row := range rows {
			g := roles.Group[row]
			if _, known := number[g]; !known {
				number[g] = len(number)
			}
			s.Group = append(s.Group, number[g])
		}
		s.Groups = len(number)
	}
	return s
}

// byLeastSquares predicts rows by the shortest least-squares solution of the rows from, which comes from their SVD.
func byLeastSquares(t *testing.T, d *dataset.Data, from, rows []int) []float64 {
	t.Helper()
	design := func(rows []int) (*mat.Dense, []float64) {
		x, y, err := d.Select(rows)
		must.Do(t, err)
		of := mat.NewDense(len(rows), d.Cols+1, nil)
		for i := range rows {
			of.SetRow(i, append(slices.Clone(x[i*d.Cols:(i+1)*d.Cols]), 1))
		}
		return of, y
	}
	x, y := design(from)
	var svd mat.SVD
	must.Need(t, svd.Factorize(x, mat.SVDThin), "no SVD")
	var b, predicted mat.Dense
	svd.SolveTo(&b, mat.NewDense(len(y), 1, y), svd.Rank(1e-10))
	at, _ := design(rows)
	predicted.Mul(at, &b)
	return mat.Col(nil, 0, &predicted)
}

// TestContextIsChecked shows that Verify refuses a context that the rows don't give, and that a file with an impossible
// context isn't read. A file without a context is valid.
func TestContextIsChecked(t *testing.T) {
	table := slopes(rand.New(rand.NewPCG(7, 8)), 150)
	m := must.Get(krigo.Fit(context.Background(), table, fixed("band", 0.4, "")))(t)
	d := must.Get(m.Labelled(table))(t)
	read := func(x *model.Context) (*model.Model, error) {
		altered := m.Model
		altered.Context = x
		var file bytes.Buffer
		must.Do(t, altered.Write(&file))
		return model.Read(&file)
	}
	same := must.Get(read(m.Context))(t)
	must.Be(t, must.Get(same.Verify(d))(t).Differs, "")
	none := must.Get(read(nil))(t)
	must.Be(t, must.Get(none.Verify(d))(t).Differs, "")
	for name, alter := range map[string]func(x *model.Context){
		"r2":       func(x *model.Context) { x.R2 = 0 },
		"coverage": func(x *model.Context) { x.Coverage95 -= 0.01 },
		"linear":   func(x *model.Context) { x.Linear = model.Baseline{} },
	} {
		x := *m.Context
		alter(&x)
		altered := must.Get(read(&x))(t)
		must.Hold(t, must.Get(altered.Verify(d))(t).Differs != "", "%s isn't found out", name)
	}
	for name, alter := range map[string]func(x *model.Context){
		"rows":   func(x *model.Context) { x.Rows++ },
		"rmse":   func(x *model.Context) { x.RMSE *= 0.99 },
		"bound":  func(x *model.Context) { x.Constant.MeanBound /= 2 },
		"share":  func(x *model.Context) { x.MeanRisk /= 2 },
		"mae":    func(x *model.Context) { x.MAE = 2 * x.RMSE },
		"risk":   func(x *model.Context) { x.MeanRisk = 2 },
		"reason": func(x *model.Context) { x.LinearReason = "it is secret" },
		"error":  func(x *model.Context) { x.Linear.RMSE = -1 },
	} {
		x := *m.Context
		alter(&x)
		_, err := read(&x)
		must.Fail(t, err, map[bool]string{true: "errors contradict", false: "context"}[name == "rmse"], name)
	}
	o := fixed("band", 0.4, "")
	o.Prior, o.Method.Name = krigo.Prior{Kind: "grid"}, "kl-pac"
	learnt := must.Get(krigo.Fit(context.Background(), table, o))(t)
	must.Need(t, learnt.Certificate != nil && learnt.Context == nil,
		"what learnt on certified rows: %+v", learnt.Context)
}
