package serve

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// gapBeside returns the median time between two turns of a goroutine that wants to run every millisecond, on one
// processor, while work runs.
func gapBeside(work func()) time.Duration {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	var gaps []time.Duration
	for last := time.Now(); ; {
		time.Sleep(time.Millisecond)
		now := time.Now()
		gaps = append(gaps, now.Sub(last))
		last = now
		select {
		case <-done:
			slices.Sort(gaps)
			return gaps[len(gaps)/2]
		default:
		}
	}
}

// TestPace shows that long tables are parsed and written in pieces, so that other requests get their turns meanwhile.
// Without pauses a turn takes 10 ms, however short the other requests are.
func TestPace(t *testing.T) {
	const rows, columns = 20_000, 8
	var inputs []Input
	for j := range columns {
		inputs = append(inputs, Input{Name: fmt.Sprint("x", j)})
	}
	line := strings.TrimSuffix(strings.Repeat("1.2345678901234567,", columns), ",")
	asJSON := []byte(`{"rows": [` + strings.TrimSuffix(strings.Repeat("["+line+"],", rows), ",") + "]}")
	asCSV := []byte(strings.Join(namesOf(inputs), ",") + "\n" + strings.Repeat(line+"\n", rows))
	answer := Answer{Predictions: slices.Repeat([]model.Prediction{{Mean: 1. / 3, LatentVariance: 1. / 7}}, rows)}
	for name, work := range map[string]func(){
		"parse JSON": func() {
			parseJSON(asJSON, func(string, int) ([]Input, error) { return inputs, nil }, rows)
		},
		"parse CSV":  func() { parseCSV(asCSV, inputs, dataset.Reading{}, rows) },
		"write JSON": func() { answer.json(new(bytes.Buffer)) },
		"write CSV":  func() { answer.csv(&paced{to: new(bytes.Buffer)}) },
	} {
		least := time.Hour
		for range 5 { // other programs may take the processor
			least = min(least, gapBeside(work))
		}
		must.Hold(t, least <= 5*time.Millisecond, "%s: others wait %v for a turn", name, least)
	}
}

// TestSameText shows that an answer that is written in pieces is the text of the whole answer.
func TestSameText(t *testing.T) {
	one := Answer{Model: `"predictions":null<`, Target: "y", Predictions: make([]model.Prediction, 40), Sets: [][]string{{"<"}}}
	two := one
	two.Others = []Answer{one, {Target: "z", Predictions: []model.Prediction{{Label: "a&b"}}}}
	for _, a := range []Answer{one, two} {
		var want, got bytes.Buffer
		encode(&want, a)
		a.json(&got)
		must.Be(t, got.String(), want.String())
	}
}
