package files

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestDrawSameBytes: any number of cores gives the same bytes, in either format. A shorter draw is the beginning of a
// longer draw.
func TestDrawSameBytes(t *testing.T) {
	dir := t.TempDir()
	g := Draw{Rows: 3*drawBlock + 5, Inputs: 3, Variance: 2, NoiseVariance: 0.1, Features: 20, Seed: 7}
	write := func(name string, g Draw) ([]byte, []float64) {
		t.Helper()
		path := filepath.Join(dir, name)
		l := must.Get(g.Write(context.Background(), path, nil))(t)
		raw := must.Get(os.ReadFile(path))(t)
		return raw, l
	}
	many, l := write("many.npy", g)
	previous := runtime.GOMAXPROCS(1)
	one, _ := write("one.npy", g)
	runtime.GOMAXPROCS(previous)
	must.Hold(t, bytes.Equal(one, many) && len(l) == 3,
		"other bytes on one core, or lengthscales %v", l)
	short := g
	short.Rows = drawBlock + 1
	begin, _ := write("short.npy", short)
	if head := len(many) - 32*g.Rows; !bytes.Equal(begin[head:], many[head:head+32*short.Rows]) {
		t.Error("a shorter draw has other rows")
	}
	short.Seed++
	if other, _ := write("other.npy", short); bytes.Equal(other, begin) {
		t.Error("the seed doesn't count")
	}
	short.Seed--
	write("short.csv.gz", short)
	a := must.Get(ReadFile(filepath.Join(dir, "short.csv.gz"), dataset.Reading{}))(t)
	b := must.Get(ReadFile(filepath.Join(dir, "short.npy"), dataset.Reading{}))(t)
	defer b.Close()
	must.Hold(t, slices.Equal(a.Names, b.Names) && slices.Equal(valuesOf(t, a), valuesOf(t, b)),
		"CSV and NPY differ")
}

// TestDrawCovariance: over many functions, f at two points has the kernel's covariance.
func TestDrawCovariance(t *testing.T) {
	const draws, features = 400, 50
	x, z := []float64{0.3, -0.5}, []float64{-0.2, 0.4}
	var product, square float64
	for seed := range uint64(draws) {
		f := Draw{Inputs: 2, Variance: 2, Features: features, Lengthscales: []float64{0.8, 1.5}, Seed: seed}.function()
		at := func(x []float64) float64 {
			sum := 0.0
			for k, angle := range f.phase {
				sum += math.Cos(angle + f.omega[2*k]*x[0] + f.omega[2*k+1]*x[1])
			}
			return math.Sqrt(2*2./features) * sum
		}
		product += at(x) * at(z) / draws
		square += at(x) * at(x) / draws
	}
	want := 2 * math.Exp(-0.5*(math.Pow(0.5/0.8, 2)+math.Pow(0.9/1.5, 2)))
	if math.Abs(product-want) > 0.4 || math.Abs(square-2) > 0.5 { // three standard deviations of the means
		t.Errorf("covariance %.3f, want %.3f; variance %.3f, want 2", product, want, square)
	}
}

func TestDrawRefuses(t *testing.T) {
	good := Draw{Rows: 1, Inputs: 2, Variance: 1, Features: 1}
	for want, change := range map[string]func(g *Draw){
		"0 rows":                       func(g *Draw) { g.Rows = 0 },
		"of 0 inputs":                  func(g *Draw) { g.Inputs = 0 },
		"from 0 features":              func(g *Draw) { g.Features = 0 },
		"variance NaN":                 func(g *Draw) { g.Variance = math.NaN() },
		"noise variance -1":            func(g *Draw) { g.NoiseVariance = -1 },
		"3 lengthscales for 2 inputs":  func(g *Draw) { g.Lengthscales = []float64{1, 1, 1} },
		"lengthscale 0: want a positi": func(g *Draw) { g.Lengthscales = []float64{0} },
	} {
		g := good
		change(&g)
		wantError(t, g.Validate(), want)
		if _, err := g.Write(context.Background(), filepath.Join(t.TempDir(), "x.npy"), nil); err == nil {
			t.Errorf("%s: written", want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	must.Refuse(good.Write(ctx, filepath.Join(dir, "x.npy"), nil))(t, "", "written after the end")
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}
