package cautious

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestRoundUp shows that a bound is rounded up, and never above 1.
func TestRoundUp(t *testing.T) {
	for _, b := range []float64{0.0001, 0.1234, 0.5, 0.9991, 0.99999, 1} {
		if c := RoundUp(b, 3); c < b || c > 1 || c-b > 0.0011 {
			t.Errorf("%v becomes %v", b, c)
		}
		if c := RoundUp(b, 4); c < b || c > 1 || c-b > 0.00011 {
			t.Errorf("%v becomes %v", b, c)
		}
	}
}

// TestComplement shows that the written confidence is never above 1−δ, and never 100 %.
func TestComplement(t *testing.T) {
	for delta, want := range map[float64]string{0.01: "99 %", 0.05: "95 %", 0.07: "93 %", 0.5: "50 %", 1. / 3: "66.6 %",
		0.001: "99.9 %",
		1e-6:  "99.9999 %", 3e-9: "99.9999997 %", 0.999: "0.1 %", 1e-13: "99.99999999999 %", 1e-17: "100·(1 − 1e-17) %"} {
		must.Be(t, Complement(delta), want, fmt.Sprintf("δ = %v", delta))
	}
}

// TestWidth shows that a width is rounded up, by less than a hundredth, unless somebody may have typed it.
func TestWidth(t *testing.T) {
	for w, want := range map[float64]string{0: "0", 0.6: "0.6", 0.12341: "0.12341", 0.1234112: "0.124", 5.500112: "5.51",
		99.990001: "100", 1.00001: "1.00001", 1.0000123: "1.01", 26376.12: "26,400", 1026.3712: "1030", 9999.123: "10,000"} {
		must.Be(t, Width(w), want, w)
	}
}

// TestNumber shows numbers as people write them, and that no written width is narrower than the width.
func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{20000: "20,000", 60012.3: "60,010", 1234567: "1,235,000", 9202: "9202",
		0.6: "0.6", 1e-7: "1e-07", -123456: "-123,500", 99999: "100,000", 1e20: "1e+20", 0: "0"} {
		must.Be(t, Number(v), want, fmt.Sprintf("%v is", v))
	}
	for _, w := range []float64{5e-324, 1e-310, 3e-308, 1e-305, 1e305, 1.2e308} {
		if v, err := strconv.ParseFloat(Width(w), 64); err != nil || v < w*(1-1e-12) || v > w*1.01+5e-324 {
			t.Errorf("the width %v is %q", w, Width(w))
		}
		if v, err := strconv.ParseFloat(Least(w), 64); err != nil || v > w || v < w*0.99-5e-324 {
			t.Errorf("the least %v is %q", w, Least(w))
		}
	}
	for v, want := range map[float64]string{60012.3: "60,012.3", 60012.34: "60,100", 20000: "20,000", 9.2011: "9.2011",
		9.201112: "9.21", 99991.12: "100,000"} {
		must.Be(t, Width(v), want, fmt.Sprintf("the width %v is", v))
	}
}

// TestDigits shows numbers of 15 digits as people write them.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{45000: "45,000", 1234567: "1,234,567", 9202: "9202", 20001.5: "20,001.5",
		-123456: "-123,456", 0.25: "0.25", 1e20: "1e+20"} {
		must.Be(t, Digits(v, 15), want, fmt.Sprintf("%v is", v))
	}
}
