package method_test

import (
	"testing"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestRegister: mistakes of the program are met when it starts, and nothing is registered then.
func TestRegister(t *testing.T) {
	made := func(method.Choice) method.Method { return method.Evidence{} }
	before := len(method.Names())
	for what, k := range map[string]method.Kind{
		"no name":                {New: made},
		"a name that is taken":   {Name: method.VFEName, New: made},
		"a name in two":          {Name: "leave one out", New: made},
		"two names":              {Name: "a,b", New: made},
		"no New":                 {Name: "loo"},
		"no such optimizer":      {Name: "loo", New: made, Optimizer: "LBFGS"},
		"batches without them":   {Name: "loo", New: made, Optimizer: "adam"},
		"a bound for other ends": {Name: "loo", New: made, Bound: pacbayes.SplitBound},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: registered", what)
				}
			}()
			method.Register(k)
		}()
	}
	if len(method.Names()) != before {
		t.Errorf("registered are %v", method.Names())
	}
}
