package command

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/watch"
)

// TestLabelDoors: watch and report take a certificate of another classifier's labels.
func TestLabelDoors(t *testing.T) {
	workplace(t)
	// scored writes 10 rows of each number of a, b and c, with this many wrong labels among 10 rows of each class.
	scored := func(name string, times int, wrong ...int) {
		text := "kind,p_a,p_b,p_c,other\n"
		for i := range 10 * times {
			for k := range wrong {
				p := [3]string{".05", ".05", ".05"}
				if label := k; i%10 < wrong[k] {
					p[(label+1)%3] = ".9"
				} else {
					p[label] = ".9"
				}
				text += fmt.Sprintf("%c,%s,%d\n", 'a'+k, strings.Join(p[:], ","), i)
			}
		}
		write(t, name, text)
	}
	scored("scored.csv", 20, 1, 1, 1)
	certify := func(out, more string) {
		runs(t, strings.Fields("certify --predictions scored.csv --target kind --probabilities p_ --quiet --out "+out+
			" "+more)...)
	}
	certify("labels.json", "--statements error,classes,brier")
	if text := flat(runs(t, "watch", "labels.json", "scored.csv")); !strings.Contains(text,
		"600 outcomes, 60 got a wrong label (10.00 %)") || !strings.Contains(text, "600 rows equal a certified row.") ||
		!strings.Contains(text, `of class "b": 20 of 200 got a wrong label (10.00 %)`) ||
		!strings.Contains(text, "shared equally by 4 alarms, each with δ = 0.0025") {
		t.Error(text)
	}
	// Class c alone goes wrong.
	scored("july.csv", 4, 1, 0, 6)
	o := call(context.Background(), strings.Fields("watch labels.json july.csv --ledger july.ledger --key july")...)
	// The bound of class c has the part .01/3/3 of δ, and the alarm a fourth of δ.
	if text := flat(o.stdout); !strings.Contains(text, "with probability at most 0.0025. Either") ||
		!strings.Contains(text, "failed by chance, with probability at most 0.00112.") || o.status != exitAlarm || !strings.Contains(text, ` of class "c" (`) ||
		strings.Contains(text, ` of class "a" (`) || strings.Contains(text, "certified row.") ||
		!strings.Contains(o.stderr, "above the certificate's bound") {
		t.Errorf("%+v", o)
	}
	o = call(context.Background(), strings.Fields("watch labels.json july.csv --ledger july.ledger --key july")...)
	must.Hold(t, strings.Contains(o.stderr, "120 rows are in the ledger"), "%+v", o)
	state := func() (s watch.State, text string) {
		text = call(context.Background(), strings.Fields("watch labels.json --ledger july.ledger --json")...).stdout
		must.Do(t, json.Unmarshal([]byte(text), &s))
		return s, text
	}
	s, before := state()
	c := s.Kinds[2]
	must.Hold(t, s.Rows == 120 && len(s.Kinds) == 3 && c.Of == "c" && c.Rows == 40 &&
		c.Misses == 24 && c.Alarm != nil && s.Kinds[0].Alarm == nil &&
		math.Abs(c.AlarmAt-math.Log(4/0.01)) <= 1e-12 && s.AlarmAt == c.AlarmAt && s.Repeats == 0,
		"%+v", s)
	runs(t, strings.Fields("watch labels.json july.csv --ledger july.ledger --check")...)
	call(context.Background(), strings.Fields("watch labels.json --ledger july.ledger --rotate")...)
	_, after := state()
	must.Be(t, after, before, "after a rotation")
	altered := strings.Replace(read(t, "july.ledger"), `"of":"c"`, `"of":"b"`, 1)
	write(t, "altered.ledger", altered)
	for args, want := range map[string]string{
		"watch labels.json --ledger altered.ledger": "the file was altered",
		"watch labels.json snelson.csv":             `target "kind": snelson.csv has no such column`,
	} {
		if o := call(context.Background(), strings.Fields(args)...); o.status == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
	// A stream, with a class that the certificate doesn't know.
	if o := fed("kind,p_a,p_b,p_c\nzebra,.9,.05,.05\n", "watch", "labels.json", "-", "--ledger",
		"z.ledger"); o.status != 0 || !strings.Contains(o.stdout, "1 outcome, 1 got a wrong label") ||
		strings.Contains(o.stdout, "of class") {
		t.Errorf("%+v", o)
	}

	runs(t, "report", "labels.json", "scored.csv", "--quiet")
	for _, want := range []string{"recomputed from the certified rows", "<td>200</td>", "Reliability of probabilities",
		"label b", "Brier"} {
		must.Hold(t, strings.Contains(read(t, "labels.html"), want), "no %s in the report", want)
	}
	runs(t, "report", "labels.json", "july.csv", "--quiet")
	if page := read(t, "labels.html"); !strings.Contains(page, "<td>60.0 %</td><td>40</td>") ||
		!strings.Contains(page, "recomputed from the file&#39;s counts") {
		t.Error(page)
	}
	runs(t, "report", "labels.json", "--quiet")
	write(t, "forged.json", strings.Replace(read(t, "labels.json"), `"bound": 0.`, `"bound": 0.0`, 1))
	write(t, "said.json", strings.Replace(read(t, "labels.json"), "at most ", "at most 1 % and not ", 1))
	for args, want := range map[string]string{"certify labels.json scored.csv": "Reproduced from the 600 rows of scored.csv",
		"certify labels.json scored.csv --json": `"matches": true`} {
		must.Hold(t, strings.Contains(runs(t, strings.Fields(args)...), want), "%s", args)
	}
	certify("classes.json", "--statements classes --delta .03")
	certify("brier.json", "--statements brier")
	certify("groups.json", "--group other")
	runs(t, strings.Fields("certify --predictions snelson.csv --target y --prediction x --epsilon 1 --out n.json")...)
	if text := runs(t, "watch", "classes.json", "scored.csv"); !strings.Contains(flat(text),
		`of class "a": 20 of 200`) || !strings.Contains(text, "3 alarms, each with δ = 0.01") {
		t.Error(text)
	}
	for args, want := range map[string]string{
		"report forged.json scored.csv":          "forged.json: certificate.statements[0].bound isn't what was computed",
		"report forged.json":                     "certificate.statements[0].bound",
		"watch forged.json scored.csv":           "certificate.statements[0].bound",
		"certify forged.json scored.csv":         "certificate.statements[0].bound",
		"certify labels.json july.csv":           "the rows of july.csv aren't the certified rows: their SHA-256 differs",
		"certify said.json scored.csv":           "sentence isn't what was computed",
		"certify labels.json scored.csv --fresh": "--fresh is for models",
		"watch brier.json scored.csv":            "certify with --statements error,classes",
		"watch groups.json scored.csv":           "without --group",
		"watch n.json snelson.csv":               "n.json: it is a certificate of predicted numbers",
		"report n.json":                          "n.json: it is a certificate of predicted numbers",
	} {
		if o := call(context.Background(), strings.Fields(args)...); o.status == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
}

// TestLabelsTwice: predict replaces its own tables of labels, and no other table.
func TestLabelsTwice(t *testing.T) {
	must.Long(t)
	workplace(t)
	text := "x,two,three,level\n"
	for i := range 150 {
		x := math.Sin(float64(i * i))
		text += fmt.Sprintf("%v,%c,%c,%d\n", x, "no"[i%7%2], 'a'+int(1.5*x+1.5), int(1.5*x+2.5))
	}
	write(t, "kinds.csv", text)
	for fit, flags := range map[string][]string{"two": {"", "--intervals conformal", "--keep x", "--json"},
		"three": {"", "--intervals conformal", "--keep x", "--json"}, "level --noise ordinal": {"", "--keep x", "--json"}} {
		runs(t, strings.Fields("fit kinds.csv --inputs x --kernel se --restarts 1 --quiet --out m.krigo --target "+fit)...)
		for _, flag := range flags {
			args := strings.Fields("predict m.krigo kinds.csv --quiet --out p.csv " + flag)
			if flag == "--json" {
				args[5] = "p.json"
			}
			must.Do(t, os.RemoveAll(args[5]))
			runs(t, args...)
			runs(t, args...)
		}
	}
	write(t, "mine.csv", "label,mine\na,1\n")
	if o := call(context.Background(), strings.Fields("predict m.krigo kinds.csv --out mine.csv")...); o.status != 2 {
		t.Errorf("%+v", o)
	}
}

// TestLabelsThatAreNumbers: labels that are the same number, written otherwise, are refused, since they would be counted
// as one label. That holds for text as for numbers.
func TestLabelsThatAreNumbers(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, more := range map[string]string{"text": "A,A\n", "numbers": "2,2\n"} {
		rows := "target,prediction\n" + strings.Repeat("01,1\n1,1\n"+more, 20)
		must.Do(t, os.WriteFile("l.csv", []byte(rows), 0o600))
		o := call(t.Context(), "certify", "--predictions", "l.csv", "--target", "target", "--classes")
		must.Hold(t, o.status != 0 && strings.Contains(o.stderr, "are one number"),
			"%s: %+v", name, o)
		if name == "text" {
			o = call(t.Context(), "certify", "--predictions", "l.csv", "--target", "target")
			must.Hold(t, o.status != 0 && strings.Contains(o.stderr, "are one number"),
				"%s: %+v", name, o)
		}
	}
}
