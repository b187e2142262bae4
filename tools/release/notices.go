package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/licensecheck"
)

// part is third-party code in the program: a Go module, or Go's standard library.
type part struct {
	Path, Version string
	Texts         map[string]string // licences and notices, by path below the module
}

// legal matches the names of files whose text must accompany the code.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|authors)([-_.]|$)`)

// permissive lists the licences of other people's code that the program may contain: they ask for a notice at most.
var permissive = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Unlicense", "Zlib"}

// parts returns the third-party code in the program for a target. It reads licences from the folders of linked
// packages, and from their parent folders up to the module's root.
func parts(root, target string) ([]part, error) { return partsOf(root, target, "./cmd/krigo") }

// partsOf returns the third-party code in packages of the module in a folder.
func partsOf(root, target, packages string) ([]part, error) {
	cmd := command(root, target, "list", "-deps", "-json=Dir,Standard,Module", packages)
	listed, err := run(cmd)
	if err != nil {
		return nil, err
	}
	env, err := output(root, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	goroot, goversion, _ := strings.Cut(env, "\n")
	texts, err := licences(goroot, goroot)
	if err != nil {
		return nil, err
	}
	found := map[string]part{"std": {"std", strings.TrimPrefix(goversion, "go"), texts}}
	for d := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			Dir      string
			Standard bool
			Module   struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Standard || p.Module.Main {
			continue
		}
		texts, err := licences(p.Dir, p.Module.Dir)
		if err != nil {
			return nil, err
		}
		if known, ok := found[p.Module.Path]; ok {
			maps.Copy(known.Texts, texts)
		} else {
			found[p.Module.Path] = part{p.Module.Path, p.Module.Version, texts}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b part) int { return cmp.Compare(a.Path, b.Path) }), nil
}

// licences returns the legal texts in a folder of a module, and in its parent folders up to the module's root.
func licences(folder, root string) (map[string]string, error) {
	texts := map[string]string{}
	for ; ; folder = filepath.Dir(folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			var files []string
			path := filepath.Join(folder, e.Name())
			if e.IsDir() && strings.EqualFold(e.Name(), "licenses") {
				if files, err = filepath.Glob(filepath.Join(path, "*")); err != nil {
					return nil, err
				}
			} else if !e.IsDir() && legal.MatchString(e.Name()) && filepath.Ext(path) != ".go" {
				files = []string{path}
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					return nil, err
				}
				name, err := filepath.Rel(root, file)
				if err != nil {
					return nil, err
				}
				texts[filepath.ToSlash(name)] = strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			}
		}
		if folder == root {
			return texts, nil
		}
	}
}

// isLicence matches the names of legal texts that have to be known licences. Others may be lists of authors or notices.
var isLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)

// leastKnown is the share of a licence's words, in percent, that have to be the known licence's. The rest are
// names and years, or words such as "parts of this are under".
const leastKnown = 80

// spdx returns the SPDX identifiers of the licences in p's texts, sorted.
func (p part) spdx() ([]string, error) {
	ids := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.Texts)) {
		found := licensecheck.Scan([]byte(p.Texts[name]))
		if isLicence.MatchString(path.Base(name)) && found.Percent < leastKnown {
			return nil, fmt.Errorf("%s %s: %s isn't a licence that is known: only %.0f %% of its words are", p.Path, p.Version, name,
				found.Percent)
		}
		for _, match := range found.Match {
			if !match.IsURL && !strings.HasPrefix(match.ID, "Google") && !strings.HasSuffix(match.ID, "-Header") {
				ids[match.ID] = true
			}
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%s %s: found no licence text, so that the program can't be distributed with it", p.Path,
			p.Version)
	}
	return slices.Sorted(maps.Keys(ids)), nil
}

// notices returns the text of all licences and notices of third parties, which must accompany the program.
func notices(parts []part) ([]byte, error) {
	var w bytes.Buffer
	fmt.Fprintf(&w, "krigo contains the following works of third parties, each under the terms below it.\n\n")
	for _, p := range parts {
		ids, err := p.spdx()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if !slices.Contains(permissive, id) {
				return nil, fmt.Errorf("%s %s is under %s, and the program may contain code under %s alone", p.Path, p.Version, id,
					strings.Join(permissive, ", "))
			}
		}
		fmt.Fprintf(&w, "  %s %s (%s)\n", p.Path, p.Version, strings.Join(ids, ", "))
	}
	for _, p := range parts {
		for _, name := range slices.Sorted(maps.Keys(p.Texts)) {
			fmt.Fprintf(&w, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 100), p.Path, p.Version, name, p.Texts[name])
		}
	}
	return w.Bytes(), nil
}

// component and the types below are parts of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).
type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Licences []licence `json:"licenses"`
	URL      string    `json:"purl"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

func newComponent(kind, path, version string, ids ...string) component {
	at := "pkg:golang/" + path + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
	c := component{Type: kind, Ref: at, Name: path, Version: version, URL: at}
	for _, id := range ids {
		var l licence
		l.Licence.ID = id
		c.Licences = append(c.Licences, l)
	}
	return c
}

// materials returns the software bill of materials of the program, as CycloneDX JSON.
func materials(v version, parts []part) ([]byte, error) {
	type dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn,omitempty"`
	}
	type metadata struct {
		Time      string    `json:"timestamp"`
		Component component `json:"component"`
	}
	program := newComponent("application", krigo, v.Go, "Apache-2.0")
	needs := dependency{Ref: program.Ref}
	var components []component
	for _, p := range parts {
		ids, err := p.spdx()
		if err != nil {
			return nil, err
		}
		c := newComponent("library", p.Path, p.Version, ids...)
		components = append(components, c)
		needs.On = append(needs.On, c.Ref)
	}
	return json.MarshalIndent(struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}{"CycloneDX", "1.6", 1, metadata{v.Time.Format(time.RFC3339), program}, components, []dependency{needs}}, "", "  ")
}

// complete returns an error if the program contains a module that parts doesn't have.
func complete(program string, parts []part) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	for _, m := range info.Deps {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.Path == m.Path && p.Version == m.Version }) {
			err = errors.Join(err, fmt.Errorf("%s contains %s %s, but the notices lack it", program, m.Path, m.Version))
		}
	}
	return err
}
