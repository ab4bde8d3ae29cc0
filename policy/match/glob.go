package match

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/automaton"
)

// The glob language (K18): "*" any run, "?" one code point, "[a-z]" and "[!a-z]"
// classes, "{a,b}" alternatives that may be nested, "\x" a literal x. Where "/"
// separates components, none of them matches it but an alternative that spells
// it, and "**" as a whole component stands for zero or more components. On a path
// "!(a|b)" is any text within a component but these.

// maxAlternatives bounds what the braces of one glob may multiply to.
const maxAlternatives = 1024

type globKind uint8

const (
	globLiteral globKind = iota
	globAny              // ?
	globStar             // *
	globClass
	globExcept // !(a|b)
)

// globToken is one element of a glob without braces.
type globToken struct {
	*globMore
	at      int // byte in the glob
	r       rune
	kind    globKind
	negated bool // it says what it leaves out: set is the complement of what is written
}

// globMore is what few tokens have.
type globMore struct {
	set    automaton.Set // of globClass
	except [][]rune      // of globExcept: texts, with anyRun for "*"
}

// literalTokens is a text without wildcards.
func literalTokens(text string) []globToken {
	tokens := make([]globToken, 0, len(text))
	for at, r := range text {
		tokens = append(tokens, globToken{r: r, at: at})
	}
	return tokens
}

// globParser reads a glob into its alternatives.
type globParser struct {
	text      string
	pos       int
	separated bool // "/" separates components
	excepts   bool // "!(" begins an exception
}

// parseGlob returns the token lists of a glob's alternatives: braces multiplied
// out, in text order.
func parseGlob(text string, separated bool) ([][]globToken, *SpecError) {
	return (&globParser{text: text, separated: separated}).parse()
}

// parsePathGlob is parseGlob for paths.
func parsePathGlob(text string) ([][]globToken, *SpecError) {
	return (&globParser{text: text, separated: true, excepts: true}).parse()
}

func (p *globParser) parse() ([][]globToken, *SpecError) {
	lists, err := p.alternatives(false)
	if err == nil {
		return lists, nil
	}
	err.Index = 0
	return nil, err
}

func (p *globParser) fail(at int, hint, format string, args ...any) *SpecError {
	return &SpecError{Offset: at, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// alternatives reads up to the end, or up to the brace that closes the group.
func (p *globParser) alternatives(inBraces bool) ([][]globToken, *SpecError) {
	start := p.pos
	var done [][]globToken
	now := [][]globToken{p.room()}
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
			if len(now)*len(inner) > maxAlternatives {
				return nil, p.fail(at, "write a list under [lists]", "the braces stand for more than %d alternatives", maxAlternatives)
			}
			now = multiply(now, inner)
			continue
		case c == ',' && inBraces:
			p.pos++
			done = append(done, now...)
			now = [][]globToken{p.room()}
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
		return nil, p.fail(start-1, `\{`, "an opening brace without a closing one")
	}
	return now, nil
}

// room is an empty list for the tokens up to the next brace or comma.
func (p *globParser) room() []globToken {
	n := strings.IndexAny(p.text[p.pos:], "{},")
	if n < 0 {
		n = len(p.text) - p.pos
	}
	return make([]globToken, 0, n)
}

func multiply(left, right [][]globToken) [][]globToken {
	var out [][]globToken
	for _, l := range left {
		for _, r := range right {
			out = append(out, slices.Concat(l, r))
		}
	}
	return out
}

func (p *globParser) token() (globToken, *SpecError) {
	at := p.pos
	r, size := utf8.DecodeRuneInString(p.text[at:])
	p.pos += size
	switch r {
	case '*':
		return globToken{kind: globStar, at: at}, nil
	case '?':
		return globToken{kind: globAny, at: at}, nil
	case '[':
		set, negated, err := p.class(at)
		return globToken{kind: globClass, globMore: &globMore{set: set}, negated: negated, at: at}, err
	case '!':
		if p.excepts && strings.HasPrefix(p.text[p.pos:], "(") {
			p.pos++
			except, err := p.exception(at)
			return globToken{kind: globExcept, globMore: &globMore{except: except}, negated: true, at: at}, err
		}
	case '\\':
		if p.pos == len(p.text) {
			return globToken{}, p.fail(at, `\\`, "a backslash with nothing behind it")
		}
		r, size = utf8.DecodeRuneInString(p.text[p.pos:])
		p.pos += size
	}
	return globToken{kind: globLiteral, r: r, at: at}, nil
}

// class reads the rest of "[a-z]" or "[!a-z]".
func (p *globParser) class(at int) (set automaton.Set, negated bool, _ *SpecError) {
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
			return nil, false, p.fail(from, fmt.Sprintf("%c-%c", high, low), "a range that ends before it starts")
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
		set = set.Intersect(notSlash)
	}
	return set, negated, nil
}

// member reads one code point of a class.
func (p *globParser) member(class int) (rune, *SpecError) {
	rest := p.text[p.pos:]
	escaped := strings.HasPrefix(rest, `\`)
	if escaped {
		rest = rest[1:]
		p.pos++
	}
	if rest == "" {
		return 0, p.fail(class, `\[`, "an opening bracket without a closing one")
	}
	r, size := utf8.DecodeRuneInString(rest)
	p.pos += size
	return r, nil
}

// addRun adds tokens without "**" behind from, with star for the code points
// that "*" and "?" match, and returns where they end. A folded run matches folded
// texts.
func addRun(n *automaton.NFA, from int, tokens []globToken, star automaton.Set, folded bool) int {
	for i := 0; i < len(tokens); i++ {
		if text, length := literalRun(tokens[i:]); length > 0 {
			if folded {
				text = fold(text)
			}
			from = n.Text(from, text)
			i += length - 1
			continue
		}
		switch tokens[i].kind {
		case globStar:
			from = n.Loop(from, star)
			continue
		case globExcept:
			from = addExcept(n, from, tokens[i].except, star, folded)
			continue
		}
		set := star
		if tokens[i].kind == globClass {
			if set = tokens[i].set; folded {
				set = tokens[i].folded(star)
			}
		}
		next := n.State()
		n.Edge(from, set, next)
		from = next
	}
	return from
}

// folded is the class for folded texts: what it is without regard to case.
func (t globToken) folded(star automaton.Set) automaton.Set {
	if !t.negated {
		return t.set.Folded()
	}
	return t.set.Complement().Folded().Complement().Intersect(star)
}

// literalRun returns the text that tokens begin with and how many of them it is.
func literalRun(tokens []globToken) (text string, length int) {
	var b strings.Builder
	for length < len(tokens) && tokens[length].kind == globLiteral {
		b.WriteRune(tokens[length].r)
		length++
	}
	return b.String(), length
}
