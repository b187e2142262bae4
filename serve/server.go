package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/watch"
)

// Options says how to serve. A zero field means the value that Defaults has.
type Options struct {
	MaxBody int64 // most bytes of a request's body
	MaxRows int   // most rows of a request
	Waiting int   // most rows that wait for one model, half of them from one client
	// most bytes that all requests take together, half of them for one client; 0:
	// 64 times MaxBody, at least 64 MiB
	Memory int64
	// longest time to read a request, to answer it, and to finish when stopped
	Timeout time.Duration
	Reload  time.Duration // how often the server looks for changed files
	Token   string        // requests must bear it; empty: no token is needed
	// Open makes a server on a loopback address without a token also answer requests for other
	// names than localhost.
	Open   bool
	Ledger string       // file of outcomes; empty: the server takes no outcomes
	TLS    *tls.Config  // nil: plain HTTP
	Log    *slog.Logger // nil: no log
}

// Defaults returns options that are enough for requests of 10,000 rows of 40 numbers.
func Defaults() Options {
	return Options{MaxBody: 8 << 20, MaxRows: 10_000, Waiting: 200_000, Timeout: 30 * time.Second,
		Reload: time.Second}
}

// Server serves one model file, or all models of a folder.
type Server struct {
	o           Options
	library     *library
	metrics     *metrics
	handler     http.Handler
	ledger      *watch.Ledger // nil: no outcomes are taken
	budget      *budget       // the memory of requests
	texts       turns         // for reading long bodies and writing long answers
	together    turns         // for draws, covariances, explanations and comparisons
	connections *connections
	queues      sync.WaitGroup // counts the queues' goroutines
}

//go:embed openapi.json page
var assets embed.FS

// Handler returns a handler for requests about one model, for a program that has a server of its
// own. It answers all routes of the package except outcomes, which need a ledger.
// It refuses the option Ledger. It ignores Reload, Open and TLS, because the program's server
// checks names of hosts and encrypts. For another path than / use http.StripPrefix.
func Handler(m *krigo.Model, o Options) (http.Handler, error) {
	if o.Ledger != "" {
		return nil, &krigo.UsageError{Err: errors.New("serve.Handler takes no outcomes: leave " +
			"out Ledger, or use serve.New")}
	}
	if m == nil || m.Posterior == nil {
		return nil, &krigo.UsageError{Err: errors.New("serve.Handler needs a model: krigo.Load " +
			"reads one, krigo.Fit makes one")}
	}
	s := newServer(o)
	one := &served{Model: m, name: "model"}
	s.library = &library{newer: s.complete}
	if all := m.Joint; all != nil {
		s.library.complete(one, &krigo.Targets{Several: *all})
	}
	s.library.models.Store(&map[string]*served{one.name: one})
	s.complete(one)
	return s.front(false), nil
}

// newServer returns a server without models. Options that are 0 get their defaults.
func newServer(o Options) *Server {
	defaults := Defaults()
	o.MaxBody = cmp.Or(o.MaxBody, defaults.MaxBody)
	o.MaxRows = cmp.Or(o.MaxRows, defaults.MaxRows)
	o.Waiting = cmp.Or(o.Waiting, defaults.Waiting)
	o.Timeout = cmp.Or(o.Timeout, defaults.Timeout)
	o.Reload = cmp.Or(o.Reload, defaults.Reload)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Memory = cmp.Or(o.Memory, max(64<<20, 64*o.MaxBody))
	s := &Server{o: o, budget: newBudget(o.Memory),
		connections: &connections{most: connectionsWithin(openFiles()),
			all: map[net.Conn]*connection{}, by: map[client]*theirs{}}}
	// the other cores are left for short bodies and answers
	s.texts.free = max(1, runtime.GOMAXPROCS(0)/2)
	s.together.free = 1 // one request takes all cores
	s.metrics = newMetrics()
	s.handler = s.routes()
	return s
}

// New reads the model at path, or all models of the folder at path.
// If the options name a ledger, New opens it, and Run closes it at its end.
func New(path string, o Options) (_ *Server, err error) {
	s := newServer(o)
	if o.Ledger != "" {
		if s.ledger, err = watch.Open(o.Ledger); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				s.ledger.Close()
			}
		}()
		if s.ledger.Repaired > 0 {
			o.Log.Warn("removed an incomplete last line from the ledger; its outcomes had not "+
				"been acknowledged", "ledger", o.Ledger, "bytes", s.ledger.Repaired)
		}
	}
	s.library = &library{path: path, newer: s.complete, failed: map[string]stamp{}}
	changes, err := s.library.scan()
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if c.err != nil {
			return nil, c.err // when the server starts, a person is there who can mend the file
		}
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("%s: the folder holds no model files (%s)", path, "*"+ending)
	}
	s.report(changes)
	// The library exists now, so its models' outcomes can be collected.
	s.metrics.registry.MustRegister(outcomes{s.library})
	return s, nil
}

// errNoLedger says why no model is watched if there is no ledger.
// errSeveral is the error of what a file of several targets doesn't take.
var errSeveral = errors.New("the file has models of several targets: krigo extract writes one " +
	"target's model, which takes this")

var errNoLedger = errors.New("this server takes no outcomes: start it with --ledger FILE")

// complete gives a model that was read its queue and, if there is a ledger, its watch.
func (s *Server) complete(m *served) {
	m.queue = &queue{
		model: m.Model, predict: m.PredictWithin, limit: s.o.Waiting, working: &s.queues,
		batched: func(rows int) {
			s.metrics.rows.WithLabelValues(m.name).Add(float64(rows))
			s.metrics.batches.WithLabelValues(m.name).Observe(float64(rows))
		},
		failed: func(cause any, stack []byte) {
			s.o.Log.Error("prediction failed", "model", m.name, "cause", cause, "stack",
				string(stack))
		},
	}
	m.observers.free = 1
	if m.unwatched = errNoLedger; s.ledger == nil {
		return
	}
	if m.unwatched = errSeveral; m.together != nil && m.Joint == nil {
		return
	}
	if m.watch, m.unwatched = s.ledger.Watch(&m.Model.Model); m.unwatched != nil {
		s.o.Log.Warn("the server takes no outcomes of this model", "model", m.name, "reason",
			m.unwatched)
	}
}

// report logs and counts the changes that a scan made.
func (s *Server) report(changes []change) {
	for _, c := range changes {
		if c.err != nil {
			s.metrics.reloads.WithLabelValues("failed").Inc()
			s.o.Log.Error("a model file couldn't be read; the server keeps the model that it had",
				"model", c.name, "error", c.err)
			continue
		}
		s.metrics.reloads.WithLabelValues(c.what).Inc()
		s.o.Log.Info("model "+c.what, "model", c.name)
	}
	s.metrics.models.Set(float64(len(*s.library.models.Load())))
}

// Run serves on the listener until ctx ends, and then finishes the requests that have begun.
// When Run returns, no goroutine of the server is left.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	if s.ledger != nil {
		defer s.ledger.Close()
	}
	localOnly := s.o.Token == "" && !s.o.Open && Loopback(l.Addr().String())
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	server := &http.Server{
		Handler:           s.front(localOnly),
		Protocols:         &protocols,
		ConnContext:       s.connections.opened,
		ConnState:         s.connections.changed,
		ReadHeaderTimeout: min(5*time.Second, s.o.Timeout),
		ReadTimeout:       s.o.Timeout,
		WriteTimeout:      2*s.o.Timeout + 5*time.Second, // for reading, computing and writing
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		TLSConfig:         s.o.TLS,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	if s.o.TLS != nil {
		l = tls.NewListener(l, s.o.TLS)
	}
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { s.watch(watching) })
	if s.ledger != nil {
		watchers.Go(func() {
			s.ledger.Rotations(watching, func(archive string, err error) {
				if err != nil {
					s.o.Log.Error("the ledger couldn't be rotated", "error", err)
				} else {
					s.o.Log.Info("ledger rotated", "archive", archive)
				}
			})
		})
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	var err error
	// Shutdown waits for requests under way, for Timeout at most. Connections that never sent a
	// request are closed within a second.
	select {
	case err = <-failed:
	case <-ctx.Done():
		s.o.Log.Info("shutting down")
		end, cancel := context.WithTimeout(context.Background(), s.o.Timeout)
		defer cancel()
		defer time.AfterFunc(min(time.Second, s.o.Timeout/2), s.connections.silent).Stop()
		if err = server.Shutdown(end); err != nil {
			server.Close()
			err = fmt.Errorf("requests were still open after %v: %w", s.o.Timeout, err)
		}
	}
	stop()
	watchers.Wait()
	s.connections.end()
	s.queues.Wait()
	return err
}

// watch looks for changed files until ctx ends.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(s.o.Reload)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			changes, err := s.library.scan()
			if err != nil {
				changes = []change{{name: s.library.path, err: err}}
			}
			s.report(changes)
		}
	}
}

// front returns the handler of all requests. If localOnly is true, it answers only requests for
// this machine's names.
func (s *Server) front(localOnly bool) http.Handler {
	return s.observed(guarded(s.handler, s.o.Token != "", localOnly))
}

// routes returns the handler of all paths. Paths under /v1 and /metrics ask for the token. Health,
// the page and openapi.json don't.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/predict", protected(s.o.Token, s.limited(s.predict)))
	mux.HandleFunc("POST /v1/joint", protected(s.o.Token, s.limited(s.joint)))
	mux.HandleFunc("POST /v1/outcomes", protected(s.o.Token, s.limited(s.outcomes)))
	mux.HandleFunc("GET /v1/model", protected(s.o.Token, s.model))
	mux.HandleFunc("GET /v1/models", protected(s.o.Token, s.models))
	figures := promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})
	mux.HandleFunc("GET /metrics", protected(s.o.Token, figures.ServeHTTP))
	mux.HandleFunc("GET /healthz",
		func(w http.ResponseWriter, _ *http.Request) { s.health(w, 200) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { s.health(w, 503) })
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, assets, "openapi.json")
	})
	mux.HandleFunc("/v1", unknown(mux))
	mux.HandleFunc(unknownPattern, unknown(mux))
	page, err := fs.Sub(assets, "page")
	if err != nil {
		panic(err) // the folder is built into the program
	}
	files := http.FileServerFS(page)
	mux.HandleFunc("GET /{$}", files.ServeHTTP)
	mux.HandleFunc("GET /page.js", files.ServeHTTP)
	mux.HandleFunc("GET /page.css", files.ServeHTTP)
	return mux
}

const unknownPattern = "/v1/"

// unknown returns a handler for requests that have no other handler:
// the path doesn't exist, or doesn't take the method.
func unknown(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var takes []string
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
				takes = append(takes, method)
			}
		}
		if len(takes) == 0 {
			fail(w, 404, fmt.Errorf("there is nothing at %q: see /openapi.json",
				clipTo(r.URL.Path, 100)))
			return
		}
		w.Header().Set("Allow", strings.Join(takes, ", "))
		fail(w, 405, fmt.Errorf("%s takes %s, not %q", r.URL.Path, strings.Join(takes, " and "),
			clipTo(r.Method, 40)))
	}
}

// health answers whether the server has models.
// The parameter without is the status of the answer if there is no model.
func (s *Server) health(w http.ResponseWriter, without int) {
	h := health{"ok", s.o.Token != "", len(*s.library.models.Load())}
	if h.Models > 0 {
		without = 200
	} else {
		h.Status = "no models"
	}
	writeJSON(w, without, h)
}

// health is the answer of GET /healthz and GET /readyz.
type health struct {
	Status string `json:"status"`
	Token  bool   `json:"token"`  // whether /v1 and /metrics ask for a token
	Models int    `json:"models"` // number of models that are served
}

// recorder is a ResponseWriter that remembers the status of the answer, 0 before there is an
// answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader keeps the first status.
func (r *recorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

// Write keeps the status 200 if none was written before.
func (r *recorder) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, 200)
	return r.ResponseWriter.Write(b)
}

// Unwrap returns the writer below, for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// statusAborted is the status that is logged and counted if the client leaves before it is
// answered.
const statusAborted = 499

// observed returns a handler that counts and logs the requests of next, and answers 500 if next
// panics.
func (s *Server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		rec := &recorder{ResponseWriter: w}
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; "+
			"frame-ancestors 'none'")
		defer func() {
			if cause := recover(); cause != nil {
				s.o.Log.Error("request failed", "path", r.URL.Path, "cause", cause, "stack",
					string(debug.Stack()))
				if rec.status == 0 {
					fail(rec, 500, errInternal)
				}
			}
			took := time.Since(begin)
			route := r.Pattern // paths would let a client create any number of time series
			if route == "" || route == "/v1" || route == unknownPattern {
				route = "other"
			}
			status := cmp.Or(rec.status, statusAborted)
			s.metrics.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
			s.metrics.seconds.WithLabelValues(route).Observe(took.Seconds())
			// Metrics count every request. The log tells only of statuses from 500 on, unless it is
			// at debug level.
			level := slog.LevelDebug
			if status >= 500 {
				level = slog.LevelWarn
			}
			s.o.Log.Log(r.Context(), level, "request", "method", r.Method, "path", r.URL.Path,
				"status", status, "took", took, "from", r.RemoteAddr)
		}()
		next.ServeHTTP(rec, r)
	})
}

// find returns the model that a request names, or an error with the status of the answer.
func (s *Server) find(name string) (*served, error) {
	m, names := s.library.find(name)
	switch {
	case m != nil:
		return m, nil
	case len(names) == 0:
		return nil, bad(503, "the server has no model at the moment: its folder holds no "+
			"model files")
	case name == "":
		return nil, bad(400, "there are several models: name one of %s", strings.Join(names, ", "))
	}
	return nil, bad(404, "there is no model %q: there are %s", name, strings.Join(names, ", "))
}

// models answers the names of all models.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	_, names := s.library.find("/") // no model has this name, so that find returns all names
	writeJSON(w, 200, modelList{names})
}

// modelList is the answer of GET /v1/models.
type modelList struct {
	Models []string `json:"models"`
}

// Description is the answer of GET /v1/model.
type Description struct {
	Name      string `json:"name"`
	Objective string `json:"objective"`
	Target    string `json:"target"`
	// the target's labels, if it has labels
	Classes  []string `json:"classes,omitempty"`
	Inputs   []Input  `json:"inputs"`
	Rows     int      `json:"rows"`
	Inducing int      `json:"inducing"`
	// how cells of its tables are written
	Reading           dataset.Reading       `json:"reading,omitzero"`
	Kernel            kernel.Spec           `json:"kernel"`
	Certificate       *pacbayes.Certificate `json:"certificate"`
	CertificateReason string                `json:"certificate_reason,omitempty"`
	// which rows the certificate is about
	Population model.Population `json:"population"`
	// the certificate's promise in one sentence
	Headline string `json:"headline,omitempty"`
	Sentence string `json:"sentence,omitempty"` // the certificate in words
	// a warning that is to be read before Sentence
	NoBetter        string         `json:"no_better,omitempty"`
	Context         *model.Context `json:"context,omitempty"`
	ContextSentence string         `json:"context_sentence,omitempty"`
	Test            *model.Test    `json:"test"`
	// what outcomes say about the certificate
	Watch         *watch.State `json:"watch"`
	WatchSentence string       `json:"watch_sentence"`         // Watch in words
	WatchReason   string       `json:"watch_reason,omitempty"` // why Watch is null

	// of a file of several targets: the other targets, and what is certified of all together
	Others           []Description   `json:"others,omitempty"`
	Together         *model.Together `json:"together,omitempty"`
	TogetherSentence string          `json:"together_sentence,omitempty"`
}

// model answers the description of a model, with descriptions of the other targets in its file.
func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	query, err := parameters(r)
	var m *served
	if err == nil {
		m, err = s.find(query.Get("model"))
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	d := describe(m)
	d.Others = lists.Of(m.others, describe)
	if all := m.together; all != nil {
		d.Together, d.TogetherSentence = &all.Together, all.Sentence()
	}
	writeJSON(w, 200, d)
}

// describe returns the description of a target's model: its inputs with their usual values, its
// certificate in words, and what outcomes have shown of it.
func describe(m *served) Description {
	trained := m.Trained()
	d := Description{Name: m.name, Objective: m.Objective, Target: m.Target, Classes: m.Classes,
		Kernel:      trained.Kernel.Spec(trained.Theta),
		Certificate: m.Certificate, CertificateReason: m.CertificateReason,
		Population: m.Population(), Test: m.Test, Inducing: trained.Inducing()}
	d.Inputs, d.Reading = inputsOf(m.Model), m.Reading.Sent()
	for i := range d.Inputs {
		d.Inputs[i].settle(m.Model)
	}
	d.Rows = m.Counts[dataset.Prior] + m.Counts[dataset.Certified]
	if m.Certificate != nil {
		d.Sentence, d.NoBetter = m.Model.Sentence(m.Certificate), m.NoBetter()
		d.Headline = m.Model.Headline(m.Certificate)
		d.Context, d.ContextSentence = m.Context, m.InContext()
	}
	if m.Joint != nil {
		d.Sentence = m.together.Sentence()
		d.Headline, _, _ = strings.Cut(d.Sentence, "\n")
	}
	if m.watch != nil {
		state := m.watch.State()
		d.Watch, d.WatchSentence = &state, state.Told(&m.Model.Model)
	} else {
		d.WatchReason = m.unwatched.Error()
	}
	return d
}

// limited returns a handler whose work has a time limit, and a hold on the memory that it reserves.
// An error of the work is the answer.
func (s *Server) limited(work func(ctx context.Context, w http.ResponseWriter, r *http.Request,
	held *hold) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.o.Timeout)
		defer cancel()
		held := s.budget.hold(clientOf(r))
		defer held.close()
		if err := work(ctx, w, r, held); err != nil {
			s.refuse(w, r, err)
		}
	}
}

// predict answers the predictions for the rows of a request, as JSON or CSV. The memory for the
// table, and for all targets' predictions, is reserved before the work.
func (s *Server) predict(ctx context.Context, w http.ResponseWriter, r *http.Request,
	held *hold) error {
	query := r.URL.Query()
	take := form{columns: inputsOf, rows: s.o.MaxRows,
		query: []string{"explain", "observed", "sets"}}
	if query.Get("observed") == "true" {
		take.columns = observedColumns
	}
	m, table, err := s.read(ctx, w, r, held, take)
	var answer rowsAnswer
	var told []string
	if err == nil && m.others != nil {
		switch {
		case query.Get("observed") == "true":
			err = bad(409, "%w", errSeveral)
		case query.Get("explain") == "true" && m.Joint != nil:
			err = bad(409, "%w", model.ErrClasses)
		default:
			err = held.resize(ctx, kept(table)+int64(len(m.others))*int64(table.Rows)*bytesOfRow)
		}
	}
	if err == nil {
		answer, told, err = s.answer(ctx, r, held, m, table)
	}
	if err != nil {
		return err
	}
	var text bytes.Buffer
	kind := "application/json"
	write := func() { answer.json(&text) }
	if wantsCSV(r) {
		kind = "text/csv; charset=utf-8"
		write = func() { answer.csv(&paced{to: &text}) }
		for i, notice := range told[:min(len(told), mostNotices)] {
			if slices.Index(told, notice) == i { // several targets have the same gaps
				w.Header().Add("Krigo-Notice", inASCII(notice))
			}
		}
	}
	// Long answers take turns, and leave processors to short ones.
	if err := s.texts.take(ctx, held.of, table.Rows > shortRows, write); err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	newSteady(w, s.o.Timeout).Write(text.Bytes()) // an error means that the client has left
	return nil
}

// rowsAnswer is an answer that may have thousands of rows, so that it is written in pieces.
type rowsAnswer interface {
	csv(w io.Writer)
	json(text *bytes.Buffer)
}

// answer returns what the models of a file say of a table, with what else the query asks for, and
// the notices about the table's rows.
func (s *Server) answer(ctx context.Context, r *http.Request, held *hold, m *served,
	table *dataset.Table) (_ rowsAnswer, told []string, err error) {
	var answers []Answer
	for _, of := range append([]*served{m}, m.others...) {
		if of.Joint != nil { // the models of the classes answer
			continue
		}
		one, err := s.answerOf(ctx, r, held, of, table)
		if err != nil {
			return nil, nil, err
		}
		answers = append(answers, one)
		told = append(told, one.Notices...)
	}
	if m.Joint == nil {
		answers[0].Others = answers[1:]
		return answers[0], told, nil
	}
	level, _ := levelOf(r.URL.Query()) // answerOf has refused a wrong one
	l, err := m.together.JoinLabels(lists.Of(answers, func(a Answer) []model.Prediction {
		return a.Predictions
	}), level)
	return KindAnswer{m.name, l, answers[0].Notices}, told, err
}

// answerOf returns the predictions of a model for a table, with what else the query asks for.
func (s *Server) answerOf(ctx context.Context, r *http.Request, held *hold, m *served,
	table *dataset.Table) (Answer, error) {
	ps, filled, err := m.queue.run(ctx, held.of, table)
	if err != nil {
		return Answer{}, err
	}
	a, err := further(ctx, r.URL.Query(), held, &s.together, m, table, ps)
	a.Notices = filled
	return a, err
}

// joint answers draws and covariances at all rows of a request.
// These requests don't go through the queue, because its batches would have to wait for them.
// One such request is computed at a time, and clients take turns.
func (s *Server) joint(ctx context.Context, w http.ResponseWriter, r *http.Request,
	held *hold) error {
	m, table, err := s.read(ctx, w, r, held,
		form{columns: inputsOf, rows: min(jointRows, s.o.MaxRows), query: jointParameters})
	var of wish
	if err == nil && m.others != nil {
		err = bad(409, "%w", errSeveral)
	}
	if err == nil {
		of, err = wishOf(r.URL.Query())
	}
	if err == nil {
		if err = m.Posterior.Drawable(); of.covariance {
			err = m.Posterior.HasCovariance()
		}
		if err != nil {
			err = bad(409, "%v", err)
		}
	}
	answer := Joint{}
	if err == nil {
		answer.Model = m.name
		answer.Target = m.Target
		// also refuses rows that the model can't take
		answer.Predictions, answer.Notices, err = m.queue.run(ctx, held.of, table)
	}
	if err == nil {
		err = of.compute(ctx, held, &s.together, m.Model, table, &answer)
	}
	if err != nil {
		return err
	}
	answer.write(newSteady(w, s.o.Timeout),
		func(row func()) error { return s.texts.take(r.Context(), held.of, true, row) })
	return nil
}

// wantsCSV says whether the answer should be CSV.
// The header Accept decides, or without it the type of the request.
func wantsCSV(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if accept == "" || accept == "*/*" {
		accept = r.Header.Get("Content-Type")
	}
	kind, _, _ := mime.ParseMediaType(strings.Split(accept, ",")[0])
	return kind == "text/csv"
}

// observedColumns returns the columns of rows with a target.
func observedColumns(m *krigo.Model) []Input {
	all := append(inputsOf(m), Input{Name: m.Target, Categories: m.Classes})
	if m.Censored == m.Target {
		all[len(all)-1].Categories = []string{"<", ">"} // its values may be text: <0.1
	} else if m.Censored != "" {
		all = append(all, Input{Name: m.Censored, Categories: []string{"left", "right", "none"}})
	}
	return all
}

// Observed is the answer of POST /v1/outcomes.
type Observed struct {
	Model string `json:"model"`
	Rows  int    `json:"rows"` // number of rows that were added
	// the ledger already had the rows under the request's key
	Known   bool        `json:"known,omitempty"`
	Watch   watch.State `json:"watch"`
	Notices []string    `json:"notices,omitempty"` // which cells of the rows were filled
}

// outcomes adds rows with their targets to the ledger. They are on disk before it answers.
func (s *Server) outcomes(ctx context.Context, w http.ResponseWriter, r *http.Request,
	held *hold) error {
	m, table, err := s.read(ctx, w, r, held, form{columns: observedColumns, rows: s.o.MaxRows})
	if err == nil && m.watch == nil {
		err = bad(409, "%w", m.unwatched)
	}
	key := r.Header.Get("Idempotency-Key")
	switch {
	case err != nil:
	case len(key) > mostKey:
		err = bad(400, "Idempotency-Key: it has %d bytes, and may have %d", len(key), mostKey)
	case len(r.Header.Values("Idempotency-Key")) > 1:
		err = bad(400, "the header Idempotency-Key comes twice: send it once")
	case !utf8.ValidString(key):
		err = bad(400, "Idempotency-Key: it isn't UTF-8 text")
	}
	var state watch.State
	var added bool
	var gaps finding.List
	if err == nil {
		state, added, gaps, err = m.observe(ctx, held.of, key, table)
	}
	// The key came before with other rows.
	var other *watch.KeyError
	if errors.As(err, &other) {
		err = bad(422, "Idempotency-Key: %w", other)
	}
	var unwritten *watch.WriteError
	if errors.As(err, &unwritten) {
		s.o.Log.Error("outcomes not taken", "model", m.name, "rows", table.Rows, "error", err)
		fail(w, 500, errors.New("the outcomes couldn't be written, and aren't counted; the "+
			"reason is in the server's log"))
		return nil
	}
	if err != nil {
		return err
	}
	answer := Observed{Model: m.name, Rows: table.Rows, Watch: state, Notices: gaps.Words()}
	if !added {
		answer.Rows = 0
		answer.Known = true
	}
	writeJSON(w, 200, answer)
	return nil
}

// mostKey is the largest number of bytes of a request's Idempotency-Key.
const mostKey = 255

// observe adds rows to the ledger. Clients take turns.
// added is false if the ledger already had the rows under key, and
// gaps tells which cells it filled, and which rows have no prediction.
func (m *served) observe(ctx context.Context, of client, key string,
	t *dataset.Table) (s watch.State, added bool, gaps finding.List, err error) {
	d, gaps, err := m.Later(t)
	if err == nil {
		err = m.observers.begin(ctx, of)
	}
	if err != nil {
		return s, false, nil, err
	}
	defer m.observers.end()
	s, added, err = m.watch.ObserveOnce(ctx, key, d, d.All())
	return s, added, append(gaps, s.Found...), err
}

// parameters returns a request's query. It refuses parameters other than model and known, and a
// parameter that comes twice.
func parameters(r *http.Request, known ...string) (url.Values, error) {
	query := r.URL.Query()
	known = append([]string{"model"}, known...)
	for key, values := range query {
		switch {
		case !slices.Contains(known, key):
			return nil, bad(400, "the query parameter %q isn't known: known are %s",
				clip([]byte(key)), strings.Join(known, ", "))
		case len(values) > 1:
			return nil, bad(400, "the query parameter %q comes %d times: send it once",
				clip([]byte(key)), len(values))
		}
	}
	return query, nil
}

// form says which columns, rows and parameters a request may have.
type form struct {
	columns func(*krigo.Model) []Input // the columns of a row
	rows    int                        // the largest number of rows
	query   []string                   // the parameters other than model
}

// read returns the model that a request names, and the request's rows.
func (s *Server) read(ctx context.Context, w http.ResponseWriter, r *http.Request, held *hold,
	of form) (*served, *dataset.Table, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || (kind != "application/json" && kind != "text/csv") {
		return nil, nil, bad(415, "Content-Type %q: send application/json or text/csv",
			r.Header.Get("Content-Type"))
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, nil, bad(415, "Content-Encoding %q: compressed bodies aren't taken", e)
	}
	query, err := parameters(r, of.query...)
	if err != nil {
		return nil, nil, err
	}
	body, err := readBody(ctx, w, r, held, s.o.MaxBody, s.o.Timeout)
	if err != nil {
		return nil, nil, err
	}
	take := func(more int64) error { return held.resize(ctx, int64(cap(body))+more) }
	// Requests with long bodies reserve their memory first, and then wait for their turn to be
	// parsed.
	begin := func() (end func(), err error) {
		if len(body) <= longBody {
			return func() {}, nil
		}
		return s.texts.end, s.texts.begin(ctx, held.of)
	}
	var m *served
	var t *dataset.Table
	if kind == "text/csv" {
		if m, err = s.find(query.Get("model")); err != nil {
			return nil, nil, err
		}
		wanted := of.columns(m.Model)
		size, err := measureCSV(body, len(wanted), m.Reading, of.rows)
		if err == nil {
			err = take(size)
		}
		if err != nil {
			return nil, nil, err
		}
		end, err := begin()
		if err != nil {
			return nil, nil, err
		}
		defer end()
		if t, err = parseCSV(body, wanted, m.Reading, of.rows); err != nil {
			return nil, nil, err
		}
		return m, t, held.resize(ctx, kept(t))
	}
	size := measureJSON(body, of.rows)
	if err := take(size); err != nil {
		return nil, nil, err
	}
	end, err := begin()
	if err != nil {
		return nil, nil, err
	}
	defer end()
	t, err = parseJSON(body, func(name string, rows int) ([]Input, error) {
		if q := query.Get("model"); q != "" && name != "" && q != name {
			return nil, bad(400, "the query names the model %q, the body %q", q, name)
		}
		var err error
		if m, err = s.find(cmp.Or(name, query.Get("model"))); err != nil {
			return nil, err
		}
		wanted := of.columns(m.Model)
		return wanted, take(size + textsOf(wanted, rows))
	}, of.rows)
	if err == nil {
		err = m.Reading.Sent().Apply(t)
	}
	if err != nil {
		return nil, nil, err
	}
	return m, t, held.resize(ctx, kept(t))
}

// refuse answers an error, with the status that belongs to the error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var known *badRequest
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		fail(w, known.status, err)
	case errors.As(err, &large):
		fail(w, 413, fmt.Errorf("the body is larger than %s bytes",
			strconv.FormatInt(large.Limit, 10)))
	case errors.Is(err, os.ErrDeadlineExceeded):
		fail(w, 408, fmt.Errorf("the body took longer than %v, or a long body came more slowly "+
			"than %d kB every %v", s.o.Timeout, stepBytes>>10, min(stall, s.o.Timeout)))
	case errors.Is(err, errHuge):
		fail(w, 413, err)
	case errors.Is(err, errBusy), errors.Is(err, errFull):
		fail(w, 503, err)
	case errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil:
		fail(w, 503, fmt.Errorf("the prediction took longer than %v: send fewer rows", s.o.Timeout))
	case errors.Is(err, errInternal):
		fail(w, 500, err)
	case r.Context().Err() != nil:
		// The client has left, so nobody would read an answer.
	default:
		fail(w, 400, err)
	}
}
