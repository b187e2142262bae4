package foreign

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

// A query engine hands over record batches. A model is fitted to them without a file.
func ExampleFromRecords() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 60 {
		x := float64(i) / 10
		b.Field(0).(*array.Float64Builder).Append(x)
		b.Field(1).(*array.Float64Builder).Append(math.Sin(x))
	}
	records, err := array.NewRecordReader(schema, []arrow.RecordBatch{b.NewRecordBatch()})
	if err != nil {
		log.Fatal(err)
	}
	defer records.Release()

	table, err := FromRecords("waves", records)
	if err != nil {
		log.Fatal(err)
	}
	model, err := krigo.Fit(context.Background(), table, krigo.Options{Data: krigo.Data{Target: "y"}})
	if err != nil {
		log.Fatal(err)
	}
	ps, err := model.Predict(context.Background(), &dataset.Table{Source: "here", Names: []string{"x"}, Rows: 1,
		Values: []float64{1.55}}, krigo.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", ps[0].Mean)
	// Output: 1.0
}

// TestArrow shows that a file of several batches becomes the same table, bit by bit, with missing values, words and
// times. A file that isn't a table is an error.
func TestArrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "fuel", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
	}, nil)
	f := must(os.Create(path))(t)
	out := must(ipc.NewFileWriter(f, ipc.WithSchema(schema)))(t)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	numbers := []float64{0.1, 1e-300, math.Nextafter(1, 2), math.Pi * 1e200}
	for i, x := range numbers {
		if i == 1 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Float64Builder).Append(x)
		}
		b.Field(1).(*array.Int64Builder).Append(int64(i))
		do(t, b.Field(2).(*array.BinaryDictionaryBuilder).AppendString([]string{"gas", "oil"}[i%2]))
		b.Field(3).(*array.Date32Builder).Append(arrow.Date32FromTime(time.Date(2024, 2, 28+i, 0, 0, 0, 0, time.UTC)))
		if i%2 == 1 {
			do(t, out.Write(b.NewRecordBatch()))
		}
	}
	do(t, out.Close())

	table := must(files.ReadFile(path, dataset.Reading{}))(t)
	if table.Rows != 4 || !reflect.DeepEqual(table.Names, []string{"x", "n", "fuel", "day"}) ||
		!reflect.DeepEqual(table.Text[2], []string{"gas", "oil"}) ||
		!reflect.DeepEqual(table.Text[3], []string{"2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"}) {
		t.Errorf("%+v", table)
	}
	for i, want := range numbers {
		if got := table.Values[4*i]; i != 1 && got != want || i == 1 && !math.IsNaN(got) ||
			table.Values[4*i+1] != float64(i) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}

	fill := func(i int, values []float64) error { values[0], values[1] = numbers[i], float64(i); return nil }
	do(t, files.WriteFile(path, []string{"v", "i"}, 4, fill))
	if table, err := files.ReadFile(path, dataset.Reading{}); err != nil || table.Rows != 4 ||
		table.Values[6] != numbers[3] ||
		table.Values[2] != numbers[1] || table.Values[7] != 3 {
		t.Errorf("written and read: %+v, %v", table, err)
	}

	do(t, os.WriteFile(path, []byte("x,y\n1,2\n"), 0o600))
	if _, err := files.ReadFile(path, dataset.Reading{}); err == nil ||
		!strings.Contains(err.Error(), "this isn't an Arrow file") {
		t.Errorf("text: %v", err)
	}
	list := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}}, nil)
	none := must(array.NewRecordReader(list, nil))(t)
	if _, err := FromRecords("lists", none); err == nil || !strings.Contains(err.Error(), `lists: column "l"`) {
		t.Errorf("a column of lists: %v", err)
	}
}
