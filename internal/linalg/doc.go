// Package linalg is the only door to dense linear algebra and to elementary
// functions on slices. Nothing above it knows which routines do the work: today
// gonum's, under blocked algorithms that keep every core busy.
//
// Matrices are row-major float64. Routines name their destination last, as BLAS
// does, and never allocate it. A result doesn't depend on the number of cores:
// work is cut into blocks of fixed size, and what is reduced is reduced in a
// fixed order. The number of cores is GOMAXPROCS.
//
// Shape mistakes are mistakes of the program and panic; numerical trouble (a
// matrix that isn't positive definite) is an error.
package linalg
