package method

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/posterior"
)

// Choice is a method's name, or "" if it isn't known yet, with the settings that a user asks for.
// The methods' structs say what settings mean, which values they take, and their defaults.
// Here a zero field means that nobody asks for the setting.
// krigo's own settings have fields, because users set them before the method is known, and so that
// Go checks their names. Their comments are the help of the methods' fields.
type Choice struct {
	Name string `json:"name,omitzero"` // one of the names that Names returns; "": not known yet

	// Inducing inputs of a sparse GP; 0: the full GP; auto (Nyström error) or theory (a theorem)
	// choose their number.
	Inducing   int    `json:"inducing,omitzero"`
	InducingBy string `json:"inducing_by,omitzero"` // auto, theory, or none for the full GP
	// Where inducing inputs start: kmeans, greedy (conditional variance), kdpp, random.
	InducingInit string `json:"inducing_init,omitzero"`
	// Keep the inducing inputs where they start.
	FixInducing bool `json:"fix_inducing,omitzero"`

	// Sparse kl-pac, sqrt-pac, pep: α of Q, 0 (VFE) to 1 (FITC), or learn; renyi: α of its bound, 0
	// (exact) to 1 (VFE), or cv.
	Alpha   *float64 `json:"alpha,omitzero"`
	AlphaBy string   `json:"alpha_by,omitzero"` // learn or cv
	// renyi: the α that --alpha cv chooses from by predictions for left-out thirds.
	Alphas []float64 `json:"alphas,omitempty"`
	// renyi: how α falls from 0.99 to 0: linear, cosine, geometric; none: --alpha stays.
	Anneal string `json:"anneal,omitzero"`
	// renyi: on batches, α is 0 after this share of the steps; 1: after the last, as in the paper.
	AnnealShare float64 `json:"anneal_share,omitzero"`

	// Sparse GP: the objective's, fitc (α = 1), free (kl-pac, sqrt-pac).
	Posterior string `json:"posterior,omitzero"`
	// nearest: the cost of a prediction: density (its logarithm), squared, crps, loss (the
	// certified loss).
	Term string `json:"term,omitzero"`
	// nearest: in training, predict each row from this many neighbours.
	Neighbours int `json:"neighbours,omitzero"`
	// nearest: neighbours among all other rows (loo), or among earlier rows in a random order
	// (vecchia).
	Form string `json:"form,omitzero"`
	// evidence, nearest: a weak prior density of lengthscales and noise; training finds the
	// posterior's mode.
	Hyperprior string `json:"hyperprior,omitzero"`
	// Full GP: cholesky; cg and nearest (batches, --fix-parameters, labels, counts), certified only
	// with --prior informed.
	Solver string `json:"solver,omitzero"`

	// lbfgs, mma: all rows in a step; adam, sgd: batches (svgp, renyi, evidence, free).
	Optimizer string `json:"optimizer,omitzero"`
	// adam, sgd: rows in a batch.
	Batch int `json:"batch,omitzero"`
	// uniform (every row once an epoch); renyi, evidence: or nearest (a random row and the rows
	// nearest to it).
	Batches string `json:"batches,omitzero"`
	// Most passes over the rows; an evaluation of lbfgs or mma is a pass.
	Epochs int `json:"epochs,omitzero"`
	// adam, sgd: learning rate of the first step, which falls to a hundredth.
	LearningRate float64 `json:"learning_rate,omitzero"`

	// Own holds the settings without a field above, by their names in JSON, which has them beside
	// the other settings.
	Own map[string]any `json:"-"`
}

// neutral holds the values that files have for settings that a method lacks.
var neutral = Choice{InducingInit: "kmeans", Anneal: "none", Posterior: "objective",
	Hyperprior: "none", Solver: "auto", Batches: "uniform"}

// MarshalJSON writes the settings in Own beside the other settings.
func (c Choice) MarshalJSON() ([]byte, error) {
	type fields Choice
	text, err := json.Marshal(fields(c))
	if err != nil || len(c.Own) == 0 {
		return text, err
	}
	own, err := json.Marshal(c.Own)
	if err != nil {
		return nil, err
	}
	if text = text[:len(text)-1]; len(text) > 1 {
		text = append(text, ',')
	}
	return append(text, own[1:]...), nil
}

// UnmarshalJSON refuses a setting that no method has.
func (c *Choice) UnmarshalJSON(text []byte) error {
	type fields Choice
	var own map[string]json.RawMessage
	*c = Choice{}
	err := json.Unmarshal(text, &own)
	if err == nil {
		err = json.Unmarshal(text, (*fields)(c))
	}
	if err != nil {
		return fmt.Errorf("method: %w", err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[fields]()) {
		// "-": JSON doesn't read the field
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			delete(own, name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		s := settings.Named(described(), strings.ReplaceAll(key, "_", "-"))
		if s == nil {
			return fmt.Errorf("method: unknown field %q", key)
		}
		v := reflect.New(s.Type)
		if err := json.Unmarshal(own[key], v.Interface()); err != nil {
			return fmt.Errorf("method: %s: %w", s.Name, err)
		}
		c.give(*s, v.Elem().Interface())
	}
	return nil
}

// has says whether Choice has a field of this name.
func has(c Choice, field string) bool { return reflect.ValueOf(c).FieldByName(field).IsValid() }

// Set asks for the named setting. text is the setting's value as a flag has it.
func (c *Choice) Set(name, text string) error {
	s := settings.Named(described(), name)
	switch {
	case s == nil:
		return fmt.Errorf("no method has a setting %s", name)
	case has(*c, s.Field):
		return s.Set(c, text)
	}
	v := reflect.New(s.Type)
	err := s.Parse(v.Interface(), text)
	if err == nil {
		c.give(*s, v.Elem().Interface())
	}
	return err
}

// Text returns the text with which Set would ask for the named setting, or "" if nobody asks for
// the setting.
func (c *Choice) Text(name string) string {
	s := settings.Named(described(), name)
	if s == nil {
		return ""
	}
	if v, asked := c.Own[s.Key()]; asked {
		return fmt.Sprint(v)
	}
	return s.Text(c)
}

// give asks for a setting that has no field. It copies Own, so that copies of the choice don't
// change.
func (c *Choice) give(s settings.Setting, value any) {
	own := map[string]any{}
	maps.Copy(own, c.Own)
	own[s.Key()] = value
	c.Own = own
}

// Kind returns the kind with the choice's name.
func (c Choice) Kind() Kind {
	k, _ := Find(c.Name)
	return k
}

// OnBatches says whether training takes a batch of rows in a step.
func (c Choice) OnBatches() bool { return c.steps().OnBatches() }

// For returns the choice for the named method. It leaves out the settings that this method lacks
// and that another one of names has, and returns their flags in left.
func (c Choice) For(name string, names []string) (of Choice, left []string) {
	c.Name = name
	to := reflect.ValueOf(&c).Elem()
	for i := range to.NumField() {
		field := to.Type().Field(i).Name
		has := func(name string) bool {
			k, _ := Find(name)
			return k.Has(field) || (c.Free() && Kind{Method: Free{}}.Has(field))
		}
		if !has(name) && slices.ContainsFunc(names, has) && !to.Field(i).IsZero() {
			to.Field(i).SetZero()
			left = append(left, "--"+strings.NewReplacer("_by,omitzero", "", ",omitzero", "",
				"_", "-").Replace(to.Type().Field(i).Tag.Get("json")))
		}
	}
	return c, left
}

// asksForBatches says whether the choice has a setting that only training on batches has.
func (c Choice) asksForBatches() bool {
	return c.Batch != 0 || c.LearningRate != 0 || c.AnnealShare != 0 || c.Batches == "nearest"
}

// hasBatches says whether the method can train on batches.
func (c Choice) hasBatches() bool { return c.Free() || c.Kind().Has("Batch") }

// steps returns the settings of training.
func (c Choice) steps() Batched {
	return Batched{Optimizer: c.Optimizer, Epochs: c.Epochs, Batch: c.Batch,
		LearningRate: c.LearningRate}
}

// Descent returns how to train with all rows in a step.
func (c Choice) Descent() Descent { return c.steps().Descent() }

// Full says whether the user asks for a full GP, however many rows there are.
func (c Choice) Full() bool { return c.InducingBy == "none" }

// ByRule says whether a rule derives the number of inducing inputs from the data.
func (c Choice) ByRule() bool { return c.InducingBy == "auto" || c.InducingBy == "theory" }

// Free says whether training ends with a free-form posterior of a bound.
func (c Choice) Free() bool { return c.Posterior == "free" }

// Learns says whether α is trained.
func (c Choice) Learns() bool { return c.AlphaBy == "learn" }

// SparseOnly says whether the GP is always sparse, with all other settings.
func (c Choice) SparseOnly() bool { return c.Free() || c.Kind().Size == SparseOnly }

// FreeForm says whether q is a parameter of the training objective.
func (c Choice) FreeForm() bool { return c.Free() || c.Kind().FreeForm }

// Estimable says whether conjugate gradients can estimate the objective.
func (c Choice) Estimable() bool {
	_, can := c.Kind().Method.(Estimable)
	return can
}

// Grid returns the values of α from which cross-validation chooses.
func (c Choice) Grid() []float64 {
	if len(c.Alphas) > 0 {
		return c.Alphas
	}
	return []float64{0, 0.25, 0.5, 0.75, 1}
}

// own returns a pointer to the method's struct, with the settings of the choice and defaults for
// the rest. It leaves out settings that the method lacks.
func (c Choice) own() any {
	k := c.Kind()
	if k.Method == nil {
		return nil
	}
	v := reflect.New(reflect.TypeOf(k.Method))
	v.Elem().Set(reflect.ValueOf(k.Method))
	own := v.Interface()
	settings.Fill(own, c)
	for _, s := range settings.Of(own) {
		if v, asked := c.Own[s.Key()]; asked && reflect.TypeOf(v) == s.Type {
			s.Give(own, v)
		}
	}
	settings.Defaults(own)
	if m, ok := own.(interface{ Complete() }); ok {
		m.Complete()
	}
	return own
}

// Method returns the method of a choice whose fields are all filled in.
func (c Choice) Method() Method { return reflect.ValueOf(c.own()).Elem().Interface().(Method) }

// Likelihood returns the name of the noise that a choice's method trains; "" is Gaussian.
func (c Choice) Likelihood() string {
	if l, ok := c.Method().(interface{ Likelihood() string }); ok {
		return l.Likelihood()
	}
	return ""
}

// FreeUp returns the method that goes on from the optimum to a free-form posterior.
// noise is σ_n² at the optimum.
func (c Choice) FreeUp(noise float64) Method {
	return Free{Batched: c.steps(), Inequality: c.Kind().Bound, Noise: noise, Alpha: *c.Alpha,
		LearnAlpha: c.Learns()}
}

// Recompute returns the Q that the method computes in closed form from the task's rows and the [θ, β,
// ln σ_n², Z] of a sparse posterior q. It returns nil if Q isn't in closed form, or if it depends on a
// learnt α, which q doesn't keep.
func (c Choice) Recompute(t Task, q *posterior.Posterior) (*posterior.Posterior, error) {
	p, ok := c.WithAlpha().Method().Bind(t).(*collapsed)
	if !ok || (p.learnAlpha && !p.fitc) {
		return nil, nil
	}
	x := slices.Concat(q.Theta, q.Beta, []float64{math.Log(q.Noise)}, q.Support.Data)
	if p.learnAlpha { // FITC has α = 1, and ignores the α in x
		x = append(x, p.alpha)
	}
	again, _, err := p.Posterior(x)
	return again, err
}

// WithAlpha returns the choice with the method's α if the choice has no α.
func (c Choice) WithAlpha() Choice {
	if c.Alpha == nil {
		alpha := 0.0
		if own := reflect.ValueOf(c.own()).Elem().FieldByName("Alpha"); own.IsValid() &&
			own.CanFloat() {
			alpha = own.Float()
		}
		c.Alpha = &alpha
	}
	return c
}

// WithDefaults fills in each setting that is a word and doesn't depend on the rows, and the
// settings in Own.
func (c Choice) WithDefaults() Choice {
	if (c.asksForBatches() && c.hasBatches()) || (c.Free() && c.Epochs != 0) {
		c.Optimizer = cmp.Or(c.Optimizer, "adam")
	}
	if c.Free() {
		// random batches suffice, since a bound is a sum over rows
		c.Batches = cmp.Or(c.Batches, "uniform")
	}
	own := c.own()
	to := reflect.ValueOf(&c).Elem()
	rest := reflect.ValueOf(neutral)
	for i := range to.NumField() {
		f := to.Field(i)
		name := to.Type().Field(i).Name
		if f.Kind() != reflect.String || name == "Name" || !f.IsZero() {
			continue
		}
		if s := c.Kind().field(name); s != nil {
			f.Set(reflect.ValueOf(s.Get(own)))
		} else {
			f.Set(rest.Field(i))
		}
	}
	for _, s := range c.Kind().settings() {
		if !has(c, s.Field) {
			c.give(s, s.Get(own))
		}
	}
	return c
}

// FromFile removes from a choice in a file settings that the method ignores.
// Older versions accepted such settings.
func (c Choice) FromFile() Choice {
	k, known := Find(c.Name)
	if known && !k.Has("InducingInit") && c.Posterior != "free" {
		c.InducingInit = ""
		c.FixInducing = false
	}
	if known && !k.Has("Posterior") && c.Posterior == "fitc" {
		c.Posterior = ""
	}
	if known && !k.Has("Solver") && c.Solver == posterior.ByCholesky {
		c.Solver = ""
	}
	return c
}

// afterwards lists the settings of kl-pac that also apply to a posterior that is learnt after an
// informed prior.
var afterwards = []string{"Posterior", "AlphaBy", "InducingInit", "FixInducing"}

// Check reports everything that is wrong with a choice whose defaults are filled in.
func (c Choice) Check(use Use) []error {
	var wrong settings.Faults
	k, known := Find(c.Name)
	if !known {
		return settings.OneOf("objective", c.Name, Names()...)
	}
	asked := reflect.ValueOf(c)
	for i := range asked.NumField() {
		name := asked.Type().Field(i).Name
		v := asked.Field(i)
		said := name == "Name" || name == "Own" || v.IsZero() || reflect.DeepEqual(v.Interface(),
			// checked below, by Size
			reflect.ValueOf(neutral).Field(i).Interface()) || (name == "InducingBy" && c.Full())
		if !said {
			wrong = append(wrong, c.checkSetting(name, v, use)...)
		}
	}
	for key, v := range c.Own {
		s := settings.Named(described(), strings.ReplaceAll(key, "_", "-"))
		if s == nil || reflect.TypeOf(v) != s.Type {
			wrong = append(wrong, fmt.Errorf("%s: no method has such a setting of type %T", key, v))
		} else {
			wrong = append(wrong, c.checkSetting(s.Field, reflect.ValueOf(v), use)...)
		}
	}
	own := c.own()
	wrong = append(wrong, settings.Check(own)...)
	if m, ok := own.(interface{ Check(Use) []error }); ok {
		wrong = append(wrong, m.Check(use)...)
	}
	wrong.If(c.InducingBy != "" && c.Inducing > 0, "inducing: give the number %d or the rule %s, "+
		"not both", c.Inducing, c.InducingBy)
	wrong.If(c.Full() && k.Size == SparseOnly && !c.Free(),
		"objective %q can't train a full GP, which has no inducing inputs: full GPs have the "+
			"objectives %s", c.Name, list(func(k Kind) bool { return k.Size != SparseOnly }))
	wrong.If(c.Free() && c.Full(), "posterior free with a full GP: a free-form posterior needs "+
		"inducing inputs")
	wrong.If(c.Learns() && (c.Posterior == "fitc" || c.Full()),
		"alpha learn: a full GP and posterior fitc have no α to learn")
	wrong.If(use.Given && !k.Exact, "fix-parameters works with objective evidence, not with %s",
		c.Name)
	wrong.If(c.asksForBatches() && c.hasBatches() && c.Optimizer != "" && !c.OnBatches(),
		"batch, batches, learning-rate and anneal-share are for adam and sgd: optimizer %s takes "+
			"all rows in every step", c.Optimizer)
	return wrong
}

// checkSetting reports a setting, or a word given for it, that neither the method nor its later
// posterior has.
func (c Choice) checkSetting(field string, v reflect.Value, use Use) []error {
	word := ""
	if v.Kind() == reflect.String {
		word = v.String()
	}
	takes := func(k Kind) bool {
		s := k.field(field)
		return s != nil && (word == "" || len(s.Values) == 0 || slices.Contains(s.Values, word))
	}
	free := Kind{Method: Free{}}
	bound, _ := Find(KLPACName)
	if takes(c.Kind()) || (c.Free() && takes(free)) ||
		(use.Learns && slices.Contains(afterwards, field) && takes(bound)) {
		return nil
	}
	// Nobody takes the setting for this method, so the error names the methods that do.
	names := list(takes)
	for _, s := range described() {
		if strings.TrimSuffix(s.Field, "By") != strings.TrimSuffix(field, "By") {
			continue
		}
		if names == "" {
			return settings.OneOf(s.Name, word, s.Values...)
		}
		names += spelling.If(takes(free), ", and of posterior free")
		return []error{fmt.Errorf("%s is a setting of %s, not of %s",
			strings.TrimSpace(s.Name+" "+word), names, c.Name)}
	}
	return []error{errors.New("no method has a setting " + field)}
}
