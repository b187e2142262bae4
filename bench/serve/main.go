// Command serve loads a running `krigo serve` with single-row predictions and says how
// many it answers a second, how long each takes, and what memory the server uses.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "of the server")
	connections := flag.Int("connections", 32, "each with one request at a time")
	rate := flag.Float64("rate", 5000, "requests a second to send; 0: as many as are answered")
	duration := flag.Duration("for", time.Minute, "how long")
	flag.Parse()
	log.SetFlags(0)

	inputs := inputsOf(*url)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *connections, MaxConnsPerHost: *connections}}
	var failed, sent atomic.Int64
	took := make([][]time.Duration, *connections)
	begin := time.Now()
	var wait sync.WaitGroup
	for c := range *connections {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(c)))
			row := make([]float64, inputs)
			for {
				// Request k is due at k/rate: its time runs from there, even if the connection was late.
				due := time.Now()
				if k := sent.Add(1) - 1; *rate > 0 {
					due = begin.Add(time.Duration(float64(k) / *rate * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				if time.Since(begin) > *duration {
					return
				}
				for j := range row {
					row[j] = rng.NormFloat64()
				}
				body, err := json.Marshal(map[string]any{"rows": [][]float64{row}})
				if err != nil {
					log.Fatal(err)
				}
				r, err := client.Post(*url+"/v1/predict", "application/json", bytes.NewReader(body))
				if err == nil {
					_, err = io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
				if err != nil || r.StatusCode != 200 {
					failed.Add(1)
					continue
				}
				took[c] = append(took[c], time.Since(due))
			}
		})
	}
	memory := []float64{resident(*url)}
	for end := begin.Add(*duration); time.Until(end) > *duration/6; {
		time.Sleep(*duration / 6)
		memory = append(memory, resident(*url))
	}
	wait.Wait()
	seconds := time.Since(begin).Seconds()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	if len(all) == 0 {
		log.Fatalf("no request was answered, %d failed", failed.Load())
	}
	at := func(share float64) time.Duration {
		return all[int(share*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	fmt.Printf("%d connections, %.0f s: %.0f answers a second, %d failed\n", *connections, seconds, float64(len(all))/seconds, failed.Load())
	fmt.Printf("latency: median %v, 99 %% within %v, longest %v\n", at(0.5), at(0.99), at(1))
	fmt.Printf("server's memory over time, MB: %.0f\n", memory)
}

// inputsOf asks how many inputs the model has.
func inputsOf(url string) int {
	r, err := http.Get(url + "/v1/model")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	var m struct{ Inputs []struct{ Name string } }
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || len(m.Inputs) == 0 {
		log.Fatalf("no model: status %d, %v", r.StatusCode, err)
	}
	return len(m.Inputs)
}

// resident is the server's resident memory in MB, by its own metrics.
func resident(url string) float64 {
	r, err := http.Get(url + "/metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "process_resident_memory_bytes "); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				log.Fatal(err)
			}
			return v / 1e6
		}
	}
	return 0
}
