package usage

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/glob"
)

// Covers reports that every command which certainly follows a usage certainly follows one of
// some others. False is no answer.
func Covers(others []string, text string) bool {
	if slices.Contains(others, text) {
		return true
	}
	u, err := parse(text)
	if err != nil {
		return false
	}
	var all []*usage
	for _, other := range others {
		if o, err := parse(other); err == nil {
			all = append(all, o)
		}
	}
	for _, one := range u.spelled() {
		if !slices.ContainsFunc(all, func(o *usage) bool { return o.covers(one) }) {
			return false
		}
	}
	return true
}

// maxSpelled bounds the usages that one with alternatives is taken apart into.
const maxSpelled = 1000

// spelled is a usage for each choice of its alternatives, of as many words as the bound allows.
func (u *usage) spelled() []*usage {
	list := []*usage{u}
	for i := range u.elements {
		words := u.elements[i].glob.literals()
		if u.elements[i].kind != oneWord || len(words) < 2 || len(list)*len(words) > maxSpelled {
			continue
		}
		var next []*usage
		for _, one := range list {
			for _, word := range words {
				plain := *one
				plain.elements = slices.Clone(one.elements)
				plain.elements[i].glob = wordGlob{first: word, exact: []string{word}}
				next = append(next, &plain)
			}
		}
		list = next
	}
	return list
}

// covers compares element by element: o may permit more options, earlier ones and more words.
func (o *usage) covers(u *usage) bool {
	if slices.ContainsFunc(o.excluded, func(name string) bool { return !slices.Contains(u.excluded, name) }) {
		return false
	}
	var from func(i, j int, have []option) bool
	from = func(i, j int, have []option) bool {
		switch {
		case i == len(u.elements):
			return !slices.ContainsFunc(o.elements[j:], func(e element) bool { return e.kind != options && e.kind != anyWords }) &&
				(u.elements[i-1].kind != anyWords || o.elements[len(o.elements)-1].kind == anyWords)
		case j < len(o.elements) && o.elements[j].kind == options:
			return from(i, j+1, append(slices.Clip(have), o.elements[j].options...))
		case u.elements[i].kind == options:
			return permits(have, u.elements[i].options) && from(i+1, j, have)
		case j == len(o.elements):
			return u.elements[i].kind == oneWord && u.elements[i].glob.isOption(have) && !u.ends() && from(i+1, j, have)
		}
		if e := &u.elements[i]; e.kind == oneWord && e.glob.isOption(have) && !u.ends() && from(i+1, j, have) {
			return true
		}
		if includes(&o.elements[j], &u.elements[i]) && from(i+1, j+1, have) {
			return true
		}
		return o.elements[j].kind == anyWords &&
			(from(i, j+1, have) || u.elements[i].kind == oneWord && !u.elements[i].glob.dashed() && from(i+1, j, have))
	}
	return from(0, 0, nil)
}

// includes reports that an element takes every word that another one takes.
func includes(e, other *element) bool {
	switch {
	case e.kind != other.kind || e.placeholder != other.placeholder:
		return false
	case e.kind != oneWord:
		return true
	case len(other.glob.alternatives) > 0:
		return e.glob.same(&other.glob)
	}
	return !slices.ContainsFunc(other.glob.exact, func(word string) bool {
		return !slices.Contains(e.glob.exact, word) && (strings.HasPrefix(word, "-") || !e.glob.text([]byte(word)))
	})
}

// same reports globs that are written alike. Those with words and wildcards are not compared.
func (g *wordGlob) same(other *wordGlob) bool {
	if len(g.alternatives)+len(other.alternatives) == 0 {
		return slices.Equal(g.exact, other.exact)
	}
	return len(g.exact)+len(other.exact) == 0 && g.first == other.first
}

// dashed reports a glob that an option may match.
func (g *wordGlob) dashed() bool {
	return slices.ContainsFunc(g.exact, func(word string) bool { return strings.HasPrefix(word, "-") }) ||
		slices.ContainsFunc(g.alternatives, func(tokens []glob.Token) bool {
			return len(tokens) > 0 && tokens[0].Kind == glob.Literal && tokens[0].Rune == '-'
		})
}

// isOption reports a glob of words that are all permitted options without a value.
func (g *wordGlob) isOption(have []option) bool {
	words := g.literals()
	return words != nil && !slices.ContainsFunc(words, func(word string) bool {
		return !strings.HasPrefix(word, "-") || word == "--" || !slices.ContainsFunc(have, func(o option) bool { return o.name == word && !o.wild && o.value == nil && !o.runs && !o.root })
	})
}

// ends reports a usage of commands that may end their options with "--".
func (u *usage) ends() bool {
	return slices.ContainsFunc(u.elements, func(e element) bool {
		return slices.ContainsFunc(e.options, func(o option) bool { return o.name == "--" || o.wild }) || e.kind == oneWord && e.glob.text([]byte("--"))
	})
}

// permits reports that some options are all among others.
func permits(have, required []option) bool {
	valued := slices.ContainsFunc(required, func(o option) bool { return o.value != nil || o.runs || o.root })
	any := !valued && slices.ContainsFunc(have, func(o option) bool { return o.name == "-*" && o.value == nil && !o.runs && !o.root })
	return !slices.ContainsFunc(required, func(w option) bool {
		if any && w.name != "--" && strings.HasPrefix(w.name, "-") && !w.wild {
			return false
		}
		return !slices.ContainsFunc(have, func(h option) bool {
			return h.name == w.name && h.wild == w.wild && h.runs == w.runs && h.root == w.root && (h.value == nil) == (w.value == nil) &&
				(h.value == nil || h.value.same(w.value))
		})
	})
}

// Disjoint reports that no command certainly follows both usages: they need different words.
// False is no answer.
func Disjoint(text, other string) bool {
	u, err := parse(text)
	o, fault := parse(other)
	return err == nil && fault == nil && !u.runs() && !o.runs() && !meet(u, o, pair{first: true})
}

// Apart reports whether no command certainly follows one usage and possibly another one. Since
// [List.Suspects] also reads values of options and words after wrappers as commands, this is known
// only for usages without wildcards; false means unknown.
func Apart(certain, possible string) bool {
	c, err := parse(certain)
	p, fault := parse(possible)
	if err != nil || fault != nil || c.runs() || !c.closed() {
		return false
	}
	for at := range c.elements {
		if meet(c, p, pair{c: at, first: true}) {
			return false
		}
	}
	return true
}

// runs reports a usage of a command that runs another one, which may follow anything.
func (u *usage) runs() bool {
	return slices.ContainsFunc(u.elements, func(e element) bool {
		return e.kind == runsCommand || slices.ContainsFunc(e.options, func(o option) bool { return o.runs })
	})
}

// closed reports a usage of which all words and options are written out.
func (u *usage) closed() bool {
	return !slices.ContainsFunc(u.elements, func(e element) bool {
		return e.kind != oneWord && e.kind != options || e.kind == oneWord && e.glob.literals() == nil ||
			slices.ContainsFunc(e.glob.exact, func(word string) bool { return strings.Contains(word, "=") }) ||
			slices.ContainsFunc(e.options, func(o option) bool { return o.wild || o.value != nil || o.root || strings.Contains(o.name, "=") })
	})
}

// pair is a state of two usages before a word. value: the word may be the value of an option,
// to the first or to the second; first: it names the program.
type pair struct {
	c, p          int
	value, ignore bool
	first         bool
}

// meet searches for words that both accept; an element with wildcards accepts any word.
func meet(c, p *usage, from pair) bool {
	seen := make(map[pair]bool)
	queue := []pair{from}
	push := func(s pair) {
		if !seen[s] {
			seen[s] = true
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.c == len(c.elements) && s.p == len(p.elements) {
			return true
		}
		// Elements that need no word.
		if s.c < len(c.elements) && (c.elements[s.c].kind == options || c.elements[s.c].kind == anyWords) {
			push(pair{s.c + 1, s.p, s.value, s.ignore, s.first})
		}
		if s.p < len(p.elements) && (p.elements[s.p].kind == options || p.elements[s.p].kind == anyWords) {
			push(pair{s.c, s.p + 1, s.value, s.ignore, s.first})
		}
		// An option, which the second passes wherever it is, and its value perhaps.
		if options, values := c.optionsBefore(s.c); !s.first && options {
			after := []int{s.p}
			if s.p < len(p.elements) && p.elements[s.p].mayTakeOption() {
				after = append(after, s.p+1)
			}
			for _, at := range after {
				push(pair{s.c, at, false, true, false})
				if values {
					push(pair{s.c, at, true, true, false})
				}
			}
		}
		for _, next := range c.steps(s, p) {
			push(next)
		}
	}
	return false
}

// mayTakeOption reports an element that an option may be, to suspicion.
func (e *element) mayTakeOption() bool {
	words := e.glob.literals()
	return e.kind == oneWord && (words == nil || slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") }))
}

// optionsBefore reports a state in which options may stand, and whether one has a value.
func (u *usage) optionsBefore(at int) (any, values bool) {
	for i := range u.elements[:at] {
		for j := range u.elements[i].options {
			o := &u.elements[i].options[j]
			any, values = true, values || o.value != nil || o.root
		}
	}
	return any, values
}

// steps returns the states of both usages after one word.
func (u *usage) steps(s pair, p *usage) (list []pair) {
	var words []string // that the first usage wants, nil for any
	to := []int{}
	switch {
	case s.value:
		to = append(to, s.c)
	case s.c == len(u.elements):
		return nil
	case u.elements[s.c].kind == anyWords:
		to = append(to, s.c)
	case u.elements[s.c].kind == oneWord:
		to, words = append(to, s.c+1), u.elements[s.c].glob.literals()
	case u.elements[s.c].kind == options:
		return nil
	default:
		to = append(to, s.c+1)
	}
	var after []int
	if s.ignore || words == nil || slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		after = append(after, s.p)
	}
	if s.p < len(p.elements) {
		switch e := &p.elements[s.p]; e.kind {
		case anyWords, runsCommand:
			after = append(after, s.p, s.p+1)
		case oneWord:
			if needed := e.glob.literals(); words == nil || needed == nil || slices.ContainsFunc(words, func(word string) bool {
				return slices.ContainsFunc(needed, func(other string) bool {
					return strings.EqualFold(base(word), base(other)) || s.first && strings.EqualFold(strings.TrimSuffix(base(word), ".exe"), base(other))
				})
			}) {
				after = append(after, s.p+1)
			}
		case options:
		default:
			after = append(after, s.p+1)
		}
	}
	for _, c := range to {
		for _, b := range after {
			list = append(list, pair{c: c, p: b, ignore: words != nil && slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") })})
		}
	}
	return list
}

// base is the last component of a path.
func base(word string) string { return word[strings.LastIndexByte(word, '/')+1:] }
