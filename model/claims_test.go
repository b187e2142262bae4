package model

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestClaimsCover shows that every field and array of a model file is in exactly one claim, also if Known says
// something else.
func TestClaimsCover(t *testing.T) {
	files, err := filepath.Glob("testdata/*.krigo")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[header]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && name != "arrays" { // arrays lists further parts
			fields = append(fields, name)
		}
	}
	for _, file := range files {
		m := must.Get(Load(file))(t)
		want := fields
		for _, name := range []string{"roles", "rows", "groups", "misses", "deviations"} {
			want = append(want, "["+name+"]")
		}
		parts := partsOf("", m.Posterior)
		if prior, _ := m.Posterior.OfPrior(); prior != nil {
			parts = append(parts, partsOf("prior_", prior)...)
		}
		for _, p := range parts {
			want = append(want, "["+p.Name+"]")
		}
		for _, k := range []Known{{}, {Derived: true}, {Refitted: true}} {
			in := map[string]int{}
			checked, word := m.Claims(k)
			for _, c := range append(checked, word...) {
				for _, f := range c.Fields {
					in[f]++
				}
			}
			for _, f := range want {
				must.Hold(t, in[f] == 1, "%s, %+v: %s stands in %d claims", file, k, f, in[f])
			}
		}
	}
}
