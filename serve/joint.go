package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/answer"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
)

// A request for draws, covariances or explanations has at most jointRows rows and jointDraws draws.
// The cost of covariances grows faster than the square of the rows.
const (
	jointRows  = 1000
	jointDraws = 1000
)

// Answer is the answer of POST /v1/predict.
type Answer struct {
	Model       string             `json:"model"`
	Target      string             `json:"target"`
	Predictions []model.Prediction `json:"predictions"`
	// of the levels of an ordinal target
	Chances     []model.Chance     `json:"chances,omitempty"`
	Explanation *model.Explanation `json:"explanation,omitempty"` // if the query has explain=true
	Observed    *krigo.Observed    `json:"observed,omitempty"`    // if the query has observed=true
	// if the query has sets=LEVEL: each row's set of labels
	Sets [][]string `json:"sets,omitempty"`
	// which cells of the rows were filled, and which rows have no prediction
	Notices []string `json:"notices,omitempty"`
	// the other targets of a file of several
	Others []Answer `json:"others,omitempty"`
}

// csv writes the answer as CSV. With several targets, the columns' names end in _TARGET.
func (a Answer) csv(w io.Writer) {
	own := func(of Answer) answer.Table {
		return answer.Answer{Predictions: of.Predictions, Explanation: of.Explanation}.Table()
	}
	t := own(a)
	if len(a.Others) > 0 {
		t = answer.Table{}
		for _, of := range append([]Answer{a}, a.Others...) {
			t.Beside(of.Target, own(of))
		}
	}
	write := files.Write
	if a.Sets != nil {
		write = files.Beside((*dataset.Kept)(nil).Labelled(func(row int) string {
			return a.Predictions[row].Label
		}, a.Sets))
	}
	write(w, t.Names, len(a.Predictions), t.Fill) // predictions are finite
}

// json writes the answer as JSON.
func (a Answer) json(text *bytes.Buffer) {
	rows := a.Predictions
	others := a.Others
	a.Predictions = nil
	a.Others = nil
	encodeRows(text, a, rows)
	for i, other := range others {
		between := `,"others":[`
		if i > 0 {
			between = ","
		} else {
			text.Truncate(text.Len() - len("}\n"))
		}
		text.WriteString(between)
		other.json(text)
		text.Truncate(text.Len() - len("\n"))
	}
	if len(others) > 0 {
		text.WriteString("]}\n")
	}
}

// encodeRows writes an answer without its predictions as JSON, and rows in their place.
func encodeRows[T any](text *bytes.Buffer, answer any, rows []T) {
	const place = `"predictions":null` // no text has this, because quotes in texts are escaped
	var around bytes.Buffer
	encode(&around, answer)
	before, after, _ := strings.Cut(around.String(), place)
	text.WriteString(before + `"predictions":[`)
	var work pace
	for i := range rows {
		work.rest()
		if i > 0 {
			text.WriteByte(',')
		}
		encode(text, rows[i])
		text.Truncate(text.Len() - len("\n"))
	}
	text.WriteString("]" + after)
}

// KindAnswer is the answer of POST /v1/predict for a target of more than two classes.
type KindAnswer struct {
	Model string `json:"model"`
	krigo.Labels
	Notices []string `json:"notices,omitempty"`
}

// json writes the answer as JSON, one prediction after another.
func (a KindAnswer) json(text *bytes.Buffer) {
	rows := a.Predictions
	a.Predictions = nil
	encodeRows(text, a, rows)
}

// csv writes the answer as CSV, with the columns of krigo predict.
func (a KindAnswer) csv(w io.Writer) {
	names, fill, labels := a.Table(nil)
	files.Beside(labels)(w, names, len(a.Predictions), fill)
}

// levelOf returns the level of the sets that a query asks for, or 0 if it asks for none.
func levelOf(query url.Values) (level float64, err error) {
	if text := query.Get("sets"); query.Has("sets") {
		if level, err = strconv.ParseFloat(text, 64); err != nil || level == 0 {
			err = bad(400, "sets %q: want a share of rows between 0 and 1, such as 0.9",
				clip([]byte(text)))
		}
	}
	return level, err
}

// Joint is the answer of POST /v1/joint: the predictions of POST /v1/predict, and the draws or
// covariances that were asked for.
type Joint struct {
	Model       string             `json:"model"`
	Target      string             `json:"target"`
	Predictions []model.Prediction `json:"predictions"`
	// for each row, its value in every draw
	Samples [][]float64 `json:"samples,omitempty"`
	// for each row, its covariance with every row
	Covariance [][]float64 `json:"covariance,omitempty"`
	Notices    []string    `json:"notices,omitempty"`
}

// wish is what a request asks for at all its rows together.
type wish struct {
	samples    int
	seed       uint64
	covariance bool
}

// jointParameters are the query parameters of a wish.
var jointParameters = []string{"samples", "seed", "covariance"}

// wishOf reads the parameters samples, seed and covariance. It refuses numbers out of range, and a
// query that asks for neither draws nor covariances.
func wishOf(query url.Values) (w wish, err error) {
	if text := query.Get("samples"); query.Has("samples") {
		if w.samples, err = strconv.Atoi(text); err != nil || w.samples < 0 ||
			w.samples > jointDraws {
			return w, bad(400, "samples %q: want a number of draws up to %d",
				clip([]byte(text)), jointDraws)
		}
	}
	if text := query.Get("seed"); query.Has("seed") {
		if w.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return w, bad(400, "seed %q: want an integer from 0 to 18446744073709551615",
				clip([]byte(text)))
		}
	}
	if w.covariance, err = truth(query, "covariance"); err != nil {
		return w, err
	}
	if w.samples == 0 && !w.covariance {
		return w, bad(400, "the request asks for neither draws nor covariances: add "+
			"samples=NUMBER, covariance=true, or both, or use /v1/predict")
	}
	return w, nil
}

// truth returns the value of a parameter that is true or false.
// It returns false if the parameter is absent.
func truth(query url.Values, name string) (bool, error) {
	text := query.Get(name)
	if query.Has(name) && text != "true" && text != "false" {
		return false, bad(400, "%s %q: want true or false", name, clip([]byte(text)))
	}
	return text == "true", nil
}

// bytes returns the memory that computing the wish at the given number of rows takes:
// the posterior's, one copy of the rows, encoded and scaled, and two copies that the kernel packs.
// A packed copy may take twice the memory of the rows, because the pool of scratch memory holds
// powers of two.
func (w wish) bytes(m *krigo.Model, rows int) int64 {
	return 8*5*int64(rows)*int64(len(m.Inputs)) + m.Posterior.JointBytes(rows, w.samples)
}

// compute takes memory, waits for a turn, and adds the draws and covariances that the wish asks for
// to the answer.
func (w wish) compute(ctx context.Context, held *hold, one *turns, m *krigo.Model, t *dataset.Table,
	to *Joint) error {
	bytes := w.bytes(m, t.Rows)
	if err := held.resize(ctx, kept(t)+bytes); err != nil {
		if errors.Is(err, errHuge) {
			return bad(413, "draws or covariances at %d rows, from a model of %d rows, would "+
				"take %d MiB, more than a request may have: send fewer rows", t.Rows,
				m.Posterior.Standing(), bytes>>20)
		}
		return err
	}
	if err := one.begin(ctx, held.of); err != nil {
		return err
	}
	defer one.end()
	d, err := answer.Asked{Predictions: to.Predictions, Samples: w.samples, Seed: w.seed,
		Covariance: w.covariance}.Of(ctx, m, t)
	to.Samples = d.Samples
	to.Covariance = lists.To(d.Covariance.Rows, d.Covariance.Row)
	return err
}

// bytesOfShare is the number of bytes that further reserves for each input of a row: its
// contribution, and the text of it in the answer.
const bytesOfShare = 100

// further returns the answer for predictions ps of the rows of t, with the parts that the query
// asks for: explain=true adds explanations, observed=true a comparison with the rows' targets, and
// sets=LEVEL sets of labels. Explanations and comparisons use all cores, so the request first
// reserves memory and waits for its turn.
func further(ctx context.Context, query url.Values, held *hold, one *turns, m *served,
	t *dataset.Table, ps []model.Prediction) (to Answer, err error) {
	explain, err := truth(query, "explain")
	observed, wrong := truth(query, "observed")
	level, unfit := levelOf(query)
	switch err = cmp.Or(err, wrong, unfit); {
	case err != nil:
		return to, err
	case explain && t.Rows > jointRows:
		return to, tooManyRows(jointRows)
	// The reservation is made before the wait, so that a request never holds its turn while it
	// waits for memory.
	case explain || observed:
		if err := held.resize(ctx,
			kept(t)+bytesOfShare*int64(t.Rows)*int64(len(m.Inputs))); err != nil {
			return to, err
		}
		if err := one.begin(ctx, held.of); err != nil {
			return to, err
		}
		defer one.end()
	}
	asked := answer.Asked{Predictions: ps, Explain: explain}
	if m.Kinds == nil { // of more than two classes, all models' predictions make the sets
		asked.Sets = level
	}
	d, err := asked.Of(ctx, m.Model, t)
	to = Answer{Model: m.name, Target: m.Target, Predictions: ps, Chances: d.Chances,
		Explanation: d.Explanation, Sets: d.Sets}
	if err == nil && observed {
		to.Observed, err = m.Observe(ctx, t, ps)
	}
	return to, err
}

// write writes the answer row by row. As one text it would take three times the memory of its
// numbers. turn calls the function that encodes a row, when it is the request's turn.
func (j Joint) write(w http.ResponseWriter, turn func(do func()) error) {
	rows := []struct {
		name   string
		values [][]float64
	}{{"samples", j.Samples}, {"covariance", j.Covariance}}
	j.Samples = nil
	j.Covariance = nil
	head, err := json.Marshal(j)
	if err != nil {
		panic(err) // never, since predictions are finite
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	// The object stays open: the closing brace follows the last list of rows.
	line := head[:len(head)-1]
	for _, of := range rows {
		for i, values := range of.values {
			if i == 0 {
				line = append(append(append(line, `,"`...), of.name...), `":[`...)
			} else {
				line = append(line, ",\n"...)
			}
			gone := turn(func() {
				raw, err := json.Marshal(values)
				if err != nil {
					panic(err) // never, since these numbers are finite
				}
				line = append(line, raw...)
			})
			if i == len(of.values)-1 {
				line = append(line, ']')
			}
			if gone == nil {
				_, gone = w.Write(line)
			}
			if gone != nil {
				return
			}
			line = line[:0]
		}
	}
	w.Write(append(line, "}\n"...))
}
