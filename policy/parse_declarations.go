package policy

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
)

// sessionTable is one [[session]] (TPS); the names of tools are names or globs.
type sessionTable struct {
	Type          string          `toml:"type,required"`
	Name          string          `toml:"name"`
	ReadTools     *tomltree.Value `toml:"read_tools"`
	WriteTools    *tomltree.Value `toml:"write_tools"`
	Before        *tomltree.Value `toml:"before"`
	Requires      *tomltree.Value `toml:"requires"`
	Require       string          `toml:"require"`
	Key           *tomltree.Value `toml:"key"`
	OnMissingKey  string          `toml:"on_missing_key"`
	AcceptUnknown bool            `toml:"accept_unknown"`
	When          *tomltree.Value `toml:"when"`
}

// handoffTable is one [[handoffs]] (G2, S41).
type handoffTable struct {
	From    *tomltree.Value `toml:"from"`
	To      *tomltree.Value `toml:"to"`
	Mode    stopgate.Mode   `toml:"mode,required"`
	Tool    *tomltree.Value `toml:"tool"`
	ToArg   string          `toml:"to_arg"`
	Kind    string          `toml:"kind"`
	Inherit bool            `toml:"inherit"`
}

// judgeTable is [judge] (V3, S29).
type judgeTable struct {
	Tools     *tomltree.Value `toml:"tools"`
	Model     string          `toml:"model"`
	API       string          `toml:"api"`
	BaseURL   string          `toml:"base_url"`
	KeyEnv    string          `toml:"key_env"`
	Threshold float64         `toml:"threshold"`
	OnError   stopgate.Mode   `toml:"on_error"`
	Mode      stopgate.Mode   `toml:"mode"`
	Observe   bool            `toml:"observe"`
	Timeout   string          `toml:"timeout"`
}

// declarations reads the tables whose checks this version cannot make. It reads
// them as strictly as any other and denies the tools they govern: a check that
// nobody makes must not read as passed.
func (p *parser) declarations(root *tomltree.Value) {
	for _, t := range p.elements(root.Get("session")) {
		p.session(t)
	}
	for _, t := range p.elements(root.Get("handoffs")) {
		p.handoff(t)
	}
	if e := root.Get("judge"); e != nil && p.table(e) {
		p.judge(e)
	}
}

func (p *parser) session(t *tomltree.Value) {
	var s sessionTable
	p.decode(t, &s)
	types := []string{"read_before_write", "require"}
	p.oneOf(t, "type", types)
	p.oneOf(t, "require", []string{"all", "any"})
	p.oneOf(t, "on_missing_key", []string{"deny", "allow"})
	p.policy.Sessions = append(p.policy.Sessions, &Declaration{Type: s.Type, Table: t, Pos: t.Range})
	p.texts(t.Get("read_tools"))
	governed := p.texts(t.Get("write_tools"))
	if s.Type == "require" {
		for _, key := range []string{"before", "requires"} {
			if t.Get(key) == nil {
				p.report(diag.MissingKey, t.Range, "`"+key+"` is missing", "")
			}
		}
		p.texts(t.Get("requires"))
		governed = p.texts(t.Get("before"))
	}
	p.unenforced("[[session]]", t.Range, governed, stopgate.Deny, stopgate.CodeSessionPolicyDenied)
}

func (p *parser) handoff(t *tomltree.Value) {
	var h handoffTable
	p.decode(t, &h)
	p.texts(t.Get("from"))
	p.texts(t.Get("to"))
	p.oneOf(t, "kind", []string{"transfer", "delegate"})
	p.policy.Handoffs = append(p.policy.Handoffs, &Declaration{Table: t, Pos: t.Range})
	if tool := t.Get("tool"); tool != nil {
		p.unenforced("[[handoffs]]", t.Range, p.texts(tool), stopgate.Deny, stopgate.CodePolicyNotConfigured)
	}
}

func (p *parser) judge(e *tomltree.Entry) {
	t := e.Value
	var j judgeTable
	p.decode(t, &j)
	p.oneOf(t, "on_error", []string{"deny", "ask"})
	p.oneOf(t, "mode", []string{"deny", "ask"})
	p.oneOf(t, "api", []string{"openai", "anthropic"})
	if j.Threshold < 0 || j.Threshold > 1 {
		p.report(diag.BadValue, t.Get("threshold").Value.Range, "`threshold` is a probability between 0 and 1", "")
	}
	p.policy.Judge = &Declaration{Table: t, Pos: t.Range}
	mode := stopgate.Deny
	if j.OnError == stopgate.Ask {
		mode = stopgate.Ask
	}
	p.unenforced("[judge]", t.Range, p.texts(t.Get("tools")), mode, stopgate.CodeJudgeUnavailable)
}

// decode reads a table into a struct and keeps the findings.
func (p *parser) decode(t *tomltree.Value, into any) {
	p.diags = append(p.diags, tomltree.Decode(t, into)...)
}

// oneOf checks a word that was decoded as a string.
func (p *parser) oneOf(t *tomltree.Value, key string, words []string) {
	e := t.Get(key)
	if e == nil || e.Value.Kind != tomltree.String || slices.Contains(words, e.Value.Text) {
		return
	}
	p.report(diag.BadValue, e.Value.Range, fmt.Sprintf("`%s` cannot be %q", key, e.Value.Text), diag.DidYouMean(e.Value.Text, words))
}

// unenforced notes tools that must be refused and says so. Without a readable name
// it is every tool: nobody knows which ones were meant.
func (p *parser) unenforced(table string, at diag.Range, names []*tomltree.Value, mode stopgate.Mode, code stopgate.Code) {
	for _, v := range names {
		p.toolName(v.Text, v.Range)
	}
	tools, what := textsOf(names), "calls of "+some(textsOf(names))
	if len(tools) == 0 {
		tools, what = []string{defaults}, "every call"
	}
	verdict := "denied"
	if mode == stopgate.Ask {
		verdict = "asked about"
	}
	p.policy.Unenforced = append(p.policy.Unenforced, Unenforced{Tools: tools, Mode: mode, Code: code, Pos: at})
	p.report(diag.NotEnforced, at, fmt.Sprintf("this version cannot make the checks of %s: %s will be %s (%s)", table, what, verdict, code),
		"remove the table to do without its checks")
}
