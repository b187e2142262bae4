package pipe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/memory"
)

// TestMemory shows that a request is an error before it takes memory, if its header or its table would take more than
// is allowed. If only its buffers are too large, the request is read to its end, so that the next request is found.
func TestMemory(t *testing.T) {
	memory.SetLimit(16 << 20)
	defer memory.SetLimit(0)
	frame := func(header any, length int, data []byte) *bytes.Reader {
		text, err := json.Marshal(header)
		must.Need(t, err == nil, "%v", err)
		return bytes.NewReader(append(append(binary.LittleEndian.AppendUint32(nil, uint32(max(length, len(text)))), text...),
			data...))
	}
	var over *memory.Error
	if _, err := readFrame(frame(map[string]any{}, mostHeader, nil)); !errors.As(err, &over) {
		t.Error(err)
	}
	for name, sizes := range map[string][]int{"buffer": {8 << 20}, "buffers": {4 << 20, 0, 4 << 20}} {
		in := io.MultiReader(frame(map[string]any{"id": 5, "buffers": sizes}, 0, make([]byte, 8<<20)),
			frame(map[string]any{"id": 6}, 0, nil))
		if r, err := readFrame(in); err != nil || r.ID != 5 || !errors.As(r.over, &over) || len(r.data) > 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r, err := readFrame(in); err != nil || r.ID != 6 || r.over != nil {
			t.Errorf("after %s: %+v, %v", name, r, err)
		}
	}
	for name, sizes := range map[string][]int{"ends early": {1 << 39}, "no length": {8 << 20, -1},
		"too long": {8 << 20, mostBuffer + 1}} {
		if _, err := readFrame(frame(map[string]any{"buffers": sizes}, 0, make([]byte, 8<<20))); err == nil ||
			!errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, text := make([]string, 3000), make([]bool, 3000)
	for j := range names {
		names[j] = fmt.Sprint("c", j)
	}
	r, err := readFrame(frame(map[string]any{"table": map[string]any{"rows": 1000, "names": names, "text": text},
		"buffers": []int{8000}}, 0, make([]byte, 8000)))
	must.Need(t, err == nil, "%v", err)
	if _, err := r.table(dataset.Reading{}); !errors.As(err, &over) {
		t.Error(err)
	}
}

// TestTooLarge shows that a request too large for memory gets an error as its answer, and that requests after it are
// answered.
func TestTooLarge(t *testing.T) {
	memory.SetLimit(16 << 20)
	defer memory.SetLimit(0)
	c := connect(t)
	for range 2 {
		r, _, _ := c.call("predict", map[string]any{"model": 1}, make([]byte, 8<<20))
		if r.Error == nil || r.Error.Kind != "failed" || !strings.Contains(r.Error.Message, "--memory") {
			t.Errorf("%+v", r.Error)
		}
		if r, _, _ := c.call("hello", map[string]any{}); r.Error != nil {
			t.Errorf("%+v", r.Error)
		}
	}
}
