package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

func init() { logs[cpu.NEON] = logNEON }
