package neighbours

// First moves the first k of rows, in the given order, to the front of rows. Among themselves they have any order
// (Hoare's selection).
func First[T any](rows []T, k int, order func(a, b T) int) {
	lo, hi := 0, len(rows)-1
	for lo < hi {
		pivot := rows[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for order(rows[i], pivot) < 0 {
				i++
			}
			for order(pivot, rows[j]) < 0 {
				j--
			}
			if i <= j {
				rows[i], rows[j] = rows[j], rows[i]
				i++
				j--
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return
		}
	}
}
