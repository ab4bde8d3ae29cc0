package parser

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// flow reads [flow].
func (p *parser) flow(e *tomltree.Entry) {
	if e == nil || !p.table(e) {
		return
	}
	t, f := e.Value, &p.policy.Flow
	p.known(t, flowKeys)
	f.Written = t
	f.Keep, _ = p.word(t.Get("keep"), "hashes", "none")
	f.KeepText = p.flag(t.Get("keep_text"))
	f.Own = textsOf(p.texts(t.Get("own")))
	f.Budget = p.size(t.Get("budget"))
}

// size reads a number of bytes, or "8MiB".
func (p *reader) size(e *tomltree.Entry) int64 {
	if e == nil {
		return 0
	}
	text, unit := e.Value.Text, int64(1)
	if e.Value.Kind == tomltree.String {
		for i, name := range []string{"KiB", "MiB", "GiB"} {
			if digits, ok := strings.CutSuffix(text, name); ok {
				text, unit = digits, 1<<(10*(i+1))
				break
			}
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	const most = 1 << 30
	if err != nil || n <= 0 || n > most/unit || e.Value.Kind != tomltree.Integer && (e.Value.Kind != tomltree.String || unit == 1) {
		p.report(diag.BadValue, e.Value.Range, "`"+e.Key+"` is a size of up to 1 GiB", "write \"8MiB\"")
		return 0
	}
	return n * unit
}

// flowPolicy reads the keys of a [[session]] with type = "flow".
func (p *sessionParser) flowPolicy(t *tomltree.Value, s *syntax.SessionPolicy) {
	after, before := t.Get("after"), t.Get("before")
	if after == nil {
		p.report(diag.MissingKey, t.Range, "`after` is missing", "name the sources or tools whose texts raise the objection, or \"untrusted\"")
	}
	for _, v := range p.texts(after) {
		if p.origin(v) {
			s.After = append(s.After, v.Text)
		}
	}
	if before == nil {
		p.report(diag.MissingKey, t.Range, "`before` is missing", "name tools, or write before = \"effects\"")
	}
	for _, v := range p.texts(before) {
		if v.Text == "effects" {
			s.Effects = true
			continue
		}
		p.toolName(v.Text, v.Range)
		s.Before = append(s.Before, v.Text)
	}
	word, _ := p.word(t.Get("until"), "user")
	s.UntilUser = word == "user"
	s.Unless = p.conditions(t.Get("unless"), inUnless, stopgate.Unattended)
	s.Where = p.conditions(t.Get("where"), inUnless, s.Objection())
}

// origin checks a name in `after`: a source, or a tool that the file knows. A misspelt one would
// never be read, and the policy never object.
func (p *sessionParser) origin(v *tomltree.Value) bool {
	tables := slices.ContainsFunc(p.policy.Tools, func(t *syntax.ToolTable) bool { return t.Named(v.Text) })
	switch {
	case p.policy.HasSource(v.Text) && tables:
		p.report(diag.BadName, v.Range, fmt.Sprintf("%q is a source and a tool", v.Text), "give the source another name")
		return false
	case p.policy.HasSource(v.Text), tables:
		return true
	case syntax.IsGlob(v.Text):
		p.toolName(v.Text, v.Range)
		return true
	}
	names := slices.Clone(syntax.BuiltInSources)
	for _, s := range p.policy.Sources {
		names = append(names, string(s.Name))
	}
	for _, t := range p.policy.Tools {
		names = append(append(names, t.Name), t.Also...)
	}
	hint := diag.DidYouMean(v.Text, names)
	if hint == "" {
		hint = "add `[sources." + tomltree.Key(v.Text) + "]` or `[tools." + tomltree.Key(v.Text) + "]`"
	}
	p.report(diag.UnknownSource, v.Range, fmt.Sprintf("there is no source and no tool %q", v.Text), hint)
	return false
}

// conditions reads `unless` or `where`: a table, or an array of tables that must all hold. They are
// those of a rule with a mode.
func (p *sessionParser) conditions(e *tomltree.Entry, at place, mode stopgate.Mode) []syntax.Condition {
	if e == nil {
		return nil
	}
	tables := []*tomltree.Value{e.Value}
	if e.Value.Kind == tomltree.Array {
		tables = p.elements(e)
	} else if !p.table(e) {
		return nil
	}
	switch n := len(tables); {
	case e.Value.Kind == tomltree.Array && len(e.Value.Elements) == 0:
		p.report(diag.BadCondition, e.Value.Range, "`"+e.Key+"` is empty", "leave it out: the policy then always objects")
	case n > MaxMembers:
		p.report(diag.TooLarge, e.KeyRange, fmt.Sprintf("`%s` has %d conditions; at most %d are possible", e.Key, n, MaxMembers), "")
	}
	r := &syntax.Rule{Mode: mode}
	for _, m := range tables {
		p.known(m, memberKeys, p.matchers, p.options)
		c, ok := p.condition(m, at)
		if !ok {
			if len(m.Entries) == 0 {
				p.report(diag.BadCondition, m.Range, "a condition of `"+e.Key+"` needs `arg` and a matcher", "write { arg = \"*\", from = [\"user\"] }")
			}
			continue
		}
		c.Pos = m.Range
		c.Match = p.quantifier(m.Get("match"))
		r.Conditions = append(r.Conditions, c)
	}
	p.hiddenPermits(r)
	return r.Conditions
}

// says reads the condition of `when` on the words of the person.
func (p *ruleParser) says(t *tomltree.Value) *syntax.Says {
	e, anywhere := t.Get("says"), t.Get("anywhere")
	if e == nil {
		if anywhere != nil {
			p.report(diag.BadCondition, anywhere.KeyRange, "`anywhere` without `says`", "leave it out")
		}
		return nil
	}
	text, ok := p.text(e)
	if !ok {
		return nil
	}
	says := &syntax.Says{Pattern: grouped(text), Anywhere: p.flag(anywhere), Pos: e.Value.Range}
	if _, err := regular.Compile(says.Pattern); err != nil {
		p.badPattern(e, err)
		return nil
	}
	says.Key = syntax.SaysKey(says)
	return says
}

// label reads a pattern with one group.
func (p *reader) label(e *tomltree.Entry) string {
	pattern, searched := p.re2(e)
	if searched == nil {
		return ""
	}
	if n := searched.NumSubexp(); n != 1 {
		p.report(diag.BadPattern, e.Value.Range, fmt.Sprintf("`label` has %d groups; the value is that of its one group", n),
			"write \"(?m)^IBAN: (\\\\S+)$\"; groups that only bracket are (?:...)")
		return ""
	}
	return pattern
}

// searched reads a pattern of which the groups do not matter.
func (p *reader) searched(e *tomltree.Entry) string {
	pattern, _ := p.re2(e)
	return pattern
}

// re2 reads a pattern that is ECMA-262 and RE2: the part of a text that it matches is found with
// package regexp. It returns nil if the pattern has a mistake.
func (p *reader) re2(e *tomltree.Entry) (string, *regexp.Regexp) {
	text, ok := p.text(e)
	if !ok {
		return "", nil
	}
	pattern := grouped(text)
	if _, err := regular.Compile(pattern); err != nil {
		p.badPattern(e, err)
		return "", nil
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		p.report(diag.BadPattern, e.Value.Range, "`"+e.Key+"` needs a pattern that RE2 reads too, without lookaround", "describe the text around it plainly")
		return "", nil
	}
	return pattern, compiled
}

// badPattern reports the error of a pattern. Flags that were grouped change no offset.
func (p *reader) badPattern(e *tomltree.Entry, err error) {
	var wrong *regular.SyntaxError
	if !errors.As(err, &wrong) {
		p.report(diag.BadPattern, e.Value.Range, err.Error(), "")
		return
	}
	p.report(diag.BadPattern, e.Value.OffsetRange(min(wrong.Offset, len(e.Value.Text))), "`"+e.Key+"`: "+wrong.Message, wrong.Hint)
}

// grouped writes flags at the beginning of a pattern as those of a group, which ECMA-262 has.
func grouped(pattern string) string {
	rest, ok := strings.CutPrefix(pattern, "(?")
	if !ok {
		return pattern
	}
	flags, rest, ok := strings.Cut(rest, ")")
	if !ok || flags == "" || strings.Trim(flags, "ims") != "" {
		return pattern
	}
	return "(?" + flags + ":" + rest + ")"
}
