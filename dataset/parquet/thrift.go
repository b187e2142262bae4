package parquet

import (
	"encoding/binary"
	"errors"
)

// Footers and page headers are structures in Thrift's compact protocol, whose lists give their
// length before their elements. walk goes through a structure without keeping anything.
// So a structure is known to hold what it promises before a decoder takes memory for it.
type walk struct {
	text     []byte
	at       int
	elements int // structures and elements of lists
}

var (
	errShort  = errors.New("a header is cut short, or promises more than the file holds")
	errThrift = errors.New("a header isn't one of Parquet")
)

// Types of values.
const (
	thriftTrue, thriftFalse, thriftByte   = 1, 2, 3
	thriftInt16, thriftInt32, thriftInt64 = 4, 5, 6
	thriftDouble, thriftBinary            = 7, 8
	thriftList, thriftSet, thriftMap      = 9, 10, 11
	thriftStruct                          = 12
	deepest                               = 32 // Parquet's own structures nest six deep
)

// skip goes n bytes on, or returns errShort if there are fewer.
func (w *walk) skip(n uint64) error {
	if n > uint64(len(w.text)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

// one returns the next byte.
func (w *walk) one() (byte, error) {
	if err := w.skip(1); err != nil {
		return 0, err
	}
	return w.text[w.at-1], nil
}

// varint reads a whole number of seven bits per byte, the lowest first.
// It doesn't decode a sign: a length has no sign, and krigo skips other numbers.
func (w *walk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.text[w.at:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errThrift
	}
	w.at += n
	return v, nil
}

// structure goes through the fields of a structure. A field begins with a byte: its type in the low
// four bits, and in the high four bits how much its number is above the field before. The byte 0
// ends the structure.
func (w *walk) structure(depth int) error {
	if depth > deepest {
		return errThrift
	}
	w.elements++
	for {
		head, err := w.one()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // then the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		// true and false have no further bytes
		if kind := head & 15; kind != thriftTrue && kind != thriftFalse {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
}

// value goes through one value of a type. Lists, sets and maps state their number of elements and
// the elements' types first. A list's number stands in the same byte as the type if it is below 15.
func (w *walk) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		head, err := w.one()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = w.varint(); err != nil {
				return err
			}
		}
		return w.several(n, depth, head&15)
	case thriftMap:
		n, err := w.varint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := w.one()
		if err != nil {
			return err
		}
		return w.several(n, depth, kinds>>4, kinds&15)
	case thriftStruct:
		return w.structure(depth)
	}
	return errThrift
}

// several goes through n elements. Each element has at least one byte.
func (w *walk) several(n uint64, depth int, kinds ...byte) error {
	if depth > deepest {
		return errThrift
	}
	if n > uint64(len(w.text)-w.at) {
		return errShort
	}
	w.elements += int(n)
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
