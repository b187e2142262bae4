package report

import (
	_ "embed"
	"html/template"
	"io"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
)

//go:embed compare.html
var comparePage string

var compareTemplate = template.Must(template.New("compare").Parse(comparePage))

// WriteComparison writes a comparison of objectives as one HTML page.
func WriteComparison(w io.Writer, target string, rows []krigo.Comparison) error {
	type line struct {
		Objective, Epsilon string
		Cells              []string
	}
	type table struct {
		Names []string
		Lines []line
	}
	names := slices.DeleteFunc(krigo.MeasureNames(), func(name string) bool {
		return !slices.ContainsFunc(rows, func(c krigo.Comparison) bool {
			_, has := c.Measures[name]
			return has
		})
	})
	// A line for each objective, and a dash for a measure that it lacks.
	tabled := func(signed bool, of func(krigo.Comparison) map[string]krigo.Measure) table {
		out := table{Names: names}
		for _, r := range rows {
			measures := of(r)
			if measures == nil {
				continue
			}
			l := line{Objective: r.Objective, Epsilon: cautious.Width(r.Epsilon)}
			for _, name := range names {
				text := "–"
				if m, ok := measures[name]; ok {
					text = m.Text(signed)
				}
				l.Cells = append(l.Cells, text)
			}
			out.Lines = append(out.Lines, l)
		}
		return out
	}
	return compareTemplate.Execute(w, map[string]any{
		"Style": template.CSS(style), "Target": target, "Splits": rows[0].Splits,
		"First": rows[0].Objective,
		"Means": tabled(false, func(c krigo.Comparison) map[string]krigo.Measure {
			return c.Measures
		}), "Differences": tabled(true, func(c krigo.Comparison) map[string]krigo.Measure {
			return c.Differences
		}),
	})
}
