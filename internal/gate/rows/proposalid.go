package rows

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
)

// crockford is the alphabet of ULIDs: base 32 without I, L, O and U.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// Entropy is crypto/rand in blocks: a proposal id needs ten bytes at a time.
type Entropy struct {
	mu    sync.Mutex
	block [512]byte
	used  int
}

// NewEntropy returns a source of random bytes.
func NewEntropy() *Entropy { return &Entropy{used: len(Entropy{}.block)} }

// Read fills p, which is shorter than a block.
func (r *Entropy) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used+len(p) > len(r.block) {
		if _, err := rand.Read(r.block[:]); err != nil {
			return 0, err
		}
		r.used = 0
	}
	n := copy(p, r.block[r.used:])
	clear(r.block[r.used : r.used+n])
	r.used += n
	return n, nil
}

// NewProposalID makes a ULID (S23): 48 bits of Unix milliseconds and 80
// random bits as 26 characters that sort by time.
func NewProposalID(now time.Time, entropy io.Reader) (stopgate.ProposalID, error) {
	var random [10]byte
	var err error
	if r, ours := entropy.(*Entropy); ours { // the bytes stay on the stack
		_, err = r.Read(random[:])
	} else {
		random, err = readRandom(entropy)
	}
	if err != nil {
		return "", fmt.Errorf("proposal id: %w", err)
	}
	hi := uint64(now.UnixMilli())<<16 | uint64(random[0])<<8 | uint64(random[1])
	lo := binary.BigEndian.Uint64(random[2:])
	var text [26]byte // 130 bits: the first digit has two that are always zero
	for i := range 12 {
		text[25-i] = crockford[lo>>(5*i)&31]
	}
	text[13] = crockford[(hi<<4|lo>>60)&31]
	for i := range 13 {
		text[12-i] = crockford[hi>>(5*i+1)&31]
	}
	return stopgate.ProposalID(text[:]), nil
}

func readRandom(entropy io.Reader) (b [10]byte, err error) {
	_, err = io.ReadFull(entropy, b[:])
	return b, err
}
