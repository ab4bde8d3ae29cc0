package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/policy/syntax"
)

// Program is one or several policy files, ready to judge calls. It is immutable
// and safe for concurrent use.
//
// Every file is a layer that is judged by itself; the strictest verdict wins
// (K35). A layer without a table for a tool abstains, and a tool for which every
// layer abstains is unknown (S2).
type Program struct {
	layers []*layer
	hash   string
	// unknownTool is the mode of unknown tools where no operator says any.
	unknownTool stopgate.Mode
	tests       []dataTest // of the rules that look at the session, by key
}

// layer is one policy file.
type layer struct {
	policy    *syntax.File
	trusted   bool
	env       match.Env
	protected *match.Protected
}

// Compile parses and checks policy files, the operator's before the project's,
// and prepares them. If any of them has an error the program is nil. Warnings come
// with the program.
func Compile(sources []Source, o Options) (*Program, diag.List) {
	return compileFiles(sources, o, Check)
}

func compileFiles(sources []Source, o Options, check func(*syntax.File, Options) diag.List) (*Program, diag.List) {
	p := new(Program)
	if o.UnknownTool == stopgate.Ask {
		p.unknownTool = stopgate.Ask
	}
	var all diag.List
	var files []string
	for _, s := range sources {
		files = append(files, s.Name)
	}
	for _, s := range sources {
		o.Untrusted = !s.Trusted
		file, list := syntax.Parse(s.Name, s.Text)
		all = append(all, list...)
		if file == nil {
			continue
		}
		all = append(all, check(file, o)...)
		l := &layer{policy: file, trusted: s.Trusted, env: environment(file, o)}
		p.layers = append(p.layers, l)
	}
	all.Sort()
	if all.HasErrors() || len(p.layers) < len(sources) {
		return nil, all
	}
	p.protect(files)
	p.hash = p.identify()
	p.situations()
	return p, all
}

// protect prepares the list of protected targets, once for all files that read paths
// against the same directories.
func (p *Program) protect(files []string) {
	lists := make(map[match.Env]*match.Protected)
	for _, l := range p.layers {
		if lists[l.env] == nil {
			lists[l.env] = match.NewProtected(l.env, files...)
		}
		l.protected = lists[l.env]
	}
}

// identify is the hash of what the files mean, and of which of them may loosen.
func (p *Program) identify() string {
	var files []*syntax.File
	trust := ""
	for _, l := range p.layers {
		files = append(files, l.policy)
		trust += map[bool]string{true: "operator ", false: "project "}[l.trusted]
	}
	hash := syntax.Hash(files...)
	if !strings.Contains(trust, "project") {
		return hash
	}
	sum := sha256.Sum256([]byte(hash + " " + trust))
	return hex.EncodeToString(sum[:])
}

// environment is the directories that a file's paths are read against (K19).
func environment(p *syntax.File, o Options) match.Env {
	env := match.Env{Root: o.Root, Home: o.Home, Dir: o.Dir, Run: o.Run, Doubt: o.RunDoubt, Lost: o.RunLost, Links: o.Links}
	if p.Paths.Root != "" {
		env.Root = p.Paths.Root
	}
	if p.Paths.Home != "" {
		env.Home = p.Paths.Home
	}
	return env
}

// PathResolution says how paths are read (REQUIREMENTS Q24): "lexical", as they are
// written, or "followed", with their symbolic links followed on this machine.
func (p *Program) PathResolution() string {
	if slices.ContainsFunc(p.layers, func(l *layer) bool { return l.env.Links != nil }) {
		return "followed"
	}
	return "lexical"
}

// Hash identifies what the policy says: 64 hexadecimal digits over the canonical
// form of all files, in order, and the version of the language's meaning. Comments,
// the order of tables and operational tables do not enter (S36).
func (p *Program) Hash() string { return p.hash }

// Settings are what the operator's files say beside rules.
type Settings struct {
	// Gate combines the tables [gate]: the strictest of each setting wins.
	Gate syntax.GateSettings
	// Tables are the operational tables by name, each from the first file that has it.
	Tables map[string]*tomltree.Value
}

// Settings returns the settings of the operator's files; an untrusted file has
// none (S3). Without any table [gate] the settings are the strictest ones.
func (p *Program) Settings() Settings {
	s := Settings{Tables: make(map[string]*tomltree.Value)}
	for i, g := range p.gates() {
		if i == 0 {
			s.Gate = *g
			continue
		}
		s.Gate.UnknownTool = stopgate.Strictest(s.Gate.UnknownTool, g.UnknownTool)
		s.Gate.UnknownParams = strictestParams(s.Gate.UnknownParams, g.UnknownParams)
		s.Gate.OnSchemaViolation = stopgate.Strictest(s.Gate.OnSchemaViolation, g.OnSchemaViolation)
		s.Gate.Strict = s.Gate.Strict || g.Strict
		s.Gate.DenialLimit = strictestLimit(s.Gate.DenialLimit, g.DenialLimit)
		if s.Gate.DenyMode == "" {
			s.Gate.DenyMode = g.DenyMode
		}
		if g.Enforcement != "observe" {
			s.Gate.Enforcement = g.Enforcement
		}
	}
	for _, l := range p.layers {
		for name, table := range l.policy.Tables {
			if _, ok := s.Tables[name]; !ok && l.trusted {
				s.Tables[name] = table
			}
		}
	}
	return s
}

// gates lists the tables [gate] that operators wrote.
func (p *Program) gates() []*syntax.GateSettings {
	var all []*syntax.GateSettings
	for _, l := range p.layers {
		if l.trusted && l.policy.Gate.Present() {
			all = append(all, &l.policy.Gate)
		}
	}
	return all
}

// strictestParams returns the stricter of two answers to an undeclared parameter.
func strictestParams(a, b syntax.ParamAction) syntax.ParamAction {
	order := []syntax.ParamAction{syntax.ParamDeny, syntax.ParamAsk, syntax.ParamAllow}
	if slices.Index(order, a) <= slices.Index(order, b) {
		return a
	}
	return b
}

// strictestLimit returns the smaller of two limits; 0 is none, nil says nothing.
func strictestLimit(a, b *int64) *int64 {
	switch {
	case a == nil, b != nil && *a == 0, b != nil && *b > 0 && *b < *a:
		return b
	}
	return a
}
