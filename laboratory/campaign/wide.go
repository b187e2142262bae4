package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

func init() {
	campaigns = append(campaigns, campaign{"wide",
		"requests for a model whose categories become thousands of inputs, to a server with little " +
			"memory", attackWide})
}

// All requests together may take wideMemory, which --max-body sets. The system gives the server's process at most
// wideLimit, and the process dies if it asks for more. SECURITY.md promises twice the budget, and 64 MiB are for the
// program itself.
const (
	wideColumns    = 16
	wideCategories = 250
	wideMemory     = 256 << 20
	wideLimit      = 2*wideMemory + 64<<20
)

// attackWide sends several large requests at once in each try. A try fails if the server answers otherwise than
// promised, or doesn't answer a single row afterwards.
func attackWide(r *run) error {
	table := wideTable(r.rng(-1), 5000)
	m, err := krigo.Fit(r.ctx, table, krigo.Options{Data: krigo.Data{Target: "y", Categorical: table.Names[:wideColumns]},
		Kernel: krigo.Kernel{Expression: "se", ARD: "off"},
		Method: krigo.Method{Name: "vfe", Inducing: 4, Epochs: 1}, Run: krigo.Run{Restarts: 1},
		Promise: krigo.Promise{Epsilon: 1}})
	if err != nil {
		return err
	}
	path := filepath.Join(r.folder, "wide.krigo")
	if err := m.Save(path); err != nil {
		return err
	}
	server, said := child([]string{"serve", path, "--listen", "127.0.0.1:0", "--quiet", "--max-body",
		fmt.Sprint(wideMemory / 64)})
	server.Path, server.Args = "/bin/sh", []string{"sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$0"`, wideLimit>>10),
		os.Args[0]}
	// The server collects garbage as a user's does, however this program is set. At GOGC=400 the heap stays at
	// GOMEMLIMIT, which is soft.
	server.Env = append(server.Env, fmt.Sprintf("GOMEMLIMIT=%d", 2*wideMemory), "GOGC=100")
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	line, err := bufio.NewReader(out).ReadString('\n')
	going, stop := context.WithCancel(r.ctx) // this context ends when the server dies
	defer stop()
	r.ctx = going
	go func() {
		ended <- server.Wait()
		stop()
	}()
	_, url, found := strings.Cut(line, "Serving on ")
	url, _, _ = strings.Cut(url, " ")
	if err != nil || !found {
		return fmt.Errorf("the server didn't start: %w: %s", <-ended, said)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	ask := func(path, kind string, body []byte, statuses ...int) error {
		answer, err := client.Post(url+path, kind, bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		if err != nil || !slices.Contains(statuses, answer.StatusCode) {
			return fmt.Errorf("%s, %d bytes: status %d, %v: %.300s", path, len(body), answer.StatusCode, err, raw)
		}
		r.count(fmt.Sprintf("status %d", answer.StatusCode))
		return nil
	}
	r.workers = 1 // each try has several clients
	err = r.each(func(_ int64, rng *rand.Rand) error {
		errs := make([]error, 1+rng.IntN(12))
		var clients sync.WaitGroup
		for i := range errs {
			path, kind, rows := "v1/predict", []string{"text/csv", "application/json"}[rng.IntN(2)], 1+rng.IntN(10_000)
			if rng.IntN(3) == 0 {
				path, rows = "v1/joint?covariance=true&samples=10", 1+rng.IntN(1000)
			}
			body := wideBody(rng, rows, kind)
			clients.Go(func() { errs[i] = ask(path, kind, body, 200, 413, 503) })
		}
		clients.Wait()
		return errors.Join(append(errs, ask("v1/predict", "application/json", wideBody(rng, 1, "application/json"), 200))...)
	})
	select {
	case died := <-ended:
		return fmt.Errorf("the server has died: %v: %.2000s", died, said)
	default:
	}
	// /proc exists on Linux. The usage that a parent gets would include the parent's own memory.
	if status, failed := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.Process.Pid)); failed == nil {
		_, largest, _ := strings.Cut(string(status), "VmHWM:")
		largest, _, _ = strings.Cut(largest, "\n")
		fmt.Fprintf(r.out, "wide: the server used at most %s, and the system allowed %d kB\n",
			strings.TrimSpace(largest), wideLimit>>10)
	}
	server.Process.Signal(os.Interrupt)
	<-ended
	return err
}

// wideCell returns a random category.
func wideCell(rng *rand.Rand) string { return fmt.Sprintf("v%d", rng.IntN(wideCategories)) }

func wideTable(rng *rand.Rand, rows int) *dataset.Table {
	t := &dataset.Table{Source: "wide"}
	for j := range wideColumns {
		t.Names = append(t.Names, fmt.Sprintf("c%d", j))
	}
	t.Names = append(t.Names, "y")
	for range rows {
		var row []string
		for range wideColumns {
			row = append(row, wideCell(rng))
		}
		t.Append(append(row, fmt.Sprint(rng.NormFloat64())))
	}
	return t
}

// wideBody returns the body of a request with random rows, as CSV or as JSON.
func wideBody(rng *rand.Rand, rows int, kind string) []byte {
	var b bytes.Buffer
	if kind == "text/csv" {
		for j := range wideColumns {
			fmt.Fprintf(&b, "c%d,", j)
		}
		b.WriteByte('z')
		for range rows {
			b.WriteByte('\n')
			for range wideColumns {
				b.WriteString(wideCell(rng) + ",")
			}
			b.WriteByte('1')
		}
		return b.Bytes()
	}
	all := make([][]string, rows)
	for i := range all {
		for range wideColumns {
			all[i] = append(all[i], wideCell(rng))
		}
	}
	body, err := json.Marshal(map[string]any{"rows": all})
	if err != nil {
		panic(err) // text can always be written as JSON
	}
	return body
}
