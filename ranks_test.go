package krigo_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/ranks"
)

// waves writes n rows of two inputs and a target, as one NPY file or as one file for each size.
func waves(t *testing.T, name string, n int, sizes ...int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 3*n)
	for i := range n {
		a, b := 6*rng.Float64(), rng.NormFloat64()
		copy(values[3*i:], []float64{a, b, math.Sin(a) + 0.3*b + 0.2*rng.NormFloat64()})
	}
	copy(values[3*(n-1):], values[:3]) // the last row repeats the first row
	folder, path := t.TempDir(), ""
	if len(sizes) == 0 {
		sizes = []int{n}
	}
	for k, size := range sizes {
		path = filepath.Join(folder, name)
		must.Do(t, files.WriteFile(strings.ReplaceAll(path, "%d", fmt.Sprint(k)), []string{"a", "b", "y"}, size,
			func(i int, v []float64) error {
				copy(v, values[3*i:])
				return nil
			}))
		values = values[3*size:]
	}
	return path
}

// together runs work on the given number of ranks, each with its part of the table. It returns the result of the
// first rank, and every rank's error.
func together[T any](t *testing.T, path string, size int, work func(table *dataset.Table) (T, error)) (T, []error) {
	t.Helper()
	results, errs := make([]T, size), make([]error, size)
	var wait sync.WaitGroup
	for i, r := range ranks.Threads(size) {
		wait.Go(func() {
			table, err := files.ReadPart(path, r, dataset.Reading{})
			if err == nil {
				defer table.Close()
				results[i], err = work(table)
			}
			errs[i] = r.Close(err)
		})
	}
	wait.Wait()
	return results[0], errs
}

func alike(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*math.Max(math.Abs(a), math.Abs(b))
}

// TestRanksEvaluate: 1, 2, 3 and 4 ranks, and parts of different sizes, give the same objective and gradient to
// 1e-10, and the same certificate to 1e-9.
func TestRanksEvaluate(t *testing.T) {
	must.Long(t)
	const n = 3000
	whole := waves(t, "waves.npy", n)
	parts := waves(t, "waves-%d.npy", n, 100, 2300, 600)
	params := &krigo.Params{Kernel: se(1, 0.7), NoiseVariance: 0.2}
	for i := range 12 {
		params.Inducing = append(params.Inducing, []float64{-1.5 + 0.27*float64(i), math.Sin(float64(i))})
	}
	flat := func(e *krigo.Evaluation) []float64 {
		v := []float64{e.Value, *e.Gradient.LogVariance, *e.Gradient.LogNoiseVariance}
		v = append(v, e.Gradient.LogLengthscales...)
		return slices.Concat(append(e.Gradient.Inducing, v)...)
	}
	for name, o := range map[string]krigo.Options{
		"kl-pac": {Method: krigo.Method{Name: "kl-pac"}},
		"sqrt-pac": {
			Method:  krigo.Method{Name: "sqrt-pac"},
			Promise: krigo.Promise{Loss: "clipped-square", Bound: "split-kl"},
		},
		"kl-pac, α = ½": {
			Method:  krigo.Method{Name: "kl-pac", Alpha: new(0.0)},
			Promise: krigo.Promise{Loss: "relative", Share: 0.9},
		},
		"vfe": {Method: krigo.Method{Name: "vfe"}},
		"dtc, all rows": {
			Data:   krigo.Data{Scaling: "all-rows"},
			Method: krigo.Method{Name: "dtc"},
		},
		"fitc": {Method: krigo.Method{Name: "fitc", Posterior: "fitc"}},
		"pep": {
			Kernel: krigo.Kernel{Mean: "constant"},
			Method: krigo.Method{Name: "pep"},
		},
		"svgp": {Method: krigo.Method{Name: "svgp"}},
		"no prior rows": {Method: krigo.Method{Name: "kl-pac"},
			Data: krigo.Data{Scaling: dataset.Declared, Declared: identity(2)}},
		"renyi, 2 ranks": {
			Data:   krigo.Data{TestFraction: 0.9},
			Method: krigo.Method{Name: "renyi", Alpha: new(0.0)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o.Data.Target = "y"
			if o.Method.Alpha != nil {
				*o.Method.Alpha = 0.5
			}
			p := *params
			if o.Kernel.Mean != "" {
				p.Mean = &krigo.MeanParams{Constant: 0.1}
			}
			evaluate := func(table *dataset.Table) (*krigo.Evaluation, error) {
				return krigo.Evaluate(t.Context(), table, &p, o)
			}
			want, errs := together(t, whole, 1, evaluate)
			if errs[0] != nil || want.Certificate == nil {
				t.Fatal(errs, want)
			}
			check := func(path string, size int) {
				got, errs := together(t, path, size, evaluate)
				if err := errors.Join(errs...); err != nil {
					t.Fatal(size, err)
				}
				a, b := flat(got), flat(want)
				var largest float64
				for _, v := range b[:len(b)-3] {
					largest = max(largest, math.Abs(v))
				}
				for i := range b {
					if !alike(a[i], b[i], 1e-10) && math.Abs(a[i]-b[i]) > 1e-10*largest {
						t.Errorf("%d ranks: number %d is %v, of one rank %v", size, i, a[i], b[i])
					}
				}
				if !got.Certificate.Equal(want.Certificate) {
					t.Errorf("%d ranks: %+v\none: %+v", size, got.Certificate, want.Certificate)
				}
			}
			for _, size := range []int{2, 3, 4} {
				check(whole, size)
			}
			check(parts, 3)
		})
	}
}

// TestRanksFit: a fit over ranks ends at the same model, with all rows in every step and with batches.
func TestRanksFit(t *testing.T) {
	must.Long(t)
	const n = 600
	whole := waves(t, "waves.npy", n)
	for name, o := range map[string]krigo.Options{
		"kl-pac": {
			Method:  krigo.Method{Name: "kl-pac", Inducing: 8, Epochs: 30},
			Promise: krigo.Promise{Calibration: 0.1},
		},
		// an informed prior, trained by the evidence
		"default": cheap(krigo.Options{
			Method:  krigo.Method{Epochs: 10},
			Promise: krigo.Promise{Share: 0.9},
		}),
		"informed": {
			Method:  krigo.Method{Inducing: 8, Epochs: 30},
			Prior:   krigo.Prior{Temper: []float64{1, 0.5}},
			Promise: krigo.Promise{Loss: "clipped-square", Bound: "betting", MeanBound: "both"},
		},
		"seen": {
			Data:   krigo.Data{Transform: "yeo-johnson"},
			Method: krigo.Method{Name: "vfe", Inducing: 8, Epochs: 20},
			Prior:  krigo.Prior{Kind: "informed"},
		},
		"split-kl": {
			Method:  krigo.Method{Inducing: 8, Epochs: 10},
			Promise: krigo.Promise{Loss: "clipped-square", Bound: "split-kl", Calibration: 0.1},
		},
		"learnt": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "vfe", Inducing: 8, Epochs: 20},
			Prior:  krigo.Prior{Kind: "informed", Learn: true},
		},
		"vfe": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "vfe", Inducing: 8, Epochs: 30},
		},
		"svgp": {
			Method: krigo.Method{Name: "svgp", Inducing: 8, Batch: 100, Epochs: 4},
		},
		"free": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{
				Name:      "kl-pac",
				Inducing:  5,
				Posterior: "free",
				Optimizer: "lbfgs",
				Epochs:    20,
			},
		},
		"free, adam": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{
				Name:      "kl-pac",
				Inducing:  5,
				Posterior: "free",
				Optimizer: "adam",
				Batch:     3,
				Epochs:    3,
			},
		},
		"renyi": {
			Method: krigo.Method{
				Name:      "renyi",
				Inducing:  8,
				Optimizer: "adam",
				Batch:     64,
				Epochs:    2,
			},
		},
		"uniform": {
			Method: krigo.Method{
				Name:      "renyi",
				Inducing:  8,
				Optimizer: "adam",
				Batch:     64,
				Batches:   "uniform",
				Epochs:    2,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o.Data.Target, o.Data.TestFraction = "y", 0.2
			train := func(table *dataset.Table) (*krigo.Model, error) { return krigo.Fit(context.Background(), table, o) }
			want, errs := together(t, whole, 1, train)
			must.Need(t, errs[0] == nil, "%v", errs)
			for _, size := range []int{2, 4} {
				got, errs := together(t, whole, size, train)
				if err := errors.Join(errs...); err != nil {
					t.Fatal(size, err)
				}
				if got.Hash != want.Hash || !slices.Equal(got.Rows, want.Rows) || got.Counts != want.Counts || got.All != want.All {
					t.Errorf("%d ranks: the rows aren't those of one rank", size)
				}
				if !slices.Equal(got.Findings.Words(), want.Findings.Words()) {
					t.Errorf("%d ranks: %q, of one %q", size, got.Findings, want.Findings)
				}
				// Optimisers carry rounding along, so the paths are close, not equal.
				for what, v := range map[string][2]float64{
					"bound": {got.Certificate.Bound, want.Certificate.Bound}, "mse": {got.Test.MSE, want.Test.MSE},
					"nlpd": {got.Test.NLPD, want.Test.NLPD}, "noise": {got.ObservationNoise, want.ObservationNoise},
				} {
					must.Hold(t, alike(v[0], v[1], 1e-3),
						"%d ranks: %s %v, of one %v", size, what, v[0], v[1])
				}
				must.Hold(t, got.Conformal == nil ||
					(got.Conformal.Rows == want.Conformal.Rows && alike(got.Conformal.HalfWidth, want.Conformal.HalfWidth, 1e-3)),
					"%+v\n%+v", got.Conformal, want.Conformal)
				// Any number of ranks certifies any model.
				r, errs := together(t, whole, 3, func(table *dataset.Table) (*krigo.Recertification, error) {
					return certify(got, table)
				})
				if err := errors.Join(errs...); err != nil || !r.Matches {
					t.Errorf("%v, %+v", err, r)
				}
			}
		})
	}
}

// TestRanksCG: ranks share the products of the evidence by conjugate gradients.
func TestRanksCG(t *testing.T) {
	path := waves(t, "waves.npy", 700)
	o := krigo.Options{
		Data:   krigo.Data{Target: "y", TestFraction: 0.1},
		Kernel: krigo.Kernel{ARD: "on"},
		Method: krigo.Method{Name: "evidence", Solver: "cg", Epochs: 6},
	}
	params := &krigo.Params{Kernel: se(1, 0.7, 1.2), NoiseVariance: 0.2}
	evaluate := func(table *dataset.Table) (*krigo.Evaluation, error) {
		return krigo.Evaluate(t.Context(), table, params, o)
	}
	train := func(table *dataset.Table) (*krigo.Model, error) { return krigo.Fit(context.Background(), table, o) }
	value, errs := together(t, path, 1, evaluate)
	model, more := together(t, path, 1, train)
	must.Do(t, errors.Join(append(errs, more...)...))
	for _, size := range []int{2, 3} {
		e, errs := together(t, path, size, evaluate)
		m, more := together(t, path, size, train)
		must.Do(t, errors.Join(append(errs, more...)...))
		if !alike(e.Value, value.Value, 1e-10) || !alike(*e.Gradient.LogNoiseVariance, *value.Gradient.LogNoiseVariance,
			1e-10) || !alike(e.Gradient.LogLengthscales[1], value.Gradient.LogLengthscales[1], 1e-10) {
			t.Errorf("%d ranks: %+v\none: %+v", size, e, value)
		}
		if !alike(m.Test.MSE, model.Test.MSE, 1e-6) || math.Abs(m.Test.NLPD-model.Test.NLPD) > 1e-6 {
			t.Errorf("%d ranks: %+v\none: %+v", size, m.Test, model.Test)
		}
	}
}

// TestRanksRefuse: an error on one rank ends all ranks, and names the rank.
func TestRanksRefuse(t *testing.T) {
	bad := waves(t, "waves-%d.npy", 90, 30, 30, 30)
	if raw, err := os.ReadFile(strings.ReplaceAll(bad, "%d", "1")); err != nil {
		t.Fatal(err)
	} else {
		row := raw[len(raw)-27*24:]
		binary.LittleEndian.PutUint64(row[16:], math.Float64bits(math.Inf(-1)))
		os.WriteFile(strings.ReplaceAll(bad, "%d", "1"), raw, 0o644)
	}
	far := waves(t, "waves-%d.npy", 90, 30, 30, 30)
	must.Do(t, files.WriteFile(strings.ReplaceAll(far, "%d", "2"), []string{"a", "b", "y"}, 60,
		func(i int, v []float64) error {
			copy(v, []float64{float64(i), 1, 1e308 * float64(i%2)})
			return nil
		}))
	other := waves(t, "waves-%d.npy", 90, 30, 30, 30)
	must.Do(t, files.WriteFile(strings.ReplaceAll(other, "%d", "2"), []string{"a", "c", "y"}, 9,
		func(i int, v []float64) error { return nil }))
	lost := waves(t, "waves-%d.npy", 90, 30, 30, 30)
	os.Remove(strings.ReplaceAll(lost, "%d", "2"))
	for name, c := range map[string]struct {
		path string
		o    krigo.Options
		size int
		want string
	}{
		"bad row": {bad, krigo.Options{}, 3,
			`rank 1 of 3 (on HOST): FOLDER/waves-1.npy: row 4, column 3 ("y"): -Inf is not finite`},
		"overflow": {far, krigo.Options{Data: krigo.Data{Scaling: dataset.Declared,
			Declared: &dataset.Scaling{InputMean: []float64{0, 0}, InputScale: []float64{1, 1}, TargetMean: 0, TargetScale: 1e-9,
				Source: dataset.Declared}}}, 3, "rank 2 of 3 (on HOST): FOLDER/waves-2.npy: row 2: a value is so far from the " +
			"others that its scaled form overflows"},
		"another column": {other, krigo.Options{}, 3,
			`rank 2 of 3 (on HOST): FOLDER/waves-2.npy: the columns are "a", "c", "y", not those of the first rank's file`},
		"no file": {lost, krigo.Options{}, 3, "rank 2 of 3 (on HOST): FOLDER/waves-2.npy: no such file"},
		"too few ranks": {waves(t, "waves-%d.npy", 90, 30, 30, 30), krigo.Options{}, 2,
			"FOLDER/waves-2.npy: no rank reads it, since there are 2 ranks"},
		"too many ranks": {waves(t, "waves.npy", 2), krigo.Options{}, 3, "fewer rows than ranks"},
		"wrong target": {waves(t, "waves.npy", 90), krigo.Options{
			Data: krigo.Data{Target: "z"},
		}, 2, `no column "z"`},
		"filled": {waves(t, "waves.npy", 90), krigo.Options{
			Data: krigo.Data{Missing: "mean"},
		}, 2, "missing values isn't spread over ranks"},
		"factored":         {waves(t, "waves.npy", 90), krigo.Options{}, 2, "a bound of a full GP isn't trained over ranks"},
		"nothing to learn": {waves(t, "waves.npy", 2), krigo.Options{}, 2, `every value of target "y" is`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.o.Data.Target == "" {
				c.o.Data.Target = "y"
			}
			if c.o.Method.Name == "" {
				c.o.Method.Name = "kl-pac"
			}
			if c.o.Method.Inducing == 0 && name != "factored" {
				c.o.Method.Inducing = 4
			}
			_, errs := together(t, c.path, c.size,
				func(table *dataset.Table) (*krigo.Model, error) { return krigo.Fit(context.Background(), table, c.o) })
			host, _ := os.Hostname()
			want := strings.NewReplacer("HOST", host, "FOLDER", filepath.Dir(c.path)).Replace(c.want)
			for i, err := range errs {
				must.Fail(t, err, want, i)
			}
		})
	}
}

// TestRanksBreak: a file that goes bad in the middle of a fit ends the fit on all ranks. An interruption ends it on all
// ranks too, although only the first rank's context is cancelled.
func TestRanksBreak(t *testing.T) {
	whole, path := waves(t, "waves.npy", 900), waves(t, "waves-%d.npy", 900, 300, 300, 300)
	ctx, cancel := context.WithCancel(context.Background())
	for name, c := range map[string]struct {
		path string
		stop func()
		want string
	}{
		"interrupted": {whole, cancel, "rank 0 of 3 (on HOST): context canceled"},
		"cut short": {path, func() { os.Truncate(strings.ReplaceAll(path, "%d", "1"), 1000) },
			"rank 1 of 3 (on HOST): FOLDER/waves-1.npy: rows "},
	} {
		t.Run(name, func(t *testing.T) {
			own := context.Background()
			if name == "interrupted" {
				own = ctx
			}
			steps := 0
			_, errs := together(t, c.path, 3, func(table *dataset.Table) (*krigo.Model, error) {
				ctx := context.Background()
				if table.Ranks().Rank() == 0 {
					ctx = own
				}
				return krigo.Fit(ctx, table, krigo.Options{Data: krigo.Data{Target: "y"},
					Method: krigo.Method{Name: "kl-pac", Inducing: 6}, Kernel: krigo.Kernel{ARD: "off"},
					Run: krigo.Run{Save: func(*krigo.Checkpoint) error {
						if steps++; steps == 3 {
							c.stop()
						}
						return nil
					}}})
			})
			host, _ := os.Hostname()
			want := strings.NewReplacer("HOST", host, "FOLDER", filepath.Dir(path)).Replace(c.want)
			for i, err := range errs {
				must.Fail(t, err, want, i)
			}
		})
	}
}

// TestRanksResume: a fit goes on from its checkpoint on another number of ranks. It ends like the uninterrupted fit,
// up to the last bits.
func TestRanksResume(t *testing.T) {
	path := waves(t, "waves.npy", 600)
	fit := func(size int, o krigo.Options) (*krigo.Model, *krigo.Checkpoint) {
		t.Helper()
		var raw []byte
		o.Data.Target, o.Method.Name, o.Method.Inducing, o.Kernel.ARD, o.Method.Epochs = "y", "kl-pac", 6, "off", 40
		o.Run.Save = func(c *krigo.Checkpoint) (err error) {
			if raw == nil || c.Runs["se/1"].Descent.Iterations <= 5 {
				raw, err = json.Marshal(c)
			}
			return err
		}
		m, errs := together(t, path, size, func(table *dataset.Table) (*krigo.Model, error) {
			return krigo.Fit(context.Background(), table, o)
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(size, err)
		}
		var c krigo.Checkpoint
		must.Do(t, json.Unmarshal(raw, &c))
		return m, &c
	}
	want, checkpoint := fit(3, krigo.Options{})
	for _, size := range []int{1, 2, 3, 4} {
		got, _ := fit(size, krigo.Options{Run: krigo.Run{Resume: checkpoint}})
		must.Hold(t, (size != 3 || got.Certificate.Bound == want.Certificate.Bound) &&
			alike(got.Certificate.Bound, want.Certificate.Bound, 1e-4),
			"resumed on %d ranks: bound %v, uninterrupted on 3: %v", size, got.Certificate.Bound,
			want.Certificate.Bound)
	}
}

// TestRanksCompare: fits that are spread over ranks give the same comparison as on one rank.
func TestRanksCompare(t *testing.T) {
	table := snelson()
	compare := func(r ranks.Ranks) ([]krigo.Comparison, error) {
		rows, err := krigo.Compare(context.Background(), table,
			krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 3, Epochs: 5},
				Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Ranks: r}},
			krigo.CompareOptions{Objectives: []string{"kl-pac", "vfe"}, Epsilons: []float64{0.4, 0.6}, Splits: 2})
		for _, row := range rows {
			delete(row.Measures, "seconds")
			delete(row.Differences, "seconds")
		}
		return rows, err
	}
	want := must.Get(compare(nil))(t)
	const size = 3
	var wait sync.WaitGroup
	for _, r := range ranks.Threads(size) {
		wait.Go(func() {
			got, err := compare(r)
			if err = r.Close(err); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("rank %d: %v\n%v\none: %v", r.Rank(), err, got, want)
			}
		})
	}
	wait.Wait()
}

// TestRanksNearest: nearest trains on several ranks as on one, from several starts, and for a loss relative to
// targets. For this loss each rank needs the targets of all rows.
func TestRanksNearest(t *testing.T) {
	path := waves(t, "waves.npy", 600)
	for name, o := range map[string]krigo.Options{
		"loss": {
			Method:  krigo.Method{Name: "nearest", Term: "loss", Neighbours: 9},
			Promise: krigo.Promise{Loss: "relative", Epsilon: 0.3},
		},
		"vecchia": {
			Kernel: krigo.Kernel{Mean: "constant"},
			Method: krigo.Method{
				Name:       "nearest",
				Form:       "vecchia",
				Hyperprior: "weak",
				Optimizer:  "adam",
				Batch:      30,
			},
		},
		"evidence": {
			Method: krigo.Method{Name: "evidence", Solver: "nearest", Optimizer: "adam", Batch: 30},
		},
	} {
		o.Data.Target, o.Prior.Kind, o.Prior.Share, o.Method.Epochs, o.Run.Restarts = "y", "informed", 0.2, 4, 3
		var one *krigo.Model
		for _, size := range []int{1, 2, 3} {
			m, errs := together(t, path, size, func(table *dataset.Table) (*krigo.Model, error) {
				return krigo.Fit(context.Background(), table, o)
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatalf("%s on %d ranks: %v", name, size, err)
			}
			if one == nil {
				one = m
			}
			for i, v := range m.Posterior.Theta {
				if !alike(v, one.Posterior.Theta[i], 1e-6) {
					t.Errorf("%s on %d ranks: %v, on one %v", name, size, m.Posterior.Theta, one.Posterior.Theta)
				}
			}
			if m.Counts != one.Counts || !alike(m.Certificate.Bound, one.Certificate.Bound, 1e-9) {
				t.Errorf("%s on %d ranks: rows %v, bound %v, on one %v, %v", name, size, m.Counts, m.Certificate.Bound, one.Counts,
					one.Certificate.Bound)
			}
		}
	}
}
