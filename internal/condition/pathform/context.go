package pathform

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Context is how a path is read: the directories, the polarity and the folds.
type Context struct {
	Env         condition.Env // normalised
	root        []byte
	Mark        []byte // the input of an automaton for the root
	Expands     bool
	Restrictive bool
	Folded      bool // readings are compared without regard to case and in compatibility form
	system      bool // the root is below /proc or /dev: no path is certain
	usual       bool // a plain relative path without wildcards has one reading
}

// NewContext returns the context of conditions with a polarity in an environment; expands is set if
// the tool expands wildcards.
func NewContext(env condition.Env, expands, restrictive bool) Context {
	p := Context{Env: NormalEnv(env), Expands: expands, Restrictive: restrictive, Folded: restrictive}
	p.system = isSystem([]byte(p.Env.Root))
	if p.root = []byte(p.Env.Root); restrictive {
		p.root = []byte(spelling.Fold(p.Env.Root))
	}
	if p.Env.Root != "" {
		p.Mark = []byte(string(glob.Root) + string(p.root[1:]))
	}
	p.usual = !p.system && p.Env.Root != "/" && !p.moved(Lexical{}) && p.Env.Links == nil
	return p
}

// NormalEnv returns the directories in canonical form. A relative one counts as unknown.
func NormalEnv(e condition.Env) condition.Env {
	for _, dir := range []*string{&e.Root, &e.Home, &e.Dir, &e.Run, &e.Also} {
		canonical, info := AppendCanonical(nil, []byte(*dir))
		if *dir = string(canonical); !info.Absolute {
			*dir = ""
		}
	}
	if e.Dir == e.Root {
		e.Dir = ""
	}
	return e
}

// CommandEnv returns the environment of paths in command lines.
func CommandEnv(e condition.Env) condition.Env {
	e = NormalEnv(e)
	e.Lost = e.RunUnknown
	if e.Run == "" {
		return e
	}
	stays := cmp.Or(e.Dir, e.Root, "/")
	if e.MayStay && stays != e.Run {
		e.Also = stays
	}
	e.Dir, e.Run, e.MayStay = e.Run, "", false
	return NormalEnv(e)
}

// RootText is the input of an automaton for the root, nil if there is none.
func (p *Context) RootText() []byte {
	root := p.Env.Root
	if root == "" {
		return nil
	}
	if p.Folded {
		root = spelling.Fold(root)
	}
	return []byte(string(glob.Root) + root[1:])
}

// certain returns the canonical form of a value, in dst or in the value itself, and whether it is
// the only reading.
func (p *Context) certain(dst, value []byte) (canonical []byte, certain bool) {
	canonical, info, plain := p.Examine(dst, value)
	return canonical, plain && p.Admits(canonical, info, nil)
}

// Examine is [examine] that resolves a plain relative path against the directory of the call, for
// permissive conditions.
func (p *Context) Examine(dst, value []byte) (canonical []byte, info Lexical, plain bool) {
	canonical, info, plain = ExaminePath(dst, value)
	if plain && p.moved(info) {
		canonical, info = p.arrive(canonical, info)
	}
	return canonical, info, plain
}

// moved reports whether a path begins in another directory than the root. Restrictive conditions
// also consider it relative to the root, and so list its readings.
func (p *Context) moved(info Lexical) bool {
	return (p.Env.Dir != "" || p.Env.Also != "" || p.Env.Lost) && !info.Absolute
}

// arrive makes a canonical relative path absolute.
func (p *Context) arrive(canonical []byte, info Lexical) ([]byte, Lexical) {
	if p.Restrictive || p.Env.Also != "" || p.Env.Lost || isSystem([]byte(p.Env.Dir)) {
		return canonical, info
	}
	resolved, there := AppendCanonical(nil, []byte(p.Env.Dir+"/"+string(canonical)))
	there.High, there.wild = info.High, info.wild
	return resolved, there
}

// itself reports whether no link changes the file that a path names. After ".." a link matters.
func (p *Context) itself(canonical []byte, info Lexical, way *LinkCache) bool {
	name := string(canonical)
	if !info.Absolute {
		if p.Env.Root == "" {
			return true // its start is unknown
		}
		name = string(Joined([]byte(p.Env.Root), canonical))
	}
	real, ok := way.Follow(p.Env.Links, name)
	return ok && info.lowest == untouched && real == name
}

// Wildcards are the characters that an expanding tool does not take literally (C15).
const Wildcards = "*?[{("

// Admits reports whether a plainly written value also has one reading in this context.
func (p *Context) Admits(canonical []byte, info Lexical, way *LinkCache) bool {
	root := p.Env.Root
	switch {
	case p.Expands && info.wild, p.moved(info), p.Env.Links != nil && !p.itself(canonical, info, way):
		return false
	case info.Absolute: // it must not climb above the root and come back
		_, inside := CutRoot(canonical, []byte(root))
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

// CutRoot makes a path relative to the root, without regard to case for restrictive conditions: the
// root is folded then.
func (p *Context) CutRoot(canonical []byte) (rel []byte, inside bool) {
	if !p.Restrictive || len(canonical) < len(p.root) {
		return CutRoot(canonical, p.root)
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

// AppendAbsolute appends the absolute form of a canonical path that begins at the root, whose letters
// are in lower case for restrictive conditions. It requires a root.
func (p *Context) AppendAbsolute(dst, rel []byte) []byte {
	if dst = append(dst, p.root...); len(rel) > 0 && len(p.root) > 1 {
		dst = append(dst, '/')
	}
	return append(dst, rel...)
}

// CutRoot returns an absolute canonical path relative to the root.
func CutRoot(path, root []byte) (rel []byte, inside bool) {
	rest, ok := bytes.CutPrefix(path, root)
	switch {
	case len(root) == 0 || !ok:
		return nil, false
	case len(rest) == 0 || len(root) == 1:
		return rest, true
	}
	return rest[1:], rest[0] == '/'
}

// Joined appends a relative path to the text of the root.
func Joined(root, rel []byte) []byte {
	out := bytes.Clone(root)
	if len(rel) > 0 && string(root) != string(glob.Root) {
		out = append(out, '/')
	}
	return append(out, rel...)
}

// Plain reports whether a value has one reading only.
func (p *Context) Plain(value []byte) bool {
	var buf [256]byte
	_, certain := p.certain(buf[:0], value)
	return certain
}

// AnyBelow reports whether below returns true for a reading of a directory.
func (p *Context) AnyBelow(dir string, literal bool, below func(r Reading) bool) bool {
	relative := dir == "" || dir[0] != '/' && dir[0] != '~'
	if relative && p.Env.Lost {
		return true
	}
	if relative && p.Env.Also != "" && p.AnyBelow(p.Env.Also+"/"+dir, literal, below) {
		return true
	}
	switch {
	case relative && p.Env.Dir != "":
		dir = p.Env.Dir + "/" + dir
	case dir == "":
		return below(Reading{})
	}
	list, complete := Readings(dir, p.Env, !literal)
	for _, r := range list {
		if strings.HasPrefix(r.Path, "..") || below(r) {
			return true
		}
	}
	return !complete
}
