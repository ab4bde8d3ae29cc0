package policy

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/policy/syntax"
)

// SessionPolicies are the session policies of all files, in order.
func (p *Program) SessionPolicies() []*syntax.SessionPolicy {
	var all []*syntax.SessionPolicy
	for _, l := range p.layers() {
		all = append(all, l.File.Sessions...)
	}
	return all
}

// SessionHash identifies the session policies alone: what a snapshot is bound to
// (S15).
func (p *Program) SessionHash() string { return syntax.SessionHash(p.SessionPolicies()) }

// Handoffs are the handoffs of all files, one list for each file that has any: each
// file is a layer, and the strictest that speaks wins. What a file that nobody trusts
// allows is asked about (K35).
func (p *Program) Handoffs() [][]*syntax.Handoff {
	var all [][]*syntax.Handoff
	for _, l := range p.layers() {
		if len(l.File.Handoffs) == 0 {
			continue
		}
		list := l.File.Handoffs
		if !l.Trusted {
			list = nil
			for _, h := range l.File.Handoffs {
				asks := *h
				asks.Mode = stopgate.Strictest(h.Mode, stopgate.Ask)
				list = append(list, &asks)
			}
		}
		all = append(all, list)
	}
	return all
}

// Environment is the directories that the paths of session policies are read
// against: those of the first file.
func (p *Program) Environment() match.Env {
	if len(p.layers()) == 0 {
		return match.Env{}
	}
	return p.layers()[0].Env
}

// ToolNames maps further names of tools to the one under which facts are kept: that
// of the table that gives them (S39).
func (p *Program) ToolNames() map[stopgate.ToolName]stopgate.ToolName {
	names := make(map[stopgate.ToolName]stopgate.ToolName)
	for _, l := range p.layers() {
		for _, t := range l.File.Tools {
			for _, also := range t.Also {
				if _, taken := names[stopgate.ToolName(also)]; !taken {
					names[stopgate.ToolName(also)] = stopgate.ToolName(t.Name)
				}
			}
		}
	}
	return names
}

// Tools maps every name that a table of a tool has, and every further name it gives,
// to the table's name. Names that only a glob covers are not among them.
func (p *Program) Tools() map[stopgate.ToolName]stopgate.ToolName {
	names := p.ToolNames()
	for _, l := range p.layers() {
		for _, t := range l.File.Tools {
			if stopgate.ValidToolName(stopgate.ToolName(t.Name)) {
				names[stopgate.ToolName(t.Name)] = stopgate.ToolName(t.Name)
			}
		}
	}
	return names
}

// Success returns how results of a tool are read, nil if no file says: the rule of
// the first file that has one, its exact table before its globs.
func (p *Program) Success(tool stopgate.ToolName) *syntax.Success {
	for _, l := range p.layers() {
		for _, t := range l.File.TablesFor(string(tool)) {
			if t.Success != nil {
				return t.Success
			}
		}
	}
	return nil
}
