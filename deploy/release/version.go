package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// version is that of a release, and its spellings in packages. Of a commit after a tag they sort after
// the tag, except npm's, which has no such versions.
type version struct {
	described string // v1.2.0, v1.2.0-3-g0123abc, 0123abc; each with -dirty
	tag       string // 1.2.0, or 0.0.0 without one
	commits   string // 3
	revision  string // 0123abc, where commits follow the tag or there is none
	dirty     bool
	at        time.Time
}

var describedAs = regexp.MustCompile(`^(?:v?(\d+\.\d+\.\d+)(?:-(\d+)-g([0-9a-f]+))?|g?([0-9a-f]{4,}))(-dirty)?$`)

func parseVersion(described string, at time.Time) (version, error) {
	found := describedAs.FindStringSubmatch(described)
	if found == nil {
		return version{}, fmt.Errorf("version %q: want v1.2.3, or what git describe makes of such a tag", described)
	}
	v := version{described: described, tag: found[1], commits: found[2], revision: found[3] + found[4], dirty: found[5] != "", at: at}
	if v.tag == "" {
		v.tag = "0.0.0"
	}
	return v, nil
}

// local lists what follows the tag, as g0123abc.dirty.
func (v version) local() string {
	var parts []string
	if v.revision != "" {
		parts = append(parts, "g"+v.revision)
	}
	if v.dirty {
		parts = append(parts, "dirty")
	}
	return strings.Join(parts, ".")
}

// linux returns the version in packages of dpkg and rpm: 1.2.0+3.g0123abc.
func (v version) linux() string {
	rest := v.local()
	if v.commits != "" {
		rest = v.commits + "." + rest
	}
	if rest == "" {
		return v.tag
	}
	return v.tag + "+" + rest
}

// alpine returns the version in packages of apk, which have no letters for it: 1.2.0_p3, or the time of the commit.
func (v version) alpine() string {
	switch {
	case v.commits != "":
		return v.tag + "_p" + v.commits
	case v.revision != "" || v.dirty:
		return v.tag + "_git" + v.at.Format("20060102150405")
	}
	return v.tag
}

// python returns the version of wheels, as clients/python/hatch_build.py does: 1.2.0.post3+g0123abc.
func (v version) python() string {
	out := v.tag
	if v.commits != "" {
		out += ".post" + v.commits
	}
	if rest := v.local(); rest != "" {
		out += "+" + rest
	}
	return out
}

// npm returns the version of npm packages, as clients/typescript/scripts/pack.mjs does: 1.2.0-3-g0123abc.
func (v version) npm() string {
	text := strings.TrimPrefix(v.described, "v")
	if strings.HasPrefix(text, v.tag) {
		return text
	}
	return "0.0.0-g" + text
}
