package analysis

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// none is the index of no rule.
const none = -1

// column indexes rules that consist of one condition on one variable: for a value
// it finds the first of them that holds. Literals are found by hash, beginnings by
// the hashes of the value's own beginnings, ranges by their ends; only the other
// conditions are asked one by one.
type column struct {
	tables  [2]table // as written, and without ASCII case
	rest    []entry  // texts of other kinds, and open sets
	single  []entry  // of them, those that are asked one by one
	joined  []joined // and those that are asked together
	within  contents // and those that are asked only if a text has their literal
	keyed   keyed
	key     func(string) (string, bool) // of the variable
	headed  [2]heads                    // and those that are asked only if a text has their beginning, as in tables
	bools   [2]int32
	objects map[string]int32
	points  map[jsonstream.Decimal]int32
	ups     []end // ranges that go up to the end of the line, in rule order
	downs   []end // ranges that come from the beginning
	between []entry
	every   int32
	entries []entry // all of them, in rule order
}

// table finds rules by literals of their texts.
type table struct {
	exact, below map[string]int32
	lengths      []bool // which lengths keys of below have
}

// entry is a rule and its condition.
type entry struct {
	rule      int32
	condition *Condition
}

// end is how far the ranges up to a rule reach, and the rule whose range it is.
type end struct {
	rule, owner int32
	cut         Cut
}

func newColumn(key func(string) (string, bool)) *column {
	c := &column{key: key, every: none, bools: [2]int32{none, none}, objects: map[string]int32{}, points: map[jsonstream.Decimal]int32{}}
	for i := range c.tables {
		c.tables[i] = table{exact: map[string]int32{}, below: map[string]int32{}}
	}
	return c
}

// put notes the first rule of a key. Rules are added in order.
func put[K comparable](m map[K]int32, key K, rule int32) {
	if _, ok := m[key]; !ok {
		m[key] = rule
	}
}

func (c *column) add(rule int32, k *Condition) {
	e := entry{rule, k}
	c.entries = append(c.entries, e)
	s := k.Set
	if s.Every {
		if c.every == none {
			c.every = rule
		}
		return
	}
	t := &c.tables[0]
	if s.Texts.Folded {
		t = &c.tables[1]
	}
	for _, text := range s.Texts.Exact {
		put(t.exact, text, rule)
	}
	for _, text := range s.Texts.Below {
		put(t.below, text, rule)
		for len(t.lengths) <= len(text) {
			t.lengths = append(t.lengths, false)
		}
		t.lengths[len(text)] = true
	}
	if !s.Texts.literal() {
		c.rest = append(c.rest, e)
		if c.key != nil && s.Texts.Keys != nil {
			c.keyed.add(e)
		} else if h := &c.headed[s.Texts.form()]; c.within.fewer(&s.Texts, h) {
			c.within.add(e)
		} else if !h.add(e) {
			c.single = append(c.single, e)
			c.join()
		}
	}
	for i, holds := range [2]bool{s.False, s.True} {
		if holds && c.bools[i] == none {
			c.bools[i] = rule
		}
	}
	for _, text := range s.Objects {
		put(c.objects, text, rule)
	}
	for _, in := range s.Intervals {
		c.addInterval(e, in)
	}
}

func (c *column) addInterval(e entry, in Interval) {
	d, point := in.single()
	switch {
	case point:
		put(c.points, d, e.rule)
	case in.High.End > 0:
		if n := len(c.ups); n == 0 || in.Low.Cmp(c.ups[n-1].cut) < 0 {
			c.ups = append(c.ups, end{e.rule, e.rule, in.Low})
		}
	case in.Low.End < 0:
		if n := len(c.downs); n == 0 || in.High.Cmp(c.downs[n-1].cut) > 0 {
			c.downs = append(c.downs, end{e.rule, e.rule, in.High})
		}
	default:
		c.between = append(c.between, e)
	}
}

// reach is how far the ranges of the rules below a limit go.
func reach(ends []end, limit int32) (end, bool) {
	low, high := 0, len(ends)
	for low < high {
		mid := (low + high) / 2
		if ends[mid].rule < limit {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return end{}, false
	}
	return ends[low-1], true
}

// first returns the first rule below limit whose condition holds for a value.
// odd: literals do not decide about it.
func (c *column) first(v Value, odd bool, limit int32) int32 {
	best := limit
	take := func(rule int32, ok bool) {
		if ok && rule != none && rule < best {
			best = rule
		}
	}
	take(c.every, true)
	switch v.Kind {
	case Text:
		if odd {
			for _, e := range c.entries {
				if e.rule >= best {
					break
				}
				take(e.rule, !e.condition.Set.Every && e.condition.Holds(v))
			}
			break
		}
		c.tables[0].find(v.Text, take)
		if len(c.tables[1].exact)+len(c.tables[1].below) > 0 {
			c.tables[1].find(foldASCII(v.Text), take)
		}
		if len(c.within.by) > 0 {
			c.within.find(v, v.Text, take)
			if lower := foldASCII(v.Text); lower != v.Text {
				c.within.find(v, lower, take)
			}
		}
		c.keyed.find(v, c.key, take)
		c.headed[0].find(v, v.Text, take)
		if len(c.headed[1].by) > 0 {
			c.headed[1].find(v, foldASCII(v.Text), take)
		}
		for i := range c.joined {
			c.joined[i].find(v.Text, take)
		}
		for _, e := range c.single {
			if e.rule >= best {
				break
			}
			if e.condition.Holds(v) {
				take(e.rule, true)
			}
		}
	case Boolean:
		if v.True {
			take(c.bools[1], true)
		} else {
			take(c.bools[0], true)
		}
	case Object:
		rule, ok := c.objects[v.Text]
		take(rule, ok)
	case Number:
		c.number(v, take)
	}
	if best == limit {
		return none
	}
	return best
}

func (c *column) number(v Value, take func(int32, bool)) {
	rule, ok := c.points[v.Number]
	take(rule, ok)
	for _, e := range c.ups { // each reaches further than those before it
		if (Interval{e.cut, AboveAll}).contains(v.Number) {
			take(e.owner, true)
			break
		}
	}
	for _, e := range c.downs {
		if (Interval{BelowAll, e.cut}).contains(v.Number) {
			take(e.owner, true)
			break
		}
	}
	for _, e := range c.between {
		if e.condition.Holds(v) {
			take(e.rule, true)
			break
		}
	}
}

func (t *table) find(text string, take func(int32, bool)) {
	rule, ok := t.exact[text]
	take(rule, ok)
	for n := 0; n <= len(text) && n < len(t.lengths); n++ {
		if t.lengths[n] {
			rule, ok := t.below[text[:n]]
			take(rule, ok)
		}
	}
}

// beginning returns the first rule below limit that holds for all texts that begin
// with one of the given text.
func (c *column) beginning(text string, limit int32) int32 {
	best := limit
	take := func(rule int32, ok bool) {
		if ok && rule < best {
			best = rule
		}
	}
	for i := range c.tables {
		t := &c.tables[i]
		if i == 1 {
			text = foldASCII(text)
		}
		for n := 0; n <= len(text) && n < len(t.lengths); n++ {
			if t.lengths[n] {
				rule, ok := t.below[text[:n]]
				take(rule, ok)
			}
		}
	}
	if best == limit {
		return none
	}
	return best
}

// odd reports a value that literals do not decide completely.
func (d *Domain) odd(v Value) bool { return v.Kind == Text && d.Odd != nil && d.Odd(v.Text) }

// has reports whether a condition accepts a leaf, by its literals if they decide.
func (k *Condition) has(v Value, odd bool) bool {
	if k.Set.Every {
		return true
	}
	if v.Kind == Number {
		return slices.ContainsFunc(k.Set.Intervals, func(in Interval) bool { return in.contains(v.Number) })
	}
	t := &k.Set.Texts
	if v.Kind != Text || odd || !t.literal() || len(t.Exact) > manyLiterals {
		return k.Holds(v)
	}
	text := v.Text
	if t.Folded {
		text = foldASCII(text)
	}
	return slices.Contains(t.Exact, text) || slices.ContainsFunc(t.Below, func(below string) bool { return strings.HasPrefix(text, below) })
}

// manyLiterals is from how many literals on the condition's own index is better.
const manyLiterals = 64

// foldASCII lower-cases ASCII letters.
func foldASCII(text string) string {
	for i := 0; i < len(text); i++ {
		if c := text[i]; 'A' <= c && c <= 'Z' {
			b := []byte(text)
			for ; i < len(b); i++ {
				if c := b[i]; 'A' <= c && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return text
}
