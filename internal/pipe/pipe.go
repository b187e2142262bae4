// Package pipe lets another program, for example the Python package, use krigo through a pipe.
// Requests and replies are frames of JSON and numbers (docs/reference/pipe.md).
// The pipe does with tables and models in memory what the commands do with files.
// The pipe and the commands call the same functions.
package pipe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/answer"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/report"
	"github.com/krigo-gp/krigo/watch"
)

// Protocol is the version of the format of frames, requests and replies.
const Protocol = 1

// Options holds functions of the command line that replies need, and krigo's version.
type Options struct {
	Version  string
	Describe func(m *krigo.Model) any // describes a model, for JSON
	// Parameters returns the flags of krigo fit with which a model was fitted, by name.
	Parameters func(m *krigo.Model) map[string]any
	// Flags parses flags of krigo fit or evaluate.
	// Asked.Complete does the part that depends on the table.
	Flags func(command string, flags []string) (Asked, error)
	// Schema describes the flags of the commands, as JSON.
	Schema func() any
}

// Asked holds what the flags of a request ask for.
type Asked struct {
	Options  krigo.Options
	Params   *krigo.Params // the parameters for evaluate
	Strict   bool          // the table decides nothing
	Complete func(o *krigo.Data, table *dataset.Table) error
}

// Serve answers requests until in ends or ctx ends.
// It answers several requests at once, and sends each reply as soon as it is ready.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &server{o: o, out: out, models: map[uint64]*krigo.Model{},
		running: map[uint64]context.CancelFunc{}}
	type frame struct {
		*request
		err error
	}
	frames := make(chan frame)
	go func() {
		for {
			r, err := readFrame(in)
			select {
			case frames <- frame{r, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	for {
		var r frame
		select {
		case r = <-frames:
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		}
		if r.err == io.EOF {
			return nil
		}
		if r.err != nil {
			return r.err
		}
		if r.Op == "cancel" { // its ID is the number of the request to cancel
			s.mu.Lock()
			if cancel := s.running[r.ID]; cancel != nil {
				cancel()
			}
			s.mu.Unlock()
			continue
		}
		own, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.running[r.ID] = cancel
		s.mu.Unlock()
		all.Go(func() {
			answer := s.answer(own, r.request)
			answer.ID = r.ID
			s.mu.Lock()
			delete(s.running, r.ID)
			s.mu.Unlock()
			cancel()
			if r.Reply != "" {
				// the waiting program then sees this one end
				if err := answer.writeFile(r.Reply); err != nil {
					stop(fmt.Errorf("can't write the reply: %w", err))
				}
			} else if err := s.send(answer); err != nil {
				stop(nil) // the other program has closed the pipe
			}
		})
	}
}

// server holds the models and the running requests of one pipe. mu guards models, last and running,
// and sending lets one reply at a time be written to out.
type server struct {
	o   Options
	out io.Writer

	sending sync.Mutex

	mu      sync.Mutex
	models  map[uint64]*krigo.Model
	last    uint64 // the number of the last model
	running map[uint64]context.CancelFunc
}

// send writes a reply as one frame. Replies of requests that run at once don't mix.
func (s *server) send(r *reply) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return r.write(s.out)
}

// answer runs a request and returns its reply.
func (s *server) answer(ctx context.Context, r *request) (answer *reply) {
	// A panic is an error of this request. The models of the other requests stay.
	defer func() {
		if cause := recover(); cause != nil {
			answer = &reply{Error: &failure{Kind: "failed",
				Message: fmt.Sprintf("%s failed: %v\n%s", r.Op, cause, debug.Stack())}}
		}
	}()
	if r.over != nil {
		return &reply{Error: &failure{Kind: "failed", Message: r.over.Error()}}
	}
	do, known := map[string]func(context.Context, *request) (*reply, error){
		"hello": s.hello, "fit": s.fit, "load": s.load, "close": s.close, "predict": s.predict,
		"certify": s.certify, "fresh": s.fresh, "certify_predictions": s.certifyPredictions,
		"certify_labels": s.certifyLabels, "watch": s.watch,
		"load_targets": s.loadTargets, "certify_targets": s.certifyTargets, "report": s.report,
		"evaluate": s.evaluate, "schema": s.schema,
	}[r.Op]
	if !known {
		return &reply{Error: &failure{Kind: "usage",
			Message: fmt.Sprintf("unknown operation %q", r.Op)}}
	}
	answer, err := do(ctx, r)
	if err == nil {
		return answer
	}
	if ctx.Err() != nil {
		return &reply{Error: &failure{Kind: "cancelled", Message: "interrupted"}}
	}
	// The kind lets the other program choose its own type of error.
	f := &failure{Kind: "failed", Message: err.Error()}
	var usage *krigo.UsageError
	var none *krigo.NoCertificate
	var at *dataset.Error
	var columns *inspect.ColumnsError
	switch {
	case errors.As(err, &usage):
		f.Kind = "usage"
	case errors.As(err, &none):
		f.Kind = "no-certificate"
	case errors.As(err, &at):
		f.Kind = "data"
		f.Row = at.Row
		f.Column = at.Name
	case errors.As(err, &columns), strings.HasPrefix(err.Error(), source+": "):
		f.Kind = "data"
	}
	return &reply{Error: f}
}

// decode decodes a request's arguments. An unknown argument is an error.
func (r *request) decode(to any) error {
	if len(r.Args) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(r.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return &krigo.UsageError{Err: fmt.Errorf("the arguments of %s: %w", r.Op, err)}
	}
	return nil
}

// hello returns the number of the protocol, krigo's version, and the ID of this process.
func (s *server) hello(context.Context, *request) (*reply, error) {
	return &reply{Result: map[string]any{"protocol": Protocol, "version": s.o.Version,
		"pid": os.Getpid()}}, nil
}

// schema returns what Options.Schema says about krigo's options.
func (s *server) schema(context.Context, *request) (*reply, error) {
	return &reply{Result: s.o.Schema()}, nil
}

// keep stores a model under a new number, and returns a reply that describes the model.
func (s *server) keep(m *krigo.Model) *reply {
	s.mu.Lock()
	s.last++
	number := s.last
	s.models[number] = m
	s.mu.Unlock()
	of := map[string]any{"model": number, "target": m.Target, "inputs": m.Inputs,
		"encoding": m.Encoding, "reading": m.Reading, "fit": s.o.Describe(m),
		"reason": m.CertificateReason, "checksum": m.Checksum(), "group": m.Group,
		"classes": m.Classes, "options": m.Fitted,
		"notices": m.Findings.Words(), "findings": m.Findings.Tell()}
	for field, column := range m.Columns.Named() {
		of[field] = column
	}
	if s.o.Parameters != nil {
		of["parameters"] = s.o.Parameters(m)
	}
	// A model of more than two classes stands for several models, with a guarantee of all together.
	if joint := m.Joint; joint != nil {
		all := &krigo.Targets{Several: *joint}
		of["sentence"], of["fit"] = all.Sentence(), map[string]any{"together": all.Together,
			"certificate": m.Certificate, "targets": lists.To(len(all.Models), func(i int) any {
				return s.o.Describe(all.Model(i))
			})}
	} else if m.Certificate != nil {
		of["sentence"], of["no_better"], of["context"] = m.Sentence(m.Certificate), m.NoBetter(),
			m.InContext()
	}
	return &reply{Result: of}
}

// The method of returns the model whose number the request holds.
func (s *server) of(r *request) (*krigo.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.models[r.Model]
	if m == nil {
		return nil, fmt.Errorf("there is no model %d", r.Model)
	}
	return m, nil
}

// event holds the fields of krigo.Event that JSON can always write, and the progress of
// predictions.
type event struct {
	Stage     string `json:"stage"`
	Family    string `json:"family"`
	Start     int    `json:"start"`
	Starts    int    `json:"starts"`
	Iteration int    `json:"iteration"`
	Of        int    `json:"of"`
	Stopped   string `json:"stopped"`
	Rows      int    `json:"rows"` // rows predicted so far, out of OfRows, for the certificate
	OfRows    int    `json:"of_rows"`
}

// asked holds the arguments of fit and evaluate.
type asked struct {
	Options  krigo.Options   `json:"options"`
	Reading  dataset.Reading `json:"reading"` // how cells are read, for example as dates
	Settle   bool            `json:"settle"`
	Progress bool            `json:"progress"`
	Flags    []string        `json:"flags"` // if not empty, these flags replace options and reading
}

// read decodes the arguments of fit or evaluate, and reads the table as these arguments say.
func (s *server) read(r *request,
	command string) (a asked, params *krigo.Params, table *dataset.Table, err error) {
	if err = r.decode(&a); err != nil {
		return a, nil, nil, err
	}
	complete := func(*krigo.Data, *dataset.Table) error { return nil }
	if a.Flags == nil {
		a.Options.Data.Reading = a.Reading
	} else if s.o.Flags == nil {
		return a, nil, nil, &krigo.UsageError{Err: errors.New(
			"flags: this pipe takes options only")}
	} else {
		by, err := s.o.Flags(command, a.Flags)
		if err != nil {
			return a, nil, nil, err
		}
		a.Options = by.Options
		params = by.Params
		a.Settle = a.Settle && !by.Strict
		complete = by.Complete
	}
	o := &a.Options.Data
	if err := o.Reading.Check(); err != nil {
		return a, nil, nil, &krigo.UsageError{Err: err}
	}
	read := func(from request) (*dataset.Table, error) {
		table, err := from.table(o.Reading.Naming(append(slices.Clone(o.Categorical), o.Group)...))
		if err == nil {
			err = o.Reading.Apply(table)
		}
		return table, err
	}
	if table, err = read(*r); err == nil {
		var targets []string
		if targets, err = krigo.SplitTargets(o.Target, table.Names); err == nil &&
			len(targets) > 1 {
			o.Target = targets[0]
			o.Beside = targets
		}
	}
	if err == nil && r.Op == "fit" {
		table, a.Options, err = a.Options.Kinds(table)
	}
	if err == nil && a.Options.Run.Declared == "" {
		if typed(table, r.Table, o) {
			table, err = read(*r) // a column of categories or dates keeps its cells as text
		}
		if err == nil && a.Settle {
			table, a.Options, err = a.Options.Settle(table)
		}
	}
	if err == nil {
		err = complete(o, table)
	}
	return a, params, table, err
}

// evaluate evaluates an objective at given parameters.
func (s *server) evaluate(ctx context.Context, r *request) (*reply, error) {
	args, params, table, err := s.read(r, "evaluate")
	if err != nil {
		return nil, err
	}
	if args.Options.Data.Beside != nil {
		return nil, &krigo.UsageError{Err: errors.New("target: only fit takes several targets")}
	}
	if params == nil {
		return nil, &krigo.UsageError{Err: errors.New("--params is missing: pass flags to " +
			"evaluate, and --params among them")}
	}
	return replying(krigo.Evaluate(ctx, table, params, args.Options))
}

// replying returns a reply with a result, and the error.
func replying[T any](result T, err error) (*reply, error) { return &reply{Result: result}, err }

// fit trains a model. Its reply has the model file too.
func (s *server) fit(ctx context.Context, r *request) (*reply, error) {
	args, _, table, err := s.read(r, "fit")
	if err != nil {
		return nil, err
	}
	if args.Progress {
		args.Options.Run.Progress = func(e krigo.Event) {
			if e.Comparing { // it belongs to no start
				return
			}
			// the reply reports a failure, so the event needs no error
			s.send(&reply{ID: r.ID, Event: event{Stage: e.Stage, Family: e.Family, Start: e.Start,
				Starts: e.Starts, Iteration: e.Iteration, Of: e.Of, Stopped: e.Stopped}})
		}
		args.Options.Run.Predicting = func(done,
			of int) {
			s.send(&reply{ID: r.ID, Event: event{Rows: done, OfRows: of}})
		}
	}
	if targets := args.Options.Data.Beside; targets != nil {
		all, err := krigo.FitTargets(ctx, table, targets, args.Options)
		if err != nil {
			return nil, err
		}
		if all.Classes() != nil {
			return s.kept(all)
		}
		return s.keepTargets(all)
	}
	m, err := krigo.Fit(ctx, table, args.Options)
	if err != nil {
		return nil, err
	}
	var sibling bytes.Buffer
	if args.Options.Run.Deliver == "all" {
		all, err := m.Deliver(ctx, table, args.Options)
		if err == nil {
			err = all.Write(&sibling)
		}
		if err != nil {
			return nil, err
		}
	}
	answer, err := s.kept(m)
	if err != nil {
		return nil, err
	}
	if sibling.Len() > 0 {
		answer.Names = append(answer.Names, "delivered")
		answer.data = append(answer.data, sibling.Bytes())
	}
	return answer, nil
}

// modelOf returns the model of a model file, which stands for all classes if there are several.
func modelOf(file []byte) (*krigo.Model, error) {
	all, err := krigo.ReadTargets(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return all.Label()
}

// kept stores what it writes and reads again, so that it has a checksum. Its reply has the file.
func (s *server) kept(of interface{ Write(w io.Writer) error }) (*reply, error) {
	var file bytes.Buffer
	if err := of.Write(&file); err != nil {
		return nil, err
	}
	m, err := modelOf(file.Bytes())
	if err != nil {
		return nil, err
	}
	answer := s.keep(m)
	answer.Names = []string{"file"}
	answer.data = [][]byte{file.Bytes()}
	return answer, nil
}

// keepTargets stores the models of several targets, and returns a reply with their file, and with
// each model's file and description.
func (s *server) keepTargets(all *krigo.Targets) (*reply, error) {
	var file bytes.Buffer
	if err := all.Write(&file); err != nil {
		return nil, err
	}
	answer := &reply{Names: []string{"file"}, data: [][]byte{file.Bytes()}}
	about := []any{}
	for i, m := range all.Models {
		one, err := s.kept(m)
		if err != nil {
			return nil, err
		}
		about = append(about, one.Result)
		answer.Names = append(answer.Names, fmt.Sprint("file", i))
		answer.data = append(answer.data, one.data[0])
	}
	answer.Result = map[string]any{"targets": about, "together": all.Together,
		"sentence": all.Sentence()}
	return answer, nil
}

// loadTargets reads a file of several targets.
func (s *server) loadTargets(_ context.Context, r *request) (*reply, error) {
	if len(r.data) != 1 {
		return nil, fmt.Errorf("%w: load_targets needs a file", errFrame)
	}
	all, err := krigo.ReadTargets(bytes.NewReader(r.data[0]))
	if err != nil {
		return nil, err
	}
	return s.keepTargets(all)
}

// certifyTargets recomputes the certificates of several targets.
// The buffer after the table holds their file.
func (s *server) certifyTargets(ctx context.Context, r *request) (*reply, error) {
	if len(r.data) < 2 {
		return nil, fmt.Errorf("%w: certify_targets needs a table and a file", errFrame)
	}
	last := len(r.data) - 1
	all, err := krigo.ReadTargets(bytes.NewReader(r.data[last]))
	if err != nil {
		return nil, err
	}
	r.data = r.data[:last]
	first := all.Model(0)
	table, err := r.table(first.Reading.Naming(first.Group))
	if err == nil {
		table = table.Within(ctx)
		err = first.Reading.Apply(table)
	}
	if err != nil {
		return nil, err
	}
	return replying(recertified(ctx, all, table))
}

// recertified recomputes the certificates of all models, and what is certified of them together.
func recertified(ctx context.Context, all *krigo.Targets,
	table *dataset.Table) (map[string]any, error) {
	found, err := all.Certify(ctx, table)
	found = slices.DeleteFunc(found, func(one *krigo.Recertification) bool { return one == nil })
	for k := 0; err == nil && k < len(found); k++ {
		err = found[k].RefitIfBrief(ctx, nil)
	}
	return map[string]any{"targets": found, "together": all.Together, "sentence": all.Sentence(),
		"matches": err == nil}, err
}

// typed makes categories or dates of the columns that have such a type, if o doesn't say what they
// are. found says whether there are any.
func typed(table *dataset.Table, types *tableHeader, o *krigo.Data) (found bool) {
	left := dataset.Left(table.Names, o.Inputs, o.Ignore, o.Own()...)
	dates := lists.Of(o.Reading.Dates, func(d dataset.Dates) string { return d.Column })
	said := slices.Concat(left, o.Categorical, dates)
	open := func(name string) bool { return !slices.Contains(said, name) }
	categories := lists.If(types.Categories, open)
	o.Categorical = append(slices.Clip(o.Categorical), categories...)
	for _, name := range lists.If(types.Dates, open) {
		o.Reading.Dates = append(slices.Clip(o.Reading.Dates), dataset.Dates{Column: name})
		found = true
	}
	return found || len(categories) > 0
}

// load reads the model file in the request's only buffer, and keeps the model. A file of several
// targets is an error, unless they are the classes of one column.
func (s *server) load(_ context.Context, r *request) (*reply, error) {
	if len(r.data) != 1 {
		return nil, fmt.Errorf("%w: load needs a model file", errFrame)
	}
	m, err := modelOf(r.data[0])
	if err != nil {
		return nil, err
	}
	return s.keep(m), nil
}

// close forgets a model. It is no error if there is no model of this number.
func (s *server) close(_ context.Context, r *request) (*reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.models, r.Model)
	return &reply{Result: struct{}{}}, nil
}

// predict returns predictions, with the columns of krigo.PredictionNames, and the other results
// that the arguments ask for.
func (s *server) predict(ctx context.Context, r *request) (*reply, error) {
	var args struct {
		Intervals  []string `json:"intervals"`
		Level      float64  `json:"level"`
		Sets       float64  `json:"sets"`
		By         string   `json:"by"`
		Exact      bool     `json:"exact_variance"`
		Covariance bool     `json:"covariance"`
		Samples    int      `json:"samples"`
		Seed       uint64   `json:"seed"`
		Explain    bool     `json:"explain"`
	}
	if err := r.decode(&args); err != nil {
		return nil, err
	}
	m, table, err := s.modelAndTable(ctx, r, true)
	if err != nil {
		return nil, err
	}
	if all := m.Joint; all != nil && args.Intervals == nil && !args.Explain && !args.Covariance &&
		args.Samples == 0 {
		return predictClasses(ctx, &krigo.Targets{Several: *all}, table, args.Sets)
	} else if all != nil {
		return nil, &krigo.UsageError{Err: errors.New("more than two classes have labels, " +
			"probabilities and sets alone")}
	}
	// Other models get what the command line's predict gives, from the same code.
	asked := answer.Asked{ExactVariance: args.Exact, Findings: true, Samples: args.Samples,
		Seed: args.Seed, Covariance: args.Covariance, Explain: args.Explain,
		Intervals: lists.Of(args.Intervals, func(kind string) krigo.IntervalOptions {
			return krigo.IntervalOptions{Kind: kind, Level: args.Level, By: args.By}
		})}
	// Intervals of the kinds full and jackknife need the data that the model was made from. The
	// data's buffers come after those of the rows to predict, which have been taken by now.
	if r.Data != nil {
		r.Table = r.Data
		if _, asked.Data, err = s.modelAndTable(ctx, r, false); err != nil {
			return nil, err
		}
	}
	d, err := asked.Of(ctx, m, table)
	if err != nil {
		return nil, err
	}
	to := told(table.Rows, d.Findings)
	drawn := d.Drawn()
	d.Samples = nil // they are one buffer
	to.addTable(d.Table(), table.Rows)
	if m.Classes != nil {
		l, err := m.LabelsOf(d.Predictions, args.Sets)
		if err != nil {
			return nil, err
		}
		to.addLabels(l)
	}
	if args.Covariance {
		to.add("covariance", d.Covariance.Data)
	}
	if args.Samples > 0 {
		to.add("samples", drawn)
	}
	return to, nil
}

// told returns a reply about predicted rows.
func told(rows int, found finding.List) *reply {
	return &reply{Result: map[string]any{"rows": rows, "notices": found.Words(),
		"findings": found.Tell()}}
}

// predictClasses does what predict does for more than two classes.
func predictClasses(ctx context.Context, all *krigo.Targets, table *dataset.Table,
	level float64) (*reply, error) {
	l, found, err := answer.Labels(ctx, all, table, level)
	to := told(len(l.Predictions), found)
	to.add("outside", lists.Of(l.Predictions, func(p krigo.KindPrediction) float64 {
		return float64(p.Outside)
	}))
	to.addLabels(l)
	return to, err
}

// addLabels adds the place of each row's label among the classes, and for each class its
// probability, and whether it is in the row's set, if there are sets.
func (r *reply) addLabels(l krigo.Labels) {
	column := func(name string, of func(i int) float64) {
		r.add(name, lists.To(len(l.Predictions), of))
	}
	column("label", func(i int) float64 {
		if l.Predictions[i].Label == "" { // the row has no prediction
			return math.NaN()
		}
		return float64(slices.Index(l.Classes, l.Predictions[i].Label))
	})
	for k, class := range l.Classes {
		column(fmt.Sprint("probability", k), func(i int) float64 {
			return l.Predictions[i].Probabilities[k]
		})
		if l.Sets != nil {
			column(fmt.Sprint("set", k), func(i int) (in float64) {
				if slices.Contains(l.Sets[i], class) {
					in = 1
				}
				return in
			})
		}
	}
}

// modelAndTable returns the model and the table of a request.
// The table is read as the model reads its own tables. If every is set, no row is left out.
func (s *server) modelAndTable(ctx context.Context, r *request,
	every bool) (*krigo.Model, *dataset.Table, error) {
	m, err := s.of(r)
	if err != nil {
		return nil, nil, err
	}
	as := m.Reading.Filling()
	if every {
		as = as.Every()
	}
	as.Dates = lists.Of(as.Dates, func(d dataset.Dates) dataset.Dates {
		if r.Table != nil && slices.Contains(r.Table.Dates, d.Column) {
			d.Form = "" // the column holds days
		}
		return d
	})
	table, err := r.table(m.Reading.Naming(m.Group))
	if err == nil {
		table = table.Within(ctx)
		err = as.Apply(table)
	}
	return m, table, err
}

// certify recomputes the certificate from the data that the model was made from.
func (s *server) certify(ctx context.Context, r *request) (*reply, error) {
	m, table, err := s.modelAndTable(ctx, r, false)
	if err != nil {
		return nil, err
	}
	if all := m.Joint; all != nil {
		found, err := recertified(ctx, &krigo.Targets{Several: *all}, table)
		return &reply{Result: map[string]any{"certify": found, "differs": "",
			"sentence": found["sentence"]}}, err
	}
	found, err := m.Certify(ctx, table, krigo.CertifyOptions{})
	if err == nil {
		err = found.RefitIfBrief(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	said := m.Sentence(found.Certificate)
	if head := found.Headline(); head != "" {
		said = head + "\n" + said
	}
	return &reply{Result: map[string]any{"certify": found, "differs": found.Differs,
		"sentence": said}}, nil
}

// fresh certifies the model with fresh rows, which the model never saw.
func (s *server) fresh(ctx context.Context, r *request) (*reply, error) {
	m, table, err := s.modelAndTable(ctx, r, false)
	if err != nil {
		return nil, err
	}
	found, err := m.CertifyFresh(ctx, table)
	if err != nil {
		return nil, err
	}
	return &reply{Result: map[string]any{"fresh": found, "sentence": found.Sentence(&m.Model)}}, nil
}

// certifyPredictions certifies predictions that any program has made.
func (s *server) certifyPredictions(ctx context.Context, r *request) (*reply, error) {
	var args struct {
		Options    krigo.Options `json:"options"`
		Prediction string        `json:"prediction"`
	}
	if err := r.decode(&args); err != nil {
		return nil, err
	}
	table, err := r.table(dataset.Reading{}.Naming(args.Options.Data.Group))
	if err != nil {
		return nil, err
	}
	return replying(krigo.CertifyPredictions(ctx, table, args.Prediction, args.Options))
}

// certifyLabels certifies labels that any classifier has predicted.
func (s *server) certifyLabels(ctx context.Context, r *request) (*reply, error) {
	var o krigo.LabelOptions
	if err := r.decode(&o); err != nil {
		return nil, err
	}
	table, err := r.table(dataset.Reading{})
	if err != nil {
		return nil, err
	}
	return replying(krigo.CertifyLabels(ctx, table, o))
}

// watch adds outcomes to a ledger, the file that records outcomes, and returns how they compare
// with the certificate.
func (s *server) watch(ctx context.Context, r *request) (*reply, error) {
	var args struct {
		Ledger string `json:"ledger"`
		Key    string `json:"key"`
	}
	if err := r.decode(&args); err != nil {
		return nil, err
	}
	if args.Ledger == "" {
		return nil, &krigo.UsageError{Err: errors.New("ledger: name the ledger's file")}
	}
	m, table, err := s.modelAndTable(ctx, r, true)
	if err != nil {
		return nil, err
	}
	d, gaps, err := m.Later(table)
	if err != nil {
		return nil, err
	}
	// The ledger is open, and so locked, only during the request.
	ledger, err := watch.Open(args.Ledger)
	if err != nil {
		return nil, err
	}
	defer ledger.Close()
	w, err := ledger.Watch(&m.Model)
	if err != nil {
		return nil, err
	}
	state, added, err := w.ObserveOnce(ctx, args.Key, d, d.All())
	if err != nil {
		return nil, err
	}
	return &reply{Result: map[string]any{"watch": state, "sentence": state.Told(&m.Model),
		"known": !added, "notices": append(gaps, state.Found...).Words()}}, nil
}

// report returns a report as HTML. It shows the data if the request has a table.
func (s *server) report(ctx context.Context, r *request) (*reply, error) {
	m, err := s.of(r)
	var table *dataset.Table
	if err == nil && r.Table != nil {
		m, table, err = s.modelAndTable(ctx, r, false)
	}
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = report.Write(ctx, &page, m, table)
	return &reply{Result: struct{}{}, Names: []string{"page"}, data: [][]byte{page.Bytes()}}, err
}
