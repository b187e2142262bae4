package pipe

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/krigo-gp/krigo/memory"
)

// A frame is the length of its header as a little-endian uint32, the header, which is JSON, and then the buffers whose
// lengths in bytes the header has in "buffers", one after the other.
const (
	mostHeader = 1 << 26 // bytes
	mostBuffer = 1 << 40
)

// request is the header of a frame that comes.
type request struct {
	ID      uint64          `json:"id"`
	Op      string          `json:"op"`
	Args    json.RawMessage `json:"args"`
	Model   uint64          `json:"model"` // the number of a model, of Loaded
	Table   *tableHeader    `json:"table"` // of which the first buffers are
	Data    *tableHeader    `json:"data"`  // of predict: the data that the model was made from, of which the next are
	Reply   string          `json:"reply"` // a file that takes the reply, in place of the output
	Buffers []int64         `json:"buffers"`

	data [][]byte
	over error // the buffers took more memory than they may, and weren't kept
}

// tableHeader describes a table: a column of numbers is a buffer of little-endian float64, NaN where a value is
// missing; one of text is a buffer of little-endian int64, where each text begins and after the last where it ends, and
// a buffer of the texts in UTF-8, of which the empty one is a missing value.
type tableHeader struct {
	Names []string `json:"names"`
	Text  []bool   `json:"text"` // whether a column is text
	Rows  int      `json:"rows"`
	// Of fit and evaluate: columns that are dates, or categories, by their types.
	Dates      []string `json:"dates"`
	Categories []string `json:"categories"`
}

// reply is the header of a frame that goes out.
type reply struct {
	ID      uint64   `json:"id"`
	Event   any      `json:"event,omitempty"` // how a fit goes: other frames follow
	Result  any      `json:"result,omitempty"`
	Error   *failure `json:"error,omitempty"`
	Names   []string `json:"names,omitempty"` // of the buffers
	Buffers []int64  `json:"buffers,omitempty"`

	data [][]byte
}

// failure is an error with what a program may want to know of it.
type failure struct {
	Kind    string `json:"kind"` // usage, data, cancelled, no-certificate or failed
	Message string `json:"message"`
	Row     int    `json:"row,omitempty"`    // of the table, from 1
	Column  string `json:"column,omitempty"` // its name
}

var errFrame = errors.New("this isn't a frame")

// readFrame reads a request. Memory is taken as bytes come, not as they are announced. A request whose buffers would
// take more than they may is read to its end without them: it has an answer, and others that are under way go on.
func readFrame(in io.Reader) (*request, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err // io.EOF: the other side is done
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > mostHeader {
		return nil, fmt.Errorf("%w: a header of %d bytes", errFrame, n)
	}
	const times = 16 // what JSON becomes
	if err := memory.Afford("the request's header", times*float64(n)); err != nil {
		return nil, err
	}
	header, err := readAll(in, int64(n))
	if err != nil {
		return nil, err
	}
	r := &request{}
	if err := json.Unmarshal(header, r); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	const growth = 3 // while memory is moved, and as a table
	var sum float64
	for _, size := range r.Buffers {
		if size < 0 || size > mostBuffer {
			return nil, fmt.Errorf("%w: a buffer of %d bytes", errFrame, size)
		}
		sum += growth * float64(size)
	}
	r.over = memory.Afford("the request", sum)
	for _, size := range r.Buffers {
		if r.over != nil {
			if _, err := io.CopyN(io.Discard, in, size); err != nil {
				return nil, io.ErrUnexpectedEOF
			}
			continue
		}
		data, err := readAll(in, size)
		if err != nil {
			return nil, err
		}
		r.data = append(r.data, data)
	}
	return r, nil
}

func readAll(in io.Reader, size int64) ([]byte, error) {
	const atOnce = 1 << 24
	data := make([]byte, 0, min(size, atOnce))
	for int64(len(data)) < size {
		at, more := len(data), int(min(size-int64(len(data)), atOnce))
		data = append(data, make([]byte, more)...)
		if _, err := io.ReadFull(in, data[at:]); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
	}
	return data, nil
}

// write writes a reply.
func (r *reply) write(out io.Writer) error {
	for _, data := range r.data {
		r.Buffers = append(r.Buffers, int64(len(data)))
	}
	header, err := json.Marshal(r)
	if err != nil { // numbers that JSON doesn't have: who asked waits for an answer
		return (&reply{ID: r.ID, Error: &failure{Kind: "failed", Message: err.Error()}}).write(out)
	}
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	frame = append(frame, header...)
	for _, data := range r.data {
		if len(frame)+len(data) < 1<<16 { // one write for what is small
			frame = append(frame, data...)
			continue
		}
		if _, err := out.Write(frame); err != nil {
			return err
		}
		frame = data
	}
	_, err = out.Write(frame)
	return err
}

// writeFile writes a reply to a file, which gets its name once it is whole. Nobody needs it after a power failure, so
// that it isn't synced.
func (r *reply) writeFile(path string) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	err = errors.Join(r.write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// add adds a buffer of numbers.
func (r *reply) add(name string, values []float64) {
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	r.Names, r.data = append(r.Names, name), append(r.data, data)
}
