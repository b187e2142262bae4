package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/ranks"
)

// certifyFlags are the flags of certify.
type certifyFlags struct {
	epsilon, shift                        float64
	fresh, refit, noRefit, anytime, order bool
	declaration, core, log, head          string
	of                                    predictedFlags
	tables                                tableFlags
}

func newCertify(c *common) *cobra.Command {
	var f certifyFlags
	cmd := &cobra.Command{
		Use:   "certify MODEL DATA | --predictions FILE --target COL --epsilon E",
		Short: "Recompute a model's certificate from the model file and its data",
		Example: `  krigo certify houses.krigo houses.csv
  krigo certify houses.krigo houses-of-next-year.csv --fresh
  krigo certify --predictions forest.csv --target price --epsilon 20000`,
		Long: `The rows may come in any order. certify compares them with the SHA-256 in the model. It refuses altered data, an
altered model file, and figures that don't come out as stored: the certificate, test figures, observation noise,
conformal intervals and ranges. If --epsilon isn't the declared ε, the result is a heuristic number and no certificate,
unless the model has a curve.

certify lists what it checked, and what it takes on the fitter's word. Only fitting again with the same options can
show that a model's parameters are what the file says. certify fits again if its rows and kernels need about a minute
at most, unless you say --no-refit. It refuses a model if its refit predicts otherwise, by more than 1 % of the target's standard
deviation. With --refit it fits again however long that takes, and every bit must come out the same.

With --declared LOG, certify says what a log of declarations proves about the model's declaration, and what it doesn't.
It refuses a log with a broken chain, or without the declaration. The chain ends at the last line, or at the line whose
SHA-256 is --head.

With --fresh, DATA has rows that the model never saw, or the model's own test rows. The bounds are then plain test-set
bounds, which hold however the model was trained. If these rows contradict the model's own certificate, certify says
so. It also counts rows that equal a row that the model was made from, since nobody can tell a copy from a second row
that came out alike. With --anytime the data may grow, and you may look as often as you like.

With --predictions there is no model. FILE has predictions that any program made, beside what they predict, and
--epsilon is in the target's units. The bound holds if the program never saw these rows.

MODEL may be a certificate of labels, NAME.json, which krigo certify --predictions --out wrote. DATA then has the
certified rows.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.of.file != "" {
				return exactly(0)(cmd, args)
			}
			return exactly(2)(cmd, args)
		},
		RunE: c.over(func(cmd *cobra.Command, args []string, job ranks.Ranks) error {
			if err := cmp.Or(f.check(cmd, job), f.checkOwn(job)); err != nil {
				return err
			}
			if f.of.file != "" {
				return f.of.certify(cmd, c, f.epsilon, job, f.tables.over(dataset.Reading{}))
			}
			// What args[0] is decides what is certified: labels of another classifier, or a model.
			if isLabels(args[0]) {
				return f.runLabels(cmd, c, args)
			}
			return f.run(cmd, c, args, job)
		}),
	}
	bind(cmd.Flags(),
		cliFlag{name: "epsilon", everyday: true, value: "E", rule: "the declared one",
			to: &f.epsilon,
			help: "another half-width, in sd of the target (a heuristic number, unless there is " +
				"a curve); with " +
				"--predictions: in its units"},
		cliFlag{name: "declaration", everyday: true, value: "FILE", to: &f.declaration,
			endings: []string{"json"},
			help:    "check that the model was fitted as this declaration says (krigo declare)"},
		cliFlag{name: "declared", everyday: true, value: "LOG", to: &f.log,
			help: "say what this log proves about the model's declaration (krigo declare --log)"},
		cliFlag{name: "head", everyday: true, value: "SHA256", to: &f.head,
			help: "with --declared: a head of the log that was published", rule: "the last line's"},
		cliFlag{name: "refit", everyday: true, to: &f.refit,
			help: "fit again with the model's own options, and compare every bit"},
		cliFlag{name: "no-refit", everyday: true, to: &f.noRefit,
			help: "don't fit again, even if that takes less than a minute"},
		cliFlag{name: "core", everyday: true, value: "FOLDER", to: &f.core,
			help: "also write what verify/core.py needs beside MODEL: " +
				"predictions.csv, and DATA as plain rows.csv"},
		cliFlag{name: "accept-file-order", to: &f.order,
			help: "models from before version 5: you vouch that the order of the rows in the " +
				"file, which decided their " +
				"roles, is chance"},
		cliFlag{name: "fresh", everyday: true, to: &f.fresh, help: "bound the risk from rows the " +
			"model never saw"}, cliFlag{name: "anytime", everyday: true, to: &f.anytime,
			help: "with --fresh: also limits that hold after every number of rows at once, so " +
				"that you may look as often as " +
				"you like"},
		cliFlag{name: "shift", everyday: true, value: "RHO", to: &f.shift,
			help: "also the bound on rows of another source, whose relative entropy to this one " +
				"is at most RHO nats"},
	)
	f.of.bind(cmd)
	f.tables.bind(cmd)
	return cmd
}

// check refuses flags that don't go together.
func (f *certifyFlags) check(cmd *cobra.Command, job ranks.Ranks) error {
	other := cmd.Flags().Changed("epsilon")
	shifted := cmd.Flags().Changed("shift")
	switch {
	case other && !(f.epsilon > 0):
		return misused("--epsilon %v: want a positive number", f.epsilon)
	case f.fresh && other:
		return misused("--fresh with --epsilon: the bounds are for the ε that was declared " +
			"when the model was fitted; leave one of the two out")
	case f.anytime && !f.fresh:
		return misused("--anytime is for --fresh: a certificate counts its rows once")
	case shifted && !(f.shift >= 0):
		return misused("--shift %v: want a relative entropy in nats, 0 or more, such as 0.01",
			f.shift)
	}
	// With --predictions there is no model, and so no flag about a model's fit.
	err := f.of.alone(cmd, f.fresh || f.refit || f.noRefit || f.order || shifted)
	switch {
	case err != nil || f.of.file != "":
		return err
	case f.noRefit && f.refit:
		return misused("--refit with --no-refit: leave one of the two out")
	case f.refit && !f.fresh && (other || job.Size() > 1):
		return misused("--refit fits with the ε that was declared, on one rank")
	}
	return nil
}

// checkOwn refuses what flags about a model and the data of its fit don't go with.
func (f *certifyFlags) checkOwn(job ranks.Ranks) error {
	switch {
	case f.core != "" && (f.fresh || f.of.file != "" || f.epsilon != 0 || job.Size() > 1):
		return misused("--core is for a model, the data that it was made from and its own ε, on " +
			"one rank")
	case f.declaration+f.log != "" && (f.fresh || f.of.file != ""):
		return misused("--declared or --declaration with --fresh or --predictions: they are about " +
			"a model and the data that it was made from")
	case f.head != "" && f.log == "":
		return misused("--head is for --declared LOG: it is a head of this log")
	}
	return nil
}

// run recomputes the certificate of the model args[0] from the data args[1].
func (f *certifyFlags) run(cmd *cobra.Command, c *common, args []string, job ranks.Ranks) error {
	all, err := krigo.LoadTargets(args[0])
	if err != nil {
		return err
	}
	m := all.Model(0)
	if f.order && len(all.Models) == 1 {
		if m, err = m.AcceptFileOrder(); err != nil {
			return fmt.Errorf("--accept-file-order: %w", err)
		}
	}
	as := m.Reading.Naming(m.Group)
	if f.fresh { // the rows of the fit are read as the fit read them
		as = as.Filling()
	}
	table, err := f.tables.read(cmd, c, args[1], job, as)
	if err != nil {
		return err
	}
	defer table.Close()
	// Fresh rows get a bound of their own, whatever the model's certificate says.
	if label, err := all.Label(); f.fresh && err == nil {
		return f.runFresh(cmd, c, label, table)
	}
	if len(all.Models) > 1 {
		return f.runTargets(cmd, c, args, all, table)
	}
	o := krigo.CertifyOptions{Epsilon: f.epsilon, Head: f.head}
	for _, given := range []struct {
		flag, name string
		to         *[]byte
	}{{"declaration", f.declaration, &o.Declaration}, {"declared", f.log, &o.Log}} {
		if given.name != "" {
			if *given.to, err = memory.ReadFile(given.name, textTimes); err != nil {
				return fmt.Errorf("--%s %s: %w", given.flag, given.name, err)
			}
		}
	}
	// Fitting again checks the parameters, which the certificate alone can't.
	again := job.Size() == 1 && !f.noRefit && f.epsilon == 0
	r, err := recertify(cmd, c, args[0], m, table, o, f.refit, again)
	if err == nil && cmd.Flags().Changed("shift") {
		err = r.ShiftTo(f.shift)
	}
	if err == nil && f.core != "" {
		err = writeCore(f.core, args[0], args[1], all, table)
	}
	if err != nil {
		return err
	}
	return c.answer(cmd, r, "recertified", recertified{certificateWords{M: m, C: r.Certificate}, r})
}

// runLabels recomputes the certificate of labels args[0] from the certified rows args[1].
func (f *certifyFlags) runLabels(cmd *cobra.Command, c *common, args []string) error {
	if name := changed(cmd, []string{"fresh", "refit", "no-refit", "anytime", "accept-file-order",
		"declaration", "declared", "epsilon", "shift", "core"}); name != "" {
		return misused("--%s is for models, and %s is a certificate of labels", name, args[0])
	}
	p, _, err := krigo.LoadLabels(args[0])
	if err != nil {
		return err
	}
	table, err := f.tables.read(cmd, c, args[1], nil, dataset.Reading{}.Naming(p.Group))
	if err != nil {
		return err
	}
	defer table.Close()
	if err := p.Reproduce(cmd.Context(), table); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	// What krigo checked, and what it takes on the fitter's word, are lists of their own.
	d := struct {
		*krigo.CertifiedLabels
		Matches bool          `json:"matches"`
		Valid   bool          `json:"valid"`
		Checked []model.Claim `json:"checked"`
		OnWord  []model.Claim `json:"on_the_fitters_word"`
	}{p, true, p.Certificate.Valid,
		[]model.Claim{{What: "the rows", By: "SHA-256"},
			{What: "all counts, bounds, thresholds and words", By: "recomputed " +
				"from the rows"}},
		[]model.Claim{{What: "the conditions above", By: "no program can check them"}}}
	return c.answer(cmd, d, "reproduced", map[string]any{"Labels": p, "Data": args[1],
		"Checked": d.Checked, "OnWord": d.OnWord})
}

// runTargets recomputes the certificates of all targets, and the certificate of all together.
func (f *certifyFlags) runTargets(cmd *cobra.Command, c *common, args []string, all *krigo.Targets,
	table *dataset.Table) error {
	name := args[0]
	switch {
	case f.fresh, f.declaration+f.log != "", f.epsilon != 0, f.order, cmd.Flags().Changed("shift"):
		return misused("--fresh, --epsilon, --shift, --declaration, --declared and "+
			"--accept-file-order are for the model of one target: krigo extract %s --target NAME writes it", name)
	}
	var d struct {
		Targets  []*krigo.Recertification `json:"targets"`
		Together model.Together           `json:"together"`
		Sentence string                   `json:"sentence"`
	}
	var each []recertified
	for i, m := range all.Models {
		each = append(each, recertified{certificateWords: certificateWords{M: all.Model(i)}})
		if m.Certificate == nil {
			continue
		}
		r, err := recertify(cmd, c, fmt.Sprintf("%s, target %s", name, m.Target),
			all.Model(i), table, krigo.CertifyOptions{}, f.refit, !f.noRefit)
		if err != nil {
			return err
		}
		d.Targets = append(d.Targets, r)
		each[i].C = r.Certificate
		each[i].R = r
	}
	if d.Targets == nil {
		return &krigo.NoCertificate{Reason: all.Together.Reason}
	}
	if err := all.CheckTogether(cmd.Context(), table); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if f.core != "" {
		if err := writeCore(f.core, name, args[1], all, table); err != nil {
			return err
		}
	}
	d.Together, d.Sentence = all.Together, all.Sentence()
	return c.answer(cmd, d, "recertified targets", map[string]any{"Sentence": d.Sentence,
		"Each": each})
}

// writeCore writes the files of --core: the table that the models in the file name were made from,
// with plain cells, and their predictions, for these rows and for the file data, which has the
// table's rows unless it is standard input.
func writeCore(folder, name, data string, all *krigo.Targets, table *dataset.Table) error {
	raw, err := memory.ReadFile(name, textTimes)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		return fmt.Errorf("--core: %w", err)
	}
	rows := filepath.Join(folder, "rows.csv")
	if err := disk.Write(rows, func(w io.Writer) error { return writePlain(w, table) }); err != nil {
		return fmt.Errorf("--core: %w", err)
	}
	var sums [][sha256.Size]byte
	for _, file := range []string{data, rows} {
		if file == standardInput {
			continue
		}
		sum, err := fileSum(file)
		if err != nil {
			return fmt.Errorf("--core: %w", err)
		}
		sums = append(sums, sum)
	}
	if err := disk.Write(filepath.Join(folder, "predictions.csv"), func(w io.Writer) error {
		return all.WriteCore(w, table, sha256.Sum256(raw), sums...)
	}); err != nil {
		return fmt.Errorf("--core: %w", err)
	}
	return nil
}

// fileSum returns the SHA-256 of a file.
func fileSum(name string) (sum [sha256.Size]byte, err error) {
	f, err := disk.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// writePlain writes a table as CSV with plain cells.
func writePlain(w io.Writer, table *dataset.Table) error {
	to := csv.NewWriter(w)
	if err := to.Write(table.Names); err != nil {
		return err
	}
	err := table.Each(linalg.UpTo(len(table.Names)), func(_ int, cells []float64) error {
		texts := make([]string, len(cells))
		for j, v := range cells {
			texts[j] = table.CellText(j, v)
			if v == 0 && math.Signbit(v) { // its bytes are others than those of 0
				texts[j] = "-0"
			}
		}
		return to.Write(texts)
	})
	to.Flush()
	return cmp.Or(err, to.Error())
}

// runFresh bounds the risk of a model from rows that the model never saw.
func (f *certifyFlags) runFresh(cmd *cobra.Command, c *common, m *krigo.Model,
	table *dataset.Table) error {
	progress := newProgress(cmd.ErrOrStderr(), c.quiet)
	fresh, err := m.CertifyFresh(progress.telling(cmd.Context()), table)
	progress.end()
	if err == nil && cmd.Flags().Changed("shift") {
		err = fresh.ShiftTo(f.shift)
	}
	if err == nil && f.anytime {
		err = fresh.AtAnyTime()
	}
	if err != nil {
		return err
	}
	return c.answer(cmd, fresh, "fresh", map[string]any{"F": fresh, "Route": m.Terms.Route,
		"Sentence": fresh.Sentence(&m.Model)})
}

// recertify recomputes the certificate of a model, and refuses a model whose certificate differs.
func recertify(cmd *cobra.Command, c *common, name string, m *krigo.Model, table *dataset.Table,
	o krigo.CertifyOptions, refit, ifBrief bool) (*krigo.Recertification, error) {
	progress := newProgress(cmd.ErrOrStderr(), c.quiet)
	r, err := m.Certify(progress.telling(cmd.Context()), table, o)
	progress.end()
	if err != nil {
		return nil, model.Brief(err)
	}
	if r.Differs != "" {
		hint := spelling.If(m.Trained().Noise < 1e-6,
			"; with a noise variance this small another kind of processor may compute other "+
				"digits, so certify on the one it was fitted on")
		return nil, model.Brief(fmt.Errorf("%s isn't what its model and data make it: %s; "+
			"don't rely on this file%s", name, r.Differs, hint))
	}
	if !refit && !ifBrief {
		return r, nil
	}
	progress = newProgress(cmd.ErrOrStderr(), c.quiet)
	defer progress.end()
	if !refit {
		if err = r.RefitIfBrief(cmd.Context(), progress.event); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return r, nil
	}
	differs, err := r.Refit(cmd.Context(), progress.event)
	if err == nil && differs != "" {
		err = fmt.Errorf("%s can't be made again from its data and options: %s; on another kind "+
			"of processor or by another version of krigo that may be rounding, else don't rely "+
			"on this file", name, differs)
	}
	return r, err
}

// recertified is a recomputed certificate in words, with what was checked and what wasn't.
// R is nil for a model without a certificate.
type recertified struct {
	certificateWords
	R *krigo.Recertification
}
