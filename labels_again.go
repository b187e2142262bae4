package krigo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// LoadLabels reads a certificate of labels from a JSON file, as krigo certify --out writes it. checksum is the file's
// SHA-256, in hex. LoadLabels recomputes no bound.
func LoadLabels(path string) (p *CertifiedLabels, checksum string, err error) {
	text, err := memory.ReadFile(path, 16)
	if err != nil {
		return nil, "", err
	}
	wrong := func(what string) error {
		return fmt.Errorf("%s: %s; want a certificate of labels, as krigo certify --predictions --out writes it", path, what)
	}
	p = &CertifiedLabels{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, "", wrong(err.Error())
	}
	switch c := p.Certificate; {
	case p.Kind != "classes" || c == nil:
		return nil, "", wrong("it isn't about labels")
	case p.Version != 1:
		return nil, "", fmt.Errorf("%s: version %d: use a newer krigo", path, p.Version)
	case p.complete() != nil || len(c.Classes) == 0 || c.Delta != p.Delta || len(c.Confusion) != len(c.Classes) ||
		slices.ContainsFunc(c.Confusion, func(row []int) bool { return len(row) != len(c.Classes) }):
		return nil, "", wrong("the file was altered")
	}
	p.Sentence = p.said()
	sum := sha256.Sum256(text)
	return p, hex.EncodeToString(sum[:]), nil
}

// Again reads further rows as the certificate's rows were read. same says that they are the certified rows. A class
// that the certificate doesn't know is a further class, without a probability. Columns of a score, of kinds of rows and
// of groups needn't be there. Rows have no costs.
func (p *CertifiedLabels) Again(ctx context.Context, table *dataset.Table) (l *pacbayes.Labelled, same bool, err error) {
	l, r, err := p.again(ctx, table)
	return l, err == nil && hashed(r.rows(l)) == p.Hash, err
}

func (p *CertifiedLabels) again(ctx context.Context, table *dataset.Table) (*pacbayes.Labelled, *labelReader, error) {
	r := &labelReader{o: p.LabelOptions, table: table.Within(ctx), classes: p.Certificate.Classes}
	r.o.Costs = nil
	for _, name := range []*string{&r.o.Score, &r.o.SliceBy, &r.o.Group} {
		if _, has := table.Column(*name); !has {
			*name = ""
		}
	}
	l, err := r.read()
	return l, r, err
}

// Outcomes returns which rows of a table have a wrong label (loss 1), and of which class they are.
func (p *CertifiedLabels) Outcomes(ctx context.Context, table *dataset.Table) (o model.Outcomes, err error) {
	l, r, err := p.again(ctx, table)
	if err != nil {
		return o, err
	}
	rows := r.rows(l)
	for i, row := range rows {
		wrong := 0.
		if l.Truth[i] != l.Predicted[i] {
			wrong = 1
		}
		sum := sha256.Sum256(row)
		o.Losses, o.Of = append(o.Losses, wrong), append(o.Of, l.Classes[l.Truth[i]])
		o.Hashes = append(o.Hashes, binary.LittleEndian.Uint64(sum[:]))
	}
	if hashed(rows) == p.Hash {
		o.Seen = len(rows)
	}
	return o, nil
}
