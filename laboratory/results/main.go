// Command results keeps the tables of long experiments. Each table is a file, NAME.json of this folder, with the
// commit, the date, the command and the machine that gave it. Pages show it between two markers:
//
//	<!-- results: NAME -->       or, for a line that links the file,      <!-- results: NAME, linked -->
//	<!-- end -->
//
// The commands are, in the folder laboratory,
//
//	go run ./results                      writes the tables into the pages
//	go run ./results --check              fails if a page differs from its files; go test ./results does so, too
//	go run ./results --stale              lists the tables that are older than the last change of what they measure
//	go run ./results --take NAME < FILE   takes a table that an experiment printed into NAME.json, with today's date
//
// A new file is first written by hand, like its neighbours, with no rows.
// measures.json names what tables measure, and the commit at which each of these last changed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

// run does what the command's arguments ask for.
func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("results", flag.ContinueOnError)
	check := flags.Bool("check", false, "fail if a page differs from its files")
	stale := flags.Bool("stale", false, "list the tables that are older than the last change of what they measure")
	take := flags.String("take", "", "name of the `table` that standard input has")
	number := flags.Int("table", 1, "with --take: which `table` of standard input, counted from 1")
	root := flags.String("root", "..", "the repository's `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	s, err := read(*root)
	if err != nil {
		return err
	}
	switch {
	case *stale:
		return s.listStale(out)
	case *take != "":
		return s.take(*take, *number, in)
	}
	pages, err := s.pages()
	if *check || err != nil {
		for _, p := range pages {
			err = errors.Join(err, p.differs())
		}
		return err
	}
	for _, p := range pages {
		err = errors.Join(err, p.write())
	}
	return err
}
