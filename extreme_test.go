package krigo_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/serve"
)

// outcomesOf draws rows of an input, an exposure, a standard error and targets of every kind.
func outcomesOf(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(5, 6))
	t := dataset.Reading{}.New("outcomes")
	t.Names = []string{"x", "months", "number", "label", "bird", "count", "size", "grade", "side", "error"}
	for range n {
		x := rng.NormFloat64()
		y := x + 0.5*rng.NormFloat64()
		label, side := "no", "none"
		if y > 0 {
			label = "yes"
		}
		if y < -1 {
			side = "left"
		}
		grade := min(max(math.Round(y)+3, 1), 5)
		cells := []string{fmt.Sprint(x), fmt.Sprint(1 + rng.Float64()), fmt.Sprint(y), label,
			[]string{"jay", "kea", "owl"}[min(max(int(math.Round(y))+1, 0), 2)], fmt.Sprint(int(math.Exp(1 + y/2))),
			fmt.Sprint(math.Exp(y)), fmt.Sprint(grade), side, fmt.Sprint(0.1 + 0.4*rng.Float64())}
		if err := t.Append(cells); err != nil {
			panic(err)
		}
	}
	return t
}

// extremes are inputs, and exposures, at and beyond the range of numbers that can be predicted.
var extremes = [][2]float64{{0, 1}, {1e154, 1}, {-1e154, 1}, {1e308, 1}, {-1e308, 1}, {5e-324, 1}, {1e-310, 1}, {1e200, 1},
	{0, 1e200}, {0, 1e-200}, {1e5, 1e-200}, {-1e5, 1e200}, {1e3, 1e-300}}

// TestExtremeInputs: models of every kind answer rows with extreme inputs with finite numbers, or with an error that
// names the row, by Go and by the server. They never panic, and they come to an end.
func TestExtremeInputs(t *testing.T) {
	must.Long(t)
	eachKind(t, func(t *testing.T, all *krigo.Targets) {
		ask := serving(t, all)
		for _, at := range extremes {
			for i := range all.Models {
				checkFinite(t, all.Model(i), extreme(t, at))
			}
			ask(at)
		}
	})
}

// TestInfiniteMeans: a mean or a variance that isn't finite is an error before anything searches for its quantiles. A
// Poisson model of the mean −∞ searched for ever.
func TestInfiniteMeans(t *testing.T) {
	must.Long(t)
	eachKind(t, func(t *testing.T, all *krigo.Targets) {
		for _, at := range [][2]float64{{math.Inf(-1), 1}, {math.Inf(1), 1}, {math.NaN(), 1}, {0, math.Inf(1)}} {
			_, _, err := all.Models[0].Points([]float64{at[0]}, []float64{at[1]}, nil)
			must.Hold(t, err != nil, "%v has a prediction", at)
		}
	})
}

// extreme returns a table of one row, with an input, an exposure and a standard error.
func extreme(t *testing.T, at [2]float64) *dataset.Table {
	row := dataset.Reading{}.New("row")
	row.Names = []string{"x", "months", "error"}
	must.Do(t, row.Append([]string{fmt.Sprint(at[0]), fmt.Sprint(at[1]), fmt.Sprint(at[1])}))
	return row
}

// serving starts a server of the models. The returned function asks it for a row, which has to be answered with finite
// numbers, or refused by its number. A row of another client is answered in any case.
func serving(t *testing.T, all *krigo.Targets) (ask func(at [2]float64)) {
	path := filepath.Join(t.TempDir(), "m.krigo")
	if len(all.Models) == 1 {
		must.Do(t, all.Models[0].Save(path))
	} else {
		must.Do(t, all.Save(path))
	}
	var log bytes.Buffer
	s := must.Get(serve.New(path, serve.Options{Timeout: 10 * time.Second, Log: slog.New(slog.NewTextHandler(&log,
		&slog.HandlerOptions{Level: slog.LevelWarn}))}))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		stop()
		must.Do(t, <-ended)
		must.Be(t, log.String(), "")
	})
	post := func(at [2]float64) (int, string) {
		body := fmt.Sprintf(`{"rows": [{"x": %g, "months": %g, "error": %g}]}`, at[0], at[1], at[1])
		r := must.Get(http.Post("http://"+l.Addr().String()+"/v1/predict", "application/json", strings.NewReader(body)))(t)
		defer r.Body.Close()
		raw := must.Get(io.ReadAll(r.Body))(t)
		return r.StatusCode, string(raw)
	}
	return func(at [2]float64) {
		good := make(chan int, 1)
		go func() {
			status, _ := post([2]float64{0.5, 1})
			good <- status
		}()
		status, body := post(at)
		// A number that isn't finite couldn't be written as JSON, and the answer would be empty.
		if !(status == 200 && json.Valid([]byte(body)) || status == 400 && strings.Contains(body, "row 1")) {
			t.Errorf("%v: status %d: %s", at, status, body)
		}
		must.Be(t, <-good, 200)
	}
}

// TestForgedArrays: a file of any kind of model in which a number of an array isn't finite is refused. If the number is
// finite, but extreme, predictions are finite, or errors that name the row.
func TestForgedArrays(t *testing.T) {
	must.Long(t)
	rows := [][2]float64{{0, 1}, {1, 2}, {-1e3, 1e3}}
	forgeries, read := 0, 0
	eachKind(t, func(t *testing.T, all *krigo.Targets) {
		forge(t, all.Models[0], func(name string, v float64, raw []byte) {
			forgeries++
			m, err := krigo.Read(bytes.NewReader(raw))
			if v-v != 0 && (err == nil || !strings.Contains(err.Error(), "isn't finite")) {
				t.Errorf("%v in %s: %v", v, name, err)
			}
			if err != nil {
				return
			}
			read++
			for _, at := range rows {
				checkFinite(t, m, extreme(t, at))
			}
		})
	})
	must.Hold(t, read >= forgeries/4, "%d files of %d are read", read, forgeries)
}

// forge calls do with files of a model whose checksum fits, but of whose arrays one has a forged number.
func forge(t *testing.T, m *model.Model, do func(array string, v float64, raw []byte)) {
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	good := file.Bytes()
	at := len(model.Magic) + 8
	head := good[at:][:binary.LittleEndian.Uint32(good[at-4:])]
	var h struct {
		Arrays []struct {
			Name, Type string
			Rows, Cols int
		}
	}
	must.Do(t, json.Unmarshal(head, &h))
	at += len(head)
	for _, a := range h.Arrays {
		n := a.Rows * a.Cols
		if a.Cols == 0 {
			n = a.Rows * (a.Rows + 1) / 2
		}
		for _, k := range []int{0, n / 2, n - 1} {
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 1e154, 5e-324, 0} {
				if a.Type != "float64" || n == 0 {
					continue
				}
				raw := slices.Clone(good[:len(good)-sha256.Size])
				binary.LittleEndian.PutUint64(raw[at+8*k:], math.Float64bits(v))
				sum := sha256.Sum256(raw)
				do(a.Name, v, append(raw, sum[:]...))
			}
		}
		at += 8 * n
	}
}

// fittedKinds holds the models of eachKind. Tests only read them, so each is fitted once.
var fittedKinds = map[string]*krigo.Targets{}

// eachKind calls do with a model of every kind.
func eachKind(t *testing.T, do func(t *testing.T, all *krigo.Targets)) {
	table := outcomesOf(120)
	for _, kind := range []struct{ target, noise, exposure string }{{"number", "", ""}, {"number", "student", ""},
		{"number", "left", ""}, {"number", "error", ""}, {"number+size", "", ""}, {"label", "", ""}, {"bird", "", ""},
		{"count", "poisson", ""}, {"count", "negative-binomial", "months"}, {"count", "poisson", "months"},
		{"size", "gamma", ""}, {"size", "gamma", "months"}, {"grade", "ordinal", ""}} {
		name := strings.TrimSpace(fmt.Sprint(kind.target, " ", kind.noise, " ", kind.exposure))
		t.Run(name, func(t *testing.T) {
			o := krigo.Options{Data: krigo.Data{Target: kind.target, Inputs: []string{"x"}, Columns: krigo.Columns{Exposure: kind.exposure}},
				Kernel: krigo.Kernel{Expression: "linear", Noise: kind.noise}, Run: krigo.Run{Restarts: 1}}
			switch kind.noise {
			case "left":
				o.Kernel.Noise, o.Data.Censored = "", "side"
			case "error":
				o.Kernel.Noise, o.Data.NoiseColumn = "", "error"
			}
			if fittedKinds[name] == nil {
				fittedKinds[name] = fitAny(t, table, o)
			}
			do(t, fittedKinds[name])
		})
	}
}

// fitAny fits a target of any kind, or several targets.
func fitAny(t *testing.T, table *dataset.Table, o krigo.Options) *krigo.Targets {
	t.Helper()
	if targets := strings.Split(o.Data.Target, "+"); len(targets) > 1 {
		return must.Get(krigo.FitTargets(context.Background(), table, targets, o))(t)
	}
	spread, o, err := o.Kinds(table)
	must.Do(t, err)
	if o.Data.Beside != nil {
		return must.Get(krigo.FitTargets(context.Background(), table, o.Data.Beside, o))(t)
	}
	m := must.Get(krigo.Fit(context.Background(), spread, o))(t)
	all := &krigo.Targets{}
	all.Models = append(all.Models, &m.Model)
	return all
}

// checkFinite predicts a row, and wants finite numbers or an error that names the row.
func checkFinite(t *testing.T, m *krigo.Model, row *dataset.Table) {
	t.Helper()
	ps, err := m.Predict(t.Context(), row, krigo.PredictOptions{})
	if err != nil {
		if !strings.Contains(err.Error(), "row 1") && !strings.Contains(err.Error(), "line") {
			t.Errorf("%v: the error names no row: %v", row.Values, err)
		}
		return
	}
	for _, p := range ps {
		for _, v := range []float64{p.Mean, p.Lower95, p.Upper95, p.LatentSD, p.PredictiveSD} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v: %+v", row.Values, p)
			}
		}
	}
}
