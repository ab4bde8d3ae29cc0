package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repository makes a checkout whose tags are the releases of a pack, each on a commit of its own, and
// returns its directory.
func repository(t *testing.T, tags ...string) string {
	t.Helper()
	wants(t, "git")
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("CHANGELOG.md", "# Changelog\n\nIntroduction.\n\n## Unreleased\n\n- New.\n\n## v1.1.0 (2026-01-01)\n\n- Old.\n\n## 1.0.0\n\n- First.\n")
	for _, tag := range tags {
		if tag != "v0.9.0" { // packs came later
			put(packsDir+"/go.toml", "# of "+tag+"\n")
		}
		git("add", "-A")
		git("commit", "-q", "--allow-empty", "-m", tag)
		git("tag", "-m", tag, tag)
	}
	return dir
}

// The notes of a release have its section of the changelog, and compare its packs with those of the
// release before, which is no prerelease unless this one is, and no tag of another branch.
func TestNotes(t *testing.T) {
	dir := repository(t, "v0.9.0", "v1.0.0", "v1.1.0", "v1.2.0-rc.2", "v1.2.0-rc.10", "v1.2.0", "unrelated", "v1.3")
	programs := standIns(t, released)
	for version, want := range map[string][]string{
		"v1.2.0":                 {"# stopgate v1.2.0\n\n- New.\n\n## Packs\n\nCompared with those of v1.1.0:\n\n### go: differs\n\n# of v1.1.0\n"},
		"v1.2.0-3-gabc1234":      {"- New.", "those of v1.2.0:"},
		"v1.2.0-rc.10":           {"- New.", "those of v1.2.0:"}, // a tag that is merged and is not this one
		"v1.2.0-rc.10-3-gabc123": {"- New.", "those of v1.2.0:"},
		"v1.1.0":                 {"- Old.", "those of v1.2.0:"},
		"v1.0.0":                 {"- First.", "those of v1.2.0:"},
	} {
		r := &release{root: dir, out: t.TempDir(), programs: programs, contents: map[system][]file{}}
		notesOf(t, r, version, want...)
	}
	for tag, want := range map[string]string{
		"v1.2.0-rc.10": "those of v1.2.0-rc.2:", "v1.2.0-rc.2": "those of v1.1.0:", "v1.1.0": "those of v1.0.0:", "v1.0.0": "v0.9.0 has no packs to compare them with.",
		"v0.9.0": "There is no earlier release to compare them with.",
	} {
		checkout := filepath.Join(t.TempDir(), "checkout")
		tool(t, "git", "clone", "-q", "--branch", tag, dir, checkout)
		r := &release{root: checkout, out: t.TempDir(), programs: programs, contents: map[system][]file{}}
		notesOf(t, r, tag, want)
	}
}

func notesOf(t *testing.T, r *release, version string, want ...string) {
	t.Helper()
	if err := r.prepare(version, "1700000000", "linux/amd64"); err != nil {
		t.Fatal(err)
	}
	if err := notes(r); err != nil {
		t.Errorf("%s: %v", version, err)
		return
	}
	text, err := os.ReadFile(filepath.Join(r.out, notesFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			t.Errorf("%s: no %q in\n%s", version, w, text)
		}
	}
}

// Packs that are the same are reported as such. What cannot be compared ends the release.
func TestNotesRefusals(t *testing.T) {
	same := &release{root: repository(t, "v1.0.0", "v1.1.0"), out: t.TempDir(), contents: map[system][]file{}, programs: t.TempDir(), time: time.Unix(1, 0)}
	at := filepath.Join(same.programs, "linux-amd64")
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{"exit 0": "They decide as those of v1.0.0 do.", "echo broken >&2; exit 1": ""} {
		if err := os.WriteFile(filepath.Join(at, "stopgate"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			notesOf(t, same, "v1.1.0", want)
		} else if err := notes(same); err == nil {
			t.Error("a comparison that failed")
		}
	}
	if err := os.WriteFile(filepath.Join(same.root, "CHANGELOG.md"), []byte("# Changelog\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := notes(same); err == nil || !strings.Contains(err.Error(), "no section") {
		t.Errorf("a changelog without the version: %v", err)
	}
	same.root = t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(same.root))
	if _, err := same.packChanges(); err == nil {
		t.Error("tags of no checkout")
	}
}
