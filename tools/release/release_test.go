package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

var root = filepath.Join("..", "..")

// TestVersions shows how Go, Python and R write a commit's version.
func TestVersions(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		tag, before     string
		dirty           bool
		goes, python, r string
	}{
		{"v1.2.3", "v1.2.3", false, "v1.2.3", "1.2.3", "1.2.3"},
		{"v1.2.3", "v1.2.3", true, "v1.2.3+dirty", "1.2.3+dirty", "1.2.3"},
		{"", "v1.2.3", false, "v1.2.4-0.20260102000405-abcdef123456", "1.2.4.dev20260102000405+gabcdef123456",
			"1.2.3.20260102.405"},
		{"", "", true, "v0.0.0-20260102000405-abcdef123456+dirty", "0.0.0.dev20260102000405+gabcdef123456.dirty",
			"0.0.0.20260102.405"},
	} {
		v := number(c.tag, c.before, "abcdef123456", at, c.dirty)
		if v.Go != c.goes || v.Python != c.python || v.R != c.r {
			t.Errorf("%q after %q: %s, %s, %s", c.tag, c.before, v.Go, v.Python, v.R)
		}
	}
}

// TestVersionIsGos shows that the Go tool stamps the same version into a program built from the same commit.
func TestVersionIsGos(t *testing.T) {
	folder := t.TempDir()
	do := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		if _, err := run(cmd); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stamped := func() {
		t.Helper()
		out := filepath.Join(t.TempDir(), "program")
		do("go", "build", "-buildvcs=true", "-o", out)
		info, err := buildinfo.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		v, err := describe(folder)
		if err != nil || v.Go != info.Main.Version {
			t.Errorf("%s, %v; Go says %s", v.Go, err, info.Main.Version)
		}
	}
	write("go.mod", "module example.org/program\n\ngo 1.26\n")
	write("main.go", "package main\n\nfunc main() {}\n")
	do("git", "init", "-q")
	do("git", "add", ".")
	do("git", "commit", "-q", "-m", "one")
	stamped()
	do("git", "tag", "v0.9.0")
	do("git", "tag", "v0.10.0")
	stamped()
	do("git", "commit", "-q", "--allow-empty", "-m", "two")
	write("more.go", "package main\n")
	stamped()
	do("git", "tag", "v0.11.0-rc.1")
	if _, err := describe(folder); err == nil || !strings.Contains(err.Error(), "v0.11.0-rc.1") {
		t.Errorf("a tag that R can't say: %v", err)
	}
}

// TestLicences shows that each module linked on any system has a licence text of a known kind.
func TestLicences(t *testing.T) {
	for _, target := range []string{"linux/amd64", "darwin/arm64", "windows/amd64"} {
		found, err := parts(root, target)
		if err != nil {
			t.Fatal(err)
		}
		text, err := notices(found)
		if err != nil {
			t.Error(err)
		}
		for _, want := range []string{"std 1.",
			"compress v1.20.4: zstd/internal/xxhash/LICENSE.txt", "client_golang v1.25.0: NOTICE"} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s: the notices lack %q", target, want)
			}
		}
		if has := bytes.Contains(text, []byte("mousetrap")); has != (target == "windows/amd64") {
			t.Errorf("%s: mousetrap, of Windows alone: %t", target, has)
		}
	}
	gpl := "This program is free software; you can redistribute it and/or modify it under the terms of the GNU General " +
		"Public License as published by the Free Software Foundation; either version 2 of the License, or (at your option) " +
		"any later version."
	for want, texts := range map[string]map[string]string{
		"found no licence text":      {"NOTICE": "all rights reserved"},
		"LICENSE isn't a licence":    {"LICENSE": "all rights reserved", "LICENSE-MIT": mit},
		"COPYING isn't a licence":    {"LICENSE": mit, "COPYING": mit + strings.Repeat("\nNobody may sell it.", 100)},
		"is under GPL-2.0-or-later,": {"LICENSE": mit, "sub/COPYING": gpl},
	} {
		_, err := notices([]part{{Path: "example.org/x", Version: "v1.0.0", Texts: texts}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, not %q", slices.Sorted(maps.Keys(texts)), err, want)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := complete(program, nil); err == nil || !strings.Contains(err.Error(), "licensecheck") {
		t.Errorf("a program with a module that has no notice: %v", err)
	}
}

// TestTools: what the laboratory and the tools are built from has known licences, of any kind, since nobody passes it on.
func TestTools(t *testing.T) {
	byEye := map[string]string{"github.com/golang/freetype": "FTL, or GPL-2.0-or-later, as one likes",
		"github.com/ajstarks/svgo": "CC-BY-4.0, by a link"}
	for _, folder := range []string{".", "../laboratory"} {
		found, err := partsOf(filepath.Join(root, "tools", folder), runtime.GOOS+"/"+runtime.GOARCH, "./...")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if _, err := p.spdx(); err != nil && byEye[p.Path] == "" {
				t.Error(err)
			}
		}
	}
}

// TestNeeds: the page about installing names the licence of everything that the packages of Python and R need.
func TestNeeds(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/how-to/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	needs := 0
	for file, names := range map[string]string{"tools/release/pack.go": `Requires-Dist: ([\w-]+)`,
		"r/DESCRIPTION": `(?m)^Imports: (.+)$`} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(names).FindAllSubmatch(text, -1) {
			for _, name := range strings.Split(string(found[1]), ", ") {
				needs++
				withR := slices.Contains([]string{"graphics", "stats", "tools"}, name)
				if !withR && !regexp.MustCompile(name+`( \(|,)`).Match(page) {
					t.Errorf("the page names no licence of %s, which %s needs", name, file)
				}
			}
		}
	}
	if needs < 8 {
		t.Errorf("%d needs", needs)
	}
}

// TestPackages shows that packages of each kind have the program, the notices and the bill of materials. The same
// files make the same bytes.
func TestPackages(t *testing.T) {
	v := number("v1.2.3", "", "", time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), false)
	bill, err := materials(v, []part{{"example.org/x", "v1.0.0+incompatible", map[string]string{"LICENSE": mit}}})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(bill, []byte(`"purl": "pkg:golang/example.org/x@v1.0.0%2Bincompatible"`)) ||
		!bytes.Contains(bill, []byte(`"id": "MIT"`)) {
		t.Errorf("%s", bill)
	}
	program := binary("krigo", []byte("the program"))
	legal := []file{plain("LICENSE", []byte("a")), plain(noticed, []byte("b")), plain(sbom, bill)}
	sources, err := read(filepath.Join(root, "r"), "DESCRIPTION")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pack func() ([]byte, error)
		want []string
	}{
		"archive": {func() ([]byte, error) { return folder(v.Time, "k", append([]file{program}, legal...)) },
			[]string{"k/krigo", "k/LICENSE", "k/" + noticed, "k/" + sbom}},
		"r": {func() ([]byte, error) { return rPackage(v, sources, program, legal) },
			[]string{"krigo/DESCRIPTION", "krigo/inst/bin/krigo", "krigo/BinaryFiles", "krigo/inst/" + noticed, "krigo/inst/" +
				sbom}},
		"wheel": {func() ([]byte, error) {
			name, data, err := wheel(v, "linux/arm64", nil, program, legal, "")
			if want := "krigo-1.2.3-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl"; name != want {
				t.Errorf("%s: want %s", name, want)
			}
			return data, err
		}, []string{"krigo/bin/krigo", "krigo-1.2.3.dist-info/licenses/" + noticed, "krigo-1.2.3.dist-info/sboms/" + sbom,
			"krigo-1.2.3.dist-info/RECORD"}},
		"image": {func() ([]byte, error) { data, _, err := image(v, "arm64", program, legal); return data, err },
			[]string{"oci-layout", "index.json", "manifest.json"}},
	} {
		data, err := c.pack()
		if err != nil {
			t.Fatal(name, err)
		}
		if again, _ := c.pack(); !bytes.Equal(data, again) {
			t.Errorf("%s: other bytes the second time", name)
		}
		held := unpack(t, data)
		for _, want := range c.want {
			if _, ok := held[want]; !ok {
				t.Errorf("%s: has no %s", name, want)
			}
		}
		if name == "r" && !strings.Contains(held["krigo/DESCRIPTION"], "\nVersion: 1.2.3\n") {
			t.Errorf("%s", held["krigo/DESCRIPTION"])
		}
	}
}

// TestImage follows an image from its index to the files in it, and checks each digest on the way.
func TestImage(t *testing.T) {
	v := number("", "", "abcdef123456", time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), true)
	data, digest, err := image(v, "amd64", binary("krigo", []byte("the program")), []file{plain(noticed, nil)})
	if err != nil {
		t.Fatal(err)
	}
	held := unpack(t, data)
	type blob struct {
		Digest string
		Size   int
	}
	blobOf := func(b blob, into any) string {
		t.Helper()
		content := held["blobs/"+strings.Replace(b.Digest, ":", "/", 1)]
		if fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))) != b.Digest || len(content) != b.Size {
			t.Fatalf("%v is of other bytes", b)
		}
		if into != nil {
			if err := json.Unmarshal([]byte(content), into); err != nil {
				t.Fatal(err)
			}
		}
		return content
	}
	var index struct{ Manifests []blob }
	if err := json.Unmarshal([]byte(held["index.json"]), &index); err != nil || len(index.Manifests) != 1 ||
		index.Manifests[0].Digest != digest {
		t.Fatal(held["index.json"], err)
	}
	var manifest struct {
		Config blob
		Layers []blob
	}
	blobOf(index.Manifests[0], &manifest)
	var config struct {
		Config struct {
			User, WorkingDir string
			Entrypoint       []string
		}
		RootFS struct {
			Diffs []string `json:"diff_ids"`
		}
	}
	blobOf(manifest.Config, &config)
	unzipped, err := gzip.NewReader(strings.NewReader(blobOf(manifest.Layers[0], nil)))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(unzipped)
	if err != nil || fmt.Sprintf("sha256:%x", sha256.Sum256(layer)) != config.RootFS.Diffs[0] {
		t.Fatal("the layer isn't the one that the configuration names", err)
	}
	if files := unpack(t, layer); files[config.Config.Entrypoint[0][1:]] != "the program" ||
		config.Config.User != "1000:1000" {
		t.Error(files, config)
	}
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal([]byte(held["manifest.json"]), &docker); err != nil || held[docker[0].Config] == "" ||
		held[docker[0].Layers[0]] == "" ||
		!slices.Equal(docker[0].RepoTags, []string{"krigo:v0.0.0-20260102030406-abcdef123456-dirty"}) {
		t.Error(held["manifest.json"], err)
	}
}

// TestCitation shows that CITATION.cff has the fields that the format requires, and only fields listed below.
func TestCitation(t *testing.T) {
	type author struct {
		Name   string
		Given  string `yaml:"given-names"`
		Family string `yaml:"family-names"`
	}
	type work struct {
		Type, Title, Abstract, License, Journal, DOI, URL string
		Authors                                           []author
		Year                                              int
		Keywords                                          []string
		Repository                                        string `yaml:"repository-code"`
		Collection                                        string `yaml:"collection-title"`
	}
	var c struct {
		CFF        string `yaml:"cff-version"`
		Message    string
		Self       work `yaml:",inline"`
		References []work
	}
	text, err := os.ReadFile(filepath.Join(root, "CITATION.cff"))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.CFF != "1.2.0" || c.Message == "" || c.Self.License != "Apache-2.0" || len(c.References) == 0 {
		t.Errorf("%+v", c)
	}
	for _, w := range append(c.References, c.Self) {
		if w.Type == "" || w.Title == "" || len(w.Authors) == 0 || w.Type != "software" &&
			(w.Year == 0 || w.DOI+w.URL == "") {
			t.Errorf("%+v", w)
		}
	}
}

// unpack returns the contents of a zip or tar archive by name. The archive may be compressed.
func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	held := map[string]string{}
	if r, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
		for _, f := range r.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			held[f.Name] = string(content)
		}
		return held
	}
	var in io.Reader = bytes.NewReader(data)
	if r, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		in = r
	}
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if err == io.EOF {
			return held
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		held[h.Name] = string(content)
	}
}

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify,
merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to
do so, subject to the following conditions: The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
