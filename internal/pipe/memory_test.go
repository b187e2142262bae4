package pipe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/krigo-gp/krigo/memory"
)

// TestMemory: requests that announce more than may be taken, or whose tables would take it, are errors before that.
func TestMemory(t *testing.T) {
	memory.SetLimit(16 << 20)
	defer memory.SetLimit(0)
	frame := func(header any, length int, data []byte) *bytes.Reader {
		text, err := json.Marshal(header)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(append(append(binary.LittleEndian.AppendUint32(nil, uint32(max(length, len(text)))), text...), data...))
	}
	var over *memory.Error
	for name, in := range map[string]*bytes.Reader{
		"header":  frame(map[string]any{}, mostHeader, nil),
		"buffer":  frame(map[string]any{"buffers": []int{1 << 39}}, 0, nil),
		"buffers": frame(map[string]any{"buffers": []int{4 << 20, 4 << 20}}, 0, make([]byte, 8<<20)),
	} {
		if _, err := readFrame(in); !errors.As(err, &over) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, text := make([]string, 3000), make([]bool, 3000)
	for j := range names {
		names[j] = fmt.Sprint("c", j)
	}
	r, err := readFrame(frame(map[string]any{"table": map[string]any{"rows": 1000, "names": names, "text": text}, "buffers": []int{8000}}, 0, make([]byte, 8000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.table(); !errors.As(err, &over) {
		t.Error(err)
	}
}
