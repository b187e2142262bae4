// Command record runs the commands and the snippets of README and docs, each page in a folder of its own, and writes
// what they print into the pages: a block fenced as text is the output of the command or snippet above it.
//
//	go run ./docs/record                 write the outputs of all pages
//	go run ./docs/record --check         compare only, and leave out what takes more than 10 CPU seconds
//	go run ./docs/record --check --all   compare all
//	go run ./docs/record --pictures      also make the pictures of docs/images
//
// Commands and Go snippets run by default. --of python --python EXE runs snippets of Python, with an interpreter that
// has krigo, and --of r those of R.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	r := &recorder{log: os.Stdout}
	flag.BoolVar(&r.check, "check", false, "compare, and write nothing")
	flag.BoolVar(&r.all, "all", false, "check commands of more than 10 CPU seconds, too")
	flag.BoolVar(&r.pictures, "pictures", false, "also make the pictures")
	of := flag.String("of", "commands,go", "what runs: some of commands, go, python, r")
	python := flag.String("python", "python3", "the interpreter of Python, which has the package krigo")
	rscript := flag.String("rscript", "Rscript", "the interpreter of R, which has the package krigo")
	flag.Parse()
	r.kinds = strings.Split(*of, ",")
	r.interpreters = map[string][]string{"python": {*python}, "r": {*rscript, "--vanilla"}}
	if err := r.record(".", flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(r.faults) > 0 {
		fmt.Fprintf(os.Stderr, "%d faults\n", len(r.faults))
		os.Exit(1)
	}
}

// documents returns the pages whose commands run.
func documents(root string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	all := []string{"README.md"}
	for _, path := range pages {
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		all = append(all, filepath.ToSlash(name))
	}
	return all, err
}

// record runs some pages, or all if none is named.
func (r *recorder) record(root string, pages []string) error {
	work, err := os.MkdirTemp("", "record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if r.root, err = filepath.Abs(root); err != nil {
		return err
	}
	r.shelf = filepath.Join(work, "shelf")
	r.krigo = filepath.Join(work, "krigo.exe")
	r.level()
	if err := r.prepare(); err != nil {
		return err
	}
	if len(pages) == 0 {
		if pages, err = documents(root); err != nil {
			return err
		}
	}
	for _, path := range pages {
		if err := r.page(path); err != nil {
			return err
		}
	}
	if r.pictures {
		missing, err := paint(r.root)
		if err != nil {
			return err
		}
		for _, what := range missing {
			fmt.Fprintln(r.log, "NOT MADE:", what)
		}
	}
	if r.check {
		return nil
	}
	return r.slow.write()
}

// prepare builds krigo, and fills the shelf with the files that pages mention.
func (r *recorder) prepare() (err error) {
	build := exec.Command("go", "build", "-o", r.krigo, "./cmd/krigo")
	build.Dir = r.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	r.kinds = slices.DeleteFunc(r.kinds, func(kind string) bool {
		with := r.interpreters[kind]
		if len(with) == 0 {
			return false
		}
		if _, err := exec.LookPath(with[0]); err != nil {
			fmt.Fprintf(r.log, "NOT TESTED: snippets of %s: %v\n", kind, err)
			return true
		}
		return false
	})
	if r.packages, err = listPackages(r.root); err != nil {
		return err
	}
	if r.slow, err = readSlowness(filepath.Join(r.root, "docs", "record", "slow.txt")); err != nil {
		return err
	}
	return furnish(r.root, r.shelf, r.krigo, r.env)
}
