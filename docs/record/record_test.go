package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

const root = "../.."

// TestRecordings runs the commands and the Go snippets of all pages, except slow commands, and compares what they print
// with what the pages show. Every line of unlike, unrun and slow.txt is about a part that a page has.
func TestRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("it fits some forty models")
	}
	pages := must.Get(documents(root))(t)
	must.Need(t, len(pages) >= 12, "%d documents", len(pages))
	r := &recorder{check: true, kinds: []string{"commands", "go"}, log: t.Output()}
	must.Do(t, r.record(root, pages))
	must.Hold(t, len(r.faults) == 0, "%d faults", len(r.faults))

	texts := map[string]bool{}
	slow := 0
	for _, path := range pages {
		page := must.Get(readPage(root, path))(t)
		for _, p := range page.parts {
			texts[p.text] = true
			texts[firstLine(p.text)] = true
			if r.slow.has(page, p) {
				slow++
			}
		}
	}
	must.Hold(t, slow >= len(r.slow.lines),
		"slow.txt: %d of %d lines are about a command of a page", slow, len(r.slow.lines))
	for text := range unlike {
		must.Hold(t, texts[text], "no page has the command %s any more", text)
	}
	for text := range unrun {
		must.Hold(t, texts[text], "no page has the snippet %s any more", text)
	}
}

// TestMainJob: README shows the output of its main job, and no digit of it can be changed unnoticed: on the processor of
// the recording none at all, and elsewhere none by more than 1 in the last place.
func TestMainJob(t *testing.T) {
	page := must.Get(readPage(root, "README.md"))(t)
	for _, p := range page.parts {
		if p.text != "krigo fit data/boston.csv.gz --target MEDV" {
			continue
		}
		shown := page.shown(p)
		printed := strings.ReplaceAll(shown, "…", "")
		must.Do(t, compare(shown, printed, 0))
		places := number.FindAllStringIndex(shown, -1)
		must.Hold(t, len(places) >= 9, "%d numbers", len(places)) // three widths, the mean error and the confidence
		for _, at := range places {
			for i := at[0]; i < at[1]; i++ {
				digit := shown[i] - '0'
				if digit > 9 {
					continue
				}
				for places, by := range []byte{1, 5} {
					changed := shown[:i] + fmt.Sprint((digit+by)%10) + shown[i+1:]
					must.Hold(t, compare(changed, printed, places) != nil,
						"nobody notices %s", changed[at[0]:at[1]])
				}
			}
		}
		return
	}
	t.Error("README doesn't have its main job")
}

// TestParse: parse finds the commands, snippets and outputs of a page.
func TestParse(t *testing.T) {
	const text = "krigo is text.\n\n    krigo fit a.csv --x 'b  # c'   # why\n    ls\n    cat a | krigo watch -\n\n" +
		"Words.\n\n```text\n12 of … rows\nand so on\n```\n\n```go\nkrigo.Fit(ctx)\n```\n\n" +
		"```\ngo run ./cmd/krigo demo \\\n   --quiet\n```\n\n```text\nMade.\n```\n"
	page := must.Get(parse("a.md", text))(t)
	var got []string
	for _, p := range page.parts {
		got = append(got, fmt.Sprintf("%d %s %q %q", p.line, p.kind, p.text, page.shown(p)))
	}
	must.Be(t, strings.Join(got, "\n"), `3 commands "krigo fit a.csv --x 'b # c'" ""
5 commands "cat a | krigo watch -" "12 of … rows\nand so on"
15 go "krigo.Fit(ctx)\n" ""
19 commands "krigo demo --quiet" "Made."`)
	must.Refuse(parse("a.md", "```text\nnobody's\n```\n"))(t, "a.md:1")
	must.Be(t, strings.Join(words("krigo fit a.csv --na '-,k A' --kernel \"se+rq\""), "|"),
		"krigo|fit|a.csv|--na|-,k A|--kernel|se+rq")
}

// TestCompare: words must be equal, and numbers equal up to the last place.
func TestCompare(t *testing.T) {
	const shown = "12 of … lie within 60,000 (0.25 sd)"
	for printed, places := range map[string]int{
		"12 of 40 rows  lie\nwithin 60,000 (0.25 sd)\n": 0, "12 of them lie within 60,010 (0.25 sd)": 1,
		"12 of them lie within 60,000 (0.26 sd)": 1, "12 of them lie within 60,000 (0.251 sd)": 1,
		"12 of them lie within 60,000 (0.27 sd)": 2, "14 of them lie within 60,000 (0.25 sd)": 2,
		"12 of them lie within 60,200 (0.25 sd)": 20, "12 of them lie beyond 60,000 (0.25 sd)": 99,
		"so 12 of them lie within 60,000 (0.25 sd)": 99, "12 of them lie within 60,000 (0.25 sd) and": 99, "": 99,
	} {
		must.Hold(t, places >= 99 || compare(shown, printed, places) == nil,
			"%q differs by more than %d", printed, places)
		must.Hold(t, places <= 0 || compare(shown, printed, places-1) != nil,
			"%q: no difference", printed)
	}
}

// TestRewrite: a new block leaves out what the old block left out, and what is lost is named.
func TestRewrite(t *testing.T) {
	long := strings.Repeat("word ", 18)
	for _, c := range []struct{ shown, printed, want, lost string }{
		{"a is 1\n…\nc is 3", "a is 2\nb is 2\nc is 4\n", "a is 2\n…\nc is 4", ""},
		{"at 1, … and on\n…", "at 7, in short and on\nmore\n", "at 7, … and on\n…", ""},
		{"…so 1 is 1, …", "first\nand so 1 is 2, then\nlast\n", "…so 1 is 2, …", ""},
		{long + "is 1 of 2 in all", long + "is 3\nof 4 in all", long + "is 3\nof 4 in all", ""},
		{"so it was\n…\nlast is 1", "now another thing\nlast is 2", "…\nlast is 2", "so it was"},
	} {
		block, lost, err := rewrite(c.shown, c.printed)
		must.Do(t, err)
		must.Be(t, block, c.want, "block")
		must.Be(t, strings.Join(lost, "|"), c.lost, "lost")
	}
}

// TestGo: a snippet that doesn't compile, or that ends with an error, is a fault.
func TestGo(t *testing.T) {
	packages := must.Get(listPackages(root))(t)
	at := &place{folder: t.TempDir()}
	for snippet, fault := range map[string]string{
		"n, err := fmt.Println(1)\n": "declared and not used: n",
		"krigo.NotThere(ctx)\n":      "undefined: krigo.NotThere",
		"x :=\n":                     "expected",
		"raw, err := os.ReadFile(\"gone\")\n_ = raw\n":     "no such file",
		"err := ctx.Err()\nfmt.Println(err, linalg.Dot)\n": "undefined: linalg",
	} {
		must.Refuse(at.golang(root, snippet, packages))(t, fault, snippet)
	}
	must.Be(t, must.Get(at.golang(root, "err := ctx.Err()\nfmt.Println(err)\n", packages))(t), "<nil>\n")
}
