package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/method"
)

// TestHelpIsShort: the help of a flag has at most two lines of 100 columns, or three of 80, unless it lists methods.
// Every flag but cobra's own stands in a table. No line of help is wider than the terminal.
func TestHelpIsShort(t *testing.T) {
	root := newRoot()
	for _, cmd := range append(root.Commands(), root) {
		for _, group := range groups {
			for _, f := range flagsOf(cmd, group) {
				for wide, most := range map[int]int{100: 2, 80: 3} {
					text := f.line(wide)
					lines := strings.Split(text, "\n")
					if strings.TrimSpace(lines[0]) == strings.TrimSpace("--"+f.name+" "+f.value) {
						lines = lines[1:] // a long name stands on a separate line
					}
					if strings.HasPrefix(f.name, "objective") {
						most += 2 // the help of this flag lists the methods
					}
					if len(lines) == 0 || len(lines) > most || f.help == "" {
						t.Errorf("%s: %d lines\n%s", cmd.CommandPath(), len(lines), text)
					}
				}
			}
		}
		for _, wide := range []int{80, 100} {
			for _, line := range strings.Split(helpText(cmd, []string{"--help", "all"}, wide), "\n") {
				must.Hold(t, len([]rune(line)) <= wide || cmd.Name() == "completion",
					"%s: too long: %s", cmd.CommandPath(), line)
			}
		}
		cmd.LocalFlags().VisitAll(func(p *pflag.Flag) {
			if _, ok := p.Value.(bound); !ok && p.Name != "help" && p.Name != "version" {
				t.Errorf("%s --%s isn't in a table", cmd.CommandPath(), p.Name)
			}
		})
	}
}

// TestDefaults: help shows the default that a flag really sets, and a given list replaces the default list.
func TestDefaults(t *testing.T) {
	var f fitFlags
	flags := pflag.NewFlagSet("compare", pflag.ContinueOnError)
	f.register(flags, "compare")
	must.Do(t, flags.Parse([]string{"--temper", "1,0.5"}))
	o := f.options
	must.Hold(t, f.epsilon == "0.6" && o.Promise.Delta == 0.01 && f.splits == 5 &&
		o.Method.Solver == "" && o.Data.Missing == "" && o.Method.Optimizer == "" &&
		slices.Equal(f.objectives, []string{"kl-pac", "evidence"}) &&
		slices.Equal(o.Prior.Temper, []float64{1, 0.5}), "%+v", f)
	if err := flags.Parse([]string{"--objectives", "vfe"}); err != nil || !slices.Equal(f.objectives, []string{"vfe"}) {
		t.Errorf("%v, %v", f.objectives, err)
	}
}

// TestGroups: fit, evaluate and compare show their flags in groups, in help and in man pages.
func TestGroups(t *testing.T) {
	workplace(t)
	runs(t, "man", "pages")
	for _, command := range []string{"fit", "evaluate", "compare"} {
		help, page := runs(t, command, "--help", "all"), strings.ReplaceAll(read(t, "pages/krigo-"+command+".1"), `\-`, "-")
		for i, name := range []string{"Data", "Kernel", "Method", "Prior", "Promise", "Run"} {
			must.Hold(t, name == groups[i+1] && strings.Contains(help, "\n"+name+":\n  --") &&
				strings.Contains(page, "\n.SS "+name+"\n"), "%s: no group %s", command, name)
		}
		for _, once := range []string{"--target", "--seed", "--quiet", "--help"} {
			if strings.Count(help, "\n  "+once+" ") != 1 || strings.Count(page, "\\fB"+once+"\\fP") != 1 {
				t.Errorf("%s: %s doesn't stand once", command, once)
			}
		}
		if shown := strings.Contains(help, "--promise "); shown != (command != "compare") {
			t.Errorf("%s: --promise is shown: %t", command, shown)
		}
	}
}

// TestTiers: help shows at most 20 flags, and says how to see the others: all flags, or one group of flags.
func TestTiers(t *testing.T) {
	workplace(t)
	count := func(help string) int { return strings.Count(help, "\n  --") }
	all := runs(t, "fit", "--help", "all")
	short := runs(t, "fit", "--help")
	if n := count(short); n > 20 || !strings.Contains(short, fmt.Sprintf("all %d flags", count(all))) ||
		!strings.Contains(short, "--target") {
		t.Errorf("%d of %d flags are shown:\n%s", n, count(all), short)
	}
	prior := runs(t, "fit", "--help", "prior")
	must.Hold(t,
		count(prior) == strings.Count(all[strings.Index(all, "\nPrior:\n"):strings.Index(all, "\nPromise:\n")], "\n  --") &&
			strings.Contains(prior, "--temper"), "of the group:\n%s", prior)
	if unknown := runs(t, "fit", "--help", "prio"); !strings.Contains(unknown, `no group "prio"`) ||
		!strings.Contains(unknown, `did you mean "prior"?`) || strings.Contains(short, "no group") {
		t.Errorf("of no group:\n%s", unknown)
	}
	if n := count(runs(t, "predict", "--help")); n < 9 {
		t.Errorf("predict, whose flags are few, shows %d", n)
	}
}

// TestComparesFlags: the documentation names all flags of fit that compare doesn't take.
func TestComparesFlags(t *testing.T) {
	of := func(command string) (flags []string) {
		for _, f := range (&fitFlags{}).table() {
			if f.of == "" || slices.Contains(strings.Fields(f.of), command) {
				flags = append(flags, f.name)
			}
		}
		return flags
	}
	text := must.Get(os.ReadFile("../../docs/reference/command-line.md"))(t)
	_, said, _ := strings.Cut(string(text), "and fit's flags (but for ")
	said, _, found := strings.Cut(said, ")")
	want := []string{"--objective", "--promise"} // compare knows these flags, but refuses them
	for _, name := range of("fit") {
		if !slices.Contains(of("compare"), name) {
			want = append(want, "--"+name)
		}
	}
	slices.Sort(want)
	got := strings.FieldsFunc(said, func(c rune) bool { return strings.ContainsRune("`, \n", c) })
	slices.Sort(got)
	must.Hold(t, found && slices.Equal(got, slices.Compact(want)),
		"documented: %v\nleft out:   %v", got, want)
}

// TestCompletion: shells offer values, files, and columns of the table that was named.
func TestCompletion(t *testing.T) {
	workplace(t)
	fill := func(_ int, row []float64) error { row[0], row[1] = 1, 2; return nil }
	for _, name := range []string{"few.npy", "few.npz", "few.parquet"} {
		must.Do(t, files.WriteFile(name, []string{"rooms", "price"}, 2, fill))
	}
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--kernel", "linear", "--ard", "off", "--out",
		"few.krigo", "--quiet")
	write(t, "long.csv", "rooms,price\n"+strings.Repeat("6,1\n", 300_000))
	for args, want := range map[string]string{
		"fit x.csv --objective kl":                     "kl-pac",
		"fit x.csv --solver ne":                        "nearest",
		"fit x.csv --loss clipped-":                    "clipped-square clipped-absolute",
		"compare x.csv --objectives vfe,kl":            "vfe,kl-pac",
		"predict m.krigo x.csv --intervals band,":      "band,conformal band,normalised band,full band,jackknife",
		"fit homes.csv --target M":                     "MEDV",
		"predict few.krigo homes.csv --keep M":         "MEDV",
		"evaluate homes.csv --target M":                "MEDV",
		"fit homes.csv --categorical RM,":              "RM,LSTAT RM,DIS RM,MEDV",
		"fit few.npy --group ":                         "rooms price",
		"fit few.npz --group p":                        "price",
		"fit few.parquet --target p":                   "price",
		"fit long.csv --target ":                       "rooms price",
		"fit missing.csv --target ":                    "",
		"fit - --target ":                              "",
		"fit --target ":                                "",
		"fit homes.csv --init ":                        "json",
		"compare homes.csv --target MEDV --out ":       "csv json html",
		"fit homes.csv --target MEDV --test-fraction ": "",
	} {
		out := runs(t, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if got := strings.Join(lines[:len(lines)-1], " "); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// fed calls a command with standard input.
func fed(in string, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	status := Run(context.Background(), args, strings.NewReader(in), &stdout, &stderr)
	return outcome{status, stdout.String(), stderr.String()}
}

// TestStandardInput: a table from standard input (-) gives the same results as its file.
func TestStandardInput(t *testing.T) {
	workplace(t)
	homes, fresh := read(t, "homes.csv"), read(t, "fresh.csv")
	fit := strings.Fields("--target MEDV --prior informed --ard off --restarts 1 --quiet")
	runs(t, append([]string{"fit", "homes.csv", "--test", "fresh.csv", "--out", "file.krigo"}, fit...)...)
	for _, c := range []struct{ in, file, args string }{
		{homes, "homes.csv", "fit - --test fresh.csv --out a.krigo"},
		{fresh, "fresh.csv", "fit homes.csv --test - --out a.krigo"},
		{homes, "homes.csv", "predict file.krigo -"},
		{homes, "homes.csv", "certify file.krigo - --json"},
		{fresh, "fresh.csv", "certify file.krigo - --fresh"},
		{homes, "homes.csv", "evaluate - --target MEDV --params params.json --json"},
		{homes, "homes.csv", "compare - --target MEDV --objectives vfe --splits 1 --inducing 5 --json"},
		{homes, "homes.csv", "report file.krigo - --out r.html"},
	} {
		args := strings.Fields(c.args)
		named := slices.Clone(args)
		named[slices.Index(args, "-")] = c.file
		if args[0] == "fit" {
			args, named = append(args, fit...), append(named, fit...)
		}
		want := runs(t, append(named, "--quiet")...)
		os.Remove("a.krigo") // a fit that replaces a model says so
		if got := fed(c.in, append(args, "--quiet")...); got.status != 0 || withoutTimes(got.stdout) != withoutTimes(want) {
			t.Errorf("%s: %+v, want %s", c.args, got, want)
		}
		os.Remove("a.krigo")
	}
	for _, c := range []struct {
		in, args string
		status   int
		want     []string
	}{
		{homes, "fit - --target MEDV", 2, []string{"--out is missing", "standard input"}},
		{homes, "fit - --target MEDV --test - --out a.krigo", 2, []string{"standard input (-) can be read once"}},
		{homes, "predict - -", 2, []string{"standard input (-) can be read once"}},
		{"", "predict file.krigo -", 1, []string{"standard input: the file is empty"}},
		{"RM,LSTAT,DIS,MEDV\n6,5,far,20\n6,5,near,20\n", "predict file.krigo -", 1,
			[]string{"standard input: line 2 (row 1)", `"far"`}},
		{homes, "fit - --target MEDW --out a.krigo", 1, []string{"standard input", `did you mean "MEDV"?`}},
		{"PK\x03\x04\x00\xff", "predict file.krigo -", 1, []string{"standard input: not a text file"}},
	} {
		o := fed(c.in, strings.Fields(c.args)...)
		must.Hold(t, o.status == c.status && o.stdout == "", "%s: %+v", c.args, o)
		for _, want := range c.want {
			must.Hold(t, strings.Contains(o.stderr, want),
				"%s: %q doesn't say %q", c.args, o.stderr, want)
		}
	}
	if _, err := os.Stat("a.krigo"); err == nil {
		t.Error("a model was left")
	}
}

// TestInterruptedInput: a command that waits for standard input ends when it is interrupted.
func TestInterruptedInput(t *testing.T) {
	workplace(t)
	ctx, cancel := context.WithCancel(context.Background())
	in, out := io.Pipe()
	go func() {
		out.Write([]byte("RM,MEDV\n6,20\n"))
		cancel()
	}()
	var stderr bytes.Buffer
	if status := Run(ctx, strings.Fields("fit - --target MEDV --out a.krigo"), in, io.Discard, &stderr); status != 1 ||
		!strings.Contains(stderr.String(), "standard input: cannot be read after row") {
		t.Errorf("%d, %s", status, stderr.String())
	}
}

// withoutTimes returns a command's output without the times that it took.
func withoutTimes(text string) string {
	return regexp.MustCompile(`"seconds": \{[^}]*\}`).ReplaceAllString(counts.ReplaceAllString(text, ""), "")
}

// TestStandardInputOverRanks: a command on several ranks refuses standard input.
func TestStandardInputOverRanks(t *testing.T) {
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	cmd := &cobra.Command{}
	if err := checkInput(cmd, []string{"-"}); err == nil || !strings.Contains(err.Error(), "one rank alone") {
		t.Error(err)
	}
	if err := checkInput(cmd, []string{"homes.csv"}); err != nil {
		t.Error(err)
	}
}

// TestOwnFlag: a setting of a method that krigo doesn't know is a flag, with help and completion. The test registers
// the method in a separate process, so that other tests don't see the method.
func TestOwnFlag(t *testing.T) {
	const here = "KRIGO_TEST_OWN_FLAG"
	if os.Getenv(here) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestOwnFlag$")
		again.Env = append(os.Environ(), here+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	type own struct {
		method.Evidence
		Way   string `set:"way" values:"left right" default:"left" for:"training" help:"which way"`
		Twice bool   `set:"twice" tier:"everyday" help:"both ways"`
	}
	method.Register(method.Kind{Name: "own", Size: method.FullOnly, Method: own{}})
	workplace(t)
	const plan = "fit snelson.csv --target y --dry-run --json "
	for want, args := range map[string]string{
		"--way                   which way (default left)": "fit --help method",
		"--twice                 both ways\n":              "fit --help",
		"right\n":                                          "__complete fit --way r",
		`"method":{"name":"own","inducing_init":"kmeans"`:  plan + "--objective own",
		`"way":"right"`:                                    plan + "--objective own --way right",
		`"twice":true`:                                     plan + "--objective own --twice",
		"way right is a setting of own, not of vfe":        plan + "--objective vfe --way right",
		`way "up": want one of left, right`:                plan + "--objective own --way up",
		"unknown flag: --way":                              "evaluate snelson.csv --target y --way left",
		`--twice "2": want`:                                plan + "--objective own --twice=2",
	} {
		o := call(t.Context(), strings.Fields(args)...)
		if tight := strings.Join(strings.Fields(o.stdout), ""); !strings.Contains(tight+o.stdout+o.stderr, want) {
			t.Errorf("krigo %s doesn't say %q: %+v", args, want, o)
		}
	}
}
