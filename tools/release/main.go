// Command release builds the packages of a krigo release into a folder: archives, Python wheels, R source packages
// and container images. Each package has the notices of third parties and a bill of materials, which is a list of the
// modules in the program. The same commit, built by the same version of Go, gives the same bytes. scripts/release
// runs the command:
//
//	scripts/release [-targets linux/amd64,here] [-of archive,wheel,r,image] FOLDER
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// kinds lists the kinds of packages.
var kinds = []string{"archive", "wheel", "r", "image"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	targets := flag.String("targets", strings.Join(slices.Sorted(maps.Keys(platforms)), ","),
		"systems and processors as Go names them, or here")
	of := flag.String("of", "", "kinds of packages: archive, wheel, r, image (default all of them, a bill of materials "+
		"for each target, and SHA256SUMS)")
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("name one folder to write to")
	}
	if err := release(*root, flag.Arg(0), strings.Split(*targets, ","), *of); err != nil {
		log.Fatal(err)
	}
}

func release(root, out string, targets []string, of string) error {
	wanted := kinds
	if of != "" {
		wanted = strings.Split(of, ",")
	}
	for _, kind := range wanted {
		if !slices.Contains(kinds, kind) {
			return fmt.Errorf("-of %s: want some of %s", kind, strings.Join(kinds, ", "))
		}
	}
	for i, target := range targets {
		if target == "here" {
			targets[i] = runtime.GOOS + "/" + runtime.GOARCH
		}
		if platforms[targets[i]] == "" {
			return fmt.Errorf("-targets %s: want some of %s, or here", target,
				strings.Join(slices.Sorted(maps.Keys(platforms)), ", "))
		}
	}
	v, err := describe(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := &maker{root: root, out: out, version: v, program: filepath.Join(work, "krigo")}
	if slices.Contains(wanted, "archive") {
		if err := r.pages(filepath.Join(work, "pages")); err != nil {
			return err
		}
	}
	for _, target := range targets {
		if err := r.make(target, wanted, of == ""); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	if of != "" {
		return nil
	}
	return r.write("SHA256SUMS", r.sums.Bytes(), nil)
}

// maker makes the packages of one version.
type maker struct {
	root, out string
	version   version
	program   string // the path at which programs are built
	manual    []file // man pages and completions
	sums      bytes.Buffer
}

func (r *maker) build(target string) error {
	flags := "-s -w -buildid= -X " + krigo + "/internal/command.release=" + r.version.Go
	_, err := run(command(r.root, target, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", r.program,
		"./cmd/krigo"))
	return err
}

// pages builds the program for this machine, and runs it to write man pages and completions.
func (r *maker) pages(folder string) error {
	if err := r.build(runtime.GOOS + "/" + runtime.GOARCH); err != nil {
		return err
	}
	cmd := exec.Command(r.program, "man", folder)
	cmd.Env = append(os.Environ(), fmt.Sprint("SOURCE_DATE_EPOCH=", r.version.Time.Unix()))
	if _, err := run(cmd); err != nil {
		return err
	}
	var err error
	if r.manual, err = read(folder, "*.1"); err != nil {
		return err
	}
	for i := range r.manual {
		r.manual[i].Name = "man/" + r.manual[i].Name
	}
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		text, err := run(exec.Command(r.program, "completion", shell))
		if err != nil {
			return err
		}
		r.manual = append(r.manual, plain("completions/krigo."+shell, text))
	}
	return nil
}

// make makes the packages of a target. If beside is set, it also writes the bill of materials as a file of its own.
func (r *maker) make(target string, kinds []string, beside bool) error {
	system, processor, _ := strings.Cut(target, "/")
	if err := r.build(target); err != nil {
		return err
	}
	parts, err := parts(r.root, target)
	if err != nil {
		return err
	}
	if err := complete(r.program, parts); err != nil {
		return err
	}
	text, err := notices(parts)
	if err != nil {
		return err
	}
	bill, err := materials(r.version, parts)
	if err != nil {
		return err
	}
	legal, err := read(r.root, "LICENSE")
	if err != nil {
		return err
	}
	legal = append(legal, plain(noticed, text), plain(sbom, bill))
	built, err := os.ReadFile(r.program)
	if err != nil {
		return err
	}
	program := binary("krigo", built)
	if system == "windows" {
		program.Name = "krigo.exe"
	}
	name := "krigo-" + r.version.Go + "-" + system + "-" + processor
	for _, kind := range kinds {
		if err := r.pack(kind, name, target, program, legal); err != nil {
			return err
		}
	}
	if !beside {
		return nil
	}
	return r.write(name+".cdx.json", bill, nil)
}

// pack makes a package of the given kind. It makes no package if the kind doesn't exist for the target's system.
func (r *maker) pack(kind, name, target string, program file, legal []file) error {
	system, processor, _ := strings.Cut(target, "/")
	switch kind {
	case "archive":
		files, err := read(r.root, "README.md", "CITATION.cff")
		if err != nil {
			return err
		}
		data, err := folder(r.version.Time, name, slices.Concat([]file{program}, legal, files, r.manual))
		return r.write(name+".tar.gz", data, err)
	case "wheel":
		modules, err := read(filepath.Join(r.root, "python"), "krigo/*.py", "krigo/py.typed")
		if err != nil {
			return err
		}
		description, err := read(r.root, "docs/how-to/python.md")
		if err != nil {
			return err
		}
		name, data, err := wheel(r.version, target, modules, program, legal, string(description[0].Data))
		return r.write(name, data, err)
	case "r":
		sources, err := read(filepath.Join(r.root, "r"), "DESCRIPTION", "NAMESPACE", "R/*.R", "man/*.Rd", "tests/*.R")
		if err != nil {
			return err
		}
		data, err := rPackage(r.version, sources, program, legal)
		return r.write("krigo_"+r.version.R+"_"+system+"-"+processor+".tar.gz", data, err)
	case "image":
		if system != "linux" {
			return nil
		}
		data, digest, err := image(r.version, processor, program, legal)
		return r.write(name+"-image.tar", data, err, digest)
	}
	return nil
}

// read returns the files below root that match the patterns. A pattern that matches no file is an error.
func read(root string, patterns ...string) ([]file, error) {
	var files []file
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("there is no %s", filepath.Join(root, pattern))
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return nil, err
			}
			files = append(files, plain(filepath.ToSlash(name), data))
		}
	}
	return files, nil
}

// write writes data to a file, whole or not at all, and prints the file's name and the remarks. If err isn't nil,
// data couldn't be made, and write returns err.
func (r *maker) write(name string, data []byte, err error, remarks ...any) error {
	if err != nil {
		return err
	}
	path := filepath.Join(r.out, name)
	if err := os.WriteFile(path+".part", data, 0o644); err != nil {
		return err
	}
	if err := os.Rename(path+".part", path); err != nil {
		return err
	}
	fmt.Fprintf(&r.sums, "%x  %s\n", sha256.Sum256(data), name)
	fmt.Println(append([]any{name}, remarks...)...)
	return nil
}
