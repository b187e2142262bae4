package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// objectiveFlags are those that fit and evaluate share.
type objectiveFlags struct {
	options       krigo.Options
	epsilon       string
	grid          string
	scaling       string
	noStandardise bool
	inducing      string
	alpha         string
	posterior     string
	bound         string
	meanBound     string
	flags         *pflag.FlagSet
}

func (f *objectiveFlags) register(flags *pflag.FlagSet) {
	o := &f.options
	f.flags = flags
	flags.StringVar(&o.Target, "target", "", "column to predict (required)")
	flags.StringVar(&o.Objective, "objective", "", "what training minimises: kl-pac (the PAC-Bayes bound itself), sqrt-pac (its looser square-root form), evidence (the negative log marginal likelihood), or of a sparse GP vfe, fitc, dtc, pep, svgp (the energy of vfe as a sum over rows, trained on batches of them); renyi: a bound of the evidence that falls into it while training, from vfe's (default: evidence, above 2,000 prior rows or with inducing inputs vfe, of an informed prior; evidence with --fix-parameters or --solver cg or nearest; with --prior grid, --grid, --alpha, --posterior fitc or free, or --init kl-pac; evaluate: kl-pac)")
	flags.StringVar(&f.inducing, "inducing", "", "inducing inputs of a sparse GP; 0: the full GP; auto: as many as the starting kernel's Nyström error asks for; theory: as many as a theorem asks for before any row is seen, for the kernels se and, of one input, matern32 and matern52 (default: full up to 2,000 rows, else 500 or half the rows; evidence is always full; vfe, fitc, dtc, pep, svgp and free posteriors are always sparse; renyi has inducing inputs while α isn't 0)")
	flags.StringVar(&f.alpha, "alpha", "", "α of a sparse GP's D = αλ + σ_n²: kl-pac and sqrt-pac 0 to 1 (default 1, the FITC form) or learn, pep up to 1 (default 0.5); 0 is the VFE form. Of renyi, the other way round: 0 is the exact GP, 1 the VFE form; it falls from 0.99 to 0 while training, unless a number or cv (chosen by cross-validation) fixes it; evaluate takes negative ones too")
	flags.StringVar(&f.posterior, "posterior", "objective", "posterior of a sparse GP that predicts and is certified: the objective's own, fitc (α = 1), or for kl-pac and sqrt-pac free: training goes on from the objective's own with any mean and covariance at the inducing inputs; with --prior informed the objective's own is the prior, and learnt or free a posterior that is trained on the certified rows by kl-pac")
	flags.StringVar(&o.Mean, "mean", "zero", "prior mean: zero, constant or linear; a trained one is paid for like a kernel parameter")
	flags.StringVar(&o.Loss, "loss", "band", "bounded loss that is certified: band (|y−ŷ|>ε), clipped-square, gaussian, relative (|y−ŷ|>ε|y|), asymmetric, clipped-absolute")
	flags.StringVar(&f.epsilon, "epsilon", "0.6", "half-width ε of the loss; below:above for the asymmetric loss, as in 0.4:0.8")
	flags.StringVar(&o.EpsilonUnits, "epsilon-units", "sd", "units of ε: sd (standard deviations of the target) or raw (the target's own)")
	flags.Float64Var(&o.Delta, "delta", 0.01, "the certificate may fail with this probability, over the draw of the certified rows")
	flags.StringVar(&f.grid, "grid", "6,2", "grid L,digits of the prior's log-parameters: decimals of that many digits in [−L, L]; L,mixed: 0, 1 or 2 digits, and under ARD perhaps only 1 to 4 different lengthscales, whichever gives the lowest bound, and paid for (kl-pac, sqrt-pac)")
	flags.StringVar(&f.bound, "bound", "", "inequality of the certificate: kl, maurer (kl with its exact constant), pinsker, split-kl, or betting (a posterior fixed before the certified rows were seen) (default: kl; of a posterior learnt from an informed prior maurer)")
	flags.Float64Var(&o.Promise, "promise", 0, "also find the smallest band ±ε that is guaranteed for this share of the predictions, as in 0.95, with confidence 1−δ like the certificate; half of δ goes to it")
	flags.StringSliceVar(&o.Categorical, "categorical", nil, "columns of categories, text or numbers: each becomes a column of 0 and 1 for every category of the prior rows, and one for all others; the encoding is kept in the model")
	flags.StringVar(&o.Missing, "missing", dataset.Refuse, "missing values of inputs: refuse, or mean (of the column over the prior rows; among categories they count as others)")
	flags.StringVar(&f.scaling, "scaling", dataset.PriorRows, "constants that standardise the columns: prior-rows (rows set aside), declared:FILE, or all-rows (then the bound is a heuristic, no certificate)")
	flags.BoolVar(&f.noStandardise, "no-standardise", false, "use the columns as they are: declared constants 0 and 1")
	flags.StringVar(&o.Solver, "solver", "auto", "how a full GP is solved: cholesky (exact, up to 20,000 rows), cg (conjugate gradients without a stored matrix; evidence only, an estimate, no certificate), nearest (with --fix-parameters: each prediction from the 1,024 training rows nearest to it, no certificate); auto: cholesky while it fits, then cg, past 50,000 rows nearest")
	flags.StringVar(&o.Split, "split", "random", "how rows get their roles: random (by the seed and what they hold, wherever they stand in the file), or last: the certified rows are the last but for test rows, and what is said of them is a backtest, no certificate")
	flags.StringVar(&o.Group, "group", "", "column (no input then) whose rows with the same value belong together, as those of a patient or a machine: whole groups get roles, and the certificate is about further groups")
	flags.Uint64Var(&o.Seed, "seed", 0, "deals the rows their roles and draws random starts; same seed, same result")
}

// read completes the options from flags that need parsing, and reads the data.
func (f *objectiveFlags) read(path string, r ranks.Ranks) (*dataset.Table, krigo.Options, error) {
	o := f.options
	fail := func(err error) (*dataset.Table, krigo.Options, error) { return nil, o, &krigo.UsageError{Err: err} }
	var err error
	if o.Epsilon, o.EpsilonAbove, err = parseEpsilon(f.epsilon); err != nil {
		return fail(err)
	}
	if o.Loss == string(pacbayes.ClippedAbsolute) && f.flags.Changed("epsilon") {
		return fail(fmt.Errorf("--epsilon %s with --loss clipped-absolute, which has no ε: leave it out", f.epsilon))
	}
	if !(o.Delta > 0 && o.Delta < 1) {
		return fail(fmt.Errorf("--delta %v: want a probability between 0 and 1, such as 0.01", o.Delta))
	}
	o.Bound, o.MeanBound = pacbayes.Inequality(f.bound), pacbayes.Route(f.meanBound)
	if l, mixed := strings.CutSuffix(f.grid, ",mixed"); mixed {
		f.grid, o.GridMixed = l+",2", true
	}
	if f.flags.Changed("grid") {
		if o.Grid, err = pacbayes.ParseGrid(f.grid); err != nil {
			return fail(fmt.Errorf("--grid: %w", err))
		}
	}
	if o.Target == "" {
		return fail(errors.New("--target is missing: name the column to predict"))
	}
	switch f.inducing {
	case "":
	case "auto":
		o.AutoInducing = true
	case "theory":
		o.TheoryInducing = true
	default:
		if o.Inducing, err = strconv.Atoi(f.inducing); err != nil || o.Inducing < 0 {
			return fail(fmt.Errorf("--inducing %q: want a number of inducing inputs, 0, auto or theory", f.inducing))
		}
	}
	switch f.alpha {
	case "":
	case "learn":
		o.LearnAlpha = true
	case "cv":
		o.AlphaCV = true
	default:
		a, err := strconv.ParseFloat(f.alpha, 64)
		if err != nil {
			return fail(fmt.Errorf("--alpha %q: want a number, learn or cv", f.alpha))
		}
		o.Alpha = &a
	}
	switch f.posterior {
	case "objective":
	case "fitc":
		o.PosteriorFITC = true
	case "free":
		o.PosteriorFree = true
	case "learnt":
		o.PosteriorLearnt = true
	default:
		return fail(fmt.Errorf("--posterior %q: want objective, fitc, free or learnt", f.posterior))
	}
	o.Full = f.inducing == "0"
	table, err := dataset.ReadPart(path, r)
	if err != nil {
		return nil, o, err
	}
	file, declared := strings.CutPrefix(f.scaling, "declared:")
	o.Scaling = f.scaling
	switch {
	case f.noStandardise && f.scaling != dataset.PriorRows:
		return fail(errors.New("--no-standardise and --scaling exclude each other"))
	case f.noStandardise:
		s := dataset.Identity(len(table.Names) - 1)
		o.Scaling, o.Declared = dataset.Declared, &s
	case declared && (len(o.Categorical) > 0 || o.Missing == dataset.FillMean):
		return fail(fmt.Errorf("--scaling %s with --categorical or --missing mean: categories and means are learnt from prior rows, and the inputs' scaling with them; leave it at prior-rows", f.scaling))
	case declared:
		d, err := table.Regression(o.Target)
		if err != nil {
			return nil, o, err
		}
		s, err := dataset.ReadScaling(file, d)
		if err != nil {
			return nil, o, err
		}
		o.Scaling, o.Declared = dataset.Declared, &s
	}
	return table, o, nil
}

func parseEpsilon(s string) (below, above float64, err error) {
	parts := strings.Split(s, ":")
	var v [2]float64
	for i, p := range parts {
		if i < 2 {
			v[i], err = strconv.ParseFloat(strings.TrimSpace(p), 64)
		}
		if err != nil || i > 1 || !(v[i] > 0) {
			return 0, 0, fmt.Errorf("--epsilon %q: want a positive number, or below:above for the asymmetric loss", s)
		}
	}
	return v[0], v[1], nil
}

// fitFlags are those that fit and compare share.
type fitFlags struct{ objectiveFlags }

func (f *fitFlags) register(flags *pflag.FlagSet) {
	f.objectiveFlags.register(flags)
	o := &f.options
	flags.StringVar(&o.Kernel, "kernel", "se", "covariance function: "+strings.Join(kernel.Names(), ", ")+"; sums and products as in \"se+linear\", \"se*periodic\"")
	flags.StringVar(&o.ARD, "ard", "auto", "one lengthscale an input: on, off, or auto (both are tried; the choice is paid for with ln 2)")
	flags.Float64Var(&o.TestFraction, "test-fraction", 0, "share of the rows set aside and scored at the end")
	flags.Float64Var(&o.CalibrationFraction, "calibration-fraction", 0, "share of the rows set aside for split-conformal intervals, which hold 95 % of further targets on average over draws of these rows and further rows from the same source (exchangeable rows)")
	flags.StringVar(&o.Prior, "prior", "", "prior of the certificate: grid (data-blind, its parameters on the grid; the objective trains on all certified rows) or informed (the objective trains it on the prior rows; nothing is learnt on the certified ones unless --posterior says so) (default: grid where an objective is named or one of --grid, --alpha, --posterior fitc or free, --init, --fix-parameters, --solver cg or nearest, else informed)")
	flags.Float64Var(&o.PriorShare, "prior-share", 0, "share of the rows, test and calibration rows apart, that are prior rows (default: for an informed prior 0.7, of more than 3,333 rows all but 1,000, up to 0.8, and less where that would leave fewer than 21 rows; else a tenth, at least 20 and at most 1,000 rows)")
	flags.Float64SliceVar(&o.Temper, "temper", nil, "informed prior: factors of its covariance; several are chosen among on the certified rows and paid for; none: 1")
	flags.StringVar(&f.meanBound, "mean-bound", "", "route to the bound on predictions: twice (that of a random draw), direct (their own losses on the certified rows, for an informed prior that is the posterior) or both, with half of δ each (default: direct where it can be, else twice)")
	flags.IntVar(&o.Restarts, "restarts", 0, "starting points per kernel family; 0: 3 for a full GP, 1 for a sparse one")
	flags.BoolVar(&o.FixParameters, "fix-parameters", false, "evidence: no training; condition the full GP on the rows at the parameters of --init")
	flags.StringVar(&o.InducingInit, "inducing-init", "kmeans", "where inducing inputs start: kmeans, greedy (conditional variance), kdpp, random")
	flags.BoolVar(&o.FixInducing, "fix-inducing", false, "keep the inducing inputs where they start")
	flags.StringVar(&o.Anneal, "anneal", "", "renyi: how α falls from 0.99 to 0: linear (default), cosine, geometric; none: --alpha stays")
	flags.StringVar(&o.Optimizer, "optimizer", "", "lbfgs or mma (moving asymptotes), with all rows in every step; adam or sgd, with a batch of them, for svgp, renyi, evidence and --posterior free (default: adam for svgp, for renyi above 2,000 rows, if --batch, --batches or --learning-rate is given, and for --posterior free if --epochs is; else lbfgs)")
	flags.IntVar(&o.Batch, "batch", 0, "adam, sgd: rows of a batch; 0: 1,000, of renyi and evidence 1,024")
	flags.StringVar(&o.Batches, "batches", "", "adam, sgd: uniform (default: every row once an epoch), or of renyi and evidence nearest (a random row and those nearest to it)")
	flags.IntVar(&o.Epochs, "epochs", 0, "passes over the rows at most: of adam and sgd, 0: as many as 3,000 steps take; of lbfgs and mma, whose every evaluation is one, 0: 1,000")
	flags.Float64Var(&o.LearningRate, "learning-rate", 0, "adam, sgd: learning rate of the first step, which falls to a hundredth; 0: adam 0.02, for --posterior free 0.001; sgd 0.1")
}

func newFit(c *common) *cobra.Command {
	var f fitFlags
	var test, out, initFile, resume string
	cmd := &cobra.Command{
		Use:   "fit DATA --target COL",
		Short: "Train a model, certify it, save it",
		Long: `Train a Gaussian process on a table, certify it, and save it: a CSV file (plain or gzip), NPZ or
Parquet, or an NPY file, which is read block by block, so that it may be larger than memory.

Rows are shuffled by the seed and dealt: test rows if asked for, then prior rows, from which
the columns are standardised, and the rest are certified: the certificate counts them alone.

By default 7 to 8 in 10 rows are prior rows: the model is trained on them, and its predictions are
certified on the others, by their own misses. With --prior grid, or where --objective is
given, a tenth are (20 to 1,000), the model is trained on the certified rows, and a PAC-Bayes
bound counts them all the same: kl-pac trains for this bound itself.

The certificate says: with confidence 1−δ (over the draw of the certified rows), the expected loss of predictions on a further row
of the same source is at most a bound. Choose the loss and ε before you look at the data; a
certificate picked as the best of several runs isn't one.`,
		Example: `  krigo fit houses.csv --target price
  krigo fit houses.csv --target price --categorical zone,heating --missing mean
  krigo fit houses.csv --target price --epsilon 20000 --epsilon-units raw --test-fraction 0.2 --json
  krigo fit houses.csv --target price --objective kl-pac --kernel "matern32+linear" --ard on`,
		Args: exactly(1),
		RunE: c.over(func(cmd *cobra.Command, args []string, r ranks.Ranks) error {
			begin := time.Now()
			table, o, err := f.read(args[0], r)
			if err != nil {
				return err
			}
			defer table.Close()
			if test != "" {
				if o.Test, err = dataset.ReadPart(test, r); err != nil {
					return err
				}
				defer o.Test.Close()
			}
			if initFile != "" {
				if o.Init, err = readParams(initFile); err != nil {
					return err
				}
			}
			if out == "" {
				out = modelName(args[0])
			}
			if r.Rank() == 0 {
				if err := writable(out, args[0], test, initFile, resume, strings.TrimPrefix(f.scaling, "declared:")); err != nil {
					return err
				}
			}
			saver := &checkpointer{path: out + ".checkpoint", last: begin}
			if resume != "" {
				if o.Resume, err = readCheckpoint(resume, r); err != nil {
					return err
				}
				saver.path, saver.state = resume, o.Resume
			}
			o.Save = saver.offer
			progress := newProgress(cmd.ErrOrStderr(), c.quiet)
			o.Progress = progress.event
			m, err := krigo.Fit(cmd.Context(), table, o)
			progress.end()
			if err != nil {
				if cmd.Context().Err() == nil {
					return err
				}
				if saver.state == nil {
					return errors.New("interrupted before the first step; nothing to resume")
				}
				if err := saver.write(); err != nil {
					return err
				}
				return fmt.Errorf("interrupted; go on with the same flags and --resume %s", saver.path)
			}
			if r.Rank() > 0 {
				return nil
			}
			noteRefit(m, out)
			if err := m.Save(out); err != nil {
				return err
			}
			saver.remove()
			if c.json {
				return printJSON(cmd.OutOrStdout(), fitJSON(m, out))
			}
			printFit(cmd.OutOrStdout(), m, out)
			return nil
		}),
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.StringVar(&test, "test", "", "score on the rows of this file instead")
	flags.StringVar(&initFile, "init", "", "start the first run from the parameters in this JSON file (not of an informed prior, which the prior rows alone may shape)")
	flags.StringVar(&out, "out", "", "model file to write (default: DATA's name with .krigo)")
	flags.StringVar(&resume, "resume", "", "go on from this checkpoint of an interrupted fit with the same data and flags")
	return cmd
}

// refitted is the notice of a model that takes the place of another one of the same data.
const refitted = "it replaces a certified model of the same data: keeping the better of several fits isn't covered by either certificate"

// noteRefit notes in a model that the file it is saved to held another certified one of the same targets, or of
// mostly the same rows. The same fit again is no choice, but keeps the note.
func noteRefit(m *krigo.Model, path string) {
	old, err := krigo.Load(path)
	if err != nil || !certified(old) || !certified(m) {
		return
	}
	common := 0
	for _, h := range m.Rows {
		if _, found := slices.BinarySearch(old.Rows, h); found {
			common++
		}
	}
	again := m.Hash == old.Hash && m.Certificate.Equal(old.Certificate) && !slices.Contains(old.Notices, refitted)
	if (m.Targets == old.Targets || 2*common > len(m.Rows)) && !again {
		m.Notices = append(m.Notices, refitted)
	}
}

func certified(m *krigo.Model) bool { return m.Certificate != nil && m.Certificate.Valid }

// modelName is DATA's base name with .krigo in place of its endings.
func modelName(data string) string {
	name := strings.TrimSuffix(filepath.Base(data), ".gz")
	for _, format := range dataset.Formats() {
		for _, ending := range format.Endings {
			name = strings.TrimSuffix(name, ending)
		}
	}
	return name + ".krigo"
}

func readParams(path string) (*krigo.Params, error) {
	var p krigo.Params
	if err := dataset.ReadJSON(path, &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// readCheckpoint reads the file on the first rank, which has written it.
func readCheckpoint(path string, r ranks.Ranks) (*krigo.Checkpoint, error) {
	var c krigo.Checkpoint
	if r.Rank() == 0 {
		if err := dataset.ReadJSON(path, &c); err != nil {
			return nil, err
		}
	}
	if r.Size() > 1 {
		text, err := json.Marshal(c)
		if err == nil {
			text, err = ranks.Bytes(r, 0, text)
		}
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// checkpointer keeps the last state of a fit, and writes it to a file now and then.
type checkpointer struct {
	path  string
	state *krigo.Checkpoint
	last  time.Time
}

// checkpointEvery is how much work a killed fit may lose.
var checkpointEvery = 5 * time.Second

func (c *checkpointer) offer(s *krigo.Checkpoint) error {
	c.state = s
	if time.Since(c.last) < checkpointEvery {
		return nil
	}
	c.last = time.Now()
	return c.write()
}

func (c *checkpointer) write() error {
	return dataset.WriteFileAtomic(c.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(c.state) })
}

func (c *checkpointer) remove() { os.Remove(c.path) }

// fitDocument is what fit --json prints.
type fitDocument struct {
	Objective         string                `json:"objective"`
	Rows              int                   `json:"rows"` // prior and certified
	Inputs            int                   `json:"inputs"`
	Encoding          *dataset.Encoding     `json:"encoding,omitempty"`
	Inducing          int                   `json:"inducing"`
	Solver            string                `json:"solver,omitempty"` // of a full GP
	Kernel            kernel.Spec           `json:"kernel"`
	Temper            float64               `json:"temper,omitempty"` // of an informed prior
	Mean              *krigo.MeanParams     `json:"mean,omitempty"`
	NoiseVariance     float64               `json:"noise_variance"`
	ObservationNoise  float64               `json:"observation_noise"`
	Certificate       *pacbayes.Certificate `json:"certificate"`
	CertificateReason string                `json:"certificate_reason,omitempty"`
	Conformal         *model.Conformal      `json:"conformal,omitempty"`
	Test              *model.Test           `json:"test"`
	Training          model.Training        `json:"training"`
	Notices           []string              `json:"notices,omitempty"`
	Model             string                `json:"model"`
}

func fitJSON(m *krigo.Model, path string) fitDocument {
	d := fitDocument{
		Objective: m.Objective, Inputs: len(m.Inputs), Encoding: m.Encoding, Kernel: m.Posterior.Kernel.Spec(m.Posterior.Theta),
		NoiseVariance: m.Posterior.Noise, ObservationNoise: m.ObservationNoise,
		Certificate: m.Certificate, CertificateReason: m.CertificateReason,
		Conformal: m.Conformal, Test: m.Test, Training: m.Training, Notices: m.Notices, Model: path,
	}
	trained, base := m.Trained(), m.Posterior
	if prior, temper := m.Posterior.OfPrior(); prior != nil {
		d.Kernel, d.Temper = prior.Kernel.Spec(prior.Theta), temper
		base = prior
	}
	d.Solver = m.Posterior.Kind()
	if trained.Sparse() {
		d.Inducing, d.Solver = trained.Support.Rows, ""
	}
	if b := base.Beta; len(b) > 0 {
		d.Mean = &krigo.MeanParams{Constant: b[0], Linear: b[1:]}
	}
	d.Rows = m.Counts[dataset.Prior] + m.Counts[dataset.Certified]
	return d
}

func printFit(w io.Writer, m *krigo.Model, path string) {
	if c := m.Certificate; c != nil {
		printCertificate(w, m, c)
	} else {
		fmt.Fprintf(w, "No certificate: %s.\n", m.CertificateReason)
	}
	d := fitJSON(m, path)
	fmt.Fprintf(w, "\nModel     %s on %d rows × %d inputs, kernel %s\n", m.Objective, d.Rows, d.Inputs, d.Kernel)
	if m.Encoding != nil {
		fmt.Fprintf(w, "          %s\n", m.Encoding)
	}
	fmt.Fprintf(w, "          noise variance %.3g, observation noise %.3g (scaled units)\n", d.NoiseVariance, d.ObservationNoise)
	if t := m.Test; t != nil {
		of := ""
		if t.Groups > 0 {
			of = fmt.Sprintf(" (on average over %d groups)", t.Groups)
		}
		fmt.Fprintf(w, "Test      %d rows: RMSE %.4g (%s), mean squared error %.4g, NLPD %.3g (scaled)\n", t.Rows, t.RMSERaw, m.Target, t.MSE, t.NLPD)
		draw := fmt.Sprintf(", of a random draw %.3f", t.GibbsRisk)
		if m.Terms.Route == pacbayes.Direct { // which doesn't speak of one
			draw = ""
		}
		fmt.Fprintf(w, "          loss of the mean %.3f%s%s; 95 %% credible intervals, the model's own belief, hold %.1f %%\n", t.MeanRisk, draw, of, 100*t.Coverage95)
		if t.Conformal != nil {
			fmt.Fprintf(w, "          95 %% conformal intervals hold %.1f %%, normalised ones %.1f %%\n", 100**t.Conformal, 100**t.Normalised)
		}
	}
	if f := m.Conformal; f != nil {
		fmt.Fprintf(w, "Intervals conformal ±%s, normalised ±%s sd: %s of further targets, on average over draws of the %d calibration rows and further rows from the same source (exchangeable rows)\n",
			krigo.Width(f.HalfWidth*m.Scaling.TargetScale), krigo.Width(f.Normalised), krigo.Complement(1-f.Level), f.Rows)
	}
	fmt.Fprintf(w, "Training  starts: %d, %d iterations, %d evaluations, %.1f s; the best run: %s\n",
		m.Training.Starts, m.Training.Iterations, m.Training.Evaluations, m.Training.Seconds, m.Training.Stopped)
	for _, n := range m.Notices {
		fmt.Fprintf(w, "Notice    %s\n", n)
	}
	fmt.Fprintf(w, "Saved     %s\n", path)
}
