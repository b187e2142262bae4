package ranks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// each runs work on ranks of threads, and returns their errors.
func each(size int, work func(r Ranks) error) []error {
	errs := make([]error, size)
	var wait sync.WaitGroup
	for i, r := range Threads(size) {
		wait.Go(func() { errs[i] = r.Close(work(r)) })
	}
	wait.Wait()
	return errs
}

// check makes every collective call once, and checks its result.
func check(r Ranks) error {
	rng := rand.New(rand.NewPCG(1, uint64(r.Rank())))
	want := make([]float64, 5000)
	own := make([]float64, len(want))
	for rank := range r.Size() {
		rng := rand.New(rand.NewPCG(1, uint64(rank)))
		for i := range want {
			want[i] += rng.NormFloat64()
		}
	}
	for i := range own {
		own[i] = rng.NormFloat64()
	}
	if err := r.Sum(own[:1000], nil, own[1000:]); err != nil {
		return err
	}
	for i := range own {
		if d := own[i] - want[i]; d > 1e-13 || d < -1e-13 {
			return fmt.Errorf("sum %d is %v, want %v", i, own[i], want[i])
		}
	}
	first := slices.Clone(own)
	if err := r.Broadcast(0, Memory(first)); err != nil {
		return err
	}
	if !slices.Equal(first, own) {
		return errors.New("the sum isn't the same on all ranks")
	}
	place, total, err := Place(r, r.Rank()+1)
	if err != nil || place != r.Rank()*(r.Rank()+1)/2 || total != r.Size()*(r.Size()+1)/2 {
		return fmt.Errorf("placed at %d of %d (%v)", place, total, err)
	}
	last := r.Size() - 1
	text, err := Bytes(r, last, []byte(strings.Repeat("x", 3*r.Rank())))
	if err != nil || len(text) != 3*last {
		return fmt.Errorf("got %q (%v)", text, err)
	}
	var order []byte
	if err := InTurn(r, func() error { order = append(order, byte(r.Rank())); return nil },
		func() ([]byte, error) { return order, nil }, func(b []byte) error { order = b; return nil }); err != nil {
		return err
	}
	for i, rank := range order {
		if len(order) != r.Size() || int(rank) != i {
			return fmt.Errorf("the turns were %v", order)
		}
	}
	all, err := Gather(r, slices.Repeat([]float64{float64(r.Rank())}, r.Rank()))
	var wanted []float64
	for rank := range r.Size() {
		wanted = append(wanted, slices.Repeat([]float64{float64(rank)}, rank)...)
	}
	if err != nil || !slices.Equal(all, wanted) {
		return fmt.Errorf("gathered %v, want %v (%v)", all, wanted, err)
	}
	return r.Agree(nil)
}

func TestCalls(t *testing.T) {
	for size := 1; size <= 5; size++ {
		if err := errors.Join(each(size, check)...); err != nil {
			t.Error(size, err)
		}
	}
}

// TestErrors: an error of one rank reaches all ranks, in every call that they may be in.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	one := func() []float64 { return []float64{1} } // a sum writes into each rank's slice
	for name, c := range map[string]struct {
		work func(r Ranks) error
		want string
	}{
		"agreed": {func(r Ranks) error {
			var own error
			if r.Rank() == 2 {
				own = broken
			}
			err := r.Agree(own)
			if again := r.Agree(nil); again != nil { // all may go on
				return again
			}
			return r.Agree(err) // all know it
		}, "rank 2 of 4 (on "},
		"in the middle of sums": {func(r Ranks) error {
			if r.Rank() == 1 {
				return broken
			}
			for {
				if err := r.Sum(one()); err != nil {
					if again := r.Broadcast(0, []byte{1}); again != err {
						return errors.New("a rank that is gone was waited for")
					}
					return err
				}
			}
		}, "rank 1 of 4 (on "},
		"in an evaluation": {func(r Ranks) error {
			evaluate := func(own error) error {
				err := own
				if err == nil {
					err = r.Sum(one())
				}
				return r.Agree(err)
			}
			if r.Rank() == 3 {
				if err := evaluate(broken); !errors.Is(err, broken) {
					return fmt.Errorf("rank 3 lost its error: %v", err)
				}
			} else if err := evaluate(nil); err == nil || !strings.Contains(err.Error(), "rank 3") {
				return fmt.Errorf("got %v", err)
			}
			if err := evaluate(nil); err != nil {
				return fmt.Errorf("the next: %v", err)
			}
			return broken
		}, "broken"},
		"different calls": {func(r Ranks) error {
			if r.Rank() == 0 {
				return r.Sum(one(), one())
			}
			return r.Sum(one())
		}, "the ranks don't do the same"},
		"one has ended": {func(r Ranks) error {
			if r.Rank() == 0 {
				return nil
			}
			return r.Sum(one())
		}, "the ranks don't do the same"},
	} {
		t.Run(name, func(t *testing.T) {
			for rank, err := range each(4, c.work) {
				must.Fail(t, err, c.want, fmt.Sprintf("rank %d", rank))
			}
		})
	}
}
