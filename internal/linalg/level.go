package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// Level is the instruction set in use, chosen once.
var Level, levelError = cpu.Choose()

// LevelError says why the instruction set that the environment asks for isn't in
// use, if so. Programs report it and stop: nobody asks without a reason.
func LevelError() error { return levelError }
