package serve

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
)

// TestNoModel shows that Handler without a model returns errors that say what to do.
func TestNoModel(t *testing.T) {
	for _, m := range []*krigo.Model{nil, {}} {
		if _, err := Handler(m, Options{}); err == nil || !strings.Contains(err.Error(), "krigo.Load") {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if _, err := new(krigo.Model).Predict(t.Context(), data.Snelson(), krigo.PredictOptions{}); err == nil ||
		!strings.Contains(err.Error(), "load one") {
		t.Errorf("prediction: %v", err)
	}
}
