package command

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/report"
)

// pageOf returns the page of a model or of a certificate of labels, and how tables are read for it.
func pageOf(path string) (page report.Page, of dataset.Reading, err error) {
	if isLabels(path) {
		page.Labels, _, err = krigo.LoadLabels(path)
		return page, of, err
	}
	all, err := krigo.LoadTargets(path)
	if err == nil {
		page.Model, err = all.Label()
	}
	if err == nil {
		of = page.Model.Reading
	}
	return page, of, err
}

func newReport(c *common) *cobra.Command {
	var out string
	var tables tableFlags
	cmd := &cobra.Command{
		Use:   "report MODEL [DATA]",
		Short: "Write one HTML page about a model",
		Example: `  krigo report houses.krigo houses.csv
  krigo report houses.krigo houses.csv --out page.html`,
		Long: `The page needs no other file and no network, and prints on at most four sheets of A4, unless names are long or an
additive kernel has many parts.
It has the certificate in words, with what it rests on, warnings, what the function looks like column by column at real rows, how much each column moves
it, and how it was trained.

With DATA the page also compares predictions with observations: the misses that the certificate counts, residuals,
calibration and the worst predictions. It also sums up the columns. If DATA is what the model was made from, it shows
the test rows and the certified rows. Otherwise it shows the rows that the model hasn't seen. For labels the page has
the confusion matrix, the reliability of probabilities, and the wrong answers if only the surest rows get an answer.

MODEL may be a certificate of another classifier's labels, NAME.json, which krigo certify --predictions --out wrote.`,
		Args: between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			page, reading, err := pageOf(args[0])
			if err != nil {
				return err
			}
			var table *dataset.Table
			if len(args) == 2 {
				if table, err = tables.read(cmd, c, args[1], nil, reading); err != nil {
					return err
				}
				defer table.Close()
				progress := newProgress(cmd.ErrOrStderr(), c.quiet)
				defer progress.end()
				table = table.Within(progress.telling(cmd.Context()))
			}
			// A name that the user didn't choose mustn't replace a file that isn't a report.
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".html"
				if err := replaceable(out, ownReport, "name another by --out"); err != nil {
					return err
				}
			}
			if err := writable(out, ownReport, args...); err != nil {
				return err
			}
			page.Data, page.Version, page.Command = table, "krigo "+version(), "krigo report"
			for _, arg := range args {
				page.Command += " " + spelling.Shell(arg)
			}
			if err := disk.Write(out,
				func(w io.Writer) error { return page.Write(cmd.Context(), w) }); err != nil {
				return err
			}
			saved := map[string]string{"report": out}
			return c.answer(cmd, saved, "report", saved)
		},
	}
	bind(cmd.Flags(), cliFlag{name: "out", value: "FILE", rule: "MODEL's name with .html", to: &out,
		endings: []string{"html"}, help: "HTML file to write"})
	tables.bind(cmd)
	return cmd
}
