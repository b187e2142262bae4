"""The estimator's parameters. UPDATE_SNAPSHOTS=1 go test ./internal/command -run TestSchema writes this file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._base import Estimator
from ._errors import told
from ._options import Value


class Parameters(Estimator):
    """Every parameter is the flag of the same name of krigo fit."""

    @told
    def __init__(
        self,
        *,
        target: Value = None,
        inputs: Value = None,
        ignore: Value = None,
        categorical: Value = "auto",
        missing: Value = None,
        strict: bool = False,
        missing_target: Value = None,
        dates: Value = None,
        decimal: Value = None,
        thousands: Value = None,
        na: Value = None,
        below: Value = None,
        above: Value = None,
        units: Value = None,
        skip_rows: Value = None,
        header: Value = None,
        sheet: Value = None,
        duplicates: Value = None,
        group: Value = None,
        offset: Value = None,
        exposure: Value = None,
        noise_column: Value = None,
        censored: Value = None,
        scaling: Value = None,
        target_transform: Value = None,
        target_estimate: Value = None,
        no_standardise: bool = False,
        split: Value = None,
        test_fraction: Value = None,
        kernel: Value = None,
        ard: Value = None,
        mean: Value = None,
        noise: Value = None,
        monotone: Value = None,
        objective: Value = None,
        restarts: Value = None,
        init: Value = None,
        fix_parameters: bool = False,
        inducing: Value = None,
        inducing_init: Value = None,
        fix_inducing: bool = False,
        alpha: Value = None,
        posterior: Value = None,
        optimizer: Value = None,
        epochs: Value = None,
        solver: Value = None,
        batch: Value = None,
        learning_rate: Value = None,
        batches: Value = None,
        hyperprior: Value = None,
        neighbours: Value = None,
        term: Value = None,
        form: Value = None,
        alphas: Value = None,
        anneal: Value = None,
        anneal_share: Value = None,
        prior: Value = None,
        prior_share: Value = None,
        temper: Value = None,
        grid: Value = None,
        loss: Value = None,
        epsilon: Value = None,
        epsilon_units: Value = None,
        delta: Value = None,
        bound: Value = None,
        mean_bound: Value = None,
        promise: Value = None,
        curve: bool = False,
        slices: Value = None,
        population: Value = None,
        calibration_fraction: Value = None,
        seed: Value = None,
        budget: Value = None,
        deliver: Value = None,
        declared: Value = None,
        verbose: bool = False,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        r"""Each parameter is the flag of the same name of krigo fit, and None is its default.

        Parameters
        ----------
        target :
            column to predict (required)
        ignore :
            columns that are no inputs, such as names of rows; * and ? as in inputs
        categorical :
            columns of categories, text or numbers: each category of the prior rows becomes a column of 0 and 1, and all
            other categories share a column
        missing :
            missing inputs: refuse, mean (of the prior rows), or indicator (mean, and inputs that say so) (default
            indicator, or refuse)
        dates :
            columns of dates or times, read as days; COL:dmy or COL:mdy if unclear; COL:day:week:year adds the place in
            each period
        group :
            column that groups rows, such as a patient's ID; it is then no input. Groups stay together, and the
            certificate counts groups
        target_transform :
            transform of the target for the model: none, log, log1p, sqrt, boxcox, yeo-johnson, auto (default auto, or
            none)
        test_fraction :
            share of the rows set aside and scored at the end
        kernel :
            se, matern12, matern32, matern52, rq, periodic, additive, steps, linear, constant, white; se+rq, se*rq(x1);
            list se,rq; auto (default auto, or se)
        objective :
            what training minimises: kl-pac (the PAC-Bayes bound), sqrt-pac, evidence, nearest (each row from its
            neighbours, of any number of rows); sparse: vfe, fitc, dtc, pep, svgp, renyi (no better than evidence where
            measured, and slower) (default by prior and rows)
        epsilon :
            half-width ε of the loss; below:above for the asymmetric loss, as in 0.4:0.8 (default a table of widths if
            there is one, and 0.6 or 5 nats)
        epsilon_units :
            units of ε: sd (standard deviations of the target) or raw (the target's own) (default sd)
        delta :
            the certificate may fail with this probability, over the draw of the certified rows (default 0.01)
        promise :
            also find the smallest band ±ε guaranteed for this share of predictions, such as 0.95; it takes half of δ
        seed :
            assigns rows their roles and draws random starts; same seed, same result (default 0)
        deliver :
            all: also train a model on all rows, which predicts better and has no certificate, and write it to OUT-all
            (default certified)
        verbose :
            show a line about how training goes
        progress :
            a function that is told {"stage", "family", "start", "starts", "iteration", "of", "stopped", "rows",
            "of_rows"}; once the model is trained, how many of the rows are predicted

        Other Parameters
        ----------------
        inputs :
            columns to predict from; * stands for any text and ? for a character, as in 'temp*' (default all others)
        strict :
            let the table decide nothing: gaps and columns of text are errors
        missing_target :
            rows without a target: drop (leave them out, and count them), or refuse (default drop)
        decimal :
            the decimal point of CSV files: . or , (default .)
        thousands :
            what groups digits by three in CSV files: , . ' or a space (default none)
        na :
            further texts or numbers for missing values: '-,k.A.'; COL=-999, COL=>9 in one column (default empty, NA, N/A,
            #N/A, NaN, null, ?)
        below :
            how to read cells below a limit of detection, such as <0.1: as half of the limit (default text)
        above :
            how to read cells above a limit of detection, such as >2000: as the limit (default text)
        units :
            texts before or after numbers to leave out, such as kg in "12.5 kg"
        skip_rows :
            lines of text, or rows of a sheet, above the table
        header :
            the first row names the columns: yes, unique (numbers repeated names), two (rows), no (c1, c2, ...), auto (if
            not numbers) (default auto)
        sheet :
            the sheet of a workbook, or file of a zip archive, if there are several
        duplicates :
            rows that repeat others: keep; drop (equal in all cells); group (equal inputs and target count once in the
            certificate) (default keep)
        offset :
            another model's predictions of the target, for rows that it wasn't made from: the model learns what they miss,
            and its predictions are the sum
        exposure :
            exposure of a count or positive target, such as person-years: the mean is proportional to it, and predictions
            need it too
        noise_column :
            known standard errors of the target (in its units, not variances); predictions need them too
        censored :
            column that says which targets are limits: left (below it) or -1, right or 1, none or 0; or the target, with
            cells such as <0.1 and >50
        scaling :
            what standardises the columns: prior-rows, declared:FILE, or all-rows (then the bound is only a heuristic)
            (default prior-rows)
        target_estimate :
            what to predict of a transformed target: its mean or its median (default mean)
        no_standardise :
            use the columns as they are: declared constants 0 and 1
        split :
            roles of rows: random (from seed and contents), or last (a backtest on the last rows, no certificate) (default
            random)
        ard :
            a lengthscale for each input: on, off, or auto (tries both; the bound pays ln 2 for the choice) (default on,
            or auto)
        mean :
            prior mean: zero, constant or linear; the bound pays for a trained mean as for a kernel (default constant, or
            zero)
        noise :
            constant, linear, gp, auto, student, probit, poisson, negative-binomial, gamma, ordinal (default by the
            target)
        monotone :
            predictions that never fall, or never rise, as one or two columns rise: as in size:up,price:down; predicting
            takes longer
        restarts :
            starting points per kernel family (default 3; sparse, cg, batches 1)
        init :
            start from the parameters in this JSON file (not with an informed prior, which prior rows alone may shape)
        fix_parameters :
            evidence: don't train, but use the full GP at the parameters of init
        inducing :
            inducing inputs of a sparse GP; 0: the full GP; auto (Nyström error) or theory (a theorem) choose their number
            (default by objective and rows)
        inducing_init :
            where inducing inputs start: kmeans, greedy (conditional variance), kdpp, random (default kmeans)
        fix_inducing :
            keep the inducing inputs where they start
        alpha :
            sparse kl-pac, sqrt-pac, pep: α of Q, 0 (VFE) to 1 (FITC), or learn; renyi: α of its bound, 0 (exact) to 1
            (VFE), or cv (default by objective)
        posterior :
            sparse GP: the objective's, fitc (α = 1), free (kl-pac, sqrt-pac), or learnt (from an informed prior) (default
            objective)
        optimizer :
            lbfgs, mma: all rows in a step; adam, sgd: batches (svgp, renyi, evidence, free) (default lbfgs; adam for
            svgp, batches, renyi above 3,000 rows)
        epochs :
            most passes over the rows; an evaluation of lbfgs or mma is a pass (default lbfgs, mma 1,000; adam 3,000
            steps, nearest 500 to 900)
        solver :
            full GP: cholesky; cg and nearest (batches, fix_parameters, labels, counts), certified only with prior
            informed (default auto)
        batch :
            adam, sgd: rows in a batch (default 1,000; nearest, batches nearest 256; renyi, evidence on uniform ones
            1,024)
        learning_rate :
            adam, sgd: learning rate of the first step, which falls to a hundredth (default adam 0.02, nearest, batches
            nearest 0.05, free 0.001, sgd 0.1)
        batches :
            uniform (every row once an epoch); renyi, evidence: or nearest (a random row and the rows nearest to it)
            (default nearest if allowed)
        hyperprior :
            evidence, nearest: a weak prior density of lengthscales and noise; training finds the posterior's mode
            (default weak, or none)
        neighbours :
            nearest: in training, predict each row from this many neighbours (default 64)
        term :
            nearest: the cost of a prediction: density (its logarithm), squared, crps, loss (the certified loss) (default
            density)
        form :
            nearest: neighbours among all other rows (loo), or among earlier rows in a random order (vecchia) (default
            loo)
        alphas :
            renyi: the α that alpha cv chooses from by predictions for left-out thirds (default 0,0.25,0.5,0.75,1)
        anneal :
            renyi: how α falls from 0.99 to 0: linear, cosine, geometric; none: alpha stays (default linear)
        anneal_share :
            renyi: on batches, α is 0 after this share of the steps; 1: after the last, as in the paper (default 0.2)
        prior :
            grid (data-blind; certified rows train the model) or informed (prior rows train) (default informed; grid with
            objective and flags of its own)
        prior_share :
            share of prior rows among the rows that aren't test or calibration rows (default informed 0.7 to 0.875; grid a
            tenth, 20 to 1,000 rows)
        temper :
            informed: factors of the prior's covariance; certified rows choose one, and the bound pays (default 1)
        grid :
            log-parameters in [−L, L] with DIGITS decimals; L,mixed: 0 to 2 digits, few lengthscales, which the bound pays
            for (default 6,2)
        loss :
            the loss: band (|y−ŷ|>ε), clipped-square, gaussian, relative (>ε|y|), scaled (>ε sd), asymmetric,
            clipped-absolute, log-density (default band)
        bound :
            inequality of the certificate: kl, maurer, pinsker, split-kl, betting (fixed posteriors) (default kl; groups,
            graded: betting; learnt: maurer)
        mean_bound :
            bound on predictions: twice (the bound of a random draw), direct (from their losses), both (default direct
            where it can be, else twice)
        curve :
            bound every half-width at once, and the mean absolute error, if the mean is certified by its own misses
        slices :
            also bound the misses of kinds of rows, by columns, sd, or distance from the model's rows; this takes half of
            δ
        population :
            same: if rows of one unit (a patient, say) predict one another, promise for further rows of these units
        calibration_fraction :
            rows for conformal intervals, which hold on average over draws of these and further rows from the same source
            (exchangeable rows)
        budget :
            such as 60s: try no kernel that would take the fit beyond this time. What follows isn't cut short: training on
            all rows, ties, certification
        declared :
            take every option from this declaration (krigo declare) and no other; the certificate carries its hash
        """
        self.target = target
        self.inputs = inputs
        self.ignore = ignore
        self.categorical = categorical
        self.missing = missing
        self.strict = strict
        self.missing_target = missing_target
        self.dates = dates
        self.decimal = decimal
        self.thousands = thousands
        self.na = na
        self.below = below
        self.above = above
        self.units = units
        self.skip_rows = skip_rows
        self.header = header
        self.sheet = sheet
        self.duplicates = duplicates
        self.group = group
        self.offset = offset
        self.exposure = exposure
        self.noise_column = noise_column
        self.censored = censored
        self.scaling = scaling
        self.target_transform = target_transform
        self.target_estimate = target_estimate
        self.no_standardise = no_standardise
        self.split = split
        self.test_fraction = test_fraction
        self.kernel = kernel
        self.ard = ard
        self.mean = mean
        self.noise = noise
        self.monotone = monotone
        self.objective = objective
        self.restarts = restarts
        self.init = init
        self.fix_parameters = fix_parameters
        self.inducing = inducing
        self.inducing_init = inducing_init
        self.fix_inducing = fix_inducing
        self.alpha = alpha
        self.posterior = posterior
        self.optimizer = optimizer
        self.epochs = epochs
        self.solver = solver
        self.batch = batch
        self.learning_rate = learning_rate
        self.batches = batches
        self.hyperprior = hyperprior
        self.neighbours = neighbours
        self.term = term
        self.form = form
        self.alphas = alphas
        self.anneal = anneal
        self.anneal_share = anneal_share
        self.prior = prior
        self.prior_share = prior_share
        self.temper = temper
        self.grid = grid
        self.loss = loss
        self.epsilon = epsilon
        self.epsilon_units = epsilon_units
        self.delta = delta
        self.bound = bound
        self.mean_bound = mean_bound
        self.promise = promise
        self.curve = curve
        self.slices = slices
        self.population = population
        self.calibration_fraction = calibration_fraction
        self.seed = seed
        self.budget = budget
        self.deliver = deliver
        self.declared = declared
        self.verbose = verbose
        self.progress = progress
