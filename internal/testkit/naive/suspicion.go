package naive

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// suspicious reports whether a guard also looks at strings that no parameter table
// declares: one on paths, commands or URLs that any leaf satisfies.
func (l *look) suspicious() bool {
	about := []string{"const", "enum", "prefix", "suffix", "glob", "pattern", "host", "scheme", "usage"}
	return l.generous() && l.cond.On != "" && l.cond.On != "string" && slices.Contains(about, l.cond.Kind)
}

// suspected reports whether only the request declares a string here, or nobody does.
func (v view) suspected() bool {
	for _, s := range v {
		if !s.Requested {
			return false
		}
	}
	text, known := v.declares(String)
	return text || !known
}

// waits reports whether a value here can satisfy the guard.
func (l *look) waits(v view) bool {
	return v.holds(l.cond.On) || l.suspicious() && v.mayHide()
}

// mayHide reports whether a suspected string can stand at or below a place.
func (v view) mayHide() bool {
	object, known := v.declares(Object)
	if object || !known || v.suspected() {
		return true
	}
	list, _ := v.declares(Array)
	return list && !v.vector() && v.items().mayHide()
}

var keyValue = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}=`)

// suspects reports whether any plausible reading of a string satisfies a guard.
func (p *Policy) suspects(c *Cond, text string) bool {
	return slices.ContainsFunc(spellings(text, 0), func(reading string) bool {
		return slices.ContainsFunc(c.Values, func(v *Node) bool {
			return v.Kind == String && p.matches(c.Kind, v.Text, reading, c.On, false)
		})
	})
}

// spellings lists the plausible readings of a string.
func spellings(text string, depth int) (all []string) {
	bare := strings.Trim(text, " \t\r\n")
	var parsed any
	if depth < 3 && len(bare) > 1 && strings.ContainsAny(bare[:1], `{["`) && json.Unmarshal([]byte(bare), &parsed) == nil {
		var visit func(v any)
		visit = func(v any) {
			switch v := v.(type) {
			case string:
				all = append(all, spellings(v, depth+1)...)
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
	all = append(all, text, bare)
	if u, err := url.Parse(bare); err == nil && strings.EqualFold(u.Scheme, "file") {
		return append(all, u.Path)
	}
	if key := keyValue.FindString(bare); key != "" && depth < 3 {
		all = append(all, spellings(bare[len(key):], depth+1)...)
	}
	return all
}
