package literal

// Table holds paths: canonical texts whose components are separated by "/".
type Table struct {
	fold  bool
	slots []int32 // the first key of each hash, plus one; a power of two of them
	keys  []key
}

// key is one literal of one member.
type key struct {
	hash   uint64
	text   string
	below  bool // everything below it, too
	member int32
	next   int32 // of the same slot, plus one
}

// NewTable returns an empty table. If fold is set, ASCII letters of the texts that are
// looked up count as lower case: the keys are written so.
func NewTable(fold bool) *Table { return &Table{fold: fold, slots: make([]int32, 8)} }

// Len returns the number of keys.
func (t *Table) Len() int { return len(t.keys) }

// Add adds a key for a member; below says that it also stands for everything below
// it.
func (t *Table) Add(text string, below bool, member int32) {
	if len(t.keys) >= len(t.slots) {
		t.grow()
	}
	h := newHash()
	for i := range len(text) {
		h = h.with(text[i])
	}
	t.keys = append(t.keys, key{hash: uint64(h), text: text, below: below, member: member})
	t.link(int32(len(t.keys) - 1))
}

func (t *Table) link(i int32) {
	k := &t.keys[i]
	slot := &t.slots[k.hash&uint64(len(t.slots)-1)]
	k.next, *slot = *slot, i+1
}

func (t *Table) grow() {
	t.slots = make([]int32, 4*len(t.slots))
	for i := range t.keys {
		t.link(int32(i))
	}
}

// Find appends the members whose key is the path or a directory above it, in no
// order; a member with several such keys is repeated.
func (t *Table) Find(path []byte, members []int32) []int32 {
	if len(t.keys) == 0 {
		return members
	}
	h := newHash()
	for i, c := range path {
		if c == '/' && i > 0 {
			members = t.at(h, path[:i], true, members)
		}
		if t.fold && 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if h = h.with(c); c == '/' && i == 0 && len(path) > 1 {
			members = t.at(h, path[:1], true, members)
		}
	}
	return t.at(h, path, false, members)
}

// at appends the members with a key.
func (t *Table) at(h hash, text []byte, above bool, members []int32) []int32 {
	for i := t.slots[uint64(h)&uint64(len(t.slots)-1)]; i > 0; i = t.keys[i-1].next {
		k := &t.keys[i-1]
		if k.hash == uint64(h) && (k.below || !above) && t.same(k.text, text) {
			members = append(members, k.member)
		}
	}
	return members
}

func (t *Table) same(key string, text []byte) bool {
	if !t.fold || len(key) != len(text) {
		return key == string(text)
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if key[i] != c {
			return false
		}
	}
	return true
}

// hash is FNV-1a, byte by byte, so that all beginnings of a path are hashed in one
// pass. The keys are the operator's; what is looked up cannot make their chains
// longer.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h hash) with(c byte) hash { return (h ^ hash(c)) * 1099511628211 }
