package serve

import (
	"cmp"
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
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
)

// A batch has as many rows as can be predicted in about batchTime, but at least fewRows and at most
// mostRows. Rows that arrive while a batch is predicted wait for its end.
// Requests of at most shortRows rows go first, but a quarter of every batch is kept for longer
// requests. Among requests of one length, clients take turns of shareRows rows.
const (
	batchTime = 5 * time.Millisecond
	// a batch that takes longer is given up, and its requests' rows are predicted aside
	longBatch = time.Second
	mostRows  = 512
	fewRows   = 32
	leastRows = 4 // a batch may always have this number of rows, even if rows are wide
	// encoded numbers of a batch; no other memory grows with the columns that categories become
	mostCells = 1 << 17
	shareRows = 16
	shortRows = 16
)

var (
	errBusy = errors.New("too many rows are waiting, or too many of them are yours: try " +
		"again in a moment")
	errInternal = errors.New("the prediction failed, and not because of the request; the " +
		"server's log says why")
)

// queue predicts the rows of concurrent requests together.
// While it computes one batch, the next batch gathers.
// A row never waits for further rows to arrive, and an idle queue has no goroutine.
type queue struct {
	model   *krigo.Model
	predict predictor
	limit   int                           // most rows that wait in each class
	batched func(rows int)                // called with the size of every batch
	failed  func(cause any, stack []byte) // called after a panic
	working *sync.WaitGroup               // counts the queue's goroutine

	mu          sync.Mutex // also guards done, err and ended of jobs
	short, long class
	// time per row in the last batch that was large enough to measure; 0: not known
	perRow time.Duration
	busy   bool
}

// predictor is the model's PredictWithin, or what a test has in its place.
type predictor func(ctx context.Context, x mat.Matrix) ([]model.Prediction, error)

// class holds the waiting requests of one length, short or long.
type class struct {
	fair[*job]
	rows int            // rows that wait
	by   map[client]int // rows that wait, by client
}

// job is the rows of one request.
type job struct {
	ctx    context.Context
	of     client
	table  *dataset.Table
	data   *dataset.Data // the table's inputs, which are encoded batch by batch
	out    []model.Prediction
	class  *class
	taken  int // rows that are in the batch under way, or were in an earlier batch
	done   int // rows that are predicted
	err    error
	ended  bool
	answer chan struct{} // closed when the job has ended
}

// run predicts the rows of a client's table, and tells which cells it filled. Its error says what is
// wrong with the rows, or is errBusy or ctx's.
func (q *queue) run(ctx context.Context, of client,
	t *dataset.Table) (ps []model.Prediction, filled []string, err error) {
	d, err := q.model.Unlabelled(t)
	if err != nil {
		return nil, nil, err
	}
	gaps, found, err := q.model.Gaps(d)
	if err != nil {
		return nil, nil, err
	}
	j := &job{ctx: ctx, of: of, table: t, data: d, out: make([]model.Prediction, d.Rows),
		answer: make(chan struct{})}
	q.mu.Lock()
	j.class = &q.long
	if d.Rows <= shortRows {
		j.class = &q.short
	}
	// A client may have at most as many rows waiting as are still free, so that other clients
	// always find room. A request with more rows than the limit is served if nothing else waits.
	if j.class.rows > 0 && j.class.by[of]+d.Rows > q.limit-j.class.rows {
		q.mu.Unlock()
		return nil, nil, errBusy
	}
	j.class.add(of, j)
	j.class.count(of, d.Rows)
	if !q.busy {
		q.busy = true
		q.working.Go(q.work)
	}
	q.mu.Unlock()
	select {
	case <-j.answer:
		for i, n := range gaps {
			j.out[i].Outside += n
		}
		lost, none := model.Lost(d, j.out)
		return j.out, append(found, lost...).Words(), cmp.Or(j.err, none)
	case <-ctx.Done():
		q.leave(j)
		return nil, nil, ctx.Err()
	}
}

// count adds to the number of a client's rows that wait.
func (c *class) count(of client, rows int) {
	if c.by == nil {
		c.by = map[client]int{}
	}
	c.rows += rows
	if c.by[of] += rows; c.by[of] == 0 {
		delete(c.by, of)
	}
}

// leave removes the waiting rows of a job that nobody waits for any more.
func (q *queue) leave(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.class.remove(j.of, j) {
		j.class.count(j.of, j.taken-len(j.out))
	}
}

// piece is the part of a job that is in a batch: the rows with numbers from ≤ i < to.
type piece struct {
	*job
	from, to int
	err      error
}

// work predicts batches until nothing waits.
func (q *queue) work() {
	work := pace{time.Now()}
	for {
		batch := q.next()
		if len(batch) == 0 {
			return
		}
		begin := time.Now()
		rows := lists.Sum(batch, func(p *piece) int { return p.to - p.from })
		q.compute(batch, rows)
		if rows >= fewRows/2 { // with fewer rows, most of the time doesn't depend on their number
			q.perRow = time.Since(begin) / time.Duration(rows)
		}
		work.rest()
	}
}

// next returns the rows of the next batch. It returns no rows if nothing waits.
func (q *queue) next() []*piece {
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

// take adds rows to a batch, up to the number most.
// It returns the batch, and how many more rows it could have taken.
// In its turn a client has shareRows rows, from one request or from several. So a client that asks
// row by row gets as many predictions as a client that sends many rows at once.
func (c *class) take(batch []*piece, most int) ([]*piece, int) {
	for most > 0 && len(c.lines) > 0 {
		of := c.lines[0].of
		for share := min(shareRows, most); share > 0 && len(c.lines) > 0 && c.lines[0].of == of; {
			j := c.next()
			n := min(share, len(j.out)-j.taken)
			batch = append(batch, &piece{job: j, from: j.taken, to: j.taken + n})
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

// compute predicts a batch. If that fails, it predicts each piece by itself, so that no request
// fails because of another request's row. If it takes too long, the pieces go aside, and the next
// batch doesn't wait for them.
func (q *queue) compute(batch []*piece, rows int) {
	q.batched(rows)
	ctx, cancel := context.WithTimeout(context.Background(), longBatch)
	defer cancel()
	err := q.attempt(ctx, batch)
	for _, p := range batch {
		switch {
		case err == nil || p.err != nil:
			q.finish(p)
		case errors.Is(err, context.DeadlineExceeded):
			q.working.Go(func() { q.alone(p) })
		default:
			q.alone(p)
		}
	}
}

// alone predicts a piece by itself, until its request's time is over.
func (q *queue) alone(p *piece) {
	err := q.attempt(p.ctx, []*piece{p})
	var at *dataset.Error
	if errors.As(err, &at) && at.Row > 0 {
		err = fmt.Errorf("%s: %s: %w", p.table.Source, p.table.Where(p.from+at.Row-1), at.Err)
	}
	p.err = cmp.Or(p.err, err)
	q.finish(p)
}

// finish notes that a piece is predicted, or that its request has failed.
func (q *queue) finish(p *piece) {
	if p.err != nil {
		q.leave(p.job)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	p.done += p.to - p.from
	if !p.ended && (p.done == len(p.out) || p.err != nil) {
		p.ended = true
		p.job.err = p.err
		close(p.answer)
	}
}

// widthOf returns the number of columns that PredictAt takes.
func widthOf(m *krigo.Model) int { return len(m.Inputs) + len(m.Further()) }

// read appends the encoded inputs of the piece's rows to the slice to.
func (p *piece) read(m *krigo.Model, to *[]float64) error {
	cols := p.data.Cols
	begin := len(*to)
	width := widthOf(m)
	rows := lists.To(p.to-p.from, func(i int) int { return p.from + i })
	x := slices.Grow(*to, len(rows)*width)[:begin+len(rows)*width]
	if err := p.data.Read(rows, x[begin:begin+len(rows)*cols], nil); err != nil {
		return err
	}
	if width > cols {
		// from the last row on, so that no row is overwritten before it has moved
		for i := range slices.Backward(rows) {
			copy(x[begin+i*width:][:width], x[begin+i*cols:][:cols])
		}
	}
	for k, name := range m.Further() {
		cells, err := p.data.Cells(name, rows)
		if err != nil {
			return err
		}
		for i, v := range cells {
			x[begin+i*width+cols+k] = v
		}
	}
	*to = x
	return nil
}

// attempt predicts pieces together until ctx ends. An error of a single piece is left in the piece.
// The returned error is about all pieces.
func (q *queue) attempt(ctx context.Context, pieces []*piece) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			q.failed(cause, debug.Stack())
			err = errInternal
		}
	}()
	cols := widthOf(q.model)
	var together []float64
	var read []*piece
	// Rows that can't be read spoil their own piece alone.
	for _, p := range pieces {
		if p.err = p.read(q.model, &together); p.err == nil {
			read = append(read, p)
		}
	}
	rows := len(together) / cols
	if rows == 0 {
		return nil
	}
	ps, err := q.predict(ctx, mat.NewDense(rows, cols, together))
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
