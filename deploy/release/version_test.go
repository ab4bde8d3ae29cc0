package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVersions(t *testing.T) {
	at := time.Date(2026, 11, 27, 21, 4, 5, 0, time.UTC)
	for described, want := range map[string][4]string{ // of dpkg and rpm, apk, Python, npm
		"v1.2.0":                     {"1.2.0", "1.2.0", "1.2.0", "1.2.0"},
		"v1.2.0-3-gabc1234":          {"1.2.0+3.gabc1234", "1.2.0_p3", "1.2.0.post3+gabc1234", "1.2.0-3-gabc1234"},
		"v1.2.0-dirty":               {"1.2.0+dirty", "1.2.0_git20261127210405", "1.2.0+dirty", "1.2.0-dirty"},
		"v1.2.0-3-gabc1234-dirty":    {"1.2.0+3.gabc1234.dirty", "1.2.0_p3", "1.2.0.post3+gabc1234.dirty", "1.2.0-3-gabc1234-dirty"},
		"8123456":                    {"0.0.0+g8123456", "0.0.0_git20261127210405", "0.0.0+g8123456", "0.0.0-g8123456"},
		"g8123456":                   {"0.0.0+g8123456", "0.0.0_git20261127210405", "0.0.0+g8123456", "0.0.0-g8123456"},
		"abc1234-dirty":              {"0.0.0+gabc1234.dirty", "0.0.0_git20261127210405", "0.0.0+gabc1234.dirty", "0.0.0-gabc1234-dirty"},
		"v10.20.30-400-g0123456789":  {"10.20.30+400.g0123456789", "10.20.30_p400", "10.20.30.post400+g0123456789", "10.20.30-400-g0123456789"},
		"v1.2.0-alpha.2":             {"1.2.0~alpha.2", "1.2.0_alpha2", "1.2.0a2", "1.2.0-alpha.2"},
		"v1.2.0-beta.0":              {"1.2.0~beta.0", "1.2.0_beta0", "1.2.0b0", "1.2.0-beta.0"},
		"v1.2.0-rc.1":                {"1.2.0~rc.1", "1.2.0_rc1", "1.2.0rc1", "1.2.0-rc.1"},
		"1.2.0-rc.10":                {"1.2.0~rc.10", "1.2.0_rc10", "1.2.0rc10", "1.2.0-rc.10"},
		"v1.2.0-rc.1-3-gabc1234":     {"1.2.0~rc.1+3.gabc1234", "1.2.0_rc1_p3", "1.2.0rc1.post3+gabc1234", "1.2.0-rc.1.3.gabc1234"},
		"v1.2.0-rc.1-dirty":          {"1.2.0~rc.1+dirty", "1.2.0_rc1_git20261127210405", "1.2.0rc1+dirty", "1.2.0-rc.1.dirty"},
		"v1.2.0-rc.1-3-gabc12-dirty": {"1.2.0~rc.1+3.gabc12.dirty", "1.2.0_rc1_p3", "1.2.0rc1.post3+gabc12.dirty", "1.2.0-rc.1.3.gabc12.dirty"},
	} {
		v, err := parseVersion(described, at)
		if got := [4]string{v.linux(), v.alpine(), v.python(), v.npm()}; err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", described, got, err, want)
		}
	}
	for _, described := range []string{"", "v1.2", "1.2.3.4", "v1.2.0-rc1", "v1.2.0-rc", "v1.2.0-rc.01", "v01.2.0", "v1.2.0-pre.1", "v1.2.0-rc.1.2", "v1.2.0-RC.1",
		"v1.2.0 ", "v1.2.0'; rm", "main", "v1.2.0-g", "../v1.2.0", "rc.1", "v1.2.0\n"} {
		if v, err := parseVersion(described, at); err == nil {
			t.Errorf("%q is read as %+v", described, v)
		}
	}
}

// ordered are versions from the oldest to the newest.
var ordered = []string{"v1.1.9", "v1.2.0-alpha.9", "v1.2.0-beta.2", "v1.2.0-rc.2", "v1.2.0-rc.2-3-gabc1234", "v1.2.0-rc.10", "v1.2.0", "v1.2.0-3-gabc1234", "v1.2.0-20-g0abc123", "v1.2.1-rc.1", "v1.10.0"}

// older asks the program of an installer whether a version is older than another.
var older = map[string]func(t *testing.T, a, b string) bool{
	"deb": func(t *testing.T, a, b string) bool {
		wants(t, "dpkg")
		return exec.Command("dpkg", "--compare-versions", a, "lt", b).Run() == nil
	},
	"rpm": func(t *testing.T, a, b string) bool {
		wants(t, "rpm")
		return strings.TrimSpace(tool(t, "rpm", "--eval", fmt.Sprintf("%%{lua: print(rpm.vercmp('%s', '%s'))}", a, b))) == "-1"
	},
	"python": func(t *testing.T, a, b string) bool {
		wants(t, "python3")
		const code = "import sys\ntry: from packaging.version import Version\nexcept ImportError: from pip._vendor.packaging.version import Version\nsys.exit(not Version(sys.argv[1]) < Version(sys.argv[2]))"
		if exec.Command("python3", "-c", "import pip._vendor.packaging").Run() != nil {
			t.Skip("python3 has no pip")
		}
		return exec.Command("python3", "-c", code, a, b).Run() == nil
	},
	"npm": func(t *testing.T, a, b string) bool {
		wants(t, "npm", "node")
		semver := filepath.Join(strings.TrimSpace(tool(t, "npm", "root", "--global")), "npm/node_modules/semver")
		if _, err := os.Stat(semver); err != nil {
			semver = "/usr/share/nodejs/semver" // of Debian's npm
			if _, err := os.Stat(semver); err != nil {
				t.Skip("npm has no semver where it is looked for")
			}
		}
		return strings.TrimSpace(tool(t, "node", "-p", fmt.Sprintf("require(%q).lt(%q, %q)", semver, a, b))) == "true"
	},
	"install.sh": func(t *testing.T, a, b string) bool {
		text, err := os.ReadFile("../install.sh")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\nolder() {")
		body, _, ok := strings.Cut(rest, "\n}\n")
		if !ok {
			t.Fatal("install.sh has no function older")
		}
		return exec.Command("sh", "-c", "older() {"+body+"\n}\nolder \"$1\" \"$2\"", "sh", a, b).Run() == nil
	},
}

// Installers sort versions as releases follow each other. npm has no version between a release and
// the next one; Alpine's program is not here.
func TestVersionsSort(t *testing.T) {
	for kind, less := range older {
		t.Run(kind, func(t *testing.T) {
			spell := spellings[kind]
			if spell == nil {
				spell = func(v version) string { return v.described }
			}
			last := ""
			for _, described := range ordered {
				v, err := parseVersion(described, time.Time{})
				if err != nil {
					t.Fatal(err)
				}
				if kind == "npm" && v.stage == "" && v.commits != "" {
					continue
				}
				now := spell(v)
				if last != "" && (!less(t, last, now) || less(t, now, last) || less(t, now, now)) {
					t.Errorf("%s is not older than %s", last, now)
				}
				last = now
			}
		})
	}
}
