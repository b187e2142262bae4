package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// noise returns a table whose column x says nothing about its targets. x has numbers, or one of 60 categories.
func noise(t *testing.T, categories bool) (path string, table *dataset.Table) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	text := "x,y\n"
	for i := range 180 {
		if categories {
			text += fmt.Sprintf("c%d,%g\n", i%60, rng.NormFloat64())
		} else {
			text += fmt.Sprintf("%g,%g\n", rng.NormFloat64(), rng.NormFloat64())
		}
	}
	path = filepath.Join(t.TempDir(), "noise.csv")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	table = must.Get(files.CSV{From: strings.NewReader(text), Source: "noise.csv"}.Read())(t)
	return path, table
}

// TestForgedStretch adds the factor of standard deviations to a model whose certificate is about its own ones.
func TestForgedStretch(t *testing.T) {
	python(t)
	data, table := noise(t, false)
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"},
		Prior: krigo.Prior{Kind: "informed"}, Promise: krigo.Promise{Loss: "scaled"},
		Run: krigo.Run{Restarts: 1}}))(t)
	n := float64(m.Conformal.Rows)
	m.Conformal.Stretch = (n*m.Conformal.Normalised/objective.Normal975 + 40) / (n + 40)
	file := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, m.Save(file))
	agrees, said := verify(t, file, data)
	must.Hold(t, !agrees && strings.Contains(said, "the stretch doesn't go with"), "%v", said)
}

// sample holds the rows of a role, in scaled units.
type sample struct {
	x matrix.Dense
	y []float64
}

// TestForgedPriors shapes a prior by the certified rows. Either both programs refuse the prior, or neither program says
// that it checked the prior. Fitting again finds the forgery.
func TestForgedPriors(t *testing.T) {
	python(t)
	evidence, vfe := krigo.Method{Name: "evidence"}, krigo.Method{Name: "vfe", Inducing: 6, Epochs: 30}
	exact := func(t *testing.T, like *posterior.Posterior, theta, beta []float64, on sample,
		noise float64) *posterior.Posterior {
		q := must.Get(posterior.NewExact(posterior.Given{Kernel: like.Kernel, Theta: theta, Mean: like.Mean, Beta: beta,
			Noise: noise, X: on.x, Y: on.y}))(t)
		return q
	}
	for name, c := range map[string]struct {
		method     krigo.Method
		kernel     krigo.Kernel
		categories bool
		// refused is part of the error with which both programs refuse the prior before they fit again; "": no such
		// error
		refused string
		// forge returns posteriors; the test takes the one with the lowest bound
		forge func(t *testing.T, m *krigo.Model, prior, certified sample) []*posterior.Posterior
	}{
		"inducing inputs and weights": {method: vfe, kernel: krigo.Kernel{Expression: "se"},
			refused: "the prior's weights aren't those",
			forge: func(t *testing.T, m *krigo.Model, _, certified sample) []*posterior.Posterior {
				q := exact(t, m.Trained(), []float64{-9, 0}, nil, certified, 1e-6)
				b := matrix.New(len(certified.y), len(certified.y))
				b.AddDiagonal(1)
				q.Solution = &posterior.Inducing{W: q.Weights(), Chol: q.Solution.(*posterior.Exact).Chol, CholB: b}
				return []*posterior.Posterior{q}
			}},
		"parameters": {method: evidence, kernel: krigo.Kernel{Expression: "se"},
			forge: func(t *testing.T, m *krigo.Model, prior, _ sample) (all []*posterior.Posterior) {
				for i := range 100 {
					all = append(all, exact(t, m.Trained(), []float64{-9 + float64(i%50)/4, float64(i / 50)}, nil, prior, 0.3))
				}
				return all
			}},
		"the mean of sixty categories": {method: evidence, kernel: krigo.Kernel{Expression: "se", Mean: "linear", ARD: "off"},
			categories: true, forge: func(t *testing.T, m *krigo.Model, prior, certified sample) []*posterior.Posterior {
				return []*posterior.Posterior{exact(t, m.Trained(), []float64{-9, -9}, categoryMeans(certified), prior, 1)}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			path, table := noise(t, c.categories)
			o := krigo.Options{Data: krigo.Data{Target: "y"}, Method: c.method, Prior: krigo.Prior{Kind: "informed"},
				Kernel: c.kernel, Promise: krigo.Promise{Epsilon: 1}, Run: krigo.Run{Restarts: 1}}
			if c.categories {
				o.Data.Categorical = []string{"x"}
			}
			m := must.Get(krigo.Fit(context.Background(), table, o))(t)
			honest := m.Certificate.MeanBound
			d := must.Get(m.Labelled(table))(t)
			roles := must.Get(m.RolesOf(d))(t)
			of := func(role dataset.Role) sample {
				rows := d.ScaledOf(roles, role, m.Scaling)
				n, cols := rows.Dims()
				s := sample{matrix.New(n, cols), make([]float64, n)}
				must.Do(t, rows.Block(0, n, s.x.Data, s.y))
				return s
			}
			best := *m
			for _, q := range c.forge(t, m, of(dataset.Prior), of(dataset.Certified)) {
				forged := *m
				forged.Posterior = must.Get(q.Unconditioned(1))(t)
				forged.ObservationNoise = q.Noise
				must.Get(forged.CertifyOwn(d, roles))(t)
				if forged.Certificate.MeanBound < best.Certificate.MeanBound {
					best = forged
				}
			}
			if best.Certificate.MeanBound > honest-0.02 {
				t.Fatalf("nothing was forged: %.3f, honestly %.3f", best.Certificate.MeanBound, honest)
			}
			best.Training.Seconds = 3600 // what a file says of itself doesn't spare it a refit
			file := filepath.Join(t.TempDir(), "forged.krigo")
			must.Do(t, best.Save(file))
			out, err := exec.Command(python(t), "verify.py", "--json", file, path).Output()
			var other struct {
				Agrees  bool   `json:"agrees"`
				Refused string `json:"refused"`
				Checked bool   `json:"independently_checked"`
			}
			if json.Unmarshal(out, &other) != nil || other.Agrees != (err == nil) || other.Agrees != (other.Refused == "") ||
				other.Agrees && other.Checked {
				t.Errorf("verify.py: %s, %v", out, err)
			}
			loaded := must.Get(krigo.Load(file))(t)
			r, err := loaded.Certify(t.Context(), table, krigo.CertifyOptions{})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || !strings.Contains(other.Refused, c.refused) {
					t.Errorf("%v; verify.py: %s; want %s", err, other.Refused, c.refused)
				}
				return
			}
			must.Need(t, err == nil && r.Matches && r.Valid && !r.IndependentlyChecked,
				"%+v, %v", r, err)
			if err = r.RefitIfBrief(context.Background(), nil); err == nil || r.Refitted ||
				r.IndependentlyChecked {
				t.Errorf("fitting again: %+v, %v", r, err)
			}
			t.Logf("%.3f, honestly %.3f: %v", best.Certificate.MeanBound, honest, err)
		})
	}
}

// categoryMeans returns the β that gives each category the mean of its targets in the sample.
func categoryMeans(of sample) []float64 {
	beta := make([]float64, 1+of.x.Cols)
	for j := range of.x.Cols {
		var sum, count float64
		for i, y := range of.y {
			sum, count = sum+y*of.x.Row(i)[j], count+of.x.Row(i)[j]
		}
		beta[1+j] = sum / max(count, 1)
	}
	return beta
}
