package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// description is the decoded openapi.json.
type description map[string]any

func described(t testing.TB) description {
	t.Helper()
	raw := must.Get(assets.ReadFile("openapi.json"))(t)
	var d description
	must.Do(t, json.Unmarshal(raw, &d))
	return d
}

// at returns the value that a chain of keys leads to, or nil.
func at(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func (d description) at(keys ...string) any { return at(map[string]any(d), keys...) }

// refer returns the schema that a reference leads to, or the schema itself if it isn't a reference.
func (d description) refer(schema map[string]any) (map[string]any, error) {
	ref, found := schema["$ref"].(string)
	if !found {
		return schema, nil
	}
	if to, ok := d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any); ok &&
		strings.HasPrefix(ref, "#/") {
		return to, nil
	}
	return nil, fmt.Errorf("%s leads nowhere", ref)
}

// keywords are the keywords of JSON Schema that valid checks, and those that restrict no value.
var keywords = []string{"type", "properties", "required", "additionalProperties", "items", "minItems", "oneOf",
	"minimum", "maximum", "maxLength", "format", "description", "default"}

var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// schema returns the errors of a schema.
func (d description) schema(where string, of any) (errs []error) {
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(where+": "+format, args...)) }
	schema, ok := of.(map[string]any)
	if !ok || len(schema) == 0 {
		wrong("%v is no schema", of)
		return errs
	}
	if schema["$ref"] != nil {
		if _, err := d.refer(schema); err != nil || len(schema) > 1 {
			wrong("a reference: %v, %v", schema, err)
		}
		return errs
	}
	for key := range schema {
		if !slices.Contains(keywords, key) {
			wrong("%q isn't known: mistyped, or valid has to learn it", key)
		}
	}
	if schema["type"] == nil && schema["oneOf"] == nil {
		wrong("no type")
	}
	for _, kind := range kinds(schema) {
		if !slices.Contains(types, kind) {
			wrong("type %q", kind)
		}
	}
	if slices.Contains(kinds(schema), "array") {
		errs = append(errs, d.schema(where+".items", schema["items"])...)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, of := range properties {
		errs = append(errs, d.schema(where+"."+name, of)...)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if properties[name.(string)] == nil {
			wrong("%q is required, and not described", name)
		}
	}
	either, _ := schema["oneOf"].([]any)
	for i, of := range either {
		errs = append(errs, d.schema(fmt.Sprintf("%s.oneOf[%d]", where, i), of)...)
	}
	if value, found := schema["default"]; found {
		if err := d.valid(schema, value); err != nil {
			wrong("its default: %w", err)
		}
	}
	return errs
}

func kinds(schema map[string]any) (names []string) {
	switch of := schema["type"].(type) {
	case string:
		return []string{of}
	case []any:
		for _, name := range of {
			names = append(names, fmt.Sprint(name))
		}
	}
	return names
}

// valid returns an error if a JSON value isn't what a schema describes.
func (d description) valid(schema map[string]any, value any) error {
	schema, err := d.refer(schema)
	if err != nil {
		return err
	}
	if of := kinds(schema); len(of) > 0 {
		kind := map[string]string{"<nil>": "null", "map[string]interface {}": "object", "[]interface {}": "array",
			"string": "string", "float64": "number", "bool": "boolean"}[fmt.Sprintf("%T", value)]
		whole := kind == "number" && value.(float64) == math.Trunc(value.(float64))
		if !slices.Contains(of, kind) && !(whole && slices.Contains(of, "integer")) {
			return fmt.Errorf("%.80v where %v should be", value, of)
		}
	}
	if either, _ := schema["oneOf"].([]any); either != nil {
		var errs []error
		for _, of := range either {
			if err := d.valid(of.(map[string]any), value); err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) != len(either)-1 {
			return fmt.Errorf("%.80v is %d of the %d that it may be one of: %v", value, len(either)-len(errs), len(either), errs)
		}
	}
	switch v := value.(type) {
	case float64:
		if least, found := schema["minimum"].(float64); found && v < least {
			return fmt.Errorf("%v is below %v", v, least)
		}
		if most, found := schema["maximum"].(float64); found && v > most {
			return fmt.Errorf("%v is above %v", v, most)
		}
	case string:
		if most, found := schema["maxLength"].(float64); found && float64(len(v)) > most {
			return fmt.Errorf("%d bytes, more than %v", len(v), most)
		}
		if schema["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339, v); err != nil {
				return err
			}
		}
	case []any:
		if least, found := schema["minItems"].(float64); found && len(v) < int(least) {
			return fmt.Errorf("%d items, fewer than %v", len(v), least)
		}
		for i, item := range v {
			if err := d.valid(schema["items"].(map[string]any), item); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, found := v[name.(string)]; !found {
				return fmt.Errorf("%q is missing", name)
			}
		}
		for name, of := range v {
			if properties[name] == nil {
				if schema["additionalProperties"] != true && (schema["additionalProperties"] == false || properties != nil) {
					return fmt.Errorf("%q isn't described", name) // answers are described completely
				}
				continue
			}
			if err := d.valid(properties[name].(map[string]any), of); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
		}
	}
	return nil
}

// TestDescribedWell shows that clients can be generated from the description: all operations have names, all answers
// have schemas, references lead somewhere, and examples fit their schemas.
func TestDescribedWell(t *testing.T) {
	d := described(t)
	if version, _ := d["openapi"].(string); !strings.HasPrefix(version, "3.1.") || d.at("info", "title") == "" ||
		d.at("info", "version") == nil {
		t.Errorf("openapi %v, info %v", d["openapi"], d["info"])
	}
	ids := map[any]bool{}
	for path, item := range d["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			where := method + " " + path
			if !slices.Contains([]string{"get", "post"}, method) || !strings.HasPrefix(path, "/") {
				t.Errorf("%s is no operation", where)
				continue
			}
			id, _ := at(operation, "operationId").(string)
			if id == "" || ids[id] || at(operation, "summary") == nil {
				t.Errorf("%s: operationId %q, which others have (%v) or summary %v", where, id, ids[id], at(operation, "summary"))
			}
			ids[id] = true
			parameters, _ := at(operation, "parameters").([]any)
			for _, p := range parameters {
				if at(p, "name") == nil || !slices.Contains([]any{"query", "header"}, at(p, "in")) || at(p, "description") == nil {
					t.Errorf("%s: parameter %v", where, p)
				}
				for _, err := range d.schema(where+" "+fmt.Sprint(at(p, "name")), at(p, "schema")) {
					t.Error(err)
				}
			}
			contents := func(of string, content any) {
				kinds, _ := content.(map[string]any)
				must.Hold(t, len(kinds) > 0, "%s, %s: no content", where, of)
				for kind, body := range kinds {
					if _, _, err := mime.ParseMediaType(kind); err != nil {
						t.Errorf("%s, %s: %v", where, of, err)
					}
					for _, err := range d.schema(where+" "+of, at(body, "schema")) {
						t.Error(err)
					}
					if schema, _ := at(body, "schema").(map[string]any); of == "body" {
						if err := d.valid(schema, at(body, "example")); err != nil {
							t.Errorf("%s: the example of %s: %v", where, kind, err)
						}
					}
				}
			}
			if body := at(operation, "requestBody"); (body != nil) != (method == "post") {
				t.Errorf("%s: body %v", where, body)
			} else if body != nil {
				contents("body", at(body, "content"))
			}
			responses, _ := at(operation, "responses").(map[string]any)
			must.Hold(t, responses["200"] != nil, "%s: no answer 200", where)
			for status, answer := range responses {
				must.Hold(t, at(answer, "description") != nil,
					"%s, %s: no description", where, status)
				contents(status, at(answer, "content"))
			}
		}
	}
	raw := must.Get(json.Marshal(d))(t)
	for name, schema := range d.at("components", "schemas").(map[string]any) {
		for _, err := range d.schema(name, schema) {
			t.Error(err)
		}
		if !strings.Contains(string(raw), `{"$ref":"#/components/schemas/`+name+`"}`) {
			t.Errorf("%s is described and used nowhere", name)
		}
	}
	for _, needs := range d["security"].([]any) {
		for name := range needs.(map[string]any) {
			must.Hold(t, d.at("components", "securitySchemes", name) != nil,
				"security %q isn't described", name)
		}
	}
}

// TestSchemasHold shows that the check of schemas can fail.
func TestSchemasHold(t *testing.T) {
	d := described(t)
	answer := `{"model": "m", "target": "y", "predictions": [{"mean": 1, "latent_variance": 1, "predictive_variance": ` +
		`1, "lower95": 0, "upper95": 2, "outside": 0, "latent_sd": 1, "predictive_sd": 1}]}`
	for text, want := range map[string]string{
		answer: "",
		strings.Replace(answer, `"outside": 0`, `"outside": 0.5`, 1):           "where [integer] should be",
		strings.Replace(answer, `"mean": 1`, `"mean": null`, 1):                "where [number] should be",
		strings.Replace(answer, `"mean": 1`, `"median": 1`, 1):                 `"mean" is missing`,
		strings.Replace(answer, `"outside": 0`, `"outside": 0, "odd": 1`, 1):   `"odd" isn't described`,
		strings.Replace(answer, `"predictions": [`, `"predictions": [1, `, 1):  "where [object] should be",
		strings.Replace(answer, `"target": "y"`, `"target": ["y"]`, 1):         "where [string] should be",
		strings.Replace(answer, `"target": "y", `, ``, 1):                      `"target" is missing`,
		strings.Replace(answer, `"predictions": [`, `"predictions": [{}, `, 1): "is missing",
	} {
		var v any
		must.Do(t, json.Unmarshal([]byte(text), &v))
		if err := d.valid(map[string]any{"$ref": "#/components/schemas/Answer"}, v); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, rows := range []string{`[]`, `[[true]]`, `[3]`, `null`} {
		var v any
		json.Unmarshal([]byte(`{"rows": `+rows+`}`), &v)
		if err := d.valid(map[string]any{"$ref": "#/components/schemas/Request"}, v); err == nil {
			t.Errorf("rows %s are taken", rows)
		}
	}
	if errs := d.schema("s", map[string]any{"type": "strong", "requird": 1,
		"oneOf": []any{map[string]any{"$ref": "#/none"}}}); len(errs) != 3 {
		t.Errorf("%v", errs)
	}
}

// dated returns a model with dates and their periodic parts, from a table with decimal commas.
func dated(t testing.TB) *krigo.Model {
	t.Helper()
	table := &dataset.Table{Source: "t", Names: []string{"when", "size", "y"}}
	for i := range 90 {
		table.Append([]string{time.Date(2024, 1, 1+4*i, 0, 0, 0, 0, time.UTC).Format("02.01.2006"), fmt.Sprint(i % 7),
			fmt.Sprint(i%7 + i/9)})
	}
	reading := dataset.Reading{Decimal: ",",
		Dates: []dataset.Dates{{Column: "when", Form: "dmy", Parts: []string{"year"}}}}
	must.Do(t, reading.Apply(table))
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Inducing: 6},
		Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}}))(t)
	return m
}

// TestAnswersAsDescribed shows that answers of all routes and kinds of models have a status and a body that
// openapi.json describes.
func TestAnswersAsDescribed(t *testing.T) {
	d := described(t)
	folder := t.TempDir()
	plain := fitted(t, 0)
	saved(t, plain, filepath.Join(folder, "plain.krigo"))
	_, m := categorical(t)
	saved(t, m, filepath.Join(folder, "text.krigo"))
	saved(t, dated(t), filepath.Join(folder, "dates.krigo"))
	bare := *plain
	bare.Certificate, bare.Context, bare.CertificateReason = nil, nil, "none was asked for"
	saved(t, &bare, filepath.Join(folder, "bare.krigo"))
	_, three := kindsOf(t, 3)
	must.Do(t, three.Save(filepath.Join(folder, "three.krigo")))
	_, two := kindsOf(t, 2)
	must.Do(t, two.Save(filepath.Join(folder, "two.krigo")))
	address, _ := started(t, folder, Options{Token: "secret", Ledger: filepath.Join(folder, "l.ledger")})
	const x = `{"rows": [[1], {"x": 2}]}`
	alarming := `{"rows": [[1, 1e6]` + strings.Repeat(`,[1, 1e6]`, 30) + `]}`
	seen := map[string]bool{}
	for _, c := range []struct {
		method, path, kind, body string
		status                   int
	}{
		{"GET", "/healthz", "", "", 200},
		{"GET", "/readyz", "", "", 200},
		{"GET", "/v1/models?a=%zz", "", "", 400},
		{"GET", "/openapi.json", "", "", 200},
		{"GET", "/metrics", "", "", 200},
		{"GET", "/v1/models", "", "", 200},
		{"GET", "/v1/model?model=plain", "", "", 200},
		{"GET", "/v1/model?model=text", "", "", 200},
		{"GET", "/v1/model?model=dates", "", "", 200},
		{"GET", "/v1/model?model=bare", "", "", 200},
		{"GET", "/v1/model?model=none", "", "", 404},
		{"GET", "/v1/model", "", "", 400},
		{"POST", "/v1/predict?model=plain", jsonKind, x, 200},
		{"POST", "/v1/predict?model=plain", "text/csv", "x\n1\n", 200},
		{"POST", "/v1/predict?model=text", jsonKind, `{"rows": [["gas", null], {"fuel": 7, "size": 3}]}`, 200},
		{"POST", "/v1/predict?model=dates", jsonKind, `{"rows": [["31.01.2024", 1.5], [19000, 2]]}`, 200},
		{"POST", "/v1/predict?model=dates&explain=true", jsonKind, `{"rows": [["31.01.2024", 1.5], [19000, 2]]}`, 200},
		{"POST", "/v1/predict?model=plain&observed=true", jsonKind, `{"rows": [[1, 0.5], {"x": 2, "y": 9}]}`, 200},
		{"POST", "/v1/predict?model=bare&observed=true", "text/csv", "y,x\n1,2\n", 200},
		{"POST", "/v1/predict?model=plain&observed=true", jsonKind, x, 400},
		{"POST", "/v1/predict?model=plain&explain=true", "text/csv", "x\n1\n", 200},
		{"POST", "/v1/predict?model=plain&explain=yes", jsonKind, x, 400},
		{"POST", "/v1/predict?model=plain", jsonKind, `{"rows": []}`, 400},
		{"POST", "/v1/predict?model=plain", "text/plain", "x\n1\n", 415},
		{"POST", "/v1/predict?model=none", jsonKind, x, 404},
		{"POST", "/v1/predict?model=plain&sets=0.9", jsonKind, x, 400},
		{"POST", "/v1/predict?model=two&sets=9", jsonKind, x, 400},
		{"POST", "/v1/predict?model=two&sets=0.9", jsonKind, x, 200},
		{"POST", "/v1/predict?model=three", jsonKind, x, 200},
		{"POST", "/v1/predict?model=three&sets=0.9", jsonKind, x, 200},
		{"POST", "/v1/predict?model=three&sets=0", jsonKind, x, 400},
		{"POST", "/v1/predict?model=three&explain=true", jsonKind, x, 409},
		{"POST", "/v1/predict?model=three", "text/csv", "x\n1\n", 200},
		{"GET", "/v1/model?model=three", "", "", 200},
		{"GET", "/v1/model?model=two", "", "", 200},
		{"POST", "/v1/joint?model=plain&samples=2&covariance=true", jsonKind, x, 200},
		{"POST", "/v1/joint?model=dates&samples=2", "text/csv", "when;size\n31.01.2024;1,5\n", 200},
		{"POST", "/v1/joint?model=plain", jsonKind, x, 400},
		{"POST", "/v1/outcomes?model=plain", jsonKind, alarming, 200},
		{"POST", "/v1/outcomes?model=bare", jsonKind, `{"rows": [[1, 2]]}`, 409},
		{"GET", "/v1/model?model=plain", "", "", 200}, // with an alarm
	} {
		for _, token := range []string{"secret", "other"} {
			r := must.Get(http.NewRequest(c.method, "http://"+address+c.path, strings.NewReader(c.body)))(t)
			r.Header.Set("Authorization", "Bearer "+token)
			if c.kind != "" {
				r.Header.Set("Content-Type", c.kind)
			}
			answer := must.Get(http.DefaultClient.Do(r))(t)
			raw, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			must.Do(t, err)
			path, _, _ := strings.Cut(c.path, "?")
			if want := map[bool]int{true: c.status, false: 401}[token == "secret" || path == "/healthz" || path == "/readyz" ||
				c.status == 400 && c.method == "GET" && strings.Contains(c.path, "%") ||
				path == "/openapi.json"]; answer.StatusCode != want {
				t.Errorf("%s %s: status %d, want %d: %.200s", c.method, c.path, answer.StatusCode, want, raw)
				continue
			}
			kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
			operation := d.at("paths", path, strings.ToLower(c.method))
			schema, found := at(operation, "responses", fmt.Sprint(answer.StatusCode), "content", kind,
				"schema").(map[string]any)
			if !found {
				t.Errorf("%s %s: %d in %s isn't described", c.method, c.path, answer.StatusCode, kind)
				continue
			}
			var value any = string(raw)
			if kind == jsonKind {
				if err := json.Unmarshal(raw, &value); err != nil {
					t.Errorf("%s %s: %v", c.method, c.path, err)
				}
			}
			if err := d.valid(schema, value); err != nil {
				t.Errorf("%s %s, status %d: %v", c.method, c.path, answer.StatusCode, err)
			}
			seen[path] = seen[path] || answer.StatusCode == 200
		}
	}
	for path := range maps.Keys(d["paths"].(map[string]any)) {
		must.Hold(t, seen[path], "%s was never answered", path)
	}
}
