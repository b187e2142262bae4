package krigo_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

var allMutations = flag.Bool("mutations", false, "try every mutation of every model file, not a sample of them")

// sampled is how many mutations of a model file are tried where not all are.
const sampled = 500

// moving lists the arrays of a posterior that may change by so little that certificate and figures stay
// what they are to 1e-6, while predictions move by more than 1e-6 of a standard deviation, and how far they
// may. Another posterior is then what is certified, with every number recomputed from it: nothing
// that is printed is false. No digest would help, since who changes the posterior can change that
// too. Of stored factors, which certify makes anew, 1e-6 is how far they may be from these.
var moving = map[string]float64{"theta": 1e-3, "support": 1e-3, "weights": 1e-3, "cholesky_b": 1e-3,
	"prior_theta": 1e-3, "prior_support": 1e-3, "prior_weights": 1e-3,
	"prior_cholesky_b": 1e-3, "cholesky": 1e-5, "prior_cholesky": 1e-5}

// specimen is a model file that certify reproduces, with what it says.
type specimen struct {
	name   string
	table  *dataset.Table
	points *dataset.Table
	raw    []byte
	said   any
	ps     []model.Prediction
}

// withColumn is a table with a column of text before the others.
func withColumn(t *dataset.Table, name string, text func(i int) string) *dataset.Table {
	with := &dataset.Table{Source: t.Source, Names: append([]string{name}, t.Names...)}
	for i := range t.Rows {
		row := []string{text(i)}
		for _, v := range t.Values[i*len(t.Names) : (i+1)*len(t.Names)] {
			row = append(row, fmt.Sprint(v))
		}
		with.Append(row)
	}
	return with
}

// specimens are models of every kind.
func specimens(t *testing.T) (all []*specimen) {
	few := func(t *dataset.Table, n int) *dataset.Table { return pick(t, every(0, 1, n)) }
	sides := withColumn(few(data.Snelson(), 60), "side",
		func(i int) string { return []string{"left", "right", "", "7"}[i%4] })
	blocks := withColumn(homes(), "block", func(i int) string { return fmt.Sprint("b", i/2) })
	sixty := few(data.Snelson(), 60)
	holes := withColumn(few(data.Snelson(), 60), "side",
		func(i int) string { return []string{"left", "right", "", "7"}[i%4] })
	for i := 0; i < holes.Rows; i += 7 {
		holes.Values[3*i+1] = math.NaN()
	}
	declared := dataset.Scaling{InputMean: []float64{3}, InputScale: []float64{2}, TargetScale: 1}
	for _, c := range []struct {
		name  string
		table *dataset.Table
		o     krigo.Options
		file  string // instead of a fit
	}{
		{name: "kl-pac", table: few(homes(), 60),
			o: krigo.Options{Method: krigo.Method{Name: "kl-pac"}, Run: krigo.Run{Restarts: 1},
				Kernel: krigo.Kernel{Expression: "se+white", Mean: "linear"}}},
		{name: "evidence", table: few(homes(), 70),
			o: krigo.Options{Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "grid"},
				Run: krigo.Run{Restarts: 1}, Data: krigo.Data{TestFraction: 0.2},
				Kernel: krigo.Kernel{Expression: "rq", Mean: "constant"}}},
		{name: "vfe", table: snelson(), o: krigo.Options{Method: krigo.Method{Name: "vfe", Inducing: 5},
			Prior: krigo.Prior{Kind: "grid"}, Run: krigo.Run{Restarts: 1}, Promise: krigo.Promise{Calibration: 0.3}}},
		{name: "fitc", table: few(homes(), 60), o: krigo.Options{Method: krigo.Method{Name: "fitc", Inducing: 6},
			Prior: krigo.Prior{Kind: "grid"}, Run: krigo.Run{Restarts: 1}, Kernel: krigo.Kernel{ARD: "off"},
			Promise: krigo.Promise{Loss: "relative", Epsilon: 0.2}, Data: krigo.Data{TestFraction: 0.1}}},
		{name: "free", table: few(homes(), 60),
			o: krigo.Options{Method: krigo.Method{Name: "kl-pac", Posterior: "free", Inducing: 4, Epochs: 30},
				Run: krigo.Run{Restarts: 1}, Kernel: krigo.Kernel{ARD: "off"},
				Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 0.5, EpsilonAbove: 0.9}}},
		{name: "informed", table: homes(), o: krigo.Options{Method: krigo.Method{Name: "evidence"},
			Prior: krigo.Prior{Kind: "informed"}, Run: krigo.Run{Restarts: 1}, Data: krigo.Data{TestFraction: 0.1},
			Promise: krigo.Promise{Calibration: 0.25, Share: 0.6, Epsilon: 1}}},
		{name: "nearest", table: homes(), o: krigo.Options{Data: krigo.Data{TestFraction: 0.1},
			Kernel: krigo.Kernel{ARD: "off", Mean: "linear"},
			Method: krigo.Method{Name: "evidence", Solver: "nearest", Optimizer: "adam", Batch: 20, Epochs: 5},
			Prior:  krigo.Prior{Kind: "informed"}, Promise: krigo.Promise{Epsilon: 1}}},
		{name: "cg", table: homes(), o: krigo.Options{Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "evidence", Solver: "cg", Epochs: 5}, Prior: krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Epsilon: 1, Calibration: 0.25}}},
		{name: "tempered", table: homes(), o: krigo.Options{Method: krigo.Method{Name: "vfe", Inducing: 5},
			Prior: krigo.Prior{Kind: "informed", Temper: []float64{1, 0.3}}, Run: krigo.Run{Restarts: 1},
			Kernel: krigo.Kernel{ARD: "off"}, Promise: krigo.Promise{MeanBound: "both", Loss: "gaussian", Bound: "betting"}}},
		{name: "learnt", table: homes(), o: krigo.Options{Method: krigo.Method{Name: "evidence"},
			Prior: krigo.Prior{Kind: "informed", Learn: true, Share: 0.4}, Run: krigo.Run{Restarts: 1},
			Kernel: krigo.Kernel{ARD: "off"}, Data: krigo.Data{TestFraction: 0.1}}},
		{name: "encoded", table: holes, o: krigo.Options{Method: krigo.Method{Name: "evidence"},
			Prior: krigo.Prior{Kind: "informed"}, Run: krigo.Run{Restarts: 1}, Kernel: krigo.Kernel{ARD: "off"},
			Data: krigo.Data{Categorical: []string{"side"}, Missing: "mean"}}},
		{name: "grouped", table: blocks, o: krigo.Options{Method: krigo.Method{Name: "kl-pac"}, Run: krigo.Run{Restarts: 1},
			Kernel: krigo.Kernel{ARD: "off"}, Data: krigo.Data{Group: "block", TestFraction: 0.1},
			Prior: krigo.Prior{Share: 0.3}}},
		{name: "backtest", table: homes(), o: krigo.Options{Method: krigo.Method{Name: "evidence"},
			Prior: krigo.Prior{Kind: "informed"}, Run: krigo.Run{Restarts: 1}, Kernel: krigo.Kernel{ARD: "off"},
			Data: krigo.Data{Split: "last"}, Promise: krigo.Promise{Loss: "clipped-square", Units: "raw", Epsilon: 6}}},
		{name: "mixed", table: few(homes(), 60),
			o: krigo.Options{Method: krigo.Method{Name: "kl-pac"}, Run: krigo.Run{Restarts: 1}, Kernel: krigo.Kernel{ARD: "on"},
				Prior: krigo.Prior{Mixed: true}, Promise: krigo.Promise{Bound: "maurer", Share: 0.2}}},
		{name: "declared", table: few(snelson(), 40),
			o: krigo.Options{Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "grid"},
				Run: krigo.Run{Restarts: 1}, Data: krigo.Data{Scaling: "declared", Declared: &declared}}},
		{name: "all rows", table: few(snelson(), 50),
			o: krigo.Options{Method: krigo.Method{Name: "sqrt-pac"}, Run: krigo.Run{Restarts: 1},
				Data: krigo.Data{Scaling: "all-rows"}}},
		{name: "version 1", table: sixty, file: "v1"},
		{name: "version 3", table: sixty, file: "v3"},
		{name: "version 4", table: sides, file: "v4"},
	} {
		s := &specimen{name: c.name, table: c.table}
		path := filepath.Join("model", "testdata", c.file+".krigo")
		if c.file == "" {
			path = filepath.Join(t.TempDir(), "m.krigo")
			c.o.Run.Seed = 1
			if err := fit(t, c.table, c.o).Save(path); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if s.raw, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		m, err := krigo.Load(path)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		r, err := m.Certify(t.Context(), s.table, krigo.CertifyOptions{})
		if err != nil || !r.Matches {
			t.Fatalf("%s: %+v, %v", s.name, r, err)
		}
		s.points = around(c.table)
		s.said = statements(t, m, r)
		if s.ps, err = m.Predict(t.Context(), s.points, krigo.PredictOptions{}); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// around is ten rows of a table and ten points about and beyond them.
func around(t *dataset.Table) *dataset.Table {
	out := &dataset.Table{Source: "points", Names: t.Names, Rows: 20, Text: t.Text, Lines: every(2, 1, 22)}
	k := len(t.Names)
	for i := range 20 {
		row := slices.Clone(t.Values[i*k : (i+1)*k])
		for j := range row {
			if i >= 10 && (t.Text == nil || t.Text[j] == nil) {
				row[j] *= 0.3 + 0.15*float64(i-10)
			}
		}
		out.Values = append(out.Values, row...)
	}
	return out
}

// statements are all that a model that was certified says: the header of its file as it would be written
// anew, the certificate as recomputed, and in words.
func statements(t *testing.T, m *krigo.Model, r *krigo.Recertification) any {
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	h, _ := opened(out.Bytes())
	delete(h, "arrays")
	all, err := json.Marshal(map[string]any{"header": h, "recomputed": r.Certificate,
		"sentence": m.Sentence(r.Certificate), "split": m.Split,
		"counts": m.Counts, "groups": m.Groups})
	if err != nil {
		t.Fatal(err)
	}
	return parsed(all)
}

func parsed(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // the seed needs all its digits
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

const (
	versionAt = 8  // bytes of magic
	headerAt  = 16 // and of version and length
)

// opened takes a model file apart into header and arrays.
func opened(raw []byte) (header map[string]any, arrays []byte) {
	end := headerAt + int(binary.LittleEndian.Uint32(raw[versionAt+4:]))
	return parsed(raw[headerAt:end]).(map[string]any), raw[end : len(raw)-sha256.Size]
}

// closed puts it together under a checksum that fits.
func closed(raw, header, arrays []byte) []byte {
	out := slices.Clone(raw[:headerAt])
	binary.LittleEndian.PutUint32(out[versionAt+4:], uint32(len(header)))
	out = slices.Concat(out, header, arrays)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

// mutation changes a file in one place.
type mutation struct {
	at, how string // where in the header, or "[array]"
	header  func(h map[string]any)
	arrays  func(b []byte)
}

func (m mutation) of(s *specimen) []byte {
	h, arrays := opened(s.raw)
	arrays = slices.Clone(arrays)
	if m.header != nil {
		m.header(h)
	}
	if m.arrays != nil {
		m.arrays(arrays)
	}
	head, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	return closed(s.raw, head, arrays)
}

// words are strings that stand for something in one field or another.
var words = []string{"", "NaN", "x", "band", "gaussian", "relative", "clipped-absolute", "prior-rows", "declared",
	"all-rows", "kl", "maurer", "pinsker", "split-kl",
	"betting", "twice", "direct", "both", "grid", "informed", "content", "last", "position", "zero", "constant", "linear",
	"se", "matern32", "white", "sum", "posterior",
	"kl-pac", "evidence", "vfe", "cg", "nearest", "certificate", "refuse", "mean", "float64", "uint64", "uint8", "weights",
	"cholesky_b", "roles"}

// others are values that may stand in the place of one.
func others(v any) (out map[string]any) {
	out = map[string]any{"null": nil, "a list": []any{}, "an object": map[string]any{}, "true": true, "false": false,
		"text NaN": "NaN"}
	switch v := v.(type) {
	case json.Number:
		x, _ := v.Float64()
		number := func(how string, x float64) {
			if !math.IsInf(x, 0) && !math.IsNaN(x) {
				out[how] = json.Number(strconv.FormatFloat(x, 'g', -1, 64))
			}
		}
		number("1 ulp more", math.Nextafter(x, math.Inf(1)))
		number("1 ulp less", math.Nextafter(x, math.Inf(-1)))
		number("1e-12 more", x*(1+1e-12))
		number("1e-6 more", x*(1+1e-6))
		number("1e-3 less", x*(1-1e-3))
		number("1 more", x+1)
		number("1 less", x-1)
		number("half", x/2)
		number("a thousand times", 1000*x)
		number("negative", -x)
		number("0", 0)
		number("-1", -1)
		number("1", 1)
		number("1e300", 1e300)
		number("1e-300", 1e-300)
		out["2^63"], out["2^64"], out["1e999"] = json.Number("9223372036854775808"), json.Number("18446744073709551616"),
			json.Number("1e999")
		out["-0"] = json.Number("-0")
	case string:
		for _, w := range words {
			out["text "+w] = w
		}
		out["1"] = json.Number("1")
		out["longer"], out["upper case"], out["much longer"] = v+" ", strings.ToUpper(v),
			strings.Repeat(v+"x", 1<<22/(len(v)+1))
		if len(v) > 1 {
			out["shorter"], out["another end"] = v[1:], v[:len(v)-1]+"0"
		}
	case bool:
		out["text true"], out["1"] = "true", json.Number("1")
	case []any:
		out["1"], out["text"] = json.Number("1"), "x"
		if len(v) > 0 {
			back := slices.Clone(v)
			slices.Reverse(back)
			out["without its first"], out["without its last"], out["twice"], out["one twice"], out["backwards"], out["nulls"] =
				slices.Clone(v[1:]), slices.Clone(v[:len(v)-1]), slices.Concat(v, v), append(slices.Clone(v), v[len(v)-1]), back,
				make([]any, len(v))
		}
	case map[string]any:
		out["1"], out["text"] = json.Number("1"), "x"
	}
	text, _ := json.Marshal(v)
	maps.DeleteFunc(out, func(_ string, w any) bool {
		same, _ := json.Marshal(w)
		return bytes.Equal(same, text)
	})
	return out
}

// kept is a value deep enough down that a mutation may change it.
func kept(v any) any {
	text, _ := json.Marshal(v)
	return parsed(text)
}

// headerMutations lists those of a header: seen has, by the place of an object, what other files have there.
func headerMutations(h map[string]any, seen map[string]map[string]any) (all []mutation) {
	var walk func(path string, v any, set func(h map[string]any, w any), get func(h map[string]any) any)
	walk = func(path string, v any, set func(h map[string]any, w any), get func(h map[string]any) any) {
		if path != "" {
			values := others(v)
			for _, how := range slices.Sorted(maps.Keys(values)) {
				all = append(all, mutation{at: path, how: how, header: func(h map[string]any) { set(h, kept(values[how])) }})
			}
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				at := strings.TrimPrefix(path+"."+k, ".")
				of := func(h map[string]any) map[string]any { return get(h).(map[string]any) }
				all = append(all, mutation{at: at, how: "left out", header: func(h map[string]any) { delete(of(h), k) }})
				walk(at, v[k], func(h map[string]any, w any) { of(h)[k] = w }, func(h map[string]any) any { return of(h)[k] })
			}
			for _, k := range slices.Sorted(maps.Keys(seen[place(path)])) {
				if _, has := v[k]; !has {
					all = append(all, mutation{at: strings.TrimPrefix(path+"."+k, "."), how: "added",
						header: func(h map[string]any) { get(h).(map[string]any)[k] = kept(seen[place(path)][k]) }})
				}
			}
		case []any:
			for i := range v {
				if i > 1 && i < len(v)-1 && path != "arrays" { // the others are like these
					continue
				}
				walk(fmt.Sprintf("%s[%d]", path, i), v[i], func(h map[string]any, w any) { get(h).([]any)[i] = w },
					func(h map[string]any) any { return get(h).([]any)[i] })
			}
		}
	}
	walk("", h, nil, func(h map[string]any) any { return h })
	return all
}

// place is a path without the numbers of list entries.
func place(path string) string {
	for {
		from, to := strings.Index(path, "["), strings.Index(path, "]")
		if from < 0 {
			return path
		}
		path = path[:from] + path[to+1:]
	}
}

// collect notes what objects hold, by their place.
func collect(path string, v any, seen map[string]map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		if seen[path] == nil {
			seen[path] = map[string]any{}
		}
		for k, w := range v {
			if _, has := seen[path][k]; !has {
				seen[path][k] = w
			}
			collect(strings.TrimPrefix(path+"."+k, "."), w, seen)
		}
	case []any:
		for _, w := range v {
			collect(path, w, seen)
		}
	}
}

// arrayMutations lists those of the arrays.
func arrayMutations(h map[string]any, rng *rand.Rand) (all []mutation) {
	offset := 0
	for _, a := range h["arrays"].([]any) {
		a := a.(map[string]any)
		number := func(k string) int { n, _ := a[k].(json.Number).Int64(); return int(n) }
		rows, cols, from, at := number("rows"), number("cols"), offset, "["+a["name"].(string)+"]"
		n := rows * cols
		if cols == 0 {
			n = rows * (rows + 1) / 2
		}
		if a["type"] == "uint8" {
			offset += n
			for _, i := range []int{0, n / 2, n - 1} {
				for _, v := range []byte{0, 1, 2, 3, 4, 255} {
					all = append(all, mutation{at: at, how: fmt.Sprintf("%d of %d is %d", i, n, v),
						arrays: func(b []byte) { b[from+i] = v }})
				}
			}
			continue
		}
		offset += 8 * n
		if n == 0 {
			continue
		}
		get := func(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[from+8*i:]) }
		put := func(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[from+8*i:], v) }
		swap := func(b []byte, i, j int) {
			x, y := get(b, i), get(b, j)
			put(b, i, y)
			put(b, j, x)
		}
		for _, i := range []int{0, n - 1, rng.IntN(n), rng.IntN(n)} {
			add := func(how string, f func(v uint64) uint64) {
				all = append(all, mutation{at: at, how: fmt.Sprintf("%d of %d %s", i, n, how),
					arrays: func(b []byte) { put(b, i, f(get(b, i))) }})
			}
			add("1 bit more", func(v uint64) uint64 { return v + 1 })
			add("0", func(uint64) uint64 { return 0 })
			if j := rng.IntN(n); j != i {
				all = append(all, mutation{at: at, how: fmt.Sprintf("%d and %d swapped", i, j),
					arrays: func(b []byte) { swap(b, i, j) }})
			}
			if a["type"] != "float64" {
				add("all bits", func(uint64) uint64 { return math.MaxUint64 })
				continue
			}
			float := func(how string, f func(x float64) float64) {
				add(how, func(v uint64) uint64 { return math.Float64bits(f(math.Float64frombits(v))) })
			}
			float("1e-12 more", func(x float64) float64 { return x * (1 + 1e-12) })
			float("1e-9 more", func(x float64) float64 { return x * (1 + 1e-9) })
			float("1e-6 more", func(x float64) float64 { return x * (1 + 1e-6) })
			float("1e-3 less", func(x float64) float64 { return x * (1 - 1e-3) })
			float("0.1 more", func(x float64) float64 { return x + 0.1 })
			float("negative", func(x float64) float64 { return -x })
			float("NaN", func(float64) float64 { return math.NaN() })
			float("Inf", func(float64) float64 { return math.Inf(1) })
			float("1e300", func(float64) float64 { return 1e300 })
			float("1e-300", func(float64) float64 { return 1e-300 })
		}
		if cols > 1 && rows > 1 {
			all = append(all, mutation{at: at, how: "rows swapped", arrays: func(b []byte) {
				for j := range cols {
					swap(b, j, (rows-1)*cols+j)
				}
			}})
		}
		if a["type"] == "float64" {
			for _, f := range []float64{1 + 1e-12, 1 + 1e-9, 1 + 1e-6, 1.01, -1, 0} {
				all = append(all, mutation{at: at, how: fmt.Sprint("all times ", f), arrays: func(b []byte) {
					for i := range n {
						put(b, i, math.Float64bits(math.Float64frombits(get(b, i))*f))
					}
				}})
			}
		}
	}
	return all
}

// apart lists where two values differ: text in anything, numbers by more than what is recomputed may.
func apart(path string, a, b any, out *[]string) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(x)
		maps.Copy(keys, y)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			apart(strings.TrimPrefix(path+"."+k, "."), x[k], y[k], out)
		}
		return
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				apart(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], out)
			}
			return
		}
	case json.Number:
		if y, ok := b.(json.Number); ok {
			v, _ := x.Float64()
			w, _ := y.Float64()
			unit := math.Max(math.Max(math.Abs(v), math.Abs(w)), 1e-9) // of which 1e-300 is nothing
			if strings.Contains(path, "certificate") || strings.HasPrefix(path, "recomputed") || strings.Contains(path, "test") {
				unit = math.Max(unit, 1) // as they are printed, and compared
			}
			if x == y || v == w && math.Abs(v) < 1<<53 || strings.ContainsAny(string(x)+string(y), ".e") &&
				math.Abs(v-w) <= 1e-6*unit {
				return
			}
		}
	default:
		if a == b {
			return
		}
	}
	*out = append(*out, path)
}

// moved is how far predictions moved, in standard deviations and shares of them.
func moved(ps, qs []model.Prediction) (most float64) {
	for i, p := range ps {
		q := qs[i]
		most = max(most, math.Abs(p.Mean-q.Mean)/p.PredictiveSD, math.Abs(p.LatentSD-q.LatentSD)/p.PredictiveSD,
			math.Abs(q.PredictiveSD/p.PredictiveSD-1))
		if q.Mean != q.Mean || q.PredictiveSD != q.PredictiveSD {
			return math.Inf(1)
		}
	}
	return most
}

// verdict is what became of a mutated file.
type verdict int

const (
	atLoad    verdict = iota // refused
	byCertify                // refused
	nothing                  // no statement changed
	another                  // another posterior, of which every statement was recomputed
	verdicts
)

// judge loads a mutated file and certifies it against its data. A wrong that isn't "" is what
// shouldn't be.
func (s *specimen) judge(t *testing.T, path string, m mutation) (v verdict, wrong string) {
	defer func() {
		if p := recover(); p != nil {
			wrong = fmt.Sprint("panic: ", p)
		}
	}()
	raw := m.of(s)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	defer func() {
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<27 && wrong == "" {
			wrong = fmt.Sprintf("%d bytes allocated for a file of %d", used, len(raw))
		}
		if d := time.Since(begin); d > 20*time.Second && wrong == "" {
			wrong = fmt.Sprint("it took ", d)
		}
	}()
	got, err := krigo.Load(path)
	if err != nil {
		return atLoad, ""
	}
	r, err := got.Certify(t.Context(), s.table, krigo.CertifyOptions{})
	if err != nil || r.Differs != "" {
		return byCertify, ""
	}
	var differ []string
	apart("", s.said, statements(t, got, r), &differ)
	differ = slices.DeleteFunc(differ, func(path string) bool {
		if path == "sentence" { // rounded, of certificates that agree
			return false
		}
		field, ok := strings.CutPrefix(path, "header.")
		if !ok {
			return false
		}
		return onWord(r, field)
	})
	if len(differ) > 0 {
		return 0, "other statements: " + strings.Join(differ, ", ")
	}
	ps, err := got.Predict(t.Context(), s.points, krigo.PredictOptions{})
	if err != nil {
		return 0, "no predictions: " + err.Error()
	}
	if far := moved(s.ps, ps); far > 1e-6 {
		if far < moving[strings.Trim(m.at, "[]")] {
			return another, ""
		}
		return 0, fmt.Sprintf("predictions moved by %.3g standard deviations", far)
	}
	return nothing, ""
}

// onWord says whether a part of the header is listed as taken on the fitter's word: by the longest path that leads to
// it.
func onWord(r *krigo.Recertification, field string) bool {
	longest, on := -1, false
	for i, claims := range [][]model.Claim{r.Checked, r.OnWord} {
		for _, c := range claims {
			for _, name := range c.Fields {
				rest, of := strings.CutPrefix(field, name)
				if of = of && (rest == "" || rest[0] == '.' || rest[0] == '['); of && len(name) > longest {
					longest, on = len(name), i == 1
				}
			}
		}
	}
	return on
}

// TestMutations: a model file of which one place was changed, under a checksum that fits, is refused,
// or says and predicts the same.
func TestMutations(t *testing.T) {
	all := specimens(t)
	seen := map[string]map[string]any{}
	for _, s := range all {
		h, _ := opened(s.raw)
		collect("", any(h), seen)
	}
	path := filepath.Join(t.TempDir(), "mutated.krigo")
	var total [verdicts]int
	for _, s := range all {
		rng := rand.New(rand.NewPCG(1, 2))
		h, _ := opened(s.raw)
		mutations := slices.Concat(headerMutations(h, seen), arrayMutations(h, rng))
		if !*allMutations {
			rng.Shuffle(len(mutations), func(i, j int) { mutations[i], mutations[j] = mutations[j], mutations[i] })
			mutations = mutations[:min(sampled, len(mutations))]
		}
		var counts [verdicts]int
		for _, m := range mutations {
			v, wrong := s.judge(t, path, m)
			if wrong != "" {
				t.Errorf("%s: %s %s: %s", s.name, m.at, m.how, wrong)
				continue
			}
			counts[v]++
			total[v]++
		}
		t.Logf("%-10s %5d mutations: %5d refused at load, %5d by certify, %5d changed nothing, %3d another posterior", s.name,
			len(mutations), counts[atLoad], counts[byCertify], counts[nothing], counts[another])
	}
	t.Logf("all: %d mutations: %d refused at load, %d by certify, %d changed nothing, %d another posterior", total[atLoad]+
		total[byCertify]+total[nothing]+total[another],
		total[atLoad], total[byCertify], total[nothing], total[another])
}
