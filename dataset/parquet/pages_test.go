package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/memory"
)

// TestPages: every compression and encoding of pages gives the same values.
func TestPages(t *testing.T) {
	type row struct {
		A float64  `parquet:"a"`
		B float64  `parquet:"b,dict,optional"`
		C *float64 `parquet:"c,optional"`
		D int64    `parquet:"d,delta"`
		E int32    `parquet:"e,delta,optional"`
		F string   `parquet:"f,delta"`
		G string   `parquet:"g,dict"`
		H *string  `parquet:"h,optional"`
		I float64  `parquet:"i,split"`
		J bool     `parquet:"j"`
		K float32  `parquet:"k,split"`
	}
	var rows []row
	for i := range 3000 {
		r := row{A: math.Sqrt(float64(i)), B: float64(i % 7), D: int64(i*i) << 20, E: int32(i % 5),
			F: fmt.Sprintf("common beginning %d", i%700), G: fmt.Sprint("g", i%9), I: -float64(i), J: i%3 == 0,
			K: float32(i) / 4}
		if i%4 == 0 {
			h := fmt.Sprint("h", i)
			r.C, r.H = &r.A, &h
		}
		rows = append(rows, r)
	}
	var want []float64
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd,
		&parquet.Brotli, &parquet.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			path := filepath.Join(t.TempDir(), "t.parquet")
			must.Do(t, parquet.WriteFile(path, rows, parquet.Compression(codec), parquet.DataPageVersion(version),
				parquet.MaxRowsPerRowGroup(1100), parquet.PageBufferSize(2000)))
			table, err := files.ReadFile(path, dataset.Reading{})
			must.Need(t, err == nil, "%v, version %d: %v", codec, version, err)
			if want == nil {
				want = table.Values
				for i, r := range rows {
					got := table.Values[i*11 : i*11+11]
					must.Need(t, got[0] == r.A && got[3] == float64(r.D) &&
						table.Text[5][int(got[5])] == r.F && table.Text[6][int(got[6])] == r.G &&
						(r.C == nil) == (got[2] != got[2]) && (r.H == nil) == (got[7] != got[7]) &&
						got[8] == r.I && (got[9] == 1) == r.J && got[10] == float64(r.K),
						"row %d: %v, of %v", i, got, r)
				}
			}
			for i, v := range table.Values {
				must.Need(t, math.Float64bits(v) == math.Float64bits(want[i]),
					"%v, version %d: row %d, column %d: %v, want %v", codec, version, i/11, i%11, v,
					want[i])
			}
		}
	}
}

// allocated returns how much memory work allocates in all.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// refused reads a file within 64 MiB. It checks that this is an error with these words, and that little memory was
// taken.
func refused(t *testing.T, name string, file []byte, words ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bomb.parquet")
	must.Do(t, os.WriteFile(path, file, 0o666))
	memory.SetLimit(64 << 20)
	defer memory.SetLimit(0)
	var err error
	if taken := allocated(func() { _, err = files.ReadFile(path, dataset.Reading{}) }); taken > 2*64<<20 {
		t.Errorf("%s: %s were allocated", name, memory.Text(float64(taken)))
	}
	if err == nil {
		t.Fatalf("%s: it is read", name)
	}
	for _, word := range append(words, "bomb.parquet") {
		must.Hold(t, strings.Contains(err.Error(), word),
			"%s: %v, which doesn't say %q", name, err, word)
	}
	must.Hold(t, len(err.Error()) <= 500, "%s: %d bytes of error", name, len(err.Error()))
}

// written returns a table as a file.
func written[T any](t *testing.T, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	_, err := w.Write(rows)
	must.Do(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

// altered changes the footer of a file.
func altered(t *testing.T, file []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	end := len(file) - 8
	begin := end - int(binary.LittleEndian.Uint32(file[end:]))
	var compact thrift.CompactProtocol
	var meta format.FileMetaData
	must.Do(t, thrift.Unmarshal(&compact, file[begin:end], &meta))
	change(&meta)
	footer := must.Get(thrift.Marshal(&compact, &meta))(t)
	return footed(file[:begin], footer)
}

func footed(before, footer []byte) []byte {
	file := append(bytes.Clone(before), footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
}

// page returns a page with its header.
func page(t *testing.T, header *format.PageHeader, data []byte) []byte {
	t.Helper()
	var compact thrift.CompactProtocol
	header.CompressedPageSize = int32(len(data))
	text := must.Get(thrift.Marshal(&compact, header))(t)
	return append(text, data...)
}

// paged returns a file of one column and one group of rows, with these pages.
func paged[T any](t *testing.T, rows int64, codec format.CompressionCodec, pages ...[]byte) []byte {
	t.Helper()
	file := append([]byte(magic), bytes.Join(pages, nil)...)
	return altered(t, append(file, written(t, make([]T, 1))...), func(m *format.FileMetaData) {
		m.NumRows, m.RowGroups[0].NumRows = rows, rows
		of := &m.RowGroups[0].Columns[0].MetaData
		of.NumValues, of.Codec = rows, codec
		of.DataPageOffset, of.DictionaryPageOffset, of.TotalCompressedSize = int64(len(magic)), 0,
			int64(len(file)-len(magic))
	})
}

// TestBombs: files that promise much, or unpack to much, are refused before krigo takes memory for their contents.
func TestBombs(t *testing.T) {
	type numbers struct {
		A float64 `parquet:"a"`
	}
	type texts struct {
		A string `parquet:"a"`
	}
	type gaps struct {
		A *float64 `parquet:"a,optional"`
	}
	type whole struct {
		A int64 `parquet:"a"`
	}
	whats := "--memory"
	whole1 := written(t, make([]numbers, 10))
	refused(t, "rows", altered(t, whole1, func(m *format.FileMetaData) {
		m.NumRows, m.RowGroups[0].NumRows = 1<<40, 1<<40
	}), "pack so tightly")
	refused(t, "a million rows of 65 columns", func() []byte {
		fields := parquet.Group{}
		for j := range 65 {
			fields[fmt.Sprint("c", j)] = parquet.Leaf(parquet.DoubleType)
		}
		var b bytes.Buffer
		w := parquet.NewWriter(&b, parquet.NewSchema("t", fields))
		row := make(parquet.Row, 65)
		for j := range row {
			row[j] = parquet.DoubleValue(1).Level(0, 0, j)
		}
		must.Get(w.WriteRows([]parquet.Row{row}))(t)
		must.Do(t, w.Close())
		return altered(t, b.Bytes(), func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<20, 1<<20 })
	}(), whats)
	refused(t, "the footer's length", append(whole1[:len(whole1)-8:len(whole1)-8], "\xf0\xff\xff\xffPAR1"...),
		"longer than it is")
	refused(t, "a list in the footer", footed([]byte(magic), []byte("\x15\x02\x19\xfc\xff\xff\xff\xff\x07")),
		"promises more")
	refused(t, "many empty groups of rows",
		footed([]byte(magic), append(binary.AppendUvarint([]byte("\x15\x02\x49\xfc"), 1<<20), make([]byte, 1<<20+1)...)),
		whats)
	refused(t, "structures in structures", footed([]byte(magic), bytes.Repeat([]byte{0x1c}, 1<<20)),
		"isn't one of Parquet")
	refused(t, "a column elsewhere", altered(t, whole1,
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 50 }),
		"aren't in the file")

	const many = math.MaxInt32
	plain := func(n int32, of format.Encoding, unpacked int32) *format.PageHeader {
		return &format.PageHeader{Type: format.DataPage, UncompressedPageSize: unpacked,
			DataPageHeader: thrift.New(format.DataPageHeader{NumValues: n, Encoding: of, DefinitionLevelEncoding: format.RLE,
				RepetitionLevelEncoding: format.RLE})}
	}
	dictionary := func(n, unpacked int32) *format.PageHeader {
		return &format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: unpacked,
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: n})}
	}
	second := func(n int32, of format.Encoding, unpacked, levels int32) *format.PageHeader {
		return &format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: unpacked,
			DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: n, NumRows: n, Encoding: of,
				DefinitionLevelsByteLength: levels})}
	}
	one := page(t, dictionary(1, 8), make([]byte, 8))
	run := append(binary.AppendUvarint([]byte{1}, many<<1), 0) // values of one bit
	packed := binary.AppendUvarint([]byte{0}, many|1)          // values of no bits
	levels := append([]byte{byte(len(run) - 1), 0, 0, 0}, run[1:]...)
	deltas := func(n uint64, first int64) []byte { // equal values
		d := binary.AppendVarint(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 1<<17), 4), n), first)
		for n > 1 {
			d = append(d, 0, 0, 0, 0, 0)
			n -= min(n-1, 1<<17)
		}
		return d
	}
	refused(t, "values of a page", paged[numbers](t, 10, format.Uncompressed,
		page(t, plain(many, format.Plain, 80), make([]byte, 80))), "10 rows are left")
	refused(t, "a run", paged[numbers](t, 10, format.Uncompressed, one, page(t, plain(10, format.RLEDictionary, 7), run)),
		"more than 10 values")
	refused(t, "a run of packed values", paged[numbers](t, 10, format.Uncompressed, one,
		page(t, plain(10, format.RLEDictionary, 7), packed)), "more than 10 values")
	refused(t, "levels", paged[gaps](t, 10, format.Uncompressed,
		page(t, plain(10, format.Plain, 100), append(levels, make([]byte, 80)...))), "more than 10 values")
	refused(t, "levels of version 2", paged[gaps](t, 10, format.Uncompressed,
		page(t, second(10, format.Plain, 100, int32(len(run)-1)), append(run[1:], make([]byte, 80)...))),
		"more than 10 values")
	refused(t, "a dictionary", paged[numbers](t, 10, format.Uncompressed, page(t, dictionary(many, 8), make([]byte, 8))),
		"a dictionary of")
	refused(t, "differences", paged[whole](t, 10, format.Uncompressed,
		page(t, plain(10, format.DeltaBinaryPacked, 100), deltas(many, 0))), "more than 10 values")
	refused(t, "texts that repeat the one before",
		paged[texts](t, 1<<20, format.Uncompressed,
			page(t, plain(1<<20, format.DeltaByteArray, 100), append(deltas(1<<20, 1<<20), deltas(1<<20, 0)...))), whats)
	refused(t, "texts of negative length", paged[texts](t, 9, format.Uncompressed,
		page(t, plain(9, format.DeltaByteArray, 100), deltas(9, -9))), "negative")
	for codec, of := range map[format.CompressionCodec]compress.Codec{format.Gzip: &parquet.Gzip,
		format.Zstd: &parquet.Zstd, format.Brotli: &parquet.Brotli, format.Lz4Raw: &parquet.Lz4Raw,
		format.Snappy: &parquet.Snappy} {
		zeros := must.Get(of.Encode(nil, make([]byte, 32<<20)))(t)
		refused(t, codec.String()+" bomb", paged[numbers](t, 10, codec, page(t, plain(10, format.Plain, 32<<20), zeros)),
			whats)
		refused(t, codec.String()+" that says less",
			paged[numbers](t, 10, codec, page(t, plain(10, format.Plain, 80), zeros)), "damaged")
		refused(t, codec.String()+" that says more",
			paged[numbers](t, 10, codec, page(t, plain(10, format.Plain, 10<<20), zeros[:50])), "damaged")
		refused(t, codec.String()+" of nothing", paged[numbers](t, 10, codec, page(t, plain(10, format.Plain, 80), nil)),
			"damaged")
	}
	refused(t, "an unknown compression", paged[numbers](t, 10, format.LZO,
		page(t, plain(10, format.Plain, 80), make([]byte, 80))), "isn't read")
	if table, err := files.ReadFile(saved(t,
		paged[numbers](t, 10, format.Uncompressed, one,
			page(t, plain(10, format.RLEDictionary, 3), []byte{1, 20, 0}))), dataset.Reading{}); err != nil ||
		table.Rows != 10 {
		t.Error(err) // the helpers that make these bombs also make readable files
	}
}

func saved(t *testing.T, file []byte) string {
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, os.WriteFile(path, file, 0o666))
	return path
}
