package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// example returns a model with 22 certified rows in which every field is set.
func example(t testing.TB, expr string, d int, ard bool, mean kernel.Mean) *Model {
	t.Helper()
	const n = 22
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := linalg.New(n, d), make([]float64, n)
	for i := range y {
		for j := range d {
			x.Row(i)[j] = rng.NormFloat64()
		}
		y[i] = math.Sin(x.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	k := must.Get(kernel.Parse(expr, d, ard))(t)
	theta, beta := make([]float64, len(k.Params())), make([]float64, len(mean.Params()))
	for _, v := range [][]float64{theta, beta} {
		for i := range v {
			v[i] = math.Round(100*(rng.Float64()-0.5)) / 100
		}
	}
	q := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: 0.1, X: x,
		Y: y}))(t)
	m := &Model{
		Objective: "kl-pac", Target: "y", Posterior: q,
		Observation: observation.Observation{ObservationNoise: 1. / 3,
			Scaling: dataset.Scaling{TargetMean: 0.1, TargetScale: 2.7, Source: dataset.PriorRows}},
		Origin: Origin{Source: "a \"file\" <ü>.csv", Seed: math.MaxUint64,
			Hash: strings.Repeat("ab", 32)},
		Findings: finding.List{finding.New(finding.Repeats, 1, 2, 3), finding.New(finding.Text, "two")},
		Test:     &Test{Rows: 5, MSE: 1. / 7, RMSERaw: 0.3, NLPD: -0.1, GibbsRisk: 0.2, MeanRisk: 0.1, Coverage95: 0.9},
		Training: Training{ObjectiveValue: 0.7, Iterations: 3, Evaluations: 4, Starts: 2, Seconds: 0.1, Stopped: "converged"},
		Terms: pacbayes.Terms{Loss: pacbayes.Loss{Kind: pacbayes.Asymmetric, Below: 0.4, Above: 0.8}, EpsilonRaw: 1.08,
			Delta: 0.01,
			Grid:  pacbayes.DefaultGrid(), Params: len(theta), Choices: 2, PriorRows: 20, Scaling: dataset.PriorRows},
	}
	for j := range d {
		m.Inputs = append(m.Inputs, fmt.Sprintf("x%d", j))
		m.Scaling.InputMean = append(m.Scaling.InputMean, float64(j)/3)
		m.Scaling.InputScale = append(m.Scaling.InputScale, 1+float64(j)/7)
	}
	m.Split, m.Counts, m.All = ByContent, dataset.Counts{5, 0, 20, n}, strings.Repeat("cd", 32)
	m.Groups, m.Fitted = m.Counts, json.RawMessage(`{"Target":"y"}`)
	m.Range = Range{make([]float64, d), slices.Repeat([]float64{1. / 3}, d), 2.5, nil}
	for i := range 20 + n {
		m.Rows = append(m.Rows, uint64(i)*(1<<40))
	}
	mu, v := make([]float64, n), make([]float64, n)
	q.Latent(x, mu, v)
	m.Certificate = must.Get(m.Terms.Certify(pacbayes.Sample{Y: y, Mean: mu, Variance: v}, q.KL()))(t)
	return m
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, m.Write(&out))
	return out.Bytes()
}

// TestRoundTrip shows that saving and loading keeps every bit of a model and its predictions, for every mean, and
// every kernel that needs no categories (TestColumns has the others).
func TestRoundTrip(t *testing.T) {
	alone := slices.DeleteFunc(kernel.Names(), func(name string) bool { return kernel.Check(name) != nil })
	exprs := append(alone, "se+linear", "se*periodic+white")
	for _, d := range []int{1, 3} {
		for _, expr := range exprs {
			for _, ard := range []bool{false, true} {
				for _, mean := range []kernel.Mean{kernel.ZeroMean{}, kernel.LinearMean{}, kernel.LinearMean{Dim: d}} {
					m := example(t, expr, d, ard, mean)
					path := filepath.Join(t.TempDir(), "m.krigo")
					must.Do(t, m.Save(path))
					got, err := Load(path)
					must.Need(t, err == nil,
						"%s, %d inputs, ard %v, %T: %v", expr, d, ard, mean, err)
					same(t, got, m)
					must.Need(t, !t.Failed(), "%s, %d inputs, ard %v, %T", expr, d, ard, mean)
				}
			}
		}
	}
}

// TestRoundTripUnfactored shows the same for models whose posterior isn't factored.
func TestRoundTripUnfactored(t *testing.T) {
	m := example(t, "matern32", 2, true, kernel.LinearMean{})
	m.Certificate, m.CertificateReason = nil, "estimates"
	exact := m.Posterior
	n := exact.Support.Rows
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Cos(float64(i))
	}
	cg := must.Get(posterior.NewIterative(context.Background(), posterior.Given{Kernel: exact.Kernel, Theta: exact.Theta,
		Mean: exact.Mean, Beta: exact.Beta, Noise: exact.Noise, X: exact.Support, Y: y}, 7, posterior.Iterative{}))(t)
	near := posterior.NewNearest(posterior.Given{Kernel: exact.Kernel, Theta: exact.Theta, Mean: exact.Mean,
		Beta: exact.Beta, Noise: exact.Noise, X: exact.Support, Y: y}, 5)
	for _, q := range []*posterior.Posterior{cg, near} {
		m.Posterior = q
		raw := encode(t, m)
		got, err := decode(raw)
		must.Need(t, err == nil, "%s: %v", q.Kind(), err)
		same(t, got, m)
		must.Hold(t, got.Posterior.Kind() == q.Kind() && raw[len(magic)] == dealt,
			"%s, version %d; want %s", got.Posterior.Kind(), raw[len(magic)], q.Kind())
		must.Refuse(got.Certify(nil))(t, "", fmt.Sprintf("%s was certified", q.Kind()))
		for name, change := range map[string]func(h map[string]any){
			"nearest 0":        func(h map[string]any) { h["nearest"] = 0 },
			"nearest too many": func(h map[string]any) { h["nearest"] = n + 1 },
			"solver":           func(h map[string]any) { h["solver"] = "qr" },
			"no solver":        func(h map[string]any) { delete(h, "solver") },
			"another array":    func(h map[string]any) { h["arrays"].([]any)[3].(map[string]any)["name"] = "wights" },
		} {
			must.Refuse(decode(craft(t, raw, change)))(t, "", fmt.Sprintf("%s: %s wasn't refused", q.Kind(), name))
		}
	}
}

func same(t *testing.T, got, want *Model) {
	t.Helper()
	bits := func(what string, a, b []float64) {
		t.Helper()
		must.Hold(t,
			slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }),
			"%s: %v, want %v", what, a, b)
	}
	g, w := got.Posterior, want.Posterior
	bits("theta", g.Theta, w.Theta)
	bits("beta", g.Beta, w.Beta)
	bits("noise", []float64{g.Noise}, []float64{w.Noise})
	bits("support", g.Support.Data, w.Support.Data)
	arrays, _ := g.Arrays()
	wanted, _ := w.Arrays()
	for i, a := range wanted {
		for j, v := range a.Values {
			bits(a.Name, arrays[i].Values[j], v)
		}
	}
	x := linalg.New(9, len(want.Inputs))
	for i := range x.Data {
		x.Data[i] = math.Sin(float64(3 * i))
	}
	mean, variance, wantMean, wantVariance := make([]float64, 9), make([]float64, 9), make([]float64, 9),
		make([]float64, 9)
	g.Latent(x, mean, variance)
	w.Latent(x, wantMean, wantVariance)
	bits("predicted means", mean, wantMean)
	bits("predicted variances", variance, wantVariance)
	if w.Kind() == posterior.ByCholesky {
		bits("KL", []float64{g.KL()}, []float64{w.KL()})
	}
	// Compare everything except the posterior, as values.
	a, b := *got, *want
	a.Posterior, b.Posterior = nil, nil
	must.Hold(t, len(a.checksum) == 64, "checksum %q", a.checksum)
	a.checksum, b.checksum = "", ""
	must.Hold(t, reflect.DeepEqual(a, b), "got  %+v\nwant %+v", a, b)
}

func TestRoundTripWithout(t *testing.T) {
	m := example(t, "se", 2, true, kernel.ZeroMean{})
	m.Certificate, m.CertificateReason, m.Test, m.Findings = nil, "too few rows", nil, nil
	got := must.Get(decode(encode(t, m)))(t)
	same(t, got, m)
	if again := encode(t, got); !bytes.Equal(again, encode(t, m)) {
		t.Error("a loaded model is written differently")
	}
}

// TestRoundTripEncoded shows the same for encoded inputs. An encoding that doesn't fit the inputs is refused.
func TestRoundTripEncoded(t *testing.T) {
	m := example(t, "se", 3, true, kernel.ZeroMean{})
	mean := 1. / 3
	m.Encoding = &dataset.Encoding{Missing: dataset.FillMean,
		Columns: []dataset.Column{{Name: "fuel", Categories: []string{"a \"gas\" <ü>"}}, {Name: "size", Mean: &mean}}}
	m.Inputs = m.Encoding.Inputs()
	raw := encode(t, m)
	got := must.Get(decode(raw))(t)
	same(t, got, m)
	must.Hold(t, raw[len(magic)] == dealt, "version %d", raw[len(magic)])
	of := func(h map[string]any) map[string]any { return h["encoding"].(map[string]any) }
	column := func(h map[string]any) map[string]any { return of(h)["columns"].([]any)[0].(map[string]any) }
	for want, change := range map[string]func(h map[string]any){
		`missing "median": want refuse, mean or indicator`: func(h map[string]any) { of(h)["missing"] = "median" },
		`it doesn't make the input "fuel=a`:                func(h map[string]any) { of(h)["columns"] = nil },
		`other inputs, such as "fuel=oil"`:                 func(h map[string]any) { column(h)["categories"] = []any{"oil"} },
		`other inputs, such as "fuel"`:                     func(h map[string]any) { delete(column(h), "categories") },
		`it doesn't make the input "size"`:                 func(h map[string]any) { of(h)["columns"] = of(h)["columns"].([]any)[:1] },
		`other inputs, such as "` + strings.Repeat("x", 40): func(h map[string]any) { // the error shortens the name
			column(h)["name"], column(h)["categories"] = strings.Repeat("x", 1<<20),
				strings.Split(strings.Repeat("a", 1<<20), "")
		},
	} {
		if _, err := decode(craft(t, raw, change)); err == nil || !strings.Contains(err.Error(), "encoding: "+want) &&
			!strings.Contains(err.Error(), "encoding: it makes "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	none := &dataset.Table{Source: "t", Names: []string{"fuel", "size", "y"}, Rows: 1, Values: []float64{1, math.NaN(), 2}}
	if d, err := m.Unlabelled(none); err != nil || !slices.Equal(d.Inputs, m.Inputs) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := m.Labelled(none); err != nil || d.Encoding != m.Encoding {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := encode(t, example(t, "se", 2, false, kernel.ZeroMean{}))
	with := func(at int, b ...byte) []byte {
		c := slices.Clone(good)
		copy(c[at:], b)
		return c
	}
	for _, x := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "isn't a krigo model"},
		{"text", []byte("x,y\n1,2\n3,4\n5,6\n7,8\n9,10\n"), "isn't a krigo model"},
		{"line ends changed on the way", with(5, '\n', '\n'), "isn't a krigo model"},
		{"version 0", with(8, 0), "version 0"},
		{"version 19", with(8, 19), "version 19, this krigo reads versions 1 to 18: use a newer krigo"},
		{"header length", with(12, 0xff, 0xff, 0xff, 0xff), "cut short"},
		{"something behind it", append(slices.Clone(good), 0), "checksum"},
		{"the magic alone", good[:8], "cut short"},
	} {
		m, err := decode(x.raw)
		must.Hold(t, m == nil && err != nil && strings.Contains(err.Error(), x.want),
			"%s: %v, want %q", x.name, err, x.want)
	}
}

func TestDecodeTruncated(t *testing.T) {
	good := encode(t, example(t, "se", 2, false, kernel.ZeroMean{}))
	cuts := []int{len(good) - 1, len(good) - sha256.Size, prefix, prefix - 1, len(magic)}
	for i := range 20 {
		cuts = append(cuts, max(i*len(good)/20, len(magic)))
	}
	for _, n := range cuts {
		must.Refuse(decode(good[:n]))(t, "cut short", fmt.Sprintf("%d of %d bytes", n, len(good)))
	}
}

func TestDecodeFlippedBits(t *testing.T) {
	good := encode(t, example(t, "se", 2, false, kernel.ZeroMean{}))
	clear := []string{"isn't a krigo model", "format version", "cut short", "checksum doesn't match"}
	seen := map[string]int{}
	for at := range good {
		raw := slices.Clone(good)
		raw[at] ^= 1 << (at % 8)
		m, err := decode(raw)
		must.Need(t, m == nil && err != nil, "byte %d of %d: not noticed", at, len(good))
		i := slices.IndexFunc(clear, func(s string) bool { return strings.Contains(err.Error(), s) })
		must.Need(t, i >= 0, "byte %d of %d: %v", at, len(good), err)
		seen[clear[i]]++
	}
	must.Hold(t, len(seen) == len(clear) && seen["checksum doesn't match"] >= len(good)/2,
		"messages: %v", seen)
}

// craft changes the header of a file, and sets length and checksum to match.
func craft(t testing.TB, good []byte, change func(h map[string]any)) []byte {
	t.Helper()
	end := prefix + int(binary.LittleEndian.Uint32(good[len(magic)+4:]))
	var h map[string]any
	d := json.NewDecoder(bytes.NewReader(good[prefix:end]))
	d.UseNumber() // the seed needs all its digits
	must.Do(t, d.Decode(&h))
	change(h)
	head := must.Get(json.Marshal(h))(t)
	raw := slices.Clone(good[:prefix])
	binary.LittleEndian.PutUint32(raw[len(magic)+4:], uint32(len(head)))
	raw = append(append(raw, head...), good[end:len(good)-sha256.Size]...)
	return seal(raw)
}

func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(slices.Clip(body), sum[:]...)
}

// TestFindings shows that a file keeps findings as values, even of unknown kinds, and that sentences of older files
// become findings without control characters.
func TestFindings(t *testing.T) {
	m := example(t, "se", 2, true, kernel.ZeroMean{})
	m.Findings = finding.List{finding.New(finding.Repeats, 1, 2, 3), finding.New("cold_start", "a", "b", 0.5)}
	older := func(h map[string]any) {
		delete(h, "findings")
		h["notices"] = []any{"rows repeat", "rows\x1b[2J"}
	}
	for said, raw := range map[string][]byte{
		"1 of 2 rows equal an earlier row exactly, the first in row 3; krigo keeps them all, unless you say --duplicates drop " +
			"or --duplicates group\ncold_start: a, b; 0.5": encode(t, m),
		"rows repeat\nrows\\x1b[2J": craft(t, encode(t, m), older),
	} {
		got := must.Get(decode(raw))(t)
		again, err := decode(encode(t, got))
		if err != nil || strings.Join(got.Findings.Words(), "\n") != said ||
			!reflect.DeepEqual(got.Findings, again.Findings) {
			t.Errorf("%q, again %q, %v; want %s", got.Findings, again.Findings, err, said)
		}
	}
}

// crafted holds changes that make a header contradict its file. The checksum matches.
var crafted = map[string]func(h map[string]any){
	"no arrays":        func(h map[string]any) { h["arrays"] = nil },
	"an array missing": func(h map[string]any) { h["arrays"] = h["arrays"].([]any)[:4] },
	"unknown kernel":   func(h map[string]any) { h["kernel"] = map[string]any{"name": "cosine", "variance": 1} },
	"no kernel":        func(h map[string]any) { delete(h, "kernel") },
	"another kernel":   func(h map[string]any) { h["kernel"] = map[string]any{"name": "linear", "variance": 1} },
	"negative variance": func(h map[string]any) {
		h["kernel"] = map[string]any{"name": "se", "variance": -1, "lengthscales": []any{1}}
	},
	"unknown mean":    func(h map[string]any) { h["mean"] = "quadratic" },
	"another mean":    func(h map[string]any) { h["mean"] = "linear" },
	"no inputs":       func(h map[string]any) { h["inputs"] = []any{} },
	"inputs too many": func(h map[string]any) { h["inputs"] = []any{"a", "b", "c"} },
	"scaling missing": func(h map[string]any) { delete(h, "scaling") },
	"inputs no list":  func(h map[string]any) { h["inputs"] = "a" },
	"support as bytes": func(h map[string]any) {
		// The number of bytes stays the same: the 22 × 2 numbers take less, and the 42 hashes take more.
		entry(h, "support")["type"] = "uint8"
		entry(h, "rows")["type"], entry(h, "rows")["rows"] = "uint8", 42*8+22*2*7
	},
	"weights as a row": func(h map[string]any) { entry(h, "weights")["rows"] = 1; entry(h, "weights")["cols"] = 21 },
	"negative rows":    func(h map[string]any) { entry(h, "support")["rows"] = -22 },
	"rows beyond counting": func(h map[string]any) {
		entry(h, "support")["rows"] = 1 << 30
		entry(h,
			"support")["cols"] = 1 << 30
	},
	"rows that wrap to 0": func(h map[string]any) {
		entry(h, "support")["rows"] = 1 << 31
		entry(h,
			"support")["cols"] = 1 << 30
	},
	"cholesky beyond":  func(h map[string]any) { entry(h, "cholesky")["rows"] = 1 << 31 },
	"cholesky in full": func(h map[string]any) { entry(h, "cholesky")["cols"] = 22 },
	"rows as numbers":  func(h map[string]any) { entry(h, "rows")["type"] = "float64" },
	"roles in a file": func(h map[string]any) {
		entry(h, "rows")["name"] = "roles"
		entry(h,
			"rows")["type"] = "float64"
	},
	"unknown split":        func(h map[string]any) { h["split"] = "first" },
	"by position, no role": func(h map[string]any) { delete(h, "split") },
	"no counts":            func(h map[string]any) { delete(h, "rows_by_role") },
	"negative counts":      func(h map[string]any) { h["rows_by_role"] = []any{5, -1, 21, 22} },
	"other counts":         func(h map[string]any) { h["rows_by_role"] = []any{5, 0, 21, 22} },
	"groups of no column":  func(h map[string]any) { h["groups_by_role"] = h["rows_by_role"] },
	"a column, no groups":  func(h map[string]any) { h["group"] = "site" },
	"no range":             func(h map[string]any) { delete(h, "input_range") },
	"a short range":        func(h map[string]any) { h["input_range"].(map[string]any)["max"] = []any{1} },
	"no type":              func(h map[string]any) { delete(entry(h, "weights"), "type") },
	"an input twice":       func(h map[string]any) { h["inputs"] = []any{"x0", "x0"} },
	"an input of no name":  func(h map[string]any) { h["inputs"] = []any{"x0", ""} },
	"the target as input":  func(h map[string]any) { h["target"] = "x1" },
	"no input scale":       func(h map[string]any) { h["scaling"].(map[string]any)["input_scale"] = []any{1, 0} },
	"no target scale":      func(h map[string]any) { h["scaling"].(map[string]any)["target_scale"] = -1 },
	"unknown scaling":      func(h map[string]any) { h["scaling"].(map[string]any)["source"] = "mine" },
	"no noise":             func(h map[string]any) { h["noise_variance"] = 0 },
	"negative noise":       func(h map[string]any) { h["observation_noise"] = -1 },
	"a range backwards":    func(h map[string]any) { h["input_range"].(map[string]any)["min"] = []any{1, 1} },
	"unknown loss":         func(h map[string]any) { terms(h)["loss"].(map[string]any)["Kind"] = "none" },
	"a width of no use":    func(h map[string]any) { terms(h)["loss"].(map[string]any)["Kind"] = "band" },
	"impossible δ":         func(h map[string]any) { terms(h)["delta"] = 5 },
	"no choice":            func(h map[string]any) { terms(h)["choices"] = 0 },
	"negative parameters":  func(h map[string]any) { terms(h)["params"] = -1 },
	"a mix of one":         func(h map[string]any) { terms(h)["resolutions"] = 1 },
	"lengthscales of none": func(h map[string]any) { terms(h)["lengthscales"] = 2 },
	"terms of another δ":   func(h map[string]any) { terms(h)["delta"] = 0.02 },
	"unpaid choices":       func(h map[string]any) { terms(h)["choices"] = 3 },
	"a promise not asked": func(h map[string]any) {
		certificateOf(h)["promise"] = map[string]any{"share": 0.9,
			"half_width": 1}
	},
	"valid or not":         func(h map[string]any) { certificateOf(h)["valid"] = false },
	"other certified rows": func(h map[string]any) { certificateOf(h)["rows"] = 21 },
	"another variance":     func(h map[string]any) { h["kernel"].(map[string]any)["variance"] = 3 },
	"conformal of no rows": func(h map[string]any) {
		h["conformal"] = map[string]any{"level": 0.95, "rows": 19,
			"half_width": 1}
	},
	"kernel nested deep": func(h map[string]any) {
		for range 200 {
			h["kernel"] = map[string]any{"name": "sum", "parts": []any{h["kernel"]}}
		}
	},
	"kernel of thousands": func(h map[string]any) {
		white := map[string]any{"name": "white", "variance": 1}
		h["kernel"] = map[string]any{"name": "sum", "parts": slices.Repeat([]any{white}, 2000)}
	},
	"a finding of no kind": func(h map[string]any) { h["findings"] = []any{map[string]any{"numbers": []any{1}}} },
	"a finding that says it all": func(h map[string]any) {
		h["findings"] = []any{map[string]any{"kind": "With 100 % confidence"}}
	},
	"a finding of thousands": func(h map[string]any) {
		h["findings"] = []any{map[string]any{"kind": "text", "subject": slices.Repeat([]any{"a"}, 1001)}}
	},
	"a finding of words": func(h map[string]any) { h["findings"] = []any{"rows repeat"} },
	"a curve of null":    func(h map[string]any) { h["curves"] = []any{nil} },
	"a curve cut short": func(h map[string]any) {
		h["curves"] = []any{map[string]any{"iterations": []any{1, 2}, "values": []any{1}}}
	},
	"a bound above 1":      func(h map[string]any) { certificateOf(h)["mean_bound"] = 1.5 },
	"a bound below 0":      func(h map[string]any) { certificateOf(h)["bound"] = -0.1 },
	"a negative KL":        func(h map[string]any) { certificateOf(h)["kl"] = -1 },
	"nearest beyond":       func(h map[string]any) { h["nearest"] = 1 << 20 },
	"a scale that's text":  func(h map[string]any) { h["scaling"].(map[string]any)["target_scale"] = "NaN" },
	"a number beyond":      func(h map[string]any) { h["noise_variance"] = json.Number("1e999") },
	"a prior of no arrays": func(h map[string]any) { h["prior"] = map[string]any{"temper": 1, "mean": "zero"} },
	"weights misnamed":     func(h map[string]any) { entry(h, "weights")["name"] = "wights" },
	"weights of a row":     func(h map[string]any) { e := entry(h, "weights"); e["rows"], e["cols"] = 11, 2 },
	"arrays twice":         func(h map[string]any) { h["arrays"] = append(h["arrays"].([]any), h["arrays"].([]any)...) },
}

func terms(h map[string]any) map[string]any         { return h["terms"].(map[string]any) }
func certificateOf(h map[string]any) map[string]any { return h["certificate"].(map[string]any) }

func entry(h map[string]any, name string) map[string]any {
	for _, a := range h["arrays"].([]any) {
		if a := a.(map[string]any); a["name"] == name {
			return a
		}
	}
	return map[string]any{}
}

// TestDecodeNames shows that an error says what is wrong with a file.
func TestDecodeNames(t *testing.T) {
	good := encode(t, example(t, "se", 2, false, kernel.ZeroMean{}))
	for what, want := range map[string]string{"a curve of null": "curves[0]",
		"a curve cut short": "2 iterations, but 1 values", "a bound above 1": "mean_bound is 1.5", "a negative KL": "kl -1",
		"nearest beyond": "nearest is 1048576", "a scale that's text": "scaling.target_scale",
		"a number beyond": "noise_variance", "weights as a row": "lists arrays of ",
		"weights misnamed": `no array "weights"`, "weights of a row": `"weights" is 11×2, but the support has 22 rows`,
		"inputs too many": "means of 2 and scales of 2 inputs, but the file has 3", "another mean": `"beta" has 0 numbers`,
		"kernel of thousands": "more than 1000 kernels", "kernel nested deep": "nested more than 32 deep",
		"an array missing": "lists arrays of "} {
		must.Refuse(decode(craft(t, good, crafted[what])))(t, want, what)
	}
}

// TestScoreOverflows shows that figures leave out and name the first row that is too far away for its prediction to be a
// number, and that it has the loss 1, also in its group.
func TestScoreOverflows(t *testing.T) {
	m := example(t, "linear", 2, false, kernel.ZeroMean{})
	d := dataOf(t, []float64{1, 2, 1e300, 2, 3, 4}, []float64{1, 2, 3})
	want := must.Get(m.Score(d, []int{0, 2}, nil))(t)
	got := must.Get(m.Score(d, d.All(), nil))(t)
	must.Hold(t, got.Rows == 3 && got.Unscored == 1 && strings.Contains(got.Found[0].String(), "the first in row 2"), "%+v", got)
	must.Near(t, got.MSE, want.MSE, 1e-12)
	must.Near(t, got.NLPD, want.NLPD, 1e-12)
	must.Near(t, got.MeanRisk, (2*want.MeanRisk+1)/3, 1e-12)
	must.Near(t, got.GibbsRisk, (2*want.GibbsRisk+1)/3, 1e-12)
	own := [2]*Test{must.Get(m.Score(d, []int{0}, nil))(t), must.Get(m.Score(d, []int{2}, nil))(t)}
	got = must.Get(m.Score(d, d.All(), []int{0, 1, 1}))(t)
	must.Near(t, got.MeanRisk, (own[0].MeanRisk+(own[1].MeanRisk+1)/2)/2, 1e-12)
	must.Near(t, got.GibbsRisk, (own[0].GibbsRisk+(own[1].GibbsRisk+1)/2)/2, 1e-12)
	_, err := m.Score(d, []int{1}, nil)
	must.Hold(t, errors.Is(err, ErrUnscored), "%v", err)
}

func TestDecodeCrafted(t *testing.T) {
	good := encode(t, example(t, "se", 2, false, kernel.ZeroMean{}))
	for name, change := range crafted {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("panic: %v", p)
				}
			}()
			m, err := decode(craft(t, good, change))
			must.Hold(t, m == nil && err != nil && strings.Contains(err.Error(), "model file"),
				"%v", err)
		})
	}
	if _, err := decode(seal(append(slices.Clone(good[:prefix]), bytes.Repeat([]byte("x"), len(good))...))); err == nil ||
		!strings.Contains(err.Error(), "header") {
		t.Errorf("no JSON: %v", err)
	}
	// The header can't show numbers that aren't finite, or an array that isn't a Cholesky factor.
	h := header{}
	must.Do(t, json.Unmarshal(good[prefix:prefix+int(binary.LittleEndian.Uint32(good[len(magic)+4:]))], &h))
	for name, v := range map[string]float64{"theta": math.NaN(), "weights": math.Inf(1), "cholesky": -1} {
		at := prefix + int(binary.LittleEndian.Uint32(good[len(magic)+4:]))
		for _, a := range h.Arrays {
			if a.Name == name {
				break
			}
			at += a.bytes()
		}
		raw := slices.Clone(good[:len(good)-sha256.Size])
		binary.LittleEndian.PutUint64(raw[at:], math.Float64bits(v))
		if _, err := decode(seal(raw)); err == nil || !strings.Contains(err.Error(), "finite") &&
			!strings.Contains(err.Error(), "diagonal") {
			t.Errorf("%v in %s: %v", v, name, err)
		}
	}
	// The certificate's words follow from the terms, even if the file says something else.
	if m, err := decode(craft(t, good, func(h map[string]any) {
		certificateOf(h)["label"], certificateOf(h)["conditions"], certificateOf(h)["repeats"] = "guarantee", []any{"none"}, 7
	})); err != nil || m.Certificate.Label != "certificate" || len(m.Certificate.Conditions) < 3 ||
		m.Certificate.Repeats != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	// Later versions may add fields within the format's version.
	if _, err := decode(craft(t, good, func(h map[string]any) { h["added_later"] = []any{1, 2} })); err != nil {
		t.Errorf("an unknown field: %v", err)
	}
}

// FuzzDecode shows that decode returns for every header and arrays, under a checksum and a length that fit, and
// allocates no more memory than such a file may need. What decode returns can be written, predicts numbers or an error,
// and is certified or refused. It also reads the header by itself as a file, without a checksum.
//
// Run it with -fuzzminimizetime 10x. Otherwise it makes one input smaller for a minute, and tries no other meanwhile.
func FuzzDecode(f *testing.F) {
	rows := data.Snelson() // the files in testdata were made from these rows
	rows.Rows, rows.Values, rows.Lines = 60, rows.Values[:120], rows.Lines[:60]
	add := func(raw []byte) {
		end := prefix + int(binary.LittleEndian.Uint32(raw[len(magic)+4:]))
		f.Add(raw[len(magic)], raw[prefix:end], raw[end:len(raw)-sha256.Size])
	}
	for _, name := range []string{"v1", "v2", "v3", "v5"} {
		raw := must.Get(os.ReadFile(filepath.Join("testdata", name+".krigo")))(f)
		m := must.Get(decode(raw))(f)
		if d, err := m.Labelled(rows); err != nil {
			f.Fatal(err)
		} else if v, err := m.Verify(d); m.Certificate != nil && (err != nil || v.Differs != "") {
			f.Fatalf("%s isn't certified: %+v, %v", name, v, err)
		}
		add(raw)
	}
	good := encode(f, example(f, "se+linear", 2, true, kernel.LinearMean{}))
	add(good)
	f.Add(byte(Version), good, []byte{})
	f.Add(byte(Version), good[:len(good)/2], []byte{})
	f.Add(byte(Version), []byte(magic), []byte{})
	base := encode(f, example(f, "se", 2, false, kernel.ZeroMean{}))
	for _, change := range crafted {
		add(craft(f, base, change))
	}
	x := linalg.New(3, 2)
	f.Fuzz(func(t *testing.T, version byte, header, arrays []byte) {
		file := binary.LittleEndian.AppendUint32([]byte(magic), uint32(version%(Version+2)))
		file = append(append(binary.LittleEndian.AppendUint32(file, uint32(len(header))), header...), arrays...)
		for _, file := range [][]byte{seal(file), header} {
			before := allocated()
			m, err := decode(file)
			// Three bytes of JSON may stand for a struct of a hundred bytes.
			if used, limit := allocated()-before, uint64(1<<21+1000*len(file)); used > limit {
				t.Fatalf("%d bytes allocated for a file of %d", used, len(file))
			}
			must.Need(t, (m == nil) == (err != nil), "model %v with error %v", m, err)
			if m == nil {
				continue
			}
			encode(t, m)
			if m.Posterior.Support.Rows > 200 { // with more rows this takes too long
				continue
			}
			at := x
			if len(m.Inputs) != x.Cols {
				at = linalg.New(1, len(m.Inputs))
			}
			if ps, err := m.PredictAt(mat.NewDense(at.Rows, at.Cols, at.Data)); err == nil {
				for _, p := range ps {
					must.Need(t,
						linalg.Finite([]float64{p.Mean, p.PredictiveVariance, p.Lower95, p.Upper95}),
						"%+v", p)
				}
			}
			if d, err := m.Labelled(rows); err == nil && m.Certificate != nil {
				m.Verify(d)
			}
		}
	})
}

// allocated returns how many bytes the program has ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestLoadNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.krigo")
	must.Refuse(Load(missing))(t, missing, "missing")
	text := filepath.Join(dir, "text.krigo")
	must.Do(t, os.WriteFile(text, []byte("not a model"), 0o600))
	must.Refuse(Load(text))(t, text, "text")
	must.Refuse(Load(dir))(t, dir, "folder")
}

// TestRead shows that a stream must hold one whole model, and that an error of the stream is returned as it is.
func TestRead(t *testing.T) {
	m := example(t, "se", 1, false, kernel.ZeroMean{})
	raw := encode(t, m)
	got := must.Get(Read(iotest.OneByteReader(bytes.NewReader(raw))))(t)
	same(t, got, m)
	for name, r := range map[string]io.Reader{
		"nothing":    strings.NewReader(""),
		"a part":     bytes.NewReader(raw[:len(raw)-1]),
		"two models": bytes.NewReader(append(raw[:len(raw):len(raw)], raw...)),
	} {
		must.Refuse(Read(r))(t, "", fmt.Sprintf("%s is read", name))
	}
	broken := errors.New("broken")
	if _, err := Read(io.MultiReader(bytes.NewReader(raw[:9]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestSaveIsAtomic(t *testing.T) {
	names := func(dir string) (out []string) {
		entries := must.Get(os.ReadDir(dir))(t)
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	m := example(t, "se", 2, false, kernel.ZeroMean{})
	dir := t.TempDir()
	path := filepath.Join(dir, "m.krigo")

	must.Fail(t, m.Save(filepath.Join(dir, "missing", "m.krigo")), "missing", "folder missing")
	broken := example(t, "se", 2, false, kernel.ZeroMean{})
	broken.Test.NLPD = math.NaN()
	must.Fail(t, broken.Save(path), path, "a number that JSON doesn't know")
	if left := names(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	must.Do(t, m.Save(path))
	before := must.Get(os.ReadFile(path))(t)
	must.Fail(t, broken.Save(path), "", "saved a NaN")
	after, err := os.ReadFile(path)
	must.Hold(t, err == nil && bytes.Equal(before, after),
		"a failed save touched the old file: %v", err)
	if left := names(dir); !slices.Equal(left, []string{"m.krigo"}) {
		t.Errorf("left behind: %v", left)
	}

	if os.Geteuid() != 0 { // root may write anywhere
		must.Do(t, os.Chmod(dir, 0o500))
		defer os.Chmod(dir, 0o700)
		must.Fail(t, m.Save(filepath.Join(dir, "other.krigo")), "", "saved to a folder that is read-only")
		if left := names(dir); !slices.Equal(left, []string{"m.krigo"}) {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestScore compares every figure of the test rows with single predictions.
func TestScore(t *testing.T) {
	m := example(t, "se", 2, false, kernel.ZeroMean{})
	const n = 6
	x, y := linalg.New(n, 2), make([]float64, n)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1] = 0.3*float64(i)-0.5, 0.8-0.2*float64(i)
		y[i] = 4*math.Sin(float64(i)) - 1
	}
	d := dataOf(t, x.Data, y)
	got := must.Get(m.Score(d, d.All(), nil))(t)
	want := Test{Rows: n}
	for i := range y {
		xs := linalg.Of(1, 2, []float64{x.At(i, 0), (x.At(i, 1) - 1./3) / (1 + 1./7)})
		ys := (y[i] - 0.1) / 2.7
		mean, v := make([]float64, 1), make([]float64, 1)
		m.Posterior.Latent(xs, mean, v)
		d, noisy := ys-mean[0], v[0]+1./3
		want.MSE += d * d / n
		want.NLPD += (0.5*math.Log(2*math.Pi*noisy) + d*d/(2*noisy)) / n
		// The asymmetric loss lets a draw lie from 0.4 below y to 0.8 above y.
		sd := math.Sqrt(2 * v[0])
		want.GibbsRisk += (0.5*math.Erfc((mean[0]-ys+0.4)/sd) + 0.5*math.Erfc((ys+0.8-mean[0])/sd)) / n
		if mean[0] < ys-0.4 || mean[0] > ys+0.8 {
			want.MeanRisk += 1. / n
		}
		if math.Abs(d) <= 1.96*math.Sqrt(noisy) {
			want.Coverage95 += 1. / n
		}
	}
	want.RMSERaw = 2.7 * math.Sqrt(want.MSE)
	must.Need(t, want.Coverage95 != 0 && want.Coverage95 <= 0.99 && want.MeanRisk != 0 &&
		want.MeanRisk <= 0.99, "the rows decide nothing: %+v", want)
	for _, f := range []struct {
		name      string
		got, want float64
	}{{"mse", got.MSE, want.MSE}, {"rmse_raw", got.RMSERaw, want.RMSERaw}, {"nlpd", got.NLPD, want.NLPD},
		{"gibbs_risk", got.GibbsRisk, want.GibbsRisk}, {"mean_risk", got.MeanRisk, want.MeanRisk},
		{"coverage95", got.Coverage95, want.Coverage95}} {
		must.Hold(t, math.Abs(f.got-f.want) <= 1e-12,
			"%s: %.15g, want %.15g", f.name, f.got, f.want)
	}
	must.Hold(t, got.Rows == n, "%d rows", got.Rows)
}

// TestTargetScale shows that relative losses are relative to the raw target, not to the scaled target.
func TestTargetScale(t *testing.T) {
	s := dataset.Scaling{TargetMean: 10, TargetScale: 4}
	if got := TargetScale(pacbayes.Loss{Kind: pacbayes.Relative, Below: 0.1}, s, []float64{8, -2, 0}); !slices.Equal(got,
		[]float64{2, 0.5, 0}) {
		t.Errorf("%v", got)
	}
	if got := TargetScale(pacbayes.Loss{Kind: pacbayes.Band, Below: 0.1}, s, []float64{8}); got != nil {
		t.Errorf("band: %v", got)
	}
}

// dataOf returns a regression problem with two inputs.
func dataOf(t *testing.T, x, y []float64) *dataset.Data {
	t.Helper()
	table := &dataset.Table{Source: "rows", Names: []string{"a", "b", "y"}, Rows: len(y)}
	for i, v := range y {
		table.Values = append(table.Values, x[2*i], x[2*i+1], v)
	}
	return must.Get(table.Select([]string{"a", "b"}, "y"))(t)
}

// TestSeen shows that a model knows the rows that it was made from, wherever they stand, but not its test rows.
func TestSeen(t *testing.T) {
	d := dataOf(t, []float64{1, 2, 3, 4, 5, 6, 7, 8, 1, 2}, []float64{10, 20, 30, 40, 11})
	roles := dataset.Roles{Of: []dataset.Role{dataset.Certified, dataset.Test, dataset.Prior, dataset.Certified,
		dataset.Test}}
	hashes, _, err := HashRows(d, roles)
	must.Do(t, err)
	m := &Model{Origin: Origin{Rows: hashes}}
	must.Need(t, len(m.Rows) == 3 && slices.IsSorted(m.Rows), "%v", m.Rows)
	if got, err := m.Seen(d); !slices.Equal(got, []int{0, 2, 3}) || err != nil {
		t.Errorf("of its own rows: %v, %v", got, err)
	}
	other := dataOf(t, []float64{2, 1, 7, 8, 7, 8, 5, 6}, []float64{10, 40, 40.000000000000007, 30})
	if got, err := m.Seen(other); !slices.Equal(got, []int{1, 3}) || err != nil {
		t.Errorf("of others: %v, %v", got, err)
	}
}

// TestBrief shows that an error about a model file is short even if a name in the file is long.
func TestBrief(t *testing.T) {
	good, long := encode(t, example(t, "se", 2, false, kernel.ZeroMean{})), strings.Repeat("ä", 1<<20)
	for _, field := range []string{"mean", "solver", "noise"} {
		_, err := decode(craft(t, good, func(h map[string]any) { h[field] = long }))
		must.Hold(t, err != nil && len(err.Error()) <= 1100 && utf8.ValidString(err.Error()),
			"%s: %.1200v", field, err)
	}
}

// TestBriefLines shows that krigo's own lines stay lines, and that a text of a file begins none.
func TestBriefLines(t *testing.T) {
	joined := errors.Join(errors.New("first\nFORGED"), errors.New("second\x1b[31m"))
	err := Brief(fmt.Errorf("the options: %w; mend them", joined))
	const want = `the options: first\nFORGED` + "\n" + `second\x1b[31m; mend them`
	must.Hold(t, err.Error() == want && errors.Is(err, joined), "%q", err.Error())
	must.Hold(t, Brief(errors.New("one\ntwo")).Error() == `one\ntwo`, "not on one line")
}

// TestDecodeClaims: files with test figures or ties that no model has, or with texts that speak on lines of their own.
func TestDecodeClaims(t *testing.T) {
	good := encode(t, example(t, "se", 2, false, kernel.ZeroMean{}))
	figures := func(set string, to any) map[string]any {
		figures := map[string]any{"rows": 5, "mse": 1, "rmse_raw": 1, "gibbs_risk": .1, "mean_risk": .1, "coverage95": 1}
		figures[set] = to
		return figures
	}
	tie := func(kind string, units int, columns ...string) []any {
		return []any{map[string]any{"kind": kind, "columns": columns, "units": units, "rows": 9}}
	}
	must.Get(decode(craft(t, good, func(h map[string]any) { h["test"] = figures("rows", 5) })))(t)
	for _, c := range []struct {
		field string
		to    any
		want  string
	}{{"test", figures("rows", 0), "test figures"}, {"test", figures("mse", -1), "test figures"},
		{"test", figures("coverage95", 1.1), "test figures"}, {"test", figures("pit", []int{3, 3}), "test figures"},
		{"ties", tie("moon", 3, "a"), "is unknown"}, {"ties", tie("column", 3), "can't be of the columns"},
		{"ties", tie("place", 3, "a", "a"), "can't be of the columns"}, {"ties", tie("column", 1, "a"), "impossible"},
		{"objective", "a\nb", "control characters"}} {
		must.Refuse(decode(craft(t, good, func(h map[string]any) { h[c.field] = c.to })))(t, c.want, c.field)
	}
}

// TestEmpty shows that a model that nobody fitted or read predicts nothing, and says why.
func TestEmpty(t *testing.T) {
	must.Refuse(new(Model).PredictAt(mat.NewDense(1, 1, []float64{1})))(t, "", "a prediction of no model")
	m := &Model{Inputs: []string{"x"}}
	must.Refuse(m.PredictAt(mat.NewDense(1, 1, []float64{1})))(t, "empty")
}
