package index

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
)

// Limits of an answer.
const (
	maxTexts = 64      // of a finding
	maxSteps = 1 << 22 // compared tokens of a query; with more the answer has a doubt
)

// Find returns where a value occurs.
func (v *view) Find(value []byte, q *flow.Query) flow.Finding {
	f := v.whole(value, q)
	if !q.Segments || f.Certain {
		return f
	}
	if segments := occur.Segments(value); len(segments) > 1 {
		f = either(f, v.segments(segments, q))
	}
	return f
}

// whole returns where a value occurs as a whole.
func (v *view) whole(value []byte, q *flow.Query) flow.Finding {
	r := occur.Value(value, q)
	s := v.finder(q)
	defer s.close()
	for i := range r.Plain {
		s.find(&r.Plain[i], true)
	}
	for i := range r.Loose {
		if n := &r.Loose[i]; !n.Marks || !holds(r.Plain, n) {
			s.find(n, false)
		}
	}
	f := s.finding()
	f.Possible = f.Possible || r.Open
	return f
}

// segments returns where all segments of a value occur. It is certain if every one is, and possible if
// one of them is.
func (v *view) segments(segments [][]byte, q *flow.Query) flow.Finding {
	out := flow.Finding{Certain: true}
	for i, segment := range segments {
		f := v.whole(segment, q)
		certain, texts, more := out.Certain && f.Certain, f.Texts, f.More
		if i > 0 {
			texts = slices.DeleteFunc(slices.Clone(out.Texts), func(n int) bool { return !slices.Contains(f.Texts, n) })
			more = more || out.More
		}
		out = either(out, f)
		out.Certain, out.Texts, out.More = certain, texts, more
	}
	return out
}

// either returns where one of two values occurs; the texts are those of the second.
func either(a, b flow.Finding) flow.Finding {
	b.Possible = a.Possible || b.Possible
	b.Doubt |= a.Doubt
	if a.First.Number != 0 && (b.First.Number == 0 || a.First.Number < b.First.Number && a.Certain == b.Certain) {
		b.First = a.First
	}
	b.Certain = a.Certain || b.Certain
	return b
}

// Origin returns the first text of any source in which a value occurs.
func (v *view) Origin(value []byte, k flow.Kind) flow.Ref {
	r := occur.Value(value, &flow.Query{Kind: k, Weak: true})
	for _, needles := range [][]occur.Needle{r.Plain, r.Loose} {
		s := v.finder(nil)
		for i := range needles {
			s.find(&needles[i], false)
		}
		s.close()
		if s.first.Number != 0 {
			return s.first
		}
	}
	return flow.Ref{}
}

// finder collects the texts of one query.
type finder struct {
	*view
	query   *flow.Query
	wanted  []bool // sets
	doubt   flow.Doubt
	steps   int
	first   flow.Ref // the first text with a reading
	certain flow.Ref // the first text with certainty
	numbers []int    // of the texts with certainty, or of the first ones of their objects
	some    bool     // a text with some reading

	needle needle // scratch memory
	// The search that is going on.
	part  part
	plain bool
	start int // of the row in numbers
	found bool
}

// finder returns a finder for the texts of a query, all texts without one. The index stays locked
// until it is closed.
func (v *view) finder(q *flow.Query) *finder {
	f := &finder{view: v, query: q, steps: maxSteps, wanted: make([]bool, len(v.sets))}
	if q != nil {
		f.doubt = v.doubt(q)
	}
	for i := range v.sets {
		f.wanted[i] = q == nil || v.sets[i].matches(q)
	}
	v.ix.mu.RLock()
	return f
}

func (f *finder) close() { f.ix.mu.RUnlock() }

// find adds the texts with a needle: all of them if it is plain, else the first.
func (f *finder) find(n *occur.Needle, plain bool) {
	f.needle.set(f.ix.hasher, n, plain)
	f.search(&f.needle, plain)
}

func (f *finder) search(n *needle, plain bool) {
	f.plain = plain
	for _, chain := range f.chains {
		before := len(f.numbers)
		f.found = false
		for _, f.part = range chain {
			n.search(f.part.volume, f.part.texts, &f.steps, f)
			if len(f.numbers)-before > maxTexts || !plain && f.found || f.steps < 0 {
				break
			}
		}
		f.some = f.some || f.found
	}
}

// begin and text implement sink.
func (f *finder) begin() { f.start = len(f.numbers) }

func (f *finder) text(text int) bool {
	if !f.wanted[f.part.sets[text]] {
		return true
	}
	f.found = true
	f.add(f.part, text, f.plain)
	return f.plain && len(f.numbers)-f.start <= maxTexts
}

// add adds a text.
func (f *finder) add(p part, text int, plain bool) {
	set := &f.sets[p.sets[text]]
	number := p.number(text)
	if f.first.Number == 0 || number < f.first.Number {
		f.first = p.ref(text, set.name)
	}
	if plain && !f.damaged && !set.hidden && (f.query == nil || set.certain(f.query, f.lastUser && number <= f.before)) {
		if f.certain.Number == 0 || number < f.certain.Number {
			f.certain = p.ref(text, set.name)
		}
		f.numbers = append(f.numbers, number-int(p.volume.backs[text]))
	}
}

// finding returns the answer.
func (f *finder) finding() flow.Finding {
	slices.Sort(f.numbers)
	numbers := slices.Compact(f.numbers)
	out := flow.Finding{Certain: len(numbers) > 0, Doubt: f.doubt, First: f.first}
	if out.Certain {
		out.First = f.certain
	}
	if f.steps < 0 {
		out.Doubt |= flow.Dropped
	}
	out.More = f.steps < 0 || len(numbers) > maxTexts
	numbers = numbers[:min(len(numbers), maxTexts)]
	out.Texts = numbers
	out.Possible = f.some || out.Doubt != 0
	return out
}

// holds reports whether a needle is one of several.
func holds(needles []occur.Needle, n *occur.Needle) bool {
	return slices.ContainsFunc(needles, func(o occur.Needle) bool {
		return o.Kind == n.Kind && o.Marks == n.Marks && slices.EqualFunc(o.Tokens, n.Tokens, bytes.Equal)
	})
}
