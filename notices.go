package krigo

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/internal/cautious"
)

var (
	ofInput = regexp.MustCompile(`(?:log_)?(\pL+?)2?\[(\d+)\]`)
	edge    = regexp.MustCompile(`^((?:\d+\.)*)log_(\S+) ended on the edge of its range \[(\S+), (\S+)\], at (\S+)$`)
)

// Notices are those of a model in words: parameters by the names of their inputs and in place of their logarithms, and
// in one what ended on the same edge.
func Notices(m *Model) (said []string) {
	type end struct{ part, low, high, at string }
	names, places := map[end][]string{}, map[end]int{}
	for _, text := range m.Notices {
		found := edge.FindStringSubmatch(text)
		if found == nil || !strings.HasPrefix(found[2], "lengthscale2[") {
			said = append(said, notice(text, m.Inputs))
			continue
		}
		at := end{found[1], found[3], found[4], found[5]}
		if names[at] == nil {
			places[at] = len(said)
			said = append(said, "")
		}
		_, name, _ := strings.Cut(InWords(found[2], m.Inputs), " of ")
		names[at] = append(names[at], name)
	}
	for at, place := range places {
		of := "lengthscale of "
		if len(names[at]) > 1 {
			of = "lengthscales of "
		}
		said[place] = ended("lengthscale2[", of+strings.Join(names[at], ", ")+inPart(at.part), at.low, at.high, at.at)
	}
	for i := range said {
		said[i] = oneLine(said[i])
	}
	return said
}

// oneLine writes what isn't printed as it stands in quotes: notices may have names of columns.
func oneLine(text string) string {
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

// InWords has the names of inputs in the place of their numbers, from 1: "weight of DIS", not "weight[2]".
func InWords(text string, inputs []string) string {
	return ofInput.ReplaceAllStringFunc(text, func(found string) string {
		part := ofInput.FindStringSubmatch(found)
		j, err := strconv.Atoi(part[2])
		if err != nil || j < 1 || j > len(inputs) {
			return found
		}
		return part[1] + " of " + cautious.Name(inputs[j-1])
	})
}

func notice(text string, inputs []string) string {
	found := edge.FindStringSubmatch(text)
	if found == nil {
		return InWords(text, inputs)
	}
	name := InWords(found[2], inputs)
	if name == found[2] {
		name = strings.TrimSuffix(name, "2")
	}
	if said := ended(found[2], name+inPart(found[1]), found[3], found[4], found[5]); said != "" {
		return said
	}
	return InWords(text, inputs)
}

// inPart says which part of a sum or product has a parameter, counted from 1: "0." is the first's.
func inPart(prefix string) string {
	var parts []string
	for text := range strings.SplitSeq(strings.TrimSuffix(prefix, "."), ".") {
		if n, err := strconv.Atoi(text); err == nil {
			parts = append(parts, strconv.Itoa(n+1))
		}
	}
	if parts == nil {
		return ""
	}
	return " in part " + strings.Join(parts, ".") + " of the kernel"
}

// ended says that a parameter is on the edge of its range, which is told in logarithms; "" where that isn't one.
func ended(parameter, name, low, high, at string) string {
	lengthscale := strings.HasPrefix(parameter, "lengthscale2")
	var ends [3]float64
	for i, text := range []string{low, high, at} {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return ""
		}
		if ends[i] = math.Exp(v); lengthscale {
			ends[i] = math.Exp(v / 2)
		}
	}
	many := strings.HasPrefix(name, "lengthscales ")
	its, along := "its range", "along it"
	if many {
		its, along = "their range", "along each of them"
	}
	where := "at the lower end"
	if lengthscale {
		where += ": the function may change faster " + along + " than the range allows"
	}
	if ends[2] > math.Sqrt(ends[0]*ends[1]) {
		where = "at the upper end"
		if lengthscale {
			where += ": the function is nearly a straight line, or hardly changes, " + along
		}
	}
	return fmt.Sprintf("the %s ended on the edge of %s, %s to %s in scaled units, %s", name, its, cautious.Number(ends[0]),
		cautious.Number(ends[1]), where)
}
