package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// leaf is a number in a document, with its path and a way to replace it.
type leaf struct {
	path string
	v    float64
	set  func(v float64)
}

// leaves lists the numbers of a document.
func leaves(path string, doc any) (all []leaf) {
	add := func(path string, v any, set func(v any)) {
		if number, ok := v.(float64); ok {
			all = append(all, leaf{path, number, func(v float64) { set(v) }})
		} else {
			all = append(all, leaves(path, v)...)
		}
	}
	switch doc := doc.(type) {
	case map[string]any:
		for name, v := range doc {
			add(path+"."+name, v, func(v any) { doc[name] = v })
		}
	case []any:
		for i, v := range doc {
			add(fmt.Sprintf("%s[%d]", path, i), v, func(v any) { doc[i] = v })
		}
	}
	return all
}

// TestRecount alters each number of certificates of all routes. A file whose certificate contradicts its own counts
// isn't read, so that no reader without the rows repeats a false bound.
func TestRecount(t *testing.T) {
	must.Long(t)
	table := slopes(rand.New(rand.NewPCG(11, 12)), 240)
	with := func(loss, group string, alter func(o *krigo.Options)) krigo.Options {
		o := fixed(loss, 0.4, group)
		alter(&o)
		return o
	}
	// The rows alone show these. certify recomputes them.
	byRows := []string{".near_copies", ".limits", ".curve.points[0].half_width", ".promise.half_width", ".repeats"}
	ends := regexp.MustCompile(`^\.slices\[\d+\]\.(from|to)$`)
	for name, o := range map[string]krigo.Options{
		"misses":   fixed("band", 0.4, ""),
		"curve":    with("band", "", func(o *krigo.Options) { o.Promise.Curve = true; o.Promise.Share = 0.8 }),
		"promise":  with("band", "", func(o *krigo.Options) { o.Promise.Share = 0.8 }),
		"slices":   with("band", "", func(o *krigo.Options) { o.Promise.Slices = []string{"a"} }),
		"both":     with("band", "", func(o *krigo.Options) { o.Promise.MeanBound = "both" }),
		"twice":    with("band", "", func(o *krigo.Options) { o.Promise.MeanBound = "twice" }),
		"graded":   fixed("clipped-square", 0.7, ""),
		"pinsker":  with("clipped-square", "", func(o *krigo.Options) { o.Promise.Bound = "pinsker" }),
		"betting":  with("clipped-square", "", func(o *krigo.Options) { o.Promise.Bound = "betting" }),
		"split":    with("clipped-square", "", func(o *krigo.Options) { o.Promise.Bound = "split-kl" }),
		"groups":   with("band", "block", func(o *krigo.Options) { o.Promise.Bound = "betting" }),
		"the grid": {Data: krigo.Data{Target: "y", Inputs: []string{"a", "b"}}, Method: krigo.Method{Name: "kl-pac"}, Kernel: krigo.Kernel{Expression: "se", ARD: "off"}, Prior: krigo.Prior{Kind: "grid"}, Run: krigo.Run{Restarts: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			m := must.Get(krigo.Fit(context.Background(), table, o))(t)
			text := must.Get(json.Marshal(m.Certificate))(t)
			var whole any
			must.Do(t, json.Unmarshal(text, &whole))
			read := func() error {
				altered := m.Model
				altered.Certificate = nil
				if err := json.Unmarshal(must.Get(json.Marshal(whole))(t), &altered.Certificate); err != nil {
					return err // no file can hold it
				}
				var file bytes.Buffer
				must.Do(t, altered.Write(&file))
				_, err := model.Read(&file)
				return err
			}
			must.Do(t, read())
			for _, l := range leaves("", whole) {
				if slices.Contains(byRows, l.path) || ends.MatchString(l.path) || name == "split" && l.path == ".bound" {
					continue
				}
				for _, v := range []float64{l.v * 0.5, l.v * 0.99, l.v*1.01 + 0.01, l.v + 1, -0.5, 1e308} {
					if v == l.v {
						continue
					}
					l.set(v)
					must.Hold(t, read() != nil, "%s is %v, not %v", l.path, v, l.v)
				}
				l.set(l.v)
			}
		})
	}
}
