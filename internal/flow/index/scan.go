package index

import (
	"encoding/binary"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
)

// scanners are those of earlier batches, for their buffers.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scanner turns the texts of one batch into hashes.
type scanner struct {
	*hasher
	rec          *record
	each         func(occur.Token)
	secret       func([]byte)
	words, atoms table
	last         []uint32 // of each atom: the last text that has it, plus 1
	own          uint32   // the atoms before are those of the call's arguments
	echoing      bool     // while those are scanned
	text         uint32   // the number of texts before
	cache        [cacheSize]cached
	batch        uint32 // since the cache was cleared

	plain, loose []code   // of all texts
	found        []uint32 // atoms of all texts
	chunk        []place  // the plain tokens since the last word that was alone
	cursor       int      // in chunk: the tokens before are not alone
}

// place is a plain token: where it begins in its text, and its index.
type place struct{ start, index int }

// cached is the hash of a short word in a session, and its code in a batch.
type cached struct {
	word  [2]uint64
	hash  uint64
	code  code
	batch uint32
}

const (
	cacheBits = 11
	cacheSize = 1 << cacheBits
	// maxScratch is the length of the slices that are kept for the next batch.
	maxScratch = 1 << 14
)

// masks are the bits of the first 16 bytes of a text that belong to a word of a length.
var masks = func() (m [16][2]uint64) {
	for i := range m {
		m[i] = [2]uint64{1<<(8*min(i, 8)) - 1, 1<<(8*max(i-8, 0)) - 1}
	}
	return m
}()

// start begins a batch with texts of a length.
func (s *scanner) start(h *hasher, r *record, length int64) {
	if s.batch++; s.hasher != h || s.batch == 0 {
		clear(s.cache[:])
		s.batch = 1
	}
	s.hasher, s.rec = h, r
	s.words.reset(int(length / 40))
	s.atoms.reset(int(length / 30))
	s.last, s.plain, s.loose, s.found, s.chunk = empty(s.last), empty(s.plain), empty(s.loose), empty(s.found), empty(s.chunk)
	s.own, s.text = 0, 0
	if s.each == nil {
		s.each, s.secret = s.receiver(), s.piece
	}
}

// empty returns an empty slice with the memory of another, unless that is large.
func empty[T any](s []T) []T {
	if cap(s) > 2*maxScratch {
		return nil
	}
	return s[:0]
}

// wordCode returns the code of a word.
func (s *scanner) wordCode(word []byte) code {
	if len(word) > 15 {
		o, _ := s.words.add(s.sum(classWord, word))
		return wordCode(o)
	}
	var packed [16]byte
	if cap(word) < len(packed) {
		copy(packed[:], word)
		word = packed[:len(word)]
	}
	key := [2]uint64{binary.LittleEndian.Uint64(word[:8]), binary.LittleEndian.Uint64(word[8:16])}
	mask := &masks[len(word)]
	key[0], key[1] = key[0]&mask[0], key[1]&mask[1]|uint64(len(word))<<56
	c := &s.cache[(key[0]^key[1]*0xff51afd7ed558ccd)*0x9e3779b97f4a7c15>>(64-cacheBits)]
	if c.word != key {
		*c = cached{word: key, hash: s.sum(classWord, word)}
	}
	if c.batch != s.batch {
		o, _ := s.words.add(c.hash)
		c.code, c.batch = wordCode(o), s.batch
	}
	return c.code
}

func (s *scanner) markCode(mark []byte) code {
	if c, ok := markCode(mark); ok {
		return c
	}
	o, added := s.words.add(s.sum(classWord, mark))
	if added {
		s.rec.marks = append(s.rec.marks, o)
	}
	return wordCode(o)
}

// receiver returns the function that adds a token to the text that is being scanned.
func (s *scanner) receiver() func(occur.Token) {
	return func(t occur.Token) {
		switch {
		case t.Alone:
			s.chunk, s.cursor = s.chunk[:0], 0
			s.plain = append(s.plain, s.wordCode(t.Value)|alone)
			if s.echoing {
				s.hold(s.atoms.add(s.sum(atomClass(flow.ID, false), t.Value)))
			}
		case t.Kind != flow.Text:
			s.atom(t)
		case t.Loose:
			c := gap
			if len(t.Value) > 0 {
				c = s.wordCode(t.Value)
			}
			s.loose = append(s.loose, c)
		default:
			s.chunk = append(s.chunk, place{t.Start, len(s.plain)})
			if t.Mark {
				s.plain = append(s.plain, s.markCode(t.Value))
			} else {
				s.plain = append(s.plain, s.wordCode(t.Value))
			}
		}
	}
}

func (s *scanner) atom(t occur.Token) {
	if t.Kind == flow.ID && !t.Loose && simple(t.Value) {
		for s.cursor < len(s.chunk) && s.chunk[s.cursor].start < t.Start {
			s.cursor++
		}
		if s.cursor < len(s.chunk) && s.chunk[s.cursor].start == t.Start {
			if c := &s.plain[s.chunk[s.cursor].index]; *c == s.wordCode(t.Value) {
				*c |= alone
				if !s.echoing {
					return
				}
			}
		}
	}
	if t.Loose && s.own > 0 {
		if o, ok := s.atoms.find(s.sum(atomClass(t.Kind, false), t.Value)); ok && o < s.own {
			return
		}
	}
	s.hold(s.atoms.add(s.sum(atomClass(t.Kind, t.Loose), t.Value)))
}

// simple reports whether an id is one word in its normal form: it is then stored with the word.
func simple(id []byte) bool {
	for _, c := range id {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return len(id) > 0
}

func (s *scanner) piece(piece []byte) {
	s.hold(s.atoms.add(s.sum(classPiece, piece)))
}

// hold adds an atom to those of the text, once.
func (s *scanner) hold(o uint32, added bool) {
	if added {
		s.last = append(s.last, 0)
	}
	if o < s.own || s.last[o] == s.text+1 {
		return
	}
	s.last[o] = s.text + 1
	s.found = append(s.found, o)
}

// scan finds the tokens of a text.
func (s *scanner) scan(text []byte) (plain, loose []code, atoms []uint32) {
	begin, other, first := len(s.plain), len(s.loose), len(s.found)
	s.chunk, s.cursor = s.chunk[:0], 0
	occur.Scan(text, s.each)
	occur.Secrets(text, s.secret)
	s.text++
	return s.plain[begin:len(s.plain):len(s.plain)], s.loose[other:len(s.loose):len(s.loose)], s.found[first:len(s.found):len(s.found)]
}

// echo scans the call's arguments, before all texts.
func (s *scanner) echo(texts [][]byte) {
	s.echoing = true
	defer func() { s.echoing = false }()
	for _, text := range texts {
		plain, loose, _ := s.scan(text)
		s.rec.echo = append(append(s.rec.echo, plain...), gap)
		if len(loose) > 0 {
			s.rec.echoes = append(append(s.rec.echoes, loose...), gap)
		}
	}
	s.own = uint32(len(s.atoms.hashes))
}
