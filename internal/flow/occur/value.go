package occur

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Needle is tokens that a text must have. Of Kind Text they are a sequence, and of every other kind
// one atom.
type Needle struct {
	Kind   flow.Kind
	Tokens [][]byte
	// Marks is set if the marks of a sequence count. Otherwise its words are in a row where a
	// text is read without its marks.
	Marks bool
}

// Reading is how a value is looked for.
type Reading struct {
	// Plain are the needles of the value as it is written: a text with the plain tokens of one of
	// them has the value. Without any, no text has it with certainty.
	Plain []Needle
	// Loose are the needles of everything that the value could mean, those in Plain among them.
	Loose []Needle
	// Open is set if it could mean more than Loose.
	Open bool
	// Weak is set for a value that occurs by chance: it has no needles unless the query wants them.
	Weak bool
}

// Value returns how a value is looked for: the text of a string, or the JSON text of a number.
func Value(value []byte, q *flow.Query) Reading {
	r := reader{q: q}
	r.read(value)
	return r.Reading
}

type reader struct {
	Reading
	q     *flow.Query
	bytes []byte   // memory of tokens
	rows  [][]byte // memory of needles

	splitter *scanner // of words
	split    [][]byte
}

func (r *reader) read(value []byte) {
	if len(bytes.TrimSpace(value)) == 0 {
		return
	}
	if r.Weak = !r.q.Weak && weak(value); r.Weak {
		return
	}
	if isPlain(value) {
		r.plain(value)
	}
	if r.q.Sure {
		return
	}
	r.Loose = append(make([]Needle, 0, 8), r.Plain...)
	r.loose(value)
}

func (r *reader) add(k flow.Kind, token []byte) {
	if len(token) > 0 {
		r.Plain = append(r.Plain, Needle{Kind: k, Tokens: r.row(token)})
	}
}

// keep copies a token.
func (r *reader) keep(token []byte) []byte {
	if len(r.bytes)+len(token) > cap(r.bytes) {
		r.bytes = make([]byte, 0, max(512, len(token)))
	}
	start := len(r.bytes)
	r.bytes = append(r.bytes, token...)
	return r.bytes[start:len(r.bytes):len(r.bytes)]
}

// row returns a row of one token.
func (r *reader) row(token []byte) [][]byte {
	if len(r.rows) == cap(r.rows) {
		r.rows = make([][]byte, 0, 16)
	}
	r.rows = append(r.rows, token)
	return r.rows[len(r.rows)-1 : len(r.rows) : len(r.rows)]
}

// isPlain reports whether all characters of a value are drawn, and have no compatibility form but
// their own.
func isPlain(value []byte) bool {
	for _, c := range value {
		if c >= 0x80 || c < ' ' && classes[c] != white || c == 0x7F {
			return len(normalised(value)) == len(value) && bytes.Equal(normalised(value), value) && !bytes.ContainsFunc(value, func(r rune) bool {
				return spelling.Invisible(r) && !spelling.IsWhite(r) || r == 0xFFFD
			})
		}
	}
	return true
}

// plain adds the needles of a value as it is written.
func (r *reader) plain(value []byte) {
	value = bytes.TrimSpace(value)
	switch r.q.Kind {
	case flow.Email:
		address, ok := plainEmail(value)
		if ok {
			r.add(flow.Email, address)
		}
	case flow.URL:
		r.plainURL(value)
	case flow.Host:
		r.plainHost(value)
	case flow.Text:
		n := Needle{Kind: flow.Text, Tokens: r.tokens(value, true), Marks: true}
		if slices.ContainsFunc(n.Tokens, hasWord) {
			r.Plain = append(r.Plain, n)
		}
	case flow.Path:
		r.plainPath(value)
	case flow.Number:
		if n, ok := plainNumber(value); ok {
			r.add(flow.Number, n)
		}
	case flow.Money:
		n, code, ok := plainMoney(value)
		if ok && code != "" {
			r.add(flow.Money, append([]byte(code+" "), n...))
		} else if ok {
			r.add(flow.Number, n)
		}
	case flow.Date:
		if d, ok := plainDate(value); ok {
			r.add(flow.Date, d)
		}
	case flow.Phone:
		if n, ok := plainPhone(value); ok {
			r.add(flow.Phone, n)
		}
	case flow.IBAN:
		if n, ok := plainIBAN(value); ok {
			r.add(flow.IBAN, n)
		}
	default:
		r.add(flow.ID, value)
	}
}

func hasWord(token []byte) bool {
	return classes[token[0]]&(alnum|high) != 0
}

// tokens returns the words of a value, and its marks.
func (r *reader) tokens(value []byte, marks bool) (out [][]byte) {
	if r.splitter == nil {
		r.splitter = &scanner{words: true}
		r.splitter.each = func(t Token) { r.split = append(r.split, r.keep(t.Value)) }
	}
	r.split = make([][]byte, 0, 8)
	r.splitter.loose = !marks
	r.splitter.scan(normalised(value))
	return r.split
}

func (r *reader) plainURL(value []byte) {
	u, ok := parseURL(value)
	if !ok {
		return
	}
	if r.q.Relation == flow.SameHost {
		r.add(flow.Host, u.host())
	}
	r.add(flow.URL, u.text)
	rest := u.text[u.at-2:]
	switch string(u.text[:u.at-2]) {
	case "":
		r.add(flow.URL, append([]byte("http:"), rest...))
		r.add(flow.URL, append([]byte("https:"), rest...))
	case "http:", "https:":
		r.add(flow.URL, rest)
	}
}

func (r *reader) plainHost(value []byte) {
	if u, ok := parseURL(value); ok {
		r.add(flow.Host, u.host())
	}
}

// parseURL parses a URL with or without a scheme.
func parseURL(value []byte) (u address, ok bool) {
	if bytes.Contains(value, []byte("://")) {
		return canonicalURL(nil, value, false)
	}
	return canonicalURL(nil, append([]byte("http://"), value...), true)
}
