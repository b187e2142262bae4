package files

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestStream: Stream passes rows on as they arrive, before more text comes through the pipe. All rows together are what
// Read makes of the text.
func TestStream(t *testing.T) {
	r, w := io.Pipe()
	tables := make(chan *dataset.Table)
	ended := make(chan error, 1)
	go func() {
		ended <- CSV{From: r, Source: "pipe"}.Stream(100, func(t *dataset.Table) error { tables <- t; return nil })
	}()
	written := make(chan string, 10)
	go func() {
		for text := range written {
			io.WriteString(w, text)
		}
		w.Close()
	}()
	send := func(text string, values ...float64) {
		t.Helper()
		written <- text
		var got []float64
		var names []string
		for len(got) < len(values) {
			table := <-tables
			got, names = append(got, table.Values...), table.Names
		}
		if fmt.Sprint(got) != fmt.Sprint(values) || len(values) > 0 && strings.Join(names, " ") != "a b" {
			t.Errorf("%q: %v %v", text, names, got)
		}
	}
	send("\ufeffa,b\n1,2\n", 1, 2)
	send("3,4\n5,6\n\n", 3, 4, 5, 6)
	send("7,", nil...)
	send("8\n", 7, 8)
	written <- "9,10"
	close(written)
	if last := <-tables; fmt.Sprint(last.Values) != "[9 10]" || last.Where(0) != "line 7" {
		t.Errorf("%+v", last)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStreamRefuses: an error names its place in the whole stream, and the rows before it were passed on.
func TestStreamRefuses(t *testing.T) {
	stop := errors.New("enough")
	for _, c := range []struct {
		text, want string
		rows       int
	}{
		{"a,b\n1,2\n3,4\n5\n6,7\n", "line 4 (row 3): expected 2 fields", 2},
		{"a,b\n1,2\n3,4\n5,6\n7,near\n", `line 5 (row 4), column 2 ("b")`, 3},
		{"a,b\n1,2\n\"3,4\n", "a quote", 1},
		{"a,b\n", "no rows", 0},
		{"", "empty", 0},
		{"a,b\n1,2\n3,stop\n", "enough", 1},
		{"\x00\xff\n", "not a text file", 0},
		{"1,2\n3,4\n", "", 2},
	} {
		rows := 0
		err := CSV{From: iterated{strings.NewReader(c.text)}, Source: "t"}.Stream(1, func(table *dataset.Table) error {
			if table.Text != nil && table.Text[1][0] == "stop" {
				return stop
			}
			_, err := table.Select(table.Names[:1], table.Names[1])
			if err == nil {
				rows += table.Rows
			}
			return err
		})
		must.Hold(t, rows == c.rows && (err == nil) == (c.want == "") &&
			(err == nil || strings.Contains(err.Error(), c.want)),
			"%q: %d rows, %v", c.text, rows, err)
	}
}

// iterated hands out a byte at a time.
type iterated struct{ r io.Reader }

func (i iterated) Read(p []byte) (int, error) { return i.r.Read(p[:1]) }
