package krigo

import (
	"context"
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fit"
)

// Deliver trains a certified model's sibling on all rows but those for testing; see fit.Deliver. It predicts a little
// better and has no certificate: its CertificateReason says which model is certified.
func Deliver(ctx context.Context, m *Model, table *dataset.Table, with Options) (*Model, error) {
	all, err := fit.Deliver(ctx, m, table, with)
	if c := m.Certificate; err == nil && c != nil && c.Valid {
		all.CertificateReason += fmt.Sprintf("; what is certified are the predictions of its sibling, which was trained on "+
			"%d of these rows, in a file of its own (the SHA-256 of its certified rows is %s)", m.Counts[dataset.Prior], m.Hash)
	}
	return all, err
}
