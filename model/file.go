package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/internal/strict"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/posterior"
)

// Version is the newest version of model files that krigo writes.
// krigo reads this version and all earlier versions.
const Version = observation.Version

// A model file (docs/reference/format.md) holds the magic, the version, the length of the header,
// the header as JSON, the arrays that the header lists, and a SHA-256 of everything before it.
// Numbers are little-endian.
const (
	magic = Magic

	// A model is written in the oldest version that can hold it, so that older programs can read
	// it.
	// version for posteriors with Cholesky factors, and certificates by kl with a prior on the grid
	factored   = 1
	unfactored = 2 // posteriors by conjugate gradients and nearest rows
	informed   = 3 // priors that are posteriors, and certificates with further terms
	encoded    = 4 // version for inputs that encode columns of a table
	// version for roles by the content of rows or groups, and for the options of the fit
	dealt = 5
	// From noised on, versions are of what an observation.Observation holds, and of
	noised    = 6
	rowNoised = 8  // rows that differ in noise
	monotone  = 11 // predictions that rise or fall with an input
	ordered   = 15 // rows hashed in another order of the columns than the inputs'
	without   = 16 // values that stand apart don't scale inputs, or fill their gaps
	stretched = 17 // certified rows change predictions' standard deviations
	varied    = 18 // the noise of predictions depends on the inputs, and that of training doesn't
)

// header is the JSON part of a model file.
//
// The fields of Model with tags are its parts that need no other form.
type header struct {
	Model
	Kernel        kernel.Spec `json:"kernel"` // for people to read; krigo uses the array theta
	Mean          string      `json:"mean"`
	NoiseVariance float64     `json:"noise_variance"`
	// cg or nearest; absent: the posterior is factored
	Solver string `json:"solver,omitempty"`
	// rows that each variance (solver cg) or each prediction (solver nearest) is conditioned on
	Nearest  int                `json:"nearest,omitempty"`
	Monotone posterior.Monotone `json:"monotone,omitempty"`
	// test, calibration, prior, certified
	Counts  *dataset.Counts `json:"rows_by_role,omitempty"`
	Groups  *dataset.Counts `json:"groups_by_role,omitempty"`
	Dealt   *dataset.Counts `json:"units_by_role,omitempty"` // with Beside
	Range   *Range          `json:"input_range,omitempty"`
	Notices []string        `json:"notices,omitempty"` // sentences in older files
	Prior   *priorHeader    `json:"prior,omitempty"`
	Arrays  []array         `json:"arrays"`
}

// priorHeader holds what the arrays of a prior (prior_theta and so on) don't say, if the prior is
// itself a posterior.
type priorHeader struct {
	Temper float64 `json:"temper"`
	Mean   string  `json:"mean"` // name of its mean function before conditioning
}

// array is one entry of the header's list of arrays.
// The arrays follow the header in the order of the list.
type array struct {
	Name string `json:"name"`
	Type string `json:"type"` // float64, uint64 or uint8
	Rows int    `json:"rows"`
	Cols int    `json:"cols"` // 0: packed lower triangle of a rows × rows matrix
}

// values returns the number of numbers: of a triangle if Cols is 0.
func (a array) values() int {
	if a.Cols == 0 {
		return a.Rows * (a.Rows + 1) / 2
	}
	return a.Rows * a.Cols
}

// bytes returns the size in the file. Roles have a byte each, and numbers 8 bytes.
func (a array) bytes() int {
	if a.Type == "uint8" {
		return a.values()
	}
	return 8 * a.values()
}

var meanNames = []string{"zero", "constant", "linear"}

// MeanOf returns the mean function with this name, for dim inputs.
func MeanOf(name string, dim int) (kernel.Mean, error) {
	switch name {
	case "zero":
		return kernel.ZeroMean{}, nil
	case "constant":
		return kernel.LinearMean{}, nil
	case "linear":
		return kernel.LinearMean{Dim: dim}, nil
	}
	return nil, fmt.Errorf("unknown mean %q: want one of %v", name, meanNames)
}

// meanName returns the mean's name in files and options: zero, constant or linear.
func meanName(m kernel.Mean) string {
	switch l, ok := m.(kernel.LinearMean); {
	case !ok:
		return "zero"
	case l.Dim == 0:
		return "constant"
	}
	return "linear"
}

// Save writes the model to a file, all or nothing.
func (m *Model) Save(path string) error { return disk.Write(path, m.Write) }

// needs returns the oldest version from noised on that can hold the model, or 0 if an earlier
// version can.
func (m *Model) needs() uint32 {
	prior, _ := m.Posterior.OfPrior()
	switch version := m.FileVersion(); {
	case m.Varying != nil && m.Varying.Later:
		return varied
	case m.Stretch() != 1:
		return stretched
	case m.Scaling.Without || (m.Encoding != nil && m.Encoding.Without):
		return max(version, without)
	case m.HashOrder != nil:
		return max(version, ordered)
	case m.Posterior.Monotone != nil:
		return max(version, monotone)
	case m.Posterior.Noises != nil || (prior != nil && prior.Noises != nil):
		return max(version, rowNoised)
	default:
		return version
	}
}

// Write writes the model in the format of a file. Read reads it.
func (m *Model) Write(w io.Writer) error {
	p := m.Posterior
	roles := lists.Of(m.positional, func(r dataset.Role) byte { return byte(r) })
	h := header{Model: *m, Kernel: p.Kernel.Spec(p.Theta), Mean: meanName(p.Mean),
		NoiseVariance: p.Noise, Monotone: p.Monotone}
	// The version grows with what the model has, so that older programs can read simpler models.
	version := uint32(factored)
	if _, h.Nearest = p.Arrays(); p.Kind() != posterior.ByCholesky {
		h.Solver = p.Kind()
		version = unfactored
	}
	parts := partsOf("", p)
	if prior, temper := p.OfPrior(); prior != nil {
		h.Prior = &priorHeader{temper, meanName(prior.Mean)}
		parts = append(parts, partsOf("prior_", prior)...)
	}
	if m.Terms.Extended() {
		version = informed
	}
	if m.Encoding != nil {
		version = encoded
	}
	if m.Split == ByPosition {
		h.Split = ""
		h.Arrays = append(h.Arrays, array{"roles", "uint8", len(roles), 1})
	} else {
		version = dealt
		h.Counts = &m.Counts
		h.Range = &m.Range
		if m.Group != "" {
			h.Groups = &m.Groups
		}
		if m.Beside != nil {
			h.Dealt = &m.Dealt
		}
	}
	version = max(version, m.needs())
	if c := m.Conformal; c != nil && c.Misses != nil {
		parts = append(parts, listed("misses", c.Misses), listed("deviations", c.Deviations))
	}
	h.Arrays = append(h.Arrays, lists.Of(parts, func(p part) array { return p.array })...)
	h.Arrays = append(h.Arrays, array{"rows", "uint64", len(m.Rows), 1})
	if m.Named != nil {
		h.Arrays = append(h.Arrays, array{"groups", "uint64", len(m.Named), 1})
	}
	return m.serialise(w, h, version, roles, parts)
}

// serialise writes a model file: the magic, the version and the header's length in 4 bytes each
// (little-endian), the header as JSON, the roles, the arrays, and the SHA-256 of all before it.
func (m *Model) serialise(w io.Writer, h header, version uint32, roles []byte, parts []part) error {
	head, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		var number *json.UnsupportedValueError
		if errors.As(err, &number) {
			err = errors.New("a number in it overflows, because the table's numbers are too " +
				"large or too far apart: change their units, or mend rows that differ much from " +
				"all others")
		}
		return fmt.Errorf("the model can't be written: %w", err)
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	buf := append([]byte(Magic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(buf[len(Magic):], version)
	binary.LittleEndian.PutUint32(buf[len(Magic)+4:], uint32(len(head)))
	buf = append(append(buf, head...), roles...)
	write := func() error {
		_, err := out.Write(buf)
		buf = buf[:0]
		return err
	}
	const block = 1 << 14 // numbers that are written at a time
	for _, part := range parts {
		for _, vs := range part.values {
			for vs := range slices.Chunk(vs, block) {
				for _, v := range vs {
					buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
				}
				if err := write(); err != nil {
					return err
				}
			}
		}
	}
	for _, vs := range [][]uint64{m.Rows, m.Named} {
		for vs := range slices.Chunk(vs, block) {
			for _, v := range vs {
				buf = binary.LittleEndian.AppendUint64(buf, v)
			}
			if err := write(); err != nil {
				return err
			}
		}
	}
	if err := write(); err != nil { // of a model without arrays
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// part is an array of floating-point numbers, with its content in pieces.
type part struct {
	array
	values [][]float64
}

// listed returns a list of numbers as a part of the file.
func listed(name string, v []float64) part {
	return part{array{name, "float64", len(v), 1}, [][]float64{v}}
}

// partsOf lists the arrays of a posterior, with prefix before their names.
func partsOf(prefix string, p *posterior.Posterior) []part {
	n := p.Support.Rows
	list := func(name string, v []float64) part { return listed(prefix+name, v) }
	parts := []part{list("theta", p.Theta), list("beta", p.Beta),
		{array{prefix + "support", "float64", n, p.Support.Cols}, [][]float64{p.Support.Data}}}
	solved, _ := p.Arrays()
	if p.Noises != nil {
		parts = append(parts, list(posterior.Noises, p.Noises))
	}
	for _, a := range solved {
		parts = append(parts, part{array{prefix + a.Name, "float64", n, a.Cols}, a.Values})
	}
	return parts
}

// times is the memory that loading takes, in file sizes:
// the file, its numbers, and its triangles stored as squares.
const times = 5

// Read reads a model in the format of a file.
// r must have one whole model and no more, else Read returns an error.
func Read(r io.Reader) (*Model, error) { return read(r, decode) }

// Load reads a model file. Its errors name the file.
func Load(path string) (*Model, error) { return load(path, decode) }

// read reads all of r, if there is memory for it, and decodes it.
func read[T any](r io.Reader, decode func(raw []byte) (T, error)) (m T, err error) {
	raw, err := memory.ReadAll(r, "the model", times)
	if err != nil {
		return m, fmt.Errorf("the model can't be read: %w", err)
	}
	return decode(raw)
}

// load reads the file at path and decodes it. Its errors name the file.
func load[T any](path string, decode func(raw []byte) (T, error)) (m T, err error) {
	raw, err := memory.ReadFile(path, times)
	if err != nil {
		return m, fmt.Errorf("the model can't be read: %w", err)
	}
	read, err := decode(raw)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return read, nil
}

// Brief returns an error about a file in short lines, because a text in the file may have any
// length and any characters. Only errors that are joined have lines of their own.
func Brief(err error) error {
	if err == nil {
		return nil
	}
	return brief{err}
}

// brief is an error in short lines (see Brief).
type brief struct{ error }

func (e brief) Unwrap() error { return e.error }

// Error shortens each line of the error, and each joined error by itself.
func (e brief) Error() string {
	text := e.error.Error()
	var joined interface{ Unwrap() []error }
	if errors.As(e.error, &joined) {
		each := lists.Of(joined.Unwrap(), error.Error)
		before, after, found := strings.Cut(text, strings.Join(each, "\n"))
		if found {
			return shortened(before) + strings.Join(lists.Of(each, shortened), "\n") +
				shortened(after)
		}
	}
	return shortened(text)
}

// shortened returns a text without control characters, cut after 1,000 characters or so.
func shortened(text string) string {
	const most = 1000
	text = spelling.Escaped(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// decode returns the model of a file's bytes. It compares lengths with the file's size before it
// takes memory, and reports a wrong checksum before any error in the header.
func decode(raw []byte) (_ *Model, err error) {
	defer func() { err = Brief(err) }()
	if len(raw) < len(Magic) || string(raw[:len(Magic)]) != Magic {
		if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
			return nil, errors.New("this is JSON, such as a certificate of other predictions, " +
				"not a model file")
		}
		return nil, fmt.Errorf("this isn't a krigo model file")
	}
	short := fmt.Errorf("the model file is cut short: write or copy it again")
	if len(raw) < prefix {
		return nil, short
	}
	if v := binary.LittleEndian.Uint32(raw[len(Magic):]); v == several {
		return nil, ofSeveral(raw)
	} else if v < 1 || v > Version {
		return nil, fmt.Errorf("the model file has format version %d, this krigo reads versions "+
			"1 to %d: use a newer krigo", v, Version)
	}
	hl := int(binary.LittleEndian.Uint32(raw[len(Magic)+4:]))
	if hl > maxHeader || len(raw) < prefix+hl+sha256.Size {
		return nil, short
	}
	const each = 40 // bytes of memory that a byte of JSON may take
	if err := memory.Afford("the model file's header", each*float64(hl)); err != nil {
		return nil, err
	}
	body := raw[:len(raw)-sha256.Size]
	sum := raw[len(raw)-sha256.Size:]
	var h header
	headerErr := strict.Unmarshal(raw[prefix:prefix+hl], &h, named...)
	size := prefix + hl
	if headerErr == nil {
		for _, a := range h.Arrays {
			// No side or array is larger than the file.
			// The product of two sides up to 1<<28 doesn't overflow.
			side := max(a.Rows, a.Cols)
			if min(a.Rows, a.Cols) < 0 || side > len(raw) || side > 1<<28 || a.bytes() > len(raw) {
				return nil, short
			}
			size += a.bytes()
		}
		if size > len(body) {
			return nil, short
		}
	}
	// Damage explains errors in the header too, so the checksum is compared first.
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("the model file is damaged or was altered: its checksum " +
			"doesn't match")
	}
	if headerErr != nil {
		return nil, fmt.Errorf("the model file's header doesn't describe a model: %w", headerErr)
	}
	if size != len(body) {
		return nil, fmt.Errorf("the model file's header lists arrays of %d bytes, but the file "+
			"has %d bytes of arrays", size-prefix-hl, len(body)-prefix-hl)
	}
	m, err := h.model(body[prefix+hl:])
	if err != nil {
		return nil, err
	}
	// A version that the model doesn't need would be a second form of the same model.
	if v := binary.LittleEndian.Uint32(raw[len(Magic):]); (v < dealt) != (m.Split == ByPosition) ||
		(max(v, m.needs()) >= noised && v != m.needs()) {
		return nil, fmt.Errorf("the model file says that its format version is %d, but its "+
			"header isn't of that version: it was altered", v)
	}
	m.checksum = hex.EncodeToString(sum)
	return m, nil
}

// model assembles the model from the header and the bytes of the arrays.
// decode has checked the arrays' lengths.
func (h header) model(data []byte) (*Model, error) {
	m := &h.Model
	for _, text := range h.Notices {
		m.Findings.Add(finding.Text, text)
	}
	found, shape, err := h.read(data, m)
	if err != nil {
		return nil, err
	}
	d := len(h.Inputs)
	if d == 0 {
		return nil, errors.New("the model file has no inputs")
	}
	if len(h.Scaling.InputMean) != d || len(h.Scaling.InputScale) != d {
		return nil, fmt.Errorf("the model file's scaling has means of %d and scales of %d "+
			"inputs, but the file has %d inputs", len(h.Scaling.InputMean),
			len(h.Scaling.InputScale), d)
	}
	if err := h.deal(m); err != nil {
		return nil, err
	}
	if err := h.Reading.Check(); err != nil {
		return nil, fmt.Errorf("the model file's reading: %w", err)
	}
	if h.Encoding != nil {
		if err := h.Encoding.Check(h.Inputs); err != nil {
			return nil, fmt.Errorf("the model file's encoding: %w", err)
		}
	}
	arrays := arrays{found, shape, h.Solver, h.Nearest, InputsOf(h.Inputs, h.Encoding)}
	if h.Prior == nil {
		m.Posterior, err = arrays.posterior("", h.Kernel, h.Mean, d)
	} else {
		m.Posterior, err = arrays.conditioned(h, d)
	}
	if err != nil {
		return nil, err
	}
	m.Posterior.Noise = h.NoiseVariance
	m.Posterior.Monotone = h.Monotone
	if m.Conformal != nil {
		m.Conformal.Misses = found["misses"]
		m.Conformal.Deviations = found["deviations"]
	}
	// sane checks all that needs no data.
	return m, m.sane()
}

// read sets roles and hashes in m, and returns the numbers and the shapes of all arrays by name.
func (h header) read(data []byte, m *Model) (found map[string][]float64, shape map[string]array,
	err error) {
	found = map[string][]float64{}
	shape = map[string]array{}
	for _, a := range h.Arrays {
		part := data[:a.bytes()]
		data = data[a.bytes():]
		shape[a.Name] = a
		want := "float64"
		switch a.Name {
		case "roles":
			want = "uint8"
			m.positional = lists.Of(part, func(b byte) dataset.Role { return dataset.Role(b) })
		case "rows", "groups":
			want = "uint64"
			to := map[string]*[]uint64{"rows": &m.Rows, "groups": &m.Named}[a.Name]
			for i := 0; i+8 <= len(part); i += 8 {
				*to = append(*to, binary.LittleEndian.Uint64(part[i:]))
			}
		}
		if a.Type != want {
			return nil, nil, fmt.Errorf("the model file's array %q has the type %q, not %s", a.Name,
				a.Type, want)
		}
		vs := lists.To(len(part)/8, func(i int) float64 {
			return math.Float64frombits(binary.LittleEndian.Uint64(part[8*i:]))
		})
		if want == "float64" && !linalg.Finite(vs) {
			return nil, nil, fmt.Errorf("the model file's array %q has a number that isn't finite",
				a.Name)
		}
		if _, twice := found[a.Name]; twice {
			return nil, nil, fmt.Errorf("the model file has the array %q twice", a.Name)
		}
		found[a.Name] = vs
	}
	return found, shape, nil
}

// deal sets the fields of m that say how krigo dealt the roles.
func (h header) deal(m *Model) error {
	if h.Fitted != nil {
		var text bytes.Buffer
		json.Compact(&text, h.Fitted) // no error: parsing the header has checked it
		m.Fitted = text.Bytes()
		var o struct{ Data struct{ Refuses bool } }
		json.Unmarshal(m.Fitted, &o) // whoever needs the other options checks them
		m.Refuses = o.Data.Refuses
	}
	if h.Split == "" {
		return h.dealByPosition(m)
	}
	if !h.dealable() || len(m.positional) > 0 {
		return errDeal
	}
	m.Counts, m.Groups, m.Range = *h.Counts, *h.Counts, *h.Range
	if h.Groups != nil {
		m.Groups = *h.Groups
	}
	if h.Beside != nil {
		m.Dealt = *h.Dealt
	}
	for _, n := range slices.Concat(m.Counts[:], m.Groups[:], m.Dealt[:]) {
		if n < 0 || n > maxRows {
			return errDeal
		}
	}
	if m.Counts.Sum()-m.Counts[dataset.Test] != len(m.Rows) {
		return errDeal
	}
	return nil
}

var errDeal = errors.New("the model file's statements about the roles of rows contradict one " +
	"another")

// dealByPosition does what deal does for a file of an old version, which has each row's role.
func (h header) dealByPosition(m *Model) error {
	newer := h.Beside != nil || h.Counts != nil || h.Groups != nil || h.Range != nil ||
		h.Fitted != nil || h.Group+h.All+h.Targets != ""
	m.Split = ByPosition
	if len(m.positional) == 0 || newer {
		return errDeal
	}
	for _, r := range m.positional {
		if r > dataset.Certified {
			return errDeal
		}
		m.Counts[r]++
	}
	m.Groups = m.Counts
	return nil
}

// dealable says whether the header's statements about roles go together.
func (h header) dealable() bool {
	if (h.Split != ByContent && h.Split != ByLast) || h.Counts == nil || h.Range == nil ||
		len(h.Range.Min) != len(h.Inputs) || len(h.Range.Max) != len(h.Inputs) ||
		!(h.Range.Far >= 0) || (h.Beside != nil) != (h.Dealt != nil) ||
		(h.Beside != nil && !h.besides()) || (h.Groups != nil) != (h.Group != "") {
		return false
	}
	columns := len(h.Inputs)
	if h.Encoding != nil {
		columns = len(h.Encoding.Columns)
	}
	order := slices.Sorted(slices.Values(h.HashOrder))
	return order == nil ||
		(!slices.IsSorted(h.HashOrder) && slices.Equal(order, linalg.UpTo(columns)))
}

// besides says whether the targets of the fit are several different names, the model's own target
// among them.
func (h header) besides() bool {
	return len(h.Beside) > 1 && slices.Contains(h.Beside, h.Target) &&
		len(slices.Compact(slices.Sorted(slices.Values(h.Beside)))) == len(h.Beside)
}

// maxRows is a number of rows that no table has.
const maxRows = 1 << 40

// maxNearest is the most rows that a prediction is conditioned on.
// Each core factors a matrix with that many rows.
const maxNearest = 1 << 12

// arrays holds the arrays of a model file by their names.
type arrays struct {
	values  map[string][]float64
	shape   map[string]array
	solver  string
	nearest int
	inputs  []kernel.Input
}

// posterior assembles a posterior from the arrays whose names begin with prefix.
func (a arrays) posterior(prefix string, spec kernel.Spec, meanName string,
	d int) (*posterior.Posterior, error) {
	k, theta, err := spec.Build(len(a.inputs), a.inputs...)
	if err != nil {
		return nil, fmt.Errorf("the model file's kernel: %w", err)
	}
	mean, err := MeanOf(meanName, d)
	if err != nil {
		return nil, fmt.Errorf("the model file's mean: %w", err)
	}
	p, err := a.assemble(prefix, k, len(theta), mean, d)
	if err != nil {
		return nil, err
	}
	return p, saysTheta(theta, p.Theta)
}

// conditioned assembles a posterior whose prior is itself a posterior.
func (a arrays) conditioned(h header, d int) (*posterior.Posterior, error) {
	k := h.Kernel
	if h.Solver != "" {
		return nil, fmt.Errorf("the model file's solver is %q, but its prior is a posterior, "+
			"which only a factored posterior may have as its prior", h.Solver)
	}
	if k.Name != "posterior" || len(k.Parts) != 1 || !positive(h.Prior.Temper) ||
		k.Variance != h.Prior.Temper || len(k.Lengthscales) > 0 || k.Shape != 0 || k.Period != 0 {
		return nil, errors.New("the model file's kernel isn't its prior, a posterior with the " +
			"temper as its variance")
	}
	prior, err := a.posterior("prior_", k.Parts[0], h.Prior.Mean, d)
	if err != nil {
		return nil, err
	}
	conditional, mean, err := prior.Prior(h.Prior.Temper)
	if err != nil {
		return nil, err
	}
	return a.assemble("", conditional, 0, mean, d)
}

// assemble returns the posterior of the arrays whose names begin with prefix, for a kernel with
// params parameters and d inputs. It checks every array's length against the support.
func (a arrays) assemble(prefix string, k kernel.Kernel, params int, mean kernel.Mean,
	d int) (*posterior.Posterior, error) {
	values := func(name string) []float64 { return a.values[prefix+name] }
	n := a.shape[prefix+"support"].Rows
	for _, of := range []struct {
		name    string
		is, has int
	}{{"theta", len(values("theta")), params}, {"beta", len(values("beta")), len(mean.Params())}} {
		if of.is != of.has {
			return nil, fmt.Errorf("the model file's array %q has %d numbers, but its kernel or "+
				"mean has %d such parameters", prefix+of.name, of.is, of.has)
		}
	}
	if cols := a.shape[prefix+"support"].Cols; cols != d {
		return nil, fmt.Errorf("the model file's array %q has %d columns, but the file has %d "+
			"inputs", prefix+"support", cols, d)
	}
	if a.nearest < 0 || a.nearest > maxNearest {
		return nil, fmt.Errorf("the model file's nearest is %d: want 1 to %d",
			a.nearest, maxNearest)
	}
	p := &posterior.Posterior{Kernel: k, Theta: values("theta"), Mean: mean, Beta: values("beta"),
		Support: linalg.Of(n, d, values("support"))}
	has := func(name string) bool {
		_, there := a.shape[prefix+name]
		return there
	}
	err := p.Restore(a.solver, a.nearest, has, func(name string, cols int) ([]float64, error) {
		is := a.shape[prefix+name]
		switch {
		case !has(name):
			return nil, fmt.Errorf("it has no array %q", prefix+name)
		case is != array{prefix + name, "float64", n, cols}:
			return nil, fmt.Errorf("array %q is %d×%d, but the support has %d rows", prefix+name,
				is.Rows, is.Cols, n)
		}
		return values(name), nil
	})
	if err != nil {
		return nil, fmt.Errorf("the model file doesn't hold a posterior: %w", err)
	}
	return p, nil
}
