package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// A batch has as many rows as take about batchTime, between fewRows and mostRows: what comes meanwhile waits so long. A request of
// shortRows or less is taken before longer ones, which keep a quarter of every batch, shareRows of a client and then of the next.
const (
	batchTime = 25 * time.Millisecond
	mostRows  = 512
	fewRows   = 64
	shareRows = 64
	shortRows = 16
)

var (
	errBusy     = errors.New("too many rows are waiting, or yours are as many as there is room left: try again in a moment")
	errInternal = errors.New("the prediction failed for a reason that isn't the request's; it is in the server's log")
)

// queue predicts the rows of concurrent requests together: while one batch is computed the
// next one gathers. Nothing waits for company, and an idle queue has no goroutine.
type queue struct {
	model   *krigo.Model
	predict func(x mat.Matrix) ([]krigo.Prediction, error) // the model's PredictAt
	limit   int                                            // rows that may wait, of short requests and of long ones
	batched func(rows int)                                 // is told the size of every batch
	failed  func(cause any, stack []byte)                  // is told of a panic
	working *sync.WaitGroup                                // has the goroutine

	mu          sync.Mutex
	short, long class
	perRow      time.Duration // that a row of a batch took of late; 0: not known
	busy        bool
}

// class is the requests of one kind that wait.
type class struct {
	fair[*job]
	rows int            // waiting
	by   map[client]int // of them
}

// job is the rows of one request.
type job struct {
	ctx    context.Context
	of     client
	table  *dataset.Table
	x      []float64 // its inputs, row by row
	out    []krigo.Prediction
	class  *class
	taken  int // rows that are in this batch or an earlier one
	err    error
	ended  bool
	answer chan struct{} // is closed when it has ended
}

// run predicts the rows of a client's table, or returns what is wrong with them, or ctx's error.
func (q *queue) run(ctx context.Context, of client, t *dataset.Table) ([]krigo.Prediction, error) {
	d, err := q.model.Unlabelled(t)
	if err != nil {
		return nil, err
	}
	j := &job{ctx: ctx, of: of, table: t, out: make([]krigo.Prediction, d.Rows), answer: make(chan struct{})}
	if j.x, err = inputs(q.model, t, d); err != nil {
		return nil, err
	}
	q.mu.Lock()
	j.class = &q.long
	if d.Rows <= shortRows {
		j.class = &q.short
	}
	c := j.class
	// What waits of a client may be no more than what there is room for, so that there is room for others'. A request that is
	// larger than the limit is served if nothing else waits.
	if c.rows > 0 && c.by[of]+d.Rows > q.limit-c.rows {
		q.mu.Unlock()
		return nil, errBusy
	}
	c.add(of, j)
	c.count(of, d.Rows)
	if !q.busy {
		q.busy = true
		q.working.Go(q.work)
	}
	q.mu.Unlock()
	select {
	case <-j.answer:
		return j.out, j.err
	case <-ctx.Done():
		q.leave(j)
		return nil, ctx.Err()
	}
}

// count adds to the rows that wait of a client.
func (c *class) count(of client, rows int) {
	if c.by == nil {
		c.by = map[client]int{}
	}
	c.rows += rows
	if c.by[of] += rows; c.by[of] == 0 {
		delete(c.by, of)
	}
}

// leave takes out what waits of a job that nobody waits for.
func (q *queue) leave(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.class.remove(j.of, j) {
		j.class.count(j.of, j.taken-len(j.out))
	}
}

// inputs reads the rows of a table that a model is to see. One that overflows when it is scaled is an error of the request: it would fail the rows
// that are predicted with it.
func inputs(m *krigo.Model, t *dataset.Table, d *dataset.Data) ([]float64, error) {
	x := make([]float64, d.Rows*d.Cols)
	if err := d.Read(d.All(), x, nil); err != nil {
		return nil, err
	}
	scaled := make([]float64, d.Cols)
	for i := range d.Rows {
		row := x[i*d.Cols : (i+1)*d.Cols]
		m.Scaling.Inputs(scaled, row)
		for j, v := range scaled {
			if v-v == 0 {
				continue
			}
			at := &dataset.Error{File: t.Source, Row: i + 1, Column: j + 1, Name: d.Inputs[j],
				Err: fmt.Errorf("%v is so far from the rows that the model was made from that it overflows when it is scaled: mend or remove the row", row[j])}
			if t.Lines != nil {
				at.Line = t.Lines[i]
			}
			if column, found := t.Column(d.Inputs[j]); found {
				at.Column = column + 1
			}
			return nil, at
		}
	}
	return x, nil
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
		begin, rows := time.Now(), 0
		q.compute(batch)
		for _, p := range batch {
			rows += p.to - p.from
			if p.err != nil {
				q.leave(p.job)
			}
			if !p.ended && (p.to == len(p.out) || p.err != nil) {
				p.ended = true
				close(p.answer)
			}
		}
		if rows >= fewRows/2 { // of fewer rows most of the time isn't theirs
			q.perRow = time.Since(begin) / time.Duration(rows)
		}
	}
}

// next takes the rows of the next batch, or says that there is nothing to do.
func (q *queue) next() []piece {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := mostRows
	if q.perRow > 0 {
		most = int(min(mostRows, max(fewRows, batchTime/q.perRow)))
	}
	batch, left := q.short.take(nil, most-most/4)
	batch, left = q.long.take(batch, most/4+left)
	batch, _ = q.short.take(batch, left)
	q.busy = len(batch) > 0
	return batch
}

// take adds rows to a batch, at most so many, and returns how many more it could have been.
func (c *class) take(batch []piece, most int) ([]piece, int) {
	for most > 0 {
		j, found := c.next()
		if !found {
			break
		}
		n := min(shareRows, most, len(j.out)-j.taken)
		batch = append(batch, piece{j, j.taken, j.taken + n})
		j.taken += n
		most -= n
		c.count(j.of, -n)
		if j.taken < len(j.out) {
			c.add(j.of, j)
		}
	}
	return batch, most
}

// compute predicts a batch. Where that fails each piece is predicted by itself, so that none fails for another's row.
func (q *queue) compute(batch []piece) {
	rows := 0
	for _, p := range batch {
		rows += p.to - p.from
	}
	q.batched(rows)
	if q.attempt(batch) == nil {
		return
	}
	for i := range batch {
		p := batch[i]
		if p.err != nil {
			continue
		}
		err := q.attempt(batch[i : i+1])
		var at *dataset.Error
		if errors.As(err, &at) && at.Row > 0 {
			err = fmt.Errorf("%s: %s: %w", p.table.Source, p.table.Where(p.from+at.Row-1), at.Err)
		}
		p.err = err
	}
}

// attempt predicts pieces together.
func (q *queue) attempt(pieces []piece) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			q.failed(cause, debug.Stack())
			err = errInternal
		}
	}()
	cols := len(q.model.Inputs)
	var together []float64
	for _, p := range pieces {
		together = append(together, p.x[p.from*cols:p.to*cols]...)
	}
	rows := len(together) / cols
	ps, err := q.predict(mat.NewDense(rows, cols, together))
	if err != nil {
		return err
	}
	if len(ps) != rows {
		panic(fmt.Sprintf("%d predictions of %d rows", len(ps), rows))
	}
	for _, p := range pieces {
		ps = ps[copy(p.out[p.from:p.to], ps):]
	}
	return nil
}
