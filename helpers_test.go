package krigo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// cheap returns the options with one start and one lengthscale for all inputs, so that a fit takes little time.
func cheap(o krigo.Options) krigo.Options {
	o.Kernel.ARD = "off"
	o.Run.Restarts = 1
	return o
}

// trained returns what Fit makes of the options. Without a named objective Fit chooses its default.
func trained(t *testing.T, table *dataset.Table, o krigo.Options) *krigo.Model {
	t.Helper()
	if o.Data.Target == "" {
		o.Data.Target = table.Names[len(table.Names)-1]
	}
	return must.Get(krigo.Fit(context.Background(), table, o))(t)
}

// copies fits a table once per options, and returns a copy of the model on each call.
func copies(t *testing.T, table *dataset.Table) func(o krigo.Options) *krigo.Model {
	files := map[string][]byte{}
	return func(o krigo.Options) *krigo.Model {
		key := string(must.Get(json.Marshal(o))(t))
		if files[key] == nil {
			var b bytes.Buffer
			must.Do(t, trained(t, table, o).Write(&b))
			files[key] = b.Bytes()
		}
		return must.Get(krigo.Read(bytes.NewReader(files[key])))(t)
	}
}

// attempt returns the error of a fit.
func attempt(table *dataset.Table, o krigo.Options) error {
	_, err := krigo.Fit(context.Background(), table, o)
	return err
}

func predict(t *testing.T, m *krigo.Model, table *dataset.Table) []model.Prediction {
	t.Helper()
	return must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
}

func certify(m *krigo.Model, table *dataset.Table) (*krigo.Recertification, error) {
	return m.Certify(context.Background(), table, krigo.CertifyOptions{})
}

// reproduced reports an error if the rows don't give the model's certificate.
func reproduced(t *testing.T, m *krigo.Model, table *dataset.Table, about ...any) {
	t.Helper()
	if r, err := certify(m, table); err != nil || !r.Matches {
		t.Errorf("%v: %+v, %v", about, r, err)
	}
}
