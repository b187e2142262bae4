package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

func init() {
	functions[cpu.AVX2] = elementary{expAVX2, logAVX2, log1pAVX2, normalTailAVX2, sqrtAVX2}
	functions[cpu.AVX512] = elementary{expAVX512, logAVX512, log1pAVX512, normalTailAVX512, sqrtAVX512}
	vector = functions[Level]
}
