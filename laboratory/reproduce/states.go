package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/train"
)

// saveEvery is the time between two saves of a run's state. An interruption loses at most a minute's work.
var saveEvery = time.Minute

var unsafeInName = regexp.MustCompile(`[^a-zA-Z0-9.=-]+`)

// kept is the state of a run, in a file of the folder of runs under the run's key.
type kept[S any] struct {
	env       Env
	key, path string
	last      *S
	saved     time.Time
}

// keep begins with the state that an interrupted run of the same key left, if there is one.
func keep[S any](e Env, key string) (*kept[S], error) {
	k := &kept[S]{env: e, key: key, path: filepath.Join(e.Out, "states",
		fmt.Sprintf("%s-%08x.json", unsafeInName.ReplaceAllString(key, "_"), crc32.ChecksumIEEE([]byte(key)))),
		saved: time.Now()}
	raw, err := os.ReadFile(k.path)
	if errors.Is(err, os.ErrNotExist) {
		return k, os.MkdirAll(filepath.Dir(k.path), 0o755)
	}
	if err == nil {
		k.last = new(S)
		err = json.Unmarshal(raw, k.last)
	}
	if err != nil {
		return nil, k.unusable(err)
	}
	return k, nil
}

func (k *kept[S]) unusable(err error) error {
	return fmt.Errorf("can't use %s (%w): remove it to start the run again", k.path, err)
}

// offer takes the next state. If enough time has passed, or if due is set, it writes the state and reports the
// progress.
func (k *kept[S]) offer(s *S, due bool, says string) error {
	k.last = s
	if time.Since(k.saved) < saveEvery && !due {
		return nil
	}
	k.saved = time.Now()
	if k.env.Partial != nil {
		fmt.Fprintf(k.env.Partial, "%s: %s\n", k.key, says)
	}
	return k.write()
}

func (k *kept[S]) write() error {
	if k.last == nil {
		return nil // interrupted before the first step
	}
	return disk.Write(k.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(k.last) })
}

// interrupted writes the last state. It returns the context's error, or the error of writing.
func (k *kept[S]) interrupted(ctx context.Context) error {
	if err := k.write(); err != nil {
		return fmt.Errorf("interrupted, but the state of %s can't be saved: %w", k.key, err)
	}
	return ctx.Err()
}

func (k *kept[S]) remove() error {
	if err := os.Remove(k.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// minimize trains like LBFGS{MaxEvaluations: evaluations} and keeps its state. An interrupted run goes on from the kept
// state. So does a run that stopped at its limit, if the limit is now higher. If the kept state has more evaluations
// than the limit, the run starts again from x0.
func (e Env) minimize(ctx context.Context, key string, evaluations int, f train.Objective, box train.Bounds,
	x0 []float64) (*train.Result, error) {
	k, err := keep[train.State](e, key)
	if err != nil {
		return nil, err
	}
	from := k.last
	if from == nil || evaluations > 0 && from.Evaluations > evaluations {
		from = train.Start(x0)
	}
	r, err := train.LBFGS{MaxEvaluations: evaluations}.In(box).Minimize(ctx, f, from, func(s *train.State) error {
		return k.offer(s.Clone(), s.Stopped != "", fmt.Sprintf("%d evaluations, objective %.6g", s.Evaluations, s.Value))
	})
	if ctx.Err() != nil {
		return nil, k.interrupted(ctx)
	}
	if err == nil && r.Stopped != train.EvaluationLimit {
		err = k.remove()
	}
	return r, err
}

// fit is krigo.Fit with a checkpoint, from which an interrupted fit goes on.
func (e Env) fit(ctx context.Context, key string, table *dataset.Table, o krigo.Options) (*krigo.Model, error) {
	k, err := keep[krigo.Checkpoint](e, key)
	if err != nil {
		return nil, err
	}
	var says string
	o.Run.Progress = func(event krigo.Event) {
		says = fmt.Sprintf("%s, start %d of %d, iteration %d, objective %.6g", event.Family, event.Start, event.Starts,
			event.Iteration, event.Value)
	}
	o.Run.Resume, o.Run.Save = k.last, func(c *krigo.Checkpoint) error { return k.offer(c, false, says) }
	m, err := krigo.Fit(ctx, table, o)
	switch {
	case ctx.Err() != nil:
		return nil, k.interrupted(ctx)
	case errors.Is(err, krigo.ErrOtherCheckpoint):
		return nil, k.unusable(err)
	case err != nil:
		return nil, err
	}
	return m, k.remove()
}
