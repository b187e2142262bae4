package spelling

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// alike has letters of other scripts, each before the Latin letter that it looks like.
var alike = strings.NewReplacer(strings.Fields("А A В B Е E З 3 І I Ї Ï Ј J К K М M Н H О O Р P " +
	"С C Ѕ S Т T У Y Ү Y Х X Ԍ G Ԛ Q Ԝ W Ӏ l а a с c ԁ d е e ё ë г r һ h і i ї ï ј j к k ӏ l о o " +
	"р p ԛ q ѕ s у y ү y х x ԝ w Α A Β B Ε E Ζ Z Η H Ι I Κ K " +
	"Μ M Ν N Ο O Ρ P Τ T Υ Y Χ X α a γ y η n ι i κ k ν v ο o ρ p υ u χ x ı i հ h օ o ս u " +
	"‐ - ‒ - – - — - − - ‘ ' ’ ' ʼ '")...)

// Twins returns an error if two of the names are equal, or look the same:
// letters of other scripts, characters without width, or spaces differ.
func Twins(names []string) error {
	unseen := func(c rune) rune {
		if unicode.In(c, unicode.Cf, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point) || c == '\u2800' {
			return -1
		}
		return c
	}
	seen := map[string]string{}
	for _, name := range names {
		look := alike.Replace(norm.NFKC.String(strings.Map(unseen, name)))
		look = strings.Join(strings.Fields(look), " ")
		if twin, twice := seen[look]; twice {
			return fmt.Errorf("%s and %s look the same: their characters are %U and %U; rename one",
				Quote(twin), Quote(name), []rune(Clip(twin)), []rune(Clip(name)))
		}
		seen[look] = name
	}
	return nil
}
