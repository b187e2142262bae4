// Package cpu chooses once, at start-up, which instruction set the numeric core uses.
package cpu

import (
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
)

// Level is an instruction set that the core has kernels for.
type Level int

// The levels, slowest first.
const (
	Portable Level = iota // plain Go
	AVX2                  // 256-bit vectors with fused multiply-add
	AVX512                // 512-bit vectors (F, DQ, VL, BW)
)

var names = [...]string{"portable", "avx2", "avx512"}

func (l Level) String() string { return names[l] }

// EnvVar names the environment variable that forces a level, so that one machine can test all levels.
const EnvVar = "KRIGO_CPU"

// Best returns the highest level that this processor has.
func Best() Level {
	switch x := cpu.X86; {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512BW && x.HasFMA:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return Portable
}

// Choose returns the level that EnvVar names, or the best one if it is unset. A
// level that is unknown or that the processor lacks is an error.
func Choose() (Level, error) {
	want := os.Getenv(EnvVar)
	if want == "" {
		return Best(), nil
	}
	for l, name := range names {
		if name == want {
			if Level(l) > Best() {
				return Best(), fmt.Errorf("%s=%s: this processor has %s at best", EnvVar, want, Best())
			}
			return Level(l), nil
		}
	}
	return Best(), fmt.Errorf("%s=%s: want one of %v", EnvVar, want, names)
}
