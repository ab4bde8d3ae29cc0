package naiveflow

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
)

// Question is how a value is looked for.
type Question struct {
	Kind     flow.Kind
	Relation flow.Relation
	Weak     bool
	Segments bool
}

// Weak are the common words of the tests, which have no origin by occurrence.
var Weak = []string{"yes", "no", "true", "false", "all", "today", "tomorrow", "none", "null"}

// asked is a question about a text; tokens is that of carries, and -1 for a possible occurrence.
type asked struct {
	Question
	value, text string
	tokens      int
}

var memory sync.Map

// remembered returns the answer to a question that was asked before.
func remembered(q asked, answer func() Answer) Answer {
	if a, ok := memory.Load(q); ok {
		return a.(Answer)
	}
	a := answer()
	memory.Store(q, a)
	return a
}

// IsWeak reports whether a value occurs by chance: it is short, a small number or a common word.
func IsWeak(value string) bool {
	value = strings.TrimSpace(value)
	if utf8.RuneCountInString(value) < 3 || slices.Contains(Weak, folded(value)) {
		return true
	}
	return match(`^-?\d{1,3}([.,]\d{1,2})?$`, value)
}

// Certain returns whether a text has a value, as it is written.
func (q *Question) Certain(value, text string) Answer {
	return remembered(asked{*q, value, text, 0}, func() Answer { return q.certain(value, text) })
}

func (q *Question) certain(value, text string) Answer {
	if strings.TrimSpace(value) == "" {
		return No
	}
	best := No
	if q.Weak || !IsWeak(value) {
		switch {
		case q.Relation == flow.SameHost && q.Kind == flow.URL:
			best = max(Occurs(flow.Host, hostOf(value), text), Occurs(flow.URL, value, text))
		case q.Relation == flow.Below && q.Kind == flow.Path:
			best = below(value, text, q.Weak)
		default:
			best = Occurs(q.Kind, value, text)
		}
	}
	if segments := strings.Split(strings.TrimSpace(value), "/"); q.Segments && len(segments) > 1 && best < Yes {
		every := Yes
		one := *q
		one.Segments = false
		for _, s := range segments {
			every = min(every, one.Certain(s, text))
		}
		best = max(best, every)
	}
	return best
}

func hostOf(value string) string {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	if u, err := url.Parse(value); err == nil && u.User == nil {
		return u.Host
	}
	return ""
}

// below searches for a path and for the folders that it is in.
func below(value, text string, weak bool) Answer {
	best := Occurs(flow.Path, value, text)
	p, ok := canonical(flow.Path, value)
	for ok && best < Yes {
		if p = path.Dir(p); p == "/" || p == "." || p == "~" || !weak && IsWeak(p) {
			break
		}
		best = max(best, Occurs(flow.Path, p, text))
	}
	return best
}

// Possible returns whether some reading of a value occurs in some reading of a text: surely if it
// occurs in words, or after one step of decoding; surely not if they have no word in common.
func (q *Question) Possible(value, text string) Answer {
	return remembered(asked{*q, value, text, -1}, func() Answer { return q.possible(value, text) })
}

func (q *Question) possible(value, text string) Answer {
	if strings.TrimSpace(value) == "" || !q.Weak && !q.Segments && IsWeak(value) {
		return No
	}
	if q.Certain(value, text) == Yes {
		return Yes
	}
	if plainly(value, text, q.Weak) {
		return Yes
	}
	if related(value, text) {
		return Either
	}
	return No
}

// plainly reports whether the words of a value are in a row of those of a text, one of them decoded.
func plainly(value, text string, weak bool) bool {
	values, texts := readings(value, 1), readings(text, 1)
	for i, v := range values {
		for j, t := range texts {
			words := runs(v)
			if i > 0 && j > 0 || len(words) == 0 || len(words) == 1 && !weak && IsWeak(words[0]) {
				continue
			}
			if inRow(words, runs(t)) {
				return true
			}
		}
	}
	return false
}

// ordinary are the words that unrelated addresses have in common.
var ordinary = []string{"http", "https", "www", "example", "mailto", "at", "dot"}

// related reports whether a reading of a value has a word that a reading of a text has, wherever it
// is; ordinary words count only if there are no others.
func related(value, text string) bool {
	texts := readings(text, 3)
	for _, v := range readings(value, 3) {
		words := runs(v)
		rare := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(ordinary, w) || IsWeak(w) })
		if len(rare) == 0 {
			rare = words
		}
		rare = append(rare, squeezed(v))
		for _, t := range texts {
			t = squeezed(t)
			if slices.ContainsFunc(rare, func(w string) bool { return w != "" && strings.Contains(t, w) }) {
				return true
			}
		}
	}
	return false
}
