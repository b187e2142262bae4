package command

import (
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// shell splits a command as a shell does.
func shell(t *testing.T, command string) []string {
	t.Helper()
	text, err := exec.Command("sh", "-c", `printf '%s\n' `+command).Output()
	must.Need(t, err == nil, "a shell doesn't read %s: %v", command, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// suggestions returns the commands at the ends of lines, and the flags with values in sentences.
func suggestions(text string) (commands, flags []string) {
	for _, m := range regexp.MustCompile(`(?m)(?:^| {2})krigo (.*)$`).FindAllStringSubmatch(text, -1) {
		commands = append(commands, m[1])
	}
	said := regexp.MustCompile(`(?m)(?:^| {2})krigo .*$`).ReplaceAllString(text, "")
	value := `'(?:[^']|'\\'')*'|[^\s;,()']+`
	return commands, regexp.MustCompile(`--[a-z][a-z-]* (?:`+value+`)`).FindAllString(flat(said), -1)
}

// TestSuggestionsRun: the commands and flags that inspect, errors, notices and promises suggest run when pasted. The
// table's file and columns have spaces, commas and quotes in their names.
func TestSuggestionsRun(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell splits the commands")
	}
	t.Chdir(t.TempDir())
	const file = "my houses.csv"
	text := "house id;sold on;\"heating, type\";zip code;lot size;buyer's age;\"year \"\"built\"\"\";the price\n"
	for i := range 240 {
		x := float64(i*37%101) / 10
		lot := strings.Replace(fmt.Sprintf("%.1f m²", 50+x), ".", ",", 1)
		if i%40 == 7 {
			lot = "k. A."
		}
		text += fmt.Sprintf("H-%04d;%02d.%02d.2023;%s;%05d;%s;%d;%d;%s\n", i, 1+i%28, 1+i%12,
			[]string{"gas", "oil, old", "none"}[i%3], 2139+i%7, lot, 20+i%50, 1950+i%60,
			strings.Replace(fmt.Sprintf("%.2f", 100+8*math.Sin(x)+float64(i%7)), ".", ",", 1))
	}
	write(t, file, text)
	seen := 0
	run := func(command string, more ...string) outcome {
		t.Helper()
		seen++
		return call(t.Context(), append(shell(t, command), more...)...)
	}
	// The advice of errors leads to a fit that runs.
	o := call(t.Context(), "fit", file, "--target", "the price", "--dry-run")
	for range 5 {
		commands, _ := suggestions(o.stderr)
		if o.status == 0 || len(commands) == 0 {
			break
		}
		o = run(commands[0])
	}
	must.Hold(t, o.status == 0 && seen != 0, "%d steps: %s", seen, o.stderr)
	// inspect's command runs, too, and fit takes each flag that inspect and the fit name.
	said := runs(t, "inspect", file, "--target", "the price")
	commands, flags := suggestions(said)
	must.Need(t, len(commands) == 1 && len(flags) >= 4, "%q, %q in %s", commands, flags, said)
	fitted := runs(t, append(shell(t, commands[0]), "--quiet", "--verbose", "--restarts", "1", "--kernel", "se", "--ard", "off")...)
	_, more := suggestions(fitted)
	for _, flag := range append(flags, more...) {
		command := commands[0] + " " + flag + " --dry-run"
		if flag == "--intervals full" {
			command = "predict 'my houses.krigo' 'my houses.csv' --data 'my houses.csv' " + flag
		}
		if strings.Contains(commands[0], flag) {
			continue
		}
		if o := run(command); o.status != 0 {
			t.Errorf("%s: %s", command, o.stderr)
		}
	}
	must.Hold(t, seen >= 7, "only %d commands", seen)

	// If rows are tied, fit suggests a flag for each of two promises: --group and --population.
	text = "dose;\"plot no, field\";yield\n"
	for i := range 240 {
		x := float64(i*37%101) / 10
		text += fmt.Sprintf("%.1f;P%d;%.2f\n", x, i%40, 3*math.Sin(2.4*float64(i%40))+0.2*x+0.1*math.Sin(97*float64(i)))
	}
	write(t, "my plots.csv", text)
	fit := "fit 'my plots.csv' --target yield --categorical '\"plot no, field\"' --kernel se --ard off --quiet"
	o = run(fit)
	_, flags = suggestions(o.stdout)
	must.Hold(t, o.status == 0 && strings.Contains(o.stdout, "--group") &&
		strings.Contains(o.stdout, "--population"), "%s%s", o.stdout, o.stderr)
	for _, flag := range flags {
		if o := run(fit + " " + flag + " --dry-run"); o.status != 0 {
			t.Errorf("%s: %s", flag, o.stderr)
		}
	}

	// The last commands that demo prints run.
	demo := runs(t, "demo", "my demo", "--quiet")
	commands, _ = suggestions(demo)
	must.Hold(t, len(commands) == 3, "%q", demo)
	for _, command := range commands[:2] {
		if o := run(command); o.status != 0 {
			t.Errorf("%s: %s", command, o.stderr)
		}
	}
}
