package policy

import (
	"maps"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/session/policies"
)

// SessionPolicies are the session policies on facts of all files, in order, with the tools under the
// names that facts have (S39). Those on texts that were read are in [eval.Policies.Flows]. A key is one of paths where a table declares the argument as a path,
// unless the policy declares that values are compared (H12).
func (p *Program) SessionPolicies() []*syntax.SessionPolicy {
	var all []*syntax.SessionPolicy
	names := p.ToolNames()
	for _, l := range p.Layers() {
		for _, s := range l.File.Sessions {
			if s.Type == syntax.SessionFlow {
				continue
			}
			bound := *s
			bound.KeyIsPath = s.KeyIsPath || !s.KeyIsValue && p.keyedByPath(s)
			if s.Type == syntax.SessionReadBeforeWrite && len(names) > 0 {
				usual := policies.ReadBeforeWrite()
				if len(s.ReadTools) == 0 {
					bound.ReadTools = slices.DeleteFunc(usual.Tools().Names(), func(tool string) bool { return usual.Denies().Match(stopgate.ToolName(tool)) })
				}
				if len(s.WriteTools) == 0 {
					bound.WriteTools = usual.Denies().Names()
				}
			}
			for _, list := range []*[]string{&bound.Before, &bound.Requires, &bound.InvalidatedBy, &bound.ReadTools, &bound.WriteTools, &bound.Tools} {
				*list = factNames(*list, names)
			}
			all = append(all, &bound)
		}
	}
	return all
}

// factNames replaces further names of tools by the names that facts have, and adds these to
// globs that select further names.
func factNames(tools []string, names map[stopgate.ToolName]stopgate.ToolName) []string {
	var replaced []string
	add := func(tool string) {
		if !slices.Contains(replaced, tool) {
			replaced = append(replaced, tool)
		}
	}
	for _, tool := range tools {
		if name, further := names[stopgate.ToolName(tool)]; further {
			add(string(name))
			continue
		}
		add(tool)
		pattern, err := glob.ParseName(tool)
		if err != nil {
			continue
		}
		for _, further := range slices.Sorted(maps.Keys(names)) {
			if name := string(names[further]); pattern.Match(string(further)) && !pattern.Match(name) {
				add(name)
			}
		}
	}
	return replaced
}

// keyedByPath reports whether a table of any of the policy's tools declares its key to be
// a path. It then is one for all of them: a file that was read under one name is the one
// that is written.
func (p *Program) keyedByPath(s *syntax.SessionPolicy) bool {
	tools := slices.Concat(s.Before, s.Requires, s.InvalidatedBy, s.Tools)
	if len(s.Key) == 0 || len(tools) == 0 {
		return false
	}
	for _, l := range p.Layers() {
		for _, t := range l.File.Tools {
			if t.Schema == nil || !slices.ContainsFunc(tools, func(tool string) bool { return concerns(t, tool) }) {
				continue
			}
			for _, pointer := range s.Key {
				if slices.ContainsFunc(t.Schema.Reach(pointer).Locations, func(at *schema.Location) bool { return at.Has(schema.Path) }) {
					return true
				}
			}
		}
	}
	return false
}

// concerns reports whether a table speaks of a tool, or of tools that a glob names.
func concerns(t *syntax.ToolTable, tool string) bool {
	matches := func(text, name string) bool {
		n, err := glob.ParseName(text)
		return err == nil && n.Match(name)
	}
	return matches(t.Name, tool) || slices.ContainsFunc(append([]string{t.Name}, t.Also...), func(name string) bool { return matches(tool, name) })
}

// SessionHash identifies the session policies, to which a snapshot is bound (S15).
func (p *Program) SessionHash() string { return syntax.SessionHash(p.SessionPolicies(), p.Externals()) }

// Handoffs are the handoffs of all files, one list for each file that has any: each
// file is a layer, and the strictest that has a handoff wins. A handoff that an untrusted file
// allows is asked about (K35).
func (p *Program) Handoffs() [][]*syntax.Handoff {
	var all [][]*syntax.Handoff
	for _, l := range p.Layers() {
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
func (p *Program) Environment() condition.Env {
	if len(p.Layers()) == 0 {
		return condition.Env{}
	}
	return p.Layers()[0].Env
}

// ToolNames maps further names of tools to the one under which facts are kept: that
// of the table that gives them (S39). Those of an untrusted file have facts of their own:
// otherwise it could make the success of any tool count as that of a required one.
func (p *Program) ToolNames() map[stopgate.ToolName]stopgate.ToolName {
	names := make(map[stopgate.ToolName]stopgate.ToolName)
	for _, l := range p.Layers() {
		if !l.Trusted {
			continue
		}
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
	for _, l := range p.Layers() {
		for _, t := range l.File.Tools {
			if stopgate.ValidToolName(stopgate.ToolName(t.Name)) {
				names[stopgate.ToolName(t.Name)] = stopgate.ToolName(t.Name)
			}
		}
	}
	return names
}

// KnownTools lists the names of the tables of tools. complete reports that calls of every other
// tool are denied: no table has a glob, and unknown tools are not asked about.
func (p *Program) KnownTools() (names []stopgate.ToolName, complete bool) {
	for _, l := range p.Layers() {
		for _, t := range l.File.Tools {
			if !stopgate.ValidToolName(stopgate.ToolName(t.Name)) {
				return nil, false
			}
			names = append(names, stopgate.ToolName(t.Name))
		}
	}
	return names, len(names) > 0 && p.Settings().Gate.UnknownTool == stopgate.Deny
}

// Success returns how results of a tool are read, nil if no trusted file declares it: the rule
// of the first file that has one, its exact table before its globs.
func (p *Program) Success(tool stopgate.ToolName) *syntax.Success {
	for _, l := range p.Layers() {
		if !l.Trusted {
			continue
		}
		for _, t := range l.File.TablesFor(string(tool)) {
			if t.Success != nil {
				return t.Success
			}
		}
	}
	return nil
}
