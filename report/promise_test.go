package report

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestPromise: the page begins with the headline and a figure whose table has the certificate's widths. For a model
// that was read from its file, the widths of simple predictors are recomputed from the certified rows. Without rows
// the figure has the model alone.
func TestPromise(t *testing.T) {
	table := data.Boston()
	fitted := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{Expression: "linear"}, Run: krigo.Run{Restarts: 1}}))(t)
	var file bytes.Buffer
	must.Do(t, fitted.Write(&file))
	m := must.Get(krigo.Read(&file))(t)
	must.Hold(t, m.Context.Linear.Curve == nil, "the file has a curve of the linear model")
	r := must.Get(Page{Model: m, Data: table}.made(t.Context()))(t)
	c := m.Certificate
	must.Be(t, r.Sentence, m.Headline(c))
	must.Be(t, r.Words, m.Sentence(c))
	must.Need(t, len(r.Promise) == 1 && r.Promise[0].Failed == "", "%+v", r.Promise)
	f := r.Promise[0]
	must.Be(t, strings.Join(f.Head, "|"), "at least|within|a linear model|the constant "+cautious.Number(m.Context.Constant.Value))
	must.Be(t, len(f.Cells), len(krigo.Widths(c)))

	y := r.main().y
	must.Be(t, len(y), c.Rows)
	errs := make([]float64, len(y))
	for i, v := range y {
		errs[i] = math.Abs(v - m.Context.Constant.Value)
	}
	slices.Sort(errs)
	for i, p := range krigo.Widths(c) {
		must.Be(t, f.Cells[i][0]+" "+f.Cells[i][1], cautious.Complement(p.Bound)+" ±"+cautious.Width(p.HalfWidthRaw))
		at := slices.IndexFunc(c.Curve.Points, func(q pacbayes.CurvePoint) bool { return q.Bound <= p.Bound+1e-12 })
		want := errs[len(errs)-1-c.Curve.Points[at].Misses]
		got := must.Get(strconv.ParseFloat(strings.TrimPrefix(f.Cells[i][3], "±"), 64))(t)
		if got < want*(1-1e-9) || got > want*1.01 {
			t.Errorf("%s of the constant's predictions within %v, and the error is %v", f.Cells[i][0], got, want)
		}
	}
	of := r.context.Linear
	must.Hold(t, of.MeanRisk != 0, "the linear model misses nothing, so that nothing is compared")
	missed := int(math.Round(of.MeanRisk * float64(c.Rows)))
	for _, p := range of.Curve.Points {
		if (p.HalfWidth <= c.Epsilon*(1+1e-9)) != (p.Misses >= missed) {
			t.Errorf("%d rows miss the linear model's %v, and %d miss ε", p.Misses, p.HalfWidth, missed)
		}
	}

	alone := must.Get(Page{Model: m}.made(t.Context()))(t)
	must.Be(t, strings.Join(alone.Promise[0].Head, "|"), "at least|within")
	must.Hold(t, !strings.Contains(alone.Promise[0].Caption, "simple predictors"),
		"%s", alone.Promise[0].Caption)
}

// TestFlags: no line breaks within a flag, and markup in a text stays text.
func TestFlags(t *testing.T) {
	must.Be(t, string(flags("With --deliver all, <b>--x-y</b> a--b -- c")), `With <span class="flag">--deliver</span> all, `+
		`&lt;b&gt;<span class="flag">--x-y</span>&lt;/b&gt; a--b -- c`)
}
