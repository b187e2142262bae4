package drawing

import (
	"fmt"
	"html"
	"strings"
	"unicode"
)

// letter is the height of the letters of a chart, in its own units, which are about pixels.
const letter = 12.

// width is what a text takes at most in the sans-serif and monospaced fonts that browsers have: which one will draw it, nobody knows here.
func width(text string) (w float64) {
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.So): // as wide as high
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

// The sides of a text that stands at a point.
const (
	start, middle, end = "start", "middle", "end"
)

// write writes a text of a width at most. One that was cut shows itself whole to a pointer.
func write(b *strings.Builder, x, y float64, anchor, text string, most float64) {
	shown := elided(text, most)
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
func short(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}
