package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/laboratory/malice"
	"github.com/krigo-gp/krigo/serve"
)

func init() {
	campaigns = append(campaigns, campaign{"serve", "malicious clients of a server, beside good clients", attackServer})
}

// attackServer makes one attack a try on a server in this process. A try fails if the server answers otherwise than
// promised, or if a good request at the same time gets a wrong answer. The campaign fails if goroutines or memory are
// left when the server has ended.
func attackServer(r *run) error {
	m, err := krigo.Fit(r.ctx, data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 20}, Run: krigo.Run{Restarts: 1},
			Promise: krigo.Promise{Epsilon: 1}})
	if err != nil {
		return err
	}
	path := filepath.Join(r.folder, "snelson.krigo")
	if err := m.Save(path); err != nil {
		return err
	}
	before, heap := runtime.NumGoroutine(), heapAfter()
	failures := &failures{}
	s, err := serve.New(path, serve.Options{Timeout: 5 * time.Second, Ledger: filepath.Join(r.folder, "ledger"),
		Log: slog.New(slog.NewTextHandler(failures, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()

	var wrong atomic.Pointer[error] // the first error of a good client that no try has reported yet
	var good sync.WaitGroup
	doing, done := context.WithCancel(context.Background())
	transport := &http.Transport{}
	for k, rows := range []int{1, 1, 300} {
		c := &goodClient{m: m, client: &http.Client{Transport: transport, Timeout: 10 * time.Second}, url: "http://" +
			l.Addr().String() + "/v1/predict", rows: rows}
		good.Go(func() {
			for rng := rand.New(rand.NewPCG(r.seed, uint64(k))); doing.Err() == nil; time.Sleep(time.Millisecond) {
				if err := c.ask(rng); err != nil {
					wrong.CompareAndSwap(nil, &err)
				} else {
					r.count(fmt.Sprintf("good with %d rows", rows))
				}
			}
		})
	}
	r.workers *= 4 // attackers mostly wait
	err = r.each(func(try int64, rng *rand.Rand) error {
		// Attackers come from other addresses than good clients, if this machine has several addresses of its own.
		from := net.IPv4(127, 0, 0, byte(2+rng.IntN(4)))
		if probe, err := net.ListenTCP("tcp", &net.TCPAddr{IP: from}); err == nil {
			probe.Close()
		} else {
			from = nil
		}
		c := &malice.Client{Server: l.Addr().String(), From: from, Inputs: m.Inputs, Target: m.Target,
			Patient: 20 * time.Second}
		statuses, err := c.Run(r.ctx, malice.Attacks[rng.IntN(len(malice.Attacks))], rng)
		for _, status := range statuses {
			r.count(fmt.Sprintf("status %d", status))
		}
		if told := wrong.Swap(nil); told != nil {
			err = errors.Join(err, *told)
		}
		return errors.Join(err, failures.take())
	})
	done()
	good.Wait()
	transport.CloseIdleConnections()
	stop()
	if err := errors.Join(err, <-ended, failures.take()); err != nil {
		return err
	}
	if told := wrong.Swap(nil); told != nil {
		return *told
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			return fmt.Errorf("%d goroutines at the end, %d at the beginning:\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
	if left := heapAfter() - heap; left > 16<<20 {
		return fmt.Errorf("the server left %d MB on the heap", left>>20)
	}
	runtime.KeepAlive(m)
	return nil
}

func heapAfter() int64 {
	runtime.GC()
	runtime.GC() // frees what finalizers and pools kept the first time
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// failures collects the lines of the server's log that report an error of the server.
type failures struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (f *failures) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.Write(line)
}

func (f *failures) take() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.text.Reset()
	if f.text.Len() == 0 {
		return nil
	}
	return fmt.Errorf("the server's log: %s", f.text.String())
}

// goodClient asks for predictions, and compares them with the predictions of its own copy of the model.
type goodClient struct {
	m      *krigo.Model
	client *http.Client
	url    string
	rows   int
}

func (c *goodClient) ask(rng *rand.Rand) error {
	x := make([][]float64, c.rows)
	for i := range x {
		x[i] = []float64{6 * rng.Float64()}
	}
	body, err := json.Marshal(map[string]any{"rows": x})
	if err != nil {
		return err
	}
	begin := time.Now()
	r, err := c.client.Post(c.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("a good request of %d rows: %w", c.rows, err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 {
		return fmt.Errorf("a good request of %d rows, after %v: status %d, %v: %.500s", c.rows, time.Since(begin),
			r.StatusCode, err, raw)
	}
	var answer serve.Answer
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Predictions) != c.rows {
		return fmt.Errorf("a good request of %d rows: the answer has %d rows, error %v", c.rows, len(answer.Predictions), err)
	}
	i := rng.IntN(c.rows)
	want, err := c.m.Predict(context.Background(), &dataset.Table{Source: "x", Names: c.m.Inputs, Rows: 1, Values: x[i]},
		krigo.PredictOptions{})
	if err != nil {
		return err
	}
	if got := answer.Predictions[i]; got.Mean != want[0].Mean || got.PredictiveVariance != want[0].PredictiveVariance {
		return fmt.Errorf("a good request: the prediction at %v is %+v, not %+v", x[i], got, want[0])
	}
	return nil
}
