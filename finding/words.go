package finding

// Severity says how much a finding matters.
type Severity string

// A Note says how krigo did something. A Warning says what may be wrong, or what a promise doesn't cover.
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
	Skipped        Kind = "lines_skipped"
	Repeats        Kind = "rows_repeated"
	AlikeGroups    Kind = "groups_alike"
	FewRows        Kind = "fewer_rows_than_inputs"
	SmallScale     Kind = "small_scale"
	LargeScale     Kind = "large_scale"
	FarTarget      Kind = "target_far_from_zero"
	TargetScale    Kind = "target_scale_out_of_range"
	BlankRows      Kind = "blank_rows"
	TotalRows      Kind = "rows_of_totals"
	BelowLimit     Kind = "below_limit"
	Sentinel       Kind = "sentinel"
	Codes          Kind = "numbers_as_codes"
	DatesAsNumbers Kind = "dates_as_numbers"
	NumbersOfRows  Kind = "numbers_of_rows"
	Spellings      Kind = "categories_alike"
	Ordered        Kind = "ordered_categories"
	Leak           Kind = "like_the_target"
	TwoValues      Kind = "target_of_two_values"
	Counts         Kind = "target_of_counts"
	Skewed         Kind = "target_skewed"
	Capped         Kind = "target_capped"
	Unseen         Kind = "unseen_categories"
	UngroupedTests Kind = "ungrouped_test_rows"
	SeenTests      Kind = "test_rows_seen"
	NearBlocks     Kind = "blocks_near"

	// About the plan of a fit.
	Estimated         Kind = "elbo_estimated"
	SomeTerms         Kind = "some_terms"
	WeightsByCG       Kind = "weights_by_cg"
	EvidenceByCG      Kind = "evidence_by_cg"
	ByNearest         Kind = "predictions_by_nearest"
	InducingByRate    Kind = "inducing_by_rate"
	InducingByTheory  Kind = "inducing_by_theory"
	InducingTheoryCap Kind = "inducing_by_theory_capped"
	InducingByShare   Kind = "inducing_by_share"
	InducingShareCap  Kind = "inducing_by_share_capped"
	InducingGreedy    Kind = "inducing_greedy"
	InducingSample    Kind = "inducing_from_sample"
	NoCertificate     Kind = "no_certificate"
	TargetTransform   Kind = "target_transform"

	// About training.
	AlphaByCV        Kind = "alpha_by_cv"
	BudgetSpent      Kind = "budget_spent"
	StartOutside     Kind = "start_outside_domain"
	KernelByValue    Kind = "kernel_by_objective"
	KernelByEvidence Kind = "kernel_by_evidence"
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
	VarianceLost   Kind = "variance_out_of_range"
	BandUnchecked  Kind = "band_unchecked"
)

type entry struct {
	severity Severity
	text     string // has places for subject and numbers (see fill)
}

// Parts of several texts.
const (
	noRow     = "; if this is no row of the table, take it out"
	edge      = "the %s%o%k ended on the edge of its range, %v to %v in scaled units, at the "
	byVFE     = ": the model predicts by the sparse posterior of vfe at the trained parameters and inducing inputs"
	missAlike = " of the file miss alike (autocorrelation %.2f of %d; independent ones stay within ±%.2f)"
	inOrder   = missAlike + ": they depend on their order, and a certificate takes them for independent draws. Of rows " +
		"that follow time it is about other moments of the same period, and --split last shows how the model does later"
	sorted = missAlike + ". The file is sorted by %q: if that is a time, or stands for one, they depend on their " +
		"order, and the certificate is about other moments of the same period (--split last shows how the model does " +
		"later); if not, the model misses how %n follows it"
	byTheory = "%d inducing inputs: drawn by a k-DPP and kept (inducing-init kdpp, fix-inducing), they leave the bound " +
		"at " +
		"most %.3g nats under the evidence with probability %g at the starting kernel, if inputs are Gaussian and independent"
	byShare = "%d inducing inputs leave %.3g of the prior variance at the start"
)

// words holds the severity and text of every kind.
var words = map[Kind]entry{
	Text: {Note, "%s"},

	Constant: {Warning, "the same value in every row, so nothing is learnt from: %Q"},
	TooClose: {Warning, "values that differ by too little for numbers of that size, so nothing is learnt from them; " +
		"subtract a constant: %Q"},
	HeaderAgain: {Warning, "%N: the header again" + noRow},
	TotalRow:    {Warning, "%n: begins with %q" + noRow},
	RemarkRow:   {Warning, "%n: has %q in a column of numbers or dates" + noRow},
	SumsRow:     {Warning, "%n: holds the sums of the rows above it" + noRow},
	NoHeader: {Warning, "the first line holds numbers alone, so it is taken for a row, and the columns are named here; " +
		"if it is a header, write names that are no numbers"},
	RowAsHeader: {Warning,
		"the first line is taken for the header, though it seems to be a row: %Q; if it is one, write names above it"},
	SomeZones:     {Warning, "some times name their zone, the others are taken for UTC, in the columns %Q"},
	MixedUnits:    {Warning, "numbers of %q have different units, and are read as they stand: %U"},
	UnnamedColumn: {Warning, "a first column without a name, which fits leave out: give it one if it is an input"},
	OddCategories: {Warning, "%q is read as categories, but seems to hold something else: %s"},
	Centuries:     {Note, "years of two digits are taken for 1969 to 2068, in the columns %Q"},
	Dropped:       {Note, "%d of %d rows repeat an earlier one in every cell, and were left out"},
	Skipped:       {Note, "as when the model was fitted (--skip-rows), the first %d lines are no part of the table"},
	Untargeted: {Warning, "%d of %d rows of %n have no %q, and were left out: what is said is about rows that have one " +
		"(--missing-target refuse makes them an error)"},
	Repeats: {Warning, "%d of %d rows repeat an earlier row exactly (the first is row %d); all are kept " +
		"(--duplicates drop, or group)"},
	AlikeGroups: {Warning, "groups whose names differ by case or spaces alone are groups of their own: %Q"},
	FewRows:     {Warning, "fewer rows (%d) than inputs (%d)"},
	SmallScale:  {Warning, "standard deviation below 1e-9, check the unit: %Q"},
	LargeScale:  {Warning, "standard deviation above 1e9, check the unit: %Q"},
	FarTarget: {Warning, "the mean of target %q (%v) is more than a million standard deviations (%v) from 0: subtract a " +
		"constant to keep digits"},
	TargetScale: {Warning,
		"target %q has the standard deviation %v, so that variances of its predictions leave the range " +
			"of float64: use their standard deviations, or another unit"},
	BlankRows:  {Warning, "%d rows are blank, the first in %n; if these are no rows of the table, take them out"},
	TotalRows:  {Warning, "%d rows have %q in column %q, the first in %n: if these are totals, take them out"},
	BelowLimit: {Warning, "%d cells of %q, the first in %n, are below a limit, and are read as half of it"},
	Sentinel: {Warning, "%d cells of %q are %s, far from the others, which are %s to %s (the first in %n): if they stand " +
		"for a missing value, %s"},
	Codes:          {Warning, "%d numbers of %q begin with 0, the first in %n: codes of %d digits, as zip codes; say %s"},
	DatesAsNumbers: {Warning, "the %d numbers of %q are %s, from %n on; say %s"},
	NumbersOfRows:  {Warning, "the %d whole numbers of %q all differ, from %n on: if they name rows, say %s"},
	Spellings: {Warning, "%d rows of %q, the first in %n, have a category that differs from another by case or spaces " +
		"alone; write them in one way: %Q"},
	Ordered: {Note, "the %d texts of %q, from %n on, have an order, which --categorical doesn't use; for an input that " +
		"does, write the numbers from 1 up for these: %Q"},
	Leak: {Warning, "%q orders the rows as target %q does (rank correlation %.4f in %d rows, from %n on): if it isn't " +
		"known before the target is, say --ignore %s"},
	TwoValues: {Note, "target %q has two values: in %d of %d rows, the first in %n, %v, else %v; predictions are means of " +
		"these, and intervals say little"},
	Counts: {Note, "target %q looks like counts: %d of %d rows, the first in %n, have at most 5; large ones vary more, and " +
		"a model has one noise for all"},
	Skewed: {Note, "target %q is positive and skewed: %d of %d rows, the first in %n, are above three times its median, %v"},
	Capped: {Note, "target %q: %d of %d rows, the first in %n, are exactly %v, its %s value; if what lies beyond was cut " +
		"off there, predictions are about what was written"},
	Unseen:         {Warning, "%n: %d of %d rows have a category that no prior row has, and count as other: %Q"},
	UngroupedTests: {Warning, "test figures count rows, not groups: %s"},
	SeenTests: {Warning, "%d of the %d test rows of %n equal rows that the model was made from: they say little about " +
		"further ones"},
	NearBlocks: {Warning, "blocks of %v along %n are short: under the kernel rows as far apart have the correlation %.2f, " +
		"so that neighbouring blocks predict one another. The promise is about blocks as near to known rows as these; for " +
		"rows in larger gaps take blocks as large as the gaps"},

	Estimated: {Note, "trained by conjugate gradients (cg): the α-ELBO and its gradient are estimates from %d random " +
		"probes for each of two determinants, and no bound"},
	SomeTerms: {Note, "the objective has the terms of %d training rows of %d, drawn at random, given their neighbours " +
		"among all"},
	WeightsByCG:  {Note, "the posterior's weights are solved for by conjugate gradients (cg)"},
	EvidenceByCG: {Note, "solved by conjugate gradients (cg): evidence and gradient are estimates from %d random probes"},
	ByNearest:    {Note, "predictions are those of the exact GP on each row's %d nearest training rows, not on all %d"},
	InducingByRate: {Note, "%d inducing inputs: theory asks for N^%g = %.4g (at most %d are taken), but for constants " +
		"that aren't known"},
	InducingByTheory:  {Note, byTheory},
	InducingTheoryCap: {Warning, byTheory + "; %d nat would take more than the %d that are taken at most"},
	InducingByShare:   {Note, byShare},
	InducingShareCap:  {Warning, byShare + ", more than the %g aimed at: no more are taken"},
	InducingGreedy:    {Note, "%d inducing inputs by conditional variance leave %.3g of the prior variance at the start"},
	InducingSample: {Note,
		"the inducing inputs start from a choice among %d of the %d rows to train on, drawn at random"},
	NoCertificate: {Warning, "no certificate: %s"},
	TargetTransform: {Note, "the model sees the target by the transform %s, for %.2f nats more evidence a prior row; " +
		"predictions, ε and intervals are in the target's own units (--target-transform none)"},

	AlphaByCV:     {Note, "α = %g by cross-validation in %d parts (root mean squared error %.4g, scaled), of %G"},
	BudgetSpent:   {Warning, "the budget of %t was spent on %d of %d kernels, before %n"},
	StartOutside:  {Note, "start %d of %n lies outside the objective's domain: %s"},
	KernelByValue: {Note, "the kernel %n came out with the lowest objective of those that were tried: %N"},
	KernelByEvidence: {Note,
		"the kernel %n has the most evidence (its hyperparameters integrated out) of those that were tried: %N"},
	ShortenedSteps:  {Note, "%d of %d training steps left the objective's domain and were shortened (the last: %s)"},
	MeanOfBatches:   {Note, "objective_value is the mean over the batches of the last epoch, an estimate"},
	LengthscaleLow:  {Warning, edge + "lower end: the function may change faster along it than the range allows"},
	LengthscaleHigh: {Warning, edge + "upper end: the function is nearly a straight line, or hardly changes, along it"},
	ParameterLow:    {Warning, edge + "lower end"},
	ParameterHigh:   {Warning, edge + "upper end"},
	AlphaAtEdge:     {Note, "α was learnt to be %g, an end of its range"},
	OutsideGrid:     {Note, "the %s%o%k lay outside the grid and was moved to its end"},
	Digits:          {Note, "of grids with 0 to %d digits, that with %d gave the lowest bound"},
	TiedDigits: {Note,
		"of grids with 0 to %d digits, that with %d gave the lowest bound, with %d different lengthscales"},
	Temper:        {Note, "the temper %g gave the lowest bound of %G"},
	PriorThenOwn:  {Note, "the prior was trained by %n on %d rows, the posterior by %n on the %d certified ones"},
	FreeForm:      {Note, "the posterior is free-form: bound %b, of the objective's own %b"},
	FreeFormWorse: {Note, "the free-form posterior's bound %b is no lower than the objective's own: that one is kept"},

	Jitter: {Note, "%.1e was added to the diagonal of the inducing inputs' covariance matrix"},
	CGVariances: {Note, "variances are those given each row's %d nearest training rows, which are never too small: at " +
		"%d %s rows they were %.4g times the exact ones on average, %.4g at most (noise included); krigo predict " +
		"--exact-variance solves for each row"},
	VFEForRows: {Note, "%d rows are more than the posterior of α = %g takes (%d)" + byVFE},
	VFEByCG:    {Note, "by conjugate gradients the posterior of α = %g isn't computed" + byVFE},
	TermLoss: {Warning, "the loss doesn't say how far targets lie from the function: variances, and intervals made of " +
		"them, mean nothing; conformal ones of one width hold (term loss)"},
	TermSquared: {Warning,
		"squared errors say nothing of the variances' common scale: intervals made of them may be far " +
			"too narrow or wide; conformal ones hold (term squared)"},
	RowsInOrder:    {Warning, "neighbouring rows" + inOrder + "; rows that come in groups need --group"},
	GroupsInOrder:  {Warning, "neighbouring groups" + inOrder},
	RowsSortedBy:   {Warning, "neighbouring rows" + sorted},
	GroupsSortedBy: {Warning, "neighbouring groups" + sorted},
	Replaces: {Warning, "it replaces a certified model of the same data: keeping the better of several fits isn't " +
		"covered by either certificate"},
	OutsideRange: {Warning, "%d of %d rows lie outside the range of the rows that the model was made from, in an input " +
		"or farther from them than nearly all others: no guarantee is about them"},
	VarianceLost: {Warning, "the variances of %d of %d rows leave the range of float64, so that they are 0, the largest " +
		"number, or have lost digits: use latent_sd and predictive_sd, or another unit of the target"},
	BandUnchecked: {Warning, "intervals band: their promise is what the model file says, unchecked here; krigo certify " +
		"MODEL DATA computes it anew from the model's own data"},
}
