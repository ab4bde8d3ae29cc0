// Package config finds the policy files that apply to a working directory and
// decides which of them are trusted.
//
// Every file is a layer of its own and the strictest layer wins (K35):
//
//	set, err := config.Discover(config.Where{Dir: "."})
//	program, diags := prove.Compile(set.Sources(), policy.Options{})
//
// A file named by the user on the command line, the user's own file and the
// system's file are trusted. A file found in a project is content of that
// project: it may only tighten, unless the user trusted exactly these bytes
// with [Trust] (H20).
package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/owner"
	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// FileName is the name of a policy file.
const FileName = "stopgate.toml"

// MaxFile is the largest policy file that is read, in bytes.
const MaxFile = 16 << 20

// Scope is the location of a policy file.
type Scope string

// The scopes, in the order in which their layers are listed.
const (
	System   Scope = "system"   // the machine's configuration directory
	User     Scope = "user"     // the user's configuration directory
	Project  Scope = "project"  // the working directory or above, up to the repository root
	Flag     Scope = "flag"     // named by --policy
	Embedded Scope = "embedded" // the starter policy inside the binary
	Bundled  Scope = "bundle"   // came in the policy bundle that an operator's file names
)

// StarterPath is how the starter policy is shown to people, and in records.
const StarterPath = "starter.toml (built in)"

// File is one policy file.
type File struct {
	Path    string // as shown to people
	Scope   Scope
	Text    []byte
	Hash    string // SHA-256 of Text in hex
	Trusted bool
	// Root is the root of a project other than the one of the working directory, "" for
	// that one; see [Set.With].
	Root string
}

// Set holds the policy files that apply, as layers.
type Set struct {
	Files []File
	// Root is the root of the repository around the working directory, "" if
	// there is none.
	Root string
	// Rollout is the policy bundle of the files with the scope Bundled; nil for none.
	Rollout *Rollout
}

// Sources returns the files for the compiler.
func (s Set) Sources() []policy.Source {
	sources := make([]policy.Source, len(s.Files))
	for i, f := range s.Files {
		sources[i] = policy.Source{Name: f.Path, Text: f.Text, Trusted: f.Trusted, Tightens: f.Root != "", Root: f.Root, Embedded: f.Scope == Embedded, Bundled: f.Scope == Bundled}
	}
	return sources
}

// With adds the files of another project, which may only tighten the verdicts.
func (s Set) With(other Set) Set {
	for _, f := range other.Files {
		if f.Scope != Project || slices.ContainsFunc(s.Files, func(own File) bool { return own.Path == f.Path }) {
			continue
		}
		if f.Root == "" {
			f.Root = cmp.Or(other.Root, filepath.Dir(f.Path))
		}
		s.Files = append(s.Files, f)
	}
	return s
}

// Text returns the text of a file of the set, or of a pack, by the name it is shown with, nil if
// there is none.
func (s Set) Text(name string) []byte {
	for _, f := range s.Files {
		if f.Path == name {
			return f.Text
		}
	}
	return packs.Text(name)
}

// Where configures the search. A directory that is "" is not searched.
type Where struct {
	// Policy are files named on the command line. If there are any, no other file is
	// searched.
	Policy []string
	// Dir is the working directory.
	Dir string
	// UserDir and SystemDir are the configuration directories.
	UserDir, SystemDir string
	// Starter is used when no file is found; nil makes that an error.
	Starter []byte
	// Again reports that the files were read before. A file that can be read only once, such
	// as a pipe, would block its reader and is refused.
	Again bool
	// Held reports that this process must not open and close a file because it holds locks
	// on it, which makes Discover fail. It is called twice for each policy file: with a nil
	// file before it is opened, and with the open file, which it then keeps open. Nil: no
	// file is held.
	Held func(file fs.FileInfo, open *os.File) bool
}

// errHeld is the error for a policy file that is the file of a store.
var errHeld = errors.New("it belongs to a store")

// ErrNone reports that there is no policy file and no starter policy.
var ErrNone = errors.New("no policy file found; write one with the name " + FileName + " or name one with --policy")

// Standard returns the usual locations for a working directory of this process.
func Standard(dir string) Where { return Account{}.Standard(dir) }

// UserFile returns the path of the user's own file, which need not exist; "" if the user has
// no configuration directory.
func (w Where) UserFile() string {
	if w.UserDir == "" {
		return ""
	}
	return filepath.Join(w.UserDir, FileName)
}

// Discover reads every policy file that applies. A file that exists and cannot be
// read is an error, never "no policy" (FM10).
func Discover(w Where) (Set, error) {
	var set Set
	if w.Dir != "" {
		root, err := repositoryRoot(w.Dir)
		if err != nil {
			return Set{}, err
		}
		set.Root = root
	}
	if len(w.Policy) > 0 {
		for _, path := range w.Policy {
			f, err := w.read(path, Flag)
			if err != nil {
				return Set{}, err
			}
			f.Trusted = true
			set.Files = append(set.Files, f)
		}
		return set, nil
	}
	for _, location := range []struct {
		scope Scope
		dir   string
	}{{System, w.SystemDir}, {User, w.UserDir}} {
		if location.dir == "" {
			continue
		}
		f, err := w.read(filepath.Join(location.dir, FileName), location.scope)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Set{}, err
		}
		if err := owner.Policy(f.Path); err != nil {
			return Set{}, fmt.Errorf("read policy: %w", err)
		}
		f.Trusted = true
		set.Files = append(set.Files, f)
	}
	project, err := findProject(w, set.Root)
	if err != nil {
		return Set{}, err
	}
	set.Files = append(set.Files, project...)
	around, err := findAround(w, set.Root)
	if err != nil {
		return Set{}, err
	}
	switch trusted := slices.ContainsFunc(set.Files, func(f File) bool { return f.Trusted }); {
	case len(set.Files)+len(around) == 0 && w.Starter == nil:
		return Set{}, ErrNone
	case !trusted && w.Starter != nil:
		// A file that may only tighten cannot replace the policy that applies without it.
		set.Files = append(set.Files, File{
			Path: StarterPath, Scope: Embedded, Text: w.Starter, Hash: hash(w.Starter), Trusted: true,
		})
	}
	set.Files = append(set.Files, around...)
	return set, nil
}

// findAround returns the files of the repositories that contain the project's own. They may
// only tighten. A repository inside another one, which an agent creates with one command, does
// not escape the outer policy, and the outer policy does not loosen it (H20).
func findAround(w Where, root string) (all []File, err error) {
	for inner := root; inner != "" && filepath.Dir(inner) != inner; {
		outer, err := repositoryRoot(filepath.Dir(inner))
		if err != nil {
			return nil, err
		}
		if outer == "" {
			break
		}
		above := w
		above.Dir = filepath.Dir(inner)
		files, err := findProject(above, outer)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			f.Root = outer
			all = append(all, f)
		}
		inner = outer
	}
	return all, nil
}

// findProject returns the nearest file from the working directory upward to the
// repository root; outside a repository only that of the working directory. An untrusted
// file does not hide those above it, because it may only tighten (H20, I15).
func findProject(w Where, root string) ([]File, error) {
	if w.Dir == "" {
		return nil, nil
	}
	dir, err := filepath.Abs(w.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the project's policy: %w", err)
	}
	var files []File
	for {
		f, err := w.read(filepath.Join(dir, FileName), Project)
		if err == nil {
			f.Trusted, err = Trusted(w.UserDir, f.Hash)
			files = append(files, f)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		parent := filepath.Dir(dir)
		if f.Trusted || root == "" || dir == root || parent == dir {
			return files, nil
		}
		dir = parent
	}
}

// ProjectRoot returns the root of the project that contains a directory: the root of its
// repository, or the directory itself if it has a policy file; "" if there is no project.
func ProjectRoot(dir string) (string, error) {
	if root, err := repositoryRoot(dir); root != "" || err != nil {
		return root, err
	}
	there, err := exists(filepath.Join(dir, FileName))
	if !there {
		dir = ""
	}
	return dir, err
}

// repositoryRoot returns the nearest directory at or above dir that contains .git. A read
// failure is an error, because the policy of the project would not apply.
func repositoryRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	for {
		if there, err := exists(filepath.Join(dir, ".git")); there || err != nil {
			return dir, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// exists reports whether a file of that path exists. Below a file that is not a directory
// there is none.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	}
	return false, fmt.Errorf("find the project: %w", err)
}

func (w Where) read(path string, scope Scope) (File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if link := dangling(path); link != "" {
			return File{}, fmt.Errorf("read policy: %s leads nowhere, so that %s cannot be read; mend or remove that link", link, path)
		}
	}
	if err != nil {
		return File{}, fmt.Errorf("read policy: %w", err)
	}
	if info.IsDir() {
		return File{}, fmt.Errorf("read policy: %s is a directory; name the file itself, for example %s", path, filepath.Join(path, FileName))
	}
	// A pipe in a repository would block every search for a policy for ever. A pipe that the
	// user names is intended: `--policy <(...)`.
	if (scope != Flag || w.Again) && !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("read policy: %s is no regular file", path)
	}
	if scope == Flag {
		if err := owner.Named(path, info); err != nil {
			return File{}, fmt.Errorf("read policy: %w", err)
		}
	}
	if w.Held != nil && w.Held(info, nil) {
		return File{}, fmt.Errorf("read policy: %s: %w", path, errHeld)
	}
	text, err := readFile(path, MaxFile, w.Held)
	if err != nil {
		return File{}, fmt.Errorf("read policy: %w", err)
	}
	return File{Path: path, Scope: scope, Text: text, Hash: hash(text)}, nil
}

// dangling returns the broken symbolic link in the path of a file, "" if the file does not
// exist for another reason. A broken link means that a policy should apply that was moved or
// is on a disk that is not mounted (FM10).
func dangling(path string) string {
	for {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			return path
		}
		parent := filepath.Dir(path)
		if err == nil || parent == path {
			return ""
		}
		path = parent
	}
}

// ReadFile reads a file of at most that many bytes. The limit also applies to devices and
// pipes, whose size is unknown beforehand.
func ReadFile(path string, most int64) ([]byte, error) { return readFile(path, most, nil) }

func readFile(path string, most int64, held func(fs.FileInfo, *os.File) bool) ([]byte, error) {
	f, err := plainfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if held != nil {
		if info, err := f.Stat(); err != nil || held(info, f) {
			return nil, fmt.Errorf("%s: %w", path, errHeld)
		}
	}
	defer f.Close()
	return plainfile.Read(f, most)
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
