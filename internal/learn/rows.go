package learn

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// refuse notes a refused call.
func (r *Result) refuse(e *evidence) {
	r.refused = append(r.refused, e)
	if e.args == nil {
		return
	}
	call := e.row.call()
	if leaves, ok := leavesOf(r.declared.evaluate(call, e.args)); ok {
		r.tool(call.Tool).note(leaves)
	}
}

// approve notes an approved call if rules can permit it.
func (r *Result) approve(e *evidence, redactor *audit.Redactor) {
	of := &e.row.Record
	call := e.row.call()
	t := r.tool(call.Tool)
	if call.Definition != nil {
		t.define(call.Definition.Schema)
	}
	switch mode := r.base.mode(call, e.args); {
	case mode == stopgate.Unattended:
		r.Permitted++
		return
	case mode != stopgate.Ask:
		r.Stricter++
		return
	case of.Layer == stopgate.LayerSession, of.Layer == stopgate.LayerGuard, of.Layer == stopgate.LayerFloor, len(of.Objections) > 0, len(of.Floors) > 0:
		r.Elsewhere++
		return
	}
	if _, changed, err := redactor.Redact(e.args); err != nil || len(changed) > 0 || secret(e.args) {
		r.Secrets++
		return
	}
	evaluation := r.declared.evaluate(call, e.args)
	leaves, ok := leavesOf(evaluation)
	if !ok {
		r.Odd++
		return
	}
	k := &known{evidence: e, call: call, server: r.declared.binding(r.declared.anywhere(call)).KnownServer()}
	if k.units, ok = r.declared.unitsOf(k, leaves, evaluation); !ok || len(k.units) == 0 {
		r.Elsewhere++
		return
	}
	t.note(leaves)
	t.calls = append(t.calls, k)
}

// unitsOf returns the parts of a call that are asked about. It is not ok if no rule of the file can permit one.
func (j *judge) unitsOf(k *known, leaves []leaf, whole *eval.Evaluation) (units []unit, ok bool) {
	at := slices.IndexFunc(leaves, func(l leaf) bool { return l.kind == schema.Command })
	if slices.ContainsFunc(leaves, func(l leaf) bool { return l.kind == schema.Patch || l.kind == schema.Argv }) {
		return nil, false
	}
	if at < 0 {
		u := unit{of: k, leaves: leaves, args: k.args}
		u.question, ok = j.asks(whole)
		return []unit{u}, ok
	}
	if len(leaves[at].values) != 1 {
		return nil, false
	}
	list, ok := commands(leaves[at].values[0].text)
	if !ok {
		return nil, false
	}
	for _, words := range list {
		line := lineOf(words)
		u := unit{of: k, leaves: slices.Clone(leaves), words: words}
		text := jsonstream.AppendQuote(nil, line)
		u.leaves[at].values = []value{{json: string(text), text: line, is: jsonstream.String}}
		u.args = replaced(k.args, leaves[at].arg, text)
		evaluation := j.evaluate(k.call, u.args)
		if evaluation.Verdict().Mode == stopgate.Unattended {
			continue
		}
		if u.question, ok = j.asks(evaluation); !ok {
			return nil, false
		}
		units = append(units, u)
	}
	return units, true
}

// tool returns the calls of a tool.
func (r *Result) tool(name stopgate.ToolName) *toolCalls {
	t := r.tools[name]
	if t == nil {
		t = &toolCalls{name: name}
		t.stated, t.own = r.stated(name)
		r.tools[name] = t
	}
	return t
}

// sorted returns the tools with approved calls by their names.
func (r *Result) sorted() (list []*toolCalls) {
	for _, t := range r.tools {
		if len(t.calls) > 0 {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *toolCalls) int { return cmp.Compare(a.name, b.name) })
	return list
}
