package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

var _ gate.Policy = (*Program)(nil)

// Gate returns the settings of the gate.
func (p *Program) Gate() gate.Settings {
	g, env := p.Settings().Gate, p.Environment()
	s := gate.Settings{
		Observe: g.Enforcement == "observe", DenialLimit: g.DenialLimit, Paths: p.PathResolution(),
		Context: stopgate.Context{Root: env.Root, Home: env.Home, Dir: env.Dir, Run: env.Run, RunDoubt: env.MayStay, RunLost: env.RunUnknown},
	}
	s.KeepTexts = !slices.ContainsFunc(p.Layers(), func(l *eval.Layer) bool { return l.File.Flow.Keep == "none" })
	s.KeepText = p.KeepsText()
	s.Bundle = p.rollout.Bundle
	if p.rollout.Previous != nil {
		s.Previous, s.Reached = p.rollout.Previous, p.rollout.Reached
	}
	switch g.DenyMode {
	case "tool_result":
		s.DenyMode = gate.DenyToolResult
	case "throw":
		s.DenyMode = gate.DenyThrow
	}
	return s
}

// RulesFor resolves everything about a call that does not depend on its arguments.
func (p *Program) RulesFor(call stopgate.Call, c gate.Circumstances) gate.Rules {
	return &boundRules{p.BindUnder(call, eval.Circumstances{Situation: eval.SituationOf(string(c.Situation)), Governed: c.Governed}), p, p.Access(call.Tool)}
}

// SituationOf reads the groups of a principal, the data and the texts of a session.
func (p *Program) SituationOf(groups stopgate.Groups, data jsonstream.Value, texts flow.View) gate.Situation {
	return gate.Situation(p.Situation(groups, data, texts).String())
}

// boundRules are the rules of one tool. Their evaluations are used again.
type boundRules struct {
	*eval.Binding
	program *Program
	access  *stopgate.Access
}

func (r *boundRules) Access() *stopgate.Access { return r.access }

func (r *boundRules) Evaluate(texts flow.View) gate.Evaluation {
	if e, ok := r.program.unused.Get().(*evaluation); ok {
		e.ResetWith(r.Binding, texts)
		return e
	}
	return &evaluation{r.Binding.EvaluateWith(texts), r.program}
}

func (r *boundRules) ResultMode(executed *jsonstream.Document, texts flow.View) stopgate.Verdict {
	return r.ResultModeWith(executed, texts)
}

type evaluation struct {
	*eval.Evaluation
	program *Program
}

func (e *evaluation) Release() { e.program.unused.Put(e) }

func (e *evaluation) Leaves() (out []gate.Leaf) {
	for _, l := range e.Evaluation.Leaves() {
		out = append(out, gate.Leaf{
			Pointer: l.Pointer, Type: l.Annotation.String(), Known: l.Known, JSON: string(jsonstream.AppendCanonical(nil, l.Value)),
		})
	}
	return out
}

// HandoffRules lists the rules of handoffs by file.
func (p *Program) HandoffRules() (all [][]gate.HandoffRule) {
	for _, layer := range p.Handoffs() {
		var rules []gate.HandoffRule
		for _, h := range layer {
			rules = append(rules, handoffRule(h))
		}
		all = append(all, rules)
	}
	return all
}

func handoffRule(h *syntax.Handoff) gate.HandoffRule {
	from, to, tool := names(h.From), names(h.To), names([]string{h.Tool})
	return gate.HandoffRule{
		Mode: h.Mode, Delegate: h.Delegate, Inherit: h.Inherit, Reason: h.Reason,
		Applies: func(sender, receiver stopgate.AgentName) bool {
			return (len(h.From) == 0 || from(string(sender))) && to(string(receiver))
		},
		Receiver: func(name stopgate.ToolName, args jsonstream.Value) (stopgate.AgentName, bool) {
			if h.Tool == "" || !tool(string(name)) {
				return "", false
			}
			if len(h.ToArg) == 0 {
				before, after, _ := strings.Cut(h.Tool, "*")
				return stopgate.AgentName(strings.TrimSuffix(strings.TrimPrefix(string(name), before), after)), true
			}
			v, _ := h.ToArg.Find(args)
			return stopgate.AgentName(v.Text()), true
		},
	}
}

// names returns a function that reports whether one of the globs matches a name.
func names(globs []string) func(string) bool {
	var parsed []*glob.Name
	for _, text := range globs {
		if n, err := glob.ParseName(text); err == nil {
			parsed = append(parsed, n)
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(parsed, func(n *glob.Name) bool { return n.Match(name) })
	}
}

// JudgeTables lists the judges that the operator's files configure.
func (p *Program) JudgeTables() (all []*gate.JudgeTable) {
	for _, j := range p.Judges() {
		all = append(all, JudgeTable(j))
	}
	return all
}

// JudgeTable returns a table [judge] in the form that judges are made from.
func JudgeTable(j *syntax.Judge) *gate.JudgeTable {
	return &gate.JudgeTable{
		Model: j.Model, API: j.API, BaseURL: j.BaseURL, KeyEnv: j.KeyEnv, KeyFile: j.KeyFile, Guidance: j.Guidance,
		Threshold: j.Threshold, Mode: j.Mode, OnError: j.OnError, Observe: j.Observe, Explain: j.Explain,
		Timeout: j.Timeout, Cache: j.Cache, MaxBytes: j.MaxBytes, Source: fmt.Sprintf("%s:%d", j.File, j.Pos.Start.Line),
		Governs: j.Governs, Meaning: j.Meaning(),
	}
}
