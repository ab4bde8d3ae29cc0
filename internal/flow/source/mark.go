package source

import (
	"crypto/sha256"
	"encoding/binary"
)

// mark returns the key of a mark of a kind.
func mark(kind byte, parts ...[]byte) []byte { return appendMark(nil, kind, parts...) }

// shortMark is the length of the parts of a mark that are hashed in one piece.
const shortMark = 512

// appendMark appends the key of a mark: the hash of its kind, and of each part after its length.
func appendMark(dst []byte, kind byte, parts ...[]byte) []byte {
	size := 1
	for _, p := range parts {
		size += 8 + len(p)
	}
	if size > shortMark {
		h := sha256.New()
		h.Write([]byte{kind})
		for _, p := range parts {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
			h.Write(p)
		}
		return h.Sum(dst)
	}
	var short [shortMark]byte
	text := append(short[:0], kind)
	for _, p := range parts {
		text = append(binary.BigEndian.AppendUint64(text, uint64(len(p))), p...)
	}
	sum := sha256.Sum256(text)
	return append(dst, sum[:]...)
}

// marks is a list of marks whose keys share memory.
type marks struct {
	list [][]byte
	sums []byte
}

func (m *marks) add(kind byte, parts ...[]byte) {
	if len(m.sums)+sha256.Size > cap(m.sums) {
		m.sums = make([]byte, 0, min(128, 4+len(m.list))*sha256.Size)
	}
	start := len(m.sums)
	m.sums = appendMark(m.sums, kind, parts...)
	m.list = append(m.list, m.sums[start:len(m.sums):len(m.sums)])
}

// The kinds of marks. They are stored in segments: a number is never used for another kind.
const (
	markMessage byte = iota + 1
	markResult
	markCall         // a call that has a result
	markArgument     // a text in the arguments of a released call
	markArgumentLine // a line of one
	markResultLine   // a line of a result
	markPersonLine   // a line that a person wrote
	markPath         // a path that the agent wrote with an effect
	markFolder       // a folder above such a path
	markName         // the last component of such a path
	markRelative     // the same of a relative path
	markMember       // a parameter with a value that the agent wrote with an effect
	markInstruction  // a paragraph of an operator's instructions
	markAnything     // the agent wrote more than is kept
)

// markWrote is the key of the mark that the agent wrote something with an effect.
var markWrote = mark(0, []byte("wrote"))
