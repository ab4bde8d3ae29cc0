package match

import (
	"bytes"
	"cmp"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// pathContext is how a path is read: the directories, the polarity and the folds.
type pathContext struct {
	env         condition.Env // normalised
	root        []byte
	mark        []byte // the input of an automaton for the root
	expands     bool
	restrictive bool
	folded      bool // readings are compared without regard to case and in compatibility form
	system      bool // the root is below /proc or /dev: nothing is certain
	usual       bool // a plain relative path without wildcards has one reading
}

func newPathContext(env condition.Env, expands, restrictive bool) pathContext {
	p := pathContext{env: normalEnv(env), expands: expands, restrictive: restrictive, folded: restrictive}
	p.system = isSystem([]byte(p.env.Root))
	if p.root = []byte(p.env.Root); restrictive {
		p.root = []byte(spelling.Fold(p.env.Root))
	}
	if p.env.Root != "" {
		p.mark = []byte(string(glob.Root) + string(p.root[1:]))
	}
	p.usual = !p.system && p.env.Root != "/" && !p.moved(lexical{}) && p.env.Links == nil
	return p
}

// normalEnv returns the directories in canonical form. A relative one counts as unknown.
func normalEnv(e condition.Env) condition.Env {
	for _, dir := range []*string{&e.Root, &e.Home, &e.Dir, &e.Run, &e.Also} {
		canonical, info := appendCanonical(nil, []byte(*dir))
		if *dir = string(canonical); !info.absolute {
			*dir = ""
		}
	}
	if e.Dir == e.Root {
		e.Dir = ""
	}
	return e
}

// commandEnv returns the environment of paths in command lines.
func commandEnv(e condition.Env) condition.Env {
	e = normalEnv(e)
	e.Lost = e.RunUnknown
	if e.Run == "" {
		return e
	}
	stays := cmp.Or(e.Dir, e.Root, "/")
	if e.MayStay && stays != e.Run {
		e.Also = stays
	}
	e.Dir, e.Run, e.MayStay = e.Run, "", false
	return normalEnv(e)
}

// rootText is the input of an automaton for the root, nil if there is none.
func (p *pathContext) rootText() []byte {
	root := p.env.Root
	if root == "" {
		return nil
	}
	if p.folded {
		root = spelling.Fold(root)
	}
	return []byte(string(glob.Root) + root[1:])
}

// certain returns the canonical form of a value, in dst or in the value itself, and whether it is
// the only reading.
func (p *pathContext) certain(dst, value []byte) (canonical []byte, certain bool) {
	canonical, info, plain := p.examine(dst, value)
	return canonical, plain && p.admits(canonical, info, nil)
}

// examine is [examine] that resolves a plain relative path against the directory of the call, for
// permissive conditions.
func (p *pathContext) examine(dst, value []byte) (canonical []byte, info lexical, plain bool) {
	canonical, info, plain = examine(dst, value)
	if plain && p.moved(info) {
		canonical, info = p.arrive(canonical, info)
	}
	return canonical, info, plain
}

// moved reports whether a path begins in another directory than the root. Restrictive conditions
// also consider it relative to the root, and so list its readings.
func (p *pathContext) moved(info lexical) bool {
	return (p.env.Dir != "" || p.env.Also != "" || p.env.Lost) && !info.absolute
}

// arrive makes a canonical relative path absolute.
func (p *pathContext) arrive(canonical []byte, info lexical) ([]byte, lexical) {
	if p.restrictive || p.env.Also != "" || p.env.Lost || isSystem([]byte(p.env.Dir)) {
		return canonical, info
	}
	resolved, there := appendCanonical(nil, []byte(p.env.Dir+"/"+string(canonical)))
	there.high, there.wild = info.high, info.wild
	return resolved, there
}

// itself reports whether no link changes the file that a path names. After ".." a link matters.
func (p *pathContext) itself(canonical []byte, info lexical, way *linkCache) bool {
	name := string(canonical)
	if !info.absolute {
		if p.env.Root == "" {
			return true // its start is unknown
		}
		name = string(joined([]byte(p.env.Root), canonical))
	}
	real, ok := way.follow(p.env.Links, name)
	return ok && info.lowest == untouched && real == name
}

// wildcards are the characters that an expanding tool does not take literally (C15).
const wildcards = "*?[{("

// admits reports whether a plainly written value also has one reading in this context.
func (p *pathContext) admits(canonical []byte, info lexical, way *linkCache) bool {
	root := p.env.Root
	switch {
	case p.expands && info.wild, p.moved(info), p.env.Links != nil && !p.itself(canonical, info, way):
		return false
	case info.absolute: // it must not climb above the root and come back
		_, inside := cutRoot(canonical, []byte(root))
		return !inside || info.lowest >= depth(root)
	case root == "/":
		first, _, _ := bytes.Cut(canonical, []byte("/"))
		return string(first) != "proc" && string(first) != "dev"
	}
	return !p.system
}

func depth(root string) int {
	n := 0
	for i := range len(root) - 1 {
		if root[i] == '/' {
			n++
		}
	}
	return n
}

// cutRoot makes a path relative to the root, without regard to case for restrictive conditions: the
// root is folded then.
func (p *pathContext) cutRoot(canonical []byte) (rel []byte, inside bool) {
	if !p.restrictive || len(canonical) < len(p.root) {
		return cutRoot(canonical, p.root)
	}
	for i, c := range p.root {
		if spelling.LowerASCII(canonical[i]) != c {
			return nil, false
		}
	}
	rel, inside = canonical[len(p.root):], true
	if len(rel) > 0 && len(p.root) > 1 {
		inside, rel = rel[0] == '/', rel[1:]
	}
	return rel, inside
}

// cutRoot returns an absolute canonical path relative to the root.
func cutRoot(path, root []byte) (rel []byte, inside bool) {
	rest, ok := bytes.CutPrefix(path, root)
	switch {
	case len(root) == 0 || !ok:
		return nil, false
	case len(rest) == 0 || len(root) == 1:
		return rest, true
	}
	return rest[1:], rest[0] == '/'
}

// joined appends a relative path to the text of the root.
func joined(root, rel []byte) []byte {
	out := bytes.Clone(root)
	if len(rel) > 0 && string(root) != string(glob.Root) {
		out = append(out, '/')
	}
	return append(out, rel...)
}

// plain reports whether a value has one reading only.
func (p *pathContext) plain(value []byte) bool {
	var buf [256]byte
	_, certain := p.certain(buf[:0], value)
	return certain
}
