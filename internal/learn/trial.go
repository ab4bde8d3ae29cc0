package learn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// search is a list of units of a tool that rules of at most a width are looked for.
type search struct {
	tool  *toolCalls
	units []unit
	width width
	kept  []stopgate.ProposalID // refused calls that wider rules permit
}

// candidate is a draft on trial.
type candidate struct {
	search
	draft draft
	rule  string
	judge *judge // of the policy with the rule, nil if it cannot be written
	// as is the principal for whom the rule applies in the judge, "" for all.
	as stopgate.Principal
}

// mode judges a call under the rule.
func (c *candidate) mode(call stopgate.Call, args []byte) stopgate.Mode {
	if c.as != "" {
		call.Principal = c.as
	}
	return c.judge.mode(call, args)
}

// proposals drafts rules for units and judges them, all of one width together; where one is not good, narrower
// ones.
func (r *Result) proposals(open []search, oneByOne bool) (list []Proposal) {
	for len(open) > 0 {
		var tried []*candidate
		for _, s := range open {
			tried = append(tried, s.candidates()...)
		}
		if oneByOne || principals(r.declared) {
			r.alone(tried)
		} else {
			for part := range slices.Chunk(tried, maxTogether) {
				r.together(part)
			}
		}
		open = nil
		for _, c := range tried {
			p, kept, ok := r.judged(c)
			switch {
			case ok:
				list = append(list, p)
			case min(c.width, c.draft.width) > single:
				open = append(open, search{c.tool, c.draft.units, min(c.width, c.draft.width) - 1, slices.Concat(c.kept, kept)})
			}
		}
	}
	return list
}

// candidates drafts rules.
func (s *search) candidates() (list []*candidate) {
	f := family{tool: s.tool, effect: effectOf(s.tool.name), width: s.width, varying: s.tool.varying()}
	units := f.besides(s.units)
	if s.width > exact {
		units = f.without(units)
		f.pool = f.closed(s.tool.units())
	}
	for _, g := range group(units, (*unit).shape) {
		drafts := f.commandDrafts
		if g[0].words == nil {
			drafts = f.drafts
		}
		for _, d := range drafts(g) {
			if rule, ok := d.rule(); ok {
				list = append(list, &candidate{search: *s, draft: d, rule: rule})
			}
		}
	}
	return list
}

// maxTogether is how many rules are compiled into one program, which bounds its size.
const maxTogether = 64

// alone compiles the rule of each candidate into a program of its own.
func (r *Result) alone(list []*candidate) {
	for _, c := range list {
		if j, err := r.declared.with(c.draft.tool, c.rule, c.draft.units[0].at); err == nil {
			c.judge = j
		}
	}
}

// together compiles the rules of candidates into one program, each for a principal of its own, so that calls of
// this principal are judged as if it were the only one. Where that has mistakes, halves are compiled.
func (r *Result) together(list []*candidate) {
	if len(list) < 2 {
		r.alone(list)
		return
	}
	var rules []addition
	for i, c := range list {
		c.as = stopgate.Principal(fmt.Sprintf("candidate %d", i))
		rule := fmt.Sprintf("%s, when = { principal = %q } }", strings.TrimSuffix(c.rule, " }"), c.as)
		rules = append(rules, addition{c.draft.tool, rule, c.draft.units[0].at})
	}
	text, err := add(r.declared.policy.Name, r.declared.text, rules)
	var j *judge
	if err == nil {
		j, err = r.declared.policy.judge(text)
	}
	if err != nil {
		for _, c := range list {
			c.as = ""
		}
		r.together(list[:len(list)/2])
		r.together(list[len(list)/2:])
		return
	}
	for _, c := range list {
		c.judge = j
	}
}

// principals reports whether a policy may look at the principal of a call.
func principals(j *judge) bool {
	looks := func(rules []*syntax.Rule) bool {
		return slices.ContainsFunc(rules, func(r *syntax.Rule) bool { return r.When != nil && len(r.When.Principal) > 0 })
	}
	for _, l := range j.program.Layers() {
		if looks(l.File.Guards) || slices.ContainsFunc(l.File.Sessions, func(s *syntax.SessionPolicy) bool {
			return slices.ContainsFunc(s.Callers, func(c syntax.Callers) bool { return len(c.Principal) > 0 })
		}) {
			return true
		}
		for _, t := range l.File.Tools {
			if t.Run != nil && looks(t.Run.Rules) {
				return true
			}
		}
	}
	return false
}

// judged evaluates the calls of a tool under a candidate. It is not ok if the rule has mistakes, permits none of
// the calls, or permits one that was refused: kept are those.
func (r *Result) judged(c *candidate) (p Proposal, kept []stopgate.ProposalID, ok bool) {
	if c.judge == nil {
		return p, nil, false
	}
	t, d := c.tool, &c.draft
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
		case r.permits(c.mode, e):
			kept = append(kept, e.row.Record.ID)
		}
	}
	if len(kept) > 0 {
		return p, kept, false
	}
	p = Proposal{Kept: c.kept, Rule: c.rule, Tool: d.tool, How: d.how, Sentence: d.sentence(), units: d.units, width: d.width}
	sum := sha256.Sum256([]byte(string(d.tool) + "\x00" + c.rule))
	p.ID = hex.EncodeToString(sum[:4])
	for _, k := range t.calls {
		if c.mode(k.call, k.args) == stopgate.Unattended {
			p.Covers = append(p.Covers, k.row.Record.ID)
		} else if len(k.units) > 1 && slices.ContainsFunc(k.units, func(u unit) bool { return c.mode(k.call, u.args) == stopgate.Unattended }) {
			p.Parts = append(p.Parts, k.row.Record.ID)
		}
	}
	for _, u := range d.by {
		if id := u.of.row.Record.ID; !slices.Contains(p.Covers, id) && !slices.Contains(p.With, id) {
			p.With = append(p.With, id)
		}
	}
	s := supportOf(d.evidence())
	p.Approvals, p.Sessions, p.Days = s.approvals, len(s.sessions), len(s.days)
	return p, nil, len(p.Covers)+len(p.Parts) > 0
}

// permits reports whether a refused call, or a command of its line, would run unasked, and does not now.
func (r *Result) permits(mode func(stopgate.Call, []byte) stopgate.Mode, e *evidence) bool {
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
	return slices.ContainsFunc(e.parts, func(args []byte) bool { return mode(e.row.call(), args) == stopgate.Unattended })
}
