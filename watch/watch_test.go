package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// loaded returns a model of Snelson's data, read back from its file.
func loaded(t *testing.T, change func(*krigo.Options)) *model.Model {
	t.Helper()
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se"}, Run: krigo.Run{Restarts: 1},
		Promise: krigo.Promise{Epsilon: 1}}
	if change != nil {
		change(&o)
	}
	fitted := must.Get(krigo.Fit(context.Background(), data.Snelson(), o))(t)
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, fitted.Save(path))
	m := must.Get(model.Load(path))(t)
	return m
}

// outcomes returns rows with targets. misses says which rows miss.
func outcomes(t *testing.T, m *model.Model, misses ...bool) *dataset.Data {
	t.Helper()
	table := &dataset.Table{Source: "rows", Names: []string{"x", "y"}, Rows: len(misses)}
	for _, miss := range misses {
		x := 1 + 4*rand.Float64()
		y := 100.
		if !miss {
			ps := must.Get(m.Predict(must.Get(m.Unlabelled(&dataset.Table{Source: "row", Names: []string{"x"}, Rows: 1,
				Values: []float64{x}}))(t)))(t)
			y = ps[0].Mean
		}
		table.Values = append(table.Values, x, y)
	}
	return must.Get(m.Labelled(table))(t)
}

// TestLedger shows that a ledger that is opened again says the same, to the last bit. Two watches of one model are the
// same watch, and another model's outcomes stay apart.
func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m, other := loaded(t, nil), loaded(t, func(o *krigo.Options) { o.Promise.Loss = "clipped-square" })
	l := must.Get(Open(path))(t)
	w, o := must.Get(l.Watch(m))(t), must.Get(l.Watch(other))(t)
	must.Be(t, must.Get(l.Watch(m))(t), w, "two watches of one model")
	ctx := context.Background()
	var last State
	for i := range 12 {
		d := outcomes(t, m, true, false, i%2 == 0)
		last = must.Get(w.Observe(ctx, d, d.All()))(t)
		must.Get(o.Observe(ctx, d, d.All()[:2]))(t)
	}
	must.Hold(t, last.Rows == 36 && last.Misses == 18 && last.Alarm != nil &&
		last.Alarm.Row <= 36 && last.Risk == 0.5 && last.AtLeast > last.Bound &&
		last.AtMost > 0.5 && last.LogE <= last.Highest, "%+v", last)
	graded := o.State()
	must.Hold(t, graded.Rows == 24 &&
		(graded.Misses == math.Trunc(graded.Misses) || math.Abs(graded.Misses-12) <= 0.1),
		"%+v", graded)
	repeated := outcomes(t, m, false, false)
	must.Get(w.Observe(ctx, repeated, []int{0, 1}))(t)
	last = must.Get(w.Observe(ctx, repeated, []int{1}))(t)
	must.Hold(t, last.Repeats == 1 && last.Rows == 39 && last.Alarm != nil &&
		last.LogE < last.Highest, "%+v", last)
	// Under a key rows count once, rows with other targets are refused, and other models have their own keys.
	keyed := outcomes(t, m, false, true)
	once := func(w *Watch, d *dataset.Data, rows int, added bool) State {
		s, did, err := w.ObserveOnce(ctx, "monday", d, []int{0, 1}[:rows])
		must.Hold(t, err == nil && did == added, "%d rows: %v, %v", rows, did, err)
		return s
	}
	last = once(w, keyed, 2, true)
	if again := once(w, keyed, 2, false); last.Rows != 41 || !reflect.DeepEqual(again, last) {
		t.Errorf("%+v, then %+v", last, again)
	}
	once(o, keyed, 1, true)
	graded = o.State()
	var ke *KeyError
	for _, d := range []*dataset.Data{outcomes(t, m, true, true), outcomes(t, m, false, false)} {
		if _, _, err := w.ObserveOnce(ctx, "monday", d, []int{0, 1}); !errors.As(err, &ke) || ke.Key != "monday" ||
			!reflect.DeepEqual(w.State(), last) {
			t.Errorf("other rows under the key: %v", err)
		}
	}
	must.Refuse(Open(path))(t, "another process writes it")
	if s := once(must.Get(must.Get(Read(path))(t).Watch(m))(t), keyed, 2, false); !reflect.DeepEqual(s, last) {
		t.Errorf("read beside, under the key: %+v", s)
	}
	if reading := must.Get(must.Get(Read(path))(t).Watch(m))(t); !reflect.DeepEqual(reading.State(), last) {
		t.Errorf("read beside: %+v", reading.State())
	} else if _, err := reading.Observe(ctx, repeated, []int{0}); err == nil {
		t.Error("what was opened to be read was written")
	}
	must.Do(t, l.Close())
	if _, err := w.Observe(ctx, repeated, []int{0}); err == nil || !strings.Contains(err.Error(), "closed") ||
		!reflect.DeepEqual(w.State(), last) {
		t.Errorf("%v, %+v", err, w.State())
	}
	l = must.Get(Open(path))(t)
	defer l.Close()
	if got := must.Get(l.Watch(m))(t).State(); !reflect.DeepEqual(got, last) || l.Repaired != 0 {
		t.Errorf("opened again: %+v, not %+v", got, last)
	}
	if got := must.Get(l.Watch(other))(t).State(); !reflect.DeepEqual(got, graded) {
		t.Errorf("opened again: %+v, not %+v", got, graded)
	}
	if all := must.Get(l.Others(ClaimOf(loaded(t, func(o *krigo.Options) { o.Run.Seed = 1 }))))(t); len(all) != 2 ||
		all[0] != (Other{m.Checksum(), 41, true}) || !strings.Contains(all[0].Sentence(), "They raise an ALARM") {
		t.Errorf("other models: %+v", all)
	}
	for text, want := range map[string]string{last.Sentence(m): "41 outcomes, 19 missed by more than 0.808 (46.34 %)",
		last.Alarm.Sentence(last): "with probability at most 0.01", graded.Sentence(other): "a mean loss of 0.",
		(State{}).Sentence(m): "No outcome yet"} {
		must.Hold(t, strings.Contains(text, want), "no %q in %s", want, text)
	}
}

// TestCutRotation: a ledger that lost the state which a rotation carried over is refused, by writers and readers. Its
// alarm would be forgotten.
func TestCutRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m := loaded(t, nil)
	l := must.Get(Open(path))(t)
	w := must.Get(l.Watch(m))(t)
	missed := outcomes(t, m, true, true, true, true, true, true)
	must.Get(w.Observe(t.Context(), missed, missed.All()))(t)
	must.Get(l.Rotate())(t)
	l.Close()
	whole := must.Get(os.ReadFile(path))(t)
	// The owner may begin a new ledger, and a file of another kind is no archive.
	fresh := filepath.Join(t.TempDir(), "l.ledger")
	must.Do(t, os.WriteFile(fresh+".1", must.Get(os.ReadFile(path+".1"))(t), 0o600))
	must.Get(Open(fresh))(t).Close()
	must.Do(t, os.WriteFile(fresh+".1", []byte("notes"), 0o600))
	must.Get(Open(fresh))(t).Close()
	for _, size := range []int{len(whole) - 1, 30, 5, 0} {
		must.Do(t, os.WriteFile(path, whole[:size], 0o600))
		must.Refuse(Open(path))(t, "restore it")
		must.Refuse(Read(path))(t, "restore it")
		must.Be(t, len(must.Get(os.ReadFile(path))(t)), size, "the file was changed")
	}
	// Without the archive, the first bytes of the carried state still show the damage.
	must.Do(t, os.Remove(path+".1"))
	must.Do(t, os.WriteFile(path, whole[:30], 0o600))
	must.Refuse(Read(path))(t, "restore it")
}

// TestCutTwice: a state that two rotations carried over isn't lost in silence either, though nobody watched its model
// at the second.
func TestCutTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m, other := loaded(t, nil), loaded(t, func(o *krigo.Options) { o.Promise.Loss = "clipped-square" })
	for _, watched := range [][]*model.Model{{m, other}, {other}} {
		l := must.Get(Open(path))(t)
		var held []*Watch
		for _, m := range watched {
			w := must.Get(l.Watch(m))(t)
			d := outcomes(t, m, true, true, true, true, true, true)
			must.Get(w.Observe(t.Context(), d, d.All()))(t)
			held = append(held, w)
		}
		must.Get(l.Rotate())(t)
		runtime.KeepAlive(held)
		l.Close()
	}
	whole := must.Get(os.ReadFile(path))(t)
	must.Hold(t, must.Get(must.Get(Read(path))(t).Watch(m))(t).State().Alarm != nil,
		"no alarm: %s", whole)
	must.Do(t, os.WriteFile(path, whole[:bytes.IndexByte(whole, '\n')+1], 0o600))
	must.Refuse(must.Get(Read(path))(t).Watch(m))(t, "restore it")
}

// TestClock: a ledger whose times go back, stand still or leap is read and rotated like any other.
func TestClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m := loaded(t, nil)
	l := must.Get(Open(path))(t)
	w := must.Get(l.Watch(m))(t)
	for range 4 {
		d := outcomes(t, m, true, true, false)
		must.Get(w.Observe(t.Context(), d, d.All()))(t)
	}
	want := w.State()
	l.Close()
	text := string(must.Get(os.ReadFile(path))(t))
	times := []string{"9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"}
	text = regexp.MustCompile(`"at":"[^"]*"`).ReplaceAllStringFunc(text, func(string) string {
		defer func() { times = times[1:] }()
		return `"at":"` + times[0] + `"`
	})
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	for range 3 {
		l = must.Get(Open(path))(t)
		w = must.Get(l.Watch(m))(t)
		got := w.State()
		must.Hold(t, got.Alarm != nil && want.Alarm != nil && got.Alarm.Row == want.Alarm.Row,
			"%+v, not %+v", got, want)
		got.Alarm = want.Alarm
		must.Hold(t, reflect.DeepEqual(got, want), "%+v, not %+v", got, want)
		must.Get(l.Rotate())(t)
		runtime.KeepAlive(w)
		l.Close()
	}
}

// TestRotateHolds: nobody else can open a ledger while its writer rotates it. The writer would have lost it for good.
func TestRotateHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m := loaded(t, nil)
	l := must.Get(Open(path))(t)
	defer l.Close()
	w := must.Get(l.Watch(m))(t)
	d := outcomes(t, m, true, false)
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				if other, err := Open(path); err == nil {
					t.Error("somebody else has it")
					other.Close()
					return
				}
			}
		})
	}
	for range 20 {
		_, err := w.Observe(ctx, d, d.All())
		if _, failed := l.Rotate(); err != nil || failed != nil {
			t.Error(err, failed)
			break
		}
	}
	stop()
	others.Wait()
}

// TestAskTwice: a request to rotate that comes while the writer ends another rotation goes under with the other's. It
// is made again.
func TestAskTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m := loaded(t, nil)
	l := must.Get(Open(path))(t)
	defer l.Close()
	var writer sync.WaitGroup
	writer.Go(func() {
		for requests := 0; requests < 2; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(asking(path)); err != nil {
				continue
			}
			if requests++; requests == 2 {
				if _, err := l.Rotate(); err != nil {
					t.Error(err)
				}
			}
			if err := os.Remove(asking(path)); err != nil {
				t.Error(err)
			}
		}
	})
	must.Be(t, must.Get(Rotate(t.Context(), path, ClaimOf(m)))(t), path+".1")
	writer.Wait()
}

// TestRotateFaults: whichever file operation of a rotation fails, and however, the alarm and the counts stay. Outcomes
// that come afterwards are counted or refused, and the next rotation works.
func TestRotateFaults(t *testing.T) {
	m := loaded(t, nil)
	missed, more := outcomes(t, m, true, true, true, true, true, true), outcomes(t, m, false)
	for at, failed := 0, true; failed; at++ {
		failed = false
		for _, why := range []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, io.ErrShortWrite} {
			path := filepath.Join(t.TempDir(), "l.ledger")
			l := must.Get(Open(path))(t)
			w := must.Get(l.Watch(m))(t)
			want := must.Get(w.Observe(t.Context(), missed, missed.All()))(t)
			done, name := 0, ""
			end := disk.Inject(func(op disk.Op) (int, error) {
				if done++; done != at+1 {
					return 0, nil
				}
				failed, name = true, op.Name
				return op.Bytes / 2, why
			})
			_, err := l.Rotate()
			end()
			what := fmt.Sprintf("operation %d, %s: %v (%v)", at, name, why, err)
			same := func(rows int) {
				t.Helper()
				s := must.Get(must.Get(Read(path))(t).Watch(m))(t).State()
				must.Need(t, s.Alarm != nil && s.Misses == want.Misses && s.Rows == want.Rows+rows,
					"%s: %+v", what, s)
			}
			same(0)
			added := 1
			if _, err := w.Observe(t.Context(), more, more.All()); err != nil {
				added = 0
			}
			same(added)
			l.Close()
			l = must.Get(Open(path))(t)
			must.Get(l.Watch(m))(t)
			must.Get(l.Rotate())(t)
			same(added)
			l.Close()
		}
	}
}

// TestRotate shows that a rotation changes nothing that a watch says, now, later, or when it is read again, whoever
// writes the ledger. A model that nobody watches keeps its lines.
func TestRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m, other := loaded(t, nil), loaded(t, func(o *krigo.Options) { o.Promise.Loss = "clipped-square" })
	ctx := context.Background()
	l := must.Get(Open(path))(t)
	w, plain := must.Get(l.Watch(m))(t), must.Get(l.Watch(other))(t)
	must.Get(plain.Observe(ctx, outcomes(t, m, true, false), []int{0, 1}))(t)
	keyed, repeated := outcomes(t, m, true, false), outcomes(t, m, true, true, true, true, true, true)
	must.Get(w.Observe(ctx, repeated, repeated.All()))(t)
	if _, _, err := w.ObserveOnce(ctx, "monday", keyed, keyed.All()); err != nil {
		t.Fatal(err)
	}
	control := filepath.Join(t.TempDir(), "c.ledger") // the same outcomes without rotations
	os.WriteFile(control, must.Get(os.ReadFile(path))(t), 0o600)
	c := must.Get(Open(control))(t)
	defer c.Close()
	unrotated := must.Get(c.Watch(m))(t)
	same := func(when string) {
		t.Helper()
		if got, want := w.State(), unrotated.State(); want.Alarm == nil || got.Alarm == nil ||
			!got.Alarm.At.Equal(want.Alarm.At) {
			t.Fatalf("%s: %+v, not %+v", when, got, want)
		} else if got.Alarm = want.Alarm; !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, not %+v", when, got, want)
		}
	}
	rotating, stop := context.WithCancel(ctx)
	var asked sync.WaitGroup
	asked.Go(func() {
		l.Rotations(rotating, func(archive string, err error) {
			if err != nil {
				t.Error(archive, err)
			}
		})
	})
	before := must.Get(os.ReadFile(path))(t)
	for turn, rotate := range []func() (string, error){
		l.Rotate,
		func() (string, error) { return Rotate(ctx, path, ClaimOf(m)) }, // somebody else writes the ledger
		func() (string, error) { // nobody writes the ledger, and the other model isn't known
			stop()
			asked.Wait()
			l.Close()
			return Rotate(ctx, path, ClaimOf(m))
		},
	} {
		archive, err := rotate()
		if want := fmt.Sprintf("%s.%d", path, turn+1); err != nil || archive != want || turn == 0 &&
			string(must.Get(os.ReadFile(archive))(t)) != string(before) {
			t.Fatalf("%s, %v", archive, err)
		}
		if turn == 2 {
			l = must.Get(Open(path))(t)
			defer l.Close()
			w = must.Get(l.Watch(m))(t)
		}
		same("rotated")
		for _, d := range []*dataset.Data{repeated, outcomes(t, m, false, false, true)} {
			must.Get(w.Observe(ctx, d, d.All()))(t)
			must.Get(unrotated.Observe(ctx, d, d.All()))(t)
		}
		if _, added, err := w.ObserveOnce(ctx, "monday", keyed, keyed.All()); added || err != nil {
			t.Errorf("its key is forgotten: %v", err)
		}
		same("gone on")
		if read := must.Get(must.Get(Read(path))(t).Watch(m))(t).State(); !reflect.DeepEqual(read.Alarm.At,
			w.State().Alarm.At) ||
			read.LogE != w.State().LogE || read.Repeats != w.State().Repeats {
			t.Errorf("read again: %+v, not %+v", read, w.State())
		}
	}
	if s := must.Get(l.Watch(other))(t).State(); s.LogE != plain.State().LogE || s.Rows != 2 {
		t.Errorf("the other model: %+v, not %+v", s, plain.State())
	}
	// A state that was altered after a rotation is refused.
	text := string(must.Get(os.ReadFile(path))(t))
	for from, to := range map[string]string{`"mean_bound":`: `"mean_bound":1`, `"staked":[`: `"staked":[-`,
		`"misses":`: `"misses":-`} {
		altered := filepath.Join(t.TempDir(), "a.ledger")
		os.WriteFile(altered, []byte(strings.Replace(text, from, to, 1)), 0o600)
		must.Refuse(must.Get(Read(altered))(t).Watch(m))(t, "altered", to)
	}
}

// TestMoved shows that Observe fails and counts nothing if the file at the path isn't the ledger, or was changed.
func TestMoved(t *testing.T) {
	m := loaded(t, nil)
	d := outcomes(t, m, true)
	for name, harm := range map[string]func(path string) error{
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
		"truncated": func(path string) error { return os.Truncate(path, 0) },
		"cut":       func(path string) error { return os.Truncate(path, 10) },
		"written": func(path string) error {
			return os.WriteFile(path, append(must.Get(os.ReadFile(path))(t), "{}\n"...), 0o600)
		},
	} {
		path := filepath.Join(t.TempDir(), "l.ledger")
		l := must.Get(Open(path))(t)
		w := must.Get(l.Watch(m))(t)
		want := must.Get(w.Observe(context.Background(), d, d.All()))(t)
		must.Do(t, harm(path))
		_, err := w.Observe(context.Background(), d, d.All())
		var unwritten *WriteError
		must.Hold(t, errors.As(err, &unwritten) && reflect.DeepEqual(w.State(), want),
			"%s: %v, %+v", name, err, w.State())
		if _, err := l.Rotate(); !errors.As(err, &unwritten) {
			t.Errorf("%s, then rotated: %v", name, err)
		}
		l.Close()
	}
}

// TestCompare shows that Compare finds rows without an outcome, outcomes without a row, other losses and repeats.
func TestCompare(t *testing.T) {
	m := loaded(t, nil)
	path := filepath.Join(t.TempDir(), "l.ledger")
	l := must.Get(Open(path))(t)
	defer l.Close()
	d := outcomes(t, m, true, false, true, false)
	w := must.Get(l.Watch(m))(t)
	must.Get(w.Observe(context.Background(), d, []int{0, 1, 2, 0}))(t)
	check := func(d *dataset.Data, want Comparison) {
		t.Helper()
		if got := must.Get(l.Compare(ClaimOf(m), d))(t); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	check(d, Comparison{Rows: 4, Missing: []int{3}, Others: 1})
	text := strings.Replace(string(must.Get(os.ReadFile(path))(t)), `"losses":[1,`, `"losses":[0,`, 1)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	check(d, Comparison{Rows: 4, Missing: []int{3}, Differ: []int{0}, Others: 1})
}

// TestTorn cuts a ledger's file after each of its bytes. The ledger keeps the whole lines before the cut, removes the
// rest, and continues.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m := loaded(t, nil)
	ctx := context.Background()
	l := must.Get(Open(path))(t)
	w := must.Get(l.Watch(m))(t)
	states := []State{w.State()}
	var ends []int
	for range 3 {
		d := outcomes(t, m, false, true)
		states = append(states, must.Get(w.Observe(ctx, d, d.All()))(t))
		ends = append(ends, int(l.size))
	}
	l.Close()
	whole := must.Get(os.ReadFile(path))(t)
	for cut := range len(whole) + 1 {
		os.WriteFile(path, whole[:cut], 0o600)
		lines := 0
		for _, end := range ends {
			if cut >= end {
				lines++
			}
		}
		l, err := Open(path)
		must.Need(t, err == nil, "cut at %d: %v", cut, err)
		w := must.Get(l.Watch(m))(t)
		if got := w.State(); !reflect.DeepEqual(got, states[lines]) ||
			(l.Repaired == 0) != (cut == 0 || lines > 0 && cut == ends[lines-1]) {
			t.Fatalf("cut at %d: %+v, %d bytes taken off", cut, got, l.Repaired)
		}
		if cut%97 == 0 {
			d := outcomes(t, m, true)
			must.Get(w.Observe(ctx, d, d.All()))(t)
			l.Close()
			l = must.Get(Open(path))(t)
			if got := must.Get(l.Watch(m))(t).State(); got.Rows != 2*lines+1 || l.Repaired != 0 {
				t.Fatalf("cut at %d, and gone on: %+v", cut, got)
			}
		}
		l.Close()
	}
}

// TestLedgerRefuses shows that Open leaves a file that isn't a ledger as it is.
func TestLedgerRefuses(t *testing.T) {
	m := loaded(t, nil)
	const good = `{"ledger":1,"model":"m","at":"2026-01-01T00:00:00Z","losses":[0],"rows":["1"]}` + "\n"
	for text, want := range map[string]string{
		"x,y\n1,2\n":                             "line 1 isn't a ledger's line",
		"x,y\n1,2":                               "line 1 isn't a ledger's line",
		"text":                                   "isn't a ledger",
		good + "{}\n":                            "line 2 has format 0",
		good + `{"ledger":2}` + "\n":             "use a newer krigo",
		strings.Replace(good, "[0]", "[2]", 1):   "a loss of 2",
		strings.Replace(good, "[0]", "[0,1]", 1): "a hash for each of its 2 rows",
	} {
		path := filepath.Join(t.TempDir(), "l.ledger")
		os.WriteFile(path, []byte(text), 0o600)
		l, err := Open(path)
		if err == nil {
			_, err = l.Watch(m)
			l.Close()
		}
		must.Hold(t, err != nil && strings.Contains(err.Error(), want) &&
			string(must.Get(os.ReadFile(path))(t)) == text,
			"%q: %v, and it is %q", text, err, must.Get(os.ReadFile(path))(t))
	}
	folder := t.TempDir()
	must.Refuse(Open(filepath.Join(folder, "none", "l")))(t, "", "a ledger in no folder")
	must.Refuse(Open(folder))(t, "", "a folder as a ledger")
	must.Refuse(Read(filepath.Join(folder, "l")))(t, "", "a ledger that isn't there was read")
}

// TestWatchable shows that a model that promises nothing isn't watched, and that the error says why.
func TestWatchable(t *testing.T) {
	m := loaded(t, nil)
	for want, change := range map[string]func(c *model.Model){
		"no certificate: for a reason": func(c *model.Model) { c.Certificate, c.CertificateReason = nil, "for a reason" },
		"a backtest":                   func(c *model.Model) { c.Terms.Backtest = true },
		"a bound (heuristic": func(c *model.Model) {
			c.Certificate.Valid, c.Certificate.Label = false,
				"bound (heuristic)"
		},
		"groups by patient":         func(c *model.Model) { c.Certificate.Group = "patient" },
		"bound on predictions is 1": func(c *model.Model) { c.Certificate.MeanBound = 1 },
		"save the model first": func(c *model.Model) {
			*c = must.Get(krigo.Fit(context.Background(), data.Snelson(),
				krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se"},
					Promise: krigo.Promise{Epsilon: 1}}))(t).Model
		},
	} {
		other := *m
		certificate := *m.Certificate
		other.Certificate = &certificate
		change(&other)
		must.Fail(t, Watchable(&other), want)
	}
	if err := Watchable(m); err != nil {
		t.Error(err)
	}
}

// TestTogether shows that outcomes from many goroutines all count, once each, and that an ended context is an error.
func TestTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.ledger")
	m := loaded(t, nil)
	l := must.Get(Open(path))(t)
	w := must.Get(l.Watch(m))(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 10 {
				d := outcomes(t, m, i == 0, false)
				if _, err := w.Observe(context.Background(), d, d.All()); err != nil {
					t.Error(err)
				}
				w.State()
			}
		})
	}
	wait.Wait()
	<-w.turn
	ended, end := context.WithCancel(context.Background())
	end()
	d := outcomes(t, m, true)
	if _, err := w.Observe(ended, d, d.All()); err != context.Canceled {
		t.Error(err)
	}
	w.turn <- struct{}{}
	want := w.State()
	must.Hold(t, want.Rows == 160 && want.Misses == 10 && want.Repeats == 0, "%+v", want)
	l.Close()
	l = must.Get(Open(path))(t)
	defer l.Close()
	if got := must.Get(l.Watch(m))(t).State(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, not %+v", got, want)
	}
	far := must.Get(m.Labelled(&dataset.Table{Source: "far", Names: []string{"x", "y"}, Rows: 2,
		Values: []float64{1, 1, 99, 1}}))(t)
	if s := must.Get(must.Get(l.Watch(m))(t).Observe(context.Background(), far, far.All()))(t); s.Outside != 1 {
		t.Errorf("%+v", s)
	}
}

// TestSeen shows that a state counts rows that the model was made from.
func TestSeen(t *testing.T) {
	m := loaded(t, nil)
	l := must.Get(Open(filepath.Join(t.TempDir(), "l.ledger")))(t)
	defer l.Close()
	d := must.Get(m.Labelled(data.Snelson()))(t)
	s := must.Get(must.Get(l.Watch(m))(t).Observe(context.Background(), d, d.All()))(t)
	if s.Seen != 200 || !strings.Contains(s.Sentence(m), "200 rows equal a row that the model was made from") {
		t.Errorf("%+v", s)
	}
}

// TestUnwritten shows that an outcome that can't be written isn't counted, and that nothing follows a broken line.
func TestUnwritten(t *testing.T) {
	m := loaded(t, nil)
	path := filepath.Join(t.TempDir(), "l.ledger")
	l := must.Get(Open(path))(t)
	w := must.Get(l.Watch(m))(t)
	d := outcomes(t, m, true)
	want := must.Get(w.Observe(context.Background(), d, d.All()))(t)
	l.file.Close()
	for _, reason := range []string{"file already closed", "an earlier outcome wasn't written"} {
		_, err := w.Observe(context.Background(), d, d.All())
		var unwritten *WriteError
		if !errors.As(err, &unwritten) || !strings.Contains(err.Error(), reason) || !reflect.DeepEqual(w.State(), want) {
			t.Errorf("%v, %+v", err, w.State())
		}
	}
	l = must.Get(Open(path))(t)
	defer l.Close()
	if got := must.Get(l.Watch(m))(t).State(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestLabels shows that wrong labels raise an alarm, and right labels don't.
func TestLabels(t *testing.T) {
	rows := func(n int, flip bool) *dataset.Table {
		table, rng := dataset.Reading{}.New("pebbles"), rand.New(rand.NewPCG(uint64(n), 1))
		table.Names = []string{"x", "kind"}
		for range n {
			x := rng.NormFloat64()
			kind := map[bool]string{true: "light", false: "dark"}[x > 0 != flip]
			must.Do(t, table.Append([]string{fmt.Sprint(x), kind}))
		}
		return table
	}
	fitted := must.Get(krigo.Fit(t.Context(), rows(150, false), krigo.Options{Data: krigo.Data{Target: "kind"},
		Kernel: krigo.Kernel{Expression: "se"}, Run: krigo.Run{Restarts: 1}}))(t)
	path := filepath.Join(t.TempDir(), "m")
	must.Do(t, fitted.Save(path))
	m := must.Get(model.Load(path))(t)
	l := must.Get(Open(path + ".ledger"))(t)
	defer l.Close()
	w := must.Get(l.Watch(m))(t)
	for _, flip := range []bool{false, true} {
		d := must.Get(m.Labelled(rows(100, flip)))(t)
		s := must.Get(w.Observe(t.Context(), d, d.All()))(t)
		must.Hold(t, (s.Alarm != nil) == flip && (!flip || s.Alarm.Row <= 130) &&
			strings.Contains(s.Sentence(m), "got a wrong label"), "%v: %s", flip, s.Sentence(m))
	}
	must.Do(t, os.WriteFile(path, []byte(`{"kind": "classes"}`), 0o600))
	must.Refuse(model.Load(path))(t, "this is JSON")
}
