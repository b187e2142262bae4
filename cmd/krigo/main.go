// Command krigo trains Gaussian processes, certifies how well they generalise, and
// predicts with them. See docs/command-line.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/krigo-gp/krigo/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
