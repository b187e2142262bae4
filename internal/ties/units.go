package ties

import "slices"

// units returns the rows of each unit, in the order of the units' numbers.
func units(of []int) [][]int {
	all := make([][]int, max(0, slices.Max(append([]int{-1}, of...))+1))
	for row, u := range of {
		if u >= 0 {
			all[u] = append(all[u], row)
		}
	}
	return slices.DeleteFunc(all, func(rows []int) bool { return len(rows) == 0 })
}

// within says whether every unit of fine lies in a unit of coarse.
func within(fine, coarse []int) bool {
	for _, rows := range units(fine) {
		if slices.ContainsFunc(rows, func(row int) bool { return coarse[row] < 0 || coarse[row] != coarse[rows[0]] }) {
			return false
		}
	}
	return true
}
