package match

import "strings"

// Settings says where programs of this machine keep what the protected list names below a
// home directory: the environment may tell them to look elsewhere. Paths are absolute; one
// that is not protects nothing.
type Settings struct {
	// Moved are directories that stand for others.
	Moved []Moved
	// Asked are further files and directories of settings, with all that is in them (K2).
	Asked []string
	// Denied are files and directories of the gate's own state (S4).
	Denied []string
}

// Moved is a directory that stands for one that lines of the protected list name: what they
// protect there, they protect here too.
type Moved struct {
	From string // as the list names it: ".codex"
	To   string
}

// elsewhere adds what the settings protect as the lines of a list do.
func (p *Protected) elsewhere(s *Settings, list []protectedGlob, protection Protection) {
	if s == nil {
		return
	}
	paths := s.Asked
	if protection == ProtectedDenied {
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
			continue // what ends as the list says is protected by it
		}
		for _, g := range list {
			if rest, ok := behind(g.glob, m.From); ok {
				p.addBelow(base, "/"+rest, protection)
			}
		}
	}
}

// baseOfSettings is the canonical form of an absolute path; the root itself is none.
func baseOfSettings(path string) (base string, ok bool) {
	canonical, info := appendCanonical(nil, []byte(path))
	base = strings.TrimSuffix(string(canonical), "/")
	return base, info.absolute && !info.climbs && base != ""
}

// behind is what a line of the list says of the inside of a directory: nothing if it says
// nothing of it.
func behind(glob, dir string) (rest string, ok bool) {
	name, anywhere := strings.CutPrefix(glob, "**/")
	if !anywhere {
		return "", false
	}
	if rest, ok = strings.CutPrefix(name, dir); ok && strings.HasPrefix(rest, "/") {
		return rest[1:], true
	}
	whole, ok := strings.CutSuffix(name, "/**")
	rest, within := strings.CutPrefix(dir, whole)
	return "**", ok && within && (rest == "" || rest[0] == '/')
}

// addBelow adds a line about what is called rest in a directory, which begins with "/"; with
// "" about the directory, or the file, and all that is in it.
func (p *Protected) addBelow(base, rest string, protection Protection) {
	name := fold(base[strings.LastIndexByte(base, '/')+1:])
	if len(name) > longestName || strings.ContainsAny(name, "|*") {
		name = "*"
	}
	p.add(protectedGlob{base + rest, name}, protection)
	p.lines[len(p.lines)-1].base = base
}

// below are the literals of a line that has a base.
func (l *protectedLine) below() []pathLiteral {
	base := splitLiteral(l.base)
	rest := l.glob[len(l.base):]
	if rest == "" {
		base.below = true
		return []pathLiteral{base}
	}
	list := readListed(rest)
	for i := range list {
		list[i].components = append(base.components[:len(base.components):len(base.components)], list[i].components...)
	}
	return list
}
