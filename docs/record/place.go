package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// place is a folder in which the commands of a page run, one after the other.
type place struct {
	krigo, folder string
	env           []string
	server        *exec.Cmd // krigo serve, while it runs
	url           string
	log           bytes.Buffer // what the server says on standard error
	spent         time.Duration
}

// command runs a command of a page and returns what it prints. A reader ends the server before typing the next command.
func (p *place) command(text string) (string, error) {
	how := unlike[text]
	if how.instead != "" {
		text = how.instead
	}
	if how.stdin != "" {
		_, text, _ = strings.Cut(text, " | ")
	}
	args := words(text)[1:]
	if strings.HasPrefix(text, "curl ") {
		return p.ask(args)
	}
	if err := p.stop(); err != nil {
		return "", err
	}
	if args[0] == "serve" {
		return "", p.serve(args)
	}
	to := ""
	if at := slices.Index(args, ">"); at >= 0 && at == len(args)-2 {
		to = filepath.Join(p.folder, args[at+1])
		args = args[:at]
	}
	out, err := p.run(args, how.stdin, how.status)
	if err != nil || to == "" {
		return out, err
	}
	return "", os.WriteFile(to, []byte(out), 0o600)
}

// run runs krigo, and reads a file as standard input if it is named.
func (p *place) run(args []string, stdin string, status int) (string, error) {
	cmd := p.program(p.krigo, args...)
	if stdin != "" {
		f, err := os.Open(filepath.Join(p.folder, stdin))
		if err != nil {
			return "", err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	return p.output(cmd, status)
}

// program returns a program that runs in the folder.
func (p *place) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), p.env...)
	return cmd
}

// output runs a program, notes its CPU time, and returns what it prints. Another exit status than expected is an error.
func (p *place) output(cmd *exec.Cmd, status int) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return "", err
	}
	p.spent = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if got := cmd.ProcessState.ExitCode(); got != status {
		return "", fmt.Errorf("status %d\n%s%s", got, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// serve starts krigo serve at a free port.
func (p *place) serve(args []string) error {
	cmd := p.program(p.krigo, append(args, "--listen", "127.0.0.1:0")...)
	p.log.Reset()
	cmd.Stderr = &p.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.server = cmd
	var said []byte
	for piece := make([]byte, 4096); ; {
		n, err := out.Read(piece)
		said = append(said, piece[:n]...)
		if p.url = regexp.MustCompile(`http://[^/\s]+`).FindString(string(said)); p.url != "" {
			go io.Copy(io.Discard, out)
			return nil
		}
		if err != nil {
			return fmt.Errorf("the server ended: %w\n%s", p.stop(), p.log.String())
		}
	}
}

// stop ends the server, if there is one.
func (p *place) stop() error {
	if p.server == nil {
		return nil
	}
	p.server.Process.Signal(syscall.SIGTERM)
	err := p.server.Wait()
	p.server = nil
	if err != nil {
		return fmt.Errorf("krigo serve: %w\n%s", err, p.log.String())
	}
	return nil
}

// ask sends the request that curl would send with these arguments.
func (p *place) ask(args []string) (string, error) {
	if p.server == nil {
		return "", fmt.Errorf("nothing is served")
	}
	var url, kind string
	method := http.MethodGet
	body := io.Reader(http.NoBody)
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
				raw, err := os.ReadFile(filepath.Join(p.folder, name))
				if err != nil {
					return "", err
				}
				text = raw
			}
			method = http.MethodPost
			body = bytes.NewReader(text)
		default:
			_, path, ok := strings.Cut(a, "localhost:8080")
			if !ok || url != "" {
				return "", fmt.Errorf("%s: this isn't known of curl here", a)
			}
			url = p.url + path
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
