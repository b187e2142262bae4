package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// A batch has at most batchRows rows, of which one request has at most shareRows while
// others wait: a long request must not keep short ones waiting.
const (
	batchRows = 512
	shareRows = 64
)

var (
	errBusy     = errors.New("too many rows are waiting: try again in a moment")
	errInternal = errors.New("the prediction failed for a reason that isn't the request's; it is in the server's log")
)

// queue predicts the rows of concurrent requests together: while one batch is computed the
// next one gathers. Nothing waits for company, and an idle queue has no goroutine.
type queue struct {
	model   *krigo.Model
	predict func(x mat.Matrix) ([]krigo.Prediction, error) // the model's PredictAt
	limit   int                                            // rows that may wait
	batched func(rows int)                                 // is told the size of every batch
	failed  func(cause any)                                // is told of a panic

	mu   sync.Mutex
	jobs []*job
	rows int // waiting
	busy bool
}

// job is the rows of one request.
type job struct {
	ctx   context.Context
	table *dataset.Table
	x     []float64 // its inputs, row by row
	out   []krigo.Prediction
	taken int // rows that are in this batch or an earlier one
	err   error
	done  chan struct{}
}

// run predicts the rows of a table, or returns what is wrong with them, or ctx's error.
func (q *queue) run(ctx context.Context, t *dataset.Table) ([]krigo.Prediction, error) {
	d, err := q.model.Unlabelled(t)
	if err != nil {
		return nil, err
	}
	j := &job{ctx: ctx, table: t, x: make([]float64, d.Rows*d.Cols), out: make([]krigo.Prediction, d.Rows), done: make(chan struct{})}
	if err := d.Read(d.All(), j.x, nil); err != nil {
		return nil, err
	}
	q.mu.Lock()
	// A request that is larger than the limit is served if nothing else waits.
	if q.rows > 0 && q.rows+t.Rows > q.limit {
		q.mu.Unlock()
		return nil, errBusy
	}
	q.jobs = append(q.jobs, j)
	q.rows += t.Rows
	if !q.busy {
		q.busy = true
		go q.work()
	}
	q.mu.Unlock()
	select {
	case <-j.done:
		return j.out, j.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// piece is the rows of a job that are in a batch.
type piece struct {
	*job
	from, to int
}

// work predicts batches until nothing waits.
func (q *queue) work() {
	for {
		batch := q.next()
		if len(batch) == 0 {
			return
		}
		q.compute(batch)
		for _, p := range batch {
			if p.to == len(p.out) || p.err != nil {
				close(p.done)
			}
		}
	}
}

// next takes the rows of the next batch, or says that there is nothing to do. Jobs that
// aren't taken whole go behind those that were not looked at.
func (q *queue) next() []piece {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = slices.DeleteFunc(q.jobs, func(j *job) bool {
		gone := j.err != nil || j.ctx.Err() != nil
		if gone {
			q.rows -= len(j.out) - j.taken
		}
		return gone
	})
	share := shareRows
	if len(q.jobs) == 1 {
		share = batchRows
	}
	var batch []piece
	var left []*job
	total, looked := 0, 0
	for ; looked < len(q.jobs) && total < batchRows; looked++ {
		j := q.jobs[looked]
		n := min(share, batchRows-total, len(j.out)-j.taken)
		batch = append(batch, piece{j, j.taken, j.taken + n})
		j.taken += n
		total += n
		if j.taken < len(j.out) {
			left = append(left, j)
		}
	}
	q.jobs = append(slices.Clone(q.jobs[looked:]), left...)
	q.rows -= total
	q.busy = len(batch) > 0
	return batch
}

// compute predicts a batch. Where a row of it can't be predicted, the table of every job is predicted
// by itself, so that none fails for another's row and the error says where its own stands.
func (q *queue) compute(batch []piece) {
	defer func() {
		if cause := recover(); cause != nil {
			q.failed(cause)
			for _, p := range batch {
				p.err = errInternal
			}
		}
	}()
	cols := len(q.model.Inputs)
	var together []float64
	for _, p := range batch {
		together = append(together, p.x[p.from*cols:p.to*cols]...)
	}
	rows := len(together) / cols
	q.batched(rows)
	ps, err := q.predict(mat.NewDense(rows, cols, together))
	if err == nil && len(ps) != rows {
		panic(fmt.Sprintf("%d predictions of %d rows", len(ps), rows))
	}
	for _, p := range batch {
		if err == nil {
			ps = ps[copy(p.out[p.from:p.to], ps):]
		} else if alone, err := krigo.Predict(q.model, p.table); err != nil {
			p.err = err
		} else {
			copy(p.out, alone)
		}
	}
}
