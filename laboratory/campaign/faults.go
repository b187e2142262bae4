package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/krigo-gp/krigo/internal/command"
	"github.com/krigo-gp/krigo/internal/disk"
)

func init() {
	campaigns = append(campaigns, campaign{"faults",
		"the disk fails at every operation of every command: the old file or the new file is whole at the end, and " +
			"the error names it", faults})
}

// faultyCommand is a command whose file operations are made to fail. In args, @ stands for the folder.
type faultyCommand struct {
	args string
	out  string // the file that the command writes; "": it writes no file
	adds bool   // the command appends to out, whose old content must stay
}

var faultyCommands = []faultyCommand{
	{args: "fit @/data.csv --target y --objective vfe --inducing 5 --ard off --epochs 6 --out @/out.krigo",
		out: "out.krigo"},
	{args: "fit @/data.csv --target y --kernel se --deliver all --test @/new.csv --out @/out.krigo", out: "out.krigo"},
	{args: "predict @/model.krigo @/new.csv --out @/out.csv", out: "out.csv"},
	{args: "predict @/model.krigo @/new.csv --out @/out.csv.gz", out: "out.csv.gz"},
	{args: "predict @/model.krigo @/new.csv --out @/out.npz", out: "out.npz"},
	{args: "predict @/model.krigo @/new.csv --out @/out.parquet", out: "out.parquet"},
	{args: "predict @/model.krigo @/table.npy --json --out @/out.json", out: "out.json"},
	{args: "certify @/model.krigo @/data.csv"},
	{args: "inspect @/data.csv"},
	{args: "certify --predictions @/predicted.csv --target y --prediction mean --epsilon 1 --out @/out.json",
		out: "out.json"},
	{args: "report @/model.krigo @/data.csv --out @/out.html", out: "out.html"},
	{args: "compare @/data.csv --target y --objectives vfe,dtc --inducing 4 --epochs 3 --splits 2 --out @/out.html",
		out: "out.html"},
	{args: "generate --rows 3000 --inputs 3 --features 20 --out @/out.npy", out: "out.npy"},
	{args: "generate --rows 300 --inputs 3 --features 20 --out @/out.csv.gz", out: "out.csv.gz"},
	{args: "declare @/data.csv --target y"},
	{args: "fit @/data.csv --declared @/declaration.json --out @/out.krigo", out: "out.krigo"},
	{args: "watch @/model.krigo @/new.csv --ledger @/out.ledger --json", out: "out.ledger", adds: true},
	{args: "demo @/demo", out: "demo/demo.krigo"},
}

// faultsOf holds, for each kind of file operation, the errors with which it may fail.
var faultsOf = map[string][]error{
	"open":        {syscall.EACCES, syscall.EIO, syscall.EMFILE},
	"create":      {syscall.ENOSPC, syscall.EACCES, syscall.EROFS, syscall.EMFILE},
	"stat":        {syscall.EIO},
	"read":        {syscall.EIO, syscall.ESTALE},
	"write":       {syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, io.ErrShortWrite},
	"truncate":    {syscall.EIO},
	"chmod":       {syscall.EPERM},
	"sync":        {syscall.EIO, syscall.ENOSPC},
	"rename":      {syscall.EXDEV, syscall.EACCES, syscall.EIO, syscall.ENOSPC},
	"close":       {syscall.EIO, syscall.EDQUOT},
	"sync folder": {syscall.EIO},
}

// attack is one fault: the command, which of its file operations fails, and with which error.
type attack struct {
	command int
	at      int
	why     error
}

// faults fails every file operation of every command with every error, in random order. When the campaign has made
// all attacks, it starts over.
func faults(r *run) error {
	r.workers = 1 // a fault hits the whole process
	every := command.CheckpointEvery
	command.CheckpointEvery = 0
	defer func() { command.CheckpointEvery = every }()
	given, err := faultyFiles(r)
	if err != nil {
		return err
	}
	folder := filepath.Join(r.folder, "work") // always the same: a model stores its data's path
	attacks := make([][]attack, len(faultyCommands))
	whole := make([]map[string][]byte, len(faultyCommands)) // the files that each command leaves if no operation fails
	ways := 0
	for i, c := range faultyCommands {
		if err := put(folder, given); err != nil {
			return err
		}
		var mu sync.Mutex
		var ops []string
		end := disk.Inject(func(op disk.Op) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			ops = append(ops, op.Name)
			return 0, nil
		})
		status, said := krigoRun(io.Discard, c.in(folder)...)
		end()
		if status != 0 {
			return fmt.Errorf("%s: exit status %d without a fault: %s", c.args, status, said)
		}
		if whole[i], err = contents(folder); err != nil {
			return err
		}
		os.RemoveAll(folder)
		for at, name := range ops {
			for _, why := range faultsOf[name] {
				attacks[i] = append(attacks[i], attack{i, at, why})
			}
		}
		r.rng(-3).Shuffle(len(attacks[i]), func(j, k int) { attacks[i][j], attacks[i][k] = attacks[i][k], attacks[i][j] })
		ways += len(attacks[i])
	}
	err = r.each(func(try int64, rng *rand.Rand) error {
		of := attacks[int(try)%len(attacks)]
		a := of[int(try)/len(attacks)%len(of)]
		if err := put(folder, given); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		if err := a.made(r, rng, folder, whole[a.command]); err != nil {
			return fmt.Errorf("krigo %s, operation %d: %w: %w", faultyCommands[a.command].args, a.at, a.why, err)
		}
		return nil
	})
	fmt.Fprintf(r.out, "faults: %d commands, with %d faults\n", len(faultyCommands), ways)
	return err
}

func (c faultyCommand) in(folder string) []string {
	return append(strings.Fields(strings.ReplaceAll(c.args, "@", folder)), "--quiet")
}

// made runs a command with one fault, and checks the files that the command leaves.
func (a *attack) made(r *run, rng *rand.Rand, folder string, whole map[string][]byte) error {
	c := faultyCommands[a.command]
	out := filepath.Join(folder, c.out)
	var old []byte
	if c.out != "" && !c.adds && !strings.HasPrefix(c.args, "demo") && rng.IntN(2) == 0 { // an older file exists
		old = []byte("what was there, and isn't krigo's\n")
		if err := os.WriteFile(out, old, 0o640); err != nil {
			return err
		}
	}
	before, err := contents(folder)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	count, lasting := 0, rng.IntN(2) == 0
	var failed *disk.Op // the first operation that failed
	var last disk.Op
	end := disk.Inject(func(op disk.Op) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		count++
		// A full or broken disk may stay so. A lasting fault therefore hits all later operations of the same kind.
		if failed == nil && count-1 == a.at || failed != nil && lasting && op.Name == failed.Name {
			if failed == nil {
				failed = &op
			}
			last = op
			if ways := faultsOf[op.Name]; !slices.Contains(ways, a.why) { // the older file shifted the operations
				a.why = ways[rng.IntN(len(ways))]
			}
			return rng.IntN(op.Bytes + 1), a.why
		}
		return 0, nil
	})
	var printed bytes.Buffer
	status, said := krigoRun(&printed, c.in(folder)...)
	end()
	if failed == nil { // with an older file, or in a quicker fit, the command makes fewer operations
		r.count("not reached")
		return nil
	}
	r.count("of " + failed.Name)
	after, err := contents(folder)
	if err != nil {
		return err
	}
	for name := range after {
		if strings.HasPrefix(filepath.Base(name), ".") {
			return fmt.Errorf("the command left %s", name)
		}
		if _, known := whole[name]; !known && !slices.Contains([]string{c.out, c.out + ".checkpoint"}, name) {
			return fmt.Errorf("the command made %s", name)
		}
	}
	for name, content := range before {
		if name != c.out && !bytes.Equal(content, after[name]) {
			return fmt.Errorf("the command changed its input %s", name)
		}
	}
	if c.adds {
		if err := ledgerHolds(folder, c.out, &printed); err != nil {
			return err
		}
	} else if c.out != "" {
		got, there := after[c.out]
		isOld := there == (old != nil) && bytes.Equal(got, before[c.out])
		isNew := there && bytes.Equal(got, whole[c.out])
		switch {
		case !isOld && !isNew:
			return fmt.Errorf("%s is neither the old file nor the new file: it has %d bytes, not %d; %s", c.out, len(got),
				len(whole[c.out]), said)
		case status == 0 && !isNew:
			return fmt.Errorf("exit status 0, but %s is missing", c.out)
		}
	}
	if status == 0 {
		// Some operations may fail without an error: looking at an older file to see if it is a model, and closing a
		// file after reading.
		switch {
		case slices.Contains([]string{"open", "stat", "read", "close"}, failed.Name):
			r.count("harmless")
			return nil
		case strings.Contains(said, "warning: ") && strings.Contains(said, c.out+".checkpoint"):
			r.count("fits done without a checkpoint")
			return nil
		}
		return errors.New("exit status 0 in spite of the fault")
	}
	// a lasting fault may hit several files, and the error may name any of them
	names := []string{filepath.Base(failed.Path), filepath.Base(last.Path), filepath.Base(c.out)}
	// an error about a temporary file or a folder names a file that was to be written there
	if strings.HasPrefix(names[1], ".krigo-") || last.Name == "sync folder" {
		names = nil
		for name := range whole {
			names = append(names, filepath.Base(name))
		}
		names = append(names, filepath.Base(c.out)+".checkpoint")
	}
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(said, name) }) {
		return fmt.Errorf("the error after a failed %s of %s doesn't name the file: %s", failed.Name, failed.Path, said)
	}
	return nil
}

// ledgerHolds returns an error if the command printed rows that the ledger doesn't contain.
func ledgerHolds(folder, ledger string, printed *bytes.Buffer) error {
	told := strings.Count(printed.String(), `"rows"`)
	state, err := ledgerState(filepath.Join(folder, "model.krigo"), filepath.Join(folder, ledger))
	if err == nil && told > 0 && state.Rows == 0 {
		err = errors.New("the ledger lacks rows that the command acknowledged")
	}
	return err
}

// faultyFiles makes the files that the commands read, and returns their contents by name.
func faultyFiles(r *run) (map[string][]byte, error) {
	folder := filepath.Join(r.folder, "given")
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := put(folder, map[string][]byte{"data.csv": smallTable(r.rng(-1), 60),
		"new.csv": smallTable(r.rng(-2), 30)}); err != nil {
		return nil, err
	}
	var declaration bytes.Buffer
	for _, args := range [][]string{
		{"fit", at("data.csv"), "--target", "y", "--kernel", "se", "--prior", "informed",
			"--epsilon", "1", "--out", at("model.krigo")},
		{"declare", at("data.csv"), "--target", "y", "--kernel", "se", "--restarts", "1"},
	} {
		declaration.Reset()
		if status, said := krigoRun(&declaration, append(args, "--quiet")...); status != 0 {
			return nil, fmt.Errorf("%s: %s", args[0], said)
		}
	}
	var predicted bytes.Buffer
	predicted.WriteString("y,mean\n")
	for i := range 50 {
		fmt.Fprintf(&predicted, "%d,%d.5\n", i, i)
	}
	if err := put(folder, map[string][]byte{"declaration.json": declaration.Bytes(), "predicted.csv": predicted.Bytes(),
		"table.npy": npyTable(r.rng(-4), 40)}); err != nil {
		return nil, err
	}
	given := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if err == nil {
			given[e.Name()], err = os.ReadFile(at(e.Name()))
		}
	}
	return given, err
}

// put writes files into a folder, and makes the folder if it doesn't exist.
func put(folder string, files map[string][]byte) error {
	err := os.MkdirAll(folder, 0o777)
	for name, content := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o666)
		}
	}
	return err
}

var digits = regexp.MustCompile(`&#43;|[-−+0-9.e]+`)

// contents returns the contents of all files below a folder. Models come without times, and HTML pages without
// numbers.
func contents(folder string) (map[string][]byte, error) {
	all := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if filepath.Ext(path) == ".html" { // compare's page, which prints seconds
			content = digits.ReplaceAll(content, nil)
		}
		if err == nil && filepath.Ext(path) == ".krigo" && bytes.HasPrefix(content, []byte("KRIGO")) {
			content, err = timeless(path)
		}
		name, relative := filepath.Rel(folder, path)
		all[name] = content
		return errors.Join(err, relative)
	})
	return all, err
}
