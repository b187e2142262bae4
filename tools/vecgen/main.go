// Command vecgen writes the assembly of the numeric core: for amd64 with AVX2 and AVX-512, for arm64 with NEON. Each
// function on slices is given once, as operations on one vector of elements. isa.go makes a loop of these operations,
// whose last step takes the elements beyond the last full vector. This partial vector goes through the same
// instructions as the full vectors. Therefore an element's result doesn't depend on its position.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// sets are the functions of a pair of files, by the name of the files.
var sets = map[string]func(*isa){"tile": tile, "vec": elementary, "bundle": bundles, "radial": covariance,
	"single": covariance}

func main() {
	set := flag.String("set", "", "functions to write: tile, vec, bundle, radial or single")
	dir := flag.String("dir", "", "folder of the package")
	flag.Parse()
	write, ok := sets[*set]
	if !ok {
		log.Fatalf("vecgen: unknown set %q", *set)
	}
	for machine, widths := range map[string][]int{"amd64": {256, 512}, "arm64": {128}} {
		c := build.NewContext()
		c.ConstraintExpr(machine)
		var g *isa
		for _, bits := range widths {
			g = newISA(c, bits, *set == "single")
			write(g)
		}
		config := printer.NewArgvConfig()
		config.Argv = []string{"vecgen", "-set", *set}
		config.Pkg = filepath.Base(*dir)
		asm := printer.NewGoAsm(config)
		if machine == "arm64" {
			asm = neonPrinter{config}
		}
		out := func(ending string, p printer.Printer) pass.Interface {
			f, err := os.Create(filepath.Join(*dir, *set+"_"+machine+ending))
			if err != nil {
				log.Fatal(err)
			}
			return &pass.Output{Writer: f, Printer: p}
		}
		passes := []pass.Interface{g.compile(), out(".s", asm), out(".go", printer.NewStubs(config))}
		if status := build.Main(&build.Config{ErrOut: os.Stderr, Passes: passes}, c); status != 0 {
			os.Exit(status)
		}
	}
}
