package index

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// atoms are in which texts of a volume each atom is: sorted rows, which are merged as they grow, so
// that there are few of them, and the first one is the longest.
type atoms struct{ rows []atomRow }

// atomRow has the hashes of atoms in ascending order, and for each the texts that have it: the only
// one, or the offset in lists of their number and their differences, as varints.
type atomRow struct {
	hashes []uint64
	texts  []uint32
	lists  []byte
}

const isList = 1 << 31

// holding is that a text has an atom.
type holding struct {
	hash uint64
	text uint32
}

// sorter has the buffers in which rows are made.
type sorter struct {
	holdings, sorted []holding
	starts, texts    []uint32
	row, next        atomRow
}

// add adds holdings of the next texts, in the order of the texts.
func (a *atoms) add(s *sorter) {
	if len(s.holdings) == 0 {
		return
	}
	s.sort()
	s.row.reset(len(s.sorted))
	n := 0
	for i := 0; i < len(s.sorted); n++ {
		h := s.sorted[i].hash
		for s.texts = s.texts[:0]; i < len(s.sorted) && s.sorted[i].hash == h; i++ {
			s.texts = append(s.texts, s.sorted[i].text)
		}
		s.row.hashes[n], s.row.texts[n] = h, s.row.list(s.texts)
	}
	s.row.cut(n)
	a.merge(s, false)
}

// merge merges the row of a sorter with the last rows, until the one before is longer, or with all.
func (a *atoms) merge(s *sorter, all bool) {
	last := len(a.rows)
	for ; last > 0 && (all || len(a.rows[last-1].hashes) <= len(s.row.hashes)); last-- {
		s.merge(&a.rows[last-1], &s.row)
		s.row, s.next = s.next, s.row
	}
	clear(a.rows[last:])
	a.rows = append(a.rows[:last], atomRow{exact(s.row.hashes), exact(s.row.texts), exact(s.row.lists)})
}

// reset makes r a row of n atoms without lists, in the memory that it has.
func (r *atomRow) reset(n int) {
	r.hashes, r.texts, r.lists = slices.Grow(r.hashes[:0], n)[:n], slices.Grow(r.texts[:0], n)[:n], r.lists[:0]
}

func (r *atomRow) cut(n int) { r.hashes, r.texts = r.hashes[:n], r.texts[:n] }

// sort sorts the holdings by their hash, those with one hash in the order in which they were. Hashes are
// uniform: their high bits put each near its position.
func (s *sorter) sort() {
	n := len(s.holdings)
	shift := 64 - bits.Len(uint(n))
	s.starts = slices.Grow(s.starts[:0], 1<<(64-shift)+1)[:1<<(64-shift)+1]
	clear(s.starts)
	for _, h := range s.holdings {
		s.starts[h.hash>>shift+1]++
	}
	for i := 1; i < len(s.starts); i++ {
		s.starts[i] += s.starts[i-1]
	}
	out := slices.Grow(s.sorted[:0], n)[:n]
	for _, h := range s.holdings {
		bucket := h.hash >> shift
		out[s.starts[bucket]] = h
		s.starts[bucket]++
	}
	for i := 1; i < len(out); i++ {
		for k := i; k > 0 && out[k-1].hash > out[k].hash; k-- {
			out[k-1], out[k] = out[k], out[k-1]
		}
	}
	s.sorted = out
}

// list returns the texts of an atom.
func (r *atomRow) list(texts []uint32) uint32 {
	if len(texts) == 1 {
		return texts[0]
	}
	at := len(r.lists)
	r.lists = binary.AppendUvarint(r.lists, uint64(len(texts)))
	last := uint32(0)
	for _, t := range texts {
		r.lists = binary.AppendUvarint(r.lists, uint64(t-last))
		last = t
	}
	return isList | uint32(at)
}

// take returns the texts of an atom of another row.
func (r *atomRow) take(from *atomRow, i int) uint32 {
	if texts := from.texts[i]; texts&isList == 0 {
		return texts
	}
	return r.copied(from.lists[from.texts[i]&^isList:])
}

// copied copies the list at the start of others.
func (r *atomRow) copied(list []byte) uint32 {
	n, size := binary.Uvarint(list)
	for range n {
		_, k := binary.Uvarint(list[size:])
		size += k
	}
	at := len(r.lists)
	r.lists = append(r.lists, list[:size]...)
	return isList | uint32(at)
}

// each yields the texts of an atom by its position, until yield returns false.
func (r *atomRow) each(i int, yield func(text int) bool) bool {
	if r.texts[i]&isList == 0 {
		return yield(int(r.texts[i]))
	}
	list := r.lists[r.texts[i]&^isList:]
	next := func() uint64 {
		v, n := binary.Uvarint(list)
		list = list[n:]
		return v
	}
	text := uint64(0)
	for range next() {
		if text += next(); !yield(int(text)) {
			return false
		}
	}
	return true
}

// merge makes next the atoms of two rows, of which the second has the later texts.
func (s *sorter) merge(a, b *atomRow) {
	out := &s.next
	out.reset(len(a.hashes) + len(b.hashes))
	collect := func(text int) bool {
		s.texts = append(s.texts, uint32(text))
		return true
	}
	m, i, k := 0, 0, 0
	for ; i < len(a.hashes) && k < len(b.hashes); m++ {
		switch x, y := a.hashes[i], b.hashes[k]; {
		case x < y:
			out.hashes[m], out.texts[m] = x, out.take(a, i)
			i++
		case y < x:
			out.hashes[m], out.texts[m] = y, out.take(b, k)
			k++
		default:
			s.texts = s.texts[:0]
			a.each(i, collect)
			b.each(k, collect)
			out.hashes[m], out.texts[m] = x, out.list(s.texts)
			i++
			k++
		}
	}
	for ; i < len(a.hashes); i, m = i+1, m+1 {
		out.hashes[m], out.texts[m] = a.hashes[i], out.take(a, i)
	}
	for ; k < len(b.hashes); k, m = k+1, m+1 {
		out.hashes[m], out.texts[m] = b.hashes[k], out.take(b, k)
	}
	out.cut(m)
}

// find returns the position of an atom.
func (r *atomRow) find(hash uint64) (int, bool) {
	guess, _ := bits.Mul64(hash, uint64(len(r.hashes)))
	low, high := int(guess), int(guess)+1 // the hash is before high, and not before low
	for step := 8; low > 0 && r.hashes[low] > hash; step *= 2 {
		high, low = low, max(0, low-step)
	}
	for step := 8; high < len(r.hashes) && r.hashes[high-1] < hash; step *= 2 {
		low, high = high, min(len(r.hashes), high+step)
	}
	i, ok := slices.BinarySearch(r.hashes[low:high], hash)
	return low + i, ok
}

// search yields the texts that have an atom, in ascending order, until yield returns false.
func (a *atoms) search(hash uint64, yield func(text int) bool) {
	for i := range a.rows {
		if at, ok := a.rows[i].find(hash); ok && !a.rows[i].each(at, yield) {
			return
		}
	}
}

// clip merges all rows.
func (a *atoms) clip() {
	if n := len(a.rows) - 1; n > 0 {
		s := sorter{row: a.rows[n]}
		a.rows = a.rows[:n]
		a.merge(&s, true)
	}
}

func (a *atoms) size() (n int64) {
	for i := range a.rows {
		n += int64(8*cap(a.rows[i].hashes) + 4*cap(a.rows[i].texts) + cap(a.rows[i].lists) + 72)
	}
	return n
}
