package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/watch"
)

// watched fits a model of Snelson's data in a workplace.
func watched(t *testing.T) {
	t.Helper()
	workplace(t)
	runs(t, strings.Fields("fit snelson.csv --target y --kernel se --restarts 1 --epsilon 1 --out s.krigo --quiet")...)
}

// TestWatch: watch appends outcomes from files and from standard input to the ledger. An alarm has its own exit status.
func TestWatch(t *testing.T) {
	watched(t)
	good := "x,y\n" + strings.Repeat("1,0.3\n", 3)
	write(t, "good.csv", strings.Join(strings.SplitAfter(read(t, "snelson.csv"), "\n")[:31], ""))
	bad := func(rows int) string {
		text := "y,x\n"
		for i := range rows {
			text += fmt.Sprintf("77,%v\n", 1+float64(i)/100)
		}
		return text
	}
	write(t, "bad.csv", bad(20))
	if o := call(context.Background(), "watch", "s.krigo"); o.status != 1 || !strings.Contains(o.stderr, "s.ledger") {
		t.Errorf("%+v", o)
	}
	if text := runs(t, "watch", "s.krigo", "good.csv"); !strings.Contains(text, "30 outcomes, 0 missed by more than 0.808") ||
		!strings.Contains(flat(text), "30 rows equal a row that the model was made from") {
		t.Error(text)
	}
	if text := runs(t, "watch", "s.krigo", "good.csv", "--check"); !strings.Contains(text,
		"30 rows: 0 aren't in the ledger, 0 have another loss there; 0 outcomes") {
		t.Error(text)
	}
	if o := call(context.Background(), "watch", "s.krigo", "bad.csv", "--check"); o.status != 1 ||
		!strings.Contains(o.stdout, "20 rows: 20 aren't in the ledger, 0 have another loss there; 30 outcomes") ||
		!strings.Contains(o.stdout, "line 2: isn't in the ledger") {
		t.Errorf("%+v", o)
	}
	if o := fed(bad(1), "watch", "s.krigo", "-"); o.status != 0 || !strings.Contains(o.stdout, "31 outcomes, 1 missed") {
		t.Errorf("%+v", o)
	}
	before := read(t, "s.ledger")
	write(t, "s.ledger", before+`{"ledger":1,"model":"`)
	o := call(context.Background(), "watch", "s.krigo", "bad.csv")
	if o.status != exitAlarm || !strings.Contains(o.stdout, "51 outcomes, 21 missed") ||
		strings.Count(o.stdout, "ALARM at row ") != 1 ||
		!strings.Contains(o.stderr, "krigo: the risk is above the certificate's bound: alarm at row ") ||
		!strings.Contains(o.stderr, "s.ledger ended in the middle of a line, which no one was told of: its 21 bytes are "+
			"taken off") || !strings.HasPrefix(read(t, "s.ledger"), before) {
		t.Errorf("%+v", o)
	}
	// The alarm stays on. The state has the numbers that the printed lines had.
	o = call(context.Background(), "watch", "s.krigo", "--json")
	var s watch.State
	if err := json.Unmarshal([]byte(o.stdout), &s); err != nil || o.status != exitAlarm || s.Rows != 51 ||
		s.Misses != 21 || s.Alarm == nil || s.Repeats != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	if o := fed(good, "watch", "s.krigo", "-", "--ledger", "other.ledger", "--json"); o.status != 0 ||
		strings.Count(o.stdout, "\n") != 1 || !strings.Contains(o.stdout, `"repeats":2`) {
		t.Errorf("%+v", o)
	}
	// With a key, the rows of a file count once, even if a job gives them again.
	for try, want := range []string{"30 outcomes, 0 missed", "30 rows are in the ledger under the key \"july\" already"} {
		if o := call(context.Background(), strings.Fields("watch s.krigo good.csv --ledger keyed.ledger --key "+
			"july")...); o.status != 0 || !strings.Contains(o.stdout+o.stderr, want) || !strings.Contains(o.stdout, "30 "+
			"outcomes") {
			t.Errorf("try %d: %+v", try+1, o)
		}
	}
	runs(t, strings.Fields("fit snelson.csv --target y --kernel se --restarts 1 --epsilon 1 --split last --out "+
		"last.krigo --quiet")...)
	for _, c := range []struct {
		in, args string
		status   int
		want     string
	}{
		{"x\n1\n", "watch s.krigo -", 1, `no column "y" for the target`},
		{"x,y\n1,1\n2,two\n3,1\n", "watch s.krigo - --ledger a.ledger", 1,
			`standard input: line 3 (row 2), column 2 ("y"): "two" is not a number; write one, or remove the row; none of its ` +
				`rows was added`},
		{"", "watch s.krigo -", 1, "empty"},
		{"", "watch last.krigo good.csv", 1,
			"last.krigo: the model can't be watched: it has a backtest"},
		{"", "watch s.krigo bad.csv --ledger keyed.ledger --key july", 1,
			`under the key "july": give them another key; none of its rows was added`},
		{"", "watch s.krigo good.csv --key \xff", 2, `--key "\xff": want text`},
		{"", "watch s.krigo - --key july", 2, "--key names the rows of a file"},
		{"", "watch s.krigo good.csv --ledger good.csv", 2, "the command reads good.csv, so the file would be lost"},
		{"", "watch s.krigo good.csv --ledger s.krigo", 2, "the command reads s.krigo, so the file would be lost"},
		{"", "watch s.krigo good.csv --ledger homes.csv", 1, "isn't a ledger's line"},
		{"", "watch", 2, "usage"},
	} {
		if o := fed(c.in, strings.Fields(c.args)...); o.status != c.status || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: %+v", c.args, o)
		}
	}
}

// TestWatchRotate: a ledger gives the same state after a rotation.
func TestWatchRotate(t *testing.T) {
	watched(t)
	write(t, "later.csv", "x,y\n1,77\n2,77\n3,0\n")
	call(context.Background(), "watch", "s.krigo", "later.csv", "--key", "monday")
	before := call(context.Background(), "watch", "s.krigo", "--json")
	o := call(context.Background(), "watch", "s.krigo", "--rotate", "--json")
	must.Hold(t, o.stdout == before.stdout && o.status == before.status &&
		strings.Contains(o.stdout, `"rows":3`) &&
		strings.Contains(o.stderr, "s.ledger.1 holds the lines up to now") &&
		strings.Contains(read(t, "s.ledger.1"),
			`"losses":[1,1,`), "%+v, before %+v", o, before)
	if o := call(context.Background(), "watch", "s.krigo", "later.csv", "--key", "monday"); !strings.Contains(o.stderr,
		"3 rows are in the ledger") {
		t.Errorf("%+v", o)
	}
	must.Do(t, os.WriteFile("another.ledger", []byte(strings.ReplaceAll(read(t, "s.ledger"), `"model":"`, `"model":"0`)),
		0o600))
	if o := call(context.Background(), "watch", "s.krigo", "--ledger", "another.ledger"); !strings.Contains(o.stdout,
		"No outcome yet") || !strings.Contains(o.stderr, "3 outcomes of another model") {
		t.Errorf("%+v", o)
	}
	for args, want := range map[string]string{"watch s.krigo later.csv --rotate": "leave out DATA",
		"watch s.krigo --rotate --ledger none": "no ledger to rotate"} {
		if o := call(context.Background(), strings.Fields(args)...); o.status == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
}

// TestWatchStream: watch prints a line as soon as a row comes, and an interrupt ends it without an error.
func TestWatchStream(t *testing.T) {
	watched(t)
	ctx, stop := context.WithCancel(context.Background())
	in, to := io.Pipe()
	var stdout, stderr output
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, []string{"watch", "s.krigo", "-"}, in, &stdout, &stderr) }()
	io.WriteString(to, "x,y\n")
	for i := range 3 {
		fmt.Fprintf(to, "%d,77\n", i+1)
		for wait := 0; !strings.Contains(stdout.String(), fmt.Sprintf("%d outcome", i+1)); wait++ {
			must.Need(t, wait <= 1000, "%s%s", stdout.String(), stderr.String())
			time.Sleep(10 * time.Millisecond)
		}
	}
	stop()
	if status := <-ended; status != exitAlarm && status != 0 {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

// TestAnytimeAndShift: certify says which bound holds at any number of rows, and which bound holds on another source.
func TestAnytimeAndShift(t *testing.T) {
	watched(t)
	text := "x,y\n"
	for i := range 40 {
		y := 77.
		if i > 0 {
			y = 0
		}
		text += fmt.Sprintf("%v,%v\n", 0.1*float64(i), y)
	}
	write(t, "later.csv", text)
	var f krigo.Fresh
	must.Do(t, json.Unmarshal([]byte(runs(t,
		strings.Fields("certify s.krigo later.csv --fresh --anytime --shift 0.01 --json")...)), &f))
	least, most := pacbayes.Anytime(f.MeanRisk, 40, 0.01)
	must.Hold(t, f.Anytime != nil && *f.Anytime == (krigo.Anytime{AtLeast: least, AtMost: most}) &&
		most > f.MeanBound && least < f.MeanRisk && f.Shift != nil &&
		f.Shift.MeanBound == pacbayes.Shifted(f.MeanBound, 0.01), "%+v", f)
	words := runs(t, strings.Fields("certify s.krigo later.csv --fresh --anytime --shift 0.01")...)
	for _, want := range []string{"At any time: by these 40 rows, the expected loss",
		fmt.Sprintf("lies between %.4f and %.4f", cautious.RoundDown(least, 4), cautious.RoundUp(most, 4)),
		"if KL(other source ‖ this source) is at most 0.01 nats"} {
		must.Hold(t, strings.Contains(flat(words), want), "no %q in %s", want, words)
	}
	var r krigo.Recertification
	if err := json.Unmarshal([]byte(runs(t, strings.Fields("certify s.krigo snelson.csv --shift 0.02 --json")...)),
		&r); err != nil || r.Shift == nil || r.Shift.Rho != 0.02 ||
		r.Shift.MeanBound != pacbayes.Shifted(r.Certificate.MeanBound, 0.02) {
		t.Errorf("%+v, %v", r, err)
	}
	if words := runs(t, strings.Fields("certify s.krigo snelson.csv --shift 0.02")...); !strings.Contains(flat(words),
		fmt.Sprintf("rows of another source is at most %.4f,", cautious.RoundUp(r.Shift.MeanBound, 4))) {
		t.Error(words)
	}
	write(t, "said.csv", "y,prediction\n1,yes\n0,no\n")
	for args, want := range map[string]string{
		"certify s.krigo snelson.csv --anytime":                                           "--anytime is for --fresh",
		"certify s.krigo snelson.csv --shift -1":                                          "--shift -1",
		"certify s.krigo snelson.csv --shift 0.1 --epsilon 2":                             "shift: it is of a certificate",
		"certify --predictions later.csv --target y --prediction x --epsilon 1 --delta 0": "--delta 0: want a probability",
		"certify --predictions said.csv --target y --epsilon 1":                           "say --classes",
		"certify --predictions later.csv --target y --prediction x --epsilon 1 --shift 0.01": "for models, not for " +
			"--predictions",
	} {
		if o := call(context.Background(), strings.Fields(args)...); o.status != 2 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
}

const ledgerArgs = "KRIGO_TEST_LEDGER_ARGS"

// TestServeKilled kills a server again and again while clients send outcomes, by a signal that no handler can catch.
// Afterwards the ledger has every outcome that was acknowledged.
func TestServeKilled(t *testing.T) {
	if text := os.Getenv(ledgerArgs); text != "" {
		os.Exit(Run(context.Background(), strings.Fields(text), nil, os.Stdout, os.Stderr))
	}
	if testing.Short() {
		t.Skip("runs other processes")
	}
	watched(t)
	var mu sync.Mutex
	acknowledged, sent := 0, 0
	for round := range 6 {
		child := exec.Command(os.Args[0], "-test.run=^TestServeKilled$")
		child.Env = append(os.Environ(), ledgerArgs+"=serve s.krigo --listen 127.0.0.1:0 --ledger s.ledger")
		var stdout, stderr output
		child.Stdout, child.Stderr = &stdout, &stderr
		must.Do(t, child.Start())
		var url string
		for wait := 0; url == ""; wait++ {
			must.Need(t, wait <= 1000, "%s%s", stdout.String(), stderr.String())
			time.Sleep(10 * time.Millisecond)
			url = regexp.MustCompile(`http://\S+/`).FindString(stdout.String())
		}
		dead := make(chan struct{})
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for {
					select {
					case <-dead:
						return
					default:
					}
					mu.Lock()
					sent += 2
					body := fmt.Sprintf("x,y\n%v,0\n%v,0\n", float64(sent)/1e4, float64(sent+1)/1e4)
					mu.Unlock()
					r, err := http.Post(url+"v1/outcomes", "text/csv", strings.NewReader(body))
					if err != nil {
						continue
					}
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
					if r.StatusCode == 200 {
						mu.Lock()
						acknowledged += 2
						mu.Unlock()
					}
				}
			})
		}
		time.Sleep(time.Duration(20+40*round) * time.Millisecond)
		child.Process.Kill()
		child.Wait()
		close(dead)
		wait.Wait()
		o := call(context.Background(), "watch", "s.krigo", "--json")
		var s watch.State
		if err := json.Unmarshal([]byte(o.stdout), &s); err != nil {
			t.Fatalf("%+v, %v", o, err)
		}
		if s.Rows < acknowledged || s.Rows > sent || s.Rows%2 > 0 || s.Repeats > 0 {
			t.Fatalf("round %d: %d outcomes in the ledger, %d acknowledged, %d sent", round, s.Rows, acknowledged, sent)
		}
		acknowledged = s.Rows // later rounds may lose no outcome on disk, acknowledged or not
	}
	must.Need(t, acknowledged != 0, "nothing was acknowledged")
	if lines := slices.DeleteFunc(bytes.Split([]byte(read(t, "s.ledger")), []byte("\n")),
		func(l []byte) bool { return len(l) == 0 }); 2*len(lines) < acknowledged {
		t.Errorf("%d lines", len(lines))
	}
}
