// Command campaign attacks krigo at random for a given time, and counts tries and failures:
//
//	go run ./campaign all --for 60s --seed 1
//	go run ./campaign tables --seed 7 --only 4711
//
// The seed and the number of a try alone determine the try, so that a failed try can be repeated by itself. A try
// fails if it returns an error, panics, or takes too long. docs/behind/reliability.md says what krigo promises, and
// what campaigns found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// campaign is a kind of attack, with the function that makes its tries.
type campaign struct {
	name, about string
	run         func(r *run) error
}

// campaigns lists all campaigns, in the order in which "all" runs them.
var campaigns = []campaign{}

// run is the state of one campaign under way.
type run struct {
	ctx     context.Context
	seed    uint64
	until   time.Time
	most    int64 // the largest number of tries; 0: no limit
	only    int64 // the number of the only try to make; -1: make all
	workers int
	limit   time.Duration // the longest time that a try may take
	folder  string        // for the campaign's files; empty at first, removed at the end
	out     io.Writer

	tries  atomic.Int64
	failed atomic.Int64
	mu     sync.Mutex
	counts map[string]int64 // how often each kind of result came
	again  string           // the command that repeats a try, without the try's number
}

// rng returns the random numbers of a try.
func (r *run) rng(try int64) *rand.Rand { return rand.New(rand.NewPCG(r.seed, uint64(try))) }

// count adds one to the count of a kind of result, for example "refused".
func (r *run) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what]++
}

// fail prints the error of a failed try, and the command that repeats it.
func (r *run) fail(try int64, err error) {
	r.failed.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "FAILED %d: %v\n  again: %s --only %d\n", try, err, r.again, try)
}

// each makes tries on several goroutines until the time is over. A try that hangs ends the campaign, because its
// goroutine can't be stopped.
func (r *run) each(one func(try int64, rng *rand.Rand) error) error {
	if r.only >= 0 {
		r.tries.Add(1)
		if err := r.guarded(r.only, one); err != nil {
			r.fail(r.only, err)
		}
		return nil
	}
	var next atomic.Int64
	hung := make(chan error, r.workers)
	var all sync.WaitGroup
	for range r.workers {
		all.Go(func() {
			for r.ctx.Err() == nil && time.Now().Before(r.until) {
				try := next.Add(1) - 1
				if r.most > 0 && try >= r.most {
					return
				}
				r.tries.Add(1)
				err := r.guarded(try, one)
				if err != nil {
					r.fail(try, err)
				}
				if errors.Is(err, errHangs) {
					hung <- fmt.Errorf("try %d: %w", try, err)
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-hung:
		return err
	default:
		return nil
	}
}

var errHangs = errors.New("the try hangs")

// guarded makes one try. It returns a panic as an error, and errHangs if the try takes longer than r.limit.
func (r *run) guarded(try int64, one func(try int64, rng *rand.Rand) error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				done <- fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
			}
		}()
		done <- one(try, r.rng(try))
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(r.limit):
		stacks := make([]byte, 1<<20)
		return fmt.Errorf("%w: no end after %v\n%s", errHangs, r.limit, stacks[:runtime.Stack(stacks, true)])
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout))
}

func start(ctx context.Context, args []string, out io.Writer) int {
	usage := func() {
		fmt.Fprintln(out, "usage: campaign NAME|all [--for 60s] [--seed 1] [--tries N] [--only TRY] [--workers N] [--limit "+
			"60s]")
		for _, c := range campaigns {
			fmt.Fprintf(out, "  %-8s %s\n", c.name, c.about)
		}
	}
	if len(args) == 0 {
		usage()
		return 2
	}
	flags := flag.NewFlagSet("campaign", flag.ContinueOnError)
	flags.SetOutput(out)
	length := flags.Duration("for", time.Minute, "how long each campaign runs")
	seed := flags.Uint64("seed", 1, "seed of the tries")
	most := flags.Int64("tries", 0, "largest number of tries; 0: no limit")
	only := flags.Int64("only", -1, "number of the only try to make; -1: make all")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "number of tries at the same time")
	limit := flags.Duration("limit", time.Minute, "a try that takes longer fails, and ends the campaign")
	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 {
		usage()
		return 2
	}
	which := slices.Clone(campaigns)
	if args[0] != "all" {
		which = slices.DeleteFunc(which, func(c campaign) bool { return c.name != args[0] })
	}
	if len(which) == 0 {
		usage()
		return 2
	}
	status := 0
	for _, c := range which {
		folder, err := os.MkdirTemp("", "krigo-campaign-")
		if err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
		begin := time.Now()
		r := &run{ctx: ctx, seed: *seed, until: begin.Add(*length), most: *most, only: *only, workers: *workers,
			limit: *limit, folder: folder, out: out,
			counts: map[string]int64{}, again: fmt.Sprintf("go run ./campaign %s --seed %d", c.name, *seed)}
		err = c.run(r)
		os.RemoveAll(folder)
		fmt.Fprintf(out, "%s: %d tries in %v, %d failed", c.name, r.tries.Load(), time.Since(begin).Round(time.Second),
			r.failed.Load())
		for _, what := range slices.Sorted(maps.Keys(r.counts)) {
			fmt.Fprintf(out, ", %d %s", r.counts[what], what)
		}
		fmt.Fprintln(out)
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", c.name, err)
		}
		if err != nil || r.failed.Load() > 0 {
			status = 1
		}
	}
	return status
}
