// Package linalg is the only door to dense linear algebra and to elementary
// functions on slices. Nothing above it knows which routines do the work.
//
// Three layers. A tile kernel (tile.go; gen writes those in assembly, for AVX-512
// and AVX2) multiplies, solves or transposes what fits into registers. Panels
// (panels.go) are the one form in which kernels read their operands; packing absorbs
// transposes and strides. The routines cut their work into panels and blocks and
// share those out: a Cholesky step solves for packed rows and, without packing them
// again, takes their product from the rest. What the kernels don't serve, one vector
// at a time, gonum does.
//
// Matrices are row-major float64. Routines name their destination last, as BLAS
// does, and never allocate it. A result doesn't depend on the number of cores:
// work is cut into blocks of fixed size, and what is reduced is reduced in a
// fixed order. The number of cores is GOMAXPROCS. It does depend, within rounding, on
// the instruction set: AVX-512 and AVX2 add in the same order with fused
// multiply-adds, portable code may round each product.
//
// Shape mistakes are mistakes of the program and panic; numerical trouble (a
// matrix that isn't positive definite) is an error.
package linalg
