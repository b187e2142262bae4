// Package lists makes lists by a function of each element.
package lists

import "slices"

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
