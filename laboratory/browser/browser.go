// Package browser drives a headless Chromium for tests of web pages. It speaks the Chrome DevTools Protocol over a
// pipe.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Page is a web page in a browser process of its own.
type Page struct {
	process *exec.Cmd
	folder  string
	in      io.WriteCloser
	answers chan answer
	session string
	last    int

	// Errors holds the complaints of the page's console and of the network.
	Errors []string
}

type answer struct {
	ID     int
	Method string
	Params struct {
		Type             string
		Entry            struct{ Level, Text, URL string }
		Args             []struct{ Value any }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	Result json.RawMessage
	Error  *struct{ Message string }
}

// patience is how long the browser may take to answer. It is long because tests share the machine with other work.
const patience = 2 * time.Minute

// Open starts the browser with an empty page.
func Open() (*Page, error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, _ = exec.LookPath(name); path != "" {
			break
		}
	}
	if path == "" {
		return nil, errors.New("found no Chromium in the PATH: install it (Debian: apt-get install chromium)")
	}
	folder, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return nil, err
	}
	p := &Page{folder: folder, answers: make(chan answer, 100)}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	// Containers of continuous integration have no GPU, and lack the privileges that the sandbox needs.
	p.process = exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--hide-scrollbars",
		"--disable-background-networking", "--no-first-run", "--disable-extensions", "--remote-debugging-pipe",
		"--user-data-dir="+folder, "about:blank")
	p.process.ExtraFiles = []*os.File{toBrowser, fromBrowser} // Chromium reads descriptor 3 and writes descriptor 4
	if err := p.process.Start(); err != nil {
		return nil, err
	}
	toBrowser.Close()
	fromBrowser.Close()
	go func() {
		defer close(p.answers)
		for r := bufio.NewReader(out); ; {
			raw, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var a answer
			if json.Unmarshal(raw[:len(raw)-1], &a) == nil {
				p.answers <- a
			}
		}
	}()
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	if err := p.ask("Target.getTargets", nil, &targets); err != nil {
		p.Close()
		return nil, err
	}
	i := slices.IndexFunc(targets.TargetInfos, func(t struct{ TargetID, Type string }) bool { return t.Type == "page" })
	var attached struct{ SessionID string }
	if i < 0 {
		err = errors.New("the browser has no page")
	} else {
		err = p.ask("Target.attachToTarget", map[string]any{"targetId": targets.TargetInfos[i].TargetID, "flatten": true},
			&attached)
	}
	p.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "DOM"} {
		if err == nil {
			err = p.ask(domain+".enable", nil, nil)
		}
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close ends the browser.
func (p *Page) Close() {
	p.session = ""
	p.ask("Browser.close", nil, nil) // fails if the browser has gone already
	p.in.Close()
	ended := make(chan struct{})
	go func() {
		p.process.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		p.process.Process.Kill()
		<-ended
	}
	os.RemoveAll(p.folder)
}

// ask calls a method of the protocol and decodes the answer into result.
func (p *Page) ask(method string, params, result any) error {
	p.last++
	message := map[string]any{"id": p.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if p.session != "" {
		message["sessionId"] = p.session
	}
	raw, err := json.Marshal(message)
	if err == nil {
		_, err = p.in.Write(append(raw, 0))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for deadline := time.After(patience); ; {
		select {
		case a, ok := <-p.answers:
			switch {
			case !ok:
				return fmt.Errorf("%s: the browser has ended", method)
			case a.ID == p.last && a.Error != nil:
				return fmt.Errorf("%s: %s", method, a.Error.Message)
			case a.ID == p.last:
				if result == nil {
					return nil
				}
				return json.Unmarshal(a.Result, result)
			}
			p.note(a)
		case <-deadline:
			return fmt.Errorf("%s: the browser didn't answer", method)
		}
	}
}

// note adds an event that reports a problem to Errors.
func (p *Page) note(a answer) {
	switch {
	case a.Method == "Runtime.exceptionThrown":
		e := a.Params.ExceptionDetails
		p.Errors = append(p.Errors, e.Text+" "+e.Exception.Description)
	case a.Method == "Log.entryAdded" && a.Params.Entry.Level == "error":
		p.Errors = append(p.Errors, a.Params.Entry.Text+" "+a.Params.Entry.URL)
	case a.Method == "Runtime.consoleAPICalled" && a.Params.Type == "error":
		p.Errors = append(p.Errors, fmt.Sprint(a.Params.Args))
	}
}

// Look sets the window's width in pixels, and whether the page should be dark.
func (p *Page) Look(width int, dark bool) error {
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	return errors.Join(
		p.ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1,
			"mobile": width < 500}, nil),
		p.ask("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme",
			"value": scheme}}}, nil))
}

// Paper lays the page out as for print, in a window of the given width.
func (p *Page) Paper(width int) error {
	return errors.Join(
		p.ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 990, "deviceScaleFactor": 1,
			"mobile": false}, nil),
		p.ask("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil))
}

// PDF prints the page on A4, into a file unless path is "", and returns the number of pages.
func (p *Page) PDF(path string) (pages int, err error) {
	var printed struct{ Data string }
	if err := p.ask("Page.printToPDF", map[string]any{"printBackground": true, "paperWidth": 8.27, "paperHeight": 11.69,
		"preferCSSPageSize": true}, &printed); err != nil {
		return 0, err
	}
	raw, err := base64.StdEncoding.DecodeString(printed.Data)
	if err == nil && path != "" {
		err = os.WriteFile(path, raw, 0o644)
	}
	return len(pageOfPDF.FindAll(raw, -1)), err
}

// pageOfPDF begins a page in a PDF; /Pages is their list.
var pageOfPDF = regexp.MustCompile(`/Type\s*/Page\b`)

// Go opens a URL and waits until the page is loaded.
func (p *Page) Go(url string) error {
	if err := p.ask("Page.navigate", map[string]any{"url": url}, nil); err != nil {
		return err
	}
	return p.Until(`location.href !== "about:blank" && document.readyState === "complete"`)
}

// Eval evaluates a JavaScript expression, and decodes its value into value.
func (p *Page) Eval(expression string, value any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := p.ask("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true,
		"awaitPromise": true}, &r); err != nil {
		return err
	}
	if e := r.ExceptionDetails; e != nil {
		return fmt.Errorf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if value == nil || len(r.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(r.Result.Value, value)
}

// Until waits until a JavaScript expression is true. It returns an error if that takes longer than patience.
func (p *Page) Until(expression string) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var met bool
		// While one page replaces another, there is no context to evaluate in.
		if err := p.Eval("Boolean("+expression+")", &met); err != nil && !strings.Contains(err.Error(), "context") {
			return err
		}
		if met {
			return nil
		}
	}
	return fmt.Errorf("this didn't become true: %s", expression)
}

// Choose selects the file at path in a form's file field.
func (p *Page) Choose(selector, path string) error {
	var document struct{ Root struct{ NodeID int } }
	if err := p.ask("DOM.getDocument", nil, &document); err != nil {
		return err
	}
	var field struct{ NodeID int }
	if err := p.ask("DOM.querySelector", map[string]any{"nodeId": document.Root.NodeID, "selector": selector},
		&field); err != nil {
		return err
	}
	return p.ask("DOM.setFileInputFiles", map[string]any{"nodeId": field.NodeID, "files": []string{path}}, nil)
}

// Screenshot writes a picture of the whole page as PNG.
func (p *Page) Screenshot(path string) error {
	var shot struct{ Data string }
	if err := p.ask("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot); err != nil {
		return err
	}
	return decoded(path, shot.Data)
}

func decoded(path, text string) error {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644)
}

// Overflow returns by how many pixels the page is wider than its window. The window's width is clientWidth, since a
// phone makes innerWidth as wide as the page.
func (p *Page) Overflow() (int, error) {
	var pixels int
	err := p.Eval("document.documentElement.scrollWidth - document.documentElement.clientWidth", &pixels)
	return pixels, err
}
