package command

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestResults shows what is printed of results that few commands have.
func TestResults(t *testing.T) {
	half := 0.5
	c := &pacbayes.Certificate{}
	for _, of := range []struct {
		name   string
		result any
		want   string
	}{
		{"evaluation", &krigo.Evaluation{Objective: "svgp", Value: 2, StandardError: &half,
			GradientError: &krigo.Gradient{}, CertificateReason: "of a reason"},
			"svgp 2 ± 0.5 (an estimate and its standard error)\ngradient\n{}\n" +
				"its standard errors\n{}\nNo certificate: of a reason.\n"},
		{"evaluation", &krigo.Evaluation{Objective: "vfe", Jitter: half, Rounding: half, CertificateReason: "none",
			EvidenceBounds: &krigo.EvidenceBounds{Jensen: &half}},
			"vfe 0\nwith 0.5 added to the diagonal of the inducing inputs' covariance matrix\n" +
				"rounding moves the log likelihood by at most about 0.5 nats\ngradient\n{}\nlog evidence, from above to below\n" +
				"  Jensen's there         0.5\nNo certificate: none.\n"},
		{"inspection", inspectWords{inspectDocument: inspectDocument{Rows: 3, Dropped: 1},
			Path: "t.csv", Table: "column\n"},
			"t.csv: 3 rows, 0 columns\n1 rows that repeat others are left out\n\ncolumn\n\n"},
		{"inspected", inspectWords{inspectDocument: inspectDocument{Command: "krigo fit",
			tie: &model.Tie{Kind: "column", Columns: []string{"patient"}}}},
			"Rows of the same patient predict one another. With --group the promise is " +
				"about a new patient, without it about further rows of the same\n\nkrigo fit\n"},
		{"recertified", recertified{certificateWords{M: &krigo.Model{}, C: c},
			&krigo.Recertification{Certificate: c, Notice: "look"}}, "Conditions\nNotice    look\n"},
	} {
		var b strings.Builder
		must.Do(t, say(&b, of.name, of.result))
		must.Hold(t, strings.HasSuffix(b.String(), of.want),
			"%s:\n%s\nwant\n%s", of.name, &b, of.want)
	}
}
