//go:build !unix

package serve

import "math"

// openFiles returns how many files the process may have open: no limit is known here.
func openFiles() uint64 { return math.MaxUint64 }
