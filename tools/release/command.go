package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const (
	krigo   = "github.com/krigo-gp/krigo"
	noticed = "THIRD-PARTY-NOTICES.txt"
	sbom    = "krigo.cdx.json"
	user    = 1000 // of images: nothing needs root
)

// command is the Go tool for a target, without what a user has set that would make other bytes.
func command(root, target string, args ...string) *exec.Cmd {
	system, processor, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT=")
	return cmd
}

// output returns what a command prints.
func output(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	out, err := run(cmd)
	return strings.TrimSpace(string(out)), err
}

// run runs a command. Its error has what the command wrote to standard error.
func run(cmd *exec.Cmd) ([]byte, error) {
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	return out, err
}
