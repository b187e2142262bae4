package method_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// miscounted and renamed have a setting of another method, with another type or another name.
type (
	miscounted struct {
		method.Evidence
		Neighbours float64 `set:"neighbours"`
	}
	renamed struct {
		method.Evidence
		Neighbours int `set:"friends"`
	}
)

// TestFromFile shows that FromFile drops settings that older versions ignored, and no setting that they refused.
func TestFromFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"evidence","inducing_by":"none","inducing_init":"greedy","fix_inducing":true,"posterior":"fitc"}`: "",
		`{"name":"vfe","inducing_init":"random","solver":"cholesky","hyperprior":"none","anneal":"none"}`:          "",
		`{"name":"nearest","posterior":"objective","batches":"uniform","solver":"auto","alphas":null}`:             "",
		`{"name":"vfe","neighbours":7}`: "neighbours is a setting of nearest",
	} {
		var c method.Choice
		must.Do(t, json.Unmarshal([]byte(text), &c))
		err := errors.Join(c.FromFile().WithDefaults().Check(method.Use{})...)
		must.Hold(t, (want != "" || err == nil) &&
			(want == "" || (err != nil && strings.Contains(err.Error(), want))),
			"%s: %v, want %q", text, err, want)
	}
}

// TestRegister shows that a program's mistake panics when the program starts, and registers nothing.
func TestRegister(t *testing.T) {
	made := method.Evidence{}
	before := len(method.Names())
	for what, k := range map[string]method.Kind{
		"no name":                {Method: made},
		"a name that is taken":   {Name: method.VFEName, Method: made},
		"a name in two":          {Name: "leave one out", Method: made},
		"two names":              {Name: "a,b", Method: made},
		"no Method":              {Name: "loo"},
		"no struct":              {Name: "loo", Method: &method.Evidence{}},
		"a setting of two types": {Name: "loo", Method: miscounted{}},
		"a setting's other name": {Name: "loo", Method: renamed{}},
		"a bound for other ends": {Name: "loo", Method: made, Bound: pacbayes.SplitBound},
	} {
		func() {
			defer func() {
				must.Hold(t, recover() != nil, "%s: registered", what)
			}()
			method.Register(k)
		}()
	}
	must.Hold(t, len(method.Names()) == before, "registered are %v", method.Names())
}
