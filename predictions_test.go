package krigo_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// predicted returns a table of n predictions. A share of them misses by 3, and the others by 1.
func predicted(t *testing.T, rows, misses int) *dataset.Table {
	var text strings.Builder
	fmt.Fprintln(&text, "id,yhat,y,site")
	for i := range rows {
		off := 1
		if i < misses {
			off = 3
		}
		fmt.Fprintf(&text, "row %d,%d,%d,s%d\n", i, 10*i, 10*i+off, i/5)
	}
	table := must.Get(files.CSV{From: strings.NewReader(text.String()), Source: "predicted.csv"}.Read())(t)
	return table
}

// TestCertifyPredictions: for a table of somebody's predictions the bound is the exact binomial bound, in the
// target's units. The result says what it depends on.
func TestCertifyPredictions(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 2}}
	p := must.Get(krigo.CertifyPredictions(t.Context(), predicted(t, 200, 10), "yhat", o))(t)
	c := p.Certificate
	if want := pacbayes.HoldOutBound(true, 0.05, 200, 0.01); !c.Valid || math.Abs(c.Bound-want) > 1e-11 ||
		c.MeanBound != c.Bound || c.EmpiricalRisk != 0.05 || c.EpsilonRaw != 2 {
		t.Errorf("%+v, want a bound of %v", c, want)
	}
	conditions := strings.Join(c.Conditions, " ")
	must.Hold(t, strings.HasSuffix(p.Sentence, "±2 of y.") &&
		strings.Contains(conditions, "The person who certifies vouches for both") &&
		!strings.Contains(conditions, "prior rows"), "%s\n%s", p.Sentence, conditions)
	// Copies among the rows are reported. Whether they are independent is the word of the person who certifies.
	copied := predicted(t, 200, 10)
	k := len(copied.Names)
	for i := 1; i < 51; i++ {
		copy(copied.Values[i*k:(i+1)*k], copied.Values[:k])
	}
	if q, err := krigo.CertifyPredictions(t.Context(), copied, "yhat", o); err != nil || q.Certificate.Repeats != 51 ||
		!strings.Contains(q.Sentence, "51 rows equal another row. The bound holds only if they are independent draws") ||
		!strings.Contains(strings.Join(q.Certificate.Conditions, " "), "51 of the certified rows equal another row") {
		t.Errorf("copies: %+v, %v", q, err)
	}
	must.Hold(t, c.Repeats == 0, "%d repeats", c.Repeats)
	o.Data.Group = "site"
	if p, err := krigo.CertifyPredictions(t.Context(), predicted(t, 200, 10), "yhat", o); err != nil ||
		p.Certificate.Groups != 40 || !(p.Certificate.Bound > c.Bound) {
		t.Errorf("by groups: %+v, %v", p, err)
	}
	for wanted, edit := range map[string]func(o *krigo.Options, prediction *string){
		"no default here":                  func(o *krigo.Options, _ *string) { o.Promise.Epsilon = 0 },
		"epsilon-units sd":                 func(o *krigo.Options, _ *string) { o.Promise.Units = "sd" },
		"asymmetric loss":                  func(o *krigo.Options, _ *string) { o.Promise.EpsilonAbove = 3 },
		"one hold-out bound":               func(o *krigo.Options, _ *string) { o.Promise.Share = 0.9 },
		"name the column":                  func(o *krigo.Options, _ *string) { o.Data.Target = "" },
		"its columns are":                  func(_ *krigo.Options, prediction *string) { *prediction = "mean" },
		"no such column beside the target": func(_ *krigo.Options, prediction *string) { *prediction = "y" },
	} {
		o, prediction := krigo.Options{
			Data:    krigo.Data{Target: "y"},
			Promise: krigo.Promise{Epsilon: 2},
		}, "yhat"
		edit(&o, &prediction)
		var usage *krigo.UsageError
		if _, err := krigo.CertifyPredictions(t.Context(), predicted(t, 50, 0), prediction, o); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v", wanted, err)
		}
	}
	_, err := krigo.CertifyPredictions(t.Context(), predicted(t, 19, 0), "yhat",
		krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 2}})
	must.Hold(t, errors.Is(err, pacbayes.ErrTooFewRows), "19 rows: %v", err)
}

// TestConstantTarget: from a constant target nothing is learnt, but predictions of it can still be judged.
func TestConstantTarget(t *testing.T) {
	text := "yhat,y\n" + strings.Repeat("5,5\n", 190) + strings.Repeat("8,5\n", 10)
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "constant.csv"}.Read())(t)
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 2}}
	p := must.Get(krigo.CertifyPredictions(t.Context(), table, "yhat", o))(t)
	if want := pacbayes.HoldOutBound(true, 0.05, 200, 0.01); !p.Certificate.Valid ||
		math.Abs(p.Certificate.Bound-want) > 1e-11 {
		t.Errorf("%+v, want a bound of %v", p.Certificate, want)
	}
	o.Promise.Units = "sd"
	var usage *krigo.UsageError
	if _, err := krigo.CertifyPredictions(t.Context(), table, "yhat", o); !errors.As(err, &usage) {
		t.Errorf("in standard deviations of a constant: %v", err)
	}
	one := must.Get(files.CSV{From: strings.NewReader("yhat,y\n5,5\n"), Source: "one.csv"}.Read())(t)
	o.Promise.Units = ""
	if _, err := krigo.CertifyPredictions(t.Context(), one, "yhat", o); !errors.Is(err, pacbayes.ErrTooFewRows) {
		t.Errorf("one row: %v", err)
	}
}

// TestPredictionsBoundHolds: over 2,000 draws of 60 rows, from a source with a known share of misses, the bound fails
// in at most a share δ, apart from chance.
func TestPredictionsBoundHolds(t *testing.T) {
	const risk, delta, draws = 0.12, 0.05, 2000
	rng := rand.New(rand.NewPCG(5, 6))
	fails := 0
	for range draws {
		misses := 0
		for range 60 {
			if rng.Float64() < risk {
				misses++
			}
		}
		o := krigo.Options{
			Data:    krigo.Data{Target: "y"},
			Promise: krigo.Promise{Epsilon: 2, Delta: 0.05},
		}
		p := must.Get(krigo.CertifyPredictions(t.Context(), predicted(t, 60, misses), "yhat", o))(t)
		if p.Certificate.Bound < risk {
			fails++
		}
	}
	if limit := delta*draws + 3*math.Sqrt(draws*delta*(1-delta)); float64(fails) > limit {
		t.Errorf("%d of %d bounds failed at δ = %v", fails, draws, delta)
	}
}

// TestMeanSquareHolds: over 2,000 draws of 60 rows, the bound on the mean of min(e², 4²) fails in at
// most a share δ. The errors e have no variance: P(|e| > x) = (1+x)^−1.5. The mean is then
// 4(√(1+c) + 1/√(1+c) − 2) for the cap c. The bound is by betting, and near the mean.
func TestMeanSquareHolds(t *testing.T) {
	const c, delta, draws = 4.0, 0.05, 2000
	truth := 4 * (math.Sqrt(1+c) + 1/math.Sqrt(1+c) - 2)
	rng := rand.New(rand.NewPCG(7, 8))
	fails, below := 0, 0
	for range draws {
		table := predicted(t, 60, 0)
		for i := range 60 {
			table.Values[i*len(table.Names)+1] = math.Pow(1-rng.Float64(), -1/1.5) - 1
			table.Values[i*len(table.Names)+2] = 0
		}
		o := krigo.Options{
			Data:    krigo.Data{Target: "y"},
			Promise: krigo.Promise{Loss: "clipped-square", Epsilon: c, Delta: delta},
		}
		p := must.Get(krigo.CertifyPredictions(t.Context(), table, "yhat", o))(t)
		if p.Certificate.Bound*c*c < truth {
			fails++
		}
		if p.Certificate.EmpiricalRisk*c*c < truth {
			below++
		}
		must.Need(t, p.Certificate.Inequality == pacbayes.BettingBound &&
			strings.Contains(p.Sentence, "the root mean squared error of predictions"), "%+v", p)
	}
	if fails > delta*draws || below < draws/3 {
		t.Errorf("of %d bounds %d failed, and %d means were below the truth", draws, fails, below)
	}
}
