package gate

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

// randomness is crypto/rand in blocks: a proposal id needs ten bytes at a time.
type randomness struct {
	mu    sync.Mutex
	block [512]byte
	used  int
}

func newRandomness() *randomness { return &randomness{used: len(randomness{}.block)} }

// Read fills p, which is shorter than a block.
func (r *randomness) Read(p []byte) (int, error) {
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

// newProposalID makes a ULID (DECISIONS S23): 48 bits of Unix milliseconds and 80
// random bits as 26 characters that sort by time.
func newProposalID(now time.Time, entropy io.Reader) (stopgate.ProposalID, error) {
	var b [16]byte
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	if _, err := io.ReadFull(entropy, b[6:]); err != nil {
		return "", fmt.Errorf("proposal id: %w", err)
	}
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	var text [26]byte // 130 bits: the first digit has two that are always zero
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = crockford[lo&31]
		hi, lo = hi>>5, lo>>5|hi<<59
	}
	return stopgate.ProposalID(text[:]), nil
}
