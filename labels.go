package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/labels"
)

// CertifyLabels certifies labels in a table, which any classifier predicted, beside the true
// labels (package labels).
func CertifyLabels(ctx context.Context, table *dataset.Table,
	o LabelOptions) (*CertifiedLabels, error) {
	return labels.Certify(ctx, table, o)
}

// LoadLabels reads a certificate of labels from a JSON file, as krigo certify --out writes it, and
// computes every bound again. checksum is the file's SHA-256, in hex.
func LoadLabels(path string) (p *CertifiedLabels, checksum string, err error) {
	return labels.Load(path)
}

// ReadCosts reads costs from a table with a row for each true class, which the first column names,
// and a column for each predicted class.
func ReadCosts(table *dataset.Table) (*Costs, error) { return labels.ReadCosts(table) }
