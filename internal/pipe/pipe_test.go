package pipe

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// client is the program at the other end of a pipe.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	last uint64
}

func connect(t *testing.T) *client {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.Background(), inRead, outWrite,
			Options{Version: "v", Describe: func(m *krigo.Model) any { return m.Objective }})
		outWrite.Close()
	}()
	t.Cleanup(func() {
		inWrite.Close()
		go io.Copy(io.Discard, outRead)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &client{t: t, in: inWrite, out: outRead}
}

func (c *client) send(header map[string]any, buffers ...[]byte) {
	c.t.Helper()
	var sizes []int
	for _, b := range buffers {
		sizes = append(sizes, len(b))
	}
	header["buffers"] = sizes
	text, err := json.Marshal(header)
	if err != nil {
		c.t.Fatal(err)
	}
	c.in.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(text))))
	c.in.Write(text)
	for _, b := range buffers {
		c.in.Write(b)
	}
}

// receive reads frames up to the next reply that isn't an event. It returns the reply and the number of events.
func (c *client) receive() (r reply, result map[string]any, events int) {
	c.t.Helper()
	for {
		var length [4]byte
		if _, err := io.ReadFull(c.out, length[:]); err != nil {
			c.t.Fatal(err)
		}
		header := make([]byte, binary.LittleEndian.Uint32(length[:]))
		if _, err := io.ReadFull(c.out, header); err != nil {
			c.t.Fatal(err)
		}
		r = reply{}
		if err := json.Unmarshal(header, &r); err != nil {
			c.t.Fatalf("%v: %s", err, header)
		}
		for _, size := range r.Buffers {
			data := make([]byte, size)
			if _, err := io.ReadFull(c.out, data); err != nil {
				c.t.Fatal(err)
			}
			r.data = append(r.data, data)
		}
		if r.Event == nil {
			result, _ = r.Result.(map[string]any)
			return r, result, events
		}
		events++
	}
}

func (c *client) call(op string, header map[string]any, buffers ...[]byte) (reply, map[string]any, int) {
	c.t.Helper()
	c.last++
	header["id"], header["op"] = c.last, op
	c.send(header, buffers...)
	r, result, events := c.receive()
	if r.ID != c.last {
		c.t.Fatalf("%s: a reply to %d", op, r.ID)
	}
	return r, result, events
}

func numbers(values []float64) (data []byte) {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return data
}

func texts(all []string) (ends, data []byte) {
	ends = binary.LittleEndian.AppendUint64(nil, 0)
	for _, text := range all {
		data = append(data, text...)
		ends = binary.LittleEndian.AppendUint64(ends, uint64(len(data)))
	}
	return ends, data
}

// TestKinds: more than two classes are one model of the pipe, with the library's labels, probabilities and sets.
func TestKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	const rows = 150
	x, kind, text := make([]float64, rows), make([]string, rows), "x,kind\n"
	for i := range rows {
		x[i] = 3 * rng.Float64()
		kind[i] = []string{"a", "b", "c"}[min(max(int(x[i]+0.3*rng.NormFloat64()), 0), 2)]
		text += fmt.Sprintf("%v,%s\n", x[i], kind[i])
	}
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "the data"}.Read())(t)
	o := krigo.Options{Data: krigo.Data{Target: "kind"}, Kernel: krigo.Kernel{Expression: "se"},
		Run: krigo.Run{Restarts: 1}}
	c := connect(t)
	ends, data := texts(kind)
	of := map[string]any{"names": []string{"x", "kind"}, "text": []bool{false, true}, "rows": rows}
	ask := func(op string, header map[string]any) (reply, map[string]any) {
		header["table"] = of
		r, result, _ := c.call(op, header, numbers(x), ends, data)
		return r, result
	}
	fitted, said := ask("fit", map[string]any{"args": map[string]any{"options": o}})
	must.Need(t, fitted.Error == nil, "%+v", fitted.Error)
	all := must.Get(krigo.ReadTargets(bytes.NewReader(fitted.data[0])))(t)
	must.Be(t, fmt.Sprint(said["target"], said["classes"], said["sentence"]), fmt.Sprint("kind", "[a b c]",
		all.Sentence()))
	want := must.Get(all.PredictLabels(t.Context(), table, 0.8))(t)
	p, _ := ask("predict", map[string]any{"model": said["model"], "args": map[string]any{"sets": 0.8}})
	must.Need(t, p.Error == nil, "%+v", p.Error)
	must.Be(t, strings.Join(p.Names, " "), "outside label probability0 set0 probability1 set1 probability2 set2")
	var second, held []float64
	for i, one := range want.Predictions {
		second, held = append(second, one.Probabilities[1]), append(held, 0)
		if slices.Contains(want.Sets[i], "b") {
			held[i] = 1
		}
	}
	must.Hold(t, bytes.Equal(p.data[4], numbers(second)) && bytes.Equal(p.data[5], numbers(held)),
		"others")
	for _, more := range []string{"explain", "covariance"} {
		p, _ = ask("predict", map[string]any{"model": said["model"], "args": map[string]any{more: true}})
		must.Hold(t, p.Error != nil && p.Error.Kind == "usage", "%s: %+v", more, p.Error)
	}
	found, result := ask("certify", map[string]any{"model": said["model"]})
	must.Hold(t, found.Error == nil && result["certify"].(map[string]any)["matches"] == true,
		"%+v, %v", found.Error, result)
	page, _ := ask("report", map[string]any{"model": said["model"]})
	must.Hold(t, page.Error == nil && len(page.data) == 1, "%+v", page.Error)
	watched, result := ask("watch", map[string]any{"model": said["model"],
		"args": map[string]string{"ledger": t.TempDir() + "/l"}})
	must.Hold(t, watched.Error == nil &&
		strings.Contains(result["sentence"].(string), "got a wrong label"),
		"%+v, %v", watched.Error, result)
	other, again, _ := c.call("load", map[string]any{}, fitted.data[0])
	must.Hold(t, other.Error == nil && again["checksum"] == said["checksum"], "%+v", other.Error)
}

// TestPipe shows that results through a pipe equal the library's results for the same table, bit by bit.
func TestPipe(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 90
	x, y, fuel := make([]float64, rows), make([]float64, rows), make([]string, rows)
	text := "x,fuel,y\n"
	for i := range rows {
		x[i], fuel[i] = rng.NormFloat64(), []string{"gas", "oil"}[i%2]
		y[i] = math.Sin(2*x[i]) + float64(i%2) + 0.1*rng.NormFloat64()
		text += fmt.Sprintf("%v,%s,%v\n", x[i], fuel[i], y[i])
	}
	table, err := files.CSV{From: strings.NewReader(text), Source: "the data"}.Read()
	must.Need(t, err == nil, "%v", err)
	o := krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"fuel"}},
		Kernel: krigo.Kernel{Expression: "se"}, Prior: krigo.Prior{Kind: "informed"}}
	m, err := krigo.Fit(t.Context(), table, o)
	must.Need(t, err == nil, "%v", err)
	want, err := m.Predict(t.Context(), table, krigo.PredictOptions{})
	must.Need(t, err == nil, "%v", err)

	c := connect(t)
	ends, data := texts(fuel)
	of := map[string]any{"names": []string{"x", "fuel", "y"}, "text": []bool{false, true, false}, "rows": rows}
	buffers := [][]byte{numbers(x), ends, data, numbers(y)}
	r, fitted, events := c.call("fit", map[string]any{"table": of, "args": map[string]any{"options": o, "progress": true}},
		buffers...)
	must.Need(t, r.Error == nil && events != 0, "%+v, %d events", r.Error, events)
	if fitted["sentence"] != m.Sentence(m.Certificate) {
		t.Errorf("%v\nwant %s", fitted["sentence"], m.Sentence(m.Certificate))
	}
	loaded, again, _ := c.call("load", map[string]any{}, r.data[0])
	must.Need(t, loaded.Error == nil && again["checksum"] == fitted["checksum"],
		"%+v, %v", loaded.Error, again)
	p, _, _ := c.call("predict", map[string]any{"model": again["model"], "table": of,
		"args": map[string]any{"intervals": []string{"conformal"}, "level": 0.9, "covariance": true, "samples": 2}},
		buffers...)
	must.Need(t, p.Error == nil &&
		slices.Equal(p.Names, append(krigo.PredictionNames(), "conformal_lower", "conformal_upper", "covariance", "samples")),
		"%+v, %q", p.Error, p.Names)
	mean := make([]float64, rows)
	for i, w := range want {
		mean[i] = w.Mean
	}
	must.Hold(t, bytes.Equal(p.data[0], numbers(mean)), "the means are others")
	cov, err := m.Covariance(context.Background(), table)
	if err != nil || !bytes.Equal(p.data[slices.Index(p.Names, "covariance")], numbers(cov.Data)) {
		t.Errorf("the covariances are others, %v", err)
	}
	for i, w := range want {
		if v := cov.At(i, i); math.Abs(v-w.LatentVariance) > 1e-9*cov.At(0, 0)+1e-12 {
			t.Errorf("row %d: variance %v and %v", i, v, w.LatentVariance)
		}
	}
	if r, result, _ := c.call("certify", map[string]any{"model": fitted["model"], "table": of},
		buffers...); r.Error != nil || result["certify"].(map[string]any)["matches"] != true {
		t.Errorf("%+v, %v", r.Error, result)
	}
	shifted := [][]byte{numbers(y), ends, data, numbers(y)}
	if r, result, _ := c.call("fresh", map[string]any{"model": fitted["model"], "table": of},
		shifted...); r.Error != nil || !strings.HasPrefix(result["sentence"].(string), "With 99 % confidence") {
		t.Errorf("%+v, %v", r.Error, result)
	}
	if r, result, _ := c.call("watch", map[string]any{"model": fitted["model"], "table": of,
		"args": map[string]string{"ledger": t.TempDir() + "/l.ledger"}}, buffers...); r.Error != nil ||
		result["watch"] == nil {
		t.Errorf("%+v, %v", r.Error, result)
	}
	if r, _, _ := c.call("report", map[string]any{"model": fitted["model"], "table": of}, buffers...); r.Error != nil ||
		!bytes.HasPrefix(r.data[0], []byte("<!")) {
		t.Errorf("%+v", r.Error)
	}
	predicted := map[string]any{"names": []string{"y", "p"}, "text": []bool{false, false}, "rows": rows}
	if r, result, _ := c.call("certify_predictions",
		map[string]any{"table": predicted, "args": map[string]any{"prediction": "p",
			"options": krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 0.3, Units: "raw"}}}},
		numbers(y), numbers(mean)); r.Error != nil ||
		!strings.HasPrefix(result["sentence"].(string), "With 99 % confidence") {
		t.Errorf("%+v, %v", r.Error, result)
	}
	// The texts "7" and "007" mean the same number, so that they can't be two groups. The error names row and column.
	odd := make([]string, rows)
	for i := range odd {
		odd[i] = []string{"7", "007"}[i%2]
	}
	oddEnds, oddData := texts(odd)
	grouped := map[string]any{"names": []string{"y", "p", "g"}, "text": []bool{false, false, true}, "rows": rows}
	for op, args := range map[string]any{
		"certify_predictions": map[string]any{"prediction": "p",
			"options": krigo.Options{Data: krigo.Data{Target: "y", Group: "g"},
				Promise: krigo.Promise{Epsilon: 0.3, Units: "raw"}}},
		"fit": map[string]any{"settle": true,
			"options": krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"g"}}}},
	} {
		if r, _, _ := c.call(op, map[string]any{"table": grouped, "args": args}, numbers(y), numbers(mean), oddEnds,
			oddData); r.Error == nil || r.Error.Kind != "data" || r.Error.Row != 2 || r.Error.Column != "g" {
			t.Errorf("%s: %+v", op, r.Error)
		}
	}
	for _, bad := range []struct {
		op, kind, column string
		header           map[string]any
		buffers          [][]byte
	}{
		{"sing", "usage", "", map[string]any{}, nil},
		{"fit", "usage", "", map[string]any{"table": of, "args": map[string]any{"options": map[string]any{"dta": 1}}},
			buffers},
		{"fit", "data", "fuel", map[string]any{"table": of,
			"args": map[string]any{"options": map[string]any{"data": map[string]any{"target": "y"}}}}, buffers},
		{"predict", "failed", "", map[string]any{"model": 99, "table": of}, buffers},
		{"predict", "failed", "", map[string]any{"model": fitted["model"], "table": of}, buffers[1:]},
		{"predict", "data", "x", map[string]any{"model": fitted["model"], "table": of},
			[][]byte{numbers(slices.Repeat([]float64{math.Inf(1)}, rows)), ends, data, numbers(y)}},
		{"fit", "failed", "", map[string]any{"table": map[string]any{"names": []string{"x"}, "text": []bool{true},
			"rows": 1 << 40}}, buffers},
		{"fit", "failed", "", map[string]any{"table": map[string]any{"names": []string{"x"}, "text": []bool{false},
			"rows": math.MaxInt64}}, buffers},
		{"load", "failed", "", map[string]any{}, [][]byte{[]byte("no model")}},
	} {
		if r, _, _ := c.call(bad.op, bad.header, bad.buffers...); r.Error == nil || r.Error.Kind != bad.kind ||
			r.Error.Column != bad.column {
			t.Errorf("%s %v: %+v", bad.op, bad.header, r.Error)
		}
	}
	none := map[string]any{"names": []string{"x", "fuel", "y"}, "text": []bool{false, true, false}, "rows": 0}
	noEnds, noTexts := texts(nil)
	if r, _, _ := c.call("fresh", map[string]any{"model": fitted["model"], "table": none}, nil, noEnds, noTexts,
		nil); r.Error == nil || !strings.Contains(r.Error.Message, "no rows") {
		t.Errorf("%+v", r.Error)
	}
	if r, _, _ := c.call("close", map[string]any{"model": fitted["model"]}); r.Error != nil {
		t.Errorf("%+v", r.Error)
	}
	if r, _, _ := c.call("predict", map[string]any{"model": fitted["model"], "table": of}, buffers...); r.Error == nil {
		t.Error("a model that was closed predicts")
	}
}

// TestSettle shows that columns of text without a declared type become what krigo inspect takes them for, if settle
// is set.
func TestSettle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 60
	y, zone, when, name := make([]float64, rows), make([]string, rows), make([]string, rows), make([]string, rows)
	for i := range rows {
		y[i], zone[i] = rng.NormFloat64(), []string{"north", "south"}[i%2]
		when[i], name[i] = time.Unix(int64(i)*86400*3, 0).UTC().Format(time.DateOnly), fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26)
	}
	var buffers [][]byte
	for _, column := range [][]string{zone, when, name} {
		ends, data := texts(column)
		buffers = append(buffers, ends, data)
	}
	buffers = append(buffers, numbers(y))
	of := map[string]any{"names": []string{"zone", "when", "name", "y"}, "text": []bool{true, true, true, false},
		"rows": rows}
	o := krigo.Options{Data: krigo.Data{Target: "y", Ignore: []string{"n*"}}, Kernel: krigo.Kernel{Expression: "se"}}
	c := connect(t)
	r, result, _ := c.call("fit", map[string]any{"table": of, "args": map[string]any{"options": o, "settle": true}},
		buffers...)
	must.Need(t, r.Error == nil, "%+v", r.Error)
	if got := fmt.Sprint(result["inputs"]); got != "[zone=north zone=south zone=other when]" {
		t.Error(got)
	}
	if dates := fmt.Sprint(result["reading"]); !strings.Contains(dates, "column:when") {
		t.Error(dates)
	}
	if options, _ := json.Marshal(result["options"]); !strings.Contains(string(options), `"categorical":["zone"]`) {
		t.Errorf("%s", options)
	}
	// The table decides that names of rows are left out, and that gaps are filled.
	o = krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se"}}
	if r, result, _ = c.call("fit", map[string]any{"table": of, "args": map[string]any{"options": o, "settle": true}},
		buffers...); r.Error != nil || fmt.Sprint(result["inputs"]) != "[zone=north zone=south zone=other when]" ||
		!strings.Contains(fmt.Sprint(result["findings"]), "column_left_out") {
		t.Errorf("%+v, %v", r.Error, result)
	}
	for _, args := range []map[string]any{
		{"options": o},
		{"options": krigo.Options{Data: krigo.Data{Target: "no"}}, "settle": true}, // the table has no such column
	} {
		if r, _, _ := c.call("fit", map[string]any{"table": of, "args": args}, buffers...); r.Error == nil ||
			r.Error.Kind != "data" {
			t.Errorf("%v: %+v", args, r.Error)
		}
	}
}

// TestCancel shows that a cancelled request ends, and that other requests go on.
func TestCancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 1500
	x, y := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	c := connect(t)
	of := map[string]any{"names": []string{"x", "y"}, "text": []bool{false, false}, "rows": rows}
	args := map[string]any{"options": krigo.Options{Data: krigo.Data{Target: "y"}, Run: krigo.Run{Restarts: 1000}}}
	c.send(map[string]any{"id": 7, "op": "fit", "table": of, "args": args}, numbers(x), numbers(y))
	time.Sleep(50 * time.Millisecond)
	if r, _, _ := c.call("hello", map[string]any{}); r.Error != nil {
		t.Fatalf("%+v", r.Error)
	}
	c.send(map[string]any{"id": 7, "op": "cancel"})
	if r, _, _ := c.receive(); r.ID != 7 || r.Error == nil || r.Error.Kind != "cancelled" {
		t.Errorf("%+v", r)
	}
}

// TestFreshCopies shows that copies of rows, which the model left out, aren't counted as fresh, and that the rest of
// its data is recognised.
func TestFreshCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 200
	x, y := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		if x[i] = rng.NormFloat64(); i >= rows/2 {
			x[i] = x[i-rows/2]
		}
		y[i] = math.Sin(2 * x[i])
	}
	c := connect(t)
	of := map[string]any{"names": []string{"x", "y"}, "text": []bool{false, false}, "rows": rows}
	args := map[string]any{"options": krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.3},
		Kernel: krigo.Kernel{Expression: "se"}}, "reading": dataset.Reading{Distinct: true}}
	_, fitted, _ := c.call("fit", map[string]any{"table": of, "args": args}, numbers(x), numbers(y))
	r, result, _ := c.call("fresh", map[string]any{"model": fitted["model"], "table": of}, numbers(x), numbers(y))
	must.Need(t, r.Error == nil, "%+v", r.Error)
	if fresh := result["fresh"].(map[string]any); fresh["rows"] != float64(30) || fresh["dropped"] != float64(rows/2) ||
		fresh["seen"] != nil {
		t.Errorf("%v", fresh)
	}
}

// TestUnsayable shows that a reply that JSON can't write becomes an error.
func TestUnsayable(t *testing.T) {
	var out bytes.Buffer
	if err := (&reply{ID: 3, Result: math.NaN()}).write(&out); err != nil {
		t.Fatal(err)
	}
	var r reply
	if err := json.Unmarshal(out.Bytes()[4:], &r); err != nil || r.ID != 3 || r.Error == nil || r.Error.Kind != "failed" {
		t.Errorf("%+v, %v", r, err)
	}
}
