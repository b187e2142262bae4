package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Label returns the model of a file of one model.
// For more than two classes it returns a model that stands for the label:
// a copy of the first class's model with the label's certificate and classes, whose losses count
// wrong labels.
// For several targets that aren't the classes of one column, the error is an *OfSeveral.
func (s *Several) Label() (*Model, error) {
	first := s.Models[0]
	if len(s.Models) == 1 {
		return first, nil
	}
	if first.Kinds == nil {
		return nil, &OfSeveral{first.Beside}
	}
	of := *first
	of.Joint = s
	of.checksum = s.checksum
	of.Target = first.Kinds.Column
	of.Classes = first.Kinds.Labels
	of.Certificate = s.Together.Certificate
	of.CertificateReason = s.Together.Reason
	of.Context = nil
	of.Test = nil
	return &of, nil
}

// Write writes the models as one file: the beginning and the end of a model file, and model files
// between. If there is one model, Write does what Model.Write does.
func (s *Several) Write(w io.Writer) error {
	if len(s.Models) == 1 {
		return s.Models[0].Write(w)
	}
	h := severalHeader{Together: s.Together, Sets: s.Together.Sets}
	files := bytes.Buffer{}
	for _, m := range s.Models {
		begin := files.Len()
		if err := m.Write(&files); err != nil {
			return err
		}
		h.Targets, h.Bytes = append(h.Targets, m.Target), append(h.Bytes, files.Len()-begin)
	}
	head, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		return err
	}
	begin := binary.LittleEndian.AppendUint32([]byte(Magic), several)
	begin = append(binary.LittleEndian.AppendUint32(begin, uint32(len(head))), head...)
	// The checksum at the end is of everything before it.
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	for _, part := range [][]byte{begin, files.Bytes()} {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// Save writes the models to a file, all or nothing.
func (s *Several) Save(path string) error { return disk.Write(path, s.Write) }

// ReadSeveral reads what Several.Write wrote, or the file of one model.
func ReadSeveral(r io.Reader) (*Several, error) { return read(r, decodeSeveral) }

// LoadSeveral reads a file of several models, or of one. Its errors name the file.
func LoadSeveral(path string) (*Several, error) { return load(path, decodeSeveral) }

// decodeSeveral returns the models of a file. A model file of one target is a file of one model.
func decodeSeveral(raw []byte) (*Several, error) {
	if len(raw) < prefix || string(raw[:len(Magic)]) != Magic ||
		binary.LittleEndian.Uint32(raw[len(Magic):]) != several {
		m, err := decode(raw)
		return &Several{Models: []*Model{m}}, err
	}
	h, files, err := opened(raw)
	if err != nil {
		return nil, brief{err}
	}
	s := &Several{Together: h.Together, checksum: hex.EncodeToString(raw[len(raw)-sha256.Size:])}
	s.Together.Sets = h.Sets
	for i, n := range h.Bytes {
		m, err := decode(files[:n])
		if err == nil && m.Target != h.Targets[i] {
			err = errors.New("it is of another target")
		}
		if err != nil {
			return nil, brief{fmt.Errorf("the model of target %q: %w", spelling.Clip(h.Targets[i]),
				err)}
		}
		files = files[n:]
		s.Models = append(s.Models, m)
	}
	return s, s.sane()
}

// sane refuses models that aren't from one fit, and parts of δ that don't add up.
func (s *Several) sane() error {
	unfit := errors.New("the models aren't from one fit of several targets: the file was altered")
	first := s.Models[0]
	t := s.Together
	names := lists.Of(s.Models, func(m *Model) string { return m.Target })
	least := len(s.Models)
	if t.Certificate != nil {
		least++
	}
	for _, m := range s.Models {
		if (m.Kinds == nil) != (first.Kinds == nil) ||
			(m.Kinds != nil && !slices.Equal(m.Kinds.Names(), names)) {
			return errors.New("the names of the classes aren't those of their models: the file " +
				"was altered")
		}
		if !slices.Equal(m.Beside, names) || !m.dealtAs(first) ||
			m.Terms.Delta != t.Delta/float64(t.Parts) {
			return unfit
		}
	}
	// all of δ goes to the label, and each class has a statement by itself
	if first.Kinds != nil && t.Parts == 1 {
		least = 1
	}
	if !(t.Delta > 0 && t.Delta < 1) || t.Parts < least || (t.Certificate != nil &&
		(t.Certificate.Delta != first.Terms.Delta || len(t.Units) != len(names))) {
		return unfit
	}
	if err := s.saneTogether(); err != nil {
		return fmt.Errorf("the certificate of all targets contradicts its own counts: %w; the "+
			"file was altered", err)
	}
	if (t.Certificate != nil && t.Sets.sane(len(names), t.Certificate.Rows) != nil) ||
		(t.Sets != nil && (t.Certificate == nil || first.Kinds == nil)) ||
		slices.ContainsFunc(t.Units, func(unit float64) bool { return !positive(unit) }) {
		return unfit
	}
	return nil
}

// dealtAs says whether two models deal rows alike.
func (m *Model) dealtAs(other *Model) bool {
	return slices.Equal(m.HashOrder, other.HashOrder) && m.Seed == other.Seed &&
		m.Split == other.Split && m.Group == other.Group && m.Dealt == other.Dealt
}

// saneTogether refuses a certificate of all targets that doesn't follow from its counts and from
// the models' terms.
func (s *Several) saneTogether() error {
	t := s.Together
	c := t.Certificate
	if c == nil {
		return nil
	}
	first := s.Models[0]
	for i, m := range s.Models {
		unit := m.Terms.EpsilonRaw / first.Terms.Loss.Below
		if m.Certificate == nil || c.Rows > m.Counts[dataset.Certified] ||
			c.Groups > m.Groups[dataset.Certified] || !(math.Abs(t.Units[i]-unit) <= 1e-12*unit) {
			return fmt.Errorf("its rows or units aren't those of %s", cautious.Name(m.Target))
		}
	}
	of := t.terms(first)
	of.Repeats = first.Certificate.Repeats
	of.Near = first.Certificate.NearCopies
	if differs := cmp.Or(of.Reword(c), of.Recount(c, math.NaN())); differs != "" {
		return errors.New(differs)
	}
	return nil
}

// terms returns the terms of the certificate of all targets.
func (t Together) terms(first *Model) pacbayes.Terms {
	of := first.Terms
	of.Slices = nil
	of.EpsilonRaw = of.Loss.Below
	return of
}

// Apart says why nothing can be certified of several targets together whose certificates have these
// terms, or "". The mean of each target has to be fixed before the certified rows are seen, and its
// loss to count misses of a band.
func Apart(t pacbayes.Terms) string {
	switch kind := t.Loss.Kind; {
	case !t.MeanAlone():
		return "only predictions that were learnt on prior rows alone, and are certified by " +
			"their own misses, are certified together (--prior informed, --mean-bound direct)"
	case t.Backtest:
		return "a backtest certifies nothing"
	case t.Scaling == dataset.AllRows:
		return "all rows gave the scaling"
	case kind != pacbayes.Label && kind != pacbayes.Band && kind != pacbayes.Relative &&
		kind != pacbayes.Scaled:
		return fmt.Sprintf("the loss %s isn't about a band on both sides of a prediction", kind)
	}
	return ""
}

// CertifyTogether returns what the certified rows of the table say of all targets at once.
// The table is the one that the models were made from.
func (s *Several) CertifyTogether(table *dataset.Table) (t Together, err error) {
	t = Together{Delta: s.Together.Delta, Parts: s.Together.Parts}
	first := s.Models[0]
	if t.Reason = Apart(first.Terms); t.Reason != "" {
		return t, nil
	}
	errs := map[int][]float64{}
	units := map[int]int{} // errors and the group of each row, by its number in the file
	truth := map[int]int{} // the class of each row, by its number in the file
	var rows []int
	for _, m := range s.Models {
		if m.Certificate == nil {
			t.Reason = fmt.Sprintf("there is none of %s: %s", cautious.Name(m.Target),
				m.CertificateReason)
			return t, nil
		}
		d, err := m.Labelled(table)
		if err != nil {
			return t, err
		}
		_, roles, at, err := m.remade(d)
		if err != nil {
			return t, err
		}
		// Errors of all targets get the first target's ε, so that one band is about them all.
		factor := first.Terms.Loss.Below / m.Terms.Loss.Below
		for i, row := range d.RowsOf(roles, dataset.Certified) {
			e := math.Abs(at.Y[i] - at.Mean[i])
			if m.Terms.Loss.Unitless() && e > 0 {
				e /= at.Sample.Scale[i]
			}
			if factor != 1 {
				e *= factor * (1 + 1e-12) // rounding must not turn a miss into none
			}
			in := d.InFile(row)
			if m.Kinds != nil { // the probability of the class
				if e = at.Mean[i]; at.Y[i] == 1 {
					truth[in] = len(errs[in])
				}
			}
			if errs[in] = append(errs[in], math.Min(e, math.MaxFloat64)); m == first {
				rows = append(rows, in)
				if roles.Group != nil {
					units[in] = roles.Group[row]
				}
			}
		}
		t.Units = append(t.Units, m.Terms.EpsilonRaw/first.Terms.Loss.Below)
	}
	// Rows that lack a target say nothing of all targets at once.
	rows = slices.DeleteFunc(rows, func(in int) bool { return len(errs[in]) < len(s.Models) })
	sample := pacbayes.Sample{Rows: len(rows), Mean: make([]float64, len(rows)),
		Variance: make([]float64, len(rows))}
	for _, in := range rows {
		// All targets are within their bands if the worst is.
		worst := slices.Max(errs[in])
		if first.Kinds != nil {
			if worst = 0; Likeliest(errs[in]) != truth[in] {
				worst = 1
			}
		}
		sample.Y = append(sample.Y, worst)
	}
	sample.Scale = slices.Repeat([]float64{1}, len(rows))
	if first.Group != "" {
		sample.Group, sample.Groups = lists.Numbered(lists.Of(rows, func(in int) int {
			return units[in]
		}))
	}
	terms := t.terms(first)
	terms.Repeats = first.Certificate.Repeats
	terms.Near = first.Certificate.NearCopies
	if t.Certificate, err = terms.Certify(sample, 0); errors.Is(err, pacbayes.ErrTooFewRows) {
		t.Reason = fmt.Sprintf("%v with all targets, only %d", err, len(rows))
		t.Units = nil
		err = nil
	} else if err == nil && first.Kinds != nil && first.fixedBefore() {
		p := lists.Of(rows, func(in int) []float64 { return Shares(errs[in]) })
		t.Sets = setsOf(p, lists.Of(rows, func(in int) int { return truth[in] }), len(s.Models))
	}
	return t, err
}

// Population returns the rows that Together is about, in words.
func (s *Several) Population() string {
	first := s.Models[0]
	of := Model{Origin: Origin{Group: first.Group}, Reading: first.Reading}
	for _, m := range s.Models {
		for _, tie := range m.Ties {
			if !slices.ContainsFunc(of.Ties, func(t Tie) bool { return t.Unit() == tie.Unit() }) {
				of.Ties = append(of.Ties, tie)
			}
		}
	}
	return of.Population().Says
}
