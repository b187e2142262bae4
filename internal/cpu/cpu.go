// Package cpu chooses once, at start-up, which instruction set the numeric core uses.
package cpu

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/cpu"
)

// Level is an instruction set that the core has kernels for.
type Level int

// The levels, on each kind of processor slowest first.
const (
	Portable Level = iota // plain Go
	AVX2                  // amd64: 256-bit vectors with fused multiply-add
	AVX512                // amd64: 512-bit vectors (F, DQ, VL, BW)
	NEON                  // arm64: 128-bit vectors with fused multiply-add
	Levels                // the number of levels
)

var names = [Levels]string{"portable", "avx2", "avx512", "neon"}

func (l Level) String() string { return names[l] }

// EnvVar names the environment variable that forces a level, so that one machine can test all
// levels.
const EnvVar = "KRIGO_CPU"

// Available returns the levels that this processor has, slowest first.
// Every arm64 processor that Go runs on has NEON.
func Available() []Level {
	switch x := cpu.X86; {
	case runtime.GOARCH == "arm64":
		return []Level{Portable, NEON}
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512BW && x.HasFMA:
		return []Level{Portable, AVX2, AVX512}
	case x.HasAVX2 && x.HasFMA:
		return []Level{Portable, AVX2}
	}
	return []Level{Portable}
}

// Choose returns the level that EnvVar names, or the best one if it is unset.
// A level that is unknown or that the processor lacks is an error.
func Choose() (Level, error) {
	want := os.Getenv(EnvVar)
	available := Available()
	best := available[len(available)-1]
	if want == "" {
		return best, nil
	}
	l := Level(slices.Index(names[:], want))
	switch {
	case l < 0:
		return best, fmt.Errorf("%s=%s: want one of %v", EnvVar, want, names)
	case !slices.Contains(available, l):
		return best, fmt.Errorf("%s=%s: this processor has %v", EnvVar, want, available)
	}
	return l, nil
}
