package krigo

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/kernel"
)

const lengthscale = string(kernel.Lengthscale)

// parameter is what a parameter's name, as in "0.log_lengthscale2[3]", says of it.
type parameter struct {
	part  string // of the kernel, counted from 1, as "2.1"; "" of one that has no parts
	name  string // without its logarithm
	input string // the column that it belongs to, or ""
	value func(v float64) float64
}

func (p *plan) parameter(text string) (of parameter) {
	var parts []string
	for {
		head, rest, _ := strings.Cut(text, ".")
		n, err := strconv.Atoi(head)
		if err != nil {
			break
		}
		parts, text = append(parts, strconv.Itoa(n+1)), rest
	}
	of.part, of.value = strings.Join(parts, "."), func(v float64) float64 { return v }
	text, isLog := strings.CutPrefix(text, "log_")
	name, index, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if j, err := strconv.Atoi(index); err == nil && 1 <= j && j <= p.data.Cols {
		text, of.input = name, p.data.Inputs[j-1]
	}
	switch of.name = strings.ReplaceAll(text, "_", " "); {
	case of.name == lengthscale+"2":
		of.name, of.value = lengthscale, func(v float64) float64 { return math.Exp(v / 2) }
	case isLog:
		of.value = math.Exp
	}
	return of
}

// about makes findings of the parameters at: one of all that differ in their inputs alone.
func (p *plan) about(names []string, at []int,
	kind func(i int, of parameter) (finding.Kind, []float64)) (all finding.List) {
	type group struct {
		kind    finding.Kind
		of      parameter
		inputs  []string
		numbers []float64
	}
	var groups []*group
	for _, i := range at {
		of := p.parameter(names[i])
		k, numbers := kind(i, of)
		g := slices.IndexFunc(groups, func(g *group) bool {
			return g.kind == k && g.of.part == of.part && g.of.name == of.name && slices.Equal(g.numbers, numbers)
		})
		if g < 0 {
			g, groups = len(groups), append(groups, &group{k, of, []string{}, numbers})
		}
		if of.input != "" {
			groups[g].inputs = append(groups[g].inputs, of.input)
		}
	}
	for _, g := range groups {
		all.Add(g.kind, g.of.name, g.inputs, g.of.part, g.numbers)
	}
	return all
}
