package labels

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/internal/strict"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Load reads a certificate of labels from a JSON file, as krigo certify --out writes it.
// It computes every bound again from the file's counts (see pacbayes.LabelTerms.Again), and refuses
// a file that says something else. It writes the sentence and the conditions anew.
// checksum is the file's SHA-256, in hex.
func Load(path string) (p *Certified, checksum string, err error) {
	text, err := memory.ReadFile(path, 32)
	if err == nil {
		p, err = labelsOf(strings.TrimSpace(string(text)))
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return p, fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

func labelsOf(text string) (*Certified, error) {
	p := &Certified{}
	if json.Unmarshal([]byte(text), &p.file) == nil && json.Unmarshal([]byte(text), p) == nil &&
		p.Kind == "" && p.Certificate != nil {
		return nil, errors.New("it is a certificate of predicted numbers, which is made again " +
			"from its rows: certify them by --predictions, with the same flags")
	}
	if json.Unmarshal([]byte(text), &p.file) != nil || json.Unmarshal([]byte(text), p) != nil ||
		p.Kind != "classes" || p.Version != 1 || p.Certificate == nil {
		return nil, errors.New("it is no certificate of labels that krigo certify --predictions " +
			"--out wrote, or of a newer krigo")
	}
	stored := p.Certificate
	err := strict.ReadJSON(text, &Certified{})
	if err == nil {
		err = p.compute()
	}
	if err == nil {
		err = differ("", p.file, plain(p), "sentence", "conditions")
	}
	if err != nil {
		return nil, fmt.Errorf("%w; don't rely on this file", err)
	}
	stored.Conditions = p.Certificate.Conditions
	p.Certificate = stored
	p.Sentence = p.said()
	return p, nil
}

// compute replaces what the certificate states by what its counts make of the options.
func (p *Certified) compute() (err error) {
	c := p.Certificate
	hash, _ := hex.DecodeString(p.Hash)
	if len(hash) != sha256.Size {
		return fmt.Errorf("rows_sha256 is %s", spelling.Quote(p.Hash))
	}
	if err = p.complete(); err != nil {
		return err
	}
	var kinds []string
	for i, s := range c.Statements {
		if s.About == pacbayes.EachSlice {
			c.Statements[i].By = p.SliceBy
			kinds = append(kinds, s.Of)
		}
	}
	var costs [][]float64
	if p.Costs != nil {
		costs, err = p.Costs.of(c.Classes)
	}
	if err = cmp.Or(err, spelling.Twins(c.Classes), spelling.Twins(kinds)); err != nil {
		return err
	}
	p.Certificate, err = p.LabelTerms.Again(c, costs)
	return err
}

// Reproduce certifies the rows of a table again.
// It returns an error if these aren't the certified rows, or if anything in the certificate, or in
// the file that it came from, isn't what the rows make it.
func (p *Certified) Reproduce(ctx context.Context, table *dataset.Table) error {
	again, err := certifyLabels(ctx, table, p.Options)
	if err != nil {
		return err
	}
	if again.Hash != p.Hash {
		return fmt.Errorf("the rows of %s aren't the certified rows: their SHA-256 differs",
			table.Source)
	}
	said := p.file
	if said == nil {
		said = plain(p)
	}
	if err = differ("", said, plain(again), "source"); err != nil {
		return fmt.Errorf("the certificate isn't what the rows of %s make it: %w; don't rely on it",
			table.Source, err)
	}
	return nil
}

// plain returns a certificate as any JSON document is read.
func plain(p *Certified) (document any) {
	text, _ := json.Marshal(p)
	_ = json.Unmarshal(text, &document)
	return document
}

// differ returns an error that names the first value which isn't the same in two JSON documents.
// It leaves out the named keys. Another kind of processor may round a fraction in another way.
func differ(at string, said, is any, but ...string) error {
	const rounding = 1e-9
	switch is := is.(type) {
	case map[string]any:
		m, _ := said.(map[string]any)
		both := maps.Clone(is)
		maps.Copy(both, m)
		for _, key := range slices.Sorted(maps.Keys(both)) {
			if slices.Contains(but, key) {
				continue
			}
			if err := differ(at+"."+key, m[key], is[key], but...); err != nil {
				return err
			}
		}
		return nil
	case []any:
		if list, _ := said.([]any); len(list) == len(is) {
			for i := range is {
				if err := differ(fmt.Sprintf("%s[%d]", at, i), list[i], is[i], but...); err != nil {
					return err
				}
			}
			return nil
		}
	case float64:
		v, number := said.(float64)
		if number && (v == is ||
			(is != math.Trunc(is) && math.Abs(v-is) <= rounding*math.Abs(is))) {
			return nil
		}
	default:
		if said == is {
			return nil
		}
	}
	text, _ := json.Marshal([]any{said, is})
	return fmt.Errorf("%s isn't what was computed: [file, computed] is %s",
		strings.TrimPrefix(at, "."), spelling.Cut(string(text), 200))
}

// Again reads further rows as the certificate's rows were read.
// It also returns a hash of each row, and whether these are the certified rows.
// A class that the certificate doesn't know is a further class, without a probability.
// Columns of a score, of kinds of rows and of groups needn't be there. Rows have no costs.
func (p *Certified) Again(ctx context.Context,
	table *dataset.Table) (l *pacbayes.Labelled, hashes []uint64, same bool, err error) {
	r := &labelReader{o: p.Options, table: table.Within(ctx), classes: p.Certificate.Classes}
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
