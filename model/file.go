package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// The file (docs/format.md): magic, version, length of the header, the header as JSON,
// the arrays it lists, and a SHA-256 of all before it. Numbers are little-endian.
const (
	magic   = "KRIGO\r\n\x1a"
	Version = 2 // the newest format version this package writes and reads

	factored = 1 // the version of posteriors with Cholesky factors, which older readers know

	prefix    = len(magic) + 4 + 4
	maxHeader = 1 << 28
)

// header is the JSON part of a model file.
type header struct {
	Objective         string                `json:"objective"`
	Inputs            []string              `json:"inputs"`
	Target            string                `json:"target"`
	Scaling           dataset.Scaling       `json:"scaling"`
	Kernel            kernel.Spec           `json:"kernel"` // for people; the array theta is what counts
	Mean              string                `json:"mean"`
	NoiseVariance     float64               `json:"noise_variance"`
	Solver            string                `json:"solver,omitempty"`  // cg or nearest; of a posterior that isn't factored
	Nearest           int                   `json:"nearest,omitempty"` // rows that each variance, or prediction, is conditioned on
	ObservationNoise  float64               `json:"observation_noise"`
	Certificate       *pacbayes.Certificate `json:"certificate"`
	CertificateReason string                `json:"certificate_reason,omitempty"`
	Terms             pacbayes.Terms        `json:"terms"`
	Source            string                `json:"source"`
	Seed              uint64                `json:"seed"`
	Hash              string                `json:"certified_rows_sha256"`
	Test              *Test                 `json:"test"`
	Training          Training              `json:"training"`
	Curves            []*Curve              `json:"curves,omitempty"`
	Notices           []string              `json:"notices,omitempty"`
	Arrays            []array               `json:"arrays"`
}

// array is one entry of the header's table: arrays follow one another in its order.
type array struct {
	Name string `json:"name"`
	Type string `json:"type"` // float64, uint64 or uint8
	Rows int    `json:"rows"`
	Cols int    `json:"cols"` // 0: packed lower triangle of a rows × rows matrix
}

func (a array) values() int {
	if a.Cols == 0 {
		return a.Rows * (a.Rows + 1) / 2
	}
	return a.Rows * a.Cols
}

func (a array) bytes() int {
	if a.Type == "uint8" {
		return a.values()
	}
	return 8 * a.values()
}

var meanNames = []string{"zero", "constant", "linear"}

// MeanOf returns the mean function of that name on dim inputs.
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
func (m *Model) Save(path string) error {
	return dataset.WriteFileAtomic(path, m.write)
}

func (m *Model) write(w io.Writer) error {
	p := m.Posterior
	n := p.Support.Rows
	roles := make([]byte, len(m.Roles))
	for i, r := range m.Roles {
		roles[i] = byte(r)
	}
	h := header{
		Objective: m.Objective, Inputs: m.Inputs, Target: m.Target, Scaling: m.Scaling,
		Kernel: p.Kernel.Spec(p.Theta), Mean: meanName(p.Mean), NoiseVariance: p.Noise, ObservationNoise: m.ObservationNoise,
		Certificate: m.Certificate, CertificateReason: m.CertificateReason, Terms: m.Terms,
		Source: m.Source, Seed: m.Seed, Hash: m.Hash, Test: m.Test, Training: m.Training, Curves: m.Curves, Notices: m.Notices,
		Arrays: []array{{"roles", "uint8", len(roles), 1}, {"theta", "float64", len(p.Theta), 1}, {"beta", "float64", len(p.Beta), 1},
			{"support", "float64", n, p.Support.Cols}},
	}
	// What follows the support: vectors and full matrices, then triangles.
	var full [][]float64
	var factors []linalg.Matrix
	version := uint32(factored)
	add := func(name string, cols int, values []float64) {
		h.Arrays = append(h.Arrays, array{name, "float64", n, cols})
		full = append(full, values)
	}
	switch h.Solver, h.Nearest = p.Kind(), p.Nearest; h.Solver {
	case posterior.ByCG:
		version = Version
		add("weights", 1, p.Weights)
	case posterior.ByNearest:
		version = Version
		add("targets", 1, p.Targets)
	default:
		h.Solver = ""
		add("weights", 1, p.Weights)
		add("cholesky", 0, nil)
		factors = append(factors, p.Chol)
		if p.Sparse() {
			add("cholesky_b", 0, nil)
			factors = append(factors, p.CholB)
		}
	}
	h.Arrays = append(h.Arrays, array{"rows", "uint64", len(m.Rows), 1})
	head, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		return fmt.Errorf("the model can't be written: %w", err)
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	buf := append([]byte(magic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(buf[len(magic):], version)
	binary.LittleEndian.PutUint32(buf[len(magic)+4:], uint32(len(head)))
	buf = append(append(buf, head...), roles...)
	flush := func(vs []float64) error {
		for _, v := range vs {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		_, err := out.Write(buf)
		buf = buf[:0]
		return err
	}
	for _, vs := range append([][]float64{p.Theta, p.Beta, p.Support.Data}, full...) {
		if err := flush(vs); err != nil {
			return err
		}
	}
	for _, l := range factors {
		for i := range n {
			if err := flush(l.Row(i)[:i+1]); err != nil {
				return err
			}
		}
	}
	for _, v := range m.Rows {
		buf = binary.LittleEndian.AppendUint64(buf, v)
	}
	if err := flush(nil); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// Load reads a model file.
func Load(path string) (*Model, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the model can't be read: %w", err)
	}
	m, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func decode(raw []byte) (*Model, error) {
	if len(raw) < len(magic) || string(raw[:len(magic)]) != magic {
		return nil, fmt.Errorf("this isn't a krigo model file")
	}
	short := fmt.Errorf("the model file is cut short: write or copy it again")
	if len(raw) < prefix {
		return nil, short
	}
	if v := binary.LittleEndian.Uint32(raw[len(magic):]); v < factored || v > Version {
		return nil, fmt.Errorf("the model file has format version %d, this krigo reads versions %d to %d: use a newer krigo", v, factored, Version)
	}
	hl := int(binary.LittleEndian.Uint32(raw[len(magic)+4:]))
	if hl > maxHeader || len(raw) < prefix+hl+sha256.Size {
		return nil, short
	}
	body, sum := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	var h header
	headerErr := json.Unmarshal(raw[prefix:prefix+hl], &h)
	size := prefix + hl
	if headerErr == nil {
		for _, a := range h.Arrays {
			// A side, or a triangle's bytes, beyond the file's can't be right, and no product
			// of what is left wraps around.
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
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("the model file is damaged or was altered: its checksum doesn't match")
	}
	if headerErr != nil || size != len(body) {
		return nil, fmt.Errorf("the model file's header doesn't describe its content (%v)", headerErr)
	}
	return h.model(body[prefix+hl:])
}

// model assembles the model from the header and the bytes of the arrays, whose
// lengths are known to fit.
func (h header) model(data []byte) (*Model, error) {
	m := &Model{
		Objective: h.Objective, Inputs: h.Inputs, Target: h.Target, Scaling: h.Scaling, ObservationNoise: h.ObservationNoise,
		Certificate: h.Certificate, CertificateReason: h.CertificateReason, Terms: h.Terms,
		Source: h.Source, Seed: h.Seed, Hash: h.Hash, Test: h.Test, Training: h.Training, Curves: h.Curves, Notices: h.Notices,
	}
	found := map[string][]float64{}
	shape := map[string]array{}
	for _, a := range h.Arrays {
		part := data[:a.bytes()]
		data = data[a.bytes():]
		shape[a.Name] = a
		want := "float64"
		switch a.Name {
		case "roles":
			want = "uint8"
			for _, b := range part {
				m.Roles = append(m.Roles, dataset.Role(b))
			}
		case "rows":
			want = "uint64"
			for i := 0; i+8 <= len(part); i += 8 {
				m.Rows = append(m.Rows, binary.LittleEndian.Uint64(part[i:]))
			}
		}
		if a.Type != want {
			return nil, fmt.Errorf("the model file's array %q has the type %q, not %s", a.Name, a.Type, want)
		}
		vs := make([]float64, len(part)/8)
		for i := range vs {
			vs[i] = math.Float64frombits(binary.LittleEndian.Uint64(part[8*i:]))
		}
		found[a.Name] = vs
	}
	d, n := len(h.Inputs), shape["support"].Rows
	k, theta, err := h.Kernel.Build(d)
	if err != nil {
		return nil, fmt.Errorf("the model file's kernel: %w", err)
	}
	mean, err := MeanOf(h.Mean, d)
	if err != nil {
		return nil, fmt.Errorf("the model file's mean: %w", err)
	}
	if len(found["theta"]) != len(theta) || len(found["beta"]) != len(mean.Params()) || shape["support"].Cols != d || d == 0 ||
		len(h.Scaling.InputMean) != d || len(h.Scaling.InputScale) != d {
		return nil, fmt.Errorf("the model file's arrays don't fit together")
	}
	m.Posterior = &posterior.Posterior{Kernel: k, Theta: found["theta"], Mean: mean, Beta: found["beta"], Noise: h.NoiseVariance,
		Support: linalg.Of(n, d, found["support"]), Weights: found["weights"], Targets: found["targets"], Nearest: h.Nearest}
	fits := func(name string, cols int) bool { return shape[name] == array{name, "float64", n, cols} }
	switch h.Solver {
	case posterior.ByCG:
		if fits("weights", 1) && h.Nearest > 0 && h.Nearest <= n {
			return m, nil
		}
	case posterior.ByNearest:
		if fits("targets", 1) && h.Nearest > 0 && h.Nearest <= n {
			return m, nil
		}
	case "":
		if fits("weights", 1) && fits("cholesky", 0) && h.Nearest == 0 {
			if err := m.factors(found, shape); err != nil {
				return nil, err
			}
			return m, nil
		}
	default:
		return nil, fmt.Errorf("the model file's solver %q isn't known: use a newer krigo", h.Solver)
	}
	return nil, fmt.Errorf("the model file's arrays don't fit together")
}

// factors sets the Cholesky factors of the posterior.
func (m *Model) factors(found map[string][]float64, shape map[string]array) error {
	n := m.Posterior.Support.Rows
	unpack := func(name string) linalg.Matrix {
		l, packed := linalg.New(n, n), found[name]
		for i := range n {
			copy(l.Row(i), packed[:i+1])
			packed = packed[i+1:]
		}
		return l
	}
	m.Posterior.Chol = unpack("cholesky")
	if b, sparse := shape["cholesky_b"]; sparse {
		if b != (array{"cholesky_b", "float64", n, 0}) {
			return fmt.Errorf("the model file's arrays don't fit together")
		}
		m.Posterior.CholB = unpack("cholesky_b")
	}
	return nil
}
