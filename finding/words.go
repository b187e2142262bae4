package finding

// Severity says how much a finding matters.
type Severity string

// A Note says how krigo did something. A Warning says what may be wrong, or what a promise doesn't
// cover.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
)

// Kind says what was found.
type Kind string

// The kinds of findings. Methods from elsewhere may use other kinds, which have no words here.
const (
	Text Kind = "text" // a sentence from an older model file

	// About a table.
	Constant       Kind = "constant_columns"
	TooClose       Kind = "too_close_values"
	HeaderAgain    Kind = "header_repeated"
	TotalRow       Kind = "row_of_totals"
	RemarkRow      Kind = "row_of_remarks"
	SumsRow        Kind = "row_of_sums"
	NoHeader       Kind = "no_header"
	RowAsHeader    Kind = "row_as_header"
	SomeZones      Kind = "some_time_zones"
	MixedUnits     Kind = "mixed_units"
	UnnamedColumn  Kind = "unnamed_column"
	OddCategories  Kind = "odd_categories"
	Centuries      Kind = "two_digit_years"
	Dropped        Kind = "rows_dropped"
	Untargeted     Kind = "rows_without_target"
	LeftOut        Kind = "column_left_out"
	ReadAs         Kind = "column_read_as"
	GapsFilled     Kind = "gaps_filled"
	ReadAsGap      Kind = "read_as_missing"
	Offset         Kind = "offset"
	Skipped        Kind = "lines_skipped"
	Repeats        Kind = "rows_repeated"
	Copies         Kind = "copies_or_replicates"
	AlikeGroups    Kind = "groups_alike"
	FewRows        Kind = "fewer_rows_than_inputs"
	SmallScale     Kind = "small_scale"
	LargeScale     Kind = "large_scale"
	FarTarget      Kind = "target_far_from_zero"
	TargetScale    Kind = "target_scale_out_of_range"
	BlankRows      Kind = "blank_rows"
	TotalRows      Kind = "rows_of_totals"
	BelowLimit     Kind = "below_limit"
	AboveLimit     Kind = "above_limit"
	ConstantTarget Kind = "target_constant"
	RemarkLines    Kind = "lines_of_remarks"
	HeaderGoesOn   Kind = "header_goes_on"
	Sentinel       Kind = "sentinel"
	Codes          Kind = "numbers_as_codes"
	DatesAsNumbers Kind = "dates_as_numbers"
	NumbersOfRows  Kind = "numbers_of_rows"
	Spellings      Kind = "categories_alike"
	Ordered        Kind = "ordered_categories"
	Slip           Kind = "value_far_from_others"
	Leak           Kind = "like_the_target"
	Derived        Kind = "made_from_the_target"
	TwoValues      Kind = "target_of_two_values"
	Counts         Kind = "target_of_counts"
	Skewed         Kind = "target_skewed"
	Capped         Kind = "target_capped"
	Unseen         Kind = "unseen_categories"
	UngroupedTests Kind = "ungrouped_test_rows"
	SeenTests      Kind = "test_rows_seen"
	Unscored       Kind = "test_rows_unscored"
	NearBlocks     Kind = "blocks_near"
	Later          Kind = "later_rows"

	// About the plan of a fit.
	Estimated         Kind = "elbo_estimated"
	SomeTerms         Kind = "some_terms"
	WeightsByCG       Kind = "weights_by_cg"
	EvidenceByCG      Kind = "evidence_by_cg"
	ByNearest         Kind = "predictions_by_nearest"
	ByInducing        Kind = "predictions_by_inducing"
	LongFactors       Kind = "factors_for_minutes"
	NoiseVaries       Kind = "noise_varies"
	NoiseConstant     Kind = "noise_constant"
	InducingByRate    Kind = "inducing_by_rate"
	InducingByTheory  Kind = "inducing_by_theory"
	InducingTheoryCap Kind = "inducing_by_theory_capped"
	InducingByShare   Kind = "inducing_by_share"
	InducingShareCap  Kind = "inducing_by_share_capped"
	InducingGreedy    Kind = "inducing_greedy"
	InducingSample    Kind = "inducing_from_sample"
	NoCertificate     Kind = "no_certificate"
	TargetTransform   Kind = "target_transform"
	Classes           Kind = "classes"
	StudentChosen     Kind = "student_noise_chosen"
	GrossErrors       Kind = "gross_errors"
	Limits            Kind = "limits_of_detection"
	NoiseUnsettled    Kind = "noise_unsettled"

	// About training.
	AlphaByCV        Kind = "alpha_by_cv"
	BudgetSpent      Kind = "budget_spent"
	StartOutside     Kind = "start_outside_domain"
	KernelByValue    Kind = "kernel_by_objective"
	KernelByRace     Kind = "kernel_by_race"
	KernelByEvidence Kind = "kernel_by_evidence"
	KernelsAveraged  Kind = "kernels_averaged"
	KernelsOnSome    Kind = "kernels_on_some_rows"
	ShortenedSteps   Kind = "steps_shortened"
	MeanOfBatches    Kind = "objective_is_mean_of_batches"
	LengthscaleLow   Kind = "lengthscale_at_lower_edge"
	LengthscaleHigh  Kind = "lengthscale_at_upper_edge"
	ParameterLow     Kind = "parameter_at_lower_edge"
	ParameterHigh    Kind = "parameter_at_upper_edge"
	AlphaAtEdge      Kind = "alpha_at_edge"
	OutsideGrid      Kind = "outside_grid"
	Digits           Kind = "grid_digits"
	TiedDigits       Kind = "grid_digits_tied"
	Temper           Kind = "temper"
	PriorThenOwn     Kind = "prior_then_posterior"
	FreeForm         Kind = "free_form"
	FreeFormWorse    Kind = "free_form_worse"

	// About a posterior or a model.
	Jitter         Kind = "jitter"
	Rounding       Kind = "rounding"
	CGVariances    Kind = "cg_variances"
	VFEForRows     Kind = "vfe_for_rows"
	VFEByCG        Kind = "vfe_by_cg"
	TermLoss       Kind = "term_loss"
	TermSquared    Kind = "term_squared"
	RowsInOrder    Kind = "rows_in_order"
	GroupsInOrder  Kind = "groups_in_order"
	RowsSortedBy   Kind = "rows_sorted"
	GroupsSortedBy Kind = "groups_sorted"
	Replaces       Kind = "replaces_certified_model"
	OutsideRange   Kind = "outside_range"
	MayGroup       Kind = "may_name_units"
	NewGaps        Kind = "gaps_in_new_rows"
	Unread         Kind = "unreadable_in_new_rows"
	VarianceLost   Kind = "variance_out_of_range"
	Lost           Kind = "rows_without_prediction"
	Undrawn        Kind = "rows_without_draws"
	BandUnchecked  Kind = "band_unchecked"
)

// entry is what a kind of finding says, and how much it matters.
type entry struct {
	severity Severity
	text     string // has places for subject and numbers (see fill)
}

// Parts of several texts.
const (
	noRow   = "; if this line is no row of the table, delete it"
	edge    = "training moved the %s%o%k to the "
	ofRange = " end of its range, %v to %v in scaled units"
	byVFE   = ". So the model predicts with vfe's sparse posterior, at the trained parameters " +
		"and inducing inputs"
	missAlike = " of the file have similar errors (autocorrelation %.2f of %d, where independent " +
		"ones stay within ±%.2f)"
	inOrder = missAlike + ". So they depend on their order, but a certificate takes them for " +
		"independent draws. If rows follow time, it is about other moments of the same period; " +
		"--split last shows how the model does later"
	sorted = missAlike + ". The file is sorted by %q. If that column follows time, rows depend " +
		"on their order, and the certificate is about other moments of the same period; --split " +
		"last shows how the model does later. If it doesn't, the model misses how %n depends on " +
		"the column"
	byTheory = "%d inducing inputs were drawn by a k-DPP and kept (inducing-init kdpp, " +
		"fix-inducing). They leave the bound at most %.3g nats below the evidence with " +
		"probability %g, at the starting kernel, if inputs are Gaussian and independent"
	byShare = "%d inducing inputs leave %.3g of the prior variance unexplained at the start"
)

// words holds the severity and text of every kind.
var words = map[Kind]entry{
	Text: {Note, "%s"},

	Constant: {Warning, "columns with the same value in every row, which teach the model " +
		"nothing: %Q"},
	TooClose: {Warning, "columns whose values differ by too little for numbers of their size, so " +
		"that they teach " +
		"the model nothing; subtract a constant: %Q"},
	HeaderAgain: {Warning, "%N: the header is repeated here" + noRow},
	TotalRow:    {Warning, "%n: begins with %q" + noRow},
	RemarkRow:   {Warning, "%n: has %q in a column of numbers or dates" + noRow},
	SumsRow:     {Warning, "%n: holds the sums of the rows above it" + noRow},
	NoHeader: {Warning, "the first line holds only numbers, so krigo reads it as a row and names " +
		"the columns " +
		"itself; if the line is a header, use names that aren't numbers"},
	RowAsHeader: {Warning, "krigo reads the first line as the header, but it looks like a row: " +
		"%Q; if it is a " +
		"row, say --header no, or write names above it"},
	SomeZones: {Warning, "some times name their time zone; krigo reads the other times as " +
		"UTC, in the columns %Q"}, MixedUnits: {Warning, "numbers of %q have different units, " +
		"and krigo doesn't convert them: %U"},
	UnnamedColumn: {Warning, "the first column has no name, so fits leave it out; if it is an " +
		"input, name it"}, OddCategories: {Warning, "krigo reads %q as categories, but the " +
		"column seems to hold something else: %s"},
	Centuries: {Note, "krigo reads years of two digits as 1969 to 2068, in the columns %Q"},
	Dropped:   {Note, "%d of %d rows equal an earlier row in every cell, and were left out"},
	Skipped: {Note, "the first lines of the file were skipped, as in the fit (--skip-rows " +
		"%d); --skip-rows 0 reads them"},
	Untargeted: {Warning, "%d of %d rows of %n have no %q, and %s; --missing-target refuse makes " +
		"such rows an error"},
	LeftOut: {Note, "%n is left out: %s (%d rows from %n)%s"},
	ReadAs:  {Note, "%n is read as %s (%d rows from %n); %s leaves it out"},
	GapsFilled: {Note, "%n misses %d of %d cells (the first in %n), %s; --missing refuse makes " +
		"them errors"},
	ReadAsGap: {Note, "%n: %s stands for a missing value (%d rows, the first in %n); " +
		"--strict refuses it"},
	Offset: {Warning, "krigo can't see how %q was made. The bound holds only if no row of this " +
		"table had a part in it, " +
		"as with a simulator or a model of other rows; out-of-fold predictions are of these rows"},
	Repeats: {Warning, "%d of %d rows equal an earlier row exactly, the first in row %d; krigo " +
		"keeps them all, " +
		"unless you say --duplicates drop or --duplicates group"},
	Copies: {Note, "the %d rows have numbers that hardly ever repeat by chance: either they were " +
		"entered twice, or they are replicates"},
	AlikeGroups: {Warning, "groups whose names differ only by case or spaces count as different " +
		"groups: %Q"}, FewRows: {Warning, "fewer rows (%d) than inputs (%d)"},
	SmallScale: {Warning, "standard deviation below 1e-9, check the unit: %Q"},
	LargeScale: {Warning, "standard deviation above 1e9, check the unit: %Q"},
	FarTarget: {Warning, "the mean of target %q (%v) is more than a million standard deviations " +
		"(%v) from 0: " +
		"subtract a constant to keep digits"},
	TargetScale: {Warning, "target %q has the standard deviation %v, so variances of its " +
		"predictions are outside " +
		"the range of float64: use their standard deviations, or another unit"},
	BlankRows: {Warning, "%d rows are blank, the first in %n; if they are no rows of the table, " +
		"delete them"}, TotalRows: {Warning, "%d rows have %q in column %q, the first in %n; if " +
		"they are totals, delete them"},
	BelowLimit: {Warning, "%q has %c below a limit of detection, the first in %n; krigo " +
		"reads half of the limit"},
	ConstantTarget: {Warning, "every value of target %q is the same, so it has no model"},
	AboveLimit: {Warning, "%q has %c above a limit of detection, the first in %n; krigo " +
		"reads the limit"},
	RemarkLines: {Note, "%d lines that begin with # were left out, since some stand above the " +
		"table"},
	HeaderGoesOn: {Warning, "%n: names the columns too, or their units; say --header two, which " +
		"joins it to the names"},
	Sentinel: {Warning, "%q is %s in %c, but lies between %s and %s in all others (first in " +
		"%n); if this stands for a missing value, %s"},
	Codes: {Warning, "%d numbers of %q begin with 0, the first in %n, so they seem to be codes " +
		"of %d digits, " +
		"such as zip codes; say %s"},
	DatesAsNumbers: {Warning, "the %d numbers of %q are %s, from %n on; say %s"},
	NumbersOfRows: {Warning, "the %d whole numbers of %q are all different, from %n on; if they " +
		"name rows, say %s"}, Spellings: {Warning, "%d rows of %q, the first in %n, have a " +
		"category that differs from another only by case or spaces; spell each category in one " +
		"way: %Q"},
	Ordered: {Note, "the %d texts of %q, from %n on, have an order that --categorical doesn't " +
		"use; to use it, " +
		"replace them by the numbers from 1 up, in this order: %Q"},
	Slip: {Warning, "%q is %s in %c, but lies between %s and %s in all others (first in %n), " +
		"far away; if that is a mistake, correct it, or %s"},
	Derived: {Warning, "rows with the same value of %q, of %d values, have targets %q in a range " +
		"of their own, as if made from the target; if it isn't known before, say %s"},
	Leak: {Warning, "%q orders the rows as target %q does (rank correlation %.4f in %d rows, " +
		"from %n on); if it " +
		"isn't known before the target is, say %s"},
	TwoValues: {Warning, "target %q is fitted as a number, but has two values: in %d of %d rows, " +
		"the first in %n, it is %v, else %v; --noise probit fits two classes"},
	Counts: {Note, "target %q looks like counts: in %d of %d rows, the first in %n, it is at " +
		"most 5; large " +
		"counts vary more, but the model has the same noise for all; " +
		"--noise negative-binomial fits counts"},
	Skewed: {Note, "target %q is positive and skewed: in %d of %d rows, the first in %n, it is " +
		"above three times " +
		"its median, %v"},
	Capped: {Note, "target %q: %d of %d rows, the first in %n, have exactly %v, its %s value; if " +
		"values beyond " +
		"it were cut off, predictions are about the cut values"},
	Unseen: {Warning, "%n: %d of %d rows have a category that no prior row has; krigo " +
		"treats it as \"other\": %Q"},
	Unscored: {Warning, "%d of %d test rows can't be scored, the first in %n: %s; of all test " +
		"figures only the loss counts these rows"},
	UngroupedTests: {Warning, "test figures count rows, not groups: %s"},
	SeenTests: {Warning, "%d of the %d test rows of %n equal rows that the model was made from, " +
		"so they say " +
		"little about further rows"},
	Later: {Warning, "the promise is about the same period. Predicted from the rows before by %n, " +
		"the latest fifth of the prior rows (from %s on) has an RMSE of %s, and predicted from " +
		"all others %s. --split last tests on the latest rows"},
	NearBlocks: {Warning, "blocks of %v along %n are short: under the kernel, rows a block apart " +
		"have the " +
		"correlation %.2f, so neighbouring blocks predict one another. The promise is about " +
		"blocks as near to known rows as these blocks. For rows in larger gaps, choose blocks as " +
		"large as the gaps"},

	Estimated: {Note, "trained by conjugate gradients (cg): the α-ELBO and its gradient are " +
		"estimates, from %d random probes for each of two determinants, and no bound"},
	SomeTerms: {Note, "the objective has one term for each of %d of %d training rows, drawn at " +
		"random; each term " +
		"is given neighbours among all rows"},
	WeightsByCG: {Note, "conjugate gradients (cg) solve for the posterior's weights"},
	EvidenceByCG: {Note, "conjugate gradients (cg) estimate the evidence and its gradient, from " +
		"%d random probes"}, ByNearest: {Note, "predictions are those of the exact GP on each " +
		"row's %d nearest training rows, not on all %d"},
	ByInducing: {Note, "predictions see the %d training rows through %d inducing inputs: each " +
		"row's nearest rows predict " +
		"left-out rows no better, or can't be used"},
	NoiseVaries: {Note, "the noise depends on the inputs: its standard deviation is %.2g times " +
		"as large in the " +
		"noisiest training row as in the quietest; --noise constant takes one noise"},
	NoiseConstant: {Note, "held-out density doesn't speak for a noise that depends on the " +
		"inputs, so it is constant"},
	LongFactors: {Note, "each step factors a matrix of %d rows, which takes some %.0f minutes of " +
		"one core at 50 GFLOPS; " +
		"--solver cg and the objective nearest are quicker"},
	InducingByRate: {Note, "%d inducing inputs: theory asks for N^%g = %.4g of them, up to " +
		"unknown constants, " +
		"and krigo takes at most %d"},
	InducingByTheory: {Note, byTheory},
	InducingTheoryCap: {Warning, byTheory + ". For %d nat, more inducing inputs would be needed " +
		"than the %d that " +
		"krigo takes at most"},
	InducingByShare: {Note, byShare},
	InducingShareCap: {Warning, byShare + ", more than the %g aimed at, since krigo takes no " +
		"more of them"}, InducingGreedy: {Note, "%d inducing inputs, chosen by conditional " +
		"variance, leave %.3g of the prior variance unexplained at the start"},
	InducingSample: {Note, "the inducing inputs start from a choice among %d of %d training " +
		"rows, drawn at random"}, NoCertificate: {Warning, "no certificate: %s"},
	TargetTransform: {Note, "the model sees the target through the transform %s, which has %.2f " +
		"nats more " +
		"evidence a prior row and predicts left-out prior rows about as well or better; " +
		"predictions, ε and intervals are in the target's own units (--target-transform none " +
		"turns it off)"},

	Classes: {Note, "%s has the classes %s and %s: krigo predicts the probability of %s (--noise " +
		"probit), and the certificate counts wrong labels"},
	StudentChosen: {Note, "Student's t noise, for gross errors in the target, gives left-out " +
		"prior rows %.2f nats " +
		"more a row than Gaussian noise, and predicts them about as well or better (--noise " +
		"constant turns it off)"},
	GrossErrors: {Note, "Student's t noise takes %d of %d training rows for gross errors: their " +
		"noise variance is more " +
		"than ten times the scale of the noise"},
	Limits: {Note, "%d targets are known to be below a limit and %d above, of %d training rows. " +
		"Errors of left-out " +
		"rows aren't reported"},
	NoiseUnsettled: {Warning, "after %d rounds of training, the noise of a row still changes by " +
		"a factor of %.3g"},

	AlphaByCV: {Note, "α = %g was chosen by cross-validation in %d parts (root mean squared " +
		"error %.4g, scaled) among %G"},
	BudgetSpent: {Warning, "the budget of %t allowed %d of %d kernels; %n and later kernels " +
		"weren't tried"}, StartOutside: {Note, "start %d of %n lies outside the objective's " +
		"domain: %s"},
	KernelByValue: {Note, "the kernel %n had the lowest objective of the kernels tried: %N"},
	KernelByRace: {Note, "%d kernels raced: each was trained for a few steps, and then the best, " +
		"or the two best if " +
		"they were nearly alike, to the end; the kernel %n predicted left-out prior rows best: %N"},
	KernelByEvidence: {Note, "the kernel %n has the most evidence (hyperparameters integrated " +
		"out) of the " +
		"kernels tried: %N"},
	KernelsAveraged: {Note, "predictions are by the average of %d of these kernels, weighted by " +
		"their evidence: %N"},
	KernelsOnSome: {Note, "kernels were compared on %d of %d training rows, and %n was then " +
		"trained on all"},
	ShortenedSteps: {Note, "%d of %d training steps left the objective's domain and were " +
		"shortened (the last: %s)"}, MeanOfBatches: {Note, "objective_value is the mean over the " +
		"last epoch's batches, an estimate"},
	LengthscaleLow: {Warning, edge + "lower" + ofRange + ": the function may change faster than " +
		"the range allows"}, LengthscaleHigh: {Warning, edge + "upper" + ofRange +
		": along these inputs the function is nearly a straight line, or hardly changes"},
	ParameterLow:  {Warning, edge + "lower" + ofRange},
	ParameterHigh: {Warning, edge + "upper" + ofRange},
	AlphaAtEdge:   {Note, "training moved α to %g, an end of its range"},
	OutsideGrid:   {Note, "the %s%o%k was outside the grid, and krigo moved it to the grid's end"},
	Digits:        {Note, "of grids with 0 to %d digits, the grid with %d gave the lowest bound"},
	TiedDigits: {Note, "of grids with 0 to %d digits, the grid with %d gave the lowest bound, " +
		"with %d different " +
		"lengthscales"},
	Temper: {Note, "the temper %g gave the lowest bound of %G"},
	PriorThenOwn: {Note, "%n trained the prior on %d rows, and %n trained the posterior on the " +
		"%d certified rows"}, FreeForm: {Note, "the posterior is free-form: its bound is %b, and " +
		"the bound of the objective's own posterior %b"},
	FreeFormWorse: {Note, "the free-form posterior's bound, %b, is no lower than the bound of " +
		"the objective's " +
		"own posterior, which krigo keeps"},

	Jitter: {Note, "krigo added %.1e to the diagonal of the inducing inputs' covariance matrix, " +
		"so that it can be factored"},
	Rounding: {Note, "inducing inputs almost determine one another: rounding moves the log " +
		"likelihood by at most about %.1g nats"},
	CGVariances: {Note, "variances are those given each row's %d nearest training rows, which " +
		"are never too " +
		"small: at %d %s rows they were %.4g times the exact variances on average, and at most " +
		"%.4g times (noise included); predict with --exact-variance solves for each row"},
	VFEForRows: {Note, "%d rows are more than the posterior of α = %g can take (%d)" + byVFE},
	VFEByCG:    {Note, "conjugate gradients don't compute the posterior of α = %g" + byVFE},
	TermLoss: {Warning, "the loss doesn't say how far targets lie from the function, so " +
		"variances and the " +
		"intervals made from them mean nothing; conformal intervals of one width hold (term loss)"},
	TermSquared: {Warning, "squared errors say nothing about the variances' common scale, so " +
		"intervals made from " +
		"variances may be far too narrow or too wide; conformal intervals hold (term squared)"},
	RowsInOrder: {Warning, "neighbouring rows" + inOrder + ". Rows that come in groups need " +
		"--group"}, GroupsInOrder: {Warning, "neighbouring groups" + inOrder},
	RowsSortedBy:   {Warning, "neighbouring rows" + sorted},
	GroupsSortedBy: {Warning, "neighbouring groups" + sorted},
	Replaces: {Warning, "this model replaces a certified model of the same data; if you keep the " +
		"better of " +
		"several fits, neither certificate covers that choice"},
	NewGaps: {Warning, "%n misses %d of %d cells (the first in %n), %s; the model's own rows " +
		"miss none, so none of the model's guarantees is about these rows"},
	MayGroup: {Warning, "%n has %d values in %d rows, as names of patients or places do; if " +
		"further rows are of new ones, say %s, so that the promise is about them: the fit says so " +
		"if they are too few"},
	Unread: {Warning, "%n: %d of %d cells can't be read as numbers or dates (the first in %n: %q), %s; none " +
		"of the model's guarantees is about these rows"},
	OutsideRange: {Warning, "%d of %d rows lie outside the range of the rows that the model was " +
		"made from, in an " +
		"input, or are farther from the training rows than nearly all others; no guarantee is " +
		"about them"},
	Lost: {Warning, "%d of %d rows have no prediction, the first in %n: %s; the other rows have " +
		"theirs"},
	Undrawn: {Warning, "%d of %d rows have a prediction and no draws, the first in %n: its draws " +
		"overflow; the other rows have theirs"},
	VarianceLost: {Warning, "the variances of %d of %d rows are outside the range of float64, so " +
		"they are 0, the " +
		"largest number, or have lost digits; use latent_sd and predictive_sd, or another unit " +
		"of the target"},
	BandUnchecked: {Warning, "intervals band: the promise comes from the model file, and predict " +
		"doesn't check " +
		"it; certify computes it anew from the model's own data"},
}
