package protected

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// elsewhere adds the locations of the settings as lines.
func (p *List) elsewhere(s *condition.Settings, list []protectedGlob, protection condition.Protection) {
	if s == nil {
		return
	}
	paths := s.Asked
	if protection == condition.DeniedTarget {
		paths = s.Denied
	}
	for _, path := range paths {
		if base, ok := baseOfSettings(path); ok {
			p.addBelow(base, "", protection)
		}
	}
	for _, m := range s.Moved {
		base, ok := baseOfSettings(m.To)
		if !ok || m.From == "" || strings.HasSuffix(base, "/"+m.From) {
			continue // already protected by the line
		}
		for _, g := range list {
			if rest, ok := insideOf(g.glob, m.From); ok {
				p.addBelow(base, "/"+rest, protection)
			}
		}
	}
}

// baseOfSettings returns the canonical form of an absolute path, false for the root of the file
// system.
func baseOfSettings(path string) (base string, ok bool) {
	canonical, info := pathform.AppendCanonical(nil, []byte(path))
	base = strings.TrimSuffix(string(canonical), "/")
	return base, info.Absolute && !info.Climbs && base != ""
}

// insideOf returns the part of a line of the list below a directory, false if the line has none.
func insideOf(glob, dir string) (rest string, ok bool) {
	name, anywhere := strings.CutPrefix(glob, "**/")
	if !anywhere {
		return "", false
	}
	if rest, ok = strings.CutPrefix(name, dir); ok && strings.HasPrefix(rest, "/") {
		return rest[1:], true
	}
	complete, ok := strings.CutSuffix(name, "/**")
	rest, within := strings.CutPrefix(dir, complete)
	return "**", ok && within && (rest == "" || rest[0] == '/')
}

// addBelow adds a line for the path rest in a directory, which begins with "/"; "" adds the
// directory, or the file, and everything in it.
func (p *List) addBelow(base, rest string, protection condition.Protection) {
	name := spelling.Fold(base[strings.LastIndexByte(base, '/')+1:])
	if len(name) > longestName || strings.ContainsAny(name, "|*") {
		name = "*"
	}
	p.add(protectedGlob{base + rest, name}, protection)
	p.lines[len(p.lines)-1].base = base
}

// below returns the literals of a line that has a base.
func (l *protectedLine) below() []pathname.Literal {
	base := pathname.SplitLiteral(l.base)
	rest := l.glob[len(l.base):]
	if rest == "" {
		base.Below = true
		return []pathname.Literal{base}
	}
	list := readListed(rest)
	for i := range list {
		list[i].Components = append(base.Components[:len(base.Components):len(base.Components)], list[i].Components...)
	}
	return list
}
