package matrix_test

import (
	"fmt"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/matrix"
)

// A view shares the memory of its matrix.
func ExampleDense_View() {
	m := matrix.Of(3, 3, []float64{
		1, 2, 3,
		4, 5, 6,
		7, 8, 9,
	})
	v := m.View(1, 3, 0, 2)
	v.Set(0, 0, 40)
	v.AddDiagonal(1)
	fmt.Println(v.Row(0), v.Row(1), m.At(1, 0))
	// Output: [41 5] [7 9] 41
}

func TestShapes(t *testing.T) {
	m := matrix.New(2, 3)
	if empty := m.View(1, 1, 0, 3); empty.Rows != 0 || !empty.IsZero() || !(matrix.Dense{}).IsZero() || m.IsZero() {
		t.Error("a view of no rows has no memory, a matrix has")
	}
	part := matrix.New(2, 2)
	part.CopyFrom(matrix.Of(2, 3, []float64{1, 2, 3, 4, 5, 6}).View(0, 2, 1, 3))
	must.Hold(t, part.At(0, 0) == 2 && part.At(1, 1) == 6, "the copy of a view is %v", part.Data)
	if part.Zero(); part.At(1, 1) != 0 {
		t.Errorf("zeroed to %v", part.Data)
	}
	for name, wrong := range map[string]func(){
		"values":     func() { matrix.Of(2, 2, make([]float64, 3)) },
		"rows":       func() { m.RowRange(1, 3) },
		"other rows": func() { m.CopyFrom(part) },
	} {
		func() {
			defer func() {
				must.Hold(t, recover() != nil, "%s that don't fit: no panic", name)
			}()
			wrong()
		}()
	}
}
