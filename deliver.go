package krigo

import (
	"context"
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fit"
)

// Deliver trains a certified model's sibling on all rows but those for testing; see fit.Deliver. It predicts a little better and has no
// certificate: its CertificateReason says what the certified one promises, for its own predictions.
func Deliver(ctx context.Context, m *Model, table *dataset.Table, with Options) (*Model, error) {
	all, err := fit.Deliver(ctx, m, table, with)
	if err == nil && m.Certificate != nil {
		all.CertificateReason += fmt.Sprintf("; its sibling, trained on %d of these rows, is certified, for its own predictions: %s", m.Counts[dataset.Prior], strings.TrimSuffix(Sentence(m, m.Certificate), "."))
	}
	return all, err
}
