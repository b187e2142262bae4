package spelling

import (
	"fmt"
	"slices"
	"strings"
)

// elsewhere has krigo's names of kernels and objectives, and what other programs and papers call
// them.
var elsewhere = []struct{ here, there string }{
	{"se", "rbf gaussian squaredexponential exponentiatedquadratic sqexp expquad"},
	{"matern12", "exponential laplacian ornsteinuhlenbeck ou absoluteexponential matern05"},
	{"matern32", "matern15"},
	{"matern52", "matern25"},
	{"matern12 matern32 matern52", "matern"},
	{"rq", "rationalquadratic"},
	{"periodic", "expsinesquared"},
	{"linear", "dotproduct"},
	{"constant", "bias"},
	{"white", "noise whitenoise"},
	{"evidence", "mll lml marginallikelihood exactmarginallikelihood logmarginallikelihood gpr " +
		"exactgp"}, {"vfe", "sgpr titsias collapsedelbo"},
	{"vfe svgp", "elbo variational"},
	{"svgp", "svi variationalelbo"},
	{"nearest", "vecchia nngp"},
	{"pep", "powerep"},
	{"fitc", "fic spgp"},
	{"dtc", "sor"},
	{"kl-pac", "pac pacbayes"},
}

// Called returns `"rbf" is called "se" here` if other programs use the name for one of the known
// names, without regard to case, spaces and signs. It returns "" for other names.
func Called(name string, known []string) string {
	plain := func(name string) string {
		name = strings.NewReplacer(" ", "", "_", "", "-", "", "/", "", ".", "", "(", "", ")",
			"").Replace(strings.ToLower(name))
		return strings.TrimSuffix(name, "kernel")
	}
	for _, e := range elsewhere {
		if names := strings.Fields(e.here); slices.Contains(known, names[0]) &&
			slices.Contains(strings.Fields(e.there), plain(name)) {
			return fmt.Sprintf(`%q is called "%s" here`, name, strings.Join(names, `" or "`))
		}
	}
	return ""
}
