package glob

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// anyRun is "*" among the code points of an exception.
const anyRun rune = -1

// exception reads the rest of "!(a|*b)".
func (p *parser) exception(at int) (except [][]rune, _ *Error) {
	var text []rune
	for p.pos < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		p.pos += size
		switch {
		case r == '|' || r == ')':
			except = append(except, text)
			text = nil
			if r == '|' {
				continue
			}
			if len(except) == 1 && len(except[0]) == 0 {
				return nil, p.fail(at, `!(.example|.sample)`, "an exception without members")
			}
			return except, nil
		case r == '*':
			if len(text) == 0 || text[len(text)-1] != anyRun {
				text = append(text, anyRun)
			}
			continue
		case strings.ContainsRune("?[{(/", r):
			return nil, p.fail(p.pos-size, `texts and *: !(.example|*.sample); for the character itself \`+string(r), "an exception with %q in it", r)
		case r == '\\' && p.pos < len(p.text):
			r, size = utf8.DecodeRuneInString(p.text[p.pos:])
			p.pos += size
		}
		text = append(text, r)
	}
	return nil, p.fail(at, `\!`, "an exception without its closing parenthesis")
}

// CheckException rejects an exception that excludes less than it seems to: "*" takes any text, so
// that "*!(.go)" matches everything, and a component is never empty.
func CheckException(tokens []Token) *Error {
	for _, t := range tokens {
		switch {
		case t.Kind != Except:
		case slices.ContainsFunc(tokens, func(t Token) bool { return t.Kind == Star }):
			return &Error{Offset: t.At, Message: "`*` stands for what the exception leaves out too", Hint: "an exception already stands for any other text"}
		}
	}
	return nil
}

// exceptState is the set of positions in the members of an exception at which a text may be: pairs
// of a member and the number of its elements that were read, in order.
type exceptState [][2]int

// addExcept adds every run of star after from that matches no member of an exception, and returns
// the end states. It follows all members at once; a text that has left all of them is free.
func addExcept(n *automaton.NFA, from int, members [][]rune, star automaton.Set, fold func(string) string) int {
	if fold != nil {
		members = foldedMembers(members, fold)
	}
	free, end := n.State(), n.State()
	n.Edge(free, star, free)
	n.Free(free, end)
	states := map[string]int{}
	var grow func(at exceptState) int
	grow = func(at exceptState) int {
		if len(at) == 0 {
			return free
		}
		key := at.key()
		if state, ok := states[key]; ok {
			return state
		}
		state := n.State()
		states[key] = state
		letters, ends := at.next(members)
		if !ends {
			n.Free(state, end)
		}
		others := star
		for _, r := range letters {
			n.Edge(state, automaton.Single(r), grow(at.step(members, r)))
			taken := automaton.Single(r)
			if fold != nil {
				taken = taken.Folded()
			}
			others = others.Minus(taken)
		}
		n.Edge(state, others, grow(at.step(members, anyRun)))
		return state
	}
	var first exceptState
	for m := range members {
		first = append(first, [2]int{m, 0})
	}
	n.Free(from, grow(first.closed(members)))
	return end
}

// key returns the state as a map key.
func (at exceptState) key() string {
	var b []byte
	for _, p := range at {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(p[0])), uint64(p[1]))
	}
	return string(b)
}

// next returns, in order, the code points that some position accepts; ends reports whether a member
// ends here.
func (at exceptState) next(members [][]rune) (letters []rune, ends bool) {
	for _, p := range at {
		if rest := members[p[0]][p[1]:]; len(rest) == 0 {
			ends = true
		} else if rest[0] != anyRun {
			letters = append(letters, rest[0])
		}
	}
	slices.Sort(letters)
	return slices.Compact(letters), ends
}

// step reads a code point; anyRun is one that no position expects.
func (at exceptState) step(members [][]rune, r rune) exceptState {
	var next exceptState
	for _, p := range at {
		switch rest := members[p[0]][p[1]:]; {
		case len(rest) == 0:
		case rest[0] == anyRun:
			next = append(next, p)
		case rest[0] == r:
			next = append(next, [2]int{p[0], p[1] + 1})
		}
	}
	return next.closed(members)
}

// closed adds the positions after a "*" that matches the empty text.
func (at exceptState) closed(members [][]rune) exceptState {
	for i := 0; i < len(at); i++ {
		if rest := members[at[i][0]][at[i][1]:]; len(rest) > 0 && rest[0] == anyRun {
			at = append(at, [2]int{at[i][0], at[i][1] + 1})
		}
	}
	slices.SortFunc(at, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(at)
}

// foldedMembers returns the members for case-folded texts.
func foldedMembers(members [][]rune, fold func(string) string) [][]rune {
	var all [][]rune
	for _, m := range members {
		var folded []rune
		for len(m) > 0 {
			if m[0] == anyRun {
				folded, m = append(folded, anyRun), m[1:]
				continue
			}
			text := m
			if at := slices.Index(m, anyRun); at >= 0 {
				text = m[:at]
			}
			folded, m = append(folded, []rune(fold(string(text)))...), m[len(text):]
		}
		all = append(all, folded)
	}
	return all
}
