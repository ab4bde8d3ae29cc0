package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// version is that of a release. Every kind of package spells it so that its installer sorts releases
// in the order v1.2.0-rc.1, v1.2.0-rc.1-3-g0123abc, v1.2.0, v1.2.0-3-g0123abc; only npm sorts the last
// of them before v1.2.0, because it has no versions after a release.
type version struct {
	described string // v1.2.0, v1.2.0-rc.1, v1.2.0-3-g0123abc, 0123abc; each with -dirty
	tag       string // 1.2.0, or 0.0.0 without one
	stage     string // alpha, beta or rc, of a prerelease
	candidate string // 1, the number of the prerelease
	commits   string // 3
	revision  string // 0123abc, where commits follow the tag or there is none
	dirty     bool
	at        time.Time
}

var describedAs = func() *regexp.Regexp {
	const number = `(?:0|[1-9]\d*)`
	const release = number + `\.` + number + `\.` + number
	return regexp.MustCompile(`^(?:v?(` + release + `)(?:-(alpha|beta|rc)\.(` + number + `))?(?:-(\d+)-g([0-9a-f]+))?|g?([0-9a-f]{4,}))(-dirty)?$`)
}()

func parseVersion(described string, at time.Time) (version, error) {
	found := describedAs.FindStringSubmatch(described)
	if found == nil {
		return version{}, fmt.Errorf("version %q: want v1.2.3 or v1.2.3-rc.1 (alpha, beta, rc), or what git describe makes of such a tag", described)
	}
	v := version{described: described, tag: found[1], stage: found[2], candidate: found[3], commits: found[4], revision: found[5] + found[6], dirty: found[7] != "", at: at}
	if v.tag == "" {
		v.tag = "0.0.0"
	}
	return v, nil
}

// spellings are the forms of a version by the kind of package.
var spellings = map[string]func(version) string{
	"deb": version.linux, "rpm": version.linux, "apk": version.alpine, "python": version.python, "npm": version.npm,
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

// linux returns the version in packages of dpkg and rpm: 1.2.0~rc.1, 1.2.0+3.g0123abc.
func (v version) linux() string {
	out, rest := v.tag, v.local()
	if v.stage != "" {
		out += "~" + v.stage + "." + v.candidate
	}
	if v.commits != "" {
		rest = v.commits + "." + rest
	}
	if rest != "" {
		out += "+" + rest
	}
	return out
}

// alpine returns the version in packages of apk, which has no letters for revisions: 1.2.0_rc1, 1.2.0_p3,
// or the time of the commit.
func (v version) alpine() string {
	out := v.tag
	if v.stage != "" {
		out += "_" + v.stage + v.candidate
	}
	switch {
	case v.commits != "":
		return out + "_p" + v.commits
	case v.revision != "" || v.dirty:
		return out + "_git" + v.at.Format("20060102150405")
	}
	return out
}

// python returns the version of wheels: 1.2.0rc1, 1.2.0.post3+g0123abc.
func (v version) python() string {
	out := v.tag
	if v.stage != "" {
		out += map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[v.stage] + v.candidate
	}
	if v.commits != "" {
		out += ".post" + v.commits
	}
	if rest := v.local(); rest != "" {
		out += "+" + rest
	}
	return out
}

// npm returns the version of npm packages: 1.2.0-rc.1, 1.2.0-3-g0123abc. What follows a prerelease
// are identifiers of their own, which sort before the next prerelease.
func (v version) npm() string {
	text := strings.TrimPrefix(v.described, "v")
	switch {
	case !strings.HasPrefix(text, v.tag):
		return "0.0.0-g" + strings.TrimPrefix(text, "g")
	case v.stage == "":
		return text
	}
	out := v.tag + "-" + v.stage + "." + v.candidate
	for _, rest := range []string{v.commits, v.local()} {
		if rest != "" {
			out += "." + rest
		}
	}
	return out
}
