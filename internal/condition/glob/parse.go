package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Root is the first "/" of an absolute path in automata of paths below a root. It is a
// noncharacter, and no wildcard matches it.
const Root = '\U0010FFFF'

// Component is the code points of a path component: all but "/" and [Root].
var Component = automaton.Single('/').Union(automaton.Single(Root)).Complement()

// MaxAlternatives is the maximum number of alternatives of one glob with its braces expanded.
const MaxAlternatives = 1024

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	Literal Kind = iota // one code point as it is written
	Any                 // ?
	Star                // *
	Class               // [a-z]
	Except              // !(a|b)
)

// Token is one element of a glob without braces.
type Token struct {
	*more
	At      int  // byte in the glob
	Rune    rune // of Literal
	Kind    Kind
	Negated bool // of a negated class
}

// more has the fields that few tokens need.
type more struct {
	set    automaton.Set // of Class; for a negated one the complement
	except [][]rune      // of Except: texts, with anyRun for "*"
}

// Text returns the tokens of a text without wildcards.
func Text(text string) []Token {
	tokens := make([]Token, 0, len(text))
	for at, r := range text {
		tokens = append(tokens, Token{Rune: r, At: at})
	}
	return tokens
}

// parser reads a glob into its alternatives.
type parser struct {
	text      string
	pos       int
	separated bool // "/" separates components
	excepts   bool // "!(" begins an exception
	buffers   []Token
}

// Parse returns the token lists of a glob's alternatives: braces expanded, in text order. In a
// separated glob no class matches "/".
func Parse(text string, separated bool) ([][]Token, *Error) {
	return (&parser{text: text, separated: separated}).parse()
}

// ParsePath is Parse for a path: separated, and with exceptions.
func ParsePath(text string) ([][]Token, *Error) {
	return (&parser{text: text, separated: true, excepts: true}).parse()
}

func (p *parser) parse() ([][]Token, *Error) {
	return p.alternatives(false)
}

func (p *parser) fail(at int, hint, format string, args ...any) *Error {
	return &Error{Offset: at, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// alternatives parses up to the end, or up to the brace that closes the group.
func (p *parser) alternatives(inBraces bool) ([][]Token, *Error) {
	start := p.pos
	var done [][]Token
	now := [][]Token{p.buffer()}
	for p.pos < len(p.text) {
		at := p.pos
		c := p.text[at]
		switch {
		case c == '{':
			p.pos++
			inner, err := p.alternatives(true)
			if err != nil {
				return nil, err
			}
			if len(now)*len(inner) > MaxAlternatives {
				return nil, p.fail(at, "write a list under [lists]", "the braces stand for more than %d alternatives", MaxAlternatives)
			}
			now = multiply(now, inner)
			continue
		case c == ',' && inBraces:
			p.pos++
			done = append(done, now...)
			now = [][]Token{p.buffer()}
			continue
		case c == '}' && inBraces:
			p.pos++
			if p.pos-start == 1 {
				return nil, p.fail(at, `\{\} for the two characters`, "braces without alternatives")
			}
			return append(done, now...), nil
		case c == '}':
			return nil, p.fail(at, `\}`, "a closing brace without an opening one")
		}
		token, err := p.token()
		if err != nil {
			return nil, err
		}
		for i := range now {
			now[i] = append(now[i], token)
		}
	}
	if inBraces {
		return nil, p.fail(start-1, "`{a,b}` is either; `\\{` is the character", "an opening brace without a closing one")
	}
	return now, nil
}

// buffer returns an empty list for the tokens up to the next brace or comma. All buffers together
// hold at most as many tokens as the text has bytes.
func (p *parser) buffer() []Token {
	if p.buffers == nil {
		p.buffers = make([]Token, len(p.text))
	}
	n := 0
	for n < len(p.text)-p.pos && p.text[p.pos+n] != '{' && p.text[p.pos+n] != '}' && p.text[p.pos+n] != ',' {
		n++
	}
	b := p.buffers[:0:n]
	p.buffers = p.buffers[n:]
	return b
}

// multiply concatenates every left list with every right one, in one allocation.
func multiply(left, right [][]Token) [][]Token {
	size := 0
	for _, l := range left {
		size += len(right) * len(l)
	}
	for _, r := range right {
		size += len(left) * len(r)
	}
	buffer := make([]Token, 0, size)
	out := make([][]Token, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			from := len(buffer)
			buffer = append(append(buffer, l...), r...)
			out = append(out, buffer[from:len(buffer):len(buffer)])
		}
	}
	return out
}

func (p *parser) token() (Token, *Error) {
	at := p.pos
	r, size := utf8.DecodeRuneInString(p.text[at:])
	p.pos += size
	switch r {
	case '*':
		return Token{Kind: Star, At: at}, nil
	case '?':
		return Token{Kind: Any, At: at}, nil
	case '[':
		set, negated, err := p.class(at)
		return Token{Kind: Class, more: &more{set: set}, Negated: negated, At: at}, err
	case '!':
		if p.excepts && strings.HasPrefix(p.text[p.pos:], "(") {
			p.pos++
			except, err := p.exception(at)
			return Token{Kind: Except, more: &more{except: except}, Negated: true, At: at}, err
		}
	case '\\':
		if p.pos == len(p.text) {
			return Token{}, p.fail(at, `\\`, "a backslash with nothing behind it")
		}
		r, size = utf8.DecodeRuneInString(p.text[p.pos:])
		p.pos += size
	}
	return Token{Kind: Literal, Rune: r, At: at}, nil
}

// class parses the rest of "[a-z]" or "[!a-z]".
func (p *parser) class(at int) (set automaton.Set, negated bool, _ *Error) {
	negated = strings.HasPrefix(p.text[p.pos:], "!")
	if negated {
		p.pos++
	}
	if strings.HasPrefix(p.text[p.pos:], "^") {
		return nil, false, p.fail(p.pos, `[!...] negates, [\^...] is a literal ^`, "a class that starts with ^")
	}
	if strings.HasPrefix(p.text[p.pos:], "[:") {
		return nil, false, p.fail(p.pos, "write the characters", "named classes are not supported")
	}
	var bounds []rune
	for first := true; ; first = false {
		if strings.HasPrefix(p.text[p.pos:], "]") {
			if first {
				return nil, false, p.fail(p.pos, `[\]] for the bracket`, "a class without members")
			}
			p.pos++
			break
		}
		from := p.pos
		low, err := p.member(at)
		if err != nil {
			return nil, false, err
		}
		high := low
		if rest := p.text[p.pos:]; strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]") {
			p.pos++
			if high, err = p.member(at); err != nil {
				return nil, false, err
			}
		}
		if high < low {
			return nil, false, p.fail(from, fmt.Sprintf("`%c-%c`", high, low), "a range that ends before it starts")
		}
		bounds = append(bounds, low, high)
	}
	set = automaton.Ranges(bounds...)
	if p.separated && !negated && len(bounds) == 2 && bounds[0] == '/' && bounds[1] == '/' {
		return nil, false, p.fail(at, "", "a class never matches the separator /")
	}
	if negated {
		set = set.Complement()
	}
	if p.separated {
		set = set.Intersect(Component)
	}
	return set, negated, nil
}

// member parses one code point of a class.
func (p *parser) member(class int) (rune, *Error) {
	rest := p.text[p.pos:]
	escaped := strings.HasPrefix(rest, `\`)
	if escaped {
		rest = rest[1:]
		p.pos++
	}
	if rest == "" {
		return 0, p.fail(class, "`[ab]` is one of these; `\\[` is the character", "an opening bracket without a closing one")
	}
	r, size := utf8.DecodeRuneInString(rest)
	p.pos += size
	return r, nil
}

// Add adds tokens without "**" to an automaton after the state from and returns the end state. star
// are the code points that "*" and "?" match. fold is nil, or the case folding of the texts that
// the automaton will read.
func Add(n *automaton.NFA, from int, tokens []Token, star automaton.Set, fold func(string) string) int {
	for i := 0; i < len(tokens); i++ {
		if text, length := LiteralRun(tokens[i:]); length > 0 {
			if fold != nil {
				text = fold(text)
			}
			from = n.Text(from, text)
			i += length - 1
			continue
		}
		switch tokens[i].Kind {
		case Star:
			if i == 0 || tokens[i-1].Kind != Star {
				from = n.Loop(from, star)
			}
			continue
		case Except:
			members := tokens[i].except
			if len(tokens) == 1 {
				members = append([][]rune{nil}, members...) // a name is never empty
			}
			from = addExcept(n, from, members, star, fold)
			continue
		}
		set := star
		if tokens[i].Kind == Class {
			if set = tokens[i].set; fold != nil {
				set = tokens[i].folded(star)
			}
		}
		next := n.State()
		n.Edge(from, set, next)
		from = next
	}
	return from
}

// folded returns the class for case-folded texts.
func (t Token) folded(star automaton.Set) automaton.Set {
	if !t.Negated {
		return t.set.Folded()
	}
	return t.set.Complement().Folded().Complement().Intersect(star)
}

// LiteralRun returns the literal prefix of tokens and the number of its tokens.
func LiteralRun(tokens []Token) (text string, length int) {
	for length < len(tokens) && tokens[length].Kind == Literal {
		length++
	}
	var b strings.Builder
	b.Grow(length)
	for _, t := range tokens[:length] {
		b.WriteRune(t.Rune)
	}
	return b.String(), length
}
