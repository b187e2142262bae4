package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/watch"
)

// fits returns the bytes of model files of Snelson's data, by seed. Each model is fitted once.
var fits = func() (of [2]func() []byte) {
	for seed := range of {
		of[seed] = sync.OnceValue(func() []byte {
			m, err := krigo.Fit(context.Background(), data.Snelson(),
				krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 8},
					Run: krigo.Run{Restarts: 1, Seed: uint64(seed)}, Promise: krigo.Promise{Epsilon: 1}})
			if err != nil {
				panic(err)
			}
			var file bytes.Buffer
			if err := m.Write(&file); err != nil {
				panic(err)
			}
			return file.Bytes()
		})
	}
	return of
}()

// fitted returns a model of Snelson's data that depends on the seed. No other caller has the same copy.
func fitted(t testing.TB, seed int) *krigo.Model {
	t.Helper()
	return must.Get(krigo.Read(bytes.NewReader(fits[seed]())))(t)
}

func saved(t testing.TB, m *krigo.Model, path string) string {
	t.Helper()
	must.Do(t, m.Save(path))
	return path
}

// started serves a path until the test ends. The test fails if a goroutine of the server is left.
func started(t testing.TB, path string, o Options) (address string, s *Server) {
	t.Helper()
	before := runtime.NumGoroutine()
	s = must.Get(New(path, o))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for wait := 0; runtime.NumGoroutine() > before; wait++ {
			if wait == 200 {
				buf := make([]byte, 1<<16)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return l.Addr().String(), s
}

// post sends a body and returns the answer's status and body.
func post(t testing.TB, url, kind, body string) (int, string) {
	t.Helper()
	r := must.Get(http.Post(url, kind, strings.NewReader(body)))(t)
	defer r.Body.Close()
	raw := must.Get(io.ReadAll(r.Body))(t)
	return r.StatusCode, string(raw)
}

const jsonKind = "application/json"

// TestAgrees shows that the server's predictions equal those of krigo.Model.Predict to the last bit, as JSON and as
// CSV, by name and by position, one by one and at the same time.
func TestAgrees(t *testing.T) {
	m := fitted(t, 0)
	address, _ := started(t, saved(t, m, filepath.Join(t.TempDir(), "s.krigo")), Options{})
	const rows = 300
	table := &dataset.Table{Source: "grid", Names: []string{"x"}, Rows: rows}
	for i := range rows {
		table.Values = append(table.Values, -1+8*math.Sqrt(float64(i)/rows))
	}
	want := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
	var csv bytes.Buffer
	must.Do(t, krigo.WritePredictions(&csv, want))
	url := "http://" + address + "/v1/predict"
	var objects, arrays, text strings.Builder
	text.WriteString("id,x\n")
	for i, x := range table.Values {
		raw, _ := json.Marshal(x)
		fmt.Fprintf(&objects, `,{"other": "text", "x": %s}`, raw)
		fmt.Fprintf(&arrays, `,[%s]`, raw)
		fmt.Fprintf(&text, "%d,%s\n", i, raw)
	}
	want = read(t, want)
	same := func(status int, body string) {
		t.Helper()
		var a Answer
		if err := json.Unmarshal([]byte(body), &a); status != 200 || err != nil || !slices.Equal(a.Predictions, want) ||
			a.Model != "s" || a.Target != "y" {
			t.Errorf("status %d, %v: %.200s", status, err, body)
		}
	}
	same(post(t, url, jsonKind, `{"rows": [`+objects.String()[1:]+`]}`))
	same(post(t, url+"?model=s", jsonKind+"; charset=utf-8", `{"rows": [`+arrays.String()[1:]+`], "model": "s"}`))
	if status, body := post(t, url, "text/csv", text.String()); status != 200 || body != csv.String() {
		t.Errorf("status %d, %.200s", status, body)
	}
	request, _ := http.NewRequest("POST", url, strings.NewReader(text.String()))
	request.Header.Set("Content-Type", "text/csv")
	request.Header.Set("Accept", "application/json")
	r := must.Get(http.DefaultClient.Do(request))(t)
	raw, _ := io.ReadAll(r.Body)
	r.Body.Close()
	same(r.StatusCode, string(raw))

	var wait sync.WaitGroup
	for i := range rows { // requests of one row, at the same time
		wait.Go(func() {
			raw, _ := json.Marshal(table.Values[i])
			_, body := post(t, url, jsonKind, fmt.Sprintf(`{"rows": [[%s]]}`, raw))
			var a Answer
			if err := json.Unmarshal([]byte(body), &a); err != nil || len(a.Predictions) != 1 || a.Predictions[0] != want[i] {
				t.Errorf("row %d: %s", i, body)
			}
		})
	}
	wait.Wait()
}

// read returns predictions as a client reads them from JSON.
func read(t testing.TB, ps []model.Prediction) (back []model.Prediction) {
	t.Helper()
	raw, err := json.Marshal(ps)
	if err == nil {
		err = json.Unmarshal(raw, &back)
	}
	must.Do(t, err)
	return back
}

// categorical returns a table with a column of text and with missing values, and a model of the table.
func categorical(t testing.TB) (*dataset.Table, *krigo.Model) {
	t.Helper()
	table := &dataset.Table{Source: "t", Names: []string{"fuel", "size", "y"}}
	for i := range 60 {
		size := fmt.Sprint(i % 7)
		if i%9 == 4 {
			size = ""
		}
		table.Append([]string{[]string{"gas", "oil", "7", ""}[i%4], size, fmt.Sprint(i%7 + 3*(i%4))})
	}
	m := must.Get(krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"fuel"}, Missing: "mean"},
			Method: krigo.Method{Inducing: 4}, Kernel: krigo.Kernel{ARD: "off"}}))(t)
	return table, m
}

// TestCategories shows that rows for a model with categories have the columns of its table, with text and missing
// values, as JSON and as CSV.
func TestCategories(t *testing.T) {
	table, m := categorical(t)
	text := "size,note,fuel\n2,a,oil\n,b,gas\n1,,coal\n3,1,\n4,2,7.0\n"
	rows := must.Get(files.CSV{From: strings.NewReader(text), Source: "new.csv"}.Read())(t)
	want := must.Get(m.Predict(t.Context(), rows, krigo.PredictOptions{}))(t)
	address, _ := started(t, saved(t, m, filepath.Join(t.TempDir(), "s.krigo")), Options{})
	url := "http://" + address + "/v1/predict"
	var csv bytes.Buffer
	must.Do(t, krigo.WritePredictions(&csv, want))
	if status, body := post(t, url, "text/csv", text); status != 200 || body != csv.String() {
		t.Errorf("status %d: %s", status, body)
	}
	var a Answer
	status, body := post(t, url, jsonKind,
		`{"rows": [["oil", 2], {"fuel": "gas", "size": null}, {"size": 1, "fuel": "coal"}, [null, 3], [7, 4]]}`)
	if err := json.Unmarshal([]byte(body), &a); status != 200 || err != nil ||
		!slices.Equal(a.Predictions, read(t, want)) {
		t.Errorf("status %d, %v: %s", status, err, body)
	}
	for rows, want := range map[string]string{
		`[["gas", "big"]]`: `row 1, column 2 (\"size\"): \"big\" is not a number`,
		`[[true, 2]]`:      "true isn't a category",
		`[["gas"]]`:        "it has 1 values, and should have 2",
		`[{"size": 2}]`:    `input \"fuel\" is missing`,
	} {
		if status, body := post(t, url, jsonKind, `{"rows": `+rows+`}`); status != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, %s", rows, status, body)
		}
	}
	// Nothing measures the memory of texts in place of numbers, so they are few.
	_, err := parseJSON([]byte(`{"rows": [`+strings.Repeat(`["gas", "big"],`, fewTexts)+`["gas", "2"]]}`),
		func(string, int) ([]Input, error) { return inputsOf(m), nil }, 2*fewTexts)
	must.Hold(t, err != nil && strings.Contains(err.Error(), `row 1001: "2" is text: write a number`), "%v", err)
	r := must.Get(http.Get("http://" + address + "/v1/model"))(t)
	defer r.Body.Close()
	var d Description
	at := len(m.Inputs) - 1
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil || !reflect.DeepEqual(d.Inputs, []Input{
		{Name: "fuel", Scale: 1, Categories: []string{"7", "gas", "oil", "other"}, Missing: true},
		{Name: "size", Mean: m.Scaling.InputMean[at], Scale: m.Scaling.InputScale[at], Missing: true, Low: &m.Range.Min[at],
			High: &m.Range.Max[at]},
	}) {
		t.Errorf("%+v, %v", d.Inputs, err)
	}
	// A model of rows without gaps fills them, also in categories, and says that they are outside.
	strict := must.Get(krigo.Fit(context.Background(), withoutGaps(table),
		krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"fuel"}}, Method: krigo.Method{Inducing: 4},
			Kernel: krigo.Kernel{ARD: "off"}}))(t)
	address, _ = started(t, saved(t, strict, filepath.Join(t.TempDir(), "s.krigo")), Options{})
	for _, row := range []string{`[null, 2]`, `["NA", 2]`, `["gas", null]`} {
		status, body := post(t, "http://"+address+"/v1/predict", jsonKind, `{"rows": [`+row+`, ["gas", 2]]}`)
		var got struct{ Predictions []struct{ Outside int } }
		must.Do(t, json.Unmarshal([]byte(body), &got))
		must.Hold(t, status == 200 && len(got.Predictions) == 2 && got.Predictions[0].Outside > 0 &&
			got.Predictions[1].Outside == 0, "%s: status %d, %s", row, status, body)
	}
}

// withoutGaps returns a copy of a table with 1 for every missing value.
func withoutGaps(t *dataset.Table) *dataset.Table {
	filled := *t
	filled.Values = slices.Clone(t.Values)
	for i, v := range filled.Values {
		if v != v {
			filled.Values[i] = 1
		}
	}
	return &filled
}

// TestRefusals shows that malformed, large, slow and aborted requests get the right status and an error that names what
// is wrong, and that the server goes on.
func TestRefusals(t *testing.T) {
	folder := t.TempDir()
	m := fitted(t, 0)
	m.Scaling.InputScale[0] = 0.5 // 1e308 overflows
	saved(t, m, filepath.Join(folder, "a.krigo"))
	saved(t, m, filepath.Join(folder, "b.krigo"))
	address, _ := started(t, folder, Options{MaxBody: 4096, MaxRows: 50, Timeout: 2 * time.Second})
	body := func(kind, body string) string {
		return fmt.Sprintf("POST /v1/predict?model=a HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: "+
			"%d\r\n\r\n%s", kind, len(body), body)
	}
	rows := func(json string) string { return body(jsonKind, `{"rows": `+json+`}`) }
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, "x\n"+strings.Repeat("1\n", 1<<20))
	z.Close()
	none := 0 // the connection is closed without an answer
	for _, c := range []struct {
		name, send string
		status     int
		want       string
	}{
		{"no JSON", body(jsonKind, "rows"), 400, "isn't JSON of the form"},
		{"empty body", body(jsonKind, ""), 400, "isn't JSON of the form"},
		{"cut JSON", body(jsonKind, `{"rows": [[1]`), 400, "unexpected EOF"},
		{"a bare array", body(jsonKind, `[[1]]`), 400, "[ where { should be"},
		{"more after it", body(jsonKind, `{"rows": [[1]]} {}`), 400, "more text follows"},
		{"unknown key", body(jsonKind, `{"row": [[1]]}`), 400, `a key \"row\" that isn't known`},
		{"a key twice", body(jsonKind, `{"rows": [[1]], "rows": [[2]]}`), 400, `the body has \"rows\" twice`},
		{"no rows", rows(`[]`), 400, "no rows"},
		{"rows no array", rows(`{"x": 1}`), 400, "{ where [ should be"},
		{"row no row", rows(`[[1], 5]`), 400, "row 2: 5 is neither"},
		{"input missing", rows(`[{"x": 1}, {"z": 1}]`), 400, `row 2: input \"x\" is missing`},
		{"an input twice", rows(`[{"x": 1}, {"x": 1, "z": [{"x": 1}], "x": 2}]`), 400, `row 2: it has \"x\" twice`},
		{"an escaped input twice", rows(`[{"x": 1, "\u0078": 2}]`), 400, `row 1: it has \"x\" twice`},
		{"too many values", rows(`[[1, 2]]`), 400, "row 1: it has 2 values, and should have 1"},
		{"text", rows(`[{"x": "red"}]`), 400, `row 1, column 1 (\"x\"): \"red\" is not a number`},
		{"a text", rows(`[{"x": 1}, {"x": "red"}, {"x": "1"}]`), 200,
			`"notices":["x: 1 of 3 cells can't be read as numbers or dates (the first in row 2: \"red\"), which the prior rows' mean fills`},
		{"a long text", rows(`[[1], ["` + strings.Repeat("r", 100) + `"]]`), 400, "is text: write a number"},
		{"null", rows(`[[null]]`), 200, `"outside":1`},
		{"boolean", rows(`[[true]]`), 400, "true isn't a number"},
		{"nested", rows(`[[[1]]]`), 400, "[1] isn't a number"},
		{"NaN", rows(`[[NaN]]`), 400, "invalid character"},
		{"beyond float64", rows(`[[1e999]]`), 400, "1e999 is out of the range"},
		{"too far away", rows(`[[1], [1e308], [1e308]]`), 200, `"outside":1`},
		{"CSV, too far away", body("text/csv", "z,x\n1,1\n\n2,1e308\n"), 200, "mean,"},
		{"CSV, many columns", body("text/csv", "x"+strings.Repeat(",", 1001)+"\n1\n"), 400,
			"record 1 has more than 1001 columns"},
		{"CSV, a wide row", body("text/csv", "x\n1\n2"+strings.Repeat(";", 1500)+"\n"), 400,
			"record 3 has more than 1001 columns"},
		{"many keys", rows(`[{"x": 1` + strings.Repeat(`,"":0`, 600) + `}]`), 400, `row 1: it has \"\" twice`},
		{"a long array", rows(`[[1` + strings.Repeat(`,1`, 1500) + `]]`), 400, "it has 1501 values, and should have 1"},
		{"a long name", body(jsonKind, `{"model": "a", "`+strings.Repeat("n", 4000)+`": 1}`), 400, "nnn"},
		{"another name", strings.Replace(rows(`[[1]]`), "localhost", "krigo.example", 1), 421,
			`the request is for \"krigo.example\"`},
		{"another name with a port", strings.Replace(rows(`[[1]]`), "localhost", "127.0.0.1.example:8080", 1), 421,
			"use localhost"},
		{"this machine's address", strings.Replace(rows(`[[1]]`), "localhost", "127.0.0.1:1", 1), 200, "predictions"},
		{"its other address", strings.Replace(rows(`[[1]]`), "localhost", "[::1]", 1), 200, "predictions"},
		{"its name in capitals", strings.Replace(rows(`[[1]]`), "localhost", "LOCALHOST:80", 1), 200, "predictions"},
		{"another site's page", strings.Replace(rows(`[[1]]`), "Host", "Origin: http://a.example\r\nHost", 1), 403,
			"a page of another site"},
		{"another site's page, as browsers say it",
			strings.Replace(rows(`[[1]]`), "Host", "Sec-Fetch-Site: cross-site\r\nHost", 1), 403, "a page of another site"},
		{"its own page", strings.Replace(rows(`[[1]]`), "Host",
			"Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\nHost", 1), 200, "predictions"},
		{"many headers", strings.Replace(rows(`[[1]]`), "Host", strings.Repeat("A: b\r\n", 100)+"Host", 1), 431,
			"headers: send at most 100"},
		{"HTTP/1.0 without a name", "GET /v1/models HTTP/1.0\r\n\r\n", 421, "use localhost"},
		{"deep nesting", body(jsonKind, strings.Repeat("[", 4000)), 400, "[ where { should be"},
		{"model no name", body(jsonKind, `{"model": 1, "rows": [[1]]}`), 400, "isn't JSON of the form"},
		{"two models named", body(jsonKind, `{"model": "b", "rows": [[1]]}`), 400, `names the model \"a\", the body \"b\"`},
		{"model not there", strings.Replace(rows(`[[1]]`), "model=a", "model=c", 1), 404, `no model \"c\": there are a, b`},
		{"a path for a model", strings.Replace(rows(`[[1]]`), "model=a", "model=../a", 1), 404, `no model \"../a\"`},
		{"no model named", strings.Replace(rows(`[[1]]`), "?model=a", "", 1), 400, "name one of a, b"},
		{"unknown parameter", strings.Replace(rows(`[[1]]`), "model=a", "modle=a", 1), 400, `\"modle\" isn't known`},
		{"a query that can't be read", strings.Replace(rows(`[[1]]`), "model=a", "model=a&%zz", 1), 400,
			"the query can't be read"},
		{"a query with a semicolon", "GET /v1/models?a;b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400,
			"the query can't be read"},
		{"CSV, text", body("text/csv", "x\nred\n"), 400, `line 2 (row 1), column 1 (\"x\"): \"red\" is not a number`},
		{"CSV, a text", body("text/csv", "x\n1\nred\n"), 200, ",1,"},
		{"CSV, blank cell", body("text/csv", "x,z\n,1\n"), 200, ",1,"},
		{"CSV, column missing", body("text/csv", "z,u\n1,2\n"), 400, `input columns missing: \"x\"`},
		{"CSV, empty", body("text/csv", ""), 400, "empty"},
		{"CSV, header alone", body("text/csv", "x\n"), 400, "no rows"},
		{"CSV, ragged", body("text/csv", "x,z\n1\n"), 400, "expected 2 fields"},
		{"CSV, binary", body("text/csv", "x\n\x00\xff\n"), 400, "not a text file"},
		{"CSV, compressed", body("text/csv", zipped.String()), 415, "compressed"},
		{"compressed", strings.Replace(rows(`[[1]]`), "Host", "Content-Encoding: gzip\r\nHost", 1), 415, "compressed"},
		{"other type", body("text/xml", "<x>1</x>"), 415, "text/xml"},
		{"no type", strings.Replace(rows(`[[1]]`), "Content-Type: application/json\r\n", "", 1), 415, "Content-Type"},
		{"too many rows", rows(`[` + strings.Repeat("[1],", 50) + `[1]]`), 413, "more than 50 rows"},
		{"too many CSV rows", body("text/csv", "x\n"+strings.Repeat("1\n", 51)), 413, "more than 50 rows"},
		{"too many lines", body("text/csv", "x\n"+strings.Repeat("\n", 200)+"1\n"), 413, "more than 50 rows"},
		{"body too large", rows(`[[1]` + strings.Repeat(" ", 5000) + `]`), 413, "larger than 4096 bytes"},
		{"endless body", "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n2000\r\n" + strings.Repeat("x", 0x2000), 413, "larger than"},
		{"slow body", "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: " +
			"9\r\n\r\nx\n", 408, "took longer than 2s"},
		{"slow header", "POST /v1/predict HTTP/1.1\r\nHost:", none, ""},
		{"silence", "", none, ""},
		{"huge header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 40000) + "\r\n\r\n", 431, ""},
		{"no HTTP", "krigo\r\n\r\n", 400, ""},
		{"no host", "GET /healthz HTTP/1.1\r\n\r\n", 400, ""},
		{"bad length", "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400, ""},
		{"other method", "GET /v1/predict HTTP/1.1\r\nHost: localhost\r\n\r\n", 405,
			`{"error":"/v1/predict takes POST, not \"GET\""}`},
		{"put", "PUT /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, `{"error":"/v1/models takes GET, not \"PUT\""}`},
		{"nothing there", "GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404,
			`{"error":"there is nothing at \"/v1/nothing\": see /openapi.json"}`},
		{"nothing of it there", "GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, `{"error":`},
		{"a post to nothing", "POST /v1/predict/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, `{"error":`},
		{"a model twice", "GET /v1/model?model=a&model=b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "comes 2 times"},
		{"delete", "DELETE /v1/model HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, `{"error":`},
		{"other path", "GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, ""},
		{"a file outside", "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 307, ""},
		{"encoded path", "GET /%2e%2e/server.go HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, ""},
		{"model of several", "GET /v1/model HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "name one of a, b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := must.Get(net.Dial("tcp", address))(t)
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			io.WriteString(conn, c.send) // the server may close the connection before this is sent
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if c.status == none {
				must.Need(t, err != nil && !errors.Is(err, os.ErrDeadlineExceeded),
					"%+v, %v", r, err)
				return
			}
			must.Do(t, err)
			raw, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || r.StatusCode != c.status || !strings.Contains(string(raw), c.want) {
				t.Errorf("status %d, want %d with %q: %s, %v", r.StatusCode, c.status, c.want, raw, err)
			}
		})
	}
	t.Run("aborted", func(t *testing.T) {
		t.Parallel()
		for i := range 50 {
			conn := must.Get(net.Dial("tcp", address))(t)
			text := rows(`[[1],[2],[3]]`)
			io.WriteString(conn, text[:len(text)*(i+1)/50])
			conn.(*net.TCPConn).SetLinger(0) // closing the connection then resets it
			conn.Close()
		}
	})
	t.Cleanup(func() {
		if status, body := post(t, "http://"+address+"/v1/predict?model=b", jsonKind, `{"rows": [[1]]}`); status != 200 {
			t.Errorf("afterwards: status %d, %s", status, body)
		}
	})
}

// queueOf returns a queue of a model that calls predict with the rows of each batch.
func queueOf(m *krigo.Model, limit int, predict func(x mat.Matrix) ([]model.Prediction, error)) *queue {
	return &queue{model: m, limit: limit, predict: whole(predict), batched: func(int) {}, failed: func(any, []byte) {},
		working: new(sync.WaitGroup)}
}

// whole returns a predictor that doesn't look at its context.
func whole(predict func(x mat.Matrix) ([]model.Prediction, error)) predictor {
	return func(_ context.Context, x mat.Matrix) ([]model.Prediction, error) { return predict(x) }
}

func tableOf(m *krigo.Model, rows int, x float64) *dataset.Table {
	return &dataset.Table{Source: "t", Names: m.Inputs, Rows: rows, Values: slices.Repeat([]float64{x}, rows)}
}

// until waits until happened returns true, and ends the test if that takes too long.
func until(t testing.TB, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !met(); time.Sleep(time.Millisecond) {
		must.Need(t, !time.Now().After(end), "%v", what)
	}
}

var (
	anna  = clientAt("192.0.2.1:1")
	bella = clientAt("192.0.2.2:1")
)

// TestBusy shows that a client's rows beyond the limit are refused and another client's rows are answered. A client's
// long requests keep neither short requests nor another client's long requests waiting. Rows that nobody waits for any
// more aren't predicted.
func TestBusy(t *testing.T) {
	m := fitted(t, 0)
	gate := make(chan struct{})
	var batches [][]float64
	q := queueOf(m, 1200, func(x mat.Matrix) ([]model.Prediction, error) {
		<-gate
		batches = append(batches, mat.Col(nil, 0, x))
		return m.PredictAt(x)
	})
	waiting := func(long, short int) {
		t.Helper()
		until(t, fmt.Sprintf("not %d and %d rows wait", long, short), func() bool {
			q.mu.Lock()
			defer q.mu.Unlock()
			return q.long.rows == long && q.short.rows == short
		})
	}
	var wait sync.WaitGroup
	ask := func(ctx context.Context, of client, rows int, x float64, want error) {
		wait.Go(func() {
			if ps, _, err := q.run(ctx, of, tableOf(m, rows, x)); !errors.Is(err, want) || err == nil && len(ps) != rows {
				t.Errorf("%d rows: %d, %v", rows, len(ps), err)
			}
		})
	}
	background := context.Background()
	ask(background, anna, 1600, 1, nil) // more than the limit, but nothing else waits; a batch takes 512 rows
	waiting(1088, 0)
	if _, _, err := q.run(background, anna, tableOf(m, 20, 5)); !errors.Is(err, errBusy) {
		t.Errorf("beyond what is left: %v", err)
	}
	ask(background, bella, 56, 2, nil)
	waiting(1144, 0)
	if _, _, err := q.run(background, bella, tableOf(m, 20, 5)); !errors.Is(err, errBusy) {
		t.Errorf("beyond what is left: %v", err)
	}
	ask(background, anna, 3, 3, nil)
	waiting(1144, 3)
	gone, leave := context.WithCancel(background)
	ask(gone, bella, 5, 4, context.Canceled)
	waiting(1144, 8)
	leave()
	waiting(1144, 3)
	close(gate)
	wait.Wait()
	q.working.Wait()
	must.Hold(t, !slices.Contains(slices.Concat(batches...), 4),
		"rows were predicted that nobody waits for")
	must.Hold(t, slices.Contains(batches[1], 3),
		"short rows aren't in the next batch: %v", batches[1])
	if !slices.Contains(slices.Concat(batches[1:3]...), 2) {
		t.Errorf("one client's rows wait for all of another's, in %d batches", len(batches))
	}
	if q.long.rows != 0 || q.short.rows != 0 || len(q.long.by) != 0 || len(q.short.by) != 0 || len(q.long.lines) != 0 ||
		q.busy {
		t.Errorf("left: %+v, %+v", q.long, q.short)
	}
}

// TestOwnRows shows that a row that can't be predicted fails only its own request, whose error says where the row is.
// The other requests of the batch are predicted once more, however long the failing request is. A row that panics also
// fails only its request, and the log says why.
func TestOwnRows(t *testing.T) {
	m := fitted(t, 0)
	begun, begin := make(chan struct{}, 1<<10), make(chan struct{})
	var predicted, told atomic.Int64
	q := queueOf(m, 1<<20, func(x mat.Matrix) ([]model.Prediction, error) {
		begun <- struct{}{}
		<-begin
		rows := mat.Col(nil, 0, x)
		predicted.Add(int64(len(rows)))
		if i := slices.Index(rows, 666); i >= 0 {
			return nil, &dataset.Error{Row: i + 1, Err: errors.New("it overflows")}
		}
		if slices.Contains(rows, 667) {
			panic("a bug")
		}
		return m.PredictAt(x)
	})
	q.failed = func(cause any, _ []byte) {
		must.Hold(t, cause == "a bug", "%v", cause)
		told.Add(1)
	}
	var wait sync.WaitGroup
	total := int64(0)
	ask := func(of client, table *dataset.Table, want string) {
		total += int64(table.Rows)
		wait.Go(func() {
			ps, _, err := q.run(context.Background(), of, table)
			must.Hold(t, want != "" || (err == nil && len(ps) == table.Rows),
				"%d rows: %d, %v", table.Rows, len(ps), err)
			must.Hold(t, want == "" || (err != nil && err.Error() == want), "%v, not %s", err, want)
		})
	}
	last := tableOf(m, 700, 1)
	last.Values[699] = 666
	lined := tableOf(m, 2, 1)
	lined.Values[1], lined.Lines = 666, []int{2, 9}
	ask(anna, tableOf(m, 2000, 1), "")
	<-begun // the batch has rows of this request only
	ask(anna, last, "t: row 700: it overflows")
	ask(anna, lined, "t: line 9: it overflows")
	for range 20 {
		ask(bella, tableOf(m, 1, 666), "t: row 1: it overflows")
		ask(bella, tableOf(m, 1, 667), errInternal.Error())
		ask(bella, tableOf(m, 1, 2), "")
	}
	until(t, "not all wait", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		n := 0
		for _, l := range append(slices.Clone(q.long.lines), q.short.lines...) {
			n += len(l.waiting)
		}
		return n == 63
	})
	close(begin)
	wait.Wait()
	q.working.Wait()
	if n := predicted.Load(); n > 2*total || told.Load() < 20 {
		t.Errorf("%d rows predicted for %d, %d panics told", n, total, told.Load())
	}
}

// TestSlowRow shows that a row which takes for ever holds neither its batch nor later ones. Its request gets 503 when its
// time is over, and the work on the row ends then.
func TestSlowRow(t *testing.T) {
	path := saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo"))
	address, s := started(t, path, Options{Timeout: 3 * time.Second})
	url := "http://" + address + "/v1/predict"
	m, _ := s.library.find("s")
	first := make(chan struct{})
	gate := sync.OnceFunc(func() { <-first })
	m.queue.predict = func(ctx context.Context, x mat.Matrix) ([]model.Prediction, error) {
		gate()
		if slices.Contains(mat.Col(nil, 0, x), 666) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return m.PredictWithin(ctx, x)
	}
	var wait sync.WaitGroup
	ask := func(row string, want int, within time.Duration) {
		wait.Go(func() {
			begin := time.Now()
			status, body := post(t, url, jsonKind, `{"rows": [[`+row+`]]}`)
			must.Hold(t, status == want && time.Since(begin) <= within &&
				(want != 503 || strings.Contains(body, `"error":`)),
				"row %s: status %d after %v: %s", row, status, time.Since(begin), body)
		})
	}
	ask("0", 200, 2*time.Second)
	until(t, "nothing is predicted", func() bool { m.queue.mu.Lock(); defer m.queue.mu.Unlock(); return m.queue.busy })
	ask("666", 503, 5*time.Second)
	for range 5 {
		ask("2", 200, 2500*time.Millisecond)
	}
	until(t, "not all wait", func() bool { m.queue.mu.Lock(); defer m.queue.mu.Unlock(); return m.queue.short.rows == 6 })
	close(first)
	until(t, "no batch is given up", func() bool { m.queue.mu.Lock(); defer m.queue.mu.Unlock(); return !m.queue.busy })
	ask("3", 200, 500*time.Millisecond)
	wait.Wait()
}

// TestReload replaces, breaks, adds and removes models while requests come in. No request fails, and one whole model
// answers each request.
func TestReload(t *testing.T) {
	folder := t.TempDir()
	a, b := fitted(t, 0), fitted(t, 1)
	path := saved(t, a, filepath.Join(folder, "m.krigo"))
	address, s := started(t, folder, Options{Reload: time.Millisecond})
	url := "http://" + address
	one := &dataset.Table{Source: "t", Names: a.Inputs, Rows: 2, Values: []float64{1, 3}}
	pa := must.Get(a.Predict(t.Context(), one, krigo.PredictOptions{}))(t)
	pb, err := b.Predict(t.Context(), one, krigo.PredictOptions{})
	must.Need(t, err == nil && !slices.Equal(pa, pb), "the models don't differ, %v", err)
	pa, pb = read(t, pa), read(t, pb)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	var answered, ofB atomic.Int64
	for range 8 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				status, body := post(t, url+"/v1/predict?model=m", jsonKind, `{"rows": [[1], [3]]}`)
				var got Answer
				if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
					t.Errorf("status %d: %s", status, body)
					return
				}
				switch {
				case slices.Equal(got.Predictions, pb):
					ofB.Add(1)
				case !slices.Equal(got.Predictions, pa):
					t.Errorf("from neither model: %s", body)
				}
				answered.Add(1)
			}
		})
	}
	until := func(what string, met func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !met(); time.Sleep(time.Millisecond) {
			must.Need(t, !time.Now().After(end), "%v", what)
		}
	}
	stamped := time.Now()
	for i := range 20 {
		saved(t, []*krigo.Model{b, a}[i%2], path)
		stamped = stamped.Add(-time.Hour) // the clock is set back
		os.Chtimes(path, stamped, stamped)
		seen := answered.Load()
		until("no answers", func() bool { return answered.Load() > seen+5 })
	}
	if ofB.Load() == 0 || ofB.Load() == answered.Load() {
		t.Errorf("%d of %d answers from the second model", ofB.Load(), answered.Load())
	}
	names := func() string {
		_, names := s.library.find("/")
		return strings.Join(names, " ")
	}
	saved(t, b, filepath.Join(folder, "n.krigo"))
	until("a new file isn't served", func() bool { return names() == "m n" })
	os.WriteFile(path, []byte("half"), 0o600)
	until("a broken file isn't noticed", func() bool {
		return strings.Contains(metric(t, url),
			`krigo_model_files_total{result="failed"}`)
	})
	os.Remove(filepath.Join(folder, "n.krigo"))
	until("a removed file is served", func() bool { return names() == "m" })
	close(stop)
	wait.Wait()
}

// TestStamp: a file that can't be read is tried again once another is in its place, whatever the clock says.
func TestStamp(t *testing.T) {
	path, next := filepath.Join(t.TempDir(), "m.krigo"), filepath.Join(t.TempDir(), "next")
	l := &library{failed: map[string]stamp{}}
	for _, text := range []string{"one", "two"} {
		must.Do(t, os.WriteFile(next, []byte(text), 0o600))
		must.Do(t, os.Chtimes(next, time.Time{}, time.Unix(1e9, 0)))
		must.Do(t, os.Rename(next, path))
		_, err := l.read("m", path, nil)
		must.Hold(t, err != nil, "%s isn't tried", text)
		_, err = l.read("m", path, nil)
		must.Do(t, err)
	}
}

// TestNoModels shows that a server whose models were removed lives, isn't ready, lists no model, and says why it
// predicts nothing.
func TestNoModels(t *testing.T) {
	folder := t.TempDir()
	path := saved(t, fitted(t, 0), filepath.Join(folder, "m.krigo"))
	address, s := started(t, folder, Options{Reload: time.Millisecond})
	os.Remove(path)
	until(t, "it is served", func() bool { return len(*s.library.models.Load()) == 0 })
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/healthz":          {200, `{"status":"no models","token":false,"models":0}`},
		"/readyz":           {503, `{"status":"no models","token":false,"models":0}`},
		"/v1/models":        {200, `{"models":[]}`},
		"/v1/model":         {503, "the server has no model at the moment"},
		"/v1/model?model=m": {503, "the server has no model at the moment"},
		"/v1/predict":       {503, "the server has no model at the moment"},
	} {
		r, err := http.Get("http://" + address + path)
		if path == "/v1/predict" {
			r.Body.Close()
			r, err = http.Post("http://"+address+path, jsonKind, strings.NewReader(`{"rows": [[1]]}`))
		}
		must.Do(t, err)
		raw, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != want.status || !strings.Contains(string(raw), want.text) {
			t.Errorf("%s: status %d: %s", path, r.StatusCode, raw)
		}
	}
}

// TestChunks shows that bytes after a request in chunks aren't taken for a request. A Content-Length beside the chunks
// may have named another end.
func TestChunks(t *testing.T) {
	address, _ := started(t, saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{})
	conn := must.Get(net.Dial("tcp", address))(t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(conn, "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: "+
		"3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nx\n1\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	raw, err := io.ReadAll(conn)
	if text := string(raw); err != nil || !strings.Contains(text, "200 OK") ||
		!strings.Contains(text, "Connection: close") || strings.Contains(text, `"status"`) {
		t.Errorf("%v: %s", err, text)
	}
}

// lines is a log that a server writes while a test reads it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func metric(t testing.TB, url string) string {
	t.Helper()
	r := must.Get(http.Get(url + "/metrics"))(t)
	defer r.Body.Close()
	raw, _ := io.ReadAll(r.Body)
	return string(raw)
}

// TestMetrics shows that requests are counted by route and status, and rows by model.
func TestMetrics(t *testing.T) {
	address, _ := started(t, saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{})
	url := "http://" + address
	for range 3 {
		post(t, url+"/v1/predict", jsonKind, `{"rows": [[1], [2]]}`)
	}
	post(t, url+"/v1/predict", jsonKind, `{}`)
	post(t, url+"/nowhere", jsonKind, `{}`)
	text := metric(t, url)
	for _, want := range []string{
		`krigo_requests_total{route="POST /v1/predict",status="200"} 3`,
		`krigo_requests_total{route="POST /v1/predict",status="400"} 1`,
		`krigo_requests_total{route="other",status="404"} 1`,
		`krigo_predicted_rows_total{model="s"} 6`,
		`krigo_request_seconds_count{route="POST /v1/predict"} 4`,
		`krigo_models 1`, `krigo_batch_rows_sum{model="s"} 6`, `go_goroutines`,
	} {
		must.Hold(t, strings.Contains(text, want), "no %s in\n%s", want, text)
	}
}

// TestToken shows that routes with a model's contents need the token, and that routes about the server's health don't.
func TestToken(t *testing.T) {
	address, _ := started(t, saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{Token: "secret"})
	for path, open := range map[string]bool{"/v1/model": false, "/v1/models": false, "/metrics": false, "/": true,
		"/page.js": true, "/healthz": true, "/openapi.json": true} {
		for token, right := range map[string]bool{"": false, "Bearer secret": true, "bearer secret": true,
			"BEARER   secret": true, "Bearer secre": false, "Bearersecret": false, "Basic secret": false,
			"Bearer secret secret": false, "secret": false, "Bearer secret ": false} {
			r, _ := http.NewRequest("GET", "http://"+address+path, nil)
			if token != "" {
				r.Header["Authorization"] = []string{token}
			}
			got := must.Get(http.DefaultClient.Do(r))(t)
			got.Body.Close()
			want := 401
			if open || right || strings.TrimSpace(token) == "Bearer secret" { // HTTP trims header values
				want = 200
			}
			must.Hold(t, got.StatusCode == want,
				"%s with %q: status %d", path, token, got.StatusCode)
		}
	}
	if status, _ := post(t, "http://"+address+"/v1/predict", jsonKind, `{"rows": [[1]]}`); status != 401 {
		t.Errorf("predict without a token: status %d", status)
	}
}

// TestShutdown shows that a server which is stopped still answers a request that has begun.
func TestShutdown(t *testing.T) {
	var log bytes.Buffer
	s := must.Get(New(saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")),
		Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer conn.Close()
	const text = `{"rows": [[1]]}`
	fmt.Fprintf(conn, "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: "+
		"100-continue\r\nContent-Length: %d\r\n\r\n", len(text))
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // the handler reads
		t.Fatalf("%q, %v", line, err)
	}
	answers.ReadString('\n')
	stop()
	for {
		if _, err := net.Dial("tcp", l.Addr().String()); err != nil {
			break // the server accepts no further connections
		}
	}
	io.WriteString(conn, text)
	r, err := http.ReadResponse(answers, nil)
	must.Hold(t, err == nil && r.StatusCode == 200, "%+v, %v", r, err)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `msg="model loaded" model=s`) || !strings.Contains(log.String(), "shutting down") {
		t.Errorf("log: %s", log.String())
	}
}

// TestShutdownSilent: connections on which nobody says a word aren't open requests, and don't hold a server that ends.
func TestShutdownSilent(t *testing.T) {
	s := must.Get(New(saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{Timeout: 2 * time.Second}))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	for _, words := range []string{"", "POST /v1/predict HTT"} {
		conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		defer conn.Close()
		must.Get(io.WriteString(conn, words))(t)
	}
	until(t, "the connections aren't there", func() bool {
		s.connections.mu.Lock()
		defer s.connections.mu.Unlock()
		return len(s.connections.all) == 2
	})
	stop()
	must.Do(t, <-ended)
}

// TestNewRefuses shows that New returns an error which names the file that can't be served.
func TestNewRefuses(t *testing.T) {
	folder := t.TempDir()
	must.Refuse(New(folder, Options{}))(t, "holds no model files", "empty folder")
	broken := filepath.Join(folder, "broken.krigo")
	os.WriteFile(broken, []byte("KRIGO"), 0o600)
	for _, path := range []string{folder, broken, filepath.Join(folder, "missing.krigo")} {
		must.Refuse(New(path, Options{}))(t, folder, path)
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:80": true, "localhost:80": true, "[::1]:80": true, ":80": false,
		"0.0.0.0:80": false, "192.0.2.1:80": false, "127.0.0.1": false} {
		must.Hold(t, Loopback(address) == want, "%s: %v", address, !want)
	}
}

// TestOpenAPI compares openapi.json with the routes and with the types of the answers.
func TestOpenAPI(t *testing.T) {
	raw := must.Get(assets.ReadFile("openapi.json"))(t)
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct {
				Properties           map[string]json.RawMessage
				Required             []string
				AdditionalProperties any
			}
		}
	}
	must.Do(t, json.Unmarshal(raw, &doc))
	s := must.Get(New(saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{}))(t)
	served := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			r, _ := http.NewRequest(strings.ToUpper(method), path, strings.NewReader(""))
			s.handler.ServeHTTP(discard{}, r)
			if r.Pattern != strings.ToUpper(method)+" "+path {
				t.Errorf("%s %s is described but goes to %q", method, path, r.Pattern)
			}
			served[r.Pattern] = true
		}
	}
	must.Hold(t, len(served) == 9, "described: %v", served)
	for name, of := range map[string]any{"Answer": Answer{}, "Joint": Joint{}, "Prediction": model.Prediction{},
		"Description": Description{}, "Input": Input{}, "Reading": dataset.Reading{},
		"Models": modelList{}, "Error": failure{}, "Health": health{}, "Observed": Observed{}, "Watch": watch.State{},
		"Certificate": pacbayes.Certificate{}} {
		schema := doc.Components.Schemas[name]
		var fields, always []string
		for i := range reflect.TypeOf(of).NumField() {
			field := reflect.TypeOf(of).Field(i)
			if !field.IsExported() || field.Tag.Get("json") == "-" {
				continue
			}
			tag, omitted, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, tag)
			if omitted == "" {
				always = append(always, tag)
			}
		}
		for p := range schema.Properties {
			must.Hold(t, slices.Contains(fields, p), "%s.%s is described, but isn't there", name, p)
		}
		if schema.AdditionalProperties == true {
			continue
		}
		slices.Sort(always)
		slices.Sort(schema.Required)
		if len(schema.Properties) != len(fields) || !slices.Equal(always, schema.Required) {
			t.Errorf("%s: %v described, %v required; the type has %v, always %v", name, schema.Properties, schema.Required,
				fields, always)
		}
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// TestDescription shows that GET /v1/model describes the model and its certificate.
func TestDescription(t *testing.T) {
	m := fitted(t, 0)
	address, _ := started(t, saved(t, m, filepath.Join(t.TempDir(), "s.krigo")), Options{})
	r := must.Get(http.Get("http://" + address + "/v1/model"))(t)
	defer r.Body.Close()
	var d Description
	must.Do(t, json.NewDecoder(r.Body).Decode(&d))
	must.Hold(t, d.Name == "s" && d.Target == "y" && d.Rows == 200 && d.Inducing == 8 &&
		reflect.DeepEqual(d.Inputs, []Input{{Name: "x", Mean: m.Scaling.InputMean[0], Scale: m.Scaling.InputScale[0], Missing: true,
			Low: &m.Range.Min[0], High: &m.Range.Max[0]}}) &&
		d.Certificate.Equal(m.Certificate) && d.Sentence == m.Sentence(m.Certificate) &&
		d.Kernel.Name == "se", "%+v", d)
}

// TestOutcomes shows that outcomes are compared with the certificate and kept: as JSON and as CSV, from several clients
// at once, after the server restarts, and after the model's file was another model's for a while.
func TestOutcomes(t *testing.T) {
	folder := t.TempDir()
	m := fitted(t, 0)
	path, ledger := saved(t, m, filepath.Join(folder, "s.krigo")), filepath.Join(folder, "s.ledger")
	get := func(address, path string) string {
		t.Helper()
		r := must.Get(http.Get("http://" + address + path))(t)
		defer r.Body.Close()
		raw := must.Get(io.ReadAll(r.Body))(t)
		return string(raw)
	}
	described := func(address string) (d Description) {
		t.Helper()
		must.Do(t, json.Unmarshal([]byte(get(address, "/v1/model")), &d))
		return d
	}
	var state watch.State
	t.Run("taken", func(t *testing.T) {
		address, _ := started(t, path, Options{Ledger: ledger, MaxRows: 50, Reload: time.Millisecond})
		url := "http://" + address + "/v1/outcomes"
		if d := described(address); d.Watch == nil || d.Watch.Rows != 0 ||
			!strings.Contains(d.WatchSentence, "No outcome yet") || d.WatchReason != "" {
			t.Errorf("%+v", d)
		}
		var o Observed
		status, body := post(t, url, jsonKind, `{"rows": [{"x": 1, "y": 100, "other": "text"}, [2, 100]]}`)
		if err := json.Unmarshal([]byte(body), &o); status != 200 || err != nil || o.Model != "s" || o.Rows != 2 ||
			o.Watch.Misses != 2 {
			t.Errorf("status %d, %v: %s", status, err, body)
		}
		if status, body := post(t, url, "text/csv", "y,x\n100,3\n100,3\n"); status != 200 ||
			!strings.Contains(body, `"repeats":1`) {
			t.Errorf("status %d: %s", status, body)
		}
		keyed := func(key, body string) (int, string) {
			r, _ := http.NewRequest("POST", url, strings.NewReader(body))
			r.Header.Set("Content-Type", jsonKind)
			r.Header.Set("Idempotency-Key", key)
			answer := must.Get(http.DefaultClient.Do(r))(t)
			defer answer.Body.Close()
			raw, _ := io.ReadAll(answer.Body)
			return answer.StatusCode, string(raw)
		}
		for try, want := range []string{`"rows":1,"watch"`, `"rows":0,"known":true,"watch"`} {
			if status, body := keyed("a b", `{"rows": [[4, 100]]}`); status != 200 || !strings.Contains(body, want) ||
				!strings.Contains(body, `"misses":5`) {
				t.Errorf("try %d: status %d: %s", try+1, status, body)
			}
		}
		if status, body := keyed("a b", `{"rows": [[4, 99]]}`); status != 422 ||
			!strings.Contains(body, `under the key \"a b\"`) {
			t.Errorf("status %d: %s", status, body)
		}
		if status, body := keyed("gr\xf6", `{"rows": [[4, 99]]}`); status != 400 || !strings.Contains(body, "UTF-8") {
			t.Errorf("status %d: %s", status, body)
		}
		if status, body := keyed(strings.Repeat("k", 256), `{"rows": [[4, 99]]}`); status != 400 ||
			!strings.Contains(body, "and may have 255") {
			t.Errorf("status %d: %s", status, body)
		}
		for _, c := range []struct {
			body, want string
			status     int
		}{
			{`{"rows": [{"x": 1}]}`, `input \"y\" is missing`, 400},
			{`{"rows": [[1, 2], [1]]}`, "row 2: it has 1 values, and should have 2", 400},
			{`{"rows": [[1, null]]}`, "the value is missing", 400},
			{`{"rows": [` + strings.Repeat("[1,2],", 50) + `[1,2]]}`, "more than 50 rows", 413},
		} {
			if status, body := post(t, url, jsonKind, c.body); status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("%s: status %d, %s", c.body, status, body)
			}
		}
		if status, body := post(t, url, "text/csv", "x\n1\n"); status != 400 ||
			!strings.Contains(body, `no column \"y\" for the target`) {
			t.Errorf("status %d: %s", status, body)
		}
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				for j := range 5 {
					if status, body := post(t, url, jsonKind, fmt.Sprintf(`{"rows": [[%d.%d1, 100]]}`, i%5, j)); status != 200 {
						t.Errorf("status %d: %s", status, body)
					}
					get(address, "/metrics")
				}
			})
		}
		wait.Wait()
		// The same content in a new file is the same model. Another model has its own outcomes.
		os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))
		saved(t, fitted(t, 1), path)
		until := func(rows int) {
			t.Helper()
			for end := time.Now().Add(20 * time.Second); described(address).Watch.Rows != rows; time.Sleep(time.Millisecond) {
				must.Need(t, !time.Now().After(end), "%+v", described(address).Watch)
			}
		}
		until(0)
		saved(t, m, path)
		until(45)
		state = *described(address).Watch
		metrics := get(address, "/metrics")
		for _, want := range []string{`krigo_outcomes{model="s"} 45`, `krigo_outcome_misses{model="s"} 45`,
			`krigo_outcome_alarm{model="s"} 1`, fmt.Sprintf(`krigo_certified_risk{model="s"} %v`, m.Certificate.MeanBound),
			"krigo_outcome_log_e{", "krigo_outcome_risk_at_least{"} {
			must.Hold(t, strings.Contains(metrics, want), "no %s in %s", want, metrics)
		}
		must.Refuse(New(path, Options{Ledger: ledger}))(t, "another process")
	})
	t.Run("moved", func(t *testing.T) {
		var log lines
		address, _ := started(t, path, Options{Ledger: ledger, Log: slog.New(slog.NewTextHandler(&log, nil))})
		url, row := "http://"+address+"/v1/outcomes", `{"rows": [[4.5, 0]]}`
		must.Do(t, os.Rename(ledger, ledger+".away"))
		if status, body := post(t, url, jsonKind, row); status != 500 || !strings.Contains(body, "aren't counted") ||
			!strings.Contains(log.String(), "it isn't where it was") || described(address).Watch.Rows != 45 {
			t.Errorf("status %d: %s; log: %s", status, body, log.String())
		}
		os.Rename(ledger+".away", ledger)
		archive, err := watch.Rotate(context.Background(), ledger, watch.ClaimOf(&m.Model))
		if err != nil || archive != ledger+".1" {
			t.Errorf("%s, %v", archive, err)
		}
		if got := *described(address).Watch; !reflect.DeepEqual(got, state) {
			t.Errorf("rotated: %+v, not %+v", got, state)
		}
		status, body := post(t, url, jsonKind, row)
		must.Be(t, status, 200, body)
		for end := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), "ledger rotated"); {
			must.Need(t, !time.Now().After(end), "log: %s", log.String()) // the watcher of rotations writes it
			time.Sleep(time.Millisecond)
		}
		state = *described(address).Watch
	})
	t.Run("after a restart", func(t *testing.T) {
		file := must.Get(os.OpenFile(ledger, os.O_APPEND|os.O_WRONLY, 0))(t)
		io.WriteString(file, `{"ledger":1,"mod`)
		file.Close()
		var log bytes.Buffer
		address, _ := started(t, path, Options{Ledger: ledger, Log: slog.New(slog.NewTextHandler(&log, nil))})
		d := described(address)
		if !reflect.DeepEqual(*d.Watch, state) || state.Rows != 46 || state.Alarm == nil ||
			!strings.HasPrefix(d.WatchSentence, "ALARM at row ") || !strings.Contains(log.String(), "bytes=16") {
			t.Errorf("%+v, not %+v: %s", d.Watch, state, log.String())
		}
	})
	t.Run("not taken", func(t *testing.T) {
		address, _ := started(t, path, Options{})
		if status, body := post(t, "http://"+address+"/v1/outcomes", jsonKind, `{"rows": [[1, 1]]}`); status != 409 ||
			!strings.Contains(body, "--ledger") {
			t.Errorf("status %d: %s", status, body)
		}
		if d := described(address); d.Watch != nil || !strings.Contains(d.WatchReason, "--ledger") {
			t.Errorf("%+v", d)
		}
	})
	t.Run("no certificate", func(t *testing.T) {
		without := fitted(t, 0)
		without.Certificate, without.Context, without.CertificateReason = nil, nil, "a test"
		address, _ := started(t, saved(t, without, filepath.Join(folder, "n.krigo")), Options{Ledger: ledger})
		if status, body := post(t, "http://"+address+"/v1/outcomes", jsonKind, `{"rows": [[1, 1]]}`); status != 409 ||
			!strings.Contains(body, "no certificate: a test") {
			t.Errorf("status %d: %s", status, body)
		}
	})
}

// TestUsual: the description of a model has the most frequent category or code, and no usual value of a column that has
// other numbers than whole ones, or that the rows held can't tell of.
func TestUsual(t *testing.T) {
	table := dataset.Reading{}.New("codes.csv")
	table.Names = []string{"size", "code", "sign", "fuel", "y"}
	for i := range 200 {
		x := math.Sin(float64(7 * i))
		must.Do(t, table.Append([]string{fmt.Sprint(x), fmt.Sprint([]int{3, 7, 7, 11, 7}[i%5]), fmt.Sprint(-(i % 3 / 2)),
			[]string{"gas", "oil", "oil"}[i%3], fmt.Sprint(x + math.Cos(float64(i)))}))
	}
	o := krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"fuel"}},
		Kernel: krigo.Kernel{Expression: "linear"}, Run: krigo.Run{Restarts: 1}}
	usual := func() string {
		m := must.Get(krigo.Fit(t.Context(), table, o))(t)
		d := describe(&served{Model: m, unwatched: errors.New("nothing is watched")})
		return strings.Join(lists.Of(d.Inputs, func(i Input) string { return i.Usual }), "|")
	}
	must.Be(t, usual(), "|7|0|oil", "of a full GP")
	o.Method.Inducing = 5
	must.Be(t, usual(), "|||", "of inducing inputs")
}
