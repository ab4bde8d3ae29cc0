package match

import "github.com/stopgate/stopgate/internal/regexp/regular"

// ProtectedLine is a line of the built-in list.
type ProtectedLine struct {
	Glob, Names string
	Protection  Protection
	Paths       *regular.Language // the folded canonical paths that it matches
}

// Lines returns the built-in list.
func (p *Protected) Lines() (all []ProtectedLine) {
	for _, l := range p.lines {
		if l.names != "" {
			all = append(all, ProtectedLine{l.glob, l.names, l.protection, regular.FromNFA(p.lineTest(l).nfa())})
		}
	}
	return all
}

// Examined is the result of an examination of a path.
type Examined struct {
	Canonical                   string
	Absolute, High, Upper, Wild bool
	Plain                       bool
}

func examined(canonical []byte, info lexical, plain bool) Examined {
	if !plain {
		return Examined{} // the other results are undefined
	}
	return Examined{string(canonical), info.absolute, info.high, info.upper, info.wild, true}
}

// Examine examines a path as every matcher does.
func Examine(path string) Examined { return examined(examine(nil, []byte(path))) }

// ExamineComponents is Examine without the fast path.
func ExamineComponents(path string) Examined { return examined(examineComponents(nil, []byte(path))) }
