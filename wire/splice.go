package wire

// Splicer writes a changed copy of a text: everything but the named ranges stays
// byte for byte (L2). Ranges are given in ascending order.
type Splicer struct {
	dst  []byte
	src  []byte
	done int // src[:done] is dealt with
}

// Splice starts a changed copy of src at the end of dst.
func Splice(dst, src []byte) Splicer { return Splicer{dst: dst, src: src} }

// SpliceRange starts a changed copy of src[from:to]; the positions given later
// are still those of src.
func SpliceRange(dst, src []byte, from, to int) Splicer {
	return Splicer{dst: dst, src: src[:to], done: from}
}

// Replace puts other bytes in the place of src[from:to].
func (s *Splicer) Replace(from, to int, with string) {
	s.dst = append(s.dst, s.src[s.done:from]...)
	s.dst = append(s.dst, with...)
	s.done = to
}

// Insert hands out the copy made so far, complete up to src[from], for the caller
// to append to; Resume takes it back and goes on behind src[to].
func (s *Splicer) Insert(from int) []byte {
	s.dst = append(s.dst, s.src[s.done:from]...)
	s.done = from
	return s.dst
}

// Resume ends an Insert.
func (s *Splicer) Resume(dst []byte, to int) { s.dst, s.done = dst, to }

// Finish copies the rest and returns the result.
func (s *Splicer) Finish() []byte { return append(s.dst, s.src[s.done:]...) }

// Cutter removes items from one object or array of a spliced text and keeps its
// commas right. Its caller names every item in order: Keep before it changes
// anything inside the item, or Cut.
type Cutter struct {
	s    *Splicer
	end  int // of the last kept item, or behind the opening bracket
	last int // end of the last cut item, 0 if the last one was kept
	kept int
}

// Cut starts with the object or array whose opening bracket stands at src[open].
func (s *Splicer) Cut(open int) Cutter { return Cutter{s: s, end: open + 1} }

// Keep leaves the item src[from:to] as it is.
func (c *Cutter) Keep(from, to int) {
	if c.last > 0 {
		comma := ","
		if c.kept == 0 {
			comma = ""
		}
		c.s.Replace(c.end, from, comma)
	}
	c.end, c.last = to, 0
	c.kept++
}

// Drop removes the item that ends at src[to].
func (c *Cutter) Drop(to int) { c.last = to }

// Kept is how many items were kept so far.
func (c *Cutter) Kept() int { return c.kept }

// Close is called behind the last item.
func (c *Cutter) Close() {
	if c.last > 0 {
		c.s.Replace(c.end, c.last, "")
		c.last = 0
	}
}
