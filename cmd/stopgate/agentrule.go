package main

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxTerms is how many conditions one rule may have (DECISIONS K28).
const maxTerms = 16

// rule writes the smallest rule that would let a call run unattended for good, and says
// where it belongs: the agent changes no policy file (DECISIONS S52).
func (f *front) rule(v gate.View, g approve.Grant) (rule, where string) {
	targets := map[string]bool{}
	for _, l := range v.Leaves {
		if l.Type != "" {
			targets[l.Pointer] = true
		}
	}
	var terms []string
	for _, w := range g.Values {
		if len(targets) > 0 && !targets[w.Pointer] {
			continue
		}
		if t := term(w); t != "" {
			terms = append(terms, t)
		}
	}
	if len(terms) == 0 || len(terms) > maxTerms {
		return "", ""
	}
	rule = fmt.Sprintf("{ all = [{ %s }], mode = \"unattended\" },", strings.Join(terms, " }, { "))
	if len(terms) == 1 {
		rule = fmt.Sprintf("{ %s, mode = \"unattended\" },", terms[0])
	}
	file := config.FileName
	for _, own := range f.agentRun.set.Files {
		if own.Scope != config.Embedded && own.Trusted {
			file = own.Path
		}
	}
	where = fmt.Sprintf("this rule in the list `run` of [tools.%s.policy] in %s", g.Tool, visible.Text(file))
	if r := v.Verdict.Rule; r != nil {
		where += fmt.Sprintf(", above what asks now (%s:%d)", visible.Text(r.File), r.Line)
	}
	return rule, where
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
