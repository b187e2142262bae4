package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/krigo-gp/krigo/memory"
)

// plainDictionary is the encoding with which old writers mark dictionaries, and also places in a
// dictionary.
const plainDictionary format.Encoding = 2

// pages gives the decoder the pages of a column in a group of rows, one after the other.
// The pages are unpacked, and they hold no more values than there are rows.
type pages struct {
	what     string // names the column in errors
	file     io.ReaderAt
	at, end  int64 // where the next page begins in the file, and where the last page ends
	codec    format.CompressionCodec
	kind     format.Type
	optional bool
	rows     int // rows still to come

	page []byte // the last page, with its header
	from int64  // the place at which the decoder sees the page
	err  error
}

// pagesOf returns the pages of column j in a group of rows.
// The parameter rows is the group's number of rows.
func (c *contents) pagesOf(group, j, rows int, optional bool, what string) (*pages, error) {
	of := c.chunks[group][j]
	p := &pages{what: what, file: c.file, at: of.DataPageOffset, codec: of.Codec, kind: of.Type,
		optional: optional, rows: rows, from: pagesFrom}
	if of.DictionaryPageOffset > 0 {
		p.at = of.DictionaryPageOffset
	}
	if p.at < 0 || p.at > c.size || of.TotalCompressedSize < 0 ||
		of.TotalCompressedSize > c.size-p.at {
		return nil, errors.New("its pages aren't in the file")
	}
	p.end = p.at + of.TotalCompressedSize
	return p, nil
}

// ReadAt continues where the last call ended, because the decoder never goes back.
func (p *pages) ReadAt(to []byte, at int64) (n int, err error) {
	for n < len(to) {
		begin := at + int64(n) - p.from
		if begin < 0 {
			return n, errors.New("its dictionary isn't where it should be")
		}
		if begin >= int64(len(p.page)) {
			p.from += int64(len(p.page))
			if p.page = nil; p.err == nil {
				p.page, p.err = p.next()
			}
			if p.err != nil {
				return n, p.err
			}
			continue
		}
		n += copy(to[n:], p.page[begin:])
	}
	return n, nil
}

// next reads a page. It returns the unpacked page, with a header to match.
func (p *pages) next() ([]byte, error) {
	if p.at == p.end {
		return nil, io.EOF
	}
	header, err := p.header()
	if err != nil {
		return nil, err
	}
	if int64(header.CompressedPageSize) < 0 || int64(header.CompressedPageSize) > p.end-p.at ||
		header.UncompressedPageSize < 0 {
		return nil, fmt.Errorf("a page of %d bytes, where there are %d", header.CompressedPageSize,
			p.end-p.at)
	}
	// A page is in memory several times: packed, unpacked, unpacked with its header, and twice in
	// the decoder.
	const times = 5
	if err := memory.Afford(p.what+": a page", times*float64(header.UncompressedPageSize)+
		float64(header.CompressedPageSize)); err != nil {
		return nil, err
	}
	data := make([]byte, header.CompressedPageSize)
	if _, err := p.file.ReadAt(data, p.at); err != nil {
		return nil, err
	}
	p.at += int64(len(data))
	if header.CRC != 0 && uint32(header.CRC) != crc32.ChecksumIEEE(data) {
		return nil, errors.New("the sum of a page doesn't match")
	}
	if data, err = p.checked(header, data); err != nil {
		return nil, err
	}
	header.CompressedPageSize = int32(len(data))
	header.UncompressedPageSize = int32(len(data))
	header.CRC = 0
	var compact thrift.CompactProtocol
	head, err := thrift.Marshal(&compact, header)
	return append(head, data...), err
}

// header reads the header of the next page.
func (p *pages) header() (*format.PageHeader, error) {
	const usual, most = 1 << 12, 1 << 24
	for n := int64(usual); ; n *= 16 {
		text := make([]byte, min(n, p.end-p.at))
		if _, err := p.file.ReadAt(text, p.at); err != nil {
			return nil, err
		}
		w := walk{text: text}
		err := w.structure(0)
		if err == errShort && n < min(most, p.end-p.at) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.at += int64(w.at)
		var compact thrift.CompactProtocol
		header := new(format.PageHeader)
		return header, thrift.Unmarshal(&compact, text[:w.at], header)
	}
}

// checked unpacks the content of a page.
func (p *pages) checked(header *format.PageHeader, data []byte) ([]byte, error) {
	size := int(header.UncompressedPageSize)
	switch header.Type {
	case format.DictionaryPage:
		return p.dictionary(header.DictionaryPageHeader.V, data, size)
	case format.DataPage:
		return p.pageV1(header.DataPageHeader.V, data, size)
	case format.DataPageV2:
		return p.pageV2(&header.DataPageHeaderV2.V, data, size)
	}
	return data, nil // the decoder reports pages that it can't read
}

// dictionary returns the unpacked content of a dictionary page. It refuses more values than the
// content has room for: 4 bytes each at least, a byte if the column says how many, or a bit for
// booleans.
func (p *pages) dictionary(of format.DictionaryPageHeader, data []byte, size int) ([]byte, error) {
	if of.Encoding != format.Plain && of.Encoding != plainDictionary {
		return nil, fmt.Errorf("a dictionary in the encoding %v", of.Encoding)
	}
	data, err := unpack(p.codec, data, size)
	least := 32 // bits per value
	switch p.kind {
	case format.Boolean:
		least = 1
	case format.FixedLenByteArray:
		least = 8
	}
	if err == nil && (of.NumValues < 0 || int(of.NumValues)*least > 8*len(data)) {
		err = fmt.Errorf("a dictionary of %d values in %d bytes", of.NumValues, len(data))
	}
	return data, err
}

// pageV1 returns the unpacked content of a data page of version 1. In an optional column,
// definition levels stand before the values, after their own length in four bytes. Both are
// compressed together.
func (p *pages) pageV1(of format.DataPageHeader, data []byte, size int) ([]byte, error) {
	n, err := p.values(of.NumValues)
	if err == nil {
		data, err = unpack(p.codec, data, size)
	}
	if err != nil {
		return nil, err
	}
	if !p.optional {
		return data, p.fits(of.Encoding, data, n)
	}
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, errShort
	}
	levels := 4 + int(binary.LittleEndian.Uint32(data))
	if err := runs(data[4:levels], 1, n); err != nil && of.DefinitionLevelEncoding == format.RLE {
		return nil, err
	}
	return data, p.fits(of.Encoding, data[levels:], n)
}

// pageV2 does what pageV1 does for a page whose levels stand uncompressed before the values.
// It marks the page as uncompressed.
func (p *pages) pageV2(of *format.DataPageHeaderV2, data []byte, size int) ([]byte, error) {
	n, err := p.values(of.NumValues)
	if err != nil {
		return nil, err
	}
	repetitions := int64(of.RepetitionLevelsByteLength)
	definitions := int64(of.DefinitionLevelsByteLength)
	levels := repetitions + definitions
	if min(repetitions, definitions) < 0 || levels > int64(len(data)) || levels > int64(size) ||
		of.NumNulls < 0 || of.NumNulls > of.NumValues || of.NumRows < 0 {
		return nil, errShort
	}
	if p.optional {
		if err := runs(data[repetitions:levels], 1, n); err != nil {
			return nil, err
		}
	}
	values := data[levels:]
	if !of.IsCompressed.Valid || of.IsCompressed.V {
		if values, err = unpack(p.codec, values, size-int(levels)); err != nil {
			return nil, err
		}
	}
	of.IsCompressed = thrift.New(false)
	return append(data[:levels:levels], values...), p.fits(of.Encoding, values, n)
}

// values takes n from the number of values to come. A column has one value in each row.
func (p *pages) values(n int32) (int, error) {
	if n < 0 || int(n) > p.rows {
		return 0, fmt.Errorf("a page of %d values, where %d rows are left", n, p.rows)
	}
	p.rows -= int(n)
	return int(n), nil
}

// fits checks that encoded values become at most n values, and texts that fit the memory limit.
func (p *pages) fits(encoding format.Encoding, data []byte, n int) error {
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		return nil // plain values take their own length
	case plainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		return runs(data[1:], int(data[0]), n)
	case format.RLE:
		if len(data) < 4 || p.kind != format.Boolean {
			return errShort
		}
		return runs(data[4:], 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		_, err := deltaHead(data, n)
		return err
	case format.DeltaByteArray: // each value begins with a piece of the previous value
		shared, rest, err := deltaSum(data, n)
		if err != nil {
			return err
		}
		own, _, err := deltaSum(rest, n)
		if err != nil {
			return err
		}
		return memory.Afford(p.what+": its texts", 2*(shared+own))
	}
	return fmt.Errorf("values in the encoding %v", encoding)
}

// runs goes through runs of equal values and runs of packed values of some bits each.
// There should be n values.
func runs(data []byte, width, n int) error {
	const spare = 512 // packed runs hold multiples of 8 values, for some writers of 504
	for most := uint64(n + spare); len(data) > 0; {
		head, k := binary.Uvarint(data)
		if k <= 0 || width > 32 {
			return errShort
		}
		data = data[k:]
		count := head >> 1
		took := uint64(width+7) / 8
		if count > most {
			return fmt.Errorf("more than %d values", n)
		}
		if head&1 != 0 {
			took = count * uint64(width)
			count *= 8
		}
		if count == 0 {
			continue
		}
		if count > most {
			return fmt.Errorf("more than %d values", n)
		}
		if most -= count; took > uint64(len(data)) {
			return errShort
		}
		data = data[took:]
	}
	return nil
}

// delta is the header of whole numbers that are encoded by their differences:
// in blocks, each made of miniature blocks.
// block is the number of values in a block, minis the number of miniature blocks in a block, and
// values the number of all values. first is the first value, and rest the bytes after the header.
type delta struct {
	block, minis, values uint64
	first                int64
	rest                 []byte
}

// deltaHead reads the head of such numbers (Parquet's encoding DELTA_BINARY_PACKED): the sizes of
// blocks, the number of miniature blocks in each, the number of values, at most n, and the first
// value. Miniature blocks must hold a multiple of 8 values, so that they end with a byte.
func deltaHead(data []byte, n int) (d delta, err error) {
	for _, to := range []*uint64{&d.block, &d.minis, &d.values} {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return d, errShort
		}
		*to, data = v, data[k:]
	}
	first, k := binary.Varint(data)
	if k <= 0 {
		return d, errShort
	}
	d.first = first
	d.rest = data[k:]
	const largest = 1 << 20
	switch {
	case d.values > uint64(n):
		err = fmt.Errorf("more than %d values", n)
	case d.block == 0 || d.block > largest || d.minis == 0 || d.minis > d.block ||
		d.block%d.minis != 0 || d.block/d.minis%8 != 0:
		err = fmt.Errorf("blocks of %d values in %d", d.block, d.minis)
	}
	return d, err
}

// deltaSum returns the sum of such numbers, which must not be negative, and the bytes after them.
func deltaSum(data []byte, n int) (sum float64, rest []byte, err error) {
	d, err := deltaHead(data, n)
	if err != nil {
		return 0, nil, err
	}
	rest = d.rest
	if d.values == 0 {
		return 0, rest, nil
	}
	value := d.first
	left := d.values - 1
	sum = float64(value)
	wrong := value < 0
	for left > 0 {
		// A block begins with its least difference, and a byte for each miniature block: the bits
		// per difference. Only the excess over the least difference is packed.
		least, k := binary.Varint(rest)
		if k <= 0 || uint64(len(rest)-k) < d.minis {
			return 0, nil, errShort
		}
		widths := rest[k : k+int(d.minis)]
		rest = rest[k+int(d.minis):]
		for _, width := range widths {
			// The last block may lack miniature blocks that would hold no values.
			if left == 0 {
				break
			}
			each := d.block / d.minis
			took := each * uint64(width) / 8
			if took > uint64(len(rest)) || width > 64 {
				return 0, nil, errShort
			}
			for i := range min(each, left) {
				var difference uint64
				for b := range uint64(width) {
					// Bits are packed from the least significant bit of each byte on.
					bit := i*uint64(width) + b
					difference |= uint64(rest[bit/8]>>(bit%8)&1) << b
				}
				value += least + int64(difference)
				sum += float64(value)
				wrong = wrong || value < 0
			}
			left -= min(each, left)
			rest = rest[took:]
		}
	}
	if wrong {
		return 0, nil, errors.New("a text of negative length")
	}
	return sum, rest, nil
}

// unpack decompresses data to size bytes.
func unpack(codec format.CompressionCodec, data []byte, size int) (out []byte, err error) {
	if codec == format.Uncompressed {
		return data, nil
	}
	// The largest number of bytes to which one compressed byte can unpack.
	// Codecs that aren't listed have no limit.
	if most, known := map[format.CompressionCodec]int{format.Snappy: 32, format.Lz4Raw: 256,
		format.Gzip: 1032}[codec]; known && size > most*len(data) {
		return nil, fmt.Errorf("%d bytes can't be had from %d by %v", size, len(data), codec)
	}
	from := bytes.NewReader(data)
	switch codec {
	case format.Snappy:
		var n int
		if n, err = snappy.DecodedLen(data); err == nil && n == size {
			out, err = snappy.Decode(nil, data)
		}
	case format.Lz4Raw:
		out = make([]byte, size)
		var n int
		n, err = lz4.UncompressBlock(data, out)
		out = out[:max(n, 0)]
	case format.Zstd:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true)); err == nil {
			out, err = z.DecodeAll(data, make([]byte, 0, size))
			z.Close()
		}
	case format.Gzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(from); err == nil {
			out, err = io.ReadAll(io.LimitReader(z, int64(size)+1))
		}
	case format.Brotli:
		out, err = io.ReadAll(io.LimitReader(brotli.NewReader(from), int64(size)+1))
	default:
		return nil, fmt.Errorf("the compression %v isn't read", codec)
	}
	if err == nil && len(out) != size {
		err = fmt.Errorf("a page isn't of the %d bytes that it should be", size)
	}
	return out, err
}
