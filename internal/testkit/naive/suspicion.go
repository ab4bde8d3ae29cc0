package naive

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// suspicion is a second list for a guard: it holds for strings that no parameter table
// declares. Until it does it says nothing, whatever may still come.
func (c *call) suspicion(file, index int, g Rule) {
	if !g.All[0].suspicious() {
		return
	}
	l := &look{policy: c.policy, cond: &g.All[0]}
	l.suspect(c.root, viewOf(c.policy.Layers[file].Schema))
	g.absent = c.policy.present([]Rule{g})[0].absent
	at := first(l.hits)
	if g.absent {
		at = Never
	}
	c.lists = append(c.lists, &list{layer: "guard", file: file, guard: index, rules: []Rule{g}, holds: []bool{true}, at: []int{at}, suspects: true})
}

// suspicious reports a condition on paths, commands or URLs that one string satisfies.
func (k *Cond) suspicious() bool {
	about := []string{"const", "enum", "prefix", "suffix", "glob", "pattern"}
	return k.On != "" && k.On != "string" && k.Match != "all" && slices.Contains(about, k.Kind)
}

// suspect looks for strings that nobody declares, or only the request.
func (l *look) suspect(n *Node, v view) {
	items, inside := v.items(), v
	if v.wrong(Array) {
		items = v
	}
	if v.wrong(Object) {
		inside = v.objects()
	}
	switch {
	case n.Kind == Array && v.vector():
	case n.Kind == Array:
		for _, e := range n.Elems {
			l.suspect(e, items)
		}
	case n.Kind == Object:
		for _, m := range n.Members {
			member, _ := inside.key(m.Key)
			l.suspect(m.Value, member)
		}
	case n.Kind == String && n.End < Never && !v.is(l.cond.On) && !slices.ContainsFunc(v, func(s *Schema) bool { return !s.Requested }):
		if l.policy.suspects(l.cond, n.Text) {
			l.hits = append(l.hits, n.End)
		}
	}
}

// suspects reports whether any plausible reading of a string satisfies a guard.
func (p *Policy) suspects(c *Cond, text string) bool {
	return slices.ContainsFunc(spellings(text, c.On, 0), func(reading string) bool {
		return slices.ContainsFunc(c.Values, func(v *Node) bool {
			_, listed := lines[reading]
			compound := listed && strings.ContainsAny(reading[:min(1, len(reading))], "({")
			if c.On == "command" && !compound && !namesProgram.MatchString(reading) {
				return false
			}
			return v.Kind == String && p.matches(c.Kind, v.Text, reading, c.On, false)
		})
	})
}

var (
	keyValue = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}=`)
	hasURI   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{1,63}:(//)?`)
	// namesProgram are texts that are command lines as far as is listed.
	namesProgram = regexp.MustCompile("^\\s*>?[^\\s$`\"'*?{}()~&|<>;#!\\[\\]\\\\]+(\\s|;|$)")
	remote       = regexp.MustCompile(`^(?i)(https?|wss?|ftps?):`)
)

// spellings lists the plausible readings of a string as what a guard looks at.
func spellings(text, on string, depth int) (all []string) {
	bare := strings.Trim(text, " \t\r\n\v\f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000")
	var parsed any
	if depth < 3 && len(bare) > 1 && strings.ContainsAny(bare[:1], `{["`) && json.Unmarshal([]byte(bare), &parsed) == nil {
		var visit func(v any)
		visit = func(v any) {
			switch v := v.(type) {
			case string:
				all = append(all, spellings(v, on, depth+1)...)
			case []any:
				for _, one := range v {
					visit(one)
				}
			case map[string]any:
				for _, one := range v {
					visit(one)
				}
			}
		}
		visit(parsed)
	}
	if bare == "" || len(bare) > 4096 || strings.ContainsAny(bare, "\r\n") {
		return all
	}
	if on != "path" || bare[0] != '!' && !remote.MatchString(bare) || strings.Contains(bare, "..") {
		all = append(all, text, bare)
		if uri := hasURI.FindString(bare); uri != "" && on == "path" {
			rest := bare[len(uri):]
			for _, form := range []string{rest, rest[max(0, strings.Index(rest, "/")):]} {
				name, _, _ := strings.Cut(form, "?")
				name, _, _ = strings.Cut(name, "#")
				all = append(all, form, name)
			}
		}
	}
	if key := keyValue.FindString(bare); key != "" && depth < 3 {
		all = append(all, spellings(bare[len(key):], on, depth+1)...)
	}
	return all
}
