package krigo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/pacbayes"
)

// LoadLabels reads a certificate of labels from a JSON file, as krigo certify --out writes it. checksum is the file's
// SHA-256, in hex. LoadLabels recomputes no bound.
func LoadLabels(path string) (p *CertifiedLabels, checksum string, err error) {
	text, err := memory.ReadFile(path, 16)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil && (p == nil || p.Kind != "classes" || p.Version != 1 || p.Certificate == nil ||
		p.complete() != nil || len(p.Certificate.Classes) == 0 || p.Certificate.Delta != p.Delta) {
		err = fmt.Errorf("it is no certificate of labels that krigo certify --predictions --out wrote, or of a newer krigo")
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	p.Sentence = p.said()
	return p, fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// Again reads further rows as the certificate's rows were read. It also returns a hash of each row, and whether these
// are the certified rows. A class that the certificate doesn't know is a further class, without a probability. Columns
// of a score, of kinds of rows and of groups needn't be there. Rows have no costs.
func (p *CertifiedLabels) Again(ctx context.Context, table *dataset.Table) (l *pacbayes.Labelled, hashes []uint64,
	same bool, err error) {
	r := &labelReader{o: p.LabelOptions, table: table.Within(ctx), classes: p.Certificate.Classes}
	r.o.Costs = nil
	for _, name := range []*string{&r.o.Score, &r.o.SliceBy, &r.o.Group} {
		if _, has := table.Column(*name); !has {
			*name = ""
		}
	}
	if l, err = r.read(); err != nil {
		return nil, nil, false, err
	}
	rows := r.rows(l)
	hashes = lists.Of(rows, func(row []byte) uint64 {
		sum := sha256.Sum256(row)
		return binary.LittleEndian.Uint64(sum[:])
	})
	return l, hashes, hashed(rows) == p.Hash, nil
}
