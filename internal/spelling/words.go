package spelling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Cut shortens text to at most the given number of characters.
func Cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Clip shortens text from a file for use in a message.
func Clip(s string) string { return Cut(s, 40) }

// Quote puts a name from a file in quotes, and cuts it if it is long.
func Quote(name string) string { return strconv.Quote(Clip(name)) }

// Quoted lists at most limit names, and then counts the rest.
func Quoted(names []string, limit int) string {
	return strings.Join(lists.Of(names[:min(limit, len(names))], Quote), ", ") +
		If(len(names) > limit, " and %d more", len(names)-limit)
}

// Listed joins texts by commas, with a word such as "and" before the last text.
func Listed(texts []string, word string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " " + word + " " + texts[last]
}

// Printable returns a name for a line on a terminal. It quotes the name if some characters don't
// print.
func Printable(name string) string {
	if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(name)
	}
	return name
}

// Escaped writes characters that don't print as escapes, so that a text can't end its line or speak
// to a terminal.
func Escaped(text string) string {
	var b strings.Builder
	for _, c := range text {
		if unicode.IsPrint(c) || c == '\u00a0' || c == '\u202f' {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
}

// once are the flags of a single value. Others that krigo suggests take a list.
var once = []string{"decimal", "thousands", "below", "duplicates", "group", "censored"}

// Once says whether a flag takes a single value.
func Once(flag string) bool { return slices.Contains(once, flag) }

// Flag returns a flag with its value, or values, as a shell takes them.
func Flag(name string, values ...string) string {
	return "--" + name + " " + Shell(Value(name, values...))
}

// Value returns the value of a flag, or its values if the flag takes a list.
// Lists are read as CSV, so Value quotes a value of a list that has a comma, a quote or a line
// break.
func Value(name string, values ...string) string {
	values = slices.Clone(values)
	if Once(name) {
		values = values[:1]
	}
	for i, v := range values {
		if strings.ContainsAny(v, ",\"\r\n") && !Once(name) {
			values[i] = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
		}
	}
	return strings.Join(values, ",")
}

// Shell quotes a word for a shell if it needs quotes.
func Shell(word string) string {
	plain := func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-+=./:,@%^", c)
	}
	switch {
	case word != "" && !strings.ContainsFunc(word, func(c rune) bool { return !plain(c) }):
		return word
	case strings.ContainsFunc(word, unicode.IsControl):
		quoted := strconv.Quote(word)
		return "$'" + strings.NewReplacer(`\"`, `"`, "'", `\'`).Replace(quoted[1:len(quoted)-1]) +
			"'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// If returns a text if is is true, and else "".
func If(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// Either returns the first text if is is true, and else the other one.
func Either(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}
