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
// one, or the offset in lists of their list. A list is the last text, the length of the rest, and the
// differences between the texts, as varints.
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
	starts           []uint32
	differences      []byte
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
		h, first, last := s.sorted[i].hash, i, uint32(0)
		for s.differences = s.differences[:0]; i < len(s.sorted) && s.sorted[i].hash == h; i++ {
			s.differences = binary.AppendUvarint(s.differences, uint64(s.sorted[i].text-last))
			last = s.sorted[i].text
		}
		s.row.hashes[n], s.row.texts[n] = h, last
		if i-first > 1 {
			s.row.texts[n] = s.row.list(last, s.differences)
		}
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

// list adds a list whose differences are in parts.
func (r *atomRow) list(last uint32, parts ...[]byte) uint32 {
	at, length := len(r.lists), 0
	for _, p := range parts {
		length += len(p)
	}
	r.lists = binary.AppendUvarint(r.lists, uint64(last))
	r.lists = binary.AppendUvarint(r.lists, uint64(length))
	for _, p := range parts {
		r.lists = append(r.lists, p...)
	}
	return isList | uint32(at)
}

// at returns the last text of an atom, and the differences between its texts. buf is for one.
func (r *atomRow) at(i int, buf *[binary.MaxVarintLen32]byte) (last uint32, differences []byte) {
	t := r.texts[i]
	if t&isList == 0 {
		return t, binary.AppendUvarint(buf[:0], uint64(t))
	}
	list := r.lists[t&^isList:]
	v, n := binary.Uvarint(list)
	length, m := binary.Uvarint(list[n:])
	return uint32(v), list[n+m:][:length]
}

// take returns the texts of an atom of another row.
func (r *atomRow) take(from *atomRow, i int) uint32 {
	if texts := from.texts[i]; texts&isList == 0 {
		return texts
	}
	return r.list(from.at(i, nil))
}

// join returns the texts of an atom of two other rows, of which the second has the later texts.
func (r *atomRow) join(a *atomRow, i int, b *atomRow, k int) uint32 {
	var one, two, gap [binary.MaxVarintLen32]byte
	last, before := a.at(i, &one)
	end, after := b.at(k, &two)
	first, n := binary.Uvarint(after)
	return r.list(end, before, binary.AppendUvarint(gap[:0], first-uint64(last)), after[n:])
}

// each yields the texts of an atom by its position, until yield returns false.
func (r *atomRow) each(i int, yield func(text int) bool) bool {
	var buf [binary.MaxVarintLen32]byte
	text := uint64(0)
	for _, rest := r.at(i, &buf); len(rest) > 0; {
		v, n := binary.Uvarint(rest)
		rest = rest[n:]
		if text += v; !yield(int(text)) {
			return false
		}
	}
	return true
}

// merge makes next the atoms of two rows, of which the second has the later texts.
func (s *sorter) merge(a, b *atomRow) {
	out := &s.next
	out.reset(len(a.hashes) + len(b.hashes))
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
			out.hashes[m], out.texts[m] = x, out.join(a, i, b, k)
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
