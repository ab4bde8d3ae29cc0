package learn

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proposal is a rule that would answer questions in advance.
type Proposal struct {
	ID string `json:"id"` // of the rule and its tool: equal proposals have equal ids
	// Rule is the rule as an inline table of the policy language.
	Rule     string            `json:"rule"`
	Tool     stopgate.ToolName `json:"tool"`
	How      How               `json:"how"`
	Sentence string            `json:"sentence"`
	// Covers are the approved calls that run unasked under the rule.
	Covers []stopgate.ProposalID `json:"covers"`
	// Parts are approved command lines of which the rule permits a part.
	Parts []stopgate.ProposalID `json:"parts,omitempty"`
	// Approvals, Sessions and Days are the support of the rule. Approvals of one person in one minute
	// count once.
	Approvals int `json:"approvals"`
	Sessions  int `json:"sessions"`
	Days      int `json:"days"`
	// Kept are refused calls that a wider rule would permit.
	Kept []stopgate.ProposalID `json:"kept,omitempty"`

	units []unit
	width width
}

// Result is what the rows teach.
type Result struct {
	Counts
	Proposals []Proposal `json:"proposals"`
	// Permitted are approved calls that the policy permits by now, Stricter those that it denies.
	Permitted int `json:"permitted"`
	Stricter  int `json:"stricter"`
	// Elsewhere are approved calls that something else than a rule of the file asks about: a guard, a floor, a
	// session policy, another file. Secrets have a value that looks like a secret, Odd one that a rule cannot
	// spell. Rare were approved too seldom.
	Elsewhere int                   `json:"elsewhere"`
	Secrets   int                   `json:"secrets"`
	Odd       int                   `json:"odd"`
	Rare      []stopgate.ProposalID `json:"rare,omitempty"`

	base    *judge
	tools   map[stopgate.ToolName]*toolCalls
	refused []*evidence
}

// Propose returns the smallest set of rules that the approvals of the rows support, those that save most
// questions first. It fails if the policy has mistakes.
func Propose(p Policy, rows []Row, o Options) (*Result, error) {
	base, err := p.judge(p.Text)
	if err != nil {
		return nil, err
	}
	r := &Result{base: base, tools: map[stopgate.ToolName]*toolCalls{}}
	list, counts := read(rows, o)
	r.Counts = counts
	redactor, err := audit.NewRedactor(nil, nil)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if e := &list[i]; e.refused {
			r.refuse(e)
		} else {
			r.approve(e, redactor)
		}
	}
	var found []Proposal
	for _, t := range r.sorted() {
		found = append(found, r.proposals(t, t.units(), wide)...)
	}
	r.Proposals = r.fewest(found)
	r.rest()
	return r, nil
}

// refuse notes a refused call.
func (r *Result) refuse(e *evidence) {
	r.refused = append(r.refused, e)
	if e.args == nil {
		return
	}
	call := e.row.call()
	t := r.tool(call)
	if leaves, ok := leavesOf(t.base.evaluate(call, e.args)); ok {
		t.note(leaves)
	}
}

// approve notes an approved call if rules can permit it.
func (r *Result) approve(e *evidence, redactor *audit.Redactor) {
	of := &e.row.Record
	call := e.row.call()
	t := r.tool(call)
	evaluation := t.base.evaluate(call, e.args)
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
	leaves, ok := leavesOf(evaluation)
	if !ok {
		r.Odd++
		return
	}
	k := &known{evidence: e, call: call}
	if k.units, ok = t.base.unitsOf(k, leaves); !ok || len(k.units) == 0 {
		r.Elsewhere++
		return
	}
	t.note(leaves)
	t.calls = append(t.calls, k)
}

// unitsOf returns the parts of a call that are asked about. It is not ok if no rule of the file can permit one.
func (j *judge) unitsOf(k *known, leaves []leaf) (units []unit, ok bool) {
	at := slices.IndexFunc(leaves, func(l leaf) bool { return l.kind == schema.Command })
	if slices.ContainsFunc(leaves, func(l leaf) bool { return l.kind == schema.Patch || l.kind == schema.Argv }) {
		return nil, false
	}
	if at < 0 {
		u := unit{of: k, leaves: leaves, args: k.args}
		u.at, u.wanted, ok = j.asks(j.evaluate(k.call, u.args))
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
		if u.at, u.wanted, ok = j.asks(evaluation); !ok {
			return nil, false
		}
		units = append(units, u)
	}
	return units, true
}

// tool returns the calls of a call's tool, under the policy that declares its parameters.
func (r *Result) tool(call stopgate.Call) *toolCalls {
	t := r.tools[call.Tool]
	if t == nil {
		t = &toolCalls{name: call.Tool, base: r.base}
		if text := declared(r.base.policy.Name, r.base.text, call.Tool, call.Definition); !bytes.Equal(text, r.base.text) {
			if j, err := r.base.policy.judge(text); err == nil {
				t.base = j
			}
		}
		t.stated, t.own = stated(r.base.policy.Name, r.base.text, call.Tool)
		r.tools[call.Tool] = t
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

// proposals drafts rules for units of a tool and judges them; where one is not good, narrower ones.
func (r *Result) proposals(t *toolCalls, units []unit, w width) (list []Proposal) {
	f := family{tool: t, effect: effectOf(t.name), width: w}
	if w > exact {
		units = f.without(units)
	}
	for _, g := range group(units, (*unit).shape) {
		drafts := f.commandDrafts
		if g[0].words == nil {
			drafts = f.drafts
		}
		for _, d := range drafts(g) {
			p, kept, ok := r.judged(t, &d)
			switch {
			case ok:
				list = append(list, p)
			case w > exact:
				narrower := r.proposals(t, d.units, w-1)
				for i := range narrower {
					narrower[i].Kept = append(narrower[i].Kept, kept...)
				}
				list = append(list, narrower...)
			}
		}
	}
	return list
}

// judged evaluates the calls of a tool under a draft. It is not ok if the rule has mistakes, permits none of
// the calls, or permits one that was refused: kept are those.
func (r *Result) judged(t *toolCalls, d *draft) (p Proposal, kept []stopgate.ProposalID, ok bool) {
	rule, ok := d.rule()
	if !ok {
		return p, nil, false
	}
	j, err := t.base.with(d.tool, rule, d.units[0].at)
	if err != nil {
		return p, nil, false
	}
	for _, e := range r.refused {
		if e.row.Record.Tool != d.tool && !t.own {
			continue // only a table of its own may have further names of the tool
		}
		switch {
		case e.args == nil:
			// What cannot be compared may be the very call.
			if e.row.Record.Tool != d.tool {
				continue
			}
			if d.how != Exactly || slices.ContainsFunc(d.units, func(u unit) bool {
				return e.row.Record.ArgsHash == "" || u.of.row.Record.ArgsHash == e.row.Record.ArgsHash
			}) {
				kept = append(kept, e.row.Record.ID)
			}
		case r.permits(j, e):
			kept = append(kept, e.row.Record.ID)
		}
	}
	if len(kept) > 0 {
		return p, kept, false
	}
	p = Proposal{Rule: rule, Tool: d.tool, How: d.how, Sentence: d.sentence(), units: d.units, width: d.width}
	sum := sha256.Sum256([]byte(string(d.tool) + "\x00" + rule))
	p.ID = hex.EncodeToString(sum[:4])
	for _, k := range t.calls {
		if j.mode(k.call, k.args) == stopgate.Unattended {
			p.Covers = append(p.Covers, k.row.Record.ID)
		} else if len(k.units) > 1 && slices.ContainsFunc(k.units, func(u unit) bool { return j.mode(k.call, u.args) == stopgate.Unattended }) {
			p.Parts = append(p.Parts, k.row.Record.ID)
		}
	}
	s := supportOf(d.units)
	p.Approvals, p.Sessions, p.Days = s.approvals, len(s.sessions), len(s.days)
	return p, nil, len(p.Covers)+len(p.Parts) > 0
}

// permits reports whether a refused call, or a command of its line, would run unasked, and does not now.
func (r *Result) permits(j *judge, e *evidence) bool {
	if e.parts == nil {
		call := e.row.call()
		e.parts = [][]byte{}
		for _, args := range append([][]byte{e.args}, r.base.commandsOf(call, e.args)...) {
			// One command of a line may be the one for which it was refused.
			if r.base.mode(call, args) == stopgate.Ask {
				e.parts = append(e.parts, args)
			}
		}
	}
	return slices.ContainsFunc(e.parts, func(args []byte) bool { return j.mode(e.row.call(), args) == stopgate.Unattended })
}

// fewest leaves out proposals whose calls others cover.
func (r *Result) fewest(list []Proposal) (kept []Proposal) {
	slices.SortStableFunc(list, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(len(b.Covers)+len(b.Parts), len(a.Covers)+len(a.Parts)), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Rule, b.Rule))
	})
	done := map[stopgate.ProposalID]bool{}
	for _, p := range list {
		if len(p.Parts) == 0 && !slices.ContainsFunc(p.Covers, func(id stopgate.ProposalID) bool { return !done[id] }) {
			continue
		}
		for _, id := range p.Covers {
			done[id] = true
		}
		kept = append(kept, p)
	}
	return kept
}

// rest notes the approved calls that no proposal touches.
func (r *Result) rest() {
	touched := map[stopgate.ProposalID]bool{}
	for _, p := range r.Proposals {
		for _, id := range slices.Concat(p.Covers, p.Parts) {
			touched[id] = true
		}
	}
	for _, t := range r.sorted() {
		for _, k := range t.calls {
			if id := k.row.Record.ID; !touched[id] {
				r.Rare = append(r.Rare, id)
			}
		}
	}
}
