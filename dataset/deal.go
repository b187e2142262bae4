package dataset

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/ranks"
)

// digest stands for a row or a group. It is the SHA-256 of the bytes.
type digest [sha256.Size]byte

// Units holds what gets roles: the rows of all ranks, or groups of rows that belong together.
type Units struct {
	Count int    // number of rows, or of groups
	Hash  string // SHA-256 of all rows, in hex, for any order of rows (see HashOf)
	// SHA-256 of the sorted targets alone, in hex: the same however a fit treats the other columns
	Targets string

	cells int // number of input columns
	rows  []digest
	group []int    // number of every row's group; nil: rows aren't grouped
	names []digest // digests of the groups, sorted
}

// Units reads all rows once, and returns them as units that are known by their content.
func (d *Data) Units() (*Units, error) {
	var rows, groups []digest
	var targets []uint64
	err := d.eachRow(d.All(), func(row, group []byte) {
		rows = append(rows, sha256.Sum256(row))
		// The eight bytes before the group's are the target, or the last of several targets.
		targets = append(targets, binary.LittleEndian.Uint64(row[len(row)-len(group)-8:]))
		if d.group != nil {
			groups = append(groups, sha256.Sum256(group))
		}
	})
	if err = d.Ranks().Agree(err); err != nil {
		return nil, err
	}
	u := &Units{cells: len(d.inputs)}
	if u.rows, err = ranks.Gather(d.Ranks(), rows); err != nil {
		return nil, err
	}
	u.Count, u.Hash = len(u.rows), u.HashOf(linalg.UpTo(len(u.rows)))
	if targets, err = ranks.Gather(d.Ranks(), targets); err != nil {
		return nil, err
	}
	// Sorted bits make the hash the same for any order of rows.
	slices.Sort(targets)
	h := sha256.New()
	for _, bits := range targets {
		h.Write(binary.LittleEndian.AppendUint64(nil, bits))
	}
	u.Targets = hex.EncodeToString(h.Sum(nil))
	if d.group == nil {
		return u, nil
	}
	if groups, err = ranks.Gather(d.Ranks(), groups); err != nil {
		return nil, err
	}
	// Groups are numbered in the order of their digests, and so by their content alone.
	u.names = slices.Clone(groups)
	slices.SortFunc(u.names, compare)
	u.names = slices.Compact(u.names)
	u.Count = len(u.names)
	u.group = make([]int, len(groups))
	for i, g := range groups {
		u.group[i], _ = slices.BinarySearchFunc(u.names, g, compare)
	}
	return u, nil
}

// Groups returns the number of every row's group, or nil if rows aren't grouped.
func (u *Units) Groups() []int { return u.group }

// Groups returns the number of every row's group, or nil if rows aren't grouped.
// It reads the rows if they are grouped.
func (d *Data) Groups() ([]int, error) {
	if d.group == nil {
		return nil, nil
	}
	u, err := d.Units()
	if err != nil {
		return nil, err
	}
	return u.group, nil
}

// Repeats counts the rows that equal an earlier row in inputs and target, and returns the first
// such row.
func (u *Units) Repeats() (count, first int) {
	order := ascending(u.rows)
	for k := 1; k < len(order); k++ {
		if row := order[k]; u.rows[row] == u.rows[order[k-1]] {
			if count == 0 || row < first {
				first = row
			}
			count++
		}
	}
	return count, first
}

// compare orders digests as big-endian numbers.
func compare(a, b digest) int { return bytes.Compare(a[:], b[:]) }

// HashOf identifies the rows with these numbers, in any order.
// It returns the SHA-256, in hex, of the number of rows and the number of input columns, as
// little-endian uint64, and then of the SHA-256s of each row's bytes (see [Data.Hash]) in ascending
// order. The hash is part of the model-file format.
func (u *Units) HashOf(rows []int) string {
	digests := lists.Of(rows, func(row int) digest { return u.rows[row] })
	slices.SortFunc(digests, compare)
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil,
		uint64(len(rows))), uint64(u.cells)))
	for _, d := range digests {
		h.Write(d[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// inOrder is the size, in numbers, of the largest table (2 GiB) whose rows are used in the order in
// which they were dealt. The rows of a larger table are used in the file's order, because such a
// table may not fit in memory, and random reads would take too long.
const inOrder = 1 << 28

// Deal deals units in the order of their keys:
// first test, then calibration, then prior, and the rest are certified.
// A row's key is a SHA-256 of the seed, of the hash of all rows, of the row's content, and of the
// number of equal rows before it. A group's key has the group's content in place of the row's.
// So the same rows get the same roles wherever they stand, and roles are random even if a file is
// sorted. Because a key depends on all rows, a row's role in one table says nothing about an equal
// row's role in another table. The rule is part of the model-file format.
//
// Test rows are dealt first, so that they stay the same when the other counts change.
func (u *Units) Deal(seed uint64, asked Counts) (Roles, error) {
	counts, err := complete(u.Count, asked)
	if err != nil {
		return Roles{}, err
	}
	salt := binary.LittleEndian.AppendUint64([]byte("krigo roles "+u.Hash+" "), seed)
	rowKeys := keys(salt, u.rows)
	place := make([]int, u.Count) // position of each unit in the order of keys
	units := rowKeys
	if u.group != nil {
		units = keys(append(slices.Clip(salt), " group"...), u.names)
	}
	order := linalg.UpTo(len(units))
	slices.SortFunc(order, func(a, b int) int { return units[a].compare(units[b]) })
	for k, i := range order {
		place[i] = k
	}
	roles := Roles{Of: make([]Role, len(u.rows)), Group: u.group}
	roleOf := make([]Role, 0, u.Count) // role of each unit, in the order of keys
	for role, n := range counts {
		roleOf = append(roleOf, slices.Repeat([]Role{Role(role)}, n)...)
	}
	placeOf := func(row int) int {
		if u.group != nil {
			row = u.group[row]
		}
		return place[row]
	}
	for i := range roles.Of {
		roles.Of[i] = roleOf[placeOf(i)]
	}
	if len(u.rows)*(u.cells+1) <= inOrder {
		roles.Order = linalg.UpTo(len(u.rows))
		slices.SortFunc(roles.Order, func(a, b int) int {
			return cmp.Or(cmp.Compare(placeOf(a), placeOf(b)), rowKeys[a].compare(rowKeys[b]))
		})
	}
	return roles, nil
}

// key decides the order in which units are dealt.
type key struct{ high, low uint64 }

// compare orders keys as 128-bit numbers.
func (k key) compare(l key) int {
	return cmp.Or(cmp.Compare(k.high, l.high), cmp.Compare(k.low, l.low))
}

// ascending returns the indices of digests in ascending order of the digests.
// Equal digests keep their order.
func ascending(digests []digest) []int {
	order := linalg.UpTo(len(digests))
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(compare(digests[a], digests[b]), cmp.Compare(a, b))
	})
	return order
}

// keys returns the keys of digests. Equal digests get different keys, by the number of equal
// digests before them.
func keys(salt []byte, digests []digest) []key {
	order := ascending(digests)
	keys := make([]key, len(digests))
	var text []byte
	before := uint64(0)
	for k, i := range order {
		if k > 0 && digests[i] == digests[order[k-1]] {
			before++
		} else {
			before = 0
		}
		text = append(append(text[:0], salt...), digests[i][:]...)
		sum := sha256.Sum256(binary.LittleEndian.AppendUint64(text, before))
		keys[i] = key{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
	}
	return keys
}
