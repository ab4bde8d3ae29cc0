package literal

import (
	"slices"
	"unicode/utf8"
)

// Cursor is where a tree stands in one text that is still arriving. It is reused with
// Start and keeps its memory.
type Cursor struct {
	raw place // of the text itself
	// apart is set when the forms of the text may differ: behind a code point that is
	// hidden or blank. Until then all of them stand at raw.
	apart bool
	bare  place // without hidden code points
	trim  place // and without leading blanks
	ink   place // the same behind the last code point that is not blank
	inked bool  // a code point came that is not blank
	// held are prefixes that end in blanks the trimmed form may end with, as entries:
	// they are inside it only if something follows.
	held []int32
	met  []int32 // the members with a prefix that the text begins with
	hit  Summary // of them
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

// start is where a text begins: nowhere if there is nothing to find.
func (t *part) start() place {
	if len(t.entries) == 0 {
		return nowhere
	}
	return place{}
}

// part lets the forms go their own ways.
func (c *Cursor) part(inked bool) {
	c.apart, c.bare, c.trim, c.ink, c.inked = true, c.raw, c.raw, c.raw, inked
}

// Set makes a cursor stand where another one does, in memory of its own.
func (c *Cursor) Set(o *Cursor) {
	held, met := append(c.held[:0], o.held...), append(c.met[:0], o.met...)
	*c = *o
	c.held, c.met = held, met
}

// Feed reads whole code points up to and including the first one with which something
// becomes known of a member, and returns the number of bytes read: all of them if
// nothing did.
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

// letters reads characters that are seen, at least one, while the forms of the text are one:
// those that lead to the end of a node, on whose way nothing becomes known, or one that leads
// to another node.
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
		c.raw = nowhere // all that begins so has been met
	}
	return read, len(c.met) != known
}

// seen reports a character of ASCII that is neither hidden nor blank.
func seen(b byte) bool { return '!' <= b && b <= '~' }

// point reads one code point.
func (t *Tree) point(c *Cursor, p []byte) (changed bool) {
	hidden, blank := t.forms.of(p)
	if !c.apart && (hidden || blank) {
		c.part(c.raw != place{})
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
	left := ink != c.ink && t.trim.complete(ink) != nil // a literal that could have been all
	return left || c.raw.node != raw.node || c.bare.node != bare.node || c.trim.node != trim.node || len(c.met)+len(c.held) != known
}

// of says what a code point is to the forms.
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

func (t *part) read(p place, text []byte) place {
	for _, b := range text {
		p = t.step(p, b)
	}
	return p
}

// meet takes the prefixes that end at a place.
func (c *Cursor) meet(t *part, p place) {
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

// release takes the prefixes that were held: something followed.
func (c *Cursor) release(t *part) {
	for _, i := range c.held {
		c.found(&t.entries[i])
	}
	c.held = c.held[:0]
}

// Done reports that nothing more can be learned.
func (t *Tree) Done(c *Cursor) bool {
	return c.raw.node < 0 && (!c.apart || c.bare.node < 0 && c.trim.node < 0 && !t.trim.ends(c.ink) && len(c.held) == 0)
}

// ends reports whether a literal that is no prefix ends at a place.
func (t *part) ends(p place) bool {
	n := t.complete(p)
	return n != nil && n.prefixes < n.whole
}

// Lost reports that no continuation satisfies any member.
func (t *Tree) Lost(c *Cursor) bool { return c.hit.First() == None && t.Done(c) }

// Hit is the summary of the members that every continuation satisfies.
func (c *Cursor) Hit() *Summary { return &c.hit }

// nothing is the summary of no members.
var nothing = Empty()

// Ahead is what Open adds to an empty summary, if the forms of the text are one.
func (t *Tree) Ahead(c *Cursor) (open *Summary, ok bool) {
	switch {
	case c.apart:
		return nil, false
	case c.raw.node < 0:
		return &nothing, true
	}
	return &t.raw.nodes[c.raw.node].open, true
}

// Open adds to a summary the members that some continuation satisfies and some does
// not; members that are hit may be among them.
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

func (t *part) merge(p place, s *Summary) {
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
			return n != nil && n.prefixes <= i && i < n.whole || slices.Contains(c.held, i)
		})
}

// alive reports whether an entry of a member goes on at a place.
func (t *part) alive(p place, member int32) bool {
	if p.node < 0 {
		return false
	}
	n := &t.nodes[p.node]
	return t.any(member, func(i int32) bool { return n.lo <= i && i < n.hi })
}

// any reports whether something holds for an entry of a member.
func (t *part) any(member int32, f func(entry int32) bool) bool {
	if int(member) >= len(t.at) || t.at[member] < 0 {
		return false
	}
	return f(t.at[member]) || slices.ContainsFunc(t.of[member], f)
}

// End appends the members that the complete text satisfies, in no order, each once.
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

// ended appends the members of whose entries one ends at a place.
func (t *part) ended(p place, members []int32, first int) []int32 {
	if n := t.complete(p); n != nil {
		for i := n.prefixes; i < n.whole; i++ {
			if m := t.entries[i].Member; !slices.Contains(members[first:], m) {
				members = append(members, m)
			}
		}
	}
	return members
}

// Met are the members of whom the text begins with a prefix.
func (c *Cursor) Met() []int32 { return c.met }
