package main

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
)

func TestKMeans2(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/kmeans2.json"))(t)
	var golden struct {
		Cases []struct {
			Seed       uint32
			X, Centres [][]float64
		}
	}
	must.Do(t, json.Unmarshal(data, &golden))
	for _, c := range golden.Cases {
		z := must.Get(kmeans2(linalg.Of(len(c.X), len(c.X[0]), slices.Concat(c.X...)), len(c.Centres), c.Seed))(t)
		for i, v := range slices.Concat(c.Centres...) {
			must.Need(t, math.Abs(z.Data[i]-v) <= 1e-12,
				"seed %d: value %d is %v, scipy's %v", c.Seed, i, z.Data[i], v)
		}
	}
	must.Hold(t, len(golden.Cases) > 0, "no cases")
}
