package ties

import (
	"cmp"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
)

const (
	mostP       = 0.01 // chance that an independent table has any candidate that shows as much
	mostApartP  = 0.005
	leastApart  = 1.2  // Apart, for columns
	leastNested = 1.02 // Apart, for columns that nest (see Nests): chance makes no such columns
	// Apart, for blocks whose place is an input: a gap always makes errors a little worse
	leastBlocks = 1.3
	leastCopies = 2
	leastAlike  = 0.05
	// Alike times the number of other rows in a unit, by which the variance of averages grows
	leastDesign = 0.25
	// fewer units may be kinds of rows, unless a unit's rows stand together in the file
	fewNames = 8
	// an input that explains a larger share of squared errors in new units is a measure
	leastRead  = 0.1
	shareRead  = 0.7 // leastRead as a share of Alike; the larger of the two limits counts
	nestedRead = 0.5 // leastRead for columns that nest
)

// Found returns the candidates that tie rows together.
func Found(all []Tie) []Tie {
	found := finest(surely(lists.If(all, func(t Tie) bool { return t.Kind != Setting })))
	settings := surely(lists.If(all, func(t Tie) bool { return t.Kind == Setting }))
	if len(settings) == 0 {
		return found
	}
	most := slices.MaxFunc(settings, func(a, b Tie) int {
		return cmp.Compare(a.clearly(), b.clearly())
	})
	if slices.ContainsFunc(found, func(t Tie) bool {
		return t.Kind != Pair && t.Kind != Order && (within(most.Of, t.Of) || within(t.Of, most.Of))
	}) {
		return found
	}
	return append(lists.If(found, func(t Tie) bool {
		return t.Kind != Pair && t.Kind != Order
	}), most)
}

// clearly says how clearly a unit's rows are alike.
// Of all settings it is largest where all rows of a setting are in one unit, and no others.
func (t Tie) clearly() float64 { return t.Alike * math.Sqrt(float64(t.Units)) }

// surely returns those of several candidates that tie rows together.
func surely(all []Tie) (some []Tie) {
	for i, sure := range holm(all) {
		if all[i].ties(sure) {
			some = append(some, all[i])
		}
	}
	return some
}

// holm says for each candidate whether its AlikeP is too small for chance.
// In at most 1 of 100 independent tables it says so for any candidate (Holm 1979).
func holm(all []Tie) []bool {
	order := linalg.UpTo(len(all))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(all[a].AlikeP, all[b].AlikeP)
	})
	sure := make([]bool, len(all))
	for rank, i := range order {
		if all[i].AlikeP*float64(len(all)-rank) > mostP {
			break
		}
		sure[i] = true
	}
	return sure
}

// decided says whether candidates that can't tie rows together leave open what holm says of others:
// it says the most if the AlikeP of all of them is 0, and the least if it is 1.
func decided(all []Tie) bool {
	said := func(p float64) []bool {
		some := lists.If(all, func(t Tie) bool { return t.Kind != Setting })
		var may []int
		for i := range some {
			if some[i].may(some[i].Units) {
				may = append(may, i)
			} else {
				some[i].AlikeP = p
			}
		}
		sure := holm(some)
		return lists.Of(may, func(i int) bool { return sure[i] })
	}
	return slices.Equal(said(0), said(1))
}

// ties says whether the rows of a candidate's units depend on one another so much that a
// certificate of single rows would be wrong about new units. sure says that holm holds AlikeP too
// small for chance. What else must be true depends on the kind: columns that are inputs may measure
// something, and copies must help to predict one another.
func (t Tie) ties(sure bool) bool {
	others := float64(t.Rows)/float64(t.Units) - 1
	sure = sure && (t.Alike >= leastAlike || t.Alike*others >= leastDesign)
	apart := func(least float64) bool { return t.Apart >= least && t.ApartP <= mostApartP }
	switch {
	case t.Kind == Copies:
		return apart(leastCopies)
	case t.Kind == Column && len(t.Inputs) > 0:
		return !t.measures() && (sure || apart(leastApart) || (t.Nests && apart(leastNested)))
	case t.Kind == Column:
		return sure || (t.Nests && apart(leastApart))
	case t.Kind == Setting:
		// On a grid a bend of the function looks like effects of settings, but then new settings
		// are predicted as well.
		return sure && ((!t.Chance && t.Units >= manySettings) || t.Apart >= leastApart)
	case t.Kind != Pair && len(t.Inputs) > 0:
		return sure && apart(leastBlocks)
	}
	return sure
}

// measures says whether the candidate's input measures something, or holds a few kinds, instead of
// naming units. The model can read between the values of a measure.
func (t Tie) measures() bool {
	switch read := 1 - t.Unordered*t.Unordered; {
	case t.few(t.Units):
		return true
	case t.Named:
		return false
	case t.Nests:
		return read > nestedRead
	default:
		return read > max(leastRead, shareRead*t.Alike)
	}
}

// few says whether so few units are held to be kinds of rows, and no units.
func (c Candidate) few(units int) bool { return units < fewNames && !c.Sorted }

// may says whether a candidate can tie rows together, whatever is measured.
func (c Candidate) may(units int) bool {
	return c.Kind != Column || len(c.Inputs) == 0 || !c.few(units)
}

// asksApart says whether Apart decides about a candidate.
func (c Candidate) asksApart() bool {
	return c.Kind == Copies || c.Nests || (c.Kind != Pair && len(c.Inputs) > 0)
}

// finest leaves out ties that follow from other ties.
// If a column ties, pairs of columns and blocks of the file are left out, and also every column
// whose units are unions of its units. Of blocks of several sizes, the smallest stay for space, and
// the largest for time and the file. Of several pairs the last stays.
func finest(found []Tie) (left []Tie) {
	columns := slices.DeleteFunc(slices.Clone(found), func(t Tie) bool { return t.Kind != Column })
	for i, t := range found {
		follows := func(u Tie) bool {
			switch t.Kind {
			case Column:
				return within(u.Of, t.Of) && !(within(t.Of, u.Of) && t.before(u))
			case Pair:
				return true
			}
			return t.Kind == Order
		}
		if slices.ContainsFunc(columns, func(u Tie) bool {
			return !slices.Equal(t.Names, u.Names) && follows(u)
		}) || (t.Kind == Place && slices.ContainsFunc(found[:i], t.sameKind)) ||
			(t.Kind != Column && t.Kind != Place && slices.ContainsFunc(found[i+1:], t.sameKind)) {
			continue
		}
		left = append(left, t)
	}
	return left
}

// sameKind says whether both candidates are of one kind, such as blocks of two sizes.
func (t Tie) sameKind(u Tie) bool { return t.Kind == u.Kind }

// before says whether to report t, and not u, if both columns divide the rows into the same units.
func (t Tie) before(u Tie) bool {
	if len(t.Inputs) != len(u.Inputs) {
		return len(t.Inputs) < len(u.Inputs)
	}
	return slices.Compare(t.Names, u.Names) < 0
}
