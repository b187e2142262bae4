package krigo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// asked reads options from a line: the method, then fields by their JSON names. prior.share has its prefix because a
// promise has a share too. For example "vfe inducing=8 kind=informed prior.share=0.4 temper=[1,0.3]".
func asked(text string) (o krigo.Options) {
	groups := reflect.ValueOf(&o).Elem()
	for _, word := range strings.Fields(text) {
		name, value, given := strings.Cut(word, "=")
		if !given {
			name, value = "name", name
		}
		if field := named(groups, name); json.Unmarshal([]byte(value), field) != nil {
			quoted, _ := json.Marshal(value)
			if err := json.Unmarshal(quoted, field); err != nil {
				panic(word + ": " + err.Error())
			}
		}
	}
	return o
}

// named points to the field with this name, in the last group that has such a field.
func named(groups reflect.Value, name string) (field any) {
	for i := range groups.NumField() {
		group, of := groups.Field(i), groups.Type().Field(i).Tag.Get("json")
		for j := 0; of != "" && j < group.NumField(); j++ {
			key, _, _ := strings.Cut(group.Type().Field(j).Tag.Get("json"), ",")
			if key == name || of+"."+key == name {
				field = group.Field(j).Addr().Interface()
			}
		}
	}
	if field == nil {
		panic("no option " + name)
	}
	return field
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
