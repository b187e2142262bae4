//go:build !unix

package serve

import "math"

// openFiles returns how many files the process may have open. On this system no limit is known.
func openFiles() uint64 { return math.MaxUint64 }
