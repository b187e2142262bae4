package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/krigo-gp/krigo/memory"
)

// magic begins and ends every Parquet file.
const magic = "PAR1"

// contents is an open file. The decoder would take as much memory as a file promises to need, so it
// never sees the file itself. It sees pages that were checked against the file and unpacked
// (pages), with the footer of a file of such pages.
type contents struct {
	*parquet.File
	file io.ReaderAt
	size int64
	// for each group of rows: places and compression of its columns
	chunks [][]format.ColumnMetaData
}

// The decoder sees a column's pages from pagesFrom on, after the first bytes of a file.
// pagesTo is beyond any end.
const pagesFrom, pagesTo = int64(len(magic)), 1 << 60

// open reads the footer of a file of size bytes.
func open(f io.ReaderAt, size int64, source string) (*contents, error) {
	const before, after = len(magic), 4 + len(magic)
	var end [after]byte
	if size < int64(before+after) {
		return nil, errors.New("it is too short")
	}
	if _, err := f.ReadAt(end[:], size-int64(after)); err != nil {
		return nil, err
	}
	if string(end[4:]) != magic {
		return nil, errors.New("it doesn't end as one")
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-int64(before+after) {
		return nil, errors.New("its footer is longer than it is")
	}
	// A structure takes at most 560 bytes for its fields, together with what the decoder makes of
	// the structure.
	const each, times = 1000, 4
	what := source + ": its footer"
	if err := memory.Afford(what, times*float64(length)); err != nil {
		return nil, err
	}
	footer := make([]byte, length)
	if _, err := f.ReadAt(footer, size-int64(after)-length); err != nil {
		return nil, err
	}
	w := walk{text: footer}
	if err := w.structure(0); err != nil {
		return nil, err
	}
	if err := memory.Afford(what, times*float64(length)+each*float64(w.elements)); err != nil {
		return nil, err
	}
	var compact thrift.CompactProtocol
	var meta format.FileMetaData
	if err := thrift.Unmarshal(&compact, footer, &meta); err != nil {
		return nil, err
	}
	c := &contents{file: f, size: size}
	for _, group := range meta.RowGroups {
		var chunks []format.ColumnMetaData
		for j := range group.Columns {
			of := &group.Columns[j].MetaData
			chunks = append(chunks, *of)
			of.Codec = format.Uncompressed
			of.BloomFilterOffset = 0
			of.DataPageOffset = pagesFrom
			of.DictionaryPageOffset = 0
			of.TotalCompressedSize = pagesTo - pagesFrom
		}
		c.chunks = append(c.chunks, chunks)
	}
	footer, err := thrift.Marshal(&compact, &meta)
	if err != nil {
		return nil, err
	}
	virtual := binary.LittleEndian.AppendUint32(append([]byte(magic), footer...),
		uint32(len(footer)))
	virtual = append(virtual, magic...)
	c.File, err = parquet.OpenFile(bytes.NewReader(virtual), int64(len(virtual)),
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	return c, err
}
