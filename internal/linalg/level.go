package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// Level is the instruction set in use, chosen once.
var Level, levelError = cpu.Choose()

// LevelError says why the instruction set of the environment variable isn't in use. Programs report it and stop,
// since the user asked for that instruction set.
func LevelError() error { return levelError }
