package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// version holds the version of a commit, as Go, Python and R write it. It follows from the Git tags alone.
type version struct {
	// Go is the version that the Go tool stamps: v1.2.3, or v1.2.4-0.20260102150405-abcdef123456 after v1.2.3. It
	// ends in +dirty if files were changed.
	Go     string
	Python string    // PEP 440: 1.2.3, 1.2.4.dev20260102150405+gabcdef123456
	R      string    // 1.2.3, 1.2.3.20260102.150405; R can't mark changed files
	Time   time.Time // the time of the commit
}

// released matches tags that Go, Python and R can all write. Version 2 would need another module path.
var released = regexp.MustCompile(`^v[01]\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

// describe returns the version of the commit that is checked out in root.
func describe(root string) (version, error) {
	head, err := output(root, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return version{}, err
	}
	hash, seconds, _ := strings.Cut(head, " ")
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return version{}, err
	}
	latest := map[string]string{}
	for _, of := range []string{"--points-at", "--merged"} {
		tags, err := output(root, "git", "tag", of, "HEAD", "--list", "v[0-9]*")
		if err != nil {
			return version{}, err
		}
		for _, tag := range strings.Fields(tags) {
			if !released.MatchString(tag) {
				return version{}, fmt.Errorf("the tag %s: want v0.N.N or v1.N.N, which Go, Python and R can all write", tag)
			}
			if semver.Compare(tag, latest[of]) > 0 {
				latest[of] = tag
			}
		}
	}
	changed, err := output(root, "git", "status", "--porcelain")
	if err != nil {
		return version{}, err
	}
	return number(latest["--points-at"], latest["--merged"], hash[:12], time.Unix(epoch, 0).UTC(), changed != ""), nil
}

// number returns the version of a commit with a tag, or of a commit after the tag before. before may be "". In all
// three languages, a development version sorts between the last release and the next.
func number(tag, before, commit string, at time.Time, dirty bool) version {
	v := version{Go: tag, Python: strings.TrimPrefix(tag, "v"), R: strings.TrimPrefix(tag, "v"), Time: at}
	var local []string
	if tag == "" {
		v.Go = module.PseudoVersion("v0", before, at, commit)
		next, _, _ := strings.Cut(v.Go, "-")
		v.Python = next[1:] + at.Format(".dev20060102150405")
		local = append(local, "g"+commit)
		if before == "" {
			before = next
		}
		clock := at.Hour()*10000 + at.Minute()*100 + at.Second()
		v.R = fmt.Sprintf("%s.%s.%d", before[1:], at.Format("20060102"), clock)
	}
	if dirty {
		v.Go += "+dirty"
		local = append(local, "dirty")
	}
	if local != nil {
		v.Python += "+" + strings.Join(local, ".")
	}
	return v
}
