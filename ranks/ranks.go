// Package ranks lets several processes work on one fit, each with its own part of the rows.
// The processes of a job are its ranks, numbered from 0, as in MPI.
// All of them run the same program. Results that come from sums over all ranks are the same on each
// rank.
//
// This program sums over the ranks of a job, or over the only process without MPI:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/ranks"
//	)
//
//	func main() {
//		r, err := ranks.Start()
//		if err != nil {
//			log.Fatal(err)
//		}
//		sum := []float64{float64(r.Rank() + 1)}
//		err = r.Sum(sum) // each rank calls it
//		if r.Rank() == 0 && err == nil {
//			fmt.Println(r.Size(), "ranks, sum", sum[0])
//		}
//		if err := r.Close(err); err != nil {
//			log.Fatal(err)
//		}
//		// Output:
//		// 1 ranks, sum 1
//	}
//
// A build with the tag mpi has ranks by MPI (Open MPI through cgo).
// Any other build has only [Alone].
package ranks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Ranks is this process as one of a job. Sum, Broadcast, Agree and Close are collective:
// every rank makes the same calls in the same order, from one goroutine at a time.
// If the calls don't match, or if a rank has an error, all ranks get an error and none waits for
// ever.
type Ranks interface {
	Rank() int // number of this process, from 0
	Size() int // number of ranks
	// Sum replaces each v by its sum over ranks. All ranks get the same bits.
	Sum(v ...[]float64) error
	// Broadcast replaces v on all ranks by the root's v.
	Broadcast(root int, v []byte) error
	// Agree returns nil if no rank brings an error. Otherwise every rank gets an error.
	// If all ranks bring an error, each rank gets its own.
	// Otherwise a rank gets a *Failure that names the first rank with an error.
	// Ranks that are in a Sum or Broadcast get it there. Afterwards all ranks may go on.
	Agree(err error) error
	// Close ends the work of this rank, with its error if it has one, and returns what Agree would.
	// After an error no rank goes on, because all further calls of other ranks return this error.
	Close(err error) error
}

// Alone is the only rank of its job.
type Alone struct{}

func (Alone) Rank() int                   { return 0 }
func (Alone) Size() int                   { return 1 }
func (Alone) Sum(...[]float64) error      { return nil }
func (Alone) Broadcast(int, []byte) error { return nil }
func (Alone) Agree(err error) error       { return err }
func (Alone) Close(err error) error       { return err }

// Failure is the error of another rank.
type Failure struct {
	Rank, Size int
	Host       string
	Text       string

	own error
}

// Error names the rank and its host before the text of its error.
func (f *Failure) Error() string {
	return fmt.Sprintf("rank %d of %d (on %s): %s", f.Rank, f.Size, f.Host, f.Text)
}

// Unwrap returns this rank's own error, if it has one.
func (f *Failure) Unwrap() error { return f.own }

// All returns every rank's v, in the order of ranks.
func All(r Ranks, v ...float64) ([][]float64, error) {
	every := make([]float64, r.Size()*len(v))
	copy(every[r.Rank()*len(v):], v)
	err := r.Sum(every)
	of := lists.To(r.Size(), func(i int) []float64 { return every[i*len(v) : (i+1)*len(v)] })
	return of, err
}

// Place returns where this rank's n items stand among the items of all ranks, and the number of all
// items.
func Place(r Ranks, n int) (first, total int, err error) {
	counts, err := All(r, float64(n))
	for i, c := range counts {
		if i < r.Rank() {
			first += int(c[0])
		}
		total += int(c[0])
	}
	return first, total, err
}

// Bytes returns the root's bytes, of any length, on every rank.
func Bytes(r Ranks, root int, v []byte) ([]byte, error) {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(v)))
	if err := r.Broadcast(root, length); err != nil {
		return nil, err
	}
	if r.Rank() != root {
		v = make([]byte, binary.LittleEndian.Uint64(length))
	}
	return v, r.Broadcast(root, v)
}

// Item is what ranks send to one another: a number, or a SHA-256.
type Item interface{ float64 | uint64 | ~[32]byte }

// Memory returns the memory of items as bytes to broadcast.
func Memory[T Item](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))),
		int(unsafe.Sizeof(*new(T)))*len(v))
}

// wire carries what a group sends. Its calls return when they are done.
// If a rank is gone they don't return, because the whole job has ended.
type wire interface {
	sum(v []float64)
	max(v []int64)
	broadcast(root int, v []byte)
	close()
}

// group is a set of ranks on a wire. Every collective call begins with a short exchange, in which
// the ranks say which call it is and whether they bring an error.
type group struct {
	wire
	rank, size int
	buffer     []float64
	ended      error // the error with which a rank closed
}

func (g *group) Rank() int { return g.rank }
func (g *group) Size() int { return g.size }

// The names of the calls, as ranks send them.
const (
	sums = iota + 1
	broadcasts
	agreements
	ends
)

// meet tells the other ranks of a call with length numbers, and of an error.
// It returns the error that one of the ranks brought.
func (g *group) meet(call, length int, own error) error {
	if g.ended != nil {
		return g.ended
	}
	var failing, ending, well int64
	if own != nil {
		failing = int64(g.size - g.rank) // the first failing rank has the largest value
		if call == ends {
			ending = 1
		}
	} else {
		well = 1
	}
	c := int64(call)
	l := int64(length)
	// One maximum over ranks carries all: max(c) = −max(−c) only if all ranks have the same c.
	h := [...]int64{failing, ending, well, c, -c, l, -l}
	g.wire.max(h[:])
	failing = h[0]
	ending = h[1]
	well = h[2]
	var err error
	switch {
	case failing > 0:
		err = g.failure(g.size-int(failing), own)
		if well == 0 {
			err = own
		}
	case h[3] != -h[4] || h[5] != -h[6]:
		err = errors.New("the ranks don't do the same: are program, flags, data and processors " +
			"the same on all of them?")
		ending = 1
	}
	if ending > 0 {
		g.ended = err
	}
	return err
}

// failure makes the error of one rank known to all.
func (g *group) failure(of int, own error) error {
	f := &Failure{Rank: of, Size: g.size, own: own}
	var host, text []byte
	if g.rank == of {
		name, _ := os.Hostname()
		host, text = []byte(name), []byte(own.Error())
	}
	for _, v := range []*[]byte{&host, &text} {
		length := []byte(binary.LittleEndian.AppendUint64(nil, uint64(len(*v))))
		g.wire.broadcast(of, length)
		if g.rank != of {
			*v = make([]byte, binary.LittleEndian.Uint64(length))
		}
		g.wire.broadcast(of, *v)
	}
	f.Host = string(host)
	f.Text = string(text)
	return f
}

// Sum joins several slices into one buffer, so that a call needs one exchange. It relies on meet,
// after which all ranks are known to have slices of the same total length.
func (g *group) Sum(v ...[]float64) error {
	n := lists.Sum(v, func(part []float64) int { return len(part) })
	if err := g.meet(sums, n, nil); err != nil || n == 0 {
		return err
	}
	if len(v) == 1 {
		g.wire.sum(v[0])
		return nil
	}
	b := g.buffer[:0]
	for _, part := range v {
		b = append(b, part...)
	}
	g.buffer = b
	g.wire.sum(b)
	for _, part := range v {
		b = b[copy(part, b):]
	}
	return nil
}

// Broadcast sends nothing if v is empty, or if meet returns an error on all ranks.
func (g *group) Broadcast(root int, v []byte) error {
	if err := g.meet(broadcasts, len(v), nil); err != nil || len(v) == 0 {
		return err
	}
	g.wire.broadcast(root, v)
	return nil
}

// Agree returns a *Failure without a further exchange, since every rank got it in the same call.
func (g *group) Agree(err error) error {
	var known *Failure
	if errors.As(err, &known) { // all ranks know it
		return err
	}
	return g.meet(agreements, 0, err)
}

// Close meets the other ranks for the last time, unless the job has already ended with an error,
// and closes the wire.
func (g *group) Close(err error) error {
	if g.ended == nil {
		err = g.meet(ends, 0, err)
	} else if err == nil {
		err = g.ended
	}
	g.wire.close()
	return err
}

// InTurn lets the ranks work one after another, each from the state that the previous rank left.
// This gives what one rank would compute with all rows, to the last bit.
// At the end all ranks have the last state.
func InTurn(r Ranks, work func() error, save func() ([]byte, error),
	load func(state []byte) error) error {
	if r.Size() == 1 {
		return work()
	}
	for turn := range r.Size() {
		var state []byte
		if turn == r.Rank() {
			err := work()
			if err == nil {
				state, err = save()
			}
			if err != nil {
				return err
			}
		}
		state, err := Bytes(r, turn, state)
		if err == nil {
			err = load(state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Gather returns the items of all ranks, in their order.
func Gather[T Item](r Ranks, own []T) (all []T, err error) {
	if r.Size() == 1 {
		return own, nil
	}
	lengths, err := All(r, float64(len(own)))
	for root, n := range lengths {
		part := own
		if r.Rank() != root {
			part = make([]T, int(n[0]))
		}
		if err == nil {
			err = r.Broadcast(root, Memory(part))
		}
		all = append(all, part...)
	}
	return all, err
}

// Launched says whether a launcher (mpirun, or srun with PMIx) started this process as one of
// several.
func Launched() bool {
	if size, ok := os.LookupEnv("OMPI_COMM_WORLD_SIZE"); ok {
		return size != "1"
	}
	return os.Getenv("PMIX_RANK") != ""
}
