// Command release makes the files of a release: archives and packages of the programs for every
// supported system, a formula, an image, a bill of materials, an installer, checksums and their
// signature. Makefile calls it:
//
//	release -o ../dist            # all but the checksums
//	release -o ../dist checksums  # of every file that is there, when the clients are packed too
//	release -o ../dist image      # one kind of file
//	release -o DIR root           # the files of the image, for deploy/Containerfile
//	release -programs DIR programs # compiles only; -programs DIR takes them afterwards
//	release -spell python         # prints the version as wheels have it
//	release sizes FILE...         # writes the table of sizes into pages
//
// The same commit and compiler give the same bytes: times are that of the commit, owners are 0, lists
// are sorted, and nothing is read of the user, the machine or the clock. What it needs from the
// network is Go modules.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is a kind of files, and how they are made.
type kind struct {
	name  string
	make  func(*release) error
	named bool // made only where it is named
}

// kinds are all of them, in an order in which those that need others follow them.
var kinds = []kind{
	{name: "archives", make: each(archive)},
	{name: "deb", make: each(linuxPackage("deb"))},
	{name: "rpm", make: each(linuxPackage("rpm"))},
	{name: "apk", make: each(linuxPackage("apk"))},
	{name: "wheels", make: each(wheel)},
	{name: "npm", make: npmPackages},
	{name: "image", make: imageLayout},
	{name: "root", make: imageRoot, named: true},
	{name: "bill", make: bill},
	{name: "formula", make: formula},
	{name: "installer", make: installer},
	{name: "notes", make: notes},
	{name: "checksums", make: checksums, named: true},
}

// each makes a kind with one file for each system.
func each(one func(*release, system) error) func(*release) error {
	return func(r *release) error {
		for _, s := range r.systems {
			if err := one(r, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
}

// system is an operating system and a processor, by their names in Go.
type system struct{ os, arch string }

func (s system) String() string { return s.os + "/" + s.arch }

// supported are the systems of a release.
var supported = []system{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// release is what all files of a release are made of.
type release struct {
	root     string // of the checkout
	out      string // directory of the files
	version  version
	time     time.Time // of the commit
	systems  []system
	programs string // directory with OS-ARCH/stopgate and OS-ARCH/stopgate-hook
	scratch  string // directory that is removed at the end
	pages    string // directory of manual pages and completions, "" before they are written
	base     string // where the files of releases are, without the version
	key      *signer

	contents map[system][]file // by content
}

func main() {
	r := &release{contents: map[system][]file{}}
	described := flag.String("version", "", "version, as git describe prints it (default: that of the checkout)")
	seconds := flag.String("time", "", "time of all files, in seconds since 1970 (default: that of the commit)")
	spelled := flag.String("spell", "", "print the version as this kind of package has it, and make nothing")
	only := flag.String("systems", "", "systems, as linux/amd64,darwin/arm64 (default: all)")
	flag.StringVar(&r.root, "root", "..", "the checkout")
	flag.StringVar(&r.out, "o", "../dist", "directory to write to")
	flag.StringVar(&r.programs, "programs", "", "directory with OS-ARCH/stopgate (default: they are compiled)")
	flag.StringVar(&r.base, "base", "https://github.com/stopgate/stopgate/releases/download", "URL where releases are published")
	flag.Parse()
	err := r.prepare(*described, *seconds, *only)
	switch spell, known := spellings[*spelled]; {
	case err != nil:
	case known:
		fmt.Println(spell(r.version))
	case *spelled != "":
		err = fmt.Errorf("-spell %s: want one of %v", *spelled, slices.Sorted(maps.Keys(spellings)))
	case flag.Arg(0) == "programs":
		err = r.compile()
	case flag.Arg(0) == "sizes":
		err = r.sizes(flag.Args()[1:])
	default:
		err = r.run(flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// prepare reads the settings.
func (r *release) prepare(described, seconds, only string) (err error) {
	if described == "" {
		if described, err = r.output("git", "describe", "--tags", "--always", "--dirty"); err != nil {
			return err
		}
	}
	if seconds == "" {
		if seconds, err = r.output("git", "log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("-time %q: want seconds since 1970", seconds)
	}
	r.time = time.Unix(at, 0).UTC()
	if r.version, err = parseVersion(described, r.time); err != nil {
		return err
	}
	for name := range strings.FieldsFuncSeq(only, func(c rune) bool { return c == ',' }) {
		os, arch, _ := strings.Cut(name, "/")
		if !slices.Contains(supported, system{os, arch}) {
			return fmt.Errorf("-systems %s: want some of %v", name, supported)
		}
		r.systems = append(r.systems, system{os, arch})
	}
	if len(r.systems) == 0 {
		r.systems = supported
	}
	if r.programs != "" {
		if r.programs, err = filepath.Abs(r.programs); err != nil { // they run in the checkout
			return err
		}
	}
	r.key, err = signingKey(os.Getenv)
	return err
}

// run makes kinds of files, by default all but those that have to be named.
func (r *release) run(names []string) error {
	if len(names) == 0 {
		for _, k := range kinds {
			if !k.named {
				names = append(names, k.name)
			}
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name }) {
			return fmt.Errorf("no kind of files %q", name)
		}
	}
	if slices.Equal(names, []string{"checksums"}) {
		return r.files(names)
	}
	var err error
	if r.scratch, err = os.MkdirTemp("", "stopgate-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.scratch)
	if r.programs == "" {
		r.programs = filepath.Join(r.scratch, "programs")
		if err := r.compile(); err != nil {
			return err
		}
	}
	return r.files(names)
}

// files makes kinds of files from the programs and pages.
func (r *release) files(names []string) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, k := range kinds {
		if slices.Contains(names, k.name) {
			fmt.Println("==", k.name)
			if err := k.make(r); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
	}
	return nil
}

// compile compiles the programs of all systems.
func (r *release) compile() error {
	if r.programs == "" {
		return errors.New("programs: -programs names the directory to write to")
	}
	for _, s := range r.systems {
		to := filepath.Join(r.programs, s.os+"-"+s.arch)
		fmt.Println("== programs", s)
		if _, err := r.output("env", "GOOS="+s.os, "GOARCH="+s.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=",
			"make", "--no-print-directory", "-s", "build", "BIN="+to+"/", "VERSION="+r.version.described); err != nil {
			return err
		}
	}
	return nil
}

// writePages writes the manual pages and completions of the programs, once.
func (r *release) writePages() error {
	if r.pages != "" {
		return nil
	}
	r.pages = filepath.Join(r.scratch, "pages")
	// Compiled as the programs are, so that the compiler has most of it.
	_, err := r.output("env", "CGO_ENABLED=0", "GOFLAGS=", "go", "run", "-trimpath", "./internal/cli/commands/manpages", "-version", r.version.described, "-time", strconv.FormatInt(r.time.Unix(), 10), "-o", r.pages)
	return err
}

// output runs a program in the checkout and returns what it prints.
func (r *release) output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

// write writes a file of the release.
func (r *release) write(name string, text []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), text, 0o644)
}
