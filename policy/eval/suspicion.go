package eval

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/index"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/schema"
)

// suspicion is what a guard on paths, commands or URLs makes of the strings of a place that
// no parameter table declares: a request may call a path by any name and type it a string.
type suspicion struct {
	suspects []suspected
	bundle   bool
}

// suspected is one rule's reading of such a string.
type suspected struct {
	rule     int32 // of a bundle
	class    uint8
	matchers []*match.Matcher
}

// Bounds of what is read into a string.
const (
	maxSuspectedText = 4096     // bytes of one line: no path is longer
	maxSuspectedJSON = 64 << 10 // bytes of a JSON text in a string
	maxSuspectedDeep = 3        // JSON texts in strings of JSON texts
)

// suspects reports whether a condition looks at the strings of a place by suspicion. Only a
// condition that one leaf satisfies does: where all have to match, more leaves weaken it.
func (g *grapher) suspects(c int32, p *schema.Place) bool {
	k := &g.plan.conds[c]
	if k.all || k.permissive || k.command >= 0 || k.on == "string" || p.Tabled() || p.Types()&schema.String == 0 {
		return false
	}
	return k.bundle >= 0 || names(k.kind)
}

// names reports whether a condition is about what a string names.
func names(k match.Kind) bool {
	switch k {
	case match.Const, match.Enum, match.Prefix, match.Suffix, match.Glob, match.Pattern, match.Host, match.Scheme, match.Usage:
		return true
	}
	return false
}

// suspicion compiles a condition for strings that may be of the type that it looks at.
func (g *grapher) suspicion(c int32) *suspicion {
	if known, ok := g.suspicions[c]; ok {
		return known
	}
	k := g.plan.conds[c]
	out := new(suspicion)
	add := func(one *cond, rule int32, class uint8) {
		a, _ := schema.ParseAnnotation(one.on)
		m, ok := g.matchers.compile(one.ast.Spec, match.Target{Type: schema.String, Annotation: a}, true, one.env)
		if ok && names(one.kind) {
			out.suspects = append(out.suspects, suspected{rule, class, []*match.Matcher{m}})
		}
	}
	if out.bundle = k.bundle >= 0; !out.bundle {
		add(&k, k.rule, 0)
	} else {
		b := &g.plan.bundles[k.bundle]
		for i, ast := range g.conditions[k.bundle] {
			one := k
			one.kind, one.ast = ast.Spec.Kind, ast
			add(&one, b.rules[i], uint8(g.plan.rules[b.rules[i]].mode))
		}
	}
	if len(out.suspects) == 0 {
		out = nil
	}
	g.suspicions[c] = out
	return out
}

// suspected judges the string that has just ended by the guards that suspect it.
func (e *Evaluation) suspected(s *shape) {
	var readings [][]byte
	read := false
	for i := range s.tests {
		t := &s.tests[i]
		if t.suspicion == nil || e.conds[t.cond].phase != waiting {
			continue
		}
		if !read {
			readings, read = plausible(nil, e.text(), 0), true
		}
		e.suspectBy(t, readings)
	}
}

func (e *Evaluation) suspectBy(t *test, readings [][]byte) {
	e.hits.Reset()
	for _, s := range t.suspicion.suspects {
		if !slices.ContainsFunc(readings, s.holds) {
			continue
		}
		if !t.suspicion.bundle {
			e.leaf(t.site, true, false)
			return
		}
		e.hits.Members = append(e.hits.Members, s.rule)
		e.hits.Add(s.rule, s.class)
	}
	if len(e.hits.Members) > 0 {
		hits := index.Hits{Summary: e.hits.Summary, Members: e.hits.Members}
		e.matched(t.cond, t.site, &hits, false)
	}
}

func (s *suspected) holds(text []byte) bool {
	return slices.ContainsFunc(s.matchers, func(m *match.Matcher) bool { return m.Whole(text) })
}

// plausible lists what a string may name: itself, the path of a file URI, the value of
// key=value, and the strings of a JSON text. What has several lines, or is longer than a
// path can be, is prose.
func plausible(to [][]byte, text []byte, depth int) [][]byte {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) > 1 && depth < maxSuspectedDeep && len(trimmed) <= maxSuspectedJSON && (trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '"') {
		if v, err := jsonstream.Parse(trimmed, jsonstream.Options{}); err == nil {
			to = leavesOf(to, v, depth+1)
		}
	}
	if len(trimmed) == 0 || len(trimmed) > maxSuspectedText || bytes.ContainsAny(trimmed, "\r\n") {
		return to
	}
	to = append(to, text)
	if len(trimmed) != len(text) {
		to = append(to, trimmed)
	}
	if len(trimmed) > 5 && strings.EqualFold(string(trimmed[:5]), "file:") {
		rest := string(trimmed[5:])
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			if i := strings.IndexByte(after, '/'); i >= 0 {
				rest = after[i:]
			} else {
				rest = after
			}
		}
		rest, _, _ = strings.Cut(rest, "?")
		rest, _, _ = strings.Cut(rest, "#")
		if plain, err := url.PathUnescape(rest); err == nil {
			rest = plain
		}
		return append(to, []byte(rest))
	}
	if key, value, ok := bytes.Cut(trimmed, []byte("=")); ok && depth < maxSuspectedDeep && isKey(key) {
		to = plausible(to, value, depth+1)
	}
	return to
}

// isKey reports whether a text is the name in key=value.
func isKey(key []byte) bool {
	for _, c := range key {
		lower := c | 0x20
		if (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return len(key) > 0 && len(key) <= 64
}

func leavesOf(to [][]byte, v jsonstream.Value, depth int) [][]byte {
	switch v.Kind() {
	case jsonstream.Object:
		for _, member := range v.Members() {
			to = leavesOf(to, member, depth)
		}
	case jsonstream.Array:
		for element := range v.Elements() {
			to = leavesOf(to, element, depth)
		}
	case jsonstream.String:
		to = plausible(to, v.AppendText(nil), depth)
	}
	return to
}
