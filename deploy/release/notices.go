package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// legal are names of files with licences and notices, which go with every copy of a program.
var legal = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([.-].*)?$`)

// notices returns the licences and notices of all modules that are linked into programs, and of Go's
// standard library, from the module cache. A module without any is an error.
func notices(programs ...string) ([]byte, error) {
	modules := map[string]module.Version{}
	compiler := ""
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		compiler = info.GoVersion
		for _, m := range info.Deps {
			m = replaced(m)
			modules[m.Path] = module.Version{Path: m.Path, Version: m.Version}
		}
	}
	where, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dirs := strings.Split(strings.TrimSpace(string(where)), "\n")
	var out bytes.Buffer
	out.WriteString("The programs of stopgate contain these modules, under these licences.\n")
	if err := notice(&out, "Go standard library "+compiler, dirs[0]); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(modules))
	for name := range modules {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m := modules[name]
		path, err := module.EscapePath(m.Path)
		if err != nil {
			return nil, err
		}
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return nil, err
		}
		if err := notice(&out, m.String(), filepath.Join(dirs[1], path+"@"+version)); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func replaced(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// notice appends the licences of one module: the files of its root, sorted.
func notice(out *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("licence of %s: %w", name, err)
	}
	found := false
	fmt.Fprintf(out, "\n%s\n%s\n", strings.Repeat("=", 80), name)
	for _, e := range entries {
		if !e.Type().IsRegular() || !legal.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(out, "\n%s:\n\n%s\n", e.Name(), bytes.TrimRight(text, "\n"))
	}
	if !found {
		return fmt.Errorf("%s: no licence in %s", name, dir)
	}
	return nil
}
