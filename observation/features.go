package observation

// Features are what a target is combined with, as far as options or a model file say it.
type Features struct {
	File bool // a model file says it, and errors are about the file
	// Positional says that places of rows in an old file decided their roles.
	Positional bool

	Target string
	Own    []string // the target, and columns that make groups or hold categories
	Limits string   // Below or Above of dataset.Reading

	// Informed says that prior rows teach the prior, and MeanAlone that they alone train a mean
	// that is certified by its own misses.
	Informed  bool
	MeanAlone bool
	// Drawn says that the label that a random draw of f gives is certified.
	Drawn  bool
	Labels bool // the certificate counts wrong labels
	Widths bool // something is asked for that has a width
	Aside  bool // rows are set aside to measure errors or widths

	Method string // the objective; "": other options decide
	Noise  string // the noise, as options name it
	// Likelihood is a noise that the method has by itself; "": Gaussian.
	Likelihood string
	Bound      bool // training minimises a bound
	Term       bool // training counts losses
	Alternates bool // training can find parameters for given noises of rows
	Sites      bool // training can find the sites of a noise
	Gradients  bool // conjugate gradients solve
	// Given says that parameters are given where training starts.
	Given       bool
	ZeroMean    bool // the prior mean is 0
	Transformed bool // the target has a transform, or may get one
	Monotone    bool // predictions are monotone
	Several     bool // the fit has several targets
}
