// Vecgen writes the assembly of the functions on slices, for AVX2 and AVX-512.
// Each function is given once, as what is done to one vector of elements; isa.go
// turns that into a loop with a masked last step. Since the last, partial vector
// goes through the same instructions as the others, an element's result doesn't
// depend on where it stands.
package main

import (
	"flag"
	"log"
	"os"

	"github.com/mmcloughlin/avo/build"
)

func main() {
	args := flag.NewFlagSet("vecgen", flag.ExitOnError)
	flags := build.NewFlags(args)
	set := args.String("set", "", "functions to write: elementary, covariance or bundle")
	single := args.Bool("single", false, "for float32, not float64")
	args.Parse(os.Args[1:])
	c := build.NewContext()
	c.ConstraintExpr("amd64")
	for _, g := range []*isa{newISA(c, 256, *single), newISA(c, 512, *single)} {
		switch *set {
		case "elementary":
			elementary(g)
		case "covariance":
			covariance(g)
		case "bundle":
			bundle(g)
		default:
			log.Fatalf("vecgen: unknown set %q", *set)
		}
	}
	config := flags.Config()
	config.Passes[0] = compile // instead of pass.Compile
	os.Exit(build.Main(config, c))
}
