package drawing

import (
	"fmt"
	"html"
	"strings"
	"unicode"
)

// letter is the height of a chart's letters, in the chart's units, which are about pixels.
const letter = 12.

// width returns the largest width of a text in the sans-serif and monospaced fonts of browsers.
// It is unknown which font will draw it.
func width(text string) (w float64) {
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana,
			unicode.Katakana, unicode.So):
			// as wide as high
			w += 1.05
		case strings.ContainsRune("mwMW@%…—", r):
			w += 1
		case unicode.IsUpper(r):
			w += 0.73
		case r > unicode.MaxLatin1:
			w += 0.85
		default:
			w += 0.63
		}
	}
	return letter * w
}

// elided cuts a text to a width, in its middle, since names often differ at their ends.
func elided(text string, most float64) string {
	if width(text) <= most {
		return text
	}
	rs := []rune(text)
	head := rs[:(len(rs)+1)/2]
	tail := rs[(len(rs)+1)/2:]
	for len(head) > 0 && width(string(head)+"…"+string(tail)) > most {
		if len(tail) >= len(head) {
			tail = tail[1:]
		} else {
			head = head[:len(head)-1]
		}
	}
	return strings.TrimRight(string(head), " ") + "…" + strings.TrimLeft(string(tail), " ")
}

// distinguished cuts names to a width so that different names look different.
// It cuts them in the middle, or, if some would look alike, at their ends or at their beginnings.
// If nothing makes all of them differ, names that would look alike get the part in which they
// differ.
func distinguished(names []string, most float64) []string {
	var shown []string
	for _, cut := range []func(string, float64) string{elided, ended, begun} {
		alike := map[string]string{}
		shown = shown[:0]
		for _, name := range names {
			text := cut(name, most)
			if other, found := alike[text]; found && other != name {
				break
			}
			alike[text] = name
			shown = append(shown, text)
		}
		if len(shown) == len(names) {
			return shown
		}
	}
	// groups maps a cut text to all names that it stands for.
	groups := map[string][][]rune{}
	taken := map[string]string{} // taken: the name behind each shown text
	for _, name := range names {
		text := elided(name, most)
		groups[text] = append(groups[text], []rune(name))
		if text == name {
			taken[text] = name
		}
	}
	shown = shown[:0]
	for _, name := range names {
		text := elided(name, most)
		group := groups[text]
		if text != name && len(group) > 1 {
			rs := []rune(name)
			first := common(group, 0)
			last := common(group, 1)
			text = begun(string(rs[:max(first, len(rs)-last)])+"…", most)
		}
		// only a number tells them apart
		for n := 2; taken[text] != "" && taken[text] != name; n++ {
			number := fmt.Sprintf(" #%d", n)
			text = elided(name, most-width(number)) + number
		}
		taken[text] = name
		shown = append(shown, text)
	}
	return shown
}

// ended cuts off the end of a text that is wider than most, and puts … in its place.
func ended(text string, most float64) string {
	rs := []rune(text)
	for n := len(rs); width(text) > most && n > 0; n-- {
		text = strings.TrimRight(string(rs[:n-1]), " ") + "…"
	}
	return text
}

// begun cuts off the beginning of a text that is wider than most, and puts … in its place.
func begun(text string, most float64) string {
	rs := []rune(text)
	for n := 0; width(text) > most && n < len(rs); n++ {
		text = "…" + strings.TrimLeft(string(rs[n+1:]), " ")
	}
	return text
}

// common returns how many characters texts share at their beginning, or at their end.
func common(texts [][]rune, side int) (n int) {
	at := func(rs []rune) rune {
		if side == 0 {
			return rs[n]
		}
		return rs[len(rs)-1-n]
	}
	for {
		for _, rs := range texts {
			if n == len(rs) || at(rs) != at(texts[0]) {
				return n
			}
		}
		n++
	}
}

// The side of a point on which the point's text stands.
const (
	start, middle, end = "start", "middle", "end"
)

// write writes a text of at most this width. A text that was cut appears whole under the pointer.
func write(b *strings.Builder, x, y float64, anchor, text string, most float64) {
	writeAs(b, x, y, anchor, text, elided(text, most))
}

// writeAs writes a text in a shorter form.
func writeAs(b *strings.Builder, x, y float64, anchor, text, shown string) {
	fmt.Fprintf(b, `<text x="%s" y="%s"`, short(x), short(y))
	if anchor != start {
		fmt.Fprintf(b, ` text-anchor="%s"`, anchor)
	}
	if b.WriteByte('>'); shown != text {
		fmt.Fprintf(b, "<title>%s</title>", html.EscapeString(text))
	}
	b.WriteString(html.EscapeString(shown) + "</text>")
}

// short formats a coordinate to a tenth of a pixel.
func short(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }
