package index_test

import (
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/flow/occur"
)

// naive keeps the texts and compares them token by token.
type naive struct {
	texts  []naiveText
	know   flow.Knowledge
	person int // texts before the latest message of the person
}

type naiveText struct {
	index.Text
	number int
	tokens tokens
	echo   []tokens
}

// tokens are those of a text. Loose words are in rows of words.
type tokens struct {
	plain, words []string
	loose        [][]string
	atoms        [2]map[[2]string]bool // plain, loose: kind and token
	pieces       map[string]bool       // of secrets
}

func tokensOf(text []byte) (out tokens) {
	out.atoms = [2]map[[2]string]bool{{}, {}}
	out.loose = [][]string{nil}
	out.pieces = map[string]bool{}
	occur.Secrets(text, func(p []byte) { out.pieces[string(p)] = true })
	occur.Scan(text, func(t occur.Token) {
		value := string(t.Value)
		last := len(out.loose) - 1
		switch {
		case t.Kind != flow.Text && t.Loose:
			out.atoms[1][[2]string{t.Kind.String(), value}] = true
		case t.Kind != flow.Text:
			out.atoms[0][[2]string{t.Kind.String(), value}] = true
		case t.Loose && value == "":
			out.loose = append(out.loose, nil)
		case t.Loose:
			out.loose[last] = append(out.loose[last], value)
		default:
			out.plain = append(out.plain, value)
			if t.Alone {
				out.atoms[0][[2]string{flow.ID.String(), value}] = true
			}
			if !t.Mark {
				out.words = append(out.words, value)
			}
		}
	})
	return out
}

func (n *naive) add(b *index.Batch) {
	n.know |= b.Know
	if b.Person {
		n.person = len(n.texts)
	}
	var echo []tokens
	for _, e := range b.Echo {
		echo = append(echo, tokensOf(e))
	}
	for _, t := range b.Texts {
		n.texts = append(n.texts, naiveText{Text: t, number: len(n.texts) + 1, tokens: tokensOf(t.Text), echo: echo})
	}
}

func contains(row, part []string) bool {
	for i := 0; i+len(part) <= len(row); i++ {
		if slices.Equal(row[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// has reports whether a text has a needle: plainly, or in any reading.
func (t *tokens) has(n *occur.Needle, plain bool) bool {
	var row []string
	for _, token := range n.Tokens {
		row = append(row, string(token))
	}
	switch {
	case n.Kind != flow.Text:
		atom := [2]string{n.Kind.String(), row[0]}
		return t.atoms[0][atom] || !plain && t.atoms[1][atom]
	case !slices.ContainsFunc(n.Tokens, func(token []byte) bool { return len(tokensOf(token).words) > 0 }):
		return false // marks alone are in every text
	case n.Marks:
		return contains(t.plain, row)
	}
	return contains(t.words, row) || slices.ContainsFunc(t.loose, func(words []string) bool { return contains(words, row) })
}

// has reports whether a needle occurs in a text, and not only by its echo.
func (t *naiveText) has(n *occur.Needle, plain bool) bool {
	echoed := func(plain bool) bool {
		return slices.ContainsFunc(t.echo, func(e tokens) bool { return e.has(n, plain) })
	}
	if n.Kind == flow.Text {
		return t.tokens.has(n, plain) && !echoed(plain)
	}
	atom := [2]string{n.Kind.String(), string(n.Tokens[0])}
	return t.tokens.atoms[0][atom] && !echoed(true) || !plain && t.tokens.atoms[1][atom] && !echoed(false)
}

// of reports whether a text is of a query's sources, and whether for certain.
func (t *naiveText) of(q *flow.Query) (possible, certain bool) {
	for _, want := range q.Sources {
		have := slices.Contains(t.Sources, want)
		if want == flow.Untrusted {
			trusted := slices.ContainsFunc(t.Sources, func(s flow.Source) bool { return slices.Contains(q.Trusted, s) })
			have = slices.Contains(t.Sources, flow.Hidden) || !trusted && (slices.Contains(t.Sources, flow.Tool) || len(t.Suspected) > 0)
		}
		certain = certain || have
		possible = possible || have || slices.Contains(t.Suspected, want)
	}
	return possible, certain && !slices.Contains(t.Sources, flow.Hidden)
}

func (n *naive) find(value []byte, q *flow.Query) (f flow.Finding) {
	r := occur.Value(value, q)
	f.Doubt = n.doubt(q)
	for i := range n.texts {
		t := &n.texts[i]
		possible, certain := t.of(q)
		if !possible {
			continue
		}
		some := false
		for k := range r.Loose {
			some = some || t.has(&r.Loose[k], false)
		}
		exact := false
		for k := range r.Plain {
			exact = exact || t.has(&r.Plain[k], true)
		}
		if (some || exact) && f.First.Number == 0 {
			f.First.Number = t.number
		}
		f.Possible = f.Possible || some || exact
		if exact && certain {
			f.Texts = append(f.Texts, t.number)
		}
	}
	if f.Certain = len(f.Texts) > 0; f.Certain {
		f.First.Number = f.Texts[0]
	}
	f.More = len(f.Texts) > 64
	f.Texts = f.Texts[:min(64, len(f.Texts))]
	f.Possible = f.Possible || r.Open || f.Doubt != 0
	return f
}

func (n *naive) doubt(q *flow.Query) (d flow.Doubt) {
	for _, s := range q.Sources {
		need, ok := map[flow.Source]flow.Knowledge{flow.User: flow.KnowsUser, flow.System: flow.KnowsSystem}[s]
		if !ok {
			need = flow.KnowsResults
		}
		if n.know&need == 0 {
			d |= flow.Unreported
		}
	}
	for i := range n.texts {
		if possible, _ := n.texts[i].of(q); possible && n.texts[i].Opaque {
			d |= flow.Unreported
		}
	}
	return d
}

// carries is the naive [flow.View.Carries]: every row of words of every reading, in every text.
func (n *naive) carries(value []byte, q *flow.Query) (possible bool) {
	var rows [][]string
	pieces := map[string]bool{}
	open := occur.Readings(value, func(reading []byte) bool {
		t := tokensOf(reading)
		for _, words := range append(t.loose, t.words) {
			for i := 0; i+q.Tokens <= len(words); i++ {
				rows = append(rows, words[i:i+q.Tokens])
			}
		}
		occur.Pieces(reading, func(p []byte) { pieces[string(p)] = true })
		return true
	})
	possible = open || n.doubt(q) != 0
	for i := range n.texts {
		t := &n.texts[i]
		if of, _ := t.of(q); !of {
			continue
		}
		for _, row := range rows {
			needle := &occur.Needle{Kind: flow.Text}
			for _, w := range row {
				needle.Tokens = append(needle.Tokens, []byte(w))
			}
			possible = possible || t.has(needle, false)
		}
		occur.Secrets(t.Text.Text, func(p []byte) {
			possible = possible || pieces[string(p)] && !slices.ContainsFunc(t.echo, func(e tokens) bool { return e.pieces[string(p)] })
		})
	}
	return possible
}
