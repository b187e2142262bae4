package observation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/faults"
)

// Version is the newest version of model files, which have properties of a target since version 6.
const Version = 18

// parts has all properties of a target.
// Their columns are hashed, listed and predicted from in this order.
var parts = []*part{&transform, &noise, &varying, &offset, &exposure, &noiseColumn, &limits,
	&classes, &sited, &ordinal}

// Goes returns an error if the target can't be combined with the features.
// It is the only place that says what goes with what. For options it has all that is wrong, and for
// a file the first.
func (o *Observation) Goes(with Features) error {
	var wrong []error
	own := with.Own
	for _, p := range parts {
		if !p.is(o) {
			continue
		}
		rows := p.goes(o, with)
		if p.holds != "" {
			name := p.column(&o.Columns)
			rows = append(rows, faults.If(slices.Contains(own, name), "%s %q: that column is the "+
				"target or has another part, groups rows or holds categories: name a column of %s",
				p.option(), name, p.holds))
			// A column has one part, so that later parts can't name it again.
			own = append(slices.Clip(own), name)
		}
		err := errors.Join(rows...)
		// Old files, whose roles follow the order of rows, can't have parts that came later.
		old := with.Positional && p.version >= withNoise
		if with.File && p.file != "" && (old || err != nil) {
			err = errors.New(p.file)
		}
		if with.File && err != nil {
			return err
		}
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// of returns what the target's properties say, without "".
func (o *Observation) of(says func(p *part) string) (all []string) {
	for _, p := range parts {
		if said := says(p); said != "" && p.is(o) {
			all = append(all, said)
		}
	}
	return all
}

// OneRank returns what rows that are spread over ranks can't have.
func (o *Observation) OneRank() []string {
	return o.of(func(p *part) string { return p.alone })
}

// Vouched returns what no program can check about how the target was observed.
func (o *Observation) Vouched() []string {
	return o.of(func(p *part) string { return p.vouched })
}

// Learnt returns what training learns about how the target was observed, beside parameters.
func (o *Observation) Learnt() []string {
	return o.of(func(p *part) string { return p.learnt })
}

// Learned returns how sentences name what the model learns of a target with the name.
func (o *Observation) Learned(target string) string {
	return o.inward(target, func(w words) string { return w.target })
}

// Counted returns how sentences name what widths and errors are of, for a target with the name.
func (o *Observation) Counted(target string) string {
	return o.inward(target, func(w words) string { return w.counted })
}

// inward puts what the words of each part say around a name. What is named already has brackets.
func (o *Observation) inward(name string, says func(w words) string) string {
	whole := name
	for _, p := range parts {
		if next := o.around(p, says(p.words), whole); next != whole {
			name = next
			whole = "(" + next + ")"
		}
	}
	return name
}

// Simple returns how sentences name a simple predictor of the target, given the name of its part
// that predicts what the model learns.
func (o *Observation) Simple(predictor string) string {
	for _, p := range slices.Backward(parts) {
		predictor = o.around(p, p.words.simple, predictor)
	}
	return predictor
}

// around puts a part's words around what they name.
func (o *Observation) around(p *part, words, name string) string {
	if words == "" || !p.is(o) {
		return name
	}
	return fmt.Sprintf(words, cautious.Name(p.column(&o.Columns)), name)
}

// ShareOf returns of what the model's R² is a share; "": of the target.
func (o *Observation) ShareOf() string {
	return strings.Join(o.said(func(w words) string { return w.share }), " ")
}

// Cautions returns what a certificate's sentence adds about the columns.
func (o *Observation) Cautions() []string {
	return o.said(func(w words) string { return w.caution })
}

// said returns what the words of each part say.
func (o *Observation) said(says func(w words) string) []string {
	return o.of(func(p *part) string {
		words := says(p.words)
		if words == "" || !p.is(o) {
			return ""
		}
		return fmt.Sprintf(words, cautious.Name(p.column(&o.Columns)))
	})
}

// FileVersion returns the oldest version of model files that can hold the target.
func (o *Observation) FileVersion() (version uint32) {
	for _, p := range parts {
		if p.is(o) {
			version = max(version, p.version)
		}
	}
	return version
}
