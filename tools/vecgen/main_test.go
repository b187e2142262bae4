package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestCommittedAssemblyIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("generates everything")
	}
	dir := t.TempDir()
	vecgen := filepath.Join(dir, "vecgen")
	if out, err := exec.Command("go", "build", "-o", vecgen, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for set, pkg := range map[string]string{"tile": "linalg", "vec": "linalg", "bundle": "linalg", "radial": "radial",
		"single": "radial"} {
		into := filepath.Join(dir, pkg)
		if err := os.MkdirAll(into, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(vecgen, "-set", set, "-dir", into).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, ending := range []string{"_amd64.s", "_amd64.go", "_arm64.s", "_arm64.go"} {
			want, err := os.ReadFile(filepath.Join(into, set+ending))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join("..", "..", "internal", pkg, set+ending))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s/%s isn't what go generate writes", pkg, set+ending)
			}
		}
	}
}

// TestEncodings compares each word in the assembly for arm64 with what the GNU assembler makes of the comment.
func TestEncodings(t *testing.T) {
	as, err := exec.LookPath("aarch64-linux-gnu-as")
	if err != nil {
		t.Skip("needs aarch64-linux-gnu-as (Debian: binutils-aarch64-linux-gnu)")
	}
	files, err := filepath.Glob("../../internal/*/*_arm64.s")
	if err != nil || len(files) != 5 {
		t.Fatalf("%v, %v", files, err)
	}
	var words, texts []string
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`WORD \$0x(\w{8}) // (.*)`).FindAllStringSubmatch(string(source), -1) {
			words, texts = append(words, m[1]), append(texts, m[2])
		}
	}
	listing := exec.Command(as, "-al", "-o", filepath.Join(t.TempDir(), "o"))
	listing.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	out, err := listing.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made := regexp.MustCompile(`(?m)^ +\d+ [0-9a-f]+ ([0-9A-F]{8}) +\t`).FindAllStringSubmatch(string(out), -1)
	if len(made) != len(words) || len(words) == 0 {
		t.Fatalf("%d words, %d of the assembler", len(words), len(made))
	}
	for i, m := range made { // the listing shows bytes, the lowest first
		if w := m[1][6:8] + m[1][4:6] + m[1][2:4] + m[1][0:2]; !strings.EqualFold(w, words[i]) {
			t.Errorf("%s is %s, not %s", texts[i], w, words[i])
		}
	}
}
