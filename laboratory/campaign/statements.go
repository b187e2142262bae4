package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/model"
)

// Offsets in a model file: the magic bytes, the version, the length of the header, and the header.
const (
	magicAt, versionAt, lengthAt, headerAt = 0, 8, 12, 16
)

// opened takes a model file apart into header and arrays.
func opened(raw []byte) (header, arrays []byte) {
	end := headerAt + int(binary.LittleEndian.Uint32(raw[lengthAt:]))
	return raw[headerAt:end], raw[end : len(raw)-sha256.Size]
}

// parsed returns JSON as values, with all digits of numbers. It returns nil if text isn't JSON.
func parsed(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// statements returns everything that a certified model says. This is the header of its file, which is written again,
// the recomputed certificate, and the guarantee in words.
func statements(m *krigo.Model, r *krigo.Recertification) (any, error) {
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		return nil, err
	}
	header, _ := opened(out.Bytes())
	h := parsed(header).(map[string]any)
	delete(h, "arrays")
	all, err := json.Marshal(map[string]any{"header": h, "recomputed": r.Certificate,
		"sentence": m.Sentence(r.Certificate), "split": m.Split,
		"counts": m.Counts, "groups": m.Groups})
	return parsed(all), err
}

// apart lists the paths at which two values differ. Texts must be equal, and numbers may differ as much as recomputed
// numbers may.
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
			unit := math.Max(math.Max(math.Abs(v), math.Abs(w)), 1e-9) // numbers far below 1e-9 count as 0
			if strings.Contains(path, "certificate") || strings.HasPrefix(path, "recomputed") || strings.Contains(path, "test") ||
				strings.Contains(path, "context") {
				unit = math.Max(unit, 1) // the scale on which they are printed and compared
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

// moved returns how far predictions moved at most, in standard deviations, or as shares of a standard deviation.
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
