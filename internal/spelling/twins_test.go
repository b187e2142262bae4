package spelling

import (
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestTwins: names that look the same are refused with their characters, and others aren't.
func TestTwins(t *testing.T) {
	for _, twins := range [][2]string{{"cat", "cаt"}, {"cat", "c\u200bat"}, {"cat", "cat "}, {"cat", "cat\u00a0"},
		{"A", "Α"}, {"ΑΒ", "АВ"}, {"e\u0301", "é"}, {"a-b", "a–b"}, {"a  b", "a b"}, {"\ufeffx", "х"}, {"ﬁn", "fin"},
		{"ё", "ë"}, {"b", "b"}, {"", "\u3164"}, {"e\u0308", "е\u0308"}} {
		err := Twins([]string{"dog", twins[0], twins[1]})
		must.Hold(t, err != nil, "%q", twins)
	}
	must.Be(t, Twins([]string{"cat", "cаt"}).Error(), `"cat" and "cаt" look the same: their characters are `+
		"[U+0063 U+0061 U+0074] and [U+0063 U+0430 U+0074]; rename one")
	must.Do(t, Twins([]string{"cat", "Cat", "cut", "кот", "γάτα", "0", "O", "1", "l", "I", "1.0", "a b", "ab", "é", "e"}))
}
