package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const notesFile = "RELEASE-NOTES.md"

// packsDir has the packs in a checkout, one file each.
const packsDir = "internal/packs/data"

// notes writes the notes of the release: its section of the changelog, and which calls its packs decide
// in another way than those of the release before it.
func notes(r *release) error {
	changes, err := r.changes()
	if err != nil {
		return err
	}
	packs, err := r.packChanges()
	if err != nil {
		return fmt.Errorf("compare the packs: %w", err)
	}
	return r.write(notesFile, fmt.Appendf(nil, "# stopgate %s\n\n%s\n\n## Packs\n\n%s\n", r.version.described, changes, packs))
}

// changes returns the section of the changelog about the version, or about what is unreleased.
func (r *release) changes() (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	sections := strings.Split(string(text), "\n## ")[1:]
	for _, want := range []string{strings.TrimPrefix(r.version.described, "v"), "Unreleased"} {
		for _, section := range sections {
			heading, body, _ := strings.Cut(section, "\n")
			title, _, _ := strings.Cut(strings.TrimPrefix(heading, "v"), " ")
			if title == want {
				return strings.TrimSpace(body), nil
			}
		}
	}
	return "", fmt.Errorf("CHANGELOG.md has no section %s or Unreleased", r.version.described)
}

// packChanges compares the packs with those of the release before, as Markdown.
func (r *release) packChanges() (string, error) {
	tag, err := r.previous()
	if err != nil {
		return "", err
	}
	if tag == "" {
		return "There is no earlier release to compare them with.", nil
	}
	dir, err := os.MkdirTemp("", "stopgate-packs-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if found, err := r.packsAt(tag, dir); err != nil {
		return "", err
	} else if !found {
		return tag + " has no packs to compare them with.", nil
	}
	program := []string{filepath.Join(r.programs, runtime.GOOS+"-"+runtime.GOARCH, "stopgate")}
	if _, err := os.Stat(program[0]); errors.Is(err, os.ErrNotExist) { // a release for other systems only
		program = []string{"go", "run", "./cmd/stopgate"}
	}
	program = append(program, "packs", "diff", dir)
	text, err := r.output(program[0], program[1:]...)
	if err != nil {
		return "", err
	}
	if text == "" {
		return "They decide as those of " + tag + " do.", nil
	}
	return "Compared with those of " + tag + ":\n\n" + strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n## ", "\n### "), "\n"), nil
}

// previous returns the tag of the release before this one, "" without one. That of a release is a
// release; that of a prerelease can be a prerelease.
func (r *release) previous() (string, error) {
	list, err := r.output("git", "-c", "versionsort.suffix=-", "tag", "--merged", "HEAD", "--sort=-version:refname", "--list", "v*")
	if err != nil {
		return "", err
	}
	for tag := range strings.FieldsSeq(list) {
		v, err := parseVersion(tag, r.time)
		if err != nil || v.commits != "" || v.stage != "" && r.version.stage == "" {
			continue
		}
		if r.version.commits == "" && v.tag == r.version.tag && v.stage == r.version.stage && v.candidate == r.version.candidate {
			continue // this release
		}
		return tag, nil
	}
	return "", nil
}

// packsAt writes the packs of a tag to a directory, and reports whether there are any.
func (r *release) packsAt(tag, dir string) (bool, error) {
	if names, err := r.output("git", "ls-tree", "--name-only", tag, packsDir); err != nil || names == "" {
		return false, err
	}
	path := filepath.Join(dir, "packs.tar")
	if _, err := r.output("git", "archive", "--format=tar", "-o", path, tag, packsDir); err != nil {
		return false, err
	}
	archive, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer archive.Close()
	for in := tar.NewReader(archive); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return true, os.Remove(path)
		}
		if err != nil {
			return false, fmt.Errorf("packs of %s: %w", tag, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return false, fmt.Errorf("packs of %s: %w", tag, err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), text, 0o600); err != nil {
			return false, err
		}
	}
}
