package match

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// checkLiterals is compileText without automata, for matchers on strings and paths that compare
// with literals. done is false for all others.
func checkLiterals(s condition.Spec, t condition.Target, restrictive bool) (done bool, _ *condition.SpecError) {
	switch s.Kind {
	case condition.Const, condition.Enum, condition.Prefix:
	default:
		return false, nil
	}
	switch t.Annotation {
	case schema.Path:
		for i, lit := range s.Values {
			if err := checkPathLiteral(s.Kind, lit.Text, restrictive); err != nil {
				err.Index = i
				return true, err
			}
		}
	case schema.None:
		for i, lit := range s.Values {
			if s.Kind == condition.Prefix && lit.Text == "" {
				return true, condition.Invalid(i, "is empty, so the condition always matches", "leave the condition out")
			}
		}
	default:
		return false, nil
	}
	return true, nil
}

// Walkers returns automata whose union contains the strings that satisfy the matcher, nil for none.
// Paths are canonical, relative to the root if they are below, as analysis writes them.
//
// A restrictive matcher on paths may match additional strings beyond ASCII, which compare without
// case there; none of the automata accepts a string that the matcher rejects.
func (m *Matcher) Walkers() []automaton.Walker {
	switch test := m.text.(type) {
	case condition.WalkedTest:
		return test.Walkers()
	case *stepText:
		return []automaton.Walker{test.dfa()}
	case *lengthTest:
		return []automaton.Walker{&lengthWalker{*test}}
	case *pathTest:
		return test.walkers()
	case *outsideTest:
		return test.walkers()
	case *patternText:
		return patternWalkers(test.test)
	case *pathPattern:
		return patternWalkers(test.test)
	case eitherPath:
		a, b := test[0].walkers(), test[1].walkers()
		if a == nil || b == nil {
			return nil
		}
		return append(a, b...)
	}
	return nil
}

// SinglePattern returns the pattern of a condition with a single pattern, nil for others.
func (m *Matcher) SinglePattern() *regular.Pattern {
	var list patterns
	switch test := m.text.(type) {
	case *patternText:
		list, _ = test.test.(patterns)
	case *pathPattern:
		list, _ = test.test.(patterns)
	}
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// Named returns automata whose union contains the literals as written, without the additional
// spellings of restrictive conditions, nil if there are none.
func (m *Matcher) Named() []automaton.Walker {
	switch {
	case !m.restrictive:
		return m.Walkers()
	case m.kind == condition.MaxLength:
		if test, ok := m.text.(*lengthTest); ok {
			return []automaton.Walker{&lengthWalker{lengthTest{most: test.most}}}
		}
		return nil
	}
	switch test := m.text.(type) {
	case condition.WalkedTest:
		return test.Walkers()
	case *patternText:
		return patternWalkers(test.test)
	case *pathPattern:
		return patternWalkers(test.test)
	case *outsideTest:
		return test.walkers()
	case *stepText, *pathTest, eitherPath:
		a := m.language(false)
		if a == nil {
			return nil
		}
		if m.annotation != schema.Path {
			return []automaton.Walker{a}
		}
		return rooted(a, normalEnv(m.env).Root)
	}
	return nil
}

// patternWalkers returns the automata of patterns for the value as written.
func patternWalkers(test spellingTest) []automaton.Walker {
	list, ok := test.(patterns)
	if !ok {
		return nil
	}
	var all []automaton.Walker
	for _, p := range list {
		w := p.Walker()
		if w == nil {
			return nil
		}
		all = append(all, w)
	}
	return all
}

func (t *pathTest) walkers() []automaton.Walker {
	built := t.automaton()
	a := built.language.DFA()
	if a == nil {
		return nil
	}
	if t.env.Root == "" {
		return []automaton.Walker{a}
	}
	return []automaton.Walker{a, &rootWalker{a, built.atRoot, built.inRoot}}
}

// rooted reads a path relative to the root and also after the root's own path.
func rooted(a *automaton.DFA, root string) []automaton.Walker {
	if root == "" {
		return []automaton.Walker{a}
	}
	w := &rootWalker{DFA: a, at: a.After(a.First(), []byte(string(glob.Root)+root[1:]))}
	if w.in = w.at; root != "/" {
		w.in = a.After(w.at, []byte("/"))
	}
	return []automaton.Walker{a, w}
}

// rootWalker reads relative paths after the path of the root. Its first state, which no DFA has, is
// that of the root itself.
type rootWalker struct {
	*automaton.DFA
	at, in uint32
}

const rootState = 1<<32 - 2

func (w *rootWalker) First() uint32 { return rootState }

func (w *rootWalker) Next(state uint32, r rune) uint32 {
	switch {
	case state != rootState:
		return w.DFA.Next(state, r)
	case r == '/':
		return 0 // not a relative path
	}
	return w.DFA.Next(w.in, r)
}

func (w *rootWalker) Accepting(state uint32) bool {
	if state == rootState {
		state = w.at
	}
	return w.DFA.Accepting(state)
}

func (w *rootWalker) Fate(state uint32) automaton.Fate {
	if state == rootState {
		return automaton.Open
	}
	return w.DFA.Fate(state)
}

// Distance is how many code points at least lead to an accepted path.
func (w *rootWalker) Distance(state uint32) int {
	switch {
	case state != rootState:
		return w.DFA.Distance(state)
	case w.Accepting(state):
		return 0
	}
	return w.DFA.Distance(w.in)
}

func (w *rootWalker) Cuts() []rune { return append([]rune{0, '/', '/' + 1}, w.DFA.Cuts()...) }

// lengthWalker counts code points as lengthTest does: for a restrictive matcher only those between
// the first and the last that is not blank.
type lengthWalker struct{ test lengthTest }

func (w *lengthWalker) First() uint32 { return 0 }

// Next updates the count and the number of blanks at the end, which are bounded by the limit.
func (w *lengthWalker) Next(state uint32, r rune) uint32 {
	limit := uint32(w.test.most) + 1
	if limit >= 1<<15 {
		limit = 1<<15 - 1
	}
	count, waiting := state&(1<<16-1), state>>16
	switch {
	case count >= limit:
	case w.test.restrictive && spelling.ZeroWidth.Contains(r):
	case w.test.restrictive && spelling.IsWhite(r):
		if count > 0 {
			waiting = min(waiting+1, limit)
		}
	default:
		count, waiting = min(count+waiting+1, limit), 0
	}
	return waiting<<16 | count
}

func (w *lengthWalker) Accepting(state uint32) bool {
	return state&(1<<16-1) <= uint32(w.test.most)
}

func (w *lengthWalker) Fate(state uint32) automaton.Fate {
	if !w.Accepting(state) {
		return automaton.Rejects
	}
	return automaton.Open
}

func (w *lengthWalker) Cuts() []rune {
	cuts := []rune{0}
	for _, set := range []automaton.Set{spelling.ZeroWidth, spelling.WhiteSpace} {
		for _, s := range set {
			cuts = append(cuts, s.Low, s.High+1)
		}
	}
	return cuts
}

// PlainPaths returns automata for the plainly written paths, in the form in which analysis writes
// them: each is in all of inside and in none of outside. Beyond ASCII they accept more.
func PlainPaths(env condition.Env, expands bool) (inside, outside []automaton.Walker) {
	env = normalEnv(env)
	except := automaton.New()
	devices(except)
	for _, dir := range []string{"/proc", "/dev"} {
		below(except, dir)
	}
	if root := env.Root; root != "" {
		below(except, spelling.Fold(root)) // such a path is written relative to the root
	}
	away := except.Compile().DFA()
	if away == nil {
		return nil, nil // unreachable: the sets are small
	}
	away.FoldASCII()
	return []automaton.Walker{plainPaths(expands)}, []automaton.Walker{away}
}

// below adds a directory and everything in it.
func below(n *automaton.NFA, dir string) {
	at := n.Text(0, dir)
	n.Accept(at)
	if dir != "/" {
		at = n.Text(at, "/")
	}
	n.Accept(n.Loop(at, automaton.Any))
}

// devices adds the paths with a component that is a device name (C9).
func devices(n *automaton.NFA) {
	begin, end := n.State(), n.State()
	n.Free(0, begin)
	before := n.Loop(0, automaton.Any)
	n.Edge(before, automaton.Single('/'), begin)
	names := []string{"con", "prn", "aux", "nul", "conin$", "conout$"}
	for _, port := range []string{"com", "lpt"} {
		for _, number := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"} {
			names = append(names, port+number)
		}
	}
	for _, name := range names {
		n.Free(n.Text(begin, name), end)
	}
	n.Edge(end, automaton.Single(' '), end)
	n.Accept(end)
	n.Accept(n.Loop(n.Text(end, "/"), automaton.Any))
	n.Accept(n.Loop(n.Text(end, "."), automaton.Any))
}

// plainPaths accepts canonical paths of components that all tools read in the same way, as far as
// one automaton can decide; see examine.
func plainPaths(expands bool) *automaton.DFA {
	var never, edge []rune
	for b := rune(0); b < 0x80; b++ {
		switch pathBytes[b] {
		case byteNever:
			never = append(never, b, b)
		case byteEdge:
			edge = append(edge, b, b)
		}
	}
	if expands {
		for _, r := range wildcards {
			never = append(never, r, r)
		}
	}
	name := glob.Component.Minus(automaton.Ranges(never...))
	dull := name.Minus(automaton.Ranges(edge...)).Minus(automaton.Single('~')) // allowed in every position
	digit := automaton.Ranges('0', '9')
	n := automaton.New()
	begin, in, out, tilde, dot, dots := n.State(), n.State(), n.State(), n.State(), n.State(), n.State()
	slash := n.Text(0, "/")
	n.Accept(0)
	n.Accept(slash)
	n.Free(0, begin)
	n.Free(slash, begin)
	n.Accept(in) // after a code point that may end a component
	n.Accept(tilde)
	n.Edge(begin, automaton.Single('.'), dot)
	n.Edge(dot, automaton.Single('.'), dots)
	edges := automaton.Ranges(edge...)
	for _, at := range []int{begin, in, out, tilde, dot, dots} {
		to := dull
		if at == tilde {
			to = dull.Minus(digit)
		}
		n.Edge(at, to, in)
		n.Edge(at, automaton.Single('~'), tilde)
		switch at {
		case begin:
		case dot:
			n.Edge(at, edges.Minus(automaton.Single('.')), out)
		default:
			n.Edge(at, edges, out)
		}
	}
	n.Edge(in, automaton.Single('/'), begin)
	n.Edge(tilde, automaton.Single('/'), begin)
	return n.Compile().DFA()
}

// IsPlainPath reports whether a path is plainly written and canonical: every condition compares it
// as it is. expands is set if the tool expands wildcards in it.
func IsPlainPath(path string, expands bool) bool {
	if expands && strings.ContainsAny(path, wildcards) {
		return false
	}
	var buf [256]byte
	value := append(buf[:0], path...)
	canonical, _, plain := examine(buf[len(value):len(value)], value)
	return plain && string(canonical) == path
}

// IsPlainText reports whether the restrictive and permissive readings of a text are equal: it is
// its own form under K21.
func IsPlainText(text string) bool {
	for i, r := range text {
		if r >= utf8.RuneSelf && spelling.ZeroWidth.Contains(r) || spelling.IsWhite(r) && (i == 0 || i+utf8.RuneLen(r) == len(text)) {
			return false
		}
	}
	return true
}

// PathText converts a path of analysis to an argument: the root itself to ".", and with "./" in
// front if it would be read as an option or a home directory.
func PathText(canonical string) string {
	switch {
	case canonical == "":
		return "."
	case canonical[0] == '-' || canonical[0] == '~':
		return "./" + canonical
	}
	return canonical
}
