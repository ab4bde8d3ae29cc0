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

// add adds the holdings of the next texts, in the order of the texts.
func (a *atoms) add(holdings []holding) {
	if len(holdings) == 0 {
		return
	}
	holdings = sorted(holdings)
	row := atomRow{hashes: make([]uint64, 0, len(holdings)), texts: make([]uint32, 0, len(holdings))}
	var texts []uint32
	for i := 0; i < len(holdings); {
		h := holdings[i].hash
		for texts = texts[:0]; i < len(holdings) && holdings[i].hash == h; i++ {
			texts = append(texts, holdings[i].text)
		}
		row.hashes, row.texts = append(row.hashes, h), append(row.texts, row.list(texts))
	}
	a.rows = append(a.rows, row)
	for n := len(a.rows); n > 1 && len(a.rows[n-2].hashes) <= len(a.rows[n-1].hashes); n = len(a.rows) {
		a.rows = append(a.rows[:n-2], merge(&a.rows[n-2], &a.rows[n-1]))
	}
}

// sorted returns holdings by their hash, those with one hash in the order in which they were. Hashes are
// uniform: their high bits put each near its position.
func sorted(in []holding) []holding {
	shift := 64 - bits.Len(uint(len(in)))
	starts := make([]uint32, 1<<(64-shift)+1)
	for _, h := range in {
		starts[h.hash>>shift+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	out := make([]holding, len(in))
	for _, h := range in {
		bucket := h.hash >> shift
		out[starts[bucket]] = h
		starts[bucket]++
	}
	for i := 1; i < len(out); i++ {
		for k := i; k > 0 && out[k-1].hash > out[k].hash; k-- {
			out[k-1], out[k] = out[k], out[k-1]
		}
	}
	return out
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

// merge returns the atoms of two rows, of which the second has the later texts.
func merge(a, b *atomRow) atomRow {
	n := len(a.hashes) + len(b.hashes)
	out := atomRow{hashes: make([]uint64, n), texts: make([]uint32, n), lists: make([]byte, 0, len(a.lists)+len(b.lists))}
	var texts []uint32
	collect := func(text int) bool {
		texts = append(texts, uint32(text))
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
			texts = texts[:0]
			a.each(i, collect)
			b.each(k, collect)
			out.hashes[m], out.texts[m] = x, out.list(texts)
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
	out.hashes, out.texts = out.hashes[:m], out.texts[:m]
	if n-m > n/16 {
		out.hashes, out.texts = clipped(out.hashes), clipped(out.texts)
	}
	return out
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
	for n := len(a.rows); n > 1; n = len(a.rows) {
		a.rows = append(a.rows[:n-2], merge(&a.rows[n-2], &a.rows[n-1]))
	}
}

func (a *atoms) size() (n int64) {
	for i := range a.rows {
		n += int64(8*cap(a.rows[i].hashes) + 4*cap(a.rows[i].texts) + cap(a.rows[i].lists) + 72)
	}
	return n
}
