package method

// Choice is a method by its name, with what is asked of it. The zero value of a field means its default.
type Choice struct {
	Name string `json:"name,omitzero"` // one of Names

	// Inducing inputs of a sparse GP; 0: 500, or half the rows where that is less. InducingBy, where there is no number,
	// is none, for the full GP however many rows there are; auto, as many as the Nyström error of the starting
	// kernel asks for; or theory, as many as Yue & Kontar's Theorem 2 asks for at the starting kernel: se, or of one
	// input matern32 and matern52. Without it a method of AnySize trains a full GP on up to 2,000 rows and
	// a sparse one above.
	Inducing     int    `json:"inducing,omitzero"`
	InducingBy   string `json:"inducing_by,omitzero"`
	InducingInit string `json:"inducing_init,omitzero"` // kmeans (default), greedy, kdpp or random
	FixInducing  bool   `json:"fix_inducing,omitzero"`  // keep the inducing inputs where they were chosen

	// Alpha is that of D = αλ + σ_n²; AlphaBy learn says that it is trained too, from Alpha. The Rényi GP's runs
	// the other way: 0 is the exact GP, 1 variational inference (vfe). Where it isn't given, nor chosen by
	// cross-validation (AlphaBy cv), it falls from 0.99 to 0 while training: Anneal says how, linear (default), cosine or
	// geometric; none: it stays.
	Alpha   *float64  `json:"alpha,omitzero"`
	AlphaBy string    `json:"alpha_by,omitzero"`
	Alphas  []float64 `json:"alphas,omitempty"` // that cross-validation chooses from; nil: 0, ¼, ½, ¾, 1
	Anneal  string    `json:"anneal,omitzero"`

	// Posterior is the objective's own (default); fitc, that of α = 1, whichever was trained; or free, of kl-pac and
	// sqrt-pac: training goes on from their optimum with a q(f_Z) that is free.
	Posterior string `json:"posterior,omitzero"`

	// Of nearest: the cost of a prediction, density (default), squared, crps, or loss, that which is certified; the
	// neighbours that a row is predicted from in training, 0: 64; and by form loo (default) whether these are any
	// others, or by vecchia those before it in a random order.
	Term       string `json:"term,omitzero"`
	Neighbours int    `json:"neighbours,omitzero"`
	Form       string `json:"form,omitzero"`

	// Hyperprior is none (default), or weak: of the evidence and nearest a wide prior density of lengthscales and noise
	// variance, so that what is trained is its posterior's mode.
	Hyperprior string `json:"hyperprior,omitzero"`

	// Solver is how a full GP is solved: auto (default), cholesky, cg (conjugate gradients, for the evidence of more
	// rows than can be factored), or nearest (each prediction from the training rows
	// nearest to it), which can't train.
	Solver string `json:"solver,omitzero"`

	// Optimizer is lbfgs or mma, with all rows in every step, or adam or sgd, with a batch of them. "": the method's,
	// but adam where one of the others but Epochs is given, and for a free-form posterior where Epochs is.
	Optimizer string `json:"optimizer,omitzero"`
	// rows of a batch; 0: 1,000, of nearest, and of batches of neighbours, 256, of renyi and evidence on uniform ones
	// 1,024
	Batch int `json:"batch,omitzero"`
	// uniform, or nearest: a row and its neighbours, the default of renyi and evidence, which alone have it
	Batches string `json:"batches,omitzero"`
	// passes over the rows: on batches, 0: as many as 3,000 steps take, of neighbours 500; else evaluations, 0: 1,000
	Epochs int `json:"epochs,omitzero"`
	// of the first step; 0: adam 0.02, on batches of neighbours 0.05, from a collapsed optimum 0.001; sgd 0.1
	LearningRate float64 `json:"learning_rate,omitzero"`
}

// OnBatches says whether training takes a batch of rows in a step.
func (c Choice) OnBatches() bool { return c.Optimizer == "adam" || c.Optimizer == "sgd" }

// batches says whether a setting that only training on batches has is given.
func (c Choice) batches() bool {
	return c.Batch != 0 || c.LearningRate != 0 || c.Batches == "nearest"
}

// Evaluations limits those of L-BFGS and MMA; 0: their default. Epochs on batches aren't those of the optimum that they
// start from.
func (c Choice) Evaluations() int {
	if c.OnBatches() {
		return 0
	}
	return c.Epochs
}

// Full says whether a full GP is asked for, however many rows there are.
func (c Choice) Full() bool { return c.InducingBy == "none" }

// ByRule says whether the number of inducing inputs follows from the data.
func (c Choice) ByRule() bool { return c.InducingBy == "auto" || c.InducingBy == "theory" }

// Free says whether training ends with a free-form posterior of a bound.
func (c Choice) Free() bool { return c.Posterior == "free" }

// Learns says whether α is trained.
func (c Choice) Learns() bool { return c.AlphaBy == "learn" }

// Grid is the α that cross-validation chooses from.
func (c Choice) Grid() []float64 {
	if len(c.Alphas) > 0 {
		return c.Alphas
	}
	return []float64{0, 0.25, 0.5, 0.75, 1}
}

// Descent is how a choice is trained with all rows in a step.
func (c Choice) Descent() Descent {
	return Descent{MMA: c.Optimizer == "mma", Evaluations: c.Evaluations()}
}

// Stochastic is how it is trained with a batch of rows in a step; nil: it isn't.
func (c Choice) Stochastic() *Batches {
	if !c.OnBatches() {
		return nil
	}
	return &Batches{Plain: c.Optimizer == "sgd", Rows: c.Batch, Rate: c.LearningRate, Epochs: c.Epochs,
		Nearest: c.Batches != "uniform"}
}
