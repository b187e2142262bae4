package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestBudget shows that one client gets half of the memory, that others get their part of the rest, and that a request
// which waits gets memory that is given back.
func TestBudget(t *testing.T) {
	const kB = 1 << 10
	b := newBudget(1000 * kB)
	b.patience = time.Millisecond
	ctx := context.Background()
	take := func(of client, kBytes int64, want error) *hold {
		t.Helper()
		h := b.hold(of)
		if err := h.resize(ctx, pocket+kBytes*kB); !errors.Is(err, want) {
			t.Errorf("%d kB: %v, not %v", kBytes, err, want)
		}
		return h
	}
	take(anna, 501, errHuge)
	first := take(anna, 300, nil)
	take(anna, 250, errFull)
	second := take(anna, 200, nil)
	take(anna, 1, errFull)
	take(anna, 0, nil) // a client may always take its pocket
	other := take(bella, 250, nil)
	take(bella, 1, errFull)
	if err := other.resize(ctx, pocket+100*kB); err != nil || b.by[bella] != 100*kB {
		t.Errorf("%v, %d", err, b.by[bella])
	}
	b.patience = time.Minute
	got := make(chan error)
	go func() { got <- b.hold(bella).resize(ctx, pocket+250*kB) }()
	until(t, "nobody waits", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.waiting == 1 })
	second.close()
	if err := <-got; err != nil {
		t.Error(err)
	}
	gone, leave := context.WithCancel(ctx)
	go func() { got <- b.hold(bella).resize(gone, pocket+300*kB) }()
	leave()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	first.close()
	first.close()
	other.close()
	must.Hold(t, b.used == 250*kB && len(b.by) == 1 && b.by[bella] == 250*kB,
		"%d used, %v", b.used, b.by)
}

// TestTurns shows that a client with many waiting requests gets one turn, and then other clients get theirs.
func TestTurns(t *testing.T) {
	var q turns
	q.free = 1
	must.Do(t, q.begin(context.Background(), anna))
	var mu sync.Mutex
	var order []client
	var wait sync.WaitGroup
	waiting := func() (n int) {
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, l := range q.waiting.lines {
			n += len(l.waiting)
		}
		return n
	}
	cancelled, cancel := context.WithCancel(context.Background())
	for i, of := range []client{anna, anna, anna, bella, anna, bella} {
		ctx := context.Background()
		if i == 1 {
			ctx = cancelled
		}
		wait.Go(func() {
			if err := q.begin(ctx, of); err != nil {
				return
			}
			mu.Lock()
			order = append(order, of)
			mu.Unlock()
			q.end()
		})
		until(t, "it doesn't wait", func() bool { return waiting() == i+1 })
	}
	cancel()
	until(t, "it still waits", func() bool { return waiting() == 5 })
	q.end()
	wait.Wait()
	if !slices.Equal(order, []client{anna, bella, anna, bella, anna}) || q.free != 1 {
		t.Errorf("%v, %d free", order, q.free)
	}
}

func TestClients(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true}, {"192.0.2.1:1", "192.0.2.2:1", false},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
		{"[2001:db8::1]:1", "[2001:db8::2]:1", true}, {"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"[fe80::1%a]:1", "[fe80::2]:1", true}, {"@", "", true}, {"@", "192.0.2.1:1", false},
	} {
		must.Hold(t, (clientAt(c.a) == clientAt(c.b)) == c.same, "%s and %s: %v", c.a, c.b, !c.same)
	}
}

// TestConnections shows which connection makes room beyond the limit: the one that has been silent for longest, of the
// client that has most connections. A connection whose request is being answered stays.
func TestConnections(t *testing.T) {
	s := must.Get(New(saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{}))(t)
	s.connections.most = 6
	begun, finish := make(chan struct{}, 1), make(chan struct{})
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		if r.Method == "POST" {
			if _, err := readBody(r.Context(), w, r, s.budget.hold(clientOf(r)), 10, time.Minute); err != nil {
				return
			}
		}
		<-finish
		io.WriteString(w, "done")
	})
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	find := func(conn net.Conn) *connection {
		s.connections.mu.Lock()
		defer s.connections.mu.Unlock()
		for at, c := range s.connections.all {
			if at.RemoteAddr().String() == conn.LocalAddr().String() {
				return c
			}
		}
		return nil
	}
	open := func(send string) net.Conn {
		t.Helper()
		conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		io.WriteString(conn, send)
		until(t, "not taken", func() bool { return find(conn) != nil })
		return conn
	}
	closed := func(conn net.Conn) bool {
		_, err := io.Copy(io.Discard, conn)
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	working := open("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-begun
	slow := open("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n1")
	<-begun
	until(t, "the body isn't read", func() bool {
		c := find(slow)
		s.connections.mu.Lock()
		defer s.connections.mu.Unlock()
		return c.at != nil
	})
	silent := open("")
	for range 3 {
		open("GET /")
	}
	open("") // the seventh connection
	must.Hold(t, closed(slow), "the slow body has its connection still")
	open("")
	must.Hold(t, closed(silent), "the silent one has its connection still")
	close(finish)
	r, err := http.ReadResponse(bufio.NewReader(working), nil)
	must.Hold(t, err == nil && r.StatusCode == 200, "%+v, %v", r, err)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	must.Hold(t, len(s.connections.all)+len(s.connections.by)+s.connections.alive == 0,
		"left: %+v", s.connections)
	for files, want := range map[uint64]int{1024: 768, 256: 192, 1 << 20: mostConnections, 3: 1} {
		if got := connectionsWithin(files); got != want {
			t.Errorf("%d connections of %d files, want %d", got, files, want)
		}
	}
}

// peakOf measures memory again and again while f runs. It returns the largest measurement minus the memory before f.
func peakOf(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
				time.Sleep(20 * time.Microsecond) // or it takes the core that f needs
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return int64(peak) - int64(before)
}

// leastPeakOf returns the first value of peakOf that is low enough, or the smallest of three. Each also counts garbage
// that isn't collected yet.
func leastPeakOf(f func(), enough func(peak int64) bool) (least int64) {
	for try := range 3 {
		peak := peakOf(f)
		if try == 0 || peak < least {
			least = peak
		}
		if enough(least) {
			break
		}
	}
	return least
}

// TestMeasures shows that no body takes more memory than was estimated before it was parsed.
func TestMeasures(t *testing.T) {
	const inputs, rows = 20, 5000
	of := make([]Input, inputs)
	var header strings.Builder
	for j := range of {
		of[j] = Input{Name: fmt.Sprintf("x%d", j)}
		header.WriteString(of[j].Name + ",")
	}
	texts := of
	texts = slices.Clone(texts)
	for j := range texts {
		texts[j].Categories = []string{"a", "other"}
	}
	grid := func(cell func(i, j int) string) string {
		var b strings.Builder
		for i := range rows {
			b.WriteByte('\n')
			for j := range inputs {
				b.WriteString(cell(i, j) + ",")
			}
			b.WriteByte('1')
		}
		return b.String()
	}
	number := func(i, j int) string { return fmt.Sprint(float64(i) + float64(j)/7) }
	text := func(i, j int) string { return fmt.Sprintf("%x_", i*inputs+j) }
	var plain dataset.Reading
	var wide strings.Builder
	for j := range spare - 1 {
		fmt.Fprintf(&wide, "c%d,", j)
	}
	for name, c := range map[string]struct {
		body    string
		of      []Input
		reading dataset.Reading
	}{
		"CSV, decimal commas": {strings.ReplaceAll(header.String(), ",", ";") + "z" +
			strings.ReplaceAll(grid(func(i, j int) string { return fmt.Sprintf("%d.%d", i, j) }), ",", ";"), of,
			dataset.Reading{Decimal: ","}},
		"CSV, numbers": {header.String() + "z" + grid(number), of, plain},
		"CSV, texts":   {header.String() + "z" + grid(text), of, plain},
		"CSV, exponents": {header.String() + "z" +
			grid(func(i, j int) string { return fmt.Sprintf("1e%d", 400+i*inputs+j) }), of, plain},
		"CSV, points": {header.String() + "z" +
			grid(func(i, j int) string { return fmt.Sprintf("%d.%d.1", i, j) }), of, plain},
		"CSV, dates": {header.String() + "z" + grid(func(i, j int) string { return fmt.Sprintf("%d-%d", i, j) }),
			of, plain},
		"CSV, quoted": {header.String() + "z" +
			grid(func(i, j int) string { return fmt.Sprintf(`"%d,%d"`, i, j) }), of, plain},
		"CSV, other columns": {wide.String() + header.String() + "z" +
			strings.Repeat("\n"+strings.Repeat("a,", spare+inputs-1)+"1", 500), of, plain},
		"CSV, too many columns": {strings.Repeat("a,", 1<<20) + "z\n1\n", of, plain},
		"CSV, a wide row":       {"x\n" + strings.Repeat(";", 1<<20) + "\n", of, plain},
		"CSV, a text":           {header.String() + "z\n" + strings.Repeat("a", 2<<20), of, plain},
		"CSV, empty lines":      {header.String() + "z" + strings.Repeat("\n", 2*rows), of, plain},
		"JSON, numbers": {`{"rows":[` +
			strings.ReplaceAll(strings.TrimPrefix(grid(func(i, j int) string { return number(i, j) }), "\n"), "\n", "],[") +
			`]}`, of, plain},
		"JSON, one row":          {`{"rows":[[` + strings.Repeat("1,", 1<<20) + `1]]}`, of, plain},
		"JSON, keys":             {`{"rows":[{` + strings.Repeat(`"a":1,`, 1<<18) + `"x":1}]}`, of, plain},
		"JSON, a key":            {`{"` + strings.Repeat("k", 2<<20) + `":1}`, of, plain},
		"JSON, a key in escapes": {`{"` + strings.Repeat(`\u00e4`, 1<<19) + `":1}`, of, plain},
		"JSON, a name":           {`{"rows":[[1]],"model":"` + strings.Repeat("k", 2<<20) + `"}`, of, plain},
		"JSON, brackets":         {`{"rows":[` + strings.Repeat("[", 1<<20), of, plain},
		"JSON, tiny rows":        {`{"rows":[` + strings.Repeat("[],", rows-1) + `[]]}`, of, plain},
		"JSON, texts": {`{"rows":[` +
			strings.TrimSuffix(strings.Repeat("["+strings.TrimSuffix(strings.Repeat(`"a",`, inputs), ",")+"],", 100), ",") +
			`]}`, texts, plain},
	} {
		body := []byte(c.body)
		var measured int64
		var err error
		const constant = 1 << 20 // the memory that readers take, which doesn't depend on the input
		peak := leastPeakOf(func() {
			if strings.HasPrefix(name, "CSV") {
				if measured, err = measureCSV(body, inputs, c.reading, rows); err == nil {
					_, err = parseCSV(body, c.of, c.reading, rows)
				}
				return
			}
			measured = measureJSON(body, rows)
			_, err = parseJSON(body, func(_ string, n int) ([]Input, error) {
				measured += textsOf(c.of, n)
				return c.of, nil
			}, rows)
		}, func(peak int64) bool { return peak <= measured+constant })
		must.Hold(t, peak <= measured+constant,
			"%s: %d kB, measured %d (%.100v)", name, peak>>10, measured>>10, err)
	}
}

// TestWide shows that a request's rows are never all encoded at once, for any kind of request, if a model's categories
// become thousands of inputs.
func TestWide(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds; under the race detector pools keep nothing, so that more is taken")
	}
	const columns, categories, rows = 32, 60, 1000
	table := &dataset.Table{Source: "t"}
	for j := range columns {
		table.Names = append(table.Names, fmt.Sprintf("c%d", j))
	}
	table.Names = append(table.Names, "y")
	for i := range rows {
		row := make([]string, columns, columns+1)
		for j := range row {
			row[j] = fmt.Sprintf("v%d", (i+7*j)%categories)
		}
		table.Append(append(row, fmt.Sprint(i%2)))
	}
	m := must.Get(krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "y", Categorical: table.Names[:columns]},
			Kernel: krigo.Kernel{Expression: "se", ARD: "off"}, Method: krigo.Method{Name: "vfe", Inducing: 2, Epochs: 1},
			Run: krigo.Run{Restarts: 1}, Promise: krigo.Promise{Epsilon: 1}}))(t)
	must.Need(t, len(m.Inputs) >= 1200, "%d inputs", len(m.Inputs))
	ctx := context.Background()
	q := queueOf(m, rows, m.PredictAt)
	few := &dataset.Table{Source: "t", Names: table.Names, Rows: 300, Values: table.Values[:300*(columns+1)],
		Text: table.Text}
	all := wish{samples: 3, covariance: true}
	for name, c := range map[string]struct {
		do   func() error
		most int64
	}{
		"predict": {func() error { _, _, err := q.run(ctx, anna, table); return err }, kept(table) + 5<<20},
		"joint": {func() error {
			one := &turns{free: 1}
			return all.compute(ctx, newBudget(1<<30).hold(anna), one, m, few, &Joint{})
		}, kept(few) + all.bytes(m, few.Rows) + 1<<20},
	} {
		var err error
		peak := leastPeakOf(func() { err = c.do() }, func(peak int64) bool { return peak <= c.most })
		must.Hold(t, err == nil && peak <= c.most,
			"%s: %d MB, not %d: %v", name, peak>>20, c.most>>20, err)
	}
}

// TestMemory shows that long bodies are refused if no memory is free. Bodies of slow clients, and bodies that are only
// announced as long, hold little memory. Requests of single rows are answered all the while.
func TestMemory(t *testing.T) {
	path := saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo"))
	address, s := started(t, path, Options{Memory: 2 << 20, Timeout: 20 * time.Second})
	s.budget.patience = time.Millisecond
	url := "http://" + address + "/v1/predict"
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	send := func(promised int, body string) net.Conn {
		conn := must.Get(net.Dial("tcp", address))(t)
		conns = append(conns, conn)
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(conn, "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: "+
			"%d\r\n\r\n%s", promised, body)
		return conn
	}
	used := func() int64 { s.budget.mu.Lock(); defer s.budget.mu.Unlock(); return s.budget.used }
	for range 50 {
		send(8<<20, "x\n1\n")
	}
	row := func() {
		t.Helper()
		if status, body := post(t, url, jsonKind, `{"rows": [[1]]}`); status != 200 {
			t.Errorf("status %d: %s", status, body)
		}
	}
	row()
	must.Be(t, used(), 0, "promises hold")
	send(8<<20, "x\n"+strings.Repeat("1\n", 250<<10)) // and no more of the announced 8 MiB
	until(t, "it isn't read", func() bool { return used() >= 500<<10 })
	row()
	long := "x,z\n" + strings.Repeat("1,"+strings.Repeat("z", 6000)+"\n", 100)
	status, body := post(t, url, "text/csv", long)
	must.Hold(t, status == 503 && strings.Contains(body, "the memory for requests is full"),
		"status %d: %s", status, body)
	if status, body := post(t, url, "text/csv", "x\n"+strings.Repeat("1\n", 9000)); status != 413 ||
		!strings.Contains(body, "more memory than a request may have") {
		t.Errorf("status %d: %s", status, body)
	}
	// The body that stalls is refused long before a body's time is over.
	r, err := http.ReadResponse(bufio.NewReader(conns[50]), nil)
	must.Hold(t, err == nil && r.StatusCode == 408, "%+v, %v", r, err)
	until(t, "it is held still", func() bool { return used() == 0 })
	if status, body := post(t, url, "text/csv", long); status != 200 {
		t.Errorf("status %d: %s", status, body)
	}
}

// TestUnread shows that a client that doesn't read its answer doesn't hold the answer's memory for long.
func TestUnread(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	w := &piped{server}
	begin := time.Now()
	n, err := newSteady(w, 50*time.Millisecond).Write(bytes.Repeat([]byte("x"), 1<<20))
	must.Hold(t, err != nil && n == 0 && time.Since(begin) <= 10*time.Second,
		"%d bytes, %v", n, err)
}

// piped is a ResponseWriter that writes to a connection.
type piped struct{ net.Conn }

func (p *piped) Header() http.Header                { return nil }
func (p *piped) WriteHeader(int)                    {}
func (p *piped) SetWriteDeadline(t time.Time) error { return p.Conn.SetWriteDeadline(t) }

// TestNothingLeft shows that nothing of the server runs after Run returns, not even a prediction whose client has left.
func TestNothingLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	s := must.Get(New(saved(t, fitted(t, 0), filepath.Join(t.TempDir(), "s.krigo")), Options{Timeout: time.Second}))(t)
	m, _ := s.library.find("s")
	begun, finish := make(chan struct{}), make(chan struct{})
	var finished bool
	m.queue.predict = func(_ context.Context, x mat.Matrix) ([]model.Prediction, error) {
		close(begun)
		<-finish
		finished = true
		return m.PredictAt(x)
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	const text = `{"rows": [[1]]}`
	fmt.Fprintf(conn, "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	<-begun
	conn.Close()
	stop()
	select {
	case err := <-ended:
		t.Errorf("ended before the prediction: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(finish)
	if err := <-ended; err != nil || !finished {
		t.Error(err)
	}
	until(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
}
