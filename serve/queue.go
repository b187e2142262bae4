package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

// A batch has as many rows as take about batchTime, between fewRows and mostRows: what comes meanwhile waits so long. A
// request of shortRows or less is taken before longer ones, which keep a quarter of every batch. Of each kind a client
// has shareRows, and then the next one.
const (
	batchTime = 5 * time.Millisecond
	mostRows  = 512
	fewRows   = 32
	leastRows = 4       // of both classes, however wide they are
	mostCells = 1 << 17 // of a batch, encoded: it is the only memory that grows with the columns which categories become
	shareRows = 16
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
	predict func(x mat.Matrix) ([]model.Prediction, error) // the model's PredictAt
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
	data   *dataset.Data // its inputs, which are encoded batch by batch
	out    []model.Prediction
	class  *class
	taken  int // rows that are in this batch or an earlier one
	err    error
	ended  bool
	answer chan struct{} // is closed when it has ended
}

// run predicts the rows of a client's table, or returns what is wrong with them, or ctx's error.
func (q *queue) run(ctx context.Context, of client, t *dataset.Table) ([]model.Prediction, error) {
	d, err := q.model.Unlabelled(t)
	if err != nil {
		return nil, err
	}
	j := &job{ctx: ctx, of: of, table: t, data: d, out: make([]model.Prediction, d.Rows), answer: make(chan struct{})}
	q.mu.Lock()
	j.class = &q.long
	if d.Rows <= shortRows {
		j.class = &q.short
	}
	c := j.class
	// What waits of a client may be no more than what there is room for, so that there is room for others'. A request that
	// is larger than the limit is served if nothing else waits.
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
	most = min(most, max(leastRows, mostCells/len(q.model.Inputs)))
	batch, left := q.short.take(nil, most-most/4)
	batch, left = q.long.take(batch, most/4+left)
	batch, _ = q.short.take(batch, left)
	q.busy = len(batch) > 0
	return batch
}

// take adds rows to a batch, at most so many, and returns how many more it could have been. In its turn a client has
// shareRows, of one request or of several: who asks row by row has as many rows predicted as who asks for many at once.
func (c *class) take(batch []piece, most int) ([]piece, int) {
	for most > 0 && len(c.lines) > 0 {
		of := c.lines[0].of
		for share := min(shareRows, most); share > 0 && len(c.lines) > 0 && c.lines[0].of == of; {
			j := c.next()
			n := min(share, len(j.out)-j.taken)
			batch = append(batch, piece{j, j.taken, j.taken + n})
			j.taken += n
			share -= n
			most -= n
			c.count(of, -n)
			if j.taken < len(j.out) {
				c.add(of, j)
			}
		}
		c.passed(of)
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
		if err != nil {
			p.err = err
		}
	}
}

// read appends the encoded inputs of the piece's rows. A row that overflows when it is scaled is an error of its
// request alone: in the matrix it would fail the rows that are predicted with it.
func (p piece) read(m *krigo.Model, to *[]float64) error {
	cols, begin := p.data.Cols, len(*to)
	rows := make([]int, p.to-p.from)
	for i := range rows {
		rows[i] = p.from + i
	}
	x := slices.Grow(*to, len(rows)*cols)[:begin+len(rows)*cols]
	if err := p.data.Read(rows, x[begin:], nil); err != nil {
		return err
	}
	scaled := make([]float64, cols)
	for i, number := range rows {
		row := x[begin+i*cols:][:cols]
		m.Scaling.Inputs(scaled, row)
		for j, v := range scaled {
			if v-v == 0 {
				continue
			}
			at := &dataset.Error{File: p.table.Source, Row: number + 1, Column: j + 1, Name: p.data.Inputs[j],
				Err: fmt.Errorf("%v is so far from the rows that the model was made from that it overflows when it is scaled: "+
					"mend or remove the row", row[j])}
			if p.table.Lines != nil {
				at.Line = p.table.Lines[number]
			}
			if column, found := p.table.Column(p.data.Inputs[j]); found {
				at.Column = column + 1
			}
			return at
		}
	}
	*to = x
	return nil
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
	var read []piece
	for _, p := range pieces {
		if p.err != nil {
			continue
		}
		if p.err = p.read(q.model, &together); p.err == nil {
			read = append(read, p)
		}
	}
	rows := len(together) / cols
	if rows == 0 {
		return nil
	}
	ps, err := q.predict(mat.NewDense(rows, cols, together))
	if err != nil {
		return err
	}
	if len(ps) != rows {
		panic(fmt.Sprintf("%d predictions of %d rows", len(ps), rows))
	}
	for _, p := range read {
		ps = ps[copy(p.out[p.from:p.to], ps):]
	}
	return nil
}
