package jsonstream

import (
	"bytes"
	"hash/maphash"
)

// keySet stores the decoded keys of all open objects, outermost first, and finds a key that
// an object already has. A few keys are compared one by one; the keys of an object with
// more of them are in a hash table with a random seed, so that no choice of keys makes the
// search slow (A18).
type keySet struct {
	// text contains the keys that are written without escapes; nil if every key is in
	// arena.
	text  []byte
	arena []byte
	list  []keyRef
	table []uint32 // index into list plus 1, 0 for an empty slot; a power of two long
	used  int      // slots taken
	seed  maphash.Seed
}

// keyRef is one key.
type keyRef struct {
	start, length uint32
	hash          uint32 // 0 if the key is not in the table
	inText        bool   // start is an offset in text, otherwise in arena
}

// objectKeys are the keys of one open object.
type objectKeys struct {
	// first is the index of the object's first key in the list.
	first uint32
	// seen has a bit for each key, chosen by its length and its ends. If the bit of a key
	// is not set, the object does not have the key.
	seen uint64
}

// fewKeys is the number of keys of an object that are compared one by one.
const fewKeys = 8

func (s *keySet) reset(text []byte) {
	s.close(&objectKeys{})
	s.text, s.arena, s.list = text, reuse(s.arena, maxKeptBytes), reuse(s.list, maxKeptItems)
	if cap(s.table) > 4*maxKeptItems {
		s.table, s.used = nil, 0
	}
}

func (s *keySet) bytes(r *keyRef) []byte {
	if r.inText {
		return s.text[r.start : r.start+r.length]
	}
	return s.arena[r.start : r.start+r.length]
}

// open starts an object.
func (s *keySet) open() objectKeys { return objectKeys{first: uint32(len(s.list))} }

// count returns the number of keys of the innermost object.
func (s *keySet) count(o *objectKeys) int { return len(s.list) - int(o.first) }

// add appends a key, to which r refers, to the innermost object and reports whether the
// object did not have it before.
func (s *keySet) add(o *objectKeys, key []byte, r keyRef) (unique bool) {
	if s.count(o) >= fewKeys {
		return s.addToMany(int(o.first), key, r)
	}
	bit := uint64(1)
	if n := len(key); n > 0 {
		bit = 1 << ((n + int(key[0])*3 + int(key[n-1])*7) & 63)
	}
	if o.seen&bit != 0 {
		for i := int(o.first); i < len(s.list); i++ {
			if bytes.Equal(s.bytes(&s.list[i]), key) {
				return false
			}
		}
	}
	o.seen |= bit
	s.list = append(s.list, r)
	return true
}

func (s *keySet) addToMany(first int, key []byte, r keyRef) (unique bool) {
	if s.list[first].hash == 0 {
		for i := first; i < len(s.list); i++ {
			s.list[i].hash = s.sum(first, s.bytes(&s.list[i]))
			s.insert(i)
		}
	}
	r.hash = s.sum(first, key)
	for at := s.slot(r.hash); s.table[at] != 0; at = s.after(at) {
		i := int(s.table[at]) - 1
		if old := &s.list[i]; i >= first && old.hash == r.hash && bytes.Equal(s.bytes(old), key) {
			return false
		}
	}
	s.list = append(s.list, r)
	s.insert(len(s.list) - 1)
	return true
}

// close ends the innermost object and removes its keys.
func (s *keySet) close(o *objectKeys) {
	first := int(o.first)
	for i := len(s.list) - 1; i >= first; i-- {
		if !s.list[i].inText {
			s.arena = s.arena[:s.list[i].start]
		}
		s.remove(i)
	}
	s.list = s.list[:first]
}

// sum returns a hash that is never 0. It includes the object, so that equal keys of nested
// objects have different hashes.
func (s *keySet) sum(first int, key []byte) uint32 {
	if s.seed == (maphash.Seed{}) {
		s.seed = maphash.MakeSeed()
	}
	const golden = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	return uint32(maphash.Bytes(s.seed, key)^uint64(first)*golden>>32) | 1<<31
}

func (s *keySet) slot(hash uint32) uint32 { return hash & uint32(len(s.table)-1) }
func (s *keySet) after(at uint32) uint32  { return (at + 1) & uint32(len(s.table)-1) }

// insert adds key i, which has a hash, to the table.
func (s *keySet) insert(i int) {
	if 2*(s.used+1) > len(s.table) {
		s.grow()
	}
	at := s.slot(s.list[i].hash)
	for s.table[at] != 0 {
		at = s.after(at)
	}
	s.table[at] = uint32(i) + 1
	s.used++
}

// grow doubles the table. It inserts the keys again in their order.
func (s *keySet) grow() {
	placed := s.used
	s.table, s.used = make([]uint32, max(64, 2*len(s.table))), 0
	for i := 0; s.used < placed; i++ {
		if s.list[i].hash != 0 {
			s.insert(i)
		}
	}
}

// remove removes key i, which is the latest one, from the table if it is there.
func (s *keySet) remove(i int) {
	hash := s.list[i].hash
	if hash == 0 {
		return
	}
	at := s.slot(hash)
	for s.table[at] != uint32(i)+1 {
		at = s.after(at)
	}
	s.table[at] = 0
	s.used--
}
