package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/watch"
)

// alarmed is the error of watch if there is an alarm. It has its own exit status.
type alarmed struct{ text string }

func (a *alarmed) Error() string { return a.text }

// watchRows is the largest number of rows that go to the ledger together.
const watchRows = 10_000

// watcher adds outcomes to a ledger and prints the state of the watch.
type watcher struct {
	*watch.Watch
	of    *claimed
	open  func(path string) (*dataset.Table, error)
	out   io.Writer
	errs  io.Writer
	json  bool
	told  []string     // alarms that are printed
	key   string       // column whose values name the rows; empty: rows have no key
	added atomic.Int64 // rows that this command added
	known int          // rows that the ledger already had under the key
}

// watchFlags are the flags of watch.
type watchFlags struct {
	ledger, key   string
	rotate, check bool
	tables        tableFlags
}

func newWatch(c *common) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch MODEL [DATA]",
		Short: "Compare outcomes with a model's certificate, as they come",
		Example: `  tail -f outcomes.csv | krigo watch houses.krigo -
  krigo watch houses.krigo sold-in-july.csv
  krigo watch houses.krigo --json
  krigo watch houses.krigo --rotate`,
		Long: `DATA is a file of rows with the model's inputs and its target, or - for such rows line by line from standard input.
watch predicts the rows and counts misses. An alarm says that the risk is above the certificate's bound. If the risk
isn't above the bound, watch ever raises an alarm with probability at most the certificate's δ, however long it runs.

watch writes every outcome to a ledger on disk before it prints a line about it, and reads the ledger when it starts
again. Give each outcome once, or give the outcomes of a file a --key. Without DATA, watch prints the state of the
ledger. krigo serve --ledger uses the same ledger, and takes outcomes over HTTP.

MODEL may be a certificate of another classifier's labels, NAME.json, which krigo certify --predictions --out wrote.
DATA then has true and predicted labels, in the same columns. There is an alarm about all rows, and one about each
class with a bound. The alarms share δ.

With --check, watch adds nothing. It predicts the rows of DATA again and compares them with the ledger.

With --rotate, watch copies the ledger to a file beside it (LEDGER.1, LEDGER.2, …) and begins it anew. One line carries
the state over: counts, evidence, alarm and keys go on as they were, and nothing needs the copy. If a server writes the
ledger, the server rotates it between two outcomes.

Exit status 3 says that there is an alarm, from these rows or from earlier rows.`,
		Args: between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, args) },
	}
	bind(cmd.Flags(),
		cliFlag{name: "ledger", value: "FILE", rule: "MODEL's name with .ledger", to: &f.ledger,
			endings: []string{"ledger"},
			help:    "file of outcomes, which is added to, or begun"},
		cliFlag{name: "check", to: &f.check,
			help: "compare the ledger with DATA, which has the rows of all its outcomes; nothing " +
				"is added"},
		cliFlag{name: "key", value: "TEXT", to: &f.key,
			help: "name of DATA's rows, such as a date: rows that come again under the same name " +
				"count once"},
		cliFlag{name: "rotate", to: &f.rotate,
			help: "copy the ledger to LEDGER.1, LEDGER.2, … and begin it anew with the state " +
				"that it holds"},
	)
	f.tables.bind(cmd)
	return cmd
}

// run rotates the ledger, prints its state, compares it with data, or adds outcomes, as the flags
// say.
func (f *watchFlags) run(cmd *cobra.Command, c *common, args []string) error {
	of, err := openClaimed(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	if f.ledger == "" {
		f.ledger = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".ledger"
	}
	of.reading = f.tables.over(of.reading)
	open := func(path string) (*dataset.Table, error) {
		return f.tables.read(cmd, c, path, nil, of.reading)
	}
	w := &watcher{of: of, open: open, out: folded(cmd.OutOrStdout()), errs: cmd.ErrOrStderr(),
		json: c.json, key: f.key}
	if err := f.valid(cmd, args); err != nil {
		return err
	}
	// Rotate first, so that the state below is what the new ledger goes on from.
	if f.rotate {
		archive, err := watch.Rotate(cmd.Context(), f.ledger, of.claim)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s holds the lines up to now; %s goes on from the state "+
			"that they left\n", archive, f.ledger)
	}
	if len(args) == 1 {
		return w.state(cmd, f.ledger)
	}
	if f.check {
		return w.compare(cmd, f.ledger, args[1])
	}
	if err := distinct(f.ledger, args); err != nil {
		return err
	}
	return w.add(cmd, f.ledger, args[1])
}

// valid refuses flags that don't go together.
func (f *watchFlags) valid(cmd *cobra.Command, args []string) error {
	switch {
	case cmd.Flags().Changed("key") && (f.key == "" || !utf8.ValidString(f.key)):
		return misused("--key %q: want text", f.key)
	case f.key != "" && (len(args) == 1 || args[1] == standardInput):
		return misused("--key names the rows of a file: give a file, not standard input")
	case f.check && (len(args) == 1 || f.key != "" || f.rotate):
		return misused("--check: give DATA with the rows of all outcomes, and neither --key nor " +
			"--rotate")
	case f.rotate && len(args) > 1:
		return misused("--rotate takes no outcomes: leave out DATA")
	}
	return nil
}

// state prints the state of a ledger.
func (w *watcher) state(cmd *cobra.Command, ledger string) error {
	l, err := watch.Read(ledger)
	if err == nil {
		w.Watch, err = l.WatchClaim(w.of.claim)
	}
	if err == nil {
		err = tellOthers(cmd, l, w.of.claim)
	}
	if err == nil {
		err = w.tell(w.State())
	}
	if err != nil {
		return err
	}
	return w.end()
}

// add adds the outcomes of data to a ledger.
func (w *watcher) add(cmd *cobra.Command, ledger, data string) error {
	l, err := watch.Open(ledger)
	if err != nil {
		return err
	}
	defer l.Close()
	if l.Repaired > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s ended in the middle of a line, which no one was told "+
			"of: its %d bytes are taken off\n", ledger, l.Repaired)
	}
	if w.Watch, err = l.WatchClaim(w.of.claim); err != nil {
		return err
	}
	if err := tellOthers(cmd, l, w.of.claim); err != nil {
		return err
	}
	// before says what became of the rows before an error, and whether to give them again.
	before := func(err error) string {
		added := fmt.Sprintf("before that %d of its rows were added to the ledger", w.added.Load())
		var other *watch.KeyError
		switch {
		case w.added.Load() == 0:
			return "none of its rows was added"
		case errors.As(err, &other):
			return added
		case w.key != "":
			return added + ": give it again under the same key"
		}
		return added + ": don't give these again"
	}
	// Another program may ask for a rotation while this command waits for rows.
	go l.Rotations(cmd.Context(), func(archive string, err error) {
		if err != nil {
			archive = err.Error()
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "the ledger was to be rotated: %s\n", archive)
	})
	partWith(cmd.Context(), 0, func() string { return "interrupted; " + before(nil) })
	err = w.read(cmd.Context(), data, cmd.InOrStdin())
	if w.known > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d rows are in the ledger under the key %q already: they "+
			"weren't added again\n", w.known, w.key)
	}
	if err != nil {
		if cmd.Context().Err() != nil && errors.Is(err, cmd.Context().Err()) {
			err = errors.New("interrupted")
		}
		return fmt.Errorf("%w; %s", err, before(err))
	}
	return w.end()
}

// tellOthers prints what the ledger holds about other models.
func tellOthers(cmd *cobra.Command, l *watch.Ledger, claim watch.Claim) error {
	others, err := l.Others(claim)
	for _, o := range others {
		fmt.Fprintln(cmd.ErrOrStderr(), o.Sentence())
	}
	return err
}

// compare prints how a ledger differs from the data of its outcomes. A difference is an error.
func (w *watcher) compare(cmd *cobra.Command, ledger, data string) error {
	table, err := w.open(data)
	if err != nil {
		return err
	}
	defer table.Close()
	d, _, err := w.of.rows(table.Within(cmd.Context()))
	if err != nil {
		return err
	}
	l, err := watch.Read(ledger)
	if err != nil {
		return err
	}
	// Both sides are compared row by row. A row is known by the hash of its content.
	found, err := l.Compare(w.of.claim, d)
	if err != nil {
		return err
	}
	if w.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(found)
	} else {
		for _, rows := range []struct {
			of   []int
			what string
		}{{found.Missing, "isn't in the ledger"},
			{found.Differ, "has another loss in the ledger"}} {
			for _, i := range rows.of {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", d.Where(i), rows.what)
			}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%d rows: %d aren't in the ledger, %d have another loss "+
			"there; %d outcomes of the ledger aren't in %s\n", found.Rows, len(found.Missing),
			len(found.Differ), found.Others, data)
		if found.Rotated {
			fmt.Fprintln(cmd.OutOrStdout(), "The ledger was rotated: earlier outcomes are in the "+
				"file that holds the lines of before, which --ledger names.")
		}
	}
	if err == nil && !found.Agrees() {
		err = fmt.Errorf("%s and %s don't have the same outcomes", ledger, data)
	}
	return err
}

// distinct refuses a ledger that is one of the inputs.
func distinct(ledger string, inputs []string) error {
	at, err := os.Stat(ledger)
	if err != nil {
		return nil
	}
	for _, input := range inputs {
		if in, err := os.Stat(input); err == nil && os.SameFile(in, at) {
			return misused("--ledger %s: the command reads %s, so the file would be lost: name "+
				"another", ledger, input)
		}
	}
	return nil
}

// read observes the rows of a table, or the rows of standard input until it ends or the command is
// interrupted.
func (w *watcher) read(ctx context.Context, path string, in io.Reader) error {
	if path == standardInput {
		err := files.CSV{From: in, Source: "standard input", As: w.of.reading}.Stream(watchRows,
			func(t *dataset.Table) error { return w.observe(ctx, t) })
		if ctx.Err() != nil { // an interruption is the usual end of this command
			return nil
		}
		return err
	}
	table, err := w.open(path)
	if err != nil {
		return err
	}
	defer table.Close()
	return w.observe(ctx, table)
}

// observe adds the rows of a table, and prints the state after each part.
func (w *watcher) observe(ctx context.Context, t *dataset.Table) error {
	d, gaps, err := w.of.rows(t.Within(ctx))
	if err != nil {
		return err
	}
	for _, one := range gaps.Words() {
		fmt.Fprintln(w.errs, one)
	}
	part := 0
	for rows := range slices.Chunk(d.All(), watchRows) {
		part++
		key := w.key
		if key != "" && part > 1 {
			key += fmt.Sprintf("\x00%d", part) // no argument can have this byte
		}
		s, added, err := w.ObserveOnce(ctx, key, d, rows)
		for _, one := range s.Found.Words() {
			fmt.Fprintln(w.errs, one)
		}
		if err == nil {
			err = w.tell(s)
		}
		if err != nil {
			return err
		}
		if added {
			w.added.Add(int64(len(rows)))
		} else {
			w.known += len(rows)
		}
	}
	return nil
}

// tell prints a state, and the first time also the alarm.
func (w *watcher) tell(s watch.State) error {
	if w.json {
		return json.NewEncoder(w.out).Encode(s)
	}
	fmt.Fprintln(w.out, w.of.claim.Sentence(s))
	for _, alarm := range s.Alarms() {
		if !slices.Contains(w.told, alarm) {
			w.told = append(w.told, alarm)
			fmt.Fprintln(w.out, alarm)
		}
	}
	return nil
}

// end returns an error if there is an alarm.
func (w *watcher) end() error {
	switch s := w.State(); {
	case s.Alarm != nil:
		return &alarmed{fmt.Sprintf("the risk is above the certificate's bound: alarm at row %d",
			s.Alarm.Row)}
	case s.Alarms() != nil:
		return &alarmed{"the risk of a class is above the certificate's bound: alarm"}
	}
	return nil
}
