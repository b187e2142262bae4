package krigo_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestRoundUp: what is promised is rounded up, and never above 1.
func TestRoundUp(t *testing.T) {
	for _, b := range []float64{0.0001, 0.1234, 0.5, 0.9991, 0.99999, 1} {
		if c := krigo.RoundUp(b, 3); c < b || c > 1 || c-b > 0.0011 {
			t.Errorf("%v becomes %v", b, c)
		}
		if c := krigo.RoundUp(b, 4); c < b || c > 1 || c-b > 0.00011 {
			t.Errorf("%v becomes %v", b, c)
		}
	}
}

// TestComplement: never more than 1−δ, and never 100 %.
func TestComplement(t *testing.T) {
	for delta, want := range map[float64]string{0.01: "99 %", 0.05: "95 %", 0.07: "93 %", 0.5: "50 %", 1. / 3: "66.66 %", 0.001: "99.9 %",
		1e-6: "99.9999 %", 3e-9: "99.9999997 %", 0.999: "0.1 %", 1e-13: "99.99999999999 %", 1e-17: "100·(1 − 1e-17) %"} {
		if c := krigo.Complement(delta); c != want {
			t.Errorf("δ = %v: %s; want %s", delta, c, want)
		}
	}
}

// TestSentence: the words promise no more than the numbers do.
func TestSentence(t *testing.T) {
	m := fit(t, data.Boston(), krigo.Options{Prior: krigo.Prior{Kind: "informed"}, Method: krigo.Method{Name: "evidence"}, Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}, Promise: krigo.Promise{Share: 0.85}})
	c := *m.Certificate
	for _, half := range []float64{6.02731, 1.00001, 0.0123449, 12345.6, 99.996, 5.5} {
		p := *c.Promise
		p.HalfWidthRaw, c.Promise = half, &p
		words := krigo.Sentence(m, &c)
		if !strings.HasPrefix(words, "With 99 % confidence (over the draw of the certified rows), at least ") || !strings.Contains(words, "\nWith the same confidence, at least ") {
			t.Error(words)
		}
		_, rest, _ := strings.Cut(words, "lie within ±")
		said, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		if err != nil || said < half*(1-1e-12) || said > half*1.001 || !strings.Contains(words, "at least 85 %") {
			t.Errorf("%v: %v, %v", half, words, err)
		}
	}
}

// TestWidth: rounded up, by less than a thousandth.
func TestWidth(t *testing.T) {
	for w, want := range map[float64]string{0: "0", 0.6: "0.6", 0.12341: "0.1235", 5.5001: "5.501", 99.991: "100", 1.00001: "1.001"} {
		if got := krigo.Width(w); got != want {
			t.Errorf("%v: %s, want %s", w, got, want)
		}
	}
}

// TestDirectSentence: on the route direct there is no bound on a random draw, and no word of one;
// fresh rows are said to be what is drawn.
func TestDirectSentence(t *testing.T) {
	m := fit(t, data.Boston(), krigo.Options{Prior: krigo.Prior{Kind: "informed"}, Method: krigo.Method{Name: "evidence"}, Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}, Promise: krigo.Promise{Epsilon: 1e-6}, Data: krigo.Data{TestFraction: 0.2}})
	f, err := krigo.CertifyFresh(m, data.Boston())
	if err != nil || m.Certificate.Route != pacbayes.Direct || m.Certificate.MeanBound < 1 {
		t.Fatalf("%+v, %v", m.Certificate, err)
	}
	for rows, words := range map[string]string{"certified": krigo.Sentence(m, m.Certificate), "fresh": f.Sentence(m)} {
		if !strings.HasPrefix(words, "With 99 % confidence (over the draw of the "+rows+" rows), the bound says nothing about predictions") || strings.Contains(words, "random draw") {
			t.Error(words)
		}
	}
	if all := strings.Join(m.Certificate.Conditions, " "); strings.Contains(all, "random draw") || !strings.Contains(all, "plain hold-out bound on the mean") {
		t.Error(all)
	}
}
