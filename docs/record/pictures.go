package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// hang writes the pictures of a page again. Each picture is a figure of a report that a command on the page made. The
// picture's title names the figure and the report: ![…](../images/branin.svg "The two most relevant inputs, of
// branin.html").
func hang(page *page, folder, root string) error {
	named := regexp.MustCompile(`!\[[^\]]*\]\(((?:\.\.|docs)/images/[^ )]+) "(.*), of (.*\.html)"\)`)
	for _, picture := range named.FindAllStringSubmatch(strings.Join(page.lines, "\n"), -1) {
		text, err := drawing(root, filepath.Join(folder, picture[3]), picture[2])
		if err != nil {
			return err
		}
		to := filepath.Join(root, filepath.Dir(page.path), picture[1])
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// drawing returns a figure of a report as a picture of its own.
func drawing(root, report, name string) (string, error) {
	var texts [3]string
	for i, path := range []string{
		report, filepath.Join(root, "report", "style.css"), filepath.Join(root, "internal", "drawing", "chart.css"),
	} {
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		texts[i] = string(raw)
	}
	var light, dark strings.Builder
	for _, c := range regexp.MustCompile(`(--\w+): light-dark\((#\w+), (#\w+)\)`).FindAllStringSubmatch(texts[1], -1) {
		fmt.Fprintf(&light, "%s:%s;", c[1], c[2])
		fmt.Fprintf(&dark, "%s:%s;", c[1], c[3])
	}
	_, figure, _ := strings.Cut(texts[0], "<h3>"+name+"</h3>")
	figure, _, _ = strings.Cut(figure, "<figcaption>")
	// A plot may hold a picture within its axes.
	plots := regexp.MustCompile(`(?s)<svg [^>]*viewBox="0 0 (\d+) (\d+)"[^>]*>((?:<svg .*?</svg>|[^<]|<[^/s]|</[^s])*)</svg>`).
		FindAllStringSubmatch(figure, -1)
	if len(plots) == 0 {
		return "", fmt.Errorf("%s has no figure %q", filepath.Base(report), name)
	}
	width, err := strconv.Atoi(plots[0][1])
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="%d" viewBox="-8 -4 %d %s"><style>:root{%scolor:var(--ink)}@media(prefers-color-scheme:dark){:root{%s}}%s</style><rect x="-8" y="-4" width="100%%" height="100%%" fill="var(--paper)"/>`,
		440*len(plots), (width+16)*len(plots), plots[0][2], light.String(), dark.String(), texts[2])
	for i, plot := range plots {
		fmt.Fprintf(&b, `<g class="chart" transform="translate(%d,0)">%s</g>`, i*(width+16), plot[3])
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// paint makes the pictures of docs/images that no page's command draws: the curves by experiments of the laboratory,
// and pictures of pages by its tests in a browser. missing says what couldn't be made, and why.
func paint(root string) (missing []string, err error) {
	folder, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	laboratory := func(args ...string) error {
		cmd := exec.Command("go", args...)
		cmd.Dir = filepath.Join(root, "laboratory")
		cmd.Env = append(os.Environ(), "SCREENSHOTS="+folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	keep := func(names ...string) error {
		for _, name := range names {
			raw, err := os.ReadFile(filepath.Join(folder, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(root, "docs", "images", name), raw, 0o644)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range []string{"boston-curve", "snelson-band"} {
		if err := laboratory("run", "./reproduce", name, "--out", folder); err != nil {
			return nil, err
		}
	}
	if err := keep("boston-curve.png", "snelson-band.png"); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		return []string{"page.png, page-phone.png, report.png: Chromium is not here (scripts/install browser)"}, nil
	}
	browse := func(test string) error {
		return laboratory("test", "-count=1", "-tags", "browser", "-run", "^"+test+"$", "./browser")
	}
	if err := browse("TestPage"); err != nil {
		missing = append(missing, "page.png, page-phone.png: "+err.Error())
	} else if err := keep("page.png", "page-phone.png"); err != nil {
		return missing, err
	}
	if err := browse("TestReport"); err != nil {
		return append(missing, "report.png: "+err.Error()), nil
	}
	// report.png is the first sheet of the report as it prints.
	sheet := exec.Command("pdftoppm", "-singlefile", "-r", "110", "-png", "report.pdf", "report")
	sheet.Dir = folder
	if out, err := sheet.CombinedOutput(); err != nil {
		return append(missing, fmt.Sprintf("report.png: pdftoppm (Debian: poppler-utils): %v\n%s", err, out)), nil
	}
	return missing, keep("report.png")
}
