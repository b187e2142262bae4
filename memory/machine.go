package memory

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// machine returns the memory of the machine, or of the control group that the process is in where that is less, as
// Linux tells it in files under root; 0 where nothing does.
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
	for _, line := range lines(root, "proc/self/cgroup") { // number:controllers:path
		f := strings.SplitN(line, ":", 3)
		if len(f) < 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max"
		if f[1] != "" { // version 1
			if f[1] != "memory" {
				continue
			}
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// A group is bound by those that it is in, too. In a container its path may be the host's, of which the root alone is
		// there.
		for group := path.Clean("/" + f[2]); ; group = path.Dir(group) {
			for _, text := range lines(root, folder+group+"/"+file) {
				bytes, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64) // "max" where there is none
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
