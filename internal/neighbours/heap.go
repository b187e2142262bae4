package neighbours

import "math"

// None fills places for which there is no row.
const None = -1

// heap keeps the m smallest of the rows offered to it, by key and then by number.
// The last of them is on top.
type heap struct {
	keys []float64
	rows []int32
	m    int
}

// newHeap returns an empty heap that keeps the m smallest keys.
func newHeap(m int) heap { return heap{make([]float64, 0, m), make([]int32, 0, m), m} }

// worst returns the largest key with which a row can still enter the heap.
func (h *heap) worst() float64 {
	switch {
	case h.m == 0:
		return math.Inf(-1)
	case len(h.keys) < h.m:
		return math.Inf(1)
	}
	return h.keys[0]
}

// after says whether entry i comes after a row with this key and number.
func (h *heap) after(i int, key float64, row int32) bool {
	return h.keys[i] > key || (h.keys[i] == key && h.rows[i] > row)
}

// offer keeps a row if it is among the m smallest so far.
func (h *heap) offer(key float64, row int32) {
	if n := len(h.keys); n < h.m {
		h.keys = append(h.keys, key)
		h.rows = append(h.rows, row)
		for n > 0 && h.after(n, h.keys[(n-1)/2], h.rows[(n-1)/2]) {
			h.swap(n, (n-1)/2)
			n = (n - 1) / 2
		}
		return
	}
	if h.m > 0 && h.after(0, key, row) {
		h.keys[0], h.rows[0] = key, row
		h.down(h.m)
	}
}

// swap exchanges two entries, keys with rows.
func (h *heap) swap(i, j int) {
	h.keys[i], h.keys[j] = h.keys[j], h.keys[i]
	h.rows[i], h.rows[j] = h.rows[j], h.rows[i]
}

// down moves the top entry to its place among the first n.
func (h *heap) down(n int) {
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return
		}
		if c+1 < n && h.after(c+1, h.keys[c], h.rows[c]) {
			c++
		}
		if !h.after(c, h.keys[i], h.rows[i]) {
			return
		}
		h.swap(i, c)
		i = c
	}
}

// empty writes the kept rows to the i-th m places of rows, the first row first.
// It writes their keys too, unless keys is nil.
func (h *heap) empty(i int, rows []int32, keys []float64) {
	for n := len(h.keys) - 1; n > 0; n-- {
		h.swap(0, n)
		h.down(n)
	}
	for k := range h.m {
		row := int32(None)
		key := math.Inf(1)
		if k < len(h.rows) {
			row = h.rows[k]
			key = h.keys[k]
		}
		rows[i*h.m+k] = row
		if keys != nil {
			keys[i*h.m+k] = key
		}
	}
	h.keys = h.keys[:0]
	h.rows = h.rows[:0]
}
