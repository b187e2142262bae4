package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestJoint shows that the server's draws and covariances equal those of Model.Sample and Model.Covariance to the last
// bit, and that the answer has the predictions too.
func TestJoint(t *testing.T) {
	m := fitted(t, 0)
	address, _ := started(t, saved(t, m, filepath.Join(t.TempDir(), "s.krigo")), Options{})
	table := &dataset.Table{Source: "t", Names: []string{"x"}, Rows: 3, Values: []float64{-1, 0.5, 99}}
	drawn := must.Get(m.Sample(t.Context(), table, krigo.SampleOptions{Count: 4, Seed: 1 << 63}))(t)
	cov := must.Get(m.Covariance(t.Context(), table))(t)
	ps := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
	ps = read(t, ps)
	for query, kind := range map[string]string{"samples=4&seed=9223372036854775808&covariance=true": jsonKind,
		"seed=9223372036854775808&samples=4&model=s": "text/csv", "covariance=true&samples=0": jsonKind} {
		body := map[string]string{jsonKind: `{"rows": [[-1], {"x": 0.5}, [99]], "model": "s"}`,
			"text/csv": "id,x\na,-1\nb,0.5\nc,99\n"}[kind]
		status, text := post(t, "http://"+address+"/v1/joint?"+query, kind, body)
		var got Joint
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&got); status != 200 || err != nil || got.Model != "s" || got.Target != "y" ||
			!slices.Equal(got.Predictions, ps) {
			t.Errorf("%s: status %d, %v: %.300s", query, status, err, text)
			continue
		}
		if asked := strings.Contains(query, "samples=4"); asked != (got.Samples != nil) || asked &&
			!slices.EqualFunc(got.Samples, drawn, slices.Equal) {
			t.Errorf("%s: %v, want %v", query, got.Samples, drawn)
		}
		if asked := strings.Contains(query, "covariance"); asked != (got.Covariance != nil) {
			t.Errorf("%s: %v", query, got.Covariance)
		}
		for i, row := range got.Covariance {
			must.Hold(t, slices.Equal(row, cov.Row(i)),
				"covariances of row %d: %v, want %v", i+1, row, cov.Row(i))
		}
	}
}

// TestJointRefusals shows the errors for impossible parameters, and for models that have no draws or covariances.
func TestJointRefusals(t *testing.T) {
	folder := t.TempDir()
	saved(t, fitted(t, 0), filepath.Join(folder, "sparse.krigo"))
	for _, solver := range []string{"cg", "nearest"} {
		m := must.Get(krigo.Fit(t.Context(), data.Snelson(),
			krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: "renyi", Solver: solver, Optimizer: "lbfgs"},
				Kernel: krigo.Kernel{Expression: "se"}, Run: krigo.Run{Restarts: 1}}))(t)
		saved(t, m, filepath.Join(folder, solver+".krigo"))
	}
	address, s := started(t, folder, Options{Memory: 4 << 20})
	rows := func(n int) string { return `{"rows": [[1]` + strings.Repeat(`,[1]`, n-1) + `]}` }
	for _, c := range []struct {
		query, body string
		status      int
		want        string
	}{
		{"model=sparse", rows(1), 400, "asks for neither draws nor covariances: add samples=NUMBER"},
		{"model=sparse&samples=0", rows(1), 400, "asks for neither"},
		{"model=sparse&samples=1001", rows(1), 400, `samples \"1001\": want a number of draws up to 1000`},
		{"model=sparse&samples=-1", rows(1), 400, `samples \"-1\"`},
		{"model=sparse&samples=", rows(1), 400, `samples \"\"`},
		{"model=sparse&samples=2&seed=-1", rows(1), 400, `seed \"-1\": want an integer from 0 to`},
		{"model=sparse&covariance=yes", rows(1), 400, `covariance \"yes\": want true or false`},
		{"model=sparse&draws=5", rows(1), 400, `\"draws\" isn't known: known are model, samples, seed, covariance`},
		{"model=sparse&samples=1", rows(1001), 413, "more than 1000 rows"},
		{"model=sparse&samples=1", rows(500), 413, "draws or covariances at 500 rows, from a model of 8 rows, would take"},
		{"model=sparse&samples=1", `{"rows": [["a"]]}`, 400, "is not a number"},
		{"model=sparse&samples=1", `{"rows": []}`, 400, "no rows"},
		{"samples=2&samples=3", rows(1), 400, "comes 2 times"},
		{"model=a&model=a&samples=1", rows(1), 400, "comes 2 times"},
		{"model=other&samples=1", rows(1), 404, "there is no model"},
		{"model=nearest&samples=1", rows(1), 409, "no joint distribution: fit one with"},
		{"model=nearest&covariance=true", rows(1), 409, "no joint distribution"},
		{"model=cg&covariance=true", rows(1), 409, "solved by cg has no covariances at hand: ask for samples"},
		{"model=cg&samples=2", rows(2), 200, `"samples":[[`},
		{"model=sparse&samples=1000", rows(1), 200, `"samples":[[`},
	} {
		if status, body := post(t, "http://"+address+"/v1/joint?"+c.query, jsonKind, c.body); status != c.status ||
			!strings.Contains(body, c.want) {
			t.Errorf("%s: status %d, want %d: %.300s; want %q", c.query, status, c.status, body, c.want)
		}
	}
	if s.budget.mu.Lock(); s.budget.used != 0 || s.together.free != 1 {
		t.Errorf("%d bytes held, %d turns free", s.budget.used, s.together.free)
	}
	s.budget.mu.Unlock()
}

// TestJointWaits shows that draws are computed for one request at a time, and not at all for a client that has left.
// Predictions of single rows don't wait for draws.
func TestJointWaits(t *testing.T) {
	address, s := started(t, saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{})
	url := "http://" + address
	someone := clientAt("10.0.0.1:1")
	must.Do(t, s.together.begin(t.Context(), someone))
	waiting := func() (n int) {
		s.together.mu.Lock()
		defer s.together.mu.Unlock()
		for _, l := range s.together.waiting.lines {
			n += len(l.waiting)
		}
		return n
	}
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		r, _ := http.NewRequestWithContext(gone, "POST", url+"/v1/joint?covariance=true",
			strings.NewReader(`{"rows": [[1]`+strings.Repeat(",[2]", 99)+`]}`))
		r.Header.Set("Content-Type", jsonKind)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			answer.Body.Close()
			err = fmt.Errorf("status %d", answer.StatusCode)
		}
		left <- err
	}()
	until(t, "the request waits", func() bool { return waiting() == 1 })
	answered := make(chan string, 1)
	go func() {
		r, err := http.Post(url+"/v1/joint?samples=3", jsonKind, strings.NewReader(`{"rows": [[1]]}`))
		if err != nil {
			answered <- err.Error()
			return
		}
		r.Body.Close()
		answered <- r.Status
	}()
	until(t, "both wait", func() bool { return waiting() == 2 })
	if status, body := post(t, url+"/v1/predict", jsonKind, `{"rows": [[1]]}`); status != 200 {
		t.Errorf("a row beside: status %d, %s", status, body)
	}
	leave()
	if err := <-left; gone.Err() == nil || !strings.Contains(err.Error(), "canceled") {
		t.Error(err)
	}
	until(t, "one has left", func() bool { return waiting() == 1 })
	select {
	case got := <-answered:
		t.Errorf("answered while another had its turn: %s", got)
	default:
	}
	s.together.end()
	must.Be(t, <-answered, "200 OK")
	until(t, "all is given back", func() bool {
		s.budget.mu.Lock()
		defer s.budget.mu.Unlock()
		return s.budget.used == 0
	})
}

// TestJointLate shows the error for a request that takes longer than the timeout.
func TestJointLate(t *testing.T) {
	address, s := started(t, saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")),
		Options{Timeout: 200 * time.Millisecond})
	must.Do(t, s.together.begin(t.Context(), clientAt("10.0.0.1:1")))
	defer s.together.end()
	if status, body := post(t, "http://"+address+"/v1/joint?samples=3", jsonKind, `{"rows": [[1]]}`); status != 503 ||
		!strings.Contains(body, "took longer than") {
		t.Errorf("status %d: %s", status, body)
	}
}
