// Command krigo trains Gaussian processes, certifies how well they generalise, and
// predicts with them. See docs/reference/command-line.md.
package main

import (
	"os"

	"github.com/krigo-gp/krigo/internal/command"
)

func main() { os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
