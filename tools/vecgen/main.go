// Command vecgen writes the assembly of functions on slices, for AVX2 and AVX-512. Each function is given once, as
// operations on one vector of elements. isa.go makes a loop of these operations, whose last step masks the elements
// beyond the end. The last, partial vector goes through the same instructions as the full vectors. Therefore an
// element's result doesn't depend on its position.
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
			fours(g)
		default:
			log.Fatalf("vecgen: unknown set %q", *set)
		}
	}
	config := flags.Config()
	config.Passes[0] = compile // compile replaces pass.Compile
	os.Exit(build.Main(config, c))
}
