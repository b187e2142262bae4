package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/internal/strict"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// read returns the table at path, and the options that the flags make for it.
func (f *fitFlags) read(path string, in io.Reader,
	r ranks.Ranks) (*dataset.Table, krigo.Options, error) {
	o, complete, err := f.chosen()
	if err != nil {
		return nil, o, err
	}
	table, err := readTable(path, in, r, o.Data.Reading.Naming(names(o.Data)...))
	if err != nil {
		return nil, o, err
	}
	return f.settled(table, o, complete)
}

// settled returns a table and its options as a fit takes them: with columns of classes, if there
// are more than two, and with what the table decides. complete comes from chosen.
func (f *fitFlags) settled(table *dataset.Table, o krigo.Options,
	complete func(*krigo.Data, *dataset.Table) error) (*dataset.Table, krigo.Options, error) {
	targets, err := krigo.SplitTargets(o.Data.Target, table.Names)
	if err == nil && len(targets) > 1 {
		if o.Data.Target, o.Data.Beside = targets[0], targets; !f.several {
			err = misused("--target %s: only krigo fit takes several targets",
				f.options.Data.Target)
		}
	}
	if err == nil && o.Data.Beside == nil {
		if table, o, err = o.Kinds(table); o.Data.Kinds != nil && !f.several {
			err = misused("--target %s: only krigo fit takes more than two classes",
				f.options.Data.Target)
		}
	}
	if err == nil && f.settles() {
		table, o, err = o.Settle(table)
	}
	if err == nil {
		err = complete(&o.Data, table)
	}
	return table, o, err
}

// settles says whether a table decides what flags leave open. evaluate has no flag --strict, since
// its parameters are for inputs that are known.
func (f *fitFlags) settles() bool {
	return f.flags.Lookup("strict") != nil && !f.strict && f.declared == "" &&
		!f.noStandardise && (f.scaling == "" || f.scaling == dataset.PriorRows)
}

// chosen returns the options that the flags or their declaration make, and a function that
// completes the options once the table is read.
func (f *fitFlags) chosen() (o krigo.Options, complete func(*krigo.Data, *dataset.Table) error,
	err error) {
	if f.declared != "" {
		o, err = f.readDeclared()
		return o, func(*krigo.Data, *dataset.Table) error { return nil }, err
	}
	o = f.options
	for _, parse := range []func(*krigo.Options) error{f.reading, f.promised} {
		if err := parse(&o); err != nil {
			return o, f.scaled, &krigo.UsageError{Err: err}
		}
	}
	if f.init != "" {
		o.Run.Init, err = readParams(f.init)
	}
	return o, f.scaled, err
}

// names returns the columns of groups and categories, whose cells are names.
func names(o krigo.Data) []string { return append(slices.Clone(o.Categorical), o.Group) }

// besideDeclared are the flags that may stand beside --declared. They set no option.
var besideDeclared = []string{"declared", "out", "resume", "fresh-start", "test", "json", "quiet",
	"threads", "memory", "dry-run", "verbose", "target"}

// readDeclared returns the options of a declaration. It refuses flags that set options.
func (f *fitFlags) readDeclared() (o krigo.Options, err error) {
	var given []string
	f.flags.Visit(func(p *pflag.Flag) {
		if !slices.Contains(besideDeclared, p.Name) {
			given = append(given, "--"+p.Name)
		}
	})
	text, name, err := strict.JSONText(f.declared)
	switch {
	case len(given) > 0:
		return o, misused("%s with --declared %s: leave it out, since the declaration has all "+
			"options", strings.Join(given, ", "), name)
	case err != nil:
		return o, err
	}
	if o, err = krigo.Declared(text); err != nil {
		return o, fmt.Errorf("%s: %w", name, err)
	}
	if target := f.options.Data.Target; target != "" && target != o.Data.Target {
		return o, misused("--target %s: the declaration's target is %s", target, o.Data.Target)
	}
	return o, nil
}

// reading parses how cells are written.
func (f *fitFlags) reading(o *krigo.Options) error {
	r := &o.Data.Reading
	*r = r.Defaults()
	for _, text := range f.dates {
		d, err := dataset.ParseDates(text)
		if err != nil {
			return fmt.Errorf("--dates: %w", err)
		}
		r.Dates = append(r.Dates, d)
	}
	switch f.duplicates {
	case "drop":
		r.Distinct = true
	case "group":
		if o.Data.Group != "" {
			return fmt.Errorf("--duplicates group and --group %s exclude each other: choose one "+
				"way to group rows", o.Data.Group)
		}
		o.Data.Group = dataset.EqualRows
	}
	// a notice advises --group for a command that may name the column as a category
	o.Data.Categorical = slices.DeleteFunc(slices.Clone(o.Data.Categorical), func(c string) bool {
		return c == o.Data.Group
	})
	return errors.Join(f.spelt("duplicates"), r.Check())
}

// promised parses the flags of the promise, the target, the posterior and the grid.
func (f *fitFlags) promised(o *krigo.Options) (err error) {
	p := &o.Promise
	if f.epsilon != "" {
		if p.Epsilon, p.EpsilonAbove, err = parseEpsilon(f.epsilon); err != nil {
			return err
		}
	}
	if err := faults.First(
		faults.If(p.Loss == string(pacbayes.ClippedAbsolute) && f.flags.Changed("epsilon"),
			"--epsilon %s with --loss clipped-absolute, which has no ε: leave it out",
			f.epsilon),
		// 0 is the option's default
		faults.If(!(p.Delta > 0 && p.Delta < 0.5),
			"--delta %v: want a probability between 0 and 0.5, such as 0.01", p.Delta),
		faults.If(f.flags.Changed("promise") && !(p.Share > 0 && p.Share < 1),
			"--promise %v: want a share between 0 and 1, such as 0.95", p.Share),
		faults.If(o.Data.Target == "", "--target is missing: name the column to predict"),
	); err != nil {
		return err
	}
	if o.Prior.Learn = f.posterior == "learnt"; !o.Prior.Learn {
		o.Method.Posterior = f.posterior
	}
	grid := f.grid
	if l, mixed := strings.CutSuffix(grid, ",mixed"); mixed {
		grid = l + ",2"
		o.Prior.Mixed = true
	}
	if f.flags.Changed("grid") {
		if o.Prior.Grid, err = pacbayes.ParseGrid(grid); err != nil {
			return fmt.Errorf("--grid: %w", err)
		}
	}
	return f.spelt("posterior")
}

// spelt refuses a word that a flag doesn't take, if no option checks the word.
// An empty flag has its default.
func (f *fitFlags) spelt(name string) error {
	v := f.flags.Lookup(name).Value.(bound)
	if v.String() == "" {
		return nil
	}
	return errors.Join(settings.OneOf("--"+name, v.String(), v.values...)...)
}

// unparse does the reverse of chosen. It sets the flags that hold options in other forms.
func (f *fitFlags) unparse() {
	o := &f.options
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	f.dates = append(f.dates, lists.Of(o.Data.Reading.Dates, dataset.Dates.String)...)
	if o.Data.Reading.Distinct {
		f.duplicates = "drop"
	}
	// --duplicates group is a grouping by equal rows.
	if o.Data.Group == dataset.EqualRows {
		o.Data.Group = ""
		f.duplicates = "group"
	}
	if p := o.Promise; p.Epsilon > 0 && p.Loss != string(pacbayes.ClippedAbsolute) {
		if f.epsilon = number(p.Epsilon); p.EpsilonAbove > 0 {
			f.epsilon += ":" + number(p.EpsilonAbove)
		}
	}
	if g := o.Prior.Grid; o.Prior.Kind != "informed" && g.L > 0 {
		if f.grid = fmt.Sprintf("%s,%d", number(g.L), g.Digits); o.Prior.Mixed {
			f.grid = number(g.L) + ",mixed"
		}
	}
	if f.posterior = o.Method.Posterior; o.Prior.Learn {
		f.posterior = "learnt"
	}
	f.scaling = cmp.Or(o.Data.Scaling, f.scaling)
	// Constants and parameters of a declaration stand in it as JSON, not as names of files.
	if text, err := json.Marshal(o.Data.Declared); o.Data.Declared != nil && err == nil {
		f.scaling = dataset.Declared + ":" + string(text)
	}
	if text, err := json.Marshal(o.Run.Init); o.Run.Init != nil && err == nil {
		f.init = string(text)
	}
}

// scaled sets how the columns of a table are standardised.
func (f *fitFlags) scaled(o *krigo.Data, table *dataset.Table) error {
	file, declared := strings.CutPrefix(f.scaling, "declared:")
	o.Scaling = f.scaling
	left, err := table.Leave(o.Inputs, o.Ignore, o.Target, o.Own()[1:]...)
	if err != nil {
		return err
	}
	switch {
	case f.noStandardise && f.scaling != dataset.PriorRows:
		return misused("--no-standardise and --scaling exclude each other")
	case f.noStandardise:
		// Every column but the target and those left out is an input.
		o.Scaling = dataset.Declared
		o.Declared = new(dataset.Identity(len(table.Names) - 1 - len(left)))
	case declared && (len(o.Categorical) > 0 || o.Missing == dataset.FillMean ||
		o.Missing == dataset.Indicate):
		return misused("--scaling %s with --categorical or --missing: categories and means "+
			"are learnt from prior rows, and the inputs' scaling with them; leave it at prior-rows",
			f.scaling)
	case declared:
		if table, err = table.Limited(o.Target, o.Censored); err != nil {
			return err
		}
		d, err := table.Regression(o.Target, append(left, o.Own()...)...)
		if err != nil {
			return inspect.Explain(err)
		}
		s, err := dataset.ReadScaling(file, d)
		if err != nil {
			return err
		}
		o.Scaling = dataset.Declared
		o.Declared = &s
	}
	return nil
}

// parseEpsilon reads --epsilon: one half-width, or below:above for the asymmetric loss. above is 0
// if there is one half-width.
func parseEpsilon(s string) (below, above float64, err error) {
	parts := strings.Split(s, ":")
	var v [2]float64
	for i, p := range parts {
		if i < 2 {
			v[i], err = strconv.ParseFloat(strings.TrimSpace(p), 64)
		}
		if err != nil || i > 1 || !(v[i] > 0) {
			return 0, 0, fmt.Errorf("--epsilon %q: want a positive number, or below:above for "+
				"the asymmetric loss", s)
		}
	}
	return v[0], v[1], nil
}

func newFit(c *common) *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "fit DATA --target COL",
		Short: "Train a Gaussian process on a table, certify it and save it",
		Example: `  krigo fit houses.csv --target price
  krigo fit houses.csv --target price --categorical zone,heating --missing mean
  krigo fit houses.csv --target price --epsilon 20000 --epsilon-units raw
  krigo fit houses.csv --target price --test-fraction 0.2 --json
  krigo fit houses.csv --target price --objective kl-pac --kernel se+linear`,
		Long: `DATA is CSV or JSON lines (plain, gzip, zst or zip), XLSX, NPZ, Parquet or NPY. An NPY file may be larger than
memory, since krigo reads it block by block. The name - stands for CSV or JSON lines from standard input.

The seed decides which rows become test rows, if you ask for some, prior rows and certified rows. The prior rows say
how to standardise the columns. The certificate counts only the certified rows.

By default 7 or 8 of 10 rows are prior rows, and of many rows 7 of 8. The prior rows train the model, and krigo counts
misses on the certified rows. Fewer than 105 rows all train the model, and krigo certifies nothing, unless you say
--prior informed.

With --prior grid or --objective, a tenth of the rows (20 to 1,000) are prior rows. The certified rows train the model,
and a PAC-Bayes bound counts them all the same. --objective kl-pac minimises this bound itself.

The certificate says: with confidence 1−δ (over the draw of the certified rows), the expected loss of predictions on
further rows from the same source is at most a bound. Choose the loss and ε before you look at the data. If you keep
the best of several runs, its certificate doesn't hold.`,
		Args: exactly(1),
		RunE: c.over(func(cmd *cobra.Command, args []string, r ranks.Ranks) error {
			return f.run(c, cmd, args[0], r)
		}),
	}
	f.register(cmd.Flags(), "fit")
	return cmd
}

// run fits a model of the table at path.
func (f *fitFlags) run(c *common, cmd *cobra.Command, path string, r ranks.Ranks) error {
	begin := time.Now()
	f.several = true
	if f.out == "" && path == standardInput {
		return misused("--out is missing: name the model file, since standard input has no name")
	}
	table, o, err := f.read(path, cmd.InOrStdin(), r)
	if err != nil {
		return err
	}
	defer table.Close()
	if f.test != "" {
		if o.Data.Test, err = readTable(f.test, cmd.InOrStdin(), r,
			table.Reading().Filling().Naming(names(o.Data)...)); err != nil {
			return err
		}
		defer o.Data.Test.Close()
	}
	// Beside holds all targets if there are several.
	if f.dryRun && o.Data.Beside != nil {
		return c.planTargets(cmd, table, o)
	}
	if f.dryRun {
		plan, err := krigo.Decide(cmd.Context(), table, o)
		if err != nil {
			return err
		}
		return c.plan(cmd, plan)
	}
	// Check the files before training, which may take hours.
	out := cmp.Or(f.out, modelName(path))
	if r.Rank() == 0 {
		if err := f.mayWrite(path, out, o.Run.Deliver == "all"); err != nil {
			return err
		}
	}
	t := &fitting{c, cmd, table, o, out, r, f.verbose}
	if o.Data.Beside != nil {
		return t.trainTargets(f)
	}
	return t.train(begin, f)
}

// mayWrite refuses to overwrite a file that isn't a model.
// sibling says that --deliver all writes a second file.
func (f *fitFlags) mayWrite(path, out string, sibling bool) error {
	outs := []string{out}
	// the user didn't name the sibling's file, so a fit replaces only another sibling there
	if sibling {
		path := siblingName(out)
		outs = append(outs, path)
		if _, err := os.Stat(path); err == nil {
			if old, err := krigo.Load(path); err != nil || old.Counts[dataset.Certified] > 0 {
				return misused("--deliver all would overwrite %s, which isn't a model that was "+
					"trained on all rows: move it away, or name another --out", path)
			}
		}
	}
	for _, out := range outs {
		if err := writable(out, ownModel, path, f.test, f.init, f.resume, f.declared,
			strings.TrimPrefix(f.scaling, "declared:")); err != nil {
			return err
		}
	}
	if f.out == "" {
		return replaceable(out, ownModel, "name another by --out")
	}
	return nil
}

// fitting is a fit whose options are known.
type fitting struct {
	*common
	cmd   *cobra.Command
	table *dataset.Table
	o     krigo.Options
	out   string
	ranks ranks.Ranks

	verbose bool
}

// train fits, saves and prints the model, and with --deliver all its sibling, which all rows train.
func (t *fitting) train(begin time.Time, f *fitFlags) (err error) {
	progress := newProgress(t.cmd.ErrOrStderr(), t.quiet)
	saver := &checkpointer{path: cmp.Or(f.resume, t.out+".checkpoint"), last: begin,
		fresh: f.freshStart, say: progress.say,
		warn: func(text string) { fmt.Fprintln(t.cmd.ErrOrStderr(), "krigo: warning: "+text) }}
	for _, path := range slices.Compact([]string{t.out + ".checkpoint", saver.path}) {
		if t.ranks.Rank() > 0 {
			break
		}
		release, err := saver.claim(path)
		if err != nil {
			return err
		}
		defer release()
	}
	if t.o.Run.Resume, err = saver.find(t.ranks, f.resume != ""); err != nil {
		return err
	}
	partWith(t.cmd.Context(), 0, saver.words)
	t.o.Run.Save = saver.offer
	t.o.Run.Progress = progress.event
	t.o.Run.Predicting = progress.rows
	m, err := krigo.Fit(t.cmd.Context(), t.table, t.o)
	progress.end()
	if err != nil {
		return saver.interrupted(t.cmd.Context(), err)
	}
	if t.ranks.Rank() == 0 {
		noteRefit(m, t.out)
		if err := saveSomewhere(m, t.out); err != nil {
			return err
		}
	}
	var all *krigo.Model
	if t.o.Run.Deliver == "all" {
		switch { // the sibling's steps go to the same checkpoint
		case t.o.Run.Budget > 0: // the checkpoint doesn't say which kernels the budget allowed
			t.o.Run.Resume = nil
			t.o.Run.Save = nil
		case saver.state != nil:
			t.o.Run.Resume = saver.state
		}
		all, err = m.Deliver(t.cmd.Context(), t.table, t.o)
		progress.end()
		if err = saver.interrupted(t.cmd.Context(), err); err != nil {
			return fmt.Errorf("%w (the certified model is saved as %s; this error is about the "+
				"model that all rows train)", err, t.out)
		}
	}
	if t.ranks.Rank() > 0 {
		return nil
	}
	if all != nil {
		if err := saveSomewhere(all, siblingName(t.out)); err != nil {
			return err
		}
	}
	if saver.onDisk.Load() {
		os.Remove(saver.path)
	}
	return t.print(m, all)
}

// print prints a model, and its sibling all unless all is nil.
func (t *fitting) print(m, all *krigo.Model) error {
	d := fitJSON(m, t.out)
	words := []fitWords{wordsOf(m, t.out, t.verbose)}
	if all != nil {
		d.Delivered = new(fitJSON(all, siblingName(t.out)))
		words = append(words, wordsOf(all, siblingName(t.out), t.verbose))
	}
	return t.answer(t.cmd, d, "fits", words)
}

// saveSomewhere saves a model. A fit may have taken hours, so if the disk is full, saveSomewhere
// saves the model in the folder for temporary files, and the error names the file.
func saveSomewhere(m interface{ Save(path string) error }, out string) error {
	err := m.Save(out)
	if err == nil {
		return nil
	}
	folder, other := os.MkdirTemp("", "krigo-")
	if other == nil {
		rescue := filepath.Join(folder, filepath.Base(out))
		if other = m.Save(rescue); other == nil {
			return fmt.Errorf("%w; the model is in %s instead", err, rescue)
		}
		os.RemoveAll(folder)
	}
	return err
}

// noteRefit adds a finding to m if path holds another certified model of the same targets, or of
// mostly the same rows.
// Repeating the same fit doesn't choose between models, so it adds nothing, but it keeps the
// finding of the old file.
func noteRefit(m *krigo.Model, path string) {
	all, err := krigo.LoadTargets(path)
	if err != nil {
		return
	}
	old, err := all.Extract(m.Target)
	if err != nil {
		old = all.Model(0)
	}
	if !certified(old) || !certified(m) {
		return
	}
	common := len(lists.If(m.Rows,
		func(h uint64) bool { _, found := slices.BinarySearch(old.Rows, h); return found }))
	again := m.Hash == old.Hash && m.Certificate.Equal(old.Certificate) &&
		old.Findings.Of(finding.Replaces) == nil &&
		old.Findings.Of(finding.Text) == nil // older files have this finding as a text
	if (m.Targets == old.Targets || 2*common > len(m.Rows)) && !again {
		m.Findings.Add(finding.Replaces)
	}
}

// certified says whether a model has a valid certificate.
func certified(m *krigo.Model) bool { return m.Certificate != nil && m.Certificate.Valid }

// siblingName returns the name of the file for the model that is trained on all rows.
func siblingName(out string) string { return strings.TrimSuffix(out, ".krigo") + "-all.krigo" }

// modelName returns the base name of data with .krigo in place of its endings.
func modelName(data string) string {
	name := filepath.Base(data)
	if ext := filepath.Ext(name); ext == ".gz" || ext == ".zst" {
		name = strings.TrimSuffix(name, ext)
	}
	for _, format := range files.Formats() {
		for _, ending := range format.Endings {
			name = strings.TrimSuffix(name, ending)
		}
	}
	return name + ".krigo"
}

// readParams reads a model's parameters from a JSON file. Unknown fields are errors.
func readParams(path string) (*krigo.Params, error) {
	p := new(krigo.Params)
	return p, strict.ReadJSON(path, p)
}

// checkpointer keeps the last state of a fit, and writes the state to a file from time to time.
// The same fit, given again, continues from that file.
type checkpointer struct {
	path   string
	state  *krigo.Checkpoint
	last   time.Time   // the last write, even if it failed
	onDisk atomic.Bool // path holds a checkpoint: this fit's, or one that was there
	found  bool        // a checkpoint was there, and Fit hasn't said yet whether this fit wrote it
	failed bool        // the last write failed
	fresh  bool        // --fresh-start: ignore the steps of the checkpoint

	say  func(line string) // prints progress
	warn func(text string)
}

// CheckpointEvery is how much work a killed fit may lose. Tests and campaigns change it.
var CheckpointEvery = 5 * time.Second

// claim locks a checkpoint for this fit, until release is called.
func (c *checkpointer) claim(path string) (release func(), err error) {
	lock := path + ".lock"
	release, err = disk.Claim(lock)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("another fit is under way with the same output, and has locked "+
			"%s: wait until it ends, or name another --out", lock)
	}
	if err != nil {
		c.warn(fmt.Sprintf("%v: nothing keeps a second fit with the same output from %s", err,
			path))
		release = func() {}
	}
	return release, nil
}

// find reads the checkpoint on the first rank, which wrote it, and passes it to all ranks.
// A checkpoint may be missing, unless the user named it.
func (c *checkpointer) find(r ranks.Ranks, named bool) (found *krigo.Checkpoint, err error) {
	if r.Rank() == 0 {
		if !named {
			if err := replaceable(c.path, ownCheckpoint, "name another --out"); err != nil {
				return nil, err
			}
		}
		found = new(krigo.Checkpoint)
		if err := strict.ReadJSON(c.path, found); !named && errors.Is(err, fs.ErrNotExist) {
			found = nil
		} else if err != nil {
			return nil, fmt.Errorf("the checkpoint can't be read: %w; move it away, or name "+
				"another --out", err)
		}
	}
	if r.Size() > 1 {
		text, err := json.Marshal(found)
		if err == nil {
			text, err = ranks.Bytes(r, 0, text)
		}
		if err == nil {
			err = json.Unmarshal(text, &found)
		}
		if err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, nil
	}
	c.found = true
	c.onDisk.Store(true)
	// the fingerprint stays, so that Fit still refuses to replace another fit's checkpoint
	if c.fresh {
		found.Runs = nil
		found.Curves = nil
	}
	return found, nil
}

// offer serves as the fit's Run.Save. If the checkpoint can't be written, the fit goes on.
func (c *checkpointer) offer(s *krigo.Checkpoint) error {
	c.state = s
	if c.found { // Fit calls offer only if the checkpoint is this fit's
		c.found = false
		if c.fresh {
			c.say(c.path + " is of this fit; begin anew all the same")
		} else {
			c.say("go on from " + c.path + ", where this fit was interrupted; --fresh-start " +
				"begins anew")
		}
	}
	if time.Since(c.last) < CheckpointEvery {
		return nil
	}
	c.last = time.Now()
	err := c.write()
	if err != nil && !c.failed {
		c.warn(fmt.Sprintf("the checkpoint can't be written: %v: the fit goes on, but would lose "+
			"the work from now on if it were killed", err))
	}
	c.failed = err != nil
	return nil
}

// write replaces the checkpoint by the last state that offer got.
func (c *checkpointer) write() error {
	err := disk.Write(c.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(c.state) })
	if err == nil {
		c.onDisk.Store(true)
	}
	return err
}

// words returns how to continue a fit that was interrupted in the middle of a step.
func (c *checkpointer) words() string {
	if !c.onDisk.Load() {
		return "interrupted before the first checkpoint: the same command begins anew"
	}
	again := spelling.If(c.fresh, " without --fresh-start")
	return fmt.Sprintf("interrupted: give the same command again%s, and it goes on from %s",
		again, c.path)
}

// interrupted returns err, or if an interruption ended the fit, an error that says how to continue
// it.
func (c *checkpointer) interrupted(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, krigo.ErrOtherCheckpoint):
		return fmt.Errorf("%s: %w: end that fit with its own data and options, remove the file, "+
			"or name another --out", c.path, err)
	case err == nil || ctx.Err() == nil:
		return err
	case c.state == nil: // this fit changed no checkpoint
		return errors.New(c.words())
	}
	if err := c.write(); err != nil {
		return fmt.Errorf("%s; the last steps are lost: %w", c.words(), err)
	}
	return errors.New(c.words())
}

// fitDocument is what fit --json prints.
type fitDocument struct {
	Objective         string                `json:"objective"`
	Rows              int                   `json:"rows"` // prior and certified rows
	Inputs            int                   `json:"inputs"`
	Encoding          *dataset.Encoding     `json:"encoding,omitempty"`
	Inducing          int                   `json:"inducing"`
	Solver            string                `json:"solver,omitempty"` // only for a full GP
	Kernel            kernel.Spec           `json:"kernel"`
	Temper            float64               `json:"temper,omitempty"` // only for an informed prior
	Mean              *krigo.MeanParams     `json:"mean,omitempty"`
	NoiseVariance     float64               `json:"noise_variance"`
	ObservationNoise  float64               `json:"observation_noise"`
	Certificate       *pacbayes.Certificate `json:"certificate"`
	CertificateReason string                `json:"certificate_reason,omitempty"`
	// which rows the certificate is about
	Population model.Population `json:"population"`
	FewGroups  *krigo.Few       `json:"few_groups,omitempty"`
	Context    *model.Context   `json:"context,omitempty"`
	Conformal  *model.Conformal `json:"conformal,omitempty"`
	// only with the additive kernel
	Parts    *model.Parts   `json:"parts,omitempty"`
	Test     *model.Test    `json:"test"`
	Training model.Training `json:"training"`
	Notices  []string       `json:"notices,omitempty"`
	Findings []finding.Told `json:"findings,omitempty"` // the notices as values
	Model    string         `json:"model"`
	// with --deliver all: the sibling
	Delivered *fitDocument `json:"delivered,omitempty"`
}

// fitJSON returns what fit --json prints of a model that is saved at path. The kernel and the mean
// are those that were trained: of the prior, if the posterior is made from it.
func fitJSON(m *krigo.Model, path string) fitDocument {
	d := fitDocument{
		Objective: m.Objective, Inputs: len(m.Inputs), Encoding: m.Encoding,
		Kernel:        m.Posterior.Kernel.Spec(m.Posterior.Theta),
		NoiseVariance: m.Posterior.Noise, ObservationNoise: m.ObservationNoise,
		Certificate: m.Certificate, CertificateReason: m.CertificateReason,
		Population: m.Population(), FewGroups: krigo.FewGroups(&m.Model),
		Context: m.Context, Conformal: m.Conformal, Parts: m.Parts(), Test: m.Test,
		Training: m.Training, Notices: m.Findings.Words(),
		Findings: m.Findings.Tell(), Model: path,
	}
	trained := m.Trained()
	base := m.Posterior
	if prior, temper := m.Posterior.OfPrior(); prior != nil {
		d.Kernel = prior.Kernel.Spec(prior.Theta)
		d.Temper = temper
		base = prior
	}
	d.Solver = m.Posterior.Kind()
	if d.Inducing = trained.Inducing(); d.Inducing > 0 {
		d.Solver = ""
	}
	if b := base.Beta; len(b) > 0 {
		d.Mean = &krigo.MeanParams{Constant: b[0], Linear: b[1:]}
	}
	d.Rows = m.Counts[dataset.Prior] + m.Counts[dataset.Certified]
	return d
}

// fitWords are what fit prints of a model.
type fitWords struct {
	M       *krigo.Model
	D       fitDocument
	Verbose bool // without it, words have what most people need
}

// wordsOf returns what fit prints of a model that is saved at path.
func wordsOf(m *krigo.Model, path string, verbose bool) fitWords {
	return fitWords{m, fitJSON(m, path), verbose}
}

// Rows says how many rows trained the model, and how many certify it.
func (f fitWords) Rows() string {
	rows := fmt.Sprintf("%d rows × %d inputs", f.D.Rows, f.D.Inputs)
	n := f.M.Counts[dataset.Certified]
	switch {
	case !f.M.Terms.Fixed || n == 0:
		return rows
	case f.M.Certificate == nil || f.M.Terms.Backtest:
		return fmt.Sprintf("%d of %s", f.D.Rows-n, rows)
	}
	return fmt.Sprintf("%d of %s, certified on the other %d", f.D.Rows-n, rows, n)
}

// Certificate returns the certificate for all words about it.
func (f fitWords) Certificate() certificateWords {
	return certificateWords{f.M, f.M.Certificate, f.M.InContext()}
}

// Promise returns the certificate's promise.
func (f fitWords) Promise() string {
	promise, _ := parted(f.M.Sentence(f.M.Certificate))
	return promise
}

// Below returns the paragraphs below the promise.
func (f fitWords) Below() string {
	c := f.M.Certificate
	if c == nil {
		return paragraphs(f.M.ToldElsewhere()...)
	}
	_, rest := parted(f.M.Sentence(c))
	below := []string{f.M.Scores(), rest, f.M.FromAllRows()}
	if c.Valid {
		below = append(below, c.Conditions[:min(2, len(c.Conditions))]...)
	}
	return paragraphs(below...)
}

// Restarts returns the number of --restarts, or 0.
func (f fitWords) Restarts() int {
	var asked krigo.Options
	if json.Unmarshal(f.M.Fitted, &asked) != nil {
		return 0
	}
	return asked.Run.Restarts
}

// Settled returns what the table decided about its inputs.
func (f fitWords) Settled() finding.List {
	return lists.If(f.M.Findings, finding.Finding.Settles)
}

// Told returns the findings to print, besides those of Settled:
// with --verbose all of them, and else the warnings.
func (f fitWords) Told() finding.List {
	return lists.If(f.M.Findings, func(one finding.Finding) bool {
		return !one.Settles() && (f.Verbose || one.Severity() == finding.Warning)
	})
}

// plan prints what a fit would do.
func (c *common) plan(cmd *cobra.Command, p *krigo.Plan) error {
	return c.answer(cmd, struct {
		*krigo.Plan
		Notices  []string       `json:"notices,omitempty"`
		Findings []finding.Told `json:"findings,omitempty"`
	}{p, p.Findings.Words(), p.Findings.Tell()}, "plan", p)
}

// targetsDocument is what fit --json prints of several targets.
type targetsDocument struct {
	Targets  []fitDocument  `json:"targets"`
	Together model.Together `json:"together"`
	Sentence string         `json:"sentence"`
	Model    string         `json:"model"`
}

// trainTargets fits, saves and prints a model of each target.
func (t *fitting) trainTargets(f *fitFlags) error {
	if f.resume != "" || f.freshStart {
		return misused("--resume, --fresh-start: a fit of several targets keeps no checkpoint")
	}
	progress := newProgress(t.cmd.ErrOrStderr(), t.quiet)
	t.o.Run.Progress = progress.event
	t.o.Run.Predicting = progress.rows
	all, err := krigo.FitTargets(t.cmd.Context(), t.table, t.o.Data.Beside, t.o)
	progress.end()
	if err != nil {
		return err
	}
	// Compare with the model that is overwritten, before it is gone.
	for _, m := range all.Models {
		noteRefit(&krigo.Model{Model: *m}, t.out)
	}
	if err := saveSomewhere(all, t.out); err != nil {
		return err
	}
	d := targetsDocument{Together: all.Together, Sentence: all.Sentence(), Model: t.out,
		Targets: lists.To(len(all.Models), func(i int) fitDocument {
			return fitJSON(all.Model(i), t.out)
		})}
	return t.answer(t.cmd, d, "targets", map[string]any{"Sentence": d.Sentence,
		"Together": all.Together, "Fits": lists.To(len(all.Models), func(i int) fitWords {
			return wordsOf(all.Model(i), t.out, t.verbose)
		})})
}

// planTargets prints what a fit of several targets would do.
func (c *common) planTargets(cmd *cobra.Command, table *dataset.Table, o krigo.Options) error {
	each, _, err := o.ForTargets(table, o.Data.Beside)
	if err != nil {
		return err
	}
	for _, o := range each {
		plan, err := krigo.Decide(cmd.Context(), table, o)
		if err != nil {
			return fmt.Errorf("target %s: %w", o.Data.Target, err)
		}
		if !c.json {
			fmt.Fprintf(cmd.OutOrStdout(), "Target    %s\n", o.Data.Target)
		}
		if err := c.plan(cmd, plan); err != nil {
			return err
		}
	}
	return nil
}
