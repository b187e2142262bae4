// Command serve loads a running `krigo serve` with single-row predictions and says how
// many it answers a second, how long each takes, and what memory the server uses; with --beside N
// while so many malicious clients attack it (package internal/malice), from other addresses of this machine, and from a process of their own: what they
// take shouldn't count as the server's latency more than it must.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/krigo-gp/krigo/internal/malice"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "of the server")
	connections := flag.Int("connections", 32, "each with one request at a time")
	rate := flag.Float64("rate", 5000, "requests a second to send; 0: as many as are answered")
	duration := flag.Duration("for", time.Minute, "how long")
	beside := flag.Int("beside", 0, "malicious clients, each with one attack at a time")
	near := flag.Bool("near", false, "malicious clients have the same address as the good one")
	attacker := flag.Bool("attacker", false, "be the process of the malicious clients, until standard input ends")
	flag.Parse()
	log.SetFlags(0)

	names := inputsOf(*url)
	inputs := len(names)
	if *attacker {
		attack(*url, names, *beside, *near)
		return
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *connections, MaxConnsPerHost: *connections}}
	var failed, sent atomic.Int64
	took := make([][]time.Duration, *connections)
	begin := time.Now()
	var wait sync.WaitGroup
	start := resident(*url)
	stop := attackers(*url, *beside, *near)
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
	memory, peak := []float64{start}, start
	for next := begin.Add(*duration / 6); time.Since(begin) < *duration; time.Sleep(200 * time.Millisecond) {
		now := resident(*url)
		peak = max(peak, now)
		if time.Now().After(next) {
			memory = append(memory, now)
			next = next.Add(*duration / 6)
		}
	}
	wait.Wait()
	seconds := time.Since(begin).Seconds()
	attacks := stop()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	if len(all) == 0 {
		log.Fatalf("no request was answered, %d failed", failed.Load())
	}
	at := func(share float64) time.Duration {
		return all[int(share*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	fmt.Printf("%d connections, %.0f s: %.0f answers a second, %d failed\n", *connections, seconds, float64(len(all))/seconds, failed.Load())
	fmt.Printf("latency: median %v, 99 %% within %v, longest %v\n", at(0.5), at(0.99), at(1))
	fmt.Printf("server's memory, MB: %.0f at the beginning, %.0f at the end, %.0f at most; over time %.0f\n", start, resident(*url), peak, memory)
	if *beside > 0 {
		fmt.Printf("%d malicious clients beside: %s\n", *beside, attacks)
	}
}

// attackers begins attacks of so many clients; stop ends them, and says how many were made and how they were answered.
func attackers(url string, clients int, near bool) (stop func() string) {
	if clients == 0 {
		return func() string { return "" }
	}
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	c := exec.Command(self, "-attacker", "-url", url, "-beside", strconv.Itoa(clients), "-near="+strconv.FormatBool(near))
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	end, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	return func() string {
		end.Close()
		if err := c.Wait(); err != nil {
			log.Fatal(err)
		}
		return out.String()
	}
}

// attack is the process of the malicious clients.
func attack(url string, inputs []string, clients int, near bool) {
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	statuses := map[int]int{}
	attacks, wrong := 0, 0
	var wait sync.WaitGroup
	for c := range clients {
		m := &malice.Client{Server: strings.TrimPrefix(url, "http://"), Inputs: inputs, Patient: time.Minute}
		if !near {
			m.From = net.IPv4(127, 0, 0, byte(2+c%200))
		}
		wait.Go(func() {
			for rng := rand.New(rand.NewPCG(2, uint64(c))); ctx.Err() == nil; {
				got, err := m.Run(ctx, malice.Attacks[rng.IntN(len(malice.Attacks))], rng)
				mu.Lock()
				attacks++
				for _, status := range got {
					statuses[status]++
				}
				if err != nil {
					wrong++
					log.Print(err)
				}
				mu.Unlock()
			}
		})
	}
	io.Copy(io.Discard, os.Stdin)
	cancel()
	wait.Wait()
	fmt.Printf("%d attacks, %d not answered as promised; answers", attacks, wrong)
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		fmt.Printf(" %d: %d", status, statuses[status])
	}
}

// inputsOf asks for the names of the model's inputs.
func inputsOf(url string) (names []string) {
	r, err := http.Get(url + "/v1/model")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	var m struct{ Inputs []struct{ Name string } }
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || len(m.Inputs) == 0 {
		log.Fatalf("no model: status %d, %v", r.StatusCode, err)
	}
	for _, input := range m.Inputs {
		names = append(names, input.Name)
	}
	return names
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
