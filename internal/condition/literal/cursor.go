package literal

import (
	"slices"
	"unicode/utf8"
)

// Cursor is the state of a tree in one text that is still arriving. Start makes it reusable and
// keeps its memory.
type Cursor struct {
	raw position // the text itself
	// apart is set when the forms of the text may differ: after a hidden or blank code point. Until
	// then raw is the state of all forms.
	apart bool
	bare  position // without hidden code points
	trim  position // and without leading blanks
	ink   position // the same after the last code point that is not blank
	inked bool     // a code point that is not blank was read
	// held are prefixes that end in blanks, at which the trimmed form may end, as entries. They
	// match only if more text follows.
	held []int32
	met  []int32 // the members that have a prefix of the text
	hit  Summary // summary of met
}

// Start begins a new text.
func (t *Tree) Start(c *Cursor) {
	c.raw, c.apart, c.held, c.met, c.hit = t.raw.start(), false, c.held[:0], c.met[:0], Empty()
	if t.apart {
		c.part(false)
		c.bare, c.trim = t.bare.start(), t.trim.start()
		c.ink = c.trim
	}
}

// start returns the state at the start of a text: nowhere for an empty part.
func (t *part) start() position {
	if len(t.entries) == 0 {
		return nowhere
	}
	return position{}
}

// part tracks the forms separately from now on.
func (c *Cursor) part(inked bool) {
	c.apart, c.bare, c.trim, c.ink, c.inked = true, c.raw, c.raw, c.raw, inked
}

// Set copies another cursor into memory of its own.
func (c *Cursor) Set(o *Cursor) {
	held, met := append(c.held[:0], o.held...), append(c.met[:0], o.met...)
	*c = *o
	c.held, c.met = held, met
}

// Feed reads complete code points up to and including the first one that decides about a member,
// and returns the number of bytes read: all of them if none did.
func (t *Tree) Feed(c *Cursor, text []byte) (read int, changed bool) {
	for read < len(text) && !t.Done(c) {
		if b := text[read]; seen(b) && !c.apart {
			var n int
			n, changed = t.letters(c, text[read:])
			read += n
		} else {
			size := 1
			if b >= utf8.RuneSelf {
				_, size = utf8.DecodeRune(text[read:])
			}
			read, changed = read+size, t.point(c, text[read:read+size])
		}
		if changed {
			return read, true
		}
	}
	return len(text), false
}

// letters reads visible ASCII characters, at least one, while all forms of the text are equal: up
// to the end of a node if nothing is decided on the way, or one that leads to another node.
func (t *Tree) letters(c *Cursor, text []byte) (read int, changed bool) {
	n := &t.raw.nodes[c.raw.node]
	way := n.text[c.raw.at:n.depth]
	for read < len(way) && read < len(text) && way[read] == text[read] && seen(way[read]) {
		read++
	}
	if read == 0 {
		c.raw = t.raw.step(c.raw, text[0])
		c.meet(t.raw, c.raw)
		return 1, true
	}
	if c.raw.at += int32(read); read < len(way) || n.lo == n.prefixes {
		return read, false
	}
	known := len(c.met)
	if c.meet(t.raw, c.raw); n.prefixes == n.hi {
		c.raw = nowhere // everything with this prefix has been met
	}
	return read, len(c.met) != known
}

// seen reports whether b is visible ASCII.
func seen(b byte) bool { return '!' <= b && b <= '~' }

// point reads one code point.
func (t *Tree) point(c *Cursor, p []byte) (changed bool) {
	hidden, blank := t.forms.of(p)
	if !c.apart && (hidden || blank) {
		c.part(c.raw != position{})
	}
	raw, known := c.raw, len(c.met)+len(c.held)
	c.raw = t.raw.read(c.raw, p)
	c.meet(t.raw, c.raw)
	if !c.apart {
		return c.raw.node != raw.node || len(c.met) != known
	}
	bare, trim, ink := c.bare, c.trim, c.ink
	if !hidden {
		c.bare = t.bare.read(bare, p)
		c.meet(t.bare, c.bare)
		if !blank || c.inked {
			c.trim = t.trim.read(trim, p)
		}
		if blank {
			c.hold(t.trim)
		} else {
			c.release(t.trim)
			c.ink, c.inked = c.trim, true
			c.meet(t.trim, c.ink)
		}
	}
	left := ink != c.ink && t.trim.complete(ink) != nil // a literal that could have been the complete text
	return left || c.raw.node != raw.node || c.bare.node != bare.node || c.trim.node != trim.node || len(c.met)+len(c.held) != known
}

// of reports whether a code point is hidden, and whether it is blank.
func (f *Forms) of(p []byte) (hidden, blank bool) {
	if f == nil {
		return false, false
	}
	r := rune(p[0])
	if r >= utf8.RuneSelf {
		r, _ = utf8.DecodeRune(p)
	} else if seen(p[0]) {
		return false, false
	}
	return f.Hidden(r), f.Blank(r)
}

func (t *part) read(p position, text []byte) position {
	for _, b := range text {
		p = t.step(p, b)
	}
	return p
}

// meet adds the members whose prefixes end at p.
func (c *Cursor) meet(t *part, p position) {
	if n := t.complete(p); n != nil {
		for i := n.lo; i < n.prefixes; i++ {
			c.found(&t.entries[i])
		}
	}
}

func (c *Cursor) found(e *Entry) {
	if !slices.Contains(c.met, e.Member) {
		c.met = append(c.met, e.Member)
		c.hit.Add(e.Member, e.Class)
	}
}

// hold keeps the prefixes that the trimmed form reached with a blank.
func (c *Cursor) hold(t *part) {
	if n := t.complete(c.trim); n != nil && c.inked {
		for i := n.lo; i < n.prefixes; i++ {
			c.held = append(c.held, i)
		}
	}
}

// release adds the members of held prefixes, after more text followed.
func (c *Cursor) release(t *part) {
	for _, i := range c.held {
		c.found(&t.entries[i])
	}
	c.held = c.held[:0]
}

// Done reports whether no member can be decided any more.
func (t *Tree) Done(c *Cursor) bool {
	return c.raw.node < 0 && (!c.apart || c.bare.node < 0 && c.trim.node < 0 && !t.trim.ends(c.ink) && len(c.held) == 0)
}

// ends reports whether a literal that is no prefix ends at p.
func (t *part) ends(p position) bool {
	n := t.complete(p)
	return n != nil && n.prefixes < n.equal
}

// Lost reports whether no continuation satisfies any member.
func (t *Tree) Lost(c *Cursor) bool { return c.hit.First() == None && t.Done(c) }

// Hit returns the summary of the members that every continuation satisfies.
func (c *Cursor) Hit() *Summary { return &c.hit }

// nothing is the summary of no members.
var nothing = Empty()

// Ahead returns the members that Open would add to an empty summary; ok is false if the forms of
// the text differ.
func (t *Tree) Ahead(c *Cursor) (open *Summary, ok bool) {
	switch {
	case c.apart:
		return nil, false
	case c.raw.node < 0:
		return &nothing, true
	}
	return &t.raw.nodes[c.raw.node].open, true
}

// Open adds to a summary the members that some continuations satisfy and some do not. It may also
// add members that are hit.
func (t *Tree) Open(c *Cursor, s *Summary) {
	t.raw.merge(c.raw, s)
	if !c.apart {
		return
	}
	if c.bare != c.raw || t.bare != t.raw {
		t.bare.merge(c.bare, s)
	}
	if c.trim != c.bare || t.trim != t.bare {
		t.trim.merge(c.trim, s)
	}
	if n := t.trim.complete(c.ink); n != nil {
		s.Merge(&n.ended)
	}
	for _, i := range c.held {
		e := &t.trim.entries[i]
		s.Add(e.Member, e.Class)
	}
}

func (t *part) merge(p position, s *Summary) {
	if p.node >= 0 {
		s.Merge(&t.nodes[p.node].open)
	}
}

// Alive reports whether some continuation satisfies a member.
func (t *Tree) Alive(c *Cursor, member int32) bool {
	switch {
	case slices.Contains(c.met, member), t.raw.alive(c.raw, member):
		return true
	case !c.apart:
		return false
	}
	return t.bare.alive(c.bare, member) || t.trim.alive(c.trim, member) ||
		t.trim.any(member, func(i int32) bool {
			n := t.trim.complete(c.ink)
			return n != nil && n.prefixes <= i && i < n.equal || slices.Contains(c.held, i)
		})
}

// alive reports whether some continuation at p reaches an entry of a member.
func (t *part) alive(p position, member int32) bool {
	if p.node < 0 {
		return false
	}
	n := &t.nodes[p.node]
	return t.any(member, func(i int32) bool { return n.lo <= i && i < n.hi })
}

// any reports whether f holds for an entry of a member.
func (t *part) any(member int32, f func(entry int32) bool) bool {
	if int(member) >= len(t.at) || t.at[member] < 0 {
		return false
	}
	return f(t.at[member]) || slices.ContainsFunc(t.of[member], f)
}

// End appends the members that the complete text satisfies, each once, in no order.
func (t *Tree) End(c *Cursor, members []int32) []int32 {
	first := len(members)
	members = append(members, c.met...)
	members = t.raw.ended(c.raw, members, first)
	if c.apart {
		members = t.bare.ended(c.bare, members, first)
		members = t.trim.ended(c.ink, members, first)
	}
	return members
}

// ended appends the members with an entry that ends at p.
func (t *part) ended(p position, members []int32, first int) []int32 {
	if n := t.complete(p); n != nil {
		for i := n.prefixes; i < n.equal; i++ {
			if m := t.entries[i].Member; !slices.Contains(members[first:], m) {
				members = append(members, m)
			}
		}
	}
	return members
}

// Met returns the members that have a prefix of the text.
func (c *Cursor) Met() []int32 { return c.met }
