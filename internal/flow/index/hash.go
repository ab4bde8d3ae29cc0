package index

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/dchest/siphash"

	"github.com/stopgate/stopgate/flow"
)

// The classes of hashed bytes. Atoms have a class for each kind, those of other readings another.
const (
	classWord = iota
	classPiece
	classBatch
	classSegment
	classWindow
	classAtom
	classLoose = classAtom + int(flow.IBAN) + 1
	classCount = classLoose + int(flow.IBAN) + 1
)

// hasher computes keyed hashes of 64 bits: SipHash-2-4, with a key for each class of bytes. Without
// the key of the session a hash tells nothing of its text, and no text is found whose hash collides
// with another's.
type hasher struct {
	keys [classCount][2]uint64
	base uint64 // of polynomials
}

func newHasher(key []byte) *hasher {
	h := &hasher{}
	m := hmac.New(sha256.New, key)
	var buf [sha256.Size]byte
	for class := range h.keys {
		m.Reset()
		m.Write([]byte{'f', 'l', 'o', 'w', byte(class)})
		sum := m.Sum(buf[:0])
		h.keys[class] = [2]uint64{binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])}
	}
	h.base = h.sum(classWindow, nil) | 1
	return h
}

func (h *hasher) sum(class int, p []byte) uint64 {
	k := &h.keys[class]
	return siphash.Hash(k[0], k[1], p)
}

func atomClass(k flow.Kind, loose bool) int {
	if loose {
		return classLoose + int(k)
	}
	return classAtom + int(k)
}

// batch returns the hash of a batch's key, which is not 0.
func (h *hasher) batch(key []byte) uint64 { return max(1, h.sum(classBatch, key)) }
