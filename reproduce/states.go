package reproduce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/train"
)

// saveEvery is the time between two saves of a run's state: a minute's work is lost at most.
const saveEvery = time.Minute

var unsafeInName = regexp.MustCompile(`[^a-zA-Z0-9.=-]+`)

// minimize trains as LBFGS{MaxEvaluations: evaluations} does, and keeps the state in the
// results folder under the run's key: an interrupted run goes on from there, and one that
// stopped at its limit does if it is asked for again with a higher one. Progress is told
// every time the state is kept.
func (e Env) minimize(ctx context.Context, key string, evaluations int, f train.Objective, box train.Bounds, x0 []float64) (*train.Result, error) {
	path := filepath.Join(e.Out, "states", unsafeInName.ReplaceAllString(key, "_")+".json")
	from := train.Start(x0)
	switch raw, err := os.ReadFile(path); {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		from = &train.State{}
		if err := json.Unmarshal(raw, from); err != nil {
			return nil, fmt.Errorf("%s can't be read (%w): remove it, and the run begins anew", path, err)
		}
	}
	var last *train.State
	save := func() error {
		return dataset.WriteFileAtomic(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(last) })
	}
	saved := time.Now()
	r, err := train.LBFGS{MaxEvaluations: evaluations}.Minimize(ctx, f, box, from, func(s *train.State) error {
		last = s.Clone()
		if time.Since(saved) < saveEvery && s.Stopped == "" {
			return nil
		}
		saved = time.Now()
		if e.Partial != nil {
			fmt.Fprintf(e.Partial, "%s: %d evaluations, objective %.6g\n", key, s.Evaluations, s.Value)
		}
		return save()
	})
	if ctx.Err() != nil && last != nil {
		return nil, errors.Join(ctx.Err(), save())
	}
	if err != nil {
		return nil, err
	}
	if r.Stopped != train.EvaluationLimit {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return r, nil
}
