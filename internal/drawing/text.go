package drawing

import (
	"fmt"
	"html"
	"strings"
	"unicode"
)

// letter is the height of the letters of a chart, in its own units, which are about pixels.
const letter = 12.

// width is what a text takes at most in the sans-serif and monospaced fonts that browsers have: which one will draw it,
// nobody knows here.
func width(text string) (w float64) {
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.So):
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

// elided is a text cut to a width: in its middle, as names often differ at their ends.
func elided(text string, most float64) string {
	if width(text) <= most {
		return text
	}
	rs := []rune(text)
	head, tail := rs[:(len(rs)+1)/2], rs[(len(rs)+1)/2:]
	for len(head) > 0 && width(string(head)+"…"+string(tail)) > most {
		if len(tail) >= len(head) {
			tail = tail[1:]
		} else {
			head = head[:len(head)-1]
		}
	}
	return strings.TrimRight(string(head), " ") + "…" + strings.TrimLeft(string(tail), " ")
}

// distinguished are names cut to a width so that those that differ look different: in their middles, or where these
// make some alike at their ends, or at their beginnings. Where none of that tells all apart, those that would look
// alike end where they differ.
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
	groups, taken := map[string][][]rune{}, map[string]string{} // the name that each is shown for
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
			rs, first, last := []rune(name), common(group, 0), common(group, 1)
			text = begun(string(rs[:max(first, len(rs)-last)])+"…", most)
		}
		for n := 2; taken[text] != "" && taken[text] != name; n++ { // nothing short tells them apart but a number
			number := fmt.Sprintf(" #%d", n)
			text = elided(name, most-width(number)) + number
		}
		taken[text] = name
		shown = append(shown, text)
	}
	return shown
}

// ended is a text cut to a width at its end, begun one cut at its beginning.
func ended(text string, most float64) string {
	rs := []rune(text)
	for n := len(rs); width(text) > most && n > 0; n-- {
		text = strings.TrimRight(string(rs[:n-1]), " ") + "…"
	}
	return text
}

func begun(text string, most float64) string {
	rs := []rune(text)
	for n := 0; width(text) > most && n < len(rs); n++ {
		text = "…" + strings.TrimLeft(string(rs[n+1:]), " ")
	}
	return text
}

// common is how many characters texts begin with together, or from the other side end with.
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

// The sides of a text that stands at a point.
const (
	start, middle, end = "start", "middle", "end"
)

// write writes a text of a width at most. One that was cut shows itself whole to a pointer.
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

// short is a coordinate to a tenth of a pixel.
func short(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }
