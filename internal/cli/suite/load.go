package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Suffix is the suffix of files with cases.
const Suffix = ".test.toml"

// ToolsFile is the default file with the tools' definitions, next to the cases.
const ToolsFile = "tools.json"

// Options are the dependencies of a suite.
type Options struct {
	// Tools reads a file of tool definitions.
	Tools func(path string) ([]stopgate.ToolDefinition, error)
	// Gate creates the gate of one case.
	Gate func(*policy.Program, gate.Approver) (*gate.Gate, error)
}

// Suite is one file of cases with the policy that they test.
type Suite struct {
	File  string
	Cases []Case

	options Options
	program *policy.Program
	tools   []stopgate.ToolDefinition
	files   config.Set
	bound   map[fact]*eval.Binding
}

// fact is the set of constant facts of a call's binding.
type fact struct {
	tool      stopgate.ToolName
	agent     stopgate.AgentName
	principal stopgate.Principal
	groups    stopgate.Groups
	server    stopgate.ServerID
	surface   stopgate.Surface
	in        eval.Situation
}

// bind binds a call's tool, once for all calls with the same facts.
func (s *Suite) bind(c stopgate.Call, in eval.Situation) *eval.Binding {
	key := fact{c.Tool, c.Agent, c.Principal, c.Groups, c.Server, c.Surface, in}
	b := s.bound[key]
	if b == nil {
		b = s.program.BindUnder(c, eval.Circumstances{Situation: in})
		s.bound[key] = b
	}
	return b
}

// Read returns the files that the suite read, for diagnostics.
func (s *Suite) Read() []config.File { return s.files.Files }

// Files returns the policy files that the suite tests.
func (s *Suite) Files() []string {
	var names []string
	for _, f := range s.files.Files[1:] {
		names = append(names, f.Path)
	}
	return names
}

// Find returns the files with cases at some paths: for a directory all in it and below, except in
// hidden directories.
func Find(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("find tests: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != path && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(d.Name(), Suffix):
				files = append(files, name)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find tests: %w", err)
		}
	}
	return files, nil
}

// header is a file of cases without its cases.
type header struct {
	Policy *tomltree.Value `toml:"policy"`
	Tools  string          `toml:"tools"`
	Root   string          `toml:"root"`
	Home   string          `toml:"home"`
	Cases  *tomltree.Value `toml:"case"`
}

// Load reads a file of cases and compiles the policy that they test. The list has the mistakes in
// any of the files, whose sources the suite has; with mistakes it cannot run.
func Load(path string, o Options) (*Suite, diag.List, error) {
	set, err := config.Discover(config.Where{Policy: []string{path}})
	if err != nil {
		return nil, nil, fmt.Errorf("read tests: %w", err)
	}
	s := &Suite{File: path, options: o, files: set, bound: make(map[fact]*eval.Binding)}
	doc, mistakes := tomltree.Parse(path, set.Files[0].Text)
	if doc == nil {
		return s, mistakes, nil
	}
	var h header
	mistakes = append(mistakes, tomltree.Decode(doc.Root, &h)...)
	r := &reader{file: path, mistakes: mistakes}
	policies := r.policies(h.Policy)
	if len(policies) == 0 && h.Policy == nil {
		found, err := nearest(filepath.Dir(path))
		if err != nil {
			return s, nil, err
		}
		policies = []string{found}
	}
	tools := filepath.Join(filepath.Dir(path), ToolsFile)
	if h.Tools != "" {
		tools = relative(path, h.Tools)
	} else if _, err := os.Stat(tools); errors.Is(err, fs.ErrNotExist) {
		tools = ""
	}
	if tools != "" {
		if s.tools, err = o.Tools(tools); err != nil {
			return s, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(policies) > 0 {
		under, err := config.Discover(config.Where{Policy: policies})
		if err != nil {
			return s, nil, fmt.Errorf("%s: %w", path, err)
		}
		s.files.Files = append(s.files.Files, under.Files...)
		program, found := prove.Compile(under.Sources(), policy.Options{Root: h.Root, Home: h.Home, Definitions: s.tools, Known: knowntools.Recognise})
		s.program = program
		r.mistakes = append(r.mistakes, found.Errors()...)
	}
	s.Cases = r.cases(h.Cases, s.tools)
	r.mistakes.Sort()
	return s, r.mistakes, nil
}

// policies reads the policy files of the cases, relative to their own file.
func (r *reader) policies(v *tomltree.Value) []string {
	if v == nil {
		return nil
	}
	var paths []string
	list := v.Elements
	if v.Kind == tomltree.String {
		list = []*tomltree.Value{v}
	} else if v.Kind != tomltree.Array || len(list) == 0 {
		r.report(diag.WrongType, v.Range, "`policy` must be a file or an array of files", "")
	}
	for _, e := range list {
		if e.Kind != tomltree.String {
			r.report(diag.WrongType, e.Range, fmt.Sprintf("`policy` holds files, not %s", e.Kind), "")
			continue
		}
		paths = append(paths, relative(r.file, e.Text))
	}
	return paths
}

// relative resolves a path in a file.
func relative(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// nearest finds the policy that applies to a directory: in it or above, up to the root of the
// repository.
func nearest(dir string) (string, error) {
	for up := dir; ; up = filepath.Join(up, "..") {
		path := filepath.Join(up, config.FileName)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		absolute, err := filepath.Abs(up)
		if err != nil {
			return "", fmt.Errorf("find the policy to test: %w", err)
		}
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil || filepath.Dir(absolute) == absolute {
			return "", &noPolicyError{dir}
		}
	}
}

type noPolicyError struct{ dir string }

func (e *noPolicyError) Error() string {
	return fmt.Sprintf("find the policy to test: no %s in %s or above", config.FileName, e.dir)
}

// Hint returns the remedy.
func (e *noPolicyError) Hint() string { return `name it in the file of cases: policy = "FILE"` }
