package kernel

import (
	"fmt"
	"strings"
)

// How expressions, and the names of a Spec, say which columns a kernel sees.

// Split returns the expressions of a list with commas.
func Split(list string) (all []string) {
	for {
		before, rest := until(list, false)
		all = append(all, strings.TrimSpace(before))
		if rest == "" {
			return all
		}
		list = rest[1:]
	}
}

// until returns the text before the first comma outside quotes and parentheses, and the rest from
// this comma on. If closing is set, a parenthesis that closes none of the text also ends it.
func until(text string, closing bool) (before, rest string) {
	depth := 0
	quoted := false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' && depth <= 0, c == ')' && depth == 0 && closing:
			return text[:i], text[i:]
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	return text, ""
}

// cutColumns reads the columns of a kernel up to the closing parenthesis.
func cutColumns(name, text string) (columns []string, rest string, err error) {
	for end := ","; end == ","; {
		before, rest := until(text, true)
		if rest == "" {
			return nil, "", fmt.Errorf("a parenthesis or a quote isn't closed after %.40q", name)
		}
		column := strings.TrimSpace(before)
		if n := len(column) - 1; n > 0 && column[0] == '"' && column[n] == '"' {
			column = strings.ReplaceAll(column[1:n], `""`, `"`)
		}
		if column == "" {
			return nil, "", fmt.Errorf("the name of a column is missing after %.40q", name)
		}
		columns = append(columns, column)
		end = rest[:1]
		text = rest[1:]
	}
	return columns, text, nil
}

// onName returns the name of a kernel on columns.
func onName(name string, columns []string) string {
	names := make([]string, len(columns))
	for i, name := range columns {
		if names[i] = name; name != strings.TrimSpace(name) || strings.ContainsAny(name, `,()"`) {
			names[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name + "(" + strings.Join(names, ", ") + ")"
}
