package alternating

import (
	"slices"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// alphabet partitions the code points into classes of which every set of a program contains
// all or none, and reads them from UTF-8 byte by byte.
type alphabet struct {
	spans []classSpan // all code points but surrogates, sorted
	names []rune      // the easiest code point to read of each class
	ranks []int       // the classes, the easiest to read first
	ascii [utf8.RuneSelf]int

	// root and nodes decode: root maps the first byte of a code point, a node a
	// continuation byte. See step.
	root  [256]int32
	nodes []byteNode
	// bytes are the classes of bytes that lead to the same everywhere.
	bytes [256]uint8
	width int // number of byte classes
	bad   int // the class of U+FFFD, which replaces bytes that are not UTF-8
}

type classSpan struct {
	automaton.Span
	class int
}

// byteNode is the state of the decoder after some bytes of a code point.
type byteNode struct {
	next [64]int32
	read int // bytes so far
}

// invalid is where a byte leads that is not UTF-8. Other values below 0 are
// classes (^class), the rest are nodes.
const invalid = int32(-1 << 31)

// newAlphabet also returns the classes that each set contains. Programs that read bytes also need
// decodes.
func newAlphabet(sets []automaton.Set) (alphabet, [][]bool) {
	var a alphabet
	in := a.partition(sets)
	for _, s := range a.spans {
		for r := s.Low; r <= s.High && r < utf8.RuneSelf; r++ {
			a.ascii[r] = s.class
		}
	}
	a.bad = a.class(utf8.RuneError)
	return a, in
}

func (a *alphabet) decodes() {
	a.decoder()
	a.compress()
}

// partition finds the classes by going through the code points in order, with the
// list of sets that contain the current one.
func (a *alphabet) partition(sets []automaton.Set) [][]bool {
	type change struct {
		at  rune
		set int
	}
	var changes []change
	for i, set := range sets {
		for _, s := range set {
			changes = append(changes, change{s.Low, i}, change{s.High + 1, i})
		}
	}
	// Surrogates are no text; the ends of ASCII keep names readable.
	changes = append(changes, change{0xD800, -1}, change{0xE000, -1}, change{utf8.MaxRune + 1, -1})
	slices.SortFunc(changes, func(x, y change) int { return int(x.at) - int(y.at) })
	member := make([]byte, len(sets))
	ids := map[string]int{}
	in := make([][]bool, len(sets))
	var pick []int // how easy the name of each class is to read
	from := rune(0)
	for _, c := range changes {
		if c.at > from && (from < 0xD800 || from > 0xDFFF) && from <= utf8.MaxRune {
			span := automaton.Span{Low: from, High: c.at - 1}
			id, ok := ids[string(member)]
			name, rank := easiest(span)
			if !ok {
				id = len(ids)
				ids[string(member)] = id
				for i := range sets {
					in[i] = append(in[i], member[i] == 1)
				}
				a.names, pick = append(a.names, name), append(pick, rank)
			} else if rank < pick[id] {
				a.names[id], pick[id] = name, rank
			}
			if last := len(a.spans) - 1; last >= 0 && a.spans[last].class == id && a.spans[last].High+1 == from {
				a.spans[last].High = span.High
			} else {
				a.spans = append(a.spans, classSpan{span, id})
			}
		}
		from = max(from, c.at)
		if c.set >= 0 {
			member[c.set] ^= 1
		}
	}
	for id := range a.names {
		a.ranks = append(a.ranks, id)
	}
	slices.SortStableFunc(a.ranks, func(x, y int) int { return pick[x] - pick[y] })
	return in
}

// easiest returns the code point of a span that is easiest to read, and how easy:
// letters, digits, printable ASCII, the space, then everything else.
func easiest(s automaton.Span) (rune, int) {
	for rank, group := range []automaton.Span{{Low: 'a', High: 'z'}, {Low: 'A', High: 'Z'}, {Low: '0', High: '9'}, {Low: '-', High: '/'}, {Low: '!', High: '~'}, {Low: ' ', High: ' '},
		{Low: 0xC0, High: 0x17F}, {Low: 0x391, High: 0x3C9}, {Low: 0x4E00, High: 0x9FA5}, {Low: 0xA1, High: 0x2FF}} {
		if low := max(s.Low, group.Low); low <= min(s.High, group.High) {
			return low, rank
		}
	}
	if s.Low > 0x2FFF {
		return s.Low, 20
	}
	return s.Low, 30
}

// class returns the class of a code point; surrogates have none.
func (a *alphabet) class(r rune) int {
	if r < utf8.RuneSelf {
		return a.ascii[r]
	}
	at, _ := slices.BinarySearchFunc(a.spans, r, func(s classSpan, r rune) int { return int(s.High) - int(r) })
	return a.spans[at].class
}

// decoder builds the nodes. Equal parts of the code space share them.
func (a *alphabet) decoder() {
	for b := range a.root {
		a.root[b] = invalid
	}
	for r := range rune(utf8.RuneSelf) {
		a.root[r] = ^int32(a.class(r))
	}
	d := nodes{alphabet: a, shared: map[[3]int]int32{}, same: map[byteNode]int32{}}
	for b := 0xC2; b <= 0xDF; b++ {
		a.root[b] = d.node(rune(b&0x1F)<<6, 1, 1)
	}
	for b := 0xE0; b <= 0xEF; b++ {
		a.root[b] = d.node(rune(b&0x0F)<<12, 2, 1)
	}
	for b := 0xF0; b <= 0xF4; b++ {
		a.root[b] = d.node(rune(b&0x07)<<18, 3, 1)
	}
}

// nodes builds decoder nodes.
type nodes struct {
	*alphabet
	shared map[[3]int]int32   // nodes of one class, by class, bytes to come, bytes read
	same   map[byteNode]int32 // nodes by their contents
}

// node returns the node that decodes the code points from low on that need so many more
// bytes, at least one, after those that were read.
func (d *nodes) node(low rune, more, read int) int32 {
	at, _ := slices.BinarySearchFunc(d.spans, low, func(s classSpan, r rune) int { return int(s.High) - int(r) })
	high := low + 1<<(6*more) - 1
	uniform := at < len(d.spans) && d.spans[at].Low <= low && high <= d.spans[at].High && smallest(more+read) <= low
	key := [3]int{0, more, read}
	if uniform {
		key[0] = d.spans[at].class
		if id, ok := d.shared[key]; ok {
			return id
		}
	}
	n := byteNode{read: read}
	if uniform {
		for i := range n.next {
			n.next[i] = ^int32(key[0])
		}
		if more > 1 {
			child := d.node(low, more-1, read+1) // all of them are alike
			for i := range n.next {
				n.next[i] = child
			}
		}
		id := int32(len(d.nodes))
		d.nodes = append(d.nodes, n)
		d.shared[key] = id
		return id
	}
	for i := range n.next {
		from := low + rune(i)<<(6*(more-1))
		to := from + 1<<(6*(more-1)) - 1
		switch {
		case to < smallest(more+read), from > utf8.MaxRune, from >= 0xD800 && to <= 0xDFFF:
			n.next[i] = invalid
		case more == 1:
			for d.spans[at].High < from {
				at++
			}
			n.next[i] = ^int32(d.spans[at].class)
		default:
			n.next[i] = d.node(from, more-1, read+1)
		}
	}
	id, ok := d.same[n]
	if !ok {
		id = int32(len(d.nodes))
		d.nodes = append(d.nodes, n)
		d.same[n] = id
	}
	return id
}

// smallest returns the first code point that takes so many bytes.
func smallest(bytes int) rune {
	switch bytes {
	case 2:
		return 0x80
	case 3:
		return 0x800
	}
	return 0x10000
}

// compress finds the classes of bytes: those that lead to the same from the start of a
// code point, and continuation bytes that lead to the same from every node.
func (a *alphabet) compress() {
	roots, columns := map[int32]uint8{}, map[string]uint8{}
	key := make([]byte, 0, 4*len(a.nodes))
	for b := range 256 {
		switch continues := b&0xC0 == 0x80; {
		case b&0x3F != 0 && a.alike(b, continues):
			a.bytes[b] = a.bytes[b-1]
		case continues:
			key = key[:0]
			for i := range a.nodes {
				key = appendInt(key, a.nodes[i].next[b&0x3F])
			}
			id, ok := columns[string(key)]
			if !ok {
				id = uint8(a.width)
				columns[string(key)] = id
				a.width++
			}
			a.bytes[b] = id
		default:
			id, ok := roots[a.root[b]]
			if !ok {
				id = uint8(a.width)
				roots[a.root[b]] = id
				a.width++
			}
			a.bytes[b] = id
		}
	}
}

// alike reports whether a byte leads to the same as the one before it, which is of its
// kind.
func (a *alphabet) alike(b int, continues bool) bool {
	if !continues {
		return a.root[b] == a.root[b-1]
	}
	for i := range a.nodes {
		if a.nodes[i].next[b&0x3F] != a.nodes[i].next[b&0x3F-1] {
			return false
		}
	}
	return true
}

func appendInt(dst []byte, v int32) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// step returns the target of a byte after node at, or at the start of a code
// point if at is below 0: a node, a class (^class), or invalid.
func (a *alphabet) step(at int32, b byte) int32 {
	if at < 0 {
		return a.root[b]
	}
	if b&0xC0 != 0x80 {
		return invalid
	}
	return a.nodes[at].next[b&0x3F]
}
