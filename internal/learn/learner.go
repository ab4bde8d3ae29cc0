package learn

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Learner proposes rules for one policy from lists of rows. What it has compiled and decided for one list it keeps
// for the next. It is not safe for concurrent use.
type Learner struct {
	base, declared *judge
	file           *syntax.File
	oneByOne       bool // rules are compiled one by one
}

// New returns a learner. It fails if the policy has mistakes.
func New(p Policy) (*Learner, error) {
	base, err := p.judge(p.Text)
	if err != nil {
		return nil, err
	}
	file, _ := parser.Parse(kinds.Table(), p.Name, p.Text)
	return &Learner{base: base, declared: base, file: file}, nil
}

// Propose returns the smallest set of rules that the approvals of the rows support, those that save most
// questions first. It fails if the policy has mistakes.
func Propose(p Policy, rows []Row, o Options) (*Result, error) {
	l, err := New(p)
	if err != nil {
		return nil, err
	}
	return l.Propose(rows, o)
}

// Propose returns the smallest set of rules that the approvals of the rows support, those that save most
// questions first.
func (l *Learner) Propose(rows []Row, o Options) (*Result, error) {
	redactor, err := audit.NewRedactor(nil, nil)
	if err != nil {
		return nil, err
	}
	list, counts := read(rows, o)
	l.declare(list)
	r := &Result{base: l.base, declared: l.declared, stated: l.stated, tools: map[stopgate.ToolName]*toolCalls{}, Counts: counts}
	for i := range rows {
		if row := &rows[i]; row.Record.Kind == stopgate.RecordDecision && row.Args != nil && !row.Redacted {
			r.decided = append(r.decided, row)
		}
	}
	for i := range list {
		if e := &list[i]; e.refused {
			r.refuse(e)
		} else {
			r.approve(e, redactor)
		}
	}
	var open []search
	for _, t := range r.sorted() {
		open = append(open, search{tool: t, units: t.units(), width: wide})
	}
	r.Proposals = r.fewest(r.proposals(open, l.oneByOne))
	r.rest()
	return r, nil
}

func (l *Learner) stated(tool stopgate.ToolName) ([]string, bool) { return stated(l.file, tool) }

// declare compiles the policy with declarations of the tools of calls, without those that would be mistakes.
func (l *Learner) declare(list []evidence) {
	var definitions []*stopgate.ToolDefinition
	seen := map[stopgate.ToolName]bool{}
	for i := range list {
		if c := list[i].row.call(); c.Definition != nil && !seen[c.Tool] {
			seen[c.Tool] = true
			d := *c.Definition
			d.Name = c.Tool
			definitions = append(definitions, &d)
		}
	}
	slices.SortFunc(definitions, func(a, b *stopgate.ToolDefinition) int { return cmp.Compare(a.Name, b.Name) })
	p := l.base.policy
	text := declared(p.Name, p.Text, definitions)
	if bytes.Equal(text, l.declared.text) {
		return
	}
	j, err := p.judge(text)
	if err == nil {
		l.declared = j
		return
	}
	l.declared = l.base
	for i := range definitions {
		text := declared(p.Name, l.declared.text, definitions[i:i+1])
		if j, err := p.judge(text); err == nil {
			l.declared = j
		}
	}
}
