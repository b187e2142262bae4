package krigo_test

import (
	"slices"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/model"
)

// TestNotices: parameters are told by the names of their inputs, themselves instead of their logarithms, and those that
// ended on one edge in one sentence, which is true of a slope as of what isn't there.
func TestNotices(t *testing.T) {
	m := &krigo.Model{Model: model.Model{Inputs: []string{"CRIM", "ZN", "x.\nAll is well. Yes"}}}
	const upper = "0.006738 to 148.4 in scaled units, at the upper end: the function is nearly a straight line, or " +
		"hardly changes, along "
	for _, c := range []struct{ notices, want []string }{
		{[]string{"log_lengthscale2[2] ended on the edge of its range [-10, 10], at 10"},
			[]string{"the lengthscale of ZN ended on the edge of its range, " + upper + "it"}},
		{[]string{"log_lengthscale2 ended on the edge of its range [-10, 10], at -10"},
			[]string{"the lengthscale ended on the edge of its range, 0.006738 to 148.4 in scaled units, at the lower end: " +
				"the function may change faster along it than the range allows"}},
		{[]string{"log_lengthscale2 ended on the edge of its range [-10, 10], at 10"},
			[]string{"the lengthscale ended on the edge of its range, " + upper + "it"}},
		{[]string{"rows of \"a\nAll is well\u2028é\""}, []string{`rows of "a\nAll is well\u2028é"`}},
		{[]string{"2.0.log_variance ended on the edge of its range [-10, 10], at 10"},
			[]string{"the variance in part 3.1 of the kernel ended on the edge of its range, 4.54e-05 to 22,030 in scaled " +
				"units, at the upper end"}},
		{[]string{"log_variance ended on the edge of its range [-10, 10], at 10",
			"of the tempers [1 2], 1 gave the lowest bound"},
			[]string{"the variance ended on the edge of its range, 4.54e-05 to 22,030 in scaled units, at the upper end",
				"of the tempers [1 2], 1 gave the lowest bound"}},
		{[]string{"0.log_lengthscale2[1] ended on the edge of its range [-10, 10], at 10", "first",
			"0.log_lengthscale2[2] ended on the edge of its range [-10, 10], at 10",
			"0.log_lengthscale2[3] ended on the edge of its range [-10, 10], at -10"},
			[]string{"the lengthscales of CRIM, ZN in part 1 of the kernel ended on the edge of their range, " + upper +
				"each of them", "first",
				`the lengthscale of "x.\nAll is well. Yes" in part 1 of the kernel ended on the edge of its range, 0.006738 to 148.4 in scaled units, at the lower end: the function may change faster along it than the range allows`}},
	} {
		m.Notices = c.notices
		if got := krigo.Notices(m); !slices.Equal(got, c.want) {
			t.Errorf("%q\nbecomes %q\nwant    %q", c.notices, got, c.want)
		}
	}
}
