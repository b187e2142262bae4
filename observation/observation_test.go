package observation

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/objective"
)

// usual is what a default fit combines a target with.
func usual() Features {
	return Features{Target: "y", Own: []string{"y", "unit"}, Informed: true, MeanAlone: true,
		Method: "evidence", Alternates: true, Sites: true}
}

// TestColumns: a part reads each field of Columns, and the parts' fields are those of model files.
func TestColumns(t *testing.T) {
	fields := Fields()
	of := reflect.TypeFor[Columns]()
	for i := range of.NumField() {
		key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		must.Hold(t, slices.Contains(fields, key), "%s: no part reads it", key)
		var c Columns
		reflect.ValueOf(&c).Elem().Field(i).SetString("column")
		must.Hold(t, c.Named()[key] == "column", "%s: its part reads another field", key)
	}
	for _, field := range fields {
		found := slices.ContainsFunc(reflect.VisibleFields(reflect.TypeFor[Observation]()),
			func(f reflect.StructField) bool {
				key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				return key == field
			})
		must.Hold(t, found, "%s: no field of an Observation", field)
	}
}

// TestGoes: each property of a target goes with what a default fit has, and is refused with what it
// doesn't go with, for options in the words of the row, and for a model file in the words of the
// part.
func TestGoes(t *testing.T) {
	prior := dataset.Scaling{Source: dataset.PriorRows}
	logs := prior
	logs.Transform = &dataset.Transform{Name: "log"}
	for _, c := range []struct {
		name string
		of   Observation
		with func(*Features)
		rows string // of options
		file string
	}{
		{"an offset of a monotone mean", Observation{Columns: Columns{Offset: "o"}},
			func(f *Features) { f.Monotone = true }, "needn't be monotone", "offset doesn't go"},
		{"an offset that groups rows", Observation{Columns: Columns{Offset: "unit"}},
			func(*Features) {}, `offset "unit": that column is the target or has another`, "offset"},
		{"one column of two parts", Observation{Columns: Columns{Offset: "o", NoiseColumn: "o"}},
			func(*Features) {}, `noise-column "o": that column`, "standard errors"},
		{"exposures of a number", Observation{Columns: Columns{Exposure: "e"}},
			func(*Features) {}, "multiplies the mean of a count", "noise doesn't go"},
		{"errors and a method of one noise", Observation{Columns: Columns{NoiseColumn: "e"}},
			func(f *Features) { f.Method = "svgp" }, "svgp has one noise variance",
			"standard errors"},
		{"a varying noise of a random draw", Observation{Varying: &Varying{}},
			func(f *Features) {
				f.MeanAlone = false
				f.Noise = "linear"
			}, "noise linear: the prior rows teach", "a noise that depends on inputs"},
		{"limits of several targets", Observation{Columns: Columns{Censored: "side"}},
			func(f *Features) { f.Several = true }, "one target", "targets that are limits"},
		{"a transform of a random draw", Observation{Scaling: logs},
			func(f *Features) { f.MeanAlone = false }, "isn't Gaussian in the target's units",
			"has a transform of the target"},
		{"a transform and an offset",
			Observation{Scaling: logs, Columns: Columns{Offset: "o"}}, func(*Features) {},
			"added to predictions in these units", "has a transform of the target"},
		{"counts without sites", Observation{Scaling: prior, Noise: "poisson", ObservationNoise: 1},
			func(f *Features) { f.Sites = false }, "its sites take", "noise doesn't go"},
		{"three classes", Observation{Scaling: prior, Noise: objective.ProbitName,
			ObservationNoise: 1, Classes: []string{"a", "b", "c"}},
			func(f *Features) { f.Labels = true }, "it takes two classes", "classes don't go"},
	} {
		with := usual()
		c.with(&with)
		err := c.of.Goes(with)
		must.Hold(t, err != nil && strings.Contains(err.Error(), c.rows), "%s: %v", c.name, err)
		with.File = true
		err = c.of.Goes(with)
		must.Hold(t, err != nil && strings.Contains(err.Error(), c.file), "%s, in a file: %v",
			c.name, err)
	}
	for _, of := range []Observation{{}, {Columns: Columns{Offset: "o"}},
		{Columns: Columns{NoiseColumn: "e"}}, {Varying: &Varying{}},
		{Columns: Columns{Censored: "y"}}, {Scaling: logs},
		{Scaling: prior, Noise: "poisson", ObservationNoise: 1,
			Columns: Columns{Exposure: "e"}}} {
		for _, file := range []bool{false, true} {
			with := usual()
			with.File = file
			must.Do(t, of.Goes(with))
		}
	}
}

// TestFileVersion: a file is of the newest version that a property of its target needs.
func TestFileVersion(t *testing.T) {
	for want, of := range map[uint32]Observation{0: {}, 6: {Noise: objective.StudentName},
		7: {Scaling: dataset.Scaling{Transform: &dataset.Transform{}}}, 8: {Varying: &Varying{}},
		9: {Columns: Columns{Offset: "o"}}, 10: {Columns: Columns{Offset: "o", NoiseColumn: "e"}},
		12: {Columns: Columns{Censored: "y"}}, 13: {Noise: objective.ProbitName},
		14: {Noise: "poisson", Columns: Columns{Exposure: "e"}}} {
		must.Be(t, of.FileVersion(), want)
	}
}

// TestVersion: krigo reads each version that it writes.
func TestVersion(t *testing.T) {
	for _, p := range parts {
		must.Hold(t, p.version <= Version, "%s: version %d, above Version", p.field, p.version)
	}
}

// TestWords: words of several parts nest, and what is named has brackets.
func TestWords(t *testing.T) {
	kept := parts
	defer func() { parts = kept }()
	parts = []*part{&offset, {field: "factor", column: func(c *Columns) string { return c.Exposure },
		words: words{target: "%[2]s / %[1]s", counted: "%[2]s / %[1]s", simple: "%s times %s"}}}
	of := Observation{Columns: Columns{Offset: "sim", Exposure: "unit"}}
	must.Be(t, of.Learned("y"), "(y − sim) / unit")
	must.Be(t, of.Counted("y"), "y / unit")
	must.Be(t, of.Simple("a line"), "sim plus unit times a line")
	must.Be(t, of.ShareOf(), "of what sim misses")
	must.Hold(t, len(of.Cautions()) == 1, "%q", of.Cautions())
	of = Observation{}
	must.Be(t, of.Learned("y")+of.Counted("y")+of.Simple("a line")+of.ShareOf(), "yya line")
}

// TestPredict: predictions have the offset and the labels, and a row that overflows takes no other row's.
func TestPredict(t *testing.T) {
	of := Observation{Scaling: dataset.Identity(1), ObservationNoise: 3}
	at := At{Mean: []float64{1, 2}, Variance: []float64{1, 1}, Units: dataset.RowUnits{{}, {Zero: 10, Factor: 1}}}
	ps := must.Get(of.Predict(at))(t)
	must.Be(t, fmt.Sprint(ps[0].Mean, ps[1].Mean, ps[1].PredictiveSD), "1 12 2")
	for _, of := range []Observation{of, {Scaling: dataset.Scaling{TargetScale: 1,
		Transform: &dataset.Transform{Name: "log", Scale: 1}}, ObservationNoise: 3}} {
		at.Units = nil
		p := must.Get(of.Predict(at))(t)[1]
		u := dataset.RowUnit{Zero: 5, Factor: 100}
		at.Units = dataset.RowUnits{{}, u}
		q := must.Get(of.Predict(at))(t)[1]
		must.Near(t, q.Mean, u.Target(p.Mean), 1e-9, "mean")
		must.Near(t, q.Lower95, u.Target(p.Lower95), 1e-9, "lower")
		must.Near(t, q.Upper95, u.Target(p.Upper95), 1e-9, "upper")
		must.Near(t, q.PredictiveSD, 100*p.PredictiveSD, 1e-9, "sd")
		must.Near(t, q.LatentVariance, 1e4*p.LatentVariance, 1e-9, "variance")
		low, _ := of.Within(p, 2)
		own, _ := of.Within(q, 2)
		must.Near(t, own, u.Target(low), 1e-9, "within")
	}
	at.Mean[1] = math.Inf(1)
	ps = must.Get(of.Predict(at))(t)
	must.Hold(t, ps[0].Mean == 1 && !ps[0].Lost() && ps[1].Lost(), "%+v", ps)
	must.Be(t, string(must.Get(json.Marshal(ps[1]))(t)), "null")
	_, err := of.Spreads(at.Mean, at.Variance, nil)
	var row *dataset.Error
	must.Hold(t, errors.As(err, &row) && row.Row == 2, "%v", err)
}
