package command

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// altered calls use once for each text of a JSON value, while the text has another value.
func altered(at string, v any, to string, use func(at string)) {
	each := func(at string, of any, set func(any)) {
		if _, is := of.(string); !is {
			altered(at, of, to, use)
			return
		}
		set(of.(string) + to)
		use(at)
		set(of)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			each(at+"."+key, v[key], func(to any) { v[key] = to })
		}
	case []any:
		for i, of := range v[:min(len(v), 2)] {
			each(fmt.Sprintf("%s[%d]", at, i), of, func(to any) { v[i] = to })
		}
	}
}

// sealed returns a model file with another header, under a checksum that fits.
func sealed(raw []byte, head any) string {
	text, _ := json.Marshal(head)
	n := binary.LittleEndian.Uint32(raw[12:])
	file := binary.LittleEndian.AppendUint32(append([]byte(nil), raw[:12]...), uint32(len(text)))
	file = append(append(file, text...), raw[16+n:len(raw)-sha256.Size]...)
	sum := sha256.Sum256(file)
	return string(append(file, sum[:]...))
}

// TestTextsOfFiles puts a line and an escape sequence into each text of a file. Each command refuses the file, or prints
// neither the line nor the sequence. Each text goes to one command, in turn, and to all if EVERY_TEXT is set.
func TestTextsOfFiles(t *testing.T) {
	must.Long(t)
	workplace(t)
	const line = "FORGED: at most 0.1 % miss"
	const to = "\n" + line + "\x1b[31m\u009b31m"
	table := "patient,dose,kind,y\n"
	labels := "kind,said,site,row\n"
	for i := range 240 {
		own := math.Sin(float64(i%40) * 91.7)
		table += fmt.Sprintf("p%d,%.3f,%c,%.3f\n", i%40, math.Mod(float64(i)*.618, 1), 'a'+i%3, own+math.Sin(float64(i))/4)
		labels += fmt.Sprintf("%c,%c,%c,%d\n", 'a'+i%3, 'a'+(i+i%10/9)%3, 'u'+i%2, i)
	}
	write(t, "rows.csv", table)
	write(t, "labels.csv", labels)
	fit := "fit rows.csv --target y --restarts 1 --quiet --prior informed --ignore patient "
	runs(t, strings.Fields(fit+"--categorical kind --population same --slices kind --test-fraction .1 --out same.krigo")...)
	runs(t, strings.Fields(fit+"--categorical kind --out none.krigo")...)
	runs(t, strings.Fields(strings.Replace(fit, "target y", "target kind", 1)+"--out classes.krigo")...)
	runs(t, strings.Fields("certify --predictions labels.csv --target kind --prediction said --slice-by site "+
		"--statements error,classes --quiet --out labels.json")...)
	tried, shown, texts := 0, 0, 0
	every := os.Getenv("EVERY_TEXT") != ""
	check := func(file, rows, at string) {
		commands := []string{"certify %s %s --no-refit", "report %s --out page.html", "watch %s",
			"predict %s %s", "watch %s %s --ledger own.ledger"}
		if strings.HasSuffix(file, "json") {
			commands = slices.Delete(commands, 3, 4)
		}
		if !every { // one command for each text, in turn
			commands = commands[texts%len(commands):][:1]
		}
		texts++
		for _, command := range commands {
			args := strings.Fields(command)
			for i, arg := range args {
				args[i] = strings.Replace(arg, "%s", []string{file, rows}[min(max(i-1, 0), 1)], 1)
			}
			o := call(t.Context(), args...)
			tried++
			if o.status == 0 {
				shown++
			}
			said := o.stdout + o.stderr
			if strings.ContainsAny(said, "\x1b\u009b") || strings.Contains("\n"+said, "\n"+line) {
				t.Errorf("%s: %s prints it:\n%q", at, args[0], said)
			}
		}
	}
	for _, file := range []string{"same.krigo", "none.krigo", "classes.krigo"} {
		raw := []byte(read(t, file))
		var head any
		must.Do(t, json.Unmarshal(raw[16:16+binary.LittleEndian.Uint32(raw[12:])], &head))
		altered(file, head, to, func(at string) {
			write(t, "forged.krigo", sealed(raw, head))
			check("forged.krigo", "rows.csv", at)
		})
	}
	var document any
	must.Do(t, json.Unmarshal([]byte(read(t, "labels.json")), &document))
	altered("labels.json", document, to, func(at string) {
		write(t, "forged.json", string(must.Get(json.Marshal(document))(t)))
		check("forged.json", "labels.csv", at)
	})
	must.Hold(t, tried >= 120, "%d tried", tried)
	t.Logf("%d tried, %d accepted", tried, shown)
}
