package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

// unlike lists the commands of the documentation that can't run unchanged, and what is run instead.
var unlike = map[string]struct {
	instead string // the command that is run instead: on less data, or on a table made for the test
	stdin   string // the file that the command before the pipe would print
	status  int    // the expected exit status
}{
	// The file would have 190 MB, and the folder has a draw.npy already.
	"krigo generate --rows 2000000 --inputs 11 --out draw.npy": {instead: "krigo generate --rows 2000 --inputs 11 --out " +
		"drawn.npy"},

	"krigo inspect houses.csv --target price": {instead: "krigo inspect messy.csv --target price"},
	"krigo fit houses.csv --target price --ignore id --dates sold:year --decimal , --thousands . --units m² --na k.A. " +
		"--missing mean": {
		instead: "krigo fit messy.csv --target price --ignore id --dates sold:year --decimal , --thousands . --units m² " +
			"--na k.A. --missing mean"},
	"krigo fit houses.csv --target price --categorical zone,heating --missing mean": {
		instead: "krigo fit zones.csv --target price --categorical zone,heating --missing mean"},
	"sqlite3 -header -csv sales.db 'select * from houses' | krigo fit - --target price --out " +
		"houses.krigo": {stdin: "houses.csv"},
	"tail -f outcomes.csv | krigo watch houses.krigo -": {stdin: "sold.csv"},
	"krigo fit houses.csv --target price --slices zone --categorical zone": {
		instead: "krigo fit zones.csv --target price --slices sd --categorical zone,heating --prior-share 0.45"},

	// Unchanged, these commands try six kernels on a thousand rows or more.
	"krigo fit electricity.csv --target kW --dates time:day:week --split last": {
		instead: "krigo fit electricity.csv --target kW --dates time:day:week --split last --dry-run"},
	"krigo fit electricity.csv --target kW --dates time:day:week --group block:time:7d --prior informed": {
		instead: "krigo fit electricity.csv --target kW --dates time:day:week --group block:time:7d --prior informed --dry-run"},

	"krigo watch sales.krigo autumn.csv --ledger sales.ledger": {status: exitAlarm},
}

// documented is a command in a code block of a document, with the output that the document shows.
type documented struct {
	line   int
	text   string
	output string // the block of text after the command; … matches any text
}

// commandsOf finds the commands of a document: lines of code that begin with krigo, go run ./cmd/krigo or curl, or pipe
// to krigo; It leaves out commands of mpirun, which package ranks tests. A block fenced as text, right below a block of
// commands, is the output of the last command.
func commandsOf(text string) (all []documented) {
	fence, indented := "", regexp.MustCompile(`^(    |\t)`)
	begins, pipes := regexp.MustCompile(`^(krigo|go run \./cmd/krigo|curl) `), regexp.MustCompile(`^[a-z][^|#]* \| krigo `)
	above := false // only empty lines follow the last command
	var output []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if name, ok := strings.CutPrefix(line, "```"); ok {
			switch {
			case fence == "text" && above && len(all) > 0:
				all[len(all)-1].output, above = strings.Join(output, "\n"), false
				fallthrough
			case fence != "":
				fence = ""
			default:
				fence, output = name+" ", nil
				if name == "text" {
					fence = "text"
				}
			}
			continue
		}
		if fence == "text" {
			output = append(output, line)
			continue
		}
		if fence == "" && !indented.MatchString(line) {
			above = above && line == ""
			continue
		}
		text, first := strings.TrimSpace(line), i+1
		for strings.HasSuffix(text, `\`) && i+1 < len(lines) {
			i++
			text = strings.TrimSuffix(text, `\`) + strings.TrimSpace(lines[i])
		}
		if above = begins.MatchString(text) || pipes.MatchString(text); above {
			all = append(all, documented{line: first, text: plain(text)})
		}
	}
	return all
}

// plain returns a command without shell comments, and with single spaces.
func plain(text string) string {
	for _, at := range regexp.MustCompile(`\s#`).FindAllStringIndex(text, -1) {
		if strings.Count(text[:at[0]], "'")%2 == 0 {
			text = text[:at[0]]
			break
		}
	}
	return strings.Join(strings.Fields(strings.Replace(text, "go run ./cmd/krigo", "krigo", 1)), " ")
}

// words splits a command as a shell does. It knows only the quoting that the documentation uses.
func words(text string) (all []string) {
	for _, w := range regexp.MustCompile(`('[^']*'|"[^"]*"|[^\s'"]+)+`).FindAllString(text, -1) {
		if w[0] != '\'' {
			w = strings.ReplaceAll(w, `"`, "")
		}
		all = append(all, strings.ReplaceAll(w, "'", ""))
	}
	return all
}

// TestManual runs the commands of README and docs in their order, in a folder with the files that these documents
// mention. It compares the output with the output that the tutorials show. Words must be equal, and numbers may differ
// by a twentieth.
func TestManual(t *testing.T) {
	if testing.Short() {
		t.Skip("it fits some forty models")
	}
	root := must.Get(filepath.Abs("../.."))(t)
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	must.End(t, err != nil || len(documents) < 11, "%d documents, %v", len(documents), err)
	seen := map[string]bool{}
	shelf := furnish(t, root)
	for _, path := range append([]string{filepath.Join(root, "README.md")}, documents...) {
		text := must.Get(os.ReadFile(path))(t)
		all := commandsOf(string(text))
		if len(all) == 0 {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Chdir(t.TempDir())
			must.Do(t, os.CopyFS(".", os.DirFS(shelf)))
			var s server
			defer s.stop(t)
			for _, c := range all {
				seen[c.text] = true
				began := time.Now()
				got, err := c.run(t, &s)
				t.Logf("%.1f s: %s", time.Since(began).Seconds(), c.text)
				if err != nil {
					t.Errorf("%s:%d: %s\n%v", filepath.Base(path), c.line, c.text, err)
				} else if err := c.prints(got); err != nil {
					t.Errorf("%s:%d: %s\n%v\nit prints\n%s", filepath.Base(path), c.line, c.text, err, got)
				}
			}
			for _, picture := range regexp.MustCompile(`!\[[^\]]*\]\(([^ )]+)`).FindAllStringSubmatch(string(text), -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), picture[1])); err != nil {
					t.Errorf("a picture is missing: %v", err)
				}
			}
			if os.Getenv("UPDATE_PICTURES") == "1" {
				hang(t, string(text), filepath.Dir(path))
			}
		})
	}
	for text := range unlike {
		must.Not(t, !seen[text], "no document has the command %s any more", text)
	}
}

// TestCommandsOf: commandsOf finds the commands of a document and their outputs, and prints reports outputs that
// differ.
func TestCommandsOf(t *testing.T) {
	const text = "krigo is text.\n\n    krigo fit a.csv --x 'b  # c'   # why\n    ls\n    cat a | krigo watch " +
		"-\n\n```text\n12 of … lie within 60,000\n```\n\n" +
		"```go\nkrigo.Fit(ctx)\n```\n\n```\ngo run ./cmd/krigo demo \\\n   --quiet\n```\n\nWords.\n\n```text\nnot its " +
		"output\n```\n"
	all := commandsOf(text)
	want := []documented{{3, "krigo fit a.csv --x 'b # c'", ""}, {5, "cat a | krigo watch -", "12 of … lie within 60,000"},
		{16, "krigo demo --quiet", ""}}
	must.End(t, !slices.Equal(all, want), "%+v", all)
	if got := words("krigo fit a.csv --na '-,k A' --kernel \"se+rq\""); !slices.Equal(got,
		[]string{"krigo", "fit", "a.csv", "--na", "-,k A", "--kernel", "se+rq"}) {
		t.Errorf("%q", got)
	}
	for printed, same := range map[string]bool{
		"12 of 40 rows  lie\nwithin 60,000\n": true, "12 of them lie within 61,000": true,
		"12 of them lie within 70,000": false, "12 of them lie beyond 60,000": false,
		"so 12 of them lie within 60,000": false, "12 of them lie within 60,000 and": false, "": false,
	} {
		if err := want[1].prints(printed); (err == nil) != same {
			t.Errorf("%q: %v", printed, err)
		}
	}
}

// run runs a command and returns what it prints.
func (c documented) run(t *testing.T, s *server) (string, error) {
	how := unlike[c.text]
	text := c.text
	if how.instead != "" {
		text = how.instead
	}
	if how.stdin != "" {
		_, text, _ = strings.Cut(text, " | ")
	}
	args := words(text)[1:]
	if strings.HasPrefix(text, "curl ") {
		return s.ask(args)
	}
	s.stop(t) // a reader ends the server before typing the next command
	to := ""
	if at := slices.Index(args, ">"); at >= 0 && at == len(args)-2 {
		args, to = args[:at], args[at+1]
	}
	if args[0] == "serve" {
		return "", s.start(args)
	}
	var stdin io.Reader
	if how.stdin != "" {
		raw, err := os.ReadFile(how.stdin)
		if err != nil {
			return "", err
		}
		stdin = bytes.NewReader(raw)
	}
	var stdout, stderr bytes.Buffer
	if status := Run(context.Background(), args, stdin, &stdout, &stderr); status != how.status {
		return "", fmt.Errorf("status %d\n%s%s", status, stdout.String(), stderr.String())
	}
	if to != "" {
		return "", os.WriteFile(to, stdout.Bytes(), 0o600)
	}
	return stdout.String(), nil
}

// number matches a number. Numbers may differ a little on another processor.
var number = regexp.MustCompile(`(?:\d{1,3}(?:,\d{3})+\b|\d+)(?:\.\d+)?(?:e[+-]?\d+)?`)

// prints returns an error if got, which a command printed, differs from the output that the document shows.
func (c documented) prints(got string) error {
	if c.output == "" {
		return nil
	}
	// The words between numbers and ellipses must be equal, but the number of spaces may differ.
	var pattern strings.Builder
	pattern.WriteString(`(?s)^\s*`)
	var want []string
	for i, part := range strings.Split(strings.TrimSpace(c.output), "…") {
		if i > 0 {
			pattern.WriteString(`.*?`)
		}
		at := 0
		for _, n := range append(number.FindAllStringIndex(part, -1), []int{len(part), len(part)}) {
			between := regexp.MustCompile(`\s+`).ReplaceAllString(regexp.QuoteMeta(part[at:n[0]]), `\s+`)
			pattern.WriteString(between)
			if n[0] < n[1] {
				pattern.WriteString("(" + number.String() + ")")
				want = append(want, part[n[0]:n[1]])
			}
			at = n[1]
		}
	}
	pattern.WriteString(`\s*$`)
	groups := regexp.MustCompile(pattern.String()).FindStringSubmatch(got)
	if groups == nil {
		return fmt.Errorf("it doesn't print\n%s", c.output)
	}
	for i, w := range want {
		a, errA := strconv.ParseFloat(strings.ReplaceAll(w, ",", ""), 64)
		b, errB := strconv.ParseFloat(strings.ReplaceAll(groups[i+1], ",", ""), 64)
		if w != groups[i+1] && (errA != nil || errB != nil || math.Abs(a-b) > 0.05*math.Abs(a)) {
			return fmt.Errorf("%s isn't %s", groups[i+1], w)
		}
	}
	return nil
}

// server runs krigo serve in the background, and sends it requests.
type server struct {
	url            string
	end            context.CancelFunc
	ended          chan int
	stdout, stderr output
}

func (s *server) start(args []string) error {
	ctx, end := context.WithCancel(context.Background())
	*s = server{end: end, ended: make(chan int, 1)}
	go func() { s.ended <- Run(ctx, append(args, "--listen", "127.0.0.1:0"), nil, &s.stdout, &s.stderr) }()
	for range 3000 {
		if s.url = regexp.MustCompile(`http://[^/\s]+`).FindString(s.stdout.String()); s.url != "" {
			return nil
		}
		select {
		case status := <-s.ended:
			s.end = nil
			return fmt.Errorf("status %d\n%s", status, s.stderr.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("it doesn't serve\n%s", s.stderr.String())
}

func (s *server) stop(t *testing.T) {
	if s.end == nil {
		return
	}
	s.end()
	if status := <-s.ended; status != 0 {
		t.Errorf("the server ended with status %d\n%s", status, s.stderr.String())
	}
	s.end = nil
}

// ask sends the request that curl would send with these arguments.
func (s *server) ask(args []string) (string, error) {
	if s.end == nil {
		return "", fmt.Errorf("nothing is served")
	}
	var url, kind string
	body := io.Reader(http.NoBody)
	method := http.MethodGet
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-s":
		case a == "-H":
			i++
			kind = strings.TrimPrefix(args[i], "Content-Type: ")
		case a == "-d" || a == "--data-binary":
			i++
			text := []byte(args[i])
			if name, ok := strings.CutPrefix(args[i], "@"); ok {
				var err error
				if text, err = os.ReadFile(name); err != nil {
					return "", err
				}
			}
			method, body = http.MethodPost, bytes.NewReader(text)
		default:
			_, path, ok := strings.Cut(a, "localhost:8080")
			if !ok || url != "" {
				return "", fmt.Errorf("%s: this isn't known of curl here", a)
			}
			url = s.url + path
		}
	}
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", kind)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return string(text), err
}

// furnish makes a folder with the files that the documents mention.
func furnish(t *testing.T, root string) string {
	t.Helper()
	shelf := t.TempDir()
	copied := func(pattern, to string) {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		must.End(t, err != nil || len(paths) == 0, "%s: %v", pattern, err)
		for _, p := range paths {
			raw, err := os.ReadFile(p)
			if err == nil {
				err = os.MkdirAll(filepath.Join(shelf, to), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(shelf, to, filepath.Base(p)), raw, 0o600)
			}
			must.End(t, err != nil, "%v", err)
		}
	}
	copied("docs/data/*.csv", ".")
	copied("data/*.csv.gz", ".")
	copied("data/*.csv.gz", "data")

	r := rand.New(rand.NewPCG(1, 0))
	house := func() (rooms, age, price float64) {
		rooms, age = float64(1+r.IntN(8)), float64(r.IntN(90))
		return rooms, age, 60_000 + 70_000*rooms - 900*age + 12_000*r.NormFloat64()
	}
	table := func(name, head string, rows int, line func() string) {
		var b strings.Builder
		b.WriteString(head + "\n")
		for range rows {
			b.WriteString(line() + "\n")
		}
		write(t, filepath.Join(shelf, name), b.String())
	}
	numbers := func() string {
		rooms, age, price := house()
		return fmt.Sprintf("%g,%g,%.0f", rooms, age, price)
	}
	for name, rows := range map[string]int{"houses.csv": 120, "fresh.csv": 30, "sold.csv": 30} {
		table(name, "rooms,age,price", rows, numbers)
	}
	table("new.csv", "rooms,age", 5, func() string { rooms, age, _ := house(); return fmt.Sprintf("%g,%g", rooms, age) })
	zones, heatings := []string{"north", "south", "east"}, []string{"gas", "oil", "wood"}
	table("zones.csv", "rooms,age,zone,heating,price", 120, func() string {
		rooms, age, price := house()
		return fmt.Sprintf("%g,%g,%s,%s,%.0f", rooms, age, zones[r.IntN(3)], heatings[r.IntN(3)], price)
	})
	n := 0
	table("messy.csv", "id;sold;area;price", 120, func() string {
		rooms, age, price := house()
		n++
		area := strings.Replace(strconv.FormatFloat(22*rooms+age/10, 'f', 1, 64), ".", ",", 1) + " m²"
		if n%20 == 0 {
			area = "k.A."
		}
		return fmt.Sprintf("H%04d;%s;%s;%d.%03d", n, time.Date(2020, 1, n*7, 0, 0, 0, 0, time.UTC).Format("02.01.2006"), area,
			int(price)/1000, int(price)%1000)
	})
	table("stations.csv", "lon,lat,height,temperature", 400, func() string {
		lon, lat, height := 2*r.Float64(), 47+2*r.Float64(), 900*r.Float64()
		return fmt.Sprintf("%.3f,%.3f,%.0f,%.1f", lon, lat, height, 12+2*math.Sin(3*lon)-height/160+0.4*r.NormFloat64())
	})
	table("scored.csv", "price,prediction", 60, func() string {
		rooms, age, price := house()
		return fmt.Sprintf("%.0f,%.0f", price, 60_000+70_000*rooms-900*age)
	})
	some := func() string {
		x1, x2 := r.NormFloat64(), r.NormFloat64()
		return fmt.Sprintf("%.4f,%.4f,%.4f", x1, x2, math.Sin(x1)+0.3*x2+0.1*r.NormFloat64())
	}
	table("big.csv", "x1,x2,y", 150, some)
	table("kin40k.csv", "x1,x2,y", 150, some)
	// krigo reads plain text even if the file's name ends in .gz
	must.Do(t, os.Rename(filepath.Join(shelf, "kin40k.csv"), filepath.Join(shelf, "kin40k.csv.gz")))
	params := `{"kernel": {"name": "se", "variance": 1, "lengthscales": [1, 1]}, "noise_variance": 0.1}`
	write(t, filepath.Join(shelf, "p.json"), params)
	write(t, filepath.Join(shelf, "params.json"), params)

	runs(t, "generate", "--rows", "300", "--inputs", "3", "--out", filepath.Join(shelf, "draw.npy"))
	runs(t, "fit", filepath.Join(shelf, "houses.csv"), "--target", "price", "--quiet", "--out",
		filepath.Join(shelf, "houses.krigo"))
	must.Do(t, os.Mkdir(filepath.Join(shelf, "models"), 0o700))
	write(t, filepath.Join(shelf, "models", "houses.krigo"), read(t, filepath.Join(shelf, "houses.krigo")))
	return shelf
}

// hang writes the pictures of a page again. Each picture is a figure of a report that a command on the page made. The
// picture's title names the figure and the report: ![…](../images/branin.svg "The two most relevant inputs, of
// branin.html").
func hang(t *testing.T, page, docs string) {
	t.Helper()
	style := read(t, filepath.Join(docs, "..", "..", "report", "style.css"))
	chart := read(t, filepath.Join(docs, "..", "..", "internal", "drawing", "chart.css"))
	var light, dark strings.Builder
	for _, c := range regexp.MustCompile(`(--\w+): light-dark\((#\w+), (#\w+)\)`).FindAllStringSubmatch(style, -1) {
		fmt.Fprintf(&light, "%s:%s;", c[1], c[2])
		fmt.Fprintf(&dark, "%s:%s;", c[1], c[3])
	}
	for _, picture := range regexp.MustCompile(`!\[[^\]]*\]\((\.\./images/[^ )]+) "(.*), of `+
		`(.*\.html)"\)`).FindAllStringSubmatch(page, -1) {
		_, figure, found := strings.Cut(read(t, picture[3]), "<h3>"+picture[2]+"</h3>")
		must.End(t, !found, "%s has no figure %q", picture[3], picture[2])
		figure, _, _ = strings.Cut(figure, "<figcaption>")
		// a plot may hold a picture within its axes
		plots := regexp.MustCompile(`(?s)<svg [^>]*viewBox="0 0 (\d+) (\d+)"[^>]*>((?:<svg .*?</svg>|[^<]|<[^/s]|</[^s])*)</svg>`).
			FindAllStringSubmatch(figure, -1)
		must.End(t, len(plots) == 0, "the figure %q of %s isn't drawn", picture[2], picture[3])
		width := must.Get(strconv.Atoi(plots[0][1]))(t)
		var b strings.Builder
		fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="%d" viewBox="-8 -4 %d %s"><style>:root{%scolor:var(--ink)}@media(prefers-color-scheme:dark){:root{%s}}%s</style><rect x="-8" y="-4" width="100%%" height="100%%" fill="var(--paper)"/>`,
			440*len(plots), (width+16)*len(plots), plots[0][2], light.String(), dark.String(), chart)
		for i, plot := range plots {
			fmt.Fprintf(&b, `<g class="chart" transform="translate(%d,0)">%s</g>`, i*(width+16), plot[3])
		}
		b.WriteString("</svg>\n")
		must.Do(t, os.WriteFile(filepath.Join(docs, picture[1]), []byte(b.String()), 0o644))
	}
}
