package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// file is a file of a package. Its name is the one that it has in an archive.
type file struct {
	name string
	mode fs.FileMode
	text []byte
}

// content returns the files for a system: programs, licences, manual pages, completions and, on
// Linux, units, sorted by name.
func (r *release) content(s system) ([]file, error) {
	if files := r.contents[s]; files != nil {
		return files, nil
	}
	if err := r.writePages(); err != nil {
		return nil, err
	}
	var files []file
	add := func(name, path string, mode fs.FileMode) error {
		text, err := os.ReadFile(path)
		files = append(files, file{name, mode, text})
		return err
	}
	programs := filepath.Join(r.programs, s.os+"-"+s.arch)
	for _, name := range []string{"stopgate", "stopgate-hook"} {
		if err := add(name, filepath.Join(programs, name), 0o755); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if err := add(name, filepath.Join(r.root, name), 0o644); err != nil {
			return nil, err
		}
	}
	notices, err := notices(filepath.Join(programs, "stopgate"), filepath.Join(programs, "stopgate-hook"))
	if err != nil {
		return nil, err
	}
	files = append(files, file{"THIRD-PARTY-NOTICES", 0o644, notices})
	trees := []string{r.pages}
	if s.os == "linux" {
		trees = append(trees, filepath.Join(r.root, "deploy", "systemd"))
	}
	for _, tree := range trees {
		err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			name, _ := filepath.Rel(tree, path)
			if tree != r.pages {
				name = "systemd/" + name
			}
			return add(filepath.ToSlash(name), path, 0o644)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	r.contents[s] = files
	return files, nil
}

// archiveName returns the name of an archive, and of the directory in it.
func (r *release) archiveName(s system) string {
	return "stopgate-" + r.version.described + "-" + s.os + "-" + s.arch
}

// archive writes the archive of a system: everything, in one directory.
func archive(r *release, s system) error {
	files, err := r.content(s)
	if err != nil {
		return err
	}
	text, err := r.tarball(r.archiveName(s), files)
	if err != nil {
		return err
	}
	return r.write(r.archiveName(s)+".tar.gz", text)
}

// tarball returns a compressed archive of files below a directory.
func (r *release) tarball(dir string, files []file) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	seen := map[string]bool{}
	enter := func(dir string) error { // with the directories above it
		for i := range len(dir) + 1 {
			if i < len(dir) && dir[i] != '/' || seen[dir[:i]] || i == 0 {
				continue
			}
			seen[dir[:i]] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir[:i] + "/", Mode: 0o755, ModTime: r.time, Format: tar.FormatUSTAR}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range files {
		name := dir + "/" + f.name
		if err := enter(name[:strings.LastIndexByte(name, '/')]); err != nil {
			return nil, err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: r.time, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

var (
	preface = regexp.MustCompile(`(?s)^#.*?\n\[Unit\]`)
	starts  = regexp.MustCompile(`(?m)^ExecStart=\S+/stopgate `)
)

// unit returns a unit of systemd for the programs in /usr/bin, without the lines that say how to
// install it by hand.
func unit(text []byte) ([]byte, error) {
	if len(starts.FindAll(text, -1)) != 1 || !preface.Match(text) {
		return nil, fmt.Errorf("want one ExecStart, and a comment before [Unit]:\n%s", text)
	}
	text = preface.ReplaceAll(text, []byte("[Unit]"))
	return starts.ReplaceAll(text, []byte("ExecStart=/usr/bin/stopgate ")), nil
}
