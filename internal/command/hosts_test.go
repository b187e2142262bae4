//go:build mpi

package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
)

// hosts makes two hosts: network namespaces with a cable between them. fit runs a fit over TCP with one rank on each
// host. plug plugs the cable in or out at the second host.
func hosts(t *testing.T) (fit func(args ...string) (*exec.Cmd, *bytes.Buffer), plug func(in bool)) {
	t.Helper()
	folder := t.TempDir()
	a, b := fmt.Sprintf("krigo-a-%d", os.Getpid()), fmt.Sprintf("krigo-b-%d", os.Getpid())
	ip := func(args ...string) error {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	t.Cleanup(func() {
		ip("netns", "delete", a)
		ip("netns", "delete", b)
	})
	for _, args := range []string{
		"netns add " + a, "netns add " + b,
		"link add cable netns " + a + " type veth peer name cable netns " + b,
		"-n " + a + " addr add 10.99.0.1/24 dev cable", "-n " + b + " addr add 10.99.0.2/24 dev cable",
		"-n " + a + " link set lo up", "-n " + b + " link set lo up",
		"-n " + a + " link set cable up", "-n " + b + " link set cable up",
	} {
		if err := ip(strings.Fields(args)...); err != nil {
			t.Skip("no network namespaces here: ", err)
		}
	}
	// agent HOST COMMAND takes the place of ssh
	agent := filepath.Join(folder, "agent")
	must.Do(t, os.WriteFile(agent, []byte("#!/bin/sh\nshift\nexec ip netns exec "+b+
		" unshare --uts sh -c \"hostname krigo-b; exec $*\"\n"), 0o755))
	fit = func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		command := []string{"netns", "exec", a, "unshare", "--uts", "sh", "-c", `hostname krigo-a; exec "$@"`, "sh",
			"mpirun", "--host", "10.99.0.1:1,10.99.0.2:1", "-n", "2", "--bind-to", "none", "--mca", "plm_rsh_agent", agent,
			"--mca", "btl", "tcp,self",
			"--mca", "btl_tcp_if_include", "10.99.0.0/24", "--mca", "oob_tcp_if_include", "10.99.0.0/24",
			// docs/how-to/cluster.md
			"--mca", "oob_tcp_keepalive_time", "5", "--mca", "oob_tcp_keepalive_intvl", "2", "--mca", "oob_tcp_keepalive_probes",
			"3",
			"-x", childArgs, os.Args[0], "-test.run=^TestRank$"}
		cmd := exec.Command("ip", command...)
		text, _ := json.Marshal(args)
		cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", childArgs+"="+
			string(text))
		errs := new(bytes.Buffer)
		cmd.Stderr = errs
		return cmd, errs
	}
	return fit, func(in bool) {
		state := map[bool]string{true: "up", false: "down"}[in]
		must.Do(t, ip("-n", b, "link", "set", "cable", state))
	}
}

// TestMPIHosts: a fit runs on two hosts, and one host is cut off. The fit ends with an error within 30 s. Resumed when
// the host is back, it gives the same model as an uninterrupted fit, bit for bit.
func TestMPIHosts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("network namespaces are made by root alone")
	}
	fit, plug := hosts(t)
	folder := t.TempDir()
	data := filepath.Join(folder, "waves.npy")
	waves(t, data, 4000, 3)
	args := func(out string, more ...string) []string {
		return append([]string{"fit", data, "--target", "y", "--objective", "kl-pac", "--inducing", "30", "--ard", "off",
			"--epochs", "60", "--threads", "1", "--out", filepath.Join(folder, out)}, more...)
	}
	load := func(out string) *krigo.Model {
		t.Helper()
		m := must.Get(krigo.Load(filepath.Join(folder, out)))(t)
		return m
	}
	if cmd, errs := fit(args("whole.krigo")...); cmd.Run() != nil {
		t.Fatal(errs)
	}
	want := load("whole.krigo")

	checkpoint := filepath.Join(folder, "cut.krigo.checkpoint")
	cmd, errs := fit(args("cut.krigo")...)
	must.Do(t, cmd.Start())
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(checkpoint); err == nil {
			break
		}
	}
	plug(false)
	begin := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		t.Fatalf("the job goes on a minute after one of its hosts\n%s", errs)
	}
	took := time.Since(begin)
	t.Logf("the job ended after %.1f s", took.Seconds())
	if _, err := os.Stat(filepath.Join(folder, "cut.krigo")); err == nil {
		t.Fatal("the fit was done before the host was cut off")
	}
	// mpirun's last message depends on what it misses first: the host, or its daemon on the host.
	named := slices.ContainsFunc([]string{"10.99.0.2", "krigo-b", "one or more daemons"},
		func(s string) bool { return strings.Contains(errs.String(), s) })
	must.Hold(t, err != nil && took <= 30*time.Second && named, "%v after %v:\n%s", err, took, errs)
	plug(true)
	if cmd, errs := fit(args("cut.krigo", "--resume", checkpoint)...); cmd.Run() != nil {
		t.Fatal(errs)
	}
	got := load("cut.krigo")
	if got.Certificate.Bound != want.Certificate.Bound || !slices.Equal(got.Posterior.Weights(), want.Posterior.Weights()) {
		t.Errorf("resumed: bound %v, uninterrupted %v", got.Certificate.Bound, want.Certificate.Bound)
	}
}
