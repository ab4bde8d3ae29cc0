package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/flow/source"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/check"
	"github.com/stopgate/stopgate/jsonstream"
)

// Program is one or several policy files, ready to judge calls. It is immutable
// and safe for concurrent use.
//
// Every file is a layer that is judged by itself; the strictest verdict wins
// (K35). A layer without a table for a tool abstains, and a tool for which every
// layer abstains is unknown (S2).
type Program struct {
	policies *eval.Policies
	hash     string
	reader   *source.Reader // of the texts that rules need; nil if they need none
	rollout  Rollout
	unused   sync.Pool // of *evaluation
}

// maxUntrusted is the length of the longest file that is compiled without being trusted, in bytes: its
// author, whoever that is, must not decide how long each hook in a checkout takes.
const maxUntrusted = 1 << 20

// Compile parses and checks policy files, the operator's before the project's, and prepares
// them. If any of them has an error the program is nil.
// Warnings come with the program.
func Compile(sources []Source, o Options) (*Program, diag.List) {
	var layers []*eval.Layer
	var all diag.List
	for _, s := range sources {
		own := o.of(s)
		if !s.Trusted && len(s.Text) > maxUntrusted {
			all = append(all, diag.Diagnostic{Severity: diag.Error, Code: diag.TooLarge, File: s.Name,
				Message: "the file has more than 1 MiB and is not trusted", Hint: "read it, then `stopgate trust`"})
			continue
		}
		file, list := parser.Parse(kinds.Table(), s.Name, s.Text)
		all = append(all, list...)
		if file == nil {
			continue
		}
		if o.Checked == nil || !o.Checked(s) {
			all = append(all, Check(file, own)...)
		}
		env := file.Environment(own.environment())
		env.Checked = true // now, or earlier: see Options.Checked
		layers = append(layers, &eval.Layer{File: file, Trusted: s.Trusted && !s.Tightens, Embedded: s.Embedded, Env: env})
	}
	all.Sort()
	if all.HasErrors() || len(layers) < len(sources) {
		return nil, all
	}
	gates := listening(layers)
	for _, l := range layers {
		l.Env.Gates = gates
	}
	p := &Program{policies: eval.New(layers, o.UnknownTool).Knowing(o.Known), rollout: o.Rollout}
	p.hash = p.identify()
	p.readTexts(o.Known)
	for _, l := range layers {
		l.File.Compact()
	}
	return p, all
}

// NeedsProof reports whether a file has a rule list in which a rule might be unreachable: any but one
// rule without conditions. Without [Options.Prove] that mistake is not found.
func NeedsProof(s Source) bool {
	file, _ := parser.Parse(kinds.Table(), s.Name, s.Text)
	open := func(l *syntax.RuleList) bool {
		return l != nil && (len(l.Rules) > 1 || len(l.Rules) == 1 && !l.Rules[0].CatchAll())
	}
	return file != nil && slices.ContainsFunc(file.Tools, func(t *syntax.ToolTable) bool { return open(t.Run) || open(t.Result) })
}

// Check finds the mistakes of a file that the parser cannot see.
func Check(f *syntax.File, o Options) diag.List {
	return check.File(f, check.Options{Strict: o.Strict, Untrusted: o.Untrusted, Bundled: o.Bundled, Definitions: o.Definitions, Prove: o.Prove})
}

// listening are the ports, between blanks, on which the tables of some files make a gate listen.
func listening(layers []*eval.Layer) string {
	var ports []string
	for _, l := range layers {
		for table, key := range map[string]string{"gateway": "listen", "api": "listen", "telemetry": "metrics"} {
			t := l.File.Tables[table]
			if t == nil {
				continue
			}
			if e := t.Get(key); e != nil {
				ports = append(ports, e.Value.Text[strings.LastIndexByte(e.Value.Text, ':')+1:])
			}
		}
	}
	slices.Sort(ports)
	return strings.Join(ports, " ")
}

// Bind resolves everything about a call that does not depend on its arguments; see
// [eval.Policies.Bind].
func (p *Program) Bind(c stopgate.Call) *eval.Binding { return p.of(c.Session).policies.Bind(c) }

// of returns the program of a session.
func (p *Program) of(id stopgate.SessionID) *Program {
	if r := p.rollout; r.Previous != nil && !r.Reached(id) {
		return r.Previous
	}
	return p
}

// Bundle returns the bundle that the rules of a session came in, nil for none.
func (p *Program) Bundle(id stopgate.SessionID) *stopgate.Bundle { return p.of(id).rollout.Bundle }

// BindUnder is Bind under circumstances that are known.
func (p *Program) BindUnder(c stopgate.Call, under eval.Circumstances) *eval.Binding {
	return p.of(c.Session).policies.BindUnder(c, under)
}

// LooksAtSessions reports whether a rule has a condition on the data of sessions.
func (p *Program) LooksAtSessions() bool { return p.policies.LooksAtSessions() }

// LooksAtGroups reports whether a rule has a condition on the groups of principals.
func (p *Program) LooksAtGroups() bool { return p.policies.LooksAtGroups() }

// Situation evaluates the conditions on the groups of a principal and on a session's data and texts.
// A session without data has the empty object; conditions on a value that is no object are not
// known. Texts are nil if none are known.
func (p *Program) Situation(groups stopgate.Groups, data jsonstream.Value, texts flow.View) eval.Situation {
	return p.policies.Situation(groups, data, texts)
}

// Layers lists the files.
func (p *Program) Layers() []*eval.Layer { return p.policies.Layers() }

// ToolPolicies lists the policies of all files for the tool of a call; see
// [eval.Policies.ToolPolicies].
func (p *Program) ToolPolicies(c stopgate.Call) ([]*eval.ToolPolicy, bool) {
	return p.policies.ToolPolicies(c)
}

// identify returns the hash of the meaning of the files, and of which of them may loosen.
func (p *Program) identify() string {
	var files []*syntax.File
	trust := ""
	for _, l := range p.Layers() {
		files = append(files, l.File)
		trust += map[bool]string{true: "operator ", false: "project "}[l.Trusted]
	}
	hash := syntax.Hash(files...)
	if !strings.Contains(trust, "project") {
		return hash
	}
	sum := sha256.Sum256([]byte(hash + " " + trust))
	return hex.EncodeToString(sum[:])
}

// PathResolution returns how paths are read (Q24): "lexical", as they are
// written, or "followed", with their symbolic links followed on this machine.
func (p *Program) PathResolution() string {
	if slices.ContainsFunc(p.Layers(), func(l *eval.Layer) bool { return l.Env.Links != nil }) {
		return "followed"
	}
	return "lexical"
}

// Hash identifies the meaning of the policy: 64 hexadecimal digits over the canonical
// form of all files, in order, and the version of the language's meaning. Comments,
// the order of tables and operational tables do not enter (S36).
func (p *Program) Hash() string { return p.hash }

// Settings are the settings of the operator's files.
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
	for i, g := range p.policies.Gates() {
		if i == 0 {
			s.Gate = *g
			continue
		}
		s.Gate.UnknownTool = stopgate.Strictest(s.Gate.UnknownTool, g.UnknownTool)
		s.Gate.UnknownParams = syntax.StrictestParams(s.Gate.UnknownParams, g.UnknownParams)
		s.Gate.Uncovered = syntax.StrictestParams(s.Gate.Uncovered, g.Uncovered)
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
	for _, l := range p.Layers() {
		for name, table := range l.File.Tables {
			if _, ok := s.Tables[name]; !ok && l.Trusted {
				s.Tables[name] = table
			}
		}
	}
	return s
}

// strictestLimit returns the smaller of two limits; 0 is no limit, nil is not set.
func strictestLimit(a, b *int64) *int64 {
	switch {
	case a == nil, b != nil && *a == 0, b != nil && *b > 0 && *b < *a:
		return b
	}
	return a
}
