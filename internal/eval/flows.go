package eval

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// Flow is a session policy about the texts that were read before: [[session]] with type = "flow".
// Whether it objects depends on the session, so that its result is a part of the [Situation]. For a
// tool that it covers, one that objects is a list of the binding: its first rule has the conditions
// under which it does not object. The objection is the fallback, or a second rule with the conditions
// under which it objects.
type Flow struct {
	Layer  *Layer
	Policy *syntax.SessionPolicy

	key     string // in situations
	sources []flow.Source
	trusted []flow.Source
	tools   []string
	rules   []*syntax.Rule
	when    []*DataTest
	callers []CallersTest
}

// Flows lists the session policies about texts that were read, except those that are off.
func (p *Policies) Flows() []*Flow { return p.flows }

// LooksAtTexts reports whether a situation depends on the texts of a session.
func (p *Policies) LooksAtTexts() bool { return len(p.flows)+len(p.says) > 0 }

// NeedsTexts reports whether a rule or a session policy depends on the texts of a session.
func (p *Policies) NeedsTexts() bool {
	if p.LooksAtTexts() {
		return true
	}
	for _, l := range p.layers {
		for r := range l.File.Rules() {
			if slices.ContainsFunc(r.Conditions, func(k syntax.Condition) bool { return k.Spec.Row().Sources }) {
				return true
			}
		}
	}
	return false
}

// readTexts prepares the conditions of all files on the texts of sessions.
func (p *Policies) readTexts() {
	for i, l := range p.layers {
		for r := range l.File.Rules() {
			if w := r.When; w != nil && w.Says != nil && r.Mode.Permissive() && !slices.Contains(p.says, w.Says.Key) {
				p.says = append(p.says, w.Says.Key)
			}
		}
		for n, s := range l.File.Sessions {
			if s.Type == syntax.SessionFlow && !s.Off {
				p.flows = append(p.flows, newFlow(l, s, "read:"+strconv.Itoa(i)+"."+strconv.Itoa(n)+" "))
			}
		}
	}
	slices.Sort(p.says)
}

func newFlow(l *Layer, s *syntax.SessionPolicy, key string) *Flow {
	f := &Flow{Layer: l, Policy: s, key: key, trusted: trustedOf(&l.Env)}
	for _, name := range s.After {
		if l.File.HasSource(name) {
			f.sources = append(f.sources, l.Env.Source(flow.Source(name)))
		} else {
			f.tools = append(f.tools, name)
		}
	}
	if len(s.Unless) > 0 {
		f.rules = append(f.rules, &syntax.Rule{Conditions: s.Unless, Compound: true, Mode: stopgate.Unattended, Pos: s.Pos})
	}
	if len(s.Where) > 0 {
		f.rules = append(f.rules, &syntax.Rule{Conditions: s.Where, Compound: true, Mode: s.Objection(), Reason: s.Reason, Pos: s.Pos})
	}
	for _, c := range s.When {
		t, err := NewDataTest(c, true, l.Env)
		if err != nil { // Parse has rejected conditions that do not compile
			return &Flow{Layer: l, Policy: s, key: key, rules: f.rules}
		}
		f.when = append(f.when, t)
	}
	for _, c := range s.Callers {
		f.callers = append(f.callers, NewCallersTest(c))
	}
	return f
}

// trustedOf returns the trusted sources of an environment.
func trustedOf(env *condition.Env) (sources []flow.Source) {
	for name := range strings.SplitSeq(env.Trusted, "\n") {
		if name != "" {
			sources = append(sources, flow.Source(name))
		}
	}
	return sources
}

// reads reports whether a tool is one of those whose results raise the objection.
func (f *Flow) reads(tool string) bool { return f.Layer.names(f.tools, tool) }

// Covers reports whether the policy is about calls of a tool; effect is that of the tool.
func (f *Flow) Covers(tool stopgate.ToolName, effect bool) bool {
	return f.Policy.Effects && effect || len(f.Policy.Before) > 0 && f.Layer.names(f.Policy.Before, string(tool))
}

// names reports whether names and globs of the file name a tool, under any of the names that its
// table has.
func (l *Layer) names(globs []string, tool string) bool {
	named := func(name string) bool { return syntax.MatchesAny(globs, name) }
	return named(tool) || slices.ContainsFunc(l.File.Tools, func(t *syntax.ToolTable) bool {
		return t.Named(tool) && !syntax.IsGlob(t.Name) && (named(t.Name) || slices.ContainsFunc(t.Also, named))
	})
}

// objects reports whether the policy objects in a session: unless it is known that its conditions
// on the groups or the data do not hold, or that none of the texts was read.
func (f *Flow) objects(groups stopgate.Groups, data jsonstream.Value, texts flow.View) bool {
	if slices.ContainsFunc(f.callers, func(t CallersTest) bool { return !t.mayBeIn(groups) }) {
		return false
	}
	if data.Kind() == jsonstream.Object {
		for _, t := range f.when {
			if holds, known := t.Holds(data); known && !holds {
				return false
			}
		}
	}
	if texts == nil || len(f.sources)+len(f.tools) == 0 {
		return true
	}
	var tool func(name string) bool
	if len(f.tools) > 0 {
		tool = f.reads
	}
	return texts.Read(&flow.Query{Sources: f.sources, Trusted: f.trusted}, tool, f.Policy.UntilUser)
}

// readSituation appends the keys of the policies that do not object, and of what the person said.
func (p *Policies) readSituation(settled []byte, groups stopgate.Groups, data jsonstream.Value, texts flow.View) []byte {
	for _, f := range p.flows {
		if !f.objects(groups, data, texts) {
			settled = append(settled, f.key...)
		}
	}
	if texts == nil {
		return settled
	}
	for _, key := range p.says {
		if texts.Said(key) {
			settled = append(settled, saidKey(key)...)
		}
	}
	return settled
}

// flows adds the session policies that object in this situation and cover the tool.
func (c *compiler) flows() {
	effect := c.effect()
	for _, f := range c.policies.flows {
		if !f.Covers(c.call.Tool, effect) || strings.Contains(c.under.Situation.settled, f.key) ||
			slices.ContainsFunc(f.callers, func(t CallersTest) bool { return !t.names(c.call.Principal) }) {
			continue
		}
		i := slices.IndexFunc(c.toolPolicies, func(v *ToolPolicy) bool { return v.Layer == f.Layer })
		l := list{layer: stopgate.LayerSession, fallback: f.Policy.Objection(), code: stopgate.CodeUntrustedText, session: true, reason: f.Policy.Reason}
		if len(f.Policy.Where) > 0 {
			l.fallback = stopgate.Unattended
		}
		c.list(c.toolPolicies[i], l, f.rules, "", true)
	}
}
