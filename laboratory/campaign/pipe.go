package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/command"
	"github.com/krigo-gp/krigo/memory"
)

func init() {
	campaigns = append(campaigns, campaign{"pipe",
		"altered frames, tables, options and models, sent to krigo pipe in this process", attackPipe})
}

// attackPipe sends frames to krigo pipe, some of them altered, with one session for each try. However the session
// ends, each request in a valid frame must get an answer of a documented kind.
func attackPipe(r *run) error {
	memory.SetLimit(1 << 30)
	defer memory.SetLimit(0)
	all, err := fitSpecimens(r.ctx)
	if err != nil {
		return err
	}
	before := runtime.NumGoroutine()
	err = r.each(func(try int64, rng *rand.Rand) error {
		s := &session{r: r, rng: rng, s: all[rng.IntN(len(all))], ledger: filepath.Join(r.folder, fmt.Sprint("ledger", try)),
			asked: map[uint64]string{}}
		return s.run()
	})
	if err != nil {
		return err
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			return fmt.Errorf("%d goroutines at the end, %d at the beginning:\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
	return nil
}

// session is one pipe, from its first frame to its end.
type session struct {
	r      *run
	rng    *rand.Rand
	s      *specimen
	ledger string
	asked  map[uint64]string // the requests that have no answer yet, by id
}

// answered is the header of a reply.
type answered struct {
	ID     uint64 `json:"id"`
	Event  any    `json:"event"`
	Result any    `json:"result"`
	Error  *struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"error"`
	Buffers []int64 `json:"buffers"`
}

func (s *session) run() error {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		var said bytes.Buffer
		status := command.Run(s.r.ctx, []string{"pipe"}, in, out, &said)
		in.CloseWithError(io.ErrClosedPipe) // frames that come later aren't read
		out.Close()
		var err error
		if status != 0 {
			err = fmt.Errorf("status %d: %s", status, &said)
		}
		ended <- err
	}()
	type seen struct {
		all []answered
		err error
	}
	got := make(chan seen, 1)
	arrived := make(chan struct{}, 100)
	go func() {
		var all []answered
		for {
			a, err := nextAnswer(answers)
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				answers.CloseWithError(io.ErrClosedPipe)
				got <- seen{all, err}
				return
			}
			if all = append(all, a); a.Event == nil {
				arrived <- struct{}{}
			}
		}
	}()

	broken := false // an invalid frame was sent, which ends the session
	load, _ := s.frame(1, "load", nil, nil, s.s.raw)
	ask.Write(load)
	s.asked[1] = "load"
	for id := uint64(2); id < 2+uint64(1+s.rng.IntN(8)) && !broken; id++ {
		var text []byte
		text, broken = s.draw(id)
		if _, err := ask.Write(text); err != nil {
			break
		}
	}
	patience := time.After(time.Duration(s.rng.IntN(1500)) * time.Millisecond)
	for n := 0; n < len(s.asked); n++ {
		select {
		case <-arrived:
		case <-patience:
			n = len(s.asked)
		}
	}
	ask.Close()
	err := <-ended
	told := <-got
	if told.err != nil {
		return fmt.Errorf("an answer isn't a frame: %w", told.err)
	}
	if err != nil && !broken {
		return fmt.Errorf("the session ended: %w", err)
	}
	if broken {
		s.r.count("invalid frames")
	}
	for _, a := range told.all {
		what, due := s.asked[a.ID]
		switch {
		case !due && broken:
			continue // an altered frame may contain a request by chance
		case !due:
			return fmt.Errorf("an answer to request %d, which wasn't sent: %+v", a.ID, a)
		case a.Event != nil:
			continue
		case (a.Result == nil) == (a.Error == nil):
			return fmt.Errorf("%s: the answer has both result and error, or neither: %+v", what, a)
		case a.Error == nil:
			s.r.count("answers")
		case !slices.Contains([]string{"usage", "data", "no-certificate", "cancelled", "failed"}, a.Error.Kind) ||
			strings.TrimSpace(a.Error.Message) == "":
			return fmt.Errorf("%s: the error has kind %q and message %q", what, a.Error.Kind, a.Error.Message)
		case strings.Contains(a.Error.Message, "goroutine "):
			return fmt.Errorf("%s: %s", what, a.Error.Message)
		case len(a.Error.Message) > 5000:
			return fmt.Errorf("%s: the message has %d bytes: %.300s", what, len(a.Error.Message), a.Error.Message)
		default:
			s.r.count(a.Error.Kind)
		}
		delete(s.asked, a.ID)
	}
	if len(s.asked) > 0 {
		return fmt.Errorf("no answer to these requests: %v", s.asked)
	}
	return nil
}

// nextAnswer reads the frame of a reply.
func nextAnswer(from io.Reader) (a answered, err error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return a, err
	}
	header := make([]byte, binary.LittleEndian.Uint32(length[:]))
	if _, err := io.ReadFull(from, header); err != nil {
		return a, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(header, &a); err != nil {
		return a, fmt.Errorf("%w: %.300s", err, header)
	}
	for _, n := range a.Buffers {
		if k, _ := io.CopyN(io.Discard, from, n); k < n {
			return a, io.ErrUnexpectedEOF
		}
	}
	return a, nil
}

// frame returns the frame of a request with its buffers, and the request's header.
func (s *session) frame(id uint64, op string, args any, more map[string]any, buffers ...[]byte) (text []byte,
	header map[string]any) {
	sizes := make([]int, len(buffers))
	for i, b := range buffers {
		sizes[i] = len(b)
	}
	header = map[string]any{"id": id, "op": op, "model": 1, "buffers": sizes}
	for name, v := range more {
		header[name] = v
	}
	if args != nil {
		header["args"] = args
	}
	return framed(header, buffers), header
}

func framed(header any, buffers [][]byte) []byte {
	text, err := json.Marshal(header)
	if err != nil {
		panic(err) // headers hold only what JSON can write
	}
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...), bytes.Join(buffers, nil)...)
}

// draw returns a random frame, and whether the frame is invalid.
func (s *session) draw(id uint64) (text []byte, broken bool) {
	rng := s.rng
	if rng.IntN(12) == 0 { // cancel a request that may be under way
		text, _ = s.frame(uint64(1+rng.IntN(int(id))), "cancel", nil, nil)
		return text, false
	}
	op := pick(rng, "hello", "fit", "fit", "load", "close", "predict", "predict", "predict", "certify", "fresh",
		"certify_predictions", "watch", "report", "nothing")
	more, args := map[string]any{"model": pick(rng, 1, 1, 1, 1, 1, 1, 1, 0, 2, 9)}, map[string]any{}
	var buffers [][]byte
	if !slices.Contains([]string{"hello", "load", "close"}, op) && rng.IntN(30) > 0 {
		more["table"], buffers = s.table()
	}
	switch op {
	case "fit":
		args = map[string]any{"options": s.s.options, "settle": rng.IntN(2) == 0, "progress": rng.IntN(2) == 0,
			"reading": map[string]any{"dates": []any{map[string]any{"column": pick(rng, "a", "b", "block", "y"),
				"form": pick(rng, "", "2006-01-02", "epoch"), "parts": []string{}}}}}
		switch rng.IntN(3) {
		case 0:
			delete(args, "reading")
		case 1:
			args = map[string]any{"flags": append((&trial{run: s.r, rng: rng}).flags(), "--target=y")}
		}
	case "load":
		buffers = [][]byte{alteredBytes(s.s.raw, rng)}
	case "predict":
		args = map[string]any{"intervals": pick(rng, []string{}, []string{"conformal"}, []string{"normalised", "band"}),
			"level": pick(rng, 0, 0.9, 0.5), "covariance": rng.IntN(4) == 0,
			"samples": pick(rng, 0, 3, 1000), "seed": rng.IntN(9)}
	case "certify_predictions":
		args = map[string]any{"options": map[string]any{"data": map[string]any{"target": "y"},
			"promise": map[string]any{"epsilon": 1}}, "prediction": pick(rng, "a", "b", "x")}
	case "watch":
		args = map[string]any{"ledger": s.ledger}
	}
	args, _ = parsed(encoded(args)).(map[string]any)
	if len(args) > 0 && rng.IntN(2) == 0 {
		alteredFields(args, args, rng)
	}
	if op == "watch" {
		args["ledger"] = s.ledger // so that the request writes to no other file
	}
	text, header := s.frame(id, op, args, more, buffers...)
	switch at := rng.IntN(40); {
	case at == 0: // announce a wrong length of the header
		text = slices.Clone(text)
		binary.LittleEndian.PutUint32(text, uint32(numberNear(rng, int64(len(text)))))
		return text, true
	case at == 1: // alter bytes of the header
		end := 4 + int(binary.LittleEndian.Uint32(text))
		head := alteredBytes(text[4:end], rng)
		return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head...), text[end:]...), true
	case at == 2 && len(buffers) > 0: // announce a wrong length of a buffer
		sizes := header["buffers"].([]int)
		i := rng.IntN(len(sizes))
		sizes[i] = int(numberNear(rng, int64(sizes[i])))
		return framed(header, buffers), true
	case at == 3:
		return text[:rng.IntN(len(text))], true
	}
	if !json.Valid(text[4 : 4+binary.LittleEndian.Uint32(text)]) { // nested deeper than encoding/json reads
		return text, true
	}
	s.asked[id] = op
	return text, false
}

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func numberNear(rng *rand.Rand, n int64) int64 {
	return pick(rng, n+1, n-1, 0, 2*n, -n, 1<<31, 1<<26, 1<<40, math.MaxInt64)
}

// table returns the specimen's table or a random table. It is sometimes altered.
func (s *session) table() (header map[string]any, buffers [][]byte) {
	rng := s.rng
	c := s.s.cells
	if rng.IntN(3) == 0 {
		c = drawn(rng.Uint64(), rng.IntN(40), c.names...)
	}
	names, text := slices.Clone(c.names), make([]bool, len(c.names))
	for j, name := range names {
		var column, cells []byte
		if text[j] = slices.Contains(named, name) || rng.IntN(30) == 0; !text[j] {
			for _, row := range c.rows {
				v, err := strconv.ParseFloat(row[j], 64)
				if err != nil {
					panic(err) // other columns hold numbers
				}
				if rng.IntN(2000) == 0 {
					v = floatsToTry[rng.IntN(len(floatsToTry))]
				}
				column = binary.LittleEndian.AppendUint64(column, math.Float64bits(v))
			}
			buffers = append(buffers, column)
			continue
		}
		for _, row := range c.rows {
			column = binary.LittleEndian.AppendUint64(column, uint64(len(cells)))
			cells = append(cells, row[j]...)
		}
		column = binary.LittleEndian.AppendUint64(column, uint64(len(cells)))
		if rng.IntN(20) == 0 {
			column = alteredSame(column, rng)
		}
		if rng.IntN(10) == 0 {
			cells = alteredSame(cells, rng)
		}
		buffers = append(buffers, column, cells)
	}
	header = map[string]any{"names": names, "text": text, "rows": len(c.rows)}
	switch rng.IntN(20) {
	case 0:
		header["rows"] = numberNear(rng, int64(len(c.rows)))
	case 1:
		names[rng.IntN(len(names))] = wordsToTry[rng.IntN(len(wordsToTry))]
	case 2:
		text[rng.IntN(len(text))] = rng.IntN(2) == 0
	case 3:
		header["names"] = names[:rng.IntN(len(names))]
	}
	return header, buffers
}

// alteredSame overwrites bytes, and keeps their number.
func alteredSame(raw []byte, rng *rand.Rand) []byte {
	raw = slices.Clone(raw)
	for range min(len(raw), 1+rng.IntN(4)) {
		raw[rng.IntN(len(raw))] = byte(rng.Uint32())
	}
	return raw
}
