package regular

import (
	"math"
	"unicode/utf8"
)

// parser reads a pattern by the grammar of ECMA-262 (2025) with the parameters
// UnicodeMode and NamedCaptureGroups (section 22.2.1). It stops at the first
// early error.
type parser struct {
	text   string
	pos    int
	depth  int
	groups int // capturing groups seen so far
	// references to check when all groups are known
	numbered   []reference
	named      []reference
	names      map[string]bool
	properties map[string]set // those of \p{...} that were looked up
	flags      flags          // in force here
	modified   bool           // the pattern has inline modifiers
}

// flags are the modifiers of ECMA-262: i, m and s.
type flags struct{ fold, lines, dots bool }

func (f *flags) set(c byte, value bool) {
	switch c {
	case 'i':
		f.fold = value
	case 'm':
		f.lines = value
	case 's':
		f.dots = value
	}
}

// read makes a class of a set under the flags: with i, the code points that differ from a
// member in case only (Canonicalize, which folds simply).
func (p *parser) read(s set) set {
	if p.flags.fold {
		return s.Folded()
	}
	return s
}

// wordSet is the set of \w, \b and \B under the flags (WordCharacters).
func (p *parser) wordSet() set { return p.read(words()) }

type reference struct {
	at     int
	number int
	name   string
}

// syntaxErr carries an error up through the recursive descent; parse recovers
// only it.
type syntaxErr struct{ *SyntaxError }

func (p *parser) fail(at int, message, hint string) {
	panic(syntaxErr{&SyntaxError{Offset: at, Message: message, Hint: hint}})
}

// parse returns the tree of a pattern.
func parse(text string) (root *node, modified bool, err *SyntaxError) {
	defer func() {
		if r := recover(); r != nil {
			e, ours := r.(syntaxErr)
			if !ours {
				panic(r) // a mistake in this package; no test reaches it
			}
			root, modified, err = nil, false, e.SyntaxError
		}
	}()
	p := &parser{text: text, names: map[string]bool{}, properties: map[string]set{}}
	root, _ = p.disjunction()
	if p.pos < len(text) { // disjunction stops at an unmatched ")" only
		p.fail(p.pos, `")" without "("`, `write "\)" for the character`)
	}
	for _, r := range p.numbered {
		if r.number > p.groups {
			p.fail(r.at, "there is no such capturing group", "")
		}
	}
	for _, r := range p.named {
		if !p.names[r.name] {
			p.fail(r.at, "there is no capturing group of this name", "")
		}
	}
	return root, p.modified, nil
}

// peek returns the byte at the position, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// accept consumes s if it is next.
func (p *parser) accept(s string) bool {
	if len(p.text)-p.pos >= len(s) && p.text[p.pos:p.pos+len(s)] == s {
		p.pos += len(s)
		return true
	}
	return false
}

// next consumes one code point; the pattern is valid UTF-8.
func (p *parser) next() rune {
	r, n := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += n
	return r
}

// disjunction parses alternatives up to an unmatched ")" or the end. It returns
// the group names it defines: a name may occur once in each alternative.
func (p *parser) disjunction() (*node, map[string]bool) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		p.fail(p.pos, "groups nest too deep", "")
	}
	n := &node{op: opAlternate, at: p.pos}
	defined := map[string]bool{}
	for {
		sub, names := p.alternative()
		n.subs = append(n.subs, sub)
		for name := range names {
			defined[name] = true
		}
		if !p.accept("|") {
			break
		}
	}
	if len(n.subs) == 1 {
		return n.subs[0], defined
	}
	return n, defined
}

func (p *parser) alternative() (*node, map[string]bool) {
	n := &node{op: opConcat, at: p.pos}
	defined := map[string]bool{}
	for p.pos < len(p.text) && p.peek() != '|' && p.peek() != ')' {
		start := p.pos
		sub, names, quantifiable := p.term()
		for name := range names {
			if defined[name] {
				p.fail(start, "two groups of one alternative have the same name", "")
			}
			defined[name] = true
		}
		n.subs = append(n.subs, p.quantified(sub, quantifiable))
	}
	return n, defined
}

// term parses one assertion or atom, without its quantifier.
func (p *parser) term() (n *node, names map[string]bool, quantifiable bool) {
	at := p.pos
	switch c := p.peek(); c {
	case '^':
		p.pos++
		return &node{op: opStart, at: at, lines: p.flags.lines}, nil, false
	case '$':
		p.pos++
		return &node{op: opEnd, at: at, lines: p.flags.lines}, nil, false
	case '(':
		return p.group()
	case '.':
		p.pos++
		if p.flags.dots {
			return &node{op: opClass, at: at, set: everything()}, nil, true
		}
		return &node{op: opClass, at: at, set: lineEnds().Complement()}, nil, true
	case '[':
		return p.class(), nil, true
	case '\\':
		return p.atomEscape()
	case '*', '+', '?':
		p.fail(at, "nothing to repeat before "+quote(c), "write \"\\"+string(c)+"\" for the character")
	case '{':
		p.fail(at, `"{" without anything to repeat`, `write "\{" for the character`)
	case ']', '}':
		p.fail(at, quote(c)+" stands alone", "write \"\\"+string(c)+"\" for the character")
	}
	return &node{op: opClass, at: at, set: p.read(single(p.next()))}, nil, true
}

func quote(c byte) string { return `"` + string(c) + `"` }

// quantified parses a quantifier after an atom, if there is one.
func (p *parser) quantified(atom *node, quantifiable bool) *node {
	at := p.pos
	least, most := 0, 0
	switch p.peek() {
	case '*':
		p.pos++
		least, most = 0, unlimited
	case '+':
		p.pos++
		least, most = 1, unlimited
	case '?':
		p.pos++
		least, most = 0, 1
	case '{':
		least, most = p.counts()
	default:
		return atom
	}
	if !quantifiable {
		p.fail(at, "an assertion cannot be repeated", "")
	}
	p.accept("?") // lazy: the same texts match
	if most >= unreachableCount {
		most = unlimited
	}
	if least >= unreachableCount && atom.consumes() {
		return concat(&node{op: opClass, at: at}, atom)
	}
	return &node{op: opRepeat, at: at, subs: []*node{atom}, min: least, max: most}
}

// unreachableCount is a number of characters that no text has: arguments are far smaller.
// To repeat something more often is not to end, or never to match.
const unreachableCount = 1 << 30

// counts parses {n}, {n,} or {n,m}.
func (p *parser) counts() (least, most int) {
	at := p.pos
	p.pos++
	least, ok := p.decimal()
	most = least
	if ok && p.accept(",") {
		if most, ok = p.decimal(); !ok {
			most, ok = unlimited, true
		}
	}
	if !ok || !p.accept("}") {
		p.fail(at, `"{" does not begin a count`, `write "\{" for the character`)
	}
	if most != unlimited && most < least {
		p.fail(at, "the counts are out of order", "")
	}
	return least, most
}

// decimal parses a run of digits. Large numbers stay large.
func (p *parser) decimal() (value int, ok bool) {
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		if value < math.MaxInt32 {
			value = value*10 + int(c-'0')
		}
		p.pos++
		ok = true
	}
	return value, ok
}

// group parses everything that starts with "(".
func (p *parser) group() (n *node, names map[string]bool, quantifiable bool) {
	at := p.pos
	n = &node{op: opGroup, at: at}
	quantifiable = true
	name, outside := "", p.flags
	switch {
	case p.accept("(?:"):
	case p.accept("(?="):
		n.op = opLook
	case p.accept("(?!"):
		n.op, n.negative = opLook, true
	case p.accept("(?<="):
		n.op, n.behind = opLook, true
	case p.accept("(?<!"):
		n.op, n.behind, n.negative = opLook, true, true
	case p.accept("(?<"):
		p.groups++
		name = p.groupName()
		p.names[name] = true
	case p.accept("(?"):
		p.modified = true
		p.modifiers(at)
	default:
		p.pos++
		p.groups++
	}
	if n.op == opLook {
		quantifiable = false
	}
	sub, names := p.disjunction()
	if !p.accept(")") {
		p.fail(at, `"(" is not closed`, `write "\(" for the character`)
	}
	p.flags = outside
	if name != "" {
		if names[name] {
			p.fail(at, "two groups of one alternative have the same name", "")
		}
		names[name] = true
	}
	n.subs = []*node{sub}
	return n, names, quantifiable
}

// modifiers parses the flags of "(?ims-ims:" after "(?".
func (p *parser) modifiers(at int) {
	seen := map[byte]bool{}
	read := func(value bool) (count int) {
		for c := p.peek(); c == 'i' || c == 'm' || c == 's'; c = p.peek() {
			if seen[c] {
				p.fail(p.pos, "a modifier is repeated", "")
			}
			seen[c] = true
			p.flags.set(c, value)
			p.pos++
			count++
		}
		return count
	}
	added, removed := read(true), 0
	minus := p.accept("-")
	if minus {
		removed = read(false)
	}
	if !p.accept(":") || added+removed == 0 {
		p.fail(at, `"(?" does not begin a group`, `groups are "(...)", "(?:...)" and "(?<name>...)"`)
	}
}

// groupName parses a name and ">" after "(?<" or "\k<".
func (p *parser) groupName() string {
	at := p.pos
	start, part := p.known(at, "ID_Start"), p.known(at, "ID_Continue")
	var name []rune
	for !p.accept(">") {
		if p.pos == len(p.text) {
			p.fail(at, "the group name is not closed", "")
		}
		charAt := p.pos
		r := p.next()
		if r == '\\' {
			if !p.accept("u") {
				p.fail(charAt, "this is not part of a group name", "")
			}
			r = p.unicodeEscape(charAt)
		}
		ok := r == '$' || r == '_' || start.Contains(r)
		if len(name) > 0 {
			ok = ok || r == 0x200C || r == 0x200D || part.Contains(r)
		}
		if !ok {
			p.fail(charAt, "this is not part of a group name", "names are letters, digits, _ and $, and begin with no digit")
		}
		name = append(name, r)
	}
	if len(name) == 0 {
		p.fail(at, "the group name is empty", "")
	}
	return string(name)
}
