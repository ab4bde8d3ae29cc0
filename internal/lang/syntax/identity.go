package syntax

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// meaningVersion is the version of the language's semantics in policy hashes. It changes when the
// same text gets different verdicts (S36).
const meaningVersion = "stopgate-policy-2"

// Identify sets the id of a rule from its meaning and its list (S34). The id survives changes of
// other rules, of order and of spelling. The values of named lists are part of it.
func (r *Rule) Identify(tool, list string) {
	r.parsed = r.Meaning()
	sum := sha256.Sum256([]byte(tool + "\x00" + list + "\x00" + r.parsed))
	r.ID = stopgate.RuleID(hex.EncodeToString(sum[:16]))
}

// meaning returns the meaning of the rule as the file was parsed.
func (r *Rule) meaning() string {
	if r.parsed != "" {
		return r.parsed
	}
	return r.Meaning()
}

// meaning collects the semantics of a policy as lines.
type meaning struct{ out []byte }

func (w *meaning) line(text string) { w.out = append(append(w.out, text...), '\n') }

// text writes every setting, including defaults.
func (g GateSettings) text() string {
	parts := []string{
		"unknown_tool = " + tomltree.Quote(g.UnknownTool.String()),
		"unknown_params = " + tomltree.Quote(g.UnknownParams.String()),
		"uncovered = " + tomltree.Quote(g.Uncovered.String()),
		"on_schema_violation = " + tomltree.Quote(g.OnSchemaViolation.String()),
	}
	if g.DenialLimit != nil {
		parts = append(parts, "denial_limit = "+strconv.FormatInt(*g.DenialLimit, 10))
	}
	if g.DenyMode != "" {
		parts = append(parts, "deny_mode = "+tomltree.Quote(g.DenyMode))
	}
	if g.Enforcement != "" {
		parts = append(parts, "enforcement = "+tomltree.Quote(g.Enforcement))
	}
	if g.StructuredOutput == stopgate.Unattended {
		parts = append(parts, `structured_output = "unattended"`)
	}
	parts = append(parts, "strict = "+strconv.FormatBool(g.Strict))
	return strings.Join(parts, "\n") + "\n"
}

func (s PathSettings) text() string {
	var text string
	if s.Root != "" {
		text += "root = " + tomltree.Quote(s.Root) + "\n"
	}
	if s.Home != "" {
		text += "home = " + tomltree.Quote(s.Home) + "\n"
	}
	return text
}

// meaning returns the text that is hashed (S36): everything that affects verdicts, in one order and
// one spelling. Comments, table order, alias spellings and operational tables are not part of it.
func (f *File) meaning() []byte {
	w := &meaning{}
	w.line("[gate]")
	w.out = append(w.out, f.Gate.text()...)
	w.line("[paths]")
	w.out = append(w.out, f.Paths.text()...)
	tools := slices.Clone(f.Tools)
	slices.SortFunc(tools, func(a, b *ToolTable) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range tools {
		w.line("[tools." + tomltree.Key(t.Name) + "]")
		also := slices.Clone(t.Also)
		slices.Sort(also)
		for _, name := range also {
			w.line("also " + name)
		}
		if t.Uncovered != nil {
			w.line("uncovered = " + t.Uncovered.String())
		}
		if t.Unknown != nil {
			w.line("unknown_params = " + t.Unknown.String())
		}
		if t.OnSchema != nil {
			w.line("on_schema_violation = " + t.OnSchema.String())
		}
		if t.Schema != nil {
			w.line("schema = " + t.Schema.Hash())
		}
		if t.Access != nil {
			w.line(t.Access.meaning())
		}
		if t.Effect != nil {
			w.line("effect = " + strconv.FormatBool(*t.Effect))
		}
		w.list("run", t.Run)
		w.list("result", t.Result)
	}
	w.servers(f)
	w.sources(f)
	w.line("[guard]")
	for _, g := range f.Guards {
		w.line(g.meaning())
	}
	for _, s := range f.Sessions {
		w.line("[session] " + s.meaning())
	}
	for _, h := range f.Handoffs {
		w.line("[handoffs] " + h.meaning())
	}
	if f.Judge != nil {
		w.line("[judge] " + f.Judge.Meaning())
	}
	for _, e := range f.Externals {
		w.line("[external] " + e.Meaning())
	}
	return w.out
}

// meaning returns the access in one spelling.
func (a *Access) meaning() string {
	text := "access"
	for _, l := range []struct {
		key  string
		list []string
	}{{" read", a.Read}, {" write", a.Write}} {
		if l.list == nil {
			continue
		}
		text += l.key
		for _, path := range slices.Sorted(slices.Values(l.list)) {
			text += " " + tomltree.Quote(path)
		}
	}
	return text
}

// servers writes which servers are those of packs. The tables for their tools are among the others; this is
// by which name their tools are known.
func (w *meaning) servers(f *File) {
	servers := slices.SortedFunc(slices.Values(f.Servers), func(a, b ServerName) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range servers {
		w.line("[servers] " + tomltree.Quote(s.Name) + " is " + s.Is)
	}
}

func (w *meaning) list(key string, l *RuleList) {
	if l == nil {
		return
	}
	w.line(key)
	for _, r := range l.Rules {
		w.line(r.meaning())
	}
}

// Hash returns the hash of policy files in the order of their layers: 64 hexadecimal digits (S36,
// Q26).
func Hash(layers ...*File) string {
	h := sha256.New()
	h.Write([]byte(meaningVersion))
	for _, p := range layers {
		text := p.meaning()
		sum := sha256.Sum256(text)
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Declarations returns the settings next to rules and guards that affect verdicts, each in one
// spelling: session policies, handoffs, the access of tools, how results are read where a session
// policy uses them, the judge and external policies.
func (f *File) Declarations() []string {
	var list []string
	for _, s := range f.Sessions {
		list = append(list, s.meaning())
	}
	for _, h := range f.Handoffs {
		list = append(list, h.meaning())
	}
	for _, t := range f.Tools {
		if t.Access != nil {
			list = append(list, t.Name+" "+t.Access.meaning())
		}
		if t.Success != nil && len(f.Sessions) > 0 {
			list = append(list, t.Name+" "+t.Success.meaning())
		}
	}
	if f.Judge != nil {
		list = append(list, f.Judge.Meaning())
	}
	for _, e := range f.Externals {
		list = append(list, "external "+e.Meaning())
	}
	list = append(list, f.FlowDeclarations()...)
	return list
}

// SessionHash returns the hash of session policies in their order, those of external policies last.
// Snapshots are bound to it (S15).
func SessionHash(policies []*SessionPolicy, externals []*External) string {
	h := sha256.New()
	h.Write([]byte(meaningVersion))
	for _, p := range policies {
		h.Write([]byte(p.meaning() + "\n"))
	}
	for _, e := range externals {
		if e.Has(HookSession) {
			h.Write([]byte("external " + e.Meaning() + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
