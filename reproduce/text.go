package reproduce

import (
	"fmt"
	"io"
	"strings"
)

// header prints the head of a Markdown table.
func header(w io.Writer, cells []string) {
	line(w, cells)
	fmt.Fprintln(w, "|"+strings.Repeat("---|", len(cells)))
}

// line prints a row of a Markdown table.
func line(w io.Writer, cells []string) { fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |") }
