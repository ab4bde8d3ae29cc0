package pathname

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// PlainPaths returns automata for the plainly written paths, in the form in which analysis writes
// them: each is in all of inside and in none of outside. Beyond ASCII they accept more.
func PlainPaths(env condition.Env, expands bool) (inside, outside []automaton.Walker) {
	env = pathform.NormalEnv(env)
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
		switch pathform.PathBytes[b] {
		case pathform.ByteNever:
			never = append(never, b, b)
		case pathform.ByteEdge:
			edge = append(edge, b, b)
		}
	}
	if expands {
		for _, r := range pathform.Wildcards {
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
	if expands && strings.ContainsAny(path, pathform.Wildcards) {
		return false
	}
	var buf [256]byte
	value := append(buf[:0], path...)
	canonical, _, plain := pathform.ExaminePath(buf[len(value):len(value)], value)
	return plain && string(canonical) == path
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
