package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number matches a number.
var number = regexp.MustCompile(`(?:\d{1,3}(?:,\d{3})+\b|\d+)(?:\.\d+)?(?:e[+-]?\d+)?`)

// pattern returns a pattern for what a block shows, in which … matches any text, and the numbers of the block. The
// words between numbers and ellipses must be equal, but the number of spaces may differ.
func pattern(shown string) (*regexp.Regexp, []string) {
	var b strings.Builder
	var numbers []string
	b.WriteString(`(?s)^\s*`)
	for i, piece := range strings.Split(strings.TrimSpace(shown), "…") {
		if i > 0 {
			b.WriteString(`.*?`)
		}
		at := 0
		for _, n := range append(number.FindAllStringIndex(piece, -1), []int{len(piece), len(piece)}) {
			b.WriteString(regexp.MustCompile(`\s+`).ReplaceAllString(regexp.QuoteMeta(piece[at:n[0]]), `\s+`))
			if n[0] < n[1] {
				b.WriteString("(" + number.String() + ")")
				numbers = append(numbers, piece[n[0]:n[1]])
			}
			at = n[1]
		}
	}
	b.WriteString(`\s*$`)
	return regexp.MustCompile(b.String()), numbers
}

// compare returns an error if what is printed differs from what a block shows. Words must be equal. Numbers must be
// equal, too, or may differ by places units in the last place that is printed.
func compare(shown, printed string, places int) error {
	form, numbers := pattern(shown)
	found := form.FindStringSubmatch(printed)
	if found == nil {
		return fmt.Errorf("the words differ")
	}
	for i, n := range numbers {
		if !near(n, found[i+1], places) {
			return fmt.Errorf("the page shows %s, and the command prints %s", n, found[i+1])
		}
	}
	return nil
}

// near says whether two numbers differ by at most this many units in the last printed place.
func near(a, b string, places int) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(strings.ReplaceAll(a, ",", ""), 64)
	y, errY := strconv.ParseFloat(strings.ReplaceAll(b, ",", ""), 64)
	unit := min(lastPlace(a), lastPlace(b))
	return errX == nil && errY == nil && math.Abs(x-y) < (float64(places)+0.5)*unit
}

// lastPlace returns the unit of a number's last printed place. krigo prints large numbers with four digits and zeros.
func lastPlace(text string) float64 {
	digits, exponent, _ := strings.Cut(strings.ReplaceAll(text, ",", ""), "e")
	whole, decimals, _ := strings.Cut(digits, ".")
	e, _ := strconv.Atoi(exponent)
	zeros := len(whole) - len(strings.TrimRight(whole, "0"))
	if decimals == "" && len(whole) > 4 {
		e += min(zeros, len(whole)-4)
	}
	return math.Pow10(e - len(decimals))
}

// rewrite returns a block that shows what is printed, and leaves out what the old block leaves out. A line with an
// ellipsis inside keeps it. A block that is right stays as it is. lost are lines of the old block to which no printed line is similar: somebody has to look
// at the new block.
func rewrite(shown, printed string) (block string, lost []string, err error) {
	if compare(shown, printed, 0) == nil {
		return shown, nil, nil
	}
	old := paragraphs(strings.TrimSpace(shown))
	now := paragraphs(strings.TrimSpace(printed))
	twins := align(old, now)
	var b []string
	next := 0 // the first printed paragraph that is not done
	gap := false
	between := func(end int) {
		if !gap {
			b = append(b, now[next:end]...)
		} else if end > next && (len(b) == 0 || !strings.HasSuffix(b[len(b)-1], "…")) {
			b = append(b, "…")
		}
	}
	for i, was := range old {
		switch twin := twins[i]; {
		case was == "…":
			gap = true
		case twin >= 0:
			if strings.HasPrefix(was, "…") {
				next = twin
			}
			between(twin)
			b = append(b, filled(was, now[twin]))
			next = twin + 1
			gap = strings.HasSuffix(was, "…") // it may reach into the next lines
		case was != "":
			lost = append(lost, was)
		}
	}
	between(len(now))
	block = strings.Join(b, "\n")
	return block, lost, compare(block, printed, 0)
}

// filled returns the new form of a paragraph. If the old form has an ellipsis, only its numbers change.
func filled(was, now string) string {
	form, numbers := pattern(was)
	found := form.FindStringSubmatch(now)
	if !strings.Contains(was, "…") || found == nil {
		return now
	}
	var b strings.Builder
	for i, n := range numbers {
		before, after, _ := strings.Cut(was, n)
		b.WriteString(before + found[i+1])
		was = after
	}
	return b.String() + was
}

// columns is the width at which krigo wraps what it prints into a pipe.
const columns = 100

// paragraphs splits a text into its lines, and joins lines that krigo wrapped. A line continues the line above if its
// first word had no room there.
func paragraphs(text string) (all []string) {
	wide := 0 // columns of the line above
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " ")
		fields := strings.Fields(line)
		first := 0
		for k, word := range fields {
			if k == 0 || strings.HasPrefix(word, "%") { // a number stays with its %
				first += 1 + utf8.RuneCountInString(word)
			} else {
				break
			}
		}
		if i > 0 && len(fields) > 0 && wide <= columns && wide > 0 && wide+first > columns {
			all[len(all)-1] += "\n" + line
		} else {
			all = append(all, line)
		}
		wide = utf8.RuneCountInString(line)
	}
	return all
}

// similar is the least similarity of two paragraphs that are taken for the same.
const similar = 0.6

// align returns, for each old paragraph, the index of the new paragraph that takes its place, or -1. Their order is the
// same, and the sum of similarities is the largest.
func align(old, now []string) []int {
	best := make([][]float64, len(old)+1)
	best[len(old)] = make([]float64, len(now)+1)
	for i := len(old) - 1; i >= 0; i-- {
		best[i] = make([]float64, len(now)+1)
		for j := len(now) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s := similarity(old[i], now[j]); s >= similar {
				best[i][j] = max(best[i][j], s+best[i+1][j+1])
			}
		}
	}
	twins := make([]int, len(old))
	j := 0
	for i := range old {
		twins[i] = -1
		for j < len(now) && best[i][j] == best[i][j+1] {
			j++
		}
		if j < len(now) && best[i][j] > best[i+1][j] {
			twins[i] = j
			j++
		}
	}
	return twins
}

// similarity returns the share of words that two paragraphs have in common, all numbers being one word.
func similarity(was, now string) float64 {
	form, _ := pattern(was)
	if strings.Trim(was, " …") == "" || strings.TrimSpace(now) == "" {
		return 0
	} else if form.MatchString(now) {
		return 1
	}
	left := map[string]int{}
	there := strings.Fields(number.ReplaceAllString(now, "0"))
	for _, word := range there {
		left[word]++
	}
	common := 0
	wanted := strings.Fields(number.ReplaceAllString(was, "0"))
	for _, word := range wanted {
		if left[word] > 0 {
			left[word]--
			common++
		}
	}
	if strings.Contains(was, "…") {
		return float64(common) / float64(len(wanted))
	}
	return 2 * float64(common) / float64(len(wanted)+len(there))
}
