package session

// Reading is memory for the key values of one call. The policies of this package ask
// for them three times, for the cells they need, for their marks and for the check;
// what was read into it is found there. It may be used again for another call.
type Reading struct {
	found [4]struct {
		by     *keyer
		values []string
		ok     bool
	}
	n    int
	room [4]string // of the call before: a text that comes again is not made again
}

// Read looks for the key values of a call, once for all policies that govern it, and
// keeps them in r as long as the call is asked about. Nothing has to be read: it only
// saves time.
func (s *Set) Read(c *Call, r *Reading) {
	r.n, c.read = 0, nil
	if !c.Args.IsValid() {
		return
	}
	used := 0
	entries := s.govern(c.Tool).entries
	for i := range entries {
		k := entries[i].keys
		if k == nil || r.n == len(r.found) {
			continue
		}
		f := &r.found[r.n]
		f.by = k
		f.values, f.ok = k.look(r.room[used:used], c)
		used = min(used+len(f.values), len(r.room))
		r.n++
	}
	c.read = r
}

// keysOf is the keyer of a policy that has one.
func keysOf(p Policy) *keyer {
	if own := ours(inner(p)); own != nil && own.keyer().needsArgs() {
		return own.keyer()
	}
	return nil
}
