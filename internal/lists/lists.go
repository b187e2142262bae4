// Package lists makes lists by a function of each element.
package lists

import (
	"iter"
	"slices"
)

// Of returns f of each element of a list.
func Of[T, U any](list []T, f func(v T) U) (of []U) {
	of = slices.Grow(of, len(list))
	for _, v := range list {
		of = append(of, f(v))
	}
	return of
}

// To returns f of each number from 0 to n−1.
func To[U any](n int, f func(i int) U) []U {
	of := make([]U, n)
	for i := range of {
		of[i] = f(i)
	}
	return of
}

// If returns the elements of a list for which is says yes.
func If[T any](list []T, is func(v T) bool) (some []T) {
	for _, v := range list {
		if is(v) {
			some = append(some, v)
		}
	}
	return some
}

// Blocks returns the first number and the end of each block of size numbers that 0 to n−1 are cut
// into. The last block may be shorter.
func Blocks(n, size int) iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		for first := 0; first < n; first += size {
			if !yield(first, min(first+size, n)) {
				return
			}
		}
	}
}

// Where returns the numbers from 0 to n−1 for which is says yes.
func Where(n int, is func(i int) bool) (some []int) {
	for i := range n {
		if is(i) {
			some = append(some, i)
		}
	}
	return some
}

// Numbered numbers the different elements of a list from 0, in the order in which they first
// appear.
func Numbered[T comparable](list []T) (numbers []int, different int) {
	number := map[T]int{}
	numbers = slices.Grow(numbers, len(list))
	for _, v := range list {
		n, known := number[v]
		if !known {
			n = len(number)
			number[v] = n
		}
		numbers = append(numbers, n)
	}
	return numbers, len(number)
}

// Order returns the numbers of a list's elements in the order that compare gives the elements.
// Equal elements keep their order.
func Order[T any](list []T, compare func(a, b T) int) []int {
	order := To(len(list), func(i int) int { return i })
	slices.SortStableFunc(order, func(a, b int) int { return compare(list[a], list[b]) })
	return order
}

// Find returns the first element of a list for which is says yes, and whether there is one.
func Find[T any](list []T, is func(v T) bool) (v T, found bool) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], true
	}
	return v, false
}

// Sum adds up f of each element of a list.
func Sum[T any, N int | float64](list []T, f func(v T) N) (sum N) {
	for _, v := range list {
		sum += f(v)
	}
	return sum
}

// At returns list[i], or otherwise if there is no list.
func At[T any](list []T, i int, otherwise T) T {
	if list == nil {
		return otherwise
	}
	return list[i]
}

// Spread returns some of the numbers 0 to n−1, or all of these if n is smaller, spaced evenly.
func Spread(n, some int) []int {
	some = min(n, some)
	return To(some, func(i int) int { return i * n / some })
}

// Members returns the indices of each number in of. It leaves out negative numbers, and numbers that
// aren't in of.
func Members(of []int) [][]int {
	all := make([][]int, max(0, slices.Max(append([]int{-1}, of...))+1))
	for i, n := range of {
		if n >= 0 {
			all[n] = append(all[n], i)
		}
	}
	return slices.DeleteFunc(all, func(members []int) bool { return len(members) == 0 })
}
