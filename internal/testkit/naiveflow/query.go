package naiveflow

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
)

// Query is a question about the texts of sources.
type Query struct {
	Question
	Sources []string
	Tokens  int // of carries
}

// Finding is the answer to a query. Doubt makes a value possible; Seen is set if a text has it.
type Finding struct {
	Certain, Possible, Seen bool
	Doubt                   flow.Doubt
	Texts                   []Text // in which it is certain
}

// Text names a text: its number, and the event that it is of.
type Text struct{ Number, Event int }

// Find returns where a value occurs.
func (v *View) Find(value string, q *Query) Finding { return v.find(value, q, len(v.Events)) }

func (v *View) find(value string, q *Query, before int) (f Finding) {
	f.Doubt = v.doubt(q, before)
	for n, p := range v.pieces {
		certain, may := v.of(p, q)
		if p.event >= before || !certain && !may {
			continue
		}
		a, b := p.certain(value, &q.Question), p.possible(value, &q.Question)
		if certain && !p.hidden && v.is(a, "certain", q.key(), value, p.text) {
			f.Certain, f.Seen = true, true
			f.Texts = append(f.Texts, Text{n, p.event})
		}
		f.Seen = f.Seen || v.is(b, "possible", q.key(), value, p.text)
	}
	f.Possible = f.Seen || f.Doubt != 0
	return f
}

func (q *Question) key() string {
	return strings.Join([]string{q.Kind.String(), string(rune('0' + q.Relation)), map[bool]string{true: "weak"}[q.Weak], map[bool]string{true: "segments"}[q.Segments]}, " ")
}

// Carries returns whether a value holds a part of a text.
func (v *View) Carries(value string, q *Query) (f Finding) {
	f.Doubt = v.doubt(q, len(v.Events))
	for _, p := range v.pieces {
		if certain, may := v.of(p, q); !certain && !may {
			continue
		}
		a := Carries(value, p.text, q.Tokens)
		for _, e := range p.echo {
			if Carries(value, e, q.Tokens) != No {
				a = min(a, Either)
			}
		}
		f.Seen = f.Seen || v.is(a, "carries", string(rune(q.Tokens)), value, p.text)
	}
	f.Possible = f.Seen || f.Doubt != 0
	return f
}

// of reports whether a text has a source of the query, for certain or perhaps.
func (v *View) of(p *piece, q *Query) (certain, may bool) {
	for _, s := range q.Sources {
		switch {
		case s == "untrusted":
			trusted := slices.ContainsFunc(v.Policy.Sources, func(d Source) bool { return d.Trusted && slices.Contains(p.sources, d.Name) })
			certain = certain || p.hidden || p.result && !trusted
		case slices.Contains(p.sources, s):
			certain = certain || !(s == "user" && v.Policy.Last && p.earlier)
			may = true
		case slices.Contains(p.may, s):
			may = true
		}
	}
	return certain, may || certain
}

// certain returns whether the text has a value that its own call did not bring.
func (p *piece) certain(value string, q *Question) Answer {
	a := q.Certain(value, p.text)
	for _, e := range p.echo {
		a = min(a, Yes-q.Certain(value, e))
	}
	return a
}

func (p *piece) possible(value string, q *Question) Answer {
	a := q.Possible(value, p.text)
	if a == No || !slices.ContainsFunc(p.echo, func(e string) bool { return q.Possible(value, e) != No }) {
		return a
	}
	if p.certain(value, q) == Yes {
		return Yes
	}
	rest := folded(p.text)
	for _, e := range p.echo {
		rest = strings.ReplaceAll(rest, folded(e), " ")
	}
	if slices.Contains(p.echo, value) && q.Possible(value, rest) == No && q.Possible(value, strings.ReplaceAll(p.text, value, " ")) == No {
		return No
	}
	return Either
}

// doubt returns why it is not known where a value occurs.
func (v *View) doubt(q *Query, before int) (d flow.Doubt) {
	if v.unreported(q.Sources) {
		d |= flow.Unreported
	}
	for _, p := range v.pieces {
		if certain, may := v.of(p, q); p.opaque && p.event < before && (certain || may) {
			d |= flow.Unreported
		}
	}
	return d
}

func (v *View) unreported(sources []string) bool {
	return slices.ContainsFunc(sources, func(s string) bool {
		switch s {
		case "user":
			return v.Knows&flow.KnowsUser == 0
		case "system":
			return v.Knows&flow.KnowsSystem == 0
		}
		return v.Knows&flow.KnowsResults == 0
	})
}

// Read reports whether texts of sources, or results of tools, may have been read.
func (v *View) Read(sources, tools []string, untilUser bool) bool {
	if v.unreported(sources) || len(tools) > 0 && v.Knows&flow.KnowsResults == 0 {
		return true
	}
	since := -1
	if untilUser {
		since = v.person
	}
	for _, p := range v.pieces {
		if certain, may := v.of(p, &Query{Sources: sources}); p.event > since && (certain || may) {
			return true
		}
	}
	for i := range v.Events {
		e := &v.Events[i]
		if again := slices.Contains(v.Events[:i], *e); e.Kind != "result" || i <= since || again {
			continue
		}
		if len(tools) > 0 && (e.Tool == "" || (&Source{Tools: tools}).names(e.Tool)) {
			return true
		}
	}
	return false
}
