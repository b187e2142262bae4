package krigo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestAlteredFiles: a model file with something else in one place of its header, under a checksum that fits, is refused
// when it is loaded or certified. laboratory/campaign alters files by chance.
func TestAlteredFiles(t *testing.T) {
	holes := withColumn(pick(data.Snelson(), every(0, 1, 120)), "side",
		func(i int) string { return []string{"left", "right", "", "7"}[i%4] })
	for i := 0; i < holes.Rows; i += 7 {
		holes.Values[3*i+1] = math.NaN()
	}
	m := fit(t, holes, asked(`vfe target=y categorical=["side"] missing=mean inducing=5 ard=off restarts=1
		calibration=0.25 mean_bound=both kind=informed prior.share=0.4 temper=[1,0.3]`))
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	for _, c := range []struct{ at, value, want string }{
		{"targets_sha256", `"00"`, "targets"}, {"certified_rows_sha256", `"00"`, "certified rows"},
		{"split", `"last"`, "SHA-256"}, {"split", `"position"`, "roles"}, {"seed", `7`, "SHA-256"},
		{"target", `"x"`, "names of their own"},
		{"rows_by_role", `[0,29,37,54]`, "rows"}, {"rows_by_role", `[0,30]`, "fit together"},
		{"scaling.target_mean", `0`, "scaling"}, {"scaling.input_mean", `[0]`, "scaling"},
		{"prior.temper", `0.5`, "temper"}, {"nearest", `-1`, "nearest"},
		{"conformal.rows", `31`, "interval"}, {"conformal.half_width", `1`, "interval"},
		{"encoding.columns", `[{"categories":["7","left","right"],"name":"side"},{"categories":["a"],"name":"x"}]`, "x"},
		{"terms.fixed", `false`, "prior"}, {"terms.informed", `false`, "informed"}, {"terms.elsewhere", `true`, "elsewhere"},
		{"terms.route", `"x"`, "mean-bound"}, {"terms.params", `3`, "grid"}, {"terms.family", `"x"`, "bound"},
		{"terms.loss", `{"Kind":"band","Above":0,"Below":-1}`, "loss"}, {"terms.delta", `2`, "delta"},
		{"certificate.bound", `0.1`, "bound"}, {"certificate", `null`, "certificate"}, {"kernel.parts", `[]`, "kernel"},
		{"kernel.parts", `[{"name":"se","variance":1,"lengthscales":[1,2]}]`, "lengthscales"},
		{"kernel.parts", `[{"name":"se","variance":1,"shape":2,"lengthscales":[1]}]`, "shape"},
	} {
		h, arrays := opened(file.Bytes())
		in, names := h, strings.Split(c.at, ".")
		for _, name := range names[:len(names)-1] {
			in = in[name].(map[string]any)
		}
		in[names[len(names)-1]] = parsed([]byte(c.value))
		head := must.Get(json.Marshal(h))(t)
		m, err := krigo.Read(bytes.NewReader(closed(file.Bytes(), head, arrays)))
		if err == nil {
			var r *krigo.Recertification
			if r, err = certify(m, holes); err == nil && !r.Matches {
				err = errors.New(r.Differs)
			}
		}
		must.Fail(t, err, c.want, c.at, c.value)
	}
}
