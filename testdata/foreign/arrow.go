package foreign

import (
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

func init() {
	files.Register(files.Format{Name: "Arrow", Endings: []string{".arrow", ".feather"}, Read: readArrow,
		Write: writeArrow})
}

// FromRecords returns a table of record batches, which have the same schema. It reads them one by one. A cell is the
// text that Arrow writes for a value. A number comes back from its text bit by bit, a null is missing, a dictionary's
// value is a text, and krigo inspect knows Arrow's times.
func FromRecords(source string, records array.RecordReader) (*dataset.Table, error) {
	t := &dataset.Table{Source: source}
	return t, fromRecords(t, records)
}

// fromRecords appends the records to an empty table.
func fromRecords(t *dataset.Table, records array.RecordReader) error {
	for _, field := range records.Schema().Fields() {
		if arrow.IsNested(field.Type.ID()) {
			return fmt.Errorf("%s: column %q: %s is neither numbers nor text", t.Source, field.Name, field.Type)
		}
		t.Names = append(t.Names, field.Name)
	}
	cells := make([]string, len(t.Names))
	for records.Next() {
		batch := records.RecordBatch()
		for i := range int(batch.NumRows()) {
			for j, column := range batch.Columns() {
				if cells[j] = ""; column.IsValid(i) {
					cells[j] = column.ValueStr(i)
				}
			}
			if err := t.Append(cells); err != nil {
				return err
			}
		}
	}
	if err := records.Err(); err != nil {
		return fmt.Errorf("%s: can't be read: %w", t.Source, err)
	}
	return nil
}

// readArrow reads a file of record batches, for example a Feather file.
func readArrow(f *os.File, t *dataset.Table) error {
	file, err := ipc.NewFileReader(f)
	if err != nil {
		return fmt.Errorf("%s: this isn't an Arrow file: %w", t.Source, err)
	}
	defer file.Close()
	batches := func(yield func(arrow.RecordBatch, error) bool) {
		for i := range file.NumRecords() {
			if !yield(file.RecordBatch(i)) {
				return
			}
		}
	}
	records := array.ReaderFromIter(file.Schema(), batches)
	defer records.Release()
	return fromRecords(t, records)
}

// batchRows is the number of rows of a written batch.
const batchRows = 1 << 16

// writeArrow writes columns of numbers as record batches.
func writeArrow(w io.Writer, names []string, rows int, fill files.Fill) error {
	fields := make([]arrow.Field, len(names))
	for j, name := range names {
		fields[j] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64}
	}
	schema := arrow.NewSchema(fields, nil)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
	if err != nil {
		return err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	flush := func() error {
		batch := b.NewRecordBatch()
		defer batch.Release()
		return out.Write(batch)
	}
	held := 0
	err = fill.Each(names, rows, func(values []float64) error {
		for j, v := range values {
			b.Field(j).(*array.Float64Builder).Append(v)
		}
		if held++; held%batchRows > 0 {
			return nil
		}
		return flush()
	})
	if err == nil && (held%batchRows > 0 || held == 0) {
		err = flush()
	}
	if err != nil {
		return err
	}
	return out.Close()
}
