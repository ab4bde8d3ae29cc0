package pathname

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// packedGlobs are globs that are compiled when a path begins as one of them does: of thousands of
// rules most name another directory.
type packedGlobs struct {
	list []packedGlob
	// relative and absolute find globs by the text that their paths begin with; members are indices
	// of list.
	relative, absolute prefixes
	kept               atomic.Int32 // compiled globs that are kept
	once               sync.Once
	joined             languages // all of them, for texts that too many begin
}

// packedGlob is one glob of a condition.
type packedGlob struct {
	text     string
	member   int32
	compiled atomic.Pointer[languages] // nil until it is needed
}

// prefixes is a list of texts, and after build an index.
type prefixes struct {
	entries []literal.Entry
	*literal.Prefixes
}

func (s *prefixes) build() { s.Prefixes, s.entries = literal.NewPrefixes(s.entries), nil }

// Limits of compiled globs: those that are kept, to bound the memory, and those that are evaluated one
// by one for a path, since one automaton for all is faster beyond.
const (
	maxKept  = 1024
	maxAlone = 64
)

// Packs reports whether a group can find paths by how all of some globs begin.
func Packs(globs []string) bool {
	return len(globs) > 0 && !slices.ContainsFunc(globs, func(text string) bool {
		return !glob.PlainPath(text) || beginning(text) == ""
	})
}

// beginning returns the text that all paths of a plain glob begin with. "a/**" matches "a" too.
func beginning(text string) string {
	begin, rest := glob.Beginning(text)
	if rest != "" && len(begin) > 1 {
		begin = strings.TrimSuffix(begin, "/")
	}
	return begin
}

func (p *packedGlobs) add(text string, restrictive bool, member int32) {
	begin := beginning(text)
	if restrictive {
		begin = spelling.Fold(begin)
	}
	to := &p.relative
	if begin[0] == '/' {
		to = &p.absolute
	}
	to.entries = append(to.entries, literal.Entry{Text: begin, Member: int32(len(p.list))})
	p.list = append(p.list, packedGlob{text: text, member: member})
}

func (p *packedGlobs) build() {
	p.relative.build()
	p.absolute.build()
}

// packedBelow appends the globs that match a canonical path below the root.
func (g *Group) packedBelow(rel []byte, members []int32) []int32 {
	var few [maxAlone + 1]int32
	candidates := g.packed.relative.Find(rel, few[:0])
	if g.packed.absolute.Len() > 0 && g.context.Env.Root != "" && !Climbs(rel) {
		var buffer [256]byte
		candidates = g.packed.absolute.Find(g.context.AppendAbsolute(buffer[:0], rel), candidates)
	}
	return g.each(candidates, members, func(l *languages, members []int32) []int32 { return g.among(l, rel, members) })
}

// packedOutside appends those that match an absolute path outside of the root.
func (g *Group) packedOutside(path []byte, members []int32) []int32 {
	var few [maxAlone + 1]int32
	candidates := g.packed.absolute.Find(path, few[:0])
	if g.context.Restrictive && g.context.Env.Root == "" && g.packed.relative.Len() > 0 { // a relative one may be anywhere
		for i, c := range path {
			if c == '/' {
				candidates = g.packed.relative.Find(path[i+1:], candidates)
			}
		}
	}
	return g.each(candidates, members, func(l *languages, members []int32) []int32 { return l.find(members, path) })
}

// each evaluates candidates by find, all globs at once if they are many.
func (g *Group) each(candidates, members []int32, find func(l *languages, members []int32) []int32) []int32 {
	if len(candidates) > maxAlone {
		return find(g.joined(), members)
	}
	for _, i := range candidates {
		members = find(g.compiled(&g.packed.list[i]), members)
	}
	return members
}

// compiled returns the language of a glob.
func (g *Group) compiled(p *packedGlob) *languages {
	if l := p.compiled.Load(); l != nil {
		return l
	}
	l := new(languages)
	l.addGlob(g.states(p.text), p.member)
	if g.packed.kept.Add(1) <= maxKept {
		p.compiled.Store(l)
	}
	return l
}

func (g *Group) joined() *languages {
	all := &g.packed.joined
	g.packed.once.Do(func() {
		for i := range g.packed.list {
			p := &g.packed.list[i]
			all.addGlob(g.states(p.text), p.member)
		}
	})
	return all
}

// states returns the states of a plain glob.
func (g *Group) states(text string) *PathStates {
	restrictive := g.context.Restrictive
	b := Builder{Env: g.context.Env, Restrictive: restrictive, Folded: restrictive, Suspects: restrictive}
	return NewPathStates(b, func() []Literal { return plainGlob(text, restrictive) })
}

// plainGlob reads a glob that is certainly valid.
func plainGlob(text string, restrictive bool) []Literal {
	list, err := ReadPath(condition.Glob, text, restrictive)
	if err != nil { // without it the condition would be weaker
		panic("pathname: " + text + " is plain, and is no valid glob: " + err.Message) // unreachable: see [glob.PlainPath]
	}
	return list
}
