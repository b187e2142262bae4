package memory

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// machine returns the machine's memory, or the memory of the process's control group if that is
// less. Linux gives the two numbers in files under root. It returns 0 if no file does.
func machine(root string) (total int64) {
	take := func(bytes int64) {
		if bytes > 0 && (total == 0 || bytes < total) {
			total = bytes
		}
	}
	for _, line := range lines(root, "proc/meminfo") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(f[1], 10, 53)
			take(kib << 10)
		}
	}
	for _, line := range lines(root, "proc/self/cgroup") { // a line is number:controllers:path
		f := strings.SplitN(line, ":", 3)
		if len(f) < 3 {
			continue
		}
		folder := "sys/fs/cgroup"
		file := "memory.max"
		if f[1] != "" { // version 1
			if f[1] != "memory" {
				continue
			}
			folder = "sys/fs/cgroup/memory"
			file = "memory.limit_in_bytes"
		}
		// The groups that contain a group limit it too.
		// In a container the path may be the host's, and only the root exists.
		for group := path.Clean("/" + f[2]); ; group = path.Dir(group) {
			for _, text := range lines(root, folder+group+"/"+file) {
				// a group without a limit has the text "max", which is 0 here
				bytes, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				take(bytes)
			}
			if group == "/" {
				break
			}
		}
	}
	return total
}

func lines(root, file string) []string {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}
