//go:build mpi

package ranks

/*
#cgo pkg-config: ompi-c
#include <mpi.h>
#include <string.h>

static int start(int *rank, int *size) {
	int level = MPI_THREAD_SINGLE;
	int status = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
	if (status == MPI_SUCCESS && level < MPI_THREAD_SERIALIZED) status = MPI_ERR_OTHER;
	if (status == MPI_SUCCESS) status = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	if (status == MPI_SUCCESS) status = MPI_Comm_size(MPI_COMM_WORLD, size);
	return status;
}
static int sum(double *v, int n, MPI_Request *r) {
	return MPI_Iallreduce(MPI_IN_PLACE, v, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r);
}
static int most(long long *v, int n, MPI_Request *r) {
	return MPI_Iallreduce(MPI_IN_PLACE, v, n, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD, r);
}
static int broadcast(void *v, int n, int root, MPI_Request *r) {
	return MPI_Ibcast(v, n, MPI_BYTE, root, MPI_COMM_WORLD, r);
}
static int done(MPI_Request *r) {
	int flag = 0;
	MPI_Test(r, &flag, MPI_STATUS_IGNORE);
	return flag;
}

// As a sign of life, each rank sends the name of its host to the next rank, and gets the name of the previous rank's
// host.
enum { NAME = 64 };
static char mine[NAME], before[NAME];
static MPI_Request sent = MPI_REQUEST_NULL, awaited = MPI_REQUEST_NULL;
static MPI_Comm life;
static int begin(const char *host, int rank, int size) {
	int status = MPI_Comm_dup(MPI_COMM_WORLD, &life);
	strncpy(mine, host, NAME - 1);
	if (status == MPI_SUCCESS) status = MPI_Irecv(before, NAME, MPI_CHAR, (rank + size - 1) % size, 0, life, &awaited);
	return status;
}
// beat sends a sign, and says whether one has come since the last call.
static int beat(int rank, int size) {
	int heard = 0;
	while (done(&awaited)) {
		heard = 1;
		MPI_Irecv(before, NAME, MPI_CHAR, (rank + size - 1) % size, 0, life, &awaited);
	}
	if (done(&sent)) MPI_Isend(mine, NAME, MPI_CHAR, (rank + 1) % size, 0, life, &sent);
	return heard;
}
static const char *neighbour(void) { return before; }
static void leave(void) {
	MPI_Cancel(&awaited);
	MPI_Request_free(&awaited);
	if (sent != MPI_REQUEST_NULL) MPI_Request_free(&sent);
	MPI_Finalize();
}
static void end(void) { MPI_Abort(MPI_COMM_WORLD, 1); }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Each rank sends a sign of life to the next rank, once in the time beat, even while it computes.
// If no sign comes for the time silence, the rank or its host is gone, and the job ends.
// So no rank waits for ever.
const (
	beat    = time.Second
	silence = 15 * time.Second
)

// Start returns this process as a rank of its job, to be closed at the end: where mpirun or srun
// started it, by MPI, otherwise alone.
func Start() (Ranks, error) {
	if !Launched() {
		return Alone{}, nil
	}
	var rank, size C.int
	if status := C.start(&rank, &size); status != C.MPI_SUCCESS {
		return nil, fmt.Errorf("MPI couldn't be started (error %d): is this the Open MPI that "+
			"krigo was built with?", status)
	}
	w := &mpi{rank: int(rank), size: int(size), stop: make(chan struct{})}
	host, _ := os.Hostname()
	name := C.CString(host)
	if status := C.begin(name, rank, size); status != C.MPI_SUCCESS {
		return nil, fmt.Errorf("MPI couldn't be started (error %d)", status)
	}
	w.lives.Go(w.live)
	return &group{wire: w, rank: w.rank, size: w.size}, nil
}

// mpi is MPI_COMM_WORLD. Two threads must not call it at the same time, so mu is locked for each
// call. One goroutine runs live until stop is closed, and close waits for it with lives.
type mpi struct {
	mu         sync.Mutex
	rank, size int
	stop       chan struct{}
	lives      sync.WaitGroup
}

// most is the largest number of values or bytes in one call of MPI.
const most = 1 << 30

// sum replaces v by its sum over ranks, in parts that fit MPI's int counts.
func (w *mpi) sum(v []float64) {
	for ; len(v) > 0; v = v[min(len(v), most):] {
		w.call(unsafe.Pointer(&v[0]), func(at unsafe.Pointer, r *C.MPI_Request) C.int {
			return C.sum((*C.double)(at), C.int(min(len(v), most)), r)
		})
	}
}

// max replaces each of v, which must not be empty, by its largest value over ranks.
func (w *mpi) max(v []int64) {
	w.call(unsafe.Pointer(&v[0]), func(at unsafe.Pointer, r *C.MPI_Request) C.int {
		return C.most((*C.longlong)(at), C.int(len(v)), r)
	})
}

// broadcast replaces v by the root's v, in parts that fit MPI's int counts.
func (w *mpi) broadcast(root int, v []byte) {
	for ; len(v) > 0; v = v[min(len(v), most):] {
		w.call(unsafe.Pointer(&v[0]), func(at unsafe.Pointer, r *C.MPI_Request) C.int {
			return C.broadcast(at, C.int(min(len(v), most)), C.int(root), r)
		})
	}
}

// At first a waiting rank looks all the time, since MPI moves data only when it is called.
// If the wait gets long, because another rank has more rows, it sleeps for a hundredth of the time
// waited so far, up to longestNap. (Ranks move data after they have met, so they only wait long
// when they meet.)
const (
	eager      = 10 * time.Millisecond
	longestNap = time.Millisecond
)

// call begins a call on memory that MPI keeps until the call is done, and waits for it.
func (w *mpi) call(memory unsafe.Pointer, begin func(unsafe.Pointer, *C.MPI_Request) C.int) {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(memory)
	request := new(C.MPI_Request)
	pinned.Pin(request)
	w.mu.Lock()
	status := begin(memory, request)
	w.mu.Unlock()
	if status != C.MPI_SUCCESS {
		w.abort(fmt.Sprintf("MPI failed with error %d", status))
	}
	for since := time.Now(); ; {
		w.mu.Lock()
		done := C.done(request)
		w.mu.Unlock()
		if done != 0 {
			return
		}
		if waited := time.Since(since); waited < eager {
			runtime.Gosched() // lets the signs of life go on
		} else {
			time.Sleep(min(waited/100, longestNap))
		}
	}
}

// live sends signs of life, and looks for those of the rank before.
func (w *mpi) live() {
	last := time.Now()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		heard := C.beat(C.int(w.rank), C.int(w.size)) != 0
		w.mu.Unlock()
		if heard {
			last = time.Now()
		} else if quiet := time.Since(last); quiet > silence {
			host := C.GoString(C.neighbour())
			if host != "" {
				host = " (on " + host + ")"
			}
			w.abort(fmt.Sprintf("nothing has been heard of rank %d%s for %d s: it is dead or "+
				"stopped, or its host can't be reached", (w.rank+w.size-1)%w.size, host,
				int(quiet.Seconds())))
		}
	}
}

// abort ends the job, and this process even if MPI can't end the other processes.
func (w *mpi) abort(reason string) {
	fmt.Fprintf(os.Stderr, "krigo: rank %d of %d: %s; the job ends, a checkpoint resumes it\n",
		w.rank, w.size, reason)
	time.AfterFunc(2*time.Second, func() { os.Exit(1) })
	C.end()
	os.Exit(1)
}

// close ends the signs of life before MPI_Finalize, because no call of MPI may follow it.
func (w *mpi) close() {
	close(w.stop)
	w.lives.Wait()
	C.leave()
}
