// Command serve loads a running `krigo serve` with single-row predictions. It prints how many predictions the server
// answers a second, how long each takes, and how much memory the server uses.
//
// -beside N adds N malicious clients (package laboratory/malice) from other addresses of this machine, each with
// -each attacks at once. -attack NAME makes them use one attack alone. -attack each measures every attack in turn,
// for -for each. The attackers run in their own process at the lowest priority, because real attackers would use the
// processors of other machines.
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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/krigo-gp/krigo/laboratory/malice"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "address of the server")
	connections := flag.Int("connections", 32, "connections, each with one request at a time")
	rate := flag.Float64("rate", 5000, "requests to send a second; 0: as fast as the server answers")
	duration := flag.Duration("for", time.Minute, "how long to send requests")
	beside := flag.Int("beside", 0, "number of malicious clients")
	each := flag.Int("each", 1, "attacks that a malicious client makes at once")
	which := flag.String("attack", "", "the one attack that they make; empty: all, by chance; each: all, one after the "+
		"other")
	near := flag.Bool("near", false, "give malicious clients the same address as the good client")
	attacker := flag.Bool("attacker", false, "be the process of the malicious clients, until standard input ends")
	flag.Parse()
	log.SetFlags(0)

	inputs, target := described(*url)
	l := &load{url: *url, inputs: inputs, connections: *connections, rate: *rate, duration: *duration,
		attackers: []string{"-url", *url, "-beside", strconv.Itoa(*beside), "-each", strconv.Itoa(*each), "-near=" +
			strconv.FormatBool(*near)}}
	if *attacker {
		attack(*url, inputs, target, *beside, *each, *near, *which)
		return
	}
	if *beside == 0 {
		l.attackers = nil
	}
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *connections, MaxConnsPerHost: *connections}}
	attacks := []string{*which}
	if *which == "each" {
		attacks = nil
		for _, a := range malice.Attacks {
			attacks = append(attacks, a.Name)
		}
	}
	for _, name := range attacks {
		l.measure(name)
	}
}

// load describes the requests of the good client, and the attackers beside it.
type load struct {
	url         string
	inputs      []string
	connections int
	rate        float64
	duration    time.Duration
	client      *http.Client
	attackers   []string // arguments of the attackers' process; nil: there are no attackers
}

// measure sends requests for l.duration, beside the named attack, and prints times, failures and memory. An empty
// name means all attacks.
func (l *load) measure(attack string) {
	var failed, sent atomic.Int64
	took := make([][]time.Duration, l.connections)
	start := resident(l.url)
	others := othersOf(l.url)
	stop := l.beside(attack)
	begin := time.Now()
	var wait sync.WaitGroup
	for c := range l.connections {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(c)))
			row := make([]float64, len(l.inputs))
			for {
				// Request k is due at k/rate. Its time counts from there, even if the connection was late.
				due := time.Now()
				if k := sent.Add(1) - 1; l.rate > 0 {
					due = begin.Add(time.Duration(float64(k) / l.rate * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				if time.Since(begin) > l.duration {
					return
				}
				for j := range row {
					row[j] = rng.NormFloat64()
				}
				body, err := json.Marshal(map[string]any{"rows": [][]float64{row}})
				if err != nil {
					log.Fatal(err)
				}
				r, err := l.client.Post(l.url+"/v1/predict", "application/json", bytes.NewReader(body))
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
	for next := begin.Add(l.duration / 6); time.Since(begin) < l.duration; time.Sleep(200 * time.Millisecond) {
		now := resident(l.url)
		peak = max(peak, now)
		if time.Now().After(next) {
			memory = append(memory, now)
			next = next.Add(l.duration / 6)
		}
	}
	wait.Wait()
	seconds := time.Since(begin).Seconds()
	attacks := stop()
	busy := (othersOf(l.url) - others) / time.Since(begin).Seconds()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	if len(all) == 0 {
		log.Fatalf("the server answered no request; %d failed", failed.Load())
	}
	at := func(share float64) time.Duration {
		return all[int(share*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	if attack != "" {
		fmt.Printf("%s: ", attack)
	}
	fmt.Printf("%d connections, %.0f s: %.0f answers a second, %d failed\n", l.connections, seconds,
		float64(len(all))/seconds, failed.Load())
	fmt.Printf("  latency: median %v, 99 %% within %v, longest %v\n", at(0.5), at(0.99), at(1))
	fmt.Printf("  server's memory, MB: %.0f at the beginning, %.0f at the end, %.0f at most; over time %.0f\n", start,
		resident(l.url), peak, memory)
	fmt.Printf("  other programs used %.2f of %d cores meanwhile\n", busy, runtime.NumCPU())
	if attacks != "" {
		fmt.Printf("  beside: %s\n", attacks)
	}
}

// othersOf returns the processor seconds that programs of this machine have used, without the server at the address, this
// program, and its attackers that have ended. It returns 0 where there is no /proc/stat.
func othersOf(url string) (seconds float64) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	const ticks = 100             // a second, on every architecture that Go knows
	idle := []int{4, 5, 8, 9, 10} // idle, waiting for disks, stolen, and guests, which are counted in user and nice
	for i, field := range strings.Fields(line) {
		if n, err := strconv.ParseFloat(field, 64); err == nil && !slices.Contains(idle, i) {
			seconds += n / ticks
		}
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		syscall.Getrusage(who, &used)
		seconds -= time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
	}
	return seconds - figure(url, "process_cpu_seconds_total ")
}

// beside starts the process of the attackers. stop ends the process, and returns the number of attacks and how the
// server answered them.
func (l *load) beside(attack string) (stop func() string) {
	if l.attackers == nil {
		return func() string { return "" }
	}
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	c := exec.Command("nice", slices.Concat([]string{"-n", "19", self, "-attacker", "-attack", attack}, l.attackers)...)
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

// attack runs the malicious clients, in their own process.
func attack(url string, inputs []string, target string, clients, each int, near bool, which string) {
	attacksOf := slices.DeleteFunc(slices.Clone(malice.Attacks),
		func(a malice.Attack) bool { return which != "" && a.Name != which })
	if len(attacksOf) == 0 {
		log.Fatalf("there is no attack %q", which)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	statuses := map[int]int{}
	attacks, wrong := 0, 0
	var wait sync.WaitGroup
	for c := range clients * each {
		m := &malice.Client{Server: strings.TrimPrefix(url, "http://"), Inputs: inputs, Target: target, Patient: time.Minute}
		if !near {
			m.From = net.IPv4(127, 0, 0, byte(2+c/each%200))
		}
		wait.Go(func() {
			for rng := rand.New(rand.NewPCG(2, uint64(c))); ctx.Err() == nil; {
				got, err := m.Run(ctx, attacksOf[rng.IntN(len(attacksOf))], rng)
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
	fmt.Printf("%d attacks, %d answered otherwise than promised; answers", attacks, wrong)
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		fmt.Printf(" %d: %d", status, statuses[status])
	}
}

// described asks the server for the names of the model's inputs, and for its target if the server takes outcomes.
func described(url string) (inputs []string, target string) {
	r, err := http.Get(url + "/v1/model")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	var m struct {
		Inputs []struct{ Name string }
		Target string
		Watch  *struct{}
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || len(m.Inputs) == 0 {
		log.Fatalf("no model: status %d, %v", r.StatusCode, err)
	}
	for _, input := range m.Inputs {
		inputs = append(inputs, input.Name)
	}
	if m.Watch != nil {
		target = m.Target
	}
	return inputs, target
}

// resident returns the server's resident memory in MB, as its metrics say.
func resident(url string) float64 { return figure(url, "process_resident_memory_bytes ") / 1e6 }

// figure returns a figure of the server's metrics.
func figure(url, name string) float64 {
	r, err := http.Get(url + "/metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				log.Fatal(err)
			}
			return v
		}
	}
	return 0
}
