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
	user    = 1000 // the user of images; nothing in them needs root
)

// command returns a call of the Go tool for a target. It overrides settings of the user that would change the bytes
// of the program.
func command(root, target string, args ...string) *exec.Cmd {
	system, processor, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT=")
	return cmd
}

// output returns what a command prints, without blanks around it.
func output(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	out, err := run(cmd)
	return strings.TrimSpace(string(out)), err
}

// run runs a command and returns what it prints. An error shows what the command wrote to standard error.
func run(cmd *exec.Cmd) ([]byte, error) {
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	return out, err
}
