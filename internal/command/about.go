package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/report"
)

// versionDocument is what version --json prints.
type versionDocument struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Core    string `json:"core"` // instruction set of the numeric core
}

func newVersion(c *common) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the system and the instruction set",
		Args:  exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionDocument{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
				linalg.Level.String()}
			return c.answer(cmd, v, "version", v)
		},
	}
}

// newMan returns the command that writes man pages. SOURCE_DATE_EPOCH makes them the same bytes in
// each build (reproducible-builds.org).
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write a man page for every command",
		Example: `  krigo man ~/.local/share/man/man1`,
		Long:    `krigo makes FOLDER if need be. If SOURCE_DATE_EPOCH is set, it is the date of the pages.`,
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			header := doc.GenManHeader{Section: "1", Source: "krigo " + version(), Manual: "krigo"}
			if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
				seconds, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return misused("SOURCE_DATE_EPOCH %q: want seconds since 1970", text)
				}
				header.Date = new(time.Unix(seconds, 0).UTC())
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			cmd.Root().DisableAutoGenTag = true
			describeOptions(cmd.Root())
			return doc.GenManTree(cmd.Root(), &header, args[0])
		},
	}
}

func newDemo(c *common) *cobra.Command {
	return &cobra.Command{
		Use:   "demo [FOLDER]",
		Short: "Write a small data set, a model of it and its report",
		Example: `  krigo demo
  krigo demo try`,
		Long: `The data set is Snelson's, with 200 rows and one input. The model is sparse, and its training takes a few seconds.
demo.csv, demo.krigo and demo.html go to FOLDER, which krigo makes if need be, or else to the current folder.`,
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
				if err := os.MkdirAll(folder, 0o755); err != nil {
					return err
				}
			}
			path := func(ending string) string { return filepath.Join(folder, "demo"+ending) }
			sample := data.Snelson()
			fill := func(i int, values []float64) error {
				copy(values, sample.Values[i*len(values):])
				return nil
			}
			// demo overwrites only what a demo wrote: this very table, a model, and a report.
			var content bytes.Buffer
			if err := files.Write(&content, sample.Names, sample.Rows, fill); err != nil {
				return err
			}
			table := begins("what demo writes", "^"+regexp.QuoteMeta(content.String())+"$")
			for ending, o := range map[string]own{".csv": table, ".krigo": ownModel,
				".html": ownReport} {
				if err := replaceable(path(ending), o, "name another folder"); err != nil {
					return err
				}
			}
			if err := files.WriteFile(path(".csv"), sample.Names, sample.Rows, fill); err != nil {
				return err
			}
			rows, err := files.ReadFile(path(".csv"), dataset.Reading{})
			if err != nil {
				return err
			}
			progress := newProgress(cmd.ErrOrStderr(), c.quiet)
			m, err := krigo.Fit(cmd.Context(), rows,
				krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.2},
					Promise: krigo.Promise{Epsilon: 1}, Method: krigo.Method{Inducing: 12},
					Run: krigo.Run{Progress: progress.event}})
			progress.end()
			if err != nil {
				return err
			}
			if err := m.Save(path(".krigo")); err != nil {
				return err
			}
			if err := disk.Write(path(".html"),
				func(w io.Writer) error {
					return report.Write(cmd.Context(), w, m, rows)
				}); err != nil {
				return err
			}
			return c.answer(cmd, fitJSON(m, path(".krigo")), "demo", map[string]any{
				"Fit": wordsOf(m, path(".krigo"), false), "Page": path(".html"),
				"Model": path(".krigo"), "Data": path(".csv")})
		},
	}
}
