package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

func init() { logs[cpu.AVX2], logs[cpu.AVX512] = logAVX2, logAVX512 }
