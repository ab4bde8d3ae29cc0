package agent

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxTerms is how many conditions one rule may have (K28).
const maxTerms = 16

// rule is the smallest rule that would let a call run unattended for good, where it
// belongs, and how it gets there (S52).
func (f *front) rule(v gate.View, g approve.Grant) tui.Rule {
	targets := map[string]bool{}
	for _, l := range v.Leaves {
		if l.Type != "" {
			targets[l.Pointer] = true
		}
	}
	var terms []string
	for _, w := range g.Values {
		if w.How == approve.Like { // no condition compares names and messages so
			return tui.Rule{}
		}
		if len(targets) > 0 && !targets[w.Pointer] {
			continue
		}
		if t := term(w); t != "" {
			terms = append(terms, t)
		}
	}
	if len(terms) == 0 || len(terms) > maxTerms {
		return tui.Rule{}
	}
	r := tui.Rule{Text: fmt.Sprintf("{ all = [{ %s }], mode = \"unattended\" }", strings.Join(terms, " }, { "))}
	if len(terms) == 1 {
		r.Text = fmt.Sprintf("{ %s, mode = \"unattended\" }", terms[0])
	}
	file := config.FileName
	for _, own := range f.agentRun.Set.Files {
		if own.Scope != config.Embedded && own.Trusted {
			file = own.Path
		}
	}
	r.Where = fmt.Sprintf("this rule in the list `run` of [tools.%s.policy] in %s", tomltree.Key(string(g.Tool)), visible.Text(file))
	if at := v.Verdict.Rule; at != nil {
		r.Where += fmt.Sprintf(", above what asks now (%s:%d)", visible.Text(at.File), at.Line)
	}
	r.Plan = func() (tui.Plan, error) { return f.plan(v, r.Text) }
	return r
}

// term is a value of a grant as a condition, "" if it needs none.
func term(w approve.Value) string {
	arg := "arg = " + tomltree.Quote(w.Pointer)
	switch w.How {
	case approve.Below, approve.Words:
		return arg + ", prefix = " + tomltree.Quote(w.Text)
	case approve.Equal:
		if w.Text != "" && w.Text[0] == '"' {
			text := string(jsonstream.AppendUnescaped(nil, []byte(w.Text[1:len(w.Text)-1])))
			return arg + ", const = " + tomltree.Quote(text)
		}
		if line, ok := approve.Line(w); ok {
			return arg + ", const = " + tomltree.Quote(line)
		}
		if w.Text != "null" {
			return arg + ", const = " + w.Text
		}
	}
	return ""
}
