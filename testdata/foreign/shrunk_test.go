package foreign

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
)

// TestOwnSetting shows that krigo takes a method's own setting from Go and from JSON, checks it, stores it in the
// model, and gives it to the method.
func TestOwnSetting(t *testing.T) {
	fit := func(text string) (*krigo.Model, error) {
		o := krigo.Options{Data: krigo.Data{Target: "y"}, Run: krigo.Run{Restarts: 1}}
		if err := json.Unmarshal([]byte(text), &o.Method); err != nil {
			return nil, err
		}
		return krigo.Fit(t.Context(), waves(), o)
	}
	theta := func(m *krigo.Model) (sum float64) {
		for _, v := range m.Posterior.Theta {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	free := must(fit(`{"name": "shrunk", "shrink": 0.001}`))(t)
	little := must(fit(`{"name": "shrunk"}`))(t)
	much := must(fit(`{"name": "shrunk", "shrink": 100}`))(t)
	if !(theta(much) < theta(little) && theta(little) < theta(free)) {
		t.Errorf("log-parameters are %v, by default %v, shrunk %v", theta(free), theta(little), theta(much))
	}
	for want, m := range map[string]*krigo.Model{`"shrink":1}`: little, `"shrink":100}`: much} {
		if !bytes.Contains(m.Fitted, []byte(want)) {
			t.Errorf("the model keeps %s, want %s", m.Fitted, want)
		}
	}
	for text, want := range map[string]string{
		`{"name": "vfe", "shrink": 2}`:        "shrink is a setting of shrunk, not of vfe",
		`{"name": "shrunk", "shrink": -1}`:    "shrink -1: want 0 to 1000",
		`{"name": "shrunk", "shrink": "a"}`:   "shrink: json: cannot unmarshal string",
		`{"name": "shrunk", "shrinks": 1}`:    `unknown field "shrinks"`,
		`{"name": "shrunk", "-": 1}`:          `unknown field "-"`,
		`{"name": "shrunk", "neighbours": 9}`: "neighbours is a setting of nearest, not of shrunk",
	} {
		if _, err := fit(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
