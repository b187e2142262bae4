package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/ranks"
	"github.com/krigo-gp/krigo/report"
)

func newCompare(c *common) *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "compare DATA --target COL",
		Short: "Compare several objectives on the same random splits",
		Example: `  krigo compare houses.csv --target price --splits 10
  krigo compare houses.csv --target price --objectives vfe,svgp --inducing 50`,
		Long: `compare fits each objective on the same splits and scores it on the same test rows. It prints means ± standard errors
over the splits, and the differences to the first objective, split by split. The differences have smaller errors,
because what splits have in common cancels. --epsilon takes a list. A setting that only some of the objectives have
is for these.

Every fit's certificate stands by itself. Choosing the best row of the table is a choice that the certificates don't
pay for.`,
		Args: exactly(1),
		RunE: c.over(func(cmd *cobra.Command, args []string, r ranks.Ranks) error {
			epsilons, err := comparable(cmd, &f)
			if err != nil {
				return err
			}
			out := f.out
			if err := comparisonName(out); err != nil {
				return err
			}
			if out != "" && r.Rank() == 0 {
				if err := writable(out, ownComparison, args[0],
					strings.TrimPrefix(f.scaling, "declared:")); err != nil {
					return err
				}
			}
			// Every rank reads the whole table, because the ranks share the fits, not the rows.
			table, o, err := f.read(args[0], cmd.InOrStdin(), ranks.Alone{})
			if err != nil {
				return err
			}
			defer table.Close()
			o.Run.Ranks = r
			for _, name := range f.objectives {
				if _, left := o.Method.For(name, f.objectives); left != nil && r.Rank() == 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s has no %s: krigo compares it without\n", name,
						strings.Join(left, ", "))
				}
			}
			progress := newProgress(cmd.ErrOrStderr(), c.quiet)
			rows, err := krigo.Compare(cmd.Context(), table, o,
				krigo.CompareOptions{Objectives: f.objectives, Epsilons: epsilons, Splits: f.splits,
					Progress: progress.compared})
			progress.end()
			if cmd.Context().Err() != nil {
				return errors.New("interrupted before all fits were done: no table was made")
			}
			if err != nil {
				return err
			}
			if out != "" && r.Rank() == 0 {
				if err := disk.Write(out, func(w io.Writer) error {
					switch strings.ToLower(filepath.Ext(out)) {
					case ".html":
						return report.WriteComparison(w, o.Data.Target, rows)
					case ".json":
						return printJSON(w, rows)
					}
					return writeComparison(w, rows)
				}); err != nil {
					return err
				}
			}
			return c.answer(cmd, rows, "comparison", comparisonWords(rows))
		}),
	}
	flags := cmd.Flags()
	f.register(flags, "compare")
	for _, flag := range []string{"objective", "promise"} { // comparable refuses this flag
		if err := flags.MarkHidden(flag); err != nil {
			panic(err)
		}
	}
	return cmd
}

// comparable checks the flags that only compare has, and returns the widths of --epsilon.
// f keeps the first width.
func comparable(cmd *cobra.Command, f *fitFlags) (epsilons []float64, err error) {
	for _, flag := range []string{"objective", "promise"} {
		if cmd.Flags().Changed(flag) {
			return nil, misused("--%s is for fit; compare takes a list, --objectives, and makes "+
				"no promises", flag)
		}
	}
	for i, name := range f.objectives {
		f.objectives[i] = strings.TrimSpace(name)
	}
	// An empty name comes from a comma too many.
	if len(f.objectives) == 0 || slices.Contains(f.objectives, "") {
		return nil, misused("--objectives %q: name one or several, with commas between them: %s",
			strings.Join(f.objectives, ","), strings.Join(method.Names(), ", "))
	}
	list := strings.Split(f.epsilon, ",")
	for _, e := range list {
		below, above, err := parseEpsilon(e)
		if err == nil && above != 0 && len(list) > 1 {
			err = fmt.Errorf("--epsilon %q: a list can't hold asymmetric widths", f.epsilon)
		}
		if err != nil {
			return nil, &krigo.UsageError{Err: err}
		}
		epsilons = append(epsilons, below)
	}
	f.epsilon = list[0]
	return epsilons, nil
}

// comparisonName refuses a file name whose ending names no format. A pipe or device gets CSV.
func comparisonName(out string) error {
	if out == "" || slices.Contains([]string{".csv", ".json", ".html"},
		strings.ToLower(filepath.Ext(out))) {
		return nil
	}
	if at, err := os.Stat(out); err == nil && !at.Mode().IsRegular() && !at.IsDir() {
		return nil
	}
	return misused("--out %s: a comparison is written as CSV, JSON or HTML: name a file that "+
		"ends in .csv, .json or .html", out)
}

// comparisonWords returns what is printed of a comparison.
func comparisonWords(rows []krigo.Comparison) map[string]any {
	words := map[string]any{"Splits": rows[0].Splits}
	words["Measures"] = measures("objective", false, rows,
		func(r krigo.Comparison) map[string]krigo.Measure { return r.Measures })
	if rows[len(rows)-1].Differences != nil {
		words["Differences"] = measures("less "+rows[0].Objective, true, rows,
			func(r krigo.Comparison) map[string]krigo.Measure { return r.Differences })
	}
	return words
}

// measures returns a table of the measures that fit on a terminal. The files have all measures.
// what is the head of its first column.
func measures(what string, signed bool, rows []krigo.Comparison,
	of func(krigo.Comparison) map[string]krigo.Measure) string {
	shown := []string{"bound", "mean_bound", "gibbs_risk", "mean_risk", "mse", "nlpd",
		"coverage95", "seconds"}
	if _, heuristic := rows[0].Measures["heuristic_bound"]; heuristic {
		shown[0] = "heuristic_bound"
		shown[1] = "heuristic_mean_bound"
	}
	lines := [][]string{append([]string{what, "ε"}, shown...)}
	for _, r := range rows {
		measures := of(r)
		if measures == nil {
			continue
		}
		line := []string{r.Objective, cautious.Width(r.Epsilon)}
		for _, name := range shown {
			text := "-"
			if m, ok := measures[name]; ok {
				text = m.Text(signed)
			}
			line = append(line, text)
		}
		lines = append(lines, line)
	}
	// most numbers fit in 16 columns, so that tables look alike
	wide := slices.Repeat([]int{16}, len(lines[0]))
	wide[0] = 10
	wide[1] = 5
	for _, line := range lines {
		for k, text := range line {
			wide[k] = max(wide[k], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "%-*s", wide[0], line[0])
		for k, text := range line[1:] {
			fmt.Fprintf(&b, " %*s", wide[k+1], text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// writeComparison writes comparisons as CSV, a line for each objective and ε, with four columns for
// each of MeasureNames: mean, standard error, and both of the difference to the first objective. A
// standard error of a single split is empty.
func writeComparison(w io.Writer, rows []krigo.Comparison) error {
	out := csv.NewWriter(w)
	head := []string{"objective", "epsilon", "splits"}
	for _, name := range krigo.MeasureNames() {
		head = append(head, name, name+"_se", name+"_difference", name+"_difference_se")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, r := range rows {
		line := []string{r.Objective, number(r.Epsilon), strconv.Itoa(r.Splits)}
		for _, name := range krigo.MeasureNames() {
			for _, measures := range []map[string]krigo.Measure{r.Measures, r.Differences} {
				switch m, ok := measures[name]; {
				case ok && m.Splits > 1:
					line = append(line, number(m.Mean), number(m.SE))
				case ok:
					line = append(line, number(m.Mean), "")
				default:
					line = append(line, "", "")
				}
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
