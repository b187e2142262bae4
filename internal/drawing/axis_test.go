package drawing

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// hard holds numbers at which steps round away, squares overflow or ranges have no width.
var hard = []float64{0, 1, -1, 1.7e18, -1.7e18, 1e-300, 5e-324, -5e-324, 1e300, -1e300, math.MaxFloat64,
	-math.MaxFloat64, 0.1, 1e15, 1e-9, math.Inf(1), math.Inf(-1), math.NaN()}

// TestTicks shows that Ticks doesn't hang, for any ends of the axis. Ticks lie within or near the axis, and their
// labels differ.
func TestTicks(t *testing.T) {
	check := func(low, high float64) {
		t.Helper()
		low, high, err := settled(low, high)
		if err != nil {
			return
		}
		for name, of := range map[string]func(a, b float64) []Tick{"numbers": Ticks, "dates": DateTicks,
			"clock": ClockTicks} {
			ts, seen := of(low, high), map[string]bool{}
			must.Need(t, len(ts) >= 2 && len(ts) <= 50,
				"%s: %d ticks of [%v, %v]", name, len(ts), low, high)
			for _, k := range ts {
				if margin := 0.01 * (high - low); !(k.Value >= low-margin && k.Value <= high+margin) {
					t.Errorf("%s: [%v, %v] has a tick at %v", name, low, high, k.Value)
				}
				must.Hold(t, !seen[k.Label],
					"%s: [%v, %v] has the label %s twice", name, low, high, k.Label)
				seen[k.Label] = true
			}
		}
	}
	for _, a := range hard {
		for _, b := range hard {
			check(a, b)
			check(a, math.Nextafter(a, b))
		}
		check(a, a+1)
		check(a-1, a+1)
		check(a, a*(1+1e-12))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		at := rng.NormFloat64() * math.Pow(10, 640*rng.Float64()-320)
		check(at, at+rng.ExpFloat64()*math.Pow(10, 640*rng.Float64()-320))
	}
	for range 5000 { // days
		at := 40000 * rng.NormFloat64()
		check(at, at+math.Pow(10, 7*rng.Float64()-2))
	}
}

// TestDateTicks: dates and times of day are written as such.
func TestDateTicks(t *testing.T) {
	labels := func(ts []Tick) (all string) {
		for _, k := range ts {
			all += k.Label + " "
		}
		return all
	}
	for _, c := range []struct {
		of        func(a, b float64) []Tick
		low, high float64
		want      string
	}{
		{DateTicks, 19723, 19723 + 366, "2024-01 2024-04 2024-07 2024-10 2025-01 "},
		{DateTicks, 0, 365.25 * 40, "1970 1980 1990 2000 2010 "},
		{DateTicks, 19723.5, 19733.5, "2024-01-02 01-04 01-06 01-08 01-10 "},
		{ClockTicks, 0, 1, "00:00 04:00 08:00 12:00 16:00 20:00 24:00 "},
		{ClockTicks, -0.03, 1.03, "00:00 04:00 08:00 12:00 16:00 20:00 24:00 "},
		{ClockTicks, 0.35, 0.72, "10:00 12:00 14:00 16:00 "},
		{ClockTicks, 0.5, 0.5 + 70./1440, "12:00 12:15 12:30 12:45 13:00 "},
		{ClockTicks, 0.5, 0.5 + 11./86400, "12:00:00 12:00:02 12:00:04 12:00:06 12:00:08 12:00:10 "},
		{DateTicks, 19783.02, 19783.02 + 66./1440, "2024-03-01 00:30 00:45 01:00 01:15 01:30 "},
		{DateTicks, 19782.97, 19783.2, "2024-03-01 00:00 01:00 02:00 03:00 04:00 "},
		{DateTicks, 19783.5, 19783.5 + 20./86400, "2024-03-01 12:00:00 12:00:05 12:00:10 12:00:15 12:00:20 "},
	} {
		must.Be(t, labels(c.of(c.low, c.high)), c.want, fmt.Sprintf("[%v, %v]", c.low, c.high))
	}
}

// TestChartsOfOddNumbers: a chart with a range contains no NaN or infinity. A chart without a range is an error.
func TestChartsOfOddNumbers(t *testing.T) {
	drawn := 0
	for _, a := range hard {
		for _, b := range hard {
			c := NewChart("x", "y")
			c.Line("a line", Blue, []XY{{a, b}, {b, a}})
			c.Many("", Blue, []XY{{a, b}})
			svg, err := c.SVG("a & <b>")
			if err != nil {
				continue
			}
			drawn++
			must.Hold(t, !strings.Contains(svg, "NaN") && !strings.Contains(svg, "Inf"),
				"%v, %v: %.400s", a, b, svg)
			if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
				t.Errorf("%v, %v: %v", a, b, err)
			}
		}
	}
	must.Hold(t, drawn >= 50, "%d figures", drawn)
}

// TestLabels: no label is longer than its room, a cut label has a title, and markup is written as text.
func TestLabels(t *testing.T) {
	long := strings.Repeat("a very long name <with> ", 20)
	c := NewChart(long, long)
	c.Y.Names = []string{long, "b"}
	c.Bars(Blue, []float64{1, 2})
	c.Rug(long, nil)
	svg := must.Get(c.SVG(""))(t)
	if n := strings.Count(svg, "<title>"); n != 4 || strings.Contains(svg, "<with>") {
		t.Errorf("%d titles: %s", n, svg)
	}
	for _, m := range regexp.MustCompile("(?:</title>|[0-9]\">)([^<]*)</text>").FindAllStringSubmatch(svg, -1) {
		if w := width(html.UnescapeString(m[1])); w > chartWidth {
			t.Errorf("%q takes %v", m[1], w)
		}
	}
}

// TestAlikeNames: long names that differ are cut so that no two look the same. Names that fit stay as they are.
func TestAlikeNames(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("category number %d of a longish text", i*7))
	}
	for _, names := range [][]string{
		names,
		append([]string{"all others", "something else that is long, too, but not like them"}, names...),
		{"the same long name of two categories (5)", "the same long name of two categories (5)"},
		{strings.Repeat("a", 60) + "b" + strings.Repeat("c", 60), strings.Repeat("a", 60) + strings.Repeat("c", 60),
			strings.Repeat("a", 60) + "bb" + strings.Repeat("c", 60)},
		{strings.Repeat("a1", 40), strings.Repeat("a1", 20) + "xa" + strings.Repeat("a1", 19), strings.Repeat("a1", 10) +
			"xa" + strings.Repeat("a1", 29)},
		{"a", "b", "a", ""},
	} {
		shown := distinguished(names, mostNames)
		for i, text := range shown {
			must.Hold(t, width(text) <= mostNames,
				"%q is shown as %q, which takes %v", names[i], text, width(text))
			for k := range i {
				must.Hold(t, shown[k] != text || names[i] == names[k],
					"%q and %q are both %q", names[k], names[i], text)
			}
		}
		if shown[0] == names[0] && width(names[0]) > mostNames || strings.HasPrefix(names[len(names)-1], "category") &&
			!strings.HasSuffix(shown[len(names)-1], "number 77…") || names[0] == "all others" && shown[0] != names[0] {
			t.Errorf("%q", shown)
		}
	}
	c := NewChart("x", "")
	c.Y.Names = names
	c.Bars(Blue, make([]float64, len(names)))
	svg := must.Get(c.SVG(""))(t)
	if strings.Contains(svg, ">category…gish text<") || strings.Count(svg, "<title>category number ") != len(names) {
		t.Error(svg)
	}
}

// TestLongOffsets: a long label in the corner doesn't cover the label below it.
func TestLongOffsets(t *testing.T) {
	c := NewChart("x", "y")
	c.Line("", Blue, []XY{{1e6, 4.9999e12}, {1e6 + 1, 5.0009e12}})
	svg := must.Get(c.SVG(""))(t)
	texts := regexp.MustCompile(`<text `+
		`x="([0-9.]*)" y="([0-9.]*)" text-anchor="(\w+)">([^<]*)<`).FindAllStringSubmatch(svg, -1)
	type box struct{ left, right, top, bottom float64 }
	var all []box
	for _, m := range texts {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		w := width(m[4])
		b := box{x - w, x, y - letter, y + 2}
		if m[3] == middle {
			b.left, b.right = x-w/2, x+w/2
		}
		for k, o := range all {
			must.Hold(t, b.left >= o.right || o.left >= b.right || b.top >= o.bottom ||
				o.top >= b.bottom, "%q touches %q: %+v %+v", m[4], texts[k][4], b, o)
		}
		all = append(all, b)
	}
	must.Hold(t, len(all) >= 6, "%d labels in %s", len(all), svg)
}

// TestHeat: the picture fills the axes, and a bar explains its colours. A range with too few numbers is an error.
func TestHeat(t *testing.T) {
	g := Grid{Cols: 3, Rows: 2, Left: 1, Right: 4, Low: 10, High: 30, Z: []float64{0, 1, 2, 3, 4, 5}}
	must.Be(t, g.Centre(2, 0), (XY{3.5, 15}), "the last cell of the first row is at")
	c := NewChart("x", "y")
	must.Do(t, c.Heat("kg", g))
	svg := must.Get(c.SVG(""))(t)
	sizes := map[image.Point]int{}
	for _, m := range regexp.MustCompile(`base64,([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		raw := must.Get(base64.StdEncoding.DecodeString(m[1]))(t)
		picture := must.Get(png.Decode(bytes.NewReader(raw)))(t)
		at := func(x, y int) color.Color { return color.NRGBAModel.Convert(picture.At(x, y)) }
		size := picture.Bounds().Size()
		if sizes[size]++; size.X == 3 && (at(0, 1) != Shade(0) || at(2, 0) != Shade(1) || at(1, 1) != Shade(0.2)) {
			t.Error("cells aren't where they belong")
		}
	}
	must.Hold(t, sizes[image.Pt(3, 2)] == 1 && len(sizes) == 2, "pictures of sizes %v", sizes)
	frame := regexp.MustCompile(`class="frame" x="[^"]*" y="[^"]*" (width="[^"]*" height="[^"]*")`).FindStringSubmatch(svg)
	if frame == nil || !strings.Contains(svg, `<image class="heat" x="0" y="0" `+frame[1]+` preserveAspectRatio="none"`) {
		t.Errorf("the picture isn't as large as the axes: %.900s", svg)
	}
	must.Hold(t, c.X.low == 1 && c.X.high == 4 && c.Y.low == 10 && c.Y.high == 30,
		"axes %+v %+v", c.X, c.Y)
	if !strings.Contains(svg, ">kg</text>") || strings.Count(svg, `class="tick"`) < 2 {
		t.Error("a bar without a unit, or without ticks")
	}
	g.Right = math.Nextafter(1, 2)
	must.Fail(t, NewChart("", "").Heat("", g), "", "a range of one number has an axis")
}

// TestShade: the shades go from dark to light in one direction, and the ends are those of viridis.
func TestShade(t *testing.T) {
	before := -1.
	for i := range 101 {
		c := Shade(float64(i) / 100)
		light := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		must.Hold(t, light > before, "%d: lightness %v after %v", i, light, before)
		before = light
	}
	near := func(c color.NRGBA, r, g, b float64) bool {
		return math.Abs(float64(c.R)-r) < 12 && math.Abs(float64(c.G)-g) < 12 && math.Abs(float64(c.B)-b) < 12
	}
	must.Hold(t, near(Shade(0), 68, 1, 84) && near(Shade(0.5), 33, 145, 140) &&
		near(Shade(1), 253, 231, 37), "%v %v %v", Shade(0), Shade(0.5), Shade(1))
}
