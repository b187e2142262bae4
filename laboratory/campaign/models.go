package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/report"
)

func init() {
	campaigns = append(campaigns, campaign{"models",
		"altered model files and checkpoints, with right checksums: read, predicted from, certified, reported",
		attackModels})
}

// Each expensive check is made for one try in as many tries as its constant says.
const (
	certifyEvery    = 4
	forgeEvery      = 20
	reportEvery     = 50
	freshEvery      = 20
	fewEvery        = 20
	refitEvery      = 10
	checkpointEvery = 150
)

// specimen is a model file that krigo has made, taken apart, with everything that the model says.
type specimen struct {
	name    string
	cells   cells
	table   *dataset.Table
	options krigo.Options
	raw     []byte
	header  []byte
	arrays  []byte
	fields  any // the parsed header
	states  any // the result of the function statements
	said    *pacbayes.Certificate
	words   string
	scores  *model.Conformal
	nearest int
	points  *mat.Dense
	ps      []model.Prediction

	checkpoint []byte // a checkpoint from the middle of the fit
}

// cells holds the cells of a table as text.
type cells struct {
	names []string
	rows  [][]string
}

// named are the columns of texts that drawn draws.
var named = []string{"side", "block", "label", "bird", "limit"}

// drawn returns n random rows with the given columns. a and b are numbers, side has four kinds of text, block has a
// text for each pair of rows, and y depends on a and b.
func drawn(seed uint64, n int, columns ...string) cells {
	rng := rand.New(rand.NewPCG(seed, 77))
	c := cells{names: columns}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		y := a + 0.5*rng.NormFloat64()
		of := map[string]string{"months": number(1 + rng.Float64()), "error": number(0.1 + 0.4*rng.Float64()),
			"label": []string{"no", "yes"}[min(max(int(math.Ceil(y)), 0), 1)],
			"bird":  []string{"jay", "kea", "owl"}[min(max(int(math.Round(y))+1, 0), 2)],
			"count": number(math.Floor(math.Exp(1 + y/2))), "size": number(math.Exp(y)),
			"grade": number(min(max(math.Round(y)+3, 1), 5)),
			"limit": []string{"none", "left"}[min(max(int(math.Ceil(-1-y)), 0), 1)],
			"a":     number(a), "b": number(b), "side": []string{"left", "right", "", "7"}[rng.IntN(4)],
			"block": fmt.Sprintf("b%d", i/2),
			"y":     number(20 + 5*math.Sin(2*a) + b + 0.3*rng.NormFloat64())}
		row := make([]string, len(columns))
		for j, name := range columns {
			row[j] = of[name]
		}
		c.rows = append(c.rows, row)
	}
	return c
}

func (c cells) table() *dataset.Table {
	t := &dataset.Table{Source: "drawn", Names: c.names}
	for _, row := range c.rows {
		t.Append(row)
	}
	return t
}

// ofKind returns the cells and options of a model whose target, noise or columns are of another kind.
func ofKind(target, noise string, more krigo.Data) (cells, krigo.Options) {
	columns := []string{"a", "b", target}
	for _, name := range []string{more.Exposure, more.NoiseColumn, more.Censored} {
		if name != "" {
			columns = append(columns, name)
		}
	}
	more.Target = target
	more.Inputs = []string{"a", "b"}
	return drawn(5, 120, columns...), krigo.Options{Data: more, Kernel: krigo.Kernel{Expression: "linear", Noise: noise},
		Run: krigo.Run{Restarts: 1}}
}

// fitKinds fits small models of classes, counts and other kinds of targets.
func fitKinds(ctx context.Context) (all []*specimen, err error) {
	for _, kind := range []struct {
		target, noise string
		more          krigo.Data
	}{{"label", "", krigo.Data{}}, {"count", "poisson", krigo.Data{}},
		{"count", "negative-binomial", krigo.Data{Columns: krigo.Columns{Exposure: "months"}}}, {"size", "gamma", krigo.Data{Columns: krigo.Columns{Exposure: "months"}}},
		{"size", "gamma", krigo.Data{}}, {"grade", "ordinal", krigo.Data{}}, {"y", "student", krigo.Data{}},
		{"y", "", krigo.Data{Columns: krigo.Columns{NoiseColumn: "error"}}}, {"y", "", krigo.Data{Columns: krigo.Columns{Censored: "limit"}}},
		{"size", "", krigo.Data{Transform: "log"}}} {
		s := &specimen{name: strings.TrimSpace(kind.target + " " + kind.noise + " " + kind.more.Exposure)}
		s.cells, s.options = ofKind(kind.target, kind.noise, kind.more)
		s.options.Run.Seed = 1
		s.table = s.cells.table()
		if err := s.fit(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// fitSpecimens fits a small model of every kind.
func fitSpecimens(ctx context.Context) (all []*specimen, err error) {
	numbers, texts, blocks := drawn(1, 60, "a", "b", "y"), drawn(2, 60, "a", "side", "y"),
		drawn(3, 90, "a", "block", "b", "y")
	with := func(m krigo.Method, p krigo.Prior, q krigo.Promise) krigo.Options {
		return krigo.Options{Method: m, Prior: p, Promise: q, Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}}
	}
	grid, informed := krigo.Prior{Kind: "grid"}, krigo.Prior{Kind: "informed"}
	direct := krigo.Promise{Epsilon: 1}
	composed := with(krigo.Method{Name: "evidence"}, informed, krigo.Promise{Epsilon: 1, Calibration: 0.34})
	composed.Kernel = krigo.Kernel{Expression: "se*periodic+linear+white", Mean: "linear", ARD: "on"}
	encoded := with(krigo.Method{Name: "evidence"}, informed, direct)
	read := with(krigo.Method{Name: "evidence"}, informed, direct)
	read.Data = krigo.Data{Ignore: []string{"block"}, Missing: "mean"}
	encoded.Data = krigo.Data{Categorical: []string{"side"}, Missing: "mean", TestFraction: 0.1}
	grouped := with(krigo.Method{Name: "kl-pac"}, krigo.Prior{Share: 0.3}, krigo.Promise{})
	grouped.Data.Group = "block"
	sliced := with(krigo.Method{Name: "evidence"}, krigo.Prior{Kind: "informed", Share: 0.2},
		krigo.Promise{Epsilon: 1, Slices: []string{"a", "sd"}})
	backtest := with(krigo.Method{Name: "evidence"}, informed, direct)
	backtest.Data.Split = "last"
	mixed := with(krigo.Method{Name: "kl-pac"}, krigo.Prior{Mixed: true}, krigo.Promise{Share: 0.2})
	mixed.Kernel.ARD = "on"
	for _, c := range []struct {
		name  string
		cells cells
		o     krigo.Options
	}{
		{"kl-pac", numbers, with(krigo.Method{Name: "kl-pac"}, grid, krigo.Promise{})},
		{"evidence on a grid", numbers, with(krigo.Method{Name: "evidence"}, grid, krigo.Promise{Share: 0.3})},
		{"vfe", numbers, with(krigo.Method{Name: "vfe", Inducing: 4}, grid, krigo.Promise{Loss: "relative", Epsilon: 0.2})},
		{"fitc", numbers, with(krigo.Method{Name: "fitc", Inducing: 4}, grid, krigo.Promise{})},
		{"free", numbers, with(krigo.Method{Name: "kl-pac", Posterior: "free", Inducing: 4, Epochs: 20}, krigo.Prior{},
			krigo.Promise{Loss: "asymmetric", Epsilon: 0.5, EpsilonAbove: 0.9})},
		{"svgp", numbers, with(krigo.Method{Name: "svgp", Inducing: 4, Epochs: 20}, informed, direct)},
		{"renyi", numbers, with(krigo.Method{Name: "renyi", Epochs: 10}, informed, direct)},
		{"informed", numbers, composed},
		{"nearest", numbers, with(krigo.Method{Name: "nearest", Epochs: 5}, informed,
			krigo.Promise{Loss: "scaled", Epsilon: 2})},
		{"cg", numbers, with(krigo.Method{Name: "evidence", Solver: "cg", Epochs: 5}, informed, direct)},
		{"curve", numbers, with(krigo.Method{Name: "evidence"}, informed, krigo.Promise{Curve: true, Share: 0.5})},
		{"slices", drawn(4, 90, "a", "b", "y"), sliced},
		{"tempered", numbers, with(krigo.Method{Name: "vfe", Inducing: 4},
			krigo.Prior{Kind: "informed", Temper: []float64{1, 0.3}},
			krigo.Promise{MeanBound: "both", Loss: "gaussian", Bound: "betting"})},
		{"learnt", numbers, with(krigo.Method{Name: "evidence"}, krigo.Prior{Kind: "informed", Learn: true, Share: 0.4},
			krigo.Promise{})},
		{"encoded", texts, encoded},
		{"grouped", blocks, grouped},
		{"read", blocks, read},
		{"backtest", numbers, backtest},
		{"mixed", numbers, mixed},
	} {
		c.o.Data.Target, c.o.Run.Seed = "y", 1
		s := &specimen{name: c.name, cells: c.cells, table: c.cells.table(), options: c.o}
		if err := s.fit(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, s)
	}
	kinds, err := fitKinds(ctx)
	return append(all, kinds...), err
}

func (s *specimen) fit(ctx context.Context) error {
	o, steps := s.options, 0
	o.Run.Save = func(c *krigo.Checkpoint) (err error) {
		if steps++; steps == 3 {
			s.checkpoint, err = json.Marshal(c)
		}
		return err
	}
	table, o, err := o.Kinds(s.table)
	if err != nil {
		return err
	}
	m, err := krigo.Fit(ctx, table, o)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		return err
	}
	s.raw = file.Bytes()
	s.header, s.arrays = opened(s.raw)
	s.fields = parsed(s.header)
	if m, err = krigo.Read(bytes.NewReader(s.raw)); err != nil {
		return err
	}
	r, err := m.Certify(context.Background(), s.table, krigo.CertifyOptions{})
	if err != nil || !r.Matches {
		return fmt.Errorf("krigo doesn't certify it: %+v, %w", r, err)
	}
	if s.states, err = statements(m, r); err != nil {
		return err
	}
	s.said, s.words, s.scores = r.Certificate, m.Sentence(r.Certificate), m.Conformal
	_, s.nearest = m.Posterior.Arrays()
	s.points = mat.NewDense(3, len(m.Inputs)+len(m.Further()), nil)
	for i := range 3 {
		for j := range m.Inputs {
			s.points.Set(i, j, 0.7*float64(i)-0.2*float64(j))
		}
		for j := range m.Further() {
			s.points.Set(i, len(m.Inputs)+j, 1+float64(i))
		}
	}
	s.ps, err = m.PredictAt(s.points)
	return err
}

func attackModels(r *run) error {
	// Numeric code may use as many cores as there are workers. With --workers 1 it starts no goroutines, so that a
	// panic in it counts for the right try.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(r.workers, 1)))
	all, err := fitSpecimens(r.ctx)
	if err != nil {
		return err
	}
	return r.each(func(try int64, rng *rand.Rand) error {
		s := all[rng.IntN(len(all))]
		if rng.IntN(checkpointEvery) == 0 && s.checkpoint != nil {
			// A fit runs on goroutines of its own, and a panic there ends the program. The file then still has the
			// number of the try.
			if err := os.WriteFile(filepath.Join(r.folder, "resumed"), fmt.Appendln(nil, try), 0o600); err != nil {
				return err
			}
			return r.resume(s, rng)
		}
		raw, how, certify, single := []byte(nil), "", false, false
		if rng.IntN(forgeEvery) == 0 {
			if raw, how = s.restated(rng, all[rng.IntN(len(all))]); raw == nil {
				r.count("not restated")
				return nil
			}
			certify = true
		} else {
			raw, how, single = s.altered(rng, all)
			certify = strings.Contains(how, "certificate")
		}
		if err := r.examine(s, raw, rng, certify, single); err != nil {
			return fmt.Errorf("%s, %s: %w", s.name, how, err)
		}
		return nil
	})
}

// resume continues a fit from an altered checkpoint.
func (r *run) resume(s *specimen, rng *rand.Rand) error {
	text := alteredText(s.checkpoint, rng, parsed(s.checkpoint))
	var c krigo.Checkpoint
	if json.Unmarshal(text, &c) != nil {
		r.count("checkpoints refused")
		return nil
	}
	o := s.options
	o.Run.Resume = &c
	table, o, err := o.Kinds(s.table)
	if err != nil {
		return err
	}
	m, err := krigo.Fit(r.ctx, table, o)
	if err != nil {
		r.count("checkpoints refused")
		return nil
	}
	r.count("checkpoints resumed")
	// The result may differ from the result of the right checkpoint, but its certificate has to be reproduced.
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		return fmt.Errorf("%s: can't write the model of an altered checkpoint: %w: %.2000s", s.name, err, text)
	}
	if m, err = krigo.Read(&file); err != nil {
		return fmt.Errorf("%s: can't read the model of an altered checkpoint: %w: %.2000s", s.name, err, text)
	}
	if m.Certificate == nil {
		return nil
	}
	if again, err := m.Certify(context.Background(), s.table, krigo.CertifyOptions{}); err != nil || !again.Matches {
		return fmt.Errorf("%s: certify doesn't reproduce the certificate of an altered checkpoint: %+v, %w: %.2000s", s.name, again,
			err, text)
	}
	return nil
}

// allocated returns the number of bytes that the program has ever allocated on the heap.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// examine reads a model file and predicts with the model. In some tries it also certifies the model and writes a
// report. single says that exactly one place of the file's header was altered.
func (r *run) examine(s *specimen, raw []byte, rng *rand.Rand, certificate, single bool) error {
	before := allocated()
	m, err := krigo.Read(bytes.NewReader(raw))
	if used, limit := allocated()-before, uint64(1<<22+1000*len(raw))*uint64(r.workers); used > limit {
		return fmt.Errorf("reading %d bytes took %d bytes of memory", len(raw), used)
	}
	if (m == nil) != (err != nil) {
		return fmt.Errorf("reading returned both or neither: model %v, error %v", m, err)
	}
	if err != nil {
		if len(err.Error()) > 2000 {
			return fmt.Errorf("the error has %d bytes: %.200s", len(err.Error()), err)
		}
		r.count("refused at once")
		return nil
	}
	if err := predicts(m, s.points); err != nil {
		return err
	}
	if rng.IntN(reportEvery) == 0 {
		var table *dataset.Table
		if rng.IntN(2) == 0 {
			table = s.table
		}
		if report.Write(context.Background(), io.Discard, m, table) == nil {
			r.count("reported")
		}
	}
	if rng.IntN(freshEvery) == 0 {
		f, err := m.CertifyFresh(context.Background(), drawn(rng.Uint64(), 25, s.table.Names...).table())
		if err == nil && !linalg.Finite([]float64{f.Bound, f.MeanBound, f.GibbsRisk, f.MeanRisk}) {
			return fmt.Errorf("wrong bounds from fresh rows: %+v", f)
		}
	}
	if rng.IntN(fewEvery) == 0 {
		if err := r.few(s, m, rng); err != nil {
			return err
		}
	}
	if !certificate && rng.IntN(certifyEvery) > 0 {
		r.count("predicted")
		return nil
	}
	again, err := m.Certify(context.Background(), s.table, krigo.CertifyOptions{})
	if err != nil || !again.Matches {
		r.count("refused by certify")
		return nil
	}
	r.count("certified")
	if rng.IntN(refitEvery) == 0 { // a fit with the file's options may take very long
		ctx, cancel := context.WithTimeout(r.ctx, time.Second)
		defer cancel()
		if _, differs, err := m.Refit(ctx, s.table, nil); err == nil && differs == "" {
			r.count("fitted again")
		}
	}
	if single {
		if err := s.same(m, again); err != nil {
			return err
		}
	}
	return s.forged(m, again)
}

// few asks for intervals from all rows, and for the losses of fresh outcomes.
func (r *run) few(s *specimen, m *krigo.Model, rng *rand.Rand) error {
	fresh := drawn(rng.Uint64(), 3, s.table.Names...).table()
	is, err := m.IntervalsOfFew(context.Background(), s.table, fresh,
		krigo.IntervalOptions{Kind: krigo.FewRowKinds()[rng.IntN(len(krigo.FewRowKinds()))]})
	for _, v := range is {
		if err == nil && !(v.Lower <= v.Upper) {
			return fmt.Errorf("wrong interval from all rows: %+v", v)
		}
	}
	d, err := m.Labelled(fresh)
	if err != nil || m.Certificate == nil {
		return nil
	}
	o, err := m.Outcomes(d, d.All())
	for _, loss := range o.Losses {
		if err == nil && !(loss >= 0 && loss <= 1) {
			return fmt.Errorf("losses outside [0, 1]: %v", o.Losses)
		}
	}
	return nil
}

// predicts returns an error if the model predicts a number or an interval that isn't finite without saying so.
func predicts(m *krigo.Model, points *mat.Dense) error {
	if _, cols := points.Dims(); cols != len(m.Inputs)+len(m.Further()) {
		points = mat.NewDense(2, len(m.Inputs)+len(m.Further()), nil)
	}
	ps, err := m.PredictAt(points)
	if err != nil {
		return nil
	}
	for _, p := range ps {
		if !linalg.Finite([]float64{p.Mean, p.LatentVariance, p.PredictiveVariance, p.Lower95, p.Upper95, p.LatentSD,
			p.PredictiveSD}) ||
			p.LatentVariance < 0 || m.Sited() == nil && !(p.PredictiveSD >= p.LatentSD) || !(p.Lower95 <= p.Upper95) {
			return fmt.Errorf("wrong prediction: %+v", p)
		}
	}
	for _, kind := range krigo.IntervalKinds() {
		is, err := m.Intervals(ps, krigo.IntervalOptions{Kind: kind})
		for i := range is {
			if err == nil && !(is[i].Lower <= is[i].Upper && linalg.Finite([]float64{is[i].Lower, is[i].Upper})) {
				return fmt.Errorf("wrong %s interval: %+v", kind, is[i])
			}
		}
	}
	return nil
}

// forged checks an altered file that krigo certify has accepted. It returns an error if the file promises more than the
// original.
func (s *specimen) forged(m *krigo.Model, again *krigo.Recertification) error {
	for _, c := range []*pacbayes.Certificate{again.Certificate, m.Certificate} {
		if weaker(c, s.said) {
			continue // for example with a grid of more digits, which costs more
		}
		if d := c.Difference(s.said); d != "" && s.said.Difference(c) != "" {
			return fmt.Errorf("FORGED: certified, but the certificate differs in its %s", d)
		}
		if c.Bound < s.said.Bound-2e-6 || c.MeanBound < s.said.MeanBound-2e-6 || c.Delta != s.said.Delta ||
			c.Valid != s.said.Valid {
			return fmt.Errorf("FORGED: certified with the bounds %v, %v at δ %v, not %v, %v at %v", c.Bound, c.MeanBound,
				c.Delta, s.said.Bound, s.said.MeanBound, s.said.Delta)
		}
	}
	if words := m.Sentence(again.Certificate); words != s.words && !weaker(again.Certificate, s.said) {
		return fmt.Errorf("FORGED: certified as %q, not %q", words, s.words)
	}
	if a, b := m.Conformal, s.scores; a != nil &&
		(b == nil || !(a.HalfWidth >= b.HalfWidth*(1-3e-6)) || !(a.Normalised >= b.Normalised*(1-3e-6)) || a.Rows != b.Rows) {
		return fmt.Errorf("FORGED: certified with the intervals %+v, not %+v", a, b)
	}
	if _, nearest := m.Posterior.Arrays(); m.Terms.Informed && nearest != s.nearest {
		return nil // the fitter vouches for that number (docs/theory/certificate.md)
	}
	ps, err := m.PredictAt(s.points)
	if err != nil {
		return fmt.Errorf("FORGED: certified, but it doesn't predict: %w", err)
	}
	for i, p := range ps {
		// A posterior whose every figure is recomputed may move by less than this. The fitter vouches for the noise
		// of a sparse posterior (docs/theory/certificate.md).
		q := s.ps[i]
		sd, was := p.PredictiveSD, q.PredictiveSD
		if m.Trained().Inducing() > 0 {
			sd, was = p.LatentSD, q.LatentSD
		}
		if math.Abs(p.Mean-q.Mean) > 1e-2*q.PredictiveSD || math.Abs(sd-was) > 1e-2*q.PredictiveSD {
			return fmt.Errorf("FORGED: certified, but it predicts %v ± %v, not %v ± %v", p.Mean, p.PredictiveSD, q.Mean,
				q.PredictiveSD)
		}
	}
	return nil
}

// onFittersWord returns whether r lists a field of the model file, for example "training.seconds", as taken on the
// fitter's word. If several listed paths lead to the field, the longest decides.
func onFittersWord(r *krigo.Recertification, field string) bool {
	longest, on := -1, false
	for i, claims := range [][]model.Claim{r.Checked, r.OnWord} {
		for _, c := range claims {
			for _, name := range c.Fields {
				rest, of := strings.CutPrefix(field, name)
				if of = of && (rest == "" || rest[0] == '.' || rest[0] == '['); of && len(name) > longest {
					longest, on = len(name), i == 1
				}
			}
		}
	}
	return on
}

// same compares a certified file, altered in one place of its header, with the original. It returns an error if their
// statements differ, except for statements that krigo certify lists as taken on the fitter's word.
func (s *specimen) same(m *krigo.Model, again *krigo.Recertification) error {
	says, err := statements(m, again)
	if err != nil {
		return err
	}
	var differ []string
	apart("", s.states, says, &differ)
	trusted := false
	differ = slices.DeleteFunc(differ, func(path string) bool {
		field, ok := strings.CutPrefix(path, "header.")
		on := ok && (onFittersWord(again, field) || // or the altered file lacks a statement
			field == "conformal" && m.Conformal == nil || field == "context" && m.Context == nil)
		trusted = trusted || on
		return on
	})
	if len(differ) > 0 {
		return errors.New("FORGED: certified with other statements: " + strings.Join(differ, ", "))
	}
	if trusted { // predictions may depend on the trusted field
		return nil
	}
	ps, err := m.PredictAt(s.points)
	if err != nil {
		return err
	}
	if far := moved(s.ps, ps); far > 1e-6 {
		return fmt.Errorf("FORGED: certified, but predictions moved by %.3g standard deviations", far)
	}
	return nil
}

// weaker returns whether c says the same as another certificate, but with higher bounds.
func weaker(c, than *pacbayes.Certificate) bool {
	if !(c.Bound > than.Bound+1e-6 && c.MeanBound >= than.MeanBound && c.BoundSqrt >= than.BoundSqrt) {
		return false
	}
	a, b := *c, *than
	a.Bound, a.MeanBound, a.BoundSqrt, a.GridPenalty, a.ChoicesPenalty = b.Bound, b.MeanBound, b.BoundSqrt, b.GridPenalty,
		b.ChoicesPenalty
	if p, q := a.Promise, b.Promise; p != nil && q != nil && p.Share == q.Share && p.Relative == q.Relative &&
		p.Scaled == q.Scaled && (p.HalfWidth == 0 || q.HalfWidth > 0 && p.HalfWidth >= q.HalfWidth) {
		a.Promise = q
	}
	return a.Difference(&b) == ""
}

// sealed returns a model file of header and arrays, with the right checksum. prefix gives the first bytes.
func sealed(prefix, header, arrays []byte) []byte {
	out := make([]byte, 0, headerAt+len(header)+len(arrays)+sha256.Size)
	out = append(append(append(out, prefix[:headerAt]...), header...), arrays...)
	binary.LittleEndian.PutUint32(out[lengthAt:], uint32(len(header)))
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

// altered returns the file with a change in one or several places, and describes the change. single says that exactly
// one place of the header was changed.
func (s *specimen) altered(rng *rand.Rand, all []*specimen) (raw []byte, how string, single bool) {
	header, arrays := s.header, s.arrays
	switch rng.IntN(10) {
	case 0: // any bytes of the file
		raw = alteredBytes(s.raw, rng)
		if rng.IntN(3) > 0 && len(raw) > headerAt+sha256.Size {
			body := raw[:len(raw)-sha256.Size]
			copy(body, s.raw[magicAt:versionAt+1])
			if rng.IntN(2) == 0 {
				body[versionAt] = byte(1 + rng.IntN(model.Version))
			}
			sum := sha256.Sum256(body)
			return append(body, sum[:]...), "bytes", false
		}
		return raw, "bytes without a right checksum", false
	case 1, 2:
		arrays, how = alteredArrays(s.fields, arrays, rng), "arrays"
	case 3:
		header, how = alteredText(header, rng, nil), "header's text"
	case 4: // sizes of arrays, mostly with the arrays to match
		h := parsed(header).(map[string]any)
		header, arrays, how = resized(h, arrays, rng)
	case 5:
		arrays, header, how = alteredArrays(s.fields, arrays, rng), alteredText(header, rng, s.fields), "arrays and header"
	default:
		other := all[rng.IntN(len(all))]
		h := parsed(header)
		places := 1 + rng.IntN(3)*rng.IntN(2)
		for range places {
			how += " " + alteredFields(h, other.fields, rng)
		}
		text, err := json.Marshal(h)
		if err != nil {
			return s.raw, "nothing", false
		}
		header, single = text, places == 1
	}
	return sealed(s.raw, header, arrays), how, single
}

// restated changes terms, roles, scaling or noise and recomputes the certificate. A forger can make all of this
// consistent, except the stored options. It returns nil if the certificate can't be computed.
func (s *specimen) restated(rng *rand.Rand, other *specimen) (raw []byte, how string) {
	h := parsed(s.header).(map[string]any)
	named := []string{"terms", "terms", "terms", "rows_by_role", "groups_by_role", "scaling", "noise_variance",
		"observation_noise", "seed", "split", "group", "encoding", "prior", "conformal"}
	for range 1 + rng.IntN(3)*rng.IntN(2) {
		k := named[rng.IntN(len(named))]
		if h[k] == nil {
			continue
		}
		one := map[string]any{k: h[k]}
		o, _ := other.fields.(map[string]any)
		how += " " + alteredFields(one, map[string]any{k: o[k]}, rng)
		if h[k] = one[k]; h[k] == nil {
			delete(h, k)
		}
	}
	h["certificate"], h["certificate_reason"] = nil, "none"
	text, err := json.Marshal(h)
	if err != nil {
		return nil, ""
	}
	m, err := krigo.Read(bytes.NewReader(sealed(s.raw, text, s.arrays)))
	if err != nil {
		return nil, ""
	}
	d, err := m.Labelled(s.table)
	if err != nil {
		return nil, ""
	}
	if m.Certificate, err = m.Model.Certify(d); err != nil {
		return nil, ""
	}
	m.CertificateReason = ""
	var file bytes.Buffer
	if m.Write(&file) != nil {
		return nil, ""
	}
	return file.Bytes(), "restated" + how
}

// alteredBytes flips, overwrites, cuts, repeats or removes bytes at random places.
func alteredBytes(raw []byte, rng *rand.Rand) []byte {
	out := slices.Clone(raw)
	for range 1 + rng.IntN(4) {
		n := len(out)
		if n == 0 {
			break
		}
		at := rng.IntN(n)
		length := min(1+rng.IntN(1<<rng.IntN(8)), n-at)
		switch rng.IntN(5) {
		case 0:
			out = out[:at]
		case 1:
			out = slices.Delete(out, at, at+length)
		case 2:
			out = slices.Insert(out, at, slices.Clone(out[at:at+length])...)
		case 3:
			for i := range out[at : at+length] {
				out[at+i] = byte(rng.Uint32())
			}
		default:
			out[at] ^= 1 << rng.IntN(8)
		}
	}
	return out
}

// numbersToTry holds JSON texts to put in the place of a number.
var numbersToTry = []string{"0", "-0", "-1", "1", "2", "1e300", "-1e300", "1e308", "5e-324", "1e-300", "1e999", "NaN",
	"Infinity", "null", `"NaN"`, "9223372036854775807", "-9223372036854775808",
	"18446744073709551616", "4294967296", "2147483648", "0.5", "1e-9", "100000", "[]", "{}", "true", `""`, "1e18",
	"0.999999"}

// alteredText changes the text of JSON: its bytes or numbers, or it repeats a field. If value, the parsed text, isn't
// nil, it may change the structure too.
func alteredText(text []byte, rng *rand.Rand, value any) []byte {
	if value != nil && rng.IntN(3) > 0 {
		value = parsed(text)
		for range 1 + rng.IntN(2) {
			alteredFields(value, value, rng)
		}
		if out, err := json.Marshal(value); err == nil {
			return out
		}
	}
	switch rng.IntN(4) {
	case 0:
		return alteredBytes(text, rng)
	case 1: // repeat a field
		at := rng.IntN(len(text))
		from := bytes.IndexByte(text[at:], '"')
		if from < 0 {
			return text
		}
		from += at
		to := bytes.IndexByte(text[from:], ',')
		if to < 0 {
			return text
		}
		field := append(slices.Clone(text[from:from+to]), ',')
		if colon := bytes.IndexByte(field, ':'); colon > 0 && rng.IntN(2) == 0 {
			field = append(append(slices.Clone(field[:colon+1]), numbersToTry[rng.IntN(len(numbersToTry))]...), ',')
		}
		if rng.IntN(4) == 0 {
			field = bytes.ToUpper(field)
		}
		place := from
		if rng.IntN(2) == 0 {
			place = from + to + 1
		}
		return slices.Insert(slices.Clone(text), place, field...)
	default: // replace a number
		at := rng.IntN(len(text))
		for at < len(text) && !strings.ContainsRune("-0123456789", rune(text[at])) {
			at++
		}
		end := at
		for end < len(text) && strings.ContainsRune("-+.eE0123456789", rune(text[end])) {
			end++
		}
		return slices.Replace(slices.Clone(text), at, end, []byte(numbersToTry[rng.IntN(len(numbersToTry))])...)
	}
}

// alteredFields changes one place of a header, and returns the path to this place. The new value may come from the
// header other.
func alteredFields(v, other any, rng *rand.Rand) (path string) {
	set := func(any) {}
	for depth := 0; ; depth++ {
		switch x := v.(type) {
		case map[string]any:
			if len(x) == 0 || depth > 0 && rng.IntN(4) == 0 {
				break
			}
			keys := slices.Sorted(maps.Keys(x))
			k := keys[rng.IntN(len(keys))]
			if depth == 0 && rng.IntN(3) == 0 { // the fields on which certificates depend
				if _, there := x["certificate"].(map[string]any); there {
					k = []string{"certificate", "terms", "rows_by_role", "scaling", "kernel"}[rng.IntN(5)]
				}
			}
			o, _ := other.(map[string]any)
			path += "." + k
			switch rng.IntN(24) {
			case 0:
				delete(x, k)
				return path + " left out"
			case 1:
				for name, w := range o {
					if _, has := x[name]; !has {
						x[name] = copied(w)
						return path + " added as " + name + " from another file"
					}
				}
			case 2:
				j := keys[rng.IntN(len(keys))]
				x[k], x[j] = x[j], x[k]
				return path + " swapped with " + j
			}
			v, other, set = x[k], o[k], func(w any) { x[k] = w }
			continue
		case []any:
			if len(x) == 0 || rng.IntN(4) == 0 {
				break
			}
			i := rng.IntN(len(x))
			o, _ := other.([]any)
			other = nil
			if i < len(o) {
				other = o[i]
			}
			path += fmt.Sprintf("[%d]", i)
			v, set = x[i], func(w any) { x[i] = w }
			continue
		}
		break
	}
	if other != nil && rng.IntN(4) == 0 {
		set(copied(other))
		return path + " from another file"
	}
	w := instead(v, rng)
	set(w)
	if text := fmt.Sprint(w); len(text) < 60 {
		path += " " + text
	}
	return path
}

// copied returns a deep copy of a JSON value.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, w := range v {
			out[k] = copied(w)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, w := range v {
			out[i] = copied(w)
		}
		return out
	}
	return v
}

var wordsToTry = []string{"", "NaN", "x", "band", "gaussian", "relative", "scaled", "asymmetric", "clipped-square",
	"clipped-absolute", "prior-rows", "declared", "all-rows", "kl", "maurer", "split-kl", "betting",
	"twice", "direct", "both", "grid", "informed", "content", "last", "zero", "constant", "linear", "se", "matern32",
	"periodic", "rq", "white", "sum", "product", "posterior", "kl-pac", "evidence", "cg", "nearest",
	"refuse", "mean", "float64", "uint64", "uint8", "weights", "targets", "cholesky", "cholesky_b", "prior_theta", "roles",
	"rows", "groups", "a", "b", "y", "side", "block", "sd", "certified"}

// instead returns a value to put in the place of v.
func instead(v any, rng *rand.Rand) any {
	number := func() any {
		if w := parsed([]byte(numbersToTry[rng.IntN(len(numbersToTry))])); w != nil {
			return w
		}
		return nil
	}
	if rng.IntN(12) == 0 {
		return number()
	}
	switch v := v.(type) {
	case json.Number:
		x, err := v.Float64()
		if err != nil || rng.IntN(4) == 0 {
			return number()
		}
		x = []float64{x + 1, x - 1, x / 2, 2 * x, -x, x * (1 + 1e-12), x * (1 - 1e-6), x * (1 - 1e-4), 0.9 * x, 1000 * x,
			math.Nextafter(x, 0), 0}[rng.IntN(12)]
		if !linalg.Finite([]float64{x}) {
			return number()
		}
		return json.Number(strconv.FormatFloat(x, 'g', -1, 64))
	case string:
		if rng.IntN(5) == 0 {
			return v + string(rune(rng.IntN(0x3000)))
		}
		if len(v) > 0 && rng.IntN(4) == 0 {
			b := []byte(v)
			b[rng.IntN(len(b))] = "0123456789abcdef"[rng.IntN(16)]
			return string(b)
		}
		return wordsToTry[rng.IntN(len(wordsToTry))]
	case bool:
		return !v
	case []any:
		out := copied(v).([]any)
		switch n := len(out); {
		case n == 0:
			return []any{number()}
		case rng.IntN(2) == 0:
			i := rng.IntN(n)
			return slices.Delete(out, i, i+1)
		case rng.IntN(3) == 0:
			rng.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
			return out
		case rng.IntN(3) == 0:
			return slices.Repeat(out, 1+rng.IntN(20))
		}
		return append(out, copied(out[rng.IntN(len(out))]))
	case map[string]any:
		if _, kernel := v["name"]; kernel { // a kernel, nested deeply
			depth := 1 << rng.IntN(8)
			if rng.IntN(20) == 0 {
				depth = 12000
			}
			inner := any(v)
			for range depth {
				inner = map[string]any{"name": []string{"sum", "product"}[rng.IntN(2)], "parts": []any{inner}}
			}
			return inner
		}
		return map[string]any{}
	}
	return wordsToTry[rng.IntN(len(wordsToTry))]
}

// floatsToTry holds numbers to put into an array.
var floatsToTry = []float64{0, -1, 1, 1e300, -1e300, 1e-300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1),
	math.NaN(), 1e8, 1e154, 1e-9}

// alteredArrays changes numbers of one array or of several, or any bytes of the arrays.
func alteredArrays(fields any, arrays []byte, rng *rand.Rand) []byte {
	out := slices.Clone(arrays)
	table, _ := fields.(map[string]any)["arrays"].([]any)
	type part struct{ from, n, size int }
	var parts []part
	from := 0
	for _, a := range table {
		n, size := sizeOf(a.(map[string]any))
		if n > 0 {
			parts = append(parts, part{from, n, size})
		}
		from += n * size
	}
	for range 1 + rng.IntN(3) {
		p := parts[rng.IntN(len(parts))]
		if p.size == 1 {
			out[p.from+rng.IntN(p.n)] = byte(rng.IntN(6))
			continue
		}
		get := func(i int) float64 {
			return math.Float64frombits(binary.LittleEndian.Uint64(out[p.from+8*i:]))
		}
		put := func(i int, v float64) { binary.LittleEndian.PutUint64(out[p.from+8*i:], math.Float64bits(v)) }
		i, j := rng.IntN(p.n), rng.IntN(p.n)
		switch rng.IntN(8) {
		case 0:
			x, y := get(i), get(j)
			put(i, y)
			put(j, x)
		case 1:
			factor := []float64{1 + 1e-9, 1 + 1e-5, 1.01, 0.5, 2, -1, 0, 1e10, 1e150}[rng.IntN(9)]
			for k := range p.n {
				put(k, get(k)*factor)
			}
		case 2:
			put(i, floatsToTry[rng.IntN(len(floatsToTry))])
		case 3:
			v := floatsToTry[rng.IntN(len(floatsToTry))]
			for k := range p.n {
				put(k, v)
			}
		case 4:
			out[p.from+rng.IntN(p.n*8)] ^= 1 << rng.IntN(8)
		case 5:
			put(i, get(i)+[]float64{1e-12, 1e-6, 1e-3, 0.1, 1, 10}[rng.IntN(6)]*rng.NormFloat64())
		case 6:
			for k := range p.n {
				put(k, get(k)+0.01*rng.NormFloat64())
			}
		default:
			put(i, get(j))
		}
	}
	return out
}

// sizeOf returns how many values an array of a header has, and the bytes of each value.
func sizeOf(a map[string]any) (n, size int) {
	number := func(name string) int {
		v, _ := a[name].(json.Number)
		x, _ := v.Int64()
		return int(x)
	}
	rows, cols := number("rows"), number("cols")
	if n = rows * cols; cols == 0 {
		n = rows * (rows + 1) / 2
	}
	if a["type"] == "uint8" {
		return n, 1
	}
	return n, 8
}

// resized gives an array another size in the header, and mostly in the file too, if the size is small enough.
func resized(h map[string]any, arrays []byte, rng *rand.Rand) (header, out []byte, how string) {
	table := h["arrays"].([]any)
	which := rng.IntN(len(table))
	a := table[which].(map[string]any)
	from := 0
	for _, b := range table[:which] {
		n, size := sizeOf(b.(map[string]any))
		from += n * size
	}
	n, size := sizeOf(a)
	how = fmt.Sprintf("size of %v", a["name"])
	field := []string{"rows", "cols"}[rng.IntN(2)]
	now, _ := a[field].(json.Number)
	was, _ := now.Int64()
	is := []int64{was + 1, was - 1, 0, 2 * was, 1 << 28, 1 << 31, 1 << 62, -1, was / 2, 1}[rng.IntN(10)]
	a[field] = json.Number(strconv.FormatInt(is, 10))
	out = arrays
	if m, length := sizeOf(a); m >= 0 && m < 1<<16 && rng.IntN(4) > 0 {
		content := make([]byte, m*length)
		copy(content, arrays[from:from+n*size])
		for i := n * size; i+8 <= len(content); i += 8 {
			binary.LittleEndian.PutUint64(content[i:], math.Float64bits(rng.Float64()))
		}
		out = slices.Concat(arrays[:from], content, arrays[from+n*size:])
	}
	header, err := json.Marshal(h)
	if err != nil {
		return nil, out, how
	}
	return header, out, how
}
