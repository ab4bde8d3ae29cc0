package index

// A code is a token of a sequence: its number, and in the lowest bit whether it is alone, that is
// between white space or quotes. Numbers below asciiMarks are those of ASCII marks, from firstWord on
// those of words and other marks by their ordinals.
type code uint32

const (
	alone      code = 1
	asciiMarks      = 256
	gap        code = asciiMarks << 1 // between two sequences
	firstWord       = asciiMarks + 1
)

func wordCode(ordinal uint32) code { return code(ordinal+firstWord) << 1 }

// number is the code without the bit.
func (c code) number() uint32 { return uint32(c >> 1) }

// markCode returns the code of a run of at most 8 equal ASCII marks.
func markCode(run []byte) (code, bool) {
	c := run[0]
	var class byte
	switch {
	case c >= '!' && c <= '/':
		class = c - '!'
	case c >= ':' && c <= '@':
		class = c - ':' + 15
	case c >= '[' && c <= '`':
		class = c - '[' + 22
	case c >= '{' && c <= '~':
		class = c - '{' + 28
	default:
		return 0, false
	}
	if len(run) > 8 {
		return 0, false
	}
	return code(int(class)*8+len(run)-1) << 1, true
}

// sequence is the codes of texts, one after the other: 16 bits of each, and 8 more once a code needs
// them.
type sequence struct {
	low  []uint16
	high []uint8
}

func (s *sequence) len() int { return len(s.low) }

func (s *sequence) append(c code) {
	if c > 0xffff && s.high == nil {
		s.high = make([]uint8, len(s.low), cap(s.low))
	}
	s.low = append(s.low, uint16(c))
	if s.high != nil {
		s.high = append(s.high, uint8(c>>16))
	}
}

func (s *sequence) at(i int) code {
	if s.high == nil {
		return code(s.low[i])
	}
	return code(s.low[i]) | code(s.high[i])<<16
}

// index returns the first position in [from, to) of a code, alone or not, or -1.
func (s *sequence) index(c code, from, to int) int {
	low, high := uint16(c)&^1, uint8(c>>16)
	if s.high == nil {
		if c > 0xffff {
			return -1
		}
		for i, v := range s.low[from:to] {
			if v&^1 == low {
				return from + i
			}
		}
		return -1
	}
	for i, v := range s.low[from:to] {
		if v&^1 == low && s.high[from+i] == high {
			return from + i
		}
	}
	return -1
}

// grow makes room for n more.
func (s *sequence) grow(n int) {
	need := len(s.low) + n
	if need <= cap(s.low) {
		return
	}
	length := max(need, len(s.low)+len(s.low)/4)
	s.low = append(make([]uint16, 0, length), s.low...)
	if s.high != nil {
		s.high = append(make([]uint8, 0, length), s.high...)
	}
}

func (s *sequence) size() int64 { return int64(2*cap(s.low) + cap(s.high)) }
