package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	engine "github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/system/realpath"
)

// Source is the text of one policy file, a layer of its own: the strictest verdict of
// all layers applies (K35).
type Source struct {
	Name string
	Text []byte
	// Trusted marks the operator's own file. Any other file may only hold rules, and they
	// may only tighten (S3).
	Trusted bool
	// Tightens restricts a trusted file as if it were untrusted.
	Tightens bool
	// Root is the directory that this file's paths are read against, "" for that of the
	// options.
	Root string
}

// Options are the inputs of a policy besides its files.
type Options struct {
	// Root and Home are the directories that paths are read against, "" if unknown. The
	// table [paths] of a file wins over them (K19).
	Root, Home string
	// Dir is the directory in which the relative paths of calls start, "" for Root.
	Dir string
	// FollowLinks follows symbolic links below Root on this machine. Set it where the gate
	// sees the file system of the tools; otherwise paths are compared as written.
	FollowLinks bool
	// KnownTools declares the parameters of tools that stopgate knows by name, such as
	// those of coding agents, where no file declares them.
	KnownTools bool
	// Strict turns lints into errors (K0i).
	Strict bool
	// Definitions are tools that are known to exist, with their schemas; Check compares
	// the rules with them (Q5).
	Definitions []stopgate.ToolDefinition
	// UnknownTool is the mode of calls of tools that no file knows, unless a file sets it:
	// Ask, or Deny for every other value (S33).
	UnknownTool stopgate.Mode
}

func (o Options) engine() engine.Options {
	e := engine.Options{
		Root: o.Root, Home: o.Home, Dir: o.Dir, Strict: o.Strict, Definitions: o.Definitions, UnknownTool: o.UnknownTool,
	}
	if o.FollowLinks {
		e.Links = &condition.Links{Real: realpath.From(o.Root), Walk: realpath.Walk(o.Root), Files: realpath.Files(realpath.Enough), Has: realpath.Has}
	}
	if o.KnownTools {
		e.Known = knowntools.Recognise
	}
	return e
}

// Program is one or several compiled policy files. It is immutable and safe for concurrent
// use. Compile makes it; the zero Program is not usable.
type Program struct {
	gate.Policy
	compiled *engine.Program
}

// Compile parses and checks policy files, the operator's before the project's. It returns
// nil and the diagnostics if any file has an error, and the program with its warnings
// otherwise.
func Compile(sources []Source, o Options) (*Program, Diagnostics) {
	p, found := prove.Compile(layers(sources), o.engine())
	if p == nil {
		return nil, diagnostics(found)
	}
	return &Program{p, p}, diagnostics(found)
}

// Check parses a policy file and reports all of its mistakes: the diagnostics of Compile,
// unreachable rules, and rules with another meaning than they seem to have (D25-15, D25-30 to
// D25-39).
func Check(s Source, o Options) Diagnostics {
	e := o.engine()
	e.Untrusted = !s.Trusted
	if s.Root != "" {
		e.Root = s.Root
	}
	file, found := parser.Parse(kinds.Table(), s.Name, s.Text)
	if file != nil {
		found = append(found, prove.Check(file, e)...)
	}
	found.Sort()
	return diagnostics(found)
}

// Format returns a policy file in canonical layout, with its comments. It returns nil and
// the diagnostics if the file has a syntax error.
func Format(name string, text []byte) ([]byte, Diagnostics) {
	out, found := parser.Format(kinds.Table(), name, text)
	return out, diagnostics(found)
}

func layers(sources []Source) (all []engine.Source) {
	for _, s := range sources {
		all = append(all, engine.Source{Name: s.Name, Text: s.Text, Trusted: s.Trusted, Tightens: s.Tightens, Root: s.Root})
	}
	return all
}

// Tools maps every name of a tool in the policy's tables to the name of its table. Names
// that only a glob covers are not among them.
func (p *Program) Tools() map[stopgate.ToolName]stopgate.ToolName { return p.compiled.Tools() }

// Diagnostic is one finding about a policy file. Its code is stable and described in the
// reference.
type Diagnostic struct {
	Code    string // "SG0103"
	Error   bool   // the file is not a policy; otherwise a warning
	File    string
	Line    int // from 1
	Column  int // from 1, in code points
	Message string
	Hint    string // the replacement, "" if there is no suggestion
}

// String returns the diagnostic on one line.
func (d Diagnostic) String() string {
	severity := "warning"
	if d.Error {
		severity = "error"
	}
	text := fmt.Sprintf("%s:%d:%d: %s %s: %s", d.File, d.Line, d.Column, severity, d.Code, d.Message)
	if d.Hint != "" {
		text += " (" + d.Hint + ")"
	}
	return text
}

// Diagnostics are the findings about policy files, in the order of files and lines.
type Diagnostics []Diagnostic

// HasErrors reports whether any of them is an error.
func (l Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Error })
}

// Err returns the errors among them as one error, nil if there are none.
func (l Diagnostics) Err() error {
	var errs []error
	for _, d := range l {
		if d.Error {
			errs = append(errs, errors.New(d.String()))
		}
	}
	return errors.Join(errs...)
}

func diagnostics(list diag.List) (all Diagnostics) {
	for _, d := range list {
		all = append(all, Diagnostic{
			Code: string(d.Code), Error: d.Severity == diag.Error, File: d.File, Line: d.Start.Line, Column: d.Start.Column,
			Message: d.Message, Hint: d.Hint,
		})
	}
	return all
}
