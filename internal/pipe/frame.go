package pipe

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/krigo-gp/krigo/internal/answer"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/memory"
)

// A frame is the length of its header as a little-endian uint32, then the header as JSON, then the
// buffers one after the other. The field "buffers" of the header holds the length of each buffer in
// bytes.
const (
	mostHeader = 1 << 26 // mostHeader and mostBuffer are numbers of bytes
	mostBuffer = 1 << 40
)

// request is the header of a frame that the other program sends.
type request struct {
	ID    uint64          `json:"id"`
	Op    string          `json:"op"`
	Args  json.RawMessage `json:"args"`
	Model uint64          `json:"model"` // the number of a loaded model
	Table *tableHeader    `json:"table"` // the table in the first buffers
	// for predict: the data of the model, in the next buffers
	Data *tableHeader `json:"data"`
	// a file for the reply; empty: write the reply to the output
	Reply   string  `json:"reply"`
	Buffers []int64 `json:"buffers"`

	data [][]byte
	over error // the buffers need more memory than is allowed, and readFrame skipped them
}

// tableHeader describes a table. A column of numbers is a buffer of little-endian float64, with NaN
// for a missing value. A column of text is two buffers. The first buffer holds little-endian int64:
// the offset of each text, and the end of the last text.
// The second buffer holds the texts in UTF-8. An empty text is a missing value.
type tableHeader struct {
	Names []string `json:"names"`
	Text  []bool   `json:"text"` // whether a column is text
	Rows  int      `json:"rows"`
	// For fit and evaluate: the names of columns whose types say that they are dates or categories.
	Dates      []string `json:"dates"`
	Categories []string `json:"categories"`
}

// reply is the header of a frame that krigo sends.
type reply struct {
	ID      uint64   `json:"id"`
	Event   any      `json:"event,omitempty"` // the progress of a fit; the final reply follows
	Result  any      `json:"result,omitempty"`
	Error   *failure `json:"error,omitempty"`
	Names   []string `json:"names,omitempty"` // names of the buffers
	Buffers []int64  `json:"buffers,omitempty"`

	data [][]byte
}

// failure describes an error, in the parts that a program may need.
type failure struct {
	Kind    string `json:"kind"` // usage, data, cancelled, no-certificate or failed
	Message string `json:"message"`
	Row     int    `json:"row,omitempty"`    // the table's row, counted from 1
	Column  string `json:"column,omitempty"` // the column's name
}

// errFrame says that another program doesn't keep to the protocol of docs/pipe.md.
var errFrame = errors.New("the frame isn't valid")

// readFrame reads a request. It allocates memory only as bytes arrive, however large the lengths
// are that the frame announces. If the buffers would take more memory than is allowed, readFrame
// skips them and sets over. The request then gets an error as its answer, and other requests go on.
func readFrame(in io.Reader) (*request, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err // io.EOF: the other program has closed the pipe
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > mostHeader {
		return nil, fmt.Errorf("%w: its header has %d bytes, more than %d", errFrame, n, mostHeader)
	}
	const times = 16 // parsed JSON takes up to 16 times the memory of its text
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
	const growth = 3 // a buffer takes up to 3 times its size, when it grows and as a table
	var sum float64
	for _, size := range r.Buffers {
		if size < 0 || size > mostBuffer {
			return nil, fmt.Errorf("%w: one of its buffers has %d bytes", errFrame, size)
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

// readAll reads size bytes. It allocates 16 MiB at a time, so that memory follows what arrives.
func readAll(in io.Reader, size int64) ([]byte, error) {
	const atOnce = 1 << 24
	data := make([]byte, 0, min(size, atOnce))
	for int64(len(data)) < size {
		at := len(data)
		more := int(min(size-int64(len(data)), atOnce))
		data = append(data, make([]byte, more)...)
		if _, err := io.ReadFull(in, data[at:]); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
	}
	return data, nil
}

// write writes the reply as a frame.
func (r *reply) write(out io.Writer) error {
	r.Buffers = lists.Of(r.data, func(data []byte) int64 { return int64(len(data)) })
	header, err := json.Marshal(r)
	if err != nil { // JSON has no NaN: send an error, since the other program waits
		return (&reply{ID: r.ID, Error: &failure{Kind: "failed", Message: err.Error()}}).write(out)
	}
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	frame = append(frame, header...)
	for _, data := range r.data {
		if len(frame)+len(data) < 1<<16 { // small buffers go out in one write
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

// writeFile writes the reply to a file, which gets its name when it is complete.
// It doesn't sync the file, because nobody needs a reply after a power failure.
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

// add adds a buffer of numbers to the reply.
func (r *reply) add(name string, values []float64) {
	data, _ := binary.Append(nil, binary.LittleEndian, values) // no error: numbers have a size
	r.Names = append(r.Names, name)
	r.data = append(r.data, data)
}

// addTable adds a buffer for each column of a table.
func (r *reply) addTable(t answer.Table, rows int) {
	columns := lists.To(len(t.Names), func(int) []byte { return make([]byte, 8*rows) })
	row := make([]float64, len(t.Names))
	for i := range rows {
		t.Fill(i, row)
		for k, v := range row {
			binary.LittleEndian.PutUint64(columns[k][8*i:], math.Float64bits(v))
		}
	}
	r.Names = append(r.Names, t.Names...)
	r.data = append(r.data, columns...)
}
