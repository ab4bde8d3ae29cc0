package match

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/automaton"
)

// pathTest judges the value of a path parameter: certainty if it is permissive,
// suspicion if it is restrictive (1.3, THREATS C).
type pathTest struct {
	place
	*pathStates
	// aimed limits values with wildcards, nil if all count.
	aimed func(pattern string) bool
	// listed leaves it to the caller that there may be more readings than are listed.
	listed bool
}

// pathAutomaton is the set of paths that a test is about.
type pathAutomaton struct {
	language *automaton.Language // of canonical paths; of folded ones if restrictive
	// rootText is what the automaton reads for the root: its path, with a mark in
	// place of the first "/". Behind it only absolute literals go on, so that the
	// names of the directories above the project satisfy no relative one. atRoot
	// and inRoot are the states after it, and after it and a "/".
	rootText       []byte
	atRoot, inRoot uint32
}

// rootMark stands for the first "/" of the absolute form of a path below the
// root. It is a noncharacter, which counts as invisible in a path.
const rootMark = '\U0010FFFF'

// place is where a value is read, and how.
type place struct {
	env         Env // normal
	root        []byte
	mark        []byte // what an automaton reads for the root
	expands     bool
	restrictive bool
	folded      bool // readings are compared without case and in compatibility form
	system      bool // the root is below /proc or /dev: nothing is certain
	usual       bool // a plain relative path without wildcards has one reading here
}

func newPlace(env Env, expands, restrictive bool) place {
	p := place{env: env.normal(), expands: expands, restrictive: restrictive, folded: restrictive}
	p.system = isSystem([]byte(p.env.Root))
	if p.root = []byte(p.env.Root); restrictive {
		p.root = []byte(fold(p.env.Root))
	}
	if p.env.Root != "" {
		p.mark = []byte(string(rootMark) + string(p.root[1:]))
	}
	p.usual = !p.system && p.env.Root != "/" && !p.moved(lexical{}) && p.env.Links == nil
	return p
}

// normal returns the directories in canonical form; one that is not absolute is
// unknown.
func (e Env) normal() Env {
	for _, dir := range []*string{&e.Root, &e.Home, &e.Dir, &e.Run, &e.also} {
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

// ofCommands is the environment of the paths that command lines name.
func (e Env) ofCommands() Env {
	e = e.normal()
	e.lost = e.Lost
	if e.Run == "" {
		return e
	}
	stays := cmp.Or(e.Dir, e.Root, "/")
	if e.Doubt && stays != e.Run {
		e.also = stays
	}
	e.Dir, e.Run, e.Doubt = e.Run, "", false
	return e.normal()
}

// automaton returns the set of paths, built once.
func (t *pathTest) automaton() *pathAutomaton {
	t.once.Do(func() { t.built = buildPath(t.nfa(), t.place) })
	return &t.built
}

func buildPath(n *automaton.NFA, p place) pathAutomaton {
	a := pathAutomaton{language: n.Compile()}
	a.rootText = p.rootText()
	if dfa := a.language.DFA(); dfa != nil {
		if p.folded {
			dfa.FoldASCII()
		}
		a.atRoot = dfa.After(dfa.First(), a.rootText)
		a.inRoot = a.atRoot
		if p.env.Root != "/" {
			a.inRoot = dfa.After(a.atRoot, []byte("/"))
		}
	}
	return a
}

// rootText is what an automaton reads for the root, nil if there is none.
func (p *place) rootText() []byte {
	root := p.env.Root
	if root == "" {
		return nil
	}
	if p.folded {
		root = fold(root)
	}
	return []byte(string(rootMark) + root[1:])
}

func (t *pathTest) match(value []byte) bool {
	var buf [256]byte
	canonical, info, plain := t.examine(buf[:0], value)
	if plain && t.admits(canonical, info) {
		return t.holds(canonical, info.high)
	}
	return t.restrictive && t.suspects(Readings(string(value), t.env, t.expands))
}

func (t *pathTest) judge(v *Value) bool { return t.judgeFrom(v, &t.place) }

// judgeFrom judges a value that is read from a place.
func (t *pathTest) judgeFrom(v *Value, p *place) bool {
	if canonical, certain := v.certain(p); certain {
		return t.holds(canonical, v.info.high)
	}
	return t.restrictive && t.suspects(v.readings(p))
}

// suspects judges the readings of a value.
func (t *pathTest) suspects(list []Reading, complete bool) bool {
	for _, r := range list {
		if r.Glob && t.mayHold(r.Path) || !r.Glob && t.holds([]byte(r.Path), true) {
			return true
		}
	}
	return !complete && !t.listed
}

// certain returns the canonical form of a value, in dst or in the value itself,
// and reports that it is the only reading.
func (p *place) certain(dst, value []byte) (canonical []byte, certain bool) {
	canonical, info, plain := p.examine(dst, value)
	return canonical, plain && p.admits(canonical, info)
}

// examine is [examine] with certainty about where a relative path begins: one that is
// plain is what it names from the directory of the call.
func (p *place) examine(dst, value []byte) (canonical []byte, info lexical, plain bool) {
	canonical, info, plain = examine(dst, value)
	if plain && p.moved(info) {
		canonical, info = p.arrive(canonical, info)
	}
	return canonical, info, plain
}

// moved reports that a path begins in another directory than the root. Suspicion takes
// it for one that begins there too, and so lists its readings.
func (p *place) moved(info lexical) bool {
	return (p.env.Dir != "" || p.env.also != "" || p.env.lost) && !info.absolute
}

// arrive makes a canonical relative path absolute.
func (p *place) arrive(canonical []byte, info lexical) ([]byte, lexical) {
	if p.restrictive || p.env.also != "" || p.env.lost || isSystem([]byte(p.env.Dir)) {
		return canonical, info
	}
	whole, there := appendCanonical(nil, []byte(p.env.Dir+"/"+string(canonical)))
	there.high, there.wild = info.high, info.wild
	return whole, there
}

// itself reports that no link leads a path elsewhere than it says. Behind ".." a link
// decides where one is.
func (p *place) itself(canonical []byte, info lexical) bool {
	name := string(canonical)
	if !info.absolute {
		if p.env.Root == "" {
			return true // nobody knows where it begins
		}
		name = string(joined([]byte(p.env.Root), canonical))
	}
	real, ok := p.env.Links.Real(name)
	return ok && info.lowest == untouched && real == name
}

// wildcards are what an expanding tool does not take literally (C15).
const wildcards = "*?[{("

// admits reports that a plainly written value has one reading in this place too.
func (p *place) admits(canonical []byte, info lexical) bool {
	root := p.env.Root
	switch {
	case p.expands && info.wild, p.moved(info), p.env.Links != nil && !p.itself(canonical, info):
		return false
	case info.absolute: // it may not climb above the root and come back
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

// cutRoot returns what an absolute canonical path is below the root.
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

// holds judges one canonical path in its two forms, relative to the root and
// absolute, as far as they exist; folded as well if suspicion is asked. high says
// that it may have code points above ASCII.
func (t *pathTest) holds(canonical []byte, high bool) bool {
	if t.walked.more(canonical) {
		return t.walks(canonical, high)
	}
	if t.folded && (high || t.automaton().language.DFA() == nil) {
		if folded := []byte(fold(string(canonical))); t.inside(folded) {
			return true
		}
	}
	return t.inside(canonical)
}

// walks is holds without the automaton.
func (t *pathTest) walks(canonical []byte, high bool) bool {
	if t.folded {
		if high && t.walksInside([]byte(fold(string(canonical)))) {
			return true
		}
		lower := make([]byte, len(canonical))
		for i, c := range canonical {
			lower[i] = lowerASCII(c)
		}
		canonical = lower
	}
	return t.walksInside(canonical)
}

func (t *pathTest) walksInside(canonical []byte) bool {
	if len(canonical) > 0 && canonical[0] == '/' {
		rel, ok := t.cutRoot(canonical)
		if !ok {
			return t.walk(canonical)
		}
		canonical = rel
	}
	switch {
	case t.walk(canonical):
		return true
	case t.env.Root == "" || climbs(canonical):
		return false
	}
	return t.walkBelow(t.rootText(), canonical)
}

func (t *pathTest) inside(canonical []byte) bool {
	a := t.automaton()
	if len(canonical) > 0 && canonical[0] == '/' {
		rel, ok := t.cutRoot(canonical)
		if !ok {
			return a.language.Accepts(canonical)
		}
		canonical = rel
	}
	dfa := a.language.DFA()
	switch {
	case a.language.Accepts(canonical):
		return true
	case t.env.Root == "" || climbs(canonical):
		return false
	case dfa == nil:
		return a.language.Accepts(joined(a.rootText, canonical))
	case len(canonical) == 0:
		return dfa.Accepting(a.atRoot)
	}
	return dfa.Accepting(dfa.After(a.inRoot, canonical))
}

// joined puts a relative path behind the text of the root.
func joined(root, rel []byte) []byte {
	out := bytes.Clone(root)
	if len(rel) > 0 && string(root) != string(rootMark) {
		out = append(out, '/')
	}
	return append(out, rel...)
}

// cutRoot makes a path relative to the root, ignoring case where suspicion is
// asked: the root is folded then.
func (p *place) cutRoot(canonical []byte) (rel []byte, inside bool) {
	if !p.restrictive || len(canonical) < len(p.root) {
		return cutRoot(canonical, p.root)
	}
	for i, c := range p.root {
		if lowerASCII(canonical[i]) != c {
			return nil, false
		}
	}
	rel, inside = canonical[len(p.root):], true
	if len(rel) > 0 && len(p.root) > 1 {
		inside, rel = rel[0] == '/', rel[1:]
	}
	return rel, inside
}

// mayHold judges a value that the tool expands: it holds if some path it can
// stand for does.
func (t *pathTest) mayHold(pattern string) bool {
	a := t.automaton()
	dfa, every := a.language.DFA(), t.aimed == nil
	switch {
	case !every && !t.aimed(pattern):
		return false
	case dfa == nil || dfa.Meets(dfa.First(), valuePattern(pattern, every)):
		return true
	case !strings.HasPrefix(pattern, "/"):
		return t.env.Root != "" && dfa.Meets(a.inRoot, valuePattern(pattern, every))
	}
	rel, ok := insideRoot(pattern, t.env.Root)
	return ok && dfa.Meets(dfa.First(), valuePattern(rel, every))
}

// wholeTest judges one spelling of a complete value.
type wholeTest interface{ holds(text []byte) bool }

// pathPattern is pattern on a path: it sees the cleaned form if it is permissive,
// every reading if it is restrictive (K20).
type pathPattern struct {
	place
	test wholeTest
}

func (t *pathPattern) match(value []byte) bool {
	var v Value
	v.Reset(value)
	return t.judge(&v)
}

func (t *pathPattern) judge(v *Value) bool {
	canonical, certain := v.certain(&t.place)
	if rel, ok := cutRoot(canonical, []byte(t.env.Root)); ok {
		canonical = rel
	}
	switch {
	case !t.restrictive:
		return certain && t.test.holds(canonical)
	case t.test.holds(v.text):
		return true
	case certain:
		return t.reads(string(canonical))
	}
	list, complete := v.readings(&t.place)
	return !complete || slices.ContainsFunc(list, func(r Reading) bool { return r.Glob || t.reads(r.Path) })
}

// reads judges one reading, with and without case.
func (t *pathPattern) reads(path string) bool {
	return t.test.holds([]byte(path)) || t.test.holds([]byte(fold(path)))
}

// plain reports that a value has one reading only.
func (p *place) plain(value []byte) bool {
	var buf [256]byte
	_, certain := p.certain(buf[:0], value)
	return certain
}
