package plaintext

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// LengthTest is max_length on a string: the number of code points, of the shortest form for a
// restrictive condition.
type LengthTest struct {
	Most        int
	Restrictive bool
}

func (t *LengthTest) Start(*condition.State) condition.Result { return condition.Undecided }

func (t *LengthTest) Feed(s *condition.State, text []byte) (condition.Result, int) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case !t.Restrictive:
			s.At++
		case r >= utf8.RuneSelf && spelling.ZeroWidth.Contains(r):
		case spelling.IsWhite(r):
			if s.At > 0 {
				s.Tail++
			}
		default:
			s.At += s.Tail + 1
			s.Tail = 0
		}
		if int64(s.At) > int64(t.Most) {
			return condition.Miss, i
		}
	}
	return condition.Undecided, len(text)
}

func (t *LengthTest) End(*condition.State) bool { return true }

func (t *LengthTest) Match(value []byte) bool { return t.Holds(value) }

func (t *LengthTest) Holds(text []byte) bool {
	var s condition.State
	r, _ := t.Feed(&s, text)
	return r == condition.Undecided
}

// CompleteLength is max_length on a value that is evaluated as a whole; Plain is required of it by a
// permissive condition.
type CompleteLength struct {
	Length LengthTest
	Plain  func([]byte) bool
}

func (t *CompleteLength) Match(value []byte) bool {
	return t.Length.Holds(value) && (t.Length.Restrictive || t.Plain(value))
}
