package spelling

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut shortens text to so many characters.
func Cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Clip shortens text from a file for use in a message.
func Clip(s string) string { return Cut(s, 40) }

// Quote is a name from a file in quotes, cut if it is long.
func Quote(name string) string { return strconv.Quote(Clip(name)) }

// Quoted lists names, at most limit of them, then a count of the rest.
func Quoted(names []string, limit int) string {
	var b strings.Builder
	for i, name := range names {
		if i == limit {
			fmt.Fprintf(&b, " and %d more", len(names)-limit)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Quote(name))
	}
	return b.String()
}

// Printable is a name as it may stand in a line on a terminal: quoted where it has characters that don't print.
func Printable(name string) string {
	if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(name)
	}
	return name
}

// Shell quotes a word for a shell where it needs that.
func Shell(word string) string {
	plain := func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-+=./:,@%^", c)
	}
	switch {
	case word != "" && !strings.ContainsFunc(word, func(c rune) bool { return !plain(c) }):
		return word
	case strings.ContainsFunc(word, unicode.IsControl):
		quoted := strconv.Quote(word)
		return "$'" + strings.NewReplacer(`\"`, `"`, "'", `\'`).Replace(quoted[1:len(quoted)-1]) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
