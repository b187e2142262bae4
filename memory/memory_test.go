package memory

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{"4GiB": 4 << 30, "500MB": 5e8, "500 mb": 5e8, "1.5KiB": 1536, "17": 17,
		"17B": 17, "2TiB": 2 << 40, "": 0, "GiB": 0, "0": 0, "-1GiB": 0, "4 gibibytes": 0, "NaN": 0, "inf": 0, "1e30": 0} {
		got, err := Parse(text)
		must.Hold(t, got == want && (err == nil) == (want > 0),
			"%q: %d (%v), want %d", text, got, err, want)
	}
	for bytes, want := range map[float64]string{3: "3 bytes", 1536: "1.5 KiB", 4 << 30: "4 GiB", 1e30: "9.09e+17 TiB"} {
		must.Be(t, Text(bytes), want, bytes)
	}
}

func TestMachine(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing": {nil, 0},
		"machine": {map[string]string{"proc/meminfo": "MemTotal:       1024 kB\nMemFree: 1 kB\n"}, 1 << 20},
		"group": {map[string]string{"proc/meminfo": "MemTotal: 1024 kB\n", "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 1000},
		"group of more": {map[string]string{"proc/meminfo": "MemTotal: 1024 kB\n", "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "10000000\n"}, 1 << 20},
		"version 1": {map[string]string{"proc/meminfo": "MemTotal: 1024 kB\n",
			"proc/self/cgroup": "3:cpu:/x\n5:memory:/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "2000\n"}, 2000},
		"odd": {map[string]string{"proc/meminfo": "MemTotal:\nMemTotal: many kB\n",
			"proc/self/cgroup": "::\n0\n0::../..\n"}, 0},
	} {
		root := t.TempDir()
		for file, text := range test.files {
			path := filepath.Join(root, file)
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)))
		}
		must.Be(t, machine(root), test.want, name)
	}
	must.Hold(t, Limit() > 0, "limit %d", Limit())
}

func TestAfford(t *testing.T) {
	SetLimit(1 << 20)
	defer SetLimit(0)
	if err := Afford("a table", 1<<20); err != nil {
		t.Error(err)
	}
	err := Afford("a table", math.Inf(1))
	must.Hold(t, err != nil && strings.Contains(err.Error(), "a table") &&
		strings.Contains(err.Error(), "1 MiB") && strings.Contains(err.Error(), "--memory"),
		"%v", err)
}

func TestReadFile(t *testing.T) {
	SetLimit(1 << 20)
	defer SetLimit(0)
	path := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(path, make([]byte, 1<<18), 0o666))
	if text, err := ReadFile(path, 4); len(text) != 1<<18 || err != nil {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	var over *Error
	if _, err := ReadFile(path, 5); !errors.As(err, &over) || over.What != path {
		t.Error(err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if _, err := ReadFile("/dev/zero", 4); !errors.As(err, &over) { // the device never ends, and reports no size
		t.Error(err)
	}
}
