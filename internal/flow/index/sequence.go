package index

// A code is a token of a sequence: its number, and in the lowest bit whether it is alone, that is
// between white space or quotes. Numbers below asciiMarks are those of ASCII marks, from firstWord on
// those of words and other marks by their ordinals.
type code uint32

const (
	alone      code = 1
	asciiMarks      = 256
	otherMark  code = asciiMarks << 1       // a mark that no text has
	gap        code = (asciiMarks + 1) << 1 // between two sequences, or a word that no text has
	firstWord       = asciiMarks + 2
)

func wordCode(ordinal uint32) code { return code(ordinal+firstWord) << 1 }

// number is the code without the bit.
func (c code) number() uint32 { return uint32(c >> 1) }

// markCode returns the code of a run of at most 8 equal ASCII marks.
func markCode(run []byte) (code, bool) {
	number := markNumbers[run[0]]
	if number == 0 || len(run) > 8 {
		return 0, false
	}
	return code(int(number-1)*8+len(run)-1) << 1, true
}

// markNumbers number the marks of ASCII from 1.
var markNumbers = func() (t [256]uint8) {
	for i, c := range []byte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") {
		t[c] = uint8(i + 1)
	}
	return t
}()

// sequence is the codes of texts, one after the other, in chunks: 16 bits of each, and 8 more in chunks
// with a code that needs them. The first chunk grows with its codes: most conversations are short.
type sequence struct {
	low  [][]uint16
	high [][]uint8 // nil for a chunk without
	n    int
}

// chunkCodes is the number of codes in a chunk of a sequence, a multiple of blockLen.
const chunkCodes = 4 * blockLen

// firstCodes is the number of codes for which the first chunk has room at first.
const firstCodes = 64

// append appends codes of one block.
func (s *sequence) append(codes []code) {
	at := s.n % chunkCodes
	if at == 0 {
		room := chunkCodes
		if s.n == 0 {
			room = firstCodes
		}
		s.low, s.high = append(s.low, make([]uint16, 0, room)), append(s.high, nil)
	}
	chunk, end := len(s.low)-1, at+len(codes)
	if room := cap(s.low[chunk]); room < end {
		s.low[chunk] = append(make([]uint16, 0, min(max(2*room, end), chunkCodes)), s.low[chunk]...)
	}
	s.low[chunk] = s.low[chunk][:end]
	low := s.low[chunk][at:]
	var all code
	for i, c := range codes {
		low[i] = uint16(c)
		all |= c
	}
	if all > 0xffff {
		if s.high[chunk] == nil {
			s.high[chunk] = make([]uint8, chunkCodes)
		}
		high := s.high[chunk][at:end]
		for i, c := range codes {
			high[i] = uint8(c >> 16)
		}
	}
	s.n += len(codes)
}

func (s *sequence) at(i int) code {
	c := code(s.low[i/chunkCodes][i%chunkCodes])
	if high := s.high[i/chunkCodes]; high != nil {
		c |= code(high[i%chunkCodes]) << 16
	}
	return c
}

// index returns the first position in [from, to) of a code, alone or not, or -1. All positions are of
// one block.
func (s *sequence) index(c code, from, to int) int {
	low, above := uint16(c)&^1, uint8(c>>16)
	chunk, first := from/chunkCodes, from%chunkCodes
	high := s.high[chunk]
	if high == nil && above != 0 {
		return -1
	}
	for i, v := range s.low[chunk][first : first+to-from] {
		if v&^1 == low && (high == nil || high[first+i] == above) {
			return from + i
		}
	}
	return -1
}

func (s *sequence) size() int64 {
	n := 24*cap(s.low) + 24*cap(s.high)
	for _, low := range s.low {
		n += 2 * cap(low)
	}
	for _, high := range s.high {
		n += cap(high)
	}
	return int64(n)
}
